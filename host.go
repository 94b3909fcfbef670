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

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Host holds what an embedding agent can plug in. A process usually has one Host,
// which is used by pointer. Its fields must not be changed after the first use. The
// zero Host is safe and works: it has a guarded fetcher, a validating resolver and an
// in-process cache, and it approves nothing.
//
// A *Host is itself a [Fetcher], a [Resolver] and a [ConsentPrompter]. It builds the
// defaults once, turns a panic in a plug-in into an error, and reports an [Event] for
// each use. Its methods may be called from several goroutines at once. The methods of
// a nil *Host return an error with [CodeUsage].
//
// A Host holds no user data. Consents, disclosures and sessions belong to the document
// packages.
type Host struct {
	Fetcher  Fetcher         // nil: NewFetcher, resolving through this Host
	Resolver Resolver        // nil: NewResolver, validating over the system's servers
	Prompter ConsentPrompter // nil: no one can be asked, so every consent is refused
	Cache    Cache           // nil: NewMemoryCache(DefaultCacheEntries)
	Plans    Store           // nil: a store in memory that all Hosts of this process share; see PlanState
	Limiter  Limiter         // nil: a NewMemoryLimiter of this Host, on its clock

	Asking  AskLimits                    // how often users are asked; zero: the defaults
	Now     func() time.Time             // nil: time.Now
	Observe func(context.Context, Event) // nil: events are dropped. LogEvents adapts a logger

	// Record is called with what becomes of each plan that a user decided about: before its effect, which
	// is then not begun if Record returns an error, and after it, or if the user refused. A process that dies
	// in between has recorded that the effect was about to begin. Nil: Plans alone has it. Package
	// contrib/receipt makes signed receipts of it.
	Record func(context.Context, PlanOutcome) error

	build     sync.Once
	defaults  hostDefaults
	closed    atomic.Bool
	asking    asking
	cacheTime latestTime
	observing atomic.Int32 // calls of Observe that have not returned
}

// hostDefaults are the parts that a Host uses: the plugged-in ones, and defaults for the rest.
type hostDefaults struct {
	fetcher  Fetcher
	resolver Resolver
	cache    Cache
	plans    Store
	limiter  Limiter
	owned    []io.Closer

	// The bounds of calls of plugged-in parts; nil for a default, which needs none.
	lookups, cacheCalls, planCalls, limitCalls, observeCalls, recordCalls *plugin.Bound
}

// ErrClosed is the error of using a [Host] after its Close.
var ErrClosed = coded.New(string(CodeClosed), "the host is closed")

// errNoHost is the error of using a nil *Host.
var errNoHost = usageError("the host is nil")

// usable returns an error if the Host is nil or closed.
func (h *Host) usable() error {
	switch {
	case h == nil:
		return errNoHost
	case h.closed.Load():
		return ErrClosed
	}
	return nil
}

func (h *Host) parts() *hostDefaults {
	h.build.Do(func() {
		d := &h.defaults
		d.observeCalls = partObserve.bounded(observeWait, observeCalls)
		d.recordCalls = partRecord.bounded(storeWait, storeCalls)
		d.lookups = partResolver.bounded(resolverWait, resolverCalls)
		d.resolver = h.Resolver
		if d.resolver == nil {
			d.resolver, _ = NewResolver(ResolverOptions{Now: h.Time}) // it has no servers and anchors that could be invalid
			d.lookups = nil
			d.owned = append(d.owned, d.resolver.(io.Closer))
		}
		d.fetcher = h.Fetcher
		if d.fetcher == nil {
			d.fetcher = NewFetcher(FetcherOptions{Resolver: h, Now: h.Time})
			d.owned = append(d.owned, d.fetcher.(io.Closer))
		}
		d.cacheCalls = partCache.bounded(cacheWait, cacheCalls)
		d.cache = h.Cache
		if d.cache == nil {
			d.cache, d.cacheCalls = NewMemoryCache(DefaultCacheEntries), nil
		}
		d.planCalls = partPlans.bounded(storeWait, storeCalls)
		d.plans = h.Plans
		if d.plans == nil {
			d.plans, d.planCalls = processPlans, nil
		}
		d.limitCalls = partLimiter.bounded(limiterWait, limiterCalls)
		d.limiter = h.Limiter
		if d.limiter == nil {
			d.limiter, d.limitCalls = newMemoryLimiter(maxCounted, h.Time), nil
		}
	})
	return &h.defaults
}

