package dvs_test

import (
	"context"
	"errors"
	"slices"
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
	t.Run("accept-nothing-is-kept-of-an-unknown-skill", func(t *testing.T) {
		l := newTrustWorld(t).process(dvs.Options{})
		for _, skill := range []string{trustedAt, "https://shop.example/.well-known/agent-skills/s.tar.gz"} {
			if r, err := l.Trusted(t.Context(), skill); r != nil || err != nil {
				t.Error(skill, r, err)
			}
			if err := l.Forget(t.Context(), skill); err != nil {
				t.Error(skill, err)
			}
		}
	})
	t.Run("reject-no-skill", func(t *testing.T) {
		l := newTrustWorld(t).process(dvs.Options{})
		if err := l.Forget(t.Context(), "http://shop.example/"); lookleap.CodeOf(err) != "not-https" {
			t.Error(err)
		}
		if r, err := l.Trusted(t.Context(), "http://shop.example/"); r != nil || lookleap.CodeOf(err) != "not-https" {
			t.Error(r, err)
		}
	})
	t.Run("reject-no-store", func(t *testing.T) {
		l := dvs.NewLoader(newTrustWorld(t).net.Host(), dvs.Options{})
		if err := l.Forget(t.Context(), trustedAt); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
		}
		if r, err := l.Trusted(t.Context(), trustedAt); r != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(r, err)
		}
	})
	t.Run("accept-root-without-a-store", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Register("https://github.com/example-org/", dvs.ByUser); err != nil {
			t.Fatal(err)
		}
		l := dvs.NewLoader(newTrustWorld(t).net.Host(), dvs.Options{Roots: roots})
		if err := l.ForgetRoot(t.Context(), exampleOrg()); err != nil || roots.Find(skillURL(t, platformSkill)).Source != dvs.Derived {
			t.Error(err, roots.Find(skillURL(t, platformSkill)))
		}
		if err := (*dvs.Loader)(nil).ForgetRoot(t.Context(), exampleOrg()); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
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
	t.Run("accept-read-once-in-30-seconds", func(t *testing.T) {
		w := newTrustWorld(t)
		store := &faultStore{Store: w.store}
		w.store = store
		host, now := w.net.Host(), w.net.Clock().Now()
		host.Prompter, host.Now = w.user, func() time.Time { return now }
		l := dvs.NewLoader(host, dvs.Options{Trust: store})
		lists := func() (n int) {
			if _, err := l.Load(t.Context(), trustedAt); err != nil {
				t.Fatal(err)
			}
			for _, call := range store.calls {
				if call == "list root/" {
					n++
				}
			}
			return n
		}
		for i, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {0, 1}, {30*time.Second - 1, 1}, {1, 2}, {-time.Second, 3}} {
			now = now.Add(step.wait)
			if got := lists(); got != step.want {
				t.Errorf("step %d: the roots were listed %d times, want %d", i, got, step.want)
			}
		}
	})
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
	t.Run("accept-nothing-new-writes-nothing", func(t *testing.T) {
		w := newTrustWorld(t)
		roots := func() dvs.Options { return dvs.Options{Roots: registry(t, "https://shop.example/")} }
		w.load(roots(), lookleap.CodeOK, 0)
		store := &faultStore{Store: w.store}
		w.store = store
		w.load(roots(), lookleap.CodeOK, 0)
		if slices.ContainsFunc(store.calls, func(call string) bool { return strings.HasPrefix(call, "put") }) {
			t.Error(store.calls)
		}
	})
}

// deletingStore lists a root that is not there any longer.
type deletingStore struct{ lookleap.Store }

func (d *deletingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := d.Store.Keys(ctx, prefix)
	return append(keys, prefix+"https://gone.example/"), err
}
