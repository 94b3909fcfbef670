package dvs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestLoadRef(t *testing.T) {
	type world struct {
		net       *lookleaptest.Internet
		loader    *dvs.Loader
		parent    *dvs.Loaded
		ui        *prompter
		crossings []dvs.Crossing
	}
	build := func(t *testing.T, decide func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error), roots ...string) *world {
		w := &world{net: lookleaptest.ForTest(t), ui: &prompter{decide: decide}}
		w.net.Site("a.example").File("*", "text/markdown", refund)
		w.net.Site("b.example").File("*", "text/markdown", refund)
		github(w.net, "/o/r/main/SKILL.md", refund)
		host := w.net.StubHost()
		host.Prompter = w.ui
		w.loader = dvs.NewLoader(host, dvs.Options{Roots: registry(t, append(roots, "https://a.example/s/")...), Notify: func(_ context.Context, x dvs.Crossing) {
			w.crossings = append(w.crossings, x)
		}})
		var err error
		if w.parent, err = w.loader.Load(t.Context(), "https://a.example/s/p/SKILL.md"); err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Run("DVS-6-01/accept-url", func(t *testing.T) {
		w := build(t, agree, "https://b.example/")
		if child, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); err != nil || child.ID.String() != "https://b.example/c/SKILL.md" {
			t.Error(err)
		}
	})
	t.Run("DVS-6-01/accept-relative", func(t *testing.T) {
		w := build(t, decline)
		if child, err := w.parent.LoadRef(t.Context(), "../c/SKILL.md"); err != nil || child.ID.String() != "https://a.example/s/c/SKILL.md" || len(w.crossings) != 0 {
			t.Error(err)
		}
	})
	t.Run("DVS-6-01/reject-http", func(t *testing.T) {
		w := build(t, agree)
		if _, err := w.parent.LoadRef(t.Context(), "http://b.example/c/SKILL.md"); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Error(err)
		}
	})
	t.Run("DVS-6-02/accept-trusted-root-no-prompt", func(t *testing.T) {
		w := build(t, decline, "https://b.example/")
		if _, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); err != nil || w.ui.count() != 0 {
			t.Error(err)
		}
	})
	t.Run("DVS-6-02/reject-new-root-declined", func(t *testing.T) {
		w := build(t, decline)
		if child, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); child != nil || err == nil || w.ui.count() != 1 {
			t.Error(err)
		}
	})
	t.Run("DVS-5.1-06/reject-sent-before-consent", func(t *testing.T) {
		for name, decide := range map[string]func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error){"declined": decline, "agreed": agree} {
			w := build(t, decide, "https://github.com/o/")
			for _, ref := range []string{"https://b.example/what-the-parent-knows/SKILL.md", "https://raw.githubusercontent.com/o/r/main/SKILL.md"} {
				host := strings.Split(ref, "/")[2]
				w.ui.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					if sent := w.net.Journal().Paths(host); len(sent) > 0 {
						t.Errorf("%s: %s was sent before anybody agreed", name, sent)
					}
					return decide(req)
				}
				child, err := w.parent.LoadRef(t.Context(), ref)
				if (child != nil) != (name == "agreed") || (err != nil) == (name == "agreed") {
					t.Errorf("%s: %v, %v", name, child, err)
				}
				if sent := w.net.Journal().Paths(host); (len(sent) > 0) != (name == "agreed") {
					t.Errorf("%s: sent %s", name, sent)
				}
			}
		}
	})
	t.Run("DVS-6-02/accept-new-root-asked-once", func(t *testing.T) {
		w := build(t, agree)
		for range 2 {
			if child, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); err != nil || child.Source != dvs.DefaultOrigin || w.ui.count() != 1 {
				t.Errorf("asked %d times, %v", w.ui.count(), err)
			}
		}
	})
	t.Run("DVS-6-02/accept-new-root-resumed", func(t *testing.T) {
		w := build(t, func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		})
		var pending *lookleap.PendingError
		if _, err := w.parent.LoadRef(t.Context(), "https://github.com/o/r/blob/main/SKILL.md"); !errors.As(err, &pending) {
			t.Fatal(err)
		}
		decision, _ := agree(pending.Request)
		got, err := w.loader.Resume(t.Context(), pending.State, decision)
		if err != nil || got.Loaded == nil || got.Loaded.Root.String() != "https://github.com/o/" || len(got.Loaded.Chain) != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("DVS-6-03/accept-own-root", func(t *testing.T) {
		w := build(t, agree)
		child, err := w.parent.LoadRef(t.Context(), "https://github.com/o/r/blob/main/SKILL.md")
		if err != nil || child.Root.String() != "https://github.com/o/" {
			t.Error(err)
		}
	})
	t.Run("DVS-6-03/reject-parents-root-does-not-cover", func(t *testing.T) {
		w := build(t, decline)
		if child, err := w.parent.LoadRef(t.Context(), "https://a.example/t/SKILL.md"); child != nil || err == nil || w.ui.count() != 1 {
			t.Errorf("asked %d times, %v", w.ui.count(), err)
		}
	})
	t.Run("DVS-6-04/reject-each-others-files", func(t *testing.T) {
		w := build(t, agree, "https://b.example/")
		child, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		up, err1 := child.Resolve("https://a.example/s/x.md")
		down, err2 := w.parent.Resolve("https://b.example/x.md")
		if err1 != nil || err2 != nil || up.Access != dvs.NeedsConsent || down.Access != dvs.NeedsConsent {
			t.Error(up, err1, down, err2)
		}
	})
	t.Run("DVS-6-04/accept-own-files", func(t *testing.T) {
		w := build(t, agree, "https://b.example/")
		child, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if target, err := child.Resolve("x.md"); err != nil || target.Access != dvs.Bundled {
			t.Error(target, err)
		}
	})
	for _, id := range []string{"DVS-6-05", "DVS-7-06"} {
		t.Run(id+"/accept-announced", func(t *testing.T) {
			w := build(t, agree)
			if _, err := w.parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); err != nil {
				t.Fatal(err)
			}
			if len(w.crossings) != 1 || !w.crossings[0].NewDomain || w.crossings[0].ToRoot != "https://b.example/" || len(w.crossings[0].Chain) != 1 {
				t.Errorf("got %+v", w.crossings)
			}
			if !strings.Contains(w.ui.asked[0].String(), "https://a.example/s/p/SKILL.md") {
				t.Errorf("the chain is missing in\n%s", w.ui.asked[0])
			}
		})
	}
	t.Run("DVS-6-05/accept-same-host-other-root", func(t *testing.T) {
		w := build(t, agree, "https://a.example/t/")
		if _, err := w.parent.LoadRef(t.Context(), "/t/SKILL.md"); err != nil || len(w.crossings) != 1 || w.crossings[0].NewDomain {
			t.Error(err, w.crossings)
		}
	})
	t.Run("DVS-6-06/reject-cycle", func(t *testing.T) {
		w := build(t, agree)
		child, err := w.parent.LoadRef(t.Context(), "../c/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := child.LoadRef(t.Context(), "../p/SKILL.md"); lookleap.CodeOf(err) != "composition-cycle" {
			t.Error(err)
		}
	})
	t.Run("DVS-6-06/reject-cycle-inside-the-chain", func(t *testing.T) {
		w := build(t, agree)
		if _, err := w.parent.LoadRef(t.Context(), "../p/SKILL.md"); lookleap.CodeOf(err) != "composition-cycle" {
			t.Errorf("itself: %v", err)
		}
		at, err := w.parent, error(nil)
		for _, ref := range []string{"/s/c0/SKILL.md", "/s/c1/SKILL.md"} {
			if at, err = at.LoadRef(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := at.LoadRef(t.Context(), "/s/c0/SKILL.md"); lookleap.CodeOf(err) != "composition-cycle" {
			t.Error(err)
		}
	})
	t.Run("DVS-6-06/reject-depth", func(t *testing.T) {
		w := build(t, agree)
		at, err := w.parent, error(nil)
		for i := range 3 {
			if at, err = at.LoadRef(t.Context(), fmt.Sprintf("/s/c%d/SKILL.md", i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := at.LoadRef(t.Context(), "/s/last/SKILL.md"); lookleap.CodeOf(err) != "composition-depth" {
			t.Error(err)
		}
	})
	t.Run("DVS-6-06/reject-total", func(t *testing.T) {
		w := build(t, agree)
		for i := range 32 {
			if _, err := w.parent.LoadRef(t.Context(), fmt.Sprintf("/s/c%d/SKILL.md", i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.parent.LoadRef(t.Context(), "/s/last/SKILL.md"); lookleap.CodeOf(err) != "composition-total" {
			t.Error(err)
		}
		if _, err := w.parent.LoadRef(t.Context(), "/s/c1/SKILL.md"); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-47/reject-document-raw-skill", func(t *testing.T) {
		w := build(t, decline, "https://github.com/o/")
		if child, err := w.parent.LoadRef(t.Context(), "https://raw.githubusercontent.com/o/r/main/SKILL.md"); child != nil || err == nil || w.ui.count() != 1 {
			t.Error(child, err)
		}
	})
}

// TestNotifyThatFails: a function of the host that does not return, or panics, holds up no skill.
func TestNotifyThatFails(t *testing.T) {
	for name, fails := range map[string]func(until chan struct{}){
		"O13/reject-deaf-notify":   func(until chan struct{}) { <-until },
		"O28/reject-notify-panics": func(chan struct{}) { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net, until := lookleaptest.ForTest(t), make(chan struct{})
				defer close(until)
				net.Site("a.example").File("*", "text/markdown", refund)
				net.Site("b.example").File("*", "text/markdown", refund)
				host, reported := net.StubHost(), 0
				host.Observe = func(_ context.Context, e lookleap.Event) {
					if e.Code == lookleap.CodeTimeout && strings.Contains(fmt.Sprint(e.Err), "was not notified") {
						reported++
					}
				}
				loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://a.example/", "https://b.example/"), Notify: func(context.Context, dvs.Crossing) { fails(until) }})
				parent, err := loader.Load(t.Context(), "https://a.example/s/p/SKILL.md")
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				if _, err := parent.LoadRef(t.Context(), "https://b.example/c/SKILL.md"); err != nil || reported != 1 || time.Since(begin) > 2*time.Second {
					t.Errorf("%v after %v, %d reports", err, time.Since(begin), reported)
				}
			})
		})
	}
}
