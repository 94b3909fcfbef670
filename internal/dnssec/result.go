package dnssec

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Result is what the DNS says about one question, absence included. Its slices may be shared and must not be changed.
type Result struct {
	Name    string        // owner of the records after aliases, lower case, no final dot
	Records []Record      // none for an absence
	Exists  bool          // false: there is no such name. True without records: it has none of this type
	TTL     time.Duration // how long this may be used, in whole seconds; 0: do not keep it
	State   State
	Chain   []Link // from the trust anchor to the zone that decided the state
}

// Record is one resource record.
type Record struct {
	Type uint16
	Text string     // TXT: its strings joined. Other types: the data as in a zone file
	Addr netip.Addr // A and AAAA
	SRV  *SRV       // SRV
}

// SRV is the data of an SRV record (RFC 2782).
type SRV struct {
	Priority, Weight, Port uint16
	Target                 string // lower case, no final dot; "" is the root: no such service here
}

func newResult(n name, rrs []dns.RR, f *finding) (*Result, error) {
	r := &Result{Name: n.text(), Exists: true, TTL: time.Duration(f.ttl) * time.Second, State: f.state, Chain: f.chain}
	for _, rr := range rrs {
		record, err := newRecord(rr)
		if err != nil {
			return nil, &ServerError{Reason: "a record in the answer is malformed"}
		}
		r.Records = append(r.Records, record)
	}
	return r, nil
}

func newAbsence(n name, exists bool, f *finding) *Result {
	return &Result{Name: n.text(), Exists: exists, TTL: time.Duration(f.ttl) * time.Second, State: f.state, Chain: f.chain}
}

// newRecord reads the record's wire form, since the presentation form that miekg/dns keeps is escaped.
func newRecord(rr dns.RR) (Record, error) {
	out := Record{Type: rr.Header().Rrtype}
	rdata, err := rdataOf(rr)
	if err != nil {
		return out, err
	}
	switch rr.(type) {
	case *dns.TXT:
		var text strings.Builder
		for len(rdata) > 0 {
			size := int(rdata[0])
			if size >= len(rdata) {
				return out, errForm
			}
			text.Write(rdata[1 : 1+size])
			rdata = rdata[1+size:]
		}
		out.Text = text.String()
	case *dns.A, *dns.AAAA:
		addr, ok := netip.AddrFromSlice(rdata)
		if !ok {
			return out, errForm
		}
		out.Addr, out.Text = addr, addr.String()
	case *dns.SRV:
		if len(rdata) < 7 || skipName(rdata, 6) != len(rdata) {
			return out, errForm
		}
		target := name(lowerASCII(rdata[6:]))
		out.SRV = &SRV{
			Priority: binary.BigEndian.Uint16(rdata), Weight: binary.BigEndian.Uint16(rdata[2:]), Port: binary.BigEndian.Uint16(rdata[4:]),
		}
		if target != rootName {
			out.SRV.Target = target.text()
		}
		out.Text = strings.TrimPrefix(rr.String(), rr.Header().String())
	default:
		out.Text = strings.TrimPrefix(rr.String(), rr.Header().String())
	}
	return out, nil
}
