package netguard_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/netguard"
)

func code(err error) string {
	var e *netguard.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// blocks are the special-purpose blocks: the first and last address of each, and the neighbours
// outside, which are public unless another block begins there.
var blocks = []struct {
	block                     string
	first, last               string
	before, after             string // "": there is none, or it is not asked
	beforePublic, afterPublic bool
}{
	{"0.0.0.0/8", "0.0.0.0", "0.255.255.255", "", "1.0.0.0", false, true},
	{"10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0", true, true},
	{"100.64.0.0/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0", true, true},
	{"127.0.0.0/8", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0", true, true},
	{"168.63.129.16/32", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17", true, true},
	{"169.254.0.0/16", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0", true, true},
	{"172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0", true, true},
	{"192.0.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0", true, true},
	{"192.0.2.0/24", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0", true, true},
	{"192.31.196.0/24", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0", true, true},
	{"192.52.193.0/24", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0", true, true},
	{"192.88.99.0/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0", true, true},
	{"192.168.0.0/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0", true, true},
	{"192.175.48.0/24", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0", true, true},
	{"198.18.0.0/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0", true, true},
	{"198.51.100.0/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0", true, true},
	{"203.0.113.0/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0", true, true},
	{"224.0.0.0/4", "224.0.0.0", "239.255.255.255", "223.255.255.255", "240.0.0.0", true, false},
	{"240.0.0.0/4", "240.0.0.0", "255.255.255.255", "239.255.255.255", "", false, false},

	{"::/96", "::", "::ffff:ffff", "", "::1:0:0", false, false},
	{"::ffff:0:0/96", "::ffff:0.0.0.0", "::ffff:255.255.255.255", "::fffe:ffff:ffff", "::1:0:0:0", false, false},
	{"::ffff:0:0:0/96", "::ffff:0:0:0", "::ffff:0:ffff:ffff", "::fffe:ffff:ffff:ffff", "::ffff:1:0:0", false, false},
	{"64:ff9b::/96", "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "64:ff9b::1:0:0", false, false},
	{"64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::", false, false},
	{"100::/64", "100::", "100::ffff:ffff:ffff:ffff", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "100:0:0:1::", false, false},
	{"2001::/23", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", true, true},
	{"2001::/32", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::", true, false},
	{"2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2:1::", false, false},
	{"2001:10::/28", "2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:20::", false, false},
	{"2001:20::/28", "2001:20::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:30::", false, false},
	{"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", true, true},
	{"2002::/16", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", true, true},
	{"2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::", true, true},
	{"3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", true, true},
	{"5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::", false, false},
	{"fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::", false, false},
	{"fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", false, false},
	{"fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", false, false},
	{"ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "", false, false},
	{"2000::/3 and what lies around it", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "", "", false, false},
}

// TestBoundaries tries the first and last address of each block, and the neighbours outside.
func TestBoundaries(t *testing.T) {
	judge := func(t *testing.T, addr string, public bool) {
		t.Helper()
		if addr == "" {
			return
		}
		if err := netguard.Check(netip.MustParseAddr(addr)); (err == nil) != public {
			t.Errorf("Check(%s) = %v; public: %v", addr, err, public)
		}
	}
	for _, test := range blocks {
		t.Run(test.block, func(t *testing.T) {
			judge(t, test.first, false)
			judge(t, test.last, false)
			judge(t, test.before, test.beforePublic)
			judge(t, test.after, test.afterPublic)
		})
	}
}

func TestCheck(t *testing.T) {
	var ends, neighbours []string
	for _, block := range blocks {
		ends = append(ends, block.first, block.last)
		if block.beforePublic {
			neighbours = append(neighbours, block.before)
		}
		if block.afterPublic {
			neighbours = append(neighbours, block.after)
		}
	}
	for _, id := range []string{"F01", "F02"} {
		t.Run(id, func(t *testing.T) {
			reject(t, "reject-ends-of-blocks", ends...)
			accept(t, "accept-neighbours-of-blocks", neighbours...)
		})
	}
	t.Run("F01", func(t *testing.T) {
		accept(t, "accept-public", "93.184.216.34", "8.8.8.8", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946", "2a00:1450:4001::1", "2001:4860:4860::8888")
		reject(t, "reject-special", "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "192.0.0.1",
			"198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1", "ff02::1")
		reject(t, "reject-metadata", "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
		reject(t, "reject-zone", "fe80::1%eth0", "2606:2800:220:1::1%1")
		t.Run("reject-zone-for-its-zone", func(t *testing.T) {
			if err := netguard.Check(netip.MustParseAddr("2606:2800:220:1::1%1")); err == nil || !strings.Contains(err.Error(), "zone") {
				t.Errorf("%v", err)
			}
		})
		t.Run("reject-no-address", func(t *testing.T) {
			if err := netguard.Check(netip.Addr{}); code(err) != netguard.CodeBlockedAddress {
				t.Errorf("Check of no address: %v", err)
			}
		})
	})
	t.Run("F02", func(t *testing.T) {
		reject(t, "reject-ipv4-inside", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
			"64:ff9b:1::7f00:1", "64:ff9b:1:ffff::1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:0:7f00:1::")
		accept(t, "accept-public-behind-nat64", "64:ff9b::808:808", "64:ff9b::5db8:d822")
		reject(t, "reject-isatap", "2606:2800::5efe:7f00:1", "2606:2800::200:5efe:7f00:1", "2a00::5efe:8.8.8.8")
		accept(t, "accept-beside-isatap", "2606:2800::5eff:7f00:1", "2606:2800::100:5efe:7f00:1", "2606:2800:0:5efe::1", "2606:2800::0:1:5efe:1")
	})
}

func accept(t *testing.T, name string, addrs ...string) {
	t.Run(name, func(t *testing.T) {
		for _, addr := range addrs {
			if err := netguard.Check(netip.MustParseAddr(addr)); err != nil {
				t.Errorf("%s: %v", addr, err)
			}
		}
	})
}

func reject(t *testing.T, name string, addrs ...string) {
	t.Run(name, func(t *testing.T) {
		for _, addr := range addrs {
			err := netguard.Check(netip.MustParseAddr(addr))
			var e *netguard.Error
			if !errors.As(err, &e) || e.Code != netguard.CodeBlockedAddress || e.Reason == "" || e.Addr != netip.MustParseAddr(addr) {
				t.Errorf("%s: %v", addr, err)
			}
		}
	})
}

func TestControl(t *testing.T) {
	tests := []struct {
		name, network, address string
		ports                  []uint16
		code                   string
	}{
		{"F08/accept-tcp4", "tcp4", "93.184.216.34:443", nil, ""},
		{"F08/accept-tcp6", "tcp6", "[2606:2800:220:1::1]:443", nil, ""},
		{"F08/reject-unix", "unix", "/run/socket", nil, netguard.CodeBlockedNetwork},
		{"F08/reject-udp", "udp4", "93.184.216.34:443", nil, netguard.CodeBlockedNetwork},
		{"F08/reject-ip", "ip4:tcp", "93.184.216.34", nil, netguard.CodeBlockedNetwork},
		{"F08/reject-tcp-unspecific", "tcp", "93.184.216.34:443", nil, netguard.CodeBlockedNetwork},
		{"F08/reject-name", "tcp4", "localhost:443", nil, netguard.CodeBlockedAddress},
		{"F08/reject-private", "tcp4", "10.0.0.1:443", nil, netguard.CodeBlockedAddress},
		{"F08/reject-port", "tcp4", "93.184.216.34:22", nil, netguard.CodeBlockedPort},
		{"F08/accept-port-allowed", "tcp4", "93.184.216.34:8443", []uint16{443, 8443}, ""},
		{"F08/reject-443-not-listed", "tcp4", "93.184.216.34:443", []uint16{8443}, netguard.CodeBlockedPort},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := code(netguard.Control(test.ports...)(test.network, test.address, nil)); got != test.code {
				t.Errorf("code %q, want %q", got, test.code)
			}
		})
	}
}

// TestControlInDialer proves that the guard sits where the dialler asks it.
func TestControlInDialer(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	port := uint16(ln.Addr().(*net.TCPAddr).Port)
	d := net.Dialer{Control: netguard.Control(port)}
	if conn, err := d.Dial("tcp4", ln.Addr().String()); code(err) != netguard.CodeBlockedAddress {
		t.Errorf("dialling loopback: %v, %v", conn, err)
	}
	open := netguard.Guard{Ports: []uint16{port}, AllowPrivate: true}
	d.Control = open.Control
	conn, err := d.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestErrorSaysWhere(t *testing.T) {
	for want, err := range map[string]error{
		"address 10.1.2.3 may not be dialled: it lies in 10.0.0.0/8, private use (RFC 1918)": netguard.Check(netip.MustParseAddr("10.1.2.3")),
		"port 22 may not be dialled: the port is not allowed":                                (&netguard.Guard{}).CheckPort(22),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// FuzzCheck holds Check to what netip knows: nothing special to netip passes,
// and the IPv4-mapped form of an address never passes.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"10.0.0.1", "93.184.216.34", "::1", "2606:2800:220:1::1", "::ffff:8.8.8.8", "fe80::1"} {
		addr := netip.MustParseAddr(seed)
		f.Add(addr.AsSlice())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		addr, ok := netip.AddrFromSlice(raw)
		if !ok {
			return
		}
		err := netguard.Check(addr)
		if err != nil {
			_ = err.Error()
			return
		}
		if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Is4In6() {
			t.Errorf("%s passes", addr)
		}
		if addr.Is4() && netguard.Check(netip.AddrFrom16(addr.As16())) == nil {
			t.Errorf("%s passes in its mapped form", addr)
		}
	})
}

func TestCheckDoesNotAllocate(t *testing.T) {
	for _, s := range []string{"93.184.216.34", "2606:2800:220:1::1"} {
		addr := netip.MustParseAddr(s)
		if n := testing.AllocsPerRun(100, func() { _ = netguard.Check(addr) }); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, s := range []string{"93.184.216.34", "2606:2800:220:1::1"} {
		b.Run(s, func(b *testing.B) {
			addr := netip.MustParseAddr(s)
			b.ReportAllocs()
			for b.Loop() {
				if netguard.Check(addr) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}
