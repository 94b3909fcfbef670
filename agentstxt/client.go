package agentstxt

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// Options are the choices that the draft leaves to clients. The zero value follows the
// draft's letter and denies more, except where that would make ordinary sites unusable.
// [Web] returns the options for the web as it is today.
type Options struct {
	// Strict restricts an origin also if the response is probably not a policy: a web
	// page, a 4xx status other than 404 and 410, or another media type.
	Strict bool

	// Foreign says what a file of another format with the same name means. Most files
	// under this name are of other formats; [Web] returns options that ignore them.
	Foreign Foreign

	// Robots makes the client read robots.txt too and obey the stricter of both files.
	Robots Robots

	// Unlisted decides about paths that no directive matches.
	Unlisted Unlisted

	// DenyUnknownParams denies the paths of an ALLOW line with a parameter other than
	// limit, since the parameter may be a condition.
	DenyUnknownParams bool

	// RefuseHTTP restricts origins with the scheme http. Otherwise that is a finding.
	RefuseHTTP bool

	// UserAgent is the header field of requests for policies; "" names this library, after
	// the token of Robots if there is one.
	UserAgent string

	// Window is the time to which a limit applies; 0 means one hour. The draft does
	// not define the unit.
	Window time.Duration

	Limits Limits
}

// Unlisted says how to decide about a path that no directive matches.
type Unlisted uint8

const (
	// UnlistedByFile denies if the file has an ALLOW line, since the file then lists
	// what is allowed. It allows otherwise.
	UnlistedByFile Unlisted = iota
	// UnlistedDeny always denies.
	UnlistedDeny
	// UnlistedAllow always allows.
	UnlistedAllow
)

// Limits bound the cost of one file, one origin and one process. A zero field takes its
// default. Sizes are in bytes.
type Limits struct {
	Size       int           // of a file after content decoding; default 512 KiB
	Line       int           // of a line, and of a path in Decide; default 8 KiB
	Directives int           // in a file; default 100,000
	Wildcards  int           // DISALLOW lines with "*" or a final "$" in a file; default 1,000
	Params     int           // of a directive; default 64
	Findings   int           // and metadata comments kept for a file; default 64
	Timeout    time.Duration // for one fetch, redirects included; default 10 s
	Redirects  int           // followed for one fetch; default 5
	Origins    int           // policies in memory; default 1,024
	Memory     int           // size of all policies in memory; default 64 MiB
}

func (l Limits) withDefaults() Limits {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
		{&l.Size, 512 << 10},
		{&l.Line, 8 << 10},
		{&l.Directives, 100_000},
		{&l.Wildcards, 1000},
		{&l.Params, 64},
		{&l.Findings, 64},
		{&l.Redirects, 5},
		{&l.Origins, 1024},
		{&l.Memory, 64 << 20},
	} {
		if *field.value <= 0 {
			*field.value = field.fallback
		}
	}
	if l.Timeout <= 0 {
		l.Timeout = 10 * time.Second
	}
	// Positions in a file are stored in 32 bits, lengths of normal paths in 16.
	l.Size = min(l.Size, 256<<20)
	l.Line = min(l.Line, math.MaxUint16/3) // encoding makes three bytes of one
	return l
}

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
	policies    *flight.Memo[string, *cachedPolicy]
	robots      *flight.Memo[string, *robotsEntry]
	generations atomic.Uint64
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
	size := func(_ string, e *cachedPolicy) int {
		p := e.policy
		if e.good != nil {
			p = e.good.policy // the policy in force is the same file
		}
		return min(p.memory(), limits.Memory) // a larger one is kept alone, so that it is not read for each request
	}
	robotsSize := func(_ string, e *robotsEntry) int { return e.file.memory() }
	var unusable error
	options.Robots.Tokens = slices.DeleteFunc(slices.Clone(options.Robots.Tokens), func(token string) bool { return token == "" })
	if slices.ContainsFunc(options.Robots.Tokens, isNoToken) {
		unusable = usageError("the token of Options.Robots is not a product token",
			"use letters, digits, - and _, without a version, such as ExampleBot")
	}
	return &Client{
		host: host, options: options, limits: limits, unusable: unusable, origins: origins,
		policies: flight.NewSizedMemo(limits.Origins, limits.Memory, size, host.Time),
		robots:   flight.NewSizedMemo(limits.Origins, limits.Memory, robotsSize, host.Time),
	}
}

