package anmltrust

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ManifestMediaType is the media type of a manifest (section 16.1).
const ManifestMediaType = "application/anml-trust+json"

// ManifestVersion is the only version that is understood.
const ManifestVersion = "1.0"

// LongLifetime is the longest recommended life of a manifest (section 12.3).
const LongLifetime = 90 * 24 * time.Hour

var longLived = fmt.Sprintf("the manifest lives longer than %d days", LongLifetime/(24*time.Hour))

// ManifestLimits bound a manifest. A zero field takes its default. A manifest has at most one JSON
// value for each 16 bytes of Size.
type ManifestLimits struct {
	Size    int // bytes; 1 MiB
	Entries int // 10,000
}

func (l ManifestLimits) withDefaults() ManifestLimits {
	if l.Size <= 0 {
		l.Size = 1 << 20
	}
	if l.Entries <= 0 {
		l.Entries = 10_000
	}
	return l
}

// manifestDepth is how deep a manifest may be nested.
const manifestDepth = 16

// Manifest is a site's list of servers that may speak for it (section 12.3),
// indexed for lookups. It does not change and may be shared.
type Manifest struct {
	Site     string    // as written: compare it normalised
	Issued   time.Time // UTC
	Expires  time.Time // UTC
	Findings []lookleap.Finding

	index index
}

// Len returns how many entries the manifest has, malformed ones included.
func (m *Manifest) Len() int {
	if m == nil {
		return 0
	}
	return m.index.entries
}

// ParseManifest reads a manifest. An error is a [*lookleap.Error] with the code
// manifest-malformed or manifest-version, and the place. Dates are read, not
// judged: [Manifest.Check] reports whether the manifest speaks for a site at a time.
// A malformed entry grants nothing, and denies the server that it names.
func ParseManifest(data []byte, limits ManifestLimits) (*Manifest, error) {
	limits = limits.withDefaults()
	root, err := strictjson.Parse(data, strictjson.Limits{
		Size: limits.Size, Depth: manifestDepth, Values: max(limits.Size/16, 64), SkipBOM: true,
	})
	if err != nil {
		return nil, refuseJSON(CodeManifestMalformed, err)
	}
	if err := root.Expect(strictjson.Object); err != nil {
		return nil, refuseJSON(CodeManifestMalformed, err)
	}
	m := &Manifest{}
	if bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")) {
		m.Findings = append(m.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestByteOrder,
			Requirement: "ANML-16.1-02",
			Message:     "a byte order mark stands before the manifest", Fix: "save it as UTF-8 without one"})
	}
	v, ok := root.Member("version")
	if !ok {
		return nil, refuseValue(root, CodeManifestVersion, "the manifest has no version", `add "version": "1.0"`)
	}
	if text, err := v.Text(); err != nil || text != ManifestVersion {
		return nil, refuseValue(v, CodeManifestVersion,
			"the manifest's version is not understood: "+plaintext.Quote(v.Source(), maxQuoted), `write "version": "1.0", a string`)
	}
	if m.Site, err = textMember(root, "site"); err != nil {
		return nil, err
	}
	if m.Issued, err = timeMember(root, "issued", false); err != nil {
		return nil, err
	}
	if m.Expires, err = timeMember(root, "expires", true); err != nil {
		return nil, err
	}
	if !m.Issued.Before(m.Expires) {
		expires, _ := root.Member("expires")
		return nil, refuseValue(expires, CodeManifestMalformed, "the manifest expires before it is issued", "set expires after issued")
	}
	list, err := root.Need("authorized-domains")
	if err == nil {
		err = list.Expect(strictjson.Array)
	}
	if err != nil {
		return nil, refuseJSON(CodeManifestMalformed, err)
	}
	count := list.Len()
	if count > limits.Entries {
		return nil, refuseValue(list, CodeManifestMalformed,
			fmt.Sprintf("the manifest has more than %d entries", limits.Entries), "merge or remove entries, or raise the limit")
	}
	m.index.build(list, count, &m.Findings)
	return m, nil
}

