//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// event is a line of a process: the beginning or the end of a claim, or the effect of a tool.
type event struct {
	Call  int64  `json:"call"` // number of the claim in its process
	ID    string `json:"id,omitempty"`
	Owner string `json:"owner,omitempty"`
	Ran   bool   `json:"ran,omitempty"` // the tool ran for the claim that is open
	End   string `json:"end,omitempty"` // won, lost, busy or unknown
	At    int64  `json:"at"`
}

const claimIDs = 20_000

// claimForever claims plans until the process is killed, and reports each step before it goes on. With a
// file of orders, it resumes them through a gate.
func claimForever(url, orders string) {
	e, err := retry(context.Background(), func() (engine, error) { return open(context.Background(), url, "claims") })
	if err != nil {
		os.Exit(1)
	}
	out, ids := json.NewEncoder(os.Stdout), claimIDs
	claim := func(ctx context.Context, id int, owner string) string { return claimStored(ctx, e.Plans(), id, owner) }
	if orders != "" {
		if claim, ids, err = gatedClaims(e.Plans(), orders, out); err != nil {
			os.Exit(1)
		}
	}
	for call := int64(1); ; call++ {
		n, owner := mrand.IntN(ids), rand.Text()
		id := fmt.Sprint("plan-", n)
		if out.Encode(event{Call: call, ID: id, Owner: owner, At: time.Now().UnixNano()}) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		end := claim(ctx, n, owner)
		cancel()
		if out.Encode(event{Call: call, End: end, At: time.Now().UnixNano()}) != nil {
			return
		}
		if end == "unknown" {
			time.Sleep(50 * time.Millisecond) // the server is down
		}
	}
}

// claimStored claims a plan in the store, and returns how that ended.
func claimStored(ctx context.Context, plans lookleap.Store, n int, owner string) string {
	key := fmt.Sprint("plan/plan-", n)
	err := plans.Put(ctx, key, nil, []byte(owner), time.Now().Add(time.Hour))
	if errors.Is(err, lookleap.ErrConflict) { // the client may have repeated a call that succeeded
		stored, readErr := plans.Get(ctx, key)
		switch {
		case readErr != nil:
			err = readErr
		case string(stored) == owner:
			err = nil
		}
	}
	switch {
	case err == nil:
		return "won"
	case errors.Is(err, lookleap.ErrConflict):
		return "lost"
	}
	return "unknown"
}

// gatedClaims returns a claim that resumes an order of a file through a gate, and the number of orders.
// The effect of the tool is a line for the test. Before and after it the process dies at times.
func gatedClaims(plans lookleap.Store, file string, out *json.Encoder) (func(context.Context, int, string) string, int, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, 0, err
	}
	orders := bytes.Split(bytes.TrimSpace(data), []byte{'\n'})
	dies := func() {
		if mrand.IntN(100) == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
	}
	g, _, err := gated(&lookleap.Host{Plans: plans}, func(context.Context, gate.Call) ([]byte, error) {
		dies()
		err := out.Encode(event{Ran: true})
		dies()
		return []byte("ran"), err
	})
	return func(ctx context.Context, n int, _ string) string {
		var o order
		if json.Unmarshal(orders[n], &o) != nil {
			os.Exit(1)
		}
		_, err := g.Resume(ctx, o.State, o.Decision)
		var done *lookleap.AlreadyDoneError
		switch {
		case err == nil:
			return "won"
		case errors.As(err, &done) && done.Record.State == lookleap.PlanDone:
			return "lost"
		case errors.As(err, &done): // another worker has begun; if it sends nothing, the plan is free again
			return "busy"
		}
		return "unknown"
	}, len(orders), err
}

// claimInput is a claim, with when it began and ended. An unknown end is never.
type claimInput struct {
	id, owner  string
	begin, end int64
}

// holder is who has a plan. Whether a claim without a response was recorded is not known.
type holder struct{ owner string }

