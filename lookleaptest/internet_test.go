package lookleaptest_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func get(t *testing.T, transport http.RoundTripper, url string) (string, error) {
	t.Helper()
	resp, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
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
	for _, url := range []string{printer.URL("/"), "https://rebind.example/", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/"} {
		if _, err := get(t, host, url); !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := get(t, host, "https://elsewhere.example/"); lookleap.CodeOf(err) != lookleap.CodeConnRefused {
		t.Error(err)
	}
	if dials := n.Journal().Dials("192.168.0.9", "127.0.0.1", "169.254.169.254", "::1"); len(dials) != 0 {
		t.Error(dials)
	}
	if body, err := get(t, n.Unguarded(), printer.URL("/")); err != nil || body != "secret" {
		t.Errorf("the refused request would not have arrived: %q, %v", body, err)
	}
}

func TestFetcherOptionsStayGuarded(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("printer.example").At("10.0.0.1").File("*", "text/plain", "secret")
	if o := n.FetcherOptions(); o.InsecureAllowPrivate {
		t.Error("private addresses are allowed")
	}
	if _, err := get(t, lookleap.NewFetcher(n.FetcherOptions()), "https://printer.example/"); !errors.Is(err, lookleap.ErrDenied) {
		t.Error(err)
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
