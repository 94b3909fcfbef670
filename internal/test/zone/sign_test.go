package zone_test

import (
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// signed checks every signed set of a reply with the keys that the server serves.
func signed(t *testing.T, s *zone.Server, m *dns.Msg) int {
	t.Helper()
	checked := 0
	rrs := append(m.Answer, m.Ns...)
	for _, rr := range rrs {
		sig, ok := rr.(*dns.RRSIG)
		if !ok {
			continue
		}
		var set []dns.RR
		for _, other := range rrs {
			if h := other.Header(); h.Name == sig.Hdr.Name && h.Rrtype == sig.TypeCovered {
				set = append(set, other)
			}
		}
		good := false
		for _, k := range ask(s, sig.SignerName, dns.TypeDNSKEY).Answer {
			key := k.(*dns.DNSKEY)
			good = good || sig.Verify(key, set) == nil
		}
		if !good {
			t.Errorf("no key verifies %v", sig)
		}
		checked++
	}
	return checked
}

func askDO(h zone.Handler, name string, rrtype uint16) *dns.Msg {
	q := new(dns.Msg).SetQuestion(name, rrtype)
	q.SetEdns0(1232, true)
	return h.Handle(q)
}

func TestSignedZones(t *testing.T) {
	for _, algorithm := range []uint8{5, 8, 10, 13, 14, 15} {
		for _, nsec3 := range []*zone.NSEC3{nil, {Salt: "aabb", Iterations: 3}, {OptOut: true}} {
			s := zone.NewServer(func() time.Time { return time.Unix(1e9, 0) },
				zone.New(".").Sign(zone.Signing{}),
				zone.New("com").Sign(zone.Signing{NSEC3: nsec3}),
				zone.New("plain.com"),
				zone.New("example.com").Sign(zone.Signing{Algorithms: []uint8{algorithm}, NSEC3: nsec3, SplitKeys: true}).
					A("www", "192.0.2.1").A("*.wild", "192.0.2.2").A("a.b.ent", "192.0.2.3"),
			)
			for _, c := range []struct {
				name          string
				rrtype        uint16
				nsec, hashed  int
				opted         int
				answer, rcode int
			}{
				{"www.example.com.", dns.TypeA, 0, 0, 0, 2, 0},
				{"www.example.com.", dns.TypeTXT, 1, 1, 1, 0, 0},
				{"ent.example.com.", dns.TypeTXT, 1, 1, 1, 0, 0},
				{"x.wild.example.com.", dns.TypeA, 1, 1, 1, 2, 0},
				{"x.wild.example.com.", dns.TypeTXT, 2, 3, 3, 0, 0},
				{"none.example.com.", dns.TypeA, 2, 3, 3, 0, dns.RcodeNameError},
				{"plain.com.", dns.TypeDS, 1, 1, 2, 0, 0},
				{"example.com.", dns.TypeDS, 0, 0, 0, 2, 0},
				{"com.", dns.TypeDNSKEY, 0, 0, 0, 2, 0},
			} {
				m := askDO(s, c.name, c.rrtype)
				want := c.nsec
				if nsec3 != nil {
					want = c.hashed
					if nsec3.OptOut {
						want = c.opted
					}
				}
				denials := 0
				for _, rr := range m.Ns {
					if tt := rr.Header().Rrtype; tt == dns.TypeNSEC || tt == dns.TypeNSEC3 {
						denials++
					}
				}
				if len(m.Answer) != c.answer || m.Rcode != c.rcode || denials > want || denials == 0 && want > 0 {
					t.Errorf("%s %s: %d denial records: %v", c.name, dns.TypeToString[c.rrtype], denials, m)
				}
				if signed(t, s, m) == 0 {
					t.Errorf("nothing signed: %v", m)
				}
			}
		}
	}
}

func TestKeyTrap(t *testing.T) {
	z := zone.New("trap.example").Sign(zone.Signing{Algorithms: []uint8{dns.RSASHA256}}).
		KeyTrap(20, 10).A("@", "192.0.2.1")
	s := zone.NewServer(nil, z)
	tags := map[uint16]int{}
	for _, rr := range ask(s, "trap.example.", dns.TypeDNSKEY).Answer {
		tags[rr.(*dns.DNSKEY).KeyTag()]++
	}
	if len(tags) != 1 {
		t.Error(tags)
	}
	if m := askDO(s, "trap.example.", dns.TypeA); len(m.Answer) != 12 {
		t.Error(m)
	}
}

func TestMangler(t *testing.T) {
	s := zone.NewServer(nil, zone.New(".").Sign(zone.Signing{}).A("www", "192.0.2.1"))
	m := &zone.Mangler{Next: s, Edits: []zone.Edit{
		zone.On("www", dns.TypeA, zone.StripDNSSEC(), zone.Truncate(1)),
		zone.On("www", dns.TypeTXT, zone.Drop()),
		zone.Below("x", zone.Rcode(dns.RcodeRefused)),
	}}
	if r := askDO(m, "www.", dns.TypeA); len(r.Answer) != 1 || !r.Truncated {
		t.Error(r)
	}
	if r := askDO(m, "www.", dns.TypeTXT); r != nil {
		t.Error(r)
	}
	if r := askDO(m, "y.x.", dns.TypeTXT); r.Rcode != dns.RcodeRefused {
		t.Error(r)
	}
	if r := askDO(s, "www.", dns.TypeA); len(r.Answer) != 2 {
		t.Error(r)
	}
}
