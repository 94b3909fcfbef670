package dnssec

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// bomb is a message of which every record is made of pointers to one long name, as small on the
// wire and as large in memory as can be.
func bomb(records int) []byte {
	m := binary.BigEndian.AppendUint16(nil, 1)
	m = append(m, 0x80, 0, 0, 1, byte(records>>8), byte(records), 0, 0, 0, 0)
	for range 3 {
		m = append(m, 63)
		m = append(m, strings.Repeat("\x01", 63)...)
	}
	m = append(m, 61)
	m = append(m, strings.Repeat("\x01", 61)...)
	m = append(m, 0, 0, 1, 0, 1)
	for range records {
		m = append(m, 0xc0, 12, 0, byte(dns.TypeSOA), 0, 1, 0, 0, 0, 60, 0, 24, 0xc0, 12, 0xc0, 12)
		m = append(m, make([]byte, 20)...)
	}
	return m
}

// TestMemory: what one message can make us hold.
func TestMemory(t *testing.T) {
	wire := bomb(maxRecords)
	if _, err := unpack(wire); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := unpack(wire)
	if err != nil {
		t.Fatal(err)
	}
	sorted := newMessage(m)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 1<<20 {
		t.Errorf("%d bytes of a message hold %d", len(wire), held)
	} else {
		t.Logf("%d bytes of a message hold %d", len(wire), held)
	}
	runtime.KeepAlive(sorted)
	runtime.KeepAlive(m)
	if _, err := unpack(bomb(maxRecords + 1)); err == nil {
		t.Error("one record more was read")
	}
}

func TestUnpack(t *testing.T) {
	for _, wire := range []string{"", "short", strings.Repeat("\xff", 12), strings.Repeat("\x00", 5) + "\x01" + strings.Repeat("\x00", 6)} {
		if m, err := unpack([]byte(wire)); err == nil || m != nil {
			t.Errorf("%q: %v", wire, m)
		}
	}
}

// TestUnpackHeader: a header that announces nothing is a whole message, and a byte less is none.
func TestUnpackHeader(t *testing.T) {
	header := make([]byte, 12)
	if m, err := unpack(header); err != nil || len(m.Answer) != 0 {
		t.Error(m, err)
	}
	if m, err := unpack(header[:11]); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Error(m, err)
	}
	unreadable := append([]byte{7: 1, 11: 0}, 0xff, 0xff)
	if m, err := unpack(unreadable); err == nil || !strings.Contains(err.Error(), "cannot be read") || errors.Unwrap(err) == nil {
		t.Error(m, err)
	}
	for section := 6; section < 12; section += 2 {
		for records, want := range map[uint16]string{maxRecords: "breaks off", maxRecords + 1: "more than 256 records"} {
			announcing := make([]byte, 12)
			binary.BigEndian.PutUint16(announcing[section:], records)
			if m, err := unpack(announcing); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d records at %d: %v, %v", records, section, m, err)
			}
		}
	}
}

// TestBrokenOff: a message that ends between two records is refused, not read as a smaller set.
func TestBrokenOff(t *testing.T) {
	t.Run("G19", func(t *testing.T) {
		m := new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA)
		m.Response = true
		for _, line := range []string{"www.example.com. 60 IN A 192.0.2.1", "www.example.com. 60 IN A 192.0.2.2"} {
			rr, err := dns.NewRR(line)
			if err != nil {
				t.Fatal(err)
			}
			m.Answer = append(m.Answer, rr)
		}
		wire, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		t.Run("accept-whole", func(t *testing.T) {
			if m, err := unpack(wire); err != nil || len(m.Answer) != 2 {
				t.Error(m, err)
			}
		})
		t.Run("reject-part", func(t *testing.T) {
			for end := range len(wire) {
				if m, err := unpack(wire[:end]); err == nil || m != nil {
					t.Errorf("%d of %d bytes were read", end, len(wire))
				}
			}
		})
	})
}

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

