package lookleap_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/netguard"
	"github.com/lookleap/lookleap/lookleaptest"
)

// guarded is the guarded fetcher, which takes the internet for the world.
func guarded(t testing.TB, n *lookleaptest.Internet, o lookleap.FetcherOptions) lookleap.Fetcher {
	t.Helper()
	if o.Resolver == nil {
		o.Resolver = n.Stub()
	}
	if o.Dial == nil {
		o.Dial = n.FetcherOptions().Dial
	}
	o.RootCAs, o.Now = n.RootCAs(), n.Clock().Now
	f := lookleap.NewFetcher(o)
	t.Cleanup(func() { f.(io.Closer).Close() })
	return f
}

// get reads an answer to the end, so that its connection can be used again.
func get(t testing.TB, f lookleap.Fetcher, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.(*testing.T).Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp, err
}

func mustGet(t testing.TB, f lookleap.Fetcher, url string) *http.Response {
	t.Helper()
	resp, err := get(t, f, url)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return resp
}

func refused(t testing.TB, err error, code lookleap.Code) {
	t.Helper()
	if got := lookleap.CodeOf(err); got != code {
		t.Errorf("code %q, want %q: %v", got, code, err)
	}
	guard := code == lookleap.CodeBlockedAddress || code == lookleap.CodeBlockedPort || code == lookleap.CodeBlockedNetwork
	if errors.Is(err, lookleap.ErrDenied) != guard {
		t.Errorf("errors.Is(%v, ErrDenied) is not %v", err, guard)
	}
}

func TestFetcherAddresses(t *testing.T) {
	special := map[string][]string{
		"F01": {"127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1",
			"240.0.0.1", "::", "::1", "fc00::1", "fe80::1", "fec0::1", "ff02::1", "168.63.129.16"},
		"F02": {"::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001:0:1::", "2606:2800::5efe:7f00:1"},
	}
	for id, addrs := range special {
		t.Run(id, func(t *testing.T) {
			for _, addr := range addrs {
				t.Run("reject-"+strings.ReplaceAll(addr, ":", "_"), func(t *testing.T) {
					n := lookleaptest.ForTest(t)
					n.Name("victim.example", addr)
					_, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://victim.example/")
					refused(t, err, lookleap.CodeBlockedAddress)
					if dials := n.Journal().Dials(); len(dials) != 0 {
						t.Errorf("dialled %v", dials)
					}
				})
			}
		})
	}
	t.Run("F01/reject-literal", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		for _, url := range []string{"https://127.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest/meta-data/"} {
			_, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), url)
			refused(t, err, lookleap.CodeBlockedAddress)
		}
		if dials := n.Journal().Dials(); len(dials) != 0 {
			t.Errorf("dialled %v", dials)
		}
	})
	t.Run("F01/accept-public", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/", "text/plain", "hello")
		if resp := mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/"); resp.StatusCode != 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

// TestFetcherHasNoProxy runs itself with a proxy in the environment from the
// start, since net/http looks there once.
func TestFetcherHasNoProxy(t *testing.T) {
	const inner = "LOOKLEAP_TEST_PROXY"
	if os.Getenv(inner) != "" {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/", "text/plain", "hello")
		mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/")
		return
	}
	t.Run("F07/reject-environment", func(t *testing.T) {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		cmd := exec.Command(os.Args[0], "-test.run=^TestFetcherHasNoProxy$")
		cmd.Env = append(os.Environ(), inner+"=1", "NO_PROXY=", "no_proxy=")
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
			cmd.Env = append(cmd.Env, name+"=http://"+ln.Addr().String())
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		// Connections are accepted in the order in which they came.
		last, err := net.Dial("tcp4", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer last.Close()
		if conn, err := ln.Accept(); err != nil || conn.RemoteAddr().String() != last.LocalAddr().String() {
			t.Errorf("the proxy was asked by %v, %v", conn.RemoteAddr(), err)
		}
	})
}

func TestFetcherNetworks(t *testing.T) {
	t.Run("F08/reject-unix", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example")
		f := guarded(t, n, lookleap.FetcherOptions{Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			client, server := net.Pipe()
			go io.Copy(io.Discard, server)
			return client, nil
		}})
		_, err := get(t, f, "https://shop.example/")
		refused(t, err, lookleap.CodeBlockedNetwork)
	})
	t.Run("F08/reject-dial-control", func(t *testing.T) {
		refused(t, netguard.Control()("unix", "/run/docker.sock", nil), lookleap.CodeBlockedNetwork)
		refused(t, netguard.Control()("tcp4", "93.184.216.34:22", nil), lookleap.CodeBlockedPort)
		refused(t, netguard.Control(8443)("tcp4", "10.0.0.1:8443", nil), lookleap.CodeBlockedAddress)
	})
	t.Run("F08/accept-dial-control", func(t *testing.T) {
		if err := netguard.Control(8443)("tcp6", "[2606:2800:220:1::1]:8443", nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("F08/reject-dial-control-in-a-dialer", func(t *testing.T) {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		d := net.Dialer{Control: netguard.Control(uint16(ln.Addr().(*net.TCPAddr).Port))}
		_, err = d.Dial("tcp", ln.Addr().String())
		refused(t, err, lookleap.CodeBlockedAddress)
	})
	t.Run("F08/reject-real-socket", func(t *testing.T) {
		// The dialer that NewFetcher has by default, asked for loopback by name.
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		n := lookleaptest.ForTest(t)
		n.Name("local.example", "127.0.0.1")
		port := netip.MustParseAddrPort(ln.Addr().String()).Port()
		f := lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: n.Stub(), Ports: []uint16{port}})
		_, err = get(t, f, "https://local.example:"+ln.Addr().String()[len("127.0.0.1:"):]+"/")
		refused(t, err, lookleap.CodeBlockedAddress)
	})
	t.Run("F08/reject-dial-without-connection", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example")
		for _, dial := range []func(context.Context, netip.AddrPort) (net.Conn, error){
			func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, nil },
			func(context.Context, netip.AddrPort) (net.Conn, error) { panic("no") },
		} {
			_, err := get(t, guarded(t, n, lookleap.FetcherOptions{Dial: dial}), "https://shop.example/")
			refused(t, err, lookleap.CodeInternal)
		}
	})
}

