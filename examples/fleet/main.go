// Command fleet runs three worker processes that commit the plans of one user on one site, with
// one Redis or PostgreSQL between them:
//
//	redis-server &
//	go run . -engine redis://localhost:6379/0
//
// It prints the ids of the processes. Kill any of them at any time, with kill -9 too: it starts
// another one, and no order is sent twice. At the end it compares what the site received with the
// ledger of plans and the user's disclosure ledger.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	pgengine "github.com/lookleap/lookleap/contrib/postgres"
	redisengine "github.com/lookleap/lookleap/contrib/redis"
)

func main() {
	url := flag.String("engine", "redis://localhost:6379/0", "redis:// or postgres:// `URL` of the engine")
	orders := flag.Int("orders", 100, "`number` of orders that the user agrees to")
	workers := flag.Int("workers", 3, "`number` of worker processes")
	worker := flag.String("worker", "", "run as a worker of the fleet with this `name`")
	site := flag.String("site", "", "`URL` of the site, for a worker")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *worker != "" {
		err = work(ctx, *url, *worker, *site)
	} else {
		err = (&fleet{out: os.Stdout, url: *url, orders: *orders, workers: *workers}).run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// engine is what both engines have.
type engine interface {
	Plans() lookleap.Store
	Limiter() lookleap.Limiter
	Store(user string) lookleap.Store
}

// open opens the engine at a URL, for the fleet with a name.
func open(ctx context.Context, url, name string) (engine, error) {
	if strings.HasPrefix(url, "postgres") {
		return pgengine.Open(ctx, url, pgengine.Options{Schema: name})
	}
	return redisengine.Open(url, redisengine.Options{Prefix: name + ":"})
}

const user = "ada"

// order is an approved plan in the user's store.
type order struct {
	State    json.RawMessage          `json:"state"`
	Decision lookleap.ConsentDecision `json:"decision"`
}

// fleet is the parent process: it has the user and the site.
type fleet struct {
	out             io.Writer
	url             string
	orders, workers int
	started         func(pid int) // for tests; may be nil

	mu       sync.Mutex
	received map[string]int // orders at the site, by Idempotency-Key
}

func (f *fleet) run(ctx context.Context) error {
	name := "fleet-" + strings.ToLower(rand.Text()[:8])
	e, err := open(ctx, f.url, name)
	if err != nil {
		return err
	}
	plans, err := f.agree(ctx, e)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.received = make(map[string]int)
	site := &http.Server{Handler: http.HandlerFunc(f.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = site.Serve(listener) }()
	defer site.Close()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wait sync.WaitGroup
	for n := range f.workers {
		wait.Go(func() { f.keepWorking(ctx, n, name, "http://"+listener.Addr().String()) })
	}
	wait.Wait()
	return f.report(context.WithoutCancel(ctx), e, plans)
}

// agree lets the user agree to all orders, and stores them for the workers.
func (f *fleet) agree(ctx context.Context, e engine) ([]*lookleap.Plan, error) {
	var plans []*lookleap.Plan
	for n := range f.orders {
		text := fmt.Sprintf("order %d", n)
		plan, err := lookleap.NewPlan(lookleap.ConsentRequest{
			Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "send an order",
			Items: []lookleap.ConsentItem{{ID: "order", Summary: text, Recipient: "shop.example", Digest: lookleap.Digest([]byte(text))}},
		}, []byte(text), time.Now())
		if err != nil {
			return nil, err
		}
		state, err := plan.State()
		if err != nil {
			return nil, err
		}
		record, err := json.Marshal(order{state, lookleap.ConsentDecision{Digest: plan.Request().Digest, Approved: []string{"order"}}})
		if err != nil {
			return nil, err
		}
		if err := e.Store(user).Put(ctx, "order/"+plan.ID(), nil, record, time.Time{}); err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// serve is the site. To show doubles, it does not refuse a key that it has seen.
func (f *fleet) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	f.mu.Lock()
	f.received[r.Header.Get(lookleap.IdempotencyHeader)]++
	f.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
}

// keepWorking starts a worker, and another one whenever it is killed.
func (f *fleet) keepWorking(ctx context.Context, n int, name, site string) {
	for ctx.Err() == nil {
		self, err := os.Executable()
		if err != nil {
			return
		}
		c := exec.CommandContext(ctx, self, "-worker", name, "-engine", f.url, "-site", site)
		c.Stderr, c.Env = os.Stderr, append(os.Environ(), "FLEET_WORKER=1")
		if err := c.Start(); err != nil {
			fmt.Fprintf(f.out, "worker %d: %v\n", n, err)
			return
		}
		fmt.Fprintf(f.out, "worker %d is process %d\n", n, c.Process.Pid)
		if f.started != nil {
			f.started(c.Process.Pid)
		}
		if c.Wait() == nil {
			return // nothing is left to do
		}
	}
}

// report compares the site with the ledgers.
func (f *fleet) report(ctx context.Context, e engine, plans []*lookleap.Plan) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	ledger := agent.NewLedger(e.Store(user))
	head, err := agent.VerifyLedger(ledger.Entries(ctx), agent.Head{}, agent.Head{})
	if err != nil {
		return err
	}
	recorded := make(map[string]bool)
	for entry, err := range ledger.Entries(ctx) {
		if err != nil {
			return err
		}
		recorded[entry.Plan] = true
	}
	host, states := &lookleap.Host{Plans: e.Plans()}, make(map[lookleap.PlanState]int)
	for _, p := range plans {
		r, err := host.PlanRecord(ctx, p.ID())
		if err != nil {
			return fmt.Errorf("plan %s: %w", p.ID(), err)
		}
		states[r.State]++
		n := f.received[p.IdempotencyKey()]
		switch {
		case n > 1:
			return fmt.Errorf("the site received plan %s %d times", p.ID(), n)
		case n == 1 && !recorded[p.ID()]:
			return fmt.Errorf("plan %s was sent and is not in the user's ledger", p.ID())
		case n == 0 && r.State == lookleap.PlanDone, n == 1 && (r.State == lookleap.PlanFailed || r.State == lookleap.PlanClaimed):
			return fmt.Errorf("the site received plan %s %d times, and its state is %s", p.ID(), n, r.State)
		}
	}
	fmt.Fprintf(f.out, "%d orders: %d done, %d sent by a worker that died before it knew the outcome; the site received %d, none twice; the ledger has %d entries\n",
		len(plans), states[lookleap.PlanDone], states[lookleap.PlanSent]+states[lookleap.PlanUnknown], len(f.received), head.Number)
	return nil
}
