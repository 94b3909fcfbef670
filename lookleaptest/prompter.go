package lookleaptest

import (
	"context"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// Prompter is a [lookleap.ConsentPrompter] that answers by a script: the first request with
// the first reply and so on, and all others with the last one. It may be used from several
// goroutines at once.
type Prompter struct{ prompter *labprompt.Prompter }

// NewPrompter returns a prompter. Without replies each request fails the test, so that a
// test can show that the user is not asked.
func NewPrompter(t testing.TB, replies ...Reply) *Prompter {
	return &Prompter{labprompt.New(t, inner(replies)...)}
}

// Reply answers one request.
type Reply func(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

func inner(replies []Reply) []labprompt.Reply {
	out := make([]labprompt.Reply, len(replies))
	for i, r := range replies {
		out[i] = labprompt.Reply(r)
	}
	return out
}

// PromptConsent answers a request by the script.
func (p *Prompter) PromptConsent(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return p.prompter.PromptConsent(ctx, req)
}

// Requests returns the requests so far, the oldest first.
func (p *Prompter) Requests() []lookleap.ConsentRequest { return p.prompter.Requests() }

// Then replaces the replies to the requests that follow.
func (p *Prompter) Then(replies ...Reply) { p.prompter.Then(inner(replies)...) }

// Decide returns a decision that approves the items with these ids, or all items. Use it
// to resume an operation that ended with a [*lookleap.PendingError].
func Decide(req *lookleap.ConsentRequest, ids ...string) lookleap.ConsentDecision {
	return labprompt.Decide(req, ids...)
}

// Approve approves the items with these ids, or all items.
func Approve(ids ...string) Reply { return Reply(labprompt.Approve(ids...)) }

// ApproveUntil approves all items, and the same request again until a time.
func ApproveUntil(until time.Time) Reply { return Reply(labprompt.ApproveUntil(until)) }

// Refuse approves nothing.
func Refuse() Reply { return Reply(labprompt.Deny()) }

// Pending returns [lookleap.ErrConsentPending]: the user decides later.
func Pending() Reply { return Reply(labprompt.Pending()) }

// Hang does not answer until the context ends, and then approves all items.
func Hang() Reply { return Reply(labprompt.Hang()) }

// WrongDigest approves all items of another request.
func WrongDigest() Reply { return Reply(labprompt.WrongDigest()) }

// ApproveUnasked approves an item that is not in the request.
func ApproveUnasked() Reply { return Reply(labprompt.ApproveOther()) }

// Fail returns an error.
func Fail(err error) Reply { return Reply(labprompt.Fail(err)) }

// FailApproving returns an error together with a decision that approves all items.
func FailApproving(err error) Reply { return Reply(labprompt.FailApproving(err)) }

// Panic panics.
func Panic(value any) Reply { return Reply(labprompt.Panic(value)) }

// After waits before it replies.
func After(d time.Duration, reply Reply) Reply {
	return Reply(labprompt.After(d, labprompt.Reply(reply)))
}
