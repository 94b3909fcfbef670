package lookleap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Host is everything that an embedding agent may plug in: one per process, used
// by pointer, its fields fixed before first use. Its zero value is safe and
// works: a guarded fetcher, a resolver, an in-process cache, and no consent to
// anything.
//
// A *Host is itself the effective [Fetcher], [Resolver] and [ConsentPrompter]:
// it fills in the defaults, which it builds once, turns a panic in a plug-in
// into a refusal, and reports an [Event] for each use. All its methods may be
// called from several goroutines at once.
//
// What belongs to one user (consents, disclosures, sessions) is kept elsewhere.
type Host struct {
	Fetcher  Fetcher         // nil: NewFetcher, resolving through this Host
	Resolver Resolver        // nil: NewResolver, validating over the system's servers
	Prompter ConsentPrompter // nil: nobody can be asked, so every consent is refused
	Cache    Cache           // nil: NewMemoryCache(DefaultCacheEntries)
	Plans    PlanLedger      // nil: a ledger of this process; share one where plans are resumed elsewhere

	Now     func() time.Time             // nil: time.Now
	Observe func(context.Context, Event) // nil: nobody watches. LogEvents adapts a logger

	build    sync.Once
	defaults hostDefaults
	closed   atomic.Bool
}

// hostDefaults are the parts in effect: the plugged-in ones, and ours for the rest.
type hostDefaults struct {
	fetcher  Fetcher
	resolver Resolver
	cache    Cache
	plans    PlanLedger
	owned    []io.Closer
}

// ErrClosed is any use of a [Host] after its Close.
var ErrClosed = errors.New("the host is closed")

func (h *Host) parts() *hostDefaults {
	h.build.Do(func() {
		d := &h.defaults
		if d.resolver = h.Resolver; d.resolver == nil {
			d.resolver = h.defaultResolver()
		}
		if d.fetcher = h.Fetcher; d.fetcher == nil {
			d.fetcher = NewFetcher(FetcherOptions{Resolver: h, Now: h.Time})
		}
		if d.cache = h.Cache; d.cache == nil {
			d.cache = NewMemoryCache(DefaultCacheEntries)
		}
		if d.plans = h.Plans; d.plans == nil {
			d.plans = &memoryLedger{now: h.Time, done: make(map[string]time.Time)}
		}
		if c, ok := d.fetcher.(io.Closer); ok && h.Fetcher == nil {
			d.owned = append(d.owned, c)
		}
		if c, ok := d.resolver.(io.Closer); ok && h.Resolver == nil {
			d.owned = append(d.owned, c)
		}
	})
	return &h.defaults
}

// defaultResolver validates. Building it reads no file and cannot fail; should
// that change, every lookup says so rather than go without validation.
func (h *Host) defaultResolver() Resolver {
	r, err := NewResolver(ResolverOptions{Now: h.Time})
	if err != nil {
		return failedResolver{err}
	}
	return r
}

type failedResolver struct{ err error }

func (r failedResolver) Lookup(_ context.Context, name string, t RRType) (*Answer, error) {
	return nil, &LookupError{Name: name, Type: t, Err: r.err}
}

