package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		id, name, path, content string
		want                    dvs.Kind
	}{
		{"DVS-2-13", "accept-script", "scripts/a.py", "", dvs.Script},
		{"DVS-2-13", "accept-data", "data/x.json", "", dvs.Data},
		{"DVS-2-13", "accept-instructions", "ADVANCED.md", "", dvs.Instructions},
		{"DVS-2-13", "accept-template", "templates/r.html", "", dvs.Template},
		{"DVS-2-13", "reject-unknown-as-script", "thing.bin", "", dvs.Script},
		{"DVS-2-13", "reject-no-extension-as-script", "run", "", dvs.Script},
		{"DVS-4.5-01", "accept-nested-markdown", "references/a/B.MD", "", dvs.Instructions},
		{"DVS-4.5-01", "accept-csv", "x.csv", "a,b", dvs.Data},
		{"DVS-4.5-01", "accept-image", "assets/a.png", "\x89PNG", dvs.Data},
		{"DVS-4.5-01", "reject-markdown-below-scripts", "scripts/a.md", "", dvs.Script},
		{"DVS-4.5-01", "reject-shebang", "data/x.txt", "#!/bin/sh\n", dvs.Script},
		{"DVS-4.5-01", "reject-shebang-behind-a-mark", "data/x.txt", "\ufeff#!/bin/sh\n", dvs.Script},
		{"DVS-4.5-01", "reject-script-below-templates", "templates/a.sh", "", dvs.Script},
		{"DVS-4.5-01", "reject-javascript", "a.js", "", dvs.Script},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if got := dvs.KindOf(c.path, []byte(c.content)); got != c.want {
				t.Errorf("%s is %v, want %v", c.path, got, c.want)
			}
		})
	}
}
