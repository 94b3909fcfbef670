package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func skillURL(t *testing.T, raw string) dvs.SkillURL {
	t.Helper()
	u, err := dvs.ParseSkillURL(raw, dvs.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestRootsFind(t *testing.T) {
	for _, c := range []struct {
		id           string
		register     []string
		block        []string
		url, root    string
		source       dvs.RootSource
		blocked      bool
		needsDeclare bool
	}{
		{id: "DVS-0-03/accept-origin", url: "https://example.com/skills/a/SKILL.md", root: "https://example.com/", source: dvs.DefaultOrigin},
		{id: "DVS-1-05/accept-registered", register: []string{"https://example.com/skills/"}, url: "https://example.com/skills/a/SKILL.md", root: "https://example.com/skills/", source: dvs.ByHost},
		{id: "DVS-3.1-28/accept-default-origin", url: "https://example.com/a/SKILL.md", root: "https://example.com/", source: dvs.DefaultOrigin},
		{id: "DVS-3.1-28/reject-derived-is-unconfirmed", url: "https://github.com/o/r/blob/main/SKILL.md", root: "https://github.com/o/", source: dvs.Derived},
		{id: "DVS-3.1-28/accept-confirmed", register: []string{"https://github.com/o/"}, url: "https://github.com/o/r/blob/main/SKILL.md", root: "https://github.com/o/", source: dvs.ByHost},
		{id: "DVS-3.1-29/accept-longest", register: []string{"https://example.com/", "https://example.com/a/"}, url: "https://example.com/a/b/SKILL.md", root: "https://example.com/a/", source: dvs.ByHost},
		{id: "DVS-3.1-29/accept-longest-any-order", register: []string{"https://example.com/a/", "https://example.com/"}, url: "https://example.com/a/b/SKILL.md", root: "https://example.com/a/", source: dvs.ByHost},
		{id: "DVS-3.1-29/reject-longer-sibling", register: []string{"https://example.com/", "https://example.com/a/"}, url: "https://example.com/ab/SKILL.md", root: "https://example.com/", source: dvs.ByHost},
		{id: "DVS-3.1-31/accept-tilde", url: "https://cs.univ.example/~alice/x/SKILL.md", root: "https://cs.univ.example/~alice/", source: dvs.DefaultOrigin},
		{id: "DVS-3.1-31/accept-at", url: "https://h.example/@bob/SKILL.md", root: "https://h.example/@bob/", source: dvs.DefaultOrigin},
		{id: "DVS-3.1-31/reject-forge-dash", url: "https://git.example.org/o/r/-/raw/main/SKILL.md", source: dvs.Undeclared},
		{id: "DVS-3.1-31/reject-forge-branch", url: "https://git.example.org/o/r/raw/branch/main/SKILL.md", source: dvs.Undeclared},
		{id: "DVS-3.1-31/accept-forge-registered", register: []string{"https://git.example.org/o/"}, url: "https://git.example.org/o/r/-/raw/main/SKILL.md", root: "https://git.example.org/o/", source: dvs.ByHost},
		{id: "DVS-3.1-37/reject-bucket-unconfirmed", url: "https://s3.amazonaws.com/bucket/x/SKILL.md", root: "https://s3.amazonaws.com/bucket/", source: dvs.Derived},
		{id: "DVS-3.1-40/accept-unknown-host", url: "https://unknown.example/x/SKILL.md", root: "https://unknown.example/", source: dvs.DefaultOrigin},
		{id: "A32/reject-blocked-below", register: []string{"https://github.com/org/"}, block: []string{"https://github.com/org/bad/"}, url: "https://github.com/org/bad/blob/main/SKILL.md", root: "https://github.com/org/bad/", source: dvs.ByUser, blocked: true},
		{id: "A32/reject-tie", register: []string{"https://github.com/org/"}, block: []string{"https://github.com/org/"}, url: "https://github.com/org/r/blob/main/SKILL.md", root: "https://github.com/org/", source: dvs.ByUser, blocked: true},
		{id: "A32/accept-beside", register: []string{"https://github.com/org/"}, block: []string{"https://github.com/org/bad/"}, url: "https://github.com/org/good/blob/main/SKILL.md", root: "https://github.com/org/", source: dvs.ByHost},
		{id: "A32/accept-longest-of-several", register: []string{"https://github.com/org/", "https://github.com/org/bad/blob/main/fine/"}, block: []string{"https://github.com/org/bad/"}, url: "https://github.com/org/bad/blob/main/fine/SKILL.md", root: "https://github.com/org/bad/blob/main/fine/", source: dvs.ByHost},
		{id: "A32/accept-longest-of-several-in-any-order", register: []string{"https://github.com/org/bad/blob/main/fine/", "https://github.com/org/"}, block: []string{"https://github.com/org/bad/"}, url: "https://github.com/org/bad/blob/main/fine/SKILL.md", root: "https://github.com/org/bad/blob/main/fine/", source: dvs.ByHost},
		{id: "A32/accept-longer-than-block", register: []string{"https://github.com/org/bad/blob/main/fine/"}, block: []string{"https://github.com/org/bad/"}, url: "https://github.com/org/bad/blob/main/fine/SKILL.md", root: "https://github.com/org/bad/blob/main/fine/", source: dvs.ByHost},
	} {
		t.Run(c.id, func(t *testing.T) {
			roots := dvs.NewRoots(dvs.Rules{})
			for _, raw := range c.register {
				if _, err := roots.Register(raw, dvs.ByHost); err != nil {
					t.Fatal(err)
				}
			}
			for _, raw := range c.block {
				if _, err := roots.Block(raw); err != nil {
					t.Fatal(err)
				}
			}
			d := roots.Find(skillURL(t, c.url))
			if d.Root.String() != c.root || d.Source != c.source || d.Blocked != c.blocked || d.Revoked {
				t.Errorf("got %s, %s, blocked %v", d.Root, d.Source, d.Blocked)
			}
		})
	}
	t.Run("A32/reject-blocked-before-registered", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Block("https://github.com/org/"); err != nil {
			t.Fatal(err)
		}
		if _, err := roots.Register("https://github.com/org/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		if d := roots.Find(skillURL(t, "https://github.com/org/r/blob/main/SKILL.md")); !d.Blocked {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("A32/reject-longest-block-in-any-order", func(t *testing.T) {
		for _, order := range [][]string{{"https://github.com/org/", "https://github.com/org/bad/"}, {"https://github.com/org/bad/", "https://github.com/org/"}} {
			roots := dvs.NewRoots(dvs.Rules{})
			for _, raw := range order {
				if _, err := roots.Block(raw); err != nil {
					t.Fatal(err)
				}
			}
			if d := roots.Find(skillURL(t, "https://github.com/org/bad/blob/main/SKILL.md")); !d.Blocked || d.Root.String() != "https://github.com/org/bad/" {
				t.Errorf("%v: got %+v", order, d)
			}
		}
	})
	t.Run("DVS-3.1-33/reject-insisting-user", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		for range 2 {
			if _, err := roots.Register("https://github.com/", dvs.ByUser); lookleap.CodeOf(err) != dvs.CodeUGCBareRoot {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("DVS-1-05/reject-unregistered", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		u := skillURL(t, "https://github.com/o/r/blob/main/SKILL.md")
		root, err := roots.Register("https://github.com/o", dvs.ByUser)
		if err != nil || !roots.Find(u).Source.Registered() {
			t.Fatal(err)
		}
		roots.Unregister(root)
		if got := roots.Find(u).Source; got.Registered() {
			t.Errorf("got %s", got)
		}
		if _, err := roots.Register("https://github.com/o", dvs.Derived); err == nil {
			t.Error("a derived root can be registered")
		}
	})
	t.Run("DVS-7-05/reject-table-has-grown", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		u := skillURL(t, "https://git.example.org/o/r/SKILL.md")
		if _, err := roots.Register("https://git.example.org/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		dropped, err := roots.AddPlatform(dvs.Platform{Name: "ours", Hosts: []string{"git.example.org"}, Owner: 1})
		if err != nil || len(dropped) != 1 || roots.Find(u).Source != dvs.Derived {
			t.Errorf("got %v, %v, %s", dropped, err, roots.Find(u).Source)
		}
	})
	t.Run("DVS-7-05/reject-blocked-when-the-table-has-grown", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Block("https://git.example.org/"); err != nil {
			t.Fatal(err)
		}
		dropped, err := roots.AddPlatform(dvs.Platform{Name: "ours", Hosts: []string{"git.example.org"}, Owner: 1})
		if err != nil || len(dropped) != 0 || !roots.Find(skillURL(t, "https://git.example.org/o/r/SKILL.md")).Blocked {
			t.Errorf("got %v, %v", dropped, err)
		}
	})
	t.Run("DVS-7-05/accept-path-scoped", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Register("https://gitlab.com/group/", dvs.ByHost); err != nil {
			t.Error(err)
		}
	})
}

func TestRevoke(t *testing.T) {
	for _, c := range []struct {
		id     string
		root   string
		domain string
		sub    bool
		url    string
		want   bool
	}{
		{id: "DVS-7-03/reject-below", root: "https://example.com/a/", url: "https://example.com/a/b/SKILL.md", want: true},
		{id: "DVS-7-03/reject-longer-root", root: "https://example.com/", url: "https://example.com/long/SKILL.md", want: true},
		{id: "DVS-7-03/reject-raw-form", root: "https://github.com/o/", url: "https://raw.githubusercontent.com/o/r/main/SKILL.md", want: true},
		{id: "DVS-7-03/reject-domain", domain: "example.com", url: "https://example.com:8443/x/SKILL.md", want: true},
		{id: "DVS-7-03/reject-serving-domain", domain: "raw.githubusercontent.com", url: "https://github.com/o/r/blob/main/SKILL.md", want: true},
		{id: "DVS-7-03/reject-parent-of-the-serving-domain", domain: "githubusercontent.com", sub: true, url: "https://github.com/o/r/blob/main/SKILL.md", want: true},
		{id: "DVS-7-03/accept-beside", root: "https://example.com/a/", url: "https://example.com/ab/SKILL.md"},
		{id: "DVS-7-04/accept-subdomain-stays", domain: "example.com", url: "https://sub.example.com/x/SKILL.md"},
		{id: "DVS-7-04/accept-lookalike-stays", domain: "example.com", sub: true, url: "https://notexample.com/x/SKILL.md"},
		{id: "O36/reject-subdomain-by-pattern", domain: "s3.amazonaws.com", sub: true, url: "https://evil.s3.eu-central-1.amazonaws.com/SKILL.md", want: true},
		{id: "DVS-7-04/reject-subdomain-included", domain: "example.com", sub: true, url: "https://sub.example.com/x/SKILL.md", want: true},
	} {
		t.Run(c.id, func(t *testing.T) {
			roots := dvs.NewRoots(dvs.Rules{})
			if _, err := roots.Register("https://example.com/long/", dvs.ByHost); err != nil {
				t.Fatal(err)
			}
			if c.domain != "" {
				if err := roots.RevokeDomain(c.domain, c.sub); err != nil {
					t.Fatal(err)
				}
			} else {
				root, err := dvs.ParseTrustRoot(c.root, dvs.Rules{})
				if err != nil {
					t.Fatal(err)
				}
				roots.Revoke(root)
			}
			u := skillURL(t, c.url)
			if roots.Find(u).Revoked != c.want {
				t.Errorf("revoked: %v", !c.want)
			}
		})
	}
}

func BenchmarkRootsFind(b *testing.B) {
	roots := dvs.NewRoots(dvs.Rules{})
	for _, raw := range []string{"https://example.com/", "https://example.com/a/", "https://github.com/o/"} {
		if _, err := roots.Register(raw, dvs.ByHost); err != nil {
			b.Fatal(err)
		}
	}
	u, _ := dvs.ParseSkillURL("https://example.com/a/b/SKILL.md", dvs.Rules{})
	b.ReportAllocs()
	for b.Loop() {
		benchCovered = roots.Find(u).Source.Registered()
	}
}

// TestRootsAll lists a registry.
func TestRootsAll(t *testing.T) {
	roots := registry(t, "https://a.example/", "https://b.example/", "https://c.example/")
	for _, raw := range []string{"https://d.example/", "https://d.example/", "https://e.example/", "https://f.example/"} {
		if _, err := roots.Block(raw); err != nil {
			t.Fatal(err)
		}
	}
	roots.Revoke(must(dvs.ParseTrustRoot("https://g.example/", dvs.Rules{})))
	t.Run("A32/accept-each-once", func(t *testing.T) {
		var registered, blocked int
		for d := range roots.All() {
			switch {
			case d.Blocked:
				blocked++
			case d.Source.Registered():
				registered++
			}
		}
		if registered != 3 || blocked != 3 {
			t.Errorf("%d registered and %d blocked roots", registered, blocked)
		}
	})
}

// TestDenialReach blocks and revokes one thing, and looks at what is not meant.
func TestDenialReach(t *testing.T) {
	block := func(root string) func(*dvs.Roots) error {
		return func(r *dvs.Roots) error { _, err := r.Block(root); return err }
	}
	for name, c := range map[string]struct {
		deny   func(*dvs.Roots) error
		url    string
		denied bool
	}{
		"A32/accept-above-the-block":              {block("https://shop.example/s/skill.md/x/"), "https://shop.example/s/SKILL.md", false},
		"A32/reject-same-revision-on-a-mirror":    {block("https://github.com/o/r/blob/v1/"), "https://cdn.jsdelivr.net/gh/o/r@v1/a/SKILL.md", true},
		"A32/accept-other-revision-on-a-mirror":   {block("https://github.com/o/r/blob/v1/"), "https://cdn.jsdelivr.net/gh/o/r@v2/a/SKILL.md", false},
		"A32/accept-gist-file-named-head":         {block("https://gist.github.com/u/0123456789abcdef/raw/head/"), "https://gist.github.com/u/0123456789abcdef/raw/SKILL.md", false},
		"A32/accept-sign-of-no-revision":          {block("https://medium.com/o/x/"), "https://medium.com/o/x@y/SKILL.md", false},
		"A32/accept-name-of-more-blanks":          {block("https://shop.example/%20/"), "https://shop.example/%20%20/SKILL.md", false},
		"A32/reject-bucket-at-another-region":     {block("https://objectstorage.us-ashburn-1.oraclecloud.com/n/t/b/b/"), "https://objectstorage.eu-frankfurt-1.oraclecloud.com/n/t/b/b/o/SKILL.md", true},
		"A32/reject-full-name-of-a-branch":        {block("https://github.com/o/r/blob/refs/heads/main/"), "https://github.com/o/r/blob/main/a/SKILL.md", true},
		"A32/reject-short-name-of-a-branch":       {block("https://github.com/o/r/blob/heads/main/"), "https://github.com/o/r/blob/main/a/SKILL.md", true},
		"A32/reject-version-of-a-scoped-package":  {block("https://unpkg.com/@org/pkg/"), "https://unpkg.com/@org/pkg@1.2.3/SKILL.md", true},
		"A32/reject-head-of-a-mirror":             {block("https://github.com/o/r/blob/v1/"), "https://cdn.jsdelivr.net/gh/o/r/a/SKILL.md", true},
		"DVS-7-03/reject-the-host-of-a-publisher": {func(r *dvs.Roots) error { return r.RevokeDomain("evil-org.github.io", false) }, "https://evil-org.github.io/r/a/SKILL.md", true},
		"DVS-7-03/accept-namesake-elsewhere":      {func(r *dvs.Roots) error { return r.RevokeDomain("evil-org.github.io", false) }, "https://gitlab.com/evil-org/r/-/raw/main/a/SKILL.md", false},
		"DVS-7-03/accept-namesake-in-a-label":     {func(r *dvs.Roots) error { return r.RevokeDomain("evil.substack.com", false) }, "https://evil-x.hf.space/a/SKILL.md", false},
		"DVS-7-03/accept-another-publisher":       {func(r *dvs.Roots) error { return r.RevokeDomain("evil-org.github.io", false) }, "https://github.com/good-org/r/blob/main/a/SKILL.md", false},
	} {
		t.Run(name, func(t *testing.T) {
			roots := dvs.NewRoots(dvs.Rules{})
			if err := c.deny(roots); err != nil {
				t.Fatal(err)
			}
			if d := roots.Find(skillURL(t, c.url)); (d.Blocked || d.Revoked) != c.denied {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// TestDenialOfJoinedNames blocks one thing of a platform whose hosts are named after a publisher and
// a repository.
func TestDenialOfJoinedNames(t *testing.T) {
	const at = "https://evil-x.sites.example.org/"
	platform := dvs.Platform{Name: "sites", Hosts: []string{"a.example.org"}, Owner: 1, Subdomains: []string{"sites.example.org"}, Joined: true}
	notes := dvs.Platform{Name: "notes", Hosts: []string{"b.example.org"}, Owner: 1, Of: "a.example.org#notes"}
	for name, c := range map[string]struct {
		block, url string
		blocked    bool
	}{
		"reject-publisher":                   {"https://a.example.org/evil/", at, true},
		"accept-repository":                  {"https://a.example.org/evil/repo/", at + "repo/a.md", false},
		"reject-host-of-a-publisher":         {"https://huggingface.co/spaces/evil/", "https://evil-x.hf.space/", true},
		"accept-host-of-another-publisher":   {"https://huggingface.co/spaces/evil/", "https://evilx-x.hf.space/", false},
		"accept-other-content":               {"https://b.example.org/evil/", at, false},
		"reject-host-that-was-one-publisher": {"https://a.example.org/", at + "x/a.md", true},
	} {
		t.Run("A32/"+name, func(t *testing.T) {
			roots := dvs.NewRoots(dvs.Rules{})
			deny := func() {
				if _, err := roots.Block(c.block); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasSuffix(name, "-was-one-publisher") { // it is blocked before the platform is known
				deny()
			}
			for _, p := range []dvs.Platform{platform, notes} {
				if _, err := roots.AddPlatform(p); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.HasSuffix(name, "-was-one-publisher") {
				deny()
			}
			u, err := dvs.ParseArtifactURL(c.url, dvs.SingleFile, roots.Rules())
			if err != nil || roots.Find(u).Blocked != c.blocked {
				t.Errorf("%+v, %v", roots.Find(u), err)
			}
		})
	}
}

// TestRevokedExactly: a file at the path of a revoked root is revoked too.
func TestRevokedExactly(t *testing.T) {
	roots := dvs.NewRoots(dvs.Rules{})
	root, err := dvs.ParseTrustRoot("https://shop.example/a/", dvs.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	roots.Revoke(root)
	for path, want := range map[string]bool{"a": true, "A": true, "a/b": true, "ab": false, "b": false} {
		u, err := dvs.ParseArtifactURL("https://shop.example/"+path, dvs.SingleFile, dvs.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if got := roots.Find(u).Revoked; got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestRootsInOrder: a name for every source, what a new platform leaves of the roots of a host, and
// which of two blocks of one publisher is shown.
func TestRootsInOrder(t *testing.T) {
	if s := dvs.RootSource(6).String(); s != dvs.Undeclared.String() || dvs.SkillOnly.String() == s {
		t.Error(s)
	}
	roots := registry(t, "https://forge.example.org/about/us/", "https://forge.example.org/a/")
	dropped, err := roots.AddPlatform(dvs.Platform{Name: "forge", Hosts: []string{"forge.example.org"}, Owner: 1, Reserved: []string{"about"}})
	if err != nil || len(dropped) != 1 || dropped[0].String() != "https://forge.example.org/about/us/" {
		t.Errorf("%v, %v", dropped, err)
	}
	u, err := dvs.ParseSkillURL("https://forge.example.org/a/SKILL.md", roots.Rules())
	if err != nil || !roots.Find(u).Source.Registered() {
		t.Errorf("%s, %v", u, err)
	}
	for _, block := range []string{"https://codeberg.org/Acme/", "https://codeberg.org/acme/"} {
		if _, err := roots.Block(block); err != nil {
			t.Fatal(err)
		}
	}
	if d := roots.Find(skillURL(t, "https://codeberg.org/acme/r/src/branch/main/SKILL.md")); !d.Blocked || d.Root.String() != "https://codeberg.org/Acme/" {
		t.Errorf("%+v", d)
	}
}

// TestRootsKeepTheirRules changes a registry in every way: the rules that it was made with stay.
func TestRootsKeepTheirRules(t *testing.T) {
	for name, change := range map[string]func(*dvs.Roots) error{
		"register": func(r *dvs.Roots) error { _, err := r.Register("https://intranet/a/", dvs.ByHost); return err },
		"block":    func(r *dvs.Roots) error { _, err := r.Block("https://intranet/a/"); return err },
		"revoke": func(r *dvs.Roots) error {
			root, err := dvs.ParseTrustRoot("https://intranet/a/", r.Rules())
			r.Revoke(root)
			return err
		},
		"revoke-domain": func(r *dvs.Roots) error { return r.RevokeDomain("other-intranet", true) },
		"unregister":    func(r *dvs.Roots) error { r.Unregister(dvs.TrustRoot{}); return nil },
		"add-platform": func(r *dvs.Roots) error {
			_, err := r.AddPlatform(dvs.Platform{Name: "ours", Hosts: []string{"git.example.org"}, Owner: 1})
			return err
		},
	} {
		t.Run("DVS-1-05/accept-rules-stay-after-"+name, func(t *testing.T) {
			rules := dvs.Rules{AllowQuery: true, MaxURL: 100, InsecureAllowLocalhost: true}
			roots := dvs.NewRoots(rules)
			if err := change(roots); err != nil {
				t.Fatal(err)
			}
			if got := roots.Rules(); got.AllowQuery != rules.AllowQuery || got.MaxURL != rules.MaxURL || got.InsecureAllowLocalhost != rules.InsecureAllowLocalhost {
				t.Errorf("got %+v", got)
			}
			if _, err := roots.Register("https://intranet/b/", dvs.ByHost); err != nil {
				t.Errorf("the next one is refused: %v", err)
			}
		})
	}
}

// TestRootsRefuse has entries that a registry does not take. The registry stays as it was.
func TestRootsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dvs.Roots) error
		want   lookleap.Code
	}{
		"register-platform":      {func(r *dvs.Roots) error { _, err := r.Register("https://github.com/", dvs.ByHost); return err }, dvs.CodeUGCBareRoot},
		"register-as-default":    {func(r *dvs.Roots) error { _, err := r.Register("https://a.example/", dvs.DefaultOrigin); return err }, lookleap.CodeUsage},
		"block-http":             {func(r *dvs.Roots) error { _, err := r.Block("http://a.example/"); return err }, lookleap.CodeNotHTTPS},
		"revoke-host":            {func(r *dvs.Roots) error { return r.RevokeDomain("a b", true) }, lookleap.CodeBadHost},
		"platform-without-hosts": {func(r *dvs.Roots) error { _, err := r.AddPlatform(dvs.Platform{Name: "x"}); return err }, "bad-platform"},
	} {
		t.Run("DVS-1-05/reject-"+name, func(t *testing.T) {
			roots := registry(t, "https://a.example/")
			if err := c.change(roots); lookleap.CodeOf(err) != c.want {
				t.Errorf("got %v", err)
			}
			if d := roots.Find(skillURL(t, "https://a.example/s/SKILL.md")); d.Source != dvs.ByHost || d.Blocked || d.Revoked {
				t.Errorf("the registry has changed: %+v", d)
			}
			if err := c.change(nil); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("no registry: %v", err)
			}
		})
	}
	t.Run("DVS-1-05/reject-unknown-source", func(t *testing.T) {
		source := dvs.ByUser
		if err := source.UnmarshalText([]byte("declared by the moon")); lookleap.CodeOf(err) != lookleap.CodeUsage || source != dvs.ByUser {
			t.Errorf("got %v, %v", source, err)
		}
	})
}
