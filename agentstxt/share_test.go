package agentstxt

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// two returns the client of another process that shares a cache with the world's.
func (w *world) two(cache lookleap.Cache, o Options) (other *Client) {
	w.host.Cache = cache
	host := w.net.StubHost()
	host.Cache = cache
	return NewClient(host, o)
}

func (w *world) wantOf(c *Client, state State, reason lookleap.Code) *Policy {
	w.Helper()
	p, err := c.Policy(context.Background(), "https://shop.example/x")
	if err != nil {
		w.Fatal(err)
	}
	if p.State() != state || p.Reason() != reason {
		w.Fatalf("the other process got %v, %v, want %v, %v", p.State(), p.Reason(), state, reason)
	}
	return p
}

func TestSharedCache(t *testing.T) {
	memory := func() lookleap.Cache { return lookleap.NewMemoryCache(100) }
	inWorld(t, "AGT-10-01/accept-one-fetch-for-all-processes", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, lookleap.CodeOK)
		if p := w.wantOf(other, Valid, lookleap.CodeOK); p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
			w.Error("wrong decisions")
		}
		w.pass(59 * time.Minute)
		w.want(Valid, lookleap.CodeOK)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.asked(1)
		w.pass(time.Minute)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.want(Valid, lookleap.CodeOK)
		w.asked(2)
		if r := w.net.Journal().Requests()[1]; r.Header.Get("If-None-Match") != `"1"` {
			w.Errorf("%v", r.Header)
		}
	})
	inWorld(t, "AGT-5-05/reject-in-all-processes-with-one-message", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.servesFile("*broken\n/status ALLOW\n")
		here, there := w.want(Restricted, CodeHashMissing), w.wantOf(other, Restricted, CodeHashMissing)
		w.asked(1)
		if got, want := there.Err().Error(), here.Err().Error(); got != want {
			w.Errorf("got  %s\nwant %s", got, want)
		}
	})
	inWorld(t, "AGT-5-05/reject-in-all-processes-within-a-minute", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.servesFile(vectorFile, "Cache-Control", "max-age=86400")
		w.wantOf(other, Valid, lookleap.CodeOK)
		before := other.Generation("https://shop.example/")
		w.servesFile("*broken\n/status ALLOW\n")
		// A third process that knows nothing reads the file again.
		w.host.Cache.Delete(context.Background(), policyFile.prefix+"https://shop.example")
		w.want(Restricted, CodeHashMissing)
		w.serves(lookleaptest.Status(503))
		w.pass(time.Minute)
		w.wantOf(other, Restricted, CodeHashMissing)
		if other.Generation("https://shop.example/") == before {
			w.Error("the generation did not change")
		}
		w.pass(9 * time.Minute)
		w.wantOf(other, Restricted, lookleap.CodeUnreachable) // and it does not come back
	})
	inWorld(t, "AGT-5-05/reject-copy-that-was-withdrawn", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.servesFile(vectorFile, "Cache-Control", "max-age=86400")
		w.want(Valid, lookleap.CodeOK)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.host.Cache.Delete(context.Background(), policyFile.prefix+"https://shop.example")
		w.serves(lookleaptest.Status(503))
		w.pass(time.Minute)
		w.wantOf(other, Restricted, lookleap.CodeUnreachable)
	})
	inWorld(t, "AGT-5-05/reject-copy-read-before-another-process-saw-malformed", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.serves(lookleaptest.Sequence(served(vectorFile), served("*broken\n")))
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
		done := make(chan *Policy)
		go func() {
			// This one is asked first, and is told last.
			p, _ := w.client.Policy(context.Background(), "https://shop.example/")
			done <- p
		}()
		w.pass(500 * time.Millisecond)
		other.putMalformed(w, w.host.Time())
		if p := <-done; p.State() != Restricted {
			w.Error(p.State())
		}
	})
	// Another process sees a malformed file while this one reads a whole one.
	for _, when := range []string{"before-the-put", "after-the-put", "after-the-last-look"} {
		inWorld(t, "O22/reject-malformed-seen-"+when, Options{}, func(w *world) {
			hooked := &hookedCache{Cache: memory()}
			other := w.two(hooked, Options{})
			w.servesFile(vectorFile, "Cache-Control", "max-age=86400")
			w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
			var seen atomic.Pointer[time.Time] // read where the cache is written to
			record := func() {
				other.putMalformed(w, *seen.Load())
			}
			switch when {
			case "before-the-put":
				hooked.before = record
			case "after-the-put":
				hooked.after = record
			}
			read := make(chan *Policy)
			go func() {
				p, _ := w.client.Policy(context.Background(), "https://shop.example/")
				read <- p
			}()
			w.pass(500 * time.Millisecond)
			now := w.host.Time()
			seen.Store(&now)
			p := <-read
			if when == "after-the-last-look" {
				record()
			} else if p.State() != Restricted {
				w.Error("the reader itself goes on")
			}
			w.pass(time.Minute)
			w.serves(lookleaptest.Status(503))
			w.want(Restricted, CodeHashMissing)
			w.wantOf(other, Restricted, CodeHashMissing)
			w.pass(9 * time.Minute) // the whole file never comes back
			w.want(Restricted, lookleap.CodeUnreachable)
			w.wantOf(other, Restricted, lookleap.CodeUnreachable)
			w.servesFile(vectorFile)
			w.pass(time.Hour)
			w.want(Valid, lookleap.CodeOK)
			w.wantOf(other, Valid, lookleap.CodeOK)
		})
	}
	inWorld(t, "AGT-5-07/accept-no-store-in-memory-alone", Options{}, func(w *world) {
		cache := memory()
		w.two(cache, Options{})
		w.servesFile(vectorFile, "Cache-Control", "no-store")
		w.want(Valid, lookleap.CodeOK)
		if _, _, err := cache.Get(context.Background(), policyFile.prefix+"https://shop.example"); !errors.Is(err, fs.ErrNotExist) {
			w.Error("stored outside memory")
		}
		w.pass(5*time.Minute - time.Second)
		w.want(Valid, lookleap.CodeOK)
		w.asked(1)
	})
	inWorld(t, "AGT-2-12/accept-failures-are-not-shared", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.serves(lookleaptest.Sequence(lookleaptest.Status(503), served(vectorFile)))
		w.want(Restricted, lookleap.CodeUnreachable)
		w.wantOf(other, Valid, lookleap.CodeOK)
		w.pass(30 * time.Second)
		w.want(Valid, lookleap.CodeOK) // the other process read it
		w.asked(2)
	})
	inWorld(t, "AGT-2-12/accept-good-copy-of-another-process", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.serves(lookleaptest.Status(503))
		w.pass(2 * time.Hour)
		w.wantFinding(w.wantOf(other, Valid, lookleap.CodeOK), lookleap.CodeStale)
		w.pass(22 * time.Hour)
		w.wantOf(other, Restricted, lookleap.CodeUnreachable)
	})
	inWorld(t, "AGT-2-08/accept-absence-is-shared", Options{}, func(w *world) {
		other := w.two(memory(), Options{})
		w.serves(lookleaptest.Status(404))
		w.want(Absent, CodeNoPolicy)
		w.wantOf(other, Absent, CodeNoPolicy)
		w.asked(1)
	})
	inWorld(t, "own-options-judge", Options{}, func(w *world) {
		other := w.two(memory(), Options{Strict: true})
		w.servesFile(vectorFile, "Content-Type", "text/markdown")
		w.want(Valid, lookleap.CodeOK)
		w.wantOf(other, Restricted, lookleap.CodeMediaType)
		w.asked(1)
	})
	inWorld(t, "broken-cache-costs-requests-alone", Options{}, func(w *world) {
		w.two(brokenCache{}, Options{})
		w.servesFile(vectorFile)
		w.want(Valid, lookleap.CodeOK)
		w.pass(time.Minute)
		w.want(Valid, lookleap.CodeOK)
		w.servesFile("*broken\n/a ALLOW\n")
		w.pass(time.Minute)
		w.want(Restricted, CodeHashMissing)
	})
	inWorld(t, "garbage-in-the-cache-is-no-grant", Options{}, func(w *world) {
		cache := memory()
		w.two(cache, Options{})
		cache.Put(context.Background(), policyFile.prefix+"https://shop.example", []byte("garbage"), w.host.Time().Add(time.Hour))
		w.servesFile("*broken\n/a ALLOW\n")
		w.want(Restricted, CodeHashMissing)
	})
}

