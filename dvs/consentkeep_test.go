package dvs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func suspend(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

// pendingOf returns the question of a suspended operation.
func pendingOf(t *testing.T, err error) *lookleap.PendingError {
	t.Helper()
	var p *lookleap.PendingError
	if !errors.As(err, &p) {
		t.Fatal(err)
	}
	return p
}

// TestResumeRefuses resumes plans where the trust is not what it was.
func TestResumeRefuses(t *testing.T) {
	world := func(t *testing.T) (*lookleaptest.Internet, *lookleap.Host) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
		host := net.StubHost()
		host.Prompter = &prompter{decide: suspend}
		return net, host
	}
	platform := dvs.Platform{Hosts: []string{"shop.example"}, Owner: 1}
	for name, c := range map[string]struct {
		options func(*testing.T) dvs.Options
		code    lookleap.Code
	}{
		"where-the-root-is-a-platform": {func(t *testing.T) dvs.Options {
			roots := dvs.NewRoots(dvs.Rules{})
			if _, err := roots.AddPlatform(platform); err != nil {
				t.Fatal(err)
			}
			return dvs.Options{Roots: roots}
		}, dvs.CodeConsentStale},
		"where-another-version-is-pinned": {func(*testing.T) dvs.Options {
			return dvs.Options{Policies: []*dvs.Policy{{Pins: []dvs.PolicyPin{{Skill: scriptSkill, Pin: dvs.Pin{Digest: dvs.DigestOf(nil)}}}}}}
		}, dvs.CodeDigestMismatch},
		"where-it-is-denied": {func(*testing.T) dvs.Options {
			return dvs.Options{Policies: []*dvs.Policy{{Deny: []string{"shop.example"}}}}
		}, dvs.CodePolicyDenied},
		"where-the-lockfile-has-it-not": {func(*testing.T) dvs.Options {
			return dvs.Options{Lock: new(dvs.Lockfile)}
		}, dvs.CodeNotLocked},
	} {
		t.Run("O65/reject-"+name, func(t *testing.T) {
			net, host := world(t)
			_, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), scriptSkill)
			p := pendingOf(t, err)
			decision, _ := agree(p.Request)
			got, err := dvs.NewLoader(net.StubHost(), c.options(t)).Resume(t.Context(), p.State, decision)
			if got != nil || lookleap.CodeOf(err) != c.code {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	t.Run("O65/reject-external-that-these-rules-refuse", func(t *testing.T) {
		net, host := world(t)
		rules := dvs.Rules{InsecureAllowLocalhost: true}
		roots := dvs.NewRoots(rules)
		if _, err := roots.Register("https://shop.example/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), scriptSkill)
		if err != nil {
			t.Fatal(err)
		}
		_, err = skill.Resource(t.Context(), "https://localhost/GUIDE.md")
		p := pendingOf(t, err)
		decision, _ := agree(p.Request)
		net.Journal().Clear()
		got, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")}).Resume(t.Context(), p.State, decision)
		if got != nil || lookleap.CodeOf(err) != lookleap.CodeSpecialHost || len(net.Journal().Requests()) != 0 {
			t.Errorf("%+v, %v, %v", got, err, net.Journal().Requests())
		}
	})
	t.Run("O65/reject-shell-where-scripts-are-forbidden", func(t *testing.T) {
		for kind, code := range map[dvs.ActionKind]lookleap.Code{dvs.Shell: dvs.CodePolicyDenied, dvs.FileOp: lookleap.CodeOK} {
			net, host := world(t)
			roots := registry(t, "https://shop.example/")
			skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), scriptSkill)
			if err != nil {
				t.Fatal(err)
			}
			p := pendingOf(t, skill.Confirm(t.Context(), dvs.Action{Kind: kind, Command: "x"}))
			decision, _ := agree(p.Request)
			got, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots, Policies: []*dvs.Policy{{NoScripts: true}}}).Resume(t.Context(), p.State, decision)
			if lookleap.CodeOf(err) != code || (got != nil && got.Confirmed) != (code == lookleap.CodeOK) {
				t.Errorf("%s: %+v, %v", kind, got, err)
			}
		}
	})
	t.Run("O65/reject-action-where-the-root-is-not-registered", func(t *testing.T) {
		net, host := world(t)
		skill, err := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), scriptSkill)
		if err != nil {
			t.Fatal(err)
		}
		p := pendingOf(t, skill.Confirm(t.Context(), dvs.Action{Kind: dvs.FileOp, Command: "x"}))
		decision, _ := agree(p.Request)
		if got, err := dvs.NewLoader(net.StubHost(), dvs.Options{}).Resume(t.Context(), p.State, decision); got != nil || lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("DVS-5.2-09/reject-no-plan", func(t *testing.T) {
		_, host := world(t)
		_, want := lookleap.ParsePlan([]byte("{}"))
		if got, err := dvs.NewLoader(host, dvs.Options{}).Resume(t.Context(), []byte("{}"), lookleap.ConsentDecision{}); got != nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestResumedRefusal keeps a refusal of changed files, and nothing of an answer to another plan.
func TestResumedRefusal(t *testing.T) {
	t.Run("DVS-5.2-08/accept-refused-files-are-kept", func(t *testing.T) {
		w := newFilesWorld(t)
		w.bundled()
		w.site.File("/s/a/ADVANCED.md", "text/markdown", "evil\n")
		w.user.decide = suspend
		_, err := w.load(dvs.Options{}, lookleap.CodeOK, 0).Bundle(t.Context())
		p := pendingOf(t, err)
		l := w.process(dvs.Options{})
		if got, err := l.Resume(t.Context(), p.State, lookleap.ConsentDecision{Digest: "x"}); got != nil || err == nil {
			t.Fatal(got, err)
		}
		if r, err := l.Trusted(t.Context(), trustedAt); err != nil || len(r.Refused) != 0 {
			t.Error("an answer to another plan counts as a refusal:", r, err)
		}
		if got, err := l.Resume(t.Context(), p.State, lookleap.ConsentDecision{Digest: p.Request.Digest}); got != nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			t.Fatal(got, err)
		}
		w.user.decide = agree
		before := w.user.count()
		if _, err := w.load(dvs.Options{}, lookleap.CodeOK, 0).Bundle(t.Context()); lookleap.CodeOf(err) != dvs.CodeRefusedBefore || w.user.count() != before {
			t.Error(err)
		}
	})
}

// TestConsentEnds ends the consent for a URL when the skill changes.
func TestConsentEnds(t *testing.T) {
	w := newTrustWorld(t)
	w.net.Site("evil.example").File("*", "text/plain", "x")
	w.user.decide = agreeForAnHour
	host := w.net.StubHost()
	host.Prompter = w.user
	loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://shop.example/")})
	for i, step := range []struct {
		body  string
		asked int
	}{{"One.\n", 1}, {"One.\n", 1}, {"Two.\n", 2}} {
		w.publish(step.body)
		skill, err := loader.Load(t.Context(), trustedAt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "https://evil.example/GUIDE.md"); err != nil || w.user.count() != step.asked {
			t.Fatalf("step %d: %v, asked %d times", i, err, w.user.count())
		}
		skill.Deactivate() // the next load asks the server
	}
}

// TestForgottenConsents changes one of two skills: the consent for its URL ends, that of the other skill
// stays, and so does the consent for bytes that the user has agreed to.
func TestForgottenConsents(t *testing.T) {
	net := lookleaptest.ForTest(t)
	site := net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", string(skillText("One.\n"))).File("/s/b/SKILL.md", "text/markdown", refund)
	net.Site("evil.example").File("*", "text/plain", "x")
	ui := &prompter{decide: agreeForAnHour}
	host := net.StubHost()
	host.Prompter, host.Asking = ui, lookleap.AskLimits{Refusal: -1, Prompts: -1}
	loader := dvs.NewLoader(host, dvs.Options{})
	use := func(path string, asked int) {
		t.Helper()
		skill, err := loader.Load(t.Context(), "https://shop.example"+path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "https://evil.example/GUIDE.md"); err != nil || ui.count() != asked {
			t.Errorf("%s: %v, asked %d times, want %d", path, err, ui.count(), asked)
		}
		skill.Deactivate() // the next load asks the server
	}
	use("/s/a/SKILL.md", 2)
	use("/s/b/SKILL.md", 4)
	site.File("/s/a/SKILL.md", "text/markdown", string(skillText("Two.\n")))
	use("/s/a/SKILL.md", 6)
	use("/s/b/SKILL.md", 4+2)
	site.File("/s/a/SKILL.md", "text/markdown", string(skillText("One.\n")))
	use("/s/a/SKILL.md", 7) // for the URL alone
}

// TestResumedScriptIsKept: a script that is approved later is kept like one that is approved at once.
func TestResumedScriptIsKept(t *testing.T) {
	w := newFilesWorld(t)
	skill := w.load(dvs.Options{Runner: &runner{}}, lookleap.CodeOK, 1)
	w.user.decide = suspend
	_, err := skill.Approve(t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
	p := pendingOf(t, err)
	decision, _ := agree(p.Request)
	l := w.process(dvs.Options{Runner: &runner{}})
	if got, err := l.Resume(t.Context(), p.State, decision); err != nil || got.Script == nil {
		t.Fatal(got, err)
	}
	r, err := l.Trusted(t.Context(), trustedAt)
	if err != nil || len(r.Scripts) != 1 || r.Scripts[0].Name != "scripts/x.sh" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRootIsOptional tells the user what happens without the publisher's root.
func TestRootIsOptional(t *testing.T) {
	for name, c := range map[string]struct {
		options dvs.Options
		shown   bool
	}{"accept-optional": {dvs.Options{}, true}, "accept-required": {dvs.Options{Strict: true}, false}} {
		t.Run("O56/"+name, func(t *testing.T) {
			w := rootWorld(t)
			w.net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/markdown", string(skillText("x\n")))
			if _, err := w.process(c.options).Load(t.Context(), platformSkill); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(w.prompt(), "Without this, only this skill and the files in its directory are used") != c.shown {
				t.Error(w.prompt())
			}
		})
	}
}
