package lookleaptest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// Prompter is a [lookleap.ConsentPrompter] that answers by a script: the first request with
// the first reply and so on, and all others with the last one. It may be used from several
// goroutines at once.
type Prompter struct {
	t       testing.TB
	mu      sync.Mutex
	replies []Reply
	asked   []lookleap.ConsentRequest
}

// NewPrompter returns a prompter. Without replies each request fails the test, so that a
// test can show that the user is not asked.
func NewPrompter(t testing.TB, replies ...Reply) *Prompter { return &Prompter{t: t, replies: replies} }

// PromptConsent answers a request by the script.
func (p *Prompter) PromptConsent(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	p.mu.Lock()
	p.asked = append(p.asked, *req)
	asked, replies := len(p.asked), p.replies
	p.mu.Unlock()
	if len(replies) == 0 {
		p.t.Errorf("no one should have been asked:\n%s", req)
		return lookleap.ConsentDecision{}, errors.New("lookleaptest: no reply")
	}
	return replies[min(asked, len(replies))-1](ctx, req)
}

// Requests returns the requests so far, the oldest first.
func (p *Prompter) Requests() []lookleap.ConsentRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Then replaces the replies to the requests that follow.
func (p *Prompter) Then(replies ...Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = append(p.replies[:min(len(p.asked), len(p.replies))], replies...)
}

// Reply answers one request.
type Reply func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

// Approve approves the items with these ids, or all items.
func Approve(ids ...string) Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return Decide(req, ids...), nil
	}
}

// deciding approves all items and then changes the decision.
func deciding(change func(d *lookleap.ConsentDecision)) Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		d := Decide(req)
		change(&d)
		return d, nil
	}
}

// ApproveUntil approves all items, and the same request again until a time.
func ApproveUntil(until time.Time) Reply {
	return deciding(func(d *lookleap.ConsentDecision) { d.Until = until })
}

// Refuse approves nothing.
func Refuse() Reply { return deciding(func(d *lookleap.ConsentDecision) { d.Approved = nil }) }

// WrongDigest approves all items of another request.
func WrongDigest() Reply {
	return deciding(func(d *lookleap.ConsentDecision) { d.Digest = lookleap.Digest([]byte("another request")) })
}

// Pending returns [lookleap.ErrConsentPending]: the user decides later.
func Pending() Reply { return Fail(lookleap.ErrConsentPending) }

// Fail returns an error.
func Fail(err error) Reply {
	return func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, err
	}
}

// Panic panics.
func Panic(value any) Reply {
	return func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { panic(value) }
}

// Hang does not answer until the context ends, and then approves all items.
func Hang() Reply {
	return func(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		<-ctx.Done()
		return Decide(req), nil
	}
}

// After waits before it replies.
func After(d time.Duration, reply Reply) Reply {
	return func(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return reply(ctx, req)
	}
}

// Decide returns a decision that approves the items with these ids, or all items. Use it
// to resume an operation that ended with a [*lookleap.PendingError].
func Decide(req *lookleap.ConsentRequest, ids ...string) lookleap.ConsentDecision {
	if len(ids) == 0 {
		for _, item := range req.Items {
			ids = append(ids, item.ID)
		}
	}
	return lookleap.ConsentDecision{Digest: req.Digest, Approved: ids}
}
