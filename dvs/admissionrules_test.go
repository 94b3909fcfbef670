package dvs_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

const hubSkill = "https://github.com/o/r/blob/main/a/SKILL.md"

// admissionWorld is an internet with skills of an own host and of a platform. It notes the events.
type admissionWorld struct {
	t    *testing.T
	net  *lookleaptest.Internet
	shop *lookleaptest.Site
	raw  *lookleaptest.Site
	host *lookleap.Host
	user *prompter

	events lookleaptest.Events
}

func newAdmissionWorld(t *testing.T) *admissionWorld {
	w := &admissionWorld{t: t, net: lookleaptest.ForTest(t), user: &prompter{decide: agree}}
	w.shop = w.net.Site("shop.example").File("*", "text/markdown", refund)
	w.raw = github(w.net, "/o/r/main/a/SKILL.md", refund)
	w.host = w.net.StubHost()
	w.host.Prompter = w.user
	w.host.Asking = lookleap.AskLimits{Refusal: -1, Prompts: -1}
	w.host.Observe = w.events.Observe
	return w
}

// whenAsked does something while the user looks at the prompt, who then agrees.
func (w *admissionWorld) whenAsked(do func()) {
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		do()
		return agree(req)
	}
}

func (w *admissionWorld) count(kind lookleap.EventKind, code lookleap.Code) (n int) {
	for _, e := range w.events.All() {
		if e.Kind == kind && e.Code == code {
			n++
		}
	}
	return n
}

func (w *admissionWorld) requests(path string) (n int) {
	for _, host := range []string{"shop.example", "raw.githubusercontent.com"} {
		for _, p := range w.net.Journal().Paths(host) {
			if p == "GET "+path {
				n++
			}
		}
	}
	return n
}

// TestRegistryChangesMeanwhile changes the registry between the first check of a skill and its
// use. Each case names what may not have been requested or kept.
func TestRegistryChangesMeanwhile(t *testing.T) {
	block := func(t *testing.T, l *dvs.Loader, root string) {
		if _, err := l.Roots().Block(root); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("A32/reject-redirect-into-a-blocked-root", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.Redirect("/s/a/SKILL.md", "/bad/SKILL.md")
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		block(t, l, "https://shop.example/bad/")
		if _, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeBlockedRoot || w.requests("/bad/SKILL.md") > 0 {
			t.Errorf("got %v after %d requests", err, w.requests("/bad/SKILL.md"))
		}
	})
	t.Run("A32/reject-redirect-into-a-root-blocked-during-the-dialogue", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.Redirect("/s/a/SKILL.md", "/bad/SKILL.md")
		l := dvs.NewLoader(w.host, dvs.Options{})
		w.whenAsked(func() { block(t, l, "https://shop.example/bad/") })
		if skill, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeBlockedRoot || skill != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("A32/reject-root-blocked-during-the-dialogue", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{})
		w.whenAsked(func() { block(t, l, "https://github.com/o/") })
		if skill, err := l.Load(t.Context(), hubSkill); lookleap.CodeOf(err) != dvs.CodeBlockedRoot || skill != nil {
			t.Errorf("got %v", err)
		}
		for d := range l.Roots().All() {
			if !d.Blocked {
				t.Error("the root was registered:", d.Root)
			}
		}
	})
	t.Run("A32/reject-reference-blocked-during-the-dialogue", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.net.Site("other.example").File("*", "text/markdown", refund)
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		parent, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		w.whenAsked(func() { block(t, l, "https://other.example/") })
		if _, err := parent.LoadRef(t.Context(), "https://other.example/s/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeBlockedRoot || len(w.net.Journal().Requests("other.example")) > 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-3.1-28/reject-derived-without-a-root-to-agree-to", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.raw.Redirect("/o/r/main/a/SKILL.md", "/o/r/main/b/SKILL.md").File("/o/r/main/b/SKILL.md", "text/plain", refund)
		l := dvs.NewLoader(w.host, dvs.Options{Policies: []*dvs.Policy{{Register: dvs.RegisterProgram}}})
		if skill, err := l.Load(t.Context(), hubSkill); lookleap.CodeOf(err) != dvs.CodeNeedsRoot || skill != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-7-03/reject-hop-that-the-policy-of-the-resuming-loader-denies", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.Redirect("/s/a/SKILL.md", "/bad/SKILL.md")
		w.user.decide = func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		}
		var pending *lookleap.PendingError
		if _, err := dvs.NewLoader(w.host, dvs.Options{}).Load(t.Context(), "https://shop.example/s/a/SKILL.md"); !errors.As(err, &pending) {
			t.Fatal(err)
		}
		decision, _ := agree(pending.Request)
		l := dvs.NewLoader(w.host, dvs.Options{Policies: []*dvs.Policy{{Deny: []string{"https://shop.example/bad/"}}}})
		if got, err := l.Resume(t.Context(), pending.State, decision); lookleap.CodeOf(err) != dvs.CodePolicyDenied || got != nil {
			t.Errorf("got %v", err)
		}
	})
}

