package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

func urlCommand(flags *flag.FlagSet) action {
	var roots repeated
	flags.Var(&roots, "root", "the URL must lie under this `ROOT`; may be repeated")
	return func(ctx context.Context, s *session, args []string) error {
		return s.words(ctx, args, func(_ context.Context, raw string) result { return judgeURL(raw, roots) })
	}
}

type urlValue struct {
	Canonical         string      `json:"canonical"`
	Origin            string      `json:"origin"`
	Host              string      `json:"host"`
	Port              uint16      `json:"port"`
	Path              string      `json:"path"`
	RegistrableDomain string      `json:"registrableDomain"`
	Display           string      `json:"display"`
	Roots             []rootValue `json:"roots"`
	Root              string      `json:"root"`
}

type rootValue struct {
	Root     string `json:"root"`
	Contains bool   `json:"contains"`
}

// judgeURL accepts a URL that has one reading and lies under a root, if there are any.
func judgeURL(raw string, roots []string) result {
	u, err := domain.Parse(raw)
	if err != nil {
		return refuse(err)
	}
	registrable, _ := domain.Registrable(u.Host())
	value := urlValue{
		Canonical: u.String(), Origin: u.Origin(), Host: u.Host(), Port: u.Port(), Path: u.Path(),
		RegistrableDomain: registrable, Display: plaintext.Host(u.Host()), Roots: []rootValue{},
	}
	r := accept(nil)
	var best domain.URL
	for _, raw := range roots {
		root, err := domain.Rules{RefuseQuery: true, RefuseFragment: true}.Parse(raw)
		if err != nil {
			r := refuse(err)
			r.Findings[0].Path = "--root " + plaintext.Quote(raw, maxShown)
			return r
		}
		contains := u.Under(root)
		value.Roots = append(value.Roots, rootValue{root.String(), contains})
		if contains && len(root.Segments()) >= len(best.Segments()) {
			best, value.Root = root, root.String()
		}
	}
	if len(roots) > 0 && best.IsZero() {
		r = refuse(fault(dvs.CodeOutsideTrustRoot, "the URL lies under none of the roots",
			"use a URL of the same scheme, host and port whose path begins with the segments of a root"))
	}
	r.Value = value
	r.rows = []row{{"canonical", value.Canonical}, {"host", value.Display}, {"registrable", cmp.Or(registrable, "none")}}
	if !best.IsZero() {
		r.row("under", value.Root)
	}
	if u.FragmentDropped() {
		r = r.with(lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeOK,
			Message: "the fragment is dropped: it is never sent and never compared"})
	}
	return r
}

func wellknownCommand(flags *flag.FlagSet) action {
	var o wellknown.Options
	flags.BoolVar(&o.StrictMedia, "strict-media", false, "refuse a document of another media type than its registration's")
	flags.BoolVar(&o.AllowCrossOriginRedirect, "cross-origin", false, "follow redirects to other origins")
	return func(ctx context.Context, s *session, args []string) error {
		client := wellknown.NewClient(s.host, o)
		return s.words(ctx, args, func(ctx context.Context, raw string) result { return judgeWellKnown(ctx, client, raw) })
	}
}

type wellknownValue struct {
	Name      string              `json:"name"`
	Rest      string              `json:"rest"`
	Status    wellknown.Status    `json:"status"`
	Reference string              `json:"reference"`
	State     string              `json:"state"`
	Result    *wellknown.Resource `json:"result"`
	Digest    string              `json:"digest"`
}

