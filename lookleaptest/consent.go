package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// User is what a user does about one request that a prompter shows: it returns the ids of
// the items that the user approves for this once, or waits until ctx ends for a user who does not answer.
type User func(ctx context.Context, req *lookleap.ConsentRequest) (approved []string)

// TestPrompter tests an implementation of [lookleap.ConsentPrompter]. Open returns one
// whose user acts as the given function says, through the dialogue of the implementation.
// The context of the function ends with the dialogue.
func TestPrompter(t *testing.T, open func(t testing.TB, user User) lookleap.ConsentPrompter) {
	t.Helper()
	testContract(t, Engine[openPrompter]{
		Open: func(testing.TB, string) openPrompter { return open }, Private: true,
	}, prompterPromises)
}

type openPrompter = func(testing.TB, User) lookleap.ConsentPrompter

var prompterPromises = []promise[openPrompter]{
	{
		name:   "approval",
		text:   "the decision names the digest of the request and the items that the user approved, no more and no fewer, for this once",
		verify: promptsApproval,
	}, {
		name:   "refusal",
		text:   "a user who approves nothing is reported as a decision without items, for what was shown only, or as an error that is not ErrConsentPending",
		verify: promptsRefusal,
	}, {
		name:   "whole-request",
		text:   "the user is shown the whole request, and the prompter does not change it",
		verify: promptsWhole,
	}, {
		name:   "no-answer",
		text:   "if the context ends before the user answers, PromptConsent returns and nothing is approved",
		verify: promptsSilence,
	}, {
		name:   "asked-again",
		text:   "the user is asked about each request, also about a second one that looks the same",
		verify: promptsAgain,
	}, {
		name:   "concurrent-use",
		text:   "of concurrent requests each gets the decision about itself",
		verify: promptsConcurrent,
	},
}

// requestOf returns a request with three items, the last one optional.
func requestOf(r *trial[openPrompter], summary string) *lookleap.ConsentRequest {
	r.Helper()
	item := func(id string) lookleap.ConsentItem {
		return lookleap.ConsentItem{
			ID: id, Summary: "Tell the shop your " + id, Recipient: "https://shop.example", Digest: lookleap.Digest([]byte(id)),
			Values: []lookleap.ConsentValue{{Label: "value", Name: id, Text: "kim@example.com"}},
		}
	}
	optional := item("tel")
	optional.Optional = true
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentDisclose, Origin: "https://shop.example", Summary: summary,
		Items: []lookleap.ConsentItem{item("fn"), item("email"), optional},
	}, []byte(summary), time.Now())
	if err != nil {
		r.Fatal(err)
	}
	return plan.Request()
}

// ask asks the prompter of a user.
func ask(r *trial[openPrompter], ctx context.Context, p lookleap.ConsentPrompter, req *lookleap.ConsentRequest) (d lookleap.ConsentDecision, err error) {
	err = r.attemptIn(ctx, func(ctx context.Context) (err error) {
		d, err = p.PromptConsent(ctx, req)
		return err
	})
	return d, err
}

// about checks that a decision is about a request and approves these items.
func about(r *trial[openPrompter], req *lookleap.ConsentRequest, d lookleap.ConsentDecision, err error, want ...string) {
	r.Helper()
	got := slices.Sorted(slices.Values(d.Approved))
	slices.Sort(want)
	if err != nil || d.Digest != req.Digest || !slices.Equal(got, want) {
		r.broken("the user approved %q, and the decision is %+v with the error %v (the digest of the request is %s)",
			want, d, err, req.Digest)
	}
	if !d.Until.IsZero() || d.AllVersions {
		r.broken("the user decided for this once, and the decision is %+v", d)
	}
}

func promptsApproval(r *trial[openPrompter]) {
	for _, approved := range [][]string{{"fn", "email", "tel"}, {"fn", "email"}} {
		p := r.open()(r.TB, func(context.Context, *lookleap.ConsentRequest) []string { return approved })
		req := requestOf(r, "Order tea")
		d, err := ask(r, context.Background(), p, req)
		about(r, req, d, err, slices.Clone(approved)...)
	}
}

func promptsRefusal(r *trial[openPrompter]) {
	p := r.open()(r.TB, func(context.Context, *lookleap.ConsentRequest) []string { return nil })
	d, err := ask(r, context.Background(), p, requestOf(r, "Order tea"))
	if len(d.Approved) > 0 || d.AllVersions || errors.Is(err, lookleap.ErrConsentPending) || errors.Is(err, errHung) {
		r.broken("the decision is %+v with the error %v", d, err)
	}
}

func promptsWhole(r *trial[openPrompter]) {
	req := requestOf(r, "Order tea")
	before := req.String()
	var shown string
	p := r.open()(r.TB, func(_ context.Context, seen *lookleap.ConsentRequest) []string {
		shown = seen.String()
		return []string{"fn", "email"}
	})
	_, err := ask(r, context.Background(), p, req)
	r.must(err, "PromptConsent")
	if shown != before {
		r.broken("the user was shown:\n%s\ninstead of:\n%s", shown, before)
	}
	if req.String() != before {
		r.broken("the request was changed to:\n%s", req)
	}
}

func promptsSilence(r *trial[openPrompter]) {
	p := r.open()(r.TB, func(ctx context.Context, req *lookleap.ConsentRequest) []string {
		<-ctx.Done()
		return []string{"fn", "email", "tel"}
	})
	ctx, cancel := context.WithTimeout(context.Background(), r.engine.Patience/50)
	defer cancel()
	d, err := ask(r, ctx, p, requestOf(r, "Order tea"))
	if err == nil && len(d.Approved) > 0 || errors.Is(err, errHung) {
		r.broken("the decision is %+v with the error %v", d, err)
	}
}

func promptsAgain(r *trial[openPrompter]) {
	asked := 0
	p := r.open()(r.TB, func(context.Context, *lookleap.ConsentRequest) []string {
		asked++
		if asked > 1 {
			return nil
		}
		return []string{"fn", "email"}
	})
	first, second := requestOf(r, "Order tea"), requestOf(r, "Order tea")
	d, err := ask(r, context.Background(), p, first)
	about(r, first, d, err, "fn", "email")
	if d, _ := ask(r, context.Background(), p, second); len(d.Approved) > 0 || asked != 2 {
		r.broken("the user was asked %d times, and the second decision is %+v", asked, d)
	}
}

func promptsConcurrent(r *trial[openPrompter]) {
	p := r.open()(r.TB, func(_ context.Context, req *lookleap.ConsentRequest) []string {
		if req.Summary < "Order 4" {
			return []string{"fn", "email", "tel"}
		}
		return []string{"fn", "email"}
	})
	requests := make([]*lookleap.ConsentRequest, 8)
	decisions := make([]lookleap.ConsentDecision, 8)
	for i := range requests {
		requests[i] = requestOf(r, fmt.Sprint("Order ", i))
	}
	errs := r.together(8, func(ctx context.Context, i int) (err error) {
		decisions[i], err = p.PromptConsent(ctx, requests[i])
		return err
	})
	for i, req := range requests {
		want := []string{"fn", "email", "tel"}
		if i >= 4 {
			want = want[:2]
		}
		about(r, req, decisions[i], errs[i], want...)
	}
}
