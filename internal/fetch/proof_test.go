package fetch_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// reporting is a Fetcher that reports connections, ignores that they are refused, and answers 204.
func reporting(conns ...net.Conn) lookleap.Fetcher {
	return fetcherFunc(func(req *http.Request) (*http.Response, error) {
		for _, conn := range conns {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
		}
		return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
	})
}

// TestProofOfTheHost: what discloses or is evidence needs a certificate that was verified, for this host.
func TestProofOfTheHost(t *testing.T) {
	public := toldConn{remote: &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 443}}
	ours, other := &x509.Certificate{DNSNames: []string{"shop.example"}}, &x509.Certificate{DNSNames: []string{"other.example"}}
	chain := func(leaf *x509.Certificate) [][]*x509.Certificate { return [][]*x509.Certificate{{leaf}} }
	for name, c := range map[string]struct {
		leaf   *x509.Certificate
		chains [][]*x509.Certificate
		code   lookleap.Code
	}{
		"accept-verified":        {ours, chain(ours), lookleap.CodeOK},
		"reject-other-host":      {other, chain(other), lookleap.CodeTLS},
		"reject-unverified":      {ours, nil, lookleap.CodeTLS},
		"reject-no-certificate":  {nil, chain(ours), lookleap.CodeTLS},
		"reject-nothing-at-all":  {nil, nil, lookleap.CodeTLS},
		"reject-other-and-chain": {other, chain(ours), lookleap.CodeTLS},
	} {
		state := tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, VerifiedChains: c.chains}
		if c.leaf != nil {
			state.PeerCertificates = []*x509.Certificate{c.leaf}
		}
		for kind, r := range map[string]*fetch.Request{"evidence": {TrustEvidence: true}, "body": {Method: "POST", Body: []byte("secret")}} {
			t.Run(name+"-"+kind, func(t *testing.T) {
				resp, err := do(t, reporting(secureConn{public, state}), r, "https://shop.example/")
				if c.code != lookleap.CodeOK {
					failure(t, resp, err, c.code)
				} else if err != nil || !resp.Conn.ValidFor("shop.example") || resp.Conn.ValidFor("other.example") {
					t.Errorf("%+v, %v", resp, err)
				}
			})
		}
	}
	if (fetch.Conn{}).ValidFor("shop.example") {
		t.Error("no certificate is valid for a host")
	}
}

// TestPlainAddress: the address of a plain connection is evidence, too.
func TestPlainAddress(t *testing.T) {
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	u, err := rules.Parse("http://old.example/")
	if err != nil {
		t.Fatal(err)
	}
	resp, err := fetch.Do(t.Context(), reporting(toldConn{remote: &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 80}}),
		&fetch.Request{URL: u, Rules: rules, Plain: true})
	if err != nil || resp.Evidence().Address != "93.184.216.34:80" || resp.Evidence().TLS != "" {
		t.Errorf("%+v, %v", resp, err)
	}
	if resp, err := fetch.Do(t.Context(), reporting(), &fetch.Request{}); lookleap.CodeOf(err) != lookleap.CodeBadURL {
		t.Errorf("no URL: %+v, %v", resp, err)
	}
}

// TestStatusesWithoutBody: a body after a status that has none is not read, whatever the caller wants.
func TestStatusesWithoutBody(t *testing.T) {
	for status, read := range map[int]bool{200: true, 204: false, 205: false, 206: true, 304: false, 404: true} {
		f := fetcherFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("text")), ContentLength: -1}, nil
		})
		resp, err := do(t, f, &fetch.Request{ReadBody: func(int) bool { return true }}, "https://shop.example/")
		if err != nil || (string(resp.Body) == "text") != read {
			t.Errorf("%d: %+v, %v", status, resp, err)
		}
	}
}
