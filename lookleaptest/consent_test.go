package lookleaptest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurPrompters(t *testing.T) {
	for name, open := range map[string]openPrompter{
		"dialogue": func(_ testing.TB, user User) lookleap.ConsentPrompter { return dialogue{user, honest} },
		"host": func(_ testing.TB, user User) lookleap.ConsentPrompter {
			return &lookleap.Host{Prompter: dialogue{user, honest}}
		},
	} {
		t.Run(name, func(t *testing.T) { accepts(t, prompters(open), prompterPromises) })
	}
}

func TestBrokenPrompters(t *testing.T) {
	type reply = func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)
	var mu sync.Mutex
	var last *lookleap.ConsentRequest
	remembered := map[string]lookleap.ConsentDecision{}
	all := map[string]reply{
		"approval": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			d, err := honest(user, ctx, req)
			if len(d.Approved) > 0 {
				d.Approved = []string{"fn", "email", "tel"}
			}
			return d, err
		},
		"refusal": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			d, err := honest(user, ctx, req)
			if len(d.Approved) == 0 {
				return d, lookleap.ErrConsentPending
			}
			return d, err
		},
		"whole-request": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			short := *req
			short.Items = req.Items[:2]
			return honest(user, ctx, &short)
		},
		"no-answer": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: req.Digest, Approved: user(ctx, req)}, nil
		},
		"asked-again": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			if d, ok := remembered[req.Summary]; ok {
				d.Digest = req.Digest
				return d, nil
			}
			d, err := honest(user, ctx, req)
			remembered[req.Summary] = d
			return d, err
		},
		"concurrent-use": func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			mu.Lock()
			last = req
			mu.Unlock()
			time.Sleep(time.Microsecond)
			mu.Lock()
			defer mu.Unlock()
			return honest(user, ctx, last)
		},
	}
	covers(t, prompterPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) {
			rejects(t, prompters(func(_ testing.TB, user User) lookleap.ConsentPrompter {
				return dialogue{user, broken}
			}), prompterPromises, promise)
		})
	}
}

func prompters(open openPrompter) func() Engine[openPrompter] {
	return func() Engine[openPrompter] {
		return Engine[openPrompter]{Open: func(testing.TB, string) openPrompter { return open }, Private: true}
	}
}

// dialogue is a prompter that shows requests to a user.
type dialogue struct {
	user  User
	reply func(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)
}

func (d dialogue) PromptConsent(ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return d.reply(d.user, ctx, req)
}

// honest returns what the user decided in time.
func honest(user User, ctx context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	approved := user(ctx, req)
	if err := ctx.Err(); err != nil {
		return lookleap.ConsentDecision{}, err
	}
	return lookleap.ConsentDecision{Digest: req.Digest, Approved: approved}, nil
}
