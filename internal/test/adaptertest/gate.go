package adaptertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// Till is a tool with an effect, behind a gate.
type Till struct {
	Gate *gate.Gate
	runs []string
}

// Name and Schema are those of the tool.
const (
	TillName   = "pay"
	TillSchema = `{"type":"object","properties":{"to":{"type":"string"},"amount":{"type":"number"}},"required":["to","amount"]}`
)

// Run is the tool as its framework calls it. The arguments are JSON.
func (l *Till) Run(arguments string) string {
	l.runs = append(l.runs, arguments)
	return "paid"
}

// Runs returns how often the tool ran.
func (l *Till) Runs() int { return len(l.runs) }

// About is what the arguments of the tool mean.
func (*Till) About() gate.Tool {
	return gate.Tool{Arguments: map[string]gate.Argument{"/to": {Role: gate.Recipient}, "/amount": {Role: gate.Amount}}}
}

// GateCases runs the cases that hold for every framework with a gated tool, which an adapter calls by
// the name [TillName]. Each of them was reported of another gate.
func GateCases(t *testing.T, make func(t testing.TB, l *Till) Adapter) {
	const call = `{"to":"ann@example.com","amount":20}`
	begin := func(t testing.TB, o gate.Options) (*Till, Adapter, *Question) {
		t.Helper()
		l := &Till{Gate: gate.New(&lookleap.Host{Prompter: lookleap.SuspendingPrompter{}}, o)}
		a := make(t, l)
		told, q := a.Call(t, TillName, call)
		if asks := o.Rules == nil && o.Decide == nil; asks && (q == nil || len(l.runs) > 0) {
			t.Fatalf("it ran before it was approved, or the call does not wait; the model is told %q", told)
		}
		return l, a, q
	}
	for name, answer := range malformed {
		t.Run("P20/reject-"+name, func(t *testing.T) {
			l, _, q := begin(t, gate.Options{})
			if told, ok := q.Answer(t, answer(q)); ok && (len(l.runs) > 0 || strings.Contains(told, "paid")) {
				t.Errorf("%q ran, the model is told %q", l.runs, told)
			}
		})
	}
	t.Run("P20/accept-yes", func(t *testing.T) {
		l, _, q := begin(t, gate.Options{})
		if !strings.Contains(q.Request.String(), "ann@example.com") {
			t.Errorf("the person is shown\n%s", q.Request)
		}
		told, _ := q.Answer(t, yes(q))
		if len(l.runs) != 1 || l.runs[0] != `{"amount":20,"to":"ann@example.com"}` || !strings.Contains(told, "paid") {
			t.Errorf("%q ran, the model is told %q", l.runs, told)
		}
	})
	t.Run("P20/accept-reason-of-a-no", func(t *testing.T) {
		l, _, q := begin(t, gate.Options{})
		told, ok := q.Decline(t, "too expensive")
		if len(l.runs) > 0 || ok && !strings.Contains(told, "too expensive") {
			t.Errorf("%q ran, the model is told %q", l.runs, told)
		}
	})
	t.Run("P22/reject-answer-to-another-question", func(t *testing.T) {
		l, a, q := begin(t, gate.Options{})
		_, other := a.Call(t, TillName, strings.Replace(call, "20", "2000", 1))
		if other == nil {
			t.Fatal("the second call does not wait")
		}
		if told, _ := other.Answer(t, yes(q)); len(l.runs) > 0 {
			t.Errorf("%q ran, the model is told %q", l.runs, told)
		}
	})
	t.Run("P25/accept-both-of-two-open-questions", func(t *testing.T) {
		l, a, first := begin(t, gate.Options{})
		_, second := a.Call(t, TillName, strings.Replace(call, "ann", "bob", 1))
		for _, q := range []*Question{second, first} {
			q.Answer(t, yes(q))
		}
		if len(l.runs) != 2 || !strings.Contains(l.runs[0], "bob") {
			t.Errorf("%q ran", l.runs)
		}
	})
	t.Run("P20/reject-replay", func(t *testing.T) {
		l, _, q := begin(t, gate.Options{})
		for range 3 {
			q.Answer(t, yes(q))
		}
		if len(l.runs) != 1 {
			t.Errorf("%q ran", l.runs)
		}
	})
	t.Run("P20/accept-by-rule", func(t *testing.T) {
		l, _, q := begin(t, gate.Options{Rules: []gate.Rule{{AtMost: 20, Verb: gate.Pass}}})
		if q != nil || len(l.runs) != 1 {
			t.Errorf("%q ran", l.runs)
		}
	})
	t.Run("P20/reject-by-rule", func(t *testing.T) {
		l, a, q := begin(t, gate.Options{Decide: func(context.Context, gate.Call) gate.Verb { return gate.Refuse }})
		told, _ := a.Call(t, TillName, call)
		if q != nil || len(l.runs) > 0 || !strings.Contains(told, "forbids") {
			t.Errorf("%q ran, the model is told %q", l.runs, told)
		}
	})
	t.Run("P20/reject-changed-tool", func(t *testing.T) {
		l, _, q := begin(t, gate.Options{})
		changed := gate.Tool{Name: TillName, Description: "changed", Schema: json.RawMessage(`{}`),
			Run: func(context.Context, gate.Call) ([]byte, error) { l.runs = append(l.runs, "changed"); return nil, nil }}
		if _, err := l.Gate.Tool(changed); err != nil {
			t.Fatal(err)
		}
		q.Answer(t, yes(q))
		for _, run := range l.runs {
			if run == "changed" {
				t.Error("the changed tool ran by the approval of the earlier one")
			}
		}
	})
}
