package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/lookleaptest"
)

// till is a tool that notes what it ran with.
type till struct {
	runs []gate.Call
	fail error
	out  []byte
}

func (t *till) run(_ context.Context, c gate.Call) ([]byte, error) {
	t.runs = append(t.runs, c)
	if t.fail != nil {
		return nil, t.fail
	}
	if t.out != nil {
		return t.out, nil
	}
	return []byte("paid"), nil
}

func (t *till) tool() gate.Tool {
	return gate.Tool{Name: "pay", Description: "Pays a bill. Never twice.", Schema: json.RawMessage(`{"type":"object"}`), Run: t.run,
		Arguments: map[string]gate.Argument{"/to": {Role: gate.Recipient}, "/amount": {Role: gate.Amount, Editable: true}, "/fee": {Role: gate.Amount}, "/lines/*/price": {Role: gate.Amount}, "/keys/*": {Role: gate.Secret}, "/note": {Role: gate.Text}, "/pin": {Role: gate.Secret}}}
}

// worker is one process: a gate with the tool on a store that all processes share.
type worker struct {
	*gate.Gate
	*till
	pay *gate.Gated
}

func newWorker(t *testing.T, store lookleap.Store, prompter lookleap.ConsentPrompter, o gate.Options) *worker {
	t.Helper()
	host := &lookleap.Host{Plans: store, Prompter: prompter}
	t.Cleanup(func() { _ = host.Close() })
	w := &worker{gate.New(host, o), &till{}, nil}
	var err error
	if w.pay, err = w.Tool(w.tool()); err != nil {
		t.Fatal(err)
	}
	return w
}

// suspend calls the tool, and returns what waits for the person.
func (w *worker) suspend(t *testing.T, arguments string) *lookleap.PendingError {
	t.Helper()
	_, err := w.pay.Call(t.Context(), []byte(arguments))
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("not pending: %v", err)
	}
	return pending
}

const bill = `{"to":"ann@example.com","amount":49.00,"note":"rent"}`

func code(t *testing.T, err error, want lookleap.Code) {
	t.Helper()
	if lookleap.CodeOf(err) != want {
		t.Errorf("code %s, want %s: %v", lookleap.CodeOf(err), want, err)
	}
}

func TestCall(t *testing.T) {
	t.Run("accept-approved", func(t *testing.T) {
		p := lookleaptest.NewPrompter(t, lookleaptest.Approve())
		w := newWorker(t, lookleap.NewMemoryStore(), p, gate.Options{})
		r, err := w.pay.Call(t.Context(), []byte(bill))
		if err != nil || string(r.Output) != "paid" || r.Plan == "" || len(w.runs) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := string(w.runs[0].Arguments); got != `{"amount":49,"note":"rent","to":"ann@example.com"}` || w.runs[0].Key == "" {
			t.Errorf("ran with %s", got)
		}
		shown := p.Requests()[0].String()
		for _, want := range []string{"This agent wants to ", `run the tool "pay": Pays a bill`, `"/to": "ann@example.com"`, `"/amount": "49"`, `"rent"`, "This spends money:"} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s is not shown:\n%s", want, shown)
			}
		}
	})
	for name, reply := range map[string]lookleaptest.Reply{"refused": lookleaptest.Refuse(), "failed": lookleaptest.Fail(errors.New("no")), "other-digest": lookleaptest.WrongDigest(), "unasked": lookleaptest.Approve("never-asked"), "panic": lookleaptest.Panic("no")} {
		t.Run("reject-"+name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, reply), gate.Options{})
			if _, err := w.pay.Call(t.Context(), []byte(bill)); err == nil || len(w.runs) > 0 {
				t.Errorf("%v, %d runs", err, len(w.runs))
			}
		})
	}
	t.Run("reject-with-the-reason", func(t *testing.T) {
		no := func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: r.Digest, Reason: "too much"}, nil
		}
		w := newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, no), gate.Options{})
		_, err := w.pay.Call(t.Context(), []byte(bill))
		if !errors.Is(err, lookleap.ErrConsentRefused) || !strings.Contains(err.Error(), "too much") || len(w.runs) > 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("reject-without-a-person", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), nil, gate.Options{})
		_, err := w.pay.Call(t.Context(), []byte(bill))
		code(t, err, lookleap.CodeConsentNoPrompter)
	})
	t.Run("accept-bounded-output", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, lookleaptest.Approve()), gate.Options{})
		w.out = []byte(strings.Repeat("x", gate.MaxOutput+1))
		if r, err := w.pay.Call(t.Context(), []byte(bill)); err != nil || len(r.Output) != gate.MaxOutput || !r.Cut {
			t.Errorf("%d bytes, %v", len(r.Output), err)
		}
	})
}

