package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"go.temporal.io/sdk/temporal"

	commonpb "go.temporal.io/api/failure/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// The points at which a worker process is killed.
const (
	beforeClaim = "before-claim"
	beforeSend  = "before-send" // the ledger says "sent", and nothing was sent
	afterSend   = "after-send"  // the shop has the order, and the ledger still says "sent"
	afterRecord = "after-record"
)

var crashPoints = []string{beforeClaim, beforeSend, afterSend, afterRecord}

// attempt is one attempt of the activity Commit, which a process of its own makes.
type attempt struct {
	Plan     Prepared
	Decision string
	Now      time.Time // of the engine
	Crash    string    // where the process is killed; empty: nowhere
	Dir      string    // of the ledger
	Network  []string  // flags of hostflags
	Keys     lookleap.Keys
}

// attempted is how an attempt ended.
type attempted struct {
	Outcome Outcome
	Failure json.RawMessage `json:",omitempty"` // the error, as the engine stores it
}

// commit makes the attempt in a process of its own. An error means that the process died.
func (a attempt) commit(ctx context.Context) (Outcome, error) {
	in, err := json.Marshal(a)
	if err != nil {
		return Outcome{}, err
	}
	c := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestWorkerProcess$", "-test.v")
	c.Env = append(os.Environ(), "TEMPORAL_ATTEMPT="+string(in))
	text, err := c.CombinedOutput()
	if err != nil {
		return Outcome{}, fmt.Errorf("the worker died at %q: %w\n%s", a.Crash, err, text)
	}
	_, result, _ := bytes.Cut(text, []byte("\nresult: "))
	result, _, _ = bytes.Cut(result, []byte("\n"))
	var out attempted
	if err := json.Unmarshal(result, &out); err != nil {
		return Outcome{}, fmt.Errorf("%w\n%s", err, text)
	}
	if out.Failure == nil {
		return out.Outcome, nil
	}
	var failure commonpb.Failure
	if err := protojson.Unmarshal(out.Failure, &failure); err != nil {
		return Outcome{}, err
	}
	return out.Outcome, temporal.GetDefaultFailureConverter().FailureToError(&failure)
}

// TestWorkerProcess is the process of an attempt. It runs in a bubble whose clock it sets to the
// time of the engine, so that leases of the ledger end without waiting.
func TestWorkerProcess(t *testing.T) {
	input := os.Getenv("TEMPORAL_ATTEMPT")
	if input == "" {
		t.Skip("it is a process of other tests")
	}
	var a attempt
	if err := json.Unmarshal([]byte(input), &a); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(a.Now))
		set := flag.NewFlagSet("", flag.ContinueOnError)
		var network hostflags.Flags
		network.Declare(set)
		if err := set.Parse(a.Network); err != nil {
			t.Fatal(err)
		}
		host, err := network.NewHost()
		if err != nil {
			t.Fatal(err)
		}
		defer host.Close()
		plans, err := lookleap.OpenStore(a.Dir)
		if err != nil {
			t.Fatal(err)
		}
		host.Plans = crashing{plans, a.Crash}
		ctx, cancel := context.WithTimeout(t.Context(), attemptTime)
		defer cancel()
		var out attempted
		out.Outcome, err = (&Activities{Host: &host.Host, Keys: a.Keys}).Commit(ctx, a.Plan, a.Decision)
		if err != nil {
			out.Failure, err = protojson.Marshal(temporal.GetDefaultFailureConverter().ErrorToFailure(err))
			if err != nil {
				t.Fatal(err)
			}
		}
		result, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\nresult: %s\n", result)
		syscall.Exit(0) // the bubble would wait until the server closes its connections
	})
}

// crashing is a store that kills its process at one point.
type crashing struct {
	lookleap.Store
	point string
}

func (l crashing) at(point string) {
	if l.point != point || point == "" {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // until the signal arrives
}

func (l crashing) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	var r lookleap.PlanRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return err
	}
	before := map[lookleap.PlanState]string{lookleap.PlanSent: beforeClaim, lookleap.PlanDone: afterSend}
	after := map[lookleap.PlanState]string{lookleap.PlanSent: beforeSend, lookleap.PlanDone: afterRecord}
	l.at(before[r.State])
	err := l.Store.Put(ctx, key, old, value, until)
	if err == nil {
		l.at(after[r.State])
	}
	return err
}

// TestCrash kills the worker at each point, and at each pair of points, while the engine retries
// the activity. What the workflow returns is what the ledger proves and what the shop has seen.
func TestCrash(t *testing.T) {
	for _, first := range crashPoints {
		for _, second := range append([]string{""}, crashPoints...) {
			t.Run(strings.TrimSuffix(first+","+second, ","), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.crashes = []string{first, second}
				w.decide(time.Minute, "yes")
				outcome := w.buy(t)
				// The first point past the claim that is reached decides.
				want, orders := StateDone, 1
				for _, point := range w.died {
					if point == beforeSend || point == afterSend {
						want = StateInDoubt
					}
					if point == beforeSend {
						orders = 0
					}
				}
				if outcome.State != want || w.orders() != orders {
					t.Errorf("died at %v: %+v, and the shop has %d orders; want %s and %d", w.died, outcome, w.orders(), want, orders)
				}
				if proved := w.record(t, outcome.Plan); (proved.State == lookleap.PlanDone) != (outcome.State == StateDone) || string(proved.Receipt) != outcome.Receipt {
					t.Errorf("the ledger has %+v, the workflow returned %+v", proved, outcome)
				}
				if outcome.State == StateInDoubt && (outcome.Key != w.keyOf(outcome.Plan) || outcome.Reason == "") {
					t.Errorf("the user cannot ask the shop: %+v", outcome)
				}
				if len(w.died) == 0 || w.died[0] != first {
					t.Errorf("the worker died at %v", w.died)
				}
			})
		}
	}
}

// TestCrashUntilExpired kills a worker, and starts the next one when the plan has expired. That
// nothing was sent still needs the ledger.
func TestCrashUntilExpired(t *testing.T) {
	for point, want := range map[string]State{beforeClaim: StateNotDone, beforeSend: StateInDoubt} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.crashes = []string{point}
			w.decide(time.Minute, "yes")
			w.afterCrash = func() { w.skip(lookleap.PlanLifetime) } // the workers are down for a day
			if outcome := w.buy(t); outcome.State != want || w.orders() != 0 {
				t.Errorf("%+v, and the shop has %d orders", outcome, w.orders())
			}
		})
	}
}

func ledgerDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "plans")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
