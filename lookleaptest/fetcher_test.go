package lookleaptest

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestOurFetchers(t *testing.T) {
	for name, open := range map[string]openFetcher{
		"guarded":   func(_ testing.TB, n *Internet) lookleap.Fetcher { return lookleap.NewFetcher(n.FetcherOptions()) },
		"host":      func(_ testing.TB, n *Internet) lookleap.Fetcher { return n.Host() },
		"transport": func(_ testing.TB, n *Internet) lookleap.Fetcher { return n.Unguarded() },
	} {
		t.Run(name, func(t *testing.T) {
			accepts(t, func() Engine[openFetcher] { return overInternet(open) }, fetcherPromises)
		})
	}
}

func TestBrokenFetchers(t *testing.T) {
	all := map[string]openFetcher{
		"one-exchange": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				req.URL.RawQuery = "" // as if the query were a secret
				return next.RoundTrip(req)
			}}
		},
		"exchanges-are-separate": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			cookie := ""
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				if cookie != "" {
					req.Header.Set("Cookie", cookie)
				}
				resp, err := next.RoundTrip(req)
				if err == nil {
					cookie = resp.Header.Get("Set-Cookie")
				}
				return resp, err
			}}
		},
		"no-redirects": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				return (&http.Client{Transport: next}).Do(req)
			}}
		},
		"no-retries": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				resp, err := next.RoundTrip(req)
				if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
					return next.RoundTrip(req.Clone(context.Background()))
				}
				return resp, err
			}}
		},
		"failures-are-errors": func(t testing.TB, n *Internet) lookleap.Fetcher {
			transport := n.Unguarded()
			transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			t.Cleanup(transport.CloseIdleConnections)
			return transport
		},
		"reports-connections": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				ctx, cancel := context.WithCancel(context.Background())
				context.AfterFunc(req.Context(), cancel)
				return next.RoundTrip(req.Clone(ctx))
			}}
		},
		"cancellation": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				return next.RoundTrip(req.Clone(context.WithoutCancel(req.Context())))
			}}
		},
		"concurrent-use": func(_ testing.TB, n *Internet) lookleap.Fetcher {
			var mu sync.Mutex
			var path string
			return around{n, func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
				mu.Lock()
				path = req.URL.Path
				mu.Unlock()
				ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
					mu.Lock()
					defer mu.Unlock()
					req.URL.Path = path // of whichever request came last
				}})
				return next.RoundTrip(req.WithContext(ctx))
			}}
		},
	}
	covers(t, fetcherPromises, all)
	for promise, open := range all {
		t.Run(promise, func(t *testing.T) {
			rejects(t, func() Engine[openFetcher] { return overInternet(open) }, fetcherPromises, promise)
		})
	}
}

// around is a fetcher with code of its own before that of an internet.
type around struct {
	net *Internet
	do  func(next http.RoundTripper, req *http.Request) (*http.Response, error)
}

func (a around) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.do(a.net.Unguarded(), req.Clone(req.Context()))
}
