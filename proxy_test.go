package lookleap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/enginetest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// proxyInto returns an HTTP proxy into an internet, with a user and password if auth is not "".
func proxyInto(t *testing.T, n *lookleaptest.Internet, auth string) *lookleaptest.Proxy {
	t.Helper()
	p, err := n.Proxy("http", auth)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// evidence fetches a URL and returns what the connection says about itself.
func evidence(t *testing.T, f lookleap.Fetcher, rawURL string) (address, route string, err error) {
	t.Helper()
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		address = info.Conn.RemoteAddr().String()
		route = info.Conn.(*tls.Conn).NetConn().(lookleap.ConnEvidence).Route()
	}}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.RoundTrip(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "hello" || err != nil {
		t.Errorf("body %q, %v", text, err)
	}
	return address, route, nil
}

func TestProxy(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5"} {
		for _, auth := range []string{"", "user:pass:word"} {
			t.Run(scheme+"-"+auth, func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				site := n.Site("shop.example").File("/", "text/plain", "hello")
				p, err := n.Proxy(scheme, auth)
				if err != nil {
					t.Fatal(err)
				}
				options := lookleap.FetcherOptions{Proxy: http.ProxyURL(p.URL)}
				t.Run("F07/accept-by-address", func(t *testing.T) {
					address, route, err := evidence(t, guarded(t, n, options), "https://shop.example/")
					want := netip.AddrPortFrom(site.Addr(), 443).String()
					if err != nil || address != want || route != lookleap.RouteProxy {
						t.Fatalf("%s, %q, %v", address, route, err)
					}
					if asked := p.Asked(); !slices.Equal(asked, []string{want}) {
						t.Errorf("the proxy was asked for %s", asked)
					}
				})
				t.Run("F07/accept-by-name", func(t *testing.T) {
					byName := options
					byName.ProxyByName = true
					address, route, err := evidence(t, guarded(t, n, byName), "https://shop.example/")
					if err != nil || address != p.URL.Host || route != lookleap.RouteProxyByName {
						t.Fatalf("%s, %q, %v", address, route, err)
					}
					if asked := p.Asked(); !slices.Equal(asked, []string{"shop.example:443"}) {
						t.Errorf("the proxy was asked for %s", asked)
					}
				})
				t.Run("F07/reject-without-secrets", func(t *testing.T) {
					n.Site("down.example").Connection(lookleaptest.ConnectionRefused)
					_, _, err := evidence(t, guarded(t, n, options), "https://down.example/")
					if lookleap.CodeOf(err) != lookleap.CodeProxy || strings.Contains(err.Error(), "pass") || !strings.Contains(err.Error(), scheme+"://127.0.0.1:") {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}

// TestProxyGuards: a proxy changes who connects, and not what is permitted.
func TestProxyGuards(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("internal.example").At("10.0.0.1").File("/", "text/plain", "hello")
	n.Site("mixed.example").File("/", "text/plain", "hello")
	n.Name("mixed.example", n.Site("mixed.example").Addr().String(), "10.0.0.1")
	n.Name("bogus.example").Bogus()
	p := proxyInto(t, n, "")
	for name, c := range map[string]struct {
		url    string
		byName bool
		want   lookleap.Code
	}{
		"private-address":           {"https://internal.example/", false, lookleap.CodeBlockedAddress},
		"private-literal":           {"https://10.0.0.1/", false, lookleap.CodeBlockedAddress},
		"private-address-by-name":   {"https://internal.example/", true, lookleap.CodeBlockedAddress},
		"one-private-address":       {"https://mixed.example/", true, lookleap.CodeBlockedAddress},
		"literal-by-name":           {"https://93.184.216.34/", true, lookleap.CodeSpecialHost},
		"literal6-by-name":          {"https://[2606:2800::1]/", true, lookleap.CodeSpecialHost},
		"localhost-by-name":         {"https://localhost/", true, lookleap.CodeSpecialHost},
		"special-use-by-name":       {"https://printer.local/", true, lookleap.CodeSpecialHost},
		"single-label-by-name":      {"https://intranet/", true, lookleap.CodeSpecialHost},
		"port":                      {"https://mixed.example:22/", false, lookleap.CodeBlockedPort},
		"port-by-name":              {"https://mixed.example:22/", true, lookleap.CodeBlockedPort},
		"failed-validation":         {"https://bogus.example/", false, lookleap.CodeDNSSECBogus},
		"failed-validation-by-name": {"https://bogus.example/", true, lookleap.CodeDNSSECBogus},
	} {
		t.Run("F07/reject-"+name, func(t *testing.T) {
			f := guarded(t, n, lookleap.FetcherOptions{Proxy: http.ProxyURL(p.URL), ProxyByName: c.byName})
			_, err := get(t, f, c.url)
			if lookleap.CodeOf(err) != c.want {
				t.Errorf("%v", err)
			}
			if _, retry := lookleap.Retryable(err); retry {
				t.Error("it may be tried again")
			}
		})
	}
	if asked := p.Asked(); len(asked) > 0 {
		t.Errorf("the proxy was asked for %s", asked)
	}
	t.Run("F07/accept-unknown-here", func(t *testing.T) { // as in a network without DNS
		f := guarded(t, n, lookleap.FetcherOptions{Proxy: http.ProxyURL(p.URL), ProxyByName: true, Resolver: noNames{}})
		if _, _, err := evidence(t, f, "https://mixed.example/"); err != nil {
			t.Error(err)
		}
	})
	t.Run("F07/accept-no-proxy-for-this-host", func(t *testing.T) {
		n.Site("direct.example").File("/", "text/plain", "hello")
		f := guarded(t, n, lookleap.FetcherOptions{Proxy: func(r *http.Request) (*url.URL, error) {
			if r.URL.String() != "https://direct.example:443" {
				t.Errorf("asked for %s", r.URL)
			}
			return nil, nil
		}})
		if _, route, err := evidence(t, f, "https://direct.example/"); err != nil || route != "" {
			t.Errorf("%q, %v", route, err)
		}
	})
}

// TestProxyFails: each fault of a proxy has its own words, and none has a password.
func TestProxyFails(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "hello")
	answering := func(text string) *url.URL {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, _ = io.WriteString(conn, text)
				_ = conn.Close()
			}
		}()
		return &url.URL{Scheme: "http", Host: l.Addr().String(), User: url.UserPassword("user", "secret")}
	}
	nowhere := answering("")
	wrong := *proxyInto(t, n, "user:other").URL
	wrong.User = url.UserPassword("user", "secret")
	for name, c := range map[string]struct {
		proxy func(*http.Request) (*url.URL, error)
		want  string
	}{
		"refuses":         {http.ProxyURL(answering("HTTP/1.1 403 Forbidden\r\n\r\n")), "HTTP status 403"},
		"wants-password":  {http.ProxyURL(&wrong), "demands a user and password"},
		"no-http":         {http.ProxyURL(answering("SSH-2.0-x\r\n")), "does not answer as an HTTP proxy"},
		"hangs-up":        {http.ProxyURL(nowhere), "does not answer as an HTTP proxy"},
		"says-more":       {http.ProxyURL(answering("HTTP/1.1 200 OK\r\n\r\nhello")), "more than its answer"},
		"endless-header":  {http.ProxyURL(answering("HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 1<<17) + "\r\n")), "does not answer as an HTTP proxy"},
		"scheme":          {http.ProxyURL(&url.URL{Scheme: "ftp", Host: "proxy.example", User: url.UserPassword("user", "secret")}), "scheme of the proxy"},
		"no-host":         {http.ProxyURL(&url.URL{Scheme: "http", Opaque: "secret"}), "has no host"},
		"cannot-be-found": {func(*http.Request) (*url.URL, error) { return nil, errors.New("secret") }, "cannot be chosen"},
		"panics":          {func(*http.Request) (*url.URL, error) { panic("broken") }, "Proxy hook failed"},
	} {
		t.Run("F07/reject-"+name, func(t *testing.T) {
			_, err := get(t, guarded(t, n, lookleap.FetcherOptions{Proxy: c.proxy}), "https://shop.example/")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("F07/reject-a-port-that-is-not-stated", func(t *testing.T) { // it is that of the scheme
		for _, scheme := range []string{"http", "socks5"} {
			proxy := http.ProxyURL(&url.URL{Scheme: scheme, Host: "127.0.0.1"})
			if _, err := get(t, guarded(t, n, lookleap.FetcherOptions{Proxy: proxy}), "https://shop.example/"); err == nil || strings.Contains(err.Error(), "missing port") {
				t.Errorf("%v", err)
			}
		}
	})
	t.Run("F07/reject-and-close-the-connection", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		closed := make(chan error)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\n\r\n")
				_, err = io.Copy(io.Discard, conn)
			}
			closed <- err
		}()
		proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
		if _, err := get(t, guarded(t, n, lookleap.FetcherOptions{Proxy: proxy}), "https://shop.example/"); err == nil {
			t.Error("accepted")
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// noNames is a resolver of a network without DNS.
type noNames struct{}

func (noNames) Lookup(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return nil, errors.New("no DNS here")
}

// TestProxyNotUsed: where a proxy of the environment was not asked, the error says so.
func TestProxyNotUsed(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("down.example").Connection(lookleaptest.ConnectionRefused)
	n.Site("up.example").File("/", "text/plain", "hello")
	n.Site("internal.example").At("10.0.0.1")
	for name, f := range map[string]lookleap.Fetcher{"down": guarded(t, n, lookleap.FetcherOptions{}), "no-dns": guarded(t, n, lookleap.FetcherOptions{Resolver: noNames{}})} {
		t.Run("F07/reject-with-the-same-code-"+name, func(t *testing.T) {
			_, before := get(t, f, "https://down.example/")
			t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
			if _, after := get(t, f, "https://down.example/"); lookleap.CodeOf(after) != lookleap.CodeOf(before) || strings.Contains(before.Error(), "HTTPS_PROXY") {
				t.Errorf("%v, and before: %v", after, before)
			}
		})
	}
	t.Setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
	direct := guarded(t, n, lookleap.FetcherOptions{})
	t.Run("F07/reject-and-name-the-option", func(t *testing.T) {
		for name, f := range map[string]lookleap.Fetcher{"down": direct, "no-dns": guarded(t, n, lookleap.FetcherOptions{Resolver: noNames{}})} {
			_, err := get(t, f, "https://down.example/")
			if err == nil || !strings.Contains(err.Error(), "HTTPS_PROXY") || !strings.Contains(err.Error(), "http.ProxyFromEnvironment") ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("F07/reject-and-name-the-variable", func(t *testing.T) {
		t.Setenv("HTTPS_PROXY", "")
		t.Setenv("https_proxy", "http://proxy.example:3128")
		if _, err := get(t, direct, "https://down.example/"); err == nil || !strings.Contains(err.Error(), "https_proxy is set") {
			t.Errorf("%v", err)
		}
	})
	t.Run("F07/reject-a-proxy-that-was-asked", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // so no one listens there
		f := guarded(t, n, lookleap.FetcherOptions{Proxy: http.ProxyURL(&url.URL{Scheme: "socks5", Host: l.Addr().String()})})
		if _, err := get(t, f, "https://up.example/"); lookleap.CodeOf(err) != lookleap.CodeProxy || strings.Contains(err.Error(), "HTTPS_PROXY") {
			t.Errorf("%v", err)
		}
	})
	t.Run("F07/reject-private-without-the-option", func(t *testing.T) {
		if _, err := get(t, direct, "https://internal.example/"); err == nil || strings.Contains(err.Error(), "HTTPS_PROXY") {
			t.Errorf("%v", err)
		}
	})
	t.Run("F07/accept-directly", func(t *testing.T) { mustGet(t, direct, "https://up.example/") })
}

func TestAllowPrefixes(t *testing.T) {
	n := lookleaptest.ForTest(t)
	for name, addr := range map[string]string{
		"wiki.corp.example": "10.1.2.3", "corp.example": "10.1.2.4", "evil.example": "10.1.2.3", "fake.example": "198.18.3.4",
		"metadata.corp.example": "169.254.169.254", "mapped.corp.example": "2002:a01:203::1", "other.corp.example": "10.2.0.1",
		"nat64.corp.example": "64:ff9b::a01:203", "public.example": "64:ff9b::5db8:d822", "10.1.9.9": "10.1.9.9",
	} {
		n.Site(name).At(addr).File("/", "text/plain", "hello")
	}
	all := netip.MustParsePrefix("0.0.0.0/0")
	allow := func(hosts ...string) lookleap.FetcherOptions {
		return lookleap.FetcherOptions{AllowPrefixes: []lookleap.AllowPrefix{{Prefix: netip.MustParsePrefix("10.1.0.0/16"), Hosts: hosts}}}
	}
	everything := lookleap.FetcherOptions{AllowPrefixes: []lookleap.AllowPrefix{{Prefix: all, Hosts: []string{"*"}},
		{Prefix: netip.MustParsePrefix("::/0"), Hosts: []string{"*"}}}}
	for name, c := range map[string]struct {
		options    lookleap.FetcherOptions
		url, route string // no route: refused
	}{
		"N01/accept-below-a-name":         {allow("*.corp.example"), "https://wiki.corp.example/", lookleap.RouteAllowed},
		"N01/accept-in-upper-case":        {allow("*.Corp.example"), "https://WIKI.corp.example/", lookleap.RouteAllowed},
		"N01/accept-a-name-in-upper-case": {allow("Corp.Example"), "https://corp.example/", lookleap.RouteAllowed},
		"N01/accept-the-name":             {allow("corp.example"), "https://corp.example/", lookleap.RouteAllowed},
		"N01/accept-an-address":           {allow("10.1.9.9"), "https://10.1.9.9/", lookleap.RouteAllowed},
		"N01/accept-nat64":                {allow("*"), "https://nat64.corp.example/", lookleap.RouteAllowed},
		"N01/accept-fake-addresses":       {everything, "https://fake.example/", lookleap.RouteAllowed},
		"F02/accept-public-behind-nat64":  {lookleap.FetcherOptions{}, "https://public.example/", "direct"},
		"N01/reject-another-name":         {allow("*.corp.example"), "https://evil.example/", ""},
		"N01/reject-a-part-of-a-label":    {allow("*corp.example"), "https://wiki.corp.example/", ""},
		"N01/reject-the-name-above":       {allow("*.corp.example"), "https://corp.example/", ""},
		"N01/reject-an-address":           {allow("*"), "https://10.1.2.3/", ""},
		"N01/reject-another-range":        {allow("*"), "https://other.corp.example/", ""},
		"N01/reject-without-hosts":        {allow(), "https://wiki.corp.example/", ""},
		"N01/reject-metadata":             {everything, "https://metadata.corp.example/", ""},
		"N01/reject-a-hidden-address":     {everything, "https://mapped.corp.example/", ""},
		"N01/reject-fake-addresses":       {lookleap.FetcherOptions{}, "https://fake.example/", ""},
		"N01/reject-nat64":                {lookleap.FetcherOptions{}, "https://nat64.corp.example/", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, route, err := evidence(t, guarded(t, n, c.options), c.url)
			if c.route == "" {
				refused(t, err, lookleap.CodeBlockedAddress)
				return
			}
			if want := strings.TrimPrefix(c.route, "direct"); err != nil || route != want {
				t.Errorf("%q, %v", route, err)
			}
		})
	}
	t.Run("N01/reject-and-say-what-it-is", func(t *testing.T) {
		_, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://fake.example/")
		if err == nil || !strings.Contains(err.Error(), "fake-IP mode") || !strings.Contains(err.Error(), "FetcherOptions.AllowPrefixes") {
			t.Errorf("%v", err)
		}
	})
	t.Run("F08/reject-the-socket", func(t *testing.T) { // without a Dial hook, the socket is checked too
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := uint16(l.Addr().(*net.TCPAddr).Port)
		for prefix, ok := range map[string]bool{"127.0.0.0/8": true, "10.0.0.0/8": false} {
			f := lookleap.NewFetcher(lookleap.FetcherOptions{Ports: []uint16{port}, AllowPrefixes: []lookleap.AllowPrefix{
				{Prefix: netip.MustParsePrefix(prefix), Hosts: []string{"127.0.0.1"}}}, Time: 50 * time.Millisecond})
			_, err := get(t, f, "https://"+l.Addr().String()+"/")
			if denied := errors.Is(err, lookleap.ErrDenied); err == nil || denied == ok {
				t.Errorf("%s: %v", prefix, err)
			}
		}
	})
}

// TestRealProxies goes through the proxies of other projects to a server with a real socket.
func TestRealProxies(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "hello")
	door, err := n.OpenDoor()
	if err != nil {
		t.Fatal(err)
	}
	server := netip.MustParseAddrPort(door.Addr)
	start := func(t *testing.T, name string, args func(port string) []string) *url.URL {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("there is no " + name)
		}
		port := enginetest.FreePort(t)
		proxy := enginetest.Start(t, exec.Command(name, args(port)...), func() error {
			conn, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err == nil {
				err = conn.Close()
			}
			return err
		})
		t.Cleanup(func() { proxy.End(os.Kill) })
		return &url.URL{Host: "127.0.0.1:" + port}
	}
	tinyproxy := func(t *testing.T, more string) *url.URL {
		return start(t, "tinyproxy", func(port string) []string {
			file := filepath.Join(t.TempDir(), "conf")
			if err := os.WriteFile(file, []byte("Port "+port+"\nListen 127.0.0.1\nTimeout 60\nMaxClients 10\n"+more), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"-d", "-c", file}
		})
	}
	options := lookleap.FetcherOptions{
		Ports: []uint16{server.Port()}, Resolver: oneAddress(server.Addr()), RootCAs: n.RootCAs(), Now: n.Clock().Now,
		AllowPrefixes: []lookleap.AllowPrefix{{Prefix: netip.MustParsePrefix("127.0.0.0/8"), Hosts: []string{"shop.example"}}},
	}
	address := "https://shop.example:" + strconv.Itoa(int(server.Port())) + "/"
	through := func(t *testing.T, proxy *url.URL, o lookleap.FetcherOptions) (string, string, error) {
		o.Proxy = http.ProxyURL(proxy)
		f := lookleap.NewFetcher(o)
		defer f.(io.Closer).Close()
		return evidence(t, f, address)
	}
	t.Run("F07/accept-tinyproxy", func(t *testing.T) {
		proxy := tinyproxy(t, "BasicAuth user secret\n")
		proxy.Scheme, proxy.User = "http", url.UserPassword("user", "secret")
		remote, route, err := through(t, proxy, options)
		if err != nil || remote != door.Addr || route != lookleap.RouteProxy+", "+lookleap.RouteAllowed {
			t.Errorf("%s, %q, %v", remote, route, err)
		}
		proxy.User = url.UserPassword("user", "wrong")
		if _, _, err := through(t, proxy, options); lookleap.CodeOf(err) != lookleap.CodeProxy || strings.Contains(err.Error(), "wrong") {
			t.Errorf("with a wrong password: %v", err)
		}
	})
	t.Run("F07/accept-tinyproxy-by-name", func(t *testing.T) {
		behind := proxyInto(t, n, "") // knows the names
		proxy := tinyproxy(t, "Upstream http "+behind.URL.Host+"\n")
		proxy.Scheme = "http"
		o := options
		o.ProxyByName, o.Ports, o.Resolver = true, nil, noNames{}
		address = "https://shop.example/"
		remote, route, err := through(t, proxy, o)
		if err != nil || remote != proxy.Host || route != lookleap.RouteProxyByName {
			t.Errorf("%s, %q, %v", remote, route, err)
		}
		if asked := behind.Asked(); !slices.Equal(asked, []string{"shop.example:443"}) {
			t.Errorf("asked for %s", asked)
		}
	})
	t.Run("F07/accept-microsocks", func(t *testing.T) {
		address = "https://shop.example:" + strconv.Itoa(int(server.Port())) + "/"
		proxy := start(t, "microsocks", func(port string) []string {
			return []string{"-i", "127.0.0.1", "-p", port, "-u", "user", "-P", "secret"}
		})
		proxy.Scheme, proxy.User = "socks5", url.UserPassword("user", "secret")
		remote, route, err := through(t, proxy, options)
		if err != nil || remote != door.Addr || route != lookleap.RouteProxy+", "+lookleap.RouteAllowed {
			t.Errorf("%s, %q, %v", remote, route, err)
		}
	})
}

// oneAddress is the answer to every question about addresses.
type oneAddress netip.Addr

func (a oneAddress) Lookup(_ context.Context, name string, rrtype lookleap.RRType) (*lookleap.DNSAnswer, error) {
	answer := &lookleap.DNSAnswer{Name: name, Exists: true}
	if rrtype == lookleap.TypeA {
		answer.Records = []lookleap.Record{{Addr: netip.Addr(a)}}
	}
	return answer, nil
}
