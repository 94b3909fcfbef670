package ledgerhead

import (
	"context"
	"errors"
	"testing"

	"github.com/lookleap/lookleap/anml/agent"
)

// shared is a ledger of two processes: what was stored, and its head.
type shared struct {
	head   agent.Head
	stored []string
}

func (s *shared) swap(from, to agent.Head, data []byte) (agent.Head, error) {
	if s.head == from {
		s.head, s.stored = to, append(s.stored, string(data))
	}
	return s.head, nil
}

func TestAppend(t *testing.T) {
	one, two := []agent.Entry{{Kind: agent.EntryAction, Action: "one"}}, []agent.Entry{{Kind: agent.EntryAction, Action: "two"}}
	t.Run("accept-other-process-was-faster", func(t *testing.T) {
		var ledger shared
		var a, b Head
		for _, err := range []error{a.Append(t.Context(), one, ledger.swap), b.Append(t.Context(), two, ledger.swap), a.Append(t.Context(), one, ledger.swap)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(ledger.stored) != 3 || ledger.head.Number != 3 || a.last != ledger.head {
			t.Errorf("%d stored, the head is %d, known as %d", len(ledger.stored), ledger.head.Number, a.last.Number)
		}
	})
	t.Run("reject-error-then-accept-the-next", func(t *testing.T) {
		var ledger shared
		var a Head
		lost := errors.New("connection reset")
		err := a.Append(t.Context(), one, func(from, to agent.Head, data []byte) (agent.Head, error) {
			_, _ = ledger.swap(from, to, data)
			return agent.Head{}, lost
		})
		if !errors.Is(err, lost) || a.last != (agent.Head{}) {
			t.Errorf("%v, head %v", err, a.last)
		}
		if err := a.Append(t.Context(), two, ledger.swap); err != nil || len(ledger.stored) != 2 || a.last != ledger.head {
			t.Errorf("%v, %d stored", err, len(ledger.stored))
		}
	})
	t.Run("accept-no-entries", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var a Head
		if err := a.Append(ctx, nil, nil); err != nil {
			t.Error(err)
		}
		cancel()
		if err := a.Append(ctx, nil, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
