package lookleaptest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	stdnet "net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func open(t *testing.T, net *lookleaptest.Internet) *lookleaptest.Door {
	t.Helper()
	l, err := net.OpenDoor()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// through is a transport that goes to the door with every connection, and says an address there
// unless that is "".
func through(t *testing.T, l *lookleaptest.Door, addr string) *http.Transport {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (stdnet.Conn, error) {
		if addr == "" {
			return new(stdnet.Dialer).DialContext(ctx, "tcp", l.Addr)
		}
		return lookleaptest.Via(l.Addr)(ctx, netip.MustParseAddrPort(addr))
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities(t, l)}, ForceAttemptHTTP2: true, DialContext: dial,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func authorities(t *testing.T, l *lookleaptest.Door) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(l.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return roots
}

func TestDoorByName(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("one.example").File("/", "text/plain", "one")
	net.Site("two.example").Ports(8443).File("/", "text/plain", "two").HTTP1()
	l := open(t, net)
	for host, want := range map[string]string{"one.example": "one HTTP/2.0", "two.example": "two HTTP/1.1"} {
		resp, body, err := fetch(t.Context(), through(t, l, ""), "https://"+host+"/")
		if err != nil || body+" "+resp.Proto != want {
			t.Error(host, resp, body, err)
		}
	}
	_, _, err := fetch(t.Context(), through(t, l, ""), "https://three.example/")
	if !errors.Is(err, lookleaptest.ErrReset) && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	d := net.Journal().Dials()
	if len(d) != 3 || d[0].Sent == 0 || d[2].Err == nil {
		t.Errorf("%+v", d)
	}
}

func TestDoorByAddress(t *testing.T) {
	net := lookleaptest.ForTest(t)
	one := net.Site("one.example").At("93.184.216.70", "2606:2800:220::70").Ports(443, 8443).Plain().
		File("/", "text/plain", "one")
	net.Site("two.example").At("93.184.216.71").Connection(lookleaptest.ConnectionRefused).File("/", "text/plain", "two")
	l := open(t, net)
	for _, addr := range []string{"93.184.216.70:443", "93.184.216.70:8443", "[2606:2800:220::70]:443"} {
		conn, err := lookleaptest.Via(l.Addr)(t.Context(), netip.MustParseAddrPort(addr))
		if err != nil || conn.RemoteAddr().String() != addr {
			t.Fatal(conn, err)
		}
		conn.Close()
		if _, body, err := fetch(t.Context(), through(t, l, addr), one.URL("/")); err != nil || body != "one" {
			t.Error(addr, body, err)
		}
	}
	if body, err := get(t, through(t, l, "93.184.216.70:80"), "http://one.example/"); err != nil || body != "one" {
		t.Error(body, err)
	}
	for _, addr := range []string{"93.184.216.71:443", "93.184.216.70:444", "10.0.0.1:443"} {
		if _, _, err := fetch(t.Context(), through(t, l, addr), "https://two.example/"); err == nil {
			t.Error(addr, "answered")
		}
	}
}

func TestDoorCloses(t *testing.T) {
	net := lookleaptest.NewInternet()
	arrived := make(chan struct{})
	net.Site("shop.example").Fault("/", arrival(arrived), lookleaptest.Stall())
	l := open(t, net)
	errs := make(chan error)
	go func() {
		_, _, err := fetch(t.Context(), through(t, l, ""), "https://shop.example/")
		errs <- err
	}()
	mute, err := stdnet.Dial("tcp", l.Addr) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	<-arrived
	net.Close()
	if err := <-errs; err == nil {
		t.Error("the answer came to an end")
	}
	if _, err := os.Stat(l.CAFile); !os.IsNotExist(err) {
		t.Error("the CA file is still there:", err)
	}
	if _, err := stdnet.Dial("tcp", l.Addr); err == nil {
		t.Error("the door is open")
	}
	if _, err := net.OpenDoor(); err == nil {
		t.Error("a closed internet was opened")
	}
}

func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("/", "text/plain", "hello, curl")
	l := open(t, net)
	cmd := exec.Command(curl, append([]string{"--cacert", l.CAFile, "--connect-to", "::" + l.Addr}, "--silent",
		"--show-error", "--noproxy", "*", "https://shop.example/")...)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "hello, curl" {
		t.Errorf("%v %s", err, out)
	}
}

// A host that has only what another process can be told reaches the internet, and is guarded.
func TestDoor(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/", "text/plain", "welcome")
	n.Sign("shop.example")
	n.Site("printer.example").At("192.168.0.9")
	door := open(t, n)
	resolver, err := lookleap.NewResolver(lookleap.ResolverOptions{
		Servers: []string{"udp://" + door.DNS}, Anchors: n.Anchors(),
	})
	if err != nil {
		t.Fatal(err)
	}
	host := &lookleap.Host{Resolver: resolver}
	host.Fetcher = lookleap.NewFetcher(lookleap.FetcherOptions{
		Resolver: host, RootCAs: authorities(t, door), Dial: lookleaptest.Via(door.Addr),
	})
	if body, err := get(t, host, "https://shop.example/"); err != nil || body != "welcome" {
		t.Error(body, err)
	}
	if answer, err := host.Lookup(t.Context(), "shop.example", lookleap.TypeA); err != nil ||
		answer.DNSSEC != lookleap.Secure {
		t.Error(answer, err)
	}
	if _, err := get(t, host, "https://printer.example/"); !errors.Is(err, lookleap.ErrDenied) {
		t.Error(err)
	}
}
