package bench

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"

	"github.com/lookleap/lookleap/internal/netguard"
)

// TestAddressTable compares our table with the one that code.dny.dev/ssrf
// generates from the IANA registries: whatever theirs refuses, ours does. What
// ours refuses beyond it stands below.
func TestAddressTable(t *testing.T) {
	theirs := ssrf.New()
	known := func(addr netip.Addr) bool {
		b := addr.As16()
		isatap := addr.Is6() && b[10] == 0x5e && b[11] == 0xfe
		platform := addr == netip.MustParseAddr("168.63.129.16") // public by the registries, private by one cloud
		return isatap || platform
	}
	network := func(addr netip.Addr) string {
		if addr.Is4() {
			return "tcp4"
		}
		return "tcp6"
	}
	for addr := range samples() {
		ours := netguard.Check(addr)
		refused := theirs.Safe(network(addr), netip.AddrPortFrom(addr, 443).String(), nil)
		switch {
		case ours == nil && refused != nil:
			t.Errorf("%s: we dial it, they say %v", addr, refused)
		case ours != nil && refused == nil && !known(addr):
			t.Errorf("%s: we say %v, they dial it", addr, ours)
		}
	}
}

// samples yields the ends and neighbours of every prefix that either table
// knows, and addresses at random.
func samples() func(func(netip.Addr) bool) {
	var prefixes []netip.Prefix
	prefixes = append(prefixes, ssrf.IPv4DeniedPrefixes...)
	prefixes = append(prefixes, ssrf.IPv6DeniedPrefixes...)
	prefixes = append(prefixes, ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix)
	for _, r := range netguard.Ranges() {
		prefixes = append(prefixes, r.Prefix)
	}
	return func(yield func(netip.Addr) bool) {
		for _, p := range prefixes {
			first, last := p.Masked().Addr(), lastOf(p)
			for _, addr := range []netip.Addr{first, last, first.Prev(), last.Next()} {
				if addr.IsValid() && !yield(addr) {
					return
				}
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 200_000 {
			var raw [16]byte
			for i := range raw {
				raw[i] = byte(random.Uint32())
			}
			if !yield(netip.AddrFrom4([4]byte(raw[:4]))) || !yield(netip.AddrFrom16(raw)) {
				return
			}
			raw[0] = 0x20 | raw[0]&0x1f // within global unicast
			if !yield(netip.AddrFrom16(raw)) {
				return
			}
		}
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	raw := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(raw)*8; i++ {
		raw[i/8] |= 0x80 >> (i % 8)
	}
	addr, _ := netip.AddrFromSlice(raw)
	return addr
}
