package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestDenialSpellings blocks one revision, and looks at what may lead to the same file.
func TestDenialSpellings(t *testing.T) {
	const blocked = "https://github.com/org/a/blob/main/"
	for name, url := range map[string]string{
		"same":            "https://github.com/org/a/blob/main/s/SKILL.md",
		"raw-bytes":       "https://raw.githubusercontent.com/org/a/main/s/SKILL.md",
		"full-name":       "https://github.com/org/a/blob/refs/heads/main/s/SKILL.md",
		"full-name-raw":   "https://raw.githubusercontent.com/org/a/refs/heads/main/s/SKILL.md",
		"capitals":        "https://github.com/ORG/A/blob/main/s/SKILL.md",
		"mirror":          "https://cdn.jsdelivr.net/gh/org/a@main/s/SKILL.md",
		"mirror-any":      "https://cdn.jsdelivr.net/gh/org/a/s/SKILL.md",
		"mirror-latest":   "https://cdn.jsdelivr.net/gh/org/a@latest/s/SKILL.md",
		"repository-name": "https://github.com/org/a.git/blob/main/s/SKILL.md",
	} {
		t.Run("A32/reject-"+name, func(t *testing.T) {
			r := dvs.NewRoots(dvs.Rules{})
			if _, err := r.Block(blocked); err != nil {
				t.Fatal(err)
			}
			u, err := dvs.ParseSkillURL(url, dvs.Rules{})
			if err != nil || !r.Find(u).Blocked {
				t.Errorf("%s is not blocked: %v", u, err)
			}
		})
	}
	for name, url := range map[string]string{
		"another-revision":        "https://github.com/org/a/blob/v1/s/SKILL.md",
		"another-revision-mirror": "https://cdn.jsdelivr.net/gh/org/a@v1/s/SKILL.md",
		"another-repository":      "https://github.com/org/b/blob/main/s/SKILL.md",
		"another-owner":           "https://github.com/other/a/blob/main/s/SKILL.md",
		"tag-of-that-name":        "https://github.com/org/a/blob/v1/main/SKILL.md",
	} {
		t.Run("A32/accept-"+name, func(t *testing.T) {
			r := dvs.NewRoots(dvs.Rules{})
			if _, err := r.Block(blocked); err != nil {
				t.Fatal(err)
			}
			if u := skillURL(t, url); r.Find(u).Blocked {
				t.Errorf("%s is blocked", u)
			}
		})
	}
	t.Run("DVS-7-03/accept-tenants-of-another-platform", func(t *testing.T) {
		r := dvs.NewRoots(dvs.Rules{})
		if err := r.RevokeDomain("s3.amazonaws.com", true); err != nil {
			t.Fatal(err)
		}
		if u := skillURL(t, "https://alice.github.io/s/SKILL.md"); r.Find(u).Revoked {
			t.Errorf("%s is revoked", u)
		}
	})
}

// TestDefaultRoots derives roots from the spelling of a path.
func TestDefaultRoots(t *testing.T) {
	for name, c := range map[string]struct{ url, root string }{
		"accept-home":          {"https://example.com/~alice/s/SKILL.md", "https://example.com/~alice/"},
		"accept-user":          {"https://example.com/@alice/s/SKILL.md", "https://example.com/@alice/"},
		"accept-tilde-alone":   {"https://example.com/~/s/SKILL.md", "https://example.com/"},
		"accept-at-alone":      {"https://example.com/@/s/SKILL.md", "https://example.com/"},
		"accept-file-of-a-dot": {"https://example.com/~SKILL.md/SKILL.md", "https://example.com/~SKILL.md/"},
		"accept-plain":         {"https://example.com/s/SKILL.md", "https://example.com/"},
		"reject-forge":         {"https://git.example.com/o/r/-/blob/main/SKILL.md", ""},
		"reject-forge-raw":     {"https://git.example.com/o/r/-/raw/main/SKILL.md", ""},
		"reject-forge-tree":    {"https://git.example.com/o/r/-/tree/main/SKILL.md", ""},
	} {
		t.Run("DVS-3.1-28/"+name, func(t *testing.T) {
			root, source, err := dvs.DefaultRoot(skillURL(t, c.url), dvs.Rules{})
			if root.String() != c.root || (err == nil) != (c.root != "") || err != nil && (lookleap.CodeOf(err) != dvs.CodeNeedsRoot || source != dvs.Undeclared) {
				t.Errorf("got %s, %s, %v", root, source, err)
			}
			if len(root.Lint()) != 0 {
				t.Error(root.Lint())
			}
		})
	}
	t.Run("DVS-2-10/reject-leading-dot", func(t *testing.T) {
		if _, err := dvs.ParseTrustRoot("https://.example.com/", dvs.Rules{}); lookleap.CodeOf(err) != "invalid-trust-root" {
			t.Error(err)
		}
	})
	t.Run("DVS-2-09/accept-lint", func(t *testing.T) {
		for raw, findings := range map[string]int{"https://example.com": 0, "https://example.com/": 0, "https://example.com/a": 1, "https://example.com/a/": 0} {
			if got := must(dvs.ParseTrustRoot(raw, dvs.Rules{})).Lint(); len(got) != findings {
				t.Errorf("%s: %v", raw, got)
			}
		}
	})
}

