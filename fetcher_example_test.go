package lookleap_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// A guarded fetcher is a transport for any http.Client. What it must not dial,
// it does not dial, whatever the name resolves to.
func ExampleNewFetcher() {
	internet := lab.New()
	defer internet.Close()
	internet.Site("shop.example").Body("/", "text/plain", "welcome")
	internet.Name("rebound.example", "169.254.169.254")

	fetcher := lookleap.NewFetcher(lookleap.FetcherOptions{
		Resolver: internet.Resolver(), // in production, leave these four out
		RootCAs:  internet.RootCAs(),
		Now:      internet.Clock().Now,
		Dial:     internet.Dialer("example"),
	})
	defer fetcher.(io.Closer).Close()
	client := &http.Client{Transport: fetcher}
	for _, url := range []string{"https://shop.example/", "https://rebound.example/", "http://shop.example/"} {
		resp, err := client.Get(url)
		if err != nil {
			fmt.Println(lookleap.CodeOf(err), errors.Is(err, lookleap.ErrDenied))
			continue
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	// Output:
	// 200 OK
	// blocked-address true
	// not-https false
}

// oneServer is a DNS in which example.com is here.
type oneServer struct{}

func (oneServer) Lookup(_ context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	answer := &lookleap.DNSAnswer{Name: name, Exists: name == "example.com"}
	if answer.Exists && t == lookleap.TypeA {
		answer.Records = []lookleap.Record{{Addr: netip.MustParseAddr("127.0.0.1")}}
	}
	return answer, nil
}

// How to test a program that uses this library: a server of net/http/httptest
// stands in for https://example.com, since its certificate is valid for that name.
func ExampleHost_testBed() {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "welcome")
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	fetcher := lookleap.NewFetcher(lookleap.FetcherOptions{
		Resolver:             oneServer{},
		RootCAs:              roots,
		InsecureAllowPrivate: true, // in tests alone: the server is at 127.0.0.1
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) { // and not at port 443
			return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	})
	defer fetcher.(io.Closer).Close()
	host := &lookleap.Host{Resolver: oneServer{}, Fetcher: fetcher} // for every package of this module
	defer host.Close()

	client := &http.Client{Transport: host}
	for _, url := range []string{"https://example.com/", "https://example.net/"} {
		resp, err := client.Get(url)
		if err != nil {
			fmt.Println(lookleap.CodeOf(err))
			continue
		}
		resp.Body.Close()
		fmt.Println(resp.Status)
	}
	// Output:
	// 200 OK
	// no-address
}

// A host with a dialer of its own puts the same guard into it.
func ExampleDialControl() {
	dialer := &net.Dialer{Control: lookleap.DialControl(443, 8443)}
	_, err := dialer.Dial("tcp", "127.0.0.1:443")
	fmt.Println(lookleap.CodeOf(err))
	_, err = dialer.Dial("tcp", "127.0.0.1:22")
	fmt.Println(lookleap.CodeOf(err))
	// Output:
	// blocked-address
	// blocked-address
}

// Go's own resolver serves if DNSSEC is not needed: it never says more than
// indeterminate.
func ExampleNetResolver() {
	internet := lab.New()
	defer internet.Close()
	internet.Name("shop.example", "93.184.216.34")

	resolver := lookleap.NetResolver(overLab(internet)) // in production: NetResolver(nil)
	answer, err := resolver.Lookup(context.Background(), "shop.example", lookleap.TypeA)
	fmt.Println(answer.Records[0].Addr, answer.DNSSEC, err)
	// Output: 93.184.216.34 indeterminate <nil>
}