// Close frees the defaults that the Host built: idle connections and sockets.
// Plugged-in parts stay their owner's. Later uses give [ErrClosed]; closing
// twice is fine.
func (h *Host) Close() error {
	parts := h.parts()
	if h.closed.Swap(true) {
		return nil
	}
	var errs []error
	for _, c := range parts.owned {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Time is the time by the Host's clock. A clock that panics gives the end of the
// year 9999, when everything has expired.
func (h *Host) Time() (now time.Time) {
	defer func() {
		if recover() != nil {
			now = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
		}
	}()
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

// SharedCache is the cache in effect. A panic in it is an error, and so a miss.
func (h *Host) SharedCache() Cache { return hostCache{h.parts().cache} }

// Report hands an event to Observe. A missing time is filled in; a panic in
// Observe is dropped, since watching must not change what happens.
func (h *Host) Report(ctx context.Context, e Event) {
	if h.Observe == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = h.Time()
	}
	defer func() { _ = recover() }()
	h.Observe(ctx, e)
}

// RoundTrip performs one exchange through the effective [Fetcher]. It never
// follows a redirect, and refuses the answer of a Fetcher that followed one or
// sent the request again. How long a body may take is bounded by the Fetcher: see
// [FetcherOptions] for the default one; the request's context bounds others.
func (h *Host) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	start := h.Time()
	defer func() {
		e := Event{Kind: EventFetch, Code: CodeOf(err), Duration: h.Time().Sub(start), Err: err}
		if req.URL != nil {
			e.Subject = req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
		}
		if resp != nil {
			e.Status = resp.StatusCode
		}
		h.Report(req.Context(), e)
	}()
	if h.closed.Load() {
		closeBody(req)
		return nil, fmt.Errorf("lookleap: fetching: %w", ErrClosed)
	}
	defer func() {
		if p := recover(); p != nil {
			closeBody(req)
			resp, err = nil, &pluginError{part: "Fetcher", cause: p}
		}
	}()
	resp, err = h.exchange(req)
	switch {
	case err != nil: // an answer beside an error is none
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, err
	case resp == nil:
		return nil, &pluginError{part: "Fetcher", cause: "it gave neither an answer nor an error"}
	}
	return resp, nil
}

// exchange holds a plugged-in Fetcher to its contract. That of this package
// holds itself to it.
func (h *Host) exchange(req *http.Request) (*http.Response, error) {
	fetcher := h.parts().fetcher
	if own, ok := fetcher.(*guardedFetcher); ok {
		return own.RoundTrip(req)
	}
	return roundtrip.Do(fetcher, req, roundtrip.Options{Fail: fetchError})
}

// closeBody keeps the promise of a RoundTripper to close the body always.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// Lookup asks the effective [Resolver].
func (h *Host) Lookup(ctx context.Context, name string, t RRType) (*Answer, error) {
	return h.lookup(ctx, name, t, Resolver.Lookup)
}

// LookupFresh asks past the cache of the effective [Resolver], where that is a
// [FreshResolver], for decisions that must not rest on what was true a while ago.
func (h *Host) LookupFresh(ctx context.Context, name string, t RRType) (*Answer, error) {
	return h.lookup(ctx, name, t, func(r Resolver, ctx context.Context, name string, t RRType) (*Answer, error) {
		if fresh, ok := r.(FreshResolver); ok {
			return fresh.LookupFresh(ctx, name, t)
		}
		return r.Lookup(ctx, name, t)
	})
}

func (h *Host) lookup(ctx context.Context, name string, t RRType, ask func(Resolver, context.Context, string, RRType) (*Answer, error)) (answer *Answer, err error) {
	start := h.Time()
	defer func() {
		e := Event{Kind: EventLookup, Code: lookupCode(err), Subject: name + " " + t.String(), Duration: h.Time().Sub(start), Err: err}
		h.Report(ctx, e)
		if e.Code == CodeDNSSECLimit { // a server that fails is daily business, an attack on validators is not
			h.Report(ctx, Event{Kind: EventFinding, Code: e.Code, Subject: e.Subject, Err: err, Finding: &Finding{
				Severity: Warning, Code: e.Code, Message: line(err.Error()), Fix: "do not use the name, and tell the operator of its zone",
			}})
		}
	}()
	if h.closed.Load() {
		return nil, fmt.Errorf("lookleap: looking up %s: %w", name, ErrClosed)
	}
	defer refusePanic("Resolver", &err)
	answer, err = ask(h.parts().resolver, roundtrip.Apart(ctx), name, t)
	switch {
	case err != nil:
		return nil, err // an answer beside an error is none
	case answer == nil:
		return nil, &pluginError{part: "Resolver", cause: "it gave neither an answer nor an error"}
	}
	return answer, nil
}

func lookupCode(err error) Code {
	if code := CodeOf(err); code != CodeInternal {
		return code
	}
	return CodeDNSError
}

// PromptConsent asks the user through the effective [ConsentPrompter]. Only a
// decision about this very request comes back without an error; nobody to ask,
// an error, a panic, a context's end and another digest are each a
// [*ConsentError], and "not decided yet" is an [ErrConsentPending].
func (h *Host) PromptConsent(ctx context.Context, req *ConsentRequest) (decision ConsentDecision, err error) {
	start := h.Time()
	defer func() {
		h.Report(ctx, Event{Kind: EventConsent, Code: CodeOf(err), Subject: req.ID, Duration: h.Time().Sub(start), Err: err})
	}()
	switch {
	case h.closed.Load():
		return ConsentDecision{}, &ConsentError{Code: CodeClosed, Reason: "the host is closed", Err: ErrClosed}
	case h.Prompter == nil:
		return ConsentDecision{}, &ConsentError{Code: CodeConsentNoPrompter, Reason: "nobody can be asked"}
	case !req.Kind.known():
		return ConsentDecision{}, &ConsentError{Code: CodeConsentUnknown, Reason: fmt.Sprintf("nobody can decide a request of kind %q", req.Kind)}
	case ctx.Err() != nil:
		return ConsentDecision{}, callerLeft(ctx)
	}
	decision, err = h.prompt(ctx, req)
	switch {
	case errors.Is(err, ErrConsentPending):
		return ConsentDecision{}, err
	case ctx.Err() != nil:
		return ConsentDecision{}, callerLeft(ctx)
	case err != nil:
		return ConsentDecision{}, &ConsentError{Code: CodeConsentFailed, Reason: "asking the user failed", Err: err}
	case decision.Digest != req.Digest:
		return ConsentDecision{}, &ConsentError{Code: CodeConsentMismatch, Reason: "the decision is about another request"}
	}
	return decision, nil
}

func callerLeft(ctx context.Context) error {
	return &ConsentError{Code: CodeOf(ctx.Err()), Reason: "the caller left before the user decided", Err: ctx.Err()}
}

// prompt runs the prompter aside, so that a caller who leaves is refused at
// once even when the dialogue does not notice. The dialogue gets a copy.
func (h *Host) prompt(ctx context.Context, req *ConsentRequest) (ConsentDecision, error) {
	type outcome struct {
		decision ConsentDecision
		err      error
	}
	done := make(chan outcome, 1)
	shown := req.clone()
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: &pluginError{part: "ConsentPrompter", cause: p}}
			}
			done <- o
		}()
		o.decision, o.err = h.Prompter.PromptConsent(ctx, shown)
	}()
	select {
	case o := <-done:
		return o.decision, o.err
	case <-ctx.Done():
		return ConsentDecision{}, ctx.Err()
	}
}

