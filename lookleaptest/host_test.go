package lookleaptest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The fetcher is the real guarded one: made-up public addresses pass, private ones are not even
// dialled.
func TestHostIsGuarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		host := net.StubHost()
		net.Site("shop.example").File("/", "text/plain", "hi")
		net.Site("intranet.example").At("10.0.0.5").File("/", "text/plain", "secret")
		net.Site("169.254.169.254").File("/", "text/plain", "keys")
		if resp, body, err := fetch(t.Context(), host, "https://shop.example/"); err != nil || body != "hi" || resp.ProtoMajor != 2 {
			t.Error(resp, body, err)
		}
		for _, url := range []string{"https://intranet.example/", "https://169.254.169.254/", "https://127.0.0.1/"} {
			if _, _, err := fetch(t.Context(), host, url); !errors.Is(err, lookleap.ErrDenied) {
				t.Error(url, err)
			}
		}
		if d := net.Journal().Dials(); len(d) != 1 || d[0].By != "fetcher" || d[0].SNI != "shop.example" {
			t.Errorf("%+v", d)
		}
		// A transport without a guard gets there.
		if _, body, err := fetch(t.Context(), net.Unguarded(), "https://intranet.example/"); err != nil || body != "secret" {
			t.Error(body, err)
		}
		if n := net.Journal().Bytes("10.0.0.5"); n == 0 {
			t.Error("no bytes were counted")
		}
	})
}

func TestRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		good := net.Site("rebind.example").File("/", "text/plain", "public")
		net.Site("victim.example").At("127.0.0.1").File("/", "text/plain", "private")
		net.Name("rebind.example").Rebind(good.Addr().String(), "127.0.0.1")
		for i, want := range []error{nil, lookleap.ErrDenied, lookleap.ErrDenied} {
			if _, _, err := fetch(t.Context(), net.Fetcher(lookleap.FetcherOptions{}), "https://rebind.example/"); !errors.Is(err, want) {
				t.Error(i, err)
			}
		}
		if d := net.Journal().Dials("127.0.0.1"); len(d) != 0 {
			t.Error(d)
		}
		if q := net.Journal().Queries("rebind.example"); len(q) < 3 {
			t.Error(q)
		}
	})
}

func TestHostTimesOut(t *testing.T) {
	for name, fate := range map[string]lookleaptest.Connection{"Blackhole": lookleaptest.ConnectionLost, "Silent": lookleaptest.ConnectionSilent} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").Connection(fate)
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, _, err := fetch(ctx, net.StubHost(), "https://shop.example/")
				if took := time.Since(begin); err == nil || took == 0 || took > time.Minute {
					t.Error(err, took)
				}
			})
		})
	}
}

// Two hundred callers at once are no trouble, and each of them is in the journal.
func TestManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File("/", "text/plain", "hi")
		host := net.StubHost()
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				if _, body, err := fetch(t.Context(), host, site.URL("/")); err != nil || body != "hi" {
					t.Error(body, err)
				}
				net.Site("shop.example").Status("/other", 204)
				net.Journal().Dials()
			})
		}
		group.Wait()
		if n := len(net.Journal().Requests("shop.example")); n != 200 {
			t.Error(n)
		}
	})
}

// fetch performs one exchange and reads the body.
func fetch(ctx context.Context, f lookleap.Fetcher, url string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := f.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}
