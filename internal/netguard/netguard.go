package netguard

import (
	"net/netip"
	"slices"
	"syscall"
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
