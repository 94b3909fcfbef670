package lookleap

import (
	"context"
	"log/slog"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/plugin"
)

// EventKind says what an [Event] reports.
type EventKind string

// The kinds of event.
const (
	EventFetch   EventKind = "fetch"   // one HTTP exchange ended
	EventLookup  EventKind = "lookup"  // one DNS question was answered
	EventConsent EventKind = "consent" // a user was asked
	EventPlan    EventKind = "plan"    // a plan was committed, or refused at its commit
	EventVerdict EventKind = "verdict" // a check ended with a verdict
	EventFinding EventKind = "finding" // something happened that an operator should look at
)

// Event reports one thing that happened, for audit logs, metrics and traces. It contains
// no bodies, query strings or user data.
type Event struct {
	Time     time.Time
	Kind     EventKind
	Code     Code          // CodeOK, or why it failed
	Subject  string        // URL without query and user information, DNS question, plan id, or subject of the verdict
	Duration time.Duration // of the exchange, lookup or prompt
	Status   int           // HTTP status of a fetch
	Shown    string        // digest of the request that the user was shown, of a consent or a plan
	Verdict  *Verdict      // of a verdict
	Finding  *Finding      // of a finding
	Err      error         // what failed
}

type observedKey struct{}

// Report passes an event to Observe and fills in the time if it is missing. A panic in
// Observe is ignored. Report waits for Observe for at most 10 seconds; after such a call,
// events are dropped for 5 seconds or until the call returns.
//
// Events of calls that Observe itself makes on this Host are dropped. On another
// goroutine, Observe must make such calls with the context that it was given.
func (h *Host) Report(ctx context.Context, e Event) {
	if !h.isObserved() {
		return
	}
	ctx = h.enter(ctx)
	if ctx.Value(observedKey{}) == h {
		return
	}
	if e.Time.IsZero() {
		e.Time = h.Time()
	}
	h.observe(context.WithValue(ctx, observedKey{}, h), e)
}

// isObserved reports whether events reach anyone.
func (h *Host) isObserved() bool { return h != nil && h.Observe != nil }

// observe calls Observe and waits for it for a limited time. The end of ctx does not
// shorten the wait, so that the events of cancelled calls are reported too.
func (h *Host) observe(ctx context.Context, e Event) {
	bound := h.parts().observeCalls
	if bound.Resting() {
		return
	}
	_, _ = plugin.Await(context.WithoutCancel(ctx), bound, func(context.Context) (_ struct{}, err error) {
		defer partObserve.guard(&err)
		h.callObserve(ctx, e)
		return
	})
}

// callObserve is a function of its own because underObserve looks for its name.
//
//go:noinline
func (h *Host) callObserve(ctx context.Context, e Event) {
	h.observing.Add(1)
	defer h.observing.Add(-1)
	h.Observe(ctx, e)
}

// enter marks the context of a call that Observe makes. While Observe runs, enter also
// searches the stack, because Observe may use another context than it was given.
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
		if strings.HasSuffix(frame.Function, "lookleap.(*Host).callObserve") {
			return true
		}
		if !more {
			return false
		}
	}
}

// withoutSecrets returns a URL without user information and fragment, and with "?…" in
// place of a query, so that it may appear in events, logs and verdicts.
func withoutSecrets(u *url.URL) string {
	text := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" || u.ForceQuery {
		text += "?\u2026"
	}
	return text
}

// LogEvents returns a function for [Host.Observe] that writes events to a logger:
// failures at the level of warnings, all other events as information.
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
		if e.Shown != "" {
			attrs = append(attrs, slog.String("shown", e.Shown))
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
