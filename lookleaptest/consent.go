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
	{"approval", "the decision names the digest of the request and the items that the user approved, " +
		"no more and no fewer, for this once", "", promptsApproval},
	{"refusal", "a user who approves nothing is reported as a decision without items, for what was shown only, " +
		"or as an error that is not ErrConsentPending", "", promptsRefusal},
	{"whole-request", "the user is shown the whole request, and the prompter does not change it", "", promptsWhole},
	{"no-answer", "if the context ends before the user answers, PromptConsent returns and nothing is approved", "",
		promptsSilence},
	{"asked-again", "the user is asked about each request, also about a second one that looks the same", "", promptsAgain},
	{"concurrent-use", "of concurrent requests each gets the decision about itself", "", promptsConcurrent},
}

var (
	required = []string{"fn", "email"}
	allItems = []string{"fn", "email", "tel"} // the last one is optional
)

// orderTea returns a request.
func orderTea(r *trial[openPrompter], summary string) *lookleap.ConsentRequest {
	r.Helper()
	request := lookleap.ConsentRequest{Kind: lookleap.ConsentDisclose, Origin: "https://shop.example", Summary: summary}
	for _, id := range allItems {
		request.Items = append(request.Items, lookleap.ConsentItem{
			ID: id, Summary: "Tell the shop your " + id, Recipient: "https://shop.example", Digest: lookleap.Digest([]byte(id)),
			Values:   []lookleap.ConsentValue{{Label: "value", Name: id, Text: "kim@example.com"}},
			Optional: id == "tel",
		})
	}
	plan, err := lookleap.NewPlan(request, []byte(summary), time.Now())
	if err != nil {
		r.Fatal(err)
	}
	return plan.Request()
}

// approves returns a user who always decides in the same way.
func approves(ids []string) User {
	return func(context.Context, *lookleap.ConsentRequest) []string { return slices.Clone(ids) }
}

// ask asks the prompter of a user.
func ask(
	r *trial[openPrompter], ctx context.Context, p lookleap.ConsentPrompter, req *lookleap.ConsentRequest,
) (lookleap.ConsentDecision, error) {
	return attemptIn(&r.probe, ctx, func(ctx context.Context) (lookleap.ConsentDecision, error) {
		return p.PromptConsent(ctx, req)
	})
}

// decides checks that a decision is about a request and approves these items.
func decides(
	r *trial[openPrompter], req *lookleap.ConsentRequest, d lookleap.ConsentDecision, err error, want []string,
) {
	r.Helper()
	got, want := slices.Sorted(slices.Values(d.Approved)), slices.Sorted(slices.Values(want))
	if err != nil || d.Digest != req.Digest || !slices.Equal(got, want) {
		r.broken("the user approved %q, and the decision is %+v with the error %v (the digest of the request is %s)",
			want, d, err, req.Digest)
	}
	if !d.Until.IsZero() || d.AllVersions {
		r.broken("the user decided for this once, and the decision is %+v", d)
	}
}

func promptsApproval(r *trial[openPrompter]) {
	for _, approved := range [][]string{allItems, required} {
		req := orderTea(r, "Order tea")
		d, err := ask(r, context.Background(), r.open()(r.TB, approves(approved)), req)
		decides(r, req, d, err, approved)
	}
}

func promptsRefusal(r *trial[openPrompter]) {
	d, err := ask(r, context.Background(), r.open()(r.TB, approves(nil)), orderTea(r, "Order tea"))
	if len(d.Approved) > 0 || d.AllVersions || errors.Is(err, lookleap.ErrConsentPending) || errors.Is(err, errHung) {
		r.broken("the decision is %+v with the error %v", d, err)
	}
}

func promptsWhole(r *trial[openPrompter]) {
	req := orderTea(r, "Order tea")
	before := req.String()
	var shown string
	p := r.open()(r.TB, func(_ context.Context, seen *lookleap.ConsentRequest) []string {
		shown = seen.String()
		return required
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
		return allItems
	})
	ctx, cancel := context.WithTimeout(context.Background(), r.patience/50)
	defer cancel()
	d, err := ask(r, ctx, p, orderTea(r, "Order tea"))
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
		return required
	})
	first, second := orderTea(r, "Order tea"), orderTea(r, "Order tea")
	d, err := ask(r, context.Background(), p, first)
	decides(r, first, d, err, required)
	if d, _ := ask(r, context.Background(), p, second); len(d.Approved) > 0 || asked != 2 {
		r.broken("the user was asked %d times, and the second decision is %+v", asked, d)
	}
}

func promptsConcurrent(r *trial[openPrompter]) {
	wants := func(req *lookleap.ConsentRequest) []string {
		if req.Summary < "Order 4" {
			return allItems
		}
		return required
	}
	p := r.open()(r.TB, func(_ context.Context, req *lookleap.ConsentRequest) []string { return wants(req) })
	requests, decisions := make([]*lookleap.ConsentRequest, 8), make([]lookleap.ConsentDecision, 8)
	for i := range requests {
		requests[i] = orderTea(r, fmt.Sprint("Order ", i))
	}
	r.together(8, func(ctx context.Context, i int) (err error) {
		decisions[i], err = p.PromptConsent(ctx, requests[i])
		return err
	})
	for i, req := range requests {
		decides(r, req, decisions[i], nil, wants(req))
	}
}
