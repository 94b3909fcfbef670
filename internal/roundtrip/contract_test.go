package roundtrip_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// client is a Fetcher that follows redirects.
func client(n *lookleaptest.Internet) lookleap.Fetcher {
	c := &http.Client{Transport: n.Unguarded()}
	return fetcherFunc(func(req *http.Request) (*http.Response, error) { return c.Do(req) })
}

func TestFetcherThatFollows(t *testing.T) {
	begin := func(t *testing.T) *lookleaptest.Internet {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Redirect("/act", "/private").Redirect("/away", "https://other.example/").File("/private", "text/plain", "secret").File("/", "text/plain", "hello")
		n.Site("other.example").File("/", "text/plain", "hello")
		return n
	}
	// Without reports of its connections a Fetcher's answer alone tells.
	silent := func(n *lookleaptest.Internet) lookleap.Fetcher {
		inner := client(n)
		return fetcherFunc(func(req *http.Request) (*http.Response, error) {
			return inner.RoundTrip(req.WithContext(context.Background()))
		})
	}
	changed := func(n *lookleaptest.Internet) lookleap.Fetcher {
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
	moved := func(n *lookleaptest.Internet) lookleap.Fetcher { // follows by changing the URL in its place
		t := n.Unguarded()
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
	for name, fetcher := range map[string]func(*lookleaptest.Internet) lookleap.Fetcher{"reporting": client, "silent": silent, "without-response": changed, "in-its-place": moved} {
		for _, path := range []string{"/act", "/away"} {
			t.Run("O63/reject-"+name+path, func(t *testing.T) {
				n := begin(t)
				host := &lookleap.Host{Fetcher: fetcher(n), Resolver: n.Stub()}
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
			if err := exchange(t, &lookleap.Host{Fetcher: fetcher(n), Resolver: n.Stub()}, req); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("O63/accept-client-above", func(t *testing.T) {
		n := begin(t)
		host := &lookleap.Host{Fetcher: n.Unguarded(), Resolver: n.Stub()}
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

// TestHeaderNames has names in other letters than net/http looks for.
func TestHeaderNames(t *testing.T) {
	for way, fetcher := range ways {
		t.Run("O58/accept-"+way, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").HTTP1().File("/act", "text/plain", "")
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
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").File("/act", "text/plain", "")
			if err := exchange(t, n.Fetcher(lookleap.FetcherOptions{}), request("GET", nil, header...)); lookleap.CodeOf(err) != lookleap.CodeUsage || len(n.Journal().Dials()) != 0 {
				t.Error(err)
			}
		})
	}
	t.Run("O58/accept-connection-close", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/act", "text/plain", "")
		if err := exchange(t, n.Fetcher(lookleap.FetcherOptions{}), request("GET", nil, "connection", "close")); err != nil {
			t.Error(err)
		}
	})
}
