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
// Every use of a nil *Host returns an error with [CodeUsage].
//
// What belongs to one user (consents, disclosures, sessions) is kept elsewhere.
type Host struct {
	Fetcher  Fetcher         // nil: NewFetcher, resolving through this Host
	Resolver Resolver        // nil: NewResolver, validating over the system's servers
	Prompter ConsentPrompter // nil: nobody can be asked, so every consent is refused
	Cache    Cache           // nil: NewMemoryCache(DefaultCacheEntries)
	Plans    PlanLedger      // nil: one that all Hosts of this process share; see PlanLedger for its reach

	Asking  AskLimits                    // how often users are asked; zero: the defaults
	Now     func() time.Time             // nil: time.Now
	Observe func(context.Context, Event) // nil: nobody watches. LogEvents adapts a logger

	build     sync.Once
	defaults  hostDefaults
	closed    atomic.Bool
	asking    asking
	cacheTime latestTime
	observing atomic.Int32 // calls of Observe that have not returned
}

// hostDefaults are the parts in effect: the plugged-in ones, and ours for the rest.
type hostDefaults struct {
	fetcher  Fetcher
	resolver Resolver
	cache    Cache
	plans    PlanLedger
	owned    []io.Closer

	// The bounds of calls of what is plugged in; nil: it is ours.
	lookups, cacheCalls, planCalls *plugin.Bound
}

// ErrClosed is any use of a [Host] after its Close.
var ErrClosed = coded.New(string(CodeClosed), "the host is closed")

// errNoHost is any use of a nil *Host.
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
		d.lookups = partResolver.bounded(resolverWait, resolverCalls)
		if d.resolver = h.Resolver; d.resolver == nil {
			d.resolver, d.lookups = h.defaultResolver(), nil
		}
		if d.fetcher = h.Fetcher; d.fetcher == nil {
			d.fetcher = NewFetcher(FetcherOptions{Resolver: h, Now: h.Time})
		}
		d.cacheCalls = partCache.bounded(cacheWait, cacheCalls)
		if d.cache = h.Cache; d.cache == nil {
			d.cache, d.cacheCalls = NewMemoryCache(DefaultCacheEntries), nil
		}
		d.planCalls = partLedger.bounded(ledgerWait, ledgerCalls)
		if d.plans = h.Plans; d.plans == nil {
			d.plans, d.planCalls = processLedger, nil
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

func (r failedResolver) Lookup(_ context.Context, name string, t RRType) (*DNSAnswer, error) {
	return nil, lookupError(name, t, CodeDNSError, r.err)
}

// Close frees the defaults that the Host built: idle connections and sockets.
// Plugged-in parts stay their owner's. Later uses give [ErrClosed]; closing
// twice is fine.
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

// Time is the time by the Host's clock. A clock that panics gives the end of the
// year 9999, when everything has expired.
func (h *Host) Time() time.Time {
	now, _ := h.clock()
	return now
}

// clock is Time with an error if the clock panics.
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

// SharedCache returns the cache in effect. A panic in it is an error, and so a
// miss; so is a call of a plugged-in cache that does not return within 2 seconds.
// For 5 seconds after such a call, or until a call succeeds, nobody waits for it.
// An expired entry is a miss, and remains one if the Host's clock is set back.
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

// RoundTrip performs one exchange through the effective [Fetcher]. It never
// follows a redirect, and refuses the answer of a Fetcher that followed one or
// sent the request again. How long a body may take is bounded by the Fetcher: see
// [FetcherOptions] for the default one; the request's context bounds others.
func (h *Host) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if req == nil || req.URL == nil {
		return nil, partFetcher.failed("the request has no URL")
	}
	if ctx := h.enter(req.Context()); ctx != req.Context() {
		req = req.WithContext(ctx)
	}
	start := h.Time()
	defer func() {
		e := Event{Kind: EventFetch, Code: CodeOf(err), Subject: withoutSecrets(req.URL), Duration: h.Time().Sub(start), Err: err}
		if resp != nil {
			e.Status = resp.StatusCode
		}
		h.Report(req.Context(), e)
	}()
	if err := h.usable(); err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err = h.exchange(req)
	switch {
	case err != nil: // a response next to an error does not count
		if resp != nil && resp.Body != nil {
			_ = guardedBody{resp.Body}.Close()
		}
		return nil, err
	case resp == nil:
		return nil, partFetcher.failed("it returned neither a response nor an error")
	}
	if h.Fetcher != nil && resp.Body != nil {
		resp.Body = guardedBody{resp.Body}
	}
	return resp, nil
}

