package dvs_test

import (
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestAliases has other names of platforms, and queries that show a page in another way.
func TestAliases(t *testing.T) {
	const page = "https://github.com/o/r/blob/main/a/SKILL.md"
	for _, c := range []struct{ name, in, want string }{
		{"github", "https://www.github.com/o/r/blob/main/a/SKILL.md", page},
		{"github-tree", "https://www.github.com/O/R/tree/main/a", page},
		{"github-repository", "https://www.github.com/o/r", "https://github.com/o/r/blob/HEAD/SKILL.md"},
		{"gitlab", "https://www.gitlab.com/o/p/-/raw/main/SKILL.md", "https://gitlab.com/o/p/-/blob/main/SKILL.md"},
		{"codeberg", "https://www.codeberg.org/o/r/src/branch/main/SKILL.md", "https://codeberg.org/o/r/src/branch/main/SKILL.md"},
		{"bitbucket", "https://www.bitbucket.org/o/r/raw/main/SKILL.md", "https://bitbucket.org/o/r/src/main/SKILL.md"},
		{"hugging-face", "https://hf.co/o/m/blob/main/SKILL.md", "https://huggingface.co/o/m/blob/main/SKILL.md"},
		{"without-routes", "https://www.medium.com/@o/SKILL.md", "https://medium.com/@o/SKILL.md"},
		{"plain", page + "?plain=1", page},
		{"raw", page + "?raw=true", page},
		{"plain-on-www", "https://www.github.com/o/r/blob/main/a/SKILL.md?plain=1", page},
		{"plain-directory", "https://github.com/o/r/tree/main/a?plain=1", page},
		{"gitea-source", "https://codeberg.org/o/r/src/branch/main/SKILL.md?display=source", "https://codeberg.org/o/r/src/branch/main/SKILL.md"},
	} {
		t.Run("B01/accept-"+c.name, func(t *testing.T) {
			if got, err := dvs.ParseSkillURL(c.in, dvs.Rules{}); err != nil || got.String() != c.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	for name, c := range map[string]struct {
		in   string
		code lookleap.Code
	}{
		"other-query":      {page + "?ref_type=tags", "query-in-skill-url"},
		"more-than-a-view": {page + "?plain=1&ref=evil", "query-in-skill-url"},
		"plain-elsewhere":  {"https://example.com/SKILL.md?plain=1", "query-in-skill-url"},
		"bare":             {"https://www.github.com/", dvs.CodeNotContentRoute},
		"reserved":         {"https://www.github.com/orgs/x/SKILL.md", "reserved-segment"},
	} {
		t.Run("B01/reject-"+name, func(t *testing.T) {
			if got, err := dvs.ParseSkillURL(c.in, dvs.Rules{}); lookleap.CodeOf(err) != c.code || got.String() != "" {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	t.Run("B04/accept-root-of-the-alias", func(t *testing.T) {
		root, err := dvs.ParseTrustRoot("https://www.github.com/o", dvs.Rules{})
		if err != nil || root.String() != "https://github.com/o/" || len(root.Lint()) == 0 {
			t.Errorf("got %s, %v", root, err)
		}
	})
	t.Run("B04/accept-loaded-from-the-bytes", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, "/o/r/main/a/SKILL.md", refund)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/o/")})
		skill, err := loader.Load(t.Context(), "https://www.github.com/o/r/blob/main/a/SKILL.md?plain=1")
		if err != nil || skill.ID.String() != page || len(net.Journal().Requests("www.github.com")) != 0 {
			t.Fatal(err)
		}
		if target, err := skill.Resolve("https://www.github.com/o/r/blob/main/a/MORE.md"); err != nil || target.Access != dvs.Bundled {
			t.Errorf("got %v, %v", target, err)
		}
		if target, err := skill.Resolve("https://raw.githubusercontent.com/o/r/main/a/MORE.md"); err != nil || target.Access != dvs.NeedsConsent {
			t.Errorf("got %v, %v", target, err)
		}
	})
	t.Run("O43/reject-alias-of-another-platform", func(t *testing.T) {
		for _, p := range []dvs.Platform{
			{Name: "x", Hosts: []string{"git.example.org"}, Aliases: []string{"github.com"}, Owner: 1},
			{Name: "x", Hosts: []string{"git.example.org"}, Aliases: []string{"raw.githubusercontent.com"}, Owner: 1},
			{Name: "x", Aliases: []string{"code.example.org"}, Subdomains: []string{"example.org"}},
			{Name: "x", Hosts: []string{"*.example.org"}, Aliases: []string{"code.example.net"}, Owner: 1},
		} {
			if _, err := dvs.Builtin().With(p); err == nil {
				t.Errorf("%v is accepted", p)
			}
		}
	})
}

// TestRootsOfPlatforms has roots at the hosts of several platforms.
func TestRootsOfPlatforms(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"B01/reject-hf-alias", "https://hf.co/", "ugc-bare-root"},
		{"B01/reject-raw-host", "https://raw.githubusercontent.com/", "ugc-bare-root"},
		{"B01/reject-gitlab", "https://www.gitlab.com/", "ugc-bare-root"},
		{"B01/reject-codeberg", "https://codeberg.org/", "ugc-bare-root"},
		{"B01/reject-bitbucket", "https://bitbucket.org/", "ugc-bare-root"},
		{"B02/reject-gist", "https://gist.github.com/discover/", "reserved-segment"},
		{"B02/reject-gitlab", "https://gitlab.com/explore/", "reserved-segment"},
		{"B02/reject-codeberg", "https://codeberg.org/explore/", "reserved-segment"},
		{"B02/reject-bitbucket", "https://bitbucket.org/account/", "reserved-segment"},
		{"B02/reject-hugging-face", "https://huggingface.co/docs/", "reserved-segment"},
		{"B02/accept-word-with-more", "https://github.com/orgs-of-us/", "https://github.com/orgs-of-us/"},
	} {
		t.Run(c.id, func(t *testing.T) {
			root, err := dvs.ParseTrustRoot(c.in, dvs.Rules{})
			got := root.String()
			if err != nil {
				got += string(lookleap.CodeOf(err))
			}
			if got != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

// TestServedURL checks that the URL of a skill's bytes denotes the same skill, so that a skill that
// was not redirected resolves its references against its own page.
func TestServedURL(t *testing.T) {
	t.Run("DVS-3.1-45/accept-bytes-of-the-same-skill", func(t *testing.T) {
		tried := 0
		for e := range dvs.Builtin().All() {
			for _, host := range slices.Concat(e.Hosts, e.Aliases) {
				for _, path := range []string{"/o/r/blob/main/s/SKILL.md", "/o/r/tree/main/s", "/~o/r/tree/main/item/s/SKILL.md",
					"/o/r/-/blob/main/s/SKILL.md", "/o/r/src/branch/main/s/SKILL.md", "/o/r/src/main/s/SKILL.md", "/o/r/raw/main/s/SKILL.md",
					"/o/0123456789abcdef/raw/SKILL.md", "/o/r", "/@o/p@1.0/s/SKILL.md", "/gh/o/r@main/s/SKILL.md",
					"/datasets/o/r/blob/main/s/SKILL.md", "/o/s/SKILL.md", "/o/r/blob/main/s.tar.gz"} {
					u, err := dvs.ParseSkillURL("https://"+host+path, dvs.Rules{})
					if err != nil {
						continue
					}
					tried++
					if back, err := dvs.ParseSkillURL(u.ServedFrom(), dvs.Rules{}); err != nil || back.String() != u.String() {
						t.Errorf("%s is served from %s, which is %s: %v", u, u.ServedFrom(), back, err)
					}
				}
			}
		}
		if tried < 1000 {
			t.Errorf("only %d URLs were tried", tried)
		}
	})
}
