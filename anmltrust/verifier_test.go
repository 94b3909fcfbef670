package anmltrust_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// concurrent asks one cold question many times at once.
func concurrent(t *testing.T, callers int) {
	for _, mechanism := range []string{manifestOnly, queryOnly} {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, mechanism).willing()
			w.trust.Fault(queryPath, lookleaptest.Delay(time.Second))
			w.brand.Fault(manifestPath, lookleaptest.Delay(time.Second))
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					c := shopClaim
					if mechanism == queryOnly {
						c.URL = fmt.Sprintf("https://host-%d.shop.example/anml", i%3) // one pair, several hosts
					}
					if a, err := w.v.Verify(t.Context(), c); err != nil || a.Tier != anmltrust.Full {
						t.Errorf("%v, %v", a, err)
					}
				})
			}
			wg.Wait()
			if mechanism == queryOnly {
				w.traffic(1, 1, 0)
			} else {
				w.traffic(1, 0, 1)
			}
		})
	}
}

func TestConcurrentFirstQuestions(t *testing.T) {
	t.Run("ANML-12.4-37/accept-1000-callers", func(t *testing.T) { concurrent(t, 1000) })
	t.Run("ANML-12.4-37/accept-servers-of-several-domains", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, manifestOnly).manifest(manifest(entry("a.example", 2, "body") + "," + entry("b.example", 2, "body")))
			w.brand.Fault(manifestPath, lookleaptest.Delay(time.Second))
			var wg sync.WaitGroup
			for _, url := range []string{"https://a.example/x", "https://b.example/x"} {
				wg.Go(func() {
					if a, err := w.v.Verify(t.Context(), claimFrom(url)); err != nil || a.Tier != anmltrust.Full {
						t.Errorf("%v, %v", a, err)
					}
				})
			}
			wg.Wait()
			w.traffic(1, 0, 1)
		})
	})
	t.Run("ANML-12.4-37/accept-one-leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly).query(authorized)
			w.trust.Fault(queryPath, lookleaptest.Delay(time.Second))
			first, leave := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := w.v.Verify(first, shopClaim); lookleap.CodeOf(err) != lookleap.CodeTimeout {
					t.Errorf("the caller who left: %v", err)
				}
			})
			synctest.Wait()
			wg.Go(func() {
				if _, err := w.v.Verify(t.Context(), shopClaim); err != nil {
					t.Errorf("the other caller: %v", err)
				}
			})
			synctest.Wait()
			leave()
			wg.Wait()
			w.traffic(1, 1, 0)
		})
	})
}

func TestSlowSources(t *testing.T) {
	t.Run("ANML-12.4-34/reject-timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly).query(authorized)
			w.trust.Fault(queryPath, lookleaptest.Mute())
			begin := time.Now()
			w.denied(anmltrust.CodeQueryUnavailable)
			if took := time.Since(begin); took != 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	})
	t.Run("ANML-12.4-34/reject-whole-verification", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2", "v=anml1;query=https://trust.example/3", "v=anml1;query=https://trust.example/4")
			w.trust.Fault("*", lookleaptest.Mute())
			begin := time.Now()
			w.denied(lookleap.CodeTimeout)
			if took := time.Since(begin); took != 30*time.Second {
				t.Errorf("took %s", took)
			}
		})
	})
	t.Run("ANML-12.4-34/reject-slow-redirect", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, manifestOnly)
			w.brand.Handle(manifestPath, lookleaptest.Status(302, "Location", "/slow")).Fault(manifestPath, lookleaptest.Delay(6*time.Second))
			w.brand.Fault("/slow", lookleaptest.Mute())
			begin := time.Now()
			a, err := w.ask(shopClaim)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestUnavailable)
			if took := time.Since(begin); took != 10*time.Second || !strings.Contains(string(verdictOf(t, a, err).Record), "no complete response came in time") {
				t.Errorf("took %s: %s", took, verdictOf(t, a, err).Record)
			}
		})
	})
	t.Run("ANML-12.2.3-12/reject-silent-dns", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, both).willing()
			w.dns.Drop()
			w.denied(lookleap.CodeDNSError)
		})
	})
}

// withdrawnAfterFirst authorizes the first query after a second, and no later one.
func (w *world) withdrawnAfterFirst() {
	var asked atomic.Int32
	w.trust.Handle(queryPath, handle(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if asked.Add(1) > 1 {
			fmt.Fprint(rw, "{}")
			return
		}
		time.Sleep(time.Second)
		fmt.Fprint(rw, authorized)
	}))
}

