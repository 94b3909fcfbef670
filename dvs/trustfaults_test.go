package dvs_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// fault is what happens to a call: an error, a panic, or bytes that Get returns.
type fault func() ([]byte, error)

// faultStore is a store of which one call fails.
type faultStore struct {
	lookleap.Store
	fault fault
	at    int // number of the call that fails, from 1

	mu    sync.Mutex
	calls []string // method and key
}

// step notes a call and returns the fault of the one that fails.
func (f *faultStore) step(method, key string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls = append(f.calls, method+" "+key); len(f.calls) == f.at {
		return f.fault()
	}
	return nil, nil
}

func (f *faultStore) Get(ctx context.Context, key string) ([]byte, error) {
	if read, err := f.step("get", key); err != nil || read != nil {
		return read, err
	}
	return f.Store.Get(ctx, key)
}

func (f *faultStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if _, err := f.step("put", key); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, old, value, until)
}

func (f *faultStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if _, err := f.step("list", prefix); err != nil {
		return nil, err
	}
	return f.Store.Keys(ctx, prefix)
}

func (f *faultStore) Delete(ctx context.Context, key string) error {
	if _, err := f.step("delete", key); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

const platformSkill = "https://github.com/example-org/skills/blob/main/a/SKILL.md"

// storeUses are what a user does with a store. Each function sets a world up without a fault, and
// returns the use of which any call may fail.
var storeUses = map[string]func(w *trustWorld) func() error{
	"load": func(w *trustWorld) func() error { return w.loading(trustedAt) },
	"load-again": func(w *trustWorld) func() error {
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
		return w.loading(trustedAt)
	},
	"load-a-change": func(w *trustWorld) func() error {
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
		w.publish("Something else.\n")
		return w.loading(trustedAt)
	},
	"load-registered": func(w *trustWorld) func() error {
		return func() error {
			_, err := w.process(dvs.Options{Roots: registry(w.t, "https://shop.example/")}).Load(w.t.Context(), trustedAt)
			return err
		}
	},
	"load-from-a-platform": func(w *trustWorld) func() error { return w.loading(platformSkill) },
	"load-from-a-known-publisher": func(w *trustWorld) func() error {
		if err := w.loading(platformSkill)(); err != nil {
			w.t.Fatal(err)
		}
		return w.loading(strings.Replace(platformSkill, "/a/", "/b/", 1))
	},
	"load-what-another-origin-lists": func(w *trustWorld) func() error {
		index := `{"$schema":"` + dvs.IndexSchema + `","skills":[{"name":"a","type":"skill-md","description":"d","url":"https://shop.example/s/a/SKILL.md","digest":"` +
			digestOf(string(skillText("Ask for the order number.\n"))) + `"}]}`
		listed, err := dvs.ParseIndex([]byte(index), "https://hub.example/.well-known/agent-skills/index.json", dvs.Rules{}, dvs.Limits{})
		if err != nil {
			w.t.Fatal(err)
		}
		return func() error {
			_, err := w.process(dvs.Options{}).LoadListing(w.t.Context(), listed.Skills[0])
			return err
		}
	},
	"load-suspended": func(w *trustWorld) func() error {
		decide := w.user.decide
		w.user.decide = func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		}
		var pending *lookleap.PendingError
		if err := w.loading(trustedAt)(); !errors.As(err, &pending) {
			w.t.Fatal(err)
		}
		w.user.decide = decide
		return func() error {
			decision, _ := agree(pending.Request)
			_, err := w.process(dvs.Options{}).Resume(w.t.Context(), pending.State, decision)
			return err
		}
	},
	"refuse": func(w *trustWorld) func() error {
		w.user.decide = decline
		return w.loading(trustedAt)
	},
	"register": func(w *trustWorld) func() error {
		return func() error { _, err := w.process(dvs.Options{}).Register(w.t.Context(), trustedAt); return err }
	},
	"activate": func(w *trustWorld) func() error {
		r, err := w.process(dvs.Options{}).Register(w.t.Context(), trustedAt)
		if err != nil {
			w.t.Fatal(err)
		}
		return func() error { _, err := r.Activate(w.t.Context()); return err }
	},
	"files": func(w *trustWorld) func() error {
		skill := w.load(dvs.Options{}, lookleap.CodeOK, 1)
		return func() error { _, err := skill.Bundle(w.t.Context()); return err }
	},
	"changed-files": func(w *trustWorld) func() error {
		w.bundled()
		w.site.File("/s/a/ADVANCED.md", "text/markdown", "Be kind.\n")
		skill := w.load(dvs.Options{}, lookleap.CodeOK, 0)
		return func() error { _, err := skill.Bundle(w.t.Context()); return err }
	},
	"script": func(w *trustWorld) func() error { return w.approving(w.load(dvs.Options{}, lookleap.CodeOK, 1)) },
	"changed-script": func(w *trustWorld) func() error {
		if err := w.approving(w.load(dvs.Options{}, lookleap.CodeOK, 1))(); err != nil {
			w.t.Fatal(err)
		}
		w.site.File("/s/a/scripts/x.sh", "text/plain", "#!/bin/sh\necho more\n")
		return w.approving(w.load(dvs.Options{}, lookleap.CodeOK, 0))
	},
	"revoke": func(w *trustWorld) func() error {
		l := w.process(dvs.Options{})
		return func() error {
			l.Revoke(must(dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{})))
			return nil
		}
	},
	"trusted": func(w *trustWorld) func() error {
		w.load(dvs.Options{}, lookleap.CodeOK, 1)
		return func() error { _, err := w.process(dvs.Options{}).Trusted(w.t.Context(), trustedAt); return err }
	},
	"forget": func(w *trustWorld) func() error {
		return func() error { return w.process(dvs.Options{}).Forget(w.t.Context(), trustedAt) }
	},
	"forget-root": func(w *trustWorld) func() error {
		return func() error {
			return w.process(dvs.Options{}).ForgetRoot(w.t.Context(), must(dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{})))
		}
	},
}

