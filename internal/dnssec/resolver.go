package dnssec

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Options configures a [Resolver]. The zero value uses the servers of the system and IANA's root
// keys.
type Options struct {
	// Anchors are DS or DNSKEY records as in a zone file; "" means [RootAnchors].
	Anchors string

	// Servers are the upstreams in order of preference: udp://HOST:PORT, tcp://HOST:PORT,
	// tls://HOST:PORT, https://HOST/PATH, or HOST:PORT, which is udp. Ports may be left out where
	// the scheme has one. Hosts of udp and tcp are addresses. Empty: those of the system, which are
	// looked up again every half minute.
	Servers    []string
	ResolvConf string // a file to read instead of the system's settings

	Now    func() time.Time // default time.Now
	Limits Limits

	// RequireValidation turns an Indeterminate result into ErrNotValidated.
	RequireValidation bool

	// DialContext opens connections for udp, tcp and tls; default net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	// RoundTrip makes one HTTP exchange for https servers, which cannot be used without it. It must
	// not resolve names through this very resolver.
	RoundTrip func(*http.Request) (*http.Response, error)
	// RootCAs verify tls servers; nil means the system's.
	RootCAs *x509.CertPool

	// Exchange, if set, replaces the whole transport: it takes a query and returns the reply, both
	// in wire form.
	Exchange func(ctx context.Context, query []byte) (reply []byte, err error)
}

// Resolver looks names up and validates what comes back. It is safe for concurrent use.
type Resolver struct {
	options  Options
	limits   Limits
	anchors  map[name][]delegation
	upstream exchanger

	zones   *flight.Memo[name, *zoneState]
	answers *flight.Memo[question, answer]
}

type question struct {
	name   name
	rrtype uint16
}

func (q question) String() string { return q.name.text() + " " + dns.Type(q.rrtype).String() }

