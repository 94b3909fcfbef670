package lookleaptest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func newInternet(t *testing.T) *lookleaptest.Internet {
	n := lookleaptest.NewInternet()
	t.Cleanup(n.Close)
	return n
}

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
	n := newInternet(t)
	shop := n.Site("shop.example").Files(fstest.MapFS{"menu.txt": {Data: []byte("Tea")}})
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
	n := newInternet(t)
	n.Site("printer.example").At("10.0.0.1").File("*", "text/plain", "secret")
	if o := n.FetcherOptions(); o.InsecureAllowPrivate {
		t.Error("private addresses are allowed")
	}
	if _, err := get(t, lookleap.NewFetcher(n.FetcherOptions()), "https://printer.example/"); !errors.Is(err, lookleap.ErrDenied) {
		t.Error(err)
	}
}

func TestZones(t *testing.T) {
	n := newInternet(t)
	shop := n.Site("www.shop.example")
	n.Sign("bank.example").Name("bank.example").TXT("signed")
	n.Sign("pay.deep.example").Name("_anml.pay.deep.example").TXT("signed")
	n.Sign("hashed.example", lookleaptest.SignaturesNSEC3)
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
		{"no.hashed.example", lookleap.TypeTXT, lookleap.Secure, 0, false, ""},
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

// A zone that was used unsigned can be signed later.
func TestSignLater(t *testing.T) {
	n := newInternet(t)
	n.Name("bank.example").TXT("text")
	if answer, err := n.Host().Lookup(t.Context(), "bank.example", lookleap.TypeTXT); err != nil || answer.DNSSEC != lookleap.Insecure {
		t.Error(answer, err)
	}
	n.Sign("bank.example")
	if answer, err := n.Host().Lookup(t.Context(), "bank.example", lookleap.TypeTXT); err != nil || answer.DNSSEC != lookleap.Secure || len(answer.Records) != 1 {
		t.Error(answer, err)
	}
}

func TestNames(t *testing.T) {
	n := newInternet(t)
	n.Name("_anml._tcp.shop.example").SRV(1, 2, 443, "anml.shop.example").TTL(time.Minute)
	n.Name("alias.shop.example").CNAME("www.shop.example")
	n.Name("www.shop.example", "93.184.217.1")
	n.Name("down.example", "93.184.217.2").ServFail()
	host := n.Host()
	srv, err := host.Lookup(t.Context(), "_anml._tcp.shop.example", lookleap.TypeSRV)
	if err != nil || *srv.Records[0].SRV != (lookleap.SRV{Priority: 1, Weight: 2, Port: 443, Target: "anml.shop.example"}) || srv.TTL != time.Minute {
		t.Error(srv, err)
	}
	alias, err := host.Lookup(t.Context(), "alias.shop.example", lookleap.TypeA)
	if err != nil || alias.Name != "www.shop.example" || alias.Records[0].Addr != netip.MustParseAddr("93.184.217.1") {
		t.Error(alias, err)
	}
	if _, err := host.Lookup(t.Context(), "down.example", lookleap.TypeA); err == nil {
		t.Error("a failing server answered")
	}
	n.Name("down.example").Heal()
	if _, err := host.LookupFresh(t.Context(), "down.example", lookleap.TypeA); err != nil {
		t.Error(err)
	}
}

// Each kind of connection and certificate fails in its own way, and no request arrives.
func TestConnectionsAndCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newInternet(t)
		host := n.Host()
		site := n.Site("shop.example").File("/", "text/plain", "welcome")
		for kind := lookleaptest.ConnectionRefused; kind <= lookleaptest.ConnectionNotTLS; kind++ {
			site.Connection(kind)
			if _, err := get(t, host, site.URL("/")); err == nil {
				t.Errorf("connection %d works", kind)
			}
		}
		site.Connection()
		for kind := lookleaptest.CertificateExpired; kind <= lookleaptest.CertificateUnknownCA; kind++ {
			site.Certificate(kind)
			if _, err := get(t, host, site.URL("/")); lookleap.CodeOf(err) != lookleap.CodeTLS {
				t.Errorf("certificate %d: %v", kind, err)
			}
		}
		if paths := n.Journal().Paths("shop.example"); len(paths) != 0 {
			t.Error(paths)
		}
		site.Certificate(lookleaptest.CertificateValid)
		if body, err := get(t, host, site.URL("/")); err != nil || body != "welcome" {
			t.Error(body, err)
		}
	})
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newInternet(t)
		host := n.Host()
		site := n.Site("shop.example").HTTP1().File("/", "text/plain", "0123456789")
		for name, c := range map[string]struct {
			fault lookleaptest.Fault
			ok    bool
		}{
			"delay":        {lookleaptest.Delay(3 * time.Second), true},
			"slow":         {lookleaptest.Slow(3 * time.Second), true},
			"stall":        {lookleaptest.Stall(), false},
			"mute":         {lookleaptest.Mute(), false},
			"truncated":    {lookleaptest.Truncated(), false},
			"reset":        {lookleaptest.Reset(), false},
			"reset-body":   {lookleaptest.ResetBody(), false},
			"wrong-length": {lookleaptest.WrongLength(99), false},
			"raw":          {lookleaptest.Raw("no HTTP\r\n\r\n"), false},
			"header-bomb":  {lookleaptest.HeaderBomb(1 << 20), false},
			"interim":      {lookleaptest.Informational(103, 2), true},
			"type":         {lookleaptest.ContentType("text/html"), true},
		} {
			site.Fault("/", c.fault)
			if _, err := get(t, host, site.URL("/")); (err == nil) != c.ok {
				t.Errorf("%s: %v", name, err)
			}
		}
		site.Fault("/")
		if body, err := get(t, host, site.URL("/")); err != nil || body != "0123456789" {
			t.Error(body, err)
		}
	})
}

