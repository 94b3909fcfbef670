package dnssec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/flight"
)

// TestMixedDenial: what NSEC records prove does not count when the budget ends at NSEC3 records next
// to them, and nothing is hashed for an absence that they prove.
func TestMixedDenial(t *testing.T) {
	s := newSigner(t, "z.")
	unchanged := func(*dns.RRSIG) {}
	hash := dns.HashName("z.", dns.SHA1, 0, "")
	hashed := s.set(t, []string{fmt.Sprintf("%s.z. NSEC3 1 0 0 - %s NS SOA", hash, hash)}, unchanged)
	exists := s.set(t, []string{"a.z. NSEC b.z. A"}, unchanged)
	denied := s.set(t, []string{"z. NSEC b.z. SOA NS"}, unchanged)
	soa := s.set(t, []string{"z. SOA a. b. 1 2 3 4 300"}, func(r *dns.RRSIG) { r.OrigTtl = 60 })
	for name, c := range map[string]struct {
		sets     []*recordSet
		nxdomain bool
		hashes   int
		ok       bool
		exists   bool
		ttl      uint32
	}{
		"accept-nodata":                           {[]*recordSet{exists, hashed}, false, 9, true, true, 0},
		"accept-nxdomain-after-one-hash":          {[]*recordSet{denied, hashed}, true, 1, true, false, 0},
		"accept-least-ttl-of-the-soa":             {[]*recordSet{denied, soa}, true, 0, true, false, 60},
		"reject-nxdomain-that-needs-another-hash": {[]*recordSet{exists, hashed}, true, 1, false, false, 0},
		"reject-nodata-that-needs-a-hash":         {[]*recordSet{exists, hashed}, false, 0, false, false, 0},
	} {
		t.Run("G17/"+name, func(t *testing.T) {
			b := newBudget(Limits{}.withDefaults())
			b.limits.Hashes = c.hashes
			l := &lookup{now: time.Unix(1500, 0), b: b}
			zone := &zoneState{zone: s.zone, kind: zoneSigned, keys: s.keys, ttl: 1 << 20}
			m := &message{nxdomain: c.nxdomain, authority: section{order: c.sets}}
			f, err := l.judgeDenial(wire(t, "a.z."), dns.TypeMX, m, m.authority.soaOf(wire(t, "a.z.")), zone)
			var over *BudgetError
			if (err == nil) != c.ok || !c.ok && !errors.As(err, &over) || c.ok && (f.state != Secure || f.exists != c.exists || f.ttl != c.ttl) {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

// TestNegativeTTL: an absence is kept for the lesser of the SOA's two lifetimes, and not at all
// without one.
func TestNegativeTTL(t *testing.T) {
	for name, c := range map[string]struct {
		set  *recordSet
		want uint32
	}{
		"none":       {nil, 0},
		"minimum":    {&recordSet{ttl: 9, rrs: []dns.RR{&dns.SOA{Minttl: 7}}}, 7},
		"ttl":        {&recordSet{ttl: 5, rrs: []dns.RR{&dns.SOA{Minttl: 7}}}, 5},
		"unreadable": {&recordSet{ttl: 5, rrs: []dns.RR{&dns.RFC3597{}}}, 0},
	} {
		if got := negativeTTL(c.set); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestExplain: an error that callers share is completed for each, and the end of the lookup's own
// time is told from the end of the caller's.
func TestExplain(t *testing.T) {
	r := &Resolver{limits: Limits{}.withDefaults()}
	q := question{wire(t, "www.z."), dns.TypeA}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	late := fmt.Errorf("asking: %w", context.DeadlineExceeded)
	asked := &ServerError{Question: "z DNSKEY", Reason: "no reply", Err: context.DeadlineExceeded}
	none := &NoServerError{}
	for name, c := range map[string]struct {
		ctx       context.Context
		err, same error  // same: returned as it is
		words     string // of the error otherwise
	}{
		"accept-question-of-a-server-error":  {t.Context(), &ServerError{Reason: "no reply"}, nil, "www.z A"},
		"accept-other-question":              {t.Context(), asked, asked, ""},
		"accept-name-of-a-bogus-error":       {t.Context(), &BogusError{Zone: "z"}, nil, "www.z: DNSSEC"},
		"accept-name-of-a-budget-error":      {t.Context(), &BudgetError{What: "aliases"}, nil, "looking up www.z "},
		"accept-end-of-the-lookups-own-time": {t.Context(), late, nil, "no answer within 10s"},
		"accept-end-of-the-callers-time":     {over, late, late, ""},
		"accept-no-server":                   {t.Context(), none, none, ""},
	} {
		text := c.err.Error()
		got := r.explain(c.ctx, q, c.err)
		if c.same != nil && got != c.same || c.same == nil && !strings.Contains(got.Error(), c.words) || c.err.Error() != text {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAhead: a panic of work that was begun ahead is its error.
func TestAhead(t *testing.T) {
	_, err := ahead(func() (int, error) { panic("boom") })()
	var panicked *flight.PanicError
	if !errors.As(err, &panicked) || panicked.Value != "boom" || len(panicked.Stack) == 0 {
		t.Errorf("%v", err)
	}
	if got, err := ahead(func() (int, error) { return 7, nil })(); got != 7 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

// TestMalformedRecords: a record without its data is no result. Package dns reads one that has no
// bytes of data at all.
func TestMalformedRecords(t *testing.T) {
	t.Run("RFC1035-4.1.3", func(t *testing.T) {
		for name, c := range map[string]struct {
			rr   dns.RR
			want bool
		}{
			"accept-a":                     {parsed(t, "z. A 192.0.2.1")[0], true},
			"accept-target-of-the-root":    {parsed(t, "z. SRV 0 0 0 .")[0], true},
			"reject-a-without-data":        {&dns.A{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeA, Class: dns.ClassINET}}, false},
			"reject-aaaa-without-data":     {&dns.AAAA{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeAAAA, Class: dns.ClassINET}}, false},
			"reject-srv-without-data":      {&dns.SRV{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeSRV, Class: dns.ClassINET}}, false},
			"reject-text-of-256-bytes":     {&dns.TXT{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{strings.Repeat("x", 256)}}, false},
			"accept-text-of-255-bytes":     {&dns.TXT{Hdr: dns.RR_Header{Name: "z.", Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{strings.Repeat("x", 255)}}, true},
			"accept-text-of-empty-strings": {parsed(t, `z. TXT "" ""`)[0], true},
		} {
			t.Run(name, func(t *testing.T) {
				result, err := newResult(wire(t, "z."), []dns.RR{c.rr}, &finding{ttl: math.MaxInt32})
				var server *ServerError
				if (err == nil) != c.want || (result != nil) != c.want || !c.want && !errors.As(err, &server) {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
	})
}
