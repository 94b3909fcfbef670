package dnssec

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// lookup is the work on one question: its clock, its budget, and what it has seen.
type lookup struct {
	r          *Resolver
	now        time.Time
	b          *budget
	signedSeen atomic.Bool // some reply came from a signed zone
}

// finding is what is known of an answer so far. Every link can only weaken it.
type finding struct {
	state  State
	ttl    uint32
	chain  []Link
	exists bool // of an absence: there is such a name, without records of the type
}

func newFinding() *finding { return &finding{state: Secure, ttl: math.MaxInt32} }

// join adds a link's result: the weakest state and the least TTL win, and the chain is that of the
// weakest link, or of the last one among equals.
func (f *finding) join(other finding) {
	f.ttl = min(f.ttl, other.ttl)
	if other.state <= f.state {
		f.state, f.chain = other.state, other.chain
	}
}

// run answers a question: it follows the aliases and judges every set on the way, down to the
// records or to the proof that there are none.
func (l *lookup) run(ctx context.Context, q name, rrtype uint16) (*Result, error) {
	m, err := l.ask(ctx, q, rrtype, "")
	if err != nil {
		return nil, err
	}
	f, n, links := newFinding(), q, 0
	direct := true // m is the reply to a question for n, not for an alias of it
	for {
		s, err := l.step(ctx, n, rrtype, m, direct)
		if !direct && (isBogus(err) || err == nil && s == nil) {
			// The upstream left the rest of the chain to us, or put something next to the alias that
			// does not hold.
			if m, err = l.ask(ctx, n, rrtype, ""); err != nil {
				return nil, err
			}
			direct = true
			continue
		}
		if err != nil {
			return nil, err
		}
		f.join(s.finding)
		switch {
		case s.records != nil:
			return newResult(n, s.records.rrs, f)
		case s.target == "":
			return newAbsence(n, s.exists, f), nil
		}
		n, direct = s.target, false
		links++
		if links > l.b.limits.Aliases { // a loop ends here too
			return nil, &BudgetError{What: "aliases", Limit: l.b.limits.Aliases}
		}
	}
}

func isBogus(err error) bool {
	var b *BogusError
	return errors.As(err, &b)
}

// step is what a reply says of one name: records, an alias, or neither, which is an absence.
type step struct {
	finding
	records *recordSet
	target  name
}

// step judges what m says of n. It is nil if m says nothing of it, which only the reply to another
// question may.
func (l *lookup) step(ctx context.Context, n name, rrtype uint16, m *message, direct bool) (*step, error) {
	var s step
	set := m.answer.find(n, rrtype)
	s.records = set
	if set == nil || rrtype == dns.TypeCNAME {
		link, err := m.answer.aliasOf(n)
		switch {
		case err != nil:
			return nil, err
		case link != nil && rrtype == dns.TypeCNAME:
			set, s.records = link.set, link.cname(n)
		case link != nil:
			set, s.target = link.set, link.target
		}
	}
	var err error
	switch {
	case set != nil:
		s.finding, err = l.judge(ctx, set, m)
	case !direct && m.authority.soaOf(n) == nil:
		return nil, nil
	default:
		s.finding, err = l.judgeAbsence(ctx, n, rrtype, m)
	}
	if direct && isBogus(err) {
		s.finding, err = l.judgeInUnsignedZone(ctx, n, rrtype, set, m, err)
	}
	if err != nil {
		return nil, err
	}
	return &s, nil
}

// judgeInUnsignedZone judges again what failed validation: a set, or an absence if that is nil.
// Where a record of the parent shows an unsigned delegation, signatures and proofs from above it do
// not count, good or bad. Servers that hold parent and child send such ones. Anyone could have
// changed what lies below, so that the result is insecure.
func (l *lookup) judgeInUnsignedZone(
	ctx context.Context, n name, rrtype uint16, set *recordSet, m *message, failure error,
) (finding, error) {
	soa := m.authority.soaOf(n)
	ttl := negativeTTL(soa)
	if set != nil {
		n, rrtype, ttl = set.owner, set.rrtype, set.ttl
	}
	zone, err := l.enclosing(ctx, parentSide(n, rrtype))
	if err != nil || zone.kind != zoneUnsigned || zone.optedOut {
		return finding{}, failure
	}
	f := l.unchecked(zone, ttl)
	if set == nil {
		f.exists, err = !m.nxdomain, m.checkAbsence(soa)
	}
	return f, err
}

