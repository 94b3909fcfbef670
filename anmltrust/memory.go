package anmltrust

import (
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
)

// What is kept here are the caches of docs/trust-procedure.md: answers of the DNS
// (D), manifests (F), decisions (G) and holds (B).

// pairKey is one serving domain and one site: what a query is about.
type pairKey struct{ domain, site string }

// verdictKey is where a decision is kept: from a query for all hosts of the
// serving domain (host is ""), from a manifest for one host.
type verdictKey struct {
	pairKey
	host string
}

// sourceKey is one manifest of one site; the newest of any has no uri.
type sourceKey struct{ site, uri string }

// holdKey is what a hold is about.
type holdKey struct {
	kind holdKind
	pair pairKey
	uri  string
}

type keptDNS struct {
	evidence *DNSEvidence
	until    time.Time
}

type keptHold struct {
	code      lookleap.Code
	transient bool
	until     time.Time
}

// keptManifest is a manifest that was accepted, and how to ask whether it changed.
type keptManifest struct{ exchange Exchange }

// keptVerdict is what is remembered under one key.
type keptVerdict struct{ grant, denial *kept }

// store is all that a verifier remembers, each part bounded. The letters are
// those of the decision table.
type store struct {
	dns       *lru.Cache[string, keptDNS]          // D
	dnsHolds  *lru.Cache[string, keptDNS]          // B(s)
	manifests *lru.Cache[sourceKey, *keptManifest] // F
	newest    *lru.Cache[sourceKey, time.Time]     // of F: when the newest accepted manifest was issued
	verdicts  *lru.Cache[verdictKey, keptVerdict]  // G
	holds     *lru.Cache[holdKey, keptHold]        // B
	early     *lru.Cache[pairKey, time.Time]       // when trust-verified last caused a question
	looked    *lru.Cache[verdictKey, time.Time]    // when the shared cache was last asked
	seen      *lru.Cache[verdictKey, time.Time]    // how new its entry was
	ages      *lru.Cache[string, *age]             // of sites: counts what was dropped
}

func newStore(l Limits) *store {
	s := &store{
		dns: newLRU[string, keptDNS](l.Verdicts), dnsHolds: newLRU[string, keptDNS](l.Verdicts),
		manifests: newLRU[sourceKey, *keptManifest](l.Manifests), newest: newLRU[sourceKey, time.Time](l.Verdicts),
		verdicts: newLRU[verdictKey, keptVerdict](l.Verdicts), holds: newLRU[holdKey, keptHold](l.Verdicts),
		early:  newLRU[pairKey, time.Time](l.Verdicts),
		looked: newLRU[verdictKey, time.Time](l.Verdicts), seen: newLRU[verdictKey, time.Time](l.Verdicts),
	}
	// An age that is forgotten is an age that has passed.
	s.ages, _ = lru.NewWithEvict(l.Verdicts, func(_ string, a *age) { a.changes.Add(1) })
	return s
}

func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](max(size, 1))
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return c
}

// age counts what happens to what is remembered about a site.
type age struct {
	changes atomic.Uint64 // anything dropped or replaced: shortcuts end
	drops   atomic.Uint64 // grants withdrawn: what was asked before is not kept
}

func (s *store) age(site string) *age {
	if a, ok := s.ages.Get(site); ok {
		return a
	}
	a := new(age)
	if before, ok, _ := s.ages.PeekOrAdd(site, a); ok {
		return before
	}
	return a
}

// purge forgets everything but how new manifests and shared entries were, which
// only ever refuses.
func (s *store) purge() {
	s.dns.Purge()
	s.dnsHolds.Purge()
	s.manifests.Purge()
	s.verdicts.Purge()
	s.holds.Purge()
	s.early.Purge()
	s.looked.Purge()
	for _, a := range s.ages.Values() {
		a.drops.Add(1)
		a.changes.Add(1)
	}
}

func (s *store) hold(k holdKey, now time.Time) (keptHold, bool) {
	h, ok := s.holds.Get(k)
	if ok && !now.Before(h.until) {
		s.holds.Remove(k)
		return keptHold{}, false
	}
	return h, ok
}

// drop forgets what a definitive no takes with it.
func (s *store) drop(r reach, sub subject) {
	pair := pairKey{sub.server.Domain, sub.site}
	var hit func(verdictKey) bool
	switch r {
	case dropNothing:
		return
	case dropHost:
		hit = func(k verdictKey) bool { return k.pairKey == pair && (k.host == sub.server.Host || k.host == "") }
	case dropHostOnly:
		hit = func(k verdictKey) bool { return k.pairKey == pair && k.host == sub.server.Host }
	case dropPair:
		hit = func(k verdictKey) bool { return k.pairKey == pair }
	default:
		hit = func(k verdictKey) bool { return k.site == sub.site }
	}
	for _, k := range s.verdicts.Keys() {
		if !hit(k) {
			continue
		}
		if v, ok := s.verdicts.Peek(k); ok && v.denial != nil {
			s.verdicts.Add(k, keptVerdict{denial: v.denial})
		} else {
			s.verdicts.Remove(k)
		}
	}
	if r == dropAll {
		s.dns.Remove(sub.site)
		for _, k := range s.manifests.Keys() {
			if k.site == sub.site {
				s.manifests.Remove(k)
			}
		}
	}
	a := s.age(sub.site)
	a.drops.Add(1)
	a.changes.Add(1)
}

// keep remembers a decision under its key.
func (s *store) keep(k verdictKey, d *kept) {
	v, _ := s.verdicts.Peek(k)
	if d.auth != nil {
		v.grant = d
	} else {
		v = keptVerdict{denial: d}
	}
	s.verdicts.Add(k, v)
	s.age(k.site).changes.Add(1)
}

// forget drops one grant, unless another has taken its place.
func (s *store) forget(k verdictKey, d *kept) {
	if v, ok := s.verdicts.Peek(k); ok && v.grant == d {
		s.verdicts.Add(k, keptVerdict{denial: v.denial})
	}
}

func (k verdictKey) String() string { return strings.Join([]string{k.domain, k.site, k.host}, "/") }
