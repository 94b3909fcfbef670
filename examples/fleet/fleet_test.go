//go:build unix

package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the program itself in the processes that the tests start.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("FLEET_CLAIMS") != "":
		claimForever(os.Getenv("FLEET_CLAIMS"), os.Getenv("FLEET_CALLS"))
	case os.Getenv("FLEET_WORKER") != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// TestKill kills workers and the engine at random moments. The report of the fleet is an error if
// an order arrived twice, or a ledger does not fit to what the site received.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills workers and an engine for minutes")
	}
	for name, start := range engines {
		t.Run(name, func(t *testing.T) { killFleet(t, start(t)) })
	}
}

func killFleet(t *testing.T, s server) {
	var mu sync.Mutex
	var pids []int
	var out bytes.Buffer
	f := &fleet{out: &locked{w: &out}, url: s.url(), orders: 150, workers: 3, started: func(pid int) {
		mu.Lock()
		pids = append(pids, pid)
		mu.Unlock()
	}}
	done := make(chan error, 1)
	go func() { done <- f.run(t.Context()) }()
	kills, crashed := 0, false
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			last := strings.Split(strings.TrimSpace(out.String()), "\n")
			t.Logf("%d workers were killed: %s", kills, last[len(last)-1])
			if kills == 0 {
				t.Error("no worker was killed")
			}
			return
		case <-time.After(time.Duration(50+rand.IntN(150)) * time.Millisecond): // when to kill is real
		}
		if kills < 12 {
			mu.Lock()
			if len(pids) >= 3 {
				live := pids[len(pids)-3:]
				if syscall.Kill(live[rand.IntN(3)], syscall.SIGKILL) == nil {
					kills++
				}
			}
			mu.Unlock()
		}
		if kills == 2 && !crashed { // the engine too
			s.crash(t)
			crashed = true
		}
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
