package dnssec

import (
	"fmt"
	"strings"

	"github.com/miekg/dns"
)

// RootAnchors are IANA's trust anchors of the root zone: KSK-2017 and KSK-2024.
const RootAnchors = `
. IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D
. IN DS 38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16
`

// parseAnchors reads DS and DNSKEY records as a zone file writes them. Keys are kept as their SHA-256 digests.
func parseAnchors(text string) (map[name][]delegation, error) {
	anchors := map[name][]delegation{}
	p := dns.NewZoneParser(strings.NewReader(text), ".", "")
	p.SetDefaultTTL(0)
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		owner, valid := nameOf(rr.Header().Name)
		if !valid {
			return nil, fmt.Errorf("trust anchor %q: not a name", rr.Header().Name)
		}
		switch k := rr.(type) {
		case *dns.DS:
		case *dns.DNSKEY:
			if k.Flags&dns.ZONE == 0 || k.Flags&dns.REVOKE != 0 || k.Protocol != 3 {
				return nil, fmt.Errorf("trust anchor of %s: the key must not be used for validation (flags %d, protocol %d)", owner, k.Flags, k.Protocol)
			}
			ds := k.ToDS(dns.SHA256)
			if ds == nil {
				return nil, fmt.Errorf("trust anchor of %s: the key cannot be read", owner)
			}
			rr = ds
		default:
			return nil, fmt.Errorf("trust anchor of %s: want DS or DNSKEY, have %s", owner, dns.Type(rr.Header().Rrtype))
		}
		anchors[owner] = append(anchors[owner], usableDelegations([]dns.RR{rr})...)
	}
	for owner, usable := range anchors {
		if len(usable) == 0 {
			return nil, fmt.Errorf("trust anchor of %s: no record with a supported algorithm and digest", owner)
		}
	}
	if err := p.Err(); err != nil {
		return nil, fmt.Errorf("trust anchor: %w", err)
	}
	if len(anchors) == 0 {
		return nil, fmt.Errorf("trust anchor: no DS or DNSKEY record found")
	}
	return anchors, nil
}
