package lookleaptest

import (
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

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
