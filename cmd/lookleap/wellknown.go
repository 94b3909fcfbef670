package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/wellknown"
)

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
