package agentstxt

import (
	"context"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// Client finds out policies and keeps them while they hold. It asks each origin
// once at a time, however many callers wait. All its methods may be called from
// several goroutines at once.
//
// With a [lookleap.Host.Cache] that is plugged in, processes share what they
// read: the file itself, which each of them judges by its own options, or that
// it was malformed. A process looks there again every minute at least, so that
// one that meets a malformed file stops all of them.
type Client struct {
	host    *lookleap.Host
	options Options
	limits  Limits
	memory  *memory
	flight  flight.Group[string, *held]
	numbers atomic.Uint64 // of policies
	turns   atomic.Uint64 // of attempts
}

// NewClient returns a client that fetches through a host. Without a host, its
// methods return an error with [lookleap.CodeUsage].
func NewClient(host *lookleap.Host, options Options) *Client {
	limits := options.Limits.withDefaults()
	return &Client{host: host, options: options, limits: limits, memory: newMemory(limits.Origins, limits.Memory)}
}

// held is what is known about one origin. It never changes.
type held struct {
	policy     *Policy // in force
	evidence   lookleap.Evidence
	generation uint64
	turn       uint64    // of the attempt that found it out
	until      time.Time // when to look again
	good       *goodCopy // that may stand in, or be renewed; nil: none
	standing   bool      // the good copy stands in for a newer answer
	failures   int       // attempts in a row that gave nothing
	local      bool      // the server forbids to store it outside memory
	asked      time.Time // when the exchange began that found it out
	checked    time.Time // when the server last said so
	fresh      time.Time // until when it need not be asked again
}

// goodCopy is a whole file and when it was last known to be what the server
// serves.
type goodCopy struct {
	policy      *Policy
	contentType string
	insecure    bool
	local       bool
	validator   fetch.Validator
	asked       time.Time
	checked     time.Time
}

// Policy gives the policy of a URL's origin, from memory or from the server. It
// gives one always, a restricted one where there is none to be had. An error
// means that nothing could be asked: the URL has no origin, ctx ended, or the
// host is closed.
func (c *Client) Policy(ctx context.Context, rawURL string) (*Policy, error) {
	h, err := c.holdURL(ctx, rawURL)
	if err != nil {
		return nil, err
	}
	return h.policy, nil
}

// Decide answers whether an automated client may send a GET request to a URL. It
// counts nothing against a limit; [Guard] does.
func (c *Client) Decide(ctx context.Context, rawURL string) (Decision, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Decision{Path: rawURL, Code: lookleap.CodeBadURL}, badURL(err)
	}
	h, err := c.holdURL(ctx, rawURL)
	if err != nil {
		return Decision{Path: u.EscapedPath(), Code: lookleap.CodeOf(err)}, err
	}
	return h.decide(u.EscapedPath(), true), nil
}

func (h *held) decide(path string, reads bool) Decision {
	d := h.policy.decide(path, reads)
	d.Generation = h.generation
	return d
}

// Generation numbers the policy that the client holds for a URL's origin; 0: it
// holds none. A decision with another number is outdated.
func (c *Client) Generation(rawURL string) uint64 {
	u, err := url.Parse(rawURL)
	if err != nil {
		return 0
	}
	o, err := originOf(u)
	if err != nil {
		return 0
	}
	if c.ready() != nil {
		return 0
	}
	if h := c.memory.get(o.name); h != nil {
		return h.generation
	}
	return 0
}

// ready returns an error for a client that NewClient did not make, or that has no host.
func (c *Client) ready() error {
	if c == nil || c.host == nil || c.memory == nil {
		return usageError("the client has no host", "make it with NewClient, or a guard with Guard")
	}
	return nil
}

func (c *Client) holdURL(ctx context.Context, rawURL string) (*held, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, badURL(err)
	}
	o, err := originOf(u)
	if err != nil {
		return nil, err
	}
	return c.hold(ctx, o)
}

// hold gives what is known about an origin, after asking where that is too old.
func (c *Client) hold(ctx context.Context, o origin) (*held, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if h := c.memory.get(o.name); h.holds(c.host.Time()) {
		return h, nil
	}
	return c.flight.Do(ctx, o.name, func(ctx context.Context) (*held, error) {
		before := c.memory.get(o.name)
		if before.holds(c.host.Time()) {
			return before, nil // another caller was faster
		}
		turn := c.turns.Add(1)
		h, err := c.ask(ctx, o, before)
		if err != nil {
			return nil, err
		}
		h.turn = turn
		c.memory.put(o.name, h)
		return h, nil
	})
}

// holds reports whether the server need not be asked again. A clock that was set
// back makes what is known doubtful.
func (h *held) holds(now time.Time) bool {
	return h != nil && now.Before(h.until) && !now.Before(h.checked)
}

// mostRetry is how long a server that failed can put off the next attempt.
const mostRetry = 2 * time.Hour

// ask looks into the shared cache, then at the server.
func (c *Client) ask(ctx context.Context, o origin, before *held) (*held, error) {
	before, usable := c.recall(ctx, o, before)
	if usable {
		return before, nil
	}
	if before == nil {
		before = &held{}
	}
	var known fetch.Validator
	if before.good != nil {
		known = before.good.validator
	}
	out, err := c.read(ctx, o, known)
	if err != nil {
		return nil, err
	}
	h := c.next(before, out)
	c.number(before, h)
	if taken := c.share(ctx, o, h, out); taken != nil {
		c.number(before, taken)
		h = taken
	}
	for _, f := range h.policy.findings {
		c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: f.Code, Subject: o.name + policyPath, Finding: &f})
	}
	return h, nil
}

