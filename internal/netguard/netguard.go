package netguard

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Check returns an [*Error] unless the address is a public unicast address. It does not allocate
// for such an address.
func Check(addr netip.Addr) error {
	e := judge(addr)
	if e == nil {
		return nil
	}
	return e
}

func judge(addr netip.Addr) *Error {
	switch {
	case !addr.IsValid():
		return &Error{Code: CodeBlockedAddress, Reason: "it is not an IP address", closed: true}
	case addr.Zone() != "":
		return refuse(addr, Range{Reason: "it is bound to a network interface by a zone", Closed: true})
	case addr.Is4():
		return lookup(addr, special4[:])
	case nat64.Contains(addr):
		b := addr.As16()
		inner := netip.AddrFrom4([4]byte(b[12:]))
		e := judge(inner)
		if e != nil {
			e.Addr, e.Reason = addr, e.Reason+"; NAT64 (RFC 6052) leads to "+inner.String()
		}
		return e
	}
	if e := lookup(addr, special6[:]); e != nil {
		return e
	}
	if !globalUnicast6.Contains(addr) {
		return refuse(addr, Range{Reason: "it lies outside of the global unicast space (RFC 4291)", Closed: true})
	}
	if isatap(addr) {
		return refuse(addr, Range{Reason: "IPv4 by ISATAP (RFC 5214)", Closed: true})
	}
	return nil
}

func lookup(addr netip.Addr, table []Range) *Error {
	for i := range table {
		if r := &table[i]; r.Prefix.Contains(addr) {
			return refuse(addr, *r)
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
	Allow        []Allow
	AllowPrivate bool // do not check addresses; for tests
}

// Allow opens a range of addresses for some hosts. Closed ranges of the tables stay closed.
type Allow struct {
	Prefix netip.Prefix
	Hosts  []string // names, "*.example.com" for the names below one, "*" for every name, or addresses as they are written in a URL
}

// permits reports whether a host is one of those for which the range is open.
func (a Allow) permits(host string) bool {
	_, err := netip.ParseAddr(host)
	return slices.ContainsFunc(a.Hosts, func(pattern string) bool {
		below, wild := strings.CutPrefix(pattern, "*")
		switch {
		case !wild:
			return strings.EqualFold(pattern, host)
		case err == nil: // no pattern stands for an address
			return false
		}
		return below == "" || below[0] == '.' && strings.HasSuffix(strings.ToLower(host), strings.ToLower(below))
	})
}

// CheckAddr returns an [*Error] unless a connection for a host may go to an address. Opened reports
// whether it may only because of Allow or AllowPrivate.
func (g *Guard) CheckAddr(addr netip.Addr, host string) (opened bool, err error) {
	return g.check(addr, func(a Allow) bool { return a.permits(host) })
}

func (g *Guard) check(addr netip.Addr, holds func(Allow) bool) (opened bool, err error) {
	e := judge(addr)
	switch {
	case g.AllowPrivate:
		return true, nil
	case e == nil:
		return false, nil
	case !e.closed && slices.ContainsFunc(g.Allow, func(a Allow) bool { return a.Prefix.Contains(e.judged) && holds(a) }):
		return true, nil
	}
	return false, e
}

// CheckPort returns an [*Error] unless the port is allowed.
func (g *Guard) CheckPort(port uint16) error {
	if len(g.Ports) == 0 && port == 443 || slices.Contains(g.Ports, port) {
		return nil
	}
	return &Error{Code: CodeBlockedPort, Port: port, Reason: "the port is not allowed"}
}

// Control has the form of [net.Dialer.Control]. It does not know for which host a dialer connects,
// so it leaves open what Allow opens for any.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return &Error{Code: CodeBlockedNetwork, Network: network, Reason: "only tcp4 and tcp6 are dialled"}
	}
	dst, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Error{Code: CodeBlockedAddress, Reason: "it is not an IP address and port"}
	}
	if _, err := g.check(dst.Addr(), func(Allow) bool { return true }); err != nil {
		return err
	}
	return g.CheckPort(dst.Port())
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

	judged netip.Addr // Addr, or the address that it hides
	closed bool       // no Allow opens it
}

func refuse(addr netip.Addr, r Range) *Error {
	return &Error{Code: CodeBlockedAddress, Addr: addr, Range: r.Prefix, Reason: r.Reason, judged: addr, closed: r.Closed}
}

// ReasonCode returns the code.
func (e *Error) ReasonCode() string { return e.Code }

// Is reports whether target is [coded.Denied].
func (e *Error) Is(target error) bool { return target == coded.Denied }

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
