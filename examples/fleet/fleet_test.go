package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
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
		claimForever(os.Getenv("FLEET_CLAIMS"))
	case os.Getenv("FLEET_WORKER") != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// redisServer is a Redis server of a test.
type redisServer struct {
	args    []string
	address string
	process *exec.Cmd
}

func startRedis(t *testing.T) *redisServer {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed")
		}
		t.Skip("redis-server is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	s := &redisServer{args: []string{path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir", t.TempDir(), "--logfile", "log"}, address: "127.0.0.1:" + port}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *redisServer) start(t *testing.T) {
	t.Helper()
	s.process = exec.Command(s.args[0], s.args[1:]...)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		if conn, err := net.Dial("tcp", s.address); err == nil {
			conn.Close()
			return
		}
		time.Sleep(25 * time.Millisecond) // a process that starts cannot be waited for otherwise
	}
	t.Fatal("the server does not start")
}

func (s *redisServer) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func (s *redisServer) url() string { return "redis://" + s.address + "/0" }

// TestKill kills workers and the engine at random moments. The report of the fleet is an error if
// an order arrived twice, or a ledger does not fit to what the site received.
func TestKill(t *testing.T) {
	s := startRedis(t)
	var mu sync.Mutex
	var pids []int
	var out bytes.Buffer
	f := &fleet{out: io.Writer(&out), url: s.url(), orders: 300, workers: 3, started: func(pid int) {
		mu.Lock()
		pids = append(pids, pid)
		mu.Unlock()
	}}
	f.out = &locked{w: &out}
	done := make(chan error, 1)
	go func() { done <- f.run(t.Context()) }()
	kills := 0
	for round := 0; ; round++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			last := strings.Split(strings.TrimSpace(out.String()), "\n")
			t.Logf("%d workers were killed: %s", kills, last[len(last)-1])
			if kills < 3 {
				t.Errorf("only %d workers were killed", kills)
			}
			return
		case <-time.After(time.Duration(200+rand.IntN(300)) * time.Millisecond): // when to kill is real
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
		if round == 6 { // the engine too
			s.kill()
			s.start(t)
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