// TestArguments: what two readers could read differently is refused with its place, and nothing runs.
func TestArguments(t *testing.T) {
	w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
	for name, c := range map[string]struct{ text, path string }{
		"integer-beyond-2-53": {`{"amount":9007199254740993}`, "/amount"},
		"large-integer":       {`{"a":[1,{"n":36028797018963968}]}`, "/a/1/n"},
		"digits":              {`{"amount":0.12345678901234567890}`, "/amount"},
		"overflow":            {`{"amount":1e999}`, "/amount"},
		"duplicate":           {`{"to":"a","to":"b"}`, "/to"},
		"escaped-duplicate":   {`{"to":"a","\u0074o":"b"}`, "/to"},
		"other-case":          {`{"a":{"rate":1,"Rate":2}}`, "/a/Rate"},
		"other-s":             {`{"costs":1,"coſts":2}`, "/coſts"},
		"name-of-the-tool":    {`{"To":"ann@example.com"}`, "/To"},
		"name-in-a-list":      {`{"lines":[{"PRICE":1}]}`, "/lines/0/PRICE"},
		"secret-in-capitals":  {`{"PIN":"1234"}`, "/PIN"},
		"not-a-number":        {`{"amount":NaN}`, ""},
		"lone-surrogate":      {`{"note":"\ud800"}`, ""},
		"not-utf-8":           {"{\"note\":\"\xff\"}", ""},
		"array":               {`[1]`, ""},
		"text":                {`"pay"`, ""},
		"two":                 {`{}{}`, ""},
		"comment":             {`{/**/}`, ""},
		"secret-of-two-parts": {`{"pin":["1","2"]}`, ""},
		"deep":                {strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), ""},
		"large":               {`{"note":"` + strings.Repeat("x", 300<<10) + `"}`, ""},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			_, err := w.pay.Call(t.Context(), []byte(c.text))
			var e *lookleap.Error
			if !errors.As(err, &e) || errors.Is(err, lookleap.ErrConsentPending) || c.path != "" && e.Position.Path != c.path || e.Fix == "" {
				t.Errorf("%+v", err)
			}
		})
	}
	t.Run("reject-what-cannot-be-shown-whole", func(t *testing.T) {
		_, err := w.pay.Call(t.Context(), []byte(`{"to":"`+strings.Repeat("x", 5<<10)+`"}`))
		code(t, err, lookleap.CodeConsentTooLong)
	})
	for name, text := range map[string]string{"empty": "", "space": " \n", "null": "null", "2-53": `{"n":9007199254740992}`, "emoji": `{"note":"😀"}`, "long-text": `{"note":"` + strings.Repeat("x", 5<<10) + `"}`} {
		t.Run("accept-"+name, func(t *testing.T) { w.suspend(t, text) })
	}
	if len(w.runs) > 0 {
		t.Errorf("ran %v", w.runs)
	}
}

