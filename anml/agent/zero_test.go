package agent_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// TestZeroValues uses what nothing made.
func TestZeroValues(t *testing.T) {
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"tool":         second(agent.Tool{}.Call(t.Context(), nil)),
		"nil-host":     second(agent.New(nil, agent.Options{}).NewSession(agent.User{})),
		"zero-agent":   second(new(agent.Agent).NewSession(agent.User{})),
		"nil-agent":    second((*agent.Agent)(nil).NewSession(agent.User{})),
		"no-ledger":    second(agent.Interaction(t.Context(), nil, "")),
		"zero-session": second(new(agent.Session).Resume(t.Context(), nil, lookleap.ConsentDecision{})),
	} {
		t.Run("O27/reject-"+name, func(t *testing.T) {
			if lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("O27/accept-nil-error", func(t *testing.T) {
		if err := (*agent.Error)(nil); err.Error() == "" || err.Unwrap() != nil {
			t.Error("it has a cause, or no text")
		}
	})
}
