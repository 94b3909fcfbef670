package agentstxt

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// Client fetches and caches the policies of origins. Concurrent calls for one origin
// share one request. All methods may be called from several goroutines at once.
//
// With a [lookleap.Host.Cache], processes share the files that they fetch; each one
// judges them by its own options. They also share that a file was malformed, so that
// all processes stop within a minute.
type Client struct {
	host        *lookleap.Host
	options     Options
	limits      Limits
	origins     *lru.Cache[originKey, origin] // of recent URLs
	cache       *policyCache
	robots      *flight.Memo[string, *robotsEntry]
	flight      flight.Group[string, *cachedPolicy]
	generations atomic.Uint64
	attempts    atomic.Uint64
	unusable    error // why no method can be used
}

// NewClient returns a client that fetches through a host. Without a host, its
// methods return an error with [lookleap.CodeUsage].
func NewClient(host *lookleap.Host, options Options) *Client {
	limits := options.Limits.withDefaults()
	if options.Window <= 0 {
		options.Window = time.Hour
	}
	origins, err := lru.New[originKey, origin](limits.Origins)
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	robotsSize := func(_ string, e *robotsEntry) int { return 1024 + 4*e.file.size }
	return &Client{
		host: host, options: options, limits: limits, unusable: options.Robots.check(),
		origins: origins, cache: newPolicyCache(limits.Origins, limits.Memory),
		robots: flight.NewSizedMemo(limits.Origins, limits.Memory, robotsSize, host.Time),
	}
}

// ready returns an error for a client that NewClient did not make, or that has no host.
func (c *Client) ready() error {
	if c == nil || c.host == nil || c.cache == nil {
		return usageError("the client has no host", "make it with NewClient, or a guard with Guard")
	}
	return c.unusable
}

// Policy returns the policy of a URL's origin, cached or fetched. If the origin's policy
// cannot be fetched, it returns a restricted policy and no error. It returns an error
// if the URL has no origin, ctx ended, or the host is closed.
func (c *Client) Policy(ctx context.Context, rawURL string) (*Policy, error) {
	entry, err := c.lookup(ctx, rawURL)
	if err != nil {
		return nil, err
	}
	return entry.policy, nil
}

// Decide reports whether an automated client may send a GET request to a URL. With
// [Options.Robots], it returns the decision of robots.txt if only that file denies the
// request. Unlike [Guard], it does not count the request against a limit.
func (c *Client) Decide(ctx context.Context, rawURL string) (Decision, error) {
	if err := c.ready(); err != nil {
		return Decision{Path: rawURL, Code: lookleap.CodeOf(err)}, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return Decision{Path: asked.path, Code: lookleap.CodeOf(err)}, err
	}
	x, err := c.consult(ctx, &asked)
	if err != nil {
		return Decision{Path: asked.path, Code: lookleap.CodeOf(err)}, err
	}
	if x.robots != nil && !x.byRobots.Allowed {
		x.byRobots.Path, x.byRobots.Generation = x.decision.Path, x.decision.Generation
		return x.byRobots, nil
	}
	return x.decision, nil
}

// Generation returns the number of the cached policy of a URL's origin, 0 if none is
// cached. A decision with another number is outdated.
func (c *Client) Generation(rawURL string) uint64 {
	if c.ready() != nil {
		return 0
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return 0
	}
	if entry := c.cache.get(asked.origin.name); entry != nil {
		return entry.generation
	}
	return 0
}

func (c *Client) lookup(ctx context.Context, rawURL string) (*cachedPolicy, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return nil, err
	}
	return c.current(ctx, asked.origin)
}

// cachedPolicy is what the client knows about one origin. It never changes.
type cachedPolicy struct {
	policy     *Policy // in force
	evidence   lookleap.Evidence
	generation uint64
	attempt    uint64    // number of the attempt that led to it
	recheck    time.Time // when the shared cache or the server is asked again
	good       *goodCopy // may stay in force or be revalidated; nil if there is none
	stale      bool      // the good copy is in force because no newer answer is usable
	failures   int       // attempts in a row without a usable answer
	private    bool      // the server forbids shared caches to store it
	asked      time.Time // when the exchange began that led to it
	checked    time.Time // when the server last confirmed it
	fresh      time.Time // until when the server need not be asked
}