// TestDenials combines blocks and revocations: none of them replaces or takes back another one.
func TestDenials(t *testing.T) {
	const a, b = "https://github.com/org/a/", "https://github.com/org/b/"
	inA, inB := skillURL(t, a+"blob/main/SKILL.md"), skillURL(t, b+"blob/main/SKILL.md")
	block := func(t *testing.T, r *dvs.Roots, roots ...string) {
		t.Helper()
		for _, raw := range roots {
			if _, err := r.Block(raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	root := func(raw string) dvs.TrustRoot { return must(dvs.ParseTrustRoot(raw, dvs.Rules{})) }
	t.Run("DVS-7-03/reject-revoked-after-it-was-blocked", func(t *testing.T) {
		r := dvs.NewRoots(dvs.Rules{})
		block(t, r, a)
		r.Revoke(root(a))
		r.Unregister(root(a))
		if !r.Find(inA).Revoked || r.Find(inA).Blocked {
			t.Errorf("%+v", r.Find(inA))
		}
	})
	t.Run("A32/reject-blocked-after-it-was-revoked", func(t *testing.T) {
		r := dvs.NewRoots(dvs.Rules{})
		r.Revoke(root(a))
		block(t, r, a)
		if d := r.Find(inA); !d.Revoked || !d.Blocked {
			t.Errorf("%+v", d)
		}
	})
	t.Run("A32/reject-the-other-block-stays", func(t *testing.T) {
		r := dvs.NewRoots(dvs.Rules{})
		block(t, r, a, b)
		r.Unregister(root(a))
		if r.Find(inA).Blocked || !r.Find(inB).Blocked {
			t.Errorf("%+v, %+v", r.Find(inA), r.Find(inB))
		}
	})
	t.Run("DVS-7-03/accept-another-registration-stays", func(t *testing.T) {
		r := registry(t, a, b)
		r.Unregister(root(a))
		if r.Find(inA).Source != dvs.Derived || r.Find(inB).Source != dvs.ByHost {
			t.Errorf("%+v, %+v", r.Find(inA), r.Find(inB))
		}
	})
	t.Run("DVS-3.1-28/accept-nothing-is-known-of-no-skill", func(t *testing.T) {
		r := registry(t, a)
		block(t, r, b)
		if err := r.RevokeDomain("evil.example", true); err != nil {
			t.Fatal(err)
		}
		if d := r.Find(dvs.SkillURL{}); d.Blocked || d.Revoked || d.Source != dvs.Undeclared {
			t.Errorf("%+v", d)
		}
	})
	t.Run("A32/accept-roots-that-end-within-a-revision", func(t *testing.T) {
		for _, raw := range []string{"https://github.com/org/a/blob/refs/", "https://github.com/org/a/blob/refs/heads/", "https://github.com/org/a/blob/", "https://cdn.jsdelivr.net/gh/org/a/"} {
			r := dvs.NewRoots(dvs.Rules{})
			if _, err := r.Block(raw); err != nil {
				continue // the rules refuse such a root
			}
			if r.Find(inB).Blocked {
				t.Error(raw, "covers another repository")
			}
		}
	})
}
