package dvs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
)

func openTrust(t *testing.T, dir string) *dvs.FileTrustStore {
	t.Helper()
	s, err := dvs.OpenTrustStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestTrustStore holds both stores to the contract.
func TestTrustStore(t *testing.T) {
	for name, s := range map[string]dvs.TrustStore{"memory": dvs.NewMemoryTrustStore(), "file": openTrust(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			ctx, key := t.Context(), "skill/https://shop.example/a b"
			if _, err := s.Get(ctx, key); !errors.Is(err, fs.ErrNotExist) {
				t.Error("missing:", err)
			}
			if err := s.Put(ctx, key, []byte("x"), []byte("1")); !errors.Is(err, dvs.ErrTrustConflict) {
				t.Error("put over a record that is not there:", err)
			}
			if err := s.Put(ctx, key, []byte{}, []byte("1")); !errors.Is(err, dvs.ErrTrustConflict) {
				t.Error("an empty record is not a missing one:", err)
			}
			if err := s.Put(ctx, key, nil, []byte("1")); err != nil {
				t.Fatal(err)
			}
			for _, old := range [][]byte{nil, {}, []byte("2")} {
				if err := s.Put(ctx, key, old, []byte("3")); !errors.Is(err, dvs.ErrTrustConflict) {
					t.Errorf("old %q: %v", old, err)
				}
			}
			if err := s.Put(ctx, key, []byte("1"), []byte("2")); err != nil {
				t.Fatal(err)
			}
			got, err := s.Get(ctx, key)
			if string(got) != "2" || err != nil {
				t.Errorf("%q %v", got, err)
			}
			got[0] = 'x' // is the caller's
			if got, _ := s.Get(ctx, key); string(got) != "2" {
				t.Errorf("the caller changed the store: %q", got)
			}
			if err := s.Put(ctx, "root/a", nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := s.Put(ctx, "root/a", nil, []byte("again")); !errors.Is(err, dvs.ErrTrustConflict) {
				t.Error("an empty record counts as missing:", err)
			}
			for prefix, want := range map[string][]string{"skill/": {key}, "root/": {"root/a"}, "": {"root/a", key}, "none/": nil} {
				got, err := s.List(ctx, prefix)
				if slices.Sort(got); err != nil || !slices.Equal(got, want) {
					t.Errorf("%q: %q %v", prefix, got, err)
				}
			}
			for range 2 {
				if err := s.Delete(ctx, key); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Get(ctx, key); !errors.Is(err, fs.ErrNotExist) {
				t.Error("deleted:", err)
			}
		})
	}
}

// TestTrustStoreRace lets many writers replace one record: of those that read the same one, one
// succeeds.
func TestTrustStoreRace(t *testing.T) {
	dir := t.TempDir()
	memory := dvs.NewMemoryTrustStore()
	for name, open := range map[string]func() dvs.TrustStore{
		"memory": func() dvs.TrustStore { return memory },
		"file":   func() dvs.TrustStore { return openTrust(t, dir) },
	} {
		t.Run(name, func(t *testing.T) {
			const writers, rounds = 4, 10
			var wins atomic.Int64
			var all sync.WaitGroup
			for range writers {
				s := open()
				all.Go(func() {
					for done := 0; done < rounds; {
						old, err := s.Get(t.Context(), "a/n")
						if errors.Is(err, fs.ErrNotExist) {
							old, err = nil, nil
						}
						n, _ := strconv.Atoi(string(old))
						if err == nil {
							err = s.Put(t.Context(), "a/n", old, []byte(strconv.Itoa(n+1)))
						}
						switch {
						case err == nil:
							done++
							wins.Add(1)
						case !errors.Is(err, dvs.ErrTrustConflict) && !errors.Is(err, filestore.ErrBusy): // busy: on a slow disk
							t.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			got, err := open().Get(t.Context(), "a/n")
			if string(got) != strconv.Itoa(writers*rounds) || err != nil {
				t.Errorf("%q after %d writes that succeeded, %v", got, wins.Load(), err)
			}
		})
	}
}

// TestTrustStoreList lists keys in alphabetical order, whatever their files are named.
func TestTrustStoreList(t *testing.T) {
	s := openTrust(t, t.TempDir())
	var want []string
	for i := range 9 {
		key := fmt.Sprintf("skill/https://shop.example/%d/SKILL.md", i)
		want = append(want, key)
		if err := s.Put(t.Context(), key, nil, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.List(t.Context(), "skill/"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestTrustStoreDamaged changes and cuts a record at every byte: a damaged record is an error, and
// never a missing or another one.
func TestTrustStoreDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openTrust(t, dir)
	ctx, key := t.Context(), "skill/https://shop.example/s/"
	if err := s.Put(ctx, key, nil, []byte("refused")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "skill-*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 0x20
		for _, data := range [][]byte{flipped, whole[:i]} {
			if err := os.WriteFile(files[0], data, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Get(ctx, key); err == nil && string(got) != "refused" || errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("byte %d: %q %v", i, got, err)
			}
		}
	}
	if err := s.Put(ctx, key, []byte("refused"), []byte("approved")); err == nil || errors.Is(err, dvs.ErrTrustConflict) {
		t.Error("a damaged record counts as one of another process:", err)
	}
	if err := s.Put(ctx, key, nil, []byte("approved")); err == nil {
		t.Error("a damaged record was replaced as if it were missing")
	}
	if keys, err := s.List(ctx, "skill/"); err == nil {
		t.Error("a damaged record is left out of the list:", keys)
	}
}

const trustVictimEnv = "TRUST_VICTIM"

// TestTrustVictim is the process that writes until it is killed.
func TestTrustVictim(t *testing.T) {
	dir := os.Getenv(trustVictimEnv)
	if dir == "" {
		t.Skip("runs in a process of its own, started by TestTrustStoreKilled")
	}
	s := openTrust(t, dir)
	for {
		old, err := s.Get(t.Context(), "skill/a")
		if errors.Is(err, fs.ErrNotExist) {
			old, err = nil, nil
		}
		n, _ := strconv.Atoi(strings.TrimLeft(string(old), "."))
		if err == nil {
			err = s.Put(t.Context(), "skill/a", old, fmt.Appendf(nil, "%s%d", strings.Repeat(".", 64<<10), n+1))
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("written %d\n", n+1)
	}
}

// TestTrustStoreKilled kills a writer at random moments, again and again. What it said was written
// is there, and the lock of the dead process does not stop the next one.
func TestTrustStoreKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 0))
	last := 0
	for range 16 {
		child := exec.CommandContext(t.Context(), exe, "-test.run=^TestTrustVictim$")
		child.Env = append(os.Environ(), trustVictimEnv+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		stop, seen := 1+r.IntN(6), 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, ok := strings.CutPrefix(lines.Text(), "written "); ok {
				if last, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
				if seen++; seen == stop {
					_ = child.Process.Kill()
				}
			}
		}
		_ = child.Wait()
		if seen < stop {
			t.Fatal("the process ended by itself")
		}
		got, err := openTrust(t, dir).Get(context.Background(), "skill/a")
		n, _ := strconv.Atoi(strings.TrimLeft(string(got), "."))
		if err != nil || n < last || n > last+1 {
			t.Fatalf("%d was written, %d is there, %v", last, n, err)
		}
	}
}

// TestTrustStorePlaces opens stores where there can be none.
func TestTrustStorePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir  string
		code lookleap.Code
	}{"no-path": {"", lookleap.CodeUsage}, "a-file": {file, dvs.CodeTrustStore}} {
		t.Run(name, func(t *testing.T) {
			if s, err := dvs.OpenTrustStore(c.dir); lookleap.CodeOf(err) != c.code || s != nil {
				t.Error(s, err)
			}
		})
	}
}

// TestRootsOfStore: each root of a store is read, whatever the one before it is, and not more often
// than needed.
func TestRootsOfStore(t *testing.T) {
	w := newTrustWorld(t)
	for _, r := range []struct{ root, more string }{{"https://a.example/", `,"revoked":true`}, {"https://c.example/", ""}, {"https://d.example/", `,"revoked":true`}} {
		if err := w.store.Put(t.Context(), "root/"+r.root, nil, []byte(storedRoot(r.root, r.more))); err != nil {
			t.Fatal(err)
		}
	}
	// Another process deletes b.example between the list and the record.
	store := &faultStore{TrustStore: listedStore{w.store, "root/https://b.example/"}}
	w.store = store
	l := w.process(dvs.Options{})
	lists := func() (n int) {
		for _, call := range store.calls {
			if strings.HasPrefix(call, "list root/") {
				n++
			}
		}
		return n
	}
	check := func(registered bool, want int) {
		t.Helper()
		if _, err := l.Load(t.Context(), trustedAt); err != nil {
			t.Fatal(err)
		}
		for host, revoked := range map[string]bool{"a.example": true, "c.example": false, "d.example": true} {
			d := l.Roots().Find(skillURL(t, "https://"+host+"/s/SKILL.md"))
			if d.Revoked != revoked || !revoked && (d.Source == dvs.ByUser) != registered {
				t.Errorf("%s: %+v", host, d)
			}
		}
		if lists() != want {
			t.Errorf("the roots were read %d times, not %d", lists(), want)
		}
	}
	check(true, 1)
	check(true, 1) // at the same time
	l.Roots().Unregister(must(dvs.ParseTrustRoot("https://c.example/", dvs.Rules{})))
	w.net.Clock().Advance(29 * time.Second)
	check(false, 1)
	w.net.Clock().Advance(time.Second)
	check(false, 2) // the program unregistered it, and the store has nothing new
}

// listedStore lists one key that is not there.
type listedStore struct {
	dvs.TrustStore
	key string
}

func (s listedStore) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.TrustStore.List(ctx, prefix)
	if strings.HasPrefix(s.key, prefix) {
		keys = append(keys, s.key)
		slices.Sort(keys)
	}
	return keys, err
}
