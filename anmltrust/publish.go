package anmltrust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/serve"
)

// Entry is one server that a site authorizes, for [BuildManifest].
type Entry struct {
	Domain string // a host, a registrable domain (with all its hosts), or "*." and a name (exactly one label more)
	Tier   Tier   // Display or Full
	Scope  Scope
	Note   string // for people; at most 1,024 bytes
}

// BuildManifest writes a manifest in canonical form: UTF-8 without a byte order
// mark, names normalised, in UTC. A life of 0 means [LongLifetime]. It returns an
// error for what [ParseManifest] would refuse, and for an entry that would match
// nothing or be malformed. See [LintManifest] for findings.
func BuildManifest(site string, issued time.Time, life time.Duration, entries ...Entry) ([]byte, error) {
	name, err := siteName(site)
	if err != nil {
		return nil, err
	}
	if life == 0 {
		life = LongLifetime
	}
	issued = issued.UTC().Truncate(time.Second)
	out := manifestJSON{manifestVersion, name, issued.Format(time.RFC3339), issued.Add(life).Format(time.RFC3339), []entryJSON{}}
	for i, e := range entries {
		place := lookleap.Position{Path: fmt.Sprintf("/authorized-domains/%d", i)}
		pattern, err := normalizePattern(e.Domain)
		if err != nil {
			return nil, refuse(CodeManifestEntryMalformed, place, `name a host, or "*." and a registered domain`,
				"the entry %s would match nothing: %s", plaintext.Quote(e.Domain, maxQuoted), sentence(err))
		}
		if e.Tier != Display && e.Tier != Full {
			return nil, refuse(CodeManifestEntryMalformed, place, "use Display or Full", "tier %d cannot be delegated", e.Tier)
		}
		if len(e.Note) > maxNote {
			return nil, refuse(CodeManifestEntryMalformed, place, "shorten the note", "the note is longer than %d bytes", maxNote)
		}
		out.Entries = append(out.Entries, entryJSON{pattern, &e.Tier, &e.Scope, e.Note})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(out)
	if err == nil {
		_, err = ParseManifest(b.Bytes())
	}
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

const maxNote = 1024 // bytes

// siteName is [NormalizeSite] with an error for publishers.
func siteName(site string) (string, error) {
	name, err := NormalizeSite(site)
	if err != nil {
		return "", refuse(CodeSiteDomainInvalid, lookleap.Position{}, "", "%s is not a site: %s", plaintext.Quote(site, maxQuoted), sentence(err))
	}
	return name, nil
}

// LintManifest returns what a publisher should change in a manifest: that it does
// not speak for the site at a time, lives too long, names sections that it cannot
// delegate, or grants more than needed. Its error says that the manifest cannot be
// read, or that site is not the name of a site.
func LintManifest(data []byte, site string, now time.Time) ([]lookleap.Finding, error) {
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	findings := slices.Clone(m.Findings)
	name, err := siteName(site)
	if err != nil {
		return nil, err
	}
	if row, code := m.Check(name, now); code != "" {
		f := warn(code, row, code.Title(),
			"issue a new manifest for "+plaintext.Quote(name, maxQuoted)+"; until then agents treat every server as Tier 0")
		f.Severity = lookleap.SeverityError
		findings = append(findings, f)
	}
	if m.Expires.Sub(m.Issued) > LongLifetime {
		findings = append(findings, warn(CodeManifestLongLived, "ANML-12.8-01", longLived, "issue a new one every 30 to 90 days"))
	}
	for i, pattern := range slices.Sorted(maps.Keys(m.grants)) {
		g := m.grants[pattern]
		if i == maxFindings*8 { // as many as a person would read
			break
		}
		if g.malformed {
			continue
		}
		lint := func(requirement, problem, fix string) {
			findings = append(findings, warn(codeLint, requirement, "the entry "+plaintext.Quote(pattern, maxQuoted)+" "+problem, fix))
		}
		if rest, wildcard := strings.CutPrefix(pattern, "*."); wildcard && g.tier == Full {
			if r, ok := domain.Registrable(rest); ok && r == rest {
				lint("H05", "grants Tier 2 to every host of a registrable domain, whatever its operator", "name the hosts")
			}
		}
		switch {
		case g.scope == 0:
			lint("ANML-12.3-27", "permits nothing", "name sections, or remove the entry")
		case g.tier == Display && g.scope&^displayCeiling != 0:
			lint("ANML-12.1-14", "names sections that Tier 1 never permits: "+(g.scope&^displayCeiling).String(),
				"remove them, or use tier 2")
		case g.tier == Full && g.scope == AllSections:
			lint("ANML-12.8-02", "permits every section", "name only the sections that the server needs")
		}
	}
	return findings, nil
}

// Check returns an error if [ParseRecord] or an agent would refuse the record. Call
// it before the record is published for a site.
func (r *Record) Check(site string) error {
	name, err := siteName(site)
	if err != nil {
		return err
	}
	for _, uri := range []string{r.Manifest, r.Query} {
		if strings.Contains(uri, ";") {
			return malformed(0, "write %3B", "a URI in a record cannot contain a semicolon")
		}
	}
	text := r.String()
	if _, err := ParseRecord(text); err != nil {
		return err
	}
	if _, _, code, _ := selectRecords(name, []string{text}); code != "" {
		return refuse(code, lookleap.Position{}, "serve the manifest from "+name, "%s", code.Title())
	}
	return nil
}

// LintRecord returns what a publisher should change about the record of a site, by the answer of the
// DNS to a TXT lookup of "_anml." and the site: a record that agents refuse, or a zone that is not
// signed (sections 12.2.3 and 12.8). A site without a record delegates nothing and has no finding.
func LintRecord(site string, answer *lookleap.DNSAnswer) ([]lookleap.Finding, error) {
	name, err := siteName(site)
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, nil
	}
	var texts []string
	for _, r := range answer.Records {
		texts = append(texts, r.Text)
	}
	_, row, code, findings := selectRecords(name, texts)
	if code == CodeNoRecord {
		return nil, nil
	}
	if code != "" {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityError, Code: code, Requirement: row,
			Message: code.Title(), Fix: "publish the record as Record.Zone writes it"})
	}
	for _, f := range answer.Lint() {
		f.Requirement = "ANML-12.2.3-07"
		findings = append(findings, f)
	}
	return findings, nil
}

