package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/internal/filestore"
)

// stores are the two implementations; open opens the same one again.
func stores(t *testing.T, run func(t *testing.T, open func() Store)) {
	t.Run("memory", func(t *testing.T) {
		m := NewMemoryStore()
		run(t, func() Store { return m })
	})
	t.Run("directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "user", "store")
		run(t, func() Store {
			d, err := OpenDirStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		})
	})
}

func TestStore(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		ctx, s := t.Context(), open()
		if _, err := s.Get(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		must(t, s.Delete(ctx, "a/b"))
		odd := "a/../../etc/passwd\x00\n" + strings.Repeat("long", 3000)
		for _, key := range []string{"a/b", "a/c", "ab/c", "A/b", "a", "", odd} {
			must(t, s.Put(ctx, key, []byte("first")))
			must(t, s.Put(ctx, key, []byte("value of "+key)))
		}
		must(t, s.Put(ctx, "a/empty", nil))
		s = open()
		for _, key := range []string{"a/b", "A/b", "", odd} {
			if got, err := s.Get(ctx, key); err != nil || string(got) != "value of "+key {
				t.Errorf("%.20q: %.20q %v", key, got, err)
			}
		}
		if got, err := s.Get(ctx, "a/empty"); err != nil || len(got) != 0 {
			t.Error(got, err)
		}
		if err := s.Create(ctx, "a/b", []byte("another")); !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
		if got, _ := s.Get(ctx, "a/b"); string(got) != "value of a/b" {
			t.Errorf("%q", got)
		}
		must(t, s.Delete(ctx, "a/c"))
		must(t, s.Create(ctx, "a/c", nil))
		must(t, s.Delete(ctx, "a/c"))
		for prefix, want := range map[string]int{"a/": 3, "a/b": 1, "a": 5, "": 7, "b": 0, "A/": 1} {
			keys, err := s.Keys(ctx, prefix)
			if err != nil || len(keys) != want {
				t.Errorf("%q: %d keys, want %d: %.40q %v", prefix, len(keys), want, keys, err)
			}
		}
		value := []byte("mine")
		must(t, s.Put(ctx, "a/b", value))
		value[0] = 'X'
		got, _ := s.Get(ctx, "a/b")
		got[1] = 'X'
		if again, _ := s.Get(ctx, "a/b"); string(again) != "mine" {
			t.Errorf("shared memory: %q", again)
		}
	})
}

// Of those who create the same record at once, one does.
func TestStoreCreate(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		var wg sync.WaitGroup
		var created [8]error
		for w := range created {
			s := open()
			wg.Go(func() {
				created[w] = patiently(func() error { return s.Create(context.Background(), "a/one", []byte{byte(w)}) })
			})
		}
		wg.Wait()
		got, err := open().Get(t.Context(), "a/one")
		must(t, err)
		for w, err := range created {
			if won := int(got[0]) == w; won != (err == nil) || !won && !errors.Is(err, fs.ErrExist) {
				t.Errorf("%d of %d: %v", w, got[0], err)
			}
		}
	})
}

// careless is a store that lists all its keys, whatever it is asked for.
type careless struct{ Store }

func (c careless) Keys(ctx context.Context, _ string) ([]string, error) { return c.Store.Keys(ctx, "") }

func TestStoreKeysOfAnotherPrefix(t *testing.T) {
	net, store := newLab(t), NewMemoryStore()
	must(t, store.Put(t.Context(), "elsewhere/x", []byte("the host's own")))
	for range 2 {
		newSession(t, net, User{Store: careless{store}}, Options{})
	}
	for _, key := range []string{"elsewhere/x", keySalt} {
		if _, err := store.Get(t.Context(), key); err != nil {
			t.Error("deleted by what it is not:", err)
		}
	}
}

// patiently repeats a call as long as other handles of the same file keep it from the lock, as they
// can on a slow disk.
func patiently(call func() error) error {
	for {
		if err := call(); !errors.Is(err, ErrBusy) {
			return err
		}
	}
}

func TestStoreConcurrent(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		var wg sync.WaitGroup
		for w := range 4 {
			s := open()
			wg.Go(func() {
				for i := range 15 {
					value := bytes.Repeat([]byte{byte(w)}, 1000)
					if err := patiently(func() error { return s.Put(context.Background(), "a/shared", value) }); err != nil {
						t.Error(err)
					}
					got, err := s.Get(context.Background(), "a/shared")
					if err != nil || len(slices.Compact(got)) != 1 {
						t.Errorf("a record of two writers: %v", err)
					}
					own := fmt.Sprintf("a/%d-%d", w, i)
					if err := patiently(func() error { return s.Put(context.Background(), own, value) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if keys, err := open().Keys(t.Context(), "a/"); err != nil || len(keys) != 61 {
			t.Error(len(keys), err)
		}
	})
}

func TestDirStoreFiles(t *testing.T) {
	dir := t.TempDir()
	d, err := OpenDirStore(dir)
	must(t, err)
	ctx := t.Context()
	must(t, d.Put(ctx, "consent/https://shop.example/a b", []byte("yes")))
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		info, err := f.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 || strings.ContainsAny(f.Name(), "/: \\") {
			t.Error(f.Name(), info.Mode())
		}
	}
	// A crash leaves the record as it was, or as it should be, and perhaps a file
	// that no one reads.
	left := filepath.Join(dir, filestore.TemporaryName)
	must(t, os.WriteFile(left, []byte("half of a rec"), 0o600))
	must(t, d.Close())
	d, err = OpenDirStore(dir)
	must(t, err)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("personal data in a file of unknown origin")
	}
	if got, err := d.Get(ctx, "consent/https://shop.example/a b"); string(got) != "yes" {
		t.Error(got, err)
	}

	// A record that was damaged is an error: not an absence, and not another record.
	path := d.dir.File("consent/https://shop.example/a b")
	whole, err := os.ReadFile(path)
	must(t, err)
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x20
		for _, data := range [][]byte{damaged, whole[:i]} {
			must(t, os.WriteFile(path, data, 0o600))
			if got, err := d.Get(ctx, "consent/https://shop.example/a b"); err == nil && string(got) != "yes" || errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("octet %d: %q %v", i, got, err)
			}
		}
	}
	if _, err := d.Keys(ctx, "consent/"); err == nil {
		t.Error("a damaged record is left out of the keys")
	}
	must(t, os.WriteFile(d.dir.File("consent/other"), whole, 0o600))
	if got, err := d.Get(ctx, "consent/other"); err == nil {
		t.Errorf("the record of another key: %q", got)
	}
	if err := d.Put(ctx, "a/b", make([]byte, filestore.MaxRecord)); err == nil {
		t.Error("a record beyond the limit")
	}
	must(t, d.Close())
	if err := d.Put(ctx, "a/b", nil); err == nil {
		t.Error("a closed store takes records")
	}
}