// maxText bounds a name or time as it is written, escapes included.
const maxText = 4 << 10

func textMember(root strictjson.Value, name string) (string, error) {
	v, err := root.Need(name)
	if err != nil {
		return "", refuseJSON(CodeManifestMalformed, err)
	}
	if len(v.Source()) > maxText {
		return "", refuseValue(v, CodeManifestMalformed, "the member "+name+" is longer than any name or time", "")
	}
	text, err := v.Text()
	if err != nil {
		return "", refuseJSON(CodeManifestMalformed, err)
	}
	if text == "" {
		return "", refuseValue(v, CodeManifestMalformed, "the member "+name+" is empty", "")
	}
	return strings.Clone(text), nil
}

func timeMember(root strictjson.Value, name string, utc bool) (time.Time, error) {
	text, err := textMember(root, name)
	if err != nil {
		return time.Time{}, err
	}
	t, ok := parseTime(text, utc)
	if !ok {
		v, _ := root.Member(name)
		fix := "write it like 2026-08-01T00:00:00Z"
		if !utc {
			fix += " or with an offset"
		}
		return time.Time{}, refuseValue(v, CodeManifestMalformed,
			"the member "+name+" is not a usable date and time: "+plaintext.Quote(text, maxQuoted), fix)
	}
	return t, nil
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
	case m.Issued.After(now.Add(Skew)):
		return "M15", CodeManifestNotYetValid
	case !now.Before(m.Expires):
		return "M16", CodeManifestExpired
	}
	return "M4", ""
}

// Skew is how far the clock of a publisher may be ahead of this one. It applies to
// issued only: there is no grace for a manifest that has expired.
const Skew = 5 * time.Minute

// parseTime reads a date and time of RFC 3339 as sections 12.3 and 12.4 want it:
// every digit in its place, capital T and Z, a dot before a fraction. Where utc
// is set, the zone must be Z.
func parseTime(s string, utc bool) (time.Time, bool) {
	const form = "2006-01-02T15:04:05"
	if len(s) <= len(form) || len(s) > 40 {
		return time.Time{}, false
	}
	zone := s[len(form):] // package time reads hours of one digit, too: then this is no zone
	if zone[0] == '.' {
		zone = strings.TrimLeft(zone[1:], "0123456789")
	}
	if zone != "Z" && (utc || !isOffset(zone)) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil
}

// isOffset reports whether a zone is a sign, hours below 24 and minutes below 60;
// package time reads 24:60 too.
func isOffset(zone string) bool {
	return len(zone) == len("+00:00") && (zone[0] == '+' || zone[0] == '-') && zone[1:3] < "24" && zone[4:] < "60"
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
	authorized, err := root.Need("authorized")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	yes, err := authorized.Bool()
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if !yes {
		return nil, refuseValue(authorized, CodeQueryAuthorizedFalse, "the endpoint says no with status 200", "answer 404")
	}
	a := &QueryResponse{}
	tier, err := root.Need("tier")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	var ok bool
	if a.Tier, ok = readTier(tier); !ok {
		return nil, refuseValue(tier, CodeQueryMalformed, "the tier is not the integer 1 or 2", "")
	}
	scope, err := root.Need("scope")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if a.Scope, _, ok = readScope(scope); !ok {
		return nil, refuseValue(scope, CodeQueryMalformed, "the scope is not an array of names", "")
	}
	expires, err := root.Need("expires")
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	text, err := expires.Text()
	if err != nil {
		return nil, refuseJSON(CodeQueryMalformed, err)
	}
	if a.Expires, ok = parseTime(text, true); !ok {
		return nil, refuseValue(expires, CodeQueryMalformed, "expires is not a date and time in UTC", "write it like 2026-08-01T00:00:00Z")
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
