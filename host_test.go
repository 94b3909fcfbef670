package lookleap_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type resolverFunc func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error)

func (f resolverFunc) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return f(ctx, name, t)
}

type prompterFunc func(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

func (f prompterFunc) PromptConsent(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return f(ctx, r)
}

// approveAll is what no program but a test may have.
func approveAll(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		d.Approved = append(d.Approved, item.ID)
	}
	return d, nil
}

// closeRecorder is a request body that notices its end.
type closeRecorder struct {
	io.Reader
	closed bool
}

func (c *closeRecorder) Close() error { c.closed = true; return nil }

// brokenCache panics: each method calls itself on a nil Cache.
type brokenCache struct{ lookleap.Cache }

func TestHostRefusesWhatAPluginBreaks(t *testing.T) {
	for name, f := range map[string]fetcherFunc{
		"panic":   func(*http.Request) (*http.Response, error) { panic("boom") },
		"nothing": func(*http.Request) (*http.Response, error) { return nil, nil },
	} {
		t.Run("Fetcher-"+name, func(t *testing.T) {
			h := &lookleap.Host{Fetcher: f}
			body := &closeRecorder{Reader: strings.NewReader("secret")}
			req, _ := http.NewRequest("POST", "https://example.com/", body)
			resp, err := h.RoundTrip(req)
			if resp != nil || lookleap.CodeOf(err) != lookleap.CodeFetcherFailed {
				t.Fatalf("got %v, %v", resp, err)
			}
			if name == "panic" && !body.closed {
				t.Error("the body was left open")
			}
		})
	}
	for name, f := range map[string]resolverFunc{
		"panic":   func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) { panic("boom") },
		"nothing": func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) { return nil, nil },
		"both": func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
			return &lookleap.DNSAnswer{Exists: true, DNSSEC: lookleap.Secure}, errors.New("failed")
		},
	} {
		t.Run("Resolver-"+name, func(t *testing.T) {
			h := &lookleap.Host{Resolver: f}
			answer, err := h.Lookup(t.Context(), "example.com", lookleap.TypeTXT)
			if answer != nil || err == nil {
				t.Fatalf("got %v, %v", answer, err)
			}
		})
	}
	t.Run("Fetcher-both", func(t *testing.T) {
		body := &closeRecorder{Reader: strings.NewReader("forged")}
		h := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: body}, errors.New("failed")
		})}
		if resp, err := h.RoundTrip(mustRequest(t, "https://example.com/")); resp != nil || err == nil || !body.closed {
			t.Fatalf("got %v, %v; body closed: %v", resp, err, body.closed)
		}
	})
	t.Run("Fetcher-plain-error", func(t *testing.T) {
		broken := errors.New("the proxy is down")
		h := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) { return nil, broken })}
		if _, err := h.RoundTrip(mustRequest(t, "https://example.com/")); lookleap.CodeOf(err) != lookleap.CodeFetcherFailed || !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	t.Run("Fetcher-error-of-the-network", func(t *testing.T) {
		h := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
		if _, err := h.RoundTrip(mustRequest(t, "https://example.com/")); lookleap.CodeOf(err) != lookleap.CodeTruncated {
			t.Error(err)
		}
	})
	t.Run("Fetcher-that-reads-later", func(t *testing.T) {
		body := &closeRecorder{Reader: strings.NewReader("still sent")}
		h := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 200}, nil })}
		req, _ := http.NewRequest("POST", "https://example.com/", body)
		if resp, err := h.RoundTrip(req); err != nil || body.closed || resp.Request != req {
			t.Errorf("%v, %v, closed: %t", resp, err, body.closed)
		}
	})
	t.Run("Fetcher-without-body", func(t *testing.T) {
		h := &lookleap.Host{Fetcher: fetcherFunc(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 204}, nil })}
		if resp, err := h.RoundTrip(mustRequest(t, "https://example.com/")); err != nil || resp.Body != nil {
			t.Errorf("%v, %v", resp, err)
		}
	})
	t.Run("request-without-URL", func(t *testing.T) {
		for _, req := range []*http.Request{nil, {}} {
			if _, err := new(lookleap.Host).RoundTrip(req); lookleap.CodeOf(err) != lookleap.CodeFetcherFailed {
				t.Error(err)
			}
		}
	})
	t.Run("Now-panic", func(t *testing.T) {
		h := &lookleap.Host{Now: func() time.Time { panic("boom") }, Prompter: prompterFunc(approveAll)}
		defer h.Close()
		if !h.Time().Equal(time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)) {
			t.Errorf("without a clock it is %s, when something may still be valid", h.Time())
		}
		p := newPlan(t, "x")
		if _, err := h.Ask(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodePlanExpired {
			t.Errorf("asked without a clock: %v", err)
		}
		a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address"}}, planTime)
		if err != nil {
			t.Fatal(err)
		}
		err = commitTo(h, t.Context(), a, func(context.Context, []byte) error { t.Error("it ran"); return nil })
		if lookleap.CodeOf(err) != lookleap.CodePlanExpired {
			t.Errorf("committed without a clock: %v", err)
		}
	})
	t.Run("Cache-panic", func(t *testing.T) {
		h := &lookleap.Host{Cache: brokenCache{}}
		cache := h.SharedCache()
		if value, _, err := cache.Get(t.Context(), "k"); value != nil || lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
			t.Errorf("Get: %q, %v", value, err)
		}
		if err := cache.Put(t.Context(), "k", nil, planTime); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
			t.Errorf("Put: %v", err)
		}
		if err := cache.Delete(t.Context(), "k"); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
			t.Errorf("Delete: %v", err)
		}
	})
	t.Run("Observe-panic", func(t *testing.T) {
		h := &lookleap.Host{
			Observe: func(context.Context, lookleap.Event) { panic("boom") },
			Resolver: resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
				return &lookleap.DNSAnswer{}, nil
			}),
		}
		if _, err := h.Lookup(t.Context(), "example.com", lookleap.TypeA); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHostPassesPluginsThrough(t *testing.T) {
	var reported lookleaptest.Events
	h := &lookleap.Host{
		Fetcher: fetcherFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 302, Body: http.NoBody, Header: http.Header{"Location": {"/b"}}}, nil
		}),
		Resolver: resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
			return nil, &lookleap.BogusError{Name: "example.com", Zone: "com", EDE: 7, Reason: "the signature expired"}
		}),
		Observe: reported.Observe,
	}
	resp, err := h.RoundTrip(mustRequest(t, "https://example.com/a?token=secret"))
	if err != nil || resp.StatusCode != 302 {
		t.Fatalf("a redirect has to come back: %v, %v", resp, err)
	}
	if _, err := h.Lookup(t.Context(), "example.com", lookleap.TypeTXT); !errors.Is(err, lookleap.ErrBogus) {
		t.Fatalf("bogus has to stay bogus: %v", err)
	}
	events := reported.All()
	if len(events) != 2 || events[0].Kind != lookleap.EventFetch || events[0].Status != 302 || events[1].Code != lookleap.CodeDNSSECBogus {
		t.Fatalf("events: %+v", events)
	}
	if strings.Contains(events[0].Subject, "secret") {
		t.Errorf("the query reached an event: %s", events[0].Subject)
	}
}

