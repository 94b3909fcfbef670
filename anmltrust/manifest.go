package anmltrust

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ManifestMediaType is the media type of a manifest (section 16.1).
const ManifestMediaType = "application/anml-trust+json"

// manifestVersion is the only version that is understood.
const manifestVersion = "1.0"

// LongLifetime is the longest recommended life of a manifest (section 12.3).
const LongLifetime = 90 * 24 * time.Hour

var longLived = fmt.Sprintf("the manifest lives longer than %d days", LongLifetime/(24*time.Hour))

// Limits of a manifest. It has at most one JSON value for each 16 bytes of its size.
const (
	maxManifestSize    = 1 << 20 // bytes
	maxManifestEntries = 10_000
)

// manifestDepth is how deep a manifest may be nested.
const manifestDepth = 16

// Manifest is a site's list of servers that may speak for it (section 12.3),
// indexed for lookups. It does not change and may be shared.
type Manifest struct {
	Site     string    // as written: compare it normalised
	Issued   time.Time // UTC
	Expires  time.Time // UTC
	Findings []lookleap.Finding

	entries int              // malformed ones included
	text    int              // bytes of all names
	grants  map[string]grant // by name, wildcards included
}

// Len returns how many entries the manifest has, malformed ones included.
func (m *Manifest) Len() int {
	if m == nil {
		return 0
	}
	return m.entries
}

// ParseManifest reads a manifest. An error is a [*lookleap.Error] with the code
// manifest-malformed or manifest-version, and the place. Dates are read, not
// judged: [Manifest.Check] reports whether the manifest speaks for a site at a time.
// A malformed entry grants nothing, and denies the server that it names.
func ParseManifest(data []byte) (*Manifest, error) {
	root, err := strictjson.Parse(data, strictjson.Limits{
		Size: maxManifestSize, Depth: manifestDepth, Values: maxManifestSize / 16, SkipBOM: true,
	})
	if err == nil {
		err = root.Expect(strictjson.Object)
	}
	if err != nil {
		return nil, refuseJSON(CodeManifestMalformed, err)
	}
	m := &Manifest{}
	if bytes.HasPrefix(data, byteOrderMark) {
		m.Findings = append(m.Findings, warn(CodeManifestByteOrder, "ANML-16.1-02",
			"a byte order mark stands before the manifest", "save it as UTF-8 without one"))
	}
	v, ok := root.Member("version")
	if !ok {
		return nil, refuseValue(root, CodeManifestVersion, "the manifest has no version", `add "version": "1.0"`)
	}
	if text, err := v.Text(); err != nil || text != manifestVersion {
		return nil, refuseValue(v, CodeManifestVersion,
			"the manifest's version is not understood: "+plaintext.Quote(v.Source(), maxQuoted), `write "version": "1.0", a string`)
	}
	r := reader{root: root, code: CodeManifestMalformed}
	m.Site, v = r.text("site")
	if r.err == nil && m.Site == "" {
		return nil, refuseValue(v, r.code, "the member site is empty", "")
	}
	m.Issued, _ = r.time("issued", false)
	m.Expires, v = r.time("expires", true)
	list := r.need("authorized-domains", strictjson.Array)
	switch {
	case r.err != nil:
		return nil, r.err
	case !m.Issued.Before(m.Expires):
		return nil, refuseValue(v, r.code, "the manifest expires before it is issued", "set expires after issued")
	case list.Len() > maxManifestEntries:
		return nil, refuseValue(list, r.code,
			fmt.Sprintf("the manifest has more than %d entries", maxManifestEntries), "merge or remove entries")
	}
	m.index(list)
	return m, nil
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// reader reads the members of an object. After the first error it reads nothing.
type reader struct {
	root strictjson.Value
	code lookleap.Code
	err  error
}

func (r *reader) fail(v strictjson.Value, message, fix string) {
	r.err = refuseValue(v, r.code, message, fix)
}

// need returns a member of a kind. After an error it is the object itself.
func (r *reader) need(name string, kind strictjson.Kind) strictjson.Value {
	if r.err != nil {
		return r.root
	}
	v, err := r.root.Need(name)
	if err == nil {
		err = v.Expect(kind)
	}
	if err != nil {
		r.err = refuseJSON(r.code, err)
		return r.root
	}
	return v
}

// maxText bounds a name or time as it is written, escapes included.
const maxText = 4 << 10

func (r *reader) text(name string) (string, strictjson.Value) {
	v := r.need(name, strictjson.String)
	if r.err == nil && len(v.Source()) > maxText {
		r.fail(v, "the member "+name+" is longer than any name or time", "")
	}
	if r.err != nil {
		return "", v
	}
	text, err := v.Text()
	if err != nil {
		r.err = refuseJSON(r.code, err)
	}
	return strings.Clone(text), v
}

// time reads a date and time, in UTC where utc is set.
func (r *reader) time(name string, utc bool) (time.Time, strictjson.Value) {
	text, v := r.text(name)
	t, ok := parseTime(text, utc)
	if r.err == nil && !ok {
		fix := "write it like 2026-08-01T00:00:00Z"
		if !utc {
			fix += " or with an offset"
		}
		r.fail(v, "the member "+name+" is not a usable date and time: "+plaintext.Quote(text, maxQuoted), fix)
	}
	return t, v
}

// Check decides whether the manifest speaks for a site at a time (rows M14 to
// M16). The code is "" if it does.
func (m *Manifest) Check(site string, now time.Time) (row string, code lookleap.Code) {
	if m == nil {
		m = new(Manifest)
	}
	named, err := NormalizeSite(m.Site)
	switch {
	case err != nil || named != site:
		return "M14", CodeManifestSiteMismatch
	case m.Issued.After(now.Add(clockSkew)):
		return "M15", CodeManifestNotYetValid
	case !now.Before(m.Expires):
		return "M16", CodeManifestExpired
	}
	return "M4", ""
}

// clockSkew is how far the clock of a publisher may be ahead of this one. It applies to
// issued only: there is no grace for a manifest that has expired.
const clockSkew = 5 * time.Minute

// dateTime is a date and time of RFC 3339 as sections 12.3 and 12.4 want it: every digit in its
// place, capital T and Z, a dot before a fraction. Package time reads more.
var dateTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\d-]{10}T[\d:]{8}(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
})

