package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/domain"
)

func aiuriCommand(flags *flag.FlagSet) action {
	var base string
	flags.StringVar(&base, "gateway", "", "map to the gateway at this https `BASE`")
	return func(ctx context.Context, s *session, args []string) error {
		var mapping *aiuri.Mapping
		if base != "" {
			m, err := aiuri.NewMapping(base)
			if err != nil {
				return usagef("--gateway: %v", err)
			}
			mapping = &m
		}
		return s.words(ctx, args, func(_ context.Context, text string) result { return judgeAIURI(text, mapping) })
	}
}

type aiuriValue struct {
	Normal    string `json:"normal"`
	Authority string `json:"authority"`
	Host      string `json:"host"`
	Port      string `json:"port"`
	Path      string `json:"path"`
	Query     string `json:"query"`
	Fragment  string `json:"fragment"`
	Redacted  string `json:"redacted"`
	Gateway   string `json:"gateway"`
}

// judgeAIURI accepts a URI that is well-formed and, with a gateway, maps to it.
func judgeAIURI(text string, mapping *aiuri.Mapping) result {
	u, err := aiuri.Parse(text)
	if err != nil {
		r := refuse(err)
		for i := range r.Findings { // a URI is one line
			r.Findings[i].Line, r.Findings[i].Column = 1, r.Findings[i].Offset+1
		}
		return r
	}
	n := u.Normalize()
	value := aiuriValue{Normal: n.String(), Authority: n.Authority(), Host: n.Host(), Port: n.Port(), Path: n.Path(),
		Redacted: n.Redacted()}
	value.Query, _ = n.Query()
	value.Fragment, _ = n.Fragment()
	r := accept(nil, row{"normal form", value.Normal}, row{"authority", cmp.Or(value.Authority, "none")}, row{"path", cmp.Or(value.Path, "none")})
	if mapping != nil {
		if value.Gateway, err = mapping.URL(u); err != nil {
			return refuse(err)
		}
		r.row("at gateway", value.Gateway)
	}
	r.Value = value
	return r
}

func aiipCommand(flags *flag.FlagSet) action {
	var o aiuri.DiscovererOptions
	flags.BoolVar(&o.DNS, "bootstrap", false, "look into the DNS too")
	return func(ctx context.Context, s *session, args []string) error {
		discoverer := aiuri.NewDiscoverer(s.host, o)
		return s.words(ctx, args, func(ctx context.Context, page string) result { return discoverAIIP(ctx, discoverer, page) })
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
		return refuse(err)
	}
	found, err := discoverer.Discover(ctx, page)
	if err != nil {
		return refuseCause(err)
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
	r := accept(value, row{"endpoint", value.Endpoint}, row{"source", value.Source},
		row{"confirmed", fmt.Sprint(value.Confirmed)}, row{"keys", cmp.Or(value.JWKS, "none")})
	r.Verdict = found.Verdict
	return r.with(aiuri.Lint(found)...)
}
