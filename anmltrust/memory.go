package anmltrust

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/flight"
)

// What a [Verifier] remembers. The letters are those of docs/trust-procedure.md.
//
//	what                  about                     until                     ended earlier by
//	records (D)           site                      its TTL, 1 min to 24 h    DNSSEC failure
//	recordFailures (B)    site                      1 minute                  -
//	manifests (F)         site, URI                 its expiry                DNSSEC failure; newer
//	newestManifests       site, URI; and site       a newer one               -
//	decisions.grant (G)   domain, site, host        expiry of its source      withdrawal, see below
//	decisions.denial (G)  domain, site, host        TTL of the record         newer decision
//	backoffs (B)          pair, endpoint, manifest  Retry-After, 1 to 5 min   -; those of endpoints
//	                                                                          count in all processes
//	                                                                          of one Limiter
//	hints                 pair                      5 minutes                 -
//	standing              URL or its host, site     decision, record, and     any change of the site
//	                                                LocalHold if shared       (generations)
//	sharedReads           domain, site, host        LocalHold                 -
//
// A grant is withdrawn by a definitive no (see [withdrawal]), by a record that no longer advertises
// its source, and by a tombstone of another process.
//
// A decision of a query endpoint is about all hosts of a domain: its host is "". A pair is a domain
// and a site. Everything but newestManifests ends when the clock is set back. newestManifests and
// backoffs only ever refuse, and the Limiter keeps a backoff for as long as it was told. An [Interaction] adds what lasts as long as itself: pairs that asked
// for patience, and manifests with no-store.
//
//	caller → standing → decisions ⟷ shared cache
//	             ↑           ↑
//	        generations   records → manifests, query endpoint
type memory struct {
	records         *lru.Cache[string, rememberedRecord]
	recordFailures  *lru.Cache[string, rememberedRecord]
	manifests       *sizedLRU[manifestKey, *Exchange]
	newestManifests *lru.Cache[manifestKey, time.Time] // when the newest accepted one was issued
	decisions       *sizedLRU[decisionKey, decisions]
	backoffs        *lru.Cache[backoffKey, rememberedBackoff]
	hints           *lru.Cache[pair, time.Time] // when trust-verified of a document last caused a question
	standing        *flight.Memo[standingKey, *standingDecision]
	sharedReads     *lru.Cache[decisionKey, time.Time]
	generations     *lru.Cache[string, *generation]
}

// pair is one serving domain and one site: what a query is about.
type pair struct{ domain, site string }

// decisionKey is what a decision is about. The host is "" for that of a query endpoint.
type decisionKey struct {
	pair
	host string
}

func (k decisionKey) String() string { return k.domain + "/" + k.site + "/" + k.host }

// manifestKey is one manifest of a site. The URI is "" for the newest one of any URI.
type manifestKey struct{ site, uri string }

// backoffKey is what is not asked: of a pair the domain and the site, of an endpoint the URI, of a
// manifest the site and the URI.
type backoffKey struct {
	scope backoffScope
	pair  pair
	uri   string
}

type rememberedRecord struct {
	evidence *DNSEvidence
	until    time.Time
}

type rememberedBackoff struct {
	code      lookleap.Code
	temporary bool
	until     time.Time
}

// decision is a grant or a denial that is remembered.
type decision struct {
	auth      *Authorization        // of a grant
	err       *lookleap.VerifyError // of a denial
	code      lookleap.Code
	sources   []string
	checked   time.Time
	until     time.Time
	fromQuery bool
	adopted   bool // from another process
	record    []byte
}

type decisions struct{ grant, denial *decision }

// standingDecision is an answer that is found without reading the claim in full.
type standingDecision struct {
	result
	about   *generation
	changes uint64 // of the generation, when the answer was found
}

// generation counts what happens to what is remembered about a site.
type generation struct {
	changes     atomic.Uint64 // anything that a standing decision rests on
	withdrawals atomic.Uint64 // of grants: what was asked before is not remembered
}

