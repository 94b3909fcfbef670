package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func manifestCommand() command {
	return command{
		name:    "manifest",
		args:    "FILE|URL|-… --site D [--serving H] [--at TIME]",
		summary: "what a trust manifest says about a server",
		about: `Reads manifests (ANML section 12.3) and judges whether they speak for the site
now, or at --at TIME. With --serving, a server that the
manifest does not authorize is refused.

value: {
  "site", "issued", "expires":  of the manifest
  "entries":                    how many
  "listing":                    {"rank", "pattern", "tier", "scope"} of --serving
}`,
		examples: []string{
			"lookleap manifest anml-trust.json --site example.com",
			"lookleap manifest anml-trust.json --site example.com --serving shop.example.net --at 2026-08-01T00:00:00Z",
		},
		build: func(flags *flag.FlagSet) action {
			var site, serving string
			flags.StringVar(&site, "site", "", "the `DOMAIN` that the manifest should speak for")
			flags.StringVar(&serving, "serving", "", "the `HOST` that wants to speak for it")
			return func(ctx context.Context, s *session, args []string) error {
				if site == "" {
					return usagef("--site is missing")
				}
				return s.files(ctx, args, func(_ context.Context, _ string, content []byte) result {
					return judgeManifest(content, site, serving, s.options.Now())
				})
			}
		},
	}
}

type manifestValue struct {
	Site    string        `json:"site"`
	Issued  time.Time     `json:"issued"`
	Expires time.Time     `json:"expires"`
	Entries int           `json:"entries"`
	Listing *listingValue `json:"listing"`
}

type listingValue struct {
	Rank    string          `json:"rank"`
	Pattern string          `json:"pattern"`
	Tier    string          `json:"tier"`
	Scope   anmltrust.Scope `json:"scope"`
}

func judgeManifest(content []byte, site, serving string, now time.Time) result {
	m, err := anmltrust.ParseManifest(content)
	if err != nil {
		return refuseDocument(err)
	}
	value := manifestValue{Site: m.Site, Issued: m.Issued, Expires: m.Expires, Entries: m.Len()}
	r := accept(nil, row{"site", plaintext.Line(m.Site)}, row{"expires", m.Expires.Format(time.RFC3339)},
		row{"entries", fmt.Sprint(m.Len())})
	if findings, err := anmltrust.LintManifest(content, site, now); err == nil {
		r = r.with(findings...)
	}
	if at, code := m.Check(site, now); code != "" {
		r.OK, r.Code, r.Message = false, code, code.Title()+" (row "+at+")"
	}
	if serving != "" {
		server, err := anmltrust.ServerOf("https://" + serving + "/")
		if err != nil {
			return refuseDocument(err)
		}
		found := m.Lookup(server)
		rank := cmp.Or(found.Rank, "none")
		value.Listing = &listingValue{rank, found.Pattern, found.Tier.String(), found.Scope}
		r.rows = append(r.rows, row{"listing", fmt.Sprintf("%s %s", rank, plaintext.Line(found.Pattern))},
			row{"tier", found.Tier.String()}, row{"scope", found.Scope.String()})
		switch {
		case !r.OK:
		case found.Malformed:
			r.OK, r.Code = false, anmltrust.CodeManifestEntryMalformed
		case found.Rank == "":
			r.OK, r.Code = false, anmltrust.CodeNotListed
		}
		if !r.OK && r.Message == accepted {
			r.Message = r.Code.Title()
		}
	}
	r.Value = value
	return r
}
