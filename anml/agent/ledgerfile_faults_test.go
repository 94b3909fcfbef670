package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// blinded is a ledger with an entry whose file can be written and not be read.
func blinded(t *testing.T, more string) (l *FileDisclosureLedger, size int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	l = openLedger(t, path)
	appendAll(t, l, entry("p", "a", start))
	must(t, l.file.Close())
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(more)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	l.file, l.head = f, fileHead{}
	return l, info.Size()
}

// A ledger whose file cannot be read says so: it does not begin a new chain, and reports no
// readable file as damaged.
func TestLedgerFileThatCannotBeRead(t *testing.T) {
	for name, do := range map[string]func(*FileDisclosureLedger, int64) error{
		"append": func(l *FileDisclosureLedger, _ int64) error { return l.Append(t.Context(), entry("p", "b", start)) },
		"prune":  func(l *FileDisclosureLedger, _ int64) error { _, err := l.Prune(t.Context(), start); return err },
		"entries": func(l *FileDisclosureLedger, _ int64) error {
			for _, err := range l.Entries(t.Context()) {
				return err
			}
			return nil
		},
		"verify": func(l *FileDisclosureLedger, _ int64) error {
			_, err := VerifyLedger(t.Context(), l, Head{}, Head{})
			return err
		},
		"receipt": func(l *FileDisclosureLedger, _ int64) error {
			_, err := NewReceipt(t.Context(), l, 1, Head{})
			return err
		},
		"last-line": func(l *FileDisclosureLedger, size int64) error { _, err := l.headAt(size); return err },
		"all-lines": func(l *FileDisclosureLedger, size int64) error { _, err := l.lastHead(size); return err },
		"inspect":   func(l *FileDisclosureLedger, size int64) error { return l.inspect(size) },
		"set-aside": func(l *FileDisclosureLedger, size int64) error { _, err := l.setAside(size-1, size); return err },
	} {
		t.Run("ANML-13.2-13/reject-"+name, func(t *testing.T) {
			l, size := blinded(t, "")
			var path *os.PathError
			if err := do(l, size); !errors.As(err, &path) || path.Op != "read" {
				t.Errorf("got %v", err)
			}
			if info, err := os.Stat(l.path); err != nil || info.Size() != size {
				t.Errorf("the file changed: %v", err)
			}
			if d := l.Damage(); d != nil {
				t.Error(d)
			}
		})
	}
	t.Run("ANML-13.2-13/reject-append-after-part-of-a-line", func(t *testing.T) { // which cannot be moved
		path := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, path)
		must(t, l.file.Close())
		must(t, os.WriteFile(path, []byte("torn"), 0o600))
		var err error
		l.file, err = os.Open(path)
		must(t, err)
		if err := l.Append(t.Context(), entry("p", "b", start)); err == nil {
			t.Error("it was appended")
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "torn" {
			t.Errorf("%q, %v", data, err)
		}
	})
	t.Run("ANML-13.2-13/reject-closed-file", func(t *testing.T) {
		l := openLedger(t, filepath.Join(t.TempDir(), "ledger"))
		must(t, l.file.Close())
		_, pruned := l.Prune(t.Context(), start)
		for name, err := range map[string]error{"append": l.Append(t.Context(), entry("p", "a", start)), "prune": pruned, "close": l.Close()} {
			if !errors.Is(err, os.ErrClosed) {
				t.Error(name, err)
			}
		}
		open := openLedger(t, filepath.Join(t.TempDir(), "ledger"))
		if must(t, open.Close()); !errors.Is(open.file.Close(), os.ErrClosed) {
			t.Error("the file stays open")
		}
	})
}

// Nothing is yielded after the caller has left, and nothing is replaced where nothing is pruned.
func TestLedgerFileStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := openLedger(t, path)
	for _, f := range []string{"a", "b", "c"} {
		appendAll(t, l, entry("p", f, start), entry("p", f, start))
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string
		for e, err := range l.Entries(ctx) {
			cancel()
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, e.Field)
		}
		if !slices.Equal(got, []string{"a", "a", "context canceled"}) {
			t.Errorf("%q", got)
		}
	})
}
