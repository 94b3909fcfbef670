package dvs_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"a/b.md", "../x", "CON", "a:b", "a\u0301", `..\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b := bundle("a", "name: a\ndescription: b\n", name, "x")
		v := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{})
		if v.Reports()[0].Err != nil {
			return
		}
		if !filepath.IsLocal(name) || !fs.ValidPath("a/"+name) || strings.ContainsAny(name, `\:`) {
			t.Fatalf("%q is accepted", name)
		}
		if _, err := v.ReadFile(v.Reports()[0].Directory + "/" + name); err != nil {
			t.Fatal(err)
		}
	})
}
