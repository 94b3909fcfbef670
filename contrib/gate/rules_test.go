package gate_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestSecret(t *testing.T) {
	const withPin = `{"to":"ann@example.com","amount":1,"pin":"tomato","keys":["tomato"]}`
	p := lookleaptest.NewPrompter(t, lookleaptest.Approve())
	w := newWorker(t, lookleap.NewMemoryStore(), p, gate.Options{})
	if _, err := w.pay.Call(t.Context(), []byte(withPin)); err != nil || !strings.Contains(string(w.runs[0].Arguments), "tomato") {
		t.Fatalf("%v, %v", err, w.runs)
	}
	if strings.Contains(p.Requests()[0].Complete(), "tomato") || !strings.Contains(p.Requests()[0].String(), "secret, which is not shown") {
		t.Errorf("%s", p.Requests()[0].Complete())
	}
	for name, c := range map[string]struct {
		secret func(context.Context, gate.Call, string) (string, error)
		ok     bool
	}{
		"accept-the-one":    {func(context.Context, gate.Call, string) (string, error) { return "tomato", nil }, true},
		"reject-another":    {func(context.Context, gate.Call, string) (string, error) { return "potato", nil }, false},
		"reject-an-error":   {func(context.Context, gate.Call, string) (string, error) { return "tomato", errors.New("locked") }, false},
		"reject-without-it": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{Secret: c.secret})
			waits := w.suspend(t, withPin)
			if plan, err := lookleap.ParsePlan(waits.State); err != nil || strings.Contains(string(plan.Effect())+string(waits.State), "tomato") {
				t.Errorf("the state has the secret: %v", err)
			}
			_, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request))
			if (err == nil) != c.ok || len(w.runs) == 1 != c.ok {
				t.Errorf("%v, %v", err, w.runs)
			}
		})
	}
}

// TestSecretArguments: an argument is secret if a pointer that matches it says so, also if it is the
// only one that the tool names, and has to be a text.
func TestSecretArguments(t *testing.T) {
	secret, text, amount := gate.Argument{Role: gate.Secret}, gate.Argument{Role: gate.Text}, gate.Argument{Role: gate.Amount}
	for name, c := range map[string]struct {
		roles     map[string]gate.Argument
		arguments string
		want      lookleap.Code
	}{
		"accept-the-only-one":        {map[string]gate.Argument{"/pin": secret}, `{"pin":"tomato"}`, lookleap.CodeConsentPending},
		"accept-by-several-pointers": {map[string]gate.Argument{"/*/pin": secret, "/card/*": text, "/*/*": amount}, `{"card":{"pin":"tomato"}}`, lookleap.CodeConsentPending},
		"reject-object":              {map[string]gate.Argument{"/*": secret}, `{"card":{"pin":"tomato"},"pin":"tomato"}`, lookleap.CodeUsage},
		"reject-number":              {map[string]gate.Argument{"/*": secret}, `{"code":1234,"pin":"tomato"}`, lookleap.CodeUsage},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // a map has no order
				w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
				tool := w.tool()
				tool.Arguments = c.roles
				pay, err := w.Tool(tool)
				if err != nil {
					t.Fatal(err)
				}
				_, err = pay.Call(t.Context(), []byte(c.arguments))
				code(t, err, c.want)
				var waits *lookleap.PendingError
				if errors.As(err, &waits) && strings.Contains(string(waits.State)+waits.Request.Complete()+err.Error(), "tomato") {
					t.Fatal("the secret is shown or stored")
				}
			}
		})
	}
}

// TestRefusedSecret: a no to a call with a secret holds for the same call.
func TestRefusedSecret(t *testing.T) {
	w := newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, lookleaptest.Refuse()), gate.Options{})
	for range 3 { // one of them is shown
		if _, err := w.pay.Call(t.Context(), []byte(`{"to":"ann@example.com","pin":"tomato"}`)); err == nil || len(w.runs) > 0 {
			t.Errorf("%v", err)
		}
	}
}

