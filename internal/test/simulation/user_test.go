package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// user reads questions and decides about them later. What the user decided is the measure
// for what the fleet may do.
type user struct {
	world *world
	mu    sync.Mutex
	about map[int]*question    // by the number of the plan
	byKey map[string]*question // by the idempotency key of the plan
}

type kind uint8

const (
	kindBooking kind = iota
	kindOrder
	kindTool
)

// question is one plan that the user was asked about.
type question struct {
	n       int
	kind    kind
	state   json.RawMessage
	request *lookleap.ConsentRequest
	plan    *lookleap.Plan

	decided  time.Time // zero: not yet
	approved []string  // items
	done     bool      // a worker reported success
}

func newUser(w *world) *user {
	return &user{world: w, about: map[int]*question{}, byKey: map[string]*question{}}
}

// asked puts a question to the user. The user decides after a while, and the decision is
// delivered to workers, often several times and not always to a worker that is alive.
func (u *user) asked(n int, k kind, p *lookleap.PendingError, r *rand.Rand) {
	plan, err := lookleap.ParsePlan(p.State)
	if err != nil {
		u.world.fail("states can be stored", "plan %d: %v", n, err)
		return
	}
	q := &question{n: n, kind: k, state: p.State, request: p.Request, plan: plan}
	u.mu.Lock()
	u.about[n], u.byKey[plan.IdempotencyKey()] = q, q
	u.mu.Unlock()

	// Before the decision, someone may try with a decision that the user never made.
	if r.IntN(2) == 0 {
		u.deliver(r.IntN(workers), q, lookleap.ConsentDecision{Digest: lookleap.Digest([]byte("another request")), Approved: idsOf(p.Request)})
	}
	time.Sleep(time.Duration(1+r.IntN(300)) * time.Second)
	u.mu.Lock()
	q.decided = time.Now()
	switch r.IntN(5) {
	case 0: // refuses
	case 1: // leaves out what is optional
		for _, item := range p.Request.Items {
			if !item.Optional {
				q.approved = append(q.approved, item.ID)
			}
		}
	default:
		q.approved = idsOf(p.Request)
	}
	u.mu.Unlock()
	u.world.trace("the user decides about plan %d: %q", n, q.approved)
	for range 1 + r.IntN(4) {
		delay, to := time.Duration(r.Int64N(int64(3*time.Minute))), r.IntN(workers)
		if r.IntN(2) == 0 {
			delay = time.Duration(r.Int64N(int64(50 * time.Millisecond))) // nearly at the same time
		}
		u.world.later(delay, func() { u.deliver(to, q, u.decision(q)) })
	}
}

func idsOf(r *lookleap.ConsentRequest) (ids []string) {
	for _, item := range r.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

// decision returns the decision of the user in the form that the host's dialogue makes.
func (u *user) decision(q *question) lookleap.ConsentDecision {
	return u.world.planted().decide(q, lookleap.ConsentDecision{Digest: q.request.Digest, Approved: slices.Clone(q.approved)})
}

// deliver resumes a plan on a worker.
func (u *user) deliver(to int, q *question, d lookleap.ConsentDecision) {
	ok, err := u.world.operation(to, fmt.Sprint("resume ", q.n), func(ctx context.Context, on *worker) error { return on.resume(ctx, q, d) })
	if ok && err == nil {
		u.mu.Lock()
		q.done = true
		u.mu.Unlock()
	}
}

// deliverLast delivers a decision to a worker when all trouble is over.
func (u *user) deliverLast(n int) {
	u.mu.Lock()
	q := u.about[n]
	u.mu.Unlock()
	if q != nil && !q.decided.IsZero() {
		u.deliver(n%workers, q, u.decision(q))
	}
}

// byIdempotencyKey returns the question about a plan.
func (u *user) byIdempotencyKey(key string) *question {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.byKey[key]
}
