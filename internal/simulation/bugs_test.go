package simulation

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// bug is a mistake that a part of the fleet could make. Each hook puts something around a
// part of a worker; without it the part stays as it is.
type bug struct {
	name    string
	breaks  string // an invariant
	fetcher func(on *worker, f lookleap.Fetcher) lookleap.Fetcher
	cache   func(on *worker, c lookleap.Cache) lookleap.Cache
	plans   func(on *worker, l lookleap.PlanLedger) lookleap.PlanLedger
	limiter func(on *worker, l lookleap.Limiter) lookleap.Limiter
	ledger  func(on *worker, l agent.DisclosureLedger) agent.DisclosureLedger
	decide  func(q *question, d lookleap.ConsentDecision) lookleap.ConsentDecision
	send    func(ctx context.Context, on *worker, a *lookleap.Approval) ([]byte, error)
}

// planted returns the hooks of the planted bug, and those that change nothing.
func (w *world) planted() bug {
	var b bug
	if w.bug != nil {
		b = *w.bug
	}
	if b.fetcher == nil {
		b.fetcher = func(_ *worker, f lookleap.Fetcher) lookleap.Fetcher { return f }
	}
	if b.cache == nil {
		b.cache = func(_ *worker, c lookleap.Cache) lookleap.Cache { return c }
	}
	if b.plans == nil {
		b.plans = func(_ *worker, l lookleap.PlanLedger) lookleap.PlanLedger { return l }
	}
	if b.limiter == nil {
		b.limiter = func(_ *worker, l lookleap.Limiter) lookleap.Limiter { return l }
	}
	if b.ledger == nil {
		b.ledger = func(_ *worker, l agent.DisclosureLedger) agent.DisclosureLedger { return l }
	}
	if b.decide == nil {
		b.decide = func(_ *question, d lookleap.ConsentDecision) lookleap.ConsentDecision { return d }
	}
	if b.send == nil {
		b.send = sendOrder
	}
	return b
}

// sendOrder sends exactly the bytes of the plan.
func sendOrder(ctx context.Context, on *worker, a *lookleap.Approval) ([]byte, error) {
	return on.post(ctx, a.Plan(), a.Plan().Effect())
}

func (on *worker) post(ctx context.Context, p *lookleap.Plan, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://shop.example/orders", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set(lookleap.IdempotencyHeader, p.IdempotencyKey())
	resp, err := on.host.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return []byte(resp.Status), resp.Body.Close()
}

// bugs are the mistakes that the simulation has to find.
var bugs = []*bug{
	{
		name: "tombstone-race", breaks: "withdrawal is seen within its bound",
		cache: func(_ *worker, c lookleap.Cache) lookleap.Cache { return oneRecord{c} },
	}, {
		name: "stale-replica", breaks: "withdrawal is seen within its bound",
		cache: func(on *worker, c lookleap.Cache) lookleap.Cache {
			return &replica{Cache: c, seen: map[string]replicated{}}
		},
	}, {
		name: "claim-in-two-steps", breaks: "no effect twice",
		plans: func(on *worker, l lookleap.PlanLedger) lookleap.PlanLedger { return twoSteps{l, on} },
	}, {
		name: "ledger-of-one-process", breaks: "no effect twice",
		plans: func(*worker, lookleap.PlanLedger) lookleap.PlanLedger { return lookleap.NewMemoryPlanLedger() },
	}, {
		name: "ledger-errors-ignored", breaks: "no effect twice",
		plans: func(_ *worker, l lookleap.PlanLedger) lookleap.PlanLedger { return optimistic{l} },
	}, {
		name: "claims-not-fenced", breaks: "no effect twice",
		plans: func(on *worker, l lookleap.PlanLedger) lookleap.PlanLedger { return unfenced{l} },
	}, {
		name: "failed-after-sending", breaks: "no effect twice",
		send: func(ctx context.Context, on *worker, a *lookleap.Approval) ([]byte, error) {
			receipt, err := sendOrder(ctx, on, a)
			return receipt, lookleap.NothingSent(err)
		},
	}, {
		name: "request-repeated", breaks: "no effect twice",
		fetcher: func(_ *worker, f lookleap.Fetcher) lookleap.Fetcher { return repeats{f} },
	}, {
		name: "ledger-buffered", breaks: "every effect is in the ledger before it",
		ledger: func(_ *worker, l agent.DisclosureLedger) agent.DisclosureLedger { return buffered{l} },
	}, {
		name: "limiter-of-one-process", breaks: "limits count across the fleet",
		limiter: func(*worker, lookleap.Limiter) lookleap.Limiter { return lookleap.NewMemoryLimiter() },
	}, {
		name: "other-bytes", breaks: "exactly the approved bytes",
		send: func(ctx context.Context, on *worker, a *lookleap.Approval) ([]byte, error) {
			return on.post(ctx, a.Plan(), []byte(strings.Replace(string(a.Plan().Effect()), "{", "{ ", 1)))
		},
	}, {
		name: "boxes-ticked", breaks: "nothing told that the user refused",
		decide: func(q *question, d lookleap.ConsentDecision) lookleap.ConsentDecision {
			if len(d.Approved) > 0 {
				d.Approved = idsOf(q.request)
			}
			return d
		},
	}, {
		name: "lock-kept", breaks: "no lost wake-up",
		plans: func(on *worker, l lookleap.PlanLedger) lookleap.PlanLedger { return on.world.engines.locking(l) },
	},
}

