package lookleap_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestFetcherRebinding(t *testing.T) {
	t.Run("F04/reject-second-answer", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		site := n.Site("rebind.example").File("/", "text/plain", "hello").HTTP1()
		n.Site("internal.example").At("10.0.0.1")
		public := site.Addr().String()
		n.Name("rebind.example").Rebind(public, "10.0.0.1")
		f := guarded(t, n, lookleap.FetcherOptions{})
		mustGet(t, f, "https://rebind.example/")
		f.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		_, err := get(t, f, "https://rebind.example/")
		refused(t, err, lookleap.CodeBlockedAddress)
		if n.Journal().Bytes("10.0.0.1") != 0 {
			t.Error("the private address got something")
		}
	})
	t.Run("F04/accept-kept-connection", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		site := n.Site("rebind.example").File("/", "text/plain", "hello")
		n.Name("rebind.example").Rebind(site.Addr().String(), "10.0.0.1")
		f := guarded(t, n, lookleap.FetcherOptions{})
		mustGet(t, f, "https://rebind.example/")
		mustGet(t, f, "https://rebind.example/") // over the judged connection
		if dials := n.Journal().Dials(); len(dials) != 1 {
			t.Errorf("%d dials", len(dials))
		}
	})
	t.Run("F04/reject-dial-leads-elsewhere", func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		n.Site("shop.example")
		n.Site("internal.example").At("10.0.0.1")
		dial := n.FetcherOptions().Dial
		f := guarded(t, n, lookleap.FetcherOptions{Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return dial(ctx, netip.MustParseAddrPort("10.0.0.1:443"))
		}})
		_, err := get(t, f, "https://shop.example/")
		refused(t, err, lookleap.CodeBlockedAddress)
		if sent := n.Journal().Bytes("10.0.0.1"); sent != 0 {
			t.Errorf("%d bytes left", sent)
		}
	})
}

func TestFetcherMixedAnswers(t *testing.T) {
	mixed := func(t *testing.T) *lookleaptest.Internet {
		n := lookleaptest.ForTest(t)
		n.Site("mixed.example").At("2606:2800:220:1::1").File("/", "text/plain", "hello")
		n.Site("internal.example").At("10.0.0.1")
		n.Name("mixed.example", "2606:2800:220:1::1", "10.0.0.1")
		return n
	}
	t.Run("F05/accept-public-one", func(t *testing.T) {
		n := mixed(t)
		mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://mixed.example/")
		if dials := n.Journal().Dials("10.0.0.1"); len(dials) != 0 {
			t.Errorf("dialled %v", dials)
		}
	})
	t.Run("F05/reject-private-one-when-public-is-down", func(t *testing.T) {
		n := mixed(t)
		n.Site("mixed.example").Connection(lookleaptest.ConnectionRefused)
		_, err := get(t, guarded(t, n, lookleap.FetcherOptions{}), "https://mixed.example/")
		if err == nil || errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("error %v", err)
		}
		if dials := n.Journal().Dials("10.0.0.1"); len(dials) != 0 {
			t.Errorf("dialled %v", dials)
		}
	})
	t.Run("F05/accept-next-address-after-silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := lookleaptest.ForTest(t)
			n.Site("both.example").At("93.184.216.40").File("/", "text/plain", "hello")
			n.Site("hole.example").At("2606:2800:220:1::2").Connection(lookleaptest.ConnectionLost)
			n.Name("both.example", "2606:2800:220:1::2", "93.184.216.40")
			start := time.Now()
			mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://both.example/")
			if took := time.Since(start); took != 250*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	})
}

// overHTTPS is a resolver that asks a server by name, through a fetcher that
// resolves through it.
type overHTTPS struct{ host *lookleap.Host }

func (r overHTTPS) Lookup(ctx context.Context, name string, _ lookleap.RRType) (*lookleap.DNSAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://doh.example/?"+name, nil)
	if err != nil {
		return nil, err
	}
	_, err = r.host.RoundTrip(req)
	return nil, err
}

func TestFetcherRefusesCircularResolution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := lookleaptest.ForTest(t)
		host := new(lookleap.Host)
		host.Resolver = overHTTPS{host}
		host.Fetcher = guarded(t, n, lookleap.FetcherOptions{Resolver: host})
		defer host.Close()
		start := time.Now()
		_, err := get(t, host, "https://shop.example/")
		refused(t, err, lookleap.CodeDNSError)
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}
