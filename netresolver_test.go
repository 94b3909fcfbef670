package lookleap_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// overLab is Go's own resolver asking the lab's DNS.
func overLab(n *lab.Internet) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: zone.Dial(n.DNS())}
}

func TestNetResolver(t *testing.T) {
	n := lab.ForTest(t)
	n.Name("shop.example", "93.184.216.34", "2606:2800:220:1::1").TXT("v=a", "b").TXT("second")
	n.Name("_svc._tcp.shop.example").SRV(10, 20, 443, "Api.shop.example.")
	n.Name("_none._tcp.shop.example").SRV(0, 0, 0, ".")
	n.Name("alias.example").CNAME("shop.example.")
	n.Name("mapped.example").Record("AAAA ::ffff:10.0.0.1")
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
	t.Run("absence", func(t *testing.T) {
		for _, question := range []struct {
			name string
			t    lookleap.RRType
		}{{"nowhere.example", lookleap.TypeA}, {"shop.example", lookleap.TypeSRV}, {"nowhere.example", lookleap.TypeTXT}} {
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
		answer, err := r.Lookup(t.Context(), "broken.example", lookleap.TypeTXT)
		var failed *lookleap.Error
		if answer != nil || !errors.As(err, &failed) || lookleap.CodeOf(err) != lookleap.CodeDNSError {
			t.Errorf("%v, %v", answer, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if answer, err := r.Lookup(ctx, "shop.example", lookleap.TypeTXT); err == nil {
			t.Errorf("answer %+v", answer)
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
	n := lab.ForTest(t)
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
	n := lab.ForTest(t)
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
