package dnssec_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// TestAnchoredZones: trust anchors below the root, alone and with the root's.
func TestAnchoredZones(t *testing.T) {
	now := time.Unix(1.7e9, 0)
	root := zone.New(".").Sign(zone.Signing{})
	island := zone.New("island.test").Sign(zone.Signing{}).A("www", "192.0.2.1")
	child := zone.New("child.island.test").Sign(zone.Signing{}).A("www", "192.0.2.2")
	s := zone.NewServer(func() time.Time { return now }, root, zone.New("test"), island, child,
		zone.New("com").Sign(zone.Signing{}).A("www", "192.0.2.3"),
		zone.New("net").Sign(zone.Signing{NSEC3: &zone.NSEC3{OptOut: true}}), zone.New("island.net").Sign(zone.Signing{DS: zone.NoDS}),
		zone.New("child.island.net").Sign(zone.Signing{}).A("www", "192.0.2.4"))
	signedBy := func(name, signer string) zone.Edit {
		return zone.On(name, dns.TypeA, zone.Forge(func(rr dns.RR) {
			if sig, ok := rr.(*dns.RRSIG); ok {
				sig.SignerName = signer
			}
		}))
	}
	both, alone := root.Anchor()+island.Anchor(), island.Anchor()
	for _, c := range []struct {
		name, anchors, question, want string
		edits                         []zone.Edit
	}{
		{"accept-island", both, "www.island.test", "secure", nil},
		{"accept-below-island", both, "www.child.island.test", "secure", nil},
		{"accept-absence-in-island", both, "nope.island.test", "secure nxdomain", nil},
		{"accept-elsewhere", both, "www.com", "secure", nil},
		{"accept-island-alone", alone, "www.island.test", "secure", nil},
		{"accept-below-island-alone", alone, "www.child.island.test", "secure", nil},
		{"accept-ds-of-the-anchored-zone-in-its-unsigned-parent", both, "island.test DS", "insecure nodata", nil},
		{"accept-outside-as-indeterminate", alone, "www.com", "indeterminate", nil},
		{"accept-without-anchor-as-insecure", root.Anchor(), "www.island.test", "insecure", nil},
		{"accept-below-opted-out-island-as-insecure", both, "www.child.island.net", "insecure", nil},
		{"accept-below-island-alone-next-to-a-denial-of-elsewhere", alone, "www.child.island.test", "secure", []zone.Edit{
			zone.On("child.island.test", dns.TypeDS, zone.Inject(nil, rrs("a.com. 60 IN NSEC b.com. A")))}},
		{"accept-upstream-that-passes-no-signatures-as-indeterminate", both, "www.island.test", "indeterminate", []zone.Edit{zone.Strip(dns.TypeRRSIG, dns.TypeNSEC)}},
		{"reject-stripped-island", both, "www.island.test", "bogus", []zone.Edit{zone.On("www.island.test", 0, zone.StripDNSSEC())}},
		{"reject-signer-above-the-anchor", both, "www.island.test", "bogus", []zone.Edit{signedBy("www.island.test", "test.")}},
		{"reject-root-as-signer", both, "www.island.test", "bogus", []zone.Edit{signedBy("www.island.test", ".")}},
		{"reject-signer-without-anchor", alone, "www.island.test", "bogus", []zone.Edit{signedBy("www.island.test", "test.")}},
		{"reject-child-signed-from-above", alone, "www.child.island.test", "bogus", []zone.Edit{zone.On("child.island.test", dns.TypeDS, zone.Forge(func(rr dns.RR) {
			if sig, ok := rr.(*dns.RRSIG); ok {
				sig.SignerName = "test."
			}
		}))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := dnssec.New(dnssec.Options{
				Anchors: c.anchors, Now: func() time.Time { return now }, Exchange: zone.Exchange(&zone.Mangler{Next: s, Edits: c.edits}),
			})
			if err != nil {
				t.Fatal(err)
			}
			name, rrtype, _ := strings.Cut(c.question, " ")
			result, err := r.Lookup(t.Context(), name, typeOf(t, cmp.Or(rrtype, "A")))
			if got := outcome(result, err); got != c.want {
				t.Errorf("%s: %s (%v), want %s", c.question, got, err, c.want)
			}
		})
	}
	if !strings.Contains(both, "DS") {
		t.Error(both)
	}
}
