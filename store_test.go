package lookleap_test

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
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestFileStoreDamaged changes and cuts a record at every byte: a damaged record is an error, and
// never a missing or another one.
func TestFileStoreDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	ctx, key := t.Context(), "skill/https://shop.example/s/"
	if err := s.Put(ctx, key, nil, []byte("refused"), time.Time{}); err != nil {
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
	if err := s.Put(ctx, key, []byte("refused"), []byte("approved"), time.Time{}); err == nil || errors.Is(err, lookleap.ErrConflict) {
		t.Error("a damaged record counts as one of another process:", err)
	}
	if err := s.Put(ctx, key, nil, []byte("approved"), time.Time{}); err == nil {
		t.Error("a damaged record was replaced as if it were missing")
	}
	if keys, err := s.Keys(ctx, "skill/"); err == nil {
		t.Error("a damaged record is left out of the list:", keys)
	}
}

const storeVictimEnv = "STORE_VICTIM"

// TestStoreVictim is the process that writes until it is killed.
func TestStoreVictim(t *testing.T) {
	dir := os.Getenv(storeVictimEnv)
	if dir == "" {
		t.Skip("runs in a process of its own, started by TestFileStoreKilled")
	}
	s := openStore(t, dir)
	for {
		old, err := s.Get(t.Context(), "skill/a")
		if errors.Is(err, fs.ErrNotExist) {
			old, err = nil, nil
		}
		n, _ := strconv.Atoi(strings.TrimLeft(string(old), "."))
		if err == nil {
			err = s.Put(t.Context(), "skill/a", old, fmt.Appendf(nil, "%s%d", strings.Repeat(".", 64<<10), n+1), time.Time{})
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("written %d\n", n+1)
	}
}

// TestFileStoreKilled kills a writer at random moments, again and again. What it said was written
// is there, and the lock of the dead process does not stop the next one.
func TestFileStoreKilled(t *testing.T) {
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
		child := exec.CommandContext(t.Context(), exe, "-test.run=^TestStoreVictim$")
		child.Env = append(os.Environ(), storeVictimEnv+"="+dir)
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
		got, err := openStore(t, dir).Get(context.Background(), "skill/a")
		n, _ := strconv.Atoi(strings.TrimLeft(string(got), "."))
		if err != nil || n < last || n > last+1 {
			t.Fatalf("%d was written, %d is there, %v", last, n, err)
		}
	}
}
