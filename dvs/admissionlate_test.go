package dvs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
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
