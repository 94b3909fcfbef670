package lookleaptest

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// Name is one name of the DNS. Its methods may be called at any time and return the name,
// so that calls can be chained. A host caches answers for their TTL, which is 5 minutes
// unless TTL sets another one.
type Name struct {
	in   *directory
	name string // absolute, in lower case

	ttl           time.Duration
	addrs         []netip.Addr
	records       []func(*zone.Zone)
	rebind, fault zone.Edit // nil: the records as they are
	state         *lookleap.DNSSEC
	bogus         bool
}

// point sets the addresses, and replaces those that the name had.
func (m *Name) point(addrs ...string) *Name {
	parsed := parseAddrs(addrs)
	return m.change(func() { m.addrs, m.rebind = parsed, nil })
}

// Rebind answers the first query for addresses with the first value, the second with the
// second, and all others with the last one. A value is one address or several, separated
// by spaces. A and AAAA queries are counted separately. The TTL is 0. Signatures do not
// cover these answers, so use it for names in unsigned zones.
func (m *Name) Rebind(answers ...string) *Name {
	var sets [][]netip.Addr
	for _, a := range answers {
		sets = append(sets, parseAddrs(strings.Fields(a)))
	}
	asked := map[uint16]int{}
	rebind := func(query, reply *dns.Msg) *dns.Msg {
		q := query.Question[0]
		if q.Qtype != dns.TypeA && q.Qtype != dns.TypeAAAA {
			return reply
		}
		m.in.mu.Lock()
		addrs := sets[min(asked[q.Qtype], len(sets)-1)]
		asked[q.Qtype]++
		m.in.mu.Unlock()
		reply.Rcode, reply.Answer, reply.Ns = dns.RcodeSuccess, nil, nil
		for _, addr := range addrs {
			hdr := dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: dns.ClassINET}
			switch {
			case q.Qtype == dns.TypeA && addr.Is4():
				reply.Answer = append(reply.Answer, &dns.A{Hdr: hdr, A: addr.AsSlice()})
			case q.Qtype == dns.TypeAAAA && addr.Is6():
				reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: hdr, AAAA: addr.AsSlice()})
			}
		}
		return reply
	}
	return m.change(func() { m.rebind = rebind })
}

// TXT adds a TXT record that consists of the given strings, each of at most 255 bytes.
func (m *Name) TXT(text ...string) *Name {
	for _, s := range text {
		if len(s) > 255 {
			panic(fmt.Sprintf("lookleaptest: %s: a character-string of %d bytes", m.name, len(s)))
		}
	}
	return m.add(func(z *zone.Zone) { z.TXT(m.name, text...) })
}

// SRV adds an SRV record.
func (m *Name) SRV(priority, weight, port uint16, target string) *Name {
	return m.add(func(z *zone.Zone) { z.SRV(m.name, priority, weight, port, dns.Fqdn(target)) })
}

// CNAME makes the name an alias of another name.
func (m *Name) CNAME(target string) *Name {
	return m.add(func(z *zone.Zone) { z.CNAME(m.name, dns.Fqdn(target)) })
}

// Record adds any record: type and data as in a zone file, names absolute.
func (m *Name) Record(data string) *Name {
	return m.add(func(z *zone.Zone) { z.RR(m.name + " IN " + data) })
}

// add adds a record. Bad data panic here, not at the next query.
func (m *Name) add(record func(*zone.Zone)) *Name {
	record(zone.New("."))
	return m.change(func() { m.records = append(m.records, record) })
}

// TTL sets the TTL of all records of the name.
func (m *Name) TTL(ttl time.Duration) *Name { return m.change(func() { m.ttl = ttl }) }

// Clear removes all records of the name.
func (m *Name) Clear() *Name {
	return m.change(func() { m.addrs, m.records, m.rebind = nil, nil, nil })
}

// DNSSEC sets what [Internet.Stub] says of the name and all below it. It does not change what the
// DNS says: use [Internet.Sign] for a validating resolver.
func (m *Name) DNSSEC(state lookleap.DNSSEC) *Name {
	return m.change(func() { m.state, m.bogus = &state, false })
}

// Bogus makes [Internet.Stub] refuse the name and all below it as a failed validation.
func (m *Name) Bogus() *Name { return m.change(func() { m.state, m.bogus = nil, true }) }

// ServFail makes the DNS answer queries for the name with the error SERVFAIL.
func (m *Name) ServFail() *Name { return m.fail(zone.Rcode(dns.RcodeServerFailure)) }

// Refuse makes the DNS answer queries for the name with the error REFUSED.
func (m *Name) Refuse() *Name { return m.fail(zone.Rcode(dns.RcodeRefused)) }

// Drop makes the DNS not answer queries for the name.
func (m *Name) Drop() *Name { return m.fail(zone.Drop()) }

// Delay makes the DNS wait, by the clock of the internet, before it answers queries for the
// name.
func (m *Name) Delay(d time.Duration) *Name {
	return m.fail(func(_, reply *dns.Msg) *dns.Msg {
		if m.in.internet.clock.sleep(m.in.internet.ctx, d) != nil {
			return nil
		}
		return reply
	})
}

// fail makes queries for the name go wrong, in this one way, until Heal.
func (m *Name) fail(fault zone.Edit) *Name { return m.change(func() { m.fault = fault }) }

// Heal ends the faults of the name.
func (m *Name) Heal() *Name {
	return m.change(func() { m.fault, m.state, m.bogus = nil, nil, false })
}

func (m *Name) change(alter func()) *Name {
	m.in.mu.Lock()
	defer m.in.mu.Unlock()
	alter()
	m.in.stale = true
	return m
}

func parseAddrs(addrs []string) []netip.Addr {
	var out []netip.Addr
	for _, a := range addrs {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

// addTo puts the name's records into a zone.
func (m *Name) addTo(z *zone.Zone) {
	z.TTL(m.ttl)
	for _, addr := range m.addrs {
		z.A(m.name, addr.Unmap().String())
	}
	for _, add := range m.records {
		add(z)
	}
}

// Signatures says how a zone is signed.
type Signatures uint8

// The kinds of invalid signatures. Without one of them answers are secure.
const (
	SignaturesExpired Signatures = iota + 1 // they ended a day ago: answers are bogus
	SignaturesForged                        // by a key that the parent zone does not name: answers are bogus
)

// Sign signs the zone of a name and each zone above it, so that a host knows that the
// records of the name and below it are authentic, and that a missing record is missing.
// Without a value of [Signatures] they are valid; the zones above get valid signatures
// unless they are signed already.
func (n *Internet) Sign(name string, how ...Signatures) *Internet {
	signing := zone.Signing{}
	switch {
	case len(how) > 0 && how[0] == SignaturesExpired:
		signing.From, signing.Till = -48*time.Hour, -24*time.Hour
	case len(how) > 0 && how[0] == SignaturesForged:
		signing.DS = zone.WrongDS
	}
	n.names.mu.Lock()
	defer n.names.mu.Unlock()
	n.names.sign(dns.CanonicalName(name), signing)
	return n
}

// Anchors returns the trust anchors of the internet's DNS, for the field of this name of
// lookleap.ResolverOptions in another process.
func (n *Internet) Anchors() string { return n.names.anchor() }
