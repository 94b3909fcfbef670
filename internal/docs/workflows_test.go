package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestActionsArePinned: a workflow runs what a commit has, and not what someone moves a tag to. The actions of
// OSS-Fuzz have no versions.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	pinned := regexp.MustCompile(`@[0-9a-f]{40} # v[0-9.]+$`)
	for _, file := range append(files, "../../examples/ci/skills.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if strings.Contains(line, "uses: ") && !pinned.MatchString(line) && !strings.Contains(line, "google/oss-fuzz/") {
				t.Errorf("%s: %s", filepath.Base(file), line)
			}
		}
	}
}