func TestHostClose(t *testing.T) {
	h := &lookleap.Host{Prompter: prompterFunc(approveAll)}
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		t.Fatal(err)
	}
	_, fetchErr := h.RoundTrip(mustRequest(t, "https://example.com/"))
	_, lookupErr := h.Lookup(t.Context(), "example.com", lookleap.TypeA)
	_, askErr := h.Ask(t.Context(), newPlan(t, "x"))
	for _, err := range []error{fetchErr, lookupErr, askErr} {
		if !errors.Is(err, lookleap.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestHungPlugins(t *testing.T) {
	t.Run("O13", func(t *testing.T) {
		for name, deaf := range map[string]bool{"reject-cache-that-heeds-its-context": false, "reject-deaf-cache": true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					hung := lookleaptest.NewHung(deaf)
					cache := (&lookleap.Host{Cache: hung}).SharedCache()
					for range 3 { // waited for once
						if value, _, err := cache.Get(context.Background(), "key"); value != nil || lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
							t.Errorf("%q, %v", value, err)
						}
					}
					if n := hung.Calls(); n != 1 {
						t.Errorf("%d calls", n)
					}
					for range 3 { // made, and not waited for
						if err := cache.Delete(context.Background(), "key"); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
							t.Error(err)
						}
					}
					if synctest.Wait(); hung.Calls() != 4 {
						t.Errorf("%d calls", hung.Calls())
					}
					hung.End()
				})
			})
		}
		t.Run("reject-update-of-a-cache-that-rests", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung, begin := lookleaptest.NewHung(true), time.Now()
				host := &lookleap.Host{Cache: hung}
				for range 3 { // waited for once
					if err := host.UpdateCache(context.Background(), "key", func([]byte) ([]byte, time.Time, bool) { return nil, time.Time{}, true }); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
						t.Error(err)
					}
				}
				if synctest.Wait(); hung.Calls() != 3 || time.Since(begin) > 3*time.Second {
					t.Errorf("%d calls in %v", hung.Calls(), time.Since(begin))
				}
				hung.End()
			})
		})
		t.Run("accept-cache-that-answers-again", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(false)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				cache.Get(t.Context(), "key")
				hung.Recover()
				time.Sleep(5 * time.Second)
				if value, _, err := cache.Get(t.Context(), "key"); string(value) != "kept" || err != nil {
					t.Errorf("%q, %v", value, err)
				}
			})
		})
		t.Run("accept-cache-after-a-change-that-succeeds", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(false)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				cache.Get(t.Context(), "key")
				hung.Recover()
				cache.Put(t.Context(), "key", nil, time.Time{})
				synctest.Wait()
				if value, _, err := cache.Get(t.Context(), "key"); string(value) != "kept" || err != nil {
					t.Errorf("%q, %v", value, err)
				}
			})
		})
		t.Run("accept-caller-who-leaves-earlier", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(true)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, _, err := cache.Get(ctx, "key"); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				hung.End()
			})
		})
		t.Run("reject-deaf-resolver", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(true)
				h := &lookleap.Host{Resolver: hung}
				if a, err := h.Lookup(context.Background(), "example.com", lookleap.TypeA); a != nil || lookleap.CodeOf(err) != lookleap.CodeResolverFailed {
					t.Errorf("%v, %v", a, err)
				}
				hung.End()
			})
		})
		t.Run("reject-deaf-ledger", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(true)
				h := &lookleap.Host{Plans: hung.Store(), Now: func() time.Time { return planTime }}
				a := approved(t, newPlan(t, "effect"), planTime, "address", "phone")
				err := commitTo(h, context.Background(), a, func(context.Context, []byte) error { t.Error("the effect ran"); return nil })
				if lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
					t.Error(err)
				}
				hung.End()
			})
		})
	})
	t.Run("O28", func(t *testing.T) {
		t.Run("reject-calls-beyond-the-bound", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lookleaptest.NewHung(true)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				var callers sync.WaitGroup
				for range 1000 {
					callers.Go(func() {
						if _, _, err := cache.Get(context.Background(), "key"); err == nil {
							t.Error("an answer")
						}
					})
				}
				callers.Wait()
				if n := hung.Calls(); n > 64 {
					t.Errorf("%d calls of a deaf cache", n)
				}
				hung.End()
			})
		})
	})
}

