package gate_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestWrites counts the accesses to the store of a call that is asked: they are what it costs elsewhere.
func TestWrites(t *testing.T) {
	yes := prompt(func(r *lookleap.ConsentRequest) lookleap.ConsentDecision { return lookleaptest.Decide(r) })
	recorded := func(context.Context, lookleap.PlanOutcome) error { return nil }
	for name, c := range map[string]struct {
		arguments string
		secret    bool
		record    func(context.Context, lookleap.PlanOutcome) error
		rules     []gate.Rule
		states    string
	}{
		"none-for-a-call-that-passes":             {arguments: bill, rules: []gate.Rule{{Verb: gate.Pass}}},
		"two-for-a-call-that-is-asked":            {arguments: bill, states: "sent done"},
		"three-where-a-secret-has-to-be-revealed": {arguments: `{"pin":"1234"}`, secret: true, states: "claimed sent done"},
		"three-where-a-receipt-comes-first":       {arguments: bill, record: recorded, states: "claimed sent done"},
		"three-where-a-secret-and-a-receipt-are":  {arguments: `{"pin":"1234"}`, secret: true, record: recorded, states: "claimed sent done"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &countingStore{Store: lookleap.NewMemoryStore()}
			tool := (&till{}).tool()
			if !c.secret {
				tool.Arguments = nil
			}
			pay, err := gate.New(&lookleap.Host{Plans: store, Prompter: yes, Record: c.record}, gate.Options{Rules: c.rules}).Tool(tool)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pay.Call(t.Context(), []byte(c.arguments)); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(store.states, " "); got != c.states || store.gets > 0 {
				t.Errorf("%d reads and the writes %q, want none and %q", store.gets, got, c.states)
			}
		})
	}
}

// countingStore counts the reads, and notes the states of the records that are written.
type countingStore struct {
	lookleap.Store
	gets   int
	states []string
}

func (s *countingStore) Get(ctx context.Context, key string) ([]byte, error) {
	s.gets++
	return s.Store.Get(ctx, key)
}

func (s *countingStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	var r lookleap.PlanRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return err
	}
	s.states = append(s.states, string(r.State))
	return s.Store.Put(ctx, key, old, value, until)
}

// BenchmarkGate: what the gate costs beyond the call, with a rule that lets it pass, and with a question
// whose answer is there at once.
func BenchmarkGate(b *testing.B) {
	run := func(context.Context, gate.Call) ([]byte, error) { return nil, nil }
	yes := prompt(func(r *lookleap.ConsentRequest) lookleap.ConsentDecision { return lookleaptest.Decide(r) })
	for name, o := range map[string]gate.Options{"pass": {Rules: []gate.Rule{{Verb: gate.Pass}}}, "ask": {}} {
		b.Run(name, func(b *testing.B) {
			g := gate.New(&lookleap.Host{Prompter: yes, Asking: lookleap.AskLimits{Prompts: -1}}, o)
			tool, err := g.Tool(gate.Tool{Name: "pay", Run: run})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tool.Call(b.Context(), []byte(bill)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
