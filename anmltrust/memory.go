package anmltrust

import (
	"hash/maphash"
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
//	what             about                     until                     ended earlier by
//	records (D)      site                      its TTL, 1 min to 24 h    DNSSEC failure
//	failures (B)     site                      1 minute                  -
//	manifests (F)    site, URI                 its expiry                DNSSEC failure; newer
//	newest           site, URI; and site       a newer one               -
//	decisions (G)    domain, site, host        its source or record      a newer one; a grant by a withdrawal
//	holds (B)        see [hold]                Retry-After, 1 to 5 min   -; those of endpoints count in all
//	                                                                     processes of one Limiter
//	withdrawals      site, pair or host        -                         -
//	answers          claim                     decision and record       any change of the site
//
// A decision of a query endpoint is about all hosts of a domain: its host is "". Everything but
// newest and withdrawals, which only ever refuse, ends when the clock is set back. An
// [Interaction] adds what lasts as long as itself: pairs that asked for patience, and manifests
// with no-store.
type memory struct {
	records     *flight.Memo[string, *DNSEvidence]
	failures    *flight.Memo[string, *DNSEvidence]
	manifests   *flight.Memo[manifestKey, *Exchange]
	newest      *lru.Cache[manifestKey, time.Time] // when the newest accepted one was issued
	decisions   *flight.Memo[decisionKey, *decision]
	holds       *flight.Memo[hold, backoff]
	withdrawals withdrawals

	answers *flight.Memo[Claim, *answer]
	changes [256]atomic.Uint64 // of what answers rest on, by a hash of the site
	seed    maphash.Seed
}

// answer is a decision from memory as it was stated, so that the same claim is answered at once.
type answer struct {
	result
	site    string
	changes uint64 // of the site, before it was found
}

func (m *memory) changesOf(site string) *atomic.Uint64 {
	return &m.changes[maphash.String(m.seed, site)%uint64(len(m.changes))]
}

const (
	maxRemembered = 4096 // of each kind
	maxManifests  = 256
	maxMemory     = 64 << 20 // bytes
)

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

// hold is what is not asked for a while: of a pair the domain and the site, of an endpoint the URI,
// of a manifest the site and the URI, of the shared cache the key.
type hold struct {
	scope backoffScope
	decisionKey
	uri string
}

// decision is a grant or a denial that is remembered.
type decision struct {
	result
	claim   Claim
	until   time.Time
	began   uint64 // the count of withdrawals before it was asked for
	adopted bool   // from another process
}

func (d *decision) checked() time.Time { return d.verdict().CheckedAt }

// newMemory returns a memory for a number of entries of each kind, a number of manifests, and a
// number of bytes of manifests, and as many of decisions.
func newMemory(now func() time.Time, entries, manifests, bytes int) *memory {
	m := &memory{
		records:  flight.NewMemo[string, *DNSEvidence](entries, now),
		failures: flight.NewMemo[string, *DNSEvidence](entries, now),
		manifests: flight.NewSizedMemo(manifests, bytes,
			func(_ manifestKey, x *Exchange) int { return x.manifest.bytes() + len(x.URL) + len(x.Final) }, now),
		decisions: flight.NewSizedMemo(entries, bytes,
			func(_ decisionKey, d *decision) int { return decisionBytes + len(d.verdict().Record) }, now),
		holds: flight.NewMemo[hold, backoff](entries, now),
		answers: flight.NewSizedMemo(entries, bytes,
			func(_ Claim, a *answer) int { return decisionBytes + len(a.verdict().Record) }, now),
		seed: maphash.MakeSeed(),
	}
	m.newest, _ = lru.New[manifestKey, time.Time](entries) // only a size below 1 is an error
	m.withdrawals.last, _ = simplelru.NewLRU(entries, func(_ string, at uint64) {
		m.withdrawals.floor = max(m.withdrawals.floor, at)
	})
	return m
}

// decisionBytes is an estimate of what a decision takes besides its record.
const decisionBytes = 4 << 10

// clockSetBack forgets everything that ends at a time: what has ended must not come back, and
// nothing must stay longer than it was granted.
func (m *memory) clockSetBack() {
	m.records.Purge()
	m.failures.Purge()
	m.manifests.Purge()
	m.decisions.Purge()
	m.holds.Purge()
	m.answers.Purge()
}

// startBackoffs starts the backoffs of an outcome.
func (m *memory) startBackoffs(s subject, all []backoff, now time.Time) {
	for _, b := range all {
		h := hold{scope: b.scope, uri: b.uri}
		switch b.scope {
		case backoffPair:
			h.pair, h.uri = s.pair(), ""
		case backoffManifest:
			h.site = s.site
		}
		m.holds.Put(h, flight.Loaded[backoff]{Value: b, Until: now.Add(b.length)})
	}
}

// decision returns the decision about a key that is in force, or nil.
func (m *memory) decision(k decisionKey) *decision {
	d, ok := m.decisions.Fresh(k)
	if !ok || d.auth != nil && m.withdrawals.since(d.began, k.withdrawnBy()...) {
		return nil
	}
	return d
}

func (m *memory) remember(k decisionKey, d *decision) {
	m.decisions.Put(k, flight.Loaded[*decision]{Value: d, Until: d.until})
	m.changesOf(k.site).Add(1)
}

// withdraw ends the grants of a site that keys are about.
func (m *memory) withdraw(site string, keys ...string) {
	m.withdrawals.add(keys...)
	m.changesOf(site).Add(1)
}

// withdrawals say when grants were last withdrawn, by key, as a count. A grant that was asked for
// before counts no more, whenever it is remembered. What is forgotten counts as withdrawn for all keys.
type withdrawals struct {
	mu    sync.Mutex
	count uint64
	floor uint64
	last  *simplelru.LRU[string, uint64]
}

func (w *withdrawals) now() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

func (w *withdrawals) add(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	for _, key := range keys {
		w.last.Add(key, w.count)
	}
}

// since reports whether one of the keys was withdrawn after a count.
func (w *withdrawals) since(began uint64, keys ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		if at, _ := w.last.Get(key); at > began {
			return true
		}
	}
	return w.floor > began
}

// anyQuery stands for a host where the grants of a pair's query endpoints are withdrawn.
const anyQuery = "?"

// withdrawal is where grants of a site, of a pair or of a host are withdrawn.
func withdrawal(site, domain, host string) string { return site + "/" + domain + "/" + host }

// withdrawnBy returns the withdrawals that end a grant.
func (k decisionKey) withdrawnBy() []string {
	host := k.host
	if host == "" {
		host = anyQuery
	}
	return []string{withdrawal(k.site, "", ""), withdrawal(k.site, k.domain, ""), withdrawal(k.site, k.domain, host)}
}

// The backoffs of endpoints, which are what servers ask for with Retry-After or by failing, stand
// in the [lookleap.Host.Limiter] too, so that other processes wait as well. The other backoffs are
// judgements about what this process read. The reason is part of the key, because a 429 ends the
// procedure and a failure opens the other mechanism (rows E8 and E9).
func sharedBackoffKey(code lookleap.Code, uri string) string {
	return "anmltrust retry " + string(code) + " " + uri
}
