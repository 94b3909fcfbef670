package dnssec

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// findServers asks Windows for the servers of its network adapters. Adapters that are up and have a
// gateway come first, in the order of their metric: they lead to the internet.
func findServers() *systemServers {
	s := &systemServers{looked: "the settings of the network adapters"}
	first, err := adapters()
	if err != nil {
		s.looked += " (GetAdaptersAddresses: " + err.Error() + ")"
		return s
	}
	var up []*windows.IpAdapterAddresses
	for a := first; a != nil; a = a.Next {
		if a.OperStatus == windows.IfOperStatusUp && a.FirstGatewayAddress != nil {
			up = append(up, a)
		}
	}
	slices.SortStableFunc(up, func(a, b *windows.IpAdapterAddresses) int { return cmp.Compare(a.Ipv4Metric, b.Ipv4Metric) })
	for _, a := range up {
		for server := a.FirstDnsServerAddress; server != nil; server = server.Next {
			s.add(address(server.Address, a.Ipv6IfIndex))
		}
	}
	return s
}

// adapters returns the list of adapters. Its size can grow between two calls.
func adapters() (*windows.IpAdapterAddresses, error) {
	const flags = windows.GAA_FLAG_INCLUDE_GATEWAYS | windows.GAA_FLAG_SKIP_ANYCAST | windows.GAA_FLAG_SKIP_MULTICAST
	size := uint32(15_000) // as Microsoft recommends
	for {
		buffer := make([]byte, size)
		first := (*windows.IpAdapterAddresses)(unsafe.Pointer(&buffer[0]))
		err := windows.GetAdaptersAddresses(windows.AF_UNSPEC, flags, 0, first, &size)
		switch {
		case err == nil && size == 0:
			return nil, nil
		case err == nil:
			return first, nil
		case !errors.Is(err, windows.ERROR_BUFFER_OVERFLOW) || size <= uint32(len(buffer)):
			return nil, err
		}
	}
}

// address converts the address of a server. An address of a link is valid on its adapter only.
func address(a windows.SocketAddress, adapter uint32) netip.Addr {
	addr, ok := netip.AddrFromSlice(a.IP())
	if !ok {
		return netip.Addr{}
	}
	addr = addr.Unmap()
	if addr.IsLinkLocalUnicast() && addr.Is6() {
		addr = addr.WithZone(strconv.FormatUint(uint64(adapter), 10))
	}
	return addr
}
