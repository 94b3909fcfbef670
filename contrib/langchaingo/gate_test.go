package lookleaplangchain

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/tools"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// till is the tool of the cases as one of LangChainGo.
type till struct{ *adaptertest.Till }

func (till) Name() string                                           { return adaptertest.TillName }
func (till) Description() string                                    { return "Pays." }
func (l till) Call(_ context.Context, input string) (string, error) { return l.Run(input), nil }

// gated is an executor with the gated tool.
type gated struct{ *Gated }

func (g gated) run(t testing.TB, args string) (string, *lookleap.PendingError) {
	t.Helper()
	executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(&scripted{adaptertest.TillName, args}, []tools.Tool{g.Gated}))
	out, err := chains.Run(t.Context(), executor, "do it")
	var pending *lookleap.PendingError
	if err != nil && !errors.As(err, &pending) {
		t.Fatal(err)
	}
	return out, pending
}

func (g gated) Call(t testing.TB, _, args string) (string, *adaptertest.Question) {
	t.Helper()
	told, pending := g.run(t, args)
	if pending == nil {
		return told, nil
	}
	answer := func(t testing.TB, a any) (string, bool) {
		d, typed := a.(lookleap.ConsentDecision)
		if !typed { // Decide takes nothing else
			return "", false
		}
		g.Decide(pending, d)
		told, _ := g.run(t, args)
		return told, true
	}
	return "", &adaptertest.Question{Request: pending.Request, Answer: answer, Decline: func(t testing.TB, reason string) (string, bool) {
		return answer(t, lookleap.ConsentDecision{Digest: pending.Request.Digest, Reason: reason})
	}}
}

func TestGate(t *testing.T) {
	adaptertest.GateCases(t, func(t testing.TB, l *adaptertest.Till) adaptertest.Adapter {
		g, err := Gate(l.Gate, till{l}, l.About())
		if err != nil {
			t.Fatal(err)
		}
		return gated{g}
	})
	t.Run("accept-plain-text", func(t *testing.T) {
		l := &adaptertest.Till{}
		p := lookleaptest.NewPrompter(t, lookleaptest.Approve())
		g, err := Gate(gate.New(&lookleap.Host{Prompter: p}, gate.Options{}), echo{till{l}}, gate.Tool{})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := g.Call(t.Context(), "2 + 2"); err != nil || out != "2 + 2" {
			t.Errorf("%q, %v", out, err)
		}
	})
}

// echo returns its input.
type echo struct{ till }

func (echo) Call(_ context.Context, input string) (string, error) { return input, nil }
