package netguard

import (
	"fmt"
	"net/netip"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// The reason codes.
const (
	CodeBlockedAddress = "blocked-address" // not public unicast
	CodeBlockedPort    = "blocked-port"    // not on the list
	CodeBlockedNetwork = "blocked-network" // neither tcp4 nor tcp6
)

// Error is a refusal to dial.
type Error struct {
	Code    string
	Addr    netip.Addr   // of a refused address
	Range   netip.Prefix // the block of the table that holds it; the zero value where none does
	Port    uint16       // of a refused port
	Network string       // of a refused network
	Reason  string       // our words
}

func refuse(addr netip.Addr, block netip.Prefix, reason string) error {
	return &Error{Code: CodeBlockedAddress, Addr: addr, Range: block, Reason: reason}
}

func (e *Error) Error() string {
	switch {
	case e.Code == CodeBlockedPort:
		return fmt.Sprintf("port %d may not be dialled: %s", e.Port, e.Reason)
	case e.Code == CodeBlockedNetwork:
		return fmt.Sprintf("network %s may not be dialled: %s", plaintext.Quote(e.Network, 100), e.Reason)
	case e.Range.IsValid():
		return fmt.Sprintf("address %s may not be dialled: it lies in %s, %s", e.Addr, e.Range, e.Reason)
	case e.Addr.IsValid():
		return fmt.Sprintf("address %s may not be dialled: %s", e.Addr, e.Reason)
	}
	return "the address may not be dialled: " + e.Reason
}