// parentSide is the name whose zone holds the records of n and rrtype: a DS set belongs to the
// parent.
func parentSide(n name, rrtype uint16) name {
	if rrtype == dns.TypeDS {
		return n.parent()
	}
	return n
}

// judge validates one set of an answer.
func (l *lookup) judge(ctx context.Context, set *recordSet, m *message) (finding, error) {
	var firstErr error
	for _, signer := range l.signersOf([]*recordSet{set}, func(name) bool { return true }) {
		zone, err := l.zoneAt(ctx, signer, true)
		switch {
		case err != nil:
		case zone.kind == zoneUnsigned:
			return l.unchecked(zone, set.ttl), nil
		case zone.kind == zoneSigned:
			var f finding
			if f, err = l.judgeSigned(set, zone, m); err == nil {
				return f, nil
			}
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if firstErr != nil {
		return finding{}, firstErr
	}
	return l.judgeUnsigned(ctx, parentSide(set.owner, set.rrtype), set.ttl, EDESignatureAbsent, "%s %s has no signature",
		set.owner, dns.Type(set.rrtype))
}

// judgeSigned checks a set with its zone's keys. A set made from a wildcard needs the proof that
// nothing closer exists (RFC 4035 section 5.3.4, RFC 5155 section 8.8).
func (l *lookup) judgeSigned(set *recordSet, zone *zoneState, m *message) (finding, error) {
	s, err := verifySet(set, zone.zone, zone.keys, l.now, l.b)
	if err != nil {
		return finding{}, err
	}
	f := finding{state: Secure, ttl: min(s.ttl, zone.ttl), chain: zone.chain}
	switch {
	case s.encloser == "":
		return f, nil
	case set.rrtype == dns.TypeDNAME:
		// What it redirects depends on the server: the next label may expand the wildcard too (RFC
		// 6672 section 3.3).
		return finding{}, bogus(zone.zone, EDEBogus, "the DNAME record of %s is made from a wildcard", set.owner)
	}
	// Next to an alias, the authority section may prove something about another zone too.
	d, ttl, err := l.denialBy(m.authority.denialsBy(zone.zone), zone)
	if err != nil {
		return finding{}, err
	}
	p, err := d.noCloser(set.owner, s.encloser)
	return conclude(f, p, err, ttl, zone, "no proof that %s is covered by a wildcard only", set.owner)
}

// conclude turns a proof into a finding, or into the reason why it cannot be one.
func conclude(f finding, p proof, err error, ttl uint32, zone *zoneState, missing string, n name) (finding, error) {
	switch {
	case err != nil:
		return finding{}, err
	case p == unproven:
		return finding{}, bogus(zone.zone, EDEDenialMissing, missing, n)
	case p == optedOut:
		f.state = Insecure
		f.chain = append(f.chain[:len(f.chain):len(f.chain)], Link{
			Zone: zone.zone.text(), State: Insecure,
			Reason: "the zone's NSEC3 records leave room for unsigned names (opt-out, or too many iterations)",
		})
	}
	f.ttl = min(f.ttl, ttl)
	return f, nil
}

// judgeUnsigned decides over data, or an absence, that no zone signed: fine where the tree is
// unsigned, and only there. Otherwise the code and the words tell what is missing.
func (l *lookup) judgeUnsigned(ctx context.Context, inside name, ttl uint32, ede uint16, missing string, args ...any) (finding, error) {
	zone, err := l.enclosing(ctx, inside)
	switch {
	case err != nil:
		return finding{}, err
	case zone.hidden && l.signedSeen.Load():
		return finding{}, bogus(zone.zone, EDEKeyMissing, "the upstream passes signatures on, but not the keys of the trust anchor")
	case zone.kind != zoneSigned:
		return l.unchecked(zone, ttl), nil
	}
	return finding{}, bogus(zone.zone, ede, missing, args...)
}

func (l *lookup) unchecked(zone *zoneState, ttl uint32) finding {
	f := finding{state: zone.state(), ttl: ttl, chain: zone.chain}
	if zone.kind == zoneUnsigned {
		f.ttl = min(f.ttl, zone.ttl)
	}
	return f
}

// judgeAbsence validates the reply's claim that n, or the type at n, does not exist. What no
// signature proves must at least read as an absence: a referral out of an opt-out zone carries
// denials too.
func (l *lookup) judgeAbsence(ctx context.Context, n name, rrtype uint16, m *message) (finding, error) {
	soa := m.authority.soaOf(n)
	f, err := l.judgeClaim(ctx, n, rrtype, m, soa)
	if err == nil && f.state != Secure {
		f.exists, err = !m.nxdomain, m.checkAbsence(soa)
	}
	return f, err
}

// judgeClaim is judgeAbsence but for the form of what is not proven.
func (l *lookup) judgeClaim(ctx context.Context, n name, rrtype uint16, m *message, soa *recordSet) (finding, error) {
	var firstErr error
	speaksFor := func(signer name) bool {
		return n.within(signer) && (rrtype != dns.TypeDS || n.isBelow(signer) || n == rootName)
	}
	for _, signer := range l.signersOf(m.authority.denials(), speaksFor) {
		zone, err := l.zoneAt(ctx, signer, true)
		switch {
		case err != nil:
		case zone.kind == zoneUnsigned:
			return l.unchecked(zone, negativeTTL(soa)), nil
		case zone.kind == zoneSigned:
			var f finding
			if f, err = l.judgeDenial(n, rrtype, m, soa, zone); err == nil {
				return f, nil
			}
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if firstErr != nil {
		return finding{}, firstErr
	}
	inside := parentSide(n, rrtype)
	if rrtype != dns.TypeDS && soa != nil {
		inside = soa.owner // the zone in whose name the absence is claimed must be an unsigned one
	}
	return l.judgeUnsigned(ctx, inside, negativeTTL(soa), EDEDenialMissing, "no proof that %s %s does not exist", n, dns.Type(rrtype))
}

// judgeDenial checks an absence with its zone's keys.
func (l *lookup) judgeDenial(n name, rrtype uint16, m *message, soa *recordSet, zone *zoneState) (finding, error) {
	f := finding{state: Secure, ttl: min(negativeTTL(soa), zone.ttl), chain: zone.chain}
	for _, set := range m.authority.order {
		if set.rrtype != dns.TypeSOA {
			continue
		}
		s, err := verifyOwn(set, zone.zone, zone.keys, l.now, l.b) // fails for the SOA of another zone
		if err != nil {
			return finding{}, err
		}
		f.ttl = min(f.ttl, s.ttl)
	}
	d, ttl, err := l.denialBy(m.authority.denials(), zone)
	if err != nil {
		return finding{}, err
	}
	// For NXDOMAIN the records decide: the response code is not signed, some servers send it for
	// names that exist, and RFC 9824 has the names that do not exist denied as if they did.
	var p proof
	if m.nxdomain {
		if p, err = d.nameError(n); err != nil {
			return finding{}, err
		}
	}
	denied, err := d.isCompactlyDenied(n)
	f.exists = !denied && p != proven
	if err == nil && p != proven {
		var noType proof
		noType, err = d.noData(n, rrtype)
		p = max(p, noType)
	}
	return conclude(f, p, err, ttl, zone, "no proof that %s does not exist or has no records of the type", n)
}

// negativeTTL is the time for which an absence may be kept (RFC 2308 section 5); without a SOA it
// may not be.
func negativeTTL(soa *recordSet) uint32 {
	if soa == nil {
		return 0
	}
	if rr, ok := soa.rrs[0].(*dns.SOA); ok {
		return min(soa.ttl, rr.Minttl)
	}
	return 0
}
