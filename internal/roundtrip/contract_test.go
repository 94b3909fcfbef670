package roundtrip_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// TestOwnRequests has a plug-in send a request of its own before the one it was given.
func TestOwnRequests(t *testing.T) {
	both := func(t *testing.T, first string) error {
		n := lab.ForTest(t)
		n.Site("shop.example").Body("/act", "text/plain", "").Body("/", "text/plain", "")
		n.Site("token.example").Body("/", "text/plain", "")
		inner := n.ForeignTransport()
		host := &lookleap.Host{Resolver: n.Resolver(), Fetcher: fetcherFunc(func(req *http.Request) (*http.Response, error) {
			token, err := http.NewRequestWithContext(req.Context(), "GET", first, nil)
			if err != nil {
				return nil, err
			}
			if err := exchange(t, inner, token); err != nil {
				return nil, err
			}
			return inner.RoundTrip(req)
		})}
		return exchange(t, host, request("POST", nil))
	}
	t.Run("O48/accept-token-of-another-host", func(t *testing.T) {
		if err := both(t, "https://token.example/"); err != nil {
			t.Error(err)
		}
	})
	t.Run("O48/reject-second-request-to-the-host", func(t *testing.T) {
		if err := both(t, "https://shop.example/"); lookleap.CodeOf(err) != lookleap.CodeRedirectForbidden {
			t.Error(err)
		}
	})
}

// client is a Fetcher that follows redirects.
func client(n *lab.Internet) lookleap.Fetcher {
	c := &http.Client{Transport: n.ForeignTransport()}
	return fetcherFunc(func(req *http.Request) (*http.Response, error) { return c.Do(req) })
}

