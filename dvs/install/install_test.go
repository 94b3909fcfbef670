package install_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/gittest"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/signtest"
)

// world is a code host with one repository, a user who agrees, and an empty project.
type world struct {
	t       *testing.T
	code    *gittest.Host
	repo    *gittest.Repository
	net     *lab.Internet
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
	w := &world{t: t, code: &gittest.Host{}, net: lab.ForTest(t)}
	w.repo = w.code.Add(gittest.New(t, "example-org", "skills"))
	w.repo.Commit(published)
	for _, name := range []string{"github.com", "codeload.github.com"} {
		w.net.Site(name).Handle("*", w.code)
	}
	w.host = w.net.Host()
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

func TestInstall(t *testing.T) {
	t.Run("one-copy-and-a-link-for-each-agent", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code", "codex"}})
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		want := `.agents/skills/refund/SKILL.md
.agents/skills/refund/data/fees.csv
.agents/skills/refund/scripts/pay.sh*
.agents/skills/ship/SKILL.md
.agents/skills/ship/TERMS.md
.claude/skills/refund -> ../../.agents/skills/refund
skills.lock`
		if got := tree(t, w.place.Dir); got != want {
			t.Errorf("got\n%s", got)
		}
		if content, _ := os.ReadFile(w.path(".claude/skills/refund/SKILL.md")); string(content) != refund {
			t.Errorf("the SKILL.md is not as it was published: %q", content)
		}
		lock, err := w.place.Lock()
		if err != nil {
			t.Fatal(err)
		}
		entry, err := install.Find(lock, "refund")
		if err != nil {
			t.Fatal(err)
		}
		commit := w.repo.Git("rev-parse", "HEAD")
		is := entry.Installed
		if is.Source != "example-org/skills" || is.Commit != commit || is.Ref != "refs/heads/main" || !slices.Equal(is.Agents, []string{"claude-code", "codex"}) ||
			entry.Root != "https://github.com/example-org/" || entry.URL != "https://github.com/example-org/skills/blob/"+commit+"/skills/refund/SKILL.md" {
			t.Errorf("the lockfile has %+v, %+v", entry, is)
		}
		w.ok()
	})
	t.Run("copies", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}, Copy: true})
		if got := tree(t, w.place.Dir); got != ".claude/skills/ship/SKILL.md\n.claude/skills/ship/TERMS.md\nskills.lock" {
			t.Errorf("got\n%s", got)
		}
		w.ok()
	})
	t.Run("a-folder", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Folder: "vendor/skills"})
		if got := tree(t, w.place.Dir); got != "skills.lock\nvendor/skills/ship/SKILL.md\nvendor/skills/ship/TERMS.md" {
			t.Errorf("got\n%s", got)
		}
		w.ok()
	})
	t.Run("again-for-another-agent", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		r := w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		if !slices.Equal(r.Entry.Installed.Agents, []string{"claude-code", "codex"}) || !r.Change.IsZero() {
			t.Errorf("got %+v, %v", r.Entry.Installed, r.Change)
		}
		w.ok()
	})
	t.Run("the-users-work-stays", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		edited := w.path(".agents/skills/refund/data/fees.csv")
		write(t, edited, "mine")
		w.repo.Commit(map[string]string{"skills/refund/data/fees.csv": "c,d\n"})
		_, err := w.add("example-org/skills", "refund", install.Options{})
		if lookleap.CodeOf(err) != dvs.CodeDigestMismatch || !strings.Contains(err.Error(), edited) || read(t, edited) != "mine" {
			t.Errorf("got %v", err)
		}
		if _, err := w.place.Remove(t.Context(), "refund", nil, false); lookleap.CodeOf(err) != dvs.CodeDigestMismatch || read(t, edited) != "mine" {
			t.Errorf("got %v", err)
		}
		r := w.mustAdd("example-org/skills", "refund", install.Options{Force: true})
		if !slices.Equal(r.Replaced, []string{edited}) || read(t, edited) != "c,d\n" {
			t.Errorf("replaced %v", r.Replaced)
		}
		w.ok()
	})
	for name, prepare := range map[string]func(w *world){
		"a-directory-of-that-name": func(w *world) { write(t, w.path(".agents/skills/refund/notes.md"), "mine") },
		"a-link-elsewhere": func(w *world) {
			mkdir(t, w.path(".agents/skills"))
			mkdir(t, w.path("elsewhere"))
			symlink(t, "../../elsewhere", w.path(".agents/skills/refund"))
		},
		"a-file-for-the-link": func(w *world) { write(t, w.path(".claude/skills/refund"), "mine") },
	} {
		t.Run("what-is-there-stays/"+name, func(t *testing.T) {
			w := newWorld(t)
			prepare(w)
			before := tree(t, w.place.Dir)
			if _, err := w.add("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}}); lookleap.CodeOf(err) != dvs.CodeDigestMismatch {
				t.Errorf("got %v", err)
			}
			if after := tree(t, w.place.Dir); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
	t.Run("a-link-out-of-the-project", func(t *testing.T) {
		for _, at := range []string{".agents", ".claude/skills"} {
			w := newWorld(t)
			outside := t.TempDir()
			mkdir(t, filepath.Dir(w.path(at)))
			symlink(t, outside, w.path(at))
			if _, err := w.add("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}}); lookleap.CodeOf(err) != dvs.CodeLink {
				t.Errorf("%s: got %v", at, err)
			}
			if got := tree(t, outside); got != "" {
				t.Errorf("%s: written outside: %s", at, got)
			}
		}
	})
	t.Run("a-folder-that-is-the-same", func(t *testing.T) {
		w := newWorld(t)
		mkdir(t, w.path(".agents/skills"))
		mkdir(t, w.path(".claude"))
		symlink(t, "../.agents/skills", w.path(".claude/skills"))
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		w.ok()
	})
	t.Run("a-name-of-another-skill", func(t *testing.T) {
		w := newWorld(t)
		other := w.code.Add(gittest.New(t, "other", "skills"))
		other.Commit(published)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		if _, err := w.add("other/skills", "ship", install.Options{Agents: []string{"codex"}}); lookleap.CodeOf(err) != dvs.CodeNameClash {
			t.Errorf("got %v", err)
		}
		w.ok()
	})
	t.Run("a-user-who-says-no", func(t *testing.T) {
		w := newWorld(t)
		w.deny = true
		_, err := w.add("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		var no *lookleap.VerifyError
		if !errors.As(err, &no) || tree(t, w.place.Dir) != "" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("an-unknown-agent", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.add("example-org/skills", "ship", install.Options{Agents: []string{"none"}}); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("got %v", err)
		}
	})
	t.Run("many-at-once", func(t *testing.T) {
		w := newWorld(t)
		var all sync.WaitGroup
		for _, name := range []string{"refund", "ship"} {
			skill, err := w.load("example-org/skills", name)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				all.Go(func() {
					if _, err := w.place.Install(t.Context(), skill, install.Options{Agents: []string{"claude-code"}}); err != nil {
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if lock, err := w.place.Lock(); err != nil || len(lock.Skills) != 2 {
			t.Errorf("%v, %v", lock, err)
		}
		w.ok()
	})
	t.Run("killed-between-two-renamings", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		if err := os.Rename(w.path(".agents/skills/ship"), w.path(".agents/skills/.lookleap-partial-old-ship")); err != nil {
			t.Fatal(err)
		}
		mkdir(t, w.path(".agents/skills/.lookleap-partial-new-ship"))
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.ok()
	})
	t.Run("a-local-directory", func(t *testing.T) {
		w := newWorld(t)
		dir := t.TempDir()
		write(t, filepath.Join(dir, "tools/mine/SKILL.md"), "---\nname: mine\ndescription: Mine.\n---\nDo it.\n")
		w.mustAdd(dir, "mine", install.Options{Agents: []string{"claude-code"}})
		w.ok()
		if len(w.asked) > 0 {
			t.Errorf("asked %v", w.asked)
		}
		w.place.Store = ""
		write(t, w.path(".agents/skills/mine/SKILL.md"), "changed")
		synced, err := w.place.Sync(t.Context(), w.frozen, true)
		if err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodeLockMissing {
			t.Errorf("%v, %v", synced, err)
		}
	})
}

// frozen makes a loader that never asks.
func (w *world) frozen(lock *dvs.Lockfile) (*dvs.Loader, error) {
	o := w.options
	o.Lock, o.Trust = lock, nil
	return dvs.NewLoader(w.host, o), nil
}

func TestVerify(t *testing.T) {
	for name, test := range map[string]struct {
		break_ func(w *world)
		path   string
		code   lookleap.Code
	}{
		"a-byte":         {func(w *world) { write(t, w.path(".agents/skills/refund/SKILL.md"), refund+"x") }, ".agents/skills/refund/SKILL.md", dvs.CodeDigestMismatch},
		"a-file-more":    {func(w *world) { write(t, w.path(".claude/skills/refund/more.md"), "x") }, ".agents/skills/refund/more.md", dvs.CodeNotLocked},
		"a-file-less":    {func(w *world) { remove(t, w.path(".agents/skills/refund/data/fees.csv")) }, ".agents/skills/refund/data/fees.csv", dvs.CodeLockMissing},
		"not-executable": {func(w *world) { chmod(t, w.path(".agents/skills/refund/scripts/pay.sh"), 0o644) }, ".agents/skills/refund/scripts/pay.sh", dvs.CodeDigestMismatch},
		"executable":     {func(w *world) { chmod(t, w.path(".agents/skills/refund/data/fees.csv"), 0o755) }, ".agents/skills/refund/data/fees.csv", dvs.CodeDigestMismatch},
		"line-ends": {func(w *world) {
			write(t, w.path(".agents/skills/refund/SKILL.md"), strings.ReplaceAll(refund, "\n", "\r\n"))
		}, ".agents/skills/refund/SKILL.md", dvs.CodeDigestMismatch},
		"a-link-inside": {func(w *world) { symlink(t, "/etc/passwd", w.path(".agents/skills/refund/key")) }, ".agents/skills/refund/key", dvs.CodeLink},
		"no-link":       {func(w *world) { remove(t, w.path(".claude/skills/refund")) }, ".claude/skills/refund", dvs.CodeLockMissing},
		"another-link": {func(w *world) {
			remove(t, w.path(".claude/skills/refund"))
			symlink(t, "..", w.path(".claude/skills/refund"))
		}, ".claude/skills/refund", dvs.CodeLink},
		"nothing-is-there": {func(w *world) { remove(t, w.path(".agents/skills/refund")) }, ".agents/skills/refund", dvs.CodeLockMissing},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
			w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
			test.break_(w)
			checks, err := w.place.Verify()
			if err != nil || len(checks) != 2 || checks[0].OK() || !checks[1].OK() {
				t.Fatalf("%+v, %v", checks, err)
			}
			if f := checks[0].Findings[0]; f.Code != test.code || f.Path != test.path {
				t.Errorf("got %v", f)
			}
			if name == "line-ends" && !strings.Contains(checks[0].Findings[0].Message, "only line ends differ") {
				t.Errorf("got %v", checks[0].Findings)
			}
			// The lockfile brings all of it back, from the store, without a request.
			w.net.Site("github.com").Status("*", 500)
			synced, err := w.place.Sync(t.Context(), w.frozen, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range synced {
				if s.Err != nil || (s.Entry.Directory == "refund") != (len(s.Restored) > 0) {
					t.Errorf("%s: %v, %v", s.Entry.Directory, s.Restored, s.Err)
				}
			}
			w.ok()
		})
	}
}

func TestSync(t *testing.T) {
	t.Run("a-checkout-without-the-files", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		before := tree(t, w.place.Dir)
		lock := read(t, w.place.LockPath())
		w.repo.Commit(map[string]string{"skills/refund/SKILL.md": refund + "More.\n"}) // later than the lockfile
		w.place = w.open(t.TempDir())
		write(t, w.place.LockPath(), lock)
		w.deny, w.asked, w.code.Asked = true, nil, nil
		synced, err := w.place.Sync(t.Context(), w.frozen, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range synced {
			if s.Err != nil {
				t.Error(s.Err)
			}
		}
		if after := tree(t, w.place.Dir); after != before || read(t, w.path(".agents/skills/refund/SKILL.md")) != refund {
			t.Errorf("got\n%s", after)
		}
		if len(w.asked) > 0 || len(w.code.Asked) != 2 {
			t.Errorf("asked the user %v, the code host %v", w.asked, w.code.Asked)
		}
		w.ok()
	})
	t.Run("other-bytes-than-the-lockfile-has", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		lock := read(t, w.place.LockPath())
		w.place = w.open(t.TempDir())
		digest := dvs.DigestOf([]byte("terms\n")).String()
		write(t, w.place.LockPath(), strings.ReplaceAll(lock, digest, dvs.DigestOf([]byte("other")).String()))
		synced, err := w.place.Sync(t.Context(), w.frozen, false)
		if err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodeDigestMismatch || tree(t, w.place.Dir) != "skills.lock" {
			t.Errorf("%v, %v, %s", synced, err, tree(t, w.place.Dir))
		}
	})
	t.Run("a-damaged-store", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		err := filepath.WalkDir(string(w.place.Store), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				write(t, path, "damaged")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		remove(t, w.path(".agents"))
		if synced, err := w.place.Sync(t.Context(), w.frozen, false); err != nil || synced[0].Err != nil {
			t.Errorf("%v, %v", synced, err)
		}
		w.ok()
	})
	t.Run("the-policy-counts", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		remove(t, w.path(".agents"))
		w.place.Store = ""
		w.options.Policies = []*dvs.Policy{{Deny: []string{"https://github.com/example-org/"}}}
		synced, err := w.place.Sync(t.Context(), w.frozen, false)
		if err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodePolicyDenied {
			t.Errorf("%v, %v", synced, err)
		}
	})
}

func TestUpdate(t *testing.T) {
	newest := func(w *world, name string) (*install.Skill, error) {
		w.t.Helper()
		lock, err := w.place.Lock()
		if err != nil {
			w.t.Fatal(err)
		}
		s, err := install.Find(lock, name)
		if err != nil {
			w.t.Fatal(err)
		}
		u := install.NewUpdater(w.loader())
		defer u.Close()
		return u.Newest(w.t.Context(), s)
	}
	t.Run("nothing-new-takes-one-request", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.code.Asked = nil
		if skill, err := newest(w, "refund"); skill != nil || err != nil || len(w.code.Asked) != 1 {
			t.Errorf("%v, %v, %v", skill, err, w.code.Asked)
		}
	})
	t.Run("a-change-is-asked-about", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.asked = nil
		w.repo.Commit(map[string]string{"skills/refund/SKILL.md": refund + "Also mail it.\n", "skills/refund/scripts/new.sh": "#!/bin/sh\ncurl https://example.net/\n"})
		skill, err := newest(w, "refund")
		if err != nil {
			t.Fatal(err)
		}
		if len(w.asked) != 1 || !strings.Contains(w.asked[0], "Also mail it.") || !strings.Contains(w.asked[0], "scripts/new.sh") || !strings.Contains(w.asked[0], "example.net") {
			t.Errorf("asked %v", w.asked)
		}
		r, err := w.place.Install(t.Context(), skill, install.Options{})
		if err != nil || !slices.Equal(r.Change.Added, []string{"scripts/new.sh"}) || !slices.Equal(r.Change.Changed, []string{"SKILL.md"}) {
			t.Errorf("%+v, %v", r, err)
		}
		w.ok()
	})
	t.Run("another-commit-with-the-same-files-is-no-question", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.asked = nil
		w.repo.Commit(map[string]string{"README.md": "x"})
		skill, err := newest(w, "refund")
		if err != nil || skill == nil || len(w.asked) > 0 {
			t.Fatalf("%v, %v, %v", skill, err, w.asked)
		}
		if r, err := w.place.Install(t.Context(), skill, install.Options{}); err != nil || !r.Change.IsZero() {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("a-no-is-remembered", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.repo.Commit(map[string]string{"skills/refund/SKILL.md": refund + "Also mail it.\n"})
		w.deny, w.asked = true, nil
		for range 2 {
			if _, err := newest(w, "refund"); err == nil {
				t.Error("the user said no")
			}
		}
		if len(w.asked) != 1 {
			t.Errorf("asked %d times", len(w.asked))
		}
		w.ok()
	})
	t.Run("a-skill-that-is-gone", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		w.repo.Git("rm", "-r", "--quiet", "skills/refund")
		w.repo.Commit(nil)
		if _, err := newest(w, "refund"); lookleap.CodeOf(err) != dvs.CodeSkillNotFound {
			t.Error(err)
		}
		w.ok()
	})
}

func TestRemove(t *testing.T) {
	w := newWorld(t)
	w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code", "codex"}})
	w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
	if removed, err := w.place.Remove(t.Context(), "refund", []string{"claude-code"}, false); err != nil || len(removed) != 1 {
		t.Fatalf("%v, %v", removed, err)
	}
	w.ok()
	if _, err := w.place.Remove(t.Context(), "refund", nil, false); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, w.place.Dir); strings.Contains(got, "refund") || !strings.Contains(got, ".claude/skills/ship ->") {
		t.Errorf("got\n%s", got)
	}
	w.ok()
	if _, err := w.place.Remove(t.Context(), "refund", nil, false); lookleap.CodeOf(err) != dvs.CodeNotLocked {
		t.Error(err)
	}
}

