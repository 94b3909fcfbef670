package agent

import (
	"context"
	"crypto/x509"
	"net"
	"os"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// hostElsewhere is the host of another process, which reaches a lab through its
// loopback: the address of its DNS, its door, and the file of its authorities.
func hostElsewhere(t *testing.T, dns, door, authorities string) *lookleap.Host {
	t.Helper()
	pem, err := os.ReadFile(authorities)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	resolver := lookleap.NetResolver(&net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, dns)
	}})
	return &lookleap.Host{
		Resolver: resolver,
		Fetcher:  lookleap.NewFetcher(lookleap.FetcherOptions{Resolver: resolver, RootCAs: roots, Dial: lab.Via(door)}),
	}
}
