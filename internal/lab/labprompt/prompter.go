// Package labprompt is a user for tests: it answers requests for consent by a script and
// remembers them. It takes a testing.TB, so that nothing that ships can agree to anything
// without a user.
package labprompt

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// Prompter answers the first request with the first reply and so on; the last stays. It is safe
// for concurrent use.
type Prompter struct {
	t       testing.TB
	mu      sync.Mutex
	replies []Reply
	asked   []lookleap.ConsentRequest
}

// New makes a prompter. Without replies every request fails the test.
func New(t testing.TB, replies ...Reply) *Prompter { return &Prompter{t: t, replies: replies} }

// PromptConsent answers by the script (lookleap.ConsentPrompter).
func (p *Prompter) PromptConsent(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	p.mu.Lock()
	p.asked = append(p.asked, *req)
	asked, replies := len(p.asked), p.replies
	p.mu.Unlock()
	if len(replies) == 0 {
		p.t.Errorf("no one should have been asked:\n%s", req)
		return lookleap.ConsentDecision{}, errors.New("labprompt: no reply")
	}
	return replies[min(asked, len(replies))-1](ctx, req)
}

// Requests are the requests so far, oldest first.
func (p *Prompter) Requests() []lookleap.ConsentRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Then sets the replies to the next requests.
func (p *Prompter) Then(replies ...Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = append(p.replies[:min(len(p.asked), len(p.replies))], replies...)
}

// Reply is what the user does about one request.
type Reply func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

// Approve agrees to the items with these ids; without ids, to all that is asked.
func Approve(ids ...string) Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return Decide(req, ids...), nil
	}
}

// ApproveUntil agrees to all that is asked, and to the same request until a time.
func ApproveUntil(until time.Time) Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		d := Decide(req)
		d.Until = until
		return d, nil
	}
}

// ApproveOther agrees to something that was never asked.
func ApproveOther() Reply { return Approve("labprompt-never-asked") }

// Deny agrees to nothing.
func Deny() Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{Digest: req.Digest}, nil
	}
}

// WrongDigest agrees to everything, in another request.
func WrongDigest() Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		d := Decide(req)
		d.Digest = lookleap.Digest([]byte("another request"))
		return d, nil
	}
}

// Pending has not decided yet.
func Pending() Reply { return Fail(lookleap.ErrConsentPending) }

// Fail returns an error.
func Fail(err error) Reply {
	return func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, err
	}
}

// FailApproving returns an error and a decision that agrees to everything.
func FailApproving(err error) Reply {
	return func(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return Decide(req), err
	}
}

// Panic panics.
func Panic(value any) Reply {
	return func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { panic(value) }
}

// Hang never answers while the caller waits, and agrees when no one listens any more.
func Hang() Reply {
	return func(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		<-ctx.Done()
		return Decide(req), nil
	}
}

// After takes its time before it replies.
func After(d time.Duration, reply Reply) Reply {
	return func(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return reply(ctx, req)
	}
}

// Decide is a decision that agrees to the items with these ids, or to all; it is what a Resume
// wants.
func Decide(req *lookleap.ConsentRequest, ids ...string) lookleap.ConsentDecision {
	if len(ids) == 0 {
		for _, item := range req.Items {
			ids = append(ids, item.ID)
		}
	}
	return lookleap.ConsentDecision{Digest: req.Digest, Approved: ids}
}
