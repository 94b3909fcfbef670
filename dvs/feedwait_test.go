package dvs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestFeedOverflow has a feed whose entries change until a loader cannot keep all of them.
func TestFeedOverflow(t *testing.T) {
	const each = 10_000
	rotate := func(w *feedWorld, n int) dvs.Withdrawal {
		feed := &dvs.Withdrawals{Sequence: int64(10 + n), Updated: w.net.Clock().Now()}
		for i := range each {
			feed.Entries = append(feed.Entries, dvs.Withdrawal{Kind: dvs.WithdrawnDigest, Time: feed.Updated, Reason: "taken over",
				Value: dvs.DigestOf(fmt.Appendf(nil, "%d %d", n, i)).String()})
		}
		if n == 0 {
			feed.Entries[0].Value = dvs.DigestOf(skillText("withdrawn\n")).String()
		}
		w.serve(marshal(w.t, feed))
		return feed.Entries[0]
	}
	load := func(w *feedWorld) lookleap.Code {
		_, err := w.process(w.options).Load(t.Context(), trustedAt)
		return lookleap.CodeOf(err)
	}
	t.Run("P11", func(t *testing.T) {
		w := newFeedWorld(t)
		t.Run("accept-what-can-be-kept", func(t *testing.T) {
			for n := range 4 {
				rotate(w, n)
				w.net.Clock().Advance(16 * time.Minute)
				if code := load(w); code != lookleap.CodeOK {
					t.Fatal(n, code)
				}
			}
		})
		t.Run("reject-first-entry-still-withdrawn", func(t *testing.T) {
			w.site.File("/s/a/SKILL.md", "text/markdown", string(skillText("withdrawn\n")))
			if code := load(w); code != dvs.CodeWithdrawn {
				t.Error(code)
			}
			w.publish("Ask for the order number.\n")
		})
		t.Run("reject-one-more", func(t *testing.T) {
			rotate(w, 4)
			w.net.Clock().Advance(16 * time.Minute)
			for range 2 { // the store says so to later processes
				if code := load(w); code != dvs.CodeFeedStale {
					t.Error(code)
				}
			}
		})
	})
}

// TestWaitsEnd has a feed and a store that do not answer, while several callers want a skill.
func TestWaitsEnd(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	t.Run("P12", func(t *testing.T) {
		slow := func(t *testing.T) (w *feedWorld, entered, leave chan struct{}) {
			w, entered, leave = newFeedWorld(t), make(chan struct{}), make(chan struct{})
			data := marshal(t, w.feed)
			w.net.Site("feed.example").Handle("/withdrawn.json", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				entered <- struct{}{}
				<-leave
				rw.Header().Set("Content-Type", "application/json")
				_, _ = rw.Write(data)
			}))
			return w, entered, leave
		}
		t.Run("reject-slow-feed-when-the-context-ends", func(t *testing.T) {
			w, entered, leave := slow(t)
			l, done := w.process(w.options), make(chan error)
			go func() { _, err := l.Load(t.Context(), trustedAt); done <- err }()
			<-entered
			if _, err := l.Load(ended, trustedAt); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			close(leave)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		t.Run("accept-others-load-while-a-feed-is-read-again", func(t *testing.T) {
			w, entered, leave := slow(t)
			l, done := w.process(w.options), make(chan error)
			load := func() { _, err := l.Load(t.Context(), trustedAt); done <- err }
			go load()
			<-entered
			leave <- struct{}{}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			w.net.Clock().Advance(16 * time.Minute)
			go load()
			<-entered
			if _, err := l.Load(t.Context(), trustedAt); err != nil {
				t.Error(err)
			}
			leave <- struct{}{}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		t.Run("reject-slow-store-when-the-context-ends", func(t *testing.T) {
			w := newTrustWorld(t)
			store := &blockingStore{Store: w.store, entered: make(chan struct{}), leave: make(chan struct{})}
			w.store = store
			l, done := w.process(dvs.Options{}), make(chan error)
			go func() { _, err := l.Load(t.Context(), trustedAt); done <- err }()
			<-store.entered
			if _, err := l.Load(ended, trustedAt); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			close(store.leave)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})
}
