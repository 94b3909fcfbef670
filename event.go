package lookleap

import (
	"context"
	"log/slog"
	"time"
)

// EventKind says what an [Event] reports.
type EventKind string

// The kinds of event.
const (
	EventFetch   EventKind = "fetch"   // one HTTP exchange ended
	EventLookup  EventKind = "lookup"  // one DNS question was answered
	EventConsent EventKind = "consent" // a user was asked
	EventPlan    EventKind = "plan"    // a plan was committed, or refused at its commit
	EventVerdict EventKind = "verdict" // something was judged
	EventFinding EventKind = "finding" // something happened that somebody should look at
)

// Event is one thing that happened, for audit, metrics and traces. It carries
// no bodies, no query strings and no values of the user's.
type Event struct {
	Time     time.Time
	Kind     EventKind
	Code     Code          // how it ended
	Subject  string        // URL without query, DNS question, plan id, or subject of the verdict
	Duration time.Duration // of the exchange, lookup or prompt
	Status   int           // HTTP status of a fetch
	Verdict  *Verdict      // of a verdict
	Finding  *Finding      // of a finding
	Err      error         // what failed
}

// LogEvents adapts a structured logger to [Host.Observe]: failures as warnings,
// everything else as information.
func LogEvents(log *slog.Logger) func(context.Context, Event) {
	return func(ctx context.Context, e Event) {
		level := slog.LevelInfo
		if e.Err != nil || e.Code != CodeOK {
			level = slog.LevelWarn
		}
		attrs := []slog.Attr{slog.String("code", string(e.Code)), slog.String("subject", e.Subject)}
		if e.Duration > 0 {
			attrs = append(attrs, slog.Duration("duration", e.Duration))
		}
		if e.Status != 0 {
			attrs = append(attrs, slog.Int("status", e.Status))
		}
		if e.Verdict != nil {
			attrs = append(attrs, slog.Any("verdict", e.Verdict))
		}
		if e.Finding != nil {
			attrs = append(attrs, slog.String("finding", e.Finding.String()))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.String("error", e.Err.Error()))
		}
		log.LogAttrs(ctx, level, string(e.Kind), attrs...)
	}
}
