package main

import (
	"context"
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func trustCommand() command {
	return command{
		name:    "trust",
		args:    "SERVING-URL SITE [--fresh] [--explain]",
		summary: "whether a server may speak for a site (ANML section 12)",
		about: `Decides whether the document at SERVING-URL may speak for SITE: by the site's DNS
record, its manifest and its query endpoint. Tier 0 is refused, with the row of
the decision table and the reason.

  --fresh     ask again, as before an action with consequences
  --explain   print every check

value: {
  "tier":        self, full, display or unlisted
  "reason":      why
  "row":         of the decision table, docs/trust-procedure.md
  "scope":       sections that are the site's own words
  "truncated":   sections that were granted beyond the tier, and cut
  "sources":     URIs that granted it
  "dnssec":      of the site's record
  "expires":     until when it holds
}`,
		examples: []string{
			"lookleap trust https://shop.example.net/ example.com",
			"lookleap --json trust https://shop.example.net/ example.com --fresh",
		},
		build: func(flags *flag.FlagSet) action {
			var fresh, explain bool
			flags.BoolVar(&fresh, "fresh", false, "ask again, past every cache")
			flags.BoolVar(&explain, "explain", false, "print every check")
			return func(ctx context.Context, s *session, args []string) error {
				if len(args) != 2 {
					return usagef("give the URL that served the document, and the site that it claims")
				}
				if err := withoutStdin(args); err != nil {
					return err
				}
				host, err := s.Host()
				if err != nil {
					return err
				}
				args[0] = siteURL(args[0])
				verifier := anmltrust.NewVerifier(host, anmltrust.Rules{})
				verify := verifier.Verify
				if fresh {
					verify = verifier.VerifyFresh
				}
				return s.judge(ctx, args[0]+" "+args[1], func(ctx context.Context) result {
					if _, err := domain.Parse(args[0]); err != nil && !strings.Contains(args[0], "://") {
						return refuseDomain("", err) // not served over plain http: no URL at all
					}
					a, err := verify(ctx, anmltrust.Claim{URL: args[0], Site: args[1], Form: anmltrust.SiteElement})
					return showTrust(a, err, explain)
				})
			}
		},
	}
}

type trustValue struct {
	Tier      string          `json:"tier"`
	Reason    lookleap.Code   `json:"reason"`
	Row       string          `json:"row"`
	Scope     anmltrust.Scope `json:"scope"`
	Truncated anmltrust.Scope `json:"truncated"`
	Sources   []string        `json:"sources"`
	DNSSEC    lookleap.DNSSEC `json:"dnssec"`
	Expires   time.Time       `json:"expires,omitzero"`
}

func showTrust(a *anmltrust.Authorization, err error, explain bool) result {
	var no *lookleap.VerifyError
	if err != nil && !errors.As(err, &no) {
		return refuse(err)
	}
	var r result
	value := trustValue{Tier: anmltrust.Unlisted.String(), Sources: []string{}}
	if err != nil {
		r = refuse(err)
	} else {
		r = accept(nil)
		r.Verdict = a.Verdict
		value.Tier, value.Scope, value.Truncated = a.Tier.String(), a.Scope, a.Truncated
		value.DNSSEC, value.Expires = a.DNSSEC, a.Expires
		value.Sources = append(value.Sources, a.Sources...)
	}
	value.Row = anmltrust.Row(r.Verdict)
	if r.Verdict != nil {
		value.Reason = r.Verdict.Code
	}
	r.Value = value
	r.rows = []row{{"tier", value.Tier}, {"reason", string(value.Reason)}, {"row", value.Row}}
	if a != nil {
		r.rows = append(r.rows, row{"scope", a.Scope.String()}, row{"dnssec", a.DNSSEC.String()})
	}
	for _, source := range value.Sources {
		r.rows = append(r.rows, row{"source", plaintext.Line(source)})
	}
	if explain && r.Verdict != nil {
		r.rows = append(r.rows, outputRows(r.Verdict.String())...)
	}
	return r
}
