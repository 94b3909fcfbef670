package lookleap_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestFetcherRebinding(t *testing.T) {
	t.Run("F04/reject-second-answer", func(t *testing.T) {
		n := lab.ForTest(t)
		site := n.Site("rebind.example").Body("/", "text/plain", "hello").HTTP1()
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
		n := lab.ForTest(t)
		site := n.Site("rebind.example").Body("/", "text/plain", "hello")
		n.Name("rebind.example").Rebind(site.Addr().String(), "10.0.0.1")
		f := guarded(t, n, lookleap.FetcherOptions{})
		mustGet(t, f, "https://rebind.example/")
		mustGet(t, f, "https://rebind.example/") // over the judged connection
		if dials := n.Journal().Dials(); len(dials) != 1 {
			t.Errorf("%d dials", len(dials))
		}
	})
	t.Run("F04/reject-dial-leads-elsewhere", func(t *testing.T) {
		n := lab.ForTest(t)
		n.Site("shop.example")
		n.Site("internal.example").At("10.0.0.1")
		dial := n.Dialer("detour")
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
	mixed := func(t *testing.T) *lab.Internet {
		n := lab.ForTest(t)
		n.Site("mixed.example").At("2606:2800:220:1::1").Body("/", "text/plain", "hello")
		n.Site("internal.example").At("10.0.0.1")
		n.Name("mixed.example").Addrs("2606:2800:220:1::1", "10.0.0.1")
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
		n.Site("mixed.example").Connection(lab.Refused)
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
			n := lab.ForTest(t)
			n.Site("both.example").At("93.184.216.40").Body("/", "text/plain", "hello")
			n.Site("hole.example").At("2606:2800:220:1::2").Connection(lab.Blackhole)
			n.Name("both.example").Addrs("2606:2800:220:1::2", "93.184.216.40")
			start := time.Now()
			mustGet(t, guarded(t, n, lookleap.FetcherOptions{}), "https://both.example/")
			if took := time.Since(start); took != 250*time.Millisecond {
				t.Errorf("took %v", took)
			}
		})
	})
}

// TestFetcherRefusesBrokenParts plugs in parts that panic, on goroutines that are
// not the caller's.
func TestFetcherRefusesBrokenParts(t *testing.T) {
	n := lab.ForTest(t)
	n.Site("shop.example").Body("/", "text/plain", "hello")
	working := lookleap.FetcherOptions{Resolver: n.Resolver(), Dial: n.Dialer("fetcher"), RootCAs: n.RootCAs(), Now: n.Clock().Now}
	for name, spoil := range map[string]func(*lookleap.FetcherOptions){
		"resolver": func(o *lookleap.FetcherOptions) {
			o.Resolver = resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) { panic("boom") })
		},
		"dial": func(o *lookleap.FetcherOptions) {
			o.Dial = func(context.Context, netip.AddrPort) (net.Conn, error) { panic("boom") }
		},
		"clock": func(o *lookleap.FetcherOptions) { o.Now = func() time.Time { panic("boom") } },
	} {
		t.Run(name, func(t *testing.T) {
			o := working
			spoil(&o)
			f := lookleap.NewFetcher(o)
			defer f.(io.Closer).Close()
			_, err := get(t, f, "https://shop.example/")
			if err == nil || !strings.Contains(err.Error(), "boom") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFetcherResolution(t *testing.T) {
	n := lab.ForTest(t)
	n.Site("bogus.example").Body("/", "text/plain", "forged")
	n.Name("bogus.example").Bogus()
	n.Site("broken.example")
	n.Name("broken.example").ServFail()
	f := guarded(t, n, lookleap.FetcherOptions{})
	t.Run("bogus", func(t *testing.T) {
		_, err := get(t, f, "https://bogus.example/")
		if !errors.Is(err, lookleap.ErrBogus) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("servfail", func(t *testing.T) {
		_, err := get(t, f, "https://broken.example/")
		refused(t, err, lookleap.CodeDNSError)
	})
	t.Run("bogus-in-one-family", func(t *testing.T) {
		_, err := get(t, guarded(t, n, lookleap.FetcherOptions{Resolver: halfBogus{}}), "https://half.example/")
		if !errors.Is(err, lookleap.ErrBogus) {
			t.Errorf("error %v", err)
		}
	})
	if dials := n.Journal().Dials(); len(dials) != 0 {
		t.Errorf("dialled %v", dials)
	}
	t.Run("failure-of-both-families", func(t *testing.T) {
		_, err := get(t, guarded(t, n, lookleap.FetcherOptions{Resolver: noAnswer}), "https://shop.example/")
		refused(t, err, lookleap.CodeDNSError)
		if lines := strings.Split(err.Error(), "\n\t"); len(lines) != 3 || !strings.HasPrefix(lines[1], "no A") || !strings.HasPrefix(lines[2], "no AAAA") {
			t.Errorf("lines %q", lines)
		}
	})
	for _, c := range []struct {
		name     string
		resolver lookleap.Resolver
		code     lookleap.Code
	}{{"longest-quotation-of-a-host-that-fails", noAnswer, lookleap.CodeDNSError}, {"longest-quotation-of-a-host-without-address", noAddress, lookleap.CodeNoAddress}} {
		t.Run(c.name, func(t *testing.T) {
			for length, cut := range map[int]bool{253: false, 254: true} {
				_, err := get(t, guarded(t, n, lookleap.FetcherOptions{Resolver: c.resolver}), "https://"+strings.Repeat("a", length)+"/")
				refused(t, err, c.code)
				if strings.Contains(err.Error(), "(1 more character)") != cut {
					t.Errorf("%d bytes: %v", length, err)
				}
			}
		})
	}
}

// Resolvers that cannot answer, and that know no address.
var (
	noAnswer = resolverFunc(func(_ context.Context, _ string, rr lookleap.RRType) (*lookleap.DNSAnswer, error) {
		return nil, errors.New("no " + rr.String())
	})
	noAddress = resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
		return new(lookleap.DNSAnswer), nil
	})
)

// halfBogus has a good A and a bogus AAAA for every name.
type halfBogus struct{}

func (halfBogus) Lookup(_ context.Context, name string, rr lookleap.RRType) (*lookleap.DNSAnswer, error) {
	if rr == lookleap.TypeAAAA {
		return nil, &lookleap.BogusError{Name: name}
	}
	return &lookleap.DNSAnswer{Exists: true, Records: []lookleap.Record{{Addr: netip.MustParseAddr("93.184.216.34")}}}, nil
}

func TestFetcherResolvesThroughItsHost(t *testing.T) {
	n := lab.ForTest(t)
	n.Site("shop.example").Body("/", "text/plain", "hello")
	host := &lookleap.Host{Resolver: n.Resolver()}
	host.Fetcher = guarded(t, n, lookleap.FetcherOptions{Resolver: host})
	defer host.Close()
	mustGet(t, host, "https://shop.example/")
	if queries := n.Journal().Queries("shop.example"); len(queries) != 2 {
		t.Errorf("%d queries", len(queries))
	}
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
		n := lab.ForTest(t)
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
