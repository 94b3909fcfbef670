package dvs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// rootWorld is a trustWorld with a skill on a platform, whose publisher the user confirms.
func rootWorld(t *testing.T) *trustWorld {
	w := newTrustWorld(t)
	w.net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/plain", string(skillText("x\n"))).
		File("/example-org/skills/main/b/SKILL.md", "text/plain", string(skillText("y\n")))
	return w
}

func exampleOrg() dvs.TrustRoot {
	return must(dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{}))
}

// TestTrustForget takes back what the user decided.
func TestTrustForget(t *testing.T) {
	another := strings.Replace(platformSkill, "/a/", "/b/", 1)
	t.Run("accept-asked-again-in-the-same-session", func(t *testing.T) {
		w := newTrustWorld(t)
		l := w.process(dvs.Options{})
		for i, forget := range []bool{false, true, false} {
			if _, err := l.Load(t.Context(), trustedAt); err != nil || w.user.count() != 1+i/2 {
				t.Fatal(i, w.user.count(), err)
			}
			if !forget {
				continue
			}
			if err := l.Forget(t.Context(), trustedAt); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := l.Trusted(t.Context(), trustedAt); err != nil || len(r.Versions) != 1 {
			t.Error(r, err)
		}
	})
	t.Run("accept-root-ends-in-this-process-and-in-another", func(t *testing.T) {
		w := rootWorld(t)
		first, second := w.process(dvs.Options{}), w.process(dvs.Options{})
		for _, l := range []*dvs.Loader{first, second} {
			if _, err := l.Load(t.Context(), platformSkill); err != nil || w.user.count() != 1 {
				t.Fatal(w.user.count(), err)
			}
		}
		if err := first.ForgetRoot(t.Context(), exampleOrg()); err != nil {
			t.Fatal(err)
		}
		w.net.Clock().Advance(31 * time.Second)
		w.user.decide = decline
		for i, l := range []*dvs.Loader{first, second} {
			if _, err := l.Load(t.Context(), another); lookleap.CodeOf(err) == lookleap.CodeOK {
				t.Errorf("process %d loads under a root that was forgotten", i+1)
			}
			if d := l.Roots().Find(skillURL(t, another)); d.Source != dvs.Derived {
				t.Errorf("the root is still declared in process %d: %s", i+1, d.Source)
			}
		}
	})
}

// TestTrustedRoots reads roots that other processes stored.
func TestTrustedRoots(t *testing.T) {
	t.Run("accept-a-root-that-the-rules-refuse-is-not-used", func(t *testing.T) {
		w := newTrustWorld(t)
		if err := w.store.Put(t.Context(), "root/https://localhost/", nil, []byte(storedRoot("https://localhost/", "")), time.Time{}); err != nil {
			t.Fatal(err)
		}
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
	})
	t.Run("reject-a-root-of-a-newer-version", func(t *testing.T) {
		w := newTrustWorld(t)
		newer := `{"type":"` + strings.Replace(dvs.TrustMediaType, "version=1", "version=2", 1) + `","roots":["https://shop.example/"]}`
		if err := w.store.Put(t.Context(), "root/https://shop.example/", nil, []byte(newer), time.Time{}); err != nil {
			t.Fatal(err)
		}
		_, err := w.process(dvs.Options{}).Load(t.Context(), trustedAt)
		var refused *lookleap.Error
		if !errors.As(err, &refused) || refused.Code != dvs.CodeTrustStore || refused.Fix != "update this program" {
			t.Errorf("%#v", err)
		}
	})
	t.Run("accept-a-root-that-is-deleted-meanwhile", func(t *testing.T) {
		w := newTrustWorld(t)
		w.store = &deletingStore{w.store}
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
	})
	t.Run("reject-confirmed-while-another-process-revokes-it", func(t *testing.T) {
		w := rootWorld(t)
		w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			w.process(dvs.Options{}).Revoke(exampleOrg())
			return agree(req)
		}
		_, _ = w.process(dvs.Options{}).Load(t.Context(), platformSkill) // either way, the root stays revoked
		if !w.events.Has(dvs.CodeTrustNotKept) {
			t.Error("nothing says that the root was not stored")
		}
		if _, err := w.process(dvs.Options{}).Load(t.Context(), platformSkill); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
	})
}

