package netguard

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Check returns an [*Error] unless the address is a public unicast address. It does not allocate
// for such an address.
func Check(addr netip.Addr) error {
	switch {
	case !addr.IsValid():
		return &Error{Code: CodeBlockedAddress, Reason: "it is not an IP address"}
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

// isatap reports whether the interface identifier is 0000:5efe or 0200:5efe, followed by an IPv4
// address.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// Control returns a function for [net.Dialer.Control]. It allows TCP connections over IPv4 and IPv6
// to public unicast addresses at these ports; without ports, at 443. A dialer calls it with each
// address that it dials.
func Control(ports ...uint16) func(network, address string, c syscall.RawConn) error {
	g := Guard{Ports: slices.Clone(ports)}
	return g.Control
}

// Guard says what may be dialled. The zero value is safe.
type Guard struct {
	Ports        []uint16 // allowed; empty: 443
	AllowPrivate bool     // do not check addresses; for tests
}

// Check returns an [*Error] unless the address and port may be dialled.
func (g *Guard) Check(dst netip.AddrPort) error {
	if !g.AllowPrivate {
		if err := Check(dst.Addr()); err != nil {
			return err
		}
	}
	return g.CheckPort(dst.Port())
}

// CheckPort returns an [*Error] unless the port is allowed.
func (g *Guard) CheckPort(port uint16) error {
	if len(g.Ports) == 0 && port == 443 || slices.Contains(g.Ports, port) {
		return nil
	}
	return &Error{Code: CodeBlockedPort, Port: port, Reason: "the port is not allowed"}
}

// Control has the form of [net.Dialer.Control].
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &Error{Code: CodeBlockedNetwork, Network: network, Reason: "only tcp4 and tcp6 are dialled"}
	}
	dst, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Code: CodeBlockedAddress, Reason: "it is not an IP address and port"}
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
	Range   netip.Prefix // the block of the table that contains it; zero if no block does
	Port    uint16       // of a refused port
	Network string       // of a refused network
	Reason  string       // why, in words of this package
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
