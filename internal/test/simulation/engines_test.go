package simulation

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
)

// engines are what the workers share.
type engines struct {
	lock    chan struct{} // of a planted bug
	steady  bool          // the cache is reachable all the time
	calm    atomic.Bool   // no response is lost any more
	lost    atomic.Bool   // a call of the cache failed or was late
	cache   lookleap.Cache
	plans   lookleap.Store
	limiter lookleap.Limiter
	ledger  lookleap.Store
	store   lookleap.Store
}

var engineNames = []string{"cache", "plans", "limiter", "ledger", "store"}

func newEngines(w *world) *engines {
	return &engines{
		steady: w.stream("steady", 0).IntN(2) == 0,
		cache:  lookleap.NewMemoryCache(1000), plans: lookleap.NewMemoryStore(), limiter: lookleap.NewMemoryLimiter(),
		ledger: lookleap.NewMemoryStore(), store: lookleap.NewMemoryStore(),
	}
}

// reliable reports whether nothing goes wrong between the workers and an engine.
func (e *engines) reliable(engine string) bool { return e.steady && engine == "cache" }

// errCut is what a worker sees of an engine that it cannot reach.
var errCut = errors.New("the connection was reset")

// reach makes one call of an engine over the network between it and a worker: the request
// and the response take time, and either may be lost. The call itself is atomic.
func reach[T any](ctx context.Context, on *worker, engine string, call func() (T, error)) (T, error) {
	var none T
	if err := on.travel(ctx, engine); err != nil {
		on.missed(engine)
		return none, err
	}
	result, err := call()
	if back := on.travel(context.WithoutCancel(ctx), engine); back != nil {
		on.missed(engine)
		return none, back
	}
	if on.chance(40) && !on.world.engines.calm.Load() && !on.world.engines.reliable(engine) {
		on.missed(engine)
		return none, errCut
	}
	return result, err
}

// missed notes a call of the cache that failed: what one worker knows may then be unknown to
// the others.
func (on *worker) missed(engine string) {
	if engine == "cache" {
		on.world.engines.lost.Store(true)
	}
}

// travel takes a message to an engine or back.
func (on *worker) travel(ctx context.Context, engine string) error {
	if err := pause(ctx, time.Millisecond+on.random(20*time.Millisecond)); err != nil {
		return err
	}
	if c, cut := on.world.separated(on.index, engine); cut {
		if !c.hangs {
			return errCut
		}
		if err := pause(ctx, time.Until(c.until)); err != nil {
			return err
		}
	}
	if on.dead.Load() {
		return errDead
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reachErr is reach for calls without a result.
func reachErr(ctx context.Context, on *worker, engine string, call func() error) error {
	_, err := reach(ctx, on, engine, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

type cacheLink struct{ on *worker }

type cacheEntry struct {
	value   []byte
	expires time.Time
}

func (l cacheLink) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	e, err := reach(ctx, l.on, "cache", func() (e cacheEntry, err error) {
		e.value, e.expires, err = l.on.world.engines.cache.Get(ctx, key)
		return e, err
	})
	return e.value, e.expires, err
}

func (l cacheLink) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return reachErr(ctx, l.on, "cache", func() error { return l.on.world.engines.cache.Put(ctx, key, value, expires) })
}

func (l cacheLink) Delete(ctx context.Context, key string) error {
	return reachErr(ctx, l.on, "cache", func() error { return l.on.world.engines.cache.Delete(ctx, key) })
}

// storeLink is the store of plans, of the user's ledger, or of all else of the user.
type storeLink struct {
	on     *worker
	engine string
}

func (l storeLink) store() lookleap.Store {
	switch l.engine {
	case "plans":
		return l.on.world.engines.plans
	case "ledger":
		return l.on.world.engines.ledger
	}
	return l.on.world.engines.store
}

func (l storeLink) Get(ctx context.Context, key string) ([]byte, error) {
	return reach(ctx, l.on, l.engine, func() ([]byte, error) { return l.store().Get(ctx, key) })
}

func (l storeLink) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	return reachErr(ctx, l.on, l.engine, func() error {
		err := l.store().Put(ctx, key, old, value, until)
		if r, ok := planOf(value); ok && l.engine == "plans" {
			l.on.world.record(planEvent{at: r.At, plan: r.ID, owner: r.Owner, state: r.State, err: err})
		}
		return err
	})
}

func (l storeLink) Delete(ctx context.Context, key string) error {
	return reachErr(ctx, l.on, l.engine, func() error { return l.store().Delete(ctx, key) })
}

func (l storeLink) Keys(ctx context.Context, prefix string) ([]string, error) {
	return reach(ctx, l.on, l.engine, func() ([]string, error) { return l.store().Keys(ctx, prefix) })
}

// planOf reads the record of a plan.
func planOf(value []byte) (r lookleap.PlanRecord, ok bool) {
	err := json.Unmarshal(value, &r)
	return r, err == nil
}

type limiterLink struct{ on *worker }

func (l limiterLink) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return reach(ctx, l.on, "limiter", func() (time.Duration, error) { return l.on.world.engines.limiter.Take(ctx, key, r) })
}

func (l limiterLink) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return reach(ctx, l.on, "limiter", func() (time.Duration, error) { return l.on.world.engines.limiter.Wait(ctx, key, r) })
}

func (l limiterLink) Hold(ctx context.Context, key string, d time.Duration) error {
	return reachErr(ctx, l.on, "limiter", func() error { return l.on.world.engines.limiter.Hold(ctx, key, d) })
}
