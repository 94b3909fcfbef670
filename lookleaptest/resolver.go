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
	{
		name:   "records",
		text:   "Lookup returns all records of the type: addresses, SRV, and TXT with its strings joined",
		verify: resolvesRecords,
	}, {
		name:   "aliases",
		text:   "the answer for an alias has the records of its target and names their owner, unless the resolver does not validate and names the alias; it is secure only if each zone on the way is",
		verify: resolvesAliases,
	}, {
		name:   "missing-record",
		text:   "a missing name or record is an answer without records, and no error",
		verify: resolvesMissing,
	}, {
		name:   "failures-are-errors",
		text:   "a server that fails, refuses or does not answer is an error, and never a missing record",
		verify: resolvesFailures,
	}, {
		name:   "dnssec",
		text:   "an answer is secure only if its signatures are valid; invalid ones are an ErrBogus, or the answer is indeterminate; the answer of a signed zone is not insecure",
		verify: resolvesSigned,
	}, {
		name:   "ttl",
		text:   "the TTL of an answer is at most that of its records",
		verify: resolvesTTL,
	}, {
		name:   "cancellation",
		text:   "Lookup returns an error when the context ends",
		verify: resolvesCancelled,
	}, {
		name:   "concurrent-use",
		text:   "concurrent calls return the answers to their own questions",
		verify: resolvesConcurrently,
	},
}

// resolverScript is a resolver on an internet.
type resolverScript struct {
	*trial[openResolver]
	net      *Internet
	resolver lookleap.Resolver
}

func openResolve(r *trial[openResolver]) resolverScript {
	r.Helper()
	n := NewInternet()
	r.Cleanup(n.Close)
	return resolverScript{r, n, r.open()(r.TB, n)}
}

func (s resolverScript) lookup(name string, t lookleap.RRType) (answer *lookleap.DNSAnswer, err error) {
	err = s.attempt(func(ctx context.Context) (err error) {
		answer, err = s.resolver.Lookup(ctx, name, t)
		return err
	})
	return answer, err
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

func resolvesRecords(r *trial[openResolver]) {
	s := openResolve(r)
	s.net.Name("shop.example", "93.184.217.1", "93.184.217.2", "2606:2800:220:1::1").TXT("first ", "part").TXT("v=b; \\ \"c\"")
	s.net.Name("_svc._tcp.shop.example").SRV(1, 2, 8443, "api.shop.example")
	s.finds("shop.example", lookleap.TypeA,
		lookleap.Record{Addr: netip.MustParseAddr("93.184.217.1")}, lookleap.Record{Addr: netip.MustParseAddr("93.184.217.2")})
	s.finds("shop.example", lookleap.TypeAAAA, lookleap.Record{Addr: netip.MustParseAddr("2606:2800:220:1::1")})
	s.finds("shop.example", lookleap.TypeTXT, lookleap.Record{Text: "first part"}, lookleap.Record{Text: "v=b; \\ \"c\""})
	s.finds("_svc._tcp.shop.example", lookleap.TypeSRV,
		lookleap.Record{SRV: &lookleap.SRV{Priority: 1, Weight: 2, Port: 8443, Target: "api.shop.example"}})
}

func resolvesAliases(r *trial[openResolver]) {
	s := openResolve(r)
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

func resolvesMissing(r *trial[openResolver]) {
	s := openResolve(r)
	s.net.Name("shop.example", "93.184.217.1")
	s.finds("shop.example", lookleap.TypeTXT)
	if s.finds("missing.shop.example", lookleap.TypeTXT).Exists {
		s.broken("a name that does not exist is reported to exist")
	}
}

func resolvesFailures(r *trial[openResolver]) {
	s := openResolve(r)
	s.net.Name("a.example", "93.184.217.1").ServFail()
	s.net.Name("b.example", "93.184.217.1").Refuse()
	s.net.Name("c.example", "93.184.217.1").Drop()
	for what, host := range map[string]string{
		"fails":           "a.example",
		"refuses":         "b.example",
		"does not answer": "c.example",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), s.engine.Patience/50)
		err := s.attemptIn(ctx, func(ctx context.Context) error { _, err := s.resolver.Lookup(ctx, host, lookleap.TypeA); return err })
		cancel()
		if err == nil || errors.Is(err, errHung) || errors.Is(err, lookleap.ErrBogus) {
			s.broken("for a server that %s, Lookup returned the error %v", what, err)
		}
	}
}

func resolvesSigned(r *trial[openResolver]) {
	s := openResolve(r)
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

func resolvesTTL(r *trial[openResolver]) {
	s := openResolve(r)
	s.net.Name("short.example").TXT("text").TTL(30 * time.Second)
	if got := s.finds("short.example", lookleap.TypeTXT, lookleap.Record{Text: "text"}); got.TTL < 0 || got.TTL > 30*time.Second {
		s.broken("the answer with a record of 30 s has the TTL %v", got.TTL)
	}
}

func resolvesCancelled(r *trial[openResolver]) {
	s := openResolve(r)
	s.net.Name("shop.example", "93.184.217.1").Delay(time.Hour)
	ctx, cancel := context.WithTimeout(context.Background(), s.engine.Patience/50)
	defer cancel()
	for _, ctx := range []context.Context{cancelled(), ctx} {
		err := s.attemptIn(ctx, func(ctx context.Context) error {
			_, err := s.resolver.Lookup(ctx, "shop.example", lookleap.TypeA)
			return err
		})
		if err == nil || errors.Is(err, errHung) {
			s.broken("Lookup returned %v", err)
		}
	}
}

func resolvesConcurrently(r *trial[openResolver]) {
	s := openResolve(r)
	for i := range 16 {
		s.net.Name(fmt.Sprintf("n%d.shop.example", i)).TXT(fmt.Sprint("text ", i))
	}
	for i, err := range r.together(16, func(ctx context.Context, i int) error {
		answer, err := s.resolver.Lookup(ctx, fmt.Sprintf("n%d.shop.example", i), lookleap.TypeTXT)
		if err == nil && (len(answer.Records) != 1 || answer.Records[0].Text != fmt.Sprint("text ", i)) {
			err = fmt.Errorf("the answer was %+v", answer.Records)
		}
		return err
	}) {
		if err != nil {
			s.broken("caller %d of 16: %v", i, err)
		}
	}
}
