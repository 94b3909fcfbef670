package anmltrust_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

const (
	manifestPath = "/.well-known/anml-trust"
	manifestURI  = "https://brand.example" + manifestPath
	queryPath    = "/authorize"
	queryURI     = "https://trust.example" + queryPath
	both         = "v=anml1;manifest=" + manifestURI + ";query=" + queryURI
	manifestOnly = "v=anml1;manifest=" + manifestURI
	queryOnly    = "v=anml1;query=" + queryURI
)

// world is one brand whose name a shop uses.
type world struct {
	t      *testing.T
	net    *lookleaptest.Internet
	brand  *lookleaptest.Site
	trust  *lookleaptest.Site // the brand's query endpoint
	dns    *lookleaptest.Name
	host   *lookleap.Host
	v      *anmltrust.Verifier
	in     *anmltrust.Interaction // nil: each question is an interaction of its own
	events *lookleaptest.Events   // that the host reported
}

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// newWorld has a brand with a record, at a clock that stands still.
func newWorld(t *testing.T, record string, o ...anmltrust.Rules) *world {
	t.Helper()
	net := lookleaptest.ForTest(t)
	net.Clock().Freeze()
	net.Clock().Set(start)
	return newWorldOn(t, net, record, o...)
}

// newRunningWorld is newWorld with a clock that runs as the bubble's.
func newRunningWorld(t *testing.T, record string) *world {
	t.Helper()
	net := lookleaptest.ForTest(t)
	net.Clock().Set(start)
	return newWorldOn(t, net, record)
}

func newWorldOn(t *testing.T, net *lookleaptest.Internet, record string, o ...anmltrust.Rules) *world {
	t.Helper()
	w := &world{t: t, net: net, brand: net.Site("brand.example"), trust: net.Site("trust.example"), dns: net.Name("_anml.brand.example"), host: net.StubHost(), events: &lookleaptest.Events{}}
	w.host.Observe = w.events.Observe
	if record != "" {
		w.dns.TXT(record).TTL(time.Hour)
	}
	var options anmltrust.Rules
	if len(o) > 0 {
		options = o[0]
	}
	w.v = anmltrust.NewVerifier(w.host, options)
	return w
}

func (w *world) secure() *world {
	w.dns.DNSSEC(lookleap.Secure)
	return w
}

func (w *world) setRecord(texts ...string) *world {
	w.dns.Clear()
	for _, text := range texts {
		w.dns.TXT(text)
	}
	w.dns.TTL(time.Hour)
	return w
}

