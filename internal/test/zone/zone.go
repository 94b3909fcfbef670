// Package zone is a DNS for tests: authoritative zones built from Go data, signed under the caller's
// clock, and served from one place the way a recursive resolver would answer a stub that sets
// CD.
//
//	s := zone.NewServer(clock.Now,
//		zone.New(".").Sign(zone.Signing{}),
//		zone.New("com").Sign(zone.Signing{}),
//		zone.New("example.com").TXT("_anml", "v=anml1").A("www", "192.0.2.1"),
//	)
//	reply := s.Handle(query)
//
// Zones find their parents themselves: NS and DS records of a zone are put into the closest
// enclosing zone of the same server. A [Mangler] stands before a server and behaves as badly as
// any network. Everything here is for tests and examples: mistakes in zone data panic.
package zone

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Zone is the data of one zone. Its methods add records and return the zone, so that calls
// chain. Names without a final dot are relative to the origin and "@" is the origin itself, as
// in a zone file. A Zone must not change after it was handed to a server.
type Zone struct {
	origin  string
	ttl     uint32
	records []dns.RR

	signing  *Signing // nil: unsigned
	keys     []*key
	trapSigs int
}

// New returns an empty zone with a TTL of five minutes. Its SOA and NS records are added when
// it is served.
func New(origin string) *Zone {
	return &Zone{origin: dns.CanonicalName(origin), ttl: 300}
}

// TTL sets the TTL of the records added from here on.
func (z *Zone) TTL(ttl time.Duration) *Zone {
	z.ttl = uint32(ttl / time.Second)
	return z
}

// TXT adds one TXT record made of the given character-strings. Each call is one record.
func (z *Zone) TXT(name string, text ...string) *Zone {
	txt := &dns.TXT{Hdr: z.header(name, dns.TypeTXT)}
	for _, s := range text {
		var escaped strings.Builder // as miekg/dns keeps it
		for _, c := range []byte(s) {
			fmt.Fprintf(&escaped, "\\%03d", c)
		}
		txt.Txt = append(txt.Txt, escaped.String())
	}
	return z.add(txt)
}

// A adds an address record, A or AAAA by the form of the address.
func (z *Zone) A(name, address string) *Zone {
	ip := netip.MustParseAddr(address)
	if ip.Is4() {
		return z.add(&dns.A{Hdr: z.header(name, dns.TypeA), A: ip.AsSlice()})
	}
	return z.add(&dns.AAAA{Hdr: z.header(name, dns.TypeAAAA), AAAA: ip.AsSlice()})
}

// SRV adds a service record.
func (z *Zone) SRV(name string, priority, weight, port uint16, target string) *Zone {
	return z.add(&dns.SRV{Hdr: z.header(name, dns.TypeSRV), Priority: priority, Weight: weight, Port: port,
		Target: z.absolute(target)})
}

// CNAME adds an alias.
func (z *Zone) CNAME(name, target string) *Zone {
	return z.add(&dns.CNAME{Hdr: z.header(name, dns.TypeCNAME), Target: z.absolute(target)})
}

// DNAME adds an alias for everything below name.
func (z *Zone) DNAME(name, target string) *Zone {
	return z.add(&dns.DNAME{Hdr: z.header(name, dns.TypeDNAME), Target: z.absolute(target)})
}

// RR adds any record, written as a line of a zone file.
func (z *Zone) RR(line string) *Zone {
	p := dns.NewZoneParser(strings.NewReader(line), z.origin, "")
	p.SetDefaultTTL(z.ttl)
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		z.add(rr)
	}
	if err := p.Err(); err != nil {
		panic(fmt.Sprintf("zone %s: %v", z.origin, err))
	}
	return z
}

func (z *Zone) add(rr dns.RR) *Zone {
	if !dns.IsSubDomain(z.origin, rr.Header().Name) {
		panic(fmt.Sprintf("zone %s: %s lies outside", z.origin, rr.Header().Name))
	}
	z.records = append(z.records, rr)
	return z
}

func (z *Zone) header(name string, rrtype uint16) dns.RR_Header {
	return dns.RR_Header{Name: z.absolute(name), Rrtype: rrtype, Class: dns.ClassINET, Ttl: z.ttl}
}

func (z *Zone) absolute(name string) string {
	switch {
	case name == "@":
		return z.origin
	case dns.IsFqdn(name):
		return name
	}
	return under(name, z.origin)
}

// under is a name below another one.
func under(label, name string) string { return label + "." + strings.TrimPrefix(name, ".") }

func parentName(name string) string {
	if i, end := dns.NextLabel(name, 0); !end {
		return name[i:]
	}
	return "."
}

// data is a zone ready to be served: records by owner and type, each set with its signatures.
type data struct {
	zone  *Zone
	nodes map[string]*node // by canonical name; empty non-terminals included
	chain []link           // NSEC or NSEC3, in order
}

type node struct {
	name string
	sets map[uint16]*rrset // empty for an empty non-terminal
}

type rrset struct {
	rrs, sigs []dns.RR
}

func newData(z *Zone) *data {
	d := &data{zone: z, nodes: map[string]*node{}}
	d.insert(&dns.SOA{
		Hdr: dns.RR_Header{Name: z.origin, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 3600},
		Ns:  "ns.invalid.", Mbox: "hostmaster.invalid.",
		Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400, Minttl: 300,
	})
	d.insertNS(z.origin)
	for _, rr := range z.records {
		d.insert(rr)
	}
	return d
}

func (d *data) insertNS(origin string) {
	d.insert(&dns.NS{Hdr: dns.RR_Header{Name: origin, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 3600},
		Ns: "ns.invalid."})
}

// insert adds a record, and the empty non-terminals between it and the apex. A SOA replaces the
// one that is there.
func (d *data) insert(rr dns.RR) {
	n, rrtype := d.touch(dns.CanonicalName(rr.Header().Name)), rr.Header().Rrtype
	set := n.sets[rrtype]
	if set == nil || rrtype == dns.TypeSOA {
		set = &rrset{}
		n.sets[rrtype] = set
	}
	set.rrs = append(set.rrs, rr)
}

func (d *data) touch(name string) *node {
	n := d.nodes[name]
	if n == nil {
		n = &node{name: name, sets: map[uint16]*rrset{}}
		d.nodes[name] = n
		if name != d.zone.origin {
			d.touch(parentName(name))
		}
	}
	return n
}

func (d *data) apex() *node { return d.nodes[d.zone.origin] }

func (d *data) soa() *dns.SOA { return d.apex().sets[dns.TypeSOA].rrs[0].(*dns.SOA) }

// isCut says whether the node delegates to a child zone.
func (d *data) isCut(n *node) bool {
	return n.name != d.zone.origin && n.sets[dns.TypeNS] != nil
}

// isOccluded says whether a name lies below a zone cut or a DNAME, where the zone's records do
// not count.
func (d *data) isOccluded(name string) bool {
	for name != d.zone.origin {
		name = parentName(name)
		n := d.nodes[name]
		if n != nil && (d.isCut(n) || n.sets[dns.TypeDNAME] != nil) {
			return true
		}
	}
	return false
}