// Both stores do what a map does.
func TestStoreProperty(t *testing.T) {
	dir := t.TempDir()
	n := 0
	key := rapid.SampledFrom([]string{"a/1", "a/2", "a/1/x", "b/1", "b/ü"})
	rapid.Check(t, func(t *rapid.T) {
		n++
		d, err := OpenDirStore(filepath.Join(dir, fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		ctx, model := context.Background(), map[string]string{}
		all := []Store{d, NewMemoryStore()}
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			k, v := key.Draw(t, "key"), rapid.String().Draw(t, "value")
			put := rapid.Bool().Draw(t, "put")
			if put {
				model[k] = v
			} else {
				delete(model, k)
			}
			for _, s := range all {
				var err error
				if put {
					err = s.Put(ctx, k, []byte(v))
				} else {
					err = s.Delete(ctx, k)
				}
				got, gerr := s.Get(ctx, k)
				if err != nil || put != (gerr == nil) || put && string(got) != v || !put && !errors.Is(gerr, fs.ErrNotExist) {
					t.Fatal(err, gerr, got)
				}
				for _, prefix := range []string{"a/", "b/", "a/1", ""} {
					keys, err := s.Keys(ctx, prefix)
					want := 0
					for k := range model {
						if strings.HasPrefix(k, prefix) {
							want++
						}
					}
					if err != nil || len(keys) != want {
						t.Fatal(prefix, keys, err)
					}
				}
			}
		}
	})
}

// panicStore panics at the operation that it is named after, or at all.
type panicStore struct {
	Store
	at string
}

func (p panicStore) Get(ctx context.Context, key string) ([]byte, error) {
	if p.at == "get" {
		panic("get")
	}
	return p.Store.Get(ctx, key)
}

func (p panicStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if p.at == "keys" {
		panic("keys")
	}
	return p.Store.Keys(ctx, prefix)
}

func (p panicStore) Put(ctx context.Context, key string, value []byte) error {
	if p.at == "put" {
		panic("put")
	}
	return p.Store.Put(ctx, key, value)
}

func (p panicStore) Create(ctx context.Context, key string, value []byte) error {
	if p.at == "create" {
		panic("create")
	}
	return p.Store.Create(ctx, key, value)
}

func (p panicStore) Delete(ctx context.Context, key string) error {
	if p.at == "delete" {
		panic("delete")
	}
	return p.Store.Delete(ctx, key)
}

func TestStoreGuarded(t *testing.T) {
	net := newLab(t)
	for _, at := range []string{"get", "keys", "create"} {
		if s, err := New(net.Host(), Options{}).NewSession(User{Store: panicStore{NewMemoryStore(), at}}); err == nil || s != nil {
			t.Errorf("a session on a store that panics at %s", at)
		}
	}
	if err := newSession(t, net, User{Store: panicStore{NewMemoryStore(), "put"}}, Options{}).store().Put(t.Context(), "a/b", nil); err == nil {
		t.Error("a panic is lost")
	}
	s := newSession(t, net, User{Store: panicStore{NewMemoryStore(), "delete"}}, Options{})
	if err := s.store().Delete(t.Context(), "a/b"); err == nil {
		t.Error("a panic is lost")
	}
}

// failingStore fails one of its methods, and counts the calls of each.
type failingStore struct {
	Store
	fails string
	calls map[string]int
}

var errStore = errors.New("disk on fire")

func (f *failingStore) call(method string) error {
	if f.calls == nil {
		f.calls = make(map[string]int)
	}
	if f.calls[method]++; f.fails == method {
		return errStore
	}
	return nil
}

func (f *failingStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.call("Get"); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, key)
}

func (f *failingStore) Put(ctx context.Context, key string, value []byte) error {
	if err := f.call("Put"); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, value)
}

func (f *failingStore) Delete(ctx context.Context, key string) error {
	if err := f.call("Delete"); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}

func (f *failingStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.call("Keys"); err != nil {
		return nil, err
	}
	return f.Store.Keys(ctx, prefix)
}