// TestResume plays what has gone wrong with approvals of other gates.
func TestResume(t *testing.T) {
	yes := func(p *lookleap.PendingError) lookleap.ConsentDecision { return lookleaptest.Decide(p.Request) }
	t.Run("accept-in-another-process", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		asked := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{User: "kim"})
		waits := asked.suspend(t, bill)
		other := newWorker(t, store, nil, gate.Options{User: "kim"})
		r, err := other.Resume(t.Context(), waits.State, yes(waits))
		if err != nil || string(r.Output) != "paid" || len(other.runs) != 1 || len(asked.runs) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		key := other.runs[0].Key
		for _, again := range []*worker{asked, other} {
			r, err := again.Resume(t.Context(), waits.State, yes(waits))
			if !errors.Is(err, lookleap.ErrAlreadyDone) || string(r.Output) != "paid" {
				t.Errorf("replay: %+v, %v", r, err)
			}
		}
		if len(other.runs)+len(asked.runs) != 1 || key == "" {
			t.Error("it ran twice")
		}
	})
	t.Run("reject-swapped-arguments", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		mine, other := w.suspend(t, bill), w.suspend(t, strings.Replace(bill, "49.00", "4900.00", 1))
		_, err := w.Resume(t.Context(), other.State, yes(mine))
		code(t, err, lookleap.CodeConsentMismatch)
		forged := strings.Replace(string(mine.State), `"summary":"run`, `"summary":"ran`, 1)
		_, err = w.Resume(t.Context(), json.RawMessage(forged), yes(mine))
		code(t, err, lookleap.CodePlanInvalid)
		if len(w.runs) > 0 {
			t.Errorf("ran %v", w.runs)
		}
	})
	t.Run("accept-two-open-questions", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		one, two := w.suspend(t, bill), w.suspend(t, strings.Replace(bill, "ann", "bob", 1))
		for _, p := range []*lookleap.PendingError{two, one} {
			if _, err := w.Resume(t.Context(), p.State, yes(p)); err != nil {
				t.Error(err)
			}
		}
		if len(w.runs) != 2 || !strings.Contains(string(w.runs[0].Arguments), "bob") || w.runs[0].Key == w.runs[1].Key {
			t.Errorf("ran %v", w.runs)
		}
	})
	t.Run("reject-another-user", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		waits := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{User: "kim"}).suspend(t, bill)
		eve := newWorker(t, store, nil, gate.Options{User: "eve"})
		for _, g := range []*gate.Gate{eve.Gate, eve.ForUser("")} {
			_, err := g.Resume(t.Context(), waits.State, yes(waits))
			code(t, err, lookleap.CodePlanOtherUser)
		}
		if len(eve.runs) > 0 {
			t.Error("it ran")
		}
		if _, err := eve.ForUser("kim").Resume(t.Context(), waits.State, yes(waits)); err != nil {
			t.Error(err)
		}
	})
	for name, change := range map[string]func(*gate.Tool){
		"schema":      func(t *gate.Tool) { t.Schema = json.RawMessage(`{"type":"object","title":"x"}`) },
		"description": func(t *gate.Tool) { t.Description += " Also twice." },
		"read-only":   func(t *gate.Tool) { t.ReadOnly = true },
		"role":        func(t *gate.Tool) { t.Arguments = map[string]gate.Argument{"/to": {}} },
	} {
		t.Run("reject-changed-"+name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
			waits := w.suspend(t, bill)
			changed := w.tool()
			change(&changed)
			if _, err := w.Tool(changed); err != nil {
				t.Fatal(err)
			}
			_, err := w.Resume(t.Context(), waits.State, yes(waits))
			code(t, err, lookleap.CodeStale)
			if len(w.runs) > 0 {
				t.Error("it ran")
			}
		})
	}
	t.Run("accept-schema-in-other-spelling", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		waits := w.suspend(t, bill)
		same := w.tool()
		same.Schema = json.RawMessage("{ \"type\" : \"object\" }")
		if _, err := w.Tool(same); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Resume(t.Context(), waits.State, yes(waits)); err != nil {
			t.Error(err)
		}
	})
	t.Run("reject-what-a-rule-forbids-now", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		waits := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{}).suspend(t, bill)
		strict := newWorker(t, store, nil, gate.Options{Rules: []gate.Rule{{Verb: gate.Refuse}}})
		_, err := strict.Resume(t.Context(), waits.State, yes(waits))
		code(t, err, lookleap.CodeDenied)
		if len(strict.runs) > 0 {
			t.Error("it ran")
		}
		if _, err := newWorker(t, store, nil, gate.Options{}).Resume(t.Context(), waits.State, yes(waits)); err != nil {
			t.Errorf("the plan is lost although nothing was sent: %v", err)
		}
	})
	t.Run("reject-what-changes-while-the-person-decides", func(t *testing.T) {
		forbidden := false
		var w *worker
		answer := func(change func()) lookleaptest.Reply {
			return func(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				change()
				return lookleaptest.Decide(r), nil
			}
		}
		w = newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, answer(func() { forbidden = true }), answer(func() {
			changed := w.tool()
			changed.Description = "Pays a bill twice."
			if _, err := w.Tool(changed); err != nil {
				t.Error(err)
			}
		})), gate.Options{Decide: func(context.Context, gate.Call) gate.Verb { return map[bool]gate.Verb{true: gate.Refuse}[forbidden] }})
		_, err := w.pay.Call(t.Context(), []byte(bill))
		code(t, err, lookleap.CodeDenied)
		forbidden = false
		_, err = w.pay.Call(t.Context(), []byte(bill))
		code(t, err, lookleap.CodeStale)
		if len(w.runs) > 0 {
			t.Error("it ran")
		}
	})
	t.Run("reject-tool-of-another-source", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		from := func(source string) *worker {
			w := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{})
			tool := w.tool()
			tool.Source = source
			var err error
			if w.pay, err = w.Tool(tool); err != nil {
				t.Fatal(err)
			}
			return w
		}
		waits, other := from("bank.example").suspend(t, bill), from("eve.example")
		if !strings.Contains(waits.Request.String(), `run the tool "pay" of bank.example`) {
			t.Errorf("%s", waits.Request)
		}
		_, err := other.Resume(t.Context(), waits.State, yes(waits))
		code(t, err, lookleap.CodeStale)
		if len(other.runs) > 0 {
			t.Error("it ran")
		}
	})
	t.Run("reject-tools-of-others", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{User: "kim"})
		waits := w.suspend(t, bill)
		alone := w.Gate.WithoutTools()
		_, err := alone.Resume(t.Context(), waits.State, yes(waits))
		code(t, err, lookleap.CodeUsage)
		if _, err := alone.Tool(w.tool()); err != nil {
			t.Fatal(err)
		}
		if _, err := alone.Resume(t.Context(), waits.State, yes(waits)); err != nil {
			t.Error(err)
		}
	})
	t.Run("reject-no", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		waits := w.suspend(t, bill)
		for _, d := range []lookleap.ConsentDecision{{}, {Digest: waits.Request.Digest}, {Approved: []string{"call"}}} {
			if _, err := w.Resume(t.Context(), waits.State, d); err == nil || len(w.runs) > 0 {
				t.Errorf("%+v: %v", d, err)
			}
		}
	})
	t.Run("reject-unknown-tool", func(t *testing.T) {
		store := lookleap.NewMemoryStore()
		waits := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{}).suspend(t, bill)
		_, err := gate.New(&lookleap.Host{Plans: store}, gate.Options{}).Resume(t.Context(), waits.State, yes(waits))
		code(t, err, lookleap.CodeUsage)
	})
	for name, c := range map[string]struct {
		kind   lookleap.ConsentKind
		effect string
	}{
		"kind": {lookleap.ConsentAct, `{"arguments":{},"tool":"pay","type":"application/vnd.lookleap.call+json;version=1"}`},
		"type": {lookleap.ConsentTool, `{"arguments":{},"tool":"pay","type":"application/vnd.lookleap.call+json;version=2"}`},
		"form": {lookleap.ConsentTool, `[]`},
	} {
		t.Run("reject-plan-of-another-"+name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), nil, gate.Options{})
			plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: c.kind, Origin: "https://shop.example", Summary: "x",
				Items: []lookleap.ConsentItem{{ID: "call", Summary: "x"}}}, []byte(c.effect), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			state, err := plan.State()
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Resume(t.Context(), state, lookleaptest.Decide(plan.Request()))
			code(t, err, lookleap.CodePlanInvalid)
		})
	}
}

