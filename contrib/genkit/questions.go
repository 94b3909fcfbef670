package lookleapgenkit

import (
	"encoding/json"
	"errors"

	"github.com/firebase/genkit/go/ai"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// Questions are the interrupted calls of tools, which wait for the user.
type Questions struct {
	// Keys seal the state that passes through the message history. Processes that resume one another
	// share them.
	Keys lookleap.Keys
}

func newQuestions() Questions {
	return Questions{lookleap.Keys{lookleap.NewKey()}}
}

// The members of the metadata of an interrupted call and of its restart.
const (
	keyState    = "lookleapState" // sealed
	keyDecision = "lookleapDecision"
)

// run makes a call, or goes on with what the user decided. Waits is the interrupt of a call that waits.
func run[R any](ctx *ai.ToolContext, q *Questions, call func() (R, error), resume adapter.Resumer[R]) (result R, waits, err error) {
	if ctx.Resumed == nil {
		result, err = call()
	} else {
		sealed, _ := ctx.Resumed[keyState].(string)
		text, _ := ctx.Resumed[keyDecision].(string)
		var state []byte
		if state, err = q.Keys.Unseal(sealed); err == nil {
			result, err = adapter.Resume(ctx, resume, state, json.RawMessage(text))
		}
	}
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		return result, nil, err
	}
	state, failed := q.Keys.Seal(pending.State)
	if failed != nil {
		return result, failed, err
	}
	return result, ctx.Interrupt(&ai.InterruptOptions{Metadata: map[string]any{keyState: state}}), err
}

// Request returns what the user is asked by an interrupted call. It is derived from the sealed
// plan, not from what the message history says next to it.
func (q *Questions) Request(part *ai.Part) (*lookleap.ConsentRequest, error) {
	meta, ok := interrupt(part)
	if !ok {
		return nil, notWaiting(nil)
	}
	sealed, _ := meta[keyState].(string)
	state, err := q.Keys.Unseal(sealed)
	if err != nil {
		return nil, err
	}
	return adapter.Request(state)
}

func notWaiting(cause error) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: "the call does not wait for a consent", Err: cause}
}

// Restart returns the part for ai.WithToolRestarts that goes on with the user's decision.
func (q *Questions) Restart(part *ai.Part, decision lookleap.ConsentDecision) (*ai.Part, error) {
	meta, ok := interrupt(part)
	text, err := json.Marshal(decision)
	if err != nil || !ok {
		return nil, notWaiting(err)
	}
	restart := ai.NewToolRequestPart(part.ToolRequest)
	restart.Metadata = map[string]any{"resumed": map[string]any{keyState: meta[keyState], keyDecision: string(text)}}
	return restart, nil
}

// interrupt returns the metadata of an interrupted call.
func interrupt(part *ai.Part) (map[string]any, bool) {
	return ai.InterruptAs[map[string]any](part)
}