func newMemory(l Limits, clock *flight.Clock) *memory {
	m := &memory{
		records:         newLRU[string, rememberedRecord](l.Verdicts),
		recordFailures:  newLRU[string, rememberedRecord](l.Verdicts),
		manifests:       newSizedLRU[manifestKey](l.Manifests, l.Memory, (*Exchange).bytes),
		newestManifests: newLRU[manifestKey, time.Time](l.Verdicts),
		decisions:       newSizedLRU[decisionKey](l.Verdicts, l.Memory, decisions.bytes),
		backoffs:        newLRU[backoffKey, rememberedBackoff](l.Verdicts),
		hints:           newLRU[pair, time.Time](l.Verdicts),
		sharedReads:     newLRU[decisionKey, time.Time](l.Verdicts),
		standing: flight.NewSizedMemo(l.Verdicts, l.Memory, func(_ standingKey, s *standingDecision) int {
			return decisionBytes + len(s.verdict().Record)
		}, clock.Now),
	}
	// A generation that is forgotten counts as changed.
	m.generations, _ = lru.NewWithEvict(max(l.Verdicts, 1), func(_ string, g *generation) { g.changes.Add(1) })
	return m
}

func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, _ := lru.New[K, V](max(size, 1)) // only a size below 1 is an error
	return c
}

func (m *memory) generation(site string) *generation {
	if g, ok := m.generations.Get(site); ok {
		return g
	}
	g := new(generation)
	if before, ok, _ := m.generations.PeekOrAdd(site, g); ok {
		return before
	}
	return g
}

// clockSetBack forgets everything that ends at a time: what has ended must not come back, and
// nothing must stay longer than it was granted.
func (m *memory) clockSetBack() {
	m.records.Purge()
	m.recordFailures.Purge()
	m.manifests.purge()
	m.decisions.purge()
	m.backoffs.Purge()
	m.hints.Purge()
	m.sharedReads.Purge()
	for _, g := range m.generations.Values() {
		g.withdrawals.Add(1)
		g.changes.Add(1)
	}
}

// backoff returns the backoff that is in force.
func (m *memory) backoff(k backoffKey, now time.Time) (rememberedBackoff, bool) {
	b, ok := m.backoffs.Get(k)
	if ok && !now.Before(b.until) {
		m.backoffs.Remove(k)
		return rememberedBackoff{}, false
	}
	return b, ok
}

// startBackoffs starts the backoffs of an outcome.
func (m *memory) startBackoffs(o *outcome, now time.Time) {
	for _, b := range o.backoffs {
		k := backoffKey{scope: b.scope}
		switch b.scope {
		case backoffPair:
			k.pair = o.pair()
		case backoffManifest:
			k.pair, k.uri = pair{site: o.site}, b.uri
		case backoffEndpoint:
			k.uri = b.uri
		}
		m.backoffs.Add(k, rememberedBackoff{b.code, b.temporary, now.Add(b.length)})
	}
}

// withdraw forgets what a definitive no ends.
func (m *memory) withdraw(w withdrawal, s subject) {
	for _, k := range m.decisions.keys() {
		if !w.covers(k, s) {
			continue
		}
		m.decisions.change(k, func(d decisions) decisions { return decisions{denial: d.denial} })
	}
	if w == withdrawAll {
		m.records.Remove(s.site)
		for _, k := range m.manifests.keys() {
			if k.site == s.site {
				m.manifests.remove(k)
			}
		}
	}
	g := m.generation(s.site)
	g.withdrawals.Add(1)
	g.changes.Add(1)
}

// remember remembers a decision. A denial replaces the grant before it.
func (m *memory) remember(k decisionKey, d *decision) {
	m.decisions.change(k, func(all decisions) decisions {
		if d.auth == nil {
			return decisions{denial: d}
		}
		all.grant = d
		return all
	})
	m.generation(k.site).changes.Add(1)
}

