package zone_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/test/zone"
)

func plain() *zone.Server {
	return zone.NewServer(nil,
		zone.New("com"),
		zone.New("example.com").
			TXT("_anml", "v=anml1; ", "a\\b\"c\x01").
			A("www", "192.0.2.1").A("www", "2001:db8::1").
			CNAME("alias", "www").CNAME("far", "deep.example.net.").CNAME("loop", "loop").
			A("*.wild", "192.0.2.2").
			SRV("_x._tcp", 1, 2, 443, "www").
			DNAME("moved", "example.net.").
			RR("a.b.c 60 IN CAA 0 issue \"x\""),
		zone.New("example.net").A("deep", "192.0.2.3"),
	)
}

func ask(h zone.Handler, name string, rrtype uint16) *dns.Msg {
	return h.Handle(new(dns.Msg).SetQuestion(name, rrtype))
}

func TestHandlePlain(t *testing.T) {
	s := plain()
	for _, c := range []struct {
		name   string
		rrtype uint16
		rcode  int
		answer int
	}{
		{"_anml.example.com.", dns.TypeTXT, dns.RcodeSuccess, 1},
		{"WWW.example.com.", dns.TypeA, dns.RcodeSuccess, 1},
		{"www.example.com.", dns.TypeAAAA, dns.RcodeSuccess, 1},
		{"www.example.com.", dns.TypeTXT, dns.RcodeSuccess, 0},
		{"alias.example.com.", dns.TypeA, dns.RcodeSuccess, 2},
		{"far.example.com.", dns.TypeA, dns.RcodeSuccess, 2},
		{"loop.example.com.", dns.TypeA, dns.RcodeSuccess, 16},
		{"deep.moved.example.com.", dns.TypeA, dns.RcodeSuccess, 3},
		{"any.wild.example.com.", dns.TypeA, dns.RcodeSuccess, 1},
		{"a.any.wild.example.com.", dns.TypeA, dns.RcodeSuccess, 1},
		{"b.c.example.com.", dns.TypeA, dns.RcodeSuccess, 0}, // empty non-terminal
		{"none.example.com.", dns.TypeA, dns.RcodeNameError, 0},
		{"example.org.", dns.TypeA, dns.RcodeNameError, 0},
		{"_x._tcp.example.com.", dns.TypeSRV, dns.RcodeSuccess, 1},
		{"example.com.", dns.TypeDS, dns.RcodeSuccess, 0},
		{".", dns.TypeSOA, dns.RcodeSuccess, 1},
	} {
		m := ask(s, c.name, c.rrtype)
		if m.Rcode != c.rcode || len(m.Answer) != c.answer {
			t.Errorf("%s %s: %v", c.name, dns.TypeToString[c.rrtype], m)
		}
	}
	if n := s.Queries(); n != 16 {
		t.Errorf("%d queries", n)
	}
}

func TestPut(t *testing.T) {
	s := plain()
	s.Put(zone.New("example.org").A("@", "192.0.2.9"))
	if m := ask(s, "example.org.", dns.TypeA); len(m.Answer) != 1 {
		t.Error(m)
	}
}

func TestSockets(t *testing.T) {
	l, err := zone.Listen(plain())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, network := range []string{"udp", "tcp"} {
		client := &dns.Client{Net: network, Timeout: time.Hour}
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA), l.Addr)
		if err != nil || len(m.Answer) != 1 {
			t.Error(network, m, err)
		}
	}
}

func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &zone.Mangler{Next: plain(), Edits: []zone.Edit{
			zone.On("slow.example.com", 0, zone.Delay(time.Minute)), zone.On("lost.example.com", 0, zone.Drop()),
		}}
		for _, network := range []string{"udp", "tcp"} {
			nc, err := zone.Dial(s)(t.Context(), network, "anything:53")
			if err != nil {
				t.Fatal(err)
			}
			conn := &dns.Conn{Conn: nc}
			for name, rcode := range map[string]int{"www.example.com.": 0, "slow.example.com.": dns.RcodeNameError} {
				if err := conn.WriteMsg(new(dns.Msg).SetQuestion(name, dns.TypeA)); err != nil {
					t.Fatal(err)
				}
				m, err := conn.ReadMsg()
				if err != nil || m.Rcode != rcode {
					t.Error(network, m, err)
				}
			}
			conn.SetDeadline(time.Now().Add(time.Second))
			conn.WriteMsg(new(dns.Msg).SetQuestion("lost.example.com.", dns.TypeA))
			if m, err := conn.ReadMsg(); err == nil {
				t.Error(network, m)
			}
			conn.Close()
		}
	})
}

func TestTruncation(t *testing.T) {
	z := zone.New("example.com")
	for range 40 {
		z.TXT("big", "0123456789012345678901234567890123456789")
	}
	l, err := zone.Listen(zone.NewServer(nil, z))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	q := new(dns.Msg).SetQuestion("big.example.com.", dns.TypeTXT)
	m, _, err := (&dns.Client{Timeout: time.Hour}).Exchange(q, l.Addr)
	if err != nil || !m.Truncated || len(m.Answer) != 0 {
		t.Error(m, err)
	}
	m, _, err = (&dns.Client{Net: "tcp", Timeout: time.Hour}).Exchange(q, l.Addr)
	if err != nil || m.Truncated || len(m.Answer) != 40 {
		t.Error(m, err)
	}
}

func TestExchange(t *testing.T) {
	s := &zone.Mangler{Next: plain(), Edits: []zone.Edit{zone.On("lost.example.com", 0, zone.Drop())}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, want := range map[string]bool{"www.example.com.": true, "lost.example.com.": false} {
		wire, err := new(dns.Msg).SetQuestion(name, dns.TypeA).Pack()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := zone.Exchange(s)(ctx, wire); (err == nil) != want || (out != nil) != want {
			t.Error(name, out, err)
		}
	}
}
