package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestCheckFileNames(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		code  lookleap.Code
	}{
		"none":      {nil, lookleap.CodeOK},
		"different": {[]string{"SKILL.md", "data/a.csv", "data/b.csv"}, lookleap.CodeOK},
		"twice":     {[]string{"a.md", "A.md"}, dvs.CodeNameClash},
		"directory": {[]string{"a", "A/b"}, dvs.CodeNameClash},
		"parent":    {[]string{"../a"}, dvs.CodeUnsafeName},
		"hidden":    {[]string{"a\u202eb"}, dvs.CodeUnsafeName},
	} {
		t.Run(name, func(t *testing.T) {
			if err := dvs.CheckFileNames(c.paths...); c.code == lookleap.CodeOK && err != nil || c.code != lookleap.CodeOK && lookleap.CodeOf(err) != c.code {
				t.Error(err)
			}
		})
	}
}