// TestHasDNSSEC: which records show that an upstream passes DNSSEC data on.
func TestHasDNSSEC(t *testing.T) {
	for line, want := range map[string]bool{
		"z. IN A 192.0.2.1": false, "z. IN SOA a. b. 1 2 3 4 5": false, "z. IN DNSKEY 257 3 15 AAAA": false,
		"z. IN NSEC a.z. A": true, "z. IN DS 1 13 2 00": true, strings.Repeat("0", 32) + ".z. IN NSEC3 1 0 0 - " + strings.Repeat("0", 32) + " A": true,
		"z. IN RRSIG A 15 1 60 20300101000000 20200101000000 1 z. AAAA": true,
	} {
		rrs := parsed(t, line)
		for section, m := range map[string]*dns.Msg{"answer": {Answer: rrs}, "authority": {Ns: rrs}} {
			if got := newMessage(m).hasDNSSEC(); got != want {
				t.Errorf("%s in the %s section: %v", line, section, got)
			}
		}
		if newMessage(&dns.Msg{Extra: rrs}).hasDNSSEC() {
			t.Errorf("%s in the additional section", line)
		}
	}
}

// TestSOAOf: the zone around a name is the closest one that the section has a SOA of.
func TestSOAOf(t *testing.T) {
	soas := parsed(t, "z. IN SOA a. b. 1 2 3 4 5", "b.z. IN SOA a. b. 1 2 3 4 5", "c.z. IN SOA a. b. 1 2 3 4 5", "a.b.z. IN NS a.")
	for n, want := range map[string]string{"a.b.z.": "b.z.", "b.z.": "b.z.", "d.z.": "z.", "y.": "", "b.zz.": ""} {
		for range 2 {
			slices.Reverse(soas)
			set := newMessage(&dns.Msg{Ns: soas}).authority.soaOf(wire(t, n))
			if (set != nil) != (want != "") || set != nil && set.owner != wire(t, want) {
				t.Errorf("%s: %+v, want %s", n, set, want)
			}
		}
	}
}

// TestUnsignedAbsence: without a SOA, only an empty reply is an absence.
func TestUnsignedAbsence(t *testing.T) {
	a, ns, txt := parsed(t, "z. IN A 192.0.2.1"), parsed(t, "z. IN NS a."), parsed(t, "z. IN TXT a")
	soa := newMessage(&dns.Msg{Ns: parsed(t, "z. IN SOA a. b. 1 2 3 4 5")}).authority.order[0]
	for name, c := range map[string]struct {
		m   dns.Msg
		soa *recordSet
		ok  bool
	}{
		"accept-empty":         {dns.Msg{}, nil, true},
		"accept-other-records": {dns.Msg{Ns: txt}, nil, true},
		"accept-soa":           {dns.Msg{Answer: a, Ns: ns}, soa, true},
		"reject-referral":      {dns.Msg{Ns: append(txt, ns...)}, nil, false},
		"reject-other-answer":  {dns.Msg{Answer: a}, nil, false},
	} {
		if err := newMessage(&c.m).checkAbsence(c.soa); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
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

// TestLeastTTL: a set lives as long as its record with the least TTL.
func TestLeastTTL(t *testing.T) {
	rrs := parsed(t, "z. 60 IN A 192.0.2.1", "z. 30 IN A 192.0.2.2", "z. 90 IN A 192.0.2.3")
	for range 2 {
		slices.Reverse(rrs)
		set := newMessage(&dns.Msg{Answer: rrs}).answer.find("\x01z\x00", dns.TypeA)
		if set == nil || set.ttl != 30 || len(set.rrs) != 3 {
			t.Errorf("%+v", set)
		}
	}
}

// TestSections: what counts as part of an answer at all.
func TestSections(t *testing.T) {
	t.Run("RFC1035-3.2.4", func(t *testing.T) {
		for name, c := range map[string]struct {
			line string
			want bool
		}{
			"accept-internet":     {"www.z. 60 IN A 192.0.2.1", true},
			"reject-other-class":  {"www.z. 60 CH TXT \"x\"", false},
			"reject-hesiod-class": {"www.z. 60 HS TXT \"x\"", false},
		} {
			t.Run(name, func(t *testing.T) {
				rr, err := dns.NewRR(c.line)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(newMessage(&dns.Msg{Answer: []dns.RR{rr}}).answer.order) == 1; got != c.want {
					t.Error(got)
				}
			})
		}
	})
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
