package dvs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestAskedBeforeFetched agrees to skills of another root before they are fetched, and looks at what
// comes then.
func TestAskedBeforeFetched(t *testing.T) {
	const child = "https://other.example/s/SKILL.md"
	world := func(t *testing.T) (w *trustWorld, ref func() (*dvs.Loaded, error)) {
		w = newTrustWorld(t)
		w.net.Site("other.example").File("/s/SKILL.md", "text/markdown", string(skillText("One.\n")))
		options := dvs.Options{Roots: registry(t, "https://shop.example/")}
		return w, func() (*dvs.Loaded, error) {
			parent, err := w.process(options).Load(t.Context(), trustedAt)
			if err != nil {
				t.Fatal(err)
			}
			return parent.LoadRef(t.Context(), child)
		}
	}
	t.Run("DVS-6-02/accept-then-fetched", func(t *testing.T) {
		w, ref := world(t)
		if skill, err := ref(); err != nil || w.user.count() != 1 || skill.Root.String() != "https://other.example/" {
			t.Errorf("%v, asked %d times", err, w.user.count())
		}
		if _, err := ref(); err != nil || w.user.count() != 2 { // the store keeps the version, and the reference is asked about
			t.Errorf("%v, asked %d times", err, w.user.count())
		}
	})
	t.Run("DVS-6-02/reject-what-is-not-there", func(t *testing.T) {
		w, ref := world(t)
		w.net.Site("other.example").Status("/s/SKILL.md", 404)
		if skill, err := ref(); skill != nil || lookleap.CodeOf(err) != dvs.CodeSkillNotFound || w.user.count() != 1 {
			t.Errorf("%v, asked %d times", err, w.user.count())
		}
	})
	t.Run("DVS-5.2-08/reject-version-that-was-refused", func(t *testing.T) {
		w, ref := world(t)
		w.user.decide = decline
		if _, err := w.process(dvs.Options{}).Load(t.Context(), child); lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			t.Fatal(err)
		}
		w.net.Clock().Advance(2 * time.Hour)
		w.user.decide = agree
		if skill, err := ref(); skill != nil || lookleap.CodeOf(err) != dvs.CodeRefusedBefore || w.user.count() != 2 {
			t.Errorf("%v, asked %d times", err, w.user.count())
		}
	})
	for name, answer := range map[string]bool{"accept-change-that-is-shown": true, "reject-change-that-is-shown": false} {
		t.Run("DVS-5.2-08/"+name, func(t *testing.T) {
			w, ref := world(t)
			if _, err := w.process(dvs.Options{}).Load(t.Context(), child); err != nil {
				t.Fatal(err)
			}
			w.net.Site("other.example").File("/s/SKILL.md", "text/markdown", string(skillText("Two.\n")))
			questions := 0
			w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				questions++
				if shown := strings.Contains(req.String(), "+5: Two."); shown != (questions == 2) {
					t.Errorf("question %d:\n%s", questions, req)
				} else if shown && !answer {
					return decline(req)
				}
				return agree(req)
			}
			if skill, err := ref(); (err == nil) != answer || (skill != nil) != answer || questions != 2 {
				t.Errorf("%v, asked %d times", err, questions)
			}
		})
	}
	t.Run("O65/reject-resumed-where-the-URL-is-refused", func(t *testing.T) {
		w := newTrustWorld(t)
		w.user.decide = suspend
		roots := dvs.NewRoots(dvs.Rules{InsecureAllowLocalhost: true})
		if _, err := roots.Register("https://shop.example/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		parent, err := w.process(dvs.Options{Roots: roots}).Load(t.Context(), trustedAt)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parent.LoadRef(t.Context(), "https://localhost/s/SKILL.md")
		p := pendingOf(t, err)
		decision, _ := agree(p.Request)
		if got, err := w.process(dvs.Options{}).Resume(t.Context(), p.State, decision); got != nil || err == nil {
			t.Error(got, err)
		}
	})
}

