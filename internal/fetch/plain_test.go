package fetch_test

import (
	"crypto/tls"
	"net/http"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestPlain(t *testing.T) {
	net := lab.ForTest(t)
	net.Site("old.example").Plain().Body("/a", "text/plain", "a").
		Redirect("/up", "https://new.example/b").Redirect("/on", "/a")
	net.Site("new.example").Plain().Body("/b", "text/plain", "b").Redirect("/down", "http://old.example/a")
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	do := func(f lookleap.Fetcher, raw string, change func(*fetch.Request)) (*fetch.Response, error) {
		u, err := rules.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		r := &fetch.Request{URL: u, Rules: rules, Redirect: fetch.Anywhere, Plain: true}
		if change != nil {
			change(r)
		}
		return fetch.Do(t.Context(), f, r)
	}
	foreign := net.ForeignTransport()
	for raw, want := range map[string]string{
		"http://old.example/a": "a", "http://old.example/up": "b", "http://old.example/on": "a", "https://new.example/b": "b",
	} {
		if r, err := do(foreign, raw, nil); err != nil || string(r.Body) != want {
			t.Errorf("%s: %v, %v", raw, r, err)
		}
	}
	for name, change := range map[string]func(*fetch.Request){
		"not-allowed":    func(r *fetch.Request) { r.Plain = false },
		"a-body":         func(r *fetch.Request) { r.Body = []byte("x") },
		"another-method": func(r *fetch.Request) { r.Method = http.MethodDelete },
		"trust-evidence": func(r *fetch.Request) { r.TrustEvidence = true },
		"a-certificate":  func(r *fetch.Request) { r.ClientCertificate = true },
	} {
		if _, err := do(foreign, "http://old.example/a", change); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := do(foreign, "http://old.example/a", func(r *fetch.Request) { r.Verified = true }); err != nil {
		t.Errorf("without a certificate to verify: %v", err)
	}
	rules.Schemes = append(rules.Schemes, "ftp")
	if _, err := do(foreign, "ftp://old.example/a", nil); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
		t.Errorf("another scheme: %v", err)
	}
	if _, err := do(foreign, "https://new.example/down", nil); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
		t.Errorf("from https to http: %v", err)
	}
	if _, err := do(net.Fetcher(), "http://old.example/a", nil); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
		t.Errorf("the default fetcher: %v", err)
	}
	net.Site("old.example").At("10.0.0.1")
	if _, err := do(net.ForeignTransport(), "http://old.example/a", nil); lookleap.CodeOf(err) != lookleap.CodeBlockedAddress {
		t.Errorf("a private address: %v", err)
	}
}

func TestVerified(t *testing.T) {
	net := lab.ForTest(t)
	net.Site("shop.example").Body("/", "text/plain", "a")
	u, err := domain.Parse("https://shop.example/")
	if err != nil {
		t.Fatal(err)
	}
	careless := net.ForeignTransport()
	careless.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	for name, c := range map[string]struct {
		f    lookleap.Fetcher
		want lookleap.Code
	}{
		"verified":     {net.ForeignTransport(), lookleap.CodeOK},
		"not-verified": {careless, lookleap.CodeTLS},
		"not-reported": {canned{}, lookleap.CodeOK},
	} {
		if _, err := fetch.Do(t.Context(), c.f, &fetch.Request{URL: u, Verified: true}); lookleap.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// canned answers by itself and reports no connection.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 2, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
