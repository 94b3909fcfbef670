package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

const (
	workers = 3
	plans   = 4
	length  = 30 * time.Minute // of the part of a run in which things go wrong
	patient = 2 * time.Minute  // how long a caller waits for one operation
)

// world is one run.
type world struct {
	tracing sync.Mutex // one line at a time
	seed    uint64
	bug     *bug // nil: none is planted
	net     *lookleaptest.Internet
	start   time.Time
	engines *engines
	user    *user
	site    *site
	verbose func(format string, args ...any)

	mu      sync.Mutex
	fleet   [workers]*worker
	boots   [workers]int
	cuts    []cut
	broken  []string // invariants that did not hold
	pending sync.WaitGroup
	events  []planEvent
}

// stream returns a source of random numbers for one purpose, so that what one part of the
// run draws does not depend on the order of the others.
func (w *world) stream(purpose string, n int) *rand.Rand {
	sum := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprint(purpose, "/", n)) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(w.seed, sum))
}

// fail records that an invariant does not hold.
func (w *world) fail(invariant, format string, args ...any) {
	message := fmt.Sprintf("%v %s: %s", w.elapsed(), invariant, fmt.Sprintf(format, args...))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, message)
}

func (w *world) elapsed() time.Duration { return time.Since(w.start).Round(time.Millisecond) }

func (w *world) trace(format string, args ...any) {
	if w.verbose != nil {
		w.tracing.Lock()
		defer w.tracing.Unlock()
		w.verbose("%10v %s", w.elapsed(), fmt.Sprintf(format, args...))
	}
}

// play runs the world of a seed in the bubble of t, and checks the invariants. The result has
// those that did not hold.
func play(t *testing.T, seed uint64, planted *bug, verbose func(string, ...any)) *world {
	w := &world{seed: seed, bug: planted, net: lookleaptest.NewInternet(), start: time.Now(), verbose: verbose}
	defer w.net.Close()
	w.engines = newEngines(w)
	w.user = newUser(w)
	w.site = newSite(w)
	for i := range w.fleet {
		w.boot(i)
	}
	w.schedule()
	w.settle()
	w.check()
	return w
}

// schedule starts all that happens during the run, each part at its time.
func (w *world) schedule() {
	for i := range workers {
		w.at(w.stream("crash", i), 2, length, func(r *rand.Rand) { w.crash(i, 1+r.IntN(60)) })
		w.at(w.stream("cut", i), 3, length, func(r *rand.Rand) { w.cut(i, r) })
		w.at(w.stream("visit", i), 12, length, func(*rand.Rand) { w.visit(i) })
		w.at(w.stream("search", i), 4, length, func(*rand.Rand) { w.search(i) })
	}
	for n := range plans {
		r := w.stream("plan", n)
		first, kind, gated := r.IntN(workers), r.IntN(2), w.stream("gate", n).IntN(2) == 0
		w.at(r, 1, length/2, func(r *rand.Rand) {
			switch {
			case kind == 0:
				w.book(first, n, r)
			case gated:
				w.tool(first, n, r)
			default:
				w.order(first, n, r)
			}
		})
	}
	r := w.stream("withdraw", 0)
	begin, within := time.Duration(r.Int64N(int64(length/2))), 2*time.Second
	if r.IntN(2) == 0 {
		begin = 0 // before any worker knows the policy
	}
	for i := range workers { // visits around the withdrawal, whose requests overlap
		w.later(begin+time.Duration(r.Int64N(int64(within))), func() { w.visit(i) })
	}
	w.later(begin+time.Duration(r.Int64N(int64(within))), w.site.withdraw)
	time.Sleep(length)
}

// later calls do after a delay.
func (w *world) later(delay time.Duration, do func()) {
	w.pending.Go(func() {
		time.Sleep(delay)
		do()
	})
}

// at calls do at n random times within a duration.
func (w *world) at(r *rand.Rand, n int, within time.Duration, do func(r *rand.Rand)) {
	for range n {
		delay, own := time.Duration(r.Int64N(int64(within))), rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		w.later(delay, func() { do(own) })
	}
}

// operation runs one operation of a worker, and fails if it does not return. What a worker
// that crashed meanwhile returns never reached anyone: ok is false.
func (w *world) operation(i int, what string, do func(ctx context.Context, on *worker) error) (ok bool, err error) {
	w.mu.Lock()
	on := w.fleet[i]
	w.mu.Unlock()
	if on == nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	late := time.AfterFunc(2*patient, func() { w.fail("no lost wake-up", "%s of worker %d did not return", what, i) })
	err = do(ctx, on)
	late.Stop()
	if on.dead.Load() {
		return false, nil
	}
	w.trace("worker %d: %s: %v", i, what, err)
	return true, err
}

// crash ends a worker, and boots it again after some seconds.
func (w *world) crash(i, seconds int) {
	w.mu.Lock()
	on := w.fleet[i]
	w.fleet[i] = nil
	w.mu.Unlock()
	if on == nil {
		return
	}
	on.dead.Store(true)
	w.trace("worker %d crashes", i)
	time.Sleep(time.Duration(seconds) * time.Second)
	w.boot(i)
	w.trace("worker %d is back", i)
}

// cut separates a worker from one engine for a while.
type cut struct {
	worker int
	engine string
	until  time.Time
	hangs  bool // calls do not return; otherwise they fail
}