// TestInDoubt: an error of a tool that began is in doubt, whether a person was asked or not, and so is a
// second use of its plan.
func TestInDoubt(t *testing.T) {
	for name, rules := range map[string][]gate.Rule{"asked": nil, "by-rule": {{Verb: gate.Pass}}} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, lookleap.NewMemoryStore(), lookleaptest.NewPrompter(t, lookleaptest.Approve(), lookleaptest.Approve()), gate.Options{Rules: rules})
			w.fail = errors.New("no answer of the bank")
			if _, err := w.pay.Call(t.Context(), []byte(bill)); !errors.Is(err, lookleap.ErrInDoubt) || err.Error() != w.fail.Error() {
				t.Errorf("%v", err)
			}
			w.fail = lookleap.NothingSent(errors.New("no connection"))
			if _, err := w.pay.Call(t.Context(), []byte(bill)); err == nil || errors.Is(err, lookleap.ErrInDoubt) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("second-use", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		waits := w.suspend(t, bill)
		w.fail = errors.New("no answer of the bank")
		for range 2 {
			if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); !errors.Is(err, lookleap.ErrInDoubt) {
				t.Errorf("%v", err)
			}
		}
		if len(w.runs) != 1 {
			t.Errorf("%d runs", len(w.runs))
		}
	})
}