// Close frees the idle connections and sockets of the defaults that the Host built. It
// does not close plugged-in parts. Later uses of the Host return [ErrClosed]. Close may
// be called more than once.
func (h *Host) Close() error {
	if h == nil {
		return nil
	}
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

// Time returns the time of the Host's clock. If the clock panics, it returns the end of
// the year 9999, so that everything counts as expired.
func (h *Host) Time() time.Time {
	now, _ := h.clock()
	return now
}

// clock is Time that also returns an error if the clock panics.
func (h *Host) clock() (now time.Time, err error) {
	if h == nil || h.Now == nil {
		return time.Now(), nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			now = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
			err = partClock.failed(panicText(cause))
		}
	}()
	return h.Now(), nil
}

// SharedCache returns the cache that the Host uses. A panic in a plugged-in cache is an
// error, and so is a call that does not return within 2 seconds; both count as a miss.
// After such a call the Host does not wait for the cache for 5 seconds, or until a call
// succeeds. An expired entry is a miss, and remains one if the Host's clock is set back.
func (h *Host) SharedCache() Cache {
	if h == nil {
		return hostCache{cache: noCache{}}
	}
	return hostCache{h.parts().cache, h.parts().cacheCalls, h}
}

// noCache is the cache of a nil *Host.
type noCache struct{}

func (noCache) Get(context.Context, string) ([]byte, time.Time, error) {
	return nil, time.Time{}, errNoHost
}
func (noCache) Put(context.Context, string, []byte, time.Time) error { return errNoHost }
func (noCache) Delete(context.Context, string) error                 { return errNoHost }

// RoundTrip sends one request through the Host's [Fetcher] and returns the response. It
// does not follow redirects. It returns an error if the Fetcher followed a redirect or
// sent the request twice. The default Fetcher bounds the time that the body may take
// (see [FetcherOptions]); for other Fetchers, use the context of the request.
func (h *Host) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if req == nil || req.URL == nil {
		return nil, partFetcher.failed("the request has no URL")
	}
	if ctx := h.enter(req.Context()); ctx != req.Context() {
		req = req.WithContext(ctx)
	}
	if h.isObserved() {
		start, asked := h.Time(), req // a closure over req, which changes above, would move it to the heap
		defer func() {
			e := Event{Kind: EventFetch, Code: CodeOf(err), Subject: withoutSecrets(asked.URL), Duration: h.Time().Sub(start), Err: err}
			if resp != nil {
				e.Status = resp.StatusCode
			}
			h.Report(asked.Context(), e)
		}()
	}
	if err := h.usable(); err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err = h.exchange(req)
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, partFetcher.failed("it returned neither a response nor an error")
	}
	if h.Fetcher != nil && resp.Body != nil {
		resp.Body = guardedBody{resp.Body}
	}
	return resp, nil
}

// exchange checks that a plugged-in Fetcher obeys its contract. The Fetcher of this
// package does so by itself. A Fetcher that panics may have left the body open.
func (h *Host) exchange(req *http.Request) (resp *http.Response, err error) {
	returned := false
	defer func() {
		if !returned {
			closeBody(req)
		}
	}()
	defer partFetcher.guard(&err)
	fetcher := h.parts().fetcher
	if own, ok := fetcher.(*guardedFetcher); ok {
		resp, err = own.RoundTrip(req)
	} else {
		resp, err = roundtrip.Do(fetcher, req, roundtrip.Options{Fail: fetchError})
		if CodeOf(err) == CodeInternal {
			err = partFetcher.coded(err)
		}
	}
	returned = true
	return resp, err
}

// closeBody closes the body of a request, as every RoundTripper must.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// Lookup looks up a name with the Host's [Resolver].
func (h *Host) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return h.lookup(ctx, name, t, Resolver.Lookup)
}

// LookupFresh is Lookup without the cache of the Host's [Resolver], if that is a
// [FreshResolver]. It is for decisions that must not use an earlier answer.
func (h *Host) LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return h.lookup(ctx, name, t, func(r Resolver, ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
		if fresh, ok := r.(FreshResolver); ok {
			return fresh.LookupFresh(ctx, name, t)
		}
		return r.Lookup(ctx, name, t)
	})
}