// deletingStore lists a root that is not there any longer.
type deletingStore struct{ lookleap.Store }

func (d *deletingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := d.Store.Keys(ctx, prefix)
	return append(keys, prefix+"https://gone.example/"), err
}

// TestFilesOfACommit: a whole commit names the files, so they are neither compared nor kept.
func TestFilesOfACommit(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	const at = "https://github.com/o/r/blob/" + sha + "/a/SKILL.md"
	w := newTrustWorld(t)
	github(w.net, "/o/r/"+sha+"/a/SKILL.md", string(skillText("See [more](ADVANCED.md).\n"))).File("/o/r/"+sha+"/a/ADVANCED.md", "text/plain", "x")
	l := w.process(dvs.Options{})
	skill, err := l.LoadPinned(t.Context(), at, dvs.Pin{Commit: sha})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := skill.Bundle(t.Context()); err != nil || len(b.Files) != 2 {
		t.Fatal(b.Files, err)
	}
	if r, err := l.Trusted(t.Context(), at); err != nil || r == nil || len(r.Versions) != 1 || r.Versions[0].Files != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestForgottenRootAsks: the user agrees to a skill alone, later to its root, which is then
// forgotten. The first loader asks again, although it remembers the first consent.
func TestForgottenRootAsks(t *testing.T) {
	w := rootWorld(t)
	w.net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/markdown", string(skillText("x\n")))
	load := func(l *dvs.Loader, asked int) {
		t.Helper()
		if _, err := l.Load(t.Context(), platformSkill); err != nil || w.user.count() != asked {
			t.Fatalf("%v, asked %d times, want %d", err, w.user.count(), asked)
		}
	}
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
	}
	l, strict := w.process(dvs.Options{}), w.process(dvs.Options{Strict: true})
	load(l, 1)
	load(l, 1)
	w.user.decide = agree
	load(strict, 2)
	if err := strict.ForgetRoot(t.Context(), exampleOrg()); err != nil {
		t.Fatal(err)
	}
	load(l, 3)
}

