package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func aiipCommand() command {
	return command{
		name:    "aiip",
		sites:   true,
		args:    "URL… [--bootstrap]",
		summary: "the AI endpoint that a page or origin advertises",
		about: `Looks for an AI endpoint: the origin's well-known document, the page's Link header
and head, and with --bootstrap the DNS; and asks the endpoint's own authority.

value: {
  "endpoint":    the ai: URI
  "source":      the advertisement that counts
  "candidates":  [{"source", "endpoint"}], all advertisements
  "confirmed":   whether the authority's own document names the endpoint
  "document":    the origin whose document states keys and policy, "" if there is no document
  "jwks":        where the keys are
  "scopes":      that may be asked for
}`,
		examples: []string{
			"lookleap aiip https://example.com/",
			"lookleap --json aiip https://example.com/shop --bootstrap",
		},
		build: func(flags *flag.FlagSet) action {
			var o aiuri.DiscovererOptions
			flags.BoolVar(&o.DNS, "bootstrap", false, "look into the DNS too")
			return func(ctx context.Context, s *session, args []string) error {
				host, err := s.Host()
				if err != nil {
					return err
				}
				discoverer := aiuri.NewDiscoverer(host, o)
				return s.each(ctx, args, func(ctx context.Context, page string) result { return discoverAIIP(ctx, discoverer, page) })
			}
		},
	}
}

type aiipValue struct {
	Endpoint   string          `json:"endpoint"`
	Source     string          `json:"source"`
	Candidates []aiipCandidate `json:"candidates"`
	Confirmed  bool            `json:"confirmed"`
	Document   string          `json:"document"`
	JWKS       string          `json:"jwks"`
	Scopes     []string        `json:"scopes"`
}

type aiipCandidate struct {
	Source   string `json:"source"`
	Endpoint string `json:"endpoint"`
}

func discoverAIIP(ctx context.Context, discoverer *aiuri.Discoverer, page string) result {
	if _, err := domain.Parse(page); err != nil {
		return refuseDomain("", err)
	}
	found, err := discoverer.Discover(ctx, page)
	if err != nil {
		r := refuseAIURI(err)
		r.Verdict = refuse(err).Verdict
		return r
	}
	value := aiipValue{
		Endpoint: found.Endpoint.String(), Source: fmt.Sprint(found.Source), Candidates: []aiipCandidate{},
		Confirmed: found.Confirmed, Document: found.DocumentOrigin, Scopes: []string{},
	}
	for _, c := range found.Candidates {
		value.Candidates = append(value.Candidates, aiipCandidate{fmt.Sprint(c.Source), c.Endpoint.String()})
	}
	if found.Document != nil {
		value.JWKS = found.Document.JWKS
		value.Scopes = append(value.Scopes, found.Document.Scopes...)
	}
	r := accept(value,
		row{"endpoint", plaintext.Line(value.Endpoint)}, row{"source", value.Source},
		row{"confirmed", fmt.Sprint(value.Confirmed)}, row{"keys", plaintext.Line(orNone(value.JWKS))})
	r.Verdict = found.Verdict
	return r.with(aiuri.Lint(found)...)
}
