package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/lookleaptest"
)

// tap is a TLS server that keeps every byte that clients send inside TLS.
type tap struct {
	mu   sync.Mutex
	got  []byte
	done sync.WaitGroup
}

func newTap(t *testing.T, n *lookleaptest.Internet, addr, protocol string) *tap {
	t.Helper()
	lender := httptest.NewTLSServer(nil) // for its certificate
	config := &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{protocol}}
	lender.Close()
	ln := n.Listen(addr)
	p := new(tap)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			p.done.Go(func() {
				defer conn.Close()
				secure := tls.Server(conn, config)
				buf := make([]byte, 4096)
				for {
					n, err := secure.Read(buf)
					p.mu.Lock()
					p.got = append(p.got, buf[:n]...)
					p.mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
	}()
	return p
}

// sent is what arrived, once every connection has ended.
func (p *tap) sent() []byte {
	p.done.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.got)
}

// requestFrames counts the HTTP/2 frames that carry requests.
func requestFrames(t *testing.T, sent []byte) (frames int) {
	t.Helper()
	rest, ok := bytes.CutPrefix(sent, []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if !ok && len(sent) > 0 {
		t.Fatalf("not HTTP/2: %q", sent)
	}
	for len(rest) >= 9 {
		size := int(binary.BigEndian.Uint32(append([]byte{0}, rest[:3]...)))
		if kind := rest[3]; kind == 0 || kind == 1 || kind == 9 { // DATA, HEADERS, CONTINUATION
			frames++
		}
		rest = rest[min(9+size, len(rest)):]
	}
	return frames
}

// careless is a transport without any check of its own.
func careless(n *lookleaptest.Internet) *http.Transport {
	f := n.Unguarded()
	f.TLSClientConfig.InsecureSkipVerify = true
	return f
}

func TestForeignTransportSendsNothingToAPrivateAddress(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		for _, method := range []string{"GET", "POST"} {
			t.Run("F01/reject-foreign-"+method+"-"+protocol[len(protocol)-1:], func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				n.Name("internal.example", "10.0.0.1")
				p := newTap(t, n, "10.0.0.1:443", protocol)
				f := careless(n)
				r := &fetch.Request{Method: method, Header: http.Header{"Authorization": {"secret"}}}
				if method == "POST" {
					r.Body = []byte("secret")
				}
				resp, err := do(t, f, r, "https://internal.example/?secret")
				if e := failure(t, resp, err, lookleap.CodeBlockedAddress); e.Transient || !errors.Is(err, lookleap.ErrDenied) {
					t.Errorf("%+v", e)
				}
				f.CloseIdleConnections()
				sent := p.sent()
				if protocol == "h2" {
					if frames := requestFrames(t, sent); frames != 0 {
						t.Errorf("%d frames of a request left", frames)
					}
				} else if len(sent) != 0 {
					t.Errorf("sent %q", sent)
				}
			})
		}
	}
}

