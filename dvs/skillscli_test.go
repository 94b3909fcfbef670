package dvs_test

import (
	"bytes"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/gittest"
)

// TestInstall publishes skills with a Handler, and installs them with the program that most
// people use. It compares every file. The program leaves out skills with another digest than
// the index has, so the digests are right if all are there. It accepts plain http, so the
// server needs no certificate; for https, it uses the certificates in NODE_EXTRA_CA_CERTS. No
// requirement counts on it: the program is not on every machine.
func TestInstall(t *testing.T) {
	cli := gittest.SkillsCLI(t, "..")
	files := fstest.MapFS{
		"one/SKILL.md":                {Data: []byte(file("name: one\ndescription: A skill of one file.\n"))},
		"many/SKILL.md":               {Data: []byte(file("name: many\ndescription: A skill of several files.\n"))},
		"many/references/deep/a.md":   {Data: []byte("more")},
		"many/scripts/run.sh":         {Data: []byte("#!/bin/sh\necho done\n")},
		"many/assets/logo.png":        {Data: []byte(noise(100 << 10))},
		"many/data/empty.csv":         {},
		"letters/SKILL.md":            {Data: []byte(file("name: letters\ndescription: Names that a tar archive does not hold.\n"))},
		"letters/data/Straße Köln.md": {Data: []byte("more")},
		"letters/" + strings.Repeat("long/", 8) + strings.Repeat("x", 100) + ".md": {Data: []byte("more")},
	}
	handler, err := dvs.NewHandler(files, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		serves string   // the part of the paths that the server has
		asked  []string // what the program has to have asked for
	}{
		{"v0.2", "/", []string{dvs.AgentSkillsPrefix + "many.tar.gz", dvs.AgentSkillsPrefix + "letters.zip", dvs.AgentSkillsPrefix + "one/SKILL.md"}},
		{"v0.1", dvs.SkillsPrefix, []string{dvs.SkillsPrefix + "many/scripts/run.sh", dvs.SkillsPrefix + "one/SKILL.md"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, r.URL.Path)
				mu.Unlock()
				if !strings.HasPrefix(r.URL.Path, c.serves) {
					http.NotFound(w, r)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			work := t.TempDir()
			cmd := exec.CommandContext(t.Context(), cli[0], cli[1], "add", server.URL, "--yes", "--copy", "--agent", "claude-code", "--skill", "*")
			cmd.Dir = work
			cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1", "CI=1", "NO_COLOR=1"}
			output, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			got := installed(t, filepath.Join(work, ".claude", "skills"))
			if want := slices.Sorted(maps.Keys(files)); !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
				t.Errorf("installed %v, want %v\n%s", slices.Sorted(maps.Keys(got)), want, output)
			}
			for name, content := range got {
				if f := files[name]; f != nil && !bytes.Equal(content, f.Data) {
					t.Errorf("%s has other bytes", name)
				}
			}
			for _, path := range c.asked {
				if !slices.Contains(asked, path) {
					t.Errorf("%s was not asked for: %v", path, asked)
				}
			}
		})
	}
}

// installed reads all files below a directory.
func installed(t *testing.T, directory string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(directory), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[name], err = os.ReadFile(filepath.Join(directory, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
