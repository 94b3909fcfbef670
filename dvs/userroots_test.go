package dvs_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestUserRoots has roots that the program declares, and what users do to them.
func TestUserRoots(t *testing.T) {
	const root = "https://github.com/example-org/"
	find := func(l *dvs.Loader) dvs.Declared { return l.Roots().Find(skillURL(t, platformSkill)) }
	load := func(l *dvs.Loader) lookleap.Code {
		_, err := l.Load(t.Context(), platformSkill)
		return lookleap.CodeOf(err)
	}
	wait := func(w *trustWorld) { w.net.Clock().Advance(31 * time.Second) }
	t.Run("P03", func(t *testing.T) {
		t.Run("accept-root-of-the-program-stays", func(t *testing.T) {
			w := rootWorld(t)
			roots := registry(t, root)
			l := w.process(dvs.Options{Roots: roots})
			if err := l.ForgetRoot(t.Context(), exampleOrg()); err != nil || find(l).Source != dvs.ByHost {
				t.Error(err, find(l))
			}
		})
		t.Run("reject-block-of-the-program", func(t *testing.T) {
			w := rootWorld(t)
			roots := dvs.NewRoots(dvs.Rules{})
			if _, err := roots.Block(root); err != nil {
				t.Fatal(err)
			}
			l := w.process(dvs.Options{Roots: roots})
			if err := l.ForgetRoot(t.Context(), exampleOrg()); err != nil || load(l) != dvs.CodeBlockedRoot {
				t.Error(err, load(l))
			}
		})
		for name, revoke := range map[string]func(*dvs.Roots, *dvs.Loader){
			"by-the-program": func(r *dvs.Roots, _ *dvs.Loader) { r.Revoke(exampleOrg()) },
			"by-the-user":    func(_ *dvs.Roots, l *dvs.Loader) { l.Revoke(exampleOrg()) },
		} {
			t.Run("reject-revoked-"+name, func(t *testing.T) {
				w := rootWorld(t)
				roots := registry(t, root)
				l := w.process(dvs.Options{Roots: roots})
				revoke(roots, l)
				if err := l.ForgetRoot(t.Context(), exampleOrg()); err != nil || load(l) != dvs.CodeRevoked {
					t.Error(err, load(l))
				}
				if again := w.process(dvs.Options{Roots: roots}); load(again) != dvs.CodeRevoked {
					t.Error("a later process loads it")
				}
			})
		}
		t.Run("accept-both-sources", func(t *testing.T) {
			w := rootWorld(t)
			roots := dvs.NewRoots(dvs.Rules{})
			first, second := w.process(dvs.Options{Roots: roots}), w.process(dvs.Options{Roots: roots})
			for _, l := range []*dvs.Loader{first, second} { // the user confirms the root, and the store has it
				if code := load(l); code != lookleap.CodeOK || find(l).Source != dvs.ByUser {
					t.Fatal(code, find(l))
				}
			}
			if _, err := roots.Register(root, dvs.ByHost); err != nil {
				t.Fatal(err)
			}
			for _, l := range []*dvs.Loader{first, second} {
				if d := find(l); d.Source != dvs.ByHost {
					t.Error(d)
				}
			}
			if err := first.ForgetRoot(t.Context(), exampleOrg()); err != nil {
				t.Fatal(err)
			}
			wait(w)
			for _, l := range []*dvs.Loader{first, second} { // another process follows the store
				if code := load(l); code != lookleap.CodeOK || find(l).Source != dvs.ByHost {
					t.Error(code, find(l))
				}
			}
			roots.Unregister(exampleOrg())
			for _, l := range []*dvs.Loader{first, second} {
				if d := find(l); d.Source.Registered() {
					t.Error(d)
				}
			}
		})
		t.Run("reject-confirmed-here-and-forgotten-elsewhere", func(t *testing.T) {
			w := rootWorld(t)
			first, second := w.process(dvs.Options{}), w.process(dvs.Options{})
			if code := load(first); code != lookleap.CodeOK {
				t.Fatal(code)
			}
			if err := second.ForgetRoot(t.Context(), exampleOrg()); err != nil {
				t.Fatal(err)
			}
			wait(w)
			w.user.decide = decline
			if _, err := first.Load(t.Context(), "https://github.com/example-org/skills/blob/main/b/SKILL.md"); err == nil || find(first).Source.Registered() {
				t.Error(err, find(first))
			}
		})
	})
	t.Run("P05", func(t *testing.T) {
		for name, c := range map[string]struct {
			host       string
			subdomains bool
			code       lookleap.Code
		}{
			"reject-host":      {"shop.example", false, dvs.CodeRevoked},
			"reject-subdomain": {"EXAMPLE", true, ""},
			"accept-other":     {"other.example", true, lookleap.CodeOK},
		} {
			t.Run(name, func(t *testing.T) {
				w := newTrustWorld(t)
				l := w.process(dvs.Options{})
				if c.code == "" { // the subdomains of a host
					c.host, c.code = "b.shop.example", dvs.CodeRevoked
					w.net.Site("a.b.shop.example").File("/s/SKILL.md", "text/markdown", string(skillText("x\n")))
				}
				if err := l.RevokeDomain(c.host, c.subdomains); err != nil {
					t.Fatal(err)
				}
				url := trustedAt
				if c.host == "b.shop.example" {
					url = "https://a.b.shop.example/s/SKILL.md"
				}
				for range 2 {
					if _, err := w.process(dvs.Options{}).Load(t.Context(), url); lookleap.CodeOf(err) != c.code {
						t.Errorf("got %v, want %s", err, c.code)
					}
				}
			})
		}
	})
	t.Run("P06", func(t *testing.T) {
		world := func(t *testing.T) (alice, bob *dvs.Loader, w *trustWorld) {
			w = rootWorld(t)
			roots := dvs.NewRoots(dvs.Rules{})
			alice = w.process(dvs.Options{Roots: roots, User: "alice"})
			w.store = lookleap.NewMemoryStore()
			return alice, w.process(dvs.Options{Roots: roots, User: "bob"}), w
		}
		t.Run("reject-confirmed-by-another-user", func(t *testing.T) {
			alice, bob, w := world(t)
			if code := load(alice); code != lookleap.CodeOK || !find(alice).Source.Registered() {
				t.Fatal(code)
			}
			w.user.decide = decline
			if code := load(bob); code != lookleap.CodeConsentRefused || find(bob).Source != dvs.Derived {
				t.Error(code, find(bob))
			}
		})
		t.Run("accept-revoked-by-another-user", func(t *testing.T) {
			alice, bob, _ := world(t)
			alice.Revoke(exampleOrg())
			if code := load(alice); code != dvs.CodeRevoked {
				t.Error(code)
			}
			if code := load(bob); code != lookleap.CodeOK {
				t.Error(code)
			}
		})
		t.Run("accept-declared-by-the-program", func(t *testing.T) {
			alice, bob, w := world(t)
			if _, err := alice.Roots().Register(root, dvs.ByHost); err != nil {
				t.Fatal(err)
			}
			if code := load(bob); code != lookleap.CodeOK || w.user.count() != 0 {
				t.Error(code, w.user.count())
			}
		})
	})
}

// blockingStore is a store whose first List does not return before it may.
type blockingStore struct {
	lookleap.Store
	once           sync.Once
	entered, leave chan struct{}
}

func (s *blockingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	s.once.Do(func() {
		close(s.entered)
		<-s.leave
	})
	return s.Store.Keys(ctx, prefix)
}
