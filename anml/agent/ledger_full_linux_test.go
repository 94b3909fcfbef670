package agent

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/filestore"
)

const fullEnv = "LEDGER_FULL"

// fullAt is how long a file of the process of TestLedgerFull may be, in bytes.
const fullAt = 2000

// TestLedgerFullVictim is a process that has room for a part of a record only.
func TestLedgerFullVictim(t *testing.T) {
	dir := os.Getenv(fullEnv)
	if dir == "" {
		t.Skip("runs in a process of its own, started by TestLedgerFull")
	}
	d := openStore(t, dir)
	l := NewLedger(d)
	appendAll(t, l, entry("p", "first", start))
	must(t, d.Put(t.Context(), "a/b", nil, []byte("as it was"), time.Time{}))

	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = fullAt
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	ledger := l.Append(context.Background(), entry(strings.Repeat("p", 2*fullAt), "second", start))
	record := d.Put(context.Background(), "a/b", []byte("as it was"), make([]byte, 2*fullAt), time.Time{})
	limit.Cur = limit.Max
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if ledger == nil || record == nil {
		t.Error("half of it is taken for all", ledger, record)
	}
	// With room again everything goes on.
	appendAll(t, l, entry("p", "third", start))
	if got, err := d.Get(t.Context(), "a/b"); string(got) != "as it was" {
		t.Errorf("%q %v", got, err)
	}
}

// A disk that is full in the middle of a record is an error, and leaves nothing of it.
func TestLedgerFull(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process")
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	must(t, err)
	child := exec.CommandContext(t.Context(), exe, "-test.run=^TestLedgerFullVictim$", "-test.v")
	child.Env = append(os.Environ(), fullEnv+"="+dir)
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestLedgerFullVictim") {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, bad := fields(NewLedger(openStore(t, dir)).Entries(t.Context())); got != "first third" || bad > 0 {
		t.Error(got, bad)
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		if f.Name() == filestore.TemporaryName {
			t.Error("half of a record stays")
		}
	}
}