// goodCopy is a whole file with the last time at which the server served it.
type goodCopy struct {
	policy      *Policy
	contentType string
	insecure    bool
	private     bool
	validator   fetch.Validator
	asked       time.Time
	checked     time.Time
}

// isCurrent reports whether the entry can be used without asking again. It cannot if
// the clock was set back.
func (e *cachedPolicy) isCurrent(now time.Time) bool {
	return e != nil && now.Before(e.recheck) && !now.Before(e.checked)
}

// policyCache holds what is known about origins, bounded by number and by bytes. It
// evicts the least recently used entry first.
type policyCache struct {
	mu       sync.Mutex
	lru      *simplelru.LRU[string, *cachedPolicy]
	bytes    int
	maxBytes int
}

func newPolicyCache(origins, maxBytes int) *policyCache {
	c := &policyCache{maxBytes: maxBytes}
	entries, err := simplelru.NewLRU(origins, func(_ string, e *cachedPolicy) { c.bytes -= e.size() })
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	c.lru = entries
	return c
}

// size estimates the memory of an entry.
func (e *cachedPolicy) size() int {
	p := e.policy
	if e.good != nil {
		p = e.good.policy // the policy in force is the same file
	}
	return 512 + len(p.text) + 12*len(p.rules) + 8*len(p.conditions) + 4*len(p.index.slots)
}

func (c *policyCache) get(origin string) *cachedPolicy {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ := c.lru.Get(origin)
	return e
}

// put stores an entry unless the result of a later attempt is there: an older answer
// must not replace a malformed file.
func (c *policyCache) put(origin string, e *cachedPolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer, ok := c.lru.Peek(origin); ok && newer.attempt > e.attempt {
		return
	}
	c.lru.Remove(origin) // an entry that is replaced does not count as evicted
	c.lru.Add(origin, e)
	c.bytes += e.size()
	for c.bytes > c.maxBytes && c.lru.Len() > 1 {
		c.lru.RemoveOldest()
	}
}

// current returns what is known about an origin. It asks for the policy again if that
// is outdated.
func (c *Client) current(ctx context.Context, o origin) (*cachedPolicy, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if entry := c.cache.get(o.name); entry.isCurrent(c.host.Time()) {
		return entry, nil
	}
	return c.flight.Do(ctx, o.name, func(ctx context.Context) (*cachedPolicy, error) {
		before := c.cache.get(o.name)
		if before.isCurrent(c.host.Time()) {
			return before, nil // another caller was faster
		}
		attempt := c.attempts.Add(1)
		entry, err := c.ask(ctx, o, before)
		if err != nil {
			return nil, err
		}
		entry.attempt = attempt
		if entry.samePolicy(before) {
			entry.generation = before.generation
		} else {
			entry.generation = c.generations.Add(1)
		}
		c.cache.put(o.name, entry)
		return entry, nil
	})
}

// samePolicy reports whether two entries have the same policy, apart from findings.
func (e *cachedPolicy) samePolicy(before *cachedPolicy) bool {
	return before != nil && (e.policy == before.policy ||
		e.good != nil && before.good != nil && e.good.policy == before.good.policy &&
			e.policy.state == Valid && before.policy.state == Valid)
}

// ask asks the shared cache, then the server. It returns a new entry.
func (c *Client) ask(ctx context.Context, o origin, before *cachedPolicy) (*cachedPolicy, error) {
	before, usable := c.recall(ctx, o, before)
	if usable {
		return before, nil
	}
	if before == nil {
		before = &cachedPolicy{}
	}
	var known fetch.Validator
	if before.good != nil {
		known = before.good.validator
	}
	result, err := c.read(ctx, o, known)
	if err != nil {
		return nil, err
	}
	entry := c.after(before, result)
	if malformed := c.share(ctx, o, entry, result); malformed != nil {
		entry = malformed
	}
	for _, f := range entry.policy.findings {
		c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: o.name + policyPath, Finding: &f})
	}
	return entry, nil
}

