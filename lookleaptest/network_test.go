package lookleaptest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	stdnet "net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/lookleaptest"
)

func TestConnectionFates(t *testing.T) {
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for name, c := range map[string]struct {
		fate lookleaptest.Connection
		took time.Duration
		want func(error) bool
	}{
		"Refused":    {lookleaptest.ConnectionRefused, 0, is(lookleaptest.ErrRefused)},
		"Blackhole":  {lookleaptest.ConnectionLost, 30 * time.Second, is(context.DeadlineExceeded)},
		"Silent":     {lookleaptest.ConnectionSilent, 30 * time.Second, is(context.DeadlineExceeded)},
		"ResetFirst": {lookleaptest.ConnectionReset, 0, is(lookleaptest.ErrReset)},
		"ResetHello": {lookleaptest.ConnectionResetInTLS, 0, is(lookleaptest.ErrReset)},
		"NotTLS": {lookleaptest.ConnectionNotTLS, 0, func(err error) bool {
			return strings.Contains(err.Error(), "does not look like a TLS")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				site := net.Site("shop.example").Connection(c.fate, lookleaptest.ConnectionWorks).File("/", "text/plain", "hi")
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				begin := time.Now()
				_, _, err := fetch(ctx, net.Unguarded(), site.URL("/"))
				if took := time.Since(begin); err == nil || !c.want(err) || took != c.took {
					t.Error(err, took)
				}
				dials := net.Journal().Dials(site.Addr().String())
				if len(dials) != 1 || c.fate == lookleaptest.ConnectionRefused && dials[0].Err == nil {
					t.Errorf("%+v", dials)
				}
				if _, body, err := fetch(t.Context(), net.Unguarded(), site.URL("/")); err != nil || body != "hi" {
					t.Error("the second connection:", body, err)
				}
			})
		})
	}
}

func TestCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		kind lookleaptest.Certificate
		want func(error) bool
	}{
		"Valid":      {lookleaptest.CertificateValid, func(err error) bool { return err == nil }},
		"Expired":    {lookleaptest.CertificateExpired, invalid(x509.Expired)},
		"SelfSigned": {lookleaptest.CertificateSelfSigned, isA[x509.UnknownAuthorityError]},
		"UnknownCA":  {lookleaptest.CertificateUnknownCA, isA[x509.UnknownAuthorityError]},
		"WrongName":  {lookleaptest.CertificateWrongName, isA[x509.HostnameError]},
		"SharedName": {lookleaptest.CertificateSharedName, func(err error) bool { return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("shop.example").Certificate(c.kind).File("/", "text/plain", "hi")
			_, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/"))
			if !c.want(err) {
				t.Error(err)
			}
			if n := len(net.Journal().Requests()); (n == 1) != (c.kind == lookleaptest.CertificateValid ||
				c.kind == lookleaptest.CertificateSharedName) {
				t.Error(n, "requests arrived")
			}
		})
	}
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func invalid(reason x509.InvalidReason) func(error) bool {
	return func(err error) bool {
		var e x509.CertificateInvalidError
		return errors.As(err, &e) && e.Reason == reason
	}
}

func TestOldTLS(t *testing.T) {
	net := lookleaptest.ForTest(t)
	site := net.Site("shop.example").MaxTLS(tls.VersionTLS11).File("/", "text/plain", "hi")
	if _, _, err := fetch(t.Context(), net.Unguarded(), site.URL("/")); err == nil ||
		!strings.Contains(err.Error(), "protocol version") {
		t.Error(err)
	}
	lax := net.Unguarded()
	lax.TLSClientConfig.MinVersion = tls.VersionTLS10
	if resp, _, err := fetch(t.Context(), lax, site.URL("/")); err != nil || resp.TLS.Version != tls.VersionTLS11 {
		t.Error(resp, err)
	}
	if dials := net.Journal().Dials(); len(dials) != 2 {
		t.Errorf("%+v", dials)
	}
}

