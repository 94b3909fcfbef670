package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// signedWorld is a root, a TLD and leaves of each kind.
func signedWorld(now func() time.Time) (*zone.Server, string) {
	root := zone.New(".").Sign(zone.Signing{})
	return zone.NewServer(now, root,
		zone.New("example").Sign(zone.Signing{}),
		zone.New("signed.example").Sign(zone.Signing{}).TXT("_anml", "v=anml1; ", "query=https://signed.example/q").SRV("_aiip._tcp", 1, 2, 443, "ai.signed.example.").A("@", "93.184.216.40"),
		zone.New("expired.example").Sign(zone.Signing{From: -48 * time.Hour, Till: -24 * time.Hour}).TXT("_anml", "v=anml1").A("@", "93.184.216.41"),
		zone.New("unsigned.example").TXT("_anml", "v=anml1"),
	), root.Anchor()
}

func TestNewResolver(t *testing.T) {
	now := func() time.Time { return planTime }
	server, anchor := signedWorld(now)
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, Anchors: anchor, Now: now, DialContext: zone.Dial(server)})
	if err != nil {
		t.Fatal(err)
	}
	h := &lookleap.Host{Resolver: r, Now: now}
	for _, c := range []struct {
		name   string
		rrtype lookleap.RRType
		state  lookleap.DNSSEC
		exists bool
		text   string
	}{
		{"_anml.signed.example", lookleap.TypeTXT, lookleap.Secure, true, "v=anml1; query=https://signed.example/q"},
		{"_anml.signed.example", lookleap.TypeA, lookleap.Secure, true, ""},
		{"nothing.signed.example", lookleap.TypeTXT, lookleap.Secure, false, ""},
		{"_anml.unsigned.example", lookleap.TypeTXT, lookleap.Insecure, true, "v=anml1"},
	} {
		t.Run(fmt.Sprintf("%s-%s", c.name, c.rrtype), func(t *testing.T) {
			a, err := h.Lookup(t.Context(), c.name, c.rrtype)
			if err != nil {
				t.Fatal(err)
			}
			if a.DNSSEC != c.state || a.Exists != c.exists || a.TTL <= 0 || (len(a.Records) > 0) != (c.text != "") {
				t.Fatalf("got %+v", a)
			}
			if c.text != "" && a.Records[0].Text != c.text {
				t.Errorf("got %q", a.Records[0].Text)
			}
			if len(a.Chain) < 2 || a.Chain[0].Zone != "." || a.Chain[0].DNSSEC != lookleap.Secure {
				t.Errorf("chain %+v", a.Chain)
			}
		})
	}
	t.Run("SRV", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "_aiip._tcp.signed.example", lookleap.TypeSRV)
		want := lookleap.SRV{Priority: 1, Weight: 2, Port: 443, Target: "ai.signed.example"}
		if err != nil || len(a.Records) != 1 || *a.Records[0].SRV != want || a.Records[0].Text != "" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("A", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "signed.example", lookleap.TypeA)
		if err != nil || len(a.Records) != 1 || a.Records[0].Addr.String() != "93.184.216.40" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("bogus", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "_anml.expired.example", lookleap.TypeTXT)
		var bogus *lookleap.BogusError
		if a != nil || !errors.As(err, &bogus) || bogus.Zone != "expired.example" || bogus.EDE != 7 || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("bad-name", func(t *testing.T) {
		if a, err := h.Lookup(t.Context(), "not a name", lookleap.TypeTXT); a != nil || lookleap.CodeOf(err) != lookleap.CodeBadHost {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("fresh", func(t *testing.T) {
		asked := func(lookup func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error)) int {
			before := len(server.Journal())
			if _, err := lookup(t.Context(), "_anml.signed.example", lookleap.TypeTXT); err != nil {
				t.Fatal(err)
			}
			return len(server.Journal()) - before
		}
		if n := asked(h.Lookup); n != 0 {
			t.Errorf("a cached answer took %d queries", n)
		}
		if n := asked(h.LookupFresh); n != 1 {
			t.Errorf("a fresh answer took %d queries", n)
		}
	})
	t.Run("closed", func(t *testing.T) {
		if c, ok := r.(interface{ Close() error }); !ok || c.Close() != nil {
			t.Error("it cannot be closed")
		}
	})
}

// TestResolverServerFailure: that a server is out of order says nothing about the name.
func TestResolverServerFailure(t *testing.T) {
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no network")
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Lookup(t.Context(), "example.com", lookleap.TypeA)
	if a != nil || errors.Is(err, lookleap.ErrBogus) || lookleap.CodeOf(err) != lookleap.CodeDNSError {
		t.Errorf("got %+v, %v", a, err)
	}
}

// TestResolverErrorsNameWhatFailed: a server that fails and a zone that exhausts validators are told apart.
func TestResolverErrorsNameWhatFailed(t *testing.T) {
	now := func() time.Time { return planTime }
	root := zone.New(".").Sign(zone.Signing{})
	server := zone.NewServer(now, root, zone.New("example").Sign(zone.Signing{}),
		zone.New("down.example").Sign(zone.Signing{}).TXT("_anml", "v=anml1"),
		zone.New("trap.example").Sign(zone.Signing{Algorithms: []uint8{dns.RSASHA256}}).TXT("_anml", "v=anml1").KeyTrap(40, 40))
	broken := &zone.Mangler{Next: server, Edits: []zone.Edit{zone.On("down.example", dns.TypeDNSKEY, zone.Rcode(dns.RcodeServerFailure))}}
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, Anchors: root.Anchor(), Now: now, DialContext: zone.Dial(broken)})
	if err != nil {
		t.Fatal(err)
	}
	var events []lookleap.Event
	h := &lookleap.Host{Resolver: r, Now: now, Observe: func(_ context.Context, e lookleap.Event) { events = append(events, e) }}
	for _, c := range []struct {
		name, question string
		code           lookleap.Code
		security       bool
		words          []string
	}{
		{"reject-server-failure", "_anml.down.example", lookleap.CodeDNSError, false,
			[]string{"_anml.down.example", "192.0.2.53", "SERVFAIL", "down.example DNSKEY", "another DNS server"}},
		{"reject-keytrap", "_anml.trap.example", lookleap.CodeDNSSECLimit, true,
			[]string{"_anml.trap.example", "zone trap.example", "do not use the name"}},
	} {
		t.Run("O31", func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				events = nil
				_, err := h.Lookup(t.Context(), c.question, lookleap.TypeTXT)
				if lookleap.CodeOf(err) != c.code || errors.Is(err, lookleap.ErrBogus) {
					t.Fatalf("code %s: %v", lookleap.CodeOf(err), err)
				}
				for _, word := range c.words {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%q is missing: %v", word, err)
					}
				}
				found := false
				for _, e := range events {
					found = found || e.Kind == lookleap.EventFinding && e.Code == c.code && e.Finding != nil && e.Finding.Fix != ""
				}
				if events[0].Kind != lookleap.EventLookup || events[0].Code != c.code || found != c.security {
					t.Errorf("events %+v", events)
				}
			})
		})
	}
}

