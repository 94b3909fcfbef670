package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestResolver tests an implementation of [lookleap.Resolver]. Open returns one that asks
// the DNS of an internet, whatever the address of the server, with the DialContext and the
// Anchors of its ResolverOptions.
func TestResolver(t *testing.T, open func(t testing.TB, n *Internet) lookleap.Resolver) {
	t.Helper()
	testContract(t, overInternet(open), resolverPromises)
}

type openResolver = func(testing.TB, *Internet) lookleap.Resolver

var resolverPromises = []promise[openResolver]{
	{"records", "Lookup returns all records of the type: addresses, SRV, and TXT with its strings joined", "",
		ofResolver(resolverScript.records)},
	{"aliases", "the answer for an alias has the records of its target and names their owner, unless the resolver " +
		"does not validate and names the alias; it is secure only if each zone on the way is", "",
		ofResolver(resolverScript.aliases)},
	{"missing-record", "a missing name or record is an answer without records, and no error", "",
		ofResolver(resolverScript.missing)},
	{"failures-are-errors", "a server that fails, refuses or does not answer is an error, and never a missing record", "",
		ofResolver(resolverScript.failures)},
	{"dnssec", "an answer is secure only if its signatures are valid; invalid ones are an ErrBogus, or the answer is " +
		"indeterminate; the answer of a signed zone is not insecure", "", ofResolver(resolverScript.signed)},
	{"ttl", "the TTL of an answer is at most that of its records", "", ofResolver(resolverScript.ttl)},
	{"cancellation", "Lookup returns an error when the context ends", "", ofResolver(resolverScript.cancelled)},
	{"concurrent-use", "concurrent calls return the answers to their own questions", "",
		ofResolver(resolverScript.concurrently)},
}

// resolverScript is a resolver on an internet.
type resolverScript struct {
	*trial[openResolver]
	net      *Internet
	resolver lookleap.Resolver
}

func ofResolver(verify func(resolverScript)) func(*trial[openResolver]) {
	return func(r *trial[openResolver]) {
		n := ForTest(r)
		verify(resolverScript{r, n, r.open()(r.TB, n)})
	}
}

func (s resolverScript) lookup(name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return attempt(&s.probe, func(ctx context.Context) (*lookleap.DNSAnswer, error) {
		return s.resolver.Lookup(ctx, name, t)
	})
}

// fails returns the error of a lookup with a short deadline, or with a context that has ended.
func (s resolverScript) fails(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, s.patience/50)
	defer cancel()
	_, err := attemptIn(&s.probe, ctx, func(ctx context.Context) (any, error) {
		return s.resolver.Lookup(ctx, name, lookleap.TypeA)
	})
	return err
}

// finds checks the records of an answer, in any order.
func (s resolverScript) finds(name string, t lookleap.RRType, want ...lookleap.Record) *lookleap.DNSAnswer {
	s.Helper()
	answer, err := s.lookup(name, t)
	if err != nil || answer == nil {
		s.broken("Lookup(%s, %v) returned %v and the error %v", name, t, answer, err)
	}
	form := func(r lookleap.Record) string {
		if r.SRV != nil {
			return fmt.Sprintf("%+v", *r.SRV)
		}
		return r.Text + r.Addr.String()
	}
	found := map[string]int{}
	for _, r := range answer.Records {
		found[form(r)]++
	}
	for _, r := range want {
		found[form(r)]--
	}
	for record, n := range found {
		if n != 0 {
			s.broken("Lookup(%s, %v) returned %d of %q too many or too few", name, t, n, record)
		}
	}
	return answer
}

func (s resolverScript) records() {
	s.net.Name("shop.example", "93.184.217.1", "93.184.217.2", "2606:2800:220:1::1").
		TXT("first ", "part").TXT("v=b; \\ \"c\"")
	s.net.Name("_svc._tcp.shop.example").SRV(1, 2, 8443, "api.shop.example")
	s.finds("shop.example", lookleap.TypeA,
		lookleap.Record{Addr: netip.MustParseAddr("93.184.217.1")},
		lookleap.Record{Addr: netip.MustParseAddr("93.184.217.2")})
	s.finds("shop.example", lookleap.TypeAAAA, lookleap.Record{Addr: netip.MustParseAddr("2606:2800:220:1::1")})
	s.finds("shop.example", lookleap.TypeTXT, lookleap.Record{Text: "first part"}, lookleap.Record{Text: "v=b; \\ \"c\""})
	s.finds("_svc._tcp.shop.example", lookleap.TypeSRV,
		lookleap.Record{SRV: &lookleap.SRV{Priority: 1, Weight: 2, Port: 8443, Target: "api.shop.example"}})
}