// TestOlderTombstone: a process that is slow to write what it saw long ago does not take back what
// another process saw since.
func TestOlderTombstone(t *testing.T) {
	inWorld(t, "M17/reject-whole-file-between-two-malformed-ones", Options{}, func(w *world) {
		w.two(lookleap.NewMemoryCache(100), Options{})
		at, o := w.host.Time().Add(-10*time.Minute), origin{name: "https://shop.example"}
		whole := sharedRecord{Asked: at.Add(2 * time.Minute), Found: at.Add(2 * time.Minute), Value: record{Status: 200, ContentType: plainText, Body: []byte(vectorFile), Fresh: at.Add(time.Hour)}}
		w.client.policies.shared().Put(w.Context(), o.name, whole, at.Add(time.Hour))
		w.client.putMalformed(w, at.Add(4*time.Minute))
		w.client.putMalformed(w, at) // the slow process
		r, err := w.client.policies.recorded(w.Context(), o)
		if err != nil || r.Value.Malformed == "" || !r.Found.Equal(at.Add(4*time.Minute)) {
			w.Errorf("%+v, %v", r, err)
		}
	})
}

func (c *Client) putMalformed(w *world, at time.Time) {
	w.Helper()
	e := sharedRecord{Asked: at, Found: at, Value: record{Malformed: CodeHashMissing, Fresh: at.Add(malformedFor)}}
	c.policies.shared().PutNewest(context.Background(), tombstoneKey(origin{name: "https://shop.example"}), e, at.Add(tombstoneFor))
}

// hookedCache runs a function once, around the first Put.
type hookedCache struct {
	lookleap.Cache
	before, after func()
}

func (c *hookedCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if before := c.before; before != nil {
		c.before = nil
		before()
	}
	err := c.Cache.Put(ctx, key, value, expires)
	if after := c.after; after != nil {
		c.after = nil
		after()
	}
	return err
}

type brokenCache struct{}

var errBroken = errors.New("the cache is down")

func (brokenCache) Get(context.Context, string) ([]byte, time.Time, error) {
	return nil, time.Time{}, errBroken
}
func (brokenCache) Put(context.Context, string, []byte, time.Time) error { return errBroken }
func (brokenCache) Delete(context.Context, string) error                 { return errBroken }

// TestHungCache: a shared cache that never answers is a miss, for callers without a deadline too.
func TestHungCache(t *testing.T) {
	for name, deaf := range map[string]bool{"accept-cache-that-heeds-its-context": false, "accept-deaf-cache": true} {
		t.Run("O13/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(deaf)
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").File(policyPath, "text/plain", signed("/ ALLOW"))
				host := net.StubHost()
				host.Cache = hung
				p, err := NewClient(host, Options{}).Policy(context.Background(), "https://shop.example/x")
				if err != nil || p.State() != Valid || hung.Calls() == 0 {
					t.Errorf("%v, %v after %d calls", p, err, hung.Calls())
				}
				hung.End()
			})
		})
	}
}