func judgeWellKnown(ctx context.Context, client *wellknown.Client, raw string) result {
	uri, err := wellknown.Parse(raw)
	if err != nil {
		return refuse(err)
	}
	if uri.Query != "" {
		return refuse(fault(lookleap.CodeBadURL, "the URL has a query, which is not a part of a well-known URI",
			"leave it out"))
	}
	entry := wellknown.Builtin().Lookup(uri.Name)
	value := wellknownValue{Name: uri.Name, Rest: uri.Rest, Status: entry.Status, Reference: entry.Reference}
	var rest []string
	if uri.Rest != "" {
		rest = strings.Split(uri.Rest, "/")
	}
	found, err := client.Fetch(ctx, uri.Origin, uri.Name, rest...)
	if err != nil {
		r := refuse(err)
		r.Value = value
		return r
	}
	value.State, value.Result = found.State.String(), found
	r := result{Code: found.Code, Message: found.Code.Title(), Verdict: found.Verdict}.with(found.Findings...)
	r.row("name", fmt.Sprintf("%s (%s)", uri.Name, entry.Status))
	r.row("state", value.State)
	if found.MediaType != "" {
		r.row("media type", found.MediaType)
	}
	if found.State == wellknown.Present {
		value.Digest = lookleap.Digest(found.Body)
		r.row("bytes", fmt.Sprint(len(found.Body)))
		r.row("digest", value.Digest)
		r.OK, r.Message = true, accepted
	}
	r.Value = value
	return r
}

func dnsCommand(ctx context.Context, s *session, args []string) error {
	rrtype, err := parseType(append(args, "A")[1])
	if err != nil {
		return err
	}
	return s.judge(ctx, strings.Join(args, " "),
		func(ctx context.Context, _ string) result { return judgeDNS(ctx, s.host, args[0], rrtype) })
}

// parseType reads a mnemonic, or "TYPE" and a number (RFC 3597 section 5).
func parseType(text string) (lookleap.RRType, error) {
	upper := strings.ToUpper(text)
	if number, ok := dns.StringToType[upper]; ok {
		return lookleap.RRType(number), nil
	}
	if digits, ok := strings.CutPrefix(upper, "TYPE"); ok {
		if number, err := strconv.ParseUint(digits, 10, 16); err == nil {
			return lookleap.RRType(number), nil
		}
	}
	return 0, usagef("%q is not a type of DNS records", text)
}

type dnsValue struct {
	Name    string              `json:"name"`
	Type    string              `json:"type"`
	Records []string            `json:"records"`
	Exists  bool                `json:"exists"`
	TTL     int                 `json:"ttl"`
	DNSSEC  lookleap.DNSSEC     `json:"dnssec"`
	Chain   []lookleap.ZoneLink `json:"chain"`
}

// judgeDNS accepts whatever the DNS says, unless it is forged.
func judgeDNS(ctx context.Context, host *lookleap.Host, name string, t lookleap.RRType) result {
	asked := name
	if name != "." {
		asked = strings.TrimSuffix(name, ".")
	}
	answer, err := host.Lookup(ctx, asked, t)
	var bogus *lookleap.BogusError
	switch {
	case errors.As(err, &bogus):
		return result{Code: lookleap.CodeDNSSECBogus, Message: bogus.Reason,
			Value: map[string]any{"zone": bogus.Zone, "ede": bogus.EDE},
			rows:  []row{{"zone", bogus.Zone}, {"EDE", fmt.Sprint(bogus.EDE)}}}
	case err != nil:
		return refuse(err)
	}
	value := dnsValue{
		Name: answer.Name, Type: dns.Type(t).String(), Records: []string{}, Exists: answer.Exists,
		TTL: int(answer.TTL / time.Second), DNSSEC: answer.DNSSEC, Chain: append([]lookleap.ZoneLink{}, answer.Chain...),
	}
	r := accept(nil, row{"dnssec", answer.DNSSEC.String()}, row{"ttl", answer.TTL.String()})
	if answer.Name != name {
		r.row("name", answer.Name)
	}
	for _, record := range answer.Records {
		text := record.Text
		if srv := record.SRV; srv != nil {
			text = fmt.Sprintf("%d %d %d %s.", srv.Priority, srv.Weight, srv.Port, srv.Target)
		} else if record.Addr.IsValid() {
			text = record.Addr.String()
		}
		value.Records = append(value.Records, text)
		r.row(value.Type, plaintext.Quote(text, maxShown))
	}
	for _, link := range answer.Chain {
		text := link.Zone + " " + link.DNSSEC.String()
		if link.Reason != "" {
			text += ": " + link.Reason
		}
		r.row("zone", text)
	}
	switch {
	case !answer.Exists:
		r.Message = "the name does not exist"
	case len(answer.Records) == 0:
		r.Message = "the name has no record of this type"
	}
	r.Value = value
	return r
}
