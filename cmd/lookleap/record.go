package main

import (
	"context"
	"flag"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func recordCommand() command {
	return command{
		name:    "record",
		args:    "TXT… [--site D]",
		summary: "what a TXT record at _anml.SITE says, and how to publish it",
		about: `Reads _anml records (ANML section 12.2). With --site the record is also judged as
the site's own, and the line of a zone file that publishes it is given.

value: {"manifest", "query", "canonical", "strings": of at most 255 bytes, "zone"}`,
		examples: []string{
			"lookleap record 'v=anml1; manifest=https://example.com/.well-known/anml-trust'",
			"lookleap record 'v=anml1; query=https://example.com/ask' --site example.com",
		},
		build: func(flags *flag.FlagSet) action {
			var site string
			flags.StringVar(&site, "site", "", "judge the record as that of this `DOMAIN`")
			return func(ctx context.Context, s *session, args []string) error {
				return s.each(ctx, args, func(_ context.Context, text string) result { return judgeRecord(text, site) })
			}
		},
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
		return refuseDocument(err)
	}
	value := recordValue{Manifest: record.Manifest, Query: record.Query, Canonical: record.String(), Strings: record.Strings()}
	rows := []row{{"manifest", plaintext.Line(orNone(record.Manifest))}, {"query", plaintext.Line(orNone(record.Query))}}
	if site != "" {
		if value.Zone, err = record.Zone(site, time.Hour); err != nil {
			return refuseDocument(err)
		}
		rows = append(rows, row{"zone", plaintext.Line(value.Zone)})
	}
	return accept(value, rows...)
}
