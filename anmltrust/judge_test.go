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
