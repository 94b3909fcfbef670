package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
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
	var wrapped struct {
		Verdict *lookleap.Verdict `json:"verdict"`
	}
	verdict := new(lookleap.Verdict)
	if err := json.Unmarshal(content, &wrapped); err == nil && wrapped.Verdict != nil {
		verdict = wrapped.Verdict
	} else if err := json.Unmarshal(content, verdict); err != nil {
		return refuse(coded{lookleap.CodeUsage, fmt.Errorf("it is not a verdict: %w", err)})
	}
	if when.IsZero() {
		when = verdict.CheckedAt
	}
	a, err := anmltrust.Replay(verdict, when)
	return showTrust(a, err, false)
}
