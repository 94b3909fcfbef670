package lookleaptest_test

import (
	"crypto/x509"
	"errors"
	"os"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// A host that has only what another process can be told reaches the internet, and is guarded.
func TestDoor(t *testing.T) {
	n := newInternet(t)
	n.Site("shop.example").File("/", "text/plain", "welcome")
	n.Sign("shop.example")
	n.Site("printer.example").At("192.168.0.9")
	door, err := n.OpenDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = door.Close() }()
	pem, err := os.ReadFile(door.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	resolver, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"udp://" + door.DNS}, Anchors: n.Anchors()})
	if err != nil {
		t.Fatal(err)
	}
	host := &lookleap.Host{Resolver: resolver}
	host.Fetcher = lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: host, RootCAs: roots, Dial: lookleaptest.Via(door.Addr)})
	if body, err := get(t, host, "https://shop.example/"); err != nil || body != "welcome" {
		t.Error(body, err)
	}
	if answer, err := host.Lookup(t.Context(), "shop.example", lookleap.TypeA); err != nil || answer.DNSSEC != lookleap.Secure {
		t.Error(answer, err)
	}
	if _, err := get(t, host, "https://printer.example/"); !errors.Is(err, lookleap.ErrDenied) {
		t.Error(err)
	}
}