// TestConsentIsForTheListedDigest asks again for a listing with another digest: the user agreed to the
// one that was shown.
func TestConsentIsForTheListedDigest(t *testing.T) {
	w := newTrustWorld(t)
	l := w.process(dvs.Options{})
	listed := dvs.Listing{Name: "refund", Description: "d", Skill: skillURL(t, trustedAt), Source: "https://list.example/.well-known/agent-skills/index.json"}
	for i, step := range []struct {
		digest dvs.Digest
		code   lookleap.Code
		asked  int
	}{
		{dvs.DigestOf([]byte("old")), dvs.CodeDigestMismatch, 1},
		{dvs.DigestOf([]byte("old")), dvs.CodeDigestMismatch, 1},
		{dvs.DigestOf(skillText("Ask for the order number.\n")), lookleap.CodeOK, 2},
		{dvs.DigestOf(skillText("Ask for the order number.\n")), lookleap.CodeOK, 2},
	} {
		listed.Digest = step.digest
		if _, err := l.LoadListing(t.Context(), listed); lookleap.CodeOf(err) != step.code || w.user.count() != step.asked {
			t.Errorf("step %d: %v, asked %d times", i, err, w.user.count())
		}
	}
}

// TestRootRefusedWhileAsked adds a platform while the user decides, by which the root that the user
// agrees to is not acceptable any more.
func TestRootRefusedWhileAsked(t *testing.T) {
	w := newAdmissionWorld(t)
	l := dvs.NewLoader(w.host, dvs.Options{})
	w.whenAsked(func() {
		if _, err := l.Roots().AddPlatform(dvs.Platform{Name: "not here", Hosts: []string{"github.com"}, Never: true}); err != nil {
			t.Error(err)
		}
	})
	if skill, err := l.Load(t.Context(), hubSkill); skill != nil || lookleap.CodeOf(err) != "never-trusted-host" {
		t.Errorf("%v, %v", skill, err)
	}
}

// TestHopsDeniedLater reads two redirects from a copy that another process shared. The registry of this
// loader refuses the first one, and the second one does not undo that.
func TestHopsDeniedLater(t *testing.T) {
	for name, c := range map[string]struct {
		deny func(*dvs.Roots)
		code lookleap.Code
	}{
		"accept-both":          {func(*dvs.Roots) {}, lookleap.CodeOK},
		"reject-first-blocked": {func(r *dvs.Roots) { _, _ = r.Block("https://shop.example/bad/") }, dvs.CodeBlockedRoot},
		"reject-last-blocked":  {func(r *dvs.Roots) { _, _ = r.Block("https://shop.example/t/") }, dvs.CodeBlockedRoot},
		"reject-first-revoked": {func(r *dvs.Roots) { r.Revoke(must(dvs.ParseTrustRoot("https://shop.example/bad/", dvs.Rules{}))) }, dvs.CodeRevoked},
		"reject-last-revoked":  {func(r *dvs.Roots) { r.Revoke(must(dvs.ParseTrustRoot("https://shop.example/t/", dvs.Rules{}))) }, dvs.CodeRevoked},
	} {
		t.Run("DVS-7-03/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("shop.example").Redirect("/s/a/SKILL.md", "/bad/SKILL.md").Redirect("/bad/SKILL.md", "/t/SKILL.md").File("/t/SKILL.md", "text/markdown", refund)
			host := net.StubHost()
			host.Cache = lookleap.NewMemoryCache(10)
			for _, step := range []struct {
				deny func(*dvs.Roots)
				code lookleap.Code
			}{{func(*dvs.Roots) {}, lookleap.CodeOK}, {c.deny, c.code}} {
				roots := registry(t, "https://shop.example/")
				step.deny(roots)
				if _, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), trustedAt); lookleap.CodeOf(err) != step.code {
					t.Error(err)
				}
			}
		})
	}
}

