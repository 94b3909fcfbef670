package lookleap_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zone"
	"github.com/lookleap/lookleap/lookleaptest"
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
	t.Run("G01/accept-joined-by-this-resolver", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "_anml.signed.example", lookleap.TypeTXT)
		if err != nil || len(a.Records) != 1 || a.Records[0].Text != "v=anml1; query=https://signed.example/q" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("SRV", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "_aiip._tcp.signed.example", lookleap.TypeSRV)
		want := lookleap.SRV{Priority: 1, Weight: 2, Port: 443, Target: "ai.signed.example"}
		if err != nil || len(a.Records) != 1 || *a.Records[0].SRV != want || a.Records[0].Text != "" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("A", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "signed.example", lookleap.TypeA)
		if err != nil || len(a.Records) != 1 || a.Records[0].Addr.String() != "93.184.216.40" || a.Records[0].Text != "" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("bogus", func(t *testing.T) {
		a, err := h.Lookup(t.Context(), "_anml.expired.example", lookleap.TypeTXT)
		var bogus *lookleap.BogusError
		if a != nil || !errors.As(err, &bogus) || bogus.Zone != "expired.example" || bogus.EDE != 7 || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus ||
			!strings.HasPrefix(err.Error(), "_anml.expired.example: DNSSEC validation failed in zone expired.example: ") || !strings.HasSuffix(err.Error(), " (EDE 7)") {
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
			before := server.Queries()
			if _, err := lookup(t.Context(), "_anml.signed.example", lookleap.TypeTXT); err != nil {
				t.Fatal(err)
			}
			return server.Queries() - before
		}
		if n := asked(h.Lookup); n != 0 {
			t.Errorf("a cached answer took %d queries", n)
		}
		if n := asked(h.LookupFresh); n != 1 {
			t.Errorf("a fresh answer took %d queries", n)
		}
	})
	t.Run("fresh-without-a-cache", func(t *testing.T) {
		want := &lookleap.DNSAnswer{Name: "a.example"}
		plain := &lookleap.Host{Resolver: resolverFunc(func(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) { return want, nil })}
		if a, err := plain.LookupFresh(t.Context(), "a.example", lookleap.TypeA); a != want || err != nil {
			t.Errorf("%v, %v", a, err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		if c, ok := r.(interface{ Close() error }); !ok || c.Close() != nil {
			t.Error("it cannot be closed")
		}
	})
}

// TestResolverErrorsNameWhatFailed: a server that fails and a zone that exhausts validators are
// told apart.
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
	var reported lookleaptest.Events
	h := &lookleap.Host{Resolver: r, Now: now, Observe: reported.Observe}
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
				reported.Take()
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
				events := reported.All()
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

// TestResolverOwnFetcher: without a Fetcher, https servers are asked through one that checks addresses.
func TestResolverOwnFetcher(t *testing.T) {
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"https://127.0.0.1/dns-query"}})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := r.Lookup(t.Context(), "example.com", lookleap.TypeA); a != nil || !errors.Is(err, lookleap.ErrDenied) {
		t.Errorf("%v, %v", a, err)
	}
}

// TestLintAnswer: only a zone that is proven to have no signatures is reported.
func TestLintAnswer(t *testing.T) {
	for state, want := range map[lookleap.DNSSEC]int{lookleap.Indeterminate: 0, lookleap.Insecure: 1, lookleap.Secure: 0} {
		if got := (&lookleap.DNSAnswer{Name: "a.example", DNSSEC: state}).Lint(); len(got) != want {
			t.Errorf("%s: %v", state, got)
		}
	}
	for length, cut := range map[int]bool{253: false, 254: true} {
		got := (&lookleap.DNSAnswer{Name: strings.Repeat("a", length), DNSSEC: lookleap.Insecure}).Lint()
		if len(got) != 1 || strings.Contains(got[0].Message, "(1 more character)") != cut {
			t.Errorf("a name of %d bytes: %v", length, got)
		}
	}
}

