package lookleaptest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func request() *lookleap.ConsentRequest {
	return &lookleap.ConsentRequest{
		ID: "plan-1", Digest: lookleap.Digest([]byte("plan")), Kind: lookleap.ConsentAct, Origin: "https://shop.example",
		Items: []lookleap.ConsentItem{{ID: "a"}, {ID: "b"}},
	}
}

func TestReplies(t *testing.T) {
	failure := errors.New("no paper")
	until := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		reply    lookleaptest.Reply
		approved []string
		digest   bool
		err      error
		code     lookleap.Code // as a Host sees it
	}{
		"approve":       {lookleaptest.Approve(), []string{"a", "b"}, true, nil, ""},
		"approve one":   {lookleaptest.Approve("b"), []string{"b"}, true, nil, ""},
		"approve until": {lookleaptest.ApproveUntil(until), []string{"a", "b"}, true, nil, ""},
		"deny":          {lookleaptest.Refuse(), nil, true, nil, ""},
		"wrong digest":  {lookleaptest.WrongDigest(), []string{"a", "b"}, false, nil, lookleap.CodeConsentMismatch},
		"pending":       {lookleaptest.Pending(), nil, false, lookleap.ErrConsentPending, ""},
		"fail":          {lookleaptest.Fail(failure), nil, false, failure, lookleap.CodeConsentFailed},
	} {
		t.Run(name, func(t *testing.T) {
			p := lookleaptest.NewPrompter(t, c.reply)
			d, err := p.PromptConsent(t.Context(), request())
			if !errors.Is(err, c.err) || !slices.Equal(d.Approved, c.approved) || (d.Digest == request().Digest) != c.digest {
				t.Error(d, err)
			}
			_, err = (&lookleap.Host{Prompter: p}).PromptConsent(t.Context(), request())
			if c.code != "" && lookleap.CodeOf(err) != c.code {
				t.Error(err)
			}
			if asked := p.Requests(); len(asked) != 2 || asked[0].ID != "plan-1" {
				t.Error(asked)
			}
		})
	}
}

func TestScript(t *testing.T) {
	p := lookleaptest.NewPrompter(t, lookleaptest.Refuse(), lookleaptest.Approve())
	p.Then(lookleaptest.Pending(), lookleaptest.Approve("a"))
	for i, want := range []int{-1, 1, 1} {
		d, err := p.PromptConsent(t.Context(), request())
		if want < 0 && !errors.Is(err, lookleap.ErrConsentPending) || want >= 0 && len(d.Approved) != want {
			t.Error(i, d, err)
		}
	}
}

func TestHangAndPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		host := &lookleap.Host{Prompter: lookleaptest.NewPrompter(t, lookleaptest.Hang(), lookleaptest.Panic("ouch"),
			lookleaptest.After(time.Hour, lookleaptest.Approve()))}
		if _, err := host.PromptConsent(ctx, request()); !errors.Is(err, lookleap.ErrConsentRefused) ||
			time.Since(begin) != time.Minute {
			t.Error(err, time.Since(begin))
		}
		if _, err := host.PromptConsent(t.Context(), request()); !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(err)
		}
		if d, err := host.PromptConsent(t.Context(), request()); err != nil || len(d.Approved) != 2 ||
			time.Since(begin) < time.Hour {
			t.Error(d, err)
		}
	})
}

// silent swallows what a failing test would say.
type silent struct {
	testing.TB
	failed bool
}

func (s *silent) Errorf(string, ...any) { s.failed = true }

func TestNobodyShouldBeAsked(t *testing.T) {
	s := &silent{TB: t}
	if _, err := lookleaptest.NewPrompter(s).PromptConsent(t.Context(), request()); err == nil || !s.failed {
		t.Error(err, s.failed)
	}
}
