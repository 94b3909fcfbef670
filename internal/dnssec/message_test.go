package dnssec

import (
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// parsed returns records of a zone file.
func parsed(t *testing.T, lines ...string) (rrs []dns.RR) {
	t.Helper()
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		rrs = append(rrs, rr)
	}
	return rrs
}

// TestAliases: where a name leads, by a CNAME or by the closest DNAME above it.
func TestAliases(t *testing.T) {
	const signed = "a.d.z. IN RRSIG CNAME 15 1 60 20300101000000 20200101000000 1 z. AAAA"
	long := strings.Repeat("b.", 100)
	for name, c := range map[string]struct {
		lines     []string
		name      string
		target    string // "": no alias
		malformed bool
	}{
		"accept-cname":                  {[]string{"a.z. IN CNAME B.y."}, "a.z.", "b.y.", false},
		"accept-cname-twice":            {[]string{"a.z. IN CNAME b.y.", "a.z. IN CNAME B.y."}, "a.z.", "b.y.", false},
		"accept-dname":                  {[]string{"d.z. IN DNAME y."}, "a.d.z.", "a.y.", false},
		"accept-closest-dname":          {[]string{"z. IN DNAME x.", "d.z. IN DNAME y."}, "a.d.z.", "a.y.", false},
		"accept-dname-next-to-its-help": {[]string{"d.z. IN DNAME y.", "a.d.z. IN CNAME b.x."}, "a.d.z.", "a.y.", false},
		"accept-signed-cname-below-it":  {[]string{"d.z. IN DNAME y.", "a.d.z. IN CNAME b.x.", signed}, "a.d.z.", "b.x.", false},
		"accept-dname-of-the-root":      {[]string{". IN DNAME y."}, "a.", "a.y.", false},
		"accept-longest-target":         {[]string{"d.z. IN DNAME " + long}, strings.Repeat("a.", 27) + "d.z.", strings.Repeat("a.", 27) + long, false},
		"reject-longer-target":          {[]string{"d.z. IN DNAME " + long}, strings.Repeat("a.", 28) + "d.z.", "", true},
		"reject-target-of-256-bytes":    {[]string{"d.z. IN DNAME " + long}, strings.Repeat("a.", 26) + "aa.d.z.", "", true},
		"reject-dname-at-the-name":      {[]string{"d.z. IN DNAME y."}, "d.z.", "", false},
		"reject-two-targets":            {[]string{"a.z. IN CNAME b.y.", "a.z. IN CNAME c.y."}, "a.z.", "", true},
		"reject-two-targets-of-dname":   {[]string{"d.z. IN DNAME y.", "d.z. IN DNAME x."}, "a.d.z.", "", true},
		"reject-nothing":                {nil, "a.z.", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMessage(&dns.Msg{Answer: parsed(t, c.lines...)}).answer
			link, err := s.aliasOf(wire(t, c.name))
			if (err != nil) != c.malformed || (link != nil) != (c.target != "") || link != nil && link.target != wire(t, c.target) {
				t.Fatalf("%+v, %v", link, err)
			}
			if link == nil {
				return
			}
			sent := s.find(wire(t, c.name), dns.TypeCNAME)
			if set := link.cname(wire(t, c.name)); link.set.rrtype == dns.TypeCNAME && set != sent ||
				link.set.rrtype == dns.TypeDNAME && (set == sent || set.ttl != link.set.ttl || set.rrs[0].String() != parsed(t, c.name+" CNAME "+c.target)[0].String()) {
				t.Errorf("%+v", set)
			}
		})
	}
}

// TestNameBounds: a name has at most 255 bytes, with its wildcard label too, and the root is its
// own parent.
func TestNameBounds(t *testing.T) {
	longest := wire(t, strings.Repeat("a.", 127))
	if n, ok := nameOf(strings.Repeat("a.", 126) + "aa."); ok {
		t.Errorf("a name of %d bytes", len(n))
	}
	for n, want := range map[name]bool{longest: false, wire(t, "aa."+strings.Repeat("a.", 125)): false, longest.parent(): true, rootName: true} {
		if w, ok := n.wildcard(); ok != want || ok && (!w.isWildcard() || w.parent() != n) || !ok && w != "" {
			t.Errorf("%d bytes: %q, %v", len(n), w, ok)
		}
	}
	if n := rootName.parent(); n != rootName || n.labels() != 0 {
		t.Errorf("above the root is %q", n)
	}
	for n, want := range map[name]string{rootName: ".", wire(t, "A.b"): "a.b.", "\x05a": "?"} {
		if got := n.String(); got != want {
			t.Errorf("%q: %s, want %s", n, got, want)
		}
	}
}