// TestFetcherObeysDNSSEC: an address that failed validation is never dialled.
func TestFetcherObeysDNSSEC(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Clock().Set(planTime)
	n.Clock().Freeze()
	server, anchor := signedWorld(n.Clock().Now)
	n.Site("expired.example").At("93.184.216.41").File("/", "text/plain", "x")
	n.Site("signed.example").At("93.184.216.40").File("/", "text/plain", "x")
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{Servers: []string{"192.0.2.53"}, Anchors: anchor, Now: n.Clock().Now, DialContext: zone.Dial(server)})
	if err != nil {
		t.Fatal(err)
	}
	h := &lookleap.Host{Resolver: r, Now: n.Clock().Now}
	h.Fetcher = n.Fetcher(lookleap.FetcherOptions{Resolver: h})
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

// overLab is Go's own resolver asking the DNS of an internet.
func overLab(n *lookleaptest.Internet) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: n.ResolverOptions().DialContext}
}

func TestNetResolver(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Name("shop.example", "93.184.216.34", "2606:2800:220:1::1").TXT("v=a", "b").TXT("second")
	n.Name("_svc._tcp.shop.example").SRV(10, 20, 443, "Api.shop.example.")
	n.Name("_none._tcp.shop.example").SRV(0, 0, 0, ".")
	n.Name("alias.example").CNAME("shop.example.")
	n.Name("mapped.example").Record("AAAA ::ffff:10.0.0.1")
	n.Name("cname.example").CNAME("mapped.example.")
	n.Name("_odd._tcp.shop.example").SRV(10, 20, 443, "api.1.")
	n.Name("broken.example").ServFail()
	r := lookleap.NetResolver(overLab(n))

	tests := []struct {
		name string
		t    lookleap.RRType
		want []lookleap.Record
	}{
		{"shop.example", lookleap.TypeA, []lookleap.Record{{Addr: netip.MustParseAddr("93.184.216.34")}}},
		{"shop.example", lookleap.TypeAAAA, []lookleap.Record{{Addr: netip.MustParseAddr("2606:2800:220:1::1")}}},
		{"alias.example", lookleap.TypeA, []lookleap.Record{{Addr: netip.MustParseAddr("93.184.216.34")}}},
		{"shop.example", lookleap.TypeTXT, []lookleap.Record{{Text: "second"}, {Text: "v=ab"}}},
		{"_svc._tcp.shop.example", lookleap.TypeSRV, []lookleap.Record{{SRV: &lookleap.SRV{Priority: 10, Weight: 20, Port: 443, Target: "api.shop.example"}}}},
		{"_none._tcp.shop.example", lookleap.TypeSRV, []lookleap.Record{{SRV: &lookleap.SRV{}}}},
	}
	for _, test := range tests {
		t.Run(test.t.String()+"-"+test.name, func(t *testing.T) {
			answer, err := r.Lookup(t.Context(), test.name, test.t)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(answer.Records)
			slices.SortFunc(got, func(a, b lookleap.Record) int { return strings.Compare(a.Text, b.Text) })
			if !slices.EqualFunc(got, test.want, sameRecord) {
				t.Errorf("records %+v, want %+v", got, test.want)
			}
			if !answer.Exists || answer.TTL != 0 || answer.DNSSEC != lookleap.Indeterminate || answer.Name != test.name {
				t.Errorf("answer %+v", answer)
			}
		})
	}
	t.Run("G01/accept-joined-by-the-system's-resolver", func(t *testing.T) {
		n.Name("_anml.shop.example").TXT("v=anml1; query=", "https://shop", ".example/q")
		answer, err := r.Lookup(t.Context(), "_anml.shop.example", lookleap.TypeTXT)
		if err != nil || len(answer.Records) != 1 || answer.Records[0].Text != "v=anml1; query=https://shop.example/q" {
			t.Errorf("got %+v, %v", answer, err)
		}
	})
	t.Run("absence", func(t *testing.T) {
		for _, question := range []struct {
			name string
			t    lookleap.RRType
		}{{"nowhere.example", lookleap.TypeA}, {"shop.example", lookleap.TypeSRV}, {"nowhere.example", lookleap.TypeTXT}, {"cname.example", lookleap.TypeTXT}} {
			answer, err := r.Lookup(t.Context(), question.name, question.t)
			if err != nil || answer.Exists || len(answer.Records) != 0 || answer.TTL != 0 {
				t.Errorf("%s %s: %+v, %v", question.name, question.t, answer, err)
			}
		}
	})
	t.Run("an-IPv4-address-in-AAAA-never-becomes-one", func(t *testing.T) {
		answer, err := r.Lookup(t.Context(), "mapped.example", lookleap.TypeAAAA)
		if err == nil {
			for _, record := range answer.Records {
				if record.Addr.Is4() {
					t.Errorf("record %v", record.Addr)
				}
			}
		}
	})
	t.Run("failure", func(t *testing.T) {
		for _, rrtype := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA, lookleap.TypeTXT, lookleap.TypeSRV} {
			answer, err := r.Lookup(t.Context(), "broken.example", rrtype)
			var failed *lookleap.Error
			if answer != nil || !errors.As(err, &failed) || lookleap.CodeOf(err) != lookleap.CodeDNSError {
				t.Errorf("%s: %v, %v", rrtype, answer, err)
			}
		}
	})
	t.Run("target-that-is-no-name", func(t *testing.T) {
		if answer, err := r.Lookup(t.Context(), "_odd._tcp.shop.example", lookleap.TypeSRV); answer != nil || !strings.Contains(fmt.Sprint(err), "it can be read as an IP address") {
			t.Errorf("%v, %v", answer, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		below := overLab(n)
		below.Dial = func(context.Context, string, string) (net.Conn, error) {
			t.Error("a server is asked")
			return nil, errors.New("no network")
		}
		if answer, err := lookleap.NetResolver(below).Lookup(ctx, "shop.example", lookleap.TypeTXT); answer != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", answer, err)
		}
	})
	t.Run("unknown-type", func(t *testing.T) {
		if answer, err := r.Lookup(t.Context(), "shop.example", 15); err == nil {
			t.Errorf("answer %+v", answer)
		}
	})
}

