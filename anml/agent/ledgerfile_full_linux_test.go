package agent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/filestore"
)

const fullEnv = "LEDGER_FULL"

// fullAt is where the file ends that the process of TestLedgerFull may write, in
// bytes: somewhere in its second line.
const fullAt = 500

// TestLedgerFullVictim is a process that has room for half of a line only.
func TestLedgerFullVictim(t *testing.T) {
	dir := os.Getenv(fullEnv)
	if dir == "" {
		t.Skip("runs in a process of its own, started by TestLedgerFull")
	}
	l, err := OpenDisclosureLedger(filepath.Join(dir, "ledger"), LedgerOptions{})
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "store"), 0o700))
	d, err := lookleap.OpenStore(filepath.Join(dir, "store"))
	must(t, err)
	appendAll(t, l, entry("p", "first", start))
	must(t, d.Put(t.Context(), "a/b", nil, []byte("as it was"), time.Time{}))

	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = fullAt
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	ledger := l.Append(context.Background(), entry("p", "second", start))
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

// A disk that is full in the middle of a line is an error, and leaves nothing of
// the line; a record stays as it was.
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
	path := filepath.Join(dir, "ledger")
	data, err := os.ReadFile(path)
	must(t, err)
	first := bytes.IndexByte(data, '\n') + 1
	if first >= fullAt || 2*first <= fullAt {
		t.Fatalf("a line has %d octets: %d are no limit within the second one", first, fullAt)
	}
	l := openLedger(t, path)
	if got, bad := fields(l.Entries(t.Context())); got != "first third" || bad > 0 || l.Damage() != nil {
		t.Error(got, bad, l.Damage())
	}
	if torn, err := filepath.Glob(path + ".torn-*"); err != nil || torn != nil {
		t.Error("half of a line was left in the file:", torn, err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "store"))
	must(t, err)
	for _, f := range files {
		if f.Name() == filestore.TemporaryName {
			t.Error("half of a record stays")
		}
	}
}

// An entry that is written and not on disk is not recorded. No pipe can be synchronised.
func TestLedgerFileNotSynced(t *testing.T) {
	t.Run("ANML-13.2-13/reject-entry-that-is-not-on-disk", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, path)
		must(t, errors.Join(l.file.Close(), os.Remove(path), syscall.Mkfifo(path, 0o600)))
		var err error
		l.file, err = os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		if err := l.Append(t.Context(), entry("p", "a", start)); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("got %v", err)
		}
	})
}