// TestAskAndNotes: a tool can have each call asked, with notes for the person.
func TestAskAndNotes(t *testing.T) {
	for name, c := range map[string]struct {
		options gate.Options
		want    lookleap.Code
	}{
		"reject-pass-by-rule":   {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}}, lookleap.CodeConsentPending},
		"reject-refuse-by-rule": {gate.Options{Rules: []gate.Rule{{Verb: gate.Refuse}}}, lookleap.CodeDenied},
		"reject-refuse-by-policy": {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}, Decide: func(context.Context, gate.Call) gate.Verb { return gate.Refuse }},
			lookleap.CodeDenied},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, c.options)
			tool := w.tool()
			tool.Ask = true
			asked, err := w.Tool(tool)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := asked.Call(t.Context(), []byte(bill)); lookleap.CodeOf(err) != c.want || len(w.runs) != 0 {
				t.Errorf("%v, %d runs", err, len(w.runs))
			}
		})
	}
	t.Run("accept-notes-that-change-while-the-person-decides", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		tool := w.tool()
		tool.Notes = []lookleap.ConsentValue{{Label: "what is new", Text: "the fee", Source: "shop.example"}}
		asked, err := w.Tool(tool)
		if err != nil {
			t.Fatal(err)
		}
		tool.Notes[0].Text = "nothing" // the gate has its own
		_, err = asked.Call(t.Context(), []byte(bill))
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) || !strings.Contains(pending.Request.Complete(), "what is new, written by [shop.example]: \"the fee\"") {
			t.Fatalf("%v\n%s", err, pending.Request.Complete())
		}
		if _, err := w.Tool(w.tool()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request)); err != nil || len(w.runs) != 1 {
			t.Errorf("%v", err)
		}
	})
}

