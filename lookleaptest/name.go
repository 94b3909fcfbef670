package lookleaptest

import (
	"time"

	"github.com/lookleap/lookleap/internal/lab"
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
