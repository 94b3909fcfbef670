package dnssec_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// FuzzLookup damages replies: each chunk of the fuzzed bytes names a kind of query, a place in
// the reply, and what to do there. Whatever comes of it, the answer to a signed question is the
// true one or an error.
func FuzzLookup(f *testing.F) {
	s := newSmall()
	truth := map[string]string{}
	questions := []string{"www.example.com", "nope.example.com", "alias.example.com", "www.plain.com"}
	for _, q := range questions {
		result, err := s.resolver(f, s).Lookup(context.Background(), q, dns.TypeA)
		truth[q] = outcome(result, err) + text(result)
	}
	f.Add(uint8(0), []byte{3, 0, 12, 1})
	f.Add(uint8(1), []byte{3, 0, 3, 0, 6, 0, 50, 255, 9, 1, 0, 0})
	f.Add(uint8(2), []byte{10, 0, 40, 128})
	f.Add(uint8(3), []byte{6, 0, 7, 3})
	f.Fuzz(func(t *testing.T, question uint8, damage []byte) {
		q := questions[int(question)%len(questions)]
		exchange := zone.Exchange(s)
		r := s.resolver(t, nil, func(o *dnssec.Options) {
			o.Exchange = func(ctx context.Context, query []byte) ([]byte, error) {
				reply, err := exchange(ctx, query)
				if err != nil {
					return nil, err
				}
				for d := damage; len(d) >= 4; d = d[4:] {
					if d[0] != kindOf(query) || len(reply) == 0 {
						continue
					}
					at := (int(d[1])<<8 | int(d[2])) % len(reply)
					switch d[3] {
					case 0: // cut off
						reply = reply[:at]
					case 1: // double what follows
						reply = append(reply, reply[at:]...)
					default:
						reply[at] ^= d[3]
					}
				}
				return reply, nil
			}
		})
		result, err := r.Lookup(context.Background(), q, dns.TypeA)
		got := outcome(result, err) + text(result)
		if err == nil && result.State == dnssec.Secure && got != truth[q] {
			t.Errorf("%s: %s, want %s", q, got, truth[q])
		}
		if err != nil && result != nil {
			t.Error("a result beside an error")
		}
	})
}

// kindOf numbers queries by their type and the depth of their name.
func kindOf(query []byte) byte {
	m := new(dns.Msg)
	if err := m.Unpack(query); err != nil {
		panic(err)
	}
	depth := byte(dns.CountLabel(m.Question[0].Name))
	switch m.Question[0].Qtype {
	case dns.TypeDS:
		return 4 + depth
	case dns.TypeDNSKEY:
		return 8 + depth
	}
	return depth
}

func text(r *dnssec.Result) string {
	out := ""
	if r != nil {
		for _, record := range r.Records {
			out += " " + record.Text
		}
	}
	return out
}

// FuzzReply answers every query of the resolver with arbitrary bytes.
func FuzzReply(f *testing.F) {
	s := newSmall()
	for _, name := range []string{"www.example.com.", "nope.example.com.", "."} {
		m := askSmall(s, name)
		wire, err := m.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := s.resolver(t, nil, func(o *dnssec.Options) {
			o.Exchange = func(_ context.Context, query []byte) ([]byte, error) {
				reply := append([]byte(nil), wire...)
				copy(reply, query[:2])
				return reply, nil
			}
		})
		result, err := r.Lookup(context.Background(), "www.example.com", dns.TypeA)
		if err == nil && result.State == dnssec.Secure && len(result.Records) != 2 {
			t.Error(result)
		}
	})
}

func askSmall(h zone.Handler, name string) *dns.Msg {
	q := new(dns.Msg).SetQuestion(name, dns.TypeA)
	q.SetEdns0(1232, true)
	return h.Handle(q)
}

// TestHostileWork: whatever the zone, a lookup ends within its budget and little processor time.
func TestHostileWork(t *testing.T) {
	w := newWorld(time.Unix(1.7e9, 0))
	for _, name := range []string{"www.keytrap.org", "www.sigtrap.org", "nope.keytrap.org", "nope.iter2500.org", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.nope.iter100.org"} {
		t.Run("G17", func(t *testing.T) {
			t.Run("reject-or-bound-"+name, func(t *testing.T) {
				r := w.resolver(t, w)
				before := w.Queries()
				result, err := r.Lookup(t.Context(), name, dns.TypeA)
				if err == nil && result.State == dnssec.Secure && len(result.Records) > 0 {
					t.Errorf("%v", result)
				}
				if n := w.Queries() - before; n > 64 {
					t.Errorf("%d queries", n)
				}
			})
		})
	}
}

// TestBudgets: each limit alone ends a lookup that needs more, and is neither bogus nor an absence.
func TestBudgets(t *testing.T) {
	w := newWorld(time.Unix(1.7e9, 0))
	for name, c := range map[string]struct {
		question, what string
		limits         dnssec.Limits
	}{
		"reject-queries":         {"www.nsec.org", "queries", dnssec.Limits{Queries: 3}},
		"reject-signatures":      {"www.nsec.org", "signature checks", dnssec.Limits{Signatures: 3}},
		"reject-failures":        {"www.sigtrap.org", "failed signature checks", dnssec.Limits{Failures: 2, SetFailures: 100}},
		"reject-set-failures":    {"www.sigtrap.org", "failed signature checks for one record set", dnssec.Limits{Failures: 100, SetFailures: 2}},
		"reject-keys-per-tag":    {"www.sigtrap.org", "keys with the same tag", dnssec.Limits{KeysPerTag: 2, Failures: 90, SetFailures: 90}},
		"reject-keys":            {"www.keytrap.org", "keys in a zone", dnssec.Limits{Keys: 5}},
		"reject-hashes":          {"nope.nsec3.com", "hashed names", dnssec.Limits{Hashes: 2}},
		"reject-hashes-of-a-cut": {"a.nope.nsec3.com", "hashed names", dnssec.Limits{Hashes: 1}},
		"reject-aliases":         {"cc.nsec.org", "aliases", dnssec.Limits{Aliases: 1}},
		"reject-endless-labels":  {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.www.nsec.org", "queries", dnssec.Limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			o := w.options(w)
			if name == "reject-endless-labels" || name == "reject-hashes-of-a-cut" {
				o = w.options(&zone.Mangler{Next: w, Edits: []zone.Edit{replace(c.question, dns.TypeA, rrs(c.question+". 60 IN A 192.0.2.66"), nil, 0)}})
			}
			o.Limits = c.limits
			r, err := dnssec.New(o)
			if err != nil {
				t.Fatal(err)
			}
			result, err := r.Lookup(t.Context(), c.question, dns.TypeA)
			var budget *dnssec.BudgetError
			if !errors.As(err, &budget) || result != nil || budget.What != c.what {
				t.Errorf("%v %v", result, err)
			}
		})
	}
}
