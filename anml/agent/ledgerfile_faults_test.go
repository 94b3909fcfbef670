package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
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
	t.Run("ANML-13.2-13/reject-no-directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "d")
		must(t, os.Mkdir(dir, 0o700))
		l := openLedger(t, filepath.Join(dir, "ledger"))
		must(t, os.Rename(dir, dir+"-moved"))
		must(t, os.WriteFile(dir, nil, 0o600))
		if err := l.Append(t.Context(), entry("p", "a", start)); err == nil {
			t.Error("it was appended")
		}
	})
	t.Run("ANML-13.2-13/reject-no-lock", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ledger")
		must(t, os.Mkdir(path+".lock", 0o700))
		var failed *os.PathError
		if l, err := OpenDisclosureLedger(path, LedgerOptions{}); l != nil || !errors.As(err, &failed) || failed.Path != path+".lock" {
			t.Errorf("%v, %v", l, err)
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
	t.Run("ANML-13.2-13/reject-prune-that-is-not-written", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, path)
		appendAll(t, l, entry("p", "a", start))
		must(t, os.Mkdir(path+".new", 0o700)) // where the rest would be written
		if n, err := l.Prune(t.Context(), start.Add(time.Hour)); n != 0 || err == nil {
			t.Error(n, err)
		}
		if got, bad := fields(l.Entries(t.Context())); got != "a" || bad > 0 {
			t.Error(got, bad)
		}
	})
	t.Run("ANML-13.2-13/reject-path-that-leads-nowhere", func(t *testing.T) { // and not into a file of its own
		path := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, path)
		appendAll(t, l, entry("p", "a", start))
		must(t, os.Rename(path, path+"-moved"))
		if err := os.Symlink("ledger", path); err != nil {
			t.Skip("this user may not make links:", err)
		}
		var failed *os.PathError
		if err := l.Append(t.Context(), entry("p", "b", start)); !errors.As(err, &failed) || failed.Op == "open" {
			t.Error(err)
		}
	})
	t.Run("ANML-13.2-13/reject-no-room-for-the-name", func(t *testing.T) { // of a file for half a line
		path := filepath.Join(t.TempDir(), strings.Repeat("n", 255-len(".lock")))
		must(t, os.WriteFile(path, []byte("torn"), 0o600))
		if l, err := OpenDisclosureLedger(path, LedgerOptions{}); err == nil {
			_ = l.Close()
			t.Error("it was opened")
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != "torn" {
			t.Errorf("%q, %v", data, err)
		}
	})
	t.Run("ANML-13.2-13/reject-prune-of-a-line-that-would-be-too-long", func(t *testing.T) { // as this package writes it
		long := entry("p", strings.Repeat("<", maxLedgerLine/5), start.Add(time.Hour))
		var body bytes.Buffer
		text := json.NewEncoder(&body)
		text.SetEscapeHTML(false)
		must(t, text.Encode([]Entry{entry("p", "old", start), long}))
		list := bytes.TrimSpace(body.Bytes())
		line := slices.Concat([]byte(frameSum), ledgerSum(list), []byte(frameEntries), list, []byte(frameEnd))
		path := filepath.Join(t.TempDir(), "ledger")
		must(t, os.WriteFile(path, line, 0o600))
		if n, err := openLedger(t, path).Prune(t.Context(), start.Add(time.Minute)); n != 0 || err == nil {
			t.Error(n, err)
		}
		if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, line) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	})
	t.Run("ANML-13.2-13/reject-never-opened", func(t *testing.T) {
		l := new(FileDisclosureLedger)
		for name, err := range map[string]error{"append": l.Append(t.Context(), entry("p", "a", start)), "close": l.Close()} {
			if lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Error(name, err)
			}
		}
		if _, err := OpenDisclosureLedger("", LedgerOptions{}); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
		}
	})
	t.Run("ANML-13.2-13/reject-time-without-a-text", func(t *testing.T) { // JSON has no year above 9999
		if line, err := ledgerLine([]Entry{entry("p", "a", start.AddDate(9000, 0, 0))}); err == nil {
			t.Errorf("%s", line)
		}
		for name, l := range map[string]DisclosureLedger{"file": openLedger(t, filepath.Join(t.TempDir(), "ledger")), "memory": NewMemoryDisclosureLedger()} {
			if err := l.Append(t.Context(), entry("p", "a", start), entry("p", "b", start.AddDate(9000, 0, 0))); err == nil {
				t.Error(name)
			}
			if got, bad := fields(l.Entries(t.Context())); got != "" || bad > 0 {
				t.Error(name, got, bad)
			}
		}
	})
}