func TestPrompter(t *testing.T) {
	shop := lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "Order tea",
		Items: []lookleap.ConsentItem{{ID: "order", Summary: "Order tea", Recipient: "https://shop.example", Digest: lookleap.Digest(nil)}},
	}
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			reply lookleaptest.Reply
			code  lookleap.Code
		}{
			"approve":       {lookleaptest.Approve(), lookleap.CodeOK},
			"approve-until": {lookleaptest.ApproveUntil(time.Now().Add(time.Hour)), lookleap.CodeOK},
			"after":         {lookleaptest.After(time.Minute, lookleaptest.Approve()), lookleap.CodeOK},
			"refuse":        {lookleaptest.Refuse(), lookleap.CodeConsentRefused},
			"pending":       {lookleaptest.Pending(), lookleap.CodeConsentPending},
			"hang":          {lookleaptest.Hang(), lookleap.CodeTimeout},
			"wrong-digest":  {lookleaptest.WrongDigest(), lookleap.CodeConsentMismatch},
			"unasked":       {lookleaptest.ApproveUnasked(), lookleap.CodeConsentRefused},
			"fail":          {lookleaptest.Fail(errors.New("no paper")), lookleap.CodeConsentFailed},
			"fail-approved": {lookleaptest.FailApproving(errors.New("no paper")), lookleap.CodeConsentFailed},
			"panic":         {lookleaptest.Panic("ouch"), lookleap.CodeConsentFailed},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			p := lookleaptest.NewPrompter(t, c.reply)
			host := &lookleap.Host{Prompter: p}
			plan, err := lookleap.NewPlan(shop, []byte("order"), host.Time())
			if err != nil {
				t.Fatal(err)
			}
			approval, err := host.Ask(ctx, plan)
			if lookleap.CodeOf(err) != c.code || (err == nil) != (approval != nil) {
				t.Errorf("%s: %v", name, err)
			}
			if asked := p.Requests(); len(asked) != 1 || asked[0].ID != plan.ID() {
				t.Errorf("%s: %v", name, asked)
			}
			cancel()
		}
	})
}
