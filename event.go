package lookleap

import (
	"context"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
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
	Subject  string        // URL without query and user information, DNS question, plan id, or subject of the verdict
	Duration time.Duration // of the exchange, lookup or prompt
	Status   int           // HTTP status of a fetch
	Verdict  *Verdict      // of a verdict
	Finding  *Finding      // of a finding
	Err      error         // what failed
}

type observedKey struct{}

// Report hands an event to Observe. A missing time is filled in; a panic in
// Observe is dropped, since watching must not change what happens. Events of
// what Observe itself does through this Host are dropped; on another goroutine
// it has to use the context that it was given, by which they are known.
func (h *Host) Report(ctx context.Context, e Event) {
	if h == nil || h.Observe == nil {
		return
	}
	if ctx = h.enter(ctx); ctx.Value(observedKey{}) == h {
		return
	}
	if e.Time.IsZero() {
		e.Time = h.Time()
	}
	h.observe(context.WithValue(ctx, observedKey{}, h), e)
}

//go:noinline
func (h *Host) observe(ctx context.Context, e Event) {
	h.observing.Add(1)
	defer h.observing.Add(-1)
	defer func() { _ = recover() }()
	h.Observe(ctx, e)
}

// enter marks the context of a call that Observe makes. Observe may have dropped
// the context that it got, so while it runs the stack is searched, too.
func (h *Host) enter(ctx context.Context) context.Context {
	if h == nil || h.observing.Load() == 0 || ctx.Value(observedKey{}) == h || !underObserve() {
		return ctx
	}
	return context.WithValue(ctx, observedKey{}, h)
}

// underObserve reports whether an Observe is among the callers.
func underObserve() bool {
	var pcs [256]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "lookleap.(*Host).observe") {
			return true
		}
		if !more {
			return false
		}
	}
}

// withoutSecrets returns a URL as events, logs and verdicts may hold it: a query
// is "?…", and there is no user information and no fragment.
func withoutSecrets(u *url.URL) string {
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" || u.ForceQuery {
		text += "?\u2026"
	}
	return text
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