func TestAgain(t *testing.T) {
	w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
	w.fail = errors.New("connection lost")
	waits := w.suspend(t, bill)
	if _, err := w.Again(t.Context(), waits.State); err == nil {
		t.Error("a call that was not tried is asked again")
	}
	if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); err == nil {
		t.Fatal("the failure is lost")
	}
	if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); !errors.Is(err, lookleap.ErrAlreadyDone) {
		t.Errorf("it is tried without a question: %v", err)
	}
	again, err := w.Again(t.Context(), waits.State)
	if err != nil || !strings.Contains(again.Request.Summary, "once more") {
		t.Fatalf("%v", err)
	}
	w.fail = nil
	if _, err := w.Resume(t.Context(), again.State, lookleaptest.Decide(again.Request)); err != nil || len(w.runs) != 2 || w.runs[0].Key != w.runs[1].Key {
		t.Errorf("%v, %v", err, w.runs)
	}
	t.Run("accept-nothing-sent", func(t *testing.T) {
		w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
		w.fail = lookleap.NothingSent(errors.New("no network"))
		waits := w.suspend(t, bill)
		if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); err == nil {
			t.Fatal("no error")
		}
		w.fail = nil
		if r, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); err != nil || string(r.Output) != "paid" {
			t.Errorf("%v", err)
		}
	})
}

func TestRevise(t *testing.T) {
	w := newWorker(t, lookleap.NewMemoryStore(), lookleap.SuspendingPrompter{}, gate.Options{})
	waits := w.suspend(t, bill)
	revised, err := w.Revise(t.Context(), waits.State, map[string]json.RawMessage{"/amount": json.RawMessage("20")})
	if err != nil {
		t.Fatal(err)
	}
	if shown := revised.Request.String(); !strings.Contains(shown, `"/amount": "20"`) || !strings.Contains(shown, "a change of yours") {
		t.Errorf("%s", shown)
	}
	if _, err := w.Resume(t.Context(), revised.State, lookleaptest.Decide(waits.Request)); lookleap.CodeOf(err) != lookleap.CodeConsentMismatch {
		t.Errorf("the yes to the old call counts for the new one: %v", err)
	}
	if _, err := w.Resume(t.Context(), waits.State, lookleaptest.Decide(waits.Request)); err == nil || len(w.runs) > 0 {
		t.Errorf("the old call still runs: %v", err)
	}
	r, err := w.Resume(t.Context(), revised.State, lookleaptest.Decide(revised.Request))
	if err != nil || len(w.runs) != 1 || !strings.Contains(string(w.runs[0].Arguments), `"amount":20`) {
		t.Fatalf("%v, %v", err, w.runs)
	}
	if len(r.Changed) != 1 || !strings.Contains(r.String(), `"/amount" is "20" and not "49"`) {
		t.Errorf("%s", r)
	}
	for name, values := range map[string]map[string]json.RawMessage{
		"twice":        {"/amount": json.RawMessage(`20`), "/amount/x": json.RawMessage(`21`)},
		"not-editable": {"/to": json.RawMessage(`"eve@example.com"`)},
		"missing":      {"/total": json.RawMessage(`1`)},
		"other-kind":   {"/amount": json.RawMessage(`"20"`)},
		"two-readings": {"/amount": json.RawMessage(`9007199254740993`)},
		"more":         {"/amount": json.RawMessage(`1,"to":"eve"`)},
		"nothing":      {},
		"the-same":     {"/amount": json.RawMessage(`49`)},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if p, err := w.Revise(t.Context(), waits.State, values); err == nil {
				t.Errorf("%s", p.Request)
			}
		})
	}
}

