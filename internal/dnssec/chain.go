package dnssec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/flight"
)

// zoneKind is what validation says of a name as a zone.
type zoneKind uint8

const (
	zoneUnanchored zoneKind = iota // no trust anchor leads there, or an upstream without DNSSEC hides the anchored keys
	zoneUnsigned                   // proven: no chain of keys that we can check leads there
	zoneSigned                     // keys are known
	zoneNone                       // proven: no zone begins at this name
)

// zoneState is what is known of one name as a zone.
type zoneState struct {
	zone   name
	kind   zoneKind
	keys   []zoneKey
	ttl    uint32 // seconds that this may be used
	until  time.Time
	chain  []Link // from the trust anchor down; unchanged by zoneNone
	hidden bool   // unanchored because the upstream did not show the anchored keys

	// optedOut: unsigned only because the parent's NSEC3 records leave room for an unsigned zone.
	// No record shows one.
	optedOut bool
}

func (z *zoneState) state() State {
	switch z.kind {
	case zoneSigned:
		return Secure
	case zoneUnsigned:
		return Insecure
	}
	return Indeterminate
}

// Link is one step of the way from the trust anchor to an answer.
type Link struct {
	Zone      string // without the final dot, "." for the root
	State     State
	KeyTag    uint16 // of the key that the parent's DS, or the anchor, names; 0 unless secure
	Algorithm uint8
	Reason    string // one sentence, for a link that is not secure
}

// zoneAt establishes what begins at z: from the cache, from a lookup under way, or by asking.
// claimed says that a signature names z as its zone, so that its keys are worth asking for at once.
func (l *lookup) zoneAt(ctx context.Context, z name, claimed bool) (*zoneState, error) {
	for {
		began := false
		state, err := l.r.zones.Get(ctx, z, func(ctx context.Context) (flight.Loaded[*zoneState], error) {
			began = true
			ctx, cancel := context.WithTimeout(ctx, l.b.limits.Time)
			defer cancel()
			state, err := l.establish(ctx, z, claimed)
			if err != nil {
				return flight.Loaded[*zoneState]{}, err
			}
			state.until = l.now.Add(min(time.Duration(state.ttl)*time.Second, l.b.limits.KeyTTL))
			return flight.Loaded[*zoneState]{Value: state, Until: state.until}, nil
		})
		switch {
		case err != nil && ctx.Err() == nil && !began && isCallersOwn(err):
			continue // another lookup ran out of its own time or budget; this one has its own
		case err != nil:
			return nil, err
		}
		aged := *state
		aged.ttl = min(aged.ttl, uint32(max(0, state.until.Sub(l.now)/time.Second)))
		return &aged, nil
	}
}

