package dnssec

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

// FuzzTrustAnchors reads files of trust anchors: each zone that is returned has a usable anchor.
func FuzzTrustAnchors(f *testing.F) {
	f.Add(RootAnchors)
	f.Add(". IN DNSKEY 257 3 8 AwEAAaz/tAm8yTn4Mfeh5eyI96WSVexTBAvkMgJzkKTOiW1vkIbzxeF3")
	f.Add("example. 3600 IN DS 1 13 2 00")
	f.Add("$ORIGIN example.\n@ IN TXT x")
	f.Add("$INCLUDE /etc/hostname\n")
	f.Add("$GENERATE 1-65535 a$ IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D")
	f.Fuzz(func(t *testing.T, text string) {
		anchors, err := parseAnchors(text)
		if (err == nil) != (len(anchors) > 0) {
			t.Fatalf("%d anchors, %v", len(anchors), err)
		}
		for zone, usable := range anchors {
			if len(usable) == 0 {
				t.Errorf("%s has no usable anchor", zone)
			}
		}
	})
}

// FuzzResolvConf reads resolv.conf: there are one to three servers, each an address with port 53.
func FuzzResolvConf(f *testing.F) {
	f.Add("nameserver 192.0.2.1\nnameserver 2001:db8::1\n")
	f.Add("nameserver fe80::1%eth0\nsearch example.net\n; comment")
	f.Add("nameserver 1\nnameserver\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		servers := nameservers(strings.NewReader(text))
		if len(servers) < 1 || len(servers) > 3 {
			t.Fatalf("%d servers", len(servers))
		}
		for _, server := range servers {
			host, port, err := net.SplitHostPort(server)
			if err != nil || port != "53" {
				t.Fatalf("%q: %v", server, err)
			}
			if _, err := netip.ParseAddr(host); err != nil {
				t.Errorf("%q: %v", server, err)
			}
			if _, err := newTransport(server, &Options{}); err != nil {
				t.Errorf("%q: %v", server, err)
			}
		}
	})
}
