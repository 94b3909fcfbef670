package aiuri

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// Target is where a native connection to an endpoint is made (RFC 2782). It says
// nothing about what to trust.
type Target struct {
	Host             string
	Port             uint16
	Priority, Weight uint16
	// Names are what the server's certificate may be valid for: the domain that
	// was asked about, and the target itself only if the DNS answer is secure.
	Names []string
}

// bootstrap is what the DNS says about an origin's endpoint.
type bootstrap struct {
	endpoint URI // zero: none
	dnssec   lookleap.DNSSEC
	targets  []Target
	findings []lookleap.Finding
	ttl      time.Duration // 0: there was nothing
}

// lookupBootstrap asks for _aiip TXT and _aiip._tcp SRV. An answer that fails
// validation ends everything; one that could not be had is a finding, since the
// DNS gives hints only.
func lookupBootstrap(ctx context.Context, r lookleap.Resolver, domain string) (*bootstrap, error) {
	b := &bootstrap{}
	txt, err := b.ask(ctx, r, "_aiip."+domain, lookleap.TypeTXT)
	if err != nil {
		return nil, err
	}
	if err := b.text(txt); err != nil {
		return nil, err
	}
	srv, err := b.ask(ctx, r, "_aiip._tcp."+domain, lookleap.TypeSRV)
	if err != nil {
		return nil, err
	}
	return b, b.service(srv, domain)
}

func (b *bootstrap) ask(ctx context.Context, r lookleap.Resolver, name string, t lookleap.RRType) (*lookleap.Answer, error) {
	answer, err := r.Lookup(ctx, name, t)
	switch {
	case errors.Is(err, lookleap.ErrBogus):
		return nil, &Error{Code: lookleap.CodeDNSSECBogus, Subject: name, Reason: "the DNS answer failed validation", Err: err}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.Warning, Code: lookleap.CodeDNSError, Requirement: "AIU-3.1-14", Message: "the DNS could not be asked for " + name})
		return &lookleap.Answer{}, nil
	}
	if len(answer.Records) > 0 && (b.ttl == 0 || answer.TTL < b.ttl) {
		b.ttl = max(answer.TTL, time.Second)
	}
	return answer, nil
}

func (b *bootstrap) text(a *lookleap.Answer) error {
	for _, record := range a.Records {
		for field := range strings.FieldsSeq(record.Text) {
			value, ok := strings.CutPrefix(field, "endpoint=")
			if !ok {
				continue
			}
			u, err := Parse(value)
			switch {
			case err != nil || !u.HasAuthority():
				b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.Warning, Code: lookleap.CodeOf(cmp.Or(err, error(fail(lookleap.CodeNoAuthority, "", "")))), Requirement: "AIU-3.1-14", Message: "a TXT record names no ai: URI with authority"})
			case b.endpoint.IsZero():
				b.endpoint, b.dnssec = u.Normalize(), a.DNSSEC
			case !b.endpoint.Equal(u):
				return fail(lookleap.CodeAmbiguousDNS, "two TXT records name different endpoints", "publish one")
			}
		}
	}
	return nil
}

func (b *bootstrap) service(a *lookleap.Answer, domain string) error {
	for _, record := range a.Records {
		srv := record.SRV
		if srv == nil {
			continue
		}
		if srv.Target == "" {
			return fail(lookleap.CodeServiceUnavailable, "the SRV record says that there is no such service", "")
		}
		t := Target{Host: srv.Target, Port: srv.Port, Priority: srv.Priority, Weight: srv.Weight, Names: []string{domain}}
		if a.DNSSEC == lookleap.Secure {
			t.Names = append(t.Names, srv.Target)
		}
		b.targets = append(b.targets, t)
	}
	return nil
}

// OrderTargets gives the order in which targets are tried (RFC 2782): by rising
// priority, and within one priority at random in proportion to the weights. random
// gives a number from 0 up to, and not including, its argument.
func OrderTargets(targets []Target, random func(int) int) []Target {
	left := slices.Clone(targets)
	slices.SortStableFunc(left, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(min(a.Weight, 1), min(b.Weight, 1)))
	})
	ordered := make([]Target, 0, len(left))
	for len(left) > 0 {
		sum, n := 0, 0
		for n < len(left) && left[n].Priority == left[0].Priority {
			sum += int(left[n].Weight)
			n++
		}
		pick, running := min(random(sum+1), sum), 0 // whatever it gives, somebody is next
		for i := range n {
			if running += int(left[i].Weight); running >= pick {
				ordered = append(ordered, left[i])
				left = slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return ordered
}
