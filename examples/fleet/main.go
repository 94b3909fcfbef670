// Command fleet runs three worker processes that commit the plans of one user on one site, with
// one Redis or PostgreSQL between them:
//
//	redis-server &
//	go run . -engine redis://localhost:6379/0
//
// It prints the ids of the processes. Kill any of them at any time, with kill -9 too: it starts
// another one, and no order is sent twice. Orders are calls of a tool behind a gate. At the end it compares what
// the site received with the store of plans and with the signed receipts.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/gate"
	pgengine "github.com/lookleap/lookleap/contrib/postgres"
	"github.com/lookleap/lookleap/contrib/receipt"
	redisengine "github.com/lookleap/lookleap/contrib/redis"
)

func main() {
	url := flag.String("engine", "redis://localhost:6379/0", "redis:// or postgres:// `URL` of the engine")
	orders := flag.Int("orders", 100, "`number` of orders that the user agrees to")
	workers := flag.Int("workers", 3, "`number` of worker processes")
	worker := flag.String("worker", "", "run as a worker of the fleet with this `name`")
	site := flag.String("site", "", "`URL` of the site, for a worker")
	key := os.Getenv("FLEET_KEY")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *worker != "" {
		err = work(ctx, *url, *worker, *site, key)
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
	key             string // seed of the key that signs receipts, made by run
	orders, workers int
	started         func(pid int) // for tests; may be nil

	mu       sync.Mutex
	received map[string]int // orders at the site, by Idempotency-Key
}

func (f *fleet) run(ctx context.Context) error {
	name := "fleet-" + strings.ToLower(rand.Text()[:8])
	f.key = hex.EncodeToString(lookleap.NewKey()[:ed25519.SeedSize])
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

// gated returns a gate with the tool that sends an order. All processes have the same tool.
func gated(host *lookleap.Host, run func(ctx context.Context, c gate.Call) ([]byte, error)) (*gate.Gate, *gate.Gated, error) {
	g := gate.New(host, gate.Options{User: user})
	tool, err := g.Tool(gate.Tool{Name: "order", Description: "Sends an order to the shop.", Run: run})
	return g, tool, err
}

// ringOf returns the key that signs receipts, from its seed in hexadecimal. In production it is in your secret store.
func ringOf(seed string) (*aiuri.KeyRing, error) {
	data, err := hex.DecodeString(seed)
	if err != nil || len(data) != ed25519.SeedSize {
		return nil, errors.New("the key is not 64 hexadecimal digits")
	}
	return aiuri.NewKeyRing(aiuri.SigningKey{ID: "fleet", Private: ed25519.NewKeyFromSeed(data)}, aiuri.KeyRingOptions{})
}

// agree has a model call the tool, lets the user agree to all calls, and stores them for the workers.
func (f *fleet) agree(ctx context.Context, e engine) ([]*lookleap.Plan, error) {
	host := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}, Asking: lookleap.AskLimits{Prompts: f.orders}}
	defer host.Close()
	_, tool, err := gated(host, func(context.Context, gate.Call) ([]byte, error) {
		return nil, lookleap.NothingSent(errors.New("the workers send orders"))
	})
	if err != nil {
		return nil, err
	}
	var plans []*lookleap.Plan
	for n := range f.orders {
		plan, record, err := agreeTo(ctx, tool, n)
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

// agreeTo has a model call the tool, and lets the user agree. It returns the plan and its order as JSON.
func agreeTo(ctx context.Context, tool *gate.Gated, n int) (*lookleap.Plan, []byte, error) {
	_, err := tool.Call(ctx, fmt.Appendf(nil, `{"text":"order %d"}`, n))
	var waits *lookleap.PendingError
	if !errors.As(err, &waits) {
		return nil, nil, err
	}
	plan, err := lookleap.ParsePlan(waits.State)
	if err != nil {
		return nil, nil, err
	}
	yes := lookleap.ConsentDecision{Digest: waits.Request.Digest}
	for _, item := range waits.Request.Items {
		yes.Approved = append(yes.Approved, item.ID)
	}
	record, err := json.Marshal(order{waits.State, yes})
	return plan, record, err
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
		c.Stderr, c.Env = os.Stderr, append(os.Environ(), "FLEET_WORKER=1", "FLEET_KEY="+f.key)
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
	ring, err := ringOf(f.key)
	if err != nil {
		return err
	}
	keys, err := aiuri.ParseKeySet(ring.JWKS())
	if err != nil {
		return err
	}
	recorded, receipts := make(map[string]bool), 0
	for r, err := range receipt.VerifyAll(receipt.NewLog(e.Store(user), ring).All(ctx), keys, receipt.Head{}) {
		if err != nil {
			return err
		}
		recorded[r.Plan], receipts = true, receipts+1
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
			return fmt.Errorf("plan %s was sent and has no receipt", p.ID())
		case n == 0 && r.State == lookleap.PlanDone, n == 1 && (r.State == lookleap.PlanFailed || r.State == lookleap.PlanClaimed):
			return fmt.Errorf("the site received plan %s %d times, and its state is %s", p.ID(), n, r.State)
		}
	}
	fmt.Fprintf(f.out, "%d orders: %d done, %d sent by a worker that died before it knew the outcome; the site received %d, none twice; there are %d receipts\n",
		len(plans), states[lookleap.PlanDone], states[lookleap.PlanSent]+states[lookleap.PlanUnknown], len(f.received), receipts)
	return nil
}
