package dnssec

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/flight"
)

// Limits bounds the work of one lookup. A zero field takes its default.
type Limits struct {
	Time          time.Duration // whole lookup; default 10 s
	Queries       int           // messages sent, retries included; default 64
	Signatures    int           // signature checks; default 96
	Failures      int           // failed signature checks; default 16
	SetFailures   int           // failed signature checks for one record set; default 4
	KeysPerTag    int           // keys of one zone with the same tag and algorithm that are tried; default 4
	Keys          int           // DNSKEY records of one zone; default 64
	Hashes        int           // names hashed for NSEC3; default 128
	Iterations    int           // NSEC3 iterations above which a proof counts as insecure (RFC 9276); default 100
	Aliases       int           // CNAME and DNAME links; default 8
	CachedAnswers int           // default 4096
	CachedZones   int           // default 1024
	CachedBytes   int           // of answers, and as many of zones; default 8 MiB
	KeyTTL        time.Duration // longest use of validated keys and proven cuts; default 1 h
	AnswerTTL     time.Duration // longest use of an answer; default 24 h
	StrayPackets  int           // datagrams that answer something else, per query, before TCP is tried; default 16
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Time, 10*time.Second)
	setDefault(&l.Queries, 64)
	setDefault(&l.Signatures, 96)
	setDefault(&l.Failures, 16)
	setDefault(&l.SetFailures, 4)
	setDefault(&l.KeysPerTag, 4)
	setDefault(&l.Keys, 64)
	setDefault(&l.Hashes, 128)
	setDefault(&l.Iterations, 100)
	setDefault(&l.Aliases, 8)
	setDefault(&l.CachedAnswers, 4096)
	setDefault(&l.CachedZones, 1024)
	setDefault(&l.CachedBytes, 8<<20)
	setDefault(&l.KeyTTL, time.Hour)
	setDefault(&l.AnswerTTL, 24*time.Hour)
	setDefault(&l.StrayPackets, 16)
	return l
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// budget counts the work of one lookup. Its counters may be drawn upon by several goroutines.
type budget struct {
	limits                                Limits
	queries, signatures, failures, hashes atomic.Int64
}

func newBudget(l Limits) *budget { return &budget{limits: l} }

func (b *budget) query() error { return spend(&b.queries, b.limits.Queries, "queries") }
func (b *budget) signature() error {
	return spend(&b.signatures, b.limits.Signatures, "signature checks")
}
func (b *budget) failure() error {
	return spend(&b.failures, b.limits.Failures, "failed signature checks")
}
func (b *budget) hash() error { return spend(&b.hashes, b.limits.Hashes, "hashed names") }

func spend(counter *atomic.Int64, limit int, what string) error {
	if counter.Add(1) > int64(limit) {
		return &BudgetError{What: what, Limit: limit}
	}
	return nil
}

// BudgetError says that a lookup was given up because it took more work than [Limits] allows. It is
// neither bogus nor an absence.
type BudgetError struct {
	Name  string // what was asked for, without the final dot
	Zone  string // the zone whose records made validation costly; "" if something else exceeded its limit
	What  string // what there was too much of
	Limit int
}

// Hostile reports whether the records of a zone made validation costly, as in the attack known as
// KeyTrap (CVE-2023-50387). Zones that work do not come near those limits.
func (e *BudgetError) Hostile() bool { return e.Zone != "" }

func (e *BudgetError) Error() string {
	if e.Hostile() {
		return fmt.Sprintf("validating %s takes more than %d %s (zone %s): do not use the name; the zone is broken or made to "+
			"exhaust validators (KeyTrap), which its operator must fix", e.Name, e.Limit, e.What, e.Zone)
	}
	return fmt.Sprintf("looking up %s takes more than %d %s: the operator of its zone must shorten the chain of aliases "+
		"and zones", e.Name, e.Limit, e.What)
}

// inZone names the zone whose records exceeded a limit. Errors of other kinds stay as they are.
func inZone(zone name, err error) error {
	b, ok := err.(*BudgetError)
	if !ok || b.Zone != "" {
		return err
	}
	named := *b
	named.Zone = zone.text()
	return &named
}

// answer is a result as it is kept.
type answer struct {
	*Result
	until time.Time
}

func newAnswers(l Limits, now func() time.Time) *flight.Memo[question, answer] {
	return flight.NewSizedMemo(l.CachedAnswers, l.CachedBytes, func(q question, a answer) int { return len(q.name) + a.size() }, now)
}

func newZones(l Limits, now func() time.Time) *flight.Memo[name, *zoneState] {
	return flight.NewSizedMemo(l.CachedZones, l.CachedBytes, func(n name, z *zoneState) int { return len(n) + z.size() }, now)
}

// left is what is left of the TTL.
func (a answer) left(now time.Time) time.Duration {
	if a.until.IsZero() {
		return a.TTL
	}
	return max(0, min(a.TTL, a.until.Sub(now).Truncate(time.Second)))
}

// Sizes are estimates of the memory that values take, including what belongs to a record or a
// key besides its data.
const (
	resultBytes = 128
	recordBytes = 96
	keyBytes    = 160
	linkBytes   = 64
)

func (r *Result) size() int {
	size := resultBytes + len(r.Name) + chainSize(r.Chain)
	for _, record := range r.Records {
		size += recordBytes + len(record.Text)
		if record.SRV != nil {
			size += len(record.SRV.Target)
		}
	}
	return size
}

func (z *zoneState) size() int {
	size := resultBytes + len(z.zone) + chainSize(z.chain)
	for i := range z.keys {
		size += keyBytes + 2*len(z.keys[i].rdata) // as it came, and as a key
	}
	return size
}

func chainSize(chain []Link) int {
	size := 0
	for _, link := range chain {
		size += linkBytes + len(link.Zone) + len(link.Reason)
	}
	return size
}