// forgetGrant forgets one grant, unless another one has replaced it.
func (m *memory) forgetGrant(k decisionKey, grant *decision) {
	m.decisions.change(k, func(all decisions) decisions {
		if all.grant == grant {
			all.grant = nil
		}
		return all
	})
}

// Estimates of what one entry takes besides its texts.
const (
	decisionBytes      = 4 << 10
	manifestBytes      = 2 << 10
	manifestEntryBytes = 80
)

func (d decisions) bytes() int {
	size := 0
	for _, one := range []*decision{d.grant, d.denial} {
		if one != nil {
			size += decisionBytes + len(one.record)
		}
	}
	return size
}

// bytes is the size of an exchange that returned a valid manifest.
func (x *Exchange) bytes() int {
	return manifestBytes + len(x.URL) + len(x.Final) + x.manifest.index.entries*manifestEntryBytes + x.manifest.index.text
}

// sizedLRU keeps entries up to a number and up to a sum of sizes. The least recently used leaves
// first. An empty entry, whose size is 0, is not kept.
type sizedLRU[K comparable, V any] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[K, V]
	size  func(V) int
	bytes int
	most  int
}

func newSizedLRU[K comparable, V any](entries, bytes int, size func(V) int) *sizedLRU[K, V] {
	c := &sizedLRU[K, V]{size: size, most: bytes}
	c.lru, _ = simplelru.NewLRU(max(entries, 1), func(_ K, v V) { c.bytes -= size(v) }) // only a size below 1 is an error
	return c
}

func (c *sizedLRU[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(k)
}

func (c *sizedLRU[K, V]) remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(k)
}

// change replaces the entry of a key, at once for all callers.
func (c *sizedLRU[K, V]) change(k K, next func(V) V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, _ := c.lru.Peek(k)
	v := next(before)
	c.lru.Remove(k)
	size := c.size(v)
	if size == 0 || size > c.most {
		return
	}
	c.lru.Add(k, v)
	for c.bytes += size; c.bytes > c.most; {
		c.lru.RemoveOldest()
	}
}

func (c *sizedLRU[K, V]) keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Keys()
}

func (c *sizedLRU[K, V]) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}

// The backoffs of endpoints, which are what servers ask for with Retry-After or by failing, stand
// in the [lookleap.Host.Limiter] too, so that other processes wait as well. The other backoffs are
// judgements about what this process read. The reason is part of the key, because a 429 ends the
// procedure and a failure opens the other mechanism (rows E8 and E9).
func sharedBackoffKey(code lookleap.Code, uri string) string {
	return "anmltrust retry " + string(code) + " " + uri
}

// sharedBackoff returns the backoff of an endpoint that another process started. If the Limiter
// fails, there is none: a backoff spares the server, and grants nothing.
func (v *Verifier) sharedBackoff(ctx context.Context, m Mechanism, uri string) (rememberedBackoff, bool) {
	possible := [...]rememberedBackoff{{code: CodeManifest429}, {code: CodeManifestUnavailable, temporary: true}}
	if m == Query {
		possible = [...]rememberedBackoff{{code: CodeQuery429}, {code: CodeQueryUnavailable, temporary: true}}
	}
	for _, b := range possible {
		if wait, err := v.host.Wait(ctx, sharedBackoffKey(b.code, uri), lookleap.Rate{}); err == nil && wait > 0 {
			return b, true
		}
	}
	return rememberedBackoff{}, false
}

// shareBackoffs tells other processes about the backoffs of endpoints that an outcome starts.
func (v *Verifier) shareBackoffs(ctx context.Context, o *outcome) {
	for _, b := range o.backoffs {
		if b.scope != backoffEndpoint {
			continue
		}
		if err := v.host.Hold(ctx, sharedBackoffKey(b.code, b.uri), b.length); err != nil {
			v.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: b.uri, Err: err})
		}
	}
}
