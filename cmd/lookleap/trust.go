package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/strictjson"
)

func trustCommand(flags *flag.FlagSet) action {
	var fresh, explain bool
	flags.BoolVar(&fresh, "fresh", false, "ask again, past every cache")
	flags.BoolVar(&explain, "explain", false, "print every check")
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) != 2 {
			return usagef("give the URL that served the document, and the site that it claims")
		}
		args[0] = siteURL(args[0])
		verifier := anmltrust.NewVerifier(s.host, anmltrust.Rules{})
		verify := verifier.Verify
		if fresh {
			verify = verifier.VerifyFresh
		}
		return s.judge(ctx, args[0]+" "+args[1], func(ctx context.Context, _ string) result {
			if _, err := domain.Parse(args[0]); err != nil && !strings.Contains(args[0], "://") {
				return refuse(err) // not served over plain http: no URL at all
			}
			a, err := verify(ctx, anmltrust.Claim{URL: args[0], Site: args[1], Form: anmltrust.SiteElement})
			return showTrust(a, err, explain)
		})
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
	value := trustValue{Tier: anmltrust.Unlisted.String(), Sources: []string{}}
	r := accept(nil)
	if err != nil {
		r = refuse(err)
		if r.Verdict == nil {
			return r
		}
	} else {
		r.Verdict = a.Verdict
		value.Tier, value.Scope, value.Truncated = a.Tier.String(), a.Scope, a.Truncated
		value.DNSSEC, value.Expires = a.DNSSEC, a.Expires
		value.Sources = append(value.Sources, a.Sources...)
	}
	value.Row, value.Reason = anmltrust.Row(r.Verdict), r.Verdict.Code
	r.Value = value
	r.rows = []row{{"tier", value.Tier}, {"reason", string(value.Reason)}, {"row", value.Row}}
	if a != nil {
		r.row("scope", a.Scope.String())
		r.row("dnssec", a.DNSSEC.String())
	}
	for _, source := range value.Sources {
		r.row("source", source)
	}
	if explain {
		r.rows = append(r.rows, linesOf(r.Verdict.String())...)
	}
	return r
}

func recordCommand(flags *flag.FlagSet) action {
	var site string
	flags.StringVar(&site, "site", "", "judge the record as that of this `DOMAIN`")
	return func(ctx context.Context, s *session, args []string) error {
		return s.words(ctx, args, func(_ context.Context, text string) result { return judgeRecord(text, site) })
	}
}

type recordValue struct {
	Manifest  string   `json:"manifest"`
	Query     string   `json:"query"`
	Canonical string   `json:"canonical"`
	Strings   []string `json:"strings"`
	Zone      string   `json:"zone"`
}

func judgeRecord(text, site string) result {
	record, err := anmltrust.ParseRecord(text)
	if err != nil {
		return refuse(err)
	}
	value := recordValue{Manifest: record.Manifest, Query: record.Query, Canonical: record.String(), Strings: record.Strings()}
	r := accept(nil, row{"manifest", cmp.Or(record.Manifest, "none")}, row{"query", cmp.Or(record.Query, "none")})
	if site != "" {
		if value.Zone, err = record.Zone(site, time.Hour); err != nil {
			return refuse(err)
		}
		r.row("zone", value.Zone)
	}
	r.Value = value
	return r
}

func manifestCommand(flags *flag.FlagSet) action {
	var site, serving string
	flags.StringVar(&site, "site", "", "the `DOMAIN` that the manifest should speak for")
	flags.StringVar(&serving, "serving", "", "the `HOST` that wants to speak for it")
	return func(ctx context.Context, s *session, args []string) error {
		if site == "" {
			return usagef("--site is missing")
		}
		return s.files(ctx, args, func(content []byte) result {
			return judgeManifest(content, site, serving, s.options.Now())
		})
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
		return refuse(err)
	}
	value := manifestValue{Site: m.Site, Issued: m.Issued, Expires: m.Expires, Entries: m.Len()}
	r := accept(nil, row{"site", m.Site}, row{"expires", m.Expires.Format(time.RFC3339)}, row{"entries", fmt.Sprint(m.Len())})
	if findings, err := anmltrust.LintManifest(content, site, now); err == nil {
		r.Findings = findings
	}
	if at, code := m.Check(site, now); code != "" {
		r.OK, r.Code, r.Message = false, code, code.Title()+" (row "+at+")"
	}
	if serving != "" {
		server, err := anmltrust.ServerOf("https://" + serving + "/")
		if err != nil {
			return refuse(err)
		}
		found := m.Lookup(server)
		rank := cmp.Or(found.Rank, "none")
		value.Listing = &listingValue{rank, found.Pattern, found.Tier.String(), found.Scope}
		r.row("listing", rank+" "+found.Pattern)
		r.row("tier", found.Tier.String())
		r.row("scope", found.Scope.String())
		code := lookleap.Code("")
		if found.Malformed {
			code = anmltrust.CodeManifestEntryMalformed
		} else if found.Rank == "" {
			code = anmltrust.CodeNotListed
		}
		if r.OK && code != "" {
			r.OK, r.Code, r.Message = false, code, code.Title()
		}
	}
	r.Value = value
	return r
}

func replayCommand(*flag.FlagSet) action {
	return func(ctx context.Context, s *session, args []string) error {
		return s.files(ctx, args, func(content []byte) result {
			return replayVerdict(content, s.options.At)
		})
	}
}

func replayVerdict(content []byte, when time.Time) result {
	document, err := strictjson.Parse(content, strictjson.Limits{Size: len(content)})
	if err != nil {
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage, Message: "it is not a verdict", Err: err})
	}
	if wrapped, ok := document.Member("verdict"); ok {
		document = wrapped
	}
	verdict := new(lookleap.Verdict)
	if err := verdict.UnmarshalJSON([]byte(document.Source())); err != nil {
		return refuse(&lookleap.Error{Code: lookleap.CodeUsage, Err: err})
	}
	if when.IsZero() {
		when = verdict.CheckedAt
	}
	a, err := anmltrust.Replay(verdict, when)
	return showTrust(a, err, false)
}
