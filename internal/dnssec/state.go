package dnssec

import "fmt"

// State is what validation says of data, or of its absence (RFC 4035 section 4.3). Bogus is not among them: bogus data
// is an error and never a result.
type State uint8

const (
	// Indeterminate: there was nothing to check with.
	Indeterminate State = iota
	// Insecure: a signed parent proves that this part of the tree is not signed in a way that we can check.
	Insecure
	// Secure: signatures lead from a trust anchor to the data.
	Secure
)

// String gives the state in lower case.
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

// BogusError says that data failed validation: it was forged, or its zone is broken. Nobody can tell which.
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