func TestFetcherHeaderLimits(t *testing.T) {
	tests := []struct {
		name  string
		fault lookleaptest.Fault
	}{
		{"reject-above-32-KiB", lookleaptest.HeaderBomb(48 << 10)},
		{"reject-37-KiB", lookleaptest.HeaderBomb(37 << 10)}, // net/http lets 4 KiB more pass
		{"reject-megabyte", lookleaptest.HeaderBomb(1 << 20)},
		{"reject-many-lines", lookleaptest.Header("Link", slices.Repeat([]string{"</x>; rel=next"}, 100_000)...)},
		{"reject-informational-flood", lookleaptest.Wrap(flood)},
	}
	for _, test := range tests {
		for _, version := range []string{"http1", "http2"} {
			t.Run("F13/"+test.name+"-"+version, func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				site := n.Site("bomb.example").Fault("/", test.fault)
				if version == "http1" {
					site.HTTP1()
				}
				if resp, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://bomb.example/"); err == nil {
					t.Errorf("got %d", resp.StatusCode)
				}
			})
		}
	}
	t.Run("F13/accept-some", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("big.example").Fault("/", lookleaptest.HeaderBomb(30<<10))
		mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://big.example/")
	})
}

// flood sends early hints of 1 KiB each until no one listens.
func flood(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Filler", strings.Repeat("x", 1<<10))
		for i := 0; i < 10_000 && r.Context().Err() == nil; i++ {
			w.WriteHeader(http.StatusEarlyHints)
		}
	})
}

func TestFetcherRefusesBeforeDialling(t *testing.T) {
	tests := []struct {
		name, url, host, method string
		code                    lookleap.Code
	}{
		{"http", "http://shop.example/", "", "GET", lookleap.CodeNotHTTPS},
		{"ftp", "ftp://shop.example/", "", "GET", lookleap.CodeNotHTTPS},
		{"userinfo", "https://u:p@shop.example/", "", "GET", lookleap.CodeUserinfo},
		{"other-host-header", "https://shop.example/", "bank.example", "GET", lookleap.CodeBadHost},
		{"trailing-dot", "https://shop.example./", "", "GET", lookleap.CodeTrailingDot},
		{"port", "https://shop.example:8443/", "", "GET", lookleap.CodeBlockedPort},
		{"port-zero", "https://shop.example:0/", "", "GET", lookleap.CodeBadPort},
		{"port-out-of-range", "https://shop.example:99999/", "", "GET", lookleap.CodeBadPort},
		{"tunnel", "https://shop.example/", "", "CONNECT", lookleap.CodeUsage},
		{"opaque", "https:bank.example/transfer", "", "GET", lookleap.CodeBadURL},
		{"unknown-name", "https://nowhere.example/", "", "GET", lookleap.CodeNoAddress},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("shop.example").Ports(443, 8443, 80)
			req, err := http.NewRequest(test.method, test.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.host != "" {
				req.Host = test.host
			}
			if req.URL.Opaque != "" {
				req.URL.Host = "shop.example" // so that the target on the wire is another than the one dialled
			}
			_, err = guarded(t, n, lookleap.FetcherOptions{}).RoundTrip(req)
			refused(t, err, test.code)
			if dials := n.Journal().Dials(); len(dials) != 0 {
				t.Errorf("dialled %v", dials)
			}
			if queries := n.Journal().Queries(); len(queries) != 0 && test.code != lookleap.CodeNoAddress {
				t.Errorf("asked %v", queries)
			}
		})
	}
}

