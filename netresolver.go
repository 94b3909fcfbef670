package lookleap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Bounds of what [NetResolver] takes from one answer.
const (
	maxRecords  = 256
	maxTXTBytes = 32 << 10 // all TXT records of an answer together
)

// NetResolver adapts Go's resolver (nil: one with Go's defaults) for the types
// A, AAAA, TXT and SRV. Names are asked as they are, without a search list.
//
// It sees less of the DNS than a [Resolver] can tell, and says the careful
// thing: every answer is [Indeterminate] and has a TTL of 0, Name is the name
// asked for, and a name that does not exist is not told apart from one without
// records of the type: both are answers with Exists false.
func NetResolver(r *net.Resolver) Resolver {
	if r == nil {
		r = new(net.Resolver)
	}
	return netResolver{r}
}

type netResolver struct{ *net.Resolver }

// Lookup asks Go's resolver.
func (r netResolver) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, lookupError(name, t, CodeDNSError, err) // Go's resolver may answer all the same
	}
	records, err := r.records(ctx, name+".", t) // the dot keeps the search list out
	var failed *net.DNSError
	switch {
	case errors.As(err, &failed) && failed.IsNotFound:
		return &DNSAnswer{Name: name}, nil
	case err != nil:
		return nil, lookupError(name, t, CodeDNSError, err)
	case len(records) > maxRecords:
		return nil, lookupError(name, t, CodeDNSError, fmt.Errorf("the answer has more than %d records", maxRecords))
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
	return nil, fmt.Errorf("type %s cannot be asked for", t)
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
		if size += len(text); size > maxTXTBytes {
			return nil, fmt.Errorf("the TXT records have more than %d octets", maxTXTBytes)
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

// checkName takes letters, digits, hyphens and underscores in labels of 1 to 63
// octets, 253 in all, without a final dot, and nothing that reads as an address.
func checkName(name string) error {
	bad := func(reason string) error {
		return &Error{Code: CodeBadHost, Message: fmt.Sprintf("%s is no domain name to look up: %s", quote(name, 253), reason)}
	}
	if name == "" || len(name) > 253 {
		return bad("it has no octet or more than 253")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return bad("a label has no octet or more than 63")
		}
		for _, c := range []byte(label) {
			if !isNameByte(c) {
				return bad("it has a character that is no letter, digit, hyphen or underscore")
			}
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x") {
		return bad("it reads as an IP address")
	}
	return nil
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// lookupError returns an error for a lookup that could not find out. It says nothing
// about the name.
func lookupError(name string, t RRType, code Code, err error) error {
	return &Error{Code: code, Subject: quote(name, 253), Message: "the " + t.String() + " lookup failed", Err: err}
}
