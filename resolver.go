package lookleap

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/dnssec"
	"github.com/lookleap/lookleap/internal/roundtrip"
	"github.com/lookleap/lookleap/internal/zero"
)

// Resolver looks up DNS records. The documents treat three results differently: if a
// record does not exist, Lookup returns an answer that says so; if DNSSEC validation
// fails, it returns an [ErrBogus]; any other error means that the result is unknown.
//
// A Resolver is called from several goroutines at once.
type Resolver interface {
	// Lookup looks up the records of one type for a name, an A-label without a final dot.
	Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error)
}

// RRType is a DNS record type by its number in the IANA registry.
type RRType uint16

// The record types that the documents use.
const (
	TypeA    RRType = 1
	TypeTXT  RRType = 16
	TypeAAAA RRType = 28
	TypeSRV  RRType = 33
)

// String returns the type's mnemonic, or TYPE and its number.
func (t RRType) String() string {
	switch t {
	case TypeA:
		return "A"
	case TypeTXT:
		return "TXT"
	case TypeAAAA:
		return "AAAA"
	case TypeSRV:
		return "SRV"
	}
	return fmt.Sprintf("TYPE%d", uint16(t))
}

// DNSAnswer is the answer of the DNS to one question.
type DNSAnswer struct {
	Records []Record      // of the requested type; empty if there are none
	Exists  bool          // whether the name exists; it may exist without records of this type
	TTL     time.Duration // the shortest TTL of the chain, or the negative TTL; 0: do not cache
	DNSSEC  DNSSEC        // the result of validation
	Name    string        // owner of the records, after aliases
	Chain   []ZoneLink    // evidence for DNSSEC, from the trust anchor down; empty if the resolver does not validate
}

// Lint returns advice for the operator of the zone: a finding of severity info if the zone is not
// signed. An [Indeterminate] answer has no finding, since the zone may be signed.
func (a *DNSAnswer) Lint() []Finding {
	a = zero.Or(a)
	if a.DNSSEC != Insecure {
		return nil
	}
	return []Finding{{Severity: SeverityInfo, Code: CodeDNSSECMissing,
		Message: "the zone of " + quote(a.Name, 253) + " is not signed, so answers about it can be forged",
		Fix:     "sign the zone with DNSSEC and publish its DS records at the parent zone"}}
}

// ZoneLink is one zone on the chain from a trust anchor to an answer.
type ZoneLink struct {
	Zone      string `json:"zone"` // without a final dot, "." for the root
	DNSSEC    DNSSEC `json:"dnssec"`
	KeyTag    uint16 `json:"keyTag,omitempty"` // of the key that the parent zone signs; 0 unless secure
	Algorithm uint8  `json:"algorithm,omitempty"`
	Reason    string `json:"reason,omitempty"` // one sentence on why the link is not secure
}

// Record is one resource record. Only the field of its type is set.
type Record struct {
	Text string     // TXT: the strings of the record, joined. Other types: as in a zone file
	Addr netip.Addr // A and AAAA
	SRV  *SRV       // SRV
}

// SRV is the data of an SRV record (RFC 2782).
type SRV struct {
	Priority, Weight, Port uint16
	Target                 string // A-label without a final dot; "" means that the service is not available
}

// DNSSEC is the result of validating a [DNSAnswer]. There is no value for a bogus answer:
// the lookup returns an [ErrBogus] instead.
type DNSSEC uint8

const (
	// Indeterminate: the answer could not be validated. It is the zero value.
	Indeterminate DNSSEC = iota
	// Insecure: a signed parent zone proves that this zone is not signed.
	Insecure
	// Secure: the answer is signed, with a chain of signatures from a trust anchor.
	Secure
)

var dnssecNames = [...]string{"indeterminate", "insecure", "secure"}

// String returns the state in lower case.
func (d DNSSEC) String() string {
	if int(d) < len(dnssecNames) {
		return dnssecNames[d]
	}
	return dnssecNames[Indeterminate]
}

// MarshalText returns the state in lower case.
func (d DNSSEC) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the text that MarshalText returns.
func (d *DNSSEC) UnmarshalText(text []byte) error {
	for i, name := range dnssecNames {
		if string(text) == name {
			*d = DNSSEC(i)
			return nil
		}
	}
	return usageError("unknown DNSSEC state " + quote(string(text), 40))
}

// ErrBogus is the error of a failed DNSSEC validation. Forged data and a broken zone look
// the same, so data that fails validation is never used.
var ErrBogus = coded.New(string(CodeDNSSECBogus), "DNSSEC validation failed")