// How long policies are used if the server does not say (RFC 9111, RFC 9309).
const (
	minFresh       = 5 * time.Minute
	maxFresh       = 24 * time.Hour
	defaultFresh   = time.Hour
	staleFor       = 24 * time.Hour // how long a good copy replaces a policy that cannot be fetched
	malformedFor   = 10 * time.Minute
	deniedFor      = time.Hour
	rateLimitedFor = 10 * time.Minute
	minBackoff     = 30 * time.Second
	maxBackoff     = time.Hour
	maxRetryAfter  = 2 * time.Hour // of a server that failed
)

// after returns what is known after an attempt to read a policy. It contains all rules
// of caching and does no I/O.
func (c *Client) after(before *cachedPolicy, result *readResult) *cachedPolicy {
	now := result.received
	e := &cachedPolicy{evidence: result.evidence, asked: result.asked, checked: now, private: result.private}
	if result.confirmed && before.good != nil {
		renewed := *before.good // the server confirms it, however old it is
		renewed.asked, renewed.checked, renewed.private = result.asked, now, renewed.private || result.private
		e.policy = renewed.policy
		e.good = &renewed
		e.fresh = result.fresh
		e.private = renewed.private
		return c.setRecheck(e)
	}
	keepGood := func(why string, finding lookleap.Finding) {
		if why != "" {
			finding = note(lookleap.CodeStale, "AGT-2-12", why+", so the copy read earlier stays in force", "")
		}
		good := before.good
		if good != nil && now.Sub(good.checked) < staleFor && !now.Before(good.checked) { // and the clock was not set back
			e.policy = good.policy.with(finding)
			e.good = good
			e.stale = true
			e.private = good.private
		}
	}
	e.policy = result.policy(c.options)
	switch {
	case e.policy.state == Valid:
		e.good = &goodCopy{
			policy: e.policy, contentType: result.response.ContentType, insecure: result.response.Insecure,
			private: result.private, validator: result.validator, asked: result.asked, checked: now,
		}
		e.fresh = result.fresh
	case isMalformed(e.policy):
		e.fresh = now.Add(malformedFor) // without the good copy: it is never used again
	case e.policy.state == Absent && (e.policy.reason == CodeNoPolicy || e.policy.reason == CodeForeignFormat):
		e.fresh = result.fresh
	case e.policy.state == Absent:
		// Challenge pages look like that, so a good copy stays (AGT-2-04 to AGT-2-11).
		e.fresh = result.fresh
		keepGood("", e.policy.findings[0])
	case e.policy.reason == lookleap.CodeRateLimited:
		wait := result.retryAfter
		if wait == 0 {
			wait = rateLimitedFor
		}
		e.fresh = now.Add(wait)
		keepGood("the server answered 429", lookleap.Finding{})
	case e.policy.reason == CodeAccessDenied:
		e.fresh = now.Add(deniedFor)
	default:
		e.failures = before.failures + 1
		e.fresh = now.Add(max(min(result.retryAfter, maxRetryAfter), backoff(e.failures)))
		if result.isTemporary() {
			keepGood("the policy could not be read again", lookleap.Finding{})
		}
	}
	return c.setRecheck(e)
}

// setRecheck sets when to ask again: before the copy in force is too old, and within a
// minute if other processes may have seen something else meanwhile.
func (c *Client) setRecheck(e *cachedPolicy) *cachedPolicy {
	e.recheck = e.fresh
	if e.good != nil {
		e.recheck = earlier(e.recheck, e.good.checked.Add(staleFor))
	}
	if c.host.Cache != nil && !e.private {
		e.recheck = earlier(e.recheck, c.host.Time().Add(sharedFor))
	}
	return e
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// backoff returns how long to wait after a number of failures in a row: twice as long
// each time, less up to half at random, so that clients do not return together.
func backoff(failures int) time.Duration {
	wait := maxBackoff
	if failures < 8 {
		wait = min(wait, minBackoff<<(failures-1))
	}
	return wait/2 + rand.N(wait/2+1)
}
