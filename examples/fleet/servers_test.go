package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	accounts "os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/lookleap/lookleap/internal/enginetest"
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

// process is the process of a server.
type process struct {
	command func() *exec.Cmd
	ready   func(context.Context) error
	killed  os.Signal
	running *enginetest.Process
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.running = enginetest.Start(t, p.command(), func() error { return p.ready(context.Background()) })
}

func (p *process) kill() { p.running.End(p.killed) }

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
	port, dir := enginetest.FreePort(t), t.TempDir()
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
	port := enginetest.FreePort(t)
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