// TestWithdrawnMeanwhile: an answer that was under way when the grant was
// withdrawn is not used afterwards.
func TestWithdrawnMeanwhile(t *testing.T) {
	t.Run("ANML-13.4-08/reject-overtaken-grant", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly)
			w.withdrawnAfterFirst()
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := w.v.Verify(t.Context(), shopClaim); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(100 * time.Millisecond)
			a, err := w.v.VerifyFresh(t.Context(), shopClaim)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryMalformed)
			wg.Wait()
			w.denied(anmltrust.CodeQueryMalformed)
		})
	})
	t.Run("ANML-13.4-07/accept-each-asks-again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly).query(authorized)
			w.trust.Fault(queryPath, lookleaptest.Delay(time.Second))
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					if _, err := w.v.VerifyFresh(t.Context(), shopClaim); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			w.traffic(3, 3, 0)
		})
	})
}

// TestRefreshBeginsAfterItsCall: what a site said before the call is not a refresh.
func TestRefreshBeginsAfterItsCall(t *testing.T) {
	t.Run("O20/reject-older-refresh", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly)
			w.withdrawnAfterFirst()
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := w.v.Refresh(t.Context(), shopClaim); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(100 * time.Millisecond)
			a, err := w.v.Refresh(t.Context(), shopClaim)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryMalformed)
			wg.Wait()
			w.denied(anmltrust.CodeQueryMalformed)
		})
	})
	t.Run("O20/reject-older-reading-of-the-manifest", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, manifestOnly)
			var asked atomic.Int32
			w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, _ *http.Request) {
				body := manifest(listed)
				if asked.Add(1) > 1 {
					body = manifest(entry("elsewhere.example", 1, "body"))
				} else {
					time.Sleep(time.Second)
				}
				rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
				fmt.Fprint(rw, body)
			}))
			go func() { _, _ = w.v.Refresh(t.Context(), claimFrom("https://another.example/x")) }()
			time.Sleep(100 * time.Millisecond)
			a, err := w.v.Refresh(t.Context(), shopClaim)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNotListed)
			time.Sleep(2 * time.Second)
		})
	})
	t.Run("O20/accept-many-that-wait-together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newRunningWorld(t, queryOnly).query(authorized)
			w.trust.Fault(queryPath, lookleaptest.Delay(time.Second))
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					if _, err := w.v.Refresh(t.Context(), shopClaim); err != nil {
						t.Error(err)
					}
				})
				if i == 0 {
					synctest.Wait() // the first exchange has begun, and does not count for the others
				}
			}
			wg.Wait()
			w.traffic(1, 2, 0)
		})
	})
}

// slowOnce holds one lookup of a trust record, once it is armed, until it is told to answer.
type slowOnce struct {
	lookleap.Resolver
	armed   atomic.Bool
	release chan struct{}
}

func (r *slowOnce) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	if strings.HasPrefix(name, "_anml.") && r.armed.CompareAndSwap(true, false) {
		<-r.release
	}
	return r.Resolver.Lookup(ctx, name, t)
}

// TestWithdrawnDuringTheLookup: a grant that is withdrawn while the DNS is asked is not used.
func TestWithdrawnDuringTheLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunningWorld(t, queryOnly).query(authorized)
		slow := &slowOnce{Resolver: w.host.Resolver, release: make(chan struct{})}
		w.host.Resolver = slow
		w.granted(anmltrust.CodeQueryAuthorized)
		w.after(2 * time.Hour) // the record has ended, the grant has not
		slow.armed.Store(true)
		early := make(chan error)
		go func() {
			_, err := w.v.Verify(t.Context(), shopClaim)
			early <- err
		}()
		synctest.Wait()
		w.status(404)
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		close(slow.release)
		if err := <-early; lookleap.CodeOf(err) != anmltrust.CodeQuery404 {
			t.Errorf("the early question: %v", err)
		}
	})
}

// TestClockSetBackMeanwhile: what was asked before the clock was set back is asked again.
func TestClockSetBackMeanwhile(t *testing.T) {
	t.Run("lookup", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.host.Resolver = resolverFunc(func(ctx context.Context, name string, rr lookleap.RRType) (*lookleap.DNSAnswer, error) {
			if w.net.Clock().Now().Equal(start) {
				w.after(-time.Hour)
			}
			return w.net.StubHost().Resolver.Lookup(ctx, name, rr)
		})
		w.granted(anmltrust.CodeQueryAuthorized)
		w.traffic(2, 1, 0)
	})
	t.Run("manifest", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, _ *http.Request) {
			if w.net.Clock().Now().Equal(start) {
				w.after(-time.Hour)
			}
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			fmt.Fprint(rw, manifest(listed))
		}))
		w.granted(anmltrust.CodeListed)
		w.traffic(2, 0, 2)
	})
	t.Run("manifest-of-an-interaction", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.brand.Fault(manifestPath, lookleaptest.Header("Cache-Control", "no-store"))
		w.in = w.v.Begin()
		w.granted(anmltrust.CodeListed)
		w.after(-time.Hour).granted(anmltrust.CodeListed)
		w.traffic(2, 0, 2)
	})
}

type resolverFunc func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error)

func (f resolverFunc) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return f(ctx, name, t)
}
