package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
)

// world is an engine, a shop, and a user.
type world struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	door    *lookleaptest.Door
	local   *Activities // of Prepare and Judge
	dir     string
	crashes []string // of the attempts, in order
	later   time.Duration
	// afterCrash is called after a process has died; may be nil.
	afterCrash func()

	mu       sync.Mutex
	died     []string
	attempts int
	received map[string]int // by Idempotency-Key
}

func newWorld(t *testing.T) *world {
	n := lookleaptest.NewInternet()
	t.Cleanup(n.Close)
	w := &world{t: t, dir: ledgerDir(t), received: map[string]int{}}
	// To show doubles, the shop does not refuse a key that it has seen.
	n.Site("shop.example").Handle("/orders", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.received[r.Header.Get(lookleap.IdempotencyHeader)]++
		w.mu.Unlock()
		rw.WriteHeader(http.StatusCreated)
		_, _ = rw.Write([]byte("order 7"))
	}))
	var err error
	if w.door, err = n.OpenDoor(); err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetDisableRegistrationAliasing(true)
	w.env = suite.NewTestWorkflowEnvironment()
	w.env.SetTestTimeout(time.Minute)
	w.env.SetStartTime(time.Now().Truncate(time.Second))
	w.local = &Activities{Host: &lookleap.Host{Now: w.now, Prompter: lookleap.SuspendingPrompter{}}, Keys: lookleap.Keys{[]byte(strings.Repeat("k", lookleap.MinKeyLen))}}
	w.env.RegisterWorkflow(Buy)
	w.env.RegisterActivity(w.local.Prepare)
	w.env.RegisterActivity(w.local.Judge)
	w.env.RegisterActivityWithOptions(w.commit, activity.RegisterOptions{Name: "Commit"})
	return w
}

// now is the time of the engine.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.env.Now().Add(w.later)
}

func (w *world) skip(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.later += d
}

// commit is the activity Commit, in a process that may die.
func (w *world) commit(ctx context.Context, p Prepared, decision string) (Outcome, error) {
	a := attempt{Plan: p, Decision: decision, Now: w.now(), Dir: w.dir, Network: w.door.Args(), Keys: w.local.Keys}
	w.mu.Lock()
	if w.attempts < len(w.crashes) {
		a.Crash = w.crashes[w.attempts]
	}
	w.attempts++
	w.mu.Unlock()
	outcome, err := a.commit(ctx)
	var known *temporal.ApplicationError
	if err != nil && !errors.As(err, &known) {
		if a.Crash == "" {
			w.t.Error(err)
		}
		w.mu.Lock()
		w.died = append(w.died, a.Crash)
		w.mu.Unlock()
		if w.afterCrash != nil {
			w.afterCrash()
		}
	}
	return outcome, err
}

// decide lets the user decide at a time after the start: "yes", "no", or "yes" to something else.
func (w *world) decide(after time.Duration, what string) {
	w.env.RegisterDelayedCallback(func() {
		value, err := w.env.QueryWorkflow(queryPlan)
		if err != nil {
			w.t.Error(err)
			return
		}
		var p Prepared
		if err := value.Get(&p); err != nil {
			w.t.Error(err)
			return
		}
		keys := w.local.Keys
		switch what {
		case "forged":
			keys = lookleap.Keys{[]byte(strings.Repeat("x", lookleap.MinKeyLen))}
			p.Sealed, what = w.reseal(p, keys), "yes"
		case "other":
			if p, err = w.local.Prepare(context.Background(), Order{Shop: "https://shop.example", Text: "a car"}); err != nil {
				w.t.Error(err)
				return
			}
			what = "yes"
		}
		var shown strings.Builder
		decision, err := ask(keys, p, strings.NewReader(what+"\n"), &shown)
		if err != nil || !strings.Contains(shown.String(), "shop.example") {
			w.t.Error(err, shown.String())
		}
		w.env.SignalWorkflow(signalDecision, decision)
	}, after)
}

// reseal is what someone without the key can do: seal what they know with another one.
func (w *world) reseal(p Prepared, keys lookleap.Keys) string {
	state, err := w.local.Keys.Unseal(p.Sealed)
	if err != nil {
		w.t.Fatal(err)
	}
	sealed, err := keys.Seal(state)
	if err != nil {
		w.t.Fatal(err)
	}
	return sealed
}

// buy runs the workflow to its end.
func (w *world) buy(t *testing.T) Outcome {
	t.Helper()
	w.env.ExecuteWorkflow(Buy, Order{Shop: "https://shop.example", Text: "two tea pots"})
	var outcome Outcome
	if err := w.env.GetWorkflowResult(&outcome); err != nil {
		t.Fatal(err)
	}
	return outcome
}

