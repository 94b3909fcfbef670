package simulation

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/gate"
)

// worker is one process of the fleet, from its start to its crash.
type worker struct {
	world   *world
	index   int
	dead    atomic.Bool // nothing that it does reaches anything any more
	host    *lookleap.Host
	session *agent.Session
	client  *http.Client // that obeys agents.txt
	plans   lookleap.Store
	gate    *gate.Gate

	mu   sync.Mutex
	draw *rand.Rand
}

// errDead is what the code of a worker sees after its crash. No one reads it.
var errDead = errors.New("the process has crashed")

// boot starts a worker.
func (w *world) boot(i int) {
	w.mu.Lock()
	w.boots[i]++
	on := &worker{world: w, index: i, draw: w.stream("worker", i*1000+w.boots[i])}
	w.mu.Unlock()
	skew := time.Duration(on.draw.Int64N(int64(4*time.Second))) - 2*time.Second
	host := w.net.Host()
	host.Now = func() time.Time { return w.net.Clock().Now().Add(skew) }
	o := w.net.FetcherOptions()
	o.Resolver = host
	dial := o.Dial
	o.Dial = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		if on.dead.Load() {
			return nil, errDead
		}
		conn, err := dial(ctx, addr)
		if err != nil {
			return nil, err
		}
		return mortal{conn, on}, nil
	}
	host.Fetcher = w.planted().fetcher(on, lookleap.NewFetcher(o))
	host.Prompter = later{}
	host.Cache = w.planted().cache(on, cacheLink{on})
	host.Plans = w.planted().plans(on, storeLink{on, "plans"})
	host.Limiter = w.planted().limiter(on, limiterLink{on})
	on.host, on.plans = host, host.Plans
	on.client = &http.Client{Transport: agentstxt.Guard(host)}
	for on.session == nil { // until the store can be reached
		session, err := agent.New(host, agent.Options{}).NewSession(agent.User{
			Ledger: w.planted().ledger(on, storeLink{on, "ledger"}), Store: storeLink{on, "store"},
		})
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		on.session = session
	}
	on.gate = gate.New(host, gate.Options{User: "ada"})
	if _, err := on.gate.Tool(gate.Tool{Name: "pay", Run: on.pay}); err != nil {
		panic(err)
	}
	w.mu.Lock()
	w.fleet[i] = on
	w.mu.Unlock()
}

// later is the prompter of a runtime whose user decides later.
type later struct{}

func (later) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

// mortal is a connection that ends with its process.
type mortal struct {
	net.Conn
	on *worker
}

func (c mortal) Write(b []byte) (int, error) {
	if c.on.dead.Load() {
		_ = c.Conn.Close()
		return 0, errDead
	}
	return c.Conn.Write(b)
}

// random returns a duration below a limit. No two are equal in practice, so that the order
// of events is that of their times.
func (on *worker) random(limit time.Duration) time.Duration {
	on.mu.Lock()
	defer on.mu.Unlock()
	return time.Duration(on.draw.Int64N(int64(limit)))
}

// chance reports true in one of n cases.
func (on *worker) chance(n int) bool {
	on.mu.Lock()
	defer on.mu.Unlock()
	return on.draw.IntN(n) == 0
}

// pay is the function of the tool behind the gate.
func (on *worker) pay(ctx context.Context, c gate.Call) ([]byte, error) {
	return on.post(ctx, c.Key, c.Arguments)
}

// resume commits a plan with a decision of the user.
func (on *worker) resume(ctx context.Context, q *question, d lookleap.ConsentDecision) error {
	if q.kind == kindBooking {
		_, err := on.session.Resume(ctx, q.state, d)
		return err
	}
	if q.kind == kindTool {
		_, err := on.gate.Resume(ctx, q.state, d)
		return err
	}
	plan, err := lookleap.ParsePlan(q.state)
	if err != nil {
		return err
	}
	approval, err := on.host.Decide(ctx, plan, d)
	if err != nil {
		return err
	}
	_, err = on.host.CommitApproved(ctx, approval, lookleap.Effect{
		Prepare: func(ctx context.Context, a *lookleap.Approval) error {
			if on.chance(3) { // a worker may be slower than its lease
				time.Sleep(lookleap.PlanLease + on.random(30*time.Second))
			}
			return nil
		},
		Send: func(ctx context.Context, a *lookleap.Approval) ([]byte, error) {
			return on.world.planted().send(ctx, on, a)
		},
	})
	return err
}
