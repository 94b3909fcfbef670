package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

// FuzzDenied blocks the default root of a skill: no other spelling of the skill's
// URL escapes, and neither does the skill itself.
func FuzzDenied(f *testing.F) {
	for _, raw := range []string{
		"https://github.com/o/r/blob/main/SKILL.md", "https://gitlab.com/g/s/p/-/raw/refs/heads/main/SKILL.md", "https://cdn.jsdelivr.net/gh/o/r@v1/SKILL.md",
		"https://esm.sh/v135/@s/p@1/SKILL.md", "https://bucket.s3.eu-central-1.amazonaws.com/SKILL.md", "https://gist.github.com/u/0123456789abcdef", "https://example.com/a;b/%C3%A9/SKILL.md",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := dvs.ParseSkillURL(raw, dvs.Rules{})
		if err != nil {
			return
		}
		root, _, err := dvs.DefaultRoot(u, dvs.Rules{})
		if err != nil {
			return
		}
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Block(root.String()); err != nil {
			t.Fatalf("%s: %v", root, err)
		}
		if !roots.Find(u).Blocked {
			t.Fatalf("%s is not blocked by %s", u, root)
		}
		directory, file := u.String()[:len(u.String())-len("SKILL.md")], "SKILL.md"
		if other, err := dvs.ParseSkillURL(strings.ToUpper(directory)+file, dvs.Rules{}); err == nil && other.Host() == u.Host() && !roots.Find(other).Blocked {
			t.Fatalf("%s is not blocked by %s", other, root)
		}
	})
}
