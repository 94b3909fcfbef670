package lookleaptest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
)

// patience is how long a resolver waits for the DNS.
const patience = 5 * time.Second

const dnsServer = "lookleaptest" // as errors name it

// Stub returns a resolver that validates nothing. It says of a name what [Name.DNSSEC] and
// [Name.Bogus] set, and else that it is indeterminate.
func (n *Internet) Stub() lookleap.Resolver { return stub{n} }

type stub struct{ internet *Internet }

// Lookup asks the DNS of the internet.
func (r stub) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	answer, err := r.internet.ask(ctx, name, uint16(t))
	if err != nil {
		return nil, err
	}
	state, bogusAt := r.internet.names.scripted(name)
	if bogusAt != "" {
		return nil, &lookleap.BogusError{Name: name, Zone: plainName(bogusAt), EDE: 6, Reason: "the test said so"}
	}
	answer.DNSSEC = state
	return answer, nil
}

// ask sends one question to the DNS.
func (n *Internet) ask(ctx context.Context, name string, rrtype uint16) (*lookleap.DNSAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if n.ctx.Err() != nil {
		return nil, errClosed(name)
	}
	if _, ok := dns.IsDomainName(name); !ok || name == "" {
		return nil, &net.DNSError{Err: "no DNS name", Name: name, Server: dnsServer}
	}
	got := make(chan *dns.Msg, 1)
	go func() {
		if reply := n.names.Handle(new(dns.Msg).SetQuestion(dns.Fqdn(name), rrtype)); reply != nil { // not lost on the way
			got <- reply
		}
	}()
	select {
	case reply := <-got:
		if reply.Rcode == dns.RcodeSuccess || reply.Rcode == dns.RcodeNameError {
			return read(reply, name, rrtype)
		}
		return nil, &net.DNSError{Err: "the server answered " + dns.RcodeToString[reply.Rcode], Name: name,
			Server: dnsServer, IsTemporary: true}
	case <-ctx.Done():
		err := &net.DNSError{Err: ctx.Err().Error(), UnwrapErr: ctx.Err(), Name: name, Server: dnsServer}
		err.IsTimeout = errors.Is(ctx.Err(), context.DeadlineExceeded)
		err.IsTemporary = err.IsTimeout
		return nil, err
	case <-n.ctx.Done():
		return nil, errClosed(name)
	}
}

func errClosed(name string) error {
	return &net.DNSError{Err: "the internet is closed", Name: name, Server: dnsServer}
}

// read makes an answer of a reply, in which aliases come in order and before the records.
func read(reply *dns.Msg, name string, rrtype uint16) (*lookleap.DNSAnswer, error) {
	const maxLinks = 8
	owner, links, ttl := dns.CanonicalName(name), 0, uint32(1<<32-1)
	answer := &lookleap.DNSAnswer{Exists: reply.Rcode == dns.RcodeSuccess}
	for _, rr := range reply.Answer {
		if alias, ok := rr.(*dns.CNAME); ok && rrtype != dns.TypeCNAME {
			owner, ttl = dns.CanonicalName(alias.Target), min(ttl, rr.Header().Ttl)
			if links++; links > maxLinks {
				return nil, &net.DNSError{Err: "too many aliases", Name: name, Server: dnsServer}
			}
		} else if record, ok := recordOf(rr); ok && rr.Header().Rrtype == rrtype {
			answer.Records, ttl = append(answer.Records, record), min(ttl, rr.Header().Ttl)
		}
	}
	if len(answer.Records) == 0 {
		var absence uint32 // how long it holds (RFC 2308 section 5), 0 without a SOA
		for _, rr := range reply.Ns {
			if soa, ok := rr.(*dns.SOA); ok {
				absence = min(soa.Hdr.Ttl, soa.Minttl)
			}
		}
		ttl = min(ttl, absence)
	}
	answer.Name = strings.TrimSuffix(owner, ".")
	answer.TTL = time.Duration(ttl) * time.Second
	return answer, nil
}

func recordOf(rr dns.RR) (lookleap.Record, bool) {
	switch rr := rr.(type) {
	case *dns.A:
		addr, ok := netip.AddrFromSlice(rr.A.To4())
		return lookleap.Record{Addr: addr}, ok
	case *dns.AAAA:
		addr, ok := netip.AddrFromSlice(rr.AAAA)
		return lookleap.Record{Addr: addr}, ok
	case *dns.TXT:
		return lookleap.Record{Text: unescape(strings.Join(rr.Txt, ""))}, true
	case *dns.SRV:
		return lookleap.Record{SRV: &lookleap.SRV{
			Priority: rr.Priority, Weight: rr.Weight, Port: rr.Port, Target: strings.TrimSuffix(rr.Target, "."),
		}}, true
	}
	return lookleap.Record{}, false
}

// unescape undoes the escapes in which miekg/dns keeps character-strings.
func unescape(s string) string {
	return escape.ReplaceAllStringFunc(s, func(part string) string {
		if code, err := strconv.ParseUint(part[1:], 10, 8); err == nil && len(part) == 4 {
			return string([]byte{byte(code)})
		}
		return part[1:]
	})
}

var escape = regexp.MustCompile(`(?s)\\(?:[0-9]{3}|.)`)
