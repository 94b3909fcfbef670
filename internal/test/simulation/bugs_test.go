package simulation

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// bug is a mistake that a part of the fleet could make. Each hook puts something around a
// part of a worker; without it the part stays as it is.
type bug struct {
	name    string
	breaks  string // an invariant
	fetcher func(on *worker, f lookleap.Fetcher) lookleap.Fetcher
	cache   func(on *worker, c lookleap.Cache) lookleap.Cache
	plans   func(on *worker, l lookleap.Store) lookleap.Store
	limiter func(on *worker, l lookleap.Limiter) lookleap.Limiter
	ledger  func(on *worker, l lookleap.Store) lookleap.Store
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
		b.plans = func(_ *worker, l lookleap.Store) lookleap.Store { return l }
	}
	if b.limiter == nil {
		b.limiter = func(_ *worker, l lookleap.Limiter) lookleap.Limiter { return l }
	}
	if b.ledger == nil {
		b.ledger = func(_ *worker, l lookleap.Store) lookleap.Store { return l }
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
	return on.post(ctx, a.Plan().IdempotencyKey(), a.Plan().Effect())
}

func (on *worker) post(ctx context.Context, key string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://shop.example/orders", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set(lookleap.IdempotencyHeader, key)
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
		plans: func(on *worker, l lookleap.Store) lookleap.Store { return twoSteps{l, on} },
	}, {
		name: "ledger-of-one-process", breaks: "no effect twice",
		plans: func(*worker, lookleap.Store) lookleap.Store { return lookleap.NewMemoryStore() },
	}, {
		name: "ledger-errors-ignored", breaks: "no effect twice",
		plans: func(_ *worker, l lookleap.Store) lookleap.Store { return optimistic{newRemembering(l)} },
	}, {
		name: "claims-not-fenced", breaks: "no effect twice",
		plans: func(on *worker, l lookleap.Store) lookleap.Store {
			return unfenced{newRemembering(l)}
		},
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
		ledger: func(_ *worker, l lookleap.Store) lookleap.Store { return buffered{l} },
	}, {
		name: "limiter-of-one-process", breaks: "limits count across the fleet",
		limiter: func(*worker, lookleap.Limiter) lookleap.Limiter { return lookleap.NewMemoryLimiter() },
	}, {
		name: "other-bytes", breaks: "exactly the approved bytes",
		send: func(ctx context.Context, on *worker, a *lookleap.Approval) ([]byte, error) {
			return on.post(ctx, a.Plan().IdempotencyKey(), []byte(strings.Replace(string(a.Plan().Effect()), "{", "{ ", 1)))
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
		plans: func(on *worker, l lookleap.Store) lookleap.Store { return on.world.engines.locking(l) },
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

// force writes a record, whatever is there.
func force(ctx context.Context, s lookleap.Store, key string, value []byte) error {
	return lookleap.UpdateRecord(ctx, s, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
}

// twoSteps compares the record of a plan, and writes it later.
type twoSteps struct {
	lookleap.Store
	on *worker
}

func (s twoSteps) Put(ctx context.Context, key string, old, value []byte, _ time.Time) error {
	stored, err := s.Get(ctx, key)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case (err == nil) != (old != nil), !bytes.Equal(stored, old):
		return lookleap.ErrConflict
	}
	time.Sleep(s.on.random(5 * time.Second))
	return reachErr(ctx, s.on, "plans", func() error { return force(ctx, s.on.world.engines.plans, key, value) })
}

// optimistic goes on from the records that it remembers while the engine cannot be reached.
type optimistic struct{ *remembering }

func (s optimistic) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.Store.Get(ctx, key)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return value, err
	}
	if own := s.remembered(key); own != nil {
		return own, nil
	}
	return nil, fs.ErrNotExist
}

func (s optimistic) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if err := s.Store.Put(ctx, key, old, value, until); errors.Is(err, lookleap.ErrConflict) {
		return err
	}
	s.remember(key, value)
	return nil
}

// remembering is a store with the records that one worker wrote.
type remembering struct {
	lookleap.Store
	mu  sync.Mutex
	own map[string][]byte
}

func newRemembering(s lookleap.Store) *remembering {
	return &remembering{Store: s, own: map[string][]byte{}}
}

func (s *remembering) remembered(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own[key]
}

func (s *remembering) remember(key string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own[key] = value
}

// unfenced lets a worker go on from the claim that it remembers, after another one took it over.
type unfenced struct{ *remembering }

func (s unfenced) Get(ctx context.Context, key string) ([]byte, error) {
	if own := s.remembered(key); own != nil {
		return own, nil
	}
	return s.Store.Get(ctx, key)
}

func (s unfenced) Put(ctx context.Context, key string, old, value []byte, until time.Time) (err error) {
	if s.remembered(key) != nil {
		err = force(ctx, s.Store, key, value)
	} else {
		err = s.Store.Put(ctx, key, old, value, until)
	}
	if err == nil {
		s.remember(key, value)
	}
	return err
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

// buffered writes records a moment after it has acknowledged them.
type buffered struct{ lookleap.Store }

func (s buffered) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	go func() {
		time.Sleep(5 * time.Second)
		_ = s.Store.Put(context.WithoutCancel(ctx), key, old, value, until)
	}()
	return nil
}

// locking makes an engine of the fleet that serves one call at a time.
func (e *engines) locking(l lookleap.Store) lookleap.Store {
	if e.lock == nil {
		e.lock = make(chan struct{}, 1)
	}
	return locked{l, e.lock}
}

// locked keeps its lock if a call fails.
type locked struct {
	lookleap.Store
	lock chan struct{}
}

func (l locked) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	select {
	case l.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := l.Store.Put(ctx, key, old, value, until)
	if err != nil && !errors.Is(err, lookleap.ErrConflict) {
		return err
	}
	<-l.lock
	return err
}