func (w *world) cut(i int, r *rand.Rand) {
	c := cut{i, engineNames[r.IntN(len(engineNames))], time.Now().Add(time.Duration(1+r.IntN(120)) * time.Second), r.IntN(2) == 0}
	if w.engines.reliable(c.engine) {
		return
	}
	w.trace("worker %d is cut off from the %s until %v (hangs: %v)", i, c.engine, c.until.Sub(w.start), c.hangs)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts = append(w.cuts, c)
}

// separated returns the cut between a worker and an engine.
func (w *world) separated(i int, engine string) (cut, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.cuts {
		if c.worker == i && c.engine == engine && time.Now().Before(c.until) {
			return c, true
		}
	}
	return cut{}, false
}

// settle ends all trouble and delivers each decision once more: what can be done is then
// done.
func (w *world) settle() {
	w.pending.Wait()
	w.mu.Lock()
	w.cuts = nil
	w.mu.Unlock()
	w.site.calm.Store(true)
	w.engines.calm.Store(true)
	time.Sleep(2 * lookleap.PlanLease)
	for n := range plans {
		w.user.deliverLast(n)
		time.Sleep(2 * lookleap.PlanLease)
		w.user.deliverLast(n)
	}
}

const document = `<?xml version="1.0" encoding="UTF-8"?>
<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" version="1.0" role="service">
  <head><title>Ferries</title></head>
  <constraints><disclosure field="email" requires="explicit-consent"/><disclosure field="tel" requires="explicit-consent"/></constraints>
  <interact><action id="book" method="POST" endpoint="/bookings" confirm="true"/></interact>
  <knowledge>
    <ask field="email" action="book" purpose="to send the ticket" required="true"/>
    <ask field="tel" action="book" purpose="to call you"/>
  </knowledge>
</anml>`

func emailOf(n int) string { return fmt.Sprintf("traveller-%d@example.com", n) }
func telOf(n int) string   { return fmt.Sprintf("+1 555 010%d", n) }

// book prepares an action of the ferry company, which asks for two values of the user.
func (w *world) book(i, n int, r *rand.Rand) {
	for range 5 { // until the questions reached the user
		ok, err := w.operation(i, fmt.Sprint("book ", n), func(ctx context.Context, on *worker) error {
			page, err := on.session.Discover(ctx, "https://ferries.example")
			if err != nil {
				return err
			}
			values := map[string]agent.Value{"email": {Text: emailOf(n)}, "tel": {Text: telOf(n)}}
			_, err = page.Do(ctx, agent.Call{Action: "book", Reply: &agent.Reply{Values: values}})
			return err
		})
		if pending := (*lookleap.PendingError)(nil); ok && errors.As(err, &pending) {
			w.user.asked(n, kindBooking, pending, r)
			return
		}
		time.Sleep(time.Minute)
		i = (i + 1) % workers
	}
}

// order prepares a plan of the host itself, whose effect is exactly the body of a request.
func (w *world) order(i, n int, r *rand.Rand) {
	body := fmt.Appendf(nil, `{"order":%d,"for":%q}`, n, emailOf(n))
	for range 5 {
		ok, err := w.operation(i, fmt.Sprint("order ", n), func(ctx context.Context, on *worker) error {
			plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
				Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: fmt.Sprint("Order number ", n),
				Items: []lookleap.ConsentItem{{
					ID: "order", Summary: "Send the order", Recipient: "https://shop.example", Digest: lookleap.Digest(body),
					Values: []lookleap.ConsentValue{{Label: "body", Text: string(body)}},
				}},
			}, body, on.host.Time())
			if err != nil {
				return err
			}
			_, err = on.host.Ask(ctx, plan)
			return err
		})
		if pending := (*lookleap.PendingError)(nil); ok && errors.As(err, &pending) {
			w.user.asked(n, kindOrder, pending, r)
			return
		}
		time.Sleep(time.Minute)
		i = (i + 1) % workers
	}
}

// tool has a model call a tool behind the gate. Its effect is a request with the arguments.
func (w *world) tool(i, n int, r *rand.Rand) {
	for range 5 {
		ok, err := w.operation(i, fmt.Sprint("tool ", n), func(ctx context.Context, on *worker) error {
			pay, err := on.gate.Named("pay")
			if err == nil {
				_, err = pay.Call(ctx, fmt.Appendf(nil, `{"order":%d,"for":%q}`, n, emailOf(n)))
			}
			return err
		})
		if pending := (*lookleap.PendingError)(nil); ok && errors.As(err, &pending) {
			w.user.asked(n, kindTool, pending, r)
			return
		}
		time.Sleep(time.Minute)
		i = (i + 1) % workers
	}
}

// visit reads a page under the policy of the shop.
func (w *world) visit(i int) {
	ok, err := w.operation(i, "visit", func(ctx context.Context, on *worker) error { return on.read(ctx, "https://shop.example/area") })
	if ok && errors.Is(err, lookleap.ErrDenied) && w.site.isWithdrawn() {
		w.site.refused()
	}
}

// search reads a page that the policy permits a number of times an hour.
func (w *world) search(i int) {
	_, _ = w.operation(i, "search", func(ctx context.Context, on *worker) error { return on.read(ctx, "https://shop.example/search") })
}

func (on *worker) read(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := on.client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