func TestFetcherTLS(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("old.example").File("/", "text/plain", "").MaxTLS(tls.VersionTLS11)
	n.Site("twelve.example").File("/", "text/plain", "").MaxTLS(tls.VersionTLS12)
	n.Site("modern.example").File("/", "text/plain", "")
	n.Site("expired.example").File("/", "text/plain", "").Certificate(lookleaptest.CertificateExpired)
	tests := []struct {
		name, site string
		min        uint16
		ok         bool
	}{
		{"1.1", "old", 0, false},
		{"1.1-however-asked", "old", tls.VersionTLS10, false},
		{"1.2", "twelve", 0, true},
		{"1.2-where-1.3-is-demanded", "twelve", tls.VersionTLS13, false},
		{"1.3", "modern", tls.VersionTLS13, true},
		{"expired", "expired", 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := get(t, guarded(t, n, lookleap.FetcherOptions{MinTLS: test.min}), "https://"+test.site+".example/")
			if (err == nil) != test.ok {
				t.Errorf("error %v", err)
			}
			if requests := n.Journal().Requests(test.site + ".example"); !test.ok && test.min != tls.VersionTLS13 && len(requests) != 0 {
				t.Errorf("requests %v", requests)
			}
		})
	}
	t.Run("clock", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/", "text/plain", "")
		n.Clock().Advance(-20 * 365 * 24 * time.Hour)
		mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/")
	})
}

func TestFetcherConnections(t *testing.T) {
	t.Run("http2", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/", "text/plain", "")
		if resp := mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/"); resp.ProtoMajor != 2 {
			t.Errorf("protocol %s", resp.Proto)
		}
	})
	t.Run("never-shared-between-guards", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("internal.example").At("10.0.0.1").File("/", "text/plain", "")
		open := guarded(t, n, lookleap.FetcherOptions{InsecureAllowPrivate: true})
		mustGet(t, open, "https://internal.example/")
		_, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://internal.example/")
		refused(t, err, lookleap.CodeBlockedAddress)
	})
	t.Run("client-certificate", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("mutual.example").ClientAuth(tls.RequireAndVerifyClientCert).File("/", "text/plain", "")
		if _, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://mutual.example/"); err == nil {
			t.Error("answered without a certificate")
		}
		with := lookleap.FetcherOptions{ClientCertificates: []tls.Certificate{n.ClientCertificate("agent")}}
		mustGet(t, guarded(t, n, with), "https://mutual.example/")
	})
	t.Run("no-decompression", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").File("/", "text/plain", "hello")
		mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/")
		if got := n.Journal().Requests()[0].Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("Accept-Encoding %q", got)
		}
	})
	t.Run("redirect-comes-back", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example").Redirect("/", "https://other.example/")
		if resp := mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://shop.example/"); resp.StatusCode != http.StatusFound {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
	t.Run("closed", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		f := guarded(t, n, lookleap.FetcherOptions{})
		f.(io.Closer).Close()
		if _, err := get(t, f, "https://shop.example/"); !errors.Is(err, lookleap.ErrClosed) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("silence-is-bounded", func(t *testing.T) {
		for name, fate := range map[string]lookleaptest.Connection{"dial": lookleaptest.ConnectionLost, "handshake": lookleaptest.ConnectionSilent} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := lookleaptest.ForTest(t)
					n.Site("silent.example").Connection(fate)
					start := time.Now()
					if _, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://silent.example/"); err == nil || time.Since(start) > 15*time.Second {
						t.Errorf("error %v after %v", err, time.Since(start))
					}
				})
			})
		}
		t.Run("header", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := lookleaptest.ForTest(t)
				n.Site("silent.example").Fault("/", lookleaptest.Mute())
				start := time.Now()
				if _, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://silent.example/"); err == nil || time.Since(start) > 15*time.Second {
					t.Errorf("error %v after %v", err, time.Since(start))
				}
			})
		})
	})
}

// TestFetcherRefusesOtherConnectionOptions: a request cannot make a proxy drop headers or change
// the protocol.
func TestFetcherRefusesOtherConnectionOptions(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "")
	f := guarded(t, n, lookleap.FetcherOptions{})
	for value, ok := range map[string]bool{"close": true, "Keep-Alive": true, "": true, "X-Secret": false, "close, x-secret": false, "upgrade": false} {
		req := mustRequest(t, "https://shop.example/")
		req.Header.Set("Connection", value)
		resp, err := f.RoundTrip(req)
		if (err == nil) != ok || !ok && lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("%q: %v", value, err)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
	}
}

// TestFetcherShowsItsCertificate: the connection tells whether a client certificate was presented.
func TestFetcherShowsItsCertificate(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("mutual.example").File("/", "text/plain", "").ClientAuth(tls.RequireAndVerifyClientCert)
	n.Site("shop.example").File("/", "text/plain", "")
	f := guarded(t, n, lookleap.FetcherOptions{ClientCertificates: []tls.Certificate{n.ClientCertificate("agent")}})
	for host, want := range map[string]bool{"mutual.example": true, "shop.example": false} {
		var told lookleap.ConnEvidence
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			told, _ = info.Conn.(*tls.Conn).NetConn().(lookleap.ConnEvidence)
		}}
		req := mustRequest(t, "https://"+host+"/")
		resp, err := f.RoundTrip(req.WithContext(httptrace.WithClientTrace(t.Context(), trace)))
		if err != nil || told == nil || told.ClientCertificate() != want || told.PrivateAllowed() {
			t.Errorf("%s: %v, %v", host, told, err)
			continue
		}
		_ = resp.Body.Close()
	}
}
