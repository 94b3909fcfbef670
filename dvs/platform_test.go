package dvs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestBuiltinPlatforms(t *testing.T) {
	for _, host := range []string{
		"github.com", "gist.github.com", "raw.githubusercontent.com", "gist.githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com",
		"git.sr.ht", "huggingface.co", "hf.co", "cdn.jsdelivr.net", "unpkg.com", "esm.sh", "deno.land", "storage.googleapis.com", "firebasestorage.googleapis.com",
		"sites.google.com", "medium.com", "dev.to", "replit.com", "sourceforge.net", "gitee.com", "kaggle.com", "www.github.com", "www.huggingface.co",
		"pypi.org", "crates.io", "docs.rs", "pub.dev", "open-vsx.org", "ghcr.io", "hub.docker.com", "civitai.com", "zenodo.org", "salsa.debian.org", "framagit.org", "gitlab.freedesktop.org", "gitlab.gnome.org", "invent.kde.org", "hg.sr.ht", "storage.cloud.google.com",
	} {
		t.Run("DVS-3.1-34/reject-"+host, func(t *testing.T) {
			if root, err := dvs.ParseTrustRoot("https://"+host+"/", dvs.Rules{}); lookleap.CodeOf(err) != dvs.CodeUGCBareRoot || !root.IsZero() {
				t.Errorf("got %s, %v", root, err)
			}
		})
	}
	t.Run("DVS-3.1-34/reject-media.githubusercontent.com", func(t *testing.T) {
		for _, path := range []string{"/", "/media/o/r/main/"} {
			if _, err := dvs.ParseTrustRoot("https://media.githubusercontent.com"+path, dvs.Rules{}); lookleap.CodeOf(err) != "never-trusted-host" {
				t.Errorf("got %v", err)
			}
		}
	})
	for _, host := range []string{"raw.github.com", "api.github.com", "codeload.github.com", "cdn-lfs.huggingface.co", "cas-bridge.xethub.hf.co", "api.bitbucket.org", "paste.sr.ht", "lists.sr.ht", "raw.gitmirror.com"} {
		t.Run("DVS-3.1-38/reject-"+host, func(t *testing.T) {
			if _, err := dvs.ParseSkillURL("https://"+host+"/o/r/SKILL.md", dvs.Rules{}); lookleap.CodeOf(err) != "never-trusted-host" {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("DVS-3.1-34/accept-owner", func(t *testing.T) {
		for _, root := range []string{"https://github.com/o/", "https://raw.githubusercontent.com/o/", "https://cdn.jsdelivr.net/gh/o/", "https://deno.land/x/m/", "https://git.sr.ht/~o/", "https://replit.com/@o/",
			"https://firebasestorage.googleapis.com/v0/b/bucket/", "https://sites.google.com/view/site/", "https://kaggle.com/datasets/o/"} {
			if _, err := dvs.ParseTrustRoot(root, dvs.Rules{}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("DVS-3.1-34/accept-valid-entries", func(t *testing.T) {
		for e := range dvs.Builtin().All() {
			if _, err := new(dvs.Platforms).With(e); err != nil {
				t.Error(err)
			}
		}
	})
	for _, p := range []struct{ id, root, code string }{
		{"reject-jsdelivr-word", "https://cdn.jsdelivr.net/combine/gh/", "reserved-segment"},
		{"reject-jsdelivr-short", "https://cdn.jsdelivr.net/gh/", "ugc-root-too-short"},
		{"reject-sourcehut-word", "https://git.sr.ht/projects/", "reserved-segment"},
		{"reject-firebase-short", "https://firebasestorage.googleapis.com/v0/b/", "ugc-root-too-short"},
	} {
		t.Run("DVS-3.1-32/"+p.id, func(t *testing.T) {
			if _, err := dvs.ParseTrustRoot(p.root, dvs.Rules{}); string(lookleap.CodeOf(err)) != p.code {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPlatformTable holds every entry of the table to what it says.
func TestPlatformTable(t *testing.T) {
	host := func(pattern string) string { return strings.ReplaceAll(pattern, "*", "x1") }
	below := func(s dvs.Scope, depth int) string { // a path below the words of a scope
		words := strings.Count(s.Word, "/") + 1
		if strings.HasSuffix(s.Word, ":") {
			words = 0
		}
		return strings.Replace("/"+s.Word+strings.Repeat("/o1", depth-words)+"/", ":/o1", ":o1", 1)
	}
	for p := range dvs.Builtin().All() {
		t.Run("O43/reject-"+p.Name, func(t *testing.T) {
			for _, name := range p.Hosts {
				want := dvs.CodeUGCBareRoot
				if role, ok := dvs.Builtin().Lookup(host(name)); !ok {
					t.Errorf("%s is not found", name)
				} else if role.Never {
					want = "never-trusted-host"
				}
				for _, root := range []string{"https://" + host(name) + "/", "https://" + host(name) + ":8443", "https://" + strings.ToUpper(host(name))} {
					if got, err := dvs.ParseTrustRoot(root, dvs.Rules{}); lookleap.CodeOf(err) != want || !got.IsZero() {
						t.Errorf("%s: got %s, %v", root, got, err)
					}
				}
			}
			for _, name := range p.Subdomains {
				if got, err := dvs.ParseTrustRoot("https://"+host(name)+"/", dvs.Rules{}); err == nil {
					t.Errorf("%s: got %s", name, got)
				}
			}
			for _, word := range slices.Concat(p.Reserved, p.Skip) {
				root := "https://" + host(append(p.Hosts, "")[0]) + "/" + strings.ReplaceAll(word, "#", "12") + "/"
				if got, err := dvs.ParseTrustRoot(root, dvs.Rules{}); err == nil {
					t.Errorf("%s: got %s", root, got)
				}
			}
			for _, s := range p.Below {
				root := "https://" + host(p.Hosts[0]) + below(s, s.Owner-1)
				if got, err := dvs.ParseTrustRoot(root, dvs.Rules{}); err == nil {
					t.Errorf("%s: got %s", root, got)
				}
			}
		})
		t.Run("O43/accept-"+p.Name, func(t *testing.T) {
			var roots []string
			if p.Owner > 0 && len(p.Hosts) > 0 {
				roots = append(roots, "https://"+host(p.Hosts[0])+"/"+p.Prefix+"o1"+strings.Repeat("/o2", p.Owner-1)+"/")
			}
			for _, s := range p.Below {
				roots = append(roots, "https://"+host(p.Hosts[0])+below(s, s.Owner))
			}
			if p.Never {
				roots = nil
			}
			for _, name := range p.Subdomains {
				roots = append(roots, "https://tenant."+host(name)+"/")
			}
			for _, root := range roots {
				if got, err := dvs.ParseTrustRoot(root, dvs.Rules{}); err != nil || got.String() != root {
					t.Errorf("%s: got %s, %v", root, got, err)
				}
			}
		})
	}
}

// TestReviewedTable holds the table to the version that was reviewed on its date: no entry, host or
// word comes or goes unnoticed.
func TestReviewedTable(t *testing.T) {
	for _, c := range []struct {
		id, digest string
		of         func(dvs.Platform) any
	}{
		{"DVS-3.1-34/accept-reviewed-owners", "71efa4da20b62ad82928c0664c0e9398930f271a449b53dd0cbfa3d9050ad70d", func(p dvs.Platform) any {
			return []any{p.Name, p.Hosts, p.Aliases, p.Never, p.Owner, p.Below, p.Skip, p.Prefix, p.Fold, p.AtRef, p.Files, p.Forge, p.Of}
		}},
		{"DVS-3.1-36/accept-reviewed-subdomains", "c359790bd8d77f9c0438b154ff1de7ca890b2a3cf26d873dc2eacc43b65ce1a8", func(p dvs.Platform) any { return []any{p.Subdomains, p.Joined} }},
		{"DVS-3.1-38/accept-reviewed-hosts", "b085150c659a87255a46df1ace8cc6239ca1ce1bd618dbc9941d69d18cbb39e2", func(p dvs.Platform) any { return []any{p.Never, p.Hosts} }},
		{"DVS-3.1-41/accept-reviewed-words", "585fb69157c2ce9957e4694427edc796d5011676796c94308411716c128e389b", func(p dvs.Platform) any { return []any{p.Hosts, p.Reserved} }},
		{"DVS-3.1-48/accept-reviewed-routes", "f4c001b839ea42f4840f06b4a94a508821d1826bd3b870f7be47ca521e174b4d", func(p dvs.Platform) any { return []any{p.Hosts, p.Source} }},
	} {
		t.Run(c.id, func(t *testing.T) {
			parts := []any{dvs.PlatformsDate}
			for p := range dvs.Builtin().All() {
				parts = append(parts, c.of(p))
			}
			data, err := json.Marshal(parts)
			if got := dvs.DigestOf(data).String(); err != nil || got != "sha256:"+c.digest {
				t.Errorf("the table has changed: set PlatformsDate to the day of the review, and here %s (%v)", got, err)
			}
		})
	}
}

// TestPathPlatforms is the root that a skill has on platforms that tell their
// publishers apart by the path: the publisher's, or none.
func TestPathPlatforms(t *testing.T) {
	for _, c := range []struct{ name, url, want string }{
		{"accept-esm-package", "https://esm.sh/pkg/SKILL.md", "https://esm.sh/pkg/"},
		{"accept-esm-build", "https://esm.sh/v135/pkg/SKILL.md", "https://esm.sh/v135/pkg/"},
		{"accept-esm-stable", "https://esm.sh/stable/pkg@1.0.0/SKILL.md", "https://esm.sh/stable/pkg@1.0.0/"},
		{"accept-esm-github", "https://esm.sh/v135/gh/o/r@v1/SKILL.md", "https://esm.sh/v135/gh/o/"},
		{"accept-esm-two-builds", "https://esm.sh/v135/stable/pkg/SKILL.md", "https://esm.sh/v135/stable/pkg/"},
		{"reject-esm-build-alone", "https://esm.sh/v135/SKILL.md", "not-a-root"},
		{"reject-gist-githack", "https://gist.githack.com/u/0123456789/raw/SKILL.md", "never-trusted-host"},
		{"reject-gitlab-githack", "https://glcdn.githack.com/g/p/raw/main/SKILL.md", "never-trusted-host"},
		{"reject-any-githack", "https://srhtcdn.githack.com/o/r/SKILL.md", "never-trusted-host"},
		{"accept-common-data-storage", "https://commondatastorage.googleapis.com/bucket/x/SKILL.md", "https://commondatastorage.googleapis.com/bucket/"},
		{"accept-clawhub", "https://clawhub.ai/o/skill/SKILL.md", "https://clawhub.ai/o/"},
		{"reject-skills-sh", "https://skills.sh/o/r/skill/SKILL.md", "never-trusted-host"},
		{"accept-azure-devops", "https://dev.azure.com/org/project/_git/r/SKILL.md", "https://dev.azure.com/org/"},
		{"accept-modelscope", "https://modelscope.cn/models/org/m/SKILL.md", "https://modelscope.cn/models/org/"},
		{"accept-modelscope-www", "https://www.modelscope.cn/datasets/org/m/SKILL.md", "https://modelscope.cn/datasets/org/"},
		{"accept-gitcode", "https://gitcode.com/acme/r/SKILL.md", "https://gitcode.com/acme/"},
		{"reject-discord", "https://cdn.discordapp.com/attachments/1/2/SKILL.md", "never-trusted-host"},
		{"accept-cloudinary", "https://res.cloudinary.com/cloud/raw/upload/SKILL.md", "https://res.cloudinary.com/cloud/"},
		{"accept-s3-region", "https://s3.eu-central-1.amazonaws.com/bucket/SKILL.md", "https://s3.eu-central-1.amazonaws.com/bucket/"},
		{"accept-s3-new-region", "https://s3.xx-new-9.amazonaws.com/bucket/SKILL.md", "https://s3.xx-new-9.amazonaws.com/bucket/"},
		{"accept-s3-dashed-region", "https://s3-us-west-2.amazonaws.com/bucket/SKILL.md", "https://s3-us-west-2.amazonaws.com/bucket/"},
		{"accept-s3-dualstack", "https://s3.dualstack.us-east-1.amazonaws.com/bucket/SKILL.md", "https://s3.dualstack.us-east-1.amazonaws.com/bucket/"},
		{"accept-s3-bucket-host", "https://bucket.s3.eu-central-1.amazonaws.com/SKILL.md", "https://bucket.s3.eu-central-1.amazonaws.com/"},
		{"accept-s3-china", "https://s3.cn-north-1.amazonaws.com.cn/bucket/SKILL.md", "https://s3.cn-north-1.amazonaws.com.cn/bucket/"},
		{"accept-backblaze", "https://f004.backblazeb2.com/file/bucket/SKILL.md", "https://f004.backblazeb2.com/file/bucket/"},
		{"accept-backblaze-s3", "https://s3.us-west-004.backblazeb2.com/bucket/SKILL.md", "https://s3.us-west-004.backblazeb2.com/bucket/"},
		{"reject-backblaze-interface", "https://api001.backblazeb2.com/b2api/SKILL.md", "not-a-root"},
		{"accept-wasabi", "https://s3.eu-central-1.wasabisys.com/bucket/SKILL.md", "https://s3.eu-central-1.wasabisys.com/bucket/"},
		{"accept-aliyun", "https://oss-cn-hangzhou.aliyuncs.com/bucket/SKILL.md", "https://oss-cn-hangzhou.aliyuncs.com/bucket/"},
		{"accept-aliyun-bucket-host", "https://bucket.oss-cn-hangzhou.aliyuncs.com/SKILL.md", "https://bucket.oss-cn-hangzhou.aliyuncs.com/"},
		{"accept-oracle", "https://objectstorage.us-ashburn-1.oraclecloud.com/n/tenancy/b/bucket/o/SKILL.md", "https://objectstorage.us-ashburn-1.oraclecloud.com/n/tenancy/b/bucket/"},
		{"reject-oracle-preauthenticated", "https://objectstorage.us-ashburn-1.oraclecloud.com/p/token/n/t/b/b/o/SKILL.md", "not-a-root"},
		{"accept-pypi", "https://pypi.org/project/acme/SKILL.md", "https://pypi.org/project/acme/"},
		{"accept-crates", "https://static.crates.io/crates/acme/SKILL.md", "https://static.crates.io/crates/acme/"},
		{"accept-docs-rs", "https://docs.rs/acme/latest/SKILL.md", "https://docs.rs/acme/"},
		{"accept-zenodo", "https://zenodo.org/records/123/files/SKILL.md", "https://zenodo.org/records/123/"},
		{"accept-open-vsx", "https://open-vsx.org/api/acme/tool/SKILL.md", "https://open-vsx.org/api/acme/"},
		{"accept-jspm", "https://ga.jspm.io/npm:@acme/pkg@1.0.0/SKILL.md", "https://ga.jspm.io/npm:@acme/"},
		{"reject-jspm-no-name", "https://ga.jspm.io/npm:/pkg/SKILL.md", "reserved-segment"},
		{"reject-pypi-other", "https://pypi.org/acme/SKILL.md", "reserved-segment"},
		{"reject-claude-artifact", "https://claude.ai/public/artifacts/SKILL.md", "never-trusted-host"},
		{"reject-v0", "https://v0.dev/chat/SKILL.md", "never-trusted-host"},
		{"reject-codesandbox", "https://codesandbox.io/s/SKILL.md", "never-trusted-host"},
		{"reject-notion", "https://www.notion.so/acme/SKILL.md", "never-trusted-host"},
		{"reject-uploads", "https://utfs.io/f/SKILL.md", "never-trusted-host"},
		{"reject-uploads-of-sites", "https://cdn.prod.website-files.com/5f/SKILL.md", "never-trusted-host"},
		{"reject-collection", "https://prompts.chat/skills/SKILL.md", "never-trusted-host"},
		{"reject-proxy", "https://cors-anywhere.herokuapp.com/x/SKILL.md", "never-trusted-host"},
		{"accept-tebi", "https://s3.tebi.io/acme/SKILL.md", "https://s3.tebi.io/acme/"},
		{"reject-esm-variant-without-name", "https://esm.sh/*/SKILL.md", "reserved-segment"},
		{"reject-wiki", "https://acme.fandom.com/wiki/SKILL.md", "never-trusted-host"},
		{"accept-github-pages", "https://alice.github.io/x/SKILL.md", "https://alice.github.io/"},
	} {
		t.Run("O43/"+c.name, func(t *testing.T) {
			u, err := dvs.ParseSkillURL(c.url, dvs.Rules{})
			got := string(lookleap.CodeOf(err))
			if err == nil {
				root, _, err := dvs.DefaultRoot(u, dvs.Rules{})
				if got = root.String(); err != nil {
					got = "not-a-root"
				} else if !root.Covers(u) {
					t.Errorf("%s does not cover its skill", root)
				}
			}
			if got != c.want && (c.want != "not-a-root" || err == nil && got != "not-a-root") {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestTenants is about platforms that give each publisher a host.
func TestTenants(t *testing.T) {
	for _, root := range []string{"https://claude.app/", "https://codepen.app/", "https://codepen.dev/", "https://CLAUDE.app:8443",
		"https://glitch.me/", "https://tiiny.site/", "https://webcontainer.io/", "https://stackblitz.io/", "https://gradio.live/", "https://modal.run/", "https://coze.site/",
		"https://kimi.page/", "https://genspark.space/", "https://app.github.dev/", "https://devtunnels.ms/", "https://euw.devtunnels.ms/", "https://loca.lt/", "https://neocities.org/",
		"https://ghost.io/", "https://zendesk.com/", "https://weebly.com/", "https://mystrikingly.com/", "https://substack.com/", "https://atlassian.net/"} {
		t.Run("O25/reject-"+root, func(t *testing.T) {
			if got, err := dvs.ParseTrustRoot(root, dvs.Rules{}); lookleap.CodeOf(err) != "public-suffix-host" {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
	t.Run("O25/accept-two-parties", func(t *testing.T) {
		a, err := dvs.ParseTrustRoot("https://a.codepen.app/", dvs.Rules{})
		if b := skillURL(t, "https://b.codepen.app/SKILL.md"); err != nil || a.Covers(b) || !a.Covers(skillURL(t, "https://a.codepen.app/SKILL.md")) {
			t.Errorf("%s, %v", a, err)
		}
	})
	t.Run("O25/accept-date", func(t *testing.T) {
		if _, err := time.Parse(time.DateOnly, lookleap.PublicSuffixDate); err != nil || lookleap.PublicSuffixDate < "2026-08-12" {
			t.Errorf("%s, %v", lookleap.PublicSuffixDate, err)
		}
	})
	t.Run("O25/reject-by-the-list-of-one-registry", func(t *testing.T) {
		list, err := lookleap.ReadPublicSuffixList(strings.NewReader("// ===BEGIN PRIVATE DOMAINS===\npages.example.net\n// ===END PRIVATE DOMAINS===\n"))
		if err != nil {
			t.Fatal(err)
		}
		with, without := dvs.NewRoots(dvs.Rules{PublicSuffix: list}), dvs.NewRoots(dvs.Rules{})
		if _, err := with.Register("https://pages.example.net/", dvs.ByUser); lookleap.CodeOf(err) != "public-suffix-host" {
			t.Error(err)
		}
		if _, err := with.Register("https://a.pages.example.net/", dvs.ByUser); err != nil {
			t.Error(err)
		}
		if _, err := without.Register("https://pages.example.net/", dvs.ByUser); err != nil {
			t.Error(err) // another list of this process does not bind it
		}
		if _, err := with.Register("https://github.io/", dvs.ByUser); lookleap.CodeOf(err) != "public-suffix-host" {
			t.Error("the built-in list does not hold any more:", err)
		}
		if _, err := with.AddPlatform(dvs.Platform{Name: "new", Subdomains: []string{"sites.example.org"}}); err != nil || with.Rules().PublicSuffix == nil {
			t.Error("the list was lost:", err)
		}
	})
	t.Run("O25/reject-added-by-the-host-program", func(t *testing.T) {
		roots := registry(t, "https://pages.example.net/", "https://a.pages.example.net/")
		dropped, err := roots.AddPlatform(dvs.Platform{Name: "new", Subdomains: []string{"pages.example.net"}})
		if err != nil || len(dropped) != 1 || dropped[0].String() != "https://pages.example.net/" {
			t.Errorf("%v, %v", dropped, err)
		}
		if d := roots.Find(skillURL(t, "https://a.pages.example.net/SKILL.md")); !d.Source.Registered() {
			t.Errorf("the tenant's root is %s", d.Source)
		}
		if _, err := roots.Register("https://pages.example.net", dvs.ByUser); lookleap.CodeOf(err) != "public-suffix-host" {
			t.Error(err)
		}
	})
	for name, p := range map[string]dvs.Platform{
		"reject-all-below-what-is-never":     {Name: "x", Hosts: []string{"*.githubusercontent.com"}, Owner: 1},
		"reject-pattern-below-what-is-never": {Name: "x", Hosts: []string{"git*.sr.ht"}, Owner: 1},
		"reject-pattern-without-end":         {Name: "x", Hosts: []string{"git.*"}, Owner: 1},
		"reject-tenants-of-what-is-never":    {Name: "x", Subdomains: []string{"huggingface.co"}},
		"reject-build-prefix":                {Name: "x", Hosts: []string{"esm.sh"}, Owner: 1},
	} {
		t.Run("O43/"+name, func(t *testing.T) {
			if _, err := dvs.Builtin().With(p); err == nil {
				t.Error("the table was relaxed")
			}
		})
	}
	t.Run("O43/reject-all-tenants-by-the-host-program", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "x", Hosts: []string{"*.github.io"}, Never: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dvs.ParseTrustRoot("https://alice.github.io/", dvs.Rules{Platforms: table}); lookleap.CodeOf(err) != "never-trusted-host" {
			t.Error(err)
		}
	})
	t.Run("O43/reject-registry-below-an-added-suffix", func(t *testing.T) {
		table, err := dvs.Builtin().With(dvs.Platform{Name: "x", Subdomains: []string{"co.uk"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dvs.ParseTrustRoot("https://co.uk/path/", dvs.Rules{Platforms: table}); lookleap.CodeOf(err) != "public-suffix-host" {
			t.Error(err)
		}
	})
}

// TestForges has code hosts whose routes are not known, and hosts where a path leads to what anyone
// published.
func TestForges(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	claim := func(url string) lookleap.Code {
		u, err := dvs.ParseSkillURL(url, dvs.Rules{})
		if err != nil {
			return lookleap.CodeOf(err)
		}
		root, _, err := dvs.DefaultRoot(u, dvs.Rules{})
		if err != nil {
			return lookleap.CodeOf(err)
		}
		return dvs.Decide(dvs.Claim{URL: url, Root: root.String(), Source: dvs.ByHost}, dvs.Evidence{}, noon, dvs.Rules{}).Code
	}
	t.Run("P18", func(t *testing.T) {
		for name, c := range map[string]struct {
			url  string
			code lookleap.Code
		}{
			"reject-unpkg-browse":          {"https://unpkg.com/browse/pkg@1/SKILL.md", "reserved-segment"},
			"reject-unpkg-pages-browse":    {"https://app.unpkg.com/browse/pkg@1/SKILL.md", "reserved-segment"},
			"reject-gitcode-commit":        {"https://gitcode.com/o/r/blob/" + commit + "/SKILL.md", dvs.CodeCommitRef},
			"reject-gitcode-raw-commit":    {"https://raw.gitcode.com/o/r/raw/" + commit + "/SKILL.md", dvs.CodeCommitRef},
			"reject-gitcode-short-commit":  {"https://gitcode.com/o/r/blob/0123456/SKILL.md", dvs.CodeCommitRef},
			"reject-gitcode-merge-request": {"https://gitcode.com/o/r/blob/refs/merge-requests/7/head/SKILL.md", "untrusted-ref"},
			"reject-gitcode-short-merge":   {"https://raw.gitcode.com/o/r/raw/merge_requests/7/SKILL.md", "untrusted-ref"},
			"reject-atomgit-commit":        {"https://atomgit.com/o/r/blob/" + commit + "/SKILL.md", dvs.CodeCommitRef},
			"reject-cnb-pull":              {"https://cnb.cool/o/r/-/git/raw/refs/pull/7/SKILL.md", "untrusted-ref"},
			"reject-gerrit-change":         {"https://chromium.googlesource.com/r/+/refs/changes/12/3412/1/SKILL.md", "untrusted-ref"},
			"reject-gerrit-commit":         {"https://chromium.googlesource.com/r/+/" + commit + "/SKILL.md", dvs.CodeCommitRef},
			"reject-pagure-pull":           {"https://pagure.io/project/raw/refs/pull/7/head/SKILL.md", "untrusted-ref"},
			"reject-notabug-commit":        {"https://notabug.org/o/r/raw/" + commit + "/SKILL.md", dvs.CodeCommitRef},
			"reject-gitverse-expression":   {"https://gitverse.ru/o/r/raw/main%5E2/SKILL.md", dvs.CodeCommitRef},
			"accept-gitcode-branch":        {"https://gitcode.com/o/r/blob/main/SKILL.md", lookleap.CodeUnreachable},
			"accept-gitcode-qualified":     {"https://gitcode.com/o/r/blob/refs/heads/main/SKILL.md", lookleap.CodeUnreachable},
			"accept-gerrit-branch":         {"https://chromium.googlesource.com/r/+/refs/heads/main/SKILL.md", lookleap.CodeUnreachable},
			"accept-unpkg-package":         {"https://unpkg.com/pkg@1.2.0/SKILL.md", lookleap.CodeUnreachable},
		} {
			t.Run(name, func(t *testing.T) {
				if got := claim(c.url); got != c.code {
					t.Errorf("got %s, want %s", got, c.code)
				}
			})
		}
	})
}
