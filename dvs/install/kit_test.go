package install_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/test/gittest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// world is a code host with one repository, a user who agrees, and an empty project.
type world struct {
	t       *testing.T
	code    *gittest.Host
	repo    *gittest.Repository
	net     *lookleaptest.Internet
	host    *lookleap.Host
	options dvs.Options
	place   *install.Place

	mu    sync.Mutex
	asked []string // requests to the user
	deny  bool
}

func (w *world) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.String())
	d := lookleap.ConsentDecision{Digest: r.Digest}
	if !w.deny {
		for _, item := range r.Items {
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d, nil
}

const refund = "---\nname: refund\ndescription: Refunds an order.\n---\nRun scripts/pay.sh.\n"

var published = map[string]string{
	"skills/refund/SKILL.md":        refund,
	"skills/refund/scripts/pay.sh":  "#!/bin/sh\necho paid\n",
	"skills/refund/data/fees.csv":   "a,b\n",
	"skills/ship/SKILL.md":          "---\nname: ship\ndescription: Ships an order.\n---\nSee [terms](TERMS.md).\n",
	"skills/ship/TERMS.md":          "-> ../../docs/terms.md",
	"docs/terms.md":                 "terms\n",
	"skills/ship/metadata.json":     "{}",
	"skills/ship/__pycache__/x.pyc": "x",
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, code: &gittest.Host{}, net: lookleaptest.ForTest(t)}
	w.repo = w.code.Add(gittest.New(t, "example-org", "skills"))
	w.repo.Commit(published)
	for _, name := range []string{"github.com", "codeload.github.com"} {
		w.net.Site(name).Handle("*", w.code)
	}
	w.host = w.net.StubHost()
	w.host.Prompter = w
	w.options.Trust = lookleap.NewMemoryStore()
	w.place = w.open(t.TempDir())
	return w
}

func (w *world) open(dir string) *install.Place {
	w.t.Helper()
	p, err := install.Open(dir, install.Project)
	if err != nil {
		w.t.Fatal(err)
	}
	p.Store = install.Store(w.t.TempDir())
	return p
}

func (w *world) loader() *dvs.Loader { return dvs.NewLoader(w.host, w.options) }

// load loads the skills of a source with a name.
func (w *world) load(source, name string) (*install.Skill, error) {
	w.t.Helper()
	from, err := install.ParseSource(source)
	if err != nil {
		return nil, err
	}
	found, err := from.Find(w.t.Context(), w.loader())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := found.Named(name)
	if len(all) != 1 {
		w.t.Fatalf("%s has %d skills named %q: %v", source, len(all), name, found.Findings)
	}
	return all[0].Load(w.t.Context())
}

func (w *world) add(source, name string, o install.Options) (*install.Result, error) {
	w.t.Helper()
	skill, err := w.load(source, name)
	if err != nil {
		return nil, err
	}
	return w.place.Install(w.t.Context(), skill, o)
}

func (w *world) mustAdd(source, name string, o install.Options) *install.Result {
	w.t.Helper()
	r, err := w.add(source, name, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) path(name string) string { return filepath.Join(w.place.Dir, filepath.FromSlash(name)) }

// tree lists what is below a directory: a link with its target, an executable file with a star.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		if target, err := os.Readlink(path); err == nil {
			rel += " -> " + filepath.ToSlash(target)
		} else if info, err := d.Info(); err == nil && info.Mode()&0o111 != 0 {
			rel += "*"
		}
		all = append(all, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (w *world) ok() {
	w.t.Helper()
	checks, err := w.place.Verify()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK() {
			w.t.Errorf("%s: %v", c.Entry.Directory, c.Findings)
		}
	}
}

// frozen makes a loader that never asks.
func (w *world) frozen(lock *dvs.Lockfile) (*dvs.Loader, error) {
	o := w.options
	o.Lock, o.Trust = lock, nil
	return dvs.NewLoader(w.host, o), nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
