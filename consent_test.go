package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestPlanWithoutParts: what is missing is an error, and never an approval or a record.
func TestPlanWithoutParts(t *testing.T) {
	var nothing *lookleap.Plan
	if a, err := nothing.Approve(lookleap.ConsentDecision{}, planTime); a != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Errorf("%v, %v", a, err)
	}
	closed := new(lookleap.Host)
	_ = closed.Close()
	for name, h := range map[string]*lookleap.Host{"nil": nil, "closed": closed} {
		if _, err := h.PlanRecord(t.Context(), "x"); err == nil {
			t.Errorf("a %s host has a record", name)
		}
	}
	year10000 := time.Date(10000, time.January, 1, 0, 0, 0, 0, time.UTC)
	if p, err := lookleap.NewPlan(*newPlan(t, "x").Request(), nil, year10000); p != nil || !errors.Is(err, lookleap.ErrPlanInvalid) {
		t.Errorf("%v, %v", p, err)
	}
	judged := *newPlan(t, "x").Request()
	for at, ok := range map[time.Time]bool{planTime: true, year10000: false} {
		judged.Verdict = &lookleap.Verdict{Summary: "not UTF-8: \xff", CheckedAt: at}
		p, err := lookleap.NewPlan(judged, nil, planTime)
		if (p != nil) != ok || (err == nil) != ok || !ok && !errors.Is(err, lookleap.ErrPlanInvalid) {
			t.Errorf("with a verdict of %s: %v, %v", at, p, err)
		}
		if ok && p.Request().Verdict.Summary != "not UTF-8: \ufffd" {
			t.Errorf("the plan is about another verdict: %q", p.Request().Verdict.Summary)
		}
	}
}

