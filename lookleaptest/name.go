package lookleaptest

import (
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// Name is one name of the DNS. Its methods may be called at any time and return the name,
// so that calls can be chained. A host caches answers for their TTL, which is 5 minutes
// unless TTL sets another one.
type Name struct{ name *lab.Name }

// Addrs sets the addresses, and replaces those that the name had.
func (m *Name) Addrs(addrs ...string) *Name {
	m.name.Addrs(addrs...)
	return m
}

// Rebind answers the first query for addresses with the first value, the second with the
// second, and all others with the last one. A value is one address or several, separated
// by spaces. A and AAAA queries are counted separately. The TTL is 0. Signatures do not
// cover these answers, so use it for names in unsigned zones.
func (m *Name) Rebind(answers ...string) *Name {
	m.name.Rebind(answers...)
	return m
}

// TXT adds a TXT record that consists of the given strings, each of at most 255 bytes.
func (m *Name) TXT(text ...string) *Name {
	m.name.TXT(text...)
	return m
}

// SRV adds an SRV record.
func (m *Name) SRV(priority, weight, port uint16, target string) *Name {
	m.name.SRV(priority, weight, port, target)
	return m
}

// CNAME makes the name an alias of another name.
func (m *Name) CNAME(target string) *Name {
	m.name.CNAME(target)
	return m
}

// TTL sets the TTL of all records of the name.
func (m *Name) TTL(ttl time.Duration) *Name {
	m.name.TTL(ttl)
	return m
}

// Clear removes all records of the name.
func (m *Name) Clear() *Name {
	m.name.Clear()
	return m
}

// ServFail makes the DNS answer queries for the name with the error SERVFAIL.
func (m *Name) ServFail() *Name {
	m.name.ServFail()
	return m
}

// Refuse makes the DNS answer queries for the name with the error REFUSED.
func (m *Name) Refuse() *Name {
	m.name.Refuse()
	return m
}

// Drop makes the DNS not answer queries for the name.
func (m *Name) Drop() *Name {
	m.name.Drop()
	return m
}

// Delay makes the DNS wait, by the clock of the internet, before it answers queries for the
// name.
func (m *Name) Delay(d time.Duration) *Name {
	m.name.Delay(d)
	return m
}

// Heal ends the faults of the name.
func (m *Name) Heal() *Name {
	m.name.Heal()
	return m
}

// Signatures says how a zone is signed.
type Signatures uint8

// The kinds of signatures.
const (
	SignaturesValid   Signatures = iota // answers are secure
	SignaturesExpired                   // they ended a day ago: answers are bogus
	SignaturesForged                    // by a key that the parent zone does not name: answers are bogus
	SignaturesNSEC3                     // valid, and hashes prove that a name does not exist
)

// Sign signs the zone of a name and each zone above it, so that a host knows that the
// records of the name and below it are authentic, and that a missing record is missing.
// Without a value of [Signatures] they are valid; the zones above get valid signatures
// unless they are signed already.
func (n *Internet) Sign(name string, how ...Signatures) *Internet {
	signatures := SignaturesValid
	if len(how) > 0 {
		signatures = how[0]
	}
	n.zones.sign(name, signatures)
	return n
}

// zones are the zones of the DNS. The root and the top-level domains are signed, so that
// they prove for the other zones whether these are signed.
type zones struct {
	lab *lab.Internet

	mu     sync.Mutex
	root   *zone.Zone
	signed map[string]bool // of each zone but the root, without a final dot
}

func (z *zones) init(n *lab.Internet) {
	z.lab, z.signed = n, map[string]bool{}
	z.root = zone.New(".").Sign(zone.Signing{})
	n.PutZones(z.root)
}

// anchor returns the DS records of the root.
func (z *zones) anchor() string { return z.root.Anchor() }

// cover makes an unsigned zone for the last two labels of a name, unless there is one.
func (z *zones) cover(name string) {
	labels := strings.Split(plainName(name), ".")
	if len(labels) < 2 {
		return
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.put(labels[len(labels)-1], true, SignaturesValid)
	z.put(strings.Join(labels[len(labels)-2:], "."), false, SignaturesValid)
}

func (z *zones) sign(name string, how Signatures) {
	name = plainName(name)
	z.mu.Lock()
	defer z.mu.Unlock()
	for above := parentOf(name); above != ""; above = parentOf(above) {
		if !z.signed[above] {
			delete(z.signed, above)
		}
		z.put(above, true, SignaturesValid)
	}
	delete(z.signed, name)
	z.put(name, true, how)
}

// put adds a zone that does not exist yet. The caller holds z.mu.
func (z *zones) put(name string, sign bool, how Signatures) {
	if _, ok := z.signed[name]; ok {
		return
	}
	z.signed[name] = sign
	added := zone.New(name)
	if sign {
		added.Sign(how.signing())
	}
	z.lab.PutZones(added)
}

func (s Signatures) signing() zone.Signing {
	switch s {
	case SignaturesExpired:
		return zone.Signing{From: -48 * time.Hour, Till: -24 * time.Hour}
	case SignaturesForged:
		return zone.Signing{DS: zone.WrongDS}
	case SignaturesNSEC3:
		return zone.Signing{NSEC3: &zone.NSEC3{}}
	}
	return zone.Signing{}
}

// parentOf returns a name without its first label, "" for a single label.
func parentOf(name string) string {
	_, above, _ := strings.Cut(name, ".")
	return above
}

// plainName returns a name in lower case without its final dot.
func plainName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
