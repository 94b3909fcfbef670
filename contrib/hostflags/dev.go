package hostflags

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// DevName is the name under which the development mode shows a server that has none.
const DevName = "localhost.example"

// Skipped returns what the development mode does not check, one sentence each, and nothing without
// --dev. A program prints it on standard error.
func (f *Flags) Skipped() []string {
	if !f.Dev {
		return nil
	}
	return []string{
		"TLS and the certificate: http is accepted, and https with any certificate",
		"the address: private and local ones are accepted, and any port",
		"DNS: nothing is looked up, so there is no DNSSEC and no trust record",
	}
}

// devSite is the server of the development mode.
type devSite struct {
	scheme, hostPort string
	named            bool // by --connect, under the names that the URLs have
}

// URL returns the URL to use for an argument of the command line. Without --dev it is the argument.
// With --dev, localhost, an IP address and an http URL become an https URL of [DevName], and the
// Host sends its requests to that server. One run can look at one such server. Other arguments stay
// as they are.
func (f *Flags) URL(arg string) (string, error) {
	if !f.Dev {
		return arg, nil
	}
	u := devURL(arg)
	if u == nil {
		return arg, nil
	}
	site := devSite{scheme: u.Scheme, hostPort: withPort(u)}
	if f.site != nil && *f.site != site {
		return "", usage("--dev looks at one server at a time, not at "+f.site.hostPort+" and "+site.hostPort,
			"run the command once for each")
	}
	f.site = &site
	u.Scheme, u.Host, u.User = "https", DevName, nil
	if !strings.Contains(arg, "://") && u.Path == "" {
		return "https://" + DevName, nil
	}
	return u.String(), nil
}

// devURL returns the URL that only the development mode takes; nil for other arguments.
func devURL(arg string) *url.URL {
	full := arg
	if !strings.Contains(arg, "://") {
		full = "http://" + arg
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	_, notIP := netip.ParseAddr(u.Hostname())
	local := notIP == nil || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
	if !local && !strings.HasPrefix(arg, "http://") {
		return nil
	}
	return u
}

// NeedsDev reports whether an argument of the command line is one that only the development mode
// takes: localhost, an IP address, or an http URL. A program that refuses it can name --dev.
func NeedsDev(arg string) bool { return devURL(arg) != nil }

// DevServer returns the URL of the server that requests go to in development mode, and "" without
// --dev or if no server was named yet.
func (f *Flags) DevServer() string {
	if !f.Dev {
		return ""
	}
	site, err := f.devSite()
	if err != nil || site.hostPort == "" {
		return ""
	}
	return site.scheme + "://" + site.hostPort
}

// Shown returns a text for people: it names the server of the development mode as they did, not as
// [DevName].
func (f *Flags) Shown(text string) string {
	if f.site == nil {
		return text
	}
	return strings.ReplaceAll(text, "https://"+DevName, f.site.scheme+"://"+f.site.hostPort)
}

func withPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// devSite returns the server of --connect, or that of the URLs.
func (f *Flags) devSite() (devSite, error) {
	switch {
	case f.Connect != "":
		return devSite{"http", f.Connect, true}, nil
	case f.site != nil:
		return *f.site, nil
	}
	return devSite{}, nil // the command needs no network
}

// devProxy is an https server inside the process that passes requests on to the site. So the Host
// works as it does in production: over TLS, under a name.
type devProxy struct {
	site   devSite
	roots  *x509.CertPool
	server *http.Server
	pipes
}

func newDevProxy(site devSite) (*devProxy, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	p := &devProxy{site: site, roots: x509.NewCertPool(), pipes: pipes{conns: make(chan net.Conn), closed: make(chan struct{})}}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "development mode"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	p.roots.AddCert(ca)
	certificate := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(2), DNSNames: []string{hello.ServerName}, KeyUsage: x509.KeyUsageDigitalSignature,
			NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), key)
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
	}
	p.server = &http.Server{
		Handler: p.handler(), TLSConfig: &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12},
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = p.server.ServeTLS(&p.pipes, "", "") }() // until Close
	return p, nil
}

// handler passes requests on. A site that is tried by its own address sees that address as the
// host.
func (p *devProxy) handler() http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DisableCompression = true
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	target := &url.URL{Scheme: p.site.scheme, Host: p.site.hostPort}
	return &httputil.ReverseProxy{
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if p.site.named {
				r.Out.Host = r.In.Host
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			if to, err := resp.Location(); err == nil && !p.site.named && to.Host == target.Host {
				to.Scheme, to.Host = "https", DevName
				resp.Header.Set("Location", to.String())
			}
			return nil
		},
		// No answer: the caller sees a connection that ends, as without the proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
}

// dial connects to the proxy, if the site accepts connections.
func (p *devProxy) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	if p.site.hostPort == "" {
		return nil, usage("--dev does not know which server to use",
			"write localhost:PORT, an IP address or an http URL, or set --connect HOST:PORT")
	}
	probe, err := new(net.Dialer).DialContext(ctx, "tcp", p.site.hostPort)
	if err != nil {
		return nil, err
	}
	_ = probe.Close()
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return devConn{meantConn{client, addr}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// devConn says that its server is one of the development mode.
type devConn struct{ meantConn }

// Route returns [lookleap.RouteDevelopment].
func (devConn) Route() string { return lookleap.RouteDevelopment }

// Close ends the proxy and its connections.
func (p *devProxy) Close() error { return p.server.Close() }

// pipes is a listener for connections inside the process.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept returns the next connection that dial made.
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr returns an address without meaning: no one can connect from outside of the process.
func (l *pipes) Addr() net.Addr { return new(net.TCPAddr) }

// Close ends Accept and dial.
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}