// TestDecideWithoutClock: a suspended plan is not approved without a clock.
func TestDecideWithoutClock(t *testing.T) {
	p := newPlan(t, "x")
	h := &lookleap.Host{Now: func() time.Time { panic("broken clock") }}
	a, err := h.Decide(t.Context(), p, lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address", "phone"}})
	if a != nil || lookleap.CodeOf(err) != lookleap.CodePlanExpired || !strings.Contains(err.Error(), "clock") {
		t.Errorf("%v, %v", a, err)
	}
}

// TestConsentErrors: an error says why there is no consent, and what a program can do about it.
func TestConsentErrors(t *testing.T) {
	p := newPlan(t, "x")
	digest := p.Request().Digest
	decide := func(at time.Time, digest string, ids ...string) error {
		return second(p.Approve(lookleap.ConsentDecision{Digest: digest, Approved: ids}, at))
	}
	parse := func(old, with string) error {
		state, _ := p.State()
		return second(lookleap.ParsePlan([]byte(strings.Replace(string(state), old, with, 1))))
	}
	ask := func(h *lookleap.Host) error {
		h.Now = func() time.Time { return planTime }
		return second(h.Ask(t.Context(), newPlan(t, "x")))
	}
	closed := new(lookleap.Host)
	_ = closed.Close()
	committed := commitTo(closed, t.Context(), approved(t, p, planTime), func(context.Context, []byte) error { return nil })
	noTerminal := prompterFunc(func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, errors.New("no terminal")
	})
	for want, err := range map[string]error{
		"no prompter is configured, so the user cannot be asked (consent-no-prompter); set Host.Prompter":                                               ask(new(lookleap.Host)),
		"asking the user failed: no terminal (consent-failed)":                                                                                          ask(&lookleap.Host{Prompter: noTerminal}),
		"the decision came after the plan expired (plan-expired); do the operation again: it makes a new plan, and the user is asked again":             decide(planTime.Add(lookleap.PlanLifetime), digest, "address"),
		"the decision is about another request (consent-mismatch); return the user's decision about this request, with its Digest and ids of its items": decide(planTime, "", "address"),
		"the user did not agree (consent-refused)":                                                                                                      decide(planTime, digest),
		"the plan is invalid: its type is not application/vnd.lookleap.plan+json;version=1 (plan-invalid)":                                              parse("version=1", "version=2"),
		"the plan is invalid: the effect does not match its digest (plan-invalid)":                                                                      parse(`"effect":"eA=="`, `"effect":"eQ=="`),
		"the plan is invalid: its effect is not canonical base64: illegal base64 data at input byte 0 (plan-invalid)":                                   parse(`"effect":"eA=="`, `"effect":"*"`),
		"plan " + p.ID() + ": the host is closed (closed)":                                                                                              committed,
		"no route": lookleap.NothingSent(errors.New("no route")),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := lookleap.ParsePlan(nil); !strings.HasPrefix(err.Error(), "the plan is invalid: 1:1: ") {
		t.Error(err)
	}
	if _, err := (&lookleap.Host{Prompter: noTerminal, Now: func() time.Time { panic("no clock") }}).Ask(t.Context(), newPlan(t, "x")); strings.Contains(err.Error(), "do the operation again") {
		t.Errorf("the fix is for another cause: %v", err)
	}
}

// TestQuotesAreCut: of a long text of others, a message shows the beginning.
func TestQuotesAreCut(t *testing.T) {
	long := strings.Repeat("z", 1000)
	plan := func(change func(*lookleap.ConsentRequest)) error {
		r := request(lookleap.ConsentAct, "https://a.example", "do it", item("a", "y", "a.example"))
		change(&r)
		return second(lookleap.NewPlan(r, nil, planTime))
	}
	needed := request(lookleap.ConsentAct, "https://a.example", "do it", item(long, "y", "a.example"), item("b", "y", "a.example", optional))
	p, err := lookleap.NewPlan(needed, nil, planTime)
	if err != nil {
		t.Fatal(err)
	}
	h := &lookleap.Host{Prompter: prompterFunc(approveAll), Asking: lookleap.AskLimits{Prompts: 1}, Now: func() time.Time { return planTime }}
	often := func() error {
		r := request(lookleap.ConsentAct, "https://a.example", "do it", item("a", "y", "a.example"))
		r.TrustRoot = "https://a.example/" + long
		p, err := lookleap.NewPlan(r, nil, planTime)
		if err != nil {
			t.Fatal(err)
		}
		return second(h.Ask(t.Context(), p))
	}
	if err := often(); err != nil {
		t.Fatal(err)
	}
	zero := new(lookleap.Host)
	defer zero.Close()
	command := lookleap.ConsentValue{Label: "l", Text: strings.Repeat("y", lookleap.MaxShown+1), Command: true}
	for name, c := range map[string]struct {
		text any
		want int
	}{
		"status":      {new(lookleap.Status).UnmarshalText([]byte(long)), 100},
		"severity":    {new(lookleap.Severity).UnmarshalText([]byte(long)), 100},
		"dnssec":      {new(lookleap.DNSSEC).UnmarshalText([]byte(long)), 40},
		"verdict":     {new(lookleap.Verdict).UnmarshalJSON([]byte(`{"type":"` + long + `"}`)), 80},
		"evidence":    {lookleap.Evidence{Text: long}, 80},
		"plan-kind":   {plan(func(r *lookleap.ConsentRequest) { r.Kind = lookleap.ConsentKind(long) }), 40},
		"plan-origin": {plan(func(r *lookleap.ConsentRequest) { r.Origin = long }), 200},
		"plan-item":   {plan(func(r *lookleap.ConsentRequest) { r.Items = []lookleap.ConsentItem{{ID: long}, {ID: long}} }), 100},
		"plan-values": {plan(func(r *lookleap.ConsentRequest) {
			r.Items[0].ID, r.Items[0].Values = long, []lookleap.ConsentValue{{Text: "a", Data: []byte("a")}}
		}), 100},
		"plan-command": {plan(func(r *lookleap.ConsentRequest) {
			r.Items[0].ID, r.Items[0].Values = long, []lookleap.ConsentValue{command}
		}), 100},
		"kind":         {second(h.PromptConsent(t.Context(), &lookleap.ConsentRequest{Kind: lookleap.ConsentKind(long)})), 40},
		"decision":     {second(p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"b"}}, planTime)), 100},
		"trust-root":   {often(), 260 - len("a.example/")},
		"class":        {layout("https://a.example", item("a", "y", "a.e", class(lookleap.ItemClass(long)))), 40},
		"digest":       {layout("https://a.e", item("a", "y", "a.e", func(i *lookleap.ConsentItem) { i.Digest = long })), 80},
		"name":         {second(lookleap.NetResolver(nil).Lookup(t.Context(), long, lookleap.TypeA)), 253},
		"name-of-zone": {second(zero.Lookup(t.Context(), long, lookleap.TypeA)), 253},
	} {
		if text := fmt.Sprint(c.text); strings.Count(text, "z") != c.want {
			t.Errorf("%s: %d characters, want %d: %s", name, strings.Count(text, "z"), c.want, text)
		}
	}
}
