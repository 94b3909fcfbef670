package lookleap_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
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
	t.Run("Now-panic", func(t *testing.T) {
		h := &lookleap.Host{Now: func() time.Time { panic("boom") }, Prompter: prompterFunc(approveAll)}
		defer h.Close()
		p := newPlan(t, "x")
		if _, err := h.Ask(t.Context(), p); lookleap.CodeOf(err) != lookleap.CodePlanExpired {
			t.Errorf("asked without a clock: %v", err)
		}
		a, err := p.Approve(lookleap.ConsentDecision{Digest: p.Request().Digest, Approved: []string{"address"}}, planTime)
		if err != nil {
			t.Fatal(err)
		}
		err = h.Commit(t.Context(), a, func(context.Context, []byte) error { t.Error("it ran"); return nil })
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
	var events []lookleap.Event
	h := &lookleap.Host{
		Fetcher: fetcherFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 302, Body: http.NoBody, Header: http.Header{"Location": {"/b"}}}, nil
		}),
		Resolver: resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
			return nil, &lookleap.BogusError{Name: "example.com", Zone: "com", EDE: 7, Reason: "the signature expired"}
		}),
		Observe: func(_ context.Context, e lookleap.Event) { events = append(events, e) },
	}
	resp, err := h.RoundTrip(mustRequest(t, "https://example.com/a?token=secret"))
	if err != nil || resp.StatusCode != 302 {
		t.Fatalf("a redirect has to come back: %v, %v", resp, err)
	}
	if _, err := h.Lookup(t.Context(), "example.com", lookleap.TypeTXT); !errors.Is(err, lookleap.ErrBogus) {
		t.Fatalf("bogus has to stay bogus: %v", err)
	}
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

func TestHostClock(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := &lookleap.Host{Now: func() time.Time { return then }}
	if !h.Time().Equal(then) {
		t.Error("the Host's clock is not used")
	}
	if (&lookleap.Host{}).Time().IsZero() {
		t.Error("without a clock there is no time")
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