// TestRevokedWhileAsked revokes the root that the user is asked about: it is not registered.
func TestRevokedWhileAsked(t *testing.T) {
	w := newAdmissionWorld(t)
	l := dvs.NewLoader(w.host, dvs.Options{})
	w.whenAsked(func() { l.Roots().Revoke(must(dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{}))) })
	if skill, err := l.Load(t.Context(), hubSkill); skill != nil || lookleap.CodeOf(err) != dvs.CodeRevoked {
		t.Errorf("%v, %v", skill, err)
	}
	for d := range l.Roots().All() {
		t.Error("registered:", d.Root)
	}
}

// TestConsentIsForTheRoot: what the user agreed to with a root is no consent without it.
func TestConsentIsForTheRoot(t *testing.T) {
	w := newAdmissionWorld(t)
	l := dvs.NewLoader(w.host, dvs.Options{})
	for asked, step := range []func() error{
		func() error { return nil },
		func() error {
			return l.ForgetRoot(t.Context(), must(dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{})))
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if skill, err := l.Load(t.Context(), hubSkill); err != nil || skill.Source != dvs.ByUser || w.user.count() != asked+1 {
			t.Errorf("%+v, %v, asked %d times", skill, err, w.user.count())
		}
	}
}

// TestRootThatTheUserMayNotDeclare: where a policy lets only the program declare roots, the user is not
// asked for one, and a root that the user agreed to elsewhere is not registered.
func TestRootThatTheUserMayNotDeclare(t *testing.T) {
	options := func() dvs.Options { return dvs.Options{Policies: []*dvs.Policy{{Register: dvs.RegisterProgram}}} }
	w := newAdmissionWorld(t)
	skill, err := dvs.NewLoader(w.host, options()).Load(t.Context(), hubSkill)
	if err != nil || skill.Source != dvs.SkillOnly || w.user.asked[0].Kind != lookleap.ConsentSkill || len(w.user.asked[0].Items) != 1 {
		t.Errorf("%v, %v\n%s", skill, err, w.user.asked[0])
	}
	w = newAdmissionWorld(t)
	w.user.decide = suspend
	_, err = dvs.NewLoader(w.host, dvs.Options{}).Load(t.Context(), hubSkill)
	p := pendingOf(t, err)
	decision, _ := agree(p.Request)
	l := dvs.NewLoader(w.host, options())
	got, err := l.Resume(t.Context(), p.State, decision)
	if err != nil || got.Loaded.Source != dvs.SkillOnly {
		t.Errorf("%+v, %v", got, err)
	}
	for d := range l.Roots().All() {
		t.Error("registered:", d.Root)
	}
}

// TestHopDeniedLater reads a redirect from a copy that another process shared. The verdict has the
// checks of the skill, and says what the policy of this loader denies.
func TestHopDeniedLater(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").Redirect("/s/a/SKILL.md", "/bad/SKILL.md").File("/bad/SKILL.md", "text/markdown", refund)
	cache := lookleap.NewMemoryCache(10)
	load := func(options dvs.Options) error {
		host := net.StubHost()
		host.Cache = cache
		options.Roots = registry(t, "https://shop.example/")
		_, err := dvs.NewLoader(host, options).Load(t.Context(), trustedAt)
		return err
	}
	if err := load(dvs.Options{}); err != nil {
		t.Fatal(err)
	}
	net.Journal().Clear()
	err := load(dvs.Options{Policies: []*dvs.Policy{{Deny: []string{"https://shop.example/bad/"}}}})
	var no *lookleap.VerifyError
	if !errors.As(err, &no) || no.Verdict.Code != dvs.CodePolicyDenied || no.Verdict.Subject != trustedAt || !hasCheck(no.Verdict, dvs.CodeDNSSECInsecure) && len(no.Verdict.Checks) < 6 || len(net.Journal().Requests()) != 0 {
		t.Errorf("%v, %+v", err, no)
	}
}

