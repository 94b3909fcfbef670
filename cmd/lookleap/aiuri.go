package main

import (
	"context"
	"errors"
	"flag"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func aiuriCommand() command {
	return command{
		name:    "aiuri",
		args:    "URI… [--gateway BASE]",
		summary: "an ai: URI taken apart, and its URL at a gateway",
		about: `Reads ai: URIs (draft-sogomonian-ai-uri-scheme-01) and prints their normal form.
With --gateway the URL is given by which the gateway at that https base serves
them; a URI that cannot be mapped back to itself is refused.

value: {"normal", "authority", "host", "port", "path", "query", "fragment",
        "redacted": scheme and authority alone, for logs,
        "gateway": the URL at --gateway}`,
		examples: []string{
			"lookleap aiuri 'AI://Bank.example/pay?to=%6a'",
			"lookleap aiuri ai://bank.example/pay --gateway https://gateway.example/ai",
		},
		build: func(flags *flag.FlagSet) action {
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
				return s.each(ctx, args, func(_ context.Context, text string) result { return judgeAIURI(text, mapping) })
			}
		},
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
		r := refuseAIURI(err)
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
	rows := []row{{"normal form", plaintext.Line(value.Normal)}, {"authority", plaintext.Line(orNone(value.Authority))},
		{"path", plaintext.Line(orNone(value.Path))}}
	if mapping != nil {
		if value.Gateway, err = mapping.URL(u); err != nil {
			return refuseAIURI(err)
		}
		rows = append(rows, row{"at gateway", plaintext.Line(value.Gateway)})
	}
	return accept(value, rows...)
}

func refuseAIURI(err error) result {
	var bad *lookleap.Error
	if !errors.As(err, &bad) {
		return refuse(err)
	}
	message := bad.Message
	if bad.Err != nil {
		message += ": " + refuse(bad.Err).Message
	}
	return refuseAt(lookleap.Finding{Code: bad.Code, Message: message, Fix: bad.Fix, Position: bad.Position})
}