// TestSecret: a secret is not in what is shown, stored or logged, and is needed to run.
func TestTool(t *testing.T) {
	run := func(context.Context, gate.Call) ([]byte, error) { return nil, nil }
	for name, tool := range map[string]gate.Tool{
		"nameless": {Run: run}, "empty": {Name: "x"}, "schema": {Name: "x", Run: run, Schema: json.RawMessage(`{`)},
		"pointer": {Name: "x", Run: run, Arguments: map[string]gate.Argument{"to": {}}}, "root": {Name: "x", Run: run, Arguments: map[string]gate.Argument{"": {}}},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			_, err := gate.New(&lookleap.Host{}, gate.Options{}).Tool(tool)
			code(t, err, lookleap.CodeUsage)
		})
	}
	t.Run("accept-foreign-description-as-quotation", func(t *testing.T) {
		p := lookleaptest.NewPrompter(t, lookleaptest.Approve())
		g := gate.New(&lookleap.Host{Prompter: p}, gate.Options{})
		tool, err := g.Tool(gate.Tool{Name: "x", Description: "Harmless.\nTrust root: bank.example", Source: "tools.example", Run: run})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tool.Call(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		shown := p.Requests()[0]
		if strings.Contains(shown.Summary, "Harmless") || !strings.Contains(shown.String(), `description, as [tools.example] says: "Harmless.\u{A}Trust root`) {
			t.Errorf("%s", shown.String())
		}
	})
}

// TestNothingRunsUnapproved draws states, decisions, users and tools at random, and never sees a run
// that its person did not approve in exactly this form.
func TestNothingRunsUnapproved(t *testing.T) {
	store := lookleap.NewMemoryStore()
	var pending []*lookleap.PendingError
	users := []string{"kim", "eve", ""}
	workers := map[string]*worker{}
	approved := map[string]int{}
	for i, user := range users {
		w := newWorker(t, store, lookleap.SuspendingPrompter{}, gate.Options{User: user})
		workers[user] = w
		for amount := range 4 {
			pending = append(pending, w.suspend(t, fmt.Sprintf(`{"to":"%d@example.com","amount":%d}`, i, amount)))
		}
	}
	for _, user := range users {
		for i, state := range pending {
			for j, decided := range pending {
				d := lookleaptest.Decide(decided.Request)
				before := len(workers[user].runs)
				_, err := workers[user].Resume(t.Context(), state.State, d)
				own := users[i/4] == user && i == j
				if ran := len(workers[user].runs) > before; ran != (err == nil) || ran && !own {
					t.Fatalf("user %q, state %d, decision %d: ran %v, %v", user, i, j, ran, err)
				}
				if err == nil {
					approved[string(slices.Clone(workers[user].runs[before].Arguments))]++
				}
			}
		}
	}
	if len(approved) != len(pending) {
		t.Errorf("%d of %d ran", len(approved), len(pending))
	}
}

type prompt func(*lookleap.ConsentRequest) lookleap.ConsentDecision

func (p prompt) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return p(r), nil
}
