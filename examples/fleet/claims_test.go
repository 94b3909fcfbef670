//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lookleap/lookleap"
)

// event is a line of a process: the beginning or the end of a claim.
type event struct {
	Call  int64  `json:"call"` // number of the claim in its process
	ID    string `json:"id,omitempty"`
	Owner string `json:"owner,omitempty"`
	End   string `json:"end,omitempty"` // won, lost or unknown
	At    int64  `json:"at"`
}

const claimIDs = 20_000

// claimForever claims plans until the process is killed, and reports each step before it goes on.
func claimForever(url string) {
	e, err := retry(context.Background(), func() (engine, error) { return open(context.Background(), url, "claims") })
	if err != nil {
		os.Exit(1)
	}
	plans, out := e.Plans(), json.NewEncoder(os.Stdout)
	for call := int64(1); ; call++ {
		id, owner := fmt.Sprint("plan-", mrand.IntN(claimIDs)), rand.Text()
		if out.Encode(event{Call: call, ID: id, Owner: owner, At: time.Now().UnixNano()}) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		err := plans.Put(ctx, "plan/"+id, nil, []byte(owner), time.Now().Add(time.Hour))
		if errors.Is(err, lookleap.ErrConflict) { // the client may have repeated a call that succeeded
			stored, readErr := plans.Get(ctx, "plan/"+id)
			switch {
			case readErr != nil:
				err = readErr
			case string(stored) == owner:
				err = nil
			}
		}
		cancel()
		end := "unknown"
		switch {
		case err == nil:
			end = "won"
		case errors.Is(err, lookleap.ErrConflict):
			end = "lost"
		}
		if out.Encode(event{Call: call, End: end, At: time.Now().UnixNano()}) != nil {
			return
		}
		if end == "unknown" {
			time.Sleep(50 * time.Millisecond) // the server is down
		}
	}
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
		t.Run(name, func(t *testing.T) { claimAndKill(t, start(t), *claimCount) })
	}
}

func claimAndKill(t *testing.T, s server, total int) {
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
				c.Env = append(os.Environ(), "FLEET_CLAIMS="+s.url())
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
					if open = nil; counts["won"]+counts["lost"] >= total {
						once.Do(func() { close(enough) })
					}
				}
				for lines := bufio.NewScanner(out); lines.Scan(); {
					var e event
					if json.Unmarshal(lines.Bytes(), &e) != nil {
						continue // the process died while it wrote
					}
					switch {
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
			t.Logf("%d claims of %d plans: %v; faults: %v; %d lost", len(history), claimIDs, counts, faults, lost)
			return
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