func isCallersOwn(err error) bool {
	var budget *BudgetError
	return errors.As(err, &budget) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// enclosing walks from the trust anchor down to n and finds the zone that n lies in, or the first
// unsigned one above.
func (l *lookup) enclosing(ctx context.Context, n name) (*zoneState, error) {
	anchor, ok := l.r.anchorAbove(n)
	if !ok {
		return &zoneState{kind: zoneUnanchored, zone: rootName}, nil
	}
	current, err := l.zoneAt(ctx, anchor, false)
	if err != nil {
		return nil, err
	}
	for current.kind == zoneSigned {
		below := current.zone
		for {
			if below == n {
				return current, nil
			}
			below = n.childOf(below)
			state, err := l.zoneAt(ctx, below, false)
			if err != nil {
				return nil, err
			}
			if state.kind != zoneNone {
				current = state
				break
			}
		}
	}
	return current, nil
}

// establish does the work of zoneAt.
func (l *lookup) establish(ctx context.Context, z name, claimed bool) (*zoneState, error) {
	if anchors := l.r.anchors[z]; anchors != nil {
		return l.anchored(ctx, z, anchors)
	}
	if _, ok := l.r.anchorAbove(z); !ok {
		return &zoneState{zone: z, kind: zoneUnanchored}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // the keys are not waited for where they are not needed
	keys := func() (*message, error) { return l.ask(ctx, z, dns.TypeDNSKEY, z) }
	if claimed {
		keys = ahead(keys)
	}
	d, err := l.delegationOf(ctx, z)
	if err != nil || d.decided != nil {
		return d.decided, err
	}
	m, err := keys()
	if err != nil {
		return nil, err
	}
	return l.signedBelow(z, d, m)
}

// anchored checks a zone's keys against its trust anchors. Without signed keys there is nothing to
// check with; what that means depends on whether anything else on this path is signed, see
// judgeUnsigned.
func (l *lookup) anchored(ctx context.Context, z name, anchors []delegation) (*zoneState, error) {
	m, err := l.ask(ctx, z, dns.TypeDNSKEY, z)
	if err != nil {
		return nil, err
	}
	set := m.answer.find(z, dns.TypeDNSKEY)
	if set == nil || len(set.sigs) == 0 {
		return &zoneState{zone: z, kind: zoneUnanchored, hidden: true, chain: []Link{{
			Zone: z.text(), Reason: "the upstream returns no signed keys for the trust anchor: it does not pass DNSSEC on",
		}}}, nil
	}
	return l.signedBelow(z, delegated{anchors: anchors, ttl: math.MaxInt32}, m)
}

// delegated is what the parent says of a zone: DS records to check its keys with, or the whole
// decision.
type delegated struct {
	anchors []delegation
	ttl     uint32
	chain   []Link
	decided *zoneState
}

// signedBelow checks a DNSKEY set against DS records (RFC 4035 section 5.2): one that they name
// must have signed it.
func (l *lookup) signedBelow(z name, d delegated, m *message) (*zoneState, error) {
	set := m.answer.find(z, dns.TypeDNSKEY)
	if set == nil {
		return nil, bogus(z, EDEKeyMissing, "the parent says that the zone is signed, but it shows no keys")
	}
	keys, err := parseKeys(set.rrs, l.b)
	if err != nil {
		return nil, inZone(z, err)
	}
	var named []zoneKey
	for i := range keys {
		for j := range d.anchors {
			if d.anchors[j].names(z, &keys[i]) {
				named = append(named, keys[i])
				break
			}
		}
	}
	if len(named) == 0 {
		return nil, bogus(z, EDEKeyMissing, "none of its keys is one that the parent's DS or the trust anchor names")
	}
	signed, err := verifyOwn(set, z, named, l.now, l.b)
	if err != nil {
		return nil, err
	}
	link := Link{Zone: z.text(), State: Secure, KeyTag: named[0].tag, Algorithm: named[0].algorithm}
	return &zoneState{
		zone: z, kind: zoneSigned, keys: keys, ttl: min(d.ttl, signed.ttl), chain: append(d.chain[:len(d.chain):len(d.chain)], link),
	}, nil
}

// delegationOf asks for the DS records of z and decides what they, or their absence, mean.
func (l *lookup) delegationOf(ctx context.Context, z name) (delegated, error) {
	m, err := l.ask(ctx, z, dns.TypeDS, z)
	if err != nil {
		return delegated{}, err
	}
	var firstErr error
	for _, parent := range l.delegationSigners(m, z) {
		state, err := l.zoneAt(ctx, parent, true)
		switch {
		case err != nil:
		case state.kind == zoneNone:
			continue // the signer is not a zone
		case state.kind != zoneSigned:
			return delegated{decided: below(state, z)}, nil
		default:
			var d delegated
			if d, err = l.readDelegation(m, z, state); err == nil {
				return d, nil
			}
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	if firstErr != nil {
		return delegated{}, firstErr
	}
	// Nothing is signed. That is allowed only where the parent is unsigned.
	state, err := l.enclosing(ctx, z.parent())
	if err != nil {
		return delegated{}, err
	}
	if state.kind != zoneSigned {
		return delegated{decided: below(state, z)}, nil
	}
	return delegated{}, bogus(state.zone, EDEDenialMissing, "no proof whether %s is signed", z)
}

// below is the state of a zone whose parent is not signed.
func below(parent *zoneState, z name) *zoneState {
	out := *parent
	out.zone, out.keys = z, nil
	return &out
}

// delegationSigners lists the zones that could have signed the reply to a DS query: all must lie
// above z.
func (l *lookup) delegationSigners(m *message, z name) []name {
	sets := append(m.authority.denials(), aliasesAt(m, z)...)
	if set := m.answer.find(z, dns.TypeDS); set != nil {
		sets = append(sets, set)
	}
	return l.signersOf(sets, func(signer name) bool { return z.isBelow(signer) })
}

// readDelegation decides with the parent's keys.
func (l *lookup) readDelegation(m *message, z name, parent *zoneState) (delegated, error) {
	if set := m.answer.find(z, dns.TypeDS); set != nil {
		return l.readDS(set, parent)
	}
	for _, set := range aliasesAt(m, z) {
		switch f, err := l.judgeSigned(set, parent, m); {
		case isCallersOwn(err):
			return delegated{}, err
		case err != nil:
		case f.state == Secure:
			return decide(parent, z, zoneNone, f.ttl, ""), nil // an alias and a zone cut exclude each other
		default:
			return unsignedBelow(parent, z, cutOptedOut, f.ttl), nil
		}
	}
	d, ttl, err := l.denialBy(m.authority.denialsBy(parent.zone), parent)
	if err != nil {
		return delegated{}, err
	}
	switch kind, err := d.cutAt(z); {
	case err != nil:
		return delegated{}, err
	case kind == cutUnsigned || kind == cutOptedOut:
		return unsignedBelow(parent, z, kind, ttl), nil
	case kind == cutNone:
		return decide(parent, z, zoneNone, ttl, ""), nil
	}
	return delegated{}, bogus(parent.zone, EDEDenialMissing, "no proof whether %s is signed", z)
}

func (l *lookup) readDS(set *recordSet, parent *zoneState) (delegated, error) {
	z := set.owner
	if len(set.rrs) > l.b.limits.Keys {
		return delegated{}, &BudgetError{Zone: z.text(), What: "DS records of a zone", Limit: l.b.limits.Keys}
	}
	signed, err := verifyOwn(set, parent.zone, parent.keys, l.now, l.b)
	if err != nil {
		return delegated{}, err
	}
	usable := usableDelegations(set.rrs)
	if len(usable) == 0 {
		return decide(parent, z, zoneUnsigned, signed.ttl,
			fmt.Sprintf("%s is signed with algorithms or digests that are not supported", z)), nil
	}
	return delegated{anchors: usable, ttl: min(signed.ttl, parent.ttl), chain: parent.chain}, nil
}

// unsignedBelow decides that z, or a zone above it, may be an unsigned one.
func unsignedBelow(parent *zoneState, z name, kind cut, ttl uint32) delegated {
	d := decide(parent, z, zoneUnsigned, ttl, fmt.Sprintf("%s proves that %s has no DS record", parent.zone, z))
	d.decided.optedOut = kind == cutOptedOut
	return d
}

// aliasesAt are the aliases of a reply that apply to z.
func aliasesAt(m *message, z name) []*recordSet {
	var out []*recordSet
	if set := m.answer.find(z, dns.TypeCNAME); set != nil {
		out = append(out, set)
	}
	if set, _, err := m.answer.dnameOf(z); err == nil && set != nil {
		out = append(out, set)
	}
	return out
}

func decide(parent *zoneState, z name, kind zoneKind, ttl uint32, reason string) delegated {
	chain := parent.chain[:len(parent.chain):len(parent.chain)]
	if kind == zoneUnsigned {
		chain = append(chain, Link{Zone: z.text(), State: Insecure, Reason: reason})
	}
	return delegated{decided: &zoneState{zone: z, kind: kind, ttl: min(ttl, parent.ttl), chain: chain}}
}

// denialBy verifies denial sets and reads them as one zone's. All of them must hold: a reply that
// mixes good proofs with bad ones does not come from an honest server.
func (l *lookup) denialBy(sets []*recordSet, zone *zoneState) (*denial, uint32, error) {
	var signed []*signedSet
	ttl := uint32(math.MaxInt32)
	for _, set := range sets {
		s, err := verifySet(set, zone.zone, zone.keys, l.now, l.b)
		if err != nil {
			return nil, 0, err
		}
		signed = append(signed, s)
		ttl = min(ttl, s.ttl)
	}
	return newDenial(zone.zone, signed, l.b), ttl, nil
}

// signersOf lists who claims to have signed the sets, closest to the leaves first. No zone
// above the closest trust anchor counts: what lies between the two could only weaken the
// anchor.
func (l *lookup) signersOf(sets []*recordSet, pass func(name) bool) []name {
	var out []name
	for _, set := range sets {
		anchor, ok := l.r.anchorAbove(parentSide(set.owner, set.rrtype))
		if !ok {
			continue
		}
		for _, signer := range set.signers() {
			if signer.within(anchor) && pass(signer) && !slices.Contains(out, signer) {
				out = append(out, signer)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b name) int { return b.labels() - a.labels() })
	return out
}

// ahead begins work at once and returns a function that waits for its result. A panic of the work
// is an error of it.
func ahead[V any](work func() (V, error)) func() (V, error) {
	var value V
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = &flight.PanicError{Value: p, Stack: debug.Stack()}
			}
		}()
		value, err = work()
	}()
	return func() (V, error) {
		<-done
		return value, err
	}
}