func TestRules(t *testing.T) {
	const list = `{"to":"ann@example.com","amount":5}`
	for name, c := range map[string]struct {
		options   gate.Options
		arguments string
		want      gate.Verb
	}{
		"ask-by-default":               {gate.Options{}, list, gate.Ask},
		"pass-by-name":                 {gate.Options{Rules: []gate.Rule{{Tools: []string{"p*"}, Verb: gate.Pass}}}, list, gate.Pass},
		"ask-other-name":               {gate.Options{Rules: []gate.Rule{{Tools: []string{"read_*"}, Verb: gate.Pass}}}, list, gate.Ask},
		"ask-not-read-only":            {gate.Options{Rules: []gate.Rule{{ReadOnly: true, Verb: gate.Pass}}}, list, gate.Ask},
		"pass-recipient":               {gate.Options{Rules: []gate.Rule{{Recipients: []string{"ann@example.com"}, Verb: gate.Pass}}}, list, gate.Pass},
		"ask-other-recipient":          {gate.Options{Rules: []gate.Rule{{Recipients: []string{"bob@example.com"}, Verb: gate.Pass}}}, list, gate.Ask},
		"ask-no-recipient":             {gate.Options{Rules: []gate.Rule{{Recipients: []string{"ann@example.com"}, Verb: gate.Pass}}}, `{"amount":5}`, gate.Ask},
		"ask-list-of-recipients":       {gate.Options{Rules: []gate.Rule{{Recipients: []string{"ann@example.com"}, Verb: gate.Pass}}}, `{"to":["eve@example.com"]}`, gate.Ask},
		"pass-small":                   {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, list, gate.Pass},
		"ask-large":                    {gate.Options{Rules: []gate.Rule{{AtMost: 4.99, Verb: gate.Pass}}}, list, gate.Ask},
		"ask-negative":                 {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"amount":-1}`, gate.Ask},
		"ask-amount-as-text":           {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"amount":"1"}`, gate.Ask},
		"ask-no-amount":                {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{}`, gate.Ask},
		"ask-amount-below-0":           {gate.Options{Rules: []gate.Rule{{AtMost: -1, Verb: gate.Pass}}}, list, gate.Ask},
		"ask-hidden-amount":            {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"amount":{"value":500}}`, gate.Ask},
		"ask-hidden-fee":               {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"amount":1,"fee":[500]}`, gate.Ask},
		"ask-second-line":              {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"to":"ann@example.com","lines":[{"price":1},{"price":500}]}`, gate.Ask},
		"pass-lines":                   {gate.Options{Rules: []gate.Rule{{AtMost: 5, Verb: gate.Pass}}}, `{"to":"ann@example.com","lines":[{"price":1},{"price":5}]}`, gate.Pass},
		"ask-empty-list-of-recipients": {gate.Options{Rules: []gate.Rule{{Recipients: []string{}, Verb: gate.Pass}}}, list, gate.Ask},
		"ask-amount-at-most-nan":       {gate.Options{Rules: []gate.Rule{{AtMost: math.NaN(), Verb: gate.Pass}}}, list, gate.Ask},
		"refuse-malformed-pattern":     {gate.Options{Rules: []gate.Rule{{Tools: []string{"[", "pay"}, Verb: gate.Pass}}}, list, gate.Refuse},
		"first-rule-counts":            {gate.Options{Rules: []gate.Rule{{Verb: gate.Ask}, {Verb: gate.Pass}}}, list, gate.Ask},
		"refuse-by-rule":               {gate.Options{Rules: []gate.Rule{{Verb: gate.Refuse}}}, list, gate.Refuse},
		"refuse-unknown-verb":          {gate.Options{Rules: []gate.Rule{{Verb: 9}}}, list, gate.Refuse},
		"policy-is-stricter":           {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}, Decide: func(context.Context, gate.Call) gate.Verb { return gate.Ask }}, list, gate.Ask},
		"policy-cannot-loosen":         {gate.Options{Decide: func(context.Context, gate.Call) gate.Verb { return gate.Pass }}, list, gate.Ask},
		"policy-refuses":               {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}, Decide: func(context.Context, gate.Call) gate.Verb { return gate.Refuse }}, list, gate.Refuse},
		"policy-panics":                {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}, Decide: func(context.Context, gate.Call) gate.Verb { panic("no") }}, list, gate.Refuse},
		"policy-changes-nothing": {gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}, Decide: func(_ context.Context, c gate.Call) gate.Verb {
			copy(c.Arguments, strings.Repeat("x", len(c.Arguments)))
			return gate.Pass
		}}, list, gate.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, c.options)
			_, err := w.pay.Call(t.Context(), []byte(c.arguments))
			got := gate.Pass
			switch {
			case errors.Is(err, lookleap.ErrConsentPending):
				got = gate.Ask
			case errors.Is(err, lookleap.ErrDenied), lookleap.CodeOf(err) == lookleap.CodeUsage:
				got = gate.Refuse
			case err != nil:
				t.Fatal(err)
			}
			if got != c.want || len(w.runs) == 1 != (got == gate.Pass) {
				t.Errorf("%s, %d runs", got, len(w.runs))
			}
			if got == gate.Pass && !strings.Contains(string(w.runs[0].Arguments), "ann@example.com") {
				t.Errorf("ran with %s", w.runs[0].Arguments)
			}
		})
	}
	t.Run("slash-in-the-name", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), nil, gate.Options{Rules: []gate.Rule{{Tools: []string{"*delete*"}, Verb: gate.Refuse}, {Verb: gate.Pass}}})
		for name, want := range map[string]lookleap.Code{"fs/delete": lookleap.CodeDenied, "delete/all": lookleap.CodeDenied, "fs/read": lookleap.CodeOK} {
			tool := w.tool()
			tool.Name = name
			gated, err := w.Tool(tool)
			if err != nil {
				t.Fatal(err)
			}
			_, err = gated.Call(t.Context(), []byte(list))
			code(t, err, want)
		}
	})
	t.Run("budget", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{Rules: []gate.Rule{{PerDay: 2, Verb: gate.Pass}}})
		for i := range 3 {
			if _, err := w.pay.Call(t.Context(), []byte(list)); (err == nil) != (i < 2) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
	t.Run("budget-of-a-call-that-is-resumed", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{Rules: []gate.Rule{{PerDay: 2, Verb: gate.Ask}, {Verb: gate.Refuse}}})
		for range 2 {
			waits := w.suspend(t, list)
			if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.pay.Call(t.Context(), []byte(list))
		code(t, err, lookleap.CodeDenied)
	})
	t.Run("budget-of-each-rule", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{Rules: []gate.Rule{
			{AtMost: 5, PerDay: 1, Verb: gate.Pass}, {AtMost: 10, PerDay: 1, Verb: gate.Pass}}})
		for i, user := range []string{"ann", "ann", "ann", "bob"} {
			pay, err := w.Gate.ForUser(user).Named("pay")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pay.Call(t.Context(), []byte(list)); (err == nil) != (i != 2) {
				t.Errorf("call %d of %s: %v", i, user, err)
			}
		}
	})
}