// storedRoot is the record of a root that the user confirmed.
func storedRoot(root, more string) string {
	return `{"type":"` + dvs.TrustMediaType + `","root":"` + root + `","by":"confirmed by the user","at":"2026-01-01T00:00:00Z"` + more + "}"
}

// loading loads a skill in a new process.
func (w *trustWorld) loading(url string) func() error {
	return func() error { _, err := w.process(dvs.Options{}).Load(w.t.Context(), url); return err }
}

// approving approves the script of a skill.
func (w *trustWorld) approving(skill *dvs.Loaded) func() error {
	return func() error {
		_, err := skill.Approve(w.t.Context(), dvs.Invocation{Script: "scripts/x.sh"})
		return err
	}
}

// bundled loads the skill with all its files.
func (w *trustWorld) bundled() {
	if _, err := w.load(dvs.Options{}, lookleap.CodeOK, 1).Bundle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// withFault sets a use up and runs it with a fault of its nth call; 0: without one.
func withFault(t *testing.T, setUp func(*trustWorld) func() error, f fault, n int) (calls []string, told bool, err error) {
	t.Helper()
	w := newFilesWorld(t)
	w.net.Site("raw.githubusercontent.com").File("/example-org/skills/main/a/SKILL.md", "text/plain", string(skillText("x\n"))).
		File("/example-org/skills/main/b/SKILL.md", "text/plain", string(skillText("y\n")))
	store := &faultStore{Store: w.store, fault: f}
	w.store = store
	use := setUp(w)
	w.net.Clock().Advance(31 * time.Second) // the roots of the store are read again
	store.calls, store.at = nil, n
	w.events.Take()
	err = use()
	return store.calls, w.events.Has(dvs.CodeTrustNotKept), err
}

// TestStoreBeforeFeeds: of a store and a feed that both cannot be read, the store is reported.
func TestStoreBeforeFeeds(t *testing.T) {
	w := newTrustWorld(t)
	w.store = &faultStore{Store: w.store, at: 1, fault: func() ([]byte, error) { return nil, fs.ErrPermission }}
	feeds := []dvs.FeedOptions{{URL: "http://shop.example/feed.json"}}
	for _, want := range []lookleap.Code{dvs.CodeTrustStore, dvs.CodeFeedStale} { // only the first call of the store fails
		if _, err := w.process(dvs.Options{Feeds: feeds}).Load(t.Context(), trustedAt); lookleap.CodeOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTrustStoreFaults lets each call of a store fail, one at a time, while the store is used. A
// failure is never silent: it is an error with the code trust-store, or a finding which says that
// a decision was not stored. A conflict with another process is neither: the change is tried again.
func TestTrustStoreFaults(t *testing.T) {
	failing := func(record string, err error) fault {
		return func() ([]byte, error) {
			if err != nil {
				return nil, err
			}
			return []byte(record), nil
		}
	}
	for use, setUp := range storeUses {
		t.Run("accept-told-"+use, func(t *testing.T) {
			calls, _, want := withFault(t, setUp, nil, 0)
			if len(calls) == 0 {
				t.Fatal("the store was not used")
			}
			for i, call := range calls {
				faults := map[string]fault{"fails": failing("", fs.ErrPermission)}
				if use == "load" {
					faults["panics"] = func() ([]byte, error) { panic("a store that panics") }
				}
				switch method, key, _ := strings.Cut(call, " "); {
				case method == "put":
					faults["conflicts"] = failing("", lookleap.ErrConflict)
				case method == "get" && strings.HasPrefix(key, "root/"):
					faults["is damaged"] = failing("{", nil)
					faults["is that of another root"] = failing(storedRoot("https://evil.example/", ""), nil)
					faults["has an unknown member"] = failing(storedRoot(strings.TrimPrefix(key, "root/"), `,"more":1`), nil)
				case method == "get":
					faults["is that of another skill"] = failing(`{"type":"`+dvs.TrustMediaType+`","skill":"https://shop.example/other/SKILL.md"}`, nil)
				}
				for what, f := range faults {
					_, told, err := withFault(t, setUp, f, i+1)
					refused := lookleap.CodeOf(want) != lookleap.CodeOK && lookleap.CodeOf(err) == lookleap.CodeOf(want) // whatever the store has
					silent := lookleap.CodeOf(err) != dvs.CodeTrustStore && !told && !refused
					if what == "conflicts" {
						silent = lookleap.CodeOf(err) != lookleap.CodeOf(want) || told
					}
					if silent {
						t.Errorf("call %d, %s, %s: %v", i+1, call, what, err)
					}
				}
			}
		})
	}
}