// claims is a store of plans as porcupine sees it: for each id, the owner who has it.
var claims = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byID := map[string][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(claimInput).id
			byID[id] = append(byID[id], op)
		}
		parts := make([][]porcupine.Operation, 0, len(byID))
		for _, ops := range byID {
			parts = append(parts, ops)
		}
		return parts
	},
	Init: func() any { return holder{} },
	Step: func(state, input, output any) (bool, any) {
		h, c := state.(holder), input.(claimInput)
		switch output.(string) {
		case "won":
			return h.owner == "", holder{c.owner}
		case "lost":
			return h.owner != "", h
		case "busy":
			return true, h
		}
		if h.owner == "" { // it may have been recorded; a claim that was not takes no part
			return true, holder{c.owner}
		}
		return true, h
	},
}

var claimCount = flag.Int("claims", 5_000, "how many claims that return TestLinearizable makes on each engine")

// TestLinearizable lets eight processes claim plans while they are killed, and the server is
// paused, killed and loses its connections. More claims:
//
//	go test -run TestLinearizable -claims 100000 -v
func TestLinearizable(t *testing.T) {
	for name, start := range engines {
		t.Run(name, func(t *testing.T) { claimAndKill(t, start(t), *claimCount, "", claimIDs) })
	}
}

// TestCallsRunOnce does the same through gates: the processes resume the same approved calls, and die
// between the record that a call is sent and the record that it is done. The tool runs at most once for
// each call, and exactly once for one that is done.
func TestCallsRunOnce(t *testing.T) {
	for name, start := range engines {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			plans, file := approvedCalls(t, max(100, *claimCount/5))
			ran := claimAndKill(t, s, *claimCount, file, len(plans))
			e, err := retry(t.Context(), func() (engine, error) { return open(t.Context(), s.url(), "claims") })
			if err != nil {
				t.Fatal(err)
			}
			host, states := &lookleap.Host{Plans: e.Plans()}, map[lookleap.PlanState]int{}
			for n, p := range plans {
				r, err := retry(t.Context(), func() (lookleap.PlanRecord, error) { return host.PlanRecord(t.Context(), p.ID()) })
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				states[r.State]++
				runs := ran[fmt.Sprint("plan-", n)]
				begun := r.State == lookleap.PlanSent || r.State == lookleap.PlanDone || r.State == lookleap.PlanUnknown
				if runs > 1 || runs == 1 && !begun || runs == 0 && r.State == lookleap.PlanDone {
					t.Errorf("call %d ran %d times, and its state is %q", n, runs, r.State)
				}
			}
			t.Logf("%d calls ran; states: %v", len(ran), states)
			if states[lookleap.PlanDone] == 0 || states[lookleap.PlanSent] == 0 {
				t.Error("no call is done, or no process died between its two records")
			}
		})
	}
}

// approvedCalls returns calls that the user agreed to, and a file with a line for each of them.
func approvedCalls(t *testing.T, count int) (plans []*lookleap.Plan, file string) {
	host := &lookleap.Host{Prompter: lookleap.SuspendingPrompter{}, Asking: lookleap.AskLimits{Prompts: -1}}
	t.Cleanup(func() { _ = host.Close() })
	_, tool, err := gated(host, func(context.Context, gate.Call) ([]byte, error) { return nil, errors.New("only workers run it") })
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for n := range count {
		plan, line, err := agreeTo(t.Context(), tool, n)
		if err != nil {
			t.Fatal(err)
		}
		plans, lines = append(plans, plan), append(append(lines, line...), '\n')
	}
	file = filepath.Join(t.TempDir(), "orders")
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	return plans, file
}

