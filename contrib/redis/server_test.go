package redisengine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// server is a real server that a test starts.
type server struct {
	address string
	dir     string
	command func() *exec.Cmd
	process *enginetest.Process
}

// installed returns the servers that are on PATH. Without any, the test is skipped.
func installed(t testing.TB) (programs []string) {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			programs = append(programs, path)
		}
	}
	if len(programs) == 0 {
		t.Skip("neither redis-server nor valkey-server is installed")
	}
	return programs
}

// eachServer runs a test on each server that is installed.
func eachServer(t *testing.T, test func(*testing.T, *server)) {
	for _, program := range installed(t) {
		t.Run(filepath.Base(program), func(t *testing.T) { test(t, startServer(t, program)) })
	}
}

// startServer starts a server on a free port.
func startServer(t testing.TB, program string) *server {
	t.Helper()
	port := enginetest.FreePort(t)
	s := &server{address: "127.0.0.1:" + port, dir: t.TempDir()}
	s.command = func() *exec.Cmd {
		return exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir", s.dir, "--maxmemory-policy", "noeviction", "--logfile", s.dir+"/log")
	}
	s.start(t)
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *server) start(t testing.TB) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1})
	defer client.Close()
	t.Cleanup(func() {
		if log, err := os.ReadFile(s.dir + "/log"); t.Failed() && err == nil {
			t.Logf("%s", log)
		}
	})
	s.process = enginetest.Start(t, s.command(), func() error { return client.Ping(context.Background()).Err() })
}

// kill kills the server as a crash would.
func (s *server) kill() { s.process.End(os.Kill) }

// engine returns an engine with its own connections, as another process has it.
func (s *server) engine(t testing.TB, name string) *Engine {
	t.Helper()
	e, err := Open(fmt.Sprintf("redis://%s/0", s.address), Options{Prefix: name + ":"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// damage cuts everything that is stored under a name.
func (s *server) damage(t testing.TB, name string) {
	t.Helper()
	ctx, c := context.Background(), s.engine(t, name).client
	keys, err := c.Keys(ctx, name+":*").Result()
	if err != nil || len(keys) == 0 {
		t.Fatal("there is nothing to damage", err)
	}
	half := func(text string) string { return text[:len(text)/2] }
	for _, key := range keys {
		switch c.Type(ctx, key).Val() {
		case "string":
			c.Set(ctx, key, half(c.Get(ctx, key).Val()), redis.KeepTTL)
		case "hash":
			for field, value := range c.HGetAll(ctx, key).Val() {
				c.HSet(ctx, key, field, half(value))
			}
		case "list":
			for i, element := range c.LRange(ctx, key, 0, -1).Val() {
				c.LSet(ctx, key, int64(i), half(element))
			}
		}
	}
}

// hang stops the process, so that connections stay open without answers.
func (s *server) hang(t testing.TB) (resume func()) {
	t.Helper()
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := s.process.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
}
