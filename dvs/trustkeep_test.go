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
	w.net.Site("raw.githubusercontent.com").Body("/example-org/skills/main/a/SKILL.md", "text/plain", string(skillText("x\n"))).
		Body("/example-org/skills/main/b/SKILL.md", "text/plain", string(skillText("y\n")))
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
