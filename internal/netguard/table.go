package netguard

import (
	"net/netip"
	"slices"
)

// Dated is the day of the latest update of the IANA registries of special-purpose
// IPv4 and IPv6 addresses that the tables follow.
const Dated = "2025-10-09"

// Range is a block of addresses that are not dialled.
type Range struct {
	Prefix netip.Prefix
	Reason string // what the block is for, and the document that says so
	Closed bool   // no [Allow] opens it
}

// special4 and special6 hold the registries' entries, the multicast blocks, and
// the addresses outside of them at which clouds keep machine credentials. A
// block comes before the larger block that contains it, so that the error has the
// more precise reason.
//
// Closed are the addresses of credentials, those that are no host, and those that hide another
// address. The whole of link-local is closed, since clouds keep adding services to it.
var special4 = [...]Range{
	closed("0.0.0.0/8", "this network (RFC 791)"),
	block("10.0.0.0/8", "private use (RFC 1918)"),
	closed("100.100.100.200/32", "cloud metadata"),
	block("100.64.0.0/10", "shared address space of carriers (RFC 6598)"),
	block("127.0.0.0/8", "loopback (RFC 1122)"),
	closed("168.63.129.16/32", "cloud metadata and platform services"),
	closed("169.254.169.254/32", "cloud metadata"),
	closed("169.254.0.0/16", "link-local (RFC 3927)"),
	block("172.16.0.0/12", "private use (RFC 1918)"),
	closed("192.0.0.192/32", "cloud metadata"),
	block("192.0.0.0/24", "IETF protocol assignments (RFC 6890)"),
	block("192.0.2.0/24", "documentation (RFC 5737)"),
	block("192.31.196.0/24", "AS112 (RFC 7535)"),
	block("192.52.193.0/24", "automatic multicast tunneling (RFC 7450)"),
	block("192.88.99.0/24", "6to4 relays, deprecated (RFC 7526)"),
	block("192.168.0.0/16", "private use (RFC 1918)"),
	block("192.175.48.0/24", "AS112 (RFC 7534)"),
	block("198.18.0.0/15", "benchmarking (RFC 2544); a VPN or proxy in fake-IP mode answers every name with such addresses"),
	block("198.51.100.0/24", "documentation (RFC 5737)"),
	block("203.0.113.0/24", "documentation (RFC 5737)"),
	closed("224.0.0.0/4", "multicast (RFC 5771)"),
	closed("255.255.255.255/32", "limited broadcast (RFC 8190)"),
	closed("240.0.0.0/4", "reserved (RFC 1112)"),
}

var special6 = [...]Range{
	closed("::/128", "unspecified (RFC 4291)"),
	block("::1/128", "loopback (RFC 4291)"),
	closed("::/96", "IPv4-compatible, deprecated (RFC 4291)"),
	closed("::ffff:0:0/96", "IPv4-mapped (RFC 4291)"),
	closed("::ffff:0:0:0/96", "IPv4-translated (RFC 2765)"),
	closed("64:ff9b:1::/48", "IPv4 by local NAT64 (RFC 8215)"),
	block("100::/64", "discard (RFC 6666)"),
	block("100:0:0:1::/64", "dummy prefix (RFC 9780)"),
	closed("2001::/32", "IPv4 by Teredo (RFC 4380)"),
	block("2001:2::/48", "benchmarking (RFC 5180)"),
	block("2001:3::/32", "automatic multicast tunneling (RFC 7450)"),
	block("2001:4:112::/48", "AS112 (RFC 7535)"),
	block("2001:10::/28", "ORCHID, deprecated (RFC 4843)"),
	block("2001:20::/28", "ORCHIDv2 (RFC 7343)"),
	block("2001:30::/28", "drone remote identification (RFC 9374)"),
	block("2001::/23", "IETF protocol assignments (RFC 2928)"),
	block("2001:db8::/32", "documentation (RFC 3849)"),
	closed("2002::/16", "IPv4 by 6to4 (RFC 3056)"),
	block("2620:4f:8000::/48", "AS112 (RFC 7534)"),
	block("3fff::/20", "documentation (RFC 9637)"),
	block("5f00::/16", "segment routing identifiers (RFC 9602)"),
	closed("fd00:ec2::23/128", "cloud metadata"),
	closed("fd00:ec2::254/128", "cloud metadata"),
	closed("fd20:ce::254/128", "cloud metadata"),
	block("fc00::/7", "unique local (RFC 4193)"),
	closed("fe80::/10", "link-local (RFC 4291)"),
	block("fec0::/10", "site-local, deprecated (RFC 3879)"),
	closed("ff00::/8", "multicast (RFC 4291)"),
}

// nat64 is the prefix behind which NAT64 has the whole of IPv4 (RFC 6052). The address inside decides.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// FakeIP is the range from which a VPN or proxy in fake-IP mode takes the addresses that it answers.
var FakeIP = netip.MustParsePrefix("198.18.0.0/15")

// globalUnicast6 is the only part of IPv6 that is assigned to public hosts.
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// Ranges returns both tables.
func Ranges() []Range {
	return slices.Concat(special4[:], special6[:])
}

func block(prefix, reason string) Range {
	return Range{Prefix: netip.MustParsePrefix(prefix), Reason: reason}
}

func closed(prefix, reason string) Range {
	return Range{netip.MustParsePrefix(prefix), reason, true}
}
