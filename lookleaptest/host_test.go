package lookleaptest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestRebinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		good := net.Site("rebind.example").File("/", "text/plain", "public")
		net.Site("victim.example").At("127.0.0.1").File("/", "text/plain", "private")
		net.Name("rebind.example").Rebind(good.Addr().String(), "127.0.0.1")
		for i, want := range []error{nil, lookleap.ErrDenied, lookleap.ErrDenied} {
			_, err := get(t, net.Fetcher(lookleap.FetcherOptions{}), "https://rebind.example/")
			if !errors.Is(err, want) {
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
	for name, fate := range map[string]lookleaptest.Connection{
		"Blackhole": lookleaptest.ConnectionLost, "Silent": lookleaptest.ConnectionSilent,
	} {
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

func get(t *testing.T, transport http.RoundTripper, url string) (string, error) {
	t.Helper()
	_, body, err := fetch(t.Context(), transport, url)
	return body, err
}

func TestHostReachesOnlyTheInternet(t *testing.T) {
	n := lookleaptest.ForTest(t)
	shop := n.Site("shop.example").Handle("*", http.FileServerFS(fstest.MapFS{"menu.txt": {Data: []byte("Tea")}}))
	printer := n.Site("printer.example").At("192.168.0.9").File("*", "text/plain", "secret")
	n.Name("elsewhere.example", "93.184.217.250") // a public address without a site
	n.Name("rebind.example").Rebind("127.0.0.1")
	host := n.Host()

	if body, err := get(t, host, shop.URL("/menu.txt")); err != nil || body != "Tea" {
		t.Errorf("%q, %v", body, err)
	}
	for _, url := range []string{
		printer.URL("/"), "https://rebind.example/", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/",
	} {
		if _, err := get(t, host, url); !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := get(t, host, "https://elsewhere.example/"); lookleap.CodeOf(err) != lookleap.CodeConnRefused {
		t.Error(err)
	}
	if d := n.Journal().Dials(shop.Addr().String()); len(d) != 1 || d[0].Err != nil {
		t.Errorf("%+v", d)
	}
	if dials := n.Journal().Dials("192.168.0.9", "127.0.0.1", "169.254.169.254", "::1"); len(dials) != 0 {
		t.Error(dials)
	}
	if body, err := get(t, n.Unguarded(), printer.URL("/")); err != nil || body != "secret" ||
		n.Journal().Bytes("192.168.0.9") == 0 {
		t.Errorf("the refused request would not have arrived: %q, %v", body, err)
	}
}

func TestZones(t *testing.T) {
	n := lookleaptest.ForTest(t)
	shop := n.Site("www.shop.example")
	n.Sign("bank.example").Name("bank.example").TXT("signed")
	n.Sign("pay.deep.example").Name("_anml.pay.deep.example").TXT("signed")
	n.Sign("forged.example", lookleaptest.SignaturesForged).Name("forged.example").TXT("forged")
	n.Sign("lapsed.example", lookleaptest.SignaturesExpired).Name("lapsed.example").TXT("old")
	host := n.Host()
	for _, c := range []struct {
		name   string
		t      lookleap.RRType
		state  lookleap.DNSSEC
		found  int
		exists bool
		code   lookleap.Code
	}{
		{shop.Name(), lookleap.TypeA, lookleap.Insecure, 1, true, ""},
		{shop.Name(), lookleap.TypeTXT, lookleap.Insecure, 0, true, ""},
		{"bank.example", lookleap.TypeTXT, lookleap.Secure, 1, true, ""},
		{"no.bank.example", lookleap.TypeTXT, lookleap.Secure, 0, false, ""},
		{"_anml.pay.deep.example", lookleap.TypeTXT, lookleap.Secure, 1, true, ""},
		{"no.deep.example", lookleap.TypeTXT, lookleap.Secure, 0, false, ""},
		{"forged.example", lookleap.TypeTXT, 0, 0, false, lookleap.CodeDNSSECBogus},
		{"lapsed.example", lookleap.TypeTXT, 0, 0, false, lookleap.CodeDNSSECBogus},
	} {
		answer, err := host.Lookup(t.Context(), c.name, c.t)
		switch {
		case c.code != "":
			if lookleap.CodeOf(err) != c.code {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case answer.DNSSEC != c.state || len(answer.Records) != c.found || answer.Exists != c.exists:
			t.Errorf("%s: %+v", c.name, answer)
		}
	}
	if asked := n.Journal().Queries("no.bank.example"); len(asked) == 0 || asked[0].Type != lookleap.TypeTXT {
		t.Error(asked)
	}
}