func TestParseSource(t *testing.T) {
	for text, code := range map[string]lookleap.Code{
		"example-org/skills": "", "example-org/skills@v1": "", "https://gitlab.com/group/sub/repo": "", "./skills": "", "..": "",
		"https://shop.example": "", "https://shop.example/.well-known/agent-skills/index.json": "", "https://shop.example/skills/refund/": "",
		"https://shop.example/skills/refund.tar.gz": "",
		"http://shop.example/":                      lookleap.CodeNotHTTPS, "https://ada:secret@github.com/a/b": "userinfo", "": "", "skills": "",
		"https://raw.githubusercontent.com/a": dvs.CodeNotContentRoute,
	} {
		_, err := install.ParseSource(text)
		if text == "" || text == "skills" {
			if err == nil {
				t.Errorf("%q is accepted", text)
			}
			continue
		}
		if lookleap.CodeOf(err) != code && err != nil || err == nil && code != "" {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error has the secret: %v", text, err)
		}
	}
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

// TestSigner stops at another signer as at another root.
func TestSigner(t *testing.T) {
	ada, eve := signtest.New(t, "Ada of example.com"), signtest.New(t, "Ada of example.com")
	files := func(more string) map[string]string {
		return map[string]string{"SKILL.md": refund + more, "scripts/pay.sh": published["skills/refund/scripts/pay.sh"], "data/fees.csv": "a,b\n"}
	}
	publish := func(w *world, more string, by *signtest.Signer) {
		signature := ""
		if by != nil {
			signature = by.Sign(files(more))
		}
		w.repo.Commit(map[string]string{"skills/refund/SKILL.md": refund + more, "skills/refund/" + signtest.File: signature})
	}
	for name, test := range map[string]struct {
		by   *signtest.Signer
		more string
		code lookleap.Code
	}{
		"the-same":     {ada, "More.\n", ""},
		"another":      {eve, "More.\n", install.CodeSignerChanged},
		"none":         {nil, "More.\n", install.CodeSignerChanged},
		"does-not-fit": {ada, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			publish(w, "", ada)
			r := w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
			if r.Entry.Installed.Signer != ada.Fingerprint() {
				t.Errorf("the signer is %q", r.Entry.Installed.Signer)
			}
			publish(w, test.more, test.by)
			if _, err := w.add("example-org/skills", "refund", install.Options{}); (err == nil) != (test.code == "") || err != nil && lookleap.CodeOf(err) != test.code {
				t.Errorf("got %v", err)
			}
			w.ok()
		})
	}
	t.Run("a-signature-that-does-not-hold-is-a-finding", func(t *testing.T) {
		w := newWorld(t)
		w.repo.Commit(map[string]string{"skills/refund/" + signtest.File: ada.Sign(files("other"))})
		skill, err := w.load("example-org/skills", "refund")
		if err != nil || skill.Signature != nil || !slices.ContainsFunc(skill.Findings, func(f lookleap.Finding) bool { return f.Code == modelsig.CodeFileChanged }) {
			t.Errorf("%v, %v", skill.Findings, err)
		}
	})
}

