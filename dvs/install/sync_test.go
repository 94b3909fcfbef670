package install_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
)

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
			if strings.HasSuffix(name, "executable") && !strings.Contains(checks[0].Findings[0].Fix, "--force") {
				t.Errorf("the fix does not work: %v", checks[0].Findings)
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
				if test.code != dvs.CodeLockMissing && s.Entry.Directory == "refund" && !slices.Contains(s.Replaced, w.path(test.path)) {
					t.Errorf("replaced %q, and says %q", test.path, s.Replaced)
				}
			}
			w.ok()
		})
	}
}

func TestUnlisted(t *testing.T) {
	w := newWorld(t)
	w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"claude-code", "codex"}})
	write(t, w.path(".agents/skills/.lookleap-partial-new-x/SKILL.md"), refund)
	write(t, w.path(".agents/skills/notes/x.md"), "x")
	mkdir(t, w.path(".factory"))
	symlink(t, "../.agents/skills", w.path(".factory/skills")) // of another agent
	write(t, w.path(".kiro"), "a file")
	for name, want := range map[string]string{"none": "", "copied": ".claude/skills/mine", "linked": ".claude/skills/mine"} {
		t.Run(name, func(t *testing.T) {
			remove(t, w.path(".claude/skills/mine"))
			switch name {
			case "copied":
				write(t, w.path(".claude/skills/mine/SKILL.md"), refund)
			case "linked":
				write(t, w.path("elsewhere/SKILL.md"), refund)
				symlink(t, "../../elsewhere", w.path(".claude/skills/mine"))
			}
			found, err := w.place.Unlisted()
			var paths []string
			for _, f := range found {
				paths = append(paths, f.Path)
			}
			if err != nil || strings.Join(paths, " ") != want || len(found) > 0 && (found[0].Severity != lookleap.SeverityInfo || found[0].Code != dvs.CodeNotLocked) {
				t.Errorf("got %v, %v", found, err)
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
	t.Run("a-checkout-with-links-alone", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		remove(t, w.path(".agents")) // it is in .gitignore
		synced, err := w.place.Sync(t.Context(), w.frozen, false)
		if err != nil || synced[0].Err != nil {
			t.Error(synced, err)
		}
		w.ok()
	})
	t.Run("links-to-what-is-gone", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"claude-code"}})
		remove(t, w.path(".agents/skills/ship"))
		synced, err := w.place.Sync(t.Context(), w.frozen, false)
		if err != nil || synced[0].Err != nil {
			t.Fatal(synced, err)
		}
		w.ok()
		remove(t, w.path(".claude/skills/ship"))
		symlink(t, "../../elsewhere", w.path(".claude/skills/ship"))
		if synced, err := w.place.Sync(t.Context(), w.frozen, false); err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodeDigestMismatch {
			t.Error(synced, err)
		}
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
	t.Run("a-local-directory", func(t *testing.T) {
		w := newWorld(t)
		w.place.Store = ""
		source := filepath.Join(t.TempDir(), "ship", "SKILL.md")
		write(t, source, "---\nname: ship\ndescription: Ships.\n---\nShip it.\n")
		w.mustAdd(filepath.Dir(source), "ship", install.Options{Agents: []string{"codex"}})
		remove(t, w.path(".agents"))
		if synced, err := w.place.Sync(t.Context(), w.frozen, false); err != nil || synced[0].Err != nil {
			t.Errorf("%v, %v", synced, err)
		}
		w.ok()
		remove(t, w.path(".agents"))
		write(t, source, read(t, source)+"Twice.\n")
		if synced, err := w.place.Sync(t.Context(), w.frozen, false); err != nil || lookleap.CodeOf(synced[0].Err) != dvs.CodeLockMissing {
			t.Errorf("%v, %v", synced, err)
		}
	})
	for name, c := range map[string]struct {
		policy dvs.Policy
		code   lookleap.Code
	}{
		"denied":       {dvs.Policy{Deny: []string{"https://github.com/example-org/"}}, dvs.CodePolicyDenied},
		"not-allowed":  {dvs.Policy{Allow: []string{"https://github.com/other/"}}, dvs.CodePolicyDenied},
		"allowed":      {dvs.Policy{Allow: []string{"https://github.com/example-org/"}}, ""},
		"pinned-only":  {dvs.Policy{PinnedOnly: true}, dvs.CodePolicyDenied},
		"not-signed":   {dvs.Policy{Signers: []dvs.PolicySigner{{Root: "https://github.com/example-org/", Signer: "sha256:" + strings.Repeat("0", 64)}}}, dvs.CodePolicyDenied},
		"other-signer": {dvs.Policy{Signers: []dvs.PolicySigner{{Root: "https://github.com/other/", Signer: "sha256:" + strings.Repeat("0", 64)}}}, ""},
	} {
		for from, store := range map[string]func(*world) install.Store{
			"from-the-store":      func(w *world) install.Store { return w.place.Store },
			"from-the-repository": func(*world) install.Store { return "" },
		} {
			t.Run("the-policy-counts/"+name+"/"+from, func(t *testing.T) {
				w := newWorld(t)
				w.mustAdd("example-org/skills", "ship", install.Options{Agents: []string{"codex"}})
				remove(t, w.path(".agents"))
				w.place.Store = store(w)
				w.options.Policies = []*dvs.Policy{&c.policy}
				synced, err := w.place.Sync(t.Context(), w.frozen, false)
				if err != nil || (synced[0].Err == nil) != (c.code == "") || c.code != "" && lookleap.CodeOf(synced[0].Err) != c.code {
					t.Errorf("%v, %v", synced, err)
				}
			})
		}
	}
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