func TestClientCertificate(t *testing.T) {
	net := lookleaptest.ForTest(t)
	site := net.Site("bank.example").ClientAuth(tls.VerifyClientCertIfGiven).File("/", "text/plain", "hi")
	fetch(t.Context(), net.Unguarded(), site.URL("/"))
	known := net.Unguarded()
	known.TLSClientConfig.Certificates = []tls.Certificate{net.ClientCertificate("agent.example")}
	if _, _, err := fetch(t.Context(), known, site.URL("/")); err != nil {
		t.Error(err)
	}
	if r := net.Journal().Requests("bank.example"); len(r) != 2 || r[0].ClientCert || !r[1].ClientCert {
		t.Error(r)
	}
}

func TestPlaces(t *testing.T) {
	net := lookleaptest.ForTest(t)
	one := net.Site("one.example").Ports(443, 8443).Plain().File("/", "text/plain", "one")
	two := net.Site("two.example").At(one.Addr().String(), "2606:2800:220::7", "10.1.2.3").File("/", "text/plain", "two")
	net.Site("169.254.169.254").File("/", "text/plain", "metadata")
	net.Site("fd00::1").File("/", "text/plain", "local")
	for url, want := range map[string]string{
		"https://one.example/":      "one",
		"https://one.example:8443/": "one",
		"http://one.example/":       "one",
		"https://two.example/":      "two",
		"https://169.254.169.254/":  "metadata",
		"https://[fd00::1]/":        "local",
	} {
		if _, body, err := fetch(t.Context(), net.Unguarded(), url); err != nil || body != want {
			t.Error(url, body, err)
		}
	}
	for _, addr := range []string{"2606:2800:220::7", "10.1.2.3"} {
		transport := net.Unguarded()
		dial := net.FetcherOptions().Dial
		transport.DialContext = func(ctx context.Context, _, _ string) (stdnet.Conn, error) {
			return dial(ctx, netip.AddrPortFrom(netip.MustParseAddr(addr), 443))
		}
		if _, body, err := fetch(t.Context(), transport, two.URL("/")); err != nil || body != "two" {
			t.Error(addr, body, err)
		}
		// The host of another address is not served here.
		if resp, _, err := fetch(t.Context(), transport, "https://one.example/"); err == nil && resp.StatusCode != 421 {
			t.Error(addr, resp)
		}
	}
	one.At("93.184.216.200")
	if _, body, err := fetch(t.Context(), net.Unguarded(), one.URL("/")); err != nil || body != "one" {
		t.Error(body, err)
	}
	if d := net.Journal().Dials("93.184.216.200:443"); len(d) != 1 {
		t.Error(d)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lookleaptest.NewInternet()
		site := net.Site("shop.example").Fault("/stall", lookleaptest.Stall()).
			Fault("/endless", lookleaptest.Endless()).Fault("/slow", lookleaptest.Delay(time.Hour))
		net.Site("silent.example").Connection(lookleaptest.ConnectionSilent)
		net.Site("lost.example").Connection(lookleaptest.ConnectionLost)
		done := make(chan error)
		urls := []string{
			site.URL("/stall"), site.URL("/endless"), site.URL("/slow"), "https://silent.example/", "https://lost.example/",
		}
		for _, url := range urls {
			go func() {
				req, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
				resp, err := net.Unguarded().RoundTrip(req)
				if err == nil {
					io.CopyN(io.Discard, resp.Body, 1)
					time.Sleep(2 * time.Second)
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				done <- fmt.Errorf("%s: %w", url, err)
			}()
		}
		time.Sleep(time.Second)
		net.Close()
		for range urls {
			if err := <-done; errors.Unwrap(err) == nil {
				t.Error(err)
			}
		}
		net.Close()
		if _, err := net.Stub().Lookup(t.Context(), "shop.example", 1); err == nil {
			t.Error("a closed internet resolved")
		}
		if _, _, err := fetch(t.Context(), net.Unguarded(), "https://169.254.169.254/"); err == nil {
			t.Error("a closed internet answered")
		}
	})
}