func (h *Host) lookup(ctx context.Context, name string, t RRType,
	ask func(Resolver, context.Context, string, RRType) (*DNSAnswer, error)) (answer *DNSAnswer, err error) {
	ctx = h.enter(ctx)
	start := h.Time()
	defer func() {
		e := Event{Kind: EventLookup, Code: CodeOf(err), Subject: name + " " + t.String(), Duration: h.Time().Sub(start), Err: err}
		h.Report(ctx, e)
		if e.Code == CodeDNSSECLimit { // unlike the failure of a server, this may be an attack on validators
			h.Report(ctx, Event{Kind: EventFinding, Code: e.Code, Subject: e.Subject, Err: err, Finding: &Finding{
				Severity: SeverityWarning, Code: e.Code, Message: line(err.Error()),
				Fix: "do not use the name, and tell the operator of its zone",
			}})
		}
	}()
	if err := h.usable(); err != nil {
		return nil, err
	}
	parts := h.parts()
	answer, err = plugin.Await(roundtrip.Apart(ctx), parts.lookups, func(ctx context.Context) (_ *DNSAnswer, err error) {
		defer partResolver.guard(&err)
		return ask(parts.resolver, ctx, name, t)
	})
	switch {
	case err != nil:
		return nil, partResolver.coded(err) // an answer next to an error does not count
	case answer == nil:
		return nil, partResolver.failed("it returned neither an answer nor an error")
	}
	return answer, nil
}

// part names a plug-in of a [Host].
type part struct {
	name string
	code Code
}

var (
	partFetcher  = part{"Fetcher", CodeFetcherFailed}
	partResolver = part{"Resolver", CodeResolverFailed}
	partPrompter = part{"ConsentPrompter", CodeConsentFailed}
	partCache    = part{"Cache", CodeCacheFailed}
	partPlans    = part{"store of plans", CodeLedgerFailed}
	partLimiter  = part{"Limiter", CodeLimiterFailed}
	partClock    = part{"clock", CodeClockFailed}
	partObserve  = part{"Observe hook", CodeInternal}
	partDial     = part{"Dial hook", CodeInternal}
	partProxy    = part{"Proxy hook", CodeInternal}
	partRecord   = part{"Record hook", CodeLedgerFailed}
)

// failed returns the error of a plug-in that failed, which counts as "no".
func (p part) failed(reason string) error {
	return &Error{Code: p.code, Message: "the " + p.name + " failed: " + reason}
}

// guard is deferred around the call of a plug-in. It turns a panic, and an error
// that cannot be used, into an error of the plug-in.
func (p part) guard(err *error) {
	if cause := recover(); cause != nil {
		*err = p.failed(panicText(cause))
		return
	}
	*err = p.sound(*err)
}

// sound returns the error of a plug-in if it can be printed and compared, and an
// error of ours otherwise.
func (p part) sound(err error) error {
	sound := plugin.Sound(err)
	if errors.Is(sound, plugin.ErrUnsound) {
		return p.failed(sound.Error())
	}
	return sound
}

// coded returns the error of a plug-in, with the plug-in's code if it has no code.
func (p part) coded(err error) error {
	if ownCode(err) != CodeInternal {
		return err
	}
	return &Error{Code: p.code, Message: "the " + p.name + " failed", Err: err}
}

// panicText describes a panic. Package fmt prints a value whose methods panic.
func panicText(cause any) string { return fmt.Sprintf("it panics: %v", cause) }

// guardedBody is the body of a plugged-in Fetcher's response.
type guardedBody struct{ io.ReadCloser }

func (b guardedBody) Read(p []byte) (n int, err error) {
	defer partFetcher.guard(&err)
	return b.ReadCloser.Read(p)
}

func (b guardedBody) Close() (err error) {
	defer partFetcher.guard(&err)
	return b.ReadCloser.Close()
}

// How long a caller waits for one call of a plug-in, and how many calls may not
// have returned. A call that outlives its caller keeps running until the plug-in
// returns; beyond the number no further call is made.
const (
	cacheWait    = 2 * time.Second
	storeWait    = 10 * time.Second
	limiterWait  = 2 * time.Second
	resolverWait = 30 * time.Second
	observeWait  = 10 * time.Second

	cacheCalls    = 64
	storeCalls    = 64
	limiterCalls  = 64
	resolverCalls = 1024
	observeCalls  = 64
)

// bounded returns the bound of the calls of a plug-in.
func (p part) bounded(limit time.Duration, most int64) *plugin.Bound {
	return &plugin.Bound{Limit: limit, Most: most, Guard: p.guard, Fail: func(reason string) error { return p.failed(reason) }}
}