func TestNewResolverRefuses(t *testing.T) {
	for name, o := range map[string]lookleap.ResolverOptions{
		"server": {Servers: []string{"ftp://192.0.2.53"}},
		"anchor": {Anchors: "nonsense"},
	} {
		if r, err := lookleap.NewResolver(o); r != nil || err == nil {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
	}
}

// TestFetcherObeysDNSSEC: an address that failed validation is never dialled.
func TestFetcherObeysDNSSEC(t *testing.T) {
	n := lab.ForTest(t)
	n.Clock().Set(planTime)
	n.Clock().Freeze()
	server, anchor := signedWorld(n.Clock().Now)
	n.Site("expired.example").At("93.184.216.41").Body("/", "text/plain", "x")
	n.Site("signed.example").At("93.184.216.40").Body("/", "text/plain", "x")
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, Anchors: anchor, Now: n.Clock().Now, DialContext: zone.Dial(server)})
	if err != nil {
		t.Fatal(err)
	}
	h := &lookleap.Host{Resolver: r, Now: n.Clock().Now}
	h.Fetcher = n.FetcherWith(lookleap.FetcherOptions{Resolver: h})
	get := func(url string) error {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		resp, err := h.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := get("https://signed.example/"); err != nil {
		t.Errorf("a validated address: %v", err)
	}
	if err := get("https://expired.example/"); !errors.Is(err, lookleap.ErrBogus) || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
		t.Errorf("a bogus address: %v", err)
	}
	if dials := n.Journal().Dials("93.184.216.41"); len(dials) != 0 {
		t.Errorf("it was dialled: %v", dials)
	}
}