// oneRecord loses what ends a policy when the policy itself is written, as a cache does that
// keeps both in one record.
type oneRecord struct{ lookleap.Cache }

func (c oneRecord) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if prefix, origin, ok := strings.Cut(key, "/https://"); ok && !strings.HasSuffix(prefix, "malformed") {
		_ = c.Cache.Delete(ctx, prefix+"/malformed/https://"+origin)
	}
	return c.Cache.Put(ctx, key, value, expires)
}

// replica answers reads with what was true some minutes ago.
type replica struct {
	lookleap.Cache
	mu   sync.Mutex
	seen map[string]replicated
}

type replicated struct {
	at      time.Time
	value   []byte
	expires time.Time
	err     error
}

func (c *replica) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	c.mu.Lock()
	r, ok := c.seen[key]
	c.mu.Unlock()
	if !ok || time.Since(r.at) > 8*time.Minute {
		r = replicated{at: time.Now()}
		if r.value, r.expires, r.err = c.Cache.Get(ctx, key); r.err == nil || errors.Is(r.err, fs.ErrNotExist) {
			c.mu.Lock()
			c.seen[key] = r
			c.mu.Unlock()
		}
	}
	return slices.Clone(r.value), r.expires, r.err
}

// twoSteps reads the record of a plan, and writes the claim later.
type twoSteps struct {
	lookleap.PlanLedger
	on *worker
}

func (l twoSteps) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	before, err := l.Plan(ctx, c.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return before, err
	}
	after, err := before.Claim(c, time.Now())
	if err != nil {
		return after, err
	}
	return reach(ctx, l.on, "plans", func() (lookleap.PlanRecord, error) {
		l.on.world.engines.plans = replaced{l.on.world.engines.plans, after}
		return after, nil
	})
}

// replaced is a ledger in which one record was overwritten.
type replaced struct {
	lookleap.PlanLedger
	record lookleap.PlanRecord
}

func (l replaced) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	if c.ID != l.record.ID {
		return l.PlanLedger.Claim(ctx, c)
	}
	return l.record.Claim(c, time.Now())
}

func (l replaced) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	if id != l.record.ID {
		return l.PlanLedger.Plan(ctx, id)
	}
	return l.record, nil
}

func (l replaced) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if id != l.record.ID {
		return l.PlanLedger.Record(ctx, id, owner, o)
	}
	_, err := l.record.Record(owner, o, time.Now())
	return err
}

// optimistic ignores that the engine cannot be reached.
type optimistic struct{ lookleap.PlanLedger }

func (l optimistic) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	r, err := l.PlanLedger.Claim(ctx, c)
	if err != nil && !errors.Is(err, lookleap.ErrAlreadyDone) {
		return r, nil
	}
	return r, err
}

func (l optimistic) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	_ = l.PlanLedger.Record(ctx, id, owner, o)
	return nil
}

// unfenced lets a worker record what it likes after another one took the claim over.
type unfenced struct{ lookleap.PlanLedger }

func (l unfenced) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil {
		owner = r.Owner
	}
	if err := l.PlanLedger.Record(ctx, id, owner, o); !errors.Is(err, lookleap.ErrClaimLost) {
		return err
	}
	return nil
}

// repeats sends a request again if there is no response.
type repeats struct{ lookleap.Fetcher }

func (f repeats) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.Background()) // not that of the caller, which would notice
	context.AfterFunc(req.Context(), cancel)
	again := req.Clone(ctx)
	if req.GetBody != nil {
		again.Body, _ = req.GetBody()
	}
	resp, err := f.Fetcher.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		return f.Fetcher.RoundTrip(again)
	}
	return resp, err
}

// buffered writes entries a moment after it has acknowledged them.
type buffered struct{ agent.DisclosureLedger }

func (l buffered) Append(ctx context.Context, entries ...agent.Entry) error {
	entries = slices.Clone(entries)
	go func() {
		time.Sleep(5 * time.Second)
		_ = l.DisclosureLedger.Append(context.WithoutCancel(ctx), entries...)
	}()
	return nil
}

func (l buffered) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return l.DisclosureLedger.Entries(ctx)
}

// locking makes an engine of the fleet that serves one call at a time.
func (e *engines) locking(l lookleap.PlanLedger) lookleap.PlanLedger {
	if e.lock == nil {
		e.lock = make(chan struct{}, 1)
	}
	return locked{l, e.lock}
}

// locked keeps its lock if a call fails.
type locked struct {
	lookleap.PlanLedger
	lock chan struct{}
}

func (l locked) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	select {
	case l.lock <- struct{}{}:
	case <-ctx.Done():
		return lookleap.PlanRecord{}, ctx.Err()
	}
	r, err := l.PlanLedger.Claim(ctx, c)
	if err != nil && !errors.Is(err, lookleap.ErrAlreadyDone) {
		return r, err
	}
	<-l.lock
	return r, err
}