// BogusError says where DNSSEC validation failed. It is an [ErrBogus].
type BogusError struct {
	Name   string // the question
	Zone   string // the zone whose data failed validation
	EDE    uint16 // extended DNS error code (RFC 8914); 6 if no other code fits
	Reason string // one sentence
}

func (e *BogusError) Error() string {
	e = zero.Or(e)
	return fmt.Sprintf("%s: DNSSEC validation failed in zone %s: %s (EDE %d)", e.Name, e.Zone, e.Reason, e.EDE)
}

// ReasonCode returns [CodeDNSSECBogus].
func (e *BogusError) ReasonCode() Code { return CodeDNSSECBogus }

// Is reports whether target is [ErrBogus].
func (e *BogusError) Is(target error) bool { return target == ErrBogus }

// Limits of one answer of [NetResolver].
const (
	maxRecords  = 256
	maxTXTBytes = 32 << 10 // all TXT records of an answer together
)

// NetResolver adapts Go's resolver (nil: one with Go's defaults) for the types
// A, AAAA, TXT and SRV. Names are asked as they are, without a search list.
//
// Go's resolver returns less than a [Resolver] can. Every answer is therefore
// [Indeterminate] and has a TTL of 0, and Name is the requested name. For a name that
// does not exist and for a name without records of the type, Exists is false.
func NetResolver(r *net.Resolver) Resolver {
	return netResolver{r}
}

type netResolver struct{ *net.Resolver }

// Lookup looks up a name with Go's resolver.
func (r netResolver) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, lookupError(name, t, CodeDNSError, err) // Go's resolver may answer nevertheless
	}
	records, err := r.records(ctx, name+".", t) // the dot turns off the search list
	var failed *net.DNSError
	switch {
	case errors.As(err, &failed) && failed.IsNotFound:
		return &DNSAnswer{Name: name}, nil
	case err != nil:
		return nil, lookupError(name, t, CodeDNSError, err)
	case len(records) > maxRecords:
		return nil, lookupError(name, t, CodeDNSError,
			&Error{Code: CodeDNSError, Message: fmt.Sprintf("the answer has more than %d records", maxRecords)})
	}
	return &DNSAnswer{Name: name, Exists: len(records) > 0, Records: records}, nil
}

func (r netResolver) records(ctx context.Context, fqdn string, t RRType) ([]Record, error) {
	switch t {
	case TypeA:
		addrs, err := r.LookupNetIP(ctx, "ip4", fqdn)
		return addressRecords(addrs, netip.Addr.Unmap), err
	case TypeAAAA:
		addrs, err := r.LookupNetIP(ctx, "ip6", fqdn)
		return addressRecords(addrs, func(a netip.Addr) netip.Addr { return a }), err
	case TypeTXT:
		texts, err := r.LookupTXT(ctx, fqdn)
		if err != nil {
			return nil, err
		}
		return textRecords(texts)
	case TypeSRV:
		_, targets, err := r.LookupSRV(ctx, "", "", fqdn)
		if err != nil {
			return nil, err
		}
		return srvRecords(targets)
	}
	return nil, usageError("this resolver looks up only A, AAAA, TXT and SRV records")
}

func addressRecords(addrs []netip.Addr, form func(netip.Addr) netip.Addr) []Record {
	records := make([]Record, len(addrs))
	for i, addr := range addrs {
		records[i].Addr = form(addr)
	}
	return records
}

func textRecords(texts []string) ([]Record, error) {
	records := make([]Record, len(texts))
	size := 0
	for i, text := range texts {
		size += len(text)
		if size > maxTXTBytes {
			return nil, &Error{Code: CodeDNSError, Message: fmt.Sprintf("the TXT records have more than %d bytes", maxTXTBytes)}
		}
		records[i].Text = text
	}
	return records, nil
}

func srvRecords(targets []*net.SRV) ([]Record, error) {
	records := make([]Record, len(targets))
	for i, srv := range targets {
		target := strings.ToLower(strings.TrimSuffix(srv.Target, "."))
		if target != "" {
			if err := checkName(target); err != nil {
				return nil, err
			}
		}
		records[i].SRV = &SRV{Priority: srv.Priority, Weight: srv.Weight, Port: srv.Port, Target: target}
	}
	return records, nil
}