// orders returns how many orders the shop has received.
func (w *world) orders() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, times := range w.received {
		n += times
	}
	return n
}

func (w *world) keyOf(plan string) string {
	value, err := w.env.QueryWorkflow(queryPlan)
	var p Prepared
	if err != nil || value.Get(&p) != nil || p.ID != plan {
		w.t.Fatal(err, p.ID, plan)
	}
	return p.Key
}

func (w *world) record(t *testing.T, plan string) lookleap.PlanRecord {
	t.Helper()
	store, err := lookleap.OpenStore(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r, err := (&lookleap.Host{Plans: store}).PlanRecord(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDecision sends decisions to a workflow that waits.
func TestDecision(t *testing.T) {
	for name, c := range map[string]struct {
		decisions []string
		want      State
		orders    int
	}{
		"yes":                     {[]string{"yes"}, StateDone, 1},
		"no":                      {[]string{"no"}, StateNotDone, 0},
		"none":                    {nil, StateNotDone, 0},
		"forged":                  {[]string{"forged"}, StateNotDone, 0},
		"of-another-plan":         {[]string{"other"}, StateNotDone, 0},
		"forged-and-then-genuine": {[]string{"forged", "other", "yes"}, StateDone, 1},
		"twice":                   {[]string{"yes", "yes"}, StateDone, 1},
		"no-and-then-yes":         {[]string{"no", "yes"}, StateNotDone, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for n, what := range c.decisions {
				w.decide(time.Duration(n+1)*time.Hour, what)
			}
			outcome := w.buy(t)
			if outcome.State != c.want || w.orders() != c.orders || outcome.State == StateNotDone && outcome.Reason == "" {
				t.Errorf("%+v, and the shop has %d orders", outcome, w.orders())
			}
			if outcome.State == StateDone && outcome.Receipt != `201 "order 7"` {
				t.Errorf("the receipt is %s", outcome.Receipt)
			}
		})
	}
}

// TestCancel cancels the workflow before the user has decided, and while the order is sent.
func TestCancel(t *testing.T) {
	t.Run("before-the-decision", func(t *testing.T) {
		w := newWorld(t)
		w.env.RegisterDelayedCallback(w.env.CancelWorkflow, time.Hour)
		w.env.ExecuteWorkflow(Buy, Order{Shop: "https://shop.example", Text: "two tea pots"})
		var cancelled *temporal.CanceledError
		if err := w.env.GetWorkflowError(); !errors.As(err, &cancelled) || w.orders() != 0 {
			t.Errorf("%v, and the shop has %d orders", err, w.orders())
		}
	})
	t.Run("after-a-crash", func(t *testing.T) {
		w := newWorld(t)
		w.crashes = []string{afterRecord}
		w.afterCrash = w.env.CancelWorkflow
		w.decide(time.Minute, "yes")
		if outcome := w.buy(t); outcome.State != StateDone || w.orders() != 1 {
			t.Errorf("%+v, and the shop has %d orders", outcome, w.orders())
		}
	})
}

// TestRun checks what the command refuses before it connects, and that its workers share one key.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	for _, args := range [][]string{{}, {"order"}, {"decide"}, {"worker", "a", "b"}, {"sell"}} {
		if err := run(t.Context(), append([]string{"-key", file}, args...), strings.NewReader(""), io.Discard); err == nil || !strings.HasPrefix(err.Error(), "usage: ") {
			t.Errorf("%v: %v", args, err)
		}
	}
	first, err := readKey(file)
	second, again := readKey(file)
	if err != nil || again != nil || len(first) < lookleap.MinKeyLen || string(first) != string(second) {
		t.Error(err, again, len(first))
	}
}

// TestHistory checks that the server of the engine sees nothing of the order.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	p, err := w.local.Prepare(t.Context(), Order{Shop: "https://shop.example", Text: "two tea pots"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.Sealed, "tea") || p.Key == "" || p.Key == p.ID {
		t.Errorf("%+v", p)
	}
	for name, changed := range map[string]Prepared{
		"cut":     {ID: p.ID, Sealed: p.Sealed[:len(p.Sealed)-4]},
		"other":   {ID: p.ID, Sealed: w.reseal(p, lookleap.Keys{[]byte(strings.Repeat("x", lookleap.MinKeyLen))})},
		"missing": {ID: p.ID},
	} {
		if _, err := w.local.Commit(t.Context(), changed, "x"); lookleap.CodeOf(err) != lookleap.CodeSealBroken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
