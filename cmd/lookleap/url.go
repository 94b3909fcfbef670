package main

import (
	"context"
	"errors"
	"flag"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
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