// Ask prompts for a plan. The result is an [*Approval]; a [*PendingError] that
// holds the plan's state when the user has not decided yet; or a
// [*ConsentError].
func (h *Host) Ask(ctx context.Context, p *Plan) (*Approval, error) {
	decision, err := h.PromptConsent(ctx, p.Request())
	if errors.Is(err, ErrConsentPending) {
		state, err := p.State()
		if err != nil {
			return nil, fmt.Errorf("lookleap: suspending a plan: %w", err)
		}
		return nil, &PendingError{Request: p.Request(), State: state}
	}
	if err != nil {
		return nil, err
	}
	return p.Approve(decision, h.Time())
}

// Commit runs the effect of an approved plan, once: the plan's id is in the
// ledger before effect is called, and stays there whatever effect answers,
// since nobody can know how much of it happened. A second commit is an
// [ErrAlreadyDone].
func (h *Host) Commit(ctx context.Context, a *Approval, effect func(ctx context.Context, bytes []byte) error) (err error) {
	p := a.Plan()
	if p == nil {
		return &ConsentError{Code: CodeConsentRefused, Reason: "there is no approval to commit"}
	}
	defer func() {
		h.Report(ctx, Event{Kind: EventPlan, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}()
	if h.closed.Load() {
		return fmt.Errorf("lookleap: committing plan %s: %w", p.ID(), ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("lookleap: committing plan %s: %w", p.ID(), err)
	}
	if !h.Time().Before(p.request.Expires) {
		return &ConsentError{Code: CodePlanExpired, Reason: "the plan expired before it was committed"}
	}
	if err := h.claim(ctx, p); err != nil {
		return fmt.Errorf("lookleap: plan %s: %w", p.ID(), err)
	}
	return effect(ctx, p.Effect())
}

func (h *Host) claim(ctx context.Context, p *Plan) (err error) {
	defer refusePanic("PlanLedger", &err)
	return h.parts().plans.Claim(ctx, p.ID(), p.request.Expires)
}

// pluginError is a plug-in that broke its contract. It counts as "no".
type pluginError struct {
	part  string
	cause any
}

func (e *pluginError) Error() string {
	return fmt.Sprintf("lookleap: the %s failed: %v", e.part, e.cause)
}

// refusePanic is deferred around the call of a plug-in: a panic becomes its error.
func refusePanic(part string, err *error) {
	if p := recover(); p != nil {
		*err = &pluginError{part: part, cause: p}
	}
}

// ReasonCode gives [CodeInternal].
func (e *pluginError) ReasonCode() Code { return CodeInternal }
