package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openLedger(t testing.TB, path string) *FileDisclosureLedger {
	t.Helper()
	l, err := OpenDisclosureLedger(path, LedgerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func appendAll(t testing.TB, l DisclosureLedger, entries ...Entry) {
	t.Helper()
	if err := l.Append(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
}

// A file cut at any byte keeps all lines that are whole, and the rest is put
// aside and reported, whether it is found when opening or when appending.
func TestLedgerFileCutAtEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := openLedger(t, path)
	for i := range 2 {
		small := func(field string) Entry { return Entry{Time: start, Plan: "p", Kind: EntryDisclosed, Field: field} }
		appendAll(t, l, small(fmt.Sprint("f", i)), small(fmt.Sprint("g", i)))
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for cut := range len(whole) + 1 {
		path := filepath.Join(dir, fmt.Sprint(cut))
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(whole[:cut], []byte("\n"))
		end := bytes.LastIndexByte(whole[:cut], '\n') + 1
		l, err := OpenDisclosureLedger(path, LedgerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Join(strings.Fields("f0 g0 f1 g1")[:2*lines], " ")
		if got, bad := fields(l.Entries(t.Context())); got != want || bad > 0 {
			t.Fatalf("cut at %d: %q and %d errors, want %q", cut, got, bad, want)
		}
		damage := l.Damage()
		if end == cut {
			if damage != nil {
				t.Fatalf("cut at %d: %v", cut, damage)
			}
		} else {
			if len(damage) != 1 || damage[0].Offset != int64(end) || damage[0].Length != int64(cut-end) {
				t.Fatalf("cut at %d: %v", cut, damage)
			}
			if aside, err := os.ReadFile(damage[0].Aside); err != nil || !bytes.Equal(aside, whole[end:cut]) {
				t.Fatalf("cut at %d: %q %v", cut, aside, err)
			}
		}
		if cut%16 == 0 { // it goes on as if nothing had been
			appendAll(t, l, entry("p", "new", start))
			if got, bad := fields(l.Entries(t.Context())); got != strings.TrimSpace(want+" new") || bad > 0 {
				t.Fatalf("cut at %d: %q", cut, got)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever a file holds, its lines are all of it, and what is appended after a
// line feed is read.
func FuzzLedgerFile(f *testing.F) {
	line, err := ledgerLine([]Entry{entry("p", "f", start)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add(append(bytes.Clone(line), line[:40]...))
	f.Add(append([]byte("\n\n{}\n"), line...))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) (n int) {
			end := int64(0)
			for l, err := range ledgerLines(bytes.NewReader(data)) {
				if err != nil && (err != errLine || l.entries != nil) || l.offset != end {
					t.Fatal(l.offset, err)
				}
				end += l.length
				n += len(l.entries)
			}
			if end != int64(len(data)) {
				t.Fatalf("%d of %d bytes", end, len(data))
			}
			return n
		}
		n := read(data)
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(bytes.Clone(data), '\n')
			n = read(data)
		}
		if got := read(append(bytes.Clone(data), line...)); got != n+1 {
			t.Fatalf("%d entries, and %d with one more", n, got)
		}
	})
}

func TestLedgerFileRetention(t *testing.T) {
	path, start := filepath.Join(t.TempDir(), "ledger"), time.Now().Add(-60*time.Hour)
	l := openLedger(t, path)
	appendAll(t, l, entry("p", "old", start), entry("p", "new", start.Add(48*time.Hour)))
	appendAll(t, l, entry("p", "older", start.Add(-time.Hour)))
	appendAll(t, l, entry("p", "newer", start.Add(50*time.Hour)))
	kept, err := OpenDisclosureLedger(path, LedgerOptions{}) // until the user wants otherwise
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := fields(kept.Entries(t.Context())); got != "old new older newer" {
		t.Error(got)
	}
	short, err := OpenDisclosureLedger(path, LedgerOptions{Retention: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*FileDisclosureLedger{short, kept, l} { // those that were open, too
		if got, bad := fields(l.Entries(t.Context())); got != "new newer" || bad > 0 {
			t.Error(got, bad)
		}
	}
	appendAll(t, l, entry("p", "last", start.Add(51*time.Hour)))
	if got, _ := fields(kept.Entries(t.Context())); got != "new newer last" {
		t.Error("written into a file that is not read:", got)
	}
	if n, err := kept.Prune(t.Context(), start.Add(50*time.Hour)); n != 1 || err != nil {
		t.Error(n, err)
	}
	if n, err := kept.Prune(t.Context(), start); n != 0 || err != nil {
		t.Error(n, err)
	}
	for _, l := range []*FileDisclosureLedger{short, kept} {
		_ = l.Close()
	}
}
