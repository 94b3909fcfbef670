package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/strictjson"
)

func replayCommand() command {
	return command{
		name:    "replay",
		args:    "VERDICT-FILE|-… [--at TIME]",
		summary: "judge a stored verdict of trust again, offline",
		about: `Reads verdicts as JSON, or the results of lookleap --json trust that carry one, and
decides again from the claim and evidence in their record, at the time at which
they were decided or at --at TIME.

value: as that of lookleap trust`,
		examples: []string{
			"lookleap replay verdict.json --at 2026-08-01T00:00:00Z",
		},
		build: func(*flag.FlagSet) action {
			return func(ctx context.Context, s *session, args []string) error {
				return s.files(ctx, args, func(_ context.Context, _ string, content []byte) result {
					return replayVerdict(content, s.options.At)
				})
			}
		},
	}
}

func replayVerdict(content []byte, when time.Time) result {
	document, err := strictjson.Parse(content, strictjson.Limits{Size: len(content)})
	if err != nil {
		return refuse(coded{lookleap.CodeUsage, fmt.Errorf("it is not a verdict: %w", err)})
	}
	if wrapped, ok := document.Member("verdict"); ok {
		document = wrapped
	}
	verdict := new(lookleap.Verdict)
	if err := verdict.UnmarshalJSON([]byte(document.Source())); err != nil {
		return refuse(coded{lookleap.CodeUsage, err})
	}
	if when.IsZero() {
		when = verdict.CheckedAt
	}
	a, err := anmltrust.Replay(verdict, when)
	return showTrust(a, err, false)
}
