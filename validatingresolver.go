package lookleap

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// ResolverOptions are the choices of [NewResolver]. The zero value asks the
// system's servers and trusts IANA's root keys.
type ResolverOptions struct {
	// Servers are recursive resolvers in order of preference: udp://HOST:PORT,
	// tcp://HOST:PORT, tls://HOST:PORT, https://HOST/PATH, or a bare HOST:PORT,
	// which is udp. Another one is tried when one fails, never a weaker way to the
	// same. Empty: those of /etc/resolv.conf.
	Servers []string

	// Anchors are DS or DNSKEY records as in a zone file, in place of IANA's.
	Anchors string

	// RequireValidation makes an answer that nothing could be checked of an error
	// that names the fix. Without it such an answer is [Indeterminate].
	RequireValidation bool

	Now     func() time.Time // by which signatures are valid; nil: time.Now
	RootCAs *x509.CertPool   // of tls servers, and of https ones where Fetcher is nil; nil: the system's

	// Fetcher reaches https servers; nil: a guarded fetcher of its own, which
	// resolves their names through the system's resolver.
	Fetcher Fetcher

	// DialContext opens connections to udp, tcp and tls servers; nil: a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewResolver builds a resolver that believes no server: it validates every
// answer and every absence from the trust anchors down (RFC 4033 to 4035, 5155,
// 6840, 9276), whoever it asked. An answer is [Secure], [Insecure] or, when the
// servers pass on no DNSSEC data at all, [Indeterminate]; data that fails
// validation is a [*BogusError]. A lookup takes at most 10 s and 64 queries.
//
// It caches answers by their TTL, is an [io.Closer] and a [FreshResolver], and
// may be used from several goroutines at once. Anchors or servers that cannot be
// read are an error; nothing is sent before the first lookup.
func NewResolver(o ResolverOptions) (Resolver, error) {
	r := &validatingResolver{}
	if o.Fetcher == nil {
		own := NewFetcher(FetcherOptions{RootCAs: o.RootCAs, Now: o.Now})
		o.Fetcher, r.fetcher = own, own
	}
	below, err := dnssec.New(dnssec.Options{
		Anchors:           o.Anchors,
		Servers:           o.Servers,
		Now:               o.Now,
		RequireValidation: o.RequireValidation,
		DialContext:       o.DialContext,
		RoundTrip: func(req *http.Request) (*http.Response, error) {
			return roundtrip.Do(o.Fetcher, req, roundtrip.Options{Fail: fetchError})
		},
		RootCAs: o.RootCAs,
	})
	if err != nil {
		return nil, fmt.Errorf("lookleap: building a resolver: %w", err)
	}
	r.below = below
	return r, nil
}

// FreshResolver is a [Resolver] that can look past its own cache of answers.
type FreshResolver interface {
	Resolver
	LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error)
}

// validatingResolver speaks the root package's types over internal/dnssec.
type validatingResolver struct {
	below   *dnssec.Resolver
	fetcher Fetcher // ours to close; nil: the caller's
}

// Lookup answers from the cache where it can.
func (r *validatingResolver) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return answerOf(name, t)(r.below.Lookup(ctx, name, uint16(t)))
}

// LookupFresh asks the servers. Keys of zones may still come from the cache.
func (r *validatingResolver) LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return answerOf(name, t)(r.below.Refresh(ctx, name, uint16(t)))
}

// Close ends idle connections.
func (r *validatingResolver) Close() error {
	err := r.below.Close()
	if c, ok := r.fetcher.(interface{ Close() error }); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// answerOf turns what was found out about a question into this package's words.
func answerOf(name string, t RRType) func(*dnssec.Result, error) (*DNSAnswer, error) {
	return func(found *dnssec.Result, err error) (*DNSAnswer, error) {
		var bogus *dnssec.BogusError
		var bad *dnssec.NameError
		var over *dnssec.BudgetError
		switch {
		case errors.As(err, &bogus):
			return nil, &BogusError{Name: bogus.Name, Zone: bogus.Zone, EDE: bogus.EDE, Reason: bogus.Reason}
		case errors.As(err, &bad):
			return nil, &Error{Code: CodeBadHost, Message: fmt.Sprintf("%s is no domain name to look up: %s", quote(name, 253), bad.Reason)}
		case errors.As(err, &over) && over.Hostile():
			return nil, lookupError(name, t, CodeDNSSECLimit, err)
		case err != nil:
			return nil, lookupError(name, t, CodeDNSError, err)
		}
		answer := &DNSAnswer{Exists: found.Exists, TTL: found.TTL, DNSSEC: states[found.State], Name: found.Name}
		for _, rec := range found.Records {
			r := Record{Addr: rec.Addr}
			if rec.SRV != nil {
				r.SRV = &SRV{Priority: rec.SRV.Priority, Weight: rec.SRV.Weight, Port: rec.SRV.Port, Target: rec.SRV.Target}
			}
			if rec.SRV == nil && !rec.Addr.IsValid() {
				r.Text = rec.Text
			}
			answer.Records = append(answer.Records, r)
		}
		for _, link := range found.Chain {
			answer.Chain = append(answer.Chain, ZoneLink{
				Zone: link.Zone, DNSSEC: states[link.State], KeyTag: link.KeyTag, Algorithm: link.Algorithm, Reason: link.Reason,
			})
		}
		return answer, nil
	}
}

var states = map[dnssec.State]DNSSEC{
	dnssec.Indeterminate: Indeterminate,
	dnssec.Insecure:      Insecure,
	dnssec.Secure:        Secure,
}
