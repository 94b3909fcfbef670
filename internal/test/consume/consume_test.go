package consume

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root    = "github.com/lookleap/lookleap"
	version = "v0.0.0" // what the go.mod files below contrib require
)

// command runs a command and returns its output.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// publish writes a module of the repository into a module proxy, as a tag would publish it: with
// the files that git knows, and without nested modules.
func publish(t *testing.T, repository, dir, proxy string, files []string) string {
	t.Helper()
	path := root
	if dir != "" {
		path += "/" + dir
	}
	nested := map[string]bool{}
	for _, file := range files {
		if d := filepath.ToSlash(filepath.Dir(file)); filepath.Base(file) == "go.mod" && d != "." && d != dir {
			nested[d] = true
		}
	}
	mod, err := os.ReadFile(filepath.Join(repository, dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, file := range files {
		name, ok := strings.CutPrefix(file, dir+"/")
		if dir == "" {
			name, ok = file, true
		}
		for d := filepath.ToSlash(filepath.Dir(file)); ok && d != "." && d != dir; d = filepath.ToSlash(filepath.Dir(d)) {
			ok = !nested[d]
		}
		if !ok {
			continue
		}
		content, err := os.ReadFile(filepath.Join(repository, file))
		if err != nil {
			continue // removed and not committed
		}
		f, err := w.Create(path + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(`{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`),
		version + ".mod": mod, version + ".zip": archive.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// repositoryFiles returns the root of the repository and the files that git knows.
func repositoryFiles(t *testing.T) (repository string, files []string) {
	t.Helper()
	repository = filepath.Join("..", "..", "..")
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = repository
	out, err := list.Output()
	if err != nil {
		t.Skip("this is not a git repository: ", err)
	}
	return repository, strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestNoReplace: go.work files replace the library for development, because go ignores or refuses a
// replace in a module that is required or installed. There is no go.work at the root.
func TestNoReplace(t *testing.T) {
	repository, files := repositoryFiles(t)
	modules := 0
	for _, file := range files {
		switch data, err := os.ReadFile(filepath.Join(repository, file)); {
		case file == "go.work":
			t.Error("there is a go.work at the root, which loads all modules for each command")
		case filepath.Base(file) != "go.mod" || err != nil:
		default:
			modules++
			if bytes.Contains(data, []byte("\nreplace")) {
				t.Errorf("%s has a replace directive", file)
			}
		}
	}
	if modules < 10 {
		t.Errorf("only %d go.mod files were found", modules)
	}
}

// TestNestedModules requires each module below contrib and examples from an empty module, builds
// its packages and installs its commands. Other modules come from the module cache of this machine;
// those that it does not have, from where this machine gets modules: a user's build may choose
// versions that no build of this repository needs.
func TestNestedModules(t *testing.T) {
	if os.Getenv("LOOKLEAP_CONSUME") == "" {
		t.Skip("it builds all nested modules, which takes minutes: set LOOKLEAP_CONSUME to run it")
	}
	repository, files := repositoryFiles(t)
	proxy := t.TempDir()
	publish(t, repository, "", proxy, files)
	var modules []string
	for _, file := range files {
		if dir := filepath.ToSlash(filepath.Dir(file)); filepath.Base(file) == "go.mod" && (strings.HasPrefix(dir, "contrib/") || strings.HasPrefix(dir, "examples/")) {
			modules = append(modules, publish(t, repository, dir, proxy, files))
		}
	}
	if len(modules) < 2 {
		t.Fatalf("only %v were found", modules)
	}
	cache := strings.TrimSpace(command(t, repository, nil, "go", "env", "GOMODCACHE"))
	if _, err := os.Stat(filepath.Join(cache, "cache", "download")); err != nil {
		t.Skip("the module cache is empty")
	}
	// The module cache of this machine is the second proxy, so that hardly anything is downloaded again.
	own := t.TempDir()
	online := strings.TrimSpace(command(t, repository, nil, "go", "env", "GOPROXY"))
	env := []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(filepath.Join(cache, "cache", "download")) + "," + online,
		"GOMODCACHE=" + own, "GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "GONOSUMDB=*", "GONOSUMCHECK=1", "GOSUMDB=off", "GOTOOLCHAIN=local",
	}
	for _, module := range modules {
		t.Run(strings.TrimPrefix(module, root+"/"), func(t *testing.T) {
			dir := t.TempDir()
			command(t, dir, env, "go", "mod", "init", "example.com/user")
			command(t, dir, env, "go", "get", module+"@"+version)
			// A command may need modules that its library does not: -e lists it before they are known.
			packages := strings.Fields(command(t, dir, env, "go", "list", "-e", "-f", `{{.Name}}:{{.ImportPath}}`, module+"/..."))
			if len(packages) == 0 {
				t.Fatal("it has no packages")
			}
			var libraries []string
			for _, p := range packages {
				name, path, _ := strings.Cut(p, ":")
				if name != "main" {
					libraries = append(libraries, path)
					continue
				}
				bin := t.TempDir()
				command(t, dir, append(env, "GOBIN="+bin), "go", "install", path+"@"+version)
				if built, _ := fs.Glob(os.DirFS(bin), "*"); len(built) != 1 {
					t.Errorf("go install %s made %v", path, built)
				}
			}
			if len(libraries) > 0 {
				command(t, dir, env, "go", append([]string{"get"}, libraries...)...)
				command(t, dir, env, "go", append([]string{"build"}, libraries...)...)
			}
			var graph struct{ Replace []any }
			if err := json.Unmarshal([]byte(command(t, dir, env, "go", "mod", "edit", "-json")), &graph); err != nil || graph.Replace != nil {
				t.Errorf("%v, %v", graph.Replace, err)
			}
		})
	}
}
