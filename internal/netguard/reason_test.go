package netguard

import (
	"errors"
	"net/netip"
	"testing"
)

// TestReasons: each check refuses for its own reason, so that none hides behind another.
func TestReasons(t *testing.T) {
	var g Guard
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"no-address", Check(netip.Addr{}), "it is not an IP address"},
		{"zone", Check(netip.MustParseAddr("2600::1%eth0")), "it is bound to a network interface by a zone"},
		{"outside-of-global-unicast", Check(netip.MustParseAddr("4000::1")), "it lies outside of the global unicast space (RFC 4291)"},
		{"no-port", g.Control("tcp4", "192.0.2.1", nil), "it is not an IP address and port"},
		{"no-address-with-port", g.Control("tcp4", "example.com:443", nil), "it is not an IP address and port"},
		{"network", g.Control("udp4", "192.0.2.1:443", nil), "only tcp4 and tcp6 are dialled"},
		{"port", g.CheckPort(80), "the port is not allowed"},
		{"isatap", Check(netip.MustParseAddr("2600::5efe:c000:201")), "IPv4 by ISATAP (RFC 5214)"},
		{"isatap-universal", Check(netip.MustParseAddr("2600::200:5efe:c000:201")), "IPv4 by ISATAP (RFC 5214)"},
	} {
		t.Run("reject-"+c.name, func(t *testing.T) {
			var refused *Error
			if !errors.As(c.err, &refused) || refused.Reason != c.want {
				t.Errorf("%v; want %q", c.err, c.want)
			}
		})
	}
	for _, address := range []string{"2600::1:5efe:c000:201", "2600::100:5efe:c000:201", "2600::5eff:c000:201", "2600::5ffe:c000:201", "2600::5e:c000:201"} {
		t.Run("accept-"+address, func(t *testing.T) {
			if err := Check(netip.MustParseAddr(address)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestErrorText: the text names the address, port or network that was refused.
func TestErrorText(t *testing.T) {
	var g Guard
	for want, err := range map[string]error{
		"the address may not be dialled: it is not an IP address":                                    Check(netip.Addr{}),
		"address 4000::1 may not be dialled: it lies outside of the global unicast space (RFC 4291)": Check(netip.MustParseAddr("4000::1")),
		`network "udp4" may not be dialled: only tcp4 and tcp6 are dialled`:                          g.Control("udp4", "192.0.2.1:443", nil),
		"port 80 may not be dialled: the port is not allowed":                                        g.CheckPort(80),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