// exchange holds a plugged-in Fetcher to its contract. That of this package
// holds itself to it. A Fetcher that panics may have left the body open.
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
		if err = partFetcher.sound(err); CodeOf(err) == CodeInternal {
			err = partFetcher.coded(err)
		}
	}
	returned = true
	return resp, err
}

// closeBody keeps the promise of a RoundTripper to close the body always.
func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// Lookup asks the effective [Resolver].
func (h *Host) Lookup(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return h.lookup(ctx, name, t, Resolver.Lookup)
}

// LookupFresh asks past the cache of the effective [Resolver], where that is a
// [FreshResolver], for decisions that must not rest on what was true a while ago.
func (h *Host) LookupFresh(ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
	return h.lookup(ctx, name, t, func(r Resolver, ctx context.Context, name string, t RRType) (*DNSAnswer, error) {
		if fresh, ok := r.(FreshResolver); ok {
			return fresh.LookupFresh(ctx, name, t)
		}
		return r.Lookup(ctx, name, t)
	})
}

func (h *Host) lookup(ctx context.Context, name string, t RRType, ask func(Resolver, context.Context, string, RRType) (*DNSAnswer, error)) (answer *DNSAnswer, err error) {
	ctx = h.enter(ctx)
	start := h.Time()
	defer func() {
		e := Event{Kind: EventLookup, Code: CodeOf(err), Subject: name + " " + t.String(), Duration: h.Time().Sub(start), Err: err}
		h.Report(ctx, e)
		if e.Code == CodeDNSSECLimit { // a server that fails is daily business, an attack on validators is not
			h.Report(ctx, Event{Kind: EventFinding, Code: e.Code, Subject: e.Subject, Err: err, Finding: &Finding{
				Severity: SeverityWarning, Code: e.Code, Message: line(err.Error()), Fix: "do not use the name, and tell the operator of its zone",
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

// part is a plug-in of a [Host].
type part struct {
	name string
	code Code
}

var (
	partFetcher  = part{"Fetcher", CodeFetcherFailed}
	partResolver = part{"Resolver", CodeResolverFailed}
	partPrompter = part{"ConsentPrompter", CodeConsentFailed}
	partCache    = part{"Cache", CodeCacheFailed}
	partLedger   = part{"PlanLedger", CodeLedgerFailed}
	partClock    = part{"clock", CodeClockFailed}
	partDial     = part{"Dial hook", CodeInternal}
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
	if sound != nil && errors.Is(sound, plugin.ErrUnsound) {
		return p.failed(sound.Error())
	}
	return sound
}

// coded returns the error of a plug-in, with the plug-in's code if it has no code.
func (p part) coded(err error) error {
	if err == nil || ownCode(err) != CodeInternal {
		return err
	}
	return &Error{Code: p.code, Message: "the " + p.name + " failed", Err: err}
}

// panicText returns what a panic said. A value that panics when it is printed is
// left to package fmt.
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
	ledgerWait   = 10 * time.Second
	resolverWait = 30 * time.Second

	cacheCalls    = 64
	ledgerCalls   = 64
	resolverCalls = 1024
)

// bounded returns the bound of the calls of a plug-in.
func (p part) bounded(limit time.Duration, most int64) *plugin.Bound {
	return &plugin.Bound{Limit: limit, Most: most, Guard: p.guard, Fail: func(reason string) error { return p.failed(reason) }}
}
