package dnssec

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/miekg/dns"
)

// maxRecords bounds a message before it is unpacked: compression lets few bytes become many names.
const maxRecords = 256

// message is a reply sorted into record sets. What it says is not yet believed.
type message struct {
	nxdomain          bool
	answer, authority section
}

// section is a message section by name and type.
type section struct {
	order []*recordSet
	index map[setKey]*recordSet
}

type setKey struct {
	owner  name
	rrtype uint16
}

// unpack reads a reply's wire form. All that its header announces must be there: a message that
// breaks off between two records would otherwise pass for one with fewer.
func unpack(wire []byte) (*dns.Msg, error) {
	if len(wire) < 12 {
		return nil, &ServerError{Reason: "the reply is too short"}
	}
	var counts [4]int
	for i := range counts {
		counts[i] = int(binary.BigEndian.Uint16(wire[4+2*i:]))
	}
	if counts[1]+counts[2]+counts[3] > maxRecords {
		return nil, &ServerError{Reason: fmt.Sprintf("the reply has more than %d records", maxRecords)}
	}
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		return nil, &ServerError{Reason: "the reply cannot be read", Err: err}
	}
	if counts != [4]int{len(m.Question), len(m.Answer), len(m.Ns), len(m.Extra)} {
		return nil, &ServerError{Reason: "the reply breaks off"}
	}
	return m, nil
}

// newMessage sorts a reply. With NXDOMAIN, an answer section can hold aliases and nothing else.
func newMessage(m *dns.Msg) *message {
	nxdomain := m.Rcode == dns.RcodeNameError
	return &message{nxdomain: nxdomain, answer: newSection(m.Answer, nxdomain), authority: newSection(m.Ns, false)}
}

func newSection(rrs []dns.RR, onlyAliases bool) section {
	s := section{index: map[setKey]*recordSet{}}
	for _, rr := range rrs {
		h := rr.Header()
		owner, ok := nameOf(h.Name)
		if !ok || h.Class != dns.ClassINET || onlyAliases && !isAlias(rr) {
			continue
		}
		if sig, ok := rr.(*dns.RRSIG); ok {
			set := s.at(owner, sig.TypeCovered)
			set.sigs = append(set.sigs, sig)
			continue
		}
		set := s.at(owner, h.Rrtype)
		if len(set.rrs) == 0 || h.Ttl < set.ttl {
			set.ttl = h.Ttl
		}
		set.rrs = append(set.rrs, rr)
	}
	s.order = slices.DeleteFunc(s.order, func(set *recordSet) bool { return len(set.rrs) == 0 })
	return s
}

func isAlias(rr dns.RR) bool {
	rrtype := rr.Header().Rrtype
	if sig, ok := rr.(*dns.RRSIG); ok {
		rrtype = sig.TypeCovered
	}
	return rrtype == dns.TypeCNAME || rrtype == dns.TypeDNAME
}

func (s *section) at(owner name, rrtype uint16) *recordSet {
	key := setKey{owner, rrtype}
	set := s.index[key]
	if set == nil {
		set = &recordSet{owner: owner, rrtype: rrtype}
		s.index[key] = set
		s.order = append(s.order, set)
	}
	return set
}

// find returns the set of a name and type, or nil.
func (s *section) find(owner name, rrtype uint16) *recordSet {
	if set := s.index[setKey{owner, rrtype}]; set != nil && len(set.rrs) > 0 {
		return set
	}
	return nil
}

// denials are the sets that can prove an absence.
func (s *section) denials() []*recordSet {
	var out []*recordSet
	for _, set := range s.order {
		if set.rrtype == dns.TypeNSEC || set.rrtype == dns.TypeNSEC3 {
			out = append(out, set)
		}
	}
	return out
}

// denialsBy are the denials that a zone claims to have signed.
func (s *section) denialsBy(zone name) []*recordSet {
	return slices.DeleteFunc(s.denials(), func(set *recordSet) bool { return !slices.Contains(set.signers(), zone) })
}

