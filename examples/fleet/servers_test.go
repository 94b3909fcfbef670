//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	accounts "os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// server is an engine that a test starts, and breaks.
type server interface {
	url() string
	crash(t *testing.T)                // kills the server, and starts it again
	reset(ctx context.Context) bool    // ends the connections of all clients
	pause(ctx context.Context) bool    // answers no claim for 100 ms
	killPart(ctx context.Context) bool // kills a process of the server that serves a client
}

// engines starts the servers that the tests run on.
var engines = map[string]func(*testing.T) server{"redis": startRedis, "postgres": startPostgres}

// missing skips a test whose engine is not installed.
func missing(t *testing.T, program string) {
	t.Helper()
	t.Skip(program + " is not installed")
}

// freePort returns a port that no one uses. On Linux it stays free until the test ends, also while
// the server is down: this process keeps a socket bound to it, and one that listens can share it.
func freePort(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	release := func() { _ = syscall.Close(fd) }
	if runtime.GOOS == "linux" {
		t.Cleanup(release)
	} else {
		defer release()
	}
	syscall.CloseOnExec(fd)
	if err := errors.Join(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(address.(*syscall.SockaddrInet4).Port)
}

// process is the process of a server.
type process struct {
	command func() *exec.Cmd
	ready   func(context.Context) error
	killed  os.Signal
	running *exec.Cmd
	ended   chan struct{}
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.running = p.command()
	if err := p.running.Start(); err != nil {
		t.Fatal(err)
	}
	running, ended := p.running, make(chan struct{})
	p.ended = ended
	go func() {
		_ = running.Wait()
		close(ended)
	}()
	for late := time.After(2 * time.Minute); ; {
		err := p.ready(context.Background())
		if err == nil {
			return
		}
		select {
		case <-ended:
			t.Fatal("the server ends: ", running.ProcessState)
		case <-late:
			t.Fatal("the server does not start: ", err)
		case <-time.After(25 * time.Millisecond): // nothing tells when a server listens
		}
	}
}

func (p *process) kill() {
	_ = p.running.Process.Signal(p.killed)
	<-p.ended
}

func (p *process) crash(t *testing.T) {
	t.Helper()
	p.kill()
	p.start(t)
}

type redisServer struct {
	process
	admin *redis.Client
}

// startRedis starts redis-server or valkey-server.
func startRedis(t *testing.T) server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if program, err = exec.LookPath("valkey-server"); err != nil {
			missing(t, "redis-server or valkey-server")
		}
	}
	port, dir := freePort(t), t.TempDir()
	s := &redisServer{admin: redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1})}
	s.process = process{killed: os.Kill, ready: func(ctx context.Context) error { return s.admin.Ping(ctx).Err() }, command: func() *exec.Cmd {
		return exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir", dir, "--logfile", "log")
	}}
	s.start(t)
	t.Cleanup(func() { s.kill(); _ = s.admin.Close() })
	return s
}

func (s *redisServer) url() string { return "redis://" + s.admin.Options().Addr + "/0" }

func (s *redisServer) reset(ctx context.Context) bool {
	return s.admin.Do(ctx, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err() == nil
}

func (s *redisServer) pause(ctx context.Context) bool {
	return s.admin.Do(ctx, "CLIENT", "PAUSE", 100, "ALL").Err() == nil
}

func (s *redisServer) killPart(context.Context) bool { return false } // it is one process

type postgresServer struct {
	process
	address string
}

// startPostgres starts PostgreSQL as the user of the test, or as an unprivileged user for root.
func startPostgres(t *testing.T) server {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		missing(t, "PostgreSQL")
	}
	dir, err := os.MkdirTemp("", "pg") // not below t.TempDir, which another user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		account, err := accounts.Lookup("postgres")
		if err != nil {
			if account, err = accounts.Lookup("nobody"); err != nil {
				t.Skip("there is no account for PostgreSQL")
			}
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(filepath.Dir(found[len(found)-1]), name), args...)
		c.Dir, c.SysProcAttr = dir, as
		return c
	}
	if out, err := command("initdb", "-D", dir+"/data", "-A", "trust", "-U", "lookleap", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	port := freePort(t)
	s := &postgresServer{address: fmt.Sprintf("postgres://lookleap@127.0.0.1:%s/postgres?sslmode=disable", port)}
	s.process = process{
		killed: syscall.SIGQUIT, // all its processes end at once without writing anything more
		ready:  func(ctx context.Context) error { return s.run(ctx, `SELECT 1`) },
		command: func() *exec.Cmd {
			return command("postgres", "-D", dir+"/data", "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir)
		},
	}
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *postgresServer) url() string { return s.address }

// run runs a statement in a connection of its own.
func (s *postgresServer) run(ctx context.Context, statement string, args ...any) error {
	conn, err := pgx.Connect(ctx, s.address)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, statement, args...)
	return err
}

const clients = ` FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`

func (s *postgresServer) reset(ctx context.Context) bool {
	return s.run(ctx, `SELECT pg_terminate_backend(pid)`+clients) == nil
}

func (s *postgresServer) pause(ctx context.Context) bool {
	return s.run(ctx, `DO $$ BEGIN LOCK TABLE claims.plans; PERFORM pg_sleep(0.1); END $$`) == nil
}

// killPart kills one process with SIGKILL. The server then ends all others and recovers.
func (s *postgresServer) killPart(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, s.address)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var pid int
	return conn.QueryRow(ctx, `SELECT pid`+clients+` LIMIT 1`).Scan(&pid) == nil && syscall.Kill(pid, syscall.SIGKILL) == nil
}