// TestDirectoryThatWasAnotherOne: the user agrees to one skill without its root, and meanwhile the
// program says that the platform ignores the case of a publisher's name.
func TestDirectoryThatWasAnotherOne(t *testing.T) {
	for _, fold := range []int{0, 1} { // whether another entry ignores the case of the publisher's name
		net := lookleaptest.ForTest(t)
		net.Site("code.example").File("/Org/s/SKILL.md", "text/markdown", refund)
		host, roots := net.StubHost(), dvs.NewRoots(dvs.Rules{})
		add := func(fold int) {
			if _, err := roots.AddPlatform(dvs.Platform{Name: "code", Hosts: []string{"code.example"}, Owner: 1, Fold: fold}); err != nil {
				t.Error(err)
			}
		}
		add(0)
		host.Prompter = &prompter{decide: func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			add(fold)
			return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
		}}
		skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), "https://code.example/Org/s/")
		if want := []lookleap.Code{lookleap.CodeOK, dvs.CodeConsentStale}[fold]; lookleap.CodeOf(err) != want || (skill == nil) != (fold == 1) {
			t.Errorf("%d: %v", fold, err)
		}
	}
}

// TestLockedLevels registers and activates a locked skill, and reads a locked archive.
func TestLockedLevels(t *testing.T) {
	w := newTrustWorld(t)
	w.archived("{}")
	skill, err := w.process(dvs.Options{}).Load(t.Context(), refundArchive)
	if err != nil {
		t.Fatal(err)
	}
	lock := dvs.NewVerifiedFS([]dvs.Bundle{must(skill.Bundle(t.Context()))}, dvs.VerifiedFSOptions{}).Lock()
	lock.Skills = append(lock.Skills, lockOf(trustedAt, "https://shop.example/", dvs.LockedFile{Path: "SKILL.md", Digest: dvs.DigestOf(skillText("Ask for the order number.\n"))}).Skills...)
	l := w.process(dvs.Options{Lock: lock})
	if skill, err = l.Load(t.Context(), refundArchive); err != nil {
		t.Fatal(err)
	}
	if _, err := skill.ContextText(); err != nil {
		t.Error(err)
	}
	digest := dvs.DigestOf(skillText("Ask for the order number.\n"))
	pinned := &dvs.Policy{Register: dvs.RegisterPolicy, Pins: []dvs.PolicyPin{{Skill: trustedAt, Pin: dvs.Pin{Digest: digest}, Root: "https://shop.example/s/"}}}
	for name, l := range map[string]*dvs.Loader{"lockfile": l, "policy": w.process(dvs.Options{Policies: []*dvs.Policy{pinned}})} {
		for _, register := range []func() (*dvs.Registration, error){
			func() (*dvs.Registration, error) { return l.Register(t.Context(), trustedAt) },
			func() (*dvs.Registration, error) {
				return l.RegisterListing(t.Context(), dvs.Listing{Name: "refund", Description: "d", Skill: skillURL(t, trustedAt)})
			},
		} {
			r, err := register()
			if err != nil {
				t.Fatal(name, err)
			}
			if skill, err := r.Activate(t.Context()); err != nil || skill.Root.String() != r.Root.String() {
				t.Errorf("%s: %v, %v", name, skill, err)
			}
		}
	}
}

// TestNarrowedWhileAsked: the user takes longer than the copy is fresh, so the skill is judged again,
// by the root of the claim and not by the narrower one of the file.
func TestNarrowedWhileAsked(t *testing.T) {
	w := newTrustWorld(t)
	w.site.Redirect("/s/a/SKILL.md", "/t/SKILL.md").File("/t/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/a/\nname:", 1))
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		w.net.Clock().Advance(20 * time.Minute)
		return agree(req)
	}
	if skill := w.load(dvs.Options{}, lookleap.CodeOK, 1); skill.Root.String() != "https://shop.example/s/a/" {
		t.Error(skill.Root)
	}
}

