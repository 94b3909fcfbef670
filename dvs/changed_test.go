package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestChangedBundle(t *testing.T) {
	fetched := func(t *testing.T) dvs.Bundle {
		t.Helper()
		_, _, _, skill := scriptWorld(t, nil)
		b, err := skill.Bundle(t.Context(), "data/x.csv")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, c := range map[string]struct {
		change func(*dvs.Bundle)
		code   lookleap.Code
	}{
		"SKILL.md":          {func(b *dvs.Bundle) { b.Files["SKILL.md"] = append(b.Files["SKILL.md"], "evil"...) }, dvs.CodeDigestMismatch},
		"octet-of-SKILL.md": {func(b *dvs.Bundle) { b.Files["SKILL.md"][len(b.Files["SKILL.md"])-1] = 'x' }, dvs.CodeDigestMismatch},
		"file":              {func(b *dvs.Bundle) { b.Files["data/x.csv"] = []byte("evil") }, dvs.CodeDigestMismatch},
		"one-more":          {func(b *dvs.Bundle) { b.Files["evil.sh"] = []byte("evil") }, dvs.CodeDigestMismatch},
		"one-less":          {func(b *dvs.Bundle) { delete(b.Files, "data/x.csv") }, dvs.CodeDigestMismatch},
		"renamed":           {func(b *dvs.Bundle) { b.Files["y.csv"] = b.Files["data/x.csv"]; delete(b.Files, "data/x.csv") }, dvs.CodeDigestMismatch},
		"root":              {func(b *dvs.Bundle) { b.Root = "https://bank.example/" }, dvs.CodeNeedsRoot},
		"wider-root":        {func(b *dvs.Bundle) { b.Root = "https://shop.example/s/" }, dvs.CodeNeedsRoot},
		"id":                {func(b *dvs.Bundle) { b.ID = "https://bank.example/SKILL.md" }, dvs.CodeNeedsRoot},
		"id-and-verdict": {func(b *dvs.Bundle) {
			v := *b.Verdict
			b.ID, v.Subject, b.Verdict = "https://shop.example/s/b/SKILL.md", "https://shop.example/s/b/SKILL.md", &v
		}, dvs.CodeNeedsRoot},
		"made-anew-with-another-file": {func(b *dvs.Bundle) {
			*b = dvs.Bundle{ID: b.ID, Root: b.Root, Verdict: b.Verdict, Files: map[string][]byte{"SKILL.md": []byte("---\nname: a\ndescription: evil\n---\nx\n")}}
		}, dvs.CodeDigestMismatch},
		"made-anew-with-another-root": {func(b *dvs.Bundle) {
			*b = dvs.Bundle{ID: b.ID, Root: "https://bank.example/", Verdict: b.Verdict, Files: b.Files}
		}, dvs.CodeNeedsRoot},
	} {
		t.Run("O64/reject-"+name, func(t *testing.T) {
			good := fetched(t)
			lock := dvs.NewVerifiedFS([]dvs.Bundle{good}, dvs.VerifiedFSOptions{}).Lock()
			b := fetched(t)
			c.change(&b)
			v := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{})
			if r := v.Reports()[0]; lookleap.CodeOf(r.Err) != c.code || len(v.Lock().Skills) != 0 {
				t.Errorf("%v", r.Err)
			}
			if err := lock.Verify(b); err == nil {
				t.Error("the lockfile holds it")
			}
			if entries, _ := v.ReadDir("."); len(entries) != 0 {
				t.Errorf("%v", entries)
			}
		})
	}
	t.Run("O64/accept-unchanged", func(t *testing.T) {
		b := fetched(t)
		v := dvs.NewVerifiedFS([]dvs.Bundle{b, {}}[:1], dvs.VerifiedFSOptions{})
		if err := v.Reports()[0].Err; err != nil {
			t.Fatal(err)
		}
		directory := v.Reports()[0].Directory
		before, _ := v.ReadFile(directory + "/data/x.csv")
		copy(b.Files["data/x.csv"], "evil") // later changes are not seen
		if after, _ := v.ReadFile(directory + "/data/x.csv"); string(after) != string(before) {
			t.Errorf("%q became %q", before, after)
		}
		if err := v.Lock().Verify(fetched(t)); err != nil {
			t.Error(err)
		}
	})
}