// TestSources installs the same skill from all kinds of sources of a site.
func TestSources(t *testing.T) {
	files := fstest.MapFS{
		"refund/SKILL.md":       {Data: []byte(refund)},
		"refund/scripts/pay.sh": {Data: []byte("#!/bin/sh\necho paid\n"), Mode: 0o755},
		"refund/data/fees.csv":  {Data: []byte("a,b\n")},
		"one/SKILL.md":          {Data: []byte("---\nname: one\ndescription: A skill of one file.\n---\nDo it.\n")},
	}
	handler, err := dvs.NewHandler(files, dvs.HandlerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"site":      "https://shop.example",
		"index-0.2": "https://shop.example/.well-known/agent-skills/index.json",
		"index-0.1": "https://shop.example/.well-known/skills/index.json",
		"directory": "https://shop.example/.well-known/skills/refund/",
		"file":      "https://shop.example/.well-known/skills/refund/SKILL.md",
		"archive":   "https://shop.example/.well-known/agent-skills/refund.tar.gz",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.net.Site("shop.example").Handle("*", handler)
			skill := ""
			if name == "site" || strings.HasPrefix(name, "index") {
				skill = "refund"
			}
			w.mustAdd(source, skill, install.Options{Agents: []string{"codex"}})
			got := tree(t, w.path(".agents/skills"))
			if !strings.Contains(got, "refund/SKILL.md") || !strings.Contains(got, "refund/scripts/pay.sh") {
				t.Errorf("got\n%s", got)
			}
			if packed := name == "archive" || name == "site" || name == "index-0.2"; packed != strings.Contains(got, "pay.sh*") {
				t.Errorf("the script of %s may be run, or not:\n%s", name, got)
			}
			w.ok()
			if len(w.asked) != 1 {
				t.Errorf("asked %d times", len(w.asked))
			}
			lock := read(t, w.place.LockPath())
			w.place = w.open(t.TempDir())
			write(t, w.place.LockPath(), lock)
			if synced, err := w.place.Sync(t.Context(), w.frozen, false); err != nil || synced[0].Err != nil {
				t.Errorf("%v, %v", synced, err)
			}
			w.ok()
			u := install.NewUpdater(w.loader())
			defer u.Close()
			all, _ := w.place.Lock()
			if newer, err := u.Newest(t.Context(), &all.Skills[0]); newer != nil || err != nil {
				t.Errorf("%v, %v", newer, err)
			}
		})
	}
}
