package netguard

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Check judges an address: nil for public unicast, otherwise an [*Error]. It
// does not allocate for addresses that pass.
func Check(addr netip.Addr) error {
	switch {
	case !addr.IsValid():
		return &Error{Code: CodeBlockedAddress, Reason: "it is no address"}
	case addr.Zone() != "":
		return refuse(addr, netip.Prefix{}, "it is bound to a network interface by a zone")
	case addr.Is4():
		return lookup(addr, special4[:])
	}
	if err := lookup(addr, special6[:]); err != nil {
		return err
	}
	if !globalUnicast6.Contains(addr) {
		return refuse(addr, netip.Prefix{}, "it lies outside of the global unicast space (RFC 4291)")
	}
	if isatap(addr) {
		return refuse(addr, netip.Prefix{}, "IPv4 by ISATAP (RFC 5214)")
	}
	return nil
}

func lookup(addr netip.Addr, table []Range) error {
	for i := range table {
		if r := &table[i]; r.Prefix.Contains(addr) {
			return refuse(addr, r.Prefix, r.Reason)
		}
	}
	return nil
}

// isatap reports whether the interface identifier is 0000:5efe or 0200:5efe and
// an IPv4 address.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// Control returns the function for [net.Dialer.Control] that lets a socket connect
// to public unicast addresses at the ports given alone, over TCP on IPv4 or
// IPv6. It is called with each address really dialled. Without ports it is 443.
func Control(ports ...uint16) func(network, address string, c syscall.RawConn) error {
	g := Guard{Ports: slices.Clone(ports)}
	return g.Control
}

// Guard is a choice of what may be dialled. The zero value is the safe one.
type Guard struct {
	Ports        []uint16 // allowed; empty: 443
	AllowPrivate bool     // do not judge addresses: for test beds
}

// Check judges an address and port.
func (g *Guard) Check(dst netip.AddrPort) error {
	if !g.AllowPrivate {
		if err := Check(dst.Addr()); err != nil {
			return err
		}
	}
	return g.CheckPort(dst.Port())
}

// CheckPort judges a port alone.
func (g *Guard) CheckPort(port uint16) error {
	if len(g.Ports) == 0 && port == 443 || slices.Contains(g.Ports, port) {
		return nil
	}
	return &Error{Code: CodeBlockedPort, Port: port, Reason: "the port is not allowed"}
}

// Control is for [net.Dialer.Control].
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &Error{Code: CodeBlockedNetwork, Network: network, Reason: "only tcp4 and tcp6 are dialled"}
	}
	dst, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Code: CodeBlockedAddress, Reason: "it is no address and port"}
	}
	return g.Check(dst)
}

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