func TestFetcherThatFollows(t *testing.T) {
	begin := func(t *testing.T) *lab.Internet {
		n := lab.ForTest(t)
		n.Site("shop.example").Redirect("/act", "/private").Redirect("/away", "https://other.example/").Body("/private", "text/plain", "secret").Body("/", "text/plain", "hello")
		n.Site("other.example").Body("/", "text/plain", "hello")
		return n
	}
	// Without reports of its connections a Fetcher's answer alone tells.
	silent := func(n *lab.Internet) lookleap.Fetcher {
		inner := client(n)
		return fetcherFunc(func(req *http.Request) (*http.Response, error) {
			return inner.RoundTrip(req.WithContext(context.Background()))
		})
	}
	changed := func(n *lab.Internet) lookleap.Fetcher {
		inner := silent(n)
		return fetcherFunc(func(req *http.Request) (*http.Response, error) {
			resp, err := inner.RoundTrip(req)
			if err == nil {
				resp.Request = resp.Request.Clone(context.Background())
				resp.Request.Response = nil // and only the URL tells
			}
			return resp, err
		})
	}
	moved := func(n *lab.Internet) lookleap.Fetcher { // follows by changing the URL in its place
		t := n.ForeignTransport()
		return fetcherFunc(func(req *http.Request) (*http.Response, error) {
			req = req.WithContext(context.Background())
			resp, err := t.RoundTrip(req)
			if err != nil {
				return nil, err
			}
			if to, err := resp.Location(); err == nil {
				resp.Body.Close()
				*req.URL = *to
				return t.RoundTrip(req)
			}
			return resp, nil
		})
	}
	for name, fetcher := range map[string]func(*lab.Internet) lookleap.Fetcher{"reporting": client, "silent": silent, "without-response": changed, "in-its-place": moved} {
		for _, path := range []string{"/act", "/away"} {
			t.Run("O63/reject-"+name+path, func(t *testing.T) {
				n := begin(t)
				host := &lookleap.Host{Fetcher: fetcher(n), Resolver: n.Resolver()}
				req := request("GET", nil)
				req.URL.Path = path
				if err := exchange(t, host, req); lookleap.CodeOf(err) != lookleap.CodeRedirectForbidden {
					t.Error(err)
				}
				if got := len(n.Journal().Requests()); name == "reporting" && got != 1 {
					t.Errorf("%d requests", got)
				}
			})
		}
		t.Run("O63/accept-"+name+"-no-redirect", func(t *testing.T) {
			n := begin(t)
			req := request("GET", nil)
			req.URL.Path = "/"
			if err := exchange(t, &lookleap.Host{Fetcher: fetcher(n), Resolver: n.Resolver()}, req); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("O63/accept-client-above", func(t *testing.T) {
		n := begin(t)
		host := &lookleap.Host{Fetcher: n.ForeignTransport(), Resolver: n.Resolver()}
		resp, err := (&http.Client{Transport: host}).Get("https://shop.example/act")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.Request.URL.Path != "/private" {
			t.Errorf("%d from %s", resp.StatusCode, resp.Request.URL)
		}
	})
}

func TestCanonical(t *testing.T) {
	t.Run("O58", func(t *testing.T) {
		plain := http.Header{"Accept": {"a"}, "X-Y": {"1"}}
		if got := roundtrip.Canonical(plain); len(got) != 2 || &got["Accept"][0] != &plain["Accept"][0] {
			t.Errorf("%v", got)
		}
		mixed := http.Header{"upgrade": {"websocket"}, "TE": {"trailers"}, "x-y": {"1"}, "X-Y": {"2"}}
		got := roundtrip.Canonical(mixed)
		if got.Get("Upgrade") != "websocket" || got.Get("Te") != "trailers" || len(got.Values("X-Y")) != 2 || len(got) != 3 || len(mixed["X-Y"]) != 1 {
			t.Errorf("%v of %v", got, mixed)
		}
	})
}

// TestHeaderNames has names in other letters than net/http looks for.
func TestHeaderNames(t *testing.T) {
	for way, fetcher := range ways {
		t.Run("O58/accept-"+way, func(t *testing.T) {
			n := lab.ForTest(t)
			n.Site("shop.example").HTTP1().Body("/act", "text/plain", "")
			req := request("GET", nil, "content-length", "7", "transfer-encoding", "chunked", "host", "bank.example", "te", "trailers", "x-y", "1", "uSER-aGENT", "me")
			if err := exchange(t, fetcher(t, n), req); err != nil {
				t.Fatal(err)
			}
			got := n.Journal().Requests()[0]
			if got.Host != "shop.example" || got.BodySize != 0 || got.Header.Get("Content-Length") != "" || got.Header.Get("Te") != "trailers" || got.Header.Get("X-Y") != "1" ||
				len(got.Header["User-Agent"]) != 1 || got.Header["User-Agent"][0] != "me" {
				t.Errorf("%+v", got)
			}
		})
	}
	for _, header := range [][]string{
		{"upgrade", "websocket"}, {"UPGRADE", "h2c"}, {"Upgrade", ""}, {"connection", "upgrade"}, {"Connection", "close, X-Api-Key"}, {"cONNECTION", "te"},
	} {
		t.Run("O58/reject-"+header[0]+"-"+header[1], func(t *testing.T) {
			n := lab.ForTest(t)
			n.Site("shop.example").Body("/act", "text/plain", "")
			if err := exchange(t, n.Fetcher(), request("GET", nil, header...)); lookleap.CodeOf(err) != lookleap.CodeUsage || len(n.Journal().Dials()) != 0 {
				t.Error(err)
			}
		})
	}
	t.Run("O58/accept-connection-close", func(t *testing.T) {
		n := lab.ForTest(t)
		n.Site("shop.example").Body("/act", "text/plain", "")
		if err := exchange(t, n.Fetcher(), request("GET", nil, "connection", "close")); err != nil {
			t.Error(err)
		}
	})
}

// TestAnswerNames has a Fetcher that writes the names of an answer's header in
// other letters, and a caller who writes those of a request so.
func TestAnswerNames(t *testing.T) {
	var sent http.Header
	f := fetcherFunc(func(req *http.Request) (*http.Response, error) {
		sent = req.Header
		return &http.Response{StatusCode: 200, Body: http.NoBody, Request: req, Header: http.Header{"set-cookie": {"user=1"}, "CACHE-CONTROL": {"no-store"}}}, nil
	})
	url, err := domain.Parse("https://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("O58/accept-answer", func(t *testing.T) {
		r, err := fetch.Do(t.Context(), f, &fetch.Request{URL: url})
		if err != nil || !r.Freshness.NoStore || !r.Freshness.OneUser || r.Header.Get("Set-Cookie") == "" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("O58/accept-trailer", func(t *testing.T) {
		req := request("POST", nil)
		name := "x-sum" // as the caller spells it
		req.Trailer = http.Header{name: {"1"}}
		var trailer http.Header
		_, err := roundtrip.Do(fetcherFunc(func(req *http.Request) (*http.Response, error) { trailer = req.Trailer; return nil, nil }), req, options)
		if err != nil || trailer.Get("X-Sum") != "1" || req.Trailer[name] == nil {
			t.Errorf("%v, %v", trailer, err)
		}
	})
	t.Run("O58/accept-request", func(t *testing.T) {
		r, err := fetch.Do(t.Context(), f, &fetch.Request{URL: url, Accept: []string{"text/plain"}, Header: http.Header{"accept": {"*/*"}, "aUTHORIZATION": {"secret"}}})
		if lookleap.CodeOf(err) == lookleap.CodeMediaType {
			err = nil
		}
		if err != nil || len(sent.Values("Accept")) != 1 || sent.Get("Accept") != "*/*" || sent.Get("Authorization") != "secret" {
			t.Errorf("%v: %v, %v", sent, r, err)
		}
	})
}