// ready returns an error for a client that NewClient did not make, or that has no host.
func (c *Client) ready() error {
	if c == nil || c.host == nil || c.policies == nil {
		return usageError("the client has no host", "make it with NewClient, or a guard with Guard")
	}
	return c.unusable
}

// Policy returns the policy of a URL's origin, cached or fetched. If the origin's policy
// cannot be fetched, it returns a restricted policy and no error. It returns an error
// if the URL has no origin, ctx ended, or the host is closed.
func (c *Client) Policy(ctx context.Context, rawURL string) (*Policy, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	asked, err := c.targetOf(rawURL)
	if err != nil {
		return nil, err
	}
	entry, err := c.current(ctx, asked.origin)
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
	x := decided{target: asked}
	if err := c.consult(ctx, &x); err != nil {
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
	if held, _ := c.policies.Peek(asked.origin.name); held.Value != nil {
		return held.Value.generation
	}
	return 0
}

// cachedPolicy is what the client knows about one origin. It never changes.
type cachedPolicy struct {
	policy     *Policy // in force
	evidence   lookleap.Evidence
	generation uint64
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
	body        []byte // the file
	contentType string
	insecure    bool
	private     bool
	validator   fetch.Validator
	asked       time.Time
	checked     time.Time
}

// current returns what is known about an origin. It asks for the policy again if that
// is outdated.
func (c *Client) current(ctx context.Context, o origin) (*cachedPolicy, error) {
	if entry, fresh := c.policies.Fresh(o.name); fresh {
		return entry, nil
	}
	return c.policies.Get(ctx, o.name, func(ctx context.Context) (flight.Loaded[*cachedPolicy], error) {
		entry, err := c.ask(ctx, o)
		if err != nil {
			return flight.Loaded[*cachedPolicy]{}, err
		}
		return flight.Loaded[*cachedPolicy]{Value: entry, Until: entry.recheck}, nil
	})
}

// ask asks the shared cache, then the server. It returns a new entry.
func (c *Client) ask(ctx context.Context, o origin) (entry *cachedPolicy, err error) {
	held, _ := c.policies.Peek(o.name)
	known, usable := held.Value, false
	if entry = known; c.host.Cache != nil {
		entry, usable = c.recall(ctx, o, known)
	}
	if !usable {
		before := entry
		if before == nil {
			before = &cachedPolicy{}
		}
		var validator fetch.Validator
		if before.good != nil {
			validator = before.good.validator
		}
		result, err := c.read(ctx, o, validator)
		if err != nil {
			return nil, err
		}
		entry = c.after(before, result)
		if c.host.Cache != nil {
			if malformed := c.share(ctx, o, entry, result); malformed != nil {
				entry = malformed
			}
		}
		for _, f := range entry.policy.findings {
			c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: o.name + policyPath, Finding: &f})
		}
	}
	if known != nil && (entry.policy == known.policy || entry.good != nil && known.good != nil && entry.good.policy == known.good.policy &&
		entry.policy.state == Valid && known.policy.state == Valid) { // apart from findings
		entry.generation = known.generation
	} else {
		entry.generation = c.generations.Add(1)
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
	switch {
	case result.err == nil:
		e.policy = Judge(result.response, c.options)
	case lookleap.CodeOf(result.err) == lookleap.CodeTooLarge:
		e.policy = restricted(malformed(lookleap.CodeTooLarge, lookleap.Position{}, "the file is larger than its limit", "merge directives or drop comments"))
	default:
		e.policy = restricted(unavailable(lookleap.CodeUnreachable, "the policy could not be read", result.err))
	}
	switch {
	case e.policy.state == Valid:
		e.good = &goodCopy{
			policy: e.policy, body: result.response.Body, contentType: result.response.ContentType, insecure: result.response.Insecure,
			private: result.private, validator: result.validator, asked: result.asked, checked: now,
		}
		e.fresh = result.fresh
	case isMalformed(e.policy):
		e.fresh = now.Add(malformedFor) // without the good copy: it is never used again
	case e.policy.state == Absent:
		e.fresh = result.fresh
		if e.policy.reason != CodeNoPolicy && e.policy.reason != CodeForeignFormat {
			keepGood("", e.policy.findings[0]) // challenge pages look like that (AGT-2-04 to AGT-2-11)
		}
	case e.policy.reason == lookleap.CodeRateLimited:
		e.fresh = now.Add(cmp.Or(result.retryAfter, rateLimitedFor))
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
