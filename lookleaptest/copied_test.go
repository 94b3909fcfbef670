package lookleaptest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamplesCompileInOtherModules copies each example into a module of its own, as a
// reader would, and compiles it there with its tests.
func TestExamplesCompileInOtherModules(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("packages", func(t *testing.T) {
		dir := newModule(t, root)
		copied := 0
		walk(t, root, func(path string) {
			if name := filepath.Base(path); !strings.HasSuffix(name, "_test.go") || !strings.Contains(name, "example") ||
				underExamples(path) {
				return
			}
			if strings.Contains("/"+path, "/internal/") {
				return
			}
			copyFile(t, filepath.Join(root, path), filepath.Join(dir, path))
			copied++
		})
		if copied < 15 {
			t.Fatalf("only %d files with examples were found", copied)
		}
		compile(t, dir)
	})
	entries, err := os.ReadDir(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			from := filepath.Join(root, "examples", e.Name())
			dir := newModule(t, root)
			walk(t, from, func(path string) { copyFile(t, filepath.Join(from, path), filepath.Join(dir, path)) })
			if own, err := os.ReadFile(filepath.Join(from, "go.mod")); err == nil {
				rename(t, dir, own, root)
			}
			compile(t, dir)
		})
	}
}

const otherModule = "example.com/copied"

// newModule makes a module that requires the module at root.
func newModule(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod = bytes.Replace(mod, []byte("module github.com/lookleap/lookleap"), []byte("module "+otherModule), 1)
	mod = append(mod,
		"\nrequire github.com/lookleap/lookleap v0.0.0\n\nreplace github.com/lookleap/lookleap => "+root+"\n"...)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(root, "go.sum"), filepath.Join(dir, "go.sum"))
	return dir
}

// rename sets another path for an example that is a module, in all of its files, and leads its
// replace directives to where they led before.
func rename(t *testing.T, dir string, mod []byte, root string) {
	t.Helper()
	path := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(mod)[1]
	mod = bytes.Replace(mod, path, []byte(otherModule), 1)
	work := filepath.Join(dir, "go.work")
	if data, err := os.ReadFile(work); err == nil { // the reader gets these modules by their versions
		for _, replace := range regexp.MustCompile(`(?m)^\s*(?:replace )?(\S+ => \S+)$`).FindAllSubmatch(data, -1) {
			mod = append(append(append(mod, "\nreplace "...), replace[1]...), '\n')
		}
		if err := os.Remove(work); err != nil {
			t.Fatal(err)
		}
	}
	mod = bytes.ReplaceAll(mod, []byte("=> ../../"), []byte("=> "+root+"/"))
	mod = regexp.MustCompile(`(?m)=> \.\./\.\.$`).ReplaceAll(mod, []byte("=> "+root))
	ours := regexp.MustCompile(`(?m)^(?:require)?\s+(github\.com/lookleap/lookleap\S*) v`)
	for _, m := range ours.FindAllSubmatch(mod, -1) {
		if module := string(m[1]); !bytes.Contains(mod, []byte(module+" =>")) { // until they are published
			below := strings.TrimPrefix(module, "github.com/lookleap/lookleap")
			mod = fmt.Appendf(mod, "\nreplace %s => %s%s\n", module, root, below)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		t.Fatal(err)
	}
	walk(t, dir, func(file string) {
		if !strings.HasSuffix(file, ".go") {
			return
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, append([]byte(`"`), path...), []byte(`"`+otherModule))
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// compile compiles all packages of a module, tests included.
func compile(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("go", "vet", "-assign", "./...") // vet compiles tests without linking them
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	switch out, err := cmd.CombinedOutput(); {
	case err != nil && bytes.Contains(out, []byte("module lookup disabled by GOPROXY=off")):
		t.Skip("its dependencies are not in the module cache: run go mod download in its directory")
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

// walk calls do with the path of each file below a directory, relative to it.
func walk(t *testing.T, dir string, do func(path string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" ||
			e.Name() == "node_modules"):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		relative, err := filepath.Rel(dir, path)
		do(filepath.ToSlash(relative))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func underExamples(path string) bool {
	return strings.HasPrefix(path, "examples/") || strings.HasPrefix(path, "contrib/")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