// TestSharedCacheAndTheClock: what the Host's clock has passed does not come back.
func TestSharedCacheAndTheClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		moves   []time.Duration // of the clock since start; the entry lives for an hour
		waits   time.Duration   // by the system's clock, before the last look
		missing bool
	}{
		"accept-fresh":                        {[]time.Duration{0, 59 * time.Minute}, 0, false},
		"accept-fresh-after-a-step-back":      {[]time.Duration{30 * time.Minute, 0}, 0, false},
		"reject-expired":                      {[]time.Duration{0, time.Hour}, 0, true},
		"reject-expired-after-a-step-back":    {[]time.Duration{time.Hour, 0}, 0, true},
		"reject-expired-after-a-step-forward": {[]time.Duration{0, 30 * 24 * time.Hour}, 0, true},
		"accept-after-a-clock-that-was-fast":  {[]time.Duration{8000 * 24 * time.Hour, 0}, 7 * 24 * time.Hour, false},
	} {
		t.Run("O10/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sealed, err := lookleap.SealedCache(lookleap.NewMemoryCache(8), resumeKey)
				if err != nil {
					t.Fatal(err)
				}
				for kind, plugged := range map[string]lookleap.Cache{"default": nil, "sealed": sealed} {
					now := start
					cache := (&lookleap.Host{Cache: plugged, Now: func() time.Time { return now }}).SharedCache()
					if err := cache.Put(t.Context(), "key", []byte("value"), start.Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					for i, move := range c.moves {
						if now = start.Add(move); i == len(c.moves)-1 {
							time.Sleep(c.waits)
						}
						_, _, err = cache.Get(t.Context(), "key")
					}
					if missing := errors.Is(err, fs.ErrNotExist); missing != c.missing || !missing && err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
			})
		})
	}
}

// TestObserveThatHangs reports events to a function that does not return.
func TestObserveThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		end := make(chan struct{})
		var calls atomic.Int32
		h := &lookleap.Host{Observe: func(context.Context, lookleap.Event) { calls.Add(1); <-end }}
		for range 3 { // only the first event is waited for
			h.Report(t.Context(), lookleap.Event{Kind: lookleap.EventFinding})
		}
		if waited := time.Since(started); waited > 10*time.Second || calls.Load() != 1 {
			t.Errorf("waited %v for %d calls", waited, calls.Load())
		}
		close(end)
		synctest.Wait()
		h.Report(t.Context(), lookleap.Event{Kind: lookleap.EventFinding})
		if calls.Load() != 2 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}