// TestSessionConsents shows what ends the consents of a session before their time.
func TestSessionConsents(t *testing.T) {
	const at, other = "https://shop.example/s/a/SKILL.md", "https://shop.example/s/b/SKILL.md"
	load := func(t *testing.T, w *admissionWorld, l *dvs.Loader, asked int) {
		t.Helper()
		before := w.user.count()
		if _, err := l.Load(t.Context(), at); err != nil || w.user.count()-before != asked {
			t.Fatalf("asked %d times, want %d: %v", w.user.count()-before, asked, err)
		}
	}
	for name, c := range map[string]struct {
		options dvs.Options
		change  func(w *admissionWorld, l *dvs.Loader)
		asked   int
	}{
		"accept-later":                  {change: func(w *admissionWorld, _ *dvs.Loader) { w.net.Clock().Advance(23 * time.Hour) }},
		"reject-after-a-day":            {change: func(w *admissionWorld, _ *dvs.Loader) { w.net.Clock().Advance(25 * time.Hour) }, asked: 1},
		"reject-after-the-policys-time": {options: dvs.Options{Policies: []*dvs.Policy{{MaxTrust: time.Hour}}}, change: func(w *admissionWorld, _ *dvs.Loader) { w.net.Clock().Advance(2 * time.Hour) }, asked: 1},
		"reject-clock-set-back":         {change: func(w *admissionWorld, _ *dvs.Loader) { w.net.Clock().Advance(-2 * time.Hour) }, asked: 1},
		"reject-another-root-revoked": {change: func(w *admissionWorld, l *dvs.Loader) {
			l.Revoke(must(dvs.ParseTrustRoot("https://a.example/", dvs.Rules{})))
		}, asked: 1},
		"reject-another-domain-revoked": {change: func(w *admissionWorld, l *dvs.Loader) { _ = l.RevokeDomain("a.example", false) }, asked: 1},
		"accept-domain-that-cannot-be-one": {change: func(w *admissionWorld, l *dvs.Loader) {
			if err := l.RevokeDomain("a b", false); lookleap.CodeOf(err) != lookleap.CodeBadHost {
				w.t.Errorf("got %v", err)
			}
		}},
	} {
		t.Run("DVS-5.2-06/"+name, func(t *testing.T) {
			w := newAdmissionWorld(t)
			l := dvs.NewLoader(w.host, c.options)
			load(t, w, l, 1)
			load(t, w, l, 0)
			c.change(w, l)
			load(t, w, l, c.asked)
		})
	}
	t.Run("DVS-5.2-06/reject-after-the-least-time-of-a-policy", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{Policies: []*dvs.Policy{{MaxTrust: time.Nanosecond}}})
		load(t, w, l, 1)
		w.net.Clock().Advance(time.Second)
		load(t, w, l, 1)
	})
	t.Run("DVS-7-03/accept-copies-end-with-a-revocation", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.Fault("/s/a/SKILL.md", lookleaptest.Header("Cache-Control", "max-age=3600"))
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		load(t, w, l, 0)
		load(t, w, l, 0)
		if n := w.requests("/s/a/SKILL.md"); n != 1 {
			t.Fatalf("%d requests", n)
		}
		l.Revoke(must(dvs.ParseTrustRoot("https://a.example/", dvs.Rules{})))
		load(t, w, l, 0)
		if n := w.requests("/s/a/SKILL.md"); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("DVS-4.6-03/reject-script-of-a-changed-skill", func(t *testing.T) {
		for name, c := range map[string]struct {
			change string
			asked  int
		}{"accept-unchanged": {refund, 1}, "reject-changed": {strings.Replace(refund, "order", "card", 1) + "More.\n", 2}} {
			w := newAdmissionWorld(t)
			w.shop.File("/s/a/scripts/x.sh", "text/plain", "#!/bin/sh\n")
			w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				d, err := agree(req)
				d.Until = w.net.Clock().Now().Add(20 * time.Hour)
				return d, err
			}
			l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/"), Runner: &runner{}})
			for range 2 {
				skill, err := l.Load(t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := skill.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"}); err != nil {
					t.Fatal(err)
				}
				w.shop.File("/s/a/SKILL.md", "text/markdown", c.change)
				w.net.Clock().Advance(2 * time.Hour)
			}
			if w.user.count() != c.asked {
				t.Errorf("%s: asked %d times, want %d", name, w.user.count(), c.asked)
			}
		}
	})
	t.Run("DVS-3.1-47/reject-other-bytes-than-agreed-to", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/", "https://github.com/o/")})
		parent, err := l.Load(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		refer := func(asked int) {
			t.Helper()
			if _, err := parent.LoadRef(t.Context(), "https://raw.githubusercontent.com/o/r/main/a/SKILL.md"); err != nil || w.user.count() != asked {
				t.Fatalf("asked %d times, want %d: %v", w.user.count(), asked, err)
			}
		}
		refer(1)
		refer(1)
		w.raw.File("/o/r/main/a/SKILL.md", "text/plain", refund+"Now something else.\n")
		w.net.Clock().Advance(2 * time.Hour)
		refer(2)
	})
}