// claimAndKill returns how often the tool ran for each plan, if the claims resume the orders of a file.
func claimAndKill(t *testing.T, s server, total int, orders string, ids int) (ran map[string]int) {
	ran = map[string]int{}
	var mu sync.Mutex
	var history []porcupine.Operation
	counts := map[string]int{}
	enough, live := make(chan struct{}), make([]*exec.Cmd, 8)
	var once sync.Once
	var wait sync.WaitGroup
	for n := range live {
		wait.Go(func() {
			for client := n; ; client += len(live) { // a process that was killed is another client
				select {
				case <-enough:
					return
				default:
				}
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), "FLEET_CLAIMS="+s.url(), "FLEET_CALLS="+orders)
				out, err := c.StdoutPipe()
				if err != nil || c.Start() != nil {
					t.Error("a process did not start")
					return
				}
				mu.Lock()
				live[n] = c
				mu.Unlock()
				var open *event
				end := func(e event) {
					mu.Lock()
					defer mu.Unlock()
					counts[e.End]++
					history = append(history, porcupine.Operation{ClientId: client, Input: claimInput{open.ID, open.Owner, open.At, e.At}, Output: e.End, Call: open.At, Return: e.At})
					if open = nil; counts["won"]+counts["lost"]+counts["busy"] >= total {
						once.Do(func() { close(enough) })
					}
				}
				for lines := bufio.NewScanner(out); lines.Scan(); {
					var e event
					if json.Unmarshal(lines.Bytes(), &e) != nil {
						continue // the process died while it wrote
					}
					switch {
					case e.Ran:
						mu.Lock()
						ran[open.ID]++
						mu.Unlock()
					case e.End == "":
						open = &e
					case open != nil && e.End == "unknown":
						end(event{End: "unknown", At: math.MaxInt64})
					case open != nil:
						end(e)
					}
				}
				_ = c.Wait()
				if open != nil {
					end(event{End: "unknown", At: math.MaxInt64})
				}
			}
		})
	}
	faults := map[string]int{}
	kill := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if live[n] != nil {
			_ = live[n].Process.Kill()
		}
	}
	for round := 0; ; round++ {
		select {
		case <-enough:
			for n := range live {
				kill(n)
			}
			ended := make(chan struct{})
			go func() { wait.Wait(); close(ended) }()
			for running := true; running; {
				select {
				case <-ended:
					running = false
				case <-time.After(100 * time.Millisecond):
					for n := range live { // one that started meanwhile
						kill(n)
					}
				}
			}
			if !porcupine.CheckOperations(claims, history) {
				t.Error("the history is not linearizable")
			}
			won := map[string]int{}
			for _, op := range history {
				if op.Output == "won" {
					won[op.Input.(claimInput).id]++
				}
			}
			for id, n := range won {
				if n > 1 {
					t.Errorf("%s was won %d times", id, n)
				}
			}
			lost := 0
			if orders != "" {
				t.Logf("%d claims of %d plans: %v; faults: %v", len(history), ids, counts, faults)
				return ran
			}
			// The last fault may have been a crash, so the engine may still recover.
			e, err := retry(t.Context(), func() (engine, error) { return open(t.Context(), s.url(), "claims") })
			if err != nil {
				t.Fatal(err)
			}
			for id := range won { // what was acknowledged is there
				if _, err := retry(t.Context(), func() ([]byte, error) { return e.Plans().Get(t.Context(), "plan/"+id) }); err != nil {
					lost++
				}
			}
			if lost > 0 {
				t.Errorf("%d acknowledged claims are lost", lost)
			}
			t.Logf("%d claims of %d plans: %v; faults: %v; %d lost", len(history), ids, counts, faults, lost)
			return ran
		case <-time.After(time.Duration(50+mrand.IntN(150)) * time.Millisecond): // when a fault strikes is real
		}
		fault, struck := []string{"kill", "kill", "reset", "pause", "crash"}[round%5], true
		switch fault {
		case "kill":
			kill(mrand.IntN(len(live)))
		case "reset":
			struck = s.reset(t.Context())
		case "pause":
			struck = s.pause(t.Context())
		case "crash":
			switch round % 25 {
			case 4:
				s.crash(t)
			case 14:
				fault, struck = "crash of one server process", s.killPart(t.Context())
			default:
				continue
			}
		}
		if struck {
			faults[fault]++
		}
	}
}
