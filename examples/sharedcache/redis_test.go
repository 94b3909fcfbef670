package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// server starts a Redis server of this test's own.
func server(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed (Debian: apt install redis-server)")
	}
	address := filepath.Join(t.TempDir(), "redis") // a socket: a port may be taken before it gets there
	cmd := exec.Command(path, "--port", "0", "--unixsocket", address, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() { cmd.Process.Kill(); <-drained; cmd.Wait() })
	ready, lines := make(chan bool, 1), bufio.NewScanner(out)
	go func() {
		defer close(drained)
		for lines.Scan() {
			if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
				select {
				case ready <- true:
				default:
				}
			}
		}
		close(ready)
	}()
	if !<-ready {
		t.Fatal("redis-server does not start")
	}
	return address
}

func TestTwoAgents(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, server(t)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"first agent: tier 2 for interact,body, found out before: false; the site was asked 1 times",
		"second agent: tier 2 for interact,body, found out before: true; the site was asked 1 times",
		"first agent, before it acts: query-404; the site was asked 2 times",
		"second agent, a minute later: query-404; the site was asked 2 times",
	}
	if got := strings.TrimSpace(out.String()); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestCache(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: server(t)})
	defer client.Close()
	c := redisCache{client, "test/"}
	ctx := t.Context()
	if _, _, err := c.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a miss is %v", err)
	}
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	if err := c.Put(ctx, "a", []byte("value"), end); err != nil {
		t.Fatal(err)
	}
	if value, expires, err := c.Get(ctx, "a"); string(value) != "value" || !expires.Equal(end) || err != nil {
		t.Errorf("%q, %s, %v", value, expires, err)
	}
	if ttl := client.TTL(ctx, "test/a").Val(); ttl <= 0 || ttl > time.Hour {
		t.Errorf("Redis keeps it for %s", ttl)
	}
	if err := errors.Join(c.Delete(ctx, "a"), c.Delete(ctx, "a")); err != nil {
		t.Error(err)
	}
	if err := c.Put(ctx, "b", nil, time.Now().Add(-time.Hour)); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Get(ctx, "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what expired is kept: %v", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := c.Get(gone, "a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a failure reads as absence: %v", err)
	}
}
