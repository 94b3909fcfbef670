package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// Name is one name in the lab's DNS. Its methods may be called at any time and return the name, so
// that calls chain.
type Name struct {
	in   *directory
	name string // absolute, in lower case

	ttl     time.Duration
	addrs   []netip.Addr
	records []func(*zone.Zone)
	rebind  [][]netip.Addr
	asked   map[uint16]int // how often, per type, since Rebind
	delay   time.Duration
	state   *lookleap.DNSSEC
	bogus   bool
}

// defaultTTL is the TTL of records that say nothing else.
const defaultTTL = 5 * time.Minute

// Addrs sets the addresses, in place of those it had.
func (m *Name) Addrs(addrs ...string) *Name {
	return m.change(func() { m.addrs, m.rebind = parseAddrs(addrs), nil })
}

// Rebind answers the first address query with the first list, the next with the next, and so on;
// the last stays. An address list is written with spaces. A and AAAA queries are counted apart. The
// answers have a TTL of 0 and are never signed.
func (m *Name) Rebind(answers ...string) *Name {
	return m.change(func() {
		m.rebind, m.asked = nil, map[uint16]int{}
		for _, a := range answers {
			m.rebind = append(m.rebind, parseAddrs(strings.Fields(a)))
		}
	})
}

// TXT adds one TXT record made of the given character-strings of at most 255 bytes.
func (m *Name) TXT(text ...string) *Name {
	for _, s := range text {
		if len(s) > 255 {
			panic(fmt.Sprintf("lab: %s: a character-string of %d bytes", m.name, len(s)))
		}
	}
	return m.add(func(z *zone.Zone) { z.TXT(m.name, text...) })
}

// SRV adds a service record. The target is absolute.
func (m *Name) SRV(priority, weight, port uint16, target string) *Name {
	return m.add(func(z *zone.Zone) { z.SRV(m.name, priority, weight, port, dns.Fqdn(target)) })
}

// CNAME makes it an alias. The target is absolute.
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

// Clear removes all records. The name exists no more, unless something lies below it.
func (m *Name) Clear() *Name {
	return m.change(func() { m.addrs, m.records, m.rebind = nil, nil, nil })
}

// DNSSEC sets what [Internet.Resolver] says of the name and all below it. It does not change what
// the DNS says: a validating resolver is deceived by signed zones only.
func (m *Name) DNSSEC(state lookleap.DNSSEC) *Name {
	return m.change(func() { m.state, m.bogus = &state, false })
}

// Bogus makes [Internet.Resolver] refuse the name and all below it as a failed validation.
func (m *Name) Bogus() *Name { return m.change(func() { m.state, m.bogus = nil, true }) }

// ServFail makes the DNS answer queries for the name with SERVFAIL.
func (m *Name) ServFail() *Name { return m.Fault(zone.Fault{Rcode: dns.RcodeServerFailure}) }

// Refuse makes the DNS answer queries for the name with REFUSED.
func (m *Name) Refuse() *Name { return m.Fault(zone.Fault{Rcode: dns.RcodeRefused}) }

// Drop makes the DNS never answer queries for the name.
func (m *Name) Drop() *Name { return m.Fault(zone.Fault{Drop: true}) }

// Delay makes the DNS wait, by the lab's clock, before it answers queries for the name.
func (m *Name) Delay(d time.Duration) *Name { return m.Fault(zone.Fault{Delay: d}) }

// Fault makes queries for the name go wrong, in this one way, until Heal.
func (m *Name) Fault(f zone.Fault) *Name {
	delay := f.Delay
	f.Delay = 0 // the server would sleep on after the lab is closed
	m.in.server.Fail(m.name, f)
	return m.change(func() { m.delay = delay })
}

// Heal ends faults and scripted DNSSEC states.
func (m *Name) Heal() *Name {
	m.in.server.Heal(m.name)
	return m.change(func() { m.delay, m.state, m.bogus = 0, nil, false })
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
