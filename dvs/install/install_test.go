package install_test

import (
	"errors"
	"maps"
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
	"github.com/lookleap/lookleap/internal/test/signtest"
)

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
	t.Run("from-links-to-copies-and-back", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		w.mustAdd("example-org/skills", "ship", install.Options{Copy: true})
		if got := tree(t, w.place.Dir); got != ".claude/skills/ship/SKILL.md\n.claude/skills/ship/TERMS.md\nskills.lock" {
			t.Errorf("got\n%s", got)
		}
		w.ok()
		w.mustAdd("example-org/skills", "ship", install.Options{})
		if got := tree(t, w.place.Dir); !strings.Contains(got, ".claude/skills/ship -> ") {
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
	for _, target := range []string{".git", ".git/hooks", ".GIT", "git~1", "sub/.hg"} {
		t.Run("a-link-into-a-repository/"+strings.ReplaceAll(target, "/", "-"), func(t *testing.T) {
			w := newWorld(t)
			mkdir(t, w.path(target))
			mkdir(t, w.path(".agents"))
			symlink(t, "../"+target, w.path(".agents/skills"))
			_, err := w.add("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
			if lookleap.CodeOf(err) != dvs.CodeLink || tree(t, w.path(target)) != "" {
				t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
			}
		})
		t.Run("a-folder-of-a-repository/"+strings.ReplaceAll(target, "/", "-"), func(t *testing.T) {
			w := newWorld(t)
			_, err := w.add("example-org/skills", "ship", install.Options{Folder: target})
			if lookleap.CodeOf(err) != dvs.CodeUnsafeName || tree(t, w.place.Dir) != "" {
				t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
			}
		})
	}
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
	t.Run("a-name-of-another-local-skill", func(t *testing.T) {
		w := newWorld(t)
		for _, dir := range []string{"one/mine", "two/mine"} {
			write(t, w.path(dir+"/SKILL.md"), "---\nname: mine\ndescription: Mine.\n---\nDo it.\n")
		}
		w.mustAdd(w.path("one"), "mine", install.Options{Agents: []string{"codex"}})
		if _, err := w.add(w.path("two"), "mine", install.Options{Agents: []string{"codex"}}); lookleap.CodeOf(err) != dvs.CodeNameClash {
			t.Errorf("got %v", err)
		}
	})
	renamed := func(w *world, more map[string]string) *install.Skill {
		w.t.Helper()
		files := map[string]string{"skills/refund/SKILL.md": strings.Replace(refund, "name: refund", "name: pay-out", 1)}
		maps.Copy(files, more)
		w.repo.Commit(files)
		lock, err := w.place.Lock()
		if err != nil {
			w.t.Fatal(err)
		}
		u := install.NewUpdater(w.loader())
		defer u.Close()
		skill, err := u.Newest(w.t.Context(), &lock.Skills[0])
		if err != nil {
			w.t.Fatal(err)
		}
		return skill
	}
	t.Run("a-skill-with-a-new-name", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		if _, err := w.place.Install(t.Context(), renamed(w, nil), install.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := tree(t, w.place.Dir); strings.Contains(got, "skills/refund") || !strings.Contains(got, ".claude/skills/pay-out -> ") {
			t.Errorf("got\n%s", got)
		}
		if lock, err := w.place.Lock(); err != nil || len(lock.Skills) != 1 || !slices.Equal(lock.Skills[0].Installed.Agents, []string{"claude-code"}) {
			t.Errorf("%+v, %v", lock, err)
		}
		w.ok()
	})
	t.Run("a-skill-with-a-new-name-and-no-signature", func(t *testing.T) {
		w := newWorld(t)
		ada := signtest.New(t, "Ada")
		signed := map[string]string{"SKILL.md": refund, "scripts/pay.sh": published["skills/refund/scripts/pay.sh"], "data/fees.csv": "a,b\n"}
		w.repo.Commit(map[string]string{"skills/refund/" + signtest.File: ada.Sign(signed)})
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		before := tree(t, w.place.Dir)
		skill := renamed(w, map[string]string{"skills/refund/" + signtest.File: ""})
		if _, err := w.place.Install(t.Context(), skill, install.Options{}); lookleap.CodeOf(err) != install.CodeSignerChanged || tree(t, w.place.Dir) != before {
			t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
		}
	})
	t.Run("a-skill-with-a-new-name-and-the-users-work", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		write(t, w.path(".agents/skills/refund/SKILL.md"), "mine")
		before, skill := tree(t, w.place.Dir), renamed(w, nil)
		if _, err := w.place.Install(t.Context(), skill, install.Options{}); lookleap.CodeOf(err) != dvs.CodeDigestMismatch || tree(t, w.place.Dir) != before {
			t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
		}
		if _, err := w.place.Install(t.Context(), skill, install.Options{Force: true}); err != nil || strings.Contains(tree(t, w.place.Dir), "skills/refund") {
			t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
		}
		w.ok()
	})
	t.Run("a-skill-with-the-name-of-another", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		write(t, w.path("own/pay-out/SKILL.md"), "---\nname: pay-out\ndescription: Mine.\n---\nDo it.\n")
		w.mustAdd(w.path("own"), "pay-out", install.Options{Agents: []string{"claude-code"}})
		before := tree(t, w.place.Dir)
		w.repo.Commit(map[string]string{"skills/refund/SKILL.md": strings.Replace(refund, "name: refund", "name: pay-out", 1)})
		if _, err := w.add("example-org/skills", "pay-out", install.Options{Force: true}); lookleap.CodeOf(err) != dvs.CodeNameClash || tree(t, w.place.Dir) != before {
			t.Errorf("got %v\n%s", err, tree(t, w.place.Dir))
		}
		w.ok()
	})
	t.Run("for-a-user", func(t *testing.T) {
		w := newWorld(t)
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		t.Setenv("CLAUDE_CONFIG_DIR", "")
		place, err := install.Open(home, install.User)
		if err != nil {
			t.Fatal(err)
		}
		place.Store = install.Store(t.TempDir())
		w.place = place
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex", "claude-code"}})
		got := tree(t, home)
		for _, want := range []string{".agents/skills/ship/SKILL.md", ".claude/skills/ship -> "} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in\n%s", want, got)
			}
		}
		if strings.Contains(got, ".codex") {
			t.Errorf("a second copy for an agent that reads the first\n%s", got)
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
	t.Run("files-that-are-not-those-that-were-judged", func(t *testing.T) {
		w := newWorld(t)
		skill, err := w.load("example-org/skills", "ship")
		if err != nil {
			t.Fatal(err)
		}
		skill.Files["TERMS.md"] = []byte("others")
		if _, err := w.place.Install(t.Context(), skill, install.Options{}); lookleap.CodeOf(err) != dvs.CodeDigestMismatch {
			t.Error(err)
		}
	})
	t.Run("a-folder-outside", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.add("example-org/skills", "ship", install.Options{Folder: "../outside"}); lookleap.CodeOf(err) != lookleap.CodeUsage || tree(t, w.place.Dir) != "" {
			t.Error(err)
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
	for _, file := range []string{"SKILL.md", "more.md"} {
		t.Run("a-leftover-that-is-not-as-locked/"+file, func(t *testing.T) {
			w := newWorld(t)
			w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
			if err := os.Rename(w.path(".agents/skills/ship"), w.path(".agents/skills/.lookleap-partial-old-ship")); err != nil {
				t.Fatal(err)
			}
			write(t, w.path(".agents/skills/.lookleap-partial-old-ship/"+file), "changed")
			write(t, w.path(".agents/skills/.lookleap-partial-old-mine/SKILL.md"), refund) // a checkout brought it
			w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
			if got := tree(t, w.place.Dir); strings.Contains(got, "ship") || strings.Contains(got, "mine") {
				t.Errorf("got\n%s", got)
			}
		})
	}
	t.Run("a-leftover-of-what-is-removed", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
		if err := os.Rename(w.path(".agents/skills/ship"), w.path(".agents/skills/.lookleap-partial-old-ship")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.place.Remove(t.Context(), "ship", nil, false); err != nil || tree(t, w.place.Dir) != "skills.lock" {
			t.Errorf("%v\n%s", err, tree(t, w.place.Dir))
		}
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
		remove(t, dir)
		synced, err := w.place.Sync(t.Context(), w.frozen, true)
		if err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodeLockMissing {
			t.Errorf("%v, %v", synced, err)
		}
	})
}

func TestRemoveOfAgents(t *testing.T) {
	t.Run("an-agent-without-the-skill", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		before := tree(t, w.place.Dir)
		for _, agent := range []string{"codex", "none"} {
			if _, err := w.place.Remove(t.Context(), "ship", []string{agent}, false); lookleap.CodeOf(err) != lookleap.CodeUsage || tree(t, w.place.Dir) != before {
				t.Errorf("%s: %v\n%s", agent, err, tree(t, w.place.Dir))
			}
		}
		w.ok()
	})
	t.Run("an-agent-that-is-not-known", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code"}})
		lock, err := w.place.Lock()
		if err != nil {
			t.Fatal(err)
		}
		ship, err := install.Find(lock, "ship")
		if err != nil {
			t.Fatal(err)
		}
		ship.Installed.Agents = append(ship.Installed.Agents, "of-tomorrow")
		if err := install.WriteLock(w.place.LockPath(), lock); err != nil {
			t.Fatal(err)
		}
		checks, err := w.place.Verify()
		if err != nil || len(checks) != 2 || !checks[0].OK() || len(checks[1].Findings) != 1 || !strings.Contains(checks[1].Findings[0].Message, "of-tomorrow") {
			t.Errorf("%+v, %v", checks, err)
		}
		if _, err := w.place.Remove(t.Context(), "ship", nil, false); err != nil || strings.Contains(tree(t, w.place.Dir), "ship") {
			t.Errorf("%v\n%s", err, tree(t, w.place.Dir))
		}
		w.ok()
	})
	t.Run("of-two-with-one-folder", func(t *testing.T) {
		w := newWorld(t)
		mkdir(t, w.path(".agents/skills"))
		mkdir(t, w.path(".claude"))
		symlink(t, "../.agents/skills", w.path(".claude/skills"))
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code", "codex"}, Copy: true})
		if removed, err := w.place.Remove(t.Context(), "ship", []string{"claude-code"}, false); err != nil || len(removed) > 0 {
			t.Errorf("%v, %v", removed, err)
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

func TestOpenNearest(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, name := range []string{"p/.git", "p/a/b", "p/own/x", "none/x", "q/.git", "q/x", ".agents/skills/ship"} {
		mkdir(t, filepath.Join(home, filepath.FromSlash(name)))
	}
	for _, name := range []string{"p/skills.lock", "p/own/skills.lock", ".agents/skills.lock"} {
		write(t, filepath.Join(home, filepath.FromSlash(name)), "")
	}
	write(t, filepath.Join(filepath.Dir(home), "skills.lock"), "") // of another user
	for name, c := range map[string]struct{ dir, want string }{
		"here": {"p", "p"}, "below": {"p/a/b", "p"}, "the-nearest": {"p/own/x", "p/own"}, "none": {"none/x", "none/x"},
		"not-above-a-repository": {"q/x", "q/x"}, "not-that-of-the-user": {".agents/skills/ship", ".agents/skills/ship"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := install.OpenNearest(filepath.Join(home, filepath.FromSlash(c.dir)), install.Project)
			if err != nil || p.Dir != filepath.Join(home, filepath.FromSlash(c.want)) {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
	t.Run("for-a-user", func(t *testing.T) {
		if p, err := install.OpenNearest("", install.User); err != nil || p.Dir != home {
			t.Errorf("got %v, %v", p, err)
		}
	})
}

func TestFind(t *testing.T) {
	lock := &dvs.Lockfile{Skills: []dvs.LockedSkill{
		{Directory: "one", Installed: &dvs.Installation{Name: "Two"}}, {Directory: "two", Installed: &dvs.Installation{Name: "Three"}}, {Directory: "three"},
	}}
	for name, c := range map[string]struct{ name, directory string }{
		"the-directory-first": {"two", "two"}, "the-name-by-its-publisher": {"three", "two"}, "in-another-case": {"TWO", "one"},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := install.Find(lock, c.name); err != nil || s.Directory != c.directory {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
	if _, err := install.Find(lock, "one more"); lookleap.CodeOf(err) != dvs.CodeNotLocked {
		t.Errorf("got %v", err)
	}
}