// TestLoadRefRefuses has references that lead to no skill. The user is not asked about them.
func TestLoadRefRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		ref  string
		want lookleap.Code
	}{
		"http":         {"http://other.example/s/SKILL.md", lookleap.CodeNotHTTPS},
		"dot-segments": {"https://other.example/a/%2e%2e/SKILL.md", "dot-segment"},
		"blocked":      {"https://blocked.example/s/SKILL.md", dvs.CodeBlockedRoot},
		"query":        {"https://other.example/SKILL.md?q=1", "query-in-skill-url"},
		"missing":      {"../missing/SKILL.md", dvs.CodeSkillNotFound},
	} {
		t.Run("DVS-6-01/reject-"+name, func(t *testing.T) {
			w := newAdmissionWorld(t)
			w.shop.Status("/s/missing/SKILL.md", http.StatusNotFound)
			l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
			if _, err := l.Roots().Block("https://blocked.example/"); err != nil {
				t.Fatal(err)
			}
			parent, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
			if err != nil {
				t.Fatal(err)
			}
			child, err := parent.LoadRef(t.Context(), c.ref)
			var verdict *lookleap.VerifyError
			if lookleap.CodeOf(err) != c.want || child != nil || w.user.count() != 0 || !errors.As(err, &verdict) {
				t.Errorf("asked %d times, got %v", w.user.count(), err)
			}
		})
	}
	t.Run("DVS-6-05/accept-reported", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/", "https://github.com/o/")})
		parent, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parent.LoadRef(t.Context(), "../b/SKILL.md"); err != nil || w.count(lookleap.EventFinding, dvs.CodeCrossing) != 0 {
			t.Error("the same root is reported", err)
		}
		if _, err := parent.LoadRef(t.Context(), hubSkill); err != nil || w.count(lookleap.EventFinding, dvs.CodeCrossing) != 1 {
			t.Error("another root is not reported", err)
		}
	})
	t.Run("DVS-6-05/accept-chain-in-the-prompt", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		at, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err == nil {
			at, err = at.LoadRef(t.Context(), "../b/SKILL.md")
		}
		if err == nil {
			_, err = at.LoadRef(t.Context(), hubSkill)
		}
		if err != nil || w.user.count() != 1 {
			t.Fatal(err, w.user.count())
		}
		if got := w.user.asked[0].Summary; !strings.Contains(got, `, reached through "https://shop.example/s/a/SKILL.md", then "https://shop.example/s/b/SKILL.md"; that trust root is`) {
			t.Error(got)
		}
	})
}

