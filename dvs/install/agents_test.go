package install_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs/install"
)

// variables are those that move folders of agents. The tests set all of them.
var variables = []string{"XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "VIBE_HOME", "HERMES_HOME", "AUTOHAND_HOME", "APPDATA", "FLATPAK_XDG_CONFIG_HOME"}

// user makes a home directory and a project, and sets the variables to directories below the third
// one, or to nothing.
func user(t *testing.T, set bool) (home, project, moved string) {
	t.Helper()
	home, project, moved = t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, name := range variables {
		value := ""
		if set {
			value = filepath.Join(moved, strings.ToLower(name))
		}
		t.Setenv(name, value)
	}
	return home, project, moved
}

func find(t *testing.T, name string) install.Agent {
	t.Helper()
	a, ok := install.FindAgent(name)
	if !ok {
		t.Fatalf("there is no agent %s", name)
	}
	return a
}

func makeDir(t *testing.T, path ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(path...), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestAgents(t *testing.T) {
	all := install.Agents()
	t.Run("at-least-60", func(t *testing.T) {
		if len(all) < 60 {
			t.Errorf("%d agents", len(all))
		}
	})
	t.Run("sorted-and-different", func(t *testing.T) {
		for i := range all[1:] {
			if all[i].Name >= all[i+1].Name {
				t.Errorf("%s, %s", all[i].Name, all[i+1].Name)
			}
		}
	})
	t.Run("of-the-caller", func(t *testing.T) {
		all[0].Name = "other"
		if install.Agents()[0].Name == "other" {
			t.Error("the table was changed")
		}
	})
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	path := regexp.MustCompile(`^(~|\.|/[A-Za-z]+|\$\{[A-Z_]+(:-~/[^}]+)?\})(/[A-Za-z0-9._-]+)*$`)
	t.Run("well-formed", func(t *testing.T) {
		for _, a := range install.Agents() {
			if !name.MatchString(a.Name) || a.Title == "" || !fs.ValidPath(a.Project) || a.Project == "." {
				t.Errorf("%+v", a)
			}
			for _, p := range slices.Concat([]string{a.User}, a.Former, a.Shows) {
				if (p != "" || a.User != "") && (!path.MatchString(p) || strings.Contains(p, "..")) {
					t.Errorf("%s: %q", a.Name, p)
				}
			}
		}
	})
	t.Run("found-by-the-exact-name", func(t *testing.T) {
		if a := find(t, "claude-code"); a.Title != "Claude Code" || a.Project != ".claude/skills" {
			t.Errorf("%+v", a)
		}
		for _, name := range []string{"", "Claude Code", "CLAUDE-CODE", "claude"} {
			if a, ok := install.FindAgent(name); ok {
				t.Errorf("%q: %+v", name, a)
			}
		}
	})
}

func TestUserDir(t *testing.T) {
	home, _, moved := user(t, false)
	for name, c := range map[string]struct {
		agent, variable, value, want string
	}{
		"in-the-home-directory":      {"cursor", "", "", filepath.Join(home, ".cursor", "skills")},
		"without-the-variable":       {"codex", "", "", filepath.Join(home, ".codex", "skills")},
		"with-the-variable":          {"codex", "CODEX_HOME", moved, filepath.Join(moved, "skills")},
		"with-blanks-around":         {"codex", "CODEX_HOME", " " + moved + "\n", filepath.Join(moved, "skills")},
		"with-blanks-only":           {"codex", "CODEX_HOME", " ", filepath.Join(home, ".codex", "skills")},
		"with-a-relative-variable":   {"codex", "CODEX_HOME", "codex", filepath.Join(home, ".codex", "skills")},
		"with-XDG_CONFIG_HOME":       {"goose", "XDG_CONFIG_HOME", moved, filepath.Join(moved, "goose", "skills")},
		"without-XDG_CONFIG_HOME":    {"goose", "", "", filepath.Join(home, ".config", "goose", "skills")},
		"no-folder-for-a-user":       {"eve", "", "", ""},
		"first-folder-of-an-agent":   {"openclaw", "", "", filepath.Join(home, ".openclaw", "skills")},
		"not-by-an-unrelated-change": {"cursor", "CODEX_HOME", moved, filepath.Join(home, ".cursor", "skills")},
	} {
		t.Run(name, func(t *testing.T) {
			if c.variable != "" {
				t.Setenv(c.variable, c.value)
			}
			if dir := find(t, c.agent).UserDir(); dir != c.want {
				t.Errorf("%s, want %s", dir, c.want)
			}
		})
	}
	t.Run("no-home-directory", func(t *testing.T) {
		t.Setenv("HOME", "")
		t.Setenv("USERPROFILE", "")
		t.Setenv("home", "")
		if dir := find(t, "cursor").UserDir(); dir != "" {
			t.Error(dir)
		}
	})
	t.Run("of-an-earlier-version", func(t *testing.T) {
		home, _, _ := user(t, false)
		for _, c := range []string{".moltbot", ".clawdbot", ".openclaw"} { // each has precedence over the one before it
			makeDir(t, home, c)
			if dir := find(t, "openclaw").UserDir(); dir != filepath.Join(home, c, "skills") {
				t.Errorf("with %s: %s", c, dir)
			}
		}
	})
	t.Run("zero-Agent", func(t *testing.T) {
		if a := (install.Agent{}); a.UserDir() != "" || a.Installed(home) {
			t.Error(a)
		}
	})
}

func TestInstalled(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		made  func(home, project, moved string) string
		want  bool
	}{
		"by-nothing":            {"cursor", nil, false},
		"in-the-home-directory": {"cursor", func(h, p, m string) string { return filepath.Join(h, ".cursor") }, true},
		"in-the-project":        {"continue", func(h, p, m string) string { return filepath.Join(p, ".continue") }, true},
		"not-by-another-agent":  {"cursor", func(h, p, m string) string { return filepath.Join(h, ".codex") }, false},
		"not-in-the-project":    {"cursor", func(h, p, m string) string { return filepath.Join(p, ".cursor") }, false},
		"where-a-variable-says": {"codex", func(h, p, m string) string { return filepath.Join(m, "codex_home") }, true},
		"not-where-it-was":      {"codex", func(h, p, m string) string { return filepath.Join(h, ".codex") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			home, project, moved := user(t, true)
			if c.made != nil {
				makeDir(t, c.made(home, project, moved))
			}
			if got := find(t, c.agent).Installed(project); got != c.want {
				t.Errorf("%t", got)
			}
		})
	}
	t.Run("without-a-project", func(t *testing.T) {
		user(t, false)
		t.Chdir(t.TempDir())
		makeDir(t, ".continue")
		if find(t, "continue").Installed("") {
			t.Error("the working directory was asked")
		}
	})
	t.Run("an-unset-variable-is-not-the-root", func(t *testing.T) {
		home, project, _ := user(t, false)
		if (install.Agent{Shows: []string{"${LOOKLEAP_UNSET}" + home}}).Installed(project) {
			t.Error(home)
		}
	})
}

func TestDetect(t *testing.T) {
	home, project, _ := user(t, false)
	for _, dir := range []string{filepath.Join(home, ".cursor"), filepath.Join(home, ".codex"), filepath.Join(project, ".continue"), filepath.Join(project, ".promptscript"), filepath.Join(home, ".replit")} {
		makeDir(t, dir)
	}
	for name, c := range map[string]struct {
		dir   string
		scope install.Scope
		want  []string
	}{
		"in-a-project":              {project, install.Project, []string{"codex", "continue", "cursor", "promptscript"}},
		"for-a-user":                {home, install.User, []string{"codex", "cursor"}},
		"in-a-project-without-them": {t.TempDir(), install.Project, []string{"codex", "cursor"}},
	} {
		t.Run(name, func(t *testing.T) {
			place, err := install.Open(c.dir, c.scope)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(place.Detect(), func(name string) bool { return name == "zcode" }) // may be on this machine
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("only-with-a-folder-there", func(t *testing.T) {
		makeDir(t, home, ".promptscript") // the home directory as a project of a user without such a folder
		place, err := install.Open(home, install.User)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(place.Detect(), "promptscript") {
			t.Error("promptscript has no folder for a user")
		}
	})
}

// readTable prints the agents of the npm package skills, without running the program: it evaluates
// the table in it for a home directory, a project and an environment. Shows are the paths that the
// package looks for.
const readTable = `
const [file, home, cwd] = process.argv.slice(1);
const text = require("fs").readFileSync(file, "utf8");
const source = text.slice(text.indexOf("const home = homedir();"), text.indexOf("async function detectInstalledAgents("));
const asked = [];
const existsSync = (path) => { asked.push(path); return false; };
const agents = new Function("homedir", "join", "existsSync", "readFileSync", "xdgConfig", "process", source + "; return agents;")(
	() => home, require("path").posix.join, existsSync, () => "{}", process.env.XDG_CONFIG_HOME || undefined, { env: process.env, cwd: () => cwd });
(async () => {
	const all = [];
	for (const [key, a] of Object.entries(agents)) {
		asked.length = 0;
		await a.detectInstalled();
		all.push({ Key: key, Name: a.name, Title: a.displayName, Project: a.skillsDir, User: a.globalSkillsDir || "", Shows: [...asked] });
	}
	console.log(JSON.stringify(all));
})();`

// onMachine reports whether a path of the table is one of the whole machine, and exists.
func onMachine(path string) bool {
	_, err := os.Stat(path)
	return err == nil && filepath.IsAbs(path)
}

// TestTableOfSkillsCLI compares the table with that of the program that most people use.
func TestTableOfSkillsCLI(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	cli := filepath.Join("..", "..", ".cache", "skills-cli", "node_modules", "skills", "dist", "cli.mjs")
	if _, err := os.Stat(cli); err != nil {
		t.Skipf("the npm package skills is absent: .ci/run suites fetches it (%v)", err)
	}
	if filepath.Separator != '/' {
		t.Skip("the package joins paths in another way here")
	}
	for name, set := range map[string]bool{"without-variables": false, "with-variables": true} {
		t.Run(name, func(t *testing.T) {
			home, project, moved := user(t, set)
			out, err := exec.Command(node, "-e", readTable, cli, home, project).Output()
			if err != nil {
				t.Fatalf("the table cannot be read: %v", err)
			}
			var theirs []struct {
				Key string
				install.Agent
			}
			if err := json.Unmarshal(out, &theirs); err != nil {
				t.Fatal(err)
			}
			if len(theirs) != len(install.Agents()) {
				t.Errorf("%d agents instead of %d", len(install.Agents()), len(theirs))
			}
			for _, their := range theirs {
				our, ok := install.FindAgent(their.Key)
				if !ok || their.Name != their.Key || our.Title != their.Title || our.Project != their.Project || our.UserDir() != their.User {
					t.Errorf("got  %+v\nwant %+v", our, their)
				}
				if our.Name == "eve" { // found by a dependency of package.json
					continue
				}
				if our.Installed(project) && !slices.ContainsFunc(our.Shows, onMachine) {
					t.Errorf("%s is installed", our.Name)
				}
				known := 0
				for _, show := range our.Shows {
					if set || !strings.HasPrefix(show, "${") || strings.Contains(show, ":-") {
						known++
					}
				}
				if known != len(their.Shows) {
					t.Errorf("%s: %q, want %q", our.Name, our.Shows, their.Shows)
				}
				for _, show := range their.Shows {
					if strings.HasPrefix(show, "/etc/") || strings.HasPrefix(show, "/Applications/") {
						if !slices.Contains(our.Shows, show) {
							t.Errorf("%s: %q, want %q", our.Name, our.Shows, their.Shows)
						}
						continue
					}
					makeDir(t, show)
					if !our.Installed(project) {
						t.Errorf("%s is not shown by %s", our.Name, show)
					}
					for _, dir := range []string{home, project, moved} {
						if err := os.RemoveAll(dir); err != nil {
							t.Fatal(err)
						}
						makeDir(t, dir)
					}
				}
			}
		})
	}
}
