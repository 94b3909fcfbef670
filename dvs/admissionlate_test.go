package dvs_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestAskedBeforeFetched agrees to skills of another root before they are fetched, and looks at what
// comes then.
func TestAskedBeforeFetched(t *testing.T) {
	const child = "https://other.example/s/SKILL.md"
	world := func(t *testing.T) (w *trustWorld, ref func() (*dvs.Loaded, error)) {
		w = newTrustWorld(t)
		w.net.Site("other.example").Body("/s/SKILL.md", "text/markdown", string(skillText("One.\n")))
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
			w.net.Site("other.example").Body("/s/SKILL.md", "text/markdown", string(skillText("Two.\n")))
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

// TestRegisterListingLenient fetches what an index describes only in part, also by the profile that
// needs no name and description.
func TestRegisterListingLenient(t *testing.T) {
	for _, l := range []dvs.Listing{{Name: "refund"}, {Description: "Refunds an order."}, {}} {
		w := newTrustWorld(t)
		l.Skill = skillURL(t, trustedAt)
		r, err := w.process(dvs.Options{Roots: registry(t, "https://shop.example/"), Profile: dvs.Lenient}).RegisterListing(t.Context(), l)
		if err != nil || r.ContextText() != "refund: Refunds an order." || !r.Verdict.OK {
			t.Errorf("%+v: %v, %v", l, r, err)
		}
	}
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

// TestNarrowedWhileAsked: the user takes longer than the copy is fresh, so the skill is judged again,
// by the root of the claim and not by the narrower one of the file.
func TestNarrowedWhileAsked(t *testing.T) {
	w := newTrustWorld(t)
	w.site.Redirect("/s/a/SKILL.md", "/t/SKILL.md").Body("/t/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/a/\nname:", 1))
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		w.net.Clock().Advance(20 * time.Minute)
		return agree(req)
	}
	if skill := w.load(dvs.Options{}, lookleap.CodeOK, 1); skill.Root.String() != "https://shop.example/s/a/" {
		t.Error(skill.Root)
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
	if skill, err := l.Load(t.Context(), hubSkill); skill != nil || lookleap.CodeOf(err) != dvs.CodeNeverTrusted {
		t.Errorf("%v, %v", skill, err)
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
		w.site.Body("/s/a/SKILL.md", "text/markdown", step.file)
		r, err := l.Register(t.Context(), trustedAt)
		if err != nil || hasFinding(r.Verdict, dvs.CodeChanged) != step.changed {
			t.Errorf("step %d: %+v, %v", i, r, err)
		}
	}
}

// TestRecordOfRefused: what is not a skill by its status or digest is not read as one.
func TestRecordOfRefused(t *testing.T) {
	w := newTrustWorld(t)
	w.archived("{}")
	w.site.Handle("/s/gone/SKILL.md", lab.Status(410))
	l := w.process(dvs.Options{Roots: registry(t, "https://shop.example/")})
	for url, code := range map[string]lookleap.Code{refundArchive: dvs.CodeDigestMismatch, "https://shop.example/s/gone/SKILL.md": dvs.CodeSkillNotFound} {
		_, err := l.LoadPinned(t.Context(), url, dvs.Pin{Digest: dvs.DigestOf(nil)})
		var no *lookleap.VerifyError
		if !errors.As(err, &no) || no.Verdict.Code != code || strings.Contains(string(no.Verdict.Record), `"content"`) {
			t.Errorf("%s: %v", url, err)
		}
	}
	w.site.Body("/s/refund.zip", "application/zip", string(zipOf(t, nil, entry, member{name: "a/../x"})))
	if _, err := w.process(dvs.Options{}).Load(t.Context(), refundArchive); lookleap.CodeOf(err) != dvs.CodeUnsafeName || !strings.Contains(err.Error(), `"a/../x"`) {
		t.Error(err)
	}
}

// TestHopDeniedLater reads a redirect from a copy that another process shared. The verdict has the
// checks of the skill, and says what the policy of this loader denies.
func TestHopDeniedLater(t *testing.T) {
	net := lab.ForTest(t)
	net.Site("shop.example").Redirect("/s/a/SKILL.md", "/bad/SKILL.md").Body("/bad/SKILL.md", "text/markdown", refund)
	cache := lookleap.NewMemoryCache(10)
	load := func(options dvs.Options) error {
		host := net.Host()
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
