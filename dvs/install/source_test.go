package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/dvs/modelsig"
	"github.com/lookleap/lookleap/internal/test/signtest"
)

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
	for name, code := range map[string]lookleap.Code{".github/setup.sh": install.CodeSignerChanged, ".gitignore": ""} {
		t.Run("without-a-file/"+strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			w := newWorld(t)
			publish(w, "", ada)
			w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
			w.repo.Commit(map[string]string{"skills/refund/" + name: "#!/bin/sh\n"}) // the signer ignores it
			if _, err := w.add("example-org/skills", "refund", install.Options{}); (err == nil) != (code == "") || err != nil && lookleap.CodeOf(err) != code {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("the-first-signature", func(t *testing.T) {
		w := newWorld(t)
		w.mustAdd("example-org/skills", "refund", install.Options{Agents: []string{"codex"}})
		publish(w, "More.\n", ada)
		if r := w.mustAdd("example-org/skills", "refund", install.Options{}); r.Entry.Installed.Signer != ada.Fingerprint() {
			t.Errorf("the signer is %q", r.Entry.Installed.Signer)
		}
	})
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
	handler, err := dvs.NewHandler(files, dvs.Limits{})
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

// TestLocalSources: what the lockfile keeps of a directory names that directory again, and no repository of
// the same name.
func TestLocalSources(t *testing.T) {
	w := newWorld(t)
	t.Chdir(w.place.Dir)
	for _, name := range []string{"skills/mine", "skills/.claude/skills/hidden", "top"} {
		directory := name[strings.LastIndexByte(name, '/')+1:]
		write(t, w.path(name+"/SKILL.md"), "---\nname: "+directory+"\ndescription: Mine.\n---\nDo it.\n")
	}
	write(t, w.path("skills/.git"), "gitdir: elsewhere") // of a work tree
	for _, c := range []struct{ source, name, kept string }{
		{"./skills", "mine", "./skills/mine"}, {"./skills/", "hidden", "./skills/.claude/skills/hidden"}, {"./top", "top", "./top"},
		{w.path("top"), "top", filepath.ToSlash(w.path("top"))},
	} {
		t.Run(c.kept, func(t *testing.T) {
			w.place = w.open(t.TempDir())
			w.code.Asked = nil
			r := w.mustAdd(c.source, c.name, install.Options{Agents: []string{"codex"}})
			if r.Entry.Installed.Source != c.kept {
				t.Errorf("the lockfile names %s", r.Entry.Installed.Source)
			}
			again, err := install.ParseSource(r.Entry.Installed.Source)
			if err != nil || !again.Local() {
				t.Errorf("%v, %v", again, err)
			}
			u := install.NewUpdater(w.loader())
			defer u.Close()
			if newer, err := u.Newest(t.Context(), &r.Entry); newer != nil || err != nil || len(w.code.Asked) > 0 {
				t.Errorf("%v, %v, asked %v", newer, err, w.code.Asked)
			}
		})
	}
}

// TestLocalSourceLeavesOut: what cannot be read in a directory hides no other skill, and is never waited for.
func TestLocalSourceLeavesOut(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a-dangling-link": func(t *testing.T, dir string) { symlink(t, "nowhere", filepath.Join(dir, "SKILL.md")) },
		"a-pipe":          func(t *testing.T, dir string) { makePipe(t, filepath.Join(dir, "SKILL.md")) },
		"a-directory-of-others": func(t *testing.T, dir string) {
			chmod(t, dir, 0)
			t.Cleanup(func() { chmod(t, dir, 0o755) })
			if _, err := os.ReadDir(dir); err == nil {
				t.Skip("this user may read every directory")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "mine/SKILL.md"), "---\nname: mine\ndescription: Mine.\n---\nDo it.\n")
			mkdir(t, filepath.Join(dir, "bad"))
			spoil(t, filepath.Join(dir, "bad"))
			from, err := install.ParseSource(dir)
			if err != nil {
				t.Fatal(err)
			}
			found, err := from.Find(t.Context(), w.loader())
			if err != nil || len(found.Skills) != 1 || len(found.Findings) != 1 || found.Findings[0].Code != lookleap.CodeIO {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestParseMigration: what says that it is on a code host is never a local directory, for which no one is asked.
func TestParseMigration(t *testing.T) {
	for name, c := range map[string]struct{ entry, want string }{
		"github":       {`"source": "a/b", "sourceType": "github", "skillPath": "skills/x/SKILL.md", "ref": "v1"`, "a/b/skills/x@v1"},
		"github-dots":  {`"source": "./evil", "sourceType": "github"`, ""},
		"github-above": {`"source": "../evil", "sourceType": "github", "skillPath": "x/SKILL.md"`, ""},
		"github-root":  {`"source": "/tmp/evil", "sourceType": "github"`, ""},
		"gitlab":       {`"source": "g/r", "sourceType": "gitlab"`, "https://gitlab.com/g/r"},
		"gitlab-dots":  {`"source": "g/r", "sourceUrl": "./evil", "sourceType": "gitlab"`, ""},
		"git-root":     {`"source": "/tmp/evil", "sourceType": "git"`, ""},
		"local":        {`"source": "./mine", "sourceType": "local"`, "./mine"},
		"a-package":    {`"source": "x", "sourceType": "node_modules"`, ""},
		"well-known":   {`"source": "wellknown/example.com", "sourceType": "well-known"`, "https://example.com"},
		"a-local-site": {`"source": "x", "sourceUrl": "/tmp/evil", "sourceType": "well-known"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := install.ParseMigration([]byte(`{"version": 1, "skills": {"x": {` + c.entry + `}}}`))
			if err != nil || len(all) != 1 || all[0].Source != c.want {
				t.Errorf("got %+v, %v", all, err)
			}
		})
	}
}
