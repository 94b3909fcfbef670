package lab_test

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

	"github.com/lookleap/lookleap/internal/lab"
)

func TestConnectionFates(t *testing.T) {
	for name, c := range map[string]struct {
		fate lab.Connection
		want func(error) bool
	}{
		"Refused":    {lab.Refused, func(err error) bool { return errors.Is(err, lab.ErrRefused) }},
		"Blackhole":  {lab.Blackhole, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		"Silent":     {lab.Silent, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		"ResetFirst": {lab.ResetFirst, func(err error) bool { return errors.Is(err, lab.ErrReset) }},
		"ResetHello": {lab.ResetHello, func(err error) bool { return errors.Is(err, lab.ErrReset) }},
		"Hangup":     {lab.Hangup, func(err error) bool { return errors.Is(err, io.EOF) }},
		"NotTLS":     {lab.NotTLS, func(err error) bool { return strings.Contains(err.Error(), "does not look like a TLS") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.ForTest(t)
				site := net.Site("shop.example").Connection(c.fate, lab.Healthy).Body("/", "text/plain", "hi")
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				begin := time.Now()
				_, _, err := get(ctx, net.ForeignTransport(), site.URL("/"))
				if err == nil || !c.want(err) {
					t.Error(err)
				}
				waited := c.fate == lab.Blackhole || c.fate == lab.Silent
				if took := time.Since(begin); waited != (took == 30*time.Second) || !waited && took != 0 {
					t.Error("took", took)
				}
				dials := net.Journal().Dials(site.Addr().String())
				if len(dials) != 1 || dials[0].Connected == (c.fate == lab.Refused || c.fate == lab.Blackhole) || dials[0].TLS != 0 {
					t.Errorf("%+v", dials)
				}
				if _, body, err := get(t.Context(), net.ForeignTransport(), site.URL("/")); err != nil || body != "hi" {
					t.Error("the second connection:", body, err)
				}
			})
		})
	}
}

func TestCertificates(t *testing.T) {
	for name, c := range map[string]struct {
		kind lab.Certificate
		want func(error) bool
	}{
		"Valid":       {lab.Valid, func(err error) bool { return err == nil }},
		"Expired":     {lab.Expired, invalid(x509.Expired)},
		"NotYetValid": {lab.NotYetValid, invalid(x509.Expired)},
		"SelfSigned":  {lab.SelfSigned, isA[x509.UnknownAuthorityError]},
		"UnknownCA":   {lab.UnknownCA, isA[x509.UnknownAuthorityError]},
		"WrongName":   {lab.WrongName, isA[x509.HostnameError]},
		"SharedName":  {lab.SharedName, func(err error) bool { return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			net := lab.ForTest(t)
			site := net.Site("shop.example").Certificate(c.kind).Body("/", "text/plain", "hi")
			_, _, err := get(t.Context(), net.ForeignTransport(), site.URL("/"))
			if !c.want(err) {
				t.Error(err)
			}
			if n := len(net.Journal().Requests()); (n == 1) != (c.kind == lab.Valid || c.kind == lab.SharedName) {
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
	net := lab.ForTest(t)
	site := net.Site("shop.example").MaxTLS(tls.VersionTLS11).Body("/", "text/plain", "hi")
	if _, _, err := get(t.Context(), net.ForeignTransport(), site.URL("/")); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Error(err)
	}
	lax := net.ForeignTransport()
	lax.TLSClientConfig.MinVersion = tls.VersionTLS10
	if resp, _, err := get(t.Context(), lax, site.URL("/")); err != nil || resp.TLS.Version != tls.VersionTLS11 {
		t.Error(resp, err)
	}
	if dials := net.Journal().Dials(); len(dials) != 2 || dials[0].Handshake == nil || dials[1].TLS != tls.VersionTLS11 {
		t.Errorf("%+v", dials)
	}
}

func TestClientCertificate(t *testing.T) {
	net := lab.ForTest(t)
	site := net.Site("bank.example").ClientAuth(tls.VerifyClientCertIfGiven).Body("/", "text/plain", "hi")
	get(t.Context(), net.ForeignTransport(), site.URL("/"))
	known := net.ForeignTransport()
	known.TLSClientConfig.Certificates = []tls.Certificate{net.ClientCertificate("agent.example")}
	if _, _, err := get(t.Context(), known, site.URL("/")); err != nil {
		t.Error(err)
	}
	if r := net.Journal().Requests("bank.example"); len(r) != 2 || r[0].ClientCert || !r[1].ClientCert {
		t.Error(r)
	}
}

func TestPlaces(t *testing.T) {
	net := lab.ForTest(t)
	one := net.Site("one.example").Ports(443, 8443).Plain().Body("/", "text/plain", "one")
	two := net.Site("two.example").At(one.Addr().String(), "2606:2800:220::7", "10.1.2.3").Body("/", "text/plain", "two")
	net.Site("169.254.169.254").Body("/", "text/plain", "metadata")
	net.Site("fd00::1").Body("/", "text/plain", "local")
	for url, want := range map[string]string{
		"https://one.example/":      "one",
		"https://one.example:8443/": "one",
		"http://one.example/":       "one",
		"https://two.example/":      "two",
		"https://169.254.169.254/":  "metadata",
		"https://[fd00::1]/":        "local",
	} {
		if _, body, err := get(t.Context(), net.ForeignTransport(), url); err != nil || body != want {
			t.Error(url, body, err)
		}
	}
	for _, addr := range []string{"2606:2800:220::7", "10.1.2.3"} {
		transport := net.ForeignTransport()
		dial := net.Dialer("straight")
		transport.DialContext = func(ctx context.Context, _, _ string) (stdnet.Conn, error) {
			return dial(ctx, netip.AddrPortFrom(netip.MustParseAddr(addr), 443))
		}
		if _, body, err := get(t.Context(), transport, two.URL("/")); err != nil || body != "two" {
			t.Error(addr, body, err)
		}
		// The host of another address is not served here.
		if resp, _, err := get(t.Context(), transport, "https://one.example/"); err == nil && resp.StatusCode != 421 {
			t.Error(addr, resp)
		}
	}
	one.At("93.184.216.200")
	if _, body, err := get(t.Context(), net.ForeignTransport(), one.URL("/")); err != nil || body != "one" {
		t.Error(body, err)
	}
	if d := net.Journal().Dials("93.184.216.200:443"); len(d) != 1 {
		t.Error(d)
	}
}

func TestAfterClose(t *testing.T) {
	net := lab.New()
	site := net.Site("shop.example").Body("/", "text/plain", "hi")
	net.Close()
	net.Close()
	if _, _, err := get(t.Context(), net.ForeignTransport(), site.URL("/")); err == nil {
		t.Error("a closed lab answered")
	}
	if _, err := net.Resolver().Lookup(t.Context(), "shop.example", 1); err == nil {
		t.Error("a closed lab resolved")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := lab.New()
		site := net.Site("shop.example").Fault("/stall", lab.Stall()).Fault("/endless", lab.Endless()).Fault("/slow", lab.Delay(time.Hour))
		net.Site("silent.example").Connection(lab.Silent)
		net.Site("lost.example").Connection(lab.Blackhole)
		done := make(chan error)
		urls := []string{site.URL("/stall"), site.URL("/endless"), site.URL("/slow"), "https://silent.example/", "https://lost.example/"}
		for _, url := range urls {
			go func() {
				req, _ := http.NewRequestWithContext(t.Context(), "GET", url, nil)
				resp, err := net.ForeignTransport().RoundTrip(req)
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
	})
}
