package install_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/internal/test/gittest"
)

// TestSameFolders installs the skills of one repository with the program that most people use, and with
// this package: the folders have the same files, links and permissions.
func TestSameFolders(t *testing.T) {
	cli := gittest.SkillsCLI(t, "../..")
	for name, flags := range map[string]struct {
		args    []string
		options install.Options
	}{
		"links":  {nil, install.Options{}},
		"copies": {[]string{"--copy"}, install.Options{Copy: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.repo.Commit(map[string]string{
				"skills/.curated/deep/SKILL.md":    "---\nname: deep\ndescription: Is deeper.\n---\nDo it.\n",
				"skills/group/inner/SKILL.md":      "---\nname: inner\ndescription: Is in a group.\n---\nDo it.\n",
				"skills/group/inner/.hidden":       "hidden\n",
				"skills/group/inner/a/b/c/d.txt":   "deep\n",
				"skills/group/inner/bin/tool":      "#!/bin/sh\n",
				"skills/group/inner/broken":        "-> nowhere",
				"skills/group/inner/shared":        "-> ../../../docs",
				".claude/skills/of-agent/SKILL.md": "---\nname: of-agent\ndescription: Is in the folder of an agent.\n---\nDo it.\n",
				"tests/fixture/SKILL.md":           "---\nname: fixture\ndescription: Is a fixture.\n---\nDo it.\n",
			})
			theirs := t.TempDir()
			args := append([]string{cli[1], "add", w.repo.Dir(), "--yes", "--agent", "claude-code", "codex", "--skill", "*"}, flags.args...)
			cmd := exec.CommandContext(t.Context(), cli[0], args...)
			cmd.Dir = theirs
			cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1", "CI=1", "NO_COLOR=1"}
			output, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			source, err := install.ParseSource("example-org/skills")
			if err != nil {
				t.Fatal(err)
			}
			found, err := source.Find(t.Context(), w.loader())
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			flags.options.Agents = []string{"claude-code", "codex"}
			for _, c := range found.Skills {
				skill, err := c.Load(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.place.Install(t.Context(), skill, flags.options); err != nil {
					t.Fatal(err)
				}
			}
			without := func(listing string) []string { // but for the lockfiles, which are of two formats
				return slices.DeleteFunc(strings.Split(listing, "\n"), func(line string) bool { return strings.HasPrefix(line, "skills") })
			}
			ours, want := without(tree(t, w.place.Dir)), without(tree(t, theirs))
			for _, line := range want {
				if !slices.Contains(ours, line) {
					t.Errorf("only theirs: %s", line)
				}
			}
			for _, line := range ours {
				if !slices.Contains(want, line) {
					t.Errorf("only ours: %s", line)
				}
				if path := strings.TrimSuffix(line, "*"); !strings.Contains(line, " -> ") && read(t, w.path(path)) != read(t, filepath.Join(theirs, path)) {
					t.Errorf("other bytes: %s", line)
				}
			}
		})
	}
}