// Strings cuts the record into character-strings of at most 255 bytes, as a
// TXT record holds them.
func (r *Record) Strings() []string {
	list := []string{}
	for part := range slices.Chunk([]byte(r.String()), 255) {
		list = append(list, string(part))
	}
	return list
}

// Zone returns the record as a line of a zone file, to publish for a site. See
// [Record.Check] for what cannot be published.
func (r *Record) Zone(site string, ttl time.Duration) (string, error) {
	if err := r.Check(site); err != nil {
		return "", err
	}
	name, _ := NormalizeSite(site) // Check read it
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s. %d IN TXT", recordPrefix, name, int(ttl/time.Second))
	for _, s := range r.Strings() {
		s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`)
		b.WriteString(` "` + s + `"`)
	}
	return b.String(), nil
}

// codeLint is something that the draft advises against.
const codeLint lookleap.Code = "lint"

// NewManifestHandler returns a handler that serves a manifest. Mount it at the path of
// the manifest URL in the site's trust record, for example
// /.well-known/anml-trust. It returns an error for a manifest that agents would
// refuse. Agents cache the manifest for an hour, and never beyond its expiry. Now returns
// the time, as time.Now does.
func NewManifestHandler(data []byte, now func() time.Time) (http.Handler, error) {
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, byteOrderMark) {
		return nil, refuse(CodeManifestByteOrder, lookleap.Position{Line: 1, Column: 1}, "save it without one",
			"the manifest begins with a byte order mark")
	}
	manifest := serve.New(data, ManifestMediaType)
	manifest.MaxAge = func() time.Duration { return min(time.Hour, max(m.Expires.Sub(now()), 0)) }
	return manifest, nil
}

// Authorizer reports whether a serving domain may speak for the site, for which scope
// and until when. Several goroutines call it at once.
type Authorizer func(servingDomain string, requested Scope) (QueryResponse, bool)

// NewQueryHandler returns a handler that answers the queries of agents (section 12.4).
// Mount it at the path of the query URL in the site's trust record. It answers 200 with
// the authorization, reduced to the requested scope; 404 with an empty body if there is
// none; and 400 for a malformed query. No response says "not authorized" with 200,
// because the draft has no form for it. It returns an error if authorize is nil.
func NewQueryHandler(authorize Authorizer, now func() time.Time) (http.Handler, error) {
	if authorize == nil {
		return nil, usageError("the authorizer is nil", "pass a function that decides")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve.Secure(w.Header())
		if !serve.Reads(w, r) {
			return
		}
		server, requested, ok := readQuery(r.URL.RawQuery)
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		a, yes := authorize(server, requested)
		a.Scope &= requested
		if !yes || requested == 0 || a.Tier != Display && a.Tier != Full || !now().Before(a.Expires) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		scope, _ := a.Scope.MarshalJSON() // names cannot fail
		body := fmt.Appendf(nil, `{"authorized":true,"tier":%d,"scope":%s,"expires":%q}`, a.Tier, scope, a.Expires.UTC().Format(time.RFC3339))
		response := serve.New(body, "application/json")
		response.Header.Set("Cache-Control", "no-store") // agents cache it by section 12.4, proxies do not
		response.ServeHTTP(w, r)
	}), nil
}

// readQuery reads the parameters domain and scope, each given at most once. An unknown
// scope is an empty one.
func readQuery(query string) (server string, requested Scope, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values["domain"]) != 1 || len(values["scope"]) > 1 {
		return "", 0, false
	}
	server, err = NormalizeSite(values.Get("domain"))
	if registrable, is := domain.Registrable(server); err != nil || !is || registrable != server {
		return "", 0, false
	}
	if len(values["scope"]) == 0 {
		return server, AllSections, true
	}
	for name := range strings.SplitSeq(values.Get("scope"), ",") {
		requested |= bit(Section(name))
	}
	return server, requested, true
}