// A line may be as long as its limit; a longer one is damaged, and the lines around it are read.
func TestLedgerFileLongestLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := openLedger(t, path)
	sized := func(n int) Entry { return entry("p", strings.Repeat("x", n), start) }
	chained, _, err := Head{}.Extend(sized(1))
	must(t, err)
	line, err := ledgerLine(chained)
	must(t, err)
	most := maxLedgerLine - len(line) + 1
	if err := l.Append(t.Context(), sized(most+1)); err == nil {
		t.Error("a longer line is appended")
	}
	appendAll(t, l, sized(most))
	info, err := os.Stat(path)
	if err != nil || info.Size() != maxLedgerLine {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(append(bytes.Repeat([]byte("y"), maxLedgerLine), '\n'))
	must(t, errors.Join(err, f.Close()))
	l = openLedger(t, path)
	appendAll(t, l, entry("p", "after", start))
	want := Damage{Offset: maxLedgerLine, Length: maxLedgerLine + 1}
	if d := l.Damage(); !slices.Equal(d, []Damage{want}) {
		t.Error(d)
	}
	var chain []Entry
	for e, err := range l.Entries(t.Context()) {
		var damaged *DamageError
		switch {
		case err == nil:
			chain = append(chain, e)
		case !errors.As(err, &damaged) || damaged.Damage != want:
			t.Error(err)
		}
	}
	if len(chain) != 2 || len(chain[0].Field) != most || chain[1].Previous != chain[0].Head().Digest {
		t.Errorf("%d entries", len(chain))
	}
}

func TestDamageText(t *testing.T) {
	for want, d := range map[string]Damage{
		"7 bytes at offset 30 are not a valid line":                            {Offset: 30, Length: 7},
		"7 bytes at offset 30 are an incomplete line, and are now in x.torn-1": {Offset: 30, Length: 7, Aside: "x.torn-1"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A damaged line is reported once, however often the file is looked through.
func TestLedgerFileDamageOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	must(t, os.WriteFile(path, []byte("damaged\n"), 0o600))
	l := openLedger(t, path)
	if d := l.Damage(); !slices.Equal(d, []Damage{{Length: 8}}) {
		t.Error("as it was opened:", d)
	}
	for range 2 {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString("torn")
		must(t, errors.Join(err, f.Close()))
		appendAll(t, l, entry("p", "a", start))
	}
	d := l.Damage()
	if len(d) != 3 || d[0] != (Damage{Length: 8}) || d[1].Aside != path+".torn-1" || d[2].Aside != path+".torn-2" {
		t.Error(d)
	}
	if d[0].Length = 0; l.Damage()[0].Length != 8 {
		t.Error("the caller's list is the ledger's")
	}
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
	t.Run("left", func(t *testing.T) {
		for range l.Entries(t.Context()) {
			break
		}
		for range ledgerLines(strings.NewReader(strings.Repeat("y", maxLedgerLine+1) + "\nz\n")) {
			break
		}
	})
	t.Run("pruned-nothing", func(t *testing.T) {
		before, err := os.Stat(path)
		must(t, err)
		if n, err := l.Prune(t.Context(), start); n != 0 || err != nil {
			t.Error(n, err)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Error("another file is at its path", err)
		}
	})
	t.Run("pruned-in-parts", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "ledger")
		l := openLedger(t, path)
		must(t, l.Append(t.Context(), entry("p", "a", start), entry("p", "b", start.Add(2*time.Hour))))
		must(t, l.Append(t.Context(), entry("p", "c", start)))
		if n, err := l.Prune(t.Context(), start.Add(time.Hour)); n != 2 || err != nil {
			t.Error(n, err)
		}
		if got, bad := fields(l.Entries(t.Context())); got != "b" || bad > 0 {
			t.Error(got, bad)
		}
		if n, err := l.Prune(t.Context(), start.Add(3*time.Hour)); n != 1 || err != nil {
			t.Error(n, err)
		}
		must(t, l.Close())
		if info, err := os.Stat(path); err != nil || info.Size() != 0 {
			t.Error("something stays:", info.Size(), err)
		}
	})
	t.Run("system-clock", func(t *testing.T) {
		appendAll(t, l, entry("p", "now", time.Now()))
		kept, err := OpenDisclosureLedger(path, LedgerOptions{Retention: time.Hour})
		must(t, err)
		defer kept.Close()
		if got, bad := fields(kept.Entries(t.Context())); got != "now" || bad > 0 {
			t.Error(got, bad)
		}
	})
}