// checkAbsence says whether an unsigned reply can be read as an absence at all. Without a SOA it
// may be a referral, or the answer to something else; only an empty one still means "no data" (RFC
// 2308 section 2.2).
func (m *message) checkAbsence(soa *recordSet) error {
	isNS := func(set *recordSet) bool { return set.rrtype == dns.TypeNS }
	if soa == nil && (len(m.answer.order) > 0 || slices.ContainsFunc(m.authority.order, isNS)) {
		return &ServerError{Reason: "the reply neither answers the question nor denies that there is an answer"}
	}
	return nil
}

// soaOf returns the SOA of the closest zone around n, or nil.
func (s *section) soaOf(n name) *recordSet {
	var best *recordSet
	for _, set := range s.order {
		if set.rrtype == dns.TypeSOA && n.within(set.owner) && (best == nil || set.owner.isBelow(best.owner)) {
			best = set
		}
	}
	return best
}

// hasDNSSEC says whether anything in the message comes from a signed zone.
func (m *message) hasDNSSEC() bool {
	for _, s := range []*section{&m.answer, &m.authority} {
		for key, set := range s.index {
			if len(set.sigs) > 0 || key.rrtype == dns.TypeNSEC || key.rrtype == dns.TypeNSEC3 || key.rrtype == dns.TypeDS {
				return true
			}
		}
	}
	return false
}

// alias is one CNAME or DNAME link out of an answer.
type alias struct {
	set    *recordSet // the set that has to be judged
	target name
}

// cname is the CNAME record that the link is for n: the one that was sent, or the one that a DNAME
// makes.
func (a *alias) cname(n name) *recordSet {
	if a.set.rrtype == dns.TypeCNAME {
		return a.set
	}
	header := dns.RR_Header{Name: n.String(), Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: a.set.ttl}
	return &recordSet{
		owner: n, rrtype: dns.TypeCNAME, ttl: a.set.ttl, rrs: []dns.RR{&dns.CNAME{Hdr: header, Target: a.target.String()}},
	}
}

// aliasOf finds the link that leads on from n. Below a DNAME an unsigned CNAME is only the server's
// help for resolvers that do not know DNAME (RFC 6672 section 5.3.1): we make our own out of the
// DNAME, which is signed.
func (s *section) aliasOf(n name) (*alias, error) {
	dname, implied, err := s.dnameOf(n)
	if err != nil {
		return nil, err
	}
	set := s.find(n, dns.TypeCNAME)
	switch {
	case dname != nil && (set == nil || len(set.sigs) == 0):
		return &alias{dname, implied}, nil
	case set == nil:
		return nil, nil
	}
	target, ok := soleTarget(set)
	if !ok {
		return nil, errAlias
	}
	return &alias{set, target}, nil
}

var errAlias = &ServerError{Reason: "an alias in the answer is malformed"}

// dnameOf finds the DNAME above n and the name that it makes of n.
func (s *section) dnameOf(n name) (*recordSet, name, error) {
	for owner := n; owner != rootName; {
		owner = owner.parent()
		set := s.find(owner, dns.TypeDNAME)
		if set == nil {
			continue
		}
		target, ok := soleTarget(set)
		implied := n[:len(n)-len(owner)] + target
		if !ok || len(implied) > 255 {
			return nil, "", errAlias
		}
		return set, implied, nil
	}
	return nil, "", nil
}

// soleTarget is the target of an alias set, which must not name two.
func soleTarget(set *recordSet) (name, bool) {
	var sole name
	for _, rr := range set.rrs {
		var text string
		switch rr := rr.(type) {
		case *dns.CNAME:
			text = rr.Target
		case *dns.DNAME:
			text = rr.Target
		}
		target, ok := nameOf(text)
		if !ok || sole != "" && sole != target {
			return "", false
		}
		sole = target
	}
	return sole, sole != ""
}
