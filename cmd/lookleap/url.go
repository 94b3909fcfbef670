package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

func urlCommand() command {
	return command{
		name:    "url",
		args:    "URL… [--root ROOT]…",
		summary: "the canonical form of an https URL, and the root it is under",
		about: `Prints the one spelling of an https URL that lookleap compares and fetches, or
refuses a URL that two readers could understand in two ways. With roots, the
URL must lie under one of them: same scheme, host and port, and the root's path
segments first.

value: {
  "canonical":         the canonical URL
  "origin":            scheme, host and port
  "host":              the host as A-labels
  "port":              the effective port
  "path":              the canonical escaped path
  "registrableDomain": the domain that was registered, "" if there is no such domain
  "display":           the host for people, its registrable domain marked
  "roots":             [{"root": canonical root, "contains": true or false}]
  "root":              the most specific root that contains the URL, "" for none
}`,
		examples: []string{
			"lookleap url 'HTTPS://BÜCHER.example:443/%7Eorg/'",
			"lookleap url https://example.com.evil.example/x --root https://example.com/",
			"cat urls.txt | lookleap --json url --root https://github.com/example-org/ -",
		},
		build: func(flags *flag.FlagSet) action {
			var roots repeated
			flags.Var(&roots, "root", "the URL must lie under this `ROOT`; may be repeated")
			return func(ctx context.Context, s *session, args []string) error {
				return s.each(ctx, args, func(_ context.Context, raw string) result { return judgeURL(raw, roots) })
			}
		},
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
		return refuseDomain("", err)
	}
	registrable, _ := domain.Registrable(u.Host())
	value := urlValue{
		Canonical: u.String(), Origin: u.Origin(), Host: u.Host(), Port: u.Port(), Path: u.Path(),
		RegistrableDomain: registrable, Display: plaintext.Host(u.Host()), Roots: []rootValue{},
	}
	rows := []row{{"canonical", value.Canonical}, {"host", value.Display}, {"registrable", orNone(registrable)}}
	var best domain.URL
	for _, raw := range roots {
		root, err := domain.Rules{RefuseQuery: true, RefuseFragment: true}.Parse(raw)
		if err != nil {
			return refuseDomain("--root "+plaintext.Quote(raw, maxShown), err)
		}
		contains := u.Under(root)
		value.Roots = append(value.Roots, rootValue{root.String(), contains})
		if contains && len(root.Segments()) >= len(best.Segments()) {
			best, value.Root = root, root.String()
		}
	}
	r := accept(value, rows...)
	switch {
	case len(roots) == 0:
	case best.IsZero():
		r = refuseAt(lookleap.Finding{Code: dvs.CodeOutsideTrustRoot, Message: "the URL lies under none of the roots",
			Fix: "use a URL of the same scheme, host and port whose path begins with the segments of a root"})
		r.Value, r.rows = value, rows
	default:
		r.rows = append(r.rows, row{"under", value.Root})
	}
	if u.FragmentDropped() {
		r = r.with(lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeOK,
			Message: "the fragment is dropped: it is never sent and never compared"})
	}
	return r
}

// refuseDomain shows an error of package domain with its place and fix; where
// says what was wrong, if it is not the input itself.
func refuseDomain(where string, err error) result {
	var bad *domain.Error
	if !errors.As(err, &bad) {
		return refuse(err)
	}
	message := bad.Message
	if bad.Part != "" {
		message += ", in " + plaintext.Quote(bad.Part, 80)
	}
	return refuseAt(lookleap.Finding{
		Code: lookleap.Code(bad.Code), Message: message, Fix: bad.Fix,
		Position: lookleap.Position{Line: 1, Column: bad.Offset + 1, Offset: bad.Offset, Path: where},
	})
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func wellknownCommand() command {
	return command{
		name:    "wellknown",
		args:    "URL… [--strict-media] [--cross-origin]",
		summary: "what an origin says at a well-known URI (RFC 8615)",
		about: `Takes a well-known URI apart, asks the origin for it and says what that came to.
Only a document that is present is accepted; an absent one is refused with the
code absent, and so on.

value: {
  "name":       the registered name
  "rest":       further path below it
  "status":     what the registry says: permanent, provisional or unregistered
  "reference":  the name's specification
  "state":      present, absent, forbidden or unavailable; "" if nothing was asked
  "result":     {"code", "origin", "url", "finalUrl", "status", "mediaType",
                 "crossOrigin", "retryAfter", "fetched", "expires", "findings"}
  "digest":     of the document
}`,
		examples: []string{
			"lookleap wellknown https://example.com/.well-known/security.txt",
			"lookleap --json wellknown https://example.com/.well-known/skills/index.json",
		},
		build: func(flags *flag.FlagSet) action {
			var o wellknown.Options
			flags.BoolVar(&o.StrictMedia, "strict-media", false, "refuse a document of another media type than its registration's")
			flags.BoolVar(&o.AllowCrossOriginRedirect, "cross-origin", false, "follow redirects to other origins")
			return func(ctx context.Context, s *session, args []string) error {
				host, err := s.Host()
				if err != nil {
					return err
				}
				client := wellknown.NewClient(host, o)
				return s.each(ctx, args, func(ctx context.Context, raw string) result { return judgeWellKnown(ctx, client, raw) })
			}
		},
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

// judgeWellKnown accepts a URI whose document is there.
func judgeWellKnown(ctx context.Context, client *wellknown.Client, raw string) result {
	uri, err := wellknown.Parse(raw)
	if err != nil {
		return refuseWellKnown(err)
	}
	if uri.Query != "" {
		return refuseAt(lookleap.Finding{Code: lookleap.CodeBadURL,
			Message: "the URL has a query, which is not a part of a well-known URI", Fix: "leave it out"})
	}
	entry := wellknown.Builtin().Lookup(uri.Name)
	value := wellknownValue{Name: uri.Name, Rest: uri.Rest, Status: entry.Status, Reference: entry.Reference}
	var rest []string
	if uri.Rest != "" {
		rest = strings.Split(uri.Rest, "/")
	}
	found, err := client.Fetch(ctx, uri.Origin, uri.Name, rest...)
	if err != nil {
		r := refuseWellKnown(err)
		r.Value = value
		return r
	}
	value.State, value.Result = found.State.String(), found
	rows := []row{{"name", fmt.Sprintf("%s (%s)", plaintext.Line(uri.Name), entry.Status)}, {"state", value.State}}
	if found.MediaType != "" {
		rows = append(rows, row{"media type", plaintext.Line(found.MediaType)})
	}
	r := result{Code: found.Code, Message: found.Code.Title(), Verdict: found.Verdict}
	if found.State == wellknown.Present {
		value.Digest = lookleap.Digest(found.Body)
		rows = append(rows, row{"bytes", fmt.Sprint(len(found.Body))}, row{"digest", value.Digest})
		r.OK, r.Message = true, accepted
	}
	r.Value, r.rows = value, rows
	return r.with(found.Findings...)
}

// refuseWellKnown shows what was refused unasked with its fix.
func refuseWellKnown(err error) result {
	var denied *lookleap.VerifyError
	var bad *lookleap.Error
	if errors.As(err, &denied) || !errors.As(err, &bad) {
		return refuse(err)
	}
	return refuseAt(lookleap.Finding{Code: bad.Code, Message: bad.Message, Fix: bad.Fix})
}