// New builds a resolver. It fails for anchors or servers that cannot be read; it sends nothing.
func New(o Options) (*Resolver, error) {
	if o.Anchors == "" {
		o.Anchors = RootAnchors
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	anchors, err := parseAnchors(o.Anchors)
	if err != nil {
		return nil, err
	}
	upstream, err := newExchanger(&o)
	if err != nil {
		return nil, err
	}
	limits := o.Limits.withDefaults()
	return &Resolver{
		options: o, limits: limits, anchors: anchors, upstream: upstream,
		zones:   newZones(limits, o.Now),
		answers: newAnswers(limits, o.Now),
	}, nil
}

// Close closes idle connections. The resolver must not be used afterwards. The error is always nil.
func (r *Resolver) Close() error {
	r.upstream.close()
	return nil
}

// ErrNotValidated says that nothing could be checked although [Options.RequireValidation] is set.
var ErrNotValidated = errors.New("the DNS upstream does not pass DNSSEC data on; configure one that does")

// NameError says that a name cannot be looked up.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return "name " + plaintext.Quote(e.Name, 300) + ": " + e.Reason }

// Lookup answers for one name and one type. The name is made of printable ASCII, with or without
// the final dot; it is never completed with a search list.
//
// An absence is a result. The errors are *[BogusError] when validation failed, *[BudgetError] when
// the work would exceed the limits, *[ServerError] when no upstream gave a usable reply,
// *[NoServerError], *[NameError], [ErrNotValidated], and the context's. None of them says anything about whether the
// name exists.
func (r *Resolver) Lookup(ctx context.Context, name string, rrtype uint16) (*Result, error) {
	return r.lookup(ctx, name, rrtype, r.answers.Get)
}

// Refresh is Lookup past the cache of answers: it asks the servers after it was called, and does
// not wait for a lookup that began earlier. Keys of zones are still taken from the cache.
func (r *Resolver) Refresh(ctx context.Context, name string, rrtype uint16) (*Result, error) {
	return r.lookup(ctx, name, rrtype, r.answers.Renew)
}

// get is [flight.Memo.Get], or Renew.
type get func(context.Context, question, func(context.Context) (flight.Loaded[answer], error)) (answer, error)

func (r *Resolver) lookup(ctx context.Context, text string, rrtype uint16, get get) (*Result, error) {
	n, err := parseName(text)
	if err != nil {
		return nil, err
	}
	switch rrtype {
	case dns.TypeANY, dns.TypeAXFR, dns.TypeIXFR, dns.TypeOPT, dns.TypeRRSIG, dns.TypeNone:
		return nil, &NameError{text, fmt.Sprintf("type %s cannot be looked up", dns.Type(rrtype))}
	}
	q := question{n, rrtype}
	began := false
	found, err := get(ctx, q, func(ctx context.Context) (flight.Loaded[answer], error) {
		began = true
		ctx, cancel := context.WithTimeout(ctx, r.limits.Time)
		defer cancel()
		l := &lookup{r: r, now: r.options.Now(), b: newBudget(r.limits)}
		result, err := l.run(ctx, n, rrtype)
		a := answer{Result: result}
		if err == nil && result.State != Indeterminate && result.TTL > 0 {
			result.TTL = min(result.TTL, r.limits.AnswerTTL)
			a.until = l.now.Add(result.TTL)
		}
		return flight.Loaded[answer]{Value: a, Until: a.until}, err
	})
	if err != nil {
		return nil, r.explain(ctx, q, err)
	}
	if found.State == Indeterminate && r.options.RequireValidation {
		return nil, ErrNotValidated
	}
	own := *found.Result
	if !began {
		own.TTL = found.left(r.options.Now())
	}
	return &own, nil
}

// explain completes an error that several callers may share.
func (r *Resolver) explain(ctx context.Context, q question, err error) error {
	var b *BogusError
	var s *ServerError
	var over *BudgetError
	switch {
	case errors.As(err, &s) && s.Question == "":
		named := *s
		named.Question = q.String()
		return &named
	case errors.As(err, &s):
		return err // one server's own time is less than that of the whole lookup
	case errors.As(err, &b):
		named := *b
		named.Name = q.name.text()
		return &named
	case errors.As(err, &over):
		named := *over
		named.Name = q.name.text()
		return &named
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return &ServerError{Question: q.String(), Reason: fmt.Sprintf("no answer within %v", r.limits.Time), Err: err}
	}
	return err
}

// parseName takes names of printable ASCII without escapes, so that what the caller wrote is what
// is asked.
func parseName(text string) (name, error) {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == '\\' || c == '"' || c == '(' || c == ')' || c == ';' || c == '@' {
			return "", &NameError{text, fmt.Sprintf("the character %q cannot be part of it", c)}
		}
	}
	n, ok := nameOf(text)
	if !ok || text == "" {
		return "", &NameError{text, "labels have 1 to 63 characters, and 253 in all"}
	}
	return n, nil
}

// anchorAbove is the closest trust anchor at or above n.
func (r *Resolver) anchorAbove(n name) (name, bool) {
	for {
		if r.anchors[n] != nil {
			return n, true
		}
		if n == rootName {
			return "", false
		}
		n = n.parent()
	}
}

// ask sends one question and sorts the reply. zone is the zone that the reply is needed to
// validate, "" if none.
func (l *lookup) ask(ctx context.Context, n name, rrtype uint16, zone name) (*message, error) {
	m, err := l.r.upstream.exchange(ctx, newQuery(n, rrtype), l.b)
	var failed *ServerError
	if errors.As(err, &failed) {
		about := *failed
		about.Question = question{n, rrtype}.String()
		if zone != "" {
			about.Zone = zone.text()
		}
		return nil, &about
	}
	if err != nil {
		return nil, err
	}
	out := newMessage(m)
	if out.hasDNSSEC() {
		l.signedSeen.Store(true)
	}
	return out, nil
}