func TestConnectionDemands(t *testing.T) {
	n := lookleaptest.ForTest(t)
	twelve := n.Site("twelve.example").File("/", "text/plain", "").MaxTLS(tls.VersionTLS12)
	n.Site("modern.example").File("/", "text/plain", "")
	n.Site("mutual.example").File("/", "text/plain", "").ClientAuth(tls.RequireAndVerifyClientCert)
	withCert := lookleap.FetcherOptions{ClientCertificates: []tls.Certificate{n.ClientCertificate("agent")}}
	foreignWithCert := n.Unguarded()
	foreignWithCert.TLSClientConfig.Certificates = withCert.ClientCertificates

	tests := []struct {
		name string
		site string
		f    lookleap.Fetcher
		r    fetch.Request
		code lookleap.Code
	}{
		{"tls-1.2", "twelve", n.Unguarded(), fetch.Request{}, ""},
		{"tls-1.3-demanded", "twelve", n.Unguarded(), fetch.Request{MinTLS: tls.VersionTLS13}, lookleap.CodeTLSTooOld},
		{"tls-1.3-demanded-of-ours", "twelve", n.Fetcher(lookleap.FetcherOptions{}), fetch.Request{MinTLS: tls.VersionTLS13}, lookleap.CodeTLSTooOld},
		{"tls-1.3", "modern", n.Unguarded(), fetch.Request{MinTLS: tls.VersionTLS13}, ""},
		{"certificate-shown", "mutual", n.Fetcher(withCert), fetch.Request{ClientCertificate: true}, ""},
		{"certificate-not-asked-for", "modern", n.Fetcher(withCert), fetch.Request{ClientCertificate: true}, lookleap.CodeClientCert},
		{"certificate-not-there", "modern", n.Fetcher(lookleap.FetcherOptions{}), fetch.Request{ClientCertificate: true}, lookleap.CodeClientCert},
		{"certificate-untold", "mutual", foreignWithCert, fetch.Request{ClientCertificate: true}, lookleap.CodeClientCert},
		{"unverified-for-plain-reads", "modern", careless(n), fetch.Request{}, ""},
		{"unverified-for-evidence", "modern", careless(n), fetch.Request{TrustEvidence: true}, lookleap.CodeTLS},
		{"unverified-for-actions", "modern", careless(n), fetch.Request{Method: "POST", Body: []byte("x")}, lookleap.CodeTLS},
		{"verified-foreign-evidence", "modern", n.Unguarded(), fetch.Request{TrustEvidence: true}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n.Journal().Clear()
			resp, err := do(t, test.f, &test.r, "https://"+test.site+".example/")
			if test.code == "" {
				if err != nil || !resp.Conn.Reported() || resp.Conn.ClientCertificate != test.r.ClientCertificate {
					t.Errorf("%+v, %v", resp, err)
				}
				return
			}
			if e := failure(t, resp, err, test.code); e.Transient {
				t.Errorf("%+v", e)
			}
			if requests := n.Journal().Requests(); len(requests) != 0 {
				t.Errorf("requests %v", requests)
			}
		})
	}
	t.Run("kept-connection-is-judged-again", func(t *testing.T) {
		n.Journal().Clear()
		for _, http1 := range []bool{false, true} {
			if http1 {
				twelve.HTTP1()
			}
			for _, f := range []lookleap.Fetcher{n.Fetcher(lookleap.FetcherOptions{}), n.Unguarded()} {
				must(t, f, new(fetch.Request), "https://twelve.example/")
				resp, err := do(t, f, &fetch.Request{MinTLS: tls.VersionTLS13}, "https://twelve.example/")
				failure(t, resp, err, lookleap.CodeTLSTooOld)
			}
		}
		if got := len(n.Journal().Requests()); got != 4 {
			t.Errorf("%d requests", got)
		}
	})
	t.Run("private-in-a-test-bed", func(t *testing.T) {
		n.Site("bed.example").At("127.0.0.1").File("/", "text/plain", "")
		must(t, n.Fetcher(lookleap.FetcherOptions{InsecureAllowPrivate: true}), &fetch.Request{TrustEvidence: true}, "https://bed.example/")
	})
}

func TestFetchersThatReportNoConnection(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "hello")
	inner := n.Fetcher(lookleap.FetcherOptions{})
	bodyRead := false
	silent := fetcherFunc(func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			var data bytes.Buffer
			_, err := io.Copy(&data, req.Body) // by whatever way the body offers
			bodyRead = data.Len() > 0
			if err != nil {
				return nil, err
			}
		}
		return inner.RoundTrip(req.WithContext(context.Background()))
	})
	t.Run("plain-read", func(t *testing.T) {
		if resp := must(t, silent, new(fetch.Request), "https://shop.example/"); resp.Conn.Reported() || string(resp.Body) != "hello" {
			t.Errorf("%+v", resp)
		}
	})
	for name, r := range map[string]*fetch.Request{
		"evidence":    {TrustEvidence: true},
		"certificate": {ClientCertificate: true},
		"delete":      {Method: "DELETE"},
		"answers":     {Method: "POST", Body: []byte("secret")},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := do(t, silent, r, "https://shop.example/")
			failure(t, resp, err, lookleap.CodeNoConnection)
			if bodyRead {
				t.Error("the body left before a connection was known")
			}
		})
	}
	t.Run("report-without-connection", func(t *testing.T) {
		empty := fetcherFunc(func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{})
			return inner.RoundTrip(req)
		})
		resp, err := do(t, empty, new(fetch.Request), "https://shop.example/")
		failure(t, resp, err, lookleap.CodeNoConnection)
	})
	t.Run("report-of-something-else", func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		piped := fetcherFunc(func(req *http.Request) (*http.Response, error) {
			httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: client})
			if req.Context().Err() == nil {
				t.Error("the request goes on")
			}
			return inner.RoundTrip(req)
		})
		resp, err := do(t, piped, new(fetch.Request), "https://shop.example/")
		failure(t, resp, err, lookleap.CodeBlockedNetwork)
	})
}