// manifest is a valid one for the brand, with entries and other members.
func manifest(entries string, other ...string) string {
	members := map[string]string{
		"version": `"1.0"`, "site": `"brand.example"`, "issued": `"2026-05-01T00:00:00Z"`, "expires": `"2026-07-01T00:00:00Z"`,
		"authorized-domains": "[" + entries + "]",
	}
	for i := 0; i+1 < len(other); i += 2 {
		members[other[i]] = other[i+1]
	}
	var parts []string
	for _, name := range []string{"version", "site", "issued", "expires", "authorized-domains", "x-unknown"} {
		if v := members[name]; v != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", name, v))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func entry(domain string, tier int, sections ...string) string {
	quoted := make([]string, len(sections))
	for i, s := range sections {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf(`{"domain":%q,"tier":%d,"scope":[%s]}`, domain, tier, strings.Join(quoted, ","))
}

// listed is the entry that most tests need.
var listed = entry("shop.example", 2, "persona", "body", "interact")

func (w *world) manifest(body string) *world {
	w.brand.File(manifestPath, anmltrust.ManifestMediaType, body)
	return w
}

func answer(tier int, expires string, sections ...string) string {
	return fmt.Sprintf(`{"authorized":true,%s,"expires":%q}`, strings.TrimPrefix(strings.TrimSuffix(entry("x", tier, sections...), "}"), `{"domain":"x",`), expires)
}

var authorized = answer(2, "2026-06-20T00:00:00Z", "persona", "body")

func (w *world) query(body string) *world {
	w.trust.File(queryPath, "application/json", body)
	return w
}

func (w *world) status(code int, header ...string) *world {
	w.trust.Status(queryPath, code, header...)
	return w
}

// both mechanisms would grant.
func (w *world) willing() *world { return w.manifest(manifest(listed)).query(authorized) }

func claimFrom(url string) anmltrust.Claim { return anmltrust.Claim{URL: url, Site: "brand.example"} }

var shopClaim = claimFrom("https://cdn.shop.example/anml")

func (w *world) ask(c anmltrust.Claim) (*anmltrust.Authorization, error) {
	w.t.Helper()
	if w.in != nil {
		return w.in.Verify(w.t.Context(), c, nil)
	}
	return w.v.Verify(w.t.Context(), c)
}

// wants checks an answer: a code, and the tier; Tier 0 has an empty scope.
func (w *world) wants(a *anmltrust.Authorization, err error, tier anmltrust.Tier, code lookleap.Code) *anmltrust.Authorization {
	w.t.Helper()
	if tier == anmltrust.Unlisted {
		if a != nil || err == nil || lookleap.CodeOf(err) != code {
			w.t.Fatalf("want Tier 0 %s, got %+v, %v", code, a, err)
		}
		v := verdictOf(w.t, a, err)
		if v.OK || v.Code != code || len(v.Checks) < 2 || len(v.Record) == 0 {
			w.t.Fatalf("the verdict does not tell:\n%s", v)
		}
		if a.Permits(anmltrust.Body, w.net.Clock().Now()) {
			w.t.Fatal("nothing permits something")
		}
		return nil
	}
	if err != nil || a == nil || a.Tier != tier || a.Reason != code {
		w.t.Fatalf("want tier %d %s, got %+v, %v", tier, code, a, err)
	}
	return a
}

func (w *world) denied(code lookleap.Code) {
	w.t.Helper()
	a, err := w.ask(shopClaim)
	w.wants(a, err, anmltrust.Unlisted, code)
}

func (w *world) granted(code lookleap.Code) *anmltrust.Authorization {
	w.t.Helper()
	a, err := w.ask(shopClaim)
	return w.wants(a, err, anmltrust.Full, code)
}

// row checks which row of the table decided.
func (w *world) row(want string) {
	w.t.Helper()
	a, err := w.ask(shopClaim)
	if got := anmltrust.Row(verdictOf(w.t, a, err)); got != want {
		w.t.Fatalf("row %s decided, want %s\n%s", got, want, verdictOf(w.t, a, err))
	}
}

func verdictOf(t *testing.T, a *anmltrust.Authorization, err error) *lookleap.Verdict {
	t.Helper()
	if err == nil {
		return a.Verdict
	}
	e, ok := err.(*lookleap.VerifyError)
	if !ok {
		t.Fatalf("%T is no VerifyError", err)
	}
	return e.Verdict
}

// exhausting returns records of manifests that take nine exchanges.
func (w *world) exhausting() (records []string) {
	for _, path := range []string{"/1", "/2", "/3"} {
		w.brand.RedirectChain(path, 2, "").File(path+"/2", anmltrust.ManifestMediaType, manifest(listed))
		records = append(records, "v=anml1;manifest=https://brand.example"+path)
	}
	return records
}

// other asks about another site that has a manifest.
func (w *world) other(code lookleap.Code) {
	w.t.Helper()
	other := w.net.Site("other.example").File(manifestPath, anmltrust.ManifestMediaType, strings.Replace(manifest(listed), "brand.example", "other.example", 1))
	w.net.Name("_anml." + other.Name()).TXT("v=anml1;manifest=https://other.example" + manifestPath).TTL(time.Hour)
	a, err := w.v.Verify(w.t.Context(), anmltrust.Claim{URL: shopClaim.URL, Site: other.Name()})
	w.wants(a, err, anmltrust.Full, code)
}

// traffic counts what reached the DNS, the query endpoint and the manifest since
// it was last asked.
func (w *world) traffic(dns, queries, manifests int) {
	w.t.Helper()
	j := w.net.Journal()
	gotDNS, gotQueries, gotManifests := 0, len(j.Requests("trust.example")), len(j.Requests("brand.example"))
	for _, q := range j.Queries("_anml.brand.example") {
		if q.Type == 16 {
			gotDNS++
		}
	}
	if gotDNS != dns || gotQueries != queries || gotManifests != manifests {
		w.t.Errorf("traffic: %d lookups, %d queries, %d manifests; want %d, %d, %d", gotDNS, gotQueries, gotManifests, dns, queries, manifests)
	}
	j.Clear()
}

func (w *world) after(d time.Duration) *world {
	w.net.Clock().Advance(d)
	return w
}

func (w *world) saw(code lookleap.Code) {
	w.t.Helper()
	if all := w.events.All(); !slices.ContainsFunc(all, func(e lookleap.Event) bool { return e.Kind == lookleap.EventFinding && e.Code == code }) {
		w.t.Errorf("no finding %s among %v", code, all)
	}
}

func has(findings []lookleap.Finding, code lookleap.Code) bool {
	return slices.ContainsFunc(findings, func(f lookleap.Finding) bool { return f.Code == code })
}

func handle(f func(w http.ResponseWriter, r *http.Request)) http.Handler { return http.HandlerFunc(f) }

// runRows runs tests by the rows of the decision table. Rows whose names are ids
// of attacks on other documents get a prefix.
func runRows(t *testing.T, rows []rowTest) {
	for _, r := range rows {
		name := r.row
		if len(name) == 3 && name[1] >= '0' && name[1] <= '9' && name[2] <= '9' {
			name = "row-" + name
		}
		t.Run(name+"/"+r.name, r.test)
	}
}

type rowTest struct {
	row, name string
	test      func(t *testing.T)
}