// TestKeptOnlyIfAgreed: what is registered, or pinned under a registered root, is not an approval; what
// the user agreed to is, with a pin as well.
func TestKeptOnlyIfAgreed(t *testing.T) {
	pin := dvs.Pin{Digest: dvs.DigestOf(skillText("Ask for the order number.\n"))}
	for name, c := range map[string]struct {
		roots []string
		use   func(*dvs.Loader) error
		kept  int
	}{
		"reject-registered":      {[]string{"https://shop.example/"}, func(l *dvs.Loader) error { _, err := l.Register(t.Context(), trustedAt); return err }, 0},
		"reject-pinned":          {[]string{"https://shop.example/"}, func(l *dvs.Loader) error { _, err := l.LoadPinned(t.Context(), trustedAt, pin); return err }, 0},
		"accept-loaded":          {[]string{"https://shop.example/"}, func(l *dvs.Loader) error { _, err := l.Load(t.Context(), trustedAt); return err }, 1},
		"accept-agreed-to-a-pin": {nil, func(l *dvs.Loader) error { _, err := l.LoadPinned(t.Context(), trustedAt, pin); return err }, 1},
	} {
		t.Run("DVS-5.2-08/"+name, func(t *testing.T) {
			w := newTrustWorld(t)
			l := w.process(dvs.Options{Roots: registry(t, c.roots...)})
			if err := c.use(l); err != nil {
				t.Fatal(err)
			}
			r, err := l.Trusted(t.Context(), trustedAt)
			if err != nil || (r != nil) != (c.kept > 0) || r != nil && len(r.Versions) != c.kept {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestRevokedRootIsNotRegistered: a revocation in the store registers no root.
func TestRevokedRootIsNotRegistered(t *testing.T) {
	w := rootWorld(t)
	w.process(dvs.Options{}).Revoke(exampleOrg())
	l := w.process(dvs.Options{})
	if _, err := l.Load(t.Context(), platformSkill); lookleap.CodeOf(err) != dvs.CodeRevoked {
		t.Error(err)
	}
	for d := range l.Roots().All() {
		if d.Source.Registered() {
			t.Errorf("%+v", d)
		}
	}
}

// TestRootThatBecameTooShort: the user agrees to a root, and meanwhile the program says that the
// publishers of the platform have longer paths. The root is neither registered nor stored.
func TestRootThatBecameTooShort(t *testing.T) {
	w := newTrustWorld(t)
	w.net.Site("code.example").File("/org/s/SKILL.md", "text/markdown", refund)
	roots := dvs.NewRoots(dvs.Rules{})
	add := func(owner int) {
		if _, err := roots.AddPlatform(dvs.Platform{Name: "code", Hosts: []string{"code.example"}, Owner: owner}); err != nil {
			t.Error(err)
		}
	}
	add(1)
	w.user.decide = func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		add(2)
		return agree(req)
	}
	if skill, err := w.process(dvs.Options{Roots: roots}).Load(t.Context(), "https://code.example/org/s/"); skill != nil || lookleap.CodeOf(err) != dvs.CodeConsentStale {
		t.Error(skill, err)
	}
	if keys, err := w.store.Keys(t.Context(), "root/"); len(keys) != 0 || err != nil {
		t.Errorf("stored: %q, %v", keys, err)
	}
	for d := range roots.All() {
		t.Error("registered:", d.Root)
	}
}

// TestRootsStay follows the roots of the store for as long as they are there, and says nothing of a
// revocation that is stored twice.
func TestRootsStay(t *testing.T) {
	w := rootWorld(t)
	l := w.process(dvs.Options{})
	for range 4 {
		if _, err := l.Load(t.Context(), platformSkill); err != nil || w.user.count() != 1 {
			t.Fatalf("%v, asked %d times", err, w.user.count())
		}
		w.net.Clock().Advance(31 * time.Second)
	}
	l.Revoke(exampleOrg())
	l.Revoke(exampleOrg())
	if w.events.Has(dvs.CodeTrustNotKept) {
		t.Error("the revocation was not kept")
	}
}

// TestSkillAlone keeps an approval of one skill without the publisher's root: it is not asked about
// again, a strict loader asks for the root, and so does a loader for an approval with a root that was
// forgotten.
func TestSkillAlone(t *testing.T) {
	alone := func(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{Digest: req.Digest, Approved: []string{"skill"}}, nil
	}
	load := func(w *trustWorld, options dvs.Options, source dvs.RootSource, asked int) {
		t.Helper()
		before := w.user.count()
		skill, err := w.process(options).Load(t.Context(), platformSkill)
		if err != nil || skill.Source != source || w.user.count()-before != asked {
			t.Errorf("%v, %v, asked %d times", skill, err, w.user.count()-before)
		}
	}
	w := rootWorld(t)
	w.net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/markdown", string(skillText("x\n")))
	w.user.decide = alone
	load(w, dvs.Options{}, dvs.SkillOnly, 1)
	load(w, dvs.Options{}, dvs.SkillOnly, 0)
	w.user.decide = agree
	load(w, dvs.Options{Strict: true}, dvs.ByUser, 1)
	load(w, dvs.Options{}, dvs.ByUser, 0)
	if err := w.process(dvs.Options{}).ForgetRoot(t.Context(), exampleOrg()); err != nil {
		t.Fatal(err)
	}
	load(w, dvs.Options{}, dvs.ByUser, 1)
}