// toldConn is a connection that tells about itself what a test wants.
type toldConn struct {
	net.Conn
	remote net.Addr
}

func (c toldConn) RemoteAddr() net.Addr { return c.remote }
func (toldConn) Close() error           { return nil }

// secureConn is a toldConn with TLS.
type secureConn struct {
	toldConn
	state tls.ConnectionState
}

func (c secureConn) ConnectionState() tls.ConnectionState { return c.state }

// TestReportedConnections: a Fetcher that ignores that its connection is refused has its answer
// refused.
func TestReportedConnections(t *testing.T) {
	public := toldConn{remote: &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 443}}
	private := toldConn{remote: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 443}}
	modern := tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true}
	for _, c := range []struct {
		name  string
		conns []net.Conn
		code  lookleap.Code
	}{
		{"F01/accept-public", []net.Conn{secureConn{public, modern}}, lookleap.CodeOK},
		{"F01/reject-private", []net.Conn{secureConn{private, modern}}, lookleap.CodeBlockedAddress},
		{"F01/reject-private-before-public", []net.Conn{secureConn{private, modern}, secureConn{public, modern}}, lookleap.CodeBlockedAddress},
		{"F01/reject-no-address", []net.Conn{secureConn{toldConn{}, modern}}, lookleap.CodeBlockedNetwork},
		{"reject-no-tls", []net.Conn{public}, lookleap.CodeTLS},
		{"reject-handshake-under-way", []net.Conn{secureConn{public, tls.ConnectionState{Version: tls.VersionTLS13}}}, lookleap.CodeTLS},
		{"reject-tls-1.1", []net.Conn{secureConn{public, tls.ConnectionState{Version: tls.VersionTLS11, HandshakeComplete: true}}}, lookleap.CodeTLSTooOld},
	} {
		t.Run(c.name, func(t *testing.T) {
			careless := fetcherFunc(func(req *http.Request) (*http.Response, error) {
				for _, conn := range c.conns {
					httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
				}
				return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
			})
			resp, err := do(t, careless, new(fetch.Request), "https://shop.example/")
			if c.code != lookleap.CodeOK {
				failure(t, resp, err, c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e := resp.Evidence(); e.Address != "93.184.216.34:443" || e.TLS != "TLS 1.3" {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("F01/accept-nothing-reported", func(t *testing.T) {
		silent := fetcherFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
		})
		if e := must(t, silent, new(fetch.Request), "https://shop.example/").Evidence(); e.Address != "" || e.TLS != "" {
			t.Errorf("%+v", e)
		}
	})
}

// TestMayHaveArrived: a request arrived nowhere if it was not given to the Fetcher, or if the
// Fetcher asked for a connection and got none.
func TestMayHaveArrived(t *testing.T) {
	for name, c := range map[string]struct {
		method      string
		asked, got  bool
		answer      *http.Response
		mayHaveSent bool
	}{
		"accept-asked-and-none":    {asked: true},
		"accept-not-given":         {method: http.MethodConnect, got: true},
		"reject-connected":         {asked: true, got: true, mayHaveSent: true},
		"reject-not-reported":      {mayHaveSent: true},
		"reject-only-connected":    {got: true, mayHaveSent: true},
		"reject-asked-but-answers": {asked: true, answer: &http.Response{StatusCode: 42, Header: http.Header{}}, mayHaveSent: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fetcherFunc(func(req *http.Request) (*http.Response, error) {
				trace := httptrace.ContextClientTrace(req.Context())
				if c.asked {
					trace.GetConn("shop.example:443")
				}
				if c.got {
					trace.GotConn(httptrace.GotConnInfo{})
				}
				if c.answer != nil {
					return c.answer, nil
				}
				return nil, errReset
			})
			_, err := do(t, f, &fetch.Request{Method: c.method}, "https://shop.example/")
			if err == nil || fetch.MayHaveArrived(err) != c.mayHaveSent {
				t.Errorf("may have arrived: %t, %v", fetch.MayHaveArrived(err), err)
			}
		})
	}
}

// TestReadOnIdleConnection: a plain read whose idle connection was closed is sent once more, and
// nothing else is.
func TestReadOnIdleConnection(t *testing.T) {
	leaf := &x509.Certificate{DNSNames: []string{"shop.example"}}
	conn := secureConn{
		toldConn{remote: &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 443}},
		tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true,
			PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}},
	}
	for _, c := range []struct {
		name     string
		request  fetch.Request
		reused   bool
		failures int
		again    func(*httptrace.ClientTrace) // what the Fetcher does before it fails
		want     lookleap.Code
		calls    int
	}{
		{"O48/accept-read", fetch.Request{}, true, 1, askAgain, lookleap.CodeOK, 2},
		{"O48/accept-read-after-second-connection", fetch.Request{}, true, 1, func(trace *httptrace.ClientTrace) {
			trace.GotConn(httptrace.GotConnInfo{Conn: conn})
		}, lookleap.CodeOK, 2},
		{"O48/reject-second-failure", fetch.Request{}, true, 2, askAgain, lookleap.CodeConnReset, 2},
		{"O48/reject-new-connection", fetch.Request{}, false, 1, askAgain, lookleap.CodeConnReset, 1},
		{"O48/reject-without-second-attempt", fetch.Request{}, true, 1, func(*httptrace.ClientTrace) {}, lookleap.CodeConnReset, 1},
		{"O48/reject-post", fetch.Request{Method: "POST"}, true, 1, askAgain, lookleap.CodeConnReset, 1},
		{"O48/reject-body", fetch.Request{Body: []byte("x")}, true, 1, askAgain, lookleap.CodeConnReset, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			f := fetcherFunc(func(req *http.Request) (*http.Response, error) {
				trace := httptrace.ContextClientTrace(req.Context())
				trace.GetConn("shop.example:443")
				trace.GotConn(httptrace.GotConnInfo{Conn: conn, Reused: c.reused})
				if calls++; calls <= c.failures {
					c.again(trace)
					return nil, errReset
				}
				return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
			})
			resp, err := do(t, f, &c.request, "https://shop.example/")
			if lookleap.CodeOf(err) != c.want || (resp == nil) != (err != nil) || calls != c.calls {
				t.Errorf("%+v, %v after %d calls", resp, err, calls)
			}
		})
	}
}

// askAgain is a Fetcher that tries again by itself.
func askAgain(trace *httptrace.ClientTrace) { trace.GetConn("shop.example:443") }

// TestBodyOnRefusedConnection: a Fetcher that ignores that its connection is refused reads no byte
// of the body.
func TestBodyOnRefusedConnection(t *testing.T) {
	conn := secureConn{
		toldConn{remote: &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 443}},
		tls.ConnectionState{Version: tls.VersionTLS11, HandshakeComplete: true},
	}
	careless := fetcherFunc(func(req *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
		if n, err := req.Body.Read(make([]byte, 10)); n != 0 || lookleap.CodeOf(err) != lookleap.CodeTLSTooOld {
			t.Errorf("read %d bytes, %v", n, err)
		}
		return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
	})
	resp, err := do(t, careless, &fetch.Request{Method: "POST", Body: []byte("secret")}, "https://shop.example/")
	failure(t, resp, err, lookleap.CodeTLSTooOld)
}