func sameRecord(a, b lookleap.Record) bool {
	if a.SRV != nil && b.SRV != nil {
		return *a.SRV == *b.SRV
	}
	return a == b
}

func TestNetResolverNames(t *testing.T) {
	n := lookleaptest.ForTest(t)
	r := lookleap.NetResolver(overLab(n))
	for _, name := range []string{
		"", ".", "shop.example.", "shop..example", ".example", "127.0.0.1", "2130706433", "0x7f.1", "0x7f000001", "::1", "a b.example", "a/b.example", "b\x00.example",
		"bücher.example", "shop.example:443", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "example", "*.example",
	} {
		answer, err := r.Lookup(t.Context(), name, lookleap.TypeA)
		if answer != nil || lookleap.CodeOf(err) != lookleap.CodeBadHost {
			t.Errorf("%q: %v, %v", name, answer, err)
		}
	}
	if queries := n.Journal().Queries(); len(queries) != 0 {
		t.Errorf("asked %v", queries)
	}
}

func TestNetResolverBoundsRecords(t *testing.T) {
	n := lookleaptest.ForTest(t)
	for i := range 257 {
		if i < 256 {
			n.Name("many.example").TXT(strconv.Itoa(i))
		}
		n.Name("more.example").TXT(strconv.Itoa(i))
		if i < 140 {
			n.Name("long.example").TXT(strconv.Itoa(i) + strings.Repeat("x", 240))
		}
	}
	r := lookleap.NetResolver(overLab(n))
	if answer, err := r.Lookup(t.Context(), "many.example", lookleap.TypeTXT); err != nil || len(answer.Records) != 256 {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"more.example", "long.example"} {
		if answer, err := r.Lookup(t.Context(), name, lookleap.TypeTXT); answer != nil || lookleap.CodeOf(err) != lookleap.CodeDNSError {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
}
