package planowner

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestCheck(t *testing.T) {
	ann := Mark("ann")
	for name, c := range map[string]struct {
		mark, user string
		ok         bool
	}{
		"same-user":     {ann, "ann", true},
		"no-user":       {Mark(""), "", true},
		"other-user":    {ann, "bob", false},
		"user-of-none":  {"", "ann", false},
		"none-of-user":  {ann, "", false},
		"other-nonce":   {"x" + ann, "ann", false},
		"without-nonce": {ann[strings.Index(ann, "."):], "ann", false},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(c.mark, c.user, "set it")
			if (err == nil) != c.ok || !c.ok && lookleap.CodeOf(err) != lookleap.CodePlanOtherUser {
				t.Error(err)
			}
		})
	}
	if none := Mark(""); none != "" {
		t.Errorf("the mark of no user is %q", none)
	}
	if Mark("ann") == ann || strings.Contains(ann, "ann") {
		t.Error("the mark tells about the user, or is that of another plan")
	}
}

// refusing counts how often a user is asked, and refuses.
type refusing struct{ asked int }

func (r *refusing) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	r.asked++
	return lookleap.ConsentDecision{Digest: req.Digest}, nil
}

// TestContext: a refusal counts for the user of the context alone.
func TestContext(t *testing.T) {
	for name, c := range map[string]struct {
		user  string
		asked int
	}{
		"other-user":            {"bob", 2},
		"same-user":             {"ann", 1},
		"no-user-keeps-the-one": {"", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(refusing)
			h := &lookleap.Host{Prompter: p}
			defer h.Close()
			ann := lookleap.WithUser(t.Context(), "ann")
			for _, ctx := range []context.Context{ann, Context(ann, c.user)} {
				plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
					Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order",
					Items: []lookleap.ConsentItem{{ID: "order", Summary: "order", Recipient: "shop.example", Digest: lookleap.Digest(nil)}},
				}, nil, time.Now())
				if err != nil {
					t.Fatal(err)
				}
				if a, err := h.Ask(ctx, plan); a != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
					t.Errorf("%v, %v", a, err)
				}
			}
			if p.asked != c.asked {
				t.Errorf("asked %d times, want %d", p.asked, c.asked)
			}
		})
	}
}
