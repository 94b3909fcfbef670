package anmltrust

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// TestExchangeFailures: which failure an error is, and which errors stop the gathering.
func TestExchangeFailures(t *testing.T) {
	denied := &lookleap.Error{Code: lookleap.CodeTLS, Err: lookleap.ErrDenied}
	for name, c := range map[string]struct {
		err  error
		want Failure
	}{
		"redirect":        {errRedirect, FailedRedirect},
		"certificate":     {errNotTheSites, FailedTLS},
		"slow":            {errSlow, FailedTransient},
		"guard":           {denied, FailedOther},
		"tls":             {&lookleap.Error{Code: lookleap.CodeTLS}, FailedTLS},
		"temporary-guard": {&fetch.Error{Code: lookleap.CodeUnreachable, Transient: true}, FailedTransient},
		"too-large":       {&lookleap.Error{Code: lookleap.CodeTooLarge}, FailedAnswer},
		"unknown":         {errors.New("x"), FailedOther},
	} {
		for _, err := range []error{c.err, fmt.Errorf("below: %w", c.err)} {
			var x Exchange
			if stop := x.end(t.Context(), nil, err, judgeNow); stop != nil || x.Failure != c.want || x.err != err || x.Cause != err.Error() || !x.At.Equal(judgeNow) {
				t.Errorf("%s: %v, %+v", name, stop, x)
			}
		}
	}
	for _, stop := range []error{errBudget, errExchanges, lookleap.ErrClosed, &lookleap.Error{Code: lookleap.CodeCancelled}} {
		for _, err := range []error{stop, fmt.Errorf("below: %w", stop)} {
			var x Exchange
			if got := x.end(t.Context(), nil, err, judgeNow); got != err || x.Failure != FailedNot || x.Cause != "" {
				t.Errorf("%v: %v, %+v", err, got, x)
			}
		}
	}
	for n, want := range map[int]string{300: strings.Repeat("x", 300), 301: strings.Repeat("x", 300) + "…"} {
		var x Exchange
		if stop := x.end(t.Context(), nil, errors.New(strings.Repeat("x", n)), judgeNow); stop != nil || x.Cause != want {
			t.Errorf("a cause of %d bytes became %q", n, x.Cause)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var x Exchange
	if got := x.end(ended, nil, errSlow, judgeNow); got != context.Canceled || x.Failure != FailedNot {
		t.Errorf("after the caller left: %v, %+v", got, x)
	}
}

// TestExchangeResponse: what is kept of a response.
func TestExchangeResponse(t *testing.T) {
	at, err := domain.Parse("https://brand.example/1")
	if err != nil {
		t.Fatal(err)
	}
	fresh := func(lifetime time.Duration, c fetch.CacheControl) fetch.Freshness {
		return fetch.Freshness{Stated: true, Lifetime: lifetime, Received: judgeNow, CacheControl: c}
	}
	for name, c := range map[string]struct {
		asked   string
		resp    fetch.Response
		final   string
		digest  string
		noStore bool
	}{
		"here":            {"https://brand.example/1", fetch.Response{Body: []byte("x")}, "", "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", false},
		"empty":           {"https://brand.example/1", fetch.Response{Body: []byte{}}, "", "", false},
		"moved":           {"https://brand.example/0", fetch.Response{}, "https://brand.example/1", "", false},
		"fresh":           {"https://brand.example/1", fetch.Response{Freshness: fresh(time.Minute, fetch.CacheControl{})}, "", "", false},
		"stale":           {"https://brand.example/1", fetch.Response{Freshness: fresh(0, fetch.CacheControl{})}, "", "", true},
		"not-to-be-kept":  {"https://brand.example/1", fetch.Response{Freshness: fresh(time.Minute, fetch.CacheControl{NoStore: true})}, "", "", true},
		"always-validate": {"https://brand.example/1", fetch.Response{Freshness: fresh(time.Minute, fetch.CacheControl{NoCache: true})}, "", "", true},
	} {
		c.resp.URL, c.resp.Header = at, http.Header{}
		x := Exchange{Mechanism: ManifestSource, URL: c.asked}
		if err := x.end(t.Context(), &c.resp, nil, judgeNow); err != nil || x.Final != c.final || x.Digest != c.digest || x.NoStore != c.noStore {
			t.Errorf("%s: %v, %+v", name, err, x)
		}
	}
}

// TestOutcome: what a decision withdraws and starts, and whether it may be remembered.
func TestOutcome(t *testing.T) {
	const one, two, query = "https://brand.example/1", "https://brand.example/2", "https://trust.example/q"
	lists, none := manifestOf(one, listed("shop.example", "2", `"body"`)), manifestOf(one, "")
	ofQuery := func(status int) Exchange { return Exchange{Mechanism: Query, URL: query, Status: status} }
	held := func(x Exchange, code lookleap.Code) Exchange {
		return Exchange{Mechanism: x.Mechanism, URL: x.URL, Held: code}
	}
	unstored := lists
	unstored.NoStore = true
	remembered := ofQuery(400)
	remembered.remembered = true
	oneManifest, oneQuery := []string{"v=anml1;manifest=" + one}, []string{"v=anml1;query=" + query}
	for name, c := range map[string]struct {
		texts     []string
		secure    bool
		exchanges []Exchange
		row       string
		withdraws withdrawal
		backoffs  int
		storable  bool
	}{
		"granted":               {oneManifest, false, []Exchange{lists}, "L3", withdrawNothing, 0, true},
		"granted-once":          {[]string{oneManifest[0], "v=anml1;manifest=" + two}, false, []Exchange{unstored, manifestOf(two, listed("shop.example", "2", `"body"`))}, "K1", withdrawNothing, 0, false},
		"not-listed":            {oneManifest, false, []Exchange{none}, "L1", withdrawHost, 0, true},
		"query-404":             {oneQuery, false, []Exchange{ofQuery(404)}, "Q7", withdrawPair, 0, true},
		"query-400":             {oneQuery, false, []Exchange{ofQuery(400)}, "Q8", withdrawPair, 1, true},
		"query-400-remembered":  {oneQuery, false, []Exchange{remembered}, "Q8", withdrawPair, 0, true},
		"query-400-held":        {oneQuery, false, []Exchange{held(ofQuery(0), CodeQuery400)}, "Q0", withdrawNothing, 0, true},
		"query-429-held":        {oneQuery, false, []Exchange{held(ofQuery(0), CodeQuery429)}, "E8", withdrawNothing, 0, true},
		"fallback-not-listed":   {[]string{oneManifest[0], oneQuery[0]}, true, []Exchange{ofQuery(503), none}, "L1", withdrawHostOnly, 1, true},
		"fallback-held":         {[]string{oneManifest[0], oneQuery[0]}, true, []Exchange{ofQuery(503), held(lists, CodeManifest429)}, "M0", withdrawNothing, 1, true},
		"fallback-after-a-held": {[]string{oneManifest[0], oneQuery[0]}, true, []Exchange{{Mechanism: Query, URL: query, Held: CodeQueryUnavailable, Transient: true}, lists}, "L3", withdrawNothing, 0, true},
	} {
		ev := evidenceOf(Rules{}, c.texts, c.exchanges...)
		if c.secure {
			ev.DNS.DNSSEC = lookleap.Secure
		}
		o := walk(shopClaim, &ev, nil, judgeNow)
		if o.missing != nil || o.row != c.row || o.withdraws != c.withdraws || len(o.backoffs) != c.backoffs || o.storable != c.storable {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for _, x := range []Exchange{{Mechanism: ManifestSource, URL: one, Status: 404}, manifestOf(one, "")} { // a host of the site itself loses nothing
		ev := evidenceOf(Rules{}, oneManifest, x)
		if o := walk(Claim{URL: "https://api.brand.example/a", Site: "brand.example"}, &ev, nil, judgeNow); o.tier != Self || o.withdraws != withdrawNothing {
			t.Errorf("%+v", o)
		}
	}
}

// TestOutcomeInWords: what a verdict says about exchanges.
func TestOutcomeInWords(t *testing.T) {
	const one, query = "https://brand.example/1", "https://trust.example/q"
	texts := []string{"v=anml1;manifest=" + one + ";query=" + query}
	lists := manifestOf(one, listed("shop.example", "2", `"body"`)+`,{"tier":1}`)
	lists.Final = "https://brand.example/moved"
	ev := evidenceOf(Rules{}, append(texts, "v=anml1;manifest"), Exchange{Mechanism: Query, URL: query, Status: 503}, lists)
	ev.DNS.DNSSEC = lookleap.Secure
	a, err := Decide(shopClaim, ev, judgeNow)
	if err != nil || a.Reason != CodeListedFallback || !slices.Equal(a.Sources, []string{one}) {
		t.Fatalf("%+v, %v", a, err)
	}
	var codes []lookleap.Code
	for _, f := range a.Verdict.Findings {
		codes = append(codes, f.Code)
	}
	if want := []lookleap.Code{CodeRecordMalformed, CodeManifestEntryMalformed}; !slices.Equal(codes, want) {
		t.Errorf("findings %v, want %v", codes, want)
	}
	found := false
	for _, check := range a.Verdict.Checks {
		if check.Requirement == "L3" && len(check.Evidence) > 0 {
			found = true
			if check.Evidence[0].URL != lists.Final || !check.Until.Equal(judgeNow.Add(time.Hour)) {
				t.Errorf("%+v", check)
			}
		}
	}
	if !found {
		t.Errorf("%s", a.Verdict)
	}
	for url, want := range map[string]string{"https://brand.example/": "it may speak for every section", "https://shop.example/": "it may speak for body"} {
		if a, err := Decide(Claim{URL: url, Site: "brand.example"}, ev, judgeNow); err != nil || !strings.HasSuffix(a.Verdict.Summary, want) || a.RefreshAfter.IsZero() != (a.Tier == Self) {
			t.Errorf("%s: %+v, %v", url, a, err)
		}
	}
	ev = evidenceOf(Rules{}, []string{"v=anml1;query=" + query}, Exchange{Mechanism: Query, URL: query, Status: 200, MediaType: "application/json", Body: []byte("{")})
	_, err = Decide(shopClaim, ev, judgeNow)
	if refused, ok := err.(*lookleap.VerifyError); !ok || len(refused.Verdict.Findings) != 1 || refused.Verdict.Findings[0].Code != CodeQueryMalformed {
		t.Errorf("%v", err)
	}
	ev = evidenceOf(Rules{}, []string{"v=anml1;manifest=" + one}, Exchange{Mechanism: ManifestSource, URL: one, Failure: FailedRedirect, err: errRedirect})
	if _, err = Decide(shopClaim, ev, judgeNow); !errors.Is(err, errRedirect) {
		t.Errorf("the cause is missing: %v", err)
	}
	tls := evidenceOf(Rules{}, []string{"v=anml1;manifest=" + one}, Exchange{Mechanism: ManifestSource, URL: one, Failure: FailedTLS})
	_, err = Decide(shopClaim, tls, judgeNow)
	if refused, ok := err.(*lookleap.VerifyError); !ok || len(refused.Verdict.Findings) != 1 || refused.Verdict.Findings[0].Requirement != "M5" {
		t.Errorf("%v", err)
	}
}

// TestRecall: a grant that stands answers although the pair is not asked now.
func TestRecall(t *testing.T) {
	grant := &decision{auth: &Authorization{}, code: CodeListed, sources: []string{"https://brand.example/1"}, until: judgeNow.Add(time.Hour)}
	from := sources{manifests: grant.sources}
	for name, c := range map[string]struct {
		known recalled
		now   time.Time
		row   string
	}{
		"accept-grant-in-a-backoff":       {recalled{grants: []*decision{grant}, backoff: lookleap.CodeTimeout}, judgeNow, "E1"},
		"reject-ended-grant-in-a-backoff": {recalled{grants: []*decision{grant}, backoff: lookleap.CodeTimeout}, grant.until, "E7"},
		"reject-backoff":                  {recalled{backoff: lookleap.CodeTimeout}, judgeNow, "E7"},
		"accept-nothing":                  {recalled{}, judgeNow, ""},
	} {
		var o outcome
		if decided := o.recall(&c.known, from, c.now); o.row != c.row || decided != (c.row != "") {
			t.Errorf("%s: row %q, decided: %v", name, o.row, decided)
		}
	}
}

// TestScopeHas: a scope has its sections, and no others.
func TestScopeHas(t *testing.T) {
	s := ScopeOf(Body, Footer)
	for _, section := range append(Sections(), State, Status, "x") {
		if got := s.Has(section); got != (section == Body || section == Footer) {
			t.Errorf("%s: %t", section, got)
		}
	}
}

// TestNames: what is no tier or rank has the name of the lowest one.
func TestNames(t *testing.T) {
	for value, want := range map[fmt.Stringer]string{Unlisted: "unlisted", Self: "self", Self + 1: "unlisted", Tier(255): "unlisted",
		NotListed: "none", ByExactHost: "host", ByExactHost + 1: "none", Rank(255): "none"} {
		if got := value.String(); got != want {
			t.Errorf("%#v is %s, want %s", value, got, want)
		}
	}
}

// TestRowOfOthers: a verdict of another document, or without checks, has no row.
func TestRowOfOthers(t *testing.T) {
	checks := []lookleap.Check{{Requirement: "A1"}}
	for want, v := range map[string]*lookleap.Verdict{"": nil, "A1": {Document: Draft, Checks: checks}} {
		if got := Row(v); got != want {
			t.Errorf("%+v: %s", v, got)
		}
	}
	for _, v := range []*lookleap.Verdict{{Document: "other", Checks: checks}, {Document: Draft}} {
		if got := Row(v); got != "" {
			t.Errorf("%+v: %s", v, got)
		}
	}
}
