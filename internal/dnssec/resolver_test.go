package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// small is a signed root, TLD and leaf under a clock that tests move.
type small struct {
	*zone.Server
	root, leaf *zone.Zone
	now        time.Time
}

func newSmall() *small {
	s := &small{
		root: zone.New(".").Sign(zone.Signing{}),
		leaf: zone.New("example.com").Sign(zone.Signing{}).
			TXT("_anml", "v=anml1; ", "manifest=\"x\\y\"\x00\xff").TXT("_anml", "second").
			TTL(100*time.Second).A("www", "192.0.2.1").A("www", "192.0.2.2").
			TTL(50*time.Second).CNAME("alias", "www").
			TTL(48*time.Hour).A("long", "192.0.2.3").
			SRV("_s._tcp", 10, 20, 443, "Host").SRV("_none._tcp", 0, 0, 0, "."),
		now: time.Unix(1.7e9, 0),
	}
	s.Server = zone.NewServer(func() time.Time { return s.now }, s.root, zone.New("com").Sign(zone.Signing{}), s.leaf,
		zone.New("plain.com").A("www", "192.0.2.9"))
	return s
}

func (s *small) resolver(t testing.TB, h zone.Handler, change ...func(*dnssec.Options)) *dnssec.Resolver {
	t.Helper()
	o := dnssec.Options{Anchors: s.root.Anchor(), Now: func() time.Time { return s.now }, Exchange: zone.Exchange(h)}
	for _, c := range change {
		c(&o)
	}
	r, err := dnssec.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChain(t *testing.T) {
	s := newSmall()
	r := s.resolver(t, s)
	for name, want := range map[string]string{
		"www.example.com": ". secure, com secure, example.com secure",
		"www.plain.com":   ". secure, com secure, plain.com insecure",
	} {
		result, err := r.Lookup(t.Context(), name, dns.TypeA)
		if err != nil {
			t.Fatal(err)
		}
		var links []string
		for _, l := range result.Chain {
			links = append(links, l.Zone+" "+l.State.String())
			if l.Zone == "plain.com" && l.Reason != "com. proves that plain.com. has no DS record" {
				t.Error(l.Reason)
			}
			if (l.State == dnssec.Secure) != (l.KeyTag != 0) || (l.State == dnssec.Secure) == (l.Reason != "") {
				t.Errorf("%s: link %+v", name, l)
			}
		}
		if got := strings.Join(links, ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.Delay(100 * time.Millisecond)}})
		impatient, cancel := context.WithCancel(t.Context())
		var good, cancelled atomic.Int32
		var group sync.WaitGroup
		for i := range 1000 {
			group.Go(func() {
				ctx := t.Context()
				if i%2 == 0 {
					ctx = impatient
				}
				result, err := r.Lookup(ctx, "www.example.com", dns.TypeA)
				switch {
				case err == nil && result.State == dnssec.Secure:
					good.Add(1)
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				default:
					t.Error(outcome(result, err), err)
				}
			})
		}
		time.Sleep(250 * time.Millisecond)
		cancel()
		group.Wait()
		if good.Load() != 500 || cancelled.Load() != 500 {
			t.Errorf("%d answered and %d cancelled", good.Load(), cancelled.Load())
		}
		if n := s.Queries(); n > 6 {
			t.Errorf("%d queries for one question", n)
		}
	})
}

// TestBogusKeepsCache: a bogus answer is an error each time, and what was validated before stays.
func TestBogusKeepsCache(t *testing.T) {
	s := newSmall()
	attack := &zone.Mangler{Next: s}
	r := s.resolver(t, attack)
	ctx := t.Context()
	if _, err := r.Lookup(ctx, "www.example.com", dns.TypeA); err != nil {
		t.Fatal(err)
	}
	attack.Edits = []zone.Edit{zone.StripDNSSEC()}
	for range 2 {
		before := s.Queries()
		if result, err := r.Refresh(ctx, "www.example.com", dns.TypeA); outcome(result, err) != "bogus" || s.Queries() == before {
			t.Error(outcome(result, err), err)
		}
	}
	if result, err := r.Lookup(ctx, "www.example.com", dns.TypeA); outcome(result, err) != "secure" {
		t.Error(outcome(result, err), err)
	}
}

func TestRequireValidation(t *testing.T) {
	s := newSmall()
	r := s.resolver(t, &zone.Mangler{Next: s, Edits: []zone.Edit{zone.StripDNSSEC()}}, func(o *dnssec.Options) { o.RequireValidation = true })
	if _, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA); !errors.Is(err, dnssec.ErrNotValidated) {
		t.Error(err)
	}
	r = s.resolver(t, s, func(o *dnssec.Options) { o.RequireValidation = true })
	if result, err := r.Lookup(t.Context(), "www.plain.com", dns.TypeA); outcome(result, err) != "insecure" {
		t.Error(err)
	}
}

