package lookleap

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// Resolver looks up DNS records. An error means "could not find out"; absence
// is an answer; a validation failure is [ErrBogus]. The three must never blur,
// since the documents attach different consequences to each.
//
// A Resolver is called from several goroutines at once.
type Resolver interface {
	// Lookup answers for one name, an A-label without a final dot, and one type.
	Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error)
}

// RRType is a DNS record type by its number in the IANA registry.
type RRType uint16

// The record types that the documents use.
const (
	TypeA    RRType = 1
	TypeTXT  RRType = 16
	TypeAAAA RRType = 28
	TypeSRV  RRType = 33
)

// String gives the type's mnemonic, or TYPE and its number.
func (t RRType) String() string {
	switch t {
	case TypeA:
		return "A"
	case TypeTXT:
		return "TXT"
	case TypeAAAA:
		return "AAAA"
	case TypeSRV:
		return "SRV"
	}
	return fmt.Sprintf("TYPE%d", uint16(t))
}

// DNSAnswer is what the DNS says about one question, absence included.
type DNSAnswer struct {
	Records []Record      // of the type asked for; none for an absence
	Exists  bool          // false: the name does not exist. True without records: it has none of this type
	TTL     time.Duration // least TTL over the chain, the negative TTL for an absence; 0: do not cache
	DNSSEC  DNSSEC        // what validation says of the answer or the absence
	Name    string        // owner of the records, after aliases
	Chain   []ZoneLink    // evidence for DNSSEC, from the trust anchor down; none from a resolver that does not validate
}

// ZoneLink is one step of the way from a trust anchor to an answer.
type ZoneLink struct {
	Zone      string `json:"zone"` // without a final dot, "." for the root
	DNSSEC    DNSSEC `json:"dnssec"`
	KeyTag    uint16 `json:"keyTag,omitempty"` // of the key that the parent vouches for; 0 unless secure
	Algorithm uint8  `json:"algorithm,omitempty"`
	Reason    string `json:"reason,omitempty"` // one sentence, for a link that is not secure
}

// Record is one resource record; the field of its type is set.
type Record struct {
	Text string     // TXT: its strings joined without separator, records never with one another. Types not below: as in a zone file
	Addr netip.Addr // A and AAAA
	SRV  *SRV       // SRV
}

// SRV is the data of an SRV record (RFC 2782).
type SRV struct {
	Priority, Weight, Port uint16
	Target                 string // A-label without a final dot; "" is the root: no such service here
}

// DNSSEC is what validation says of an [DNSAnswer]. A bogus answer has no state,
// because it is never data: it is [ErrBogus].
type DNSSEC uint8

const (
	// Indeterminate: nothing could be checked. It is the zero value.
	Indeterminate DNSSEC = iota
	// Insecure: a signed parent proves that this part of the tree is unsigned.
	Insecure
	// Secure: signatures lead from a trust anchor to the answer.
	Secure
)

var dnssecNames = [...]string{"indeterminate", "insecure", "secure"}

// String gives the state in lower case.
func (d DNSSEC) String() string {
	if int(d) < len(dnssecNames) {
		return dnssecNames[d]
	}
	return dnssecNames[Indeterminate]
}

// MarshalText gives the state in lower case.
func (d DNSSEC) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (d *DNSSEC) UnmarshalText(text []byte) error {
	for i, name := range dnssecNames {
		if string(text) == name {
			*d = DNSSEC(i)
			return nil
		}
	}
	return usageError(fmt.Sprintf("unknown DNSSEC state %q", text))
}

// ErrBogus is what every DNSSEC validation failure is: errors.Is(err, ErrBogus).
// Forged data and a broken zone look alike, so neither is ever used.
var ErrBogus = coded.New(string(CodeDNSSECBogus), "DNSSEC validation failed")

// BogusError tells where validation failed. It is an [ErrBogus].
type BogusError struct {
	Name   string // the question
	Zone   string // the zone whose data failed
	EDE    uint16 // extended DNS error code (RFC 8914), 6 when nothing more precise fits
	Reason string // one sentence
}

func (e *BogusError) Error() string {
	e = zero.Or(e)
	return fmt.Sprintf("%s: DNSSEC validation failed in zone %s: %s (EDE %d)", e.Name, e.Zone, e.Reason, e.EDE)
}

// ReasonCode returns [CodeDNSSECBogus].
func (e *BogusError) ReasonCode() Code { return CodeDNSSECBogus }

// Is makes every BogusError an [ErrBogus].
func (e *BogusError) Is(target error) bool { return target == ErrBogus }
