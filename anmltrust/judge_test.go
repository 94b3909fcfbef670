package anmltrust

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

var judgeNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// judged is what the tests compare of a judgement.
type judged struct {
	state    state
	row      string
	lastRow  string
	code     lookleap.Code
	backoff  backoff
	security bool
	held     bool
	final    bool
}

func judgedOf(j judgement) judged {
	return judged{j.state, j.row, j.lastRow, j.code, j.backoff, j.security, j.held, j.final}
}

func refusalOf(row string, code lookleap.Code, scope backoffScope, length time.Duration) judged {
	return judged{row: row, code: code, backoff: backoff{scope: scope, code: code, length: length}}
}

func securityOf(j judged) judged { j.security = true; return j }

func temporaryOf(row, lastRow string, code lookleap.Code, length time.Duration) judged {
	return judged{state: failedTemporarily, row: row, lastRow: lastRow, code: code, backoff: backoff{scope: backoffEndpoint, code: code, temporary: true, length: length}}
}

// TestJudgeQuery: how long a failure of the query endpoint stands, and for what: a bad answer
// about one pair of server and site says nothing about the others of the endpoint.
func TestJudgeQuery(t *testing.T) {
	const ttl = 10 * time.Minute
	for _, c := range []struct {
		name string
		x    Exchange
		want judged
	}{
		{"ANML-12.5-23/reject-timeout", Exchange{Failure: FailedTransient}, temporaryOf("Q14", "Q15", CodeQueryUnavailable, time.Minute)},
		{"ANML-12.5-23/reject-tls", Exchange{Failure: FailedTLS}, securityOf(refusalOf("Q16", CodeQueryTLS, backoffPair, time.Minute))},
		{"ANML-12.5-23/reject-guard", Exchange{Failure: FailedOther}, refusalOf("Q15", CodeQueryUnavailable, backoffPair, time.Minute)},
		{"ANML-12.5-23/reject-answer", Exchange{Failure: FailedAnswer}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-redirect-failure", Exchange{Failure: FailedRedirect}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-answer-with-status", Exchange{Failure: FailedAnswer, Status: 404}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-100", Exchange{Status: 100}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-204", Exchange{Status: 204}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-299", Exchange{Status: 299}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-300", Exchange{Status: 300}, refusalOf("Q11", CodeQueryRedirect, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-399", Exchange{Status: 399}, refusalOf("Q11", CodeQueryRedirect, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-400", Exchange{Status: 400}, refusalOf("Q8", CodeQuery400, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-401", Exchange{Status: 401}, refusalOf("Q10", CodeQueryStatus, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-404", Exchange{Status: 404}, judged{row: "Q7", code: CodeQuery404}},
		{"ANML-12.5-23/reject-429", Exchange{Status: 429}, refusalOf("Q9", CodeQuery429, backoffEndpoint, time.Minute)},
		{"ANML-12.5-23/reject-429-retry-after", Exchange{Status: 429, RetryAfter: time.Hour}, refusalOf("Q9", CodeQuery429, backoffEndpoint, time.Hour)},
		{"ANML-12.5-23/reject-429-retry-after-a-year", Exchange{Status: 429, RetryAfter: 365 * 24 * time.Hour}, refusalOf("Q9", CodeQuery429, backoffEndpoint, maxRetryAfter)},
		{"ANML-12.5-23/reject-429-retry-after-negative", Exchange{Status: 429, RetryAfter: -time.Hour}, refusalOf("Q9", CodeQuery429, backoffEndpoint, time.Minute)},
		{"ANML-12.5-23/reject-499", Exchange{Status: 499}, refusalOf("Q10", CodeQueryStatus, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-500", Exchange{Status: 500}, temporaryOf("Q12", "Q13", CodeQueryUnavailable, time.Minute)},
		{"ANML-12.5-23/reject-503-retry-after", Exchange{Status: 503, RetryAfter: 2 * time.Minute}, temporaryOf("Q12", "Q13", CodeQueryUnavailable, 2*time.Minute)},
		{"ANML-12.5-23/reject-media-type", Exchange{Status: 200, MediaType: "text/html", Body: []byte("{}")}, refusalOf("Q5", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-malformed", Exchange{Status: 200, MediaType: "application/json", Body: []byte("{")}, refusalOf("Q3", CodeQueryMalformed, backoffPair, 5*time.Minute)},
		{"ANML-12.5-23/reject-not-authorized", Exchange{Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":false}`)}, judged{row: "Q2", code: CodeQueryAuthorizedFalse}},
		{"ANML-12.5-23/reject-expired", Exchange{Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":true,"tier":1,"scope":["body"],"expires":"2026-06-01T12:00:00Z"}`)},
			refusalOf("Q4", CodeQueryExpired, backoffPair, time.Minute)},
		{"accept-authorized", Exchange{Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":true,"tier":1,"scope":["body"],"expires":"2026-06-01T12:00:01Z"}`)},
			judged{state: granted, row: "Q1", code: CodeQueryAuthorized}},
		{"accept-empty-scope", Exchange{Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":true,"tier":1,"scope":[],"expires":"2026-06-01T12:00:01Z"}`)},
			judged{state: granted, row: "Q6", code: CodeQueryAuthorized}},

		{"ANML-12.5-23/reject-held", Exchange{Held: CodeQuery400}, judged{row: "Q0", lastRow: "Q0", code: CodeQuery400, held: true, final: true}},
		{"ANML-12.5-23/reject-held-429", Exchange{Held: CodeQuery429}, judged{row: "Q0", lastRow: "Q0", code: CodeQuery429, held: true}},
		{"ANML-12.5-23/reject-held-manifest-429", Exchange{Held: CodeManifest429}, judged{row: "Q0", lastRow: "Q0", code: CodeManifest429, held: true}},
		{"ANML-12.5-23/reject-held-temporarily", Exchange{Held: CodeQueryUnavailable, Transient: true}, judged{state: failedTemporarily, row: "Q0", lastRow: "Q0", code: CodeQueryUnavailable, held: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.x.At = judgeNow
			j := c.x.judgeQuery(judgeNow, ttl)
			if got := judgedOf(j); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if kept := c.want.row == "Q2" || c.want.row == "Q7"; kept && !j.until.Equal(judgeNow.Add(ttl)) {
				t.Errorf("kept until %s", j.until)
			}
		})
	}
	for names, code := range map[int]lookleap.Code{8187: CodeQueryAuthorized, 8188: CodeQueryMalformed} { // and five other values
		x := Exchange{At: judgeNow, Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":true,"tier":1,"scope":["body"` +
			strings.Repeat(`,"x"`, names-1) + `],"expires":"2026-06-01T12:00:01Z"}`)}
		if j := x.judgeQuery(judgeNow, ttl); j.code != code {
			t.Errorf("%d names: %s", names, j.code)
		}
	}
	t.Run("accept-at-most-90-days", func(t *testing.T) {
		for expires, want := range map[string]time.Time{"2027-06-01T12:00:00Z": judgeNow.Add(90 * 24 * time.Hour), "2026-08-01T12:00:00Z": time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)} {
			x := Exchange{At: judgeNow, Status: 200, MediaType: "application/json", Body: []byte(`{"authorized":true,"tier":2,"scope":["body"],"expires":"` + expires + `"}`)}
			if j := x.judgeQuery(judgeNow, ttl); !j.until.Equal(want) || j.tier != Full || j.scope != ScopeOf(Body) {
				t.Errorf("%+v", j)
			}
		}
	})
}

// TestJudgeManifest: the same for manifests.
func TestJudgeManifest(t *testing.T) {
	for _, c := range []struct {
		name string
		x    Exchange
		ttl  time.Duration
		want judged
	}{
		{"reject-timeout", Exchange{Failure: FailedTransient, RetryAfter: time.Hour}, time.Hour, temporaryOf("M9", "M10", CodeManifestUnavailable, time.Hour)},
		{"reject-tls", Exchange{Failure: FailedTLS}, time.Hour, securityOf(refusalOf("M5", CodeManifestTLS, backoffManifest, time.Minute))},
		{"reject-redirect", Exchange{Failure: FailedRedirect}, time.Hour, refusalOf("M6", CodeManifestRedirect, backoffManifest, 5*time.Minute)},
		{"reject-guard", Exchange{Failure: FailedOther}, time.Hour, refusalOf("M10", CodeManifestUnavailable, backoffManifest, time.Minute)},
		{"reject-answer", Exchange{Failure: FailedAnswer}, time.Hour, refusalOf("M12", CodeManifestMalformed, backoffManifest, 5*time.Minute)},
		{"reject-answer-with-status", Exchange{Failure: FailedAnswer, Status: 404}, time.Hour, refusalOf("M12", CodeManifestMalformed, backoffManifest, 5*time.Minute)},
		{"reject-answer-short-ttl", Exchange{Failure: FailedAnswer}, time.Minute, refusalOf("M12", CodeManifestMalformed, backoffManifest, time.Minute)},
		{"reject-204", Exchange{Status: 204}, time.Hour, refusalOf("M12", CodeManifestMalformed, backoffManifest, 5*time.Minute)},
		{"reject-304-not-asked", Exchange{Status: 304}, time.Hour, refusalOf("M12", CodeManifestMalformed, backoffManifest, 5*time.Minute)},
		{"reject-300", Exchange{Status: 300}, time.Hour, refusalOf("M6", CodeManifestRedirect, backoffManifest, 5*time.Minute)},
		{"reject-301", Exchange{Status: 301}, time.Hour, refusalOf("M6", CodeManifestRedirect, backoffManifest, 5*time.Minute)},
		{"reject-301-with-validator", Exchange{Status: 301, Validated: true}, time.Hour, refusalOf("M6", CodeManifestRedirect, backoffManifest, 5*time.Minute)},
		{"reject-399", Exchange{Status: 399}, time.Hour, refusalOf("M6", CodeManifestRedirect, backoffManifest, 5*time.Minute)},
		{"reject-400", Exchange{Status: 400}, time.Hour, refusalOf("M7", CodeManifestMissing, backoffManifest, 5*time.Minute)},
		{"reject-404-short-ttl", Exchange{Status: 404}, time.Minute, refusalOf("M7", CodeManifestMissing, backoffManifest, time.Minute)},
		{"reject-429", Exchange{Status: 429, RetryAfter: time.Hour}, time.Hour, refusalOf("M8", CodeManifest429, backoffEndpoint, time.Hour)},
		{"reject-499", Exchange{Status: 499}, time.Hour, refusalOf("M7", CodeManifestMissing, backoffManifest, 5*time.Minute)},
		{"reject-500", Exchange{Status: 500}, time.Hour, temporaryOf("M9", "M10", CodeManifestUnavailable, time.Minute)},
		{"reject-held", Exchange{Held: CodeManifestMissing}, time.Hour, judged{row: "M0", lastRow: "M10", code: CodeManifestMissing, held: true, final: true}},
		{"reject-media-type", Exchange{Status: 200, MediaType: "text/html"}, time.Hour, refusalOf("M11", CodeManifestType, backoffManifest, 5*time.Minute)},
		{"reject-media-type-short-ttl", Exchange{Status: 200, MediaType: "text/html"}, time.Minute, refusalOf("M11", CodeManifestType, backoffManifest, time.Minute)},
		{"reject-json", Exchange{Status: 200, MediaType: ManifestMediaType, Body: []byte("{")}, time.Hour, refusalOf("M12", CodeManifestMalformed, backoffManifest, 5*time.Minute)},
		{"reject-json-short-ttl", Exchange{Status: 200, MediaType: ManifestMediaType, Body: []byte("{")}, time.Minute, refusalOf("M12", CodeManifestMalformed, backoffManifest, time.Minute)},
	} {
		t.Run("ANML-12.5-23/"+c.name, func(t *testing.T) {
			c.x.At = judgeNow
			j := c.x.judgeManifest(Rules{}, subject{}, judgeNow, c.ttl, false)
			if got := judgedOf(j); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if read := len(c.x.Body) > 0; read != (len(j.findings) == 1 && j.findings[0].Requirement == "M12" && j.findings[0].Position.Line == 1) {
				t.Errorf("findings %+v", j.findings)
			}
		})
	}
}

// TestTTL: how long an answer of the DNS is kept.
func TestTTL(t *testing.T) {
	for _, c := range []struct {
		outcome   DNSOutcome
		ttl, want time.Duration
	}{
		{DNSAbsent, 0, 5 * time.Minute}, {DNSAbsent, -time.Second, 5 * time.Minute}, {DNSAbsent, time.Second, time.Minute}, {DNSAbsent, time.Minute, time.Minute},
		{DNSAbsent, time.Hour, time.Hour}, {DNSAbsent, 3 * time.Hour, 3 * time.Hour}, {DNSAbsent, 4 * time.Hour, 3 * time.Hour},
		{DNSAnswer, 0, time.Minute}, {DNSAnswer, time.Second, time.Minute}, {DNSAnswer, 4 * time.Hour, 4 * time.Hour}, {DNSAnswer, 24 * time.Hour, 24 * time.Hour}, {DNSAnswer, 48 * time.Hour, 24 * time.Hour},
	} {
		side := "accept-record-"
		if c.outcome == DNSAbsent {
			side = "reject-absent-"
		}
		t.Run("ANML-12.2.3-01/"+side+c.ttl.String(), func(t *testing.T) {
			if got := (&DNSEvidence{Outcome: c.outcome, TTL: c.ttl}).ttl(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestScopeJSON: a scope is stored as names, and no other name is read.
func TestScopeJSON(t *testing.T) {
	for n := range int(AllSections) + 1 {
		s := Scope(n)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		read := AllSections // what was there before has no effect
		if err := json.Unmarshal(data, &read); err != nil || read != s {
			t.Errorf("%s: %s, %v", data, read, err)
		}
	}
	for _, text := range []string{`["footer","status"]`, `["state"]`, `[""]`, `["Body"]`, `"body"`, `5`, `[5]`, `{}`} {
		var s Scope
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s: %s", text, s)
		}
	}
}

// TestReplayWithoutRecord: a verdict that has no evidence is judged by no one.
func TestReplayWithoutRecord(t *testing.T) {
	if a, err := Replay(nil, judgeNow); a != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Error(a, err)
	}
	granted, err := Decide(shopClaim, evidenceOf(Rules{}, []string{"v=anml1;manifest=https://brand.example/1"},
		manifestOf("https://brand.example/1", listed("shop.example", "2", `"body"`))), judgeNow)
	if err != nil {
		t.Fatal(err)
	}
	record := string(granted.Verdict.Record)
	for _, damaged := range []string{"", "{", `{"claim":{}}`} {
		if got := recordFor([]byte(damaged), shopClaim); string(got) != damaged {
			t.Errorf("%q became %s", damaged, got)
		}
	}
	if a, err := Replay(&lookleap.Verdict{Record: []byte(record)}, judgeNow); err != nil || a.Tier != Full {
		t.Errorf("%+v, %v", a, err)
	}
	damaged := strings.Replace(record, `"evidence":{`, `"evidence":{"row":5,`, 1) // the other members can be read
	if damaged == record {
		t.Errorf("%s", record)
	}
	for _, text := range []string{damaged, "", "{", "{}", `{"claim":{}}`, `{"claim":{},"evidence":null}`, `[]`} {
		if a, err := Replay(&lookleap.Verdict{Record: []byte(text)}, judgeNow); a != nil || !errors.Is(err, errNoRecord) {
			t.Errorf("%q: %v, %v", text, a, err)
		}
	}
}

// TestConfirmNeedsEverything drops, one by one, what an action at Tier 2 needs.
func TestConfirmNeedsEverything(t *testing.T) {
	good := Authorization{Tier: Full, Scope: ScopeOf(Interact), Expires: judgeNow.Add(time.Second)}
	change := func(f func(*Authorization)) *Authorization { a := good; f(&a); return &a }
	temporary := &lookleap.Error{Code: CodeQueryUnavailable}
	for _, c := range []struct {
		name string
		a    *Authorization
		err  error
		want error
	}{
		{"accept", &good, nil, nil},
		{"accept-self", &Authorization{Tier: Self}, nil, nil},
		{"reject-display", change(func(a *Authorization) { a.Tier = Display }), nil, ErrTrustRevoked},
		{"reject-display-with-its-section", change(func(a *Authorization) { a.Tier, a.Scope = Display, AllSections }), nil, ErrTrustRevoked},
		{"reject-unlisted", change(func(a *Authorization) { a.Tier = Unlisted }), nil, ErrTrustRevoked},
		{"reject-scope", change(func(a *Authorization) { a.Scope = ScopeOf(Body) }), nil, ErrTrustRevoked},
		{"reject-expired", change(func(a *Authorization) { a.Expires = judgeNow }), nil, ErrTrustRevoked},
		{"reject-nil", nil, nil, ErrTrustRevoked},
		{"reject-temporary", &good, temporary, ErrTrustUnverified},
		{"reject-refused", &good, &lookleap.Error{Code: CodeQuery404}, ErrTrustRevoked},
		{"reject-unknown-error", &good, errors.New("x"), ErrTrustRevoked},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Confirm(c.a, c.err, Interact, judgeNow)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if c.want != nil && !strings.HasPrefix(err.Error(), c.want.Error()+": ") {
				t.Errorf("%v does not begin with its class", err)
			}
			if c.want != nil && errors.Is(err, ErrTrustRevoked) == errors.Is(err, ErrTrustUnverified) {
				t.Errorf("%v is of two classes", err)
			}
		})
	}
	for section, display := range map[Section]bool{Body: true, Interact: false} {
		a := Authorization{Tier: Display, Scope: AllSections, Expires: judgeNow.Add(time.Second)}
		if got := Confirm(&a, nil, section, judgeNow); got == nil || a.Permits(section, judgeNow) != display {
			t.Errorf("%s: %v", section, got)
		}
	}
	if (&Authorization{Tier: Unlisted, Scope: AllSections}).Holds(judgeNow) || (*Authorization)(nil).Holds(judgeNow) {
		t.Error("an authorization of no tier is in force")
	}
}

// evidenceOf is the evidence of a record and of manifests, all answered at judgeNow.
func evidenceOf(policy Rules, texts []string, exchanges ...Exchange) Evidence {
	for i := range exchanges {
		exchanges[i].At = judgeNow
	}
	return Evidence{Policy: policy, Exchanges: exchanges,
		DNS: &DNSEvidence{Name: "_anml.brand.example", Outcome: DNSAnswer, Texts: texts, TTL: time.Hour, At: judgeNow, DNSSEC: lookleap.Insecure}}
}

// manifestOf is a manifest of brand.example, and how it was served.
func manifestOf(uri, entries string) Exchange {
	return Exchange{Mechanism: ManifestSource, URL: uri, Status: 200, MediaType: ManifestMediaType,
		Body: []byte(`{"version":"1.0","site":"brand.example","issued":"2026-05-01T00:00:00Z","expires":"2026-07-01T00:00:00Z","authorized-domains":[` + entries + `]}`)}
}

func listed(domain string, tier, scope string) string {
	return `{"domain":"` + domain + `","tier":` + tier + `,"scope":[` + scope + `]}`
}

var shopClaim = Claim{URL: "https://www.shop.example/a", Site: "brand.example"}

// TestDecideSources judges what several manifests of one site say together.
func TestDecideSources(t *testing.T) {
	const one, two = "https://brand.example/1", "https://brand.example/2"
	texts := []string{"v=anml1;manifest=" + one, "v=anml1;manifest=" + two}
	until := func(x Exchange, d time.Duration) Exchange { x.Fresh = judgeNow.Add(d); return x }
	full, body := listed("shop.example", "2", `"body","state"`), listed("shop.example", "1", `"body"`)
	for name, c := range map[string]struct {
		first, second Exchange
		tier          Tier
		scope         Scope
		left          time.Duration
		code          lookleap.Code
	}{
		"accept-lower-tier-second":              {manifestOf(one, full), manifestOf(two, body), Display, ScopeOf(Body), time.Hour, CodeListed},
		"accept-lower-tier-first":               {manifestOf(one, body), manifestOf(two, full), Display, ScopeOf(Body), time.Hour, CodeListed},
		"accept-earlier-end-first":              {until(manifestOf(one, full), time.Minute), until(manifestOf(two, full), 2*time.Minute), Full, ScopeOf(Body, State), time.Minute, CodeListed},
		"accept-earlier-end-second":             {until(manifestOf(one, full), 2*time.Minute), until(manifestOf(two, full), time.Minute), Full, ScopeOf(Body, State), time.Minute, CodeListed},
		"accept-earlier-end-of-the-higher-tier": {until(manifestOf(one, full), time.Minute), until(manifestOf(two, body), 2*time.Minute), Display, ScopeOf(Body), time.Minute, CodeListed},
		"reject-one-that-lists-none":            {manifestOf(one, full), manifestOf(two, ""), Unlisted, 0, 0, CodeNotListed},
		"reject-first-that-lists-none":          {manifestOf(one, ""), manifestOf(two, full), Unlisted, 0, 0, CodeNotListed},
		"reject-first-that-fails":               {Exchange{Mechanism: ManifestSource, URL: one, Failure: FailedTransient}, manifestOf(two, full), Unlisted, 0, 0, CodeManifestUnavailable},
		"reject-second-that-fails":              {manifestOf(one, full), Exchange{Mechanism: ManifestSource, URL: two, Failure: FailedTransient}, Unlisted, 0, 0, CodeManifestUnavailable},
	} {
		t.Run("K1/"+name, func(t *testing.T) {
			a, err := Decide(shopClaim, evidenceOf(Rules{}, texts, c.first, c.second), judgeNow)
			if c.tier == Unlisted {
				if a != nil || lookleap.CodeOf(err) != c.code {
					t.Errorf("%+v, %v", a, err)
				}
				return
			}
			if err != nil || a.Tier != c.tier || a.Scope != c.scope || a.Reason != c.code || !a.Expires.Equal(judgeNow.Add(c.left)) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

// TestDecideNarrow judges hosts below the site, which only the site's own manifest narrows.
func TestDecideNarrow(t *testing.T) {
	const one, two = "https://brand.example/1", "https://brand.example/2"
	both := []string{"v=anml1;manifest=" + one, "v=anml1;manifest=" + two}
	api := Claim{URL: "https://api.brand.example/a", Site: "brand.example"}
	narrow := listed("api.brand.example", "1", `"body"`)
	for name, c := range map[string]struct {
		first, second Exchange
		tier          Tier
		code          lookleap.Code
		finding       string
	}{
		"accept-narrowed-by-the-second": {manifestOf(one, ""), manifestOf(two, narrow), Display, CodeSelfNarrowed, ""},
		"accept-narrowed-by-the-first":  {manifestOf(one, narrow), manifestOf(two, ""), Display, CodeSelfNarrowed, ""},
		"accept-not-narrowed":           {manifestOf(one, ""), manifestOf(two, ""), Self, CodeSelf, ""},
		"accept-not-found-out": {Exchange{Mechanism: ManifestSource, URL: one, Status: 404}, manifestOf(two, narrow), Self, CodeSelf,
			"(manifest-missing, row M7)"},
		"accept-not-found-out-by-the-first": {Exchange{Mechanism: ManifestSource, URL: one, Failure: FailedTransient}, manifestOf(two, ""), Self, CodeSelf,
			"(manifest-unavailable, row M10)"},
		"accept-not-found-out-by-the-second": {manifestOf(one, narrow), Exchange{Mechanism: ManifestSource, URL: two, Failure: FailedTransient}, Self, CodeSelf,
			"(manifest-unavailable, row M10)"},
	} {
		t.Run("B5/"+name, func(t *testing.T) {
			a, err := Decide(api, evidenceOf(Rules{}, both, c.first, c.second), judgeNow)
			if err != nil || a.Tier != c.tier || a.Reason != c.code {
				t.Fatalf("%+v, %v", a, err)
			}
			found := ""
			for _, f := range a.Verdict.Findings {
				if f.Code == CodeSelfNarrowUnavailable {
					found = f.Message
				}
			}
			if said := strings.Contains(a.Verdict.String(), "whether the site narrows it could not be found out"); said != (c.finding != "") {
				t.Errorf("the verdict says so: %v\n%s", said, a.Verdict)
			}
			if !strings.HasSuffix(found, c.finding) || (found != "") != (c.finding != "") {
				t.Errorf("finding %q, want %q", found, c.finding)
			}
		})
	}
}

// TestDecideLate: evidence grants nothing after its end.
func TestDecideLate(t *testing.T) {
	ev := evidenceOf(Rules{}, []string{"v=anml1;manifest=https://brand.example/1"}, manifestOf("https://brand.example/1", listed("shop.example", "2", `"body"`)))
	if a, err := Decide(shopClaim, ev, judgeNow.Add(time.Hour-1)); err != nil || a.Tier != Full {
		t.Errorf("%+v, %v", a, err)
	}
	a, err := Decide(shopClaim, ev, judgeNow.Add(time.Hour))
	late, ok := err.(*lookleap.VerifyError)
	if a != nil || !ok || late.Verdict.Code != CodeTrustEvidence || Row(late.Verdict) != "E5" {
		t.Fatalf("%+v, %v", a, err)
	}
	if last := late.Verdict.Checks[len(late.Verdict.Checks)-1]; !last.Until.IsZero() {
		t.Errorf("the denial has an end: %+v", last)
	}
	if check := late.Verdict.Checks[len(late.Verdict.Checks)-3]; check.Requirement != "E5" || check.Message != "what the evidence granted has ended" {
		t.Errorf("%s", late.Verdict)
	}
}

// TestDecideIncomplete: evidence that ended early says why, and an answer of one mechanism is none of
// the other.
func TestDecideIncomplete(t *testing.T) {
	const uri = "https://brand.example/1"
	texts := []string{"v=anml1;manifest=" + uri + ";query=" + uri}
	stopped := evidenceOf(Rules{}, texts)
	stopped.Stopped, stopped.Row = lookleap.CodeBudget, "A10"
	held := evidenceOf(Rules{}, texts, manifestOf(uri, listed("shop.example", "2", `"body"`)))
	held.DNS.Held = true // of an answer it says nothing
	for name, c := range map[string]struct {
		ev   Evidence
		code lookleap.Code
		row  string
	}{
		"stopped":         {stopped, lookleap.CodeBudget, "A10"},
		"nothing":         {evidenceOf(Rules{}, texts), CodeTrustEvidence, "A11"},
		"other-mechanism": {evidenceOf(Rules{}, texts, Exchange{Mechanism: ManifestSource, URL: uri, Failure: FailedTransient}), CodeTrustEvidence, "A11"},
		"held-answer":     {held, CodeListed, "L3"},
		"malformed-entry": {evidenceOf(Rules{}, texts, manifestOf(uri, listed("shop.example", "3", `"body"`))), CodeManifestEntryMalformed, "L5"},
	} {
		a, err := Decide(shopClaim, c.ev, judgeNow)
		if a != nil {
			if a.Reason != c.code || Row(a.Verdict) != c.row {
				t.Errorf("%s: %+v", name, a)
			}
			continue
		}
		if refused, ok := err.(*lookleap.VerifyError); !ok || refused.Verdict.Code != c.code || Row(refused.Verdict) != c.row {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDeniedVerdict: a denial has no end, and names what was asked about.
func TestDeniedVerdict(t *testing.T) {
	texts := []string{"v=anml1;manifest=https://brand.example/1"}
	ev := evidenceOf(Rules{MinTier: Full}, texts, manifestOf("https://brand.example/1", listed("shop.example", "1", `"body"`)))
	for _, c := range []struct {
		claim   Claim
		code    lookleap.Code
		subject string
	}{
		{shopClaim, CodeTierTooLow, "www.shop.example for brand.example"},
		{Claim{URL: "ftp://shop.example/", Site: "brand.example"}, lookleap.CodeInsecureTransport, `"ftp://shop.example/" for brand.example`},
	} {
		_, err := Decide(c.claim, ev, judgeNow)
		refused, ok := err.(*lookleap.VerifyError)
		if c.claim == shopClaim && ok && refused.Verdict.Checks[0].Message != "www.shop.example claims to speak for brand.example" {
			t.Errorf("the claim is %q", refused.Verdict.Checks[0].Message)
		}
		if !ok || refused.Verdict.Code != c.code || !refused.Verdict.Expires.IsZero() || refused.Verdict.OK || refused.Verdict.Subject != c.subject {
			t.Errorf("%+v", err)
			if ok {
				t.Errorf("%+v", refused.Verdict)
			}
		}
	}
}