// parseTime reads a date and time. Where utc is set, the zone must be Z.
func parseTime(s string, utc bool) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil && len(s) <= 40 && dateTime().MatchString(s) && (!utc || strings.HasSuffix(s, "Z"))
}

// MaxQueryResponse is the size of the largest response of a query endpoint, in bytes.
const MaxQueryResponse = 64 << 10

// QueryResponse is the response of a query endpoint with status 200 (section 12.4).
type QueryResponse struct {
	Tier    Tier
	Scope   Scope // as returned, before the tier's ceiling
	Expires time.Time
}

// ParseQueryResponse reads the body of a response to a query. Its error is a
// [*lookleap.Error] with the code query-malformed, or query-authorized-false for an
// endpoint that says no with status 200. It does not check whether the response
// has expired.
func ParseQueryResponse(body []byte) (*QueryResponse, error) {
	root, _, err := strictjson.ParsePublished(body, strictjson.Limits{Size: MaxQueryResponse, Depth: manifestDepth, Values: MaxQueryResponse / 8})
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	r := reader{root: root, code: CodeQueryMalformed}
	authorized := r.need("authorized", strictjson.Bool)
	if r.err != nil {
		return nil, r.err
	}
	if yes, err := authorized.Bool(); err != nil || !yes {
		return nil, refuseValue(authorized, CodeQueryAuthorizedFalse, "the endpoint says no with status 200", "answer 404")
	}
	a := &QueryResponse{}
	tier := r.need("tier", strictjson.Number)
	var ok bool
	if a.Tier, ok = readTier(tier); !ok && r.err == nil {
		r.fail(tier, "the tier is not the integer 1 or 2", "")
	}
	scope := r.need("scope", strictjson.Array)
	if a.Scope, _, ok = readScope(scope); !ok && r.err == nil {
		r.fail(scope, "the scope is not an array of names", "")
	}
	a.Expires, _ = r.time("expires", true)
	if r.err != nil {
		return nil, r.err
	}
	return a, nil
}

// isJSONType reports whether a media type is application/json or of the suffix +json.
func isJSONType(mediaType string) bool {
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json")
}

// queryURL adds the parameters of section 12.4 to an advertised URI: the serving
// domain, and always all eight sections, since the answer serves later needs too.
func queryURL(uri, servingDomain string) string {
	sep := "?"
	if strings.Contains(uri, "?") {
		sep = "&"
	}
	return uri + sep + "domain=" + servingDomain + "&scope=" + AllSections.String()
}
