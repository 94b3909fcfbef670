package webconsent

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// suspend stores n plans that were made at a time.
func suspend(t *testing.T, p *Prompter, n int, made time.Time) (ids []string, err error) {
	t.Helper()
	for range n {
		plan, failed := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "buy",
			Items: []lookleap.ConsentItem{{ID: "order", Summary: "order", Recipient: "shop.example", Digest: lookleap.Digest(nil)}}}, nil, made)
		if failed != nil {
			t.Fatal(failed)
		}
		state, failed := plan.State()
		if failed != nil {
			t.Fatal(failed)
		}
		if err = p.Suspend(t.Context(), &lookleap.PendingError{Request: plan.Request(), State: state}); err != nil {
			return ids, err
		}
		ids = append(ids, plan.ID())
	}
	return ids, nil
}

// TestRows has the cases of plans that no longer wait, and of refusals.
func TestRows(t *testing.T) {
	now := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	prompter := func(t *testing.T) *Prompter {
		p, err := New(Options{MaxPending: 3, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("P16", func(t *testing.T) {
		t.Run("accept-after-expired-plans", func(t *testing.T) {
			p := prompter(t)
			if _, err := suspend(t, p, 3, now.Add(-2*lookleap.PlanLifetime)); err != nil {
				t.Fatal(err)
			}
			if _, err := suspend(t, p, 3, now); err != nil {
				t.Error(err)
			}
		})
		t.Run("accept-after-decided-plans", func(t *testing.T) {
			p := prompter(t)
			ids, err := suspend(t, p, 3, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				w, err := p.find(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.decide(t.Context(), w, lookleap.ConsentDecision{Digest: w.request.Digest}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := suspend(t, p, 3, now); err != nil {
				t.Error(err)
			}
		})
		t.Run("reject-more-than-may-wait", func(t *testing.T) {
			if ids, err := suspend(t, prompter(t), 4, now); len(ids) != 3 || lookleap.CodeOf(err) != lookleap.CodeLimit {
				t.Errorf("%d plans wait, %v", len(ids), err)
			}
		})
		for name, l := range map[string]*livePrompt{
			"expired": {request: &lookleap.ConsentRequest{Expires: now.Add(-1)}},
			"decided": {request: &lookleap.ConsentRequest{Expires: now.Add(1)}, decision: &lookleap.ConsentDecision{}},
		} {
			t.Run("accept-after-live-prompts-that-are-"+name, func(t *testing.T) {
				p := prompter(t)
				p.live = []*livePrompt{l, l, l}
				if err := p.add(&livePrompt{request: &lookleap.ConsentRequest{Expires: now.Add(1)}, since: now}); err != nil {
					t.Error(err)
				}
			})
		}
		t.Run("reject-more-live-prompts-than-may-wait", func(t *testing.T) {
			p := prompter(t)
			l := &livePrompt{request: &lookleap.ConsentRequest{Expires: now.Add(1)}, since: now}
			p.live = []*livePrompt{l, l, l}
			if err := p.add(l); lookleap.CodeOf(err) != lookleap.CodeLimit {
				t.Error(err)
			}
		})
	})
	t.Run("P20", func(t *testing.T) {
		req := &lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Digest: "sha256:x", Items: []lookleap.ConsentItem{{ID: "order"}}}
		for name, do := range map[string]string{"refuse": "refuse", "refuse-every-version": "refuse-all"} {
			t.Run("accept-reason-"+name, func(t *testing.T) {
				d, fault := decisionOf(req, url.Values{"do": {do}, "reason": {"too expensive"}})
				if d.Reason != "too expensive" || fault != "" {
					t.Errorf("%+v, %q", d, fault)
				}
			})
		}
		t.Run("reject-reason-of-a-yes", func(t *testing.T) {
			if d, fault := decisionOf(req, url.Values{"do": {"approve"}, "item": {"order"}, "reason": {"too expensive"}}); d.Reason != "" || fault != "" {
				t.Errorf("%+v, %q", d, fault)
			}
		})
		t.Run("reject-stored-decision-that-is-malformed", func(t *testing.T) {
			p := prompter(t)
			for name, text := range map[string]string{
				"duplicate": `{"id":"a","at":"2026-05-01T09:00:00Z","decision":{"digest":"d","approved":[],"approved":["order"]}}`,
				"capital":   `{"id":"a","at":"2026-05-01T09:00:00Z","decision":{"digest":"d","Approved":["order"]}}`,
				"unknown":   `{"id":"a","at":"2026-05-01T09:00:00Z","decision":{"digest":"d","approved":["order"],"more":1}}`,
			} {
				sealed, err := p.vault.decisions.Seal([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if err := p.vault.store.Put(t.Context(), decisionPrefix+name, nil, []byte(sealed), time.Time{}); err != nil {
					t.Fatal(err)
				}
				if d, err := p.vault.decision(t.Context(), name); err == nil || strings.Contains(err.Error(), "seal") {
					t.Errorf("%s: %+v, %v", name, d, err)
				}
			}
		})
	})
}
