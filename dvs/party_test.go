package dvs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestDenied is a root that is blocked or revoked, and another spelling of what
// lies below it.
func TestDenied(t *testing.T) {
	for _, c := range []struct{ name, root, url string }{
		{"reject-github-case", "https://github.com/Evil/", "https://github.com/evIL/r/blob/main/SKILL.md"},
		{"reject-github-path-case", "https://github.com/evil/r/blob/main/Bad/", "https://github.com/evil/r/blob/main/bad/SKILL.md"},
		{"reject-github-www", "https://github.com/evil/", "https://www.github.com/evil/r/blob/main/SKILL.md"},
		{"reject-github-raw", "https://github.com/evil/r/", "https://raw.githubusercontent.com/Evil/R/main/SKILL.md"},
		{"reject-github-from-raw", "https://raw.githubusercontent.com/evil/", "https://github.com/evil/r/tree/main"},
		{"reject-github-qualified", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/refs/heads/main/bad/SKILL.md"},
		{"reject-github-from-qualified", "https://github.com/evil/r/blob/refs/heads/main/bad/", "https://raw.githubusercontent.com/evil/r/main/bad/SKILL.md"},
		{"reject-github-tag", "https://github.com/evil/r/blob/v1/bad/", "https://github.com/evil/r/blob/refs/tags/v1/bad/SKILL.md"},
		{"reject-github-head", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/HEAD/bad/SKILL.md"},
		{"reject-github-from-head", "https://github.com/evil/r/blob/HEAD/bad/", "https://github.com/evil/r/blob/main/bad/SKILL.md"},
		{"reject-github-repository", "https://github.com/evil/r/blob/main/", "https://github.com/evil/r"},
		{"reject-github-suffix", "https://github.com/evil/r/", "https://github.com/evil/r.git/blob/main/SKILL.md"},
		{"reject-github-gist", "https://github.com/evil/", "https://gist.github.com/evil/0123456789abcdef"},
		{"reject-github-pages", "https://github.com/evil/", "https://evil.github.io/skills/SKILL.md"},
		{"reject-sourcehut-pages", "https://git.sr.ht/~evil/", "https://evil.srht.site/skills/SKILL.md"},
		{"reject-sourcehut-pages-case", "https://git.sr.ht/~Evil/", "https://evil.srht.site/SKILL.md"},
		{"accept-sourcehut-pages-of-another", "https://git.sr.ht/~evil/", "https://evil2.srht.site/SKILL.md"},
		{"accept-sourcehut-repository", "https://git.sr.ht/~evil/r/", "https://evil.srht.site/r/SKILL.md"},
		{"accept-sourcehut-repository-of-pages", "https://evil.srht.site/", "https://git.sr.ht/~evil/r/tree/main/item/SKILL.md"},
		{"reject-space", "https://huggingface.co/evil/", "https://evil-space.hf.space/SKILL.md"},
		{"reject-space-static", "https://huggingface.co/evil/", "https://evil-space.static.hf.space/SKILL.md"},
		{"reject-space-of-signs", "https://huggingface.co/Evil_Org.x/", "https://evil-org-x-a-b.hf.space/SKILL.md"},
		{"reject-space-alone", "https://huggingface.co/spaces/evil/a_b/", "https://evil-a-b.hf.space/SKILL.md"},
		{"reject-spaces", "https://huggingface.co/spaces/evil/", "https://evil-a-b.hf.space/SKILL.md"},
		{"reject-space-itself", "https://evil-a.hf.space/", "https://evil-a.static.hf.space/SKILL.md"},
		{"accept-space-of-another", "https://huggingface.co/evil/", "https://evildoer-space.hf.space/SKILL.md"},
		{"accept-other-space", "https://huggingface.co/spaces/evil/a/", "https://evil-b.hf.space/SKILL.md"},
		{"accept-space-of-a-dataset", "https://huggingface.co/datasets/evil/", "https://evil-a.hf.space/SKILL.md"},
		{"accept-space-of-a-model", "https://huggingface.co/evil/a/", "https://evil-a.hf.space/SKILL.md"},
		{"accept-space-beside-a-path-of-it", "https://huggingface.co/spaces/evil/a/blob/main/x/", "https://evil-a.hf.space/SKILL.md"},
		{"accept-space-beside-a-space", "https://evil-a.hf.space/", "https://evil-b.hf.space/SKILL.md"},
		{"reject-gist-revision", "https://gist.github.com/evil/0123456789abcdef/", "https://gist.githubusercontent.com/evil/0123456789abcdef/raw/0123456789abcdef0123456789abcdef01234567/SKILL.md"},
		{"reject-jsdelivr", "https://github.com/evil/", "https://cdn.jsdelivr.net/gh/evil/r@main/SKILL.md"},
		{"reject-jsdelivr-repository", "https://github.com/evil/r/", "https://cdn.jsdelivr.net/gh/Evil/R@v1/SKILL.md"},
		{"reject-jsdelivr-path", "https://github.com/evil/r/blob/main/bad/", "https://cdn.jsdelivr.net/gh/evil/r@main/bad/SKILL.md"},
		{"reject-jsdelivr-no-revision", "https://github.com/evil/r/blob/main/bad/", "https://cdn.jsdelivr.net/gh/evil/r/bad/SKILL.md"},
		{"reject-jsdelivr-latest", "https://github.com/evil/r/blob/main/bad/", "https://cdn.jsdelivr.net/gh/evil/r@latest/bad/SKILL.md"},
		{"reject-jsdelivr-revision-after-the-owner", "https://github.com/evil/main/blob/r/bad/", "https://cdn.jsdelivr.net/gh/evil@main/r/bad/SKILL.md"},
		{"reject-jsdelivr-host", "https://cdn.jsdelivr.net/gh/evil/", "https://fastly.jsdelivr.net/gh/evil/r@main/SKILL.md"},
		{"reject-jsdelivr-case", "https://cdn.jsdelivr.net/gh/Evil/", "https://cdn.jsdelivr.net/GH/evil/r@main/SKILL.md"},
		{"reject-from-jsdelivr", "https://cdn.jsdelivr.net/gh/evil/r@main/", "https://github.com/evil/r/blob/main/SKILL.md"},
		{"reject-jsdelivr-other-version", "https://cdn.jsdelivr.net/gh/evil/r/", "https://cdn.jsdelivr.net/gh/evil/r@v2/SKILL.md"},
		{"reject-esm-github", "https://github.com/evil/", "https://esm.sh/v135/gh/evil/r@main/SKILL.md"},
		{"reject-npm-version", "https://unpkg.com/evil/", "https://unpkg.com/evil@1.0.0/SKILL.md"},
		{"reject-npm-other-host", "https://unpkg.com/evil/", "https://cdn.jsdelivr.net/npm/evil@1/SKILL.md"},
		{"reject-npm-build", "https://esm.sh/evil/", "https://esm.sh/stable/evil@1/SKILL.md"},
		{"reject-npm-scope", "https://esm.sh/@evil/", "https://unpkg.com/@evil/pkg@1.0.0/SKILL.md"},
		{"reject-npm-escaped-version", "https://unpkg.com/evil/", "https://unpkg.com/evil%401.0.0/SKILL.md"},
		{"reject-npm-escaped-scope", "https://unpkg.com/@evil/", "https://cdn.jsdelivr.net/npm/%40evil/pkg%40latest/SKILL.md"},
		{"reject-npm-jspm", "https://unpkg.com/evil/", "https://ga.jspm.io/npm:evil@1.0.0/SKILL.md"},
		{"reject-npm-jspm-case-and-escape", "https://unpkg.com/evil/", "https://jspm.dev/NPM%3Aevil@1.0.0/SKILL.md"},
		{"reject-npm-jspm-scope", "https://ga.jspm.io/npm:@evil/", "https://esm.sh/@evil/pkg/SKILL.md"},
		{"reject-npm-jspm-without-word", "https://unpkg.com/evil/", "https://jspm.dev/evil@1/SKILL.md"},
		{"reject-jspm-github", "https://github.com/evil/r/", "https://dev.jspm.io/github:evil/r@main/SKILL.md"},
		{"reject-npm-esm-unpkg", "https://unpkg.com/evil/", "https://esm.unpkg.com/evil@1/SKILL.md"},
		{"reject-npm-elemecdn", "https://unpkg.com/evil/", "https://npm.elemecdn.com/evil@1/SKILL.md"},
		{"reject-npm-zhimg", "https://unpkg.com/evil/", "https://unpkg.zhimg.com/evil@1/SKILL.md"},
		{"reject-npm-jsdmirror", "https://unpkg.com/evil/", "https://cdn.jsdmirror.com/npm/evil@1/SKILL.md"},
		{"reject-npm-npmmirror-packages", "https://unpkg.com/evil/", "https://cdn.npmmirror.com/packages/evil/1.0.0/files/SKILL.md"},
		{"reject-github-jsdmirror", "https://github.com/evil/", "https://cdn.jsdmirror.com/gh/evil/r@main/SKILL.md"},
		{"reject-github-onmicrosoft", "https://github.com/evil/r/blob/main/", "https://jsd.onmicrosoft.cn/gh/evil/r@main/SKILL.md"},
		{"accept-jspm-other-package", "https://unpkg.com/evil/", "https://ga.jspm.io/npm:good@1.0.0/SKILL.md"},
		{"accept-jspm-github-owner-of-the-name", "https://unpkg.com/evil/", "https://dev.jspm.io/github:evil/r@main/SKILL.md"},
		{"reject-gitlab-case", "https://gitlab.com/Evil/", "https://gitlab.com/evil/p/-/blob/main/SKILL.md"},
		{"reject-gitlab-www-raw", "https://gitlab.com/evil/p/", "https://www.gitlab.com/EVIL/P/-/raw/main/SKILL.md"},
		{"reject-gitlab-subgroup", "https://gitlab.com/evil/sub/", "https://gitlab.com/Evil/Sub/p/-/blob/refs/heads/main/SKILL.md"},
		{"reject-gitlab-qualified", "https://gitlab.com/evil/p/-/blob/main/bad/", "https://gitlab.com/evil/p/-/raw/refs/heads/main/bad/SKILL.md"},
		{"reject-gitlab-pages", "https://gitlab.com/evil/", "https://evil.gitlab.io/p/SKILL.md"},
		{"reject-codeberg-case", "https://codeberg.org/evil/", "https://codeberg.org/Evil/r/src/branch/main/SKILL.md"},
		{"reject-codeberg-raw", "https://codeberg.org/evil/r/src/branch/main/bad/", "https://www.codeberg.org/evil/R/raw/branch/main/bad/SKILL.md"},
		{"reject-bitbucket-case", "https://bitbucket.org/evil/", "https://bitbucket.org/EVIL/r/src/main/SKILL.md"},
		{"reject-bitbucket-www", "https://bitbucket.org/evil/r/", "https://www.bitbucket.org/Evil/r/raw/main/SKILL.md"},
		{"reject-gitea-case", "https://gitea.com/evil/", "https://www.gitea.com/Evil/r/src/branch/main/SKILL.md"},
		{"reject-sourcehut-case", "https://git.sr.ht/~evil/", "https://git.sr.ht/~Evil/r/tree/main/item/SKILL.md"},
		{"reject-sourcehut-mercurial", "https://git.sr.ht/~evil/", "https://hg.sr.ht/~evil/r/raw/SKILL.md"},
		{"reject-github-short-branch", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/heads/main/bad/SKILL.md"},
		{"reject-github-short-tag", "https://github.com/evil/r/blob/v1/bad/", "https://raw.githubusercontent.com/evil/r/tags/v1/bad/SKILL.md"},
		{"reject-npm-esm-variant", "https://unpkg.com/evil/", "https://esm.sh/*evil@1/SKILL.md"},
		{"reject-codeberg-raw-pages", "https://codeberg.org/evil/", "https://raw.codeberg.page/evil/r/@main/SKILL.md"},
		{"reject-hugging-face", "https://huggingface.co/evil/", "https://hf.co/Evil/m/resolve/main/SKILL.md"},
		{"reject-hugging-face-datasets", "https://huggingface.co/evil/", "https://huggingface.co/datasets/evil/d/blob/main/SKILL.md"},
		{"reject-hugging-face-kind-case", "https://huggingface.co/datasets/evil/d/", "https://huggingface.co/DataSets/evil/d/raw/main/SKILL.md"},
		{"reject-bucket-host", "https://s3.amazonaws.com/evil/", "https://evil.s3.amazonaws.com/SKILL.md"},
		{"reject-bucket-region", "https://evil.s3.amazonaws.com/", "https://s3.dualstack.eu-central-1.amazonaws.com/evil/SKILL.md"},
		{"reject-bucket-google", "https://storage.googleapis.com/evil/", "https://commondatastorage.googleapis.com/evil/SKILL.md"},
		{"reject-bucket-google-host", "https://commondatastorage.googleapis.com/evil/", "https://evil.storage.googleapis.com/SKILL.md"},
		{"reject-bucket-firebase", "https://storage.googleapis.com/evil/", "https://firebasestorage.googleapis.com/v0/b/evil/o/SKILL.md"},
		{"reject-bucket-aliyun", "https://oss-cn-hangzhou.aliyuncs.com/evil/", "https://evil.oss-accelerate.aliyuncs.com/SKILL.md"},
		{"reject-bucket-backblaze", "https://s3.us-west-004.backblazeb2.com/evil/", "https://f004.backblazeb2.com/file/evil/SKILL.md"},
		{"reject-origin-case", "https://example.com/Bad/", "https://example.com/bad/SKILL.md"},
		{"reject-origin-escapes", "https://example.com/a+b/", "https://example.com/a%2Bb/SKILL.md"},
		{"reject-origin-escaped-twice", "https://example.com/bad/", "https://example.com/%2562ad/SKILL.md"},
		{"reject-origin-parameter", "https://example.com/bad/", "https://example.com/bad;v=1/SKILL.md"},
		{"reject-origin-windows", "https://example.com/bad/", "https://example.com/bad%20/SKILL.md"},
		{"reject-origin-composed", "https://example.com/\u00c9/", "https://example.com/e\u0301/SKILL.md"},

		{"accept-branch-named-heads", "https://github.com/evil/r/blob/heads/", "https://github.com/evil/r/blob/main/SKILL.md"},
		{"accept-space-of-the-same-name-elsewhere", "https://github.com/evil/", "https://evil-a.hf.space/SKILL.md"},
		{"accept-directory-beside-one-named-head", "https://example.com/head/", "https://example.com/other/SKILL.md"},
		{"accept-head-beside-a-project", "https://gitlab.com/evil/sub/p/", "https://gitlab.com/evil/sub/-/blob/HEAD/SKILL.md"},
		{"accept-project-beside-head", "https://gitlab.com/evil/sub/-/blob/HEAD/", "https://gitlab.com/evil/sub/p/-/blob/main/SKILL.md"},
		{"accept-other-owner", "https://github.com/evil/", "https://github.com/evil-not/r/blob/main/SKILL.md"},
		{"accept-other-repository", "https://github.com/evil/r/", "https://github.com/evil/r2/blob/main/SKILL.md"},
		{"accept-other-path", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/main/good/SKILL.md"},
		{"accept-other-branch", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/v1/bad/SKILL.md"},
		{"accept-same-name-elsewhere", "https://github.com/evil/", "https://gitlab.com/evil/p/-/blob/main/SKILL.md"},
		{"accept-repository-of-pages", "https://evil.github.io/", "https://github.com/evil/r/blob/main/SKILL.md"},
		{"accept-other-kind", "https://huggingface.co/datasets/evil/d/", "https://huggingface.co/evil/d/blob/main/SKILL.md"},
		{"accept-other-package", "https://unpkg.com/@evil/a/", "https://unpkg.com/@evil/b/SKILL.md"},
		{"accept-other-bucket", "https://s3.amazonaws.com/evil/", "https://s3.amazonaws.com/good/SKILL.md"},
		{"accept-npm-directory-named-latest", "https://unpkg.com/evil@1.0.0/bad/", "https://unpkg.com/evil@1.0.0/latest/SKILL.md"},
		{"accept-github-directory-named-heads", "https://github.com/evil/r/blob/main/bad/", "https://github.com/evil/r/blob/v1/heads/main/bad/SKILL.md"},
		{"accept-other-origin", "https://example.com/bad/", "https://www.example.com/bad/SKILL.md"},
		{"accept-other-port", "https://example.com/bad/", "https://example.com:8443/bad/SKILL.md"},
	} {
		t.Run("O36/"+c.name, func(t *testing.T) {
			u := skillURL(t, c.url)
			want := strings.HasPrefix(c.name, "reject-")
			blocked, revoked := dvs.NewRoots(dvs.Rules{}), dvs.NewRoots(dvs.Rules{})
			root, err := blocked.Block(c.root)
			if err != nil {
				t.Fatal(err)
			}
			revoked.Revoke(root)
			if got := blocked.Find(u); got.Blocked != want {
				t.Errorf("blocked: %v", got.Blocked)
			}
			if got := revoked.Find(u); got.Revoked != want {
				t.Errorf("revoked: %v", got.Revoked)
			}
			blocked.Unregister(root)
			if blocked.Find(u).Blocked {
				t.Error("the block stays after Unregister")
			}
		})
	}
	t.Run("O36/accept-positives-stay-exact", func(t *testing.T) {
		roots := registry(t, "https://gitlab.com/Good/")
		if d := roots.Find(skillURL(t, "https://gitlab.com/good/p/-/blob/main/SKILL.md")); d.Source.Registered() {
			t.Errorf("another spelling is %s", d.Source)
		}
	})
	t.Run("O36/accept-longer-registration", func(t *testing.T) {
		roots := registry(t, "https://github.com/org/r/blob/main/fine/")
		if _, err := roots.Block("https://www.github.com/ORG/"); err != nil {
			t.Fatal(err)
		}
		if d := roots.Find(skillURL(t, "https://github.com/org/r/blob/main/fine/SKILL.md")); d.Blocked || !d.Source.Registered() {
			t.Errorf("%+v", d)
		}
	})
	t.Run("O36/reject-shorter-registration-in-another-spelling", func(t *testing.T) {
		roots := registry(t, "https://codeberg.org/Acme/")
		if _, err := roots.Block("https://codeberg.org/acme/"); err != nil {
			t.Fatal(err)
		}
		if d := roots.Find(skillURL(t, "https://codeberg.org/Acme/r/src/branch/main/SKILL.md")); !d.Blocked {
			t.Errorf("%+v", d)
		}
	})
	for _, c := range []struct {
		name, domain, url string
		want              bool
	}{
		{"reject-domain-www", "gitlab.com", "https://www.gitlab.com/o/p/-/blob/main/SKILL.md", true},
		{"reject-domain-raw", "www.github.com", "https://raw.githubusercontent.com/o/r/main/SKILL.md", true},
		{"reject-domain-alias", "commondatastorage.googleapis.com", "https://storage.googleapis.com/b/SKILL.md", true},
		{"reject-domain-by-pattern", "s3.eu-central-1.amazonaws.com", "https://s3.us-east-1.amazonaws.com/b/SKILL.md", true},
		{"reject-domain-by-pattern-from-exact", "s3.amazonaws.com", "https://s3.dualstack.eu-central-1.amazonaws.com/b/SKILL.md", true},
		{"reject-domain-exact-from-pattern", "s3-us-west-2.amazonaws.com", "https://s3.amazonaws.com/b/SKILL.md", true},
		{"reject-domain-by-all-below", "gcore.jsdelivr.net", "https://other.jsdelivr.net/npm/pkg/SKILL.md", true},
		{"reject-domain-of-the-same-content", "storage.googleapis.com", "https://storage.us-east1.rep.googleapis.com/b/SKILL.md", true},
		{"reject-domain-of-a-bucket-in-a-path", "evil.s3.amazonaws.com", "https://s3.eu-central-1.amazonaws.com/evil/SKILL.md", true},
		{"reject-domain-of-a-bucket-elsewhere", "evil.s3.amazonaws.com", "https://evil.s3.dualstack.eu-central-1.amazonaws.com/SKILL.md", true},
		{"accept-domain-of-another-bucket", "evil.s3.amazonaws.com", "https://s3.eu-central-1.amazonaws.com/good/SKILL.md", false},
		{"accept-domain-of-a-bucket-alone", "s3.amazonaws.com", "https://good.s3.eu-central-1.amazonaws.com/SKILL.md", false},
		{"accept-domain-of-pages", "evil.github.io", "https://github.com/evil/r/blob/main/SKILL.md", false},
		{"accept-domain-of-pages-of-another-platform", "evil.github.io", "https://evil.gitlab.io/SKILL.md", false},
		{"accept-domain-of-another-mirror", "unpkg.com", "https://esm.sh/pkg/SKILL.md", false},
		{"accept-domain-of-another-platform", "gitlab.com", "https://gitlab.gnome.org/o/p/-/blob/main/SKILL.md", false},
	} {
		t.Run("O36/"+c.name, func(t *testing.T) {
			roots := dvs.NewRoots(dvs.Rules{})
			if err := roots.RevokeDomain(c.domain, false); err != nil {
				t.Fatal(err)
			}
			if got := roots.Find(skillURL(t, c.url)).Revoked; got != c.want {
				t.Errorf("revoked: %v", got)
			}
		})
	}
	t.Run("O36/reject-page-below-a-revoked-domain", func(t *testing.T) {
		for _, domain := range []string{"github.com", "githubusercontent.com"} { // of the page, and of the bytes
			roots := dvs.NewRoots(dvs.Rules{})
			if err := roots.RevokeDomain(domain, true); err != nil {
				t.Fatal(err)
			}
			if !roots.Find(skillURL(t, "https://gist.github.com/o/0123456789abcdef/raw/SKILL.md")).Revoked {
				t.Errorf("%s is revoked, and the gist is not", domain)
			}
		}
	})
	t.Run("O36/reject-block-older-than-the-platform", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		if _, err := roots.Block("https://git.example.org/evil/"); err != nil {
			t.Fatal(err)
		}
		_, err := roots.AddPlatform(dvs.Platform{Name: "ours", Hosts: []string{"git.example.org", "www.git.example.org"}, Owner: 1,
			Source: &dvs.Source{Page: "src", Raw: []string{"raw"}}})
		if err != nil {
			t.Fatal(err)
		}
		u, err := dvs.ParseSkillURL("https://www.git.example.org/Evil/r/raw/main/SKILL.md", roots.Rules())
		if err != nil || !roots.Find(u).Blocked {
			t.Errorf("%s, %v", u, err)
		}
	})
}

// TestRootsConcurrently changes one registry in eight goroutines.
func TestRootsConcurrently(t *testing.T) {
	t.Run("O60/accept-every-addition", func(t *testing.T) {
		roots := dvs.NewRoots(dvs.Rules{})
		const workers, rounds = 8, 25
		host := func(w, n int) string { return fmt.Sprintf("h%d-%d.example.org", w, n) }
		work := func(of int, do func(n int) error) func(*sync.WaitGroup) {
			return func(all *sync.WaitGroup) {
				all.Go(func() {
					for n := range rounds {
						if err := do(n); err != nil {
							t.Errorf("worker %d: %v", of, err)
						}
					}
				})
			}
		}
		var all sync.WaitGroup
		for w := range workers {
			work(w, func(n int) error {
				_, err := roots.AddPlatform(dvs.Platform{Name: host(w, n), Hosts: []string{host(w, n)}, Owner: 1})
				return err
			})(&all)
			work(w, func(n int) error {
				_, err := roots.Block("https://blocked.example/" + host(w, n) + "/")
				return err
			})(&all)
			work(w, func(n int) error {
				_, err := roots.Register("https://registered.example/"+host(w, n)+"/", dvs.ByHost)
				return err
			})(&all)
			work(w, func(n int) error { // a bare root of a platform that another goroutine adds
				_, err := roots.Register("https://"+host((w+1)%workers, n)+"/", dvs.ByUser)
				if lookleap.CodeOf(err) == dvs.CodeUGCBareRoot {
					err = nil
				}
				return err
			})(&all)
			work(w, func(n int) error { return roots.RevokeDomain("gone-"+host(w, n), false) })(&all)
		}
		all.Wait()
		declared := slices.Collect(roots.All())
		if want := 2 * workers * rounds; len(declared) != want {
			t.Errorf("%d roots are declared, want %d", len(declared), want)
		}
		for _, d := range declared {
			if _, err := dvs.ParseTrustRoot(d.Root.String(), roots.Rules()); err != nil {
				t.Errorf("%s stays: %v", d.Root, err)
			}
		}
		for w := range workers {
			for n := range rounds {
				if _, ok := roots.Rules().Platforms.Lookup(host(w, n)); !ok {
					t.Errorf("the platform %s was lost", host(w, n))
				}
				if !roots.Find(skillURL(t, "https://gone-"+host(w, n)+"/SKILL.md")).Revoked {
					t.Errorf("the revocation of gone-%s was lost", host(w, n))
				}
			}
		}
	})
}

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
