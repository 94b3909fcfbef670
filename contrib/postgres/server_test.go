package pgengine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// server is a real server that a test starts.
type server struct {
	bin, dir, port string
	as             *syscall.SysProcAttr
	process        *enginetest.Process
}

// startServer starts PostgreSQL on a free port. It refuses to run as root, so root starts it as
// an unprivileged system user. Without the program, the test is skipped.
func startServer(t testing.TB) *server {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed")
	}
	dir, err := os.MkdirTemp("", "pg") // not below t.TempDir, which another user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{bin: filepath.Dir(found[len(found)-1]), dir: dir}
	if os.Geteuid() == 0 {
		account, err := user.Lookup("postgres")
		if err != nil {
			if account, err = user.Lookup("nobody"); err != nil {
				t.Skip("there is no account for PostgreSQL")
			}
		}
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	initdb := s.command("initdb", "-D", dir+"/data", "-A", "trust", "-U", "lookleap", "-E", "UTF8", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.port = enginetest.FreePort(t)
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.SysProcAttr = s.dir, s.as
	return c
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://lookleap@127.0.0.1:%s/postgres?sslmode=disable", s.port)
}

func (s *server) start(t testing.TB) {
	t.Helper()
	command := s.command("postgres", "-D", s.dir+"/data", "-p", s.port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.dir)
	log, err := os.OpenFile(s.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	t.Cleanup(func() {
		if text, err := os.ReadFile(s.dir + "/log"); t.Failed() && err == nil {
			t.Logf("%s", text)
		}
	})
	s.process = enginetest.Start(t, command, func() error {
		conn, err := pgx.Connect(context.Background(), s.url())
		if err == nil {
			err = conn.Close(context.Background())
		}
		return err
	})
}

// kill ends the server at once: all its processes exit without writing anything more, and the next
// start recovers as after a crash.
func (s *server) kill() { s.process.End(syscall.SIGQUIT) }

// engine returns an engine with its own connections, as another process has it.
func (s *server) engine(t testing.TB, name string) *Engine {
	t.Helper()
	e, err := Open(context.Background(), s.url(), Options{Schema: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// damage cuts what is stored under a name.
func (s *server) damage(t testing.TB, name string) {
	t.Helper()
	e := s.engine(t, name)
	e.must(t, `UPDATE lookleap.cache SET expires = left(expires, 9)`)
}

// hang stops the processes of the server, so that connections stay open without answers.
func (s *server) hang(t testing.TB) (resume func()) {
	t.Helper()
	parent := s.process.Pid
	processes := []int{parent}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			processes = append(processes, pid)
		}
	}
	signal := func(sig syscall.Signal) {
		for _, pid := range processes {
			_ = syscall.Kill(pid, sig)
		}
	}
	signal(syscall.SIGSTOP)
	return func() { signal(syscall.SIGCONT) }
}