// number gives a policy that differs from the one before a number of its own.
func (c *Client) number(before, h *held) {
	same := h.policy == before.policy ||
		h.good != nil && before.good != nil && h.good.policy == before.good.policy &&
			h.policy.state == Valid && before.policy.state == Valid
	if h.generation = before.generation; !same {
		h.generation = c.numbers.Add(1)
	}
}

// next decides what holds after an attempt. It is the whole caching policy of
// this package, and does no I/O.
func (c *Client) next(before *held, out *outcome) *held {
	now := out.received
	h := &held{evidence: out.evidence, asked: out.asked, checked: now, local: out.local}
	good := before.good
	if good != nil && (now.Sub(good.checked) >= staleFor || now.Before(good.checked)) { // too old, or the clock was set back
		good = nil
	}
	if out.confirmed && before.good != nil {
		renewed := *before.good // however old it is, the server says that it is right
		renewed.asked, renewed.checked, renewed.local = out.asked, now, renewed.local || out.local
		h.policy, h.good, h.fresh, h.local = renewed.policy, &renewed, out.until, renewed.local
		return c.holdUntil(h)
	}
	h.policy = out.policy(c.options)
	switch {
	case h.policy.state == Valid:
		h.good = &goodCopy{
			policy: h.policy, contentType: out.answer.ContentType, insecure: out.answer.Insecure,
			local: out.local, validator: out.validator, asked: out.asked, checked: now,
		}
		h.fresh = out.until
	case isMalformed(h.policy):
		h.fresh = now.Add(malformedFor) // and the good copy is gone for good
	case h.policy.state == Absent && (h.policy.reason == CodeNoPolicy || h.policy.reason == CodeForeignFormat):
		h.fresh = out.until
	case h.policy.state == Absent:
		// Challenge pages look like that, so a good copy stays (AGT-2-04 to AGT-2-11).
		h.fresh = out.until
		h.standIn(good, h.policy.findings[0])
	case h.policy.reason == lookleap.CodeRateLimited:
		wait := out.retry
		if wait == 0 {
			wait = rateLimitedFor
		}
		h.fresh = now.Add(wait)
		h.standIn(good, staleNote("the server answered 429"))
	case h.policy.reason == CodeAccessDenied:
		h.fresh = now.Add(deniedFor)
	default:
		h.failures = before.failures + 1
		h.fresh = now.Add(max(min(out.retry, mostRetry), backoff(h.failures)))
		if out.passes() {
			h.standIn(good, staleNote("the policy could not be read again"))
		}
	}
	return c.holdUntil(h)
}

// standIn puts a good copy in force, with the reason as a finding.
func (h *held) standIn(good *goodCopy, why lookleap.Finding) {
	if good != nil {
		h.policy, h.good, h.standing, h.local = good.policy.with(why), good, true, good.local
	}
}

func staleNote(why string) lookleap.Finding {
	return note(lookleap.CodeStale, "AGT-2-12", why+", so the copy read earlier stays in force", "")
}

// holdUntil sets when to look again: not after the copy in force is too old, and
// soon where other processes may have seen something else meanwhile.
func (c *Client) holdUntil(h *held) *held {
	h.until = h.fresh
	if h.good != nil {
		h.until = earlier(h.until, h.good.checked.Add(staleFor))
	}
	if c.host.Cache != nil && !h.local {
		h.until = earlier(h.until, c.host.Time().Add(sharedFor))
	}
	return h
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// backoff is how long to wait after a number of failures in a row: twice as
// long each time, less up to half by chance, so that clients do not return
// together.
func backoff(failures int) time.Duration {
	wait := mostBackoff
	if failures < 8 {
		wait = min(wait, firstBackoff<<(failures-1))
	}
	return wait/2 + rand.N(wait/2+1)
}

// memory keeps what is known about origins, bounded by number and by octets. The
// least recently used leaves first.
type memory struct {
	mu     sync.Mutex
	lru    *simplelru.LRU[string, *held]
	octets int
	most   int
}

func newMemory(origins, octets int) *memory {
	m := &memory{most: octets}
	lru, err := simplelru.NewLRU(origins, func(_ string, h *held) { m.octets -= h.octets() })
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	m.lru = lru
	return m
}

func (h *held) octets() int {
	if h.good != nil {
		return h.good.policy.octets() // what is in force is the same file
	}
	return h.policy.octets()
}

func (m *memory) get(origin string) *held {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, _ := m.lru.Get(origin)
	return h
}

// put keeps what an attempt found out, unless a later attempt was faster: an
// older answer must not bring back what a malformed file ended.
func (m *memory) put(origin string, h *held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer, ok := m.lru.Peek(origin); ok && newer.turn > h.turn {
		return
	}
	m.lru.Remove(origin) // an entry that is replaced does not count as evicted
	m.lru.Add(origin, h)
	m.octets += h.octets()
	for m.octets > m.most && m.lru.Len() > 1 {
		m.lru.RemoveOldest()
	}
}
