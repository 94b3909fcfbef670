package dvs_test

import (
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestHops redirects the bytes of a skill to another URL under its root: it is
// followed only if it could have been named directly.
func TestHops(t *testing.T) {
	const upload = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		name, root, url, to string
		want                lookleap.Code
		block               string
	}{
		{name: "reject-gitlab-upload", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-upload-marker", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-group-upload", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-wiki", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/wikis/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-artifact", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/jobs/1/artifacts/raw/SKILL.md", want: "not-content-route"},
		{name: "reject-gitlab-merge-request", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/refs/merge-requests/1/head/SKILL.md", want: "untrusted-ref"},
		{name: "reject-gitlab-query", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/main/SKILL.md?ref_type=tags", want: "query-in-skill-url"},
		{name: "accept-gitlab-other-branch", root: "https://gitlab.com/group/", url: "https://gitlab.com/group/project/-/blob/main/SKILL.md", to: "/group/project/-/raw/trunk/SKILL.md"},
		{name: "reject-salsa-upload", root: "https://salsa.debian.org/group/", url: "https://salsa.debian.org/group/project/-/blob/main/SKILL.md", to: "/group/project/uploads/" + upload + "/SKILL.md", want: "not-content-route"},
		{name: "reject-github-owner-file", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/SKILL.md", want: "not-content-route"},
		{name: "reject-github-repository-file", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/SKILL.md", want: "not-content-route"},
		{name: "reject-github-attachment", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/r/files/1/SKILL.md", want: "not-content-route"},
		{name: "reject-github-release", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/o/r/releases/download/v1/SKILL.md", want: "not-content-route"},
		{name: "reject-github-user-attachment", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://github.com/user-attachments/files/1/SKILL.md", want: "reserved-segment"},
		{name: "reject-github-pull", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/refs/pull/1/head/SKILL.md", want: "untrusted-ref"},
		{name: "reject-github-commit", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/0123abcd/SKILL.md", want: "commit-ref"},
		{name: "reject-github-media", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://media.githubusercontent.com/media/o/r/main/SKILL.md", want: "never-trusted-host"},
		{name: "accept-github-renamed-branch", root: "https://github.com/o/", url: "https://github.com/o/r/blob/main/SKILL.md", to: "https://raw.githubusercontent.com/o/r/trunk/SKILL.md"},
		{name: "reject-codeberg-attachment", root: "https://codeberg.org/o/", url: "https://codeberg.org/o/r/src/branch/main/SKILL.md", to: "/o/r/attachments/" + upload, want: "not-content-route"},
		{name: "reject-codeberg-release", root: "https://codeberg.org/o/", url: "https://codeberg.org/o/r/src/branch/main/SKILL.md", to: "/o/r/releases/download/v1/SKILL.md", want: "not-content-route"},
		{name: "reject-bitbucket-download", root: "https://bitbucket.org/o/", url: "https://bitbucket.org/o/r/src/main/SKILL.md", to: "/o/r/downloads/SKILL.md", want: "not-content-route"},
		{name: "reject-hugging-face-discussion", root: "https://huggingface.co/o/", url: "https://huggingface.co/o/r/blob/main/SKILL.md", to: "/o/r/discussions/1/SKILL.md", want: "not-content-route"},
		{name: "reject-hugging-face-pull", root: "https://huggingface.co/o/", url: "https://huggingface.co/o/r/blob/main/SKILL.md", to: "/o/r/resolve/refs/pr/1/SKILL.md", want: "untrusted-ref"},
		{name: "reject-gitee-attachment", root: "https://gitee.com/o/", url: "https://gitee.com/o/r/blob/main/SKILL.md", to: "/o/r/attach_files/1/download/SKILL.md", want: "not-content-route"},
		{name: "reject-tenant-of-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/~mallory/SKILL.md", want: "redirect-outside-root"},
		{name: "accept-tenant-of-a-registered-host", root: "https://cs.univ.example/", url: "https://cs.univ.example/skills/SKILL.md", to: "/~mallory/SKILL.md"},
		{name: "reject-forge-on-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/mallory/r/-/raw/main/SKILL.md", want: "needs-root"},
		{name: "accept-elsewhere-on-the-host", url: "https://cs.univ.example/skills/SKILL.md", to: "/v2/SKILL.md?x=1"},
		{name: "reject-blocked", root: "https://cs.univ.example/", url: "https://cs.univ.example/skills/SKILL.md", to: "/Bad/SKILL.md", block: "https://cs.univ.example/bad/", want: "blocked-root"},
	} {
		t.Run("O41/"+c.name, func(t *testing.T) {
			net := lab.ForTest(t)
			u := skillURL(t, c.url)
			for _, host := range []string{"github.com", "raw.githubusercontent.com", "media.githubusercontent.com", "cs.univ.example", u.Host()} {
				net.Site(host).Body("*", "text/markdown", refund)
			}
			path := u.ServedFrom()[len("https://"+u.ServingHost()):]
			net.Site(u.ServingHost()).Redirect(path, c.to)
			roots := registry(t)
			if c.root != "" {
				roots = registry(t, c.root)
			}
			if c.block != "" {
				if _, err := roots.Block(c.block); err != nil {
					t.Fatal(err)
				}
			}
			host := net.Host()
			host.Prompter = &prompter{decide: agree}
			skill, err := dvs.NewLoader(host, dvs.Options{Roots: roots}).Load(t.Context(), c.url)
			if want := lookleap.Code(c.want); want != "" && lookleap.CodeOf(err) != want || want == "" && err != nil || (skill != nil) != (want == "") {
				t.Fatalf("want %q, got %v", want, err)
			}
			if sent := net.Journal().Dials(); c.want != "" && len(sent) > 1 {
				t.Errorf("the target was asked: %v", sent)
			}
		})
	}
	t.Run("O41/reject-resource", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("gitlab.com").Body("*", "text/markdown", refund).Redirect("/group/project/-/raw/main/MORE.md", "/group/project/uploads/"+upload+"/MORE.md")
		skill, err := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://gitlab.com/group/")}).Load(t.Context(), "https://gitlab.com/group/project/-/blob/main/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "MORE.md"); lookleap.CodeOf(err) != dvs.CodeNotContentRoute {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O41/reject-blocked-since-it-was-fetched", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("*", "text/markdown", refund).Redirect("/a/SKILL.md", "/b/SKILL.md")
		loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/")})
		if _, err := loader.Load(t.Context(), "https://shop.example/a/"); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Roots().Block("https://shop.example/b/"); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Load(t.Context(), "https://shop.example/a/"); lookleap.CodeOf(err) != dvs.CodeBlockedRoot {
			t.Errorf("got %v", err)
		}
	})
}