// checkName accepts labels of 1 to 63 letters, digits, hyphens and underscores, at most
// 253 bytes in all, without a final dot. It refuses IP addresses.
func checkName(name string) error {
	bad := func(reason string) error {
		return &Error{Code: CodeBadHost, Message: fmt.Sprintf("%s is not a domain name that can be looked up: %s",
			quote(name, 253), reason)}
	}
	if len(name) > 253 {
		return bad("it is longer than 253 bytes")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return bad("a label is empty or longer than 63 bytes")
		}
		for _, c := range []byte(label) {
			if !isNameByte(c) {
				return bad("it has a character that is not a letter, digit, hyphen or underscore")
			}
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x") {
		return bad("it can be read as an IP address")
	}
	return nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// lookupError returns an error for a lookup whose result is unknown.
func lookupError(name string, t RRType, code Code, err error) error {
	return &Error{Code: code, Subject: quote(name, 253), Message: "the " + t.String() + " lookup failed", Err: err}
}

// ResolverOptions are the options of [NewResolver]. The zero value uses the system's
// servers and IANA's root keys.
type ResolverOptions struct {
	// Servers are recursive resolvers in order of preference: udp://HOST:PORT,
	// tcp://HOST:PORT, tls://HOST:PORT, https://HOST/PATH, or a bare HOST:PORT,
	// which is udp. If a server fails, the next one is tried. A server is never tried
	// with a weaker protocol. Empty: those of the system (/etc/resolv.conf, on macOS also
	// /etc/resolver, on Windows those of the network adapters). Where there is none, as in
	// an Android app, every lookup returns an error that says so.
	Servers []string

	// Anchors are DS or DNSKEY records as in a zone file; empty: IANA's.
	Anchors string

	// RequireValidation makes an answer that cannot be validated an error, which says
	// how to fix it. Without it, such an answer is [Indeterminate].
	RequireValidation bool

	Now     func() time.Time // the clock for the validity of signatures; nil: time.Now
	RootCAs *x509.CertPool   // of tls servers, and of https ones where Fetcher is nil; nil: the system's

	// Fetcher sends requests to https servers; nil: a guarded fetcher that resolves
	// their names with the system's resolver.
	Fetcher Fetcher

	// DialContext opens connections to udp, tcp and tls servers; nil: a net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewResolver returns a resolver that trusts no server: it validates every answer from
// the trust anchors down (RFC 4033 to 4035, 5155, 6840, 9276), including answers that
// records do not exist. An answer is [Secure], [Insecure] or, if the servers send no
// DNSSEC data at all, [Indeterminate]. If validation fails, Lookup returns a
// [*BogusError]. A lookup takes at most 10 seconds and 64 queries.
//
// The resolver caches answers for their TTL. It is also an [io.Closer] and a
// [FreshResolver], and may be used from several goroutines at once. NewResolver returns
// an error for invalid anchors or servers. It sends nothing before the first lookup.
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
		return nil, &Error{Code: CodeUsage, Message: "the servers or trust anchors of the resolver are invalid", Err: err}
	}
	r.below = below
	return r, nil
}

// FreshResolver is a [Resolver] that can also look up names without its cache of answers.
type FreshResolver interface {
	Resolver
	LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error)
}

// validatingResolver adapts internal/dnssec to the types of this package.
type validatingResolver struct {
	below   *dnssec.Resolver
	fetcher Fetcher // closed with the resolver; nil: the caller has supplied the Fetcher
}

// Lookup looks up a name in the cache, then on the servers.
func (r *validatingResolver) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return answerOf(name, t)(r.below.Lookup(ctx, name, uint16(t)))
}

// LookupFresh looks up a name on the servers. Keys of zones may still come from the cache.
func (r *validatingResolver) LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return answerOf(name, t)(r.below.Refresh(ctx, name, uint16(t)))
}

// Close closes idle connections.
func (r *validatingResolver) Close() error {
	err := r.below.Close()
	if c, ok := r.fetcher.(interface{ Close() error }); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}

// answerOf converts a result and an error of internal/dnssec.
func answerOf(name string, t RRType) func(*dnssec.Result, error) (*DNSAnswer, error) {
	return func(found *dnssec.Result, err error) (*DNSAnswer, error) {
		var bogus *dnssec.BogusError
		var bad *dnssec.NameError
		var over *dnssec.BudgetError
		switch {
		case errors.As(err, &bogus):
			return nil, &BogusError{Name: bogus.Name, Zone: bogus.Zone, EDE: bogus.EDE, Reason: bogus.Reason}
		case errors.As(err, &bad):
			return nil, &Error{Code: CodeBadHost, Message: fmt.Sprintf("%s is not a domain name that can be looked up: %s",
				quote(name, 253), bad.Reason)}
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