func (s resolverScript) aliases() {
	s.net.Sign("signed.example").Name("alias.signed.example").CNAME("www.signed.example")
	s.net.Name("www.signed.example").TXT("signed")
	s.net.Name("out.signed.example").CNAME("www.unsigned.example")
	s.net.Name("www.unsigned.example").TXT("unsigned")
	for alias, target := range map[string]string{"alias.signed.example": "signed", "out.signed.example": "unsigned"} {
		got := s.finds(alias, lookleap.TypeTXT, lookleap.Record{Text: target})
		owner := "www." + target + ".example"
		if !got.Exists || got.Name != owner && (got.Name != alias || got.DNSSEC == lookleap.Secure) {
			s.broken("the answer for %s, an alias of %s, is %+v", alias, owner, got)
		}
		if target == "unsigned" && got.DNSSEC == lookleap.Secure {
			s.broken("the answer of an unsigned zone behind an alias in a signed one is secure")
		}
	}
}

func (s resolverScript) missing() {
	s.net.Name("shop.example", "93.184.217.1")
	s.finds("shop.example", lookleap.TypeTXT)
	if s.finds("missing.shop.example", lookleap.TypeTXT).Exists {
		s.broken("a name that does not exist is reported to exist")
	}
}

func (s resolverScript) failures() {
	s.net.Name("a.example", "93.184.217.1").ServFail()
	s.net.Name("b.example", "93.184.217.1").Refuse()
	s.net.Name("c.example", "93.184.217.1").Drop()
	hosts := map[string]string{"fails": "a.example", "refuses": "b.example", "does not answer": "c.example"}
	for what, host := range hosts {
		err := s.fails(context.Background(), host)
		if err == nil || errors.Is(err, errHung) || errors.Is(err, lookleap.ErrBogus) {
			s.broken("for a server that %s, Lookup returned the error %v", what, err)
		}
	}
}

func (s resolverScript) signed() {
	s.net.Name("unsigned.example").TXT("text")
	s.net.Sign("forged.example", SignaturesForged).Name("forged.example").TXT("text")
	s.net.Sign("lapsed.example", SignaturesExpired).Name("lapsed.example").TXT("text")
	if got := s.finds("unsigned.example", lookleap.TypeTXT, lookleap.Record{Text: "text"}); got.DNSSEC == lookleap.Secure {
		s.broken("the answer of an unsigned zone is secure")
	}
	s.net.Sign("signed.example").Name("signed.example").TXT("text")
	if got := s.finds("signed.example", lookleap.TypeTXT, lookleap.Record{Text: "text"}); got.DNSSEC == lookleap.Insecure {
		s.broken("the answer of a signed zone is insecure")
	}
	for _, name := range []string{"forged.example", "lapsed.example"} {
		answer, err := s.lookup(name, lookleap.TypeTXT)
		if err == nil && answer.DNSSEC != lookleap.Indeterminate || err != nil && !errors.Is(err, lookleap.ErrBogus) {
			s.broken("Lookup(%s) returned %+v and the error %v", name, answer, err)
		}
	}
}

func (s resolverScript) ttl() {
	s.net.Name("short.example").TXT("text").TTL(30 * time.Second)
	if got := s.finds("short.example", lookleap.TypeTXT, lookleap.Record{Text: "text"}); got.TTL < 0 ||
		got.TTL > 30*time.Second {
		s.broken("the answer with a record of 30 s has the TTL %v", got.TTL)
	}
}

func (s resolverScript) cancelled() {
	s.net.Name("shop.example", "93.184.217.1").Delay(time.Hour)
	for _, ctx := range []context.Context{cancelled(), context.Background()} {
		if err := s.fails(ctx, "shop.example"); err == nil || errors.Is(err, errHung) {
			s.broken("Lookup returned %v", err)
		}
	}
}

func (s resolverScript) concurrently() {
	for i := range 16 {
		s.net.Name(fmt.Sprintf("n%d.shop.example", i)).TXT(fmt.Sprint("text ", i))
	}
	s.together(16, func(ctx context.Context, i int) error {
		answer, err := s.resolver.Lookup(ctx, fmt.Sprintf("n%d.shop.example", i), lookleap.TypeTXT)
		if err == nil && (len(answer.Records) != 1 || answer.Records[0].Text != fmt.Sprint("text ", i)) {
			err = fmt.Errorf("the answer was %+v", answer.Records)
		}
		return err
	})
}