// TestAdmissionKept reads what a store keeps after an admission.
func TestAdmissionKept(t *testing.T) {
	for name, c := range map[string]struct {
		url       string
		approve   []string // items
		skillOnly bool
		roots     int
	}{
		"accept-default-root":    {url: trustedAt, approve: []string{"skill"}},
		"accept-root-and-skill":  {url: hubSkill, approve: []string{"skill", "root"}, roots: 1},
		"accept-the-skill-alone": {url: hubSkill, approve: []string{"skill"}, skillOnly: true},
	} {
		t.Run("DVS-5.2-05/"+name, func(t *testing.T) {
			w := newTrustWorld(t)
			github(w.net, "/o/r/main/a/SKILL.md", refund)
			w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{Digest: req.Digest, Approved: c.approve}, nil
			}
			l := w.process(dvs.Options{})
			if _, err := l.Load(t.Context(), c.url); err != nil {
				t.Fatal(err)
			}
			r, err := l.Trusted(t.Context(), c.url)
			if err != nil || len(r.Versions) != 1 || r.Versions[0].SkillOnly != c.skillOnly {
				t.Errorf("got %+v, %v", r, err)
			}
			if keys, err := w.store.Keys(t.Context(), "root/"); err != nil || len(keys) != c.roots {
				t.Errorf("roots %v, %v", keys, err)
			}
		})
	}
	t.Run("DVS-7-03/reject-root-revoked-by-another-process-during-the-dialogue", func(t *testing.T) {
		w := newTrustWorld(t)
		github(w.net, "/o/r/main/a/SKILL.md", refund)
		other := w.process(dvs.Options{})
		w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			other.Revoke(must(dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{})))
			return agree(req)
		}
		_, _ = w.process(dvs.Options{}).Load(t.Context(), hubSkill)
		if _, err := w.process(dvs.Options{}).Load(t.Context(), hubSkill); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Errorf("the revocation was overwritten: %v", err)
		}
	})
	t.Run("DVS-6-02/reject-change-that-the-user-has-not-seen", func(t *testing.T) {
		w := newTrustWorld(t)
		w.net.Site("parent.example").File("*", "text/markdown", refund)
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
		w.publish("Ask for the card number.\n")
		parent, err := w.process(dvs.Options{Roots: registry(t, "https://parent.example/")}).Load(t.Context(), "https://parent.example/s/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		before := w.user.count()
		if _, err := parent.LoadRef(t.Context(), trustedAt); err != nil || w.user.count()-before != 2 || !strings.Contains(w.prompt(), "+5: Ask for the card number.") {
			t.Errorf("asked %d times, %v: %s", w.user.count()-before, err, w.prompt())
		}
	})
	t.Run("DVS-5.2-05/accept-listing-of-a-platform-asks-for-its-root", func(t *testing.T) {
		w := newAdmissionWorld(t)
		l := dvs.NewLoader(w.host, dvs.Options{})
		r, err := l.RegisterListing(t.Context(), dvs.Listing{Name: "refund", Description: "d", Skill: skillURL(t, hubSkill)})
		if err != nil || r.Source != dvs.ByUser || w.user.count() != 1 || w.user.asked[0].Kind != lookleap.ConsentTrustRoot {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// TestAdmissionReported loads skills with an observer.
func TestAdmissionReported(t *testing.T) {
	t.Run("DVS-3.1-54/accept-loaded", func(t *testing.T) {
		w := newAdmissionWorld(t)
		skill, err := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil || w.count(lookleap.EventVerdict, lookleap.CodeOK) != 1 || !slices.ContainsFunc(w.events.Take(), func(e lookleap.Event) bool { return e.Verdict == skill.Verdict }) {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-54/reject-missing", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.raw.Status("/o/r/main/a/SKILL.md", 404)
		for _, load := range []func(*dvs.Loader) error{
			func(l *dvs.Loader) error { _, err := l.Load(t.Context(), hubSkill); return err },
			func(l *dvs.Loader) error { _, err := l.Register(t.Context(), hubSkill); return err },
		} {
			w.events.Take()
			if err := load(dvs.NewLoader(w.host, dvs.Options{})); lookleap.CodeOf(err) != dvs.CodeSkillNotFound || w.count(lookleap.EventVerdict, dvs.CodeSkillNotFound) != 1 || w.user.count() != 0 {
				t.Error(err, w.user.count())
			}
		}
	})
	t.Run("DVS-5.2-08/accept-pending-is-no-refusal", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.net.Site("other.example").File("*", "text/plain", "x")
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		skill, err := l.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		w.user.decide = func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		}
		for name, use := range map[string]func() error{
			"load":     func() error { _, err := l.Load(t.Context(), hubSkill); return err },
			"resource": func() error { _, err := skill.Resource(t.Context(), "https://other.example/x.md"); return err },
			"action":   func() error { return skill.Confirm(t.Context(), dvs.Action{Kind: dvs.Shell, Command: "ls"}) },
		} {
			w.events.Take()
			err := use()
			_, pending := err.(*lookleap.PendingError)
			refusals := slices.DeleteFunc(w.events.Take(), func(e lookleap.Event) bool { return e.Kind != lookleap.EventVerdict || e.Code == lookleap.CodeOK })
			if !pending || len(refusals) > 0 {
				t.Errorf("%s: %v, reported %v", name, err, refusals)
			}
		}
	})
	t.Run("DVS-4.3-01/reject-with-the-place", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: [\n---\nx\n")
		_, err := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		var no *lookleap.VerifyError
		if !errors.As(err, &no) || !strings.HasPrefix(no.Verdict.Summary, "3:14: ") {
			t.Error(err)
		}
	})
	t.Run("reject-context-that-ends-while-the-skill-is-fetched", func(t *testing.T) {
		w := newAdmissionWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.shop.HandleFunc("/s/a/SKILL.md", func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
		l := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")})
		parent, err := l.Load(t.Context(), "https://shop.example/s/b/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if child, err := parent.LoadRef(ctx, "../a/SKILL.md"); !errors.Is(err, context.Canceled) || child != nil {
			t.Errorf("got %v", err)
		}
		if skill, err := l.Load(ctx, "https://shop.example/s/a/SKILL.md"); !errors.Is(err, context.Canceled) || skill != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-3.1-30/accept-bundle-of-a-narrowed-skill", func(t *testing.T) {
		w := newAdmissionWorld(t)
		w.shop.File("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/a/\nname:", 1)).File("/s/a/ADVANCED.md", "text/markdown", "x")
		skill, err := dvs.NewLoader(w.host, dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil || skill.Root.String() != "https://shop.example/s/a/" {
			t.Fatal(skill, err)
		}
		b, err := skill.Bundle(t.Context())
		if err != nil || b.Root != "https://shop.example/s/a/" {
			t.Fatal(b.Root, err)
		}
		if err := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{}).Reports()[0].Err; err != nil {
			t.Error(err)
		}
		b.Root = "https://shop.example/" // that of the registry
		if err := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{}).Reports()[0].Err; lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Errorf("the wider root: %v", err)
		}
	})
}