func TestBogusError(t *testing.T) {
	w := newWorld(time.Unix(1.7e9, 0))
	for _, c := range []struct {
		question, zone string
		ede            uint16
		edits          []zone.Edit
	}{
		{"www.expired.org", "expired.org", dnssec.EDEExpired, nil},
		{"www.future.org", "future.org", dnssec.EDENotYetValid, nil},
		{"www.wrongds.org", "wrongds.org", dnssec.EDEKeyMissing, nil},
		{"www.nsec.org", "nsec.org", dnssec.EDEBogus, []zone.Edit{zone.On("www.nsec.org", 0, zone.BreakSignatures(dns.TypeA))}},
		{"www.nsec.org", "nsec.org", dnssec.EDESignatureAbsent, []zone.Edit{zone.On("www.nsec.org", dns.TypeA, zone.Strip(dns.TypeRRSIG))}},
		{"nope.nsec.org", "nsec.org", dnssec.EDEDenialMissing, []zone.Edit{zone.On("nope.nsec.org", 0, zone.StripDNSSEC())}},
		{"nope.nsec.org", "nsec.org", dnssec.EDEDenialMissing, []zone.Edit{zone.On("nope.nsec.org", 0, zone.Strip(dns.TypeNSEC))}},
		{"www.nsec.org", "org", dnssec.EDEBogus, []zone.Edit{zone.On("nsec.org", 0, zone.BreakSignatures(dns.TypeDS))}},
		{"www.nsec.org", "org", dnssec.EDEDenialMissing, []zone.Edit{zone.On("nsec.org", dns.TypeDS, zone.Strip(dns.TypeRRSIG))}},
		{"www.plain.org", "org", dnssec.EDEBogus, []zone.Edit{zone.On("plain.org", dns.TypeDS, zone.BreakSignatures(dns.TypeNSEC))}},
		{"www.plain.org", "org", dnssec.EDEDenialMissing, []zone.Edit{replace("plain.org", dns.TypeDS, nil, w.get("island.org", dns.TypeDS).Ns, 0)}},
		{"www.moved.nsec.org", "nsec.org", dnssec.EDESignatureAbsent, []zone.Edit{
			replace("www.moved.nsec.org", dns.TypeA, rrs("www.moved.nsec.org. 60 IN A 192.0.2.66"), nil, 0)}},
	} {
		r := w.resolver(t, &zone.Mangler{Next: w, Edits: c.edits})
		_, err := r.Lookup(t.Context(), c.question, dns.TypeA)
		var bogus *dnssec.BogusError
		if !errors.As(err, &bogus) || bogus.Zone != c.zone || bogus.EDE != c.ede || bogus.Name != c.question {
			t.Errorf("%s: %v, want zone %s, EDE %d", c.question, err, c.zone, c.ede)
		}
		if c.question == "www.wrongds.org" && !strings.Contains(fmt.Sprint(err), "none of its keys is one that the parent's DS") {
			t.Error(err)
		}
	}
}

func TestNames(t *testing.T) {
	s := newSmall()
	r := s.resolver(t, s)
	long := strings.Repeat("a.", 127)
	for _, name := range []string{"", "a b", "a\\.b", "a\x00b", "é.example", "a..b", strings.Repeat("a", 64), long + "a.b", "a@b", "(a)", "a;b"} {
		var bad *dnssec.NameError
		if _, err := r.Lookup(t.Context(), name, dns.TypeA); !errors.As(err, &bad) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"WWW.Example.COM.", ".", strings.TrimSuffix(long, "."), "*.example.com", "_a-b.example.com"} {
		if _, err := r.Lookup(t.Context(), name, dns.TypeA); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	var bad *dnssec.NameError
	if _, err := r.Lookup(t.Context(), "example.com", dns.TypeANY); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// TestErrorsAreNoAbsence: what goes wrong upstream never reads as a missing record.
func TestErrorsAreNoAbsence(t *testing.T) {
	for _, code := range []int{dns.RcodeServerFailure, dns.RcodeRefused, dns.RcodeFormatError, dns.RcodeNotImplemented, dns.RcodeYXDomain, dns.RcodeBadVers} {
		for _, target := range []string{"www.example.com", "example.com", "com", "."} {
			s := newSmall()
			failing := &zone.Mangler{Next: s, Edits: []zone.Edit{zone.On(target, 0, zone.Rcode(code))}}
			result, err := s.resolver(t, failing).Lookup(t.Context(), "www.example.com", dns.TypeA)
			var server *dnssec.ServerError
			if !errors.As(err, &server) || result != nil {
				t.Errorf("%s %s: %v %v", target, dns.RcodeToString[code], result, err)
			}
		}
	}
}

func TestSlowUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSmall()
		r := s.resolver(t, s, func(o *dnssec.Options) {
			o.Exchange = func(ctx context.Context, _ []byte) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		begin := time.Now()
		result, err := r.Lookup(t.Context(), "www.example.com", dns.TypeA)
		if outcome(result, err) != "server" || time.Since(begin) > 10*time.Second {
			t.Error(outcome(result, err), err, time.Since(begin))
		}
	})
}
