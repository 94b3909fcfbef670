package dnssec

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Result is what the DNS says about one question, absence included. Its slices may be shared and
// must not be changed.
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

// newRecord reads the record's wire form, since the presentation form that miekg/dns keeps is
// escaped.
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
		if skipName(rdata, 6) != len(rdata) {
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

// State is what validation says of data, or of its absence (RFC 4035 section 4.3). Bogus is not
// among them: bogus data is an error and never a result.
type State uint8

const (
	// Indeterminate: there was nothing to check with.
	Indeterminate State = iota
	// Insecure: a signed parent proves that this part of the tree is not signed in a way that we
	// can check.
	Insecure
	// Secure: signatures lead from a trust anchor to the data.
	Secure
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Secure:
		return "secure"
	case Insecure:
		return "insecure"
	default:
		return "indeterminate"
	}
}

// Extended DNS error codes (RFC 8914) that a [BogusError] can carry.
const (
	EDEBogus           uint16 = 6
	EDEExpired         uint16 = 7
	EDENotYetValid     uint16 = 8
	EDEKeyMissing      uint16 = 9
	EDESignatureAbsent uint16 = 10
	EDENoZoneKey       uint16 = 11
	EDEDenialMissing   uint16 = 12
)

// BogusError reports data that failed validation: it was forged, or its zone is broken. The two
// cannot be told apart.
type BogusError struct {
	Name   string // what was asked for, without the final dot
	Zone   string // the zone whose data failed, "." for the root
	EDE    uint16 // extended DNS error code (RFC 8914)
	Reason string // one sentence
}

func (e *BogusError) Error() string {
	return fmt.Sprintf("%s: DNSSEC validation failed in zone %s: %s (EDE %d)", e.Name, e.Zone, e.Reason, e.EDE)
}

// bogus makes a BogusError whose Name is filled in where the lookup ends.
func bogus(zone name, ede uint16, format string, args ...any) error {
	return &BogusError{Zone: zone.text(), EDE: ede, Reason: fmt.Sprintf(format, args...)}
}
