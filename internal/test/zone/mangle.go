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
	reply := m.Next.Handle(query)
	for _, edit := range m.Edits {
		if reply == nil {
			return nil
		}
		reply = edit(query, reply)
	}
	return reply
}

// On applies edits only to queries for a name, and for a type unless that is 0.
func On(name string, rrtype uint16, edits ...Edit) Edit {
	name = dns.CanonicalName(name)
	return func(query, reply *dns.Msg) *dns.Msg {
		q := query.Question[0]
		if dns.CanonicalName(q.Name) != name || rrtype != 0 && q.Qtype != rrtype {
			return reply
		}
		for _, edit := range edits {
			if reply != nil {
				reply = edit(query, reply)
			}
		}
		return reply
	}
}

// Below applies edits only to queries for a name and everything below it.
func Below(name string, edits ...Edit) Edit {
	name = dns.CanonicalName(name)
	return func(query, reply *dns.Msg) *dns.Msg {
		if !dns.IsSubDomain(name, query.Question[0].Name) {
			return reply
		}
		return On(query.Question[0].Name, 0, edits...)(query, reply)
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

// Filter keeps the records that keep wants.
func Filter(keep func(dns.RR) bool) Edit {
	drop := func(rr dns.RR) bool { return rr.Header().Rrtype != dns.TypeOPT && !keep(rr) }
	return func(_, reply *dns.Msg) *dns.Msg {
		reply.Answer = slices.DeleteFunc(reply.Answer, drop)
		reply.Ns = slices.DeleteFunc(reply.Ns, drop)
		reply.Extra = slices.DeleteFunc(reply.Extra, drop)
		return reply
	}
}

// Forge changes every record of the answer and authority sections in place.
func Forge(change func(dns.RR)) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		for _, rr := range slices.Concat(reply.Answer, reply.Ns) {
			change(rr)
		}
		return reply
	}
}

// BreakSignatures turns the middle of every signature over a type around.
func BreakSignatures(covered uint16) Edit {
	return Forge(func(rr dns.RR) {
		if sig, ok := rr.(*dns.RRSIG); ok && sig.TypeCovered == covered {
			sig.Signature = strings.Repeat("A", 20) + sig.Signature[20:]
		}
	})
}

// Replay returns the sections and the code of an older reply under the present question.
func Replay(old *dns.Msg) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		old := old.Copy()
		reply.Rcode, reply.Answer, reply.Ns = old.Rcode, old.Answer, old.Ns
		return reply
	}
}

// Inject adds records to the answer and the authority section.
func Inject(answer, authority []dns.RR) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		reply.Answer = append(reply.Answer, answer...)
		reply.Ns = append(reply.Ns, authority...)
		return reply
	}
}

// Inflate adds n TXT records of 200 bytes to the answer, under the name asked for.
func Inflate(n int) Edit {
	return func(query, reply *dns.Msg) *dns.Msg {
		for range n {
			reply.Answer = append(reply.Answer, &dns.TXT{
				Hdr: dns.RR_Header{Name: query.Question[0].Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 60},
				Txt: []string{strings.Repeat("x", 200)},
			})
		}
		return reply
	}
}

// Delay waits before the reply goes on.
func Delay(d time.Duration) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		time.Sleep(d)
		return reply
	}
}

// Drop answers nothing.
func Drop() Edit { return func(_, _ *dns.Msg) *dns.Msg { return nil } }

// Rcode empties the reply and sets its code.
func Rcode(code int) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		reply.Rcode, reply.Answer, reply.Ns = code, nil, nil
		return reply
	}
}

// Truncate sets TC and keeps a part of the answer, as some servers do.
func Truncate(keep int) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		reply.Truncated = true
		reply.Answer = reply.Answer[:min(keep, len(reply.Answer))]
		reply.Ns = nil
		return reply
	}
}

// Header changes the message as a whole: its id, flags or question.
func Header(change func(*dns.Msg)) Edit {
	return func(_, reply *dns.Msg) *dns.Msg {
		change(reply)
		return reply
	}
}