// TestNotKeptWithoutConsent keeps nothing of a pinned skill under a registered root, and says nothing
// about a store that has no reason to change.
func TestNotKeptWithoutConsent(t *testing.T) {
	w := newTrustWorld(t)
	options := func() dvs.Options { return dvs.Options{Roots: registry(t, "https://shop.example/")} }
	l := w.process(options())
	if _, err := l.LoadPinned(t.Context(), trustedAt, dvs.Pin{Digest: dvs.DigestOf(skillText("Ask for the order number.\n"))}); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Trusted(t.Context(), trustedAt); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	for range 2 {
		if skill := w.load(options(), lookleap.CodeOK, 0); hasFinding(skill.Verdict, dvs.CodeTrustNotKept) {
			t.Error(skill.Verdict.Findings)
		}
	}
	if w.events.Has(dvs.CodeTrustNotKept) {
		t.Error("a decision was not kept")
	}
}

// TestPlatformAddedWhileAsked adds a platform while the user decides. The root stays, and the URL of
// the skill is none of the platform's content.
func TestPlatformAddedWhileAsked(t *testing.T) {
	w := newTrustWorld(t)
	w.load(dvs.Options{Roots: registry(t, "https://shop.example/s/")}, lookleap.CodeOK, 0)
	w.publish("Another version.\n")
	roots := registry(t, "https://shop.example/s/")
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		dropped, err := roots.AddPlatform(dvs.Platform{Name: "forge", Hosts: []string{"shop.example"}, Owner: 1, Source: &dvs.Source{Page: "blob", Raw: []string{"raw"}}})
		if err != nil || len(dropped) != 0 {
			t.Error(dropped, err)
		}
		return agree(req)
	}
	w.load(dvs.Options{Roots: roots}, dvs.CodeNotContentRoute, 1)
}

// TestRegisteredAgain: at level 1 only a change of the header is one.
func TestRegisteredAgain(t *testing.T) {
	w := newTrustWorld(t)
	l := w.process(dvs.Options{Roots: registry(t, "https://shop.example/")})
	for i, step := range []struct {
		file    string
		changed bool
	}{
		{string(skillText("One.\n")), false}, {string(skillText("Two.\n")), false}, {strings.Replace(string(skillText("Two.\n")), "Refunds", "Now refunds", 1), true},
	} {
		w.site.File("/s/a/SKILL.md", "text/markdown", step.file)
		r, err := l.Register(t.Context(), trustedAt)
		if err != nil || hasFinding(r.Verdict, dvs.CodeChanged) != step.changed {
			t.Errorf("step %d: %+v, %v", i, r, err)
		}
	}
}

// TestRootDeclaredWhileAsked: the user agrees to the skill alone, and meanwhile the program declares the
// root, which counts.
func TestRootDeclaredWhileAsked(t *testing.T) {
	w := newAdmissionWorld(t)
	l := dvs.NewLoader(w.host, dvs.Options{})
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		if _, err := l.Roots().Register("https://github.com/o/", dvs.ByHost); err != nil {
			t.Error(err)
		}
		return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
	}
	if skill, err := l.Load(t.Context(), hubSkill); err != nil || skill.Source != dvs.ByHost || skill.Root.String() != "https://github.com/o/" {
		t.Errorf("%v, %v", skill, err)
	}
}

// TestRootIsNotOptional: a gist has no directory of its own that could be the root of the skill alone.
func TestRootIsNotOptional(t *testing.T) {
	w := newAdmissionWorld(t)
	w.net.Site("gist.githubusercontent.com").File("*", "text/plain", refund)
	if _, err := dvs.NewLoader(w.host, dvs.Options{}).Load(t.Context(), "https://gist.github.com/o/0123456789abcdef/raw/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	if items := w.user.asked[0].Items; len(items) != 2 || items[1].Optional {
		t.Errorf("%+v", items)
	}
}
