package zone

import (
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Mangler stands before a handler and edits its replies, in order, as a hostile or broken
// network would.
type Mangler struct {
	Next  Handler
	Edits []Edit
}

// Edit changes a reply and returns it, or another one, or nil to drop it. The reply belongs to
// the edit.
type Edit func(query, reply *dns.Msg) *dns.Msg

// Handle asks the next handler and applies the edits to what it says.
func (m *Mangler) Handle(query *dns.Msg) *dns.Msg {
	return where(func(dns.Question) bool { return true }, m.Edits)(query, m.Next.Handle(query))
}

// On applies edits only to queries for a name, and for a type unless that is 0.
func On(name string, rrtype uint16, edits ...Edit) Edit {
	return where(func(q dns.Question) bool {
		return dns.CanonicalName(q.Name) == dns.CanonicalName(name) && (rrtype == 0 || q.Qtype == rrtype)
	}, edits)
}

// Below applies edits only to queries for a name and everything below it.
func Below(name string, edits ...Edit) Edit {
	return where(func(q dns.Question) bool { return dns.IsSubDomain(dns.CanonicalName(name), q.Name) }, edits)
}

func where(applies func(dns.Question) bool, edits []Edit) Edit {
	return func(query, reply *dns.Msg) *dns.Msg {
		for _, edit := range edits {
			if reply != nil && applies(query.Question[0]) {
				reply = edit(query, reply)
			}
		}
		return reply
	}
}

// Strip removes records of the given types.
func Strip(types ...uint16) Edit {
	return Filter(func(rr dns.RR) bool { return !slices.Contains(types, rr.Header().Rrtype) })
}

// StripDNSSEC removes all that DNSSEC added, the keys included.
func StripDNSSEC() Edit {
	return Strip(dns.TypeRRSIG, dns.TypeDNSKEY, dns.TypeDS, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM)
}

// Header changes the message as a whole: its id, flags or question.
func Header(change func(*dns.Msg)) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		change(reply)
		return reply
	}
}

// Filter keeps the records that keep wants.
func Filter(keep func(dns.RR) bool) Edit {
	drop := func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeOPT && !keep(rr) }
	return Header(func(m *dns.Msg) {
		m.Answer = slices.DeleteFunc(m.Answer, drop)
		m.Ns = slices.DeleteFunc(m.Ns, drop)
		m.Extra = slices.DeleteFunc(m.Extra, drop)
	})
}

// Forge changes every record of the answer and authority sections in place.
func Forge(change func(dns.RR)) Edit {
	return Header(func(m *dns.Msg) {
		for _, rr := range slices.Concat(m.Answer, m.Ns) {
			change(rr)
		}
	})
}

// BreakSignatures changes a part of every signature over a type.
func BreakSignatures(covered uint16) Edit {
	return Forge(func(rr dns.RR) {
		if sig, ok := rr.(*dns.RRSIG); ok && sig.TypeCovered == covered {
			sig.Signature = strings.Repeat("A", 20) + sig.Signature[20:]
		}
	})
}

// Replay returns the sections and the code of an older reply under the present question.
func Replay(old *dns.Msg) Edit {
	return Header(func(m *dns.Msg) {
		old := old.Copy()
		m.Rcode, m.Answer, m.Ns = old.Rcode, old.Answer, old.Ns
	})
}

// Inject adds records to the answer and the authority section.
func Inject(answer, authority []dns.RR) Edit {
	return Header(func(m *dns.Msg) { m.Answer, m.Ns = append(m.Answer, answer...), append(m.Ns, authority...) })
}

// Delay waits before the reply goes on.
func Delay(d time.Duration) Edit { return Header(func(*dns.Msg) { time.Sleep(d) }) }

// Drop answers nothing.
func Drop() Edit { return func(_, _ *dns.Msg) *dns.Msg { return nil } }

// Rcode empties the reply and sets its code.
func Rcode(code int) Edit {
	return Header(func(m *dns.Msg) { m.Rcode, m.Answer, m.Ns = code, nil, nil })
}

// Truncate sets TC and keeps a part of the answer, as some servers do.
func Truncate(keep int) Edit {
	return Header(func(m *dns.Msg) { m.Truncated, m.Answer, m.Ns = true, m.Answer[:min(keep, len(m.Answer))], nil })
}
