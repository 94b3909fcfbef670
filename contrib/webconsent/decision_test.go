package webconsent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestDecisionOf: which forms are decisions, and what is said about the others.
func TestDecisionOf(t *testing.T) {
	needed := []lookleap.ConsentItem{{ID: "order"}, {ID: "phone", Optional: true}}
	optional := []lookleap.ConsentItem{{ID: "phone", Optional: true}}
	for name, c := range map[string]struct {
		items    []lookleap.ConsentItem
		do       string
		ticked   []string
		approved []string
		all      bool
		fault    string
	}{
		"accept-all":           {needed, "approve", []string{"order", "phone"}, []string{"order", "phone"}, false, ""},
		"accept-needed":        {needed, "approve", []string{"order"}, []string{"order"}, false, ""},
		"reject-without":       {needed, "approve", []string{"phone"}, nil, false, "Without every item"},
		"reject-nothing":       {optional, "approve", nil, nil, false, "Nothing is ticked"},
		"reject-unasked":       {optional, "approve", []string{"phone", "x"}, nil, false, "not asked"},
		"reject-refused":       {needed, "refuse", []string{"order"}, nil, false, ""},
		"reject-every-version": {needed, "refuse-all", []string{"order"}, nil, true, ""},
		"reject-no-button":     {needed, "", []string{"order"}, nil, false, "Choose one"},
		"reject-other-button":  {needed, "Approve", []string{"order"}, nil, false, "Choose one"},
	} {
		t.Run(name, func(t *testing.T) {
			req := &lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Digest: "sha256:x", Items: c.items}
			d, fault := decisionOf(req, url.Values{"do": {c.do}, "item": c.ticked})
			if !strings.Contains(fault, c.fault) || (fault == "") != (c.fault == "") {
				t.Fatalf("fault %q", fault)
			}
			if fault == "" && (!slices.Equal(d.Approved, c.approved) || d.AllVersions != c.all || d.Digest != req.Digest) {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestFirstDecisionCounts: a live request is decided once, and only while its caller waits.
func TestFirstDecisionCounts(t *testing.T) {
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	req := &lookleap.ConsentRequest{ID: "1", Digest: "sha256:x", Items: []lookleap.ConsentItem{{ID: "order"}}, Expires: time.Now().Add(time.Hour)}
	l := &livePrompt{request: req, decided: make(chan struct{})}
	approve := lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"order"}}
	if err := p.decide(t.Context(), waiting{request: req, live: l}, approve); !errors.Is(err, fs.ErrNotExist) || l.decision != nil {
		t.Errorf("the caller left: %v, %+v", err, l.decision)
	}
	p.live = append(p.live, l)
	if all, _, err := p.waiting(t.Context()); err != nil || len(all) != 1 || all[0].live != l {
		t.Errorf("%+v, %v", all, err)
	}
	if found, err := p.find(t.Context(), "1"); err != nil || found.live != l {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := p.find(t.Context(), "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another request: %+v, %v", found, err)
	}
	next := p.next()
	if err := p.decide(t.Context(), waiting{request: req, live: l}, approve); err != nil || l.decision == nil {
		t.Fatalf("%v, %+v", err, l.decision)
	}
	select {
	case <-next:
	default:
		t.Error("the decision was not announced")
	}
	if err := p.decide(t.Context(), waiting{request: req, live: l}, lookleap.ConsentDecision{Digest: req.Digest}); !errors.Is(err, lookleap.ErrAlreadyDone) || len(l.decision.Approved) != 1 {
		t.Errorf("the second decision: %v, %+v", err, l.decision)
	}
	if _, err := p.find(context.Background(), "1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a decided request waits: %v", err)
	}
	if all, _, err := p.waiting(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a decided request is listed: %+v, %v", all, err)
	}
}

// TestRecent: the list shows the last decisions, the newest first, and a limited number of them.
func TestRecent(t *testing.T) {
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range maxRecent + 2 {
		req := &lookleap.ConsentRequest{ID: fmt.Sprint(n), Origin: "https://shop.example", Items: make([]lookleap.ConsentItem, n), Expires: time.Now().Add(time.Hour)}
		l := &livePrompt{request: req, decided: make(chan struct{})}
		p.live = append(p.live, l)
		if err := p.decide(t.Context(), waiting{request: req, live: l}, lookleap.ConsentDecision{Approved: []string{"order"}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.recent) != maxRecent {
		t.Fatalf("%d decisions", len(p.recent))
	}
	for i, r := range p.recent {
		if want := fmt.Sprintf("Approved: 1 of %d", maxRecent+1-i); r.Outcome != want || r.Headline.Parts[0].Text != "[shop.example]" {
			t.Errorf("%d: %+v, want %s", i, r, want)
		}
	}
}

// TestLiveAndStored: a request that waits for its caller and in the store is listed once.
func TestLiveAndStored(t *testing.T) {
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order",
		Items: []lookleap.ConsentItem{{ID: "order", Summary: "order", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("order"))}}}, []byte("effect"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	state, err := plan.State()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.vault.put(t.Context(), state, time.Now()); err != nil {
		t.Fatal(err)
	}
	p.live = append(p.live, &livePrompt{request: plan.Request(), decided: make(chan struct{})})
	if all, unreadable, err := p.waiting(t.Context()); err != nil || unreadable != 0 || len(all) != 1 {
		t.Errorf("%+v, %d unreadable, %v", all, unreadable, err)
	}
}

func TestLeftText(t *testing.T) {
	for left, want := range map[time.Duration]string{
		-time.Second: "0 s left", 0: "0 s left", 1500 * time.Millisecond: "1 s left", 59 * time.Second: "59 s left",
		time.Minute: "1 min 0 s left", 59*time.Minute + 59*time.Second: "59 min 59 s left", 61 * time.Second: "1 min 1 s left", 125 * time.Second: "2 min 5 s left",
		time.Hour: "1 h 0 min left", 25*time.Hour + 61*time.Minute: "26 h 1 min left",
	} {
		if got := leftText(left); got != want {
			t.Errorf("%v: %s, want %s", left, got, want)
		}
	}
}
