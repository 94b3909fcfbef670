package dvs_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestParseSkillURL reads like the rows: a URL, and the identity it stands for
// or the code of its refusal.
func TestParseSkillURL(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"DVS-2-03/accept-entry", "https://example.com/s/x/SKILL.md", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-03/reject-lower", "https://example.com/s/x/skill.md", "not-skill-url"},
		{"DVS-2-03/reject-mixed", "https://example.com/s/x/Skill.md", "not-skill-url"},
		{"DVS-2-03/reject-upper", "https://example.com/s/x/SKILL.MD", "not-skill-url"},
		{"DVS-2-03/reject-index", "https://example.com/s/x/INDEX.md", "not-skill-url"},
		{"DVS-2-03/reject-readme", "https://example.com/s/x/README.md", "not-skill-url"},
		{"DVS-2-04/accept-slash", "https://example.com/s/x/", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-04/accept-no-slash", "https://example.com/s/x", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-04/accept-entry", "https://example.com/s/x/SKILL.md", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-04/reject-entry-with-slash", "https://example.com/s/x/SKILL.md/", "not-skill-url"},
		{"DVS-2-05/accept-canonical", "HTTPS://EXAMPLE.com:443/s/%78/SKILL.md", "https://example.com/s/x/SKILL.md"},
		{"DVS-2-05/reject-other-case", "https://example.com/s/X/skill.MD", "not-skill-url"},
		{"DVS-2-06/accept-fragment", "https://example.com/x/SKILL.md#top", "https://example.com/x/SKILL.md"},
		{"DVS-2-06/reject-query", "https://example.com/x/SKILL.md?v=2", "query-in-skill-url"},
		{"DVS-2-06/reject-query-on-a-platform-without-routes", "https://medium.com/@o/x/SKILL.md?v=2", "query-in-skill-url"},
		{"DVS-2-06/reject-fragment-on-authority", "https://example.com#@evil.test/", "bad-url"},
		{"DVS-2-07/accept-directory", "https://example.com/x/ADVANCED", "https://example.com/x/ADVANCED/SKILL.md"},
		{"DVS-2-07/reject-other-file", "https://example.com/x/ADVANCED.md", "not-skill-url"},
		{"DVS-2-07/reject-extension-alone", "https://example.com/x/.md", "not-skill-url"},

		{"DVS-3.1-42/accept-blob", "https://github.com/o/r/blob/main/s/SKILL.md", "https://github.com/o/r/blob/main/s/SKILL.md"},
		{"DVS-3.1-42/accept-raw", "https://github.com/o/r/raw/main/s/SKILL.md", "https://github.com/o/r/blob/main/s/SKILL.md"},
		{"DVS-3.1-42/accept-tree", "https://github.com/o/r/tree/main/s", "https://github.com/o/r/blob/main/s/SKILL.md"},
		{"DVS-3.1-42/reject-files", "https://github.com/o/r/files/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-assets", "https://github.com/o/r/assets/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-issues", "https://github.com/o/r/issues/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-pull", "https://github.com/o/r/pull/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-discussions", "https://github.com/o/r/discussions/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-wiki", "https://github.com/o/r/wiki/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-wiki-of-a-page", "https://github.com/o/r/wiki/Home/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-releases", "https://github.com/o/r/releases/download/v1/SKILL.md", "not-content-route"},
		{"DVS-3.1-27/reject-long-with-its-file", "https://example.com/" + strings.Repeat("x", 8192-len("https://example.com/")), "url-too-long"},
		{"DVS-3.1-27/accept-longest", "https://example.com/" + strings.Repeat("x", 8192-len("https://example.com//SKILL.md")), "https://example.com/" + strings.Repeat("x", 8192-len("https://example.com//SKILL.md")) + "/SKILL.md"},
		{"DVS-3.1-27/reject-long-name-of-a-host", "https://hf.co/o/r/blob/main/" + strings.Repeat("x", 8192-len("https://hf.co/o/r/blob/main//SKILL.md")) + "/SKILL.md", "url-too-long"},
		{"DVS-3.1-27/reject-long-page", "https://gitlab.com/o/r/-/raw/main/" + strings.Repeat("x", 8192-len("https://gitlab.com/o/r/-/raw/main//SKILL.md")) + "/SKILL.md", "url-too-long"},
		{"DVS-3.1-27/reject-long-url-of-the-bytes", "https://github.com/o/r/blob/main/" + strings.Repeat("x", 8192-len("https://github.com/o/r/blob/main//SKILL.md")) + "/SKILL.md", "url-too-long"},
		{"DVS-3.1-42/reject-repository-by-raw-url", "https://raw.githubusercontent.com/o/r", "not-content-route"},
		{"DVS-3.1-42/reject-repository-named-as-the-entry", "https://github.com/o/SKILL.md/", "not-skill-url"},
		{"DVS-3.1-42/accept-path-below-a-repository-without-a-route", "https://unlisted.example/o/r", "https://unlisted.example/o/r/SKILL.md"},
		{"DVS-3.1-42/reject-other-name-of-a-host", "https://www.github.com/o/r/files/1/SKILL.md", "not-content-route"},
		{"DVS-3.1-43/reject-other-name-of-a-host", "https://hf.co/o/r/resolve/refs/pr/1/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-42/accept-branch-named-pull", "https://github.com/o/r/blob/pull/.github/SKILL.md", "https://github.com/o/r/blob/pull/.github/SKILL.md"},
		{"DVS-3.1-42/reject-directory-in-a-gist", "https://gist.github.com/evil/0123456789abcdef/raw/0123456789abcdef0123456789abcdef01234567/a/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-gitlab-group", "https://gitlab.com/g/-/raw/main/SKILL.md", "not-content-route"},
		{"DVS-3.1-42/reject-gitlab-without-marker", "https://gitlab.com/g/p/blob/main/SKILL.md", "not-content-route"},
		{"DVS-3.1-43/reject-refs-pull", "https://github.com/o/r/blob/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-raw-host", "https://raw.githubusercontent.com/o/r/refs/pull/1/merge/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-hf", "https://huggingface.co/o/r/blob/refs/pr/1/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-gitlab", "https://gitlab.com/g/p/-/blob/refs/merge-requests/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-gitlab-keep-around", "https://gitlab.com/g/p/-/raw/refs/keep-around/0123/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-head", "https://github.com/o/r/blob/pull/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-merge", "https://github.com/o/r/raw/pull/1/merge/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-pr", "https://huggingface.co/o/r/resolve/pr/1/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-0", "https://github.com/o/r/blob/pull/0/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-9", "https://github.com/o/r/blob/pull/9/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/accept-short-colon", "https://github.com/o/r/blob/pull/:/SKILL.md", "https://github.com/o/r/blob/pull/:/SKILL.md"},
		{"DVS-3.1-43/reject-short-merge-request", "https://gitlab.com/g/p/-/blob/merge-requests/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-pipeline", "https://gitlab.com/g/p/-/blob/pipelines/1/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-change", "https://github.com/o/r/blob/changes/12/1/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-keep-around", "https://gitlab.com/g/p/-/blob/keep-around/0123/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-short-environment", "https://gitlab.com/g/p/-/blob/environments/x/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-other-refs", "https://github.com/o/r/blob/refs/remotes/x/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/reject-jsdelivr", "https://cdn.jsdelivr.net/gh/o/r@refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-3.1-43/accept-qualified-branch", "https://github.com/o/r/blob/refs/heads/main/SKILL.md", "https://github.com/o/r/blob/refs/heads/main/SKILL.md"},
		{"DVS-3.1-43/accept-branch-called-pull", "https://github.com/o/r/blob/pull/skills/SKILL.md", "https://github.com/o/r/blob/pull/skills/SKILL.md"},

		{"DVS-3.1-45/accept-blob", "https://github.com/o/r/blob/feature/x/a/SKILL.md", "https://github.com/o/r/blob/feature/x/a/SKILL.md"},
		{"DVS-3.1-45/accept-tree-is-blob", "https://github.com/o/r/tree/feature/x/a", "https://github.com/o/r/blob/feature/x/a/SKILL.md"},
		{"DVS-3.1-45/accept-repository", "https://github.com/o/r", "https://github.com/o/r/blob/HEAD/SKILL.md"},
		{"DVS-3.1-45/accept-raw-host", "https://raw.githubusercontent.com/o/r/main/SKILL.md", "https://github.com/o/r/blob/main/SKILL.md"},
		{"DVS-3.1-45/reject-owner-alone", "https://github.com/o", "not-content-route"},
		{"DVS-3.1-45/reject-no-revision", "https://github.com/o/r/blob/SKILL.md", "not-content-route"},

		{"DVS-3.1-48/accept-gitlab", "https://gitlab.com/g/s/p/-/raw/v1/a/SKILL.md", "https://gitlab.com/g/s/p/-/blob/v1/a/SKILL.md"},
		{"DVS-3.1-48/accept-hf", "https://huggingface.co/spaces/o/r/raw/main/SKILL.md", "https://huggingface.co/spaces/o/r/blob/main/SKILL.md"},
		{"DVS-3.1-48/accept-codeberg", "https://codeberg.org/o/r/raw/branch/b/p/SKILL.md", "https://codeberg.org/o/r/src/branch/b/p/SKILL.md"},
		{"DVS-3.1-48/accept-gist", "https://gist.github.com/u/0123456789abcdef", "https://gist.github.com/u/0123456789abcdef/raw/SKILL.md"},
		{"DVS-3.1-48/accept-sourcehut", "https://git.sr.ht/~o/r/blob/main/a/SKILL.md", "https://git.sr.ht/~o/r/tree/main/item/a/SKILL.md"},
		{"DVS-3.1-48/reject-codeberg-unqualified-directory", "https://codeberg.org/o/r/raw/main/s/SKILL.md", "not-content-route"},
		{"DVS-3.1-48/reject-codeberg-unqualified", "https://codeberg.org/o/r/raw/main/SKILL.md", "not-content-route"},

		{"A14/accept-fragment-dropped", "https://example.com/x/SKILL.md#https://evil.test/", "https://example.com/x/SKILL.md"},
		{"B07/reject-raw-pull", "https://github.com/org/repo/raw/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"B07/reject-files", "https://github.com/org/repo/files/123/SKILL.md", "not-content-route"},
		{"B07/reject-wiki", "https://github.com/org/repo/wiki/SKILL.md", "not-content-route"},
		{"B07/reject-hf-escaped", "https://huggingface.co/org/repo/resolve/refs%2Fpr%2F1/SKILL.md", "ambiguous-path"},
		{"B07/reject-page-pull", "https://github.com/org/repo/blob/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"B07/reject-tree-pull", "https://github.com/org/repo/tree/refs/pull/1/head/skill", "untrusted-ref"},
		{"B07/reject-raw-host-pull", "https://raw.githubusercontent.com/org/repo/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"B07/reject-short-pull", "https://github.com/org/repo/raw/pull/1/head/SKILL.md", "untrusted-ref"},
		{"B07/reject-pull-page", "https://github.com/org/repo/pull/1/files/SKILL.md", "not-content-route"},
		{"B07/reject-merge-request", "https://gitlab.com/org/repo/-/raw/refs/merge-requests/1/head/SKILL.md", "untrusted-ref"},
		{"B07/reject-hf-pr", "https://huggingface.co/org/repo/resolve/refs/pr/1/SKILL.md", "untrusted-ref"},
		{"B07/reject-releases", "https://github.com/org/repo/releases/download/v1/SKILL.md", "not-content-route"},
		{"B04/accept-page-of-raw", "https://raw.githubusercontent.com/org/repo/main/SKILL.md", "https://github.com/org/repo/blob/main/SKILL.md"},
		{"B07/accept-branch", "https://github.com/org/repo/raw/main/skill/SKILL.md", "https://github.com/org/repo/blob/main/skill/SKILL.md"},
		{"B07/accept-tag", "https://github.com/org/repo/tree/v1.2/skill", "https://github.com/org/repo/blob/v1.2/skill/SKILL.md"},
		{"B02/reject-skill-below-word", "https://github.com/orgs/o/blob/main/SKILL.md", "reserved-segment"},
		{"DVS-3.1-38/reject-skill", "https://web.archive.org/web/2026/SKILL.md", "never-trusted-host"},
		{"DVS-3.1-38/reject-media", "https://media.githubusercontent.com/media/o/r/main/SKILL.md", "never-trusted-host"},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := dvs.ParseSkillURL(c.in, dvs.Rules{})
			got := u.String()
			if err != nil {
				if !u.IsZero() {
					t.Errorf("a refused URL is %s", u)
				}
				got = string(lookleap.CodeOf(err))
			}
			if got != c.want {
				t.Fatalf("got %s (%v), want %s", got, err, c.want)
			}
			if err == nil {
				if again, err := dvs.ParseSkillURL(got, dvs.Rules{}); err != nil || again.String() != got || again.ServedFrom() != u.ServedFrom() {
					t.Errorf("the canonical form is read as %s, %v", again, err)
				}
			}
		})
	}
	t.Run("DVS-2-06/accept-option", func(t *testing.T) {
		u, err := dvs.ParseSkillURL("https://example.com/x?v=2", dvs.Rules{AllowQuery: true})
		if err != nil || u.String() != "https://example.com/x/SKILL.md?v=2" {
			t.Errorf("got %s, %v", u, err)
		}
	})
	t.Run("DVS-3.1-27/reject-longer-than-the-option", func(t *testing.T) {
		const directory = "https://example.com/skills/a"
		for limit, want := range map[int]lookleap.Code{len(directory + "/SKILL.md"): lookleap.CodeOK, len(directory+"/SKILL.md") - 1: lookleap.CodeURLTooLong, len(directory): lookleap.CodeURLTooLong} {
			if _, err := dvs.ParseSkillURL(directory, dvs.Rules{MaxURL: limit}); lookleap.CodeOf(err) != want {
				t.Errorf("%d bytes: %v", limit, err)
			}
		}
	})
	t.Run("DVS-3.1-27/accept-longer-with-the-option", func(t *testing.T) {
		long := "https://unpkg.com/pkg@1/" + strings.Repeat("x", 9000) + "/SKILL.md"
		if u, err := dvs.ParseSkillURL(long, dvs.Rules{MaxURL: 10_000}); err != nil || u.String() != long {
			t.Error(err)
		}
	})
	t.Run("DVS-2-06/accept-fragment-reported", func(t *testing.T) {
		u, _ := dvs.ParseSkillURL("https://example.com/x/SKILL.md#top", dvs.Rules{})
		v, _ := dvs.ParseSkillURL("https://example.com/x/SKILL.md", dvs.Rules{})
		if !u.FragmentDropped() || v.FragmentDropped() {
			t.Error("the fragment is not reported")
		}
	})
	t.Run("DVS-1-01/accept-two-skills", func(t *testing.T) {
		u, _ := dvs.ParseSkillURL("https://a.example/support/SKILL.md", dvs.Rules{})
		v, _ := dvs.ParseSkillURL("https://b.example/support/SKILL.md", dvs.Rules{})
		if u.String() == v.String() {
			t.Error("two skills have one identity")
		}
	})
}

// TestServedFrom is the mapping of pages to bytes (DVS-3.1-45 to DVS-3.1-48).
func TestServedFrom(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"DVS-1-04/accept-blob", "https://github.com/o/r/blob/main/a/b/SKILL.md", "https://raw.githubusercontent.com/o/r/main/a/b/SKILL.md"},
		{"DVS-3.1-45/accept-slashes", "https://github.com/o/r/raw/feature/x/SKILL.md", "https://raw.githubusercontent.com/o/r/feature/x/SKILL.md"},
		{"DVS-3.1-45/accept-head", "https://github.com/o/r", "https://raw.githubusercontent.com/o/r/HEAD/SKILL.md"},
		{"DVS-3.1-48/accept-gitlab", "https://gitlab.com/g/p/-/blob/v1/a/SKILL.md", "https://gitlab.com/g/p/-/raw/v1/a/SKILL.md"},
		{"DVS-3.1-48/accept-hf", "https://huggingface.co/o/r/blob/main/SKILL.md", "https://huggingface.co/o/r/raw/main/SKILL.md"},
		{"DVS-3.1-48/accept-codeberg", "https://codeberg.org/o/r/src/branch/b/p/SKILL.md", "https://codeberg.org/o/r/raw/branch/b/p/SKILL.md"},
		{"DVS-3.1-48/accept-gist", "https://gist.github.com/u/0123456789abcdef", "https://gist.githubusercontent.com/u/0123456789abcdef/raw/SKILL.md"},
		{"DVS-3.1-48/accept-sourcehut", "https://git.sr.ht/~o/r/tree/main/item/a/SKILL.md", "https://git.sr.ht/~o/r/blob/main/a/SKILL.md"},
		{"DVS-3.1-48/reject-unlisted", "https://example.com/o/r/blob/main/SKILL.md", "https://example.com/o/r/blob/main/SKILL.md"},
		{"B04/accept-user-given-raw", "https://raw.githubusercontent.com/org/repo/main/SKILL.md", "https://raw.githubusercontent.com/org/repo/main/SKILL.md"},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := dvs.ParseSkillURL(c.in, dvs.Rules{})
			if err != nil || u.ServedFrom() != c.want {
				t.Errorf("got %s, %v", u.ServedFrom(), err)
			}
		})
	}
	t.Run("DVS-3.1-46/accept-mapped-root", func(t *testing.T) {
		root, _ := dvs.ParseTrustRoot("https://github.com/o/r/blob/main/skills/", dvs.Rules{})
		in, _ := dvs.ParseSkillURL("https://github.com/o/r/raw/main/skills/a/SKILL.md", dvs.Rules{})
		if !root.Covers(in) {
			t.Error("the raw form is not covered")
		}
	})
	t.Run("DVS-3.1-46/reject-beside-root", func(t *testing.T) {
		root, _ := dvs.ParseTrustRoot("https://github.com/o/r/blob/main/skills/", dvs.Rules{})
		for _, s := range []string{"https://github.com/o/r/blob/main/other/SKILL.md", "https://github.com/o/r/blob/skills/SKILL.md", "https://github.com/o/r2/blob/main/skills/SKILL.md"} {
			if out, err := dvs.ParseSkillURL(s, dvs.Rules{}); err != nil || root.Covers(out) {
				t.Errorf("%s is covered, %v", s, err)
			}
		}
	})
	t.Run("DVS-3.1-47/accept-inverse", func(t *testing.T) {
		root, _ := dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{})
		u, err := dvs.ParseSkillURL("https://raw.githubusercontent.com/o/r/main/SKILL.md", dvs.Rules{})
		if err != nil || !root.Covers(u) || u.String() != "https://github.com/o/r/blob/main/SKILL.md" {
			t.Error(u, err)
		}
	})
	t.Run("DVS-3.1-47/reject-other-root", func(t *testing.T) {
		root, _ := dvs.ParseTrustRoot("https://example.com/", dvs.Rules{})
		if u, err := dvs.ParseSkillURL("https://raw.githubusercontent.com/o/r/main/SKILL.md", dvs.Rules{}); err != nil || root.Covers(u) {
			t.Error(u, err)
		}
	})
}

// TestCommit is which revisions a platform may read as a commit.
func TestCommit(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct{ id, in, want string }{
		{"DVS-3.1-44/reject-short", "https://github.com/o/r/blob/0123/SKILL.md", "0123"},
		{"DVS-3.1-44/reject-full", "https://github.com/o/r/blob/" + sha + "/SKILL.md", sha},
		{"DVS-3.1-44/reject-upper", "https://github.com/o/r/blob/DEADBEEF/SKILL.md", "DEADBEEF"},
		{"DVS-3.1-44/reject-digits", "https://github.com/o/r/blob/20240115/SKILL.md", "20240115"},
		{"DVS-3.1-44/reject-tilde", "https://github.com/o/r/blob/deadbeef~0/SKILL.md", "deadbeef~0"},
		{"DVS-3.1-44/reject-tilde-qualified", "https://github.com/o/r/blob/refs/heads/main~1/SKILL.md", "main~1"},
		{"DVS-3.1-44/reject-caret", "https://github.com/o/r/blob/deadbeef%5E0/SKILL.md", "deadbeef^0"},
		{"DVS-3.1-44/reject-described", "https://github.com/o/r/blob/x-1-gdeadbeef/SKILL.md", "x-1-gdeadbeef"},
		{"DVS-3.1-44/reject-described-branch", "https://github.com/o/r/blob/x/y-1-gdeadbeef/SKILL.md", "y-1-gdeadbeef"},
		{"DVS-3.1-44/reject-described-shortest", "https://github.com/o/r/blob/x-1-gabcd/SKILL.md", "x-1-gabcd"},
		{"DVS-3.1-44/accept-described-too-short", "https://github.com/o/r/blob/x-1-gabc/SKILL.md", ""},
		{"DVS-3.1-44/accept-not-described", "https://github.com/o/r/blob/x-goodness/SKILL.md", ""},
		{"DVS-3.1-44/reject-described-branch-tilde", "https://github.com/o/r/blob/x/y-1-gdeadbeef~0/SKILL.md", "y-1-gdeadbeef~0"},
		{"DVS-3.1-44/reject-described-branch-caret", "https://github.com/o/r/blob/x/y-1-gdeadbeef%5E0/SKILL.md", "y-1-gdeadbeef%5E0"},
		{"DVS-3.1-44/reject-at", "https://github.com/o/r/blob/main@%7B1%7D/SKILL.md", "main@{1}"},
		{"DVS-3.1-44/reject-colon", "https://github.com/o/r/blob/:x/SKILL.md", ":x"},
		{"DVS-3.1-44/reject-raw-host", "https://raw.githubusercontent.com/o/r/deadbeef/SKILL.md", "deadbeef"},
		{"DVS-3.1-44/reject-codeberg", "https://codeberg.org/o/r/src/commit/x/SKILL.md", "x"},
		{"DVS-3.1-44/reject-gist-revision", "https://gist.github.com/u/0123456789abcdef/raw/deadbeef/SKILL.md", "deadbeef"},
		{"DVS-3.1-44/reject-jsdelivr", "https://cdn.jsdelivr.net/gh/o/r@deadbeef/SKILL.md", "deadbeef"},
		{"DVS-3.1-44/accept-tag", "https://github.com/o/r/blob/refs/tags/20240115/SKILL.md", ""},
		{"DVS-3.1-44/accept-branch", "https://github.com/o/r/blob/refs/heads/deadbeef/SKILL.md", ""},
		{"DVS-3.1-44/accept-main", "https://github.com/o/r/blob/main/SKILL.md", ""},
		{"DVS-3.1-44/accept-version", "https://github.com/o/r/blob/v1.2/SKILL.md", ""},
		{"DVS-3.1-44/accept-codeberg-branch", "https://codeberg.org/o/r/src/branch/deadbeef/SKILL.md", ""},
		{"DVS-3.1-44/accept-npm-version", "https://unpkg.com/p@1.2.3/SKILL.md", ""},
		{"DVS-3.1-44/accept-sign-of-no-revision", "https://medium.com/o/x@deadbeef/SKILL.md", ""},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := dvs.ParseSkillURL(c.in, dvs.Rules{})
			if err != nil || u.Commit() != c.want {
				t.Errorf("got %q, %v", u.Commit(), err)
			}
		})
	}
}

func FuzzSkillURL(f *testing.F) {
	for _, s := range []string{"https://example.com/s/x", "https://github.com/o/r/tree/main/s", "https://gist.github.com/u/0123456789abcdef/raw/dead/SKILL.md", "https://git.sr.ht/~o/r/tree/m/item/SKILL.md",
		"https://huggingface.co/datasets/o/r/resolve/main/x", "https://gitlab.com/g/-/blob/m/SKILL.md", "https://codeberg.org/o/r/raw/tag/v1/SKILL.md", "https://cdn.jsdelivr.net/gh/o/r@main/x/SKILL.md"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := dvs.ParseSkillURL(raw, dvs.Rules{})
		if err != nil {
			if !u.IsZero() || !lookleap.CodeOf(err).Known() {
				t.Fatalf("%q: %v with %v", raw, u, err)
			}
			return
		}
		again, err := dvs.ParseSkillURL(u.String(), dvs.Rules{})
		if err != nil || again.String() != u.String() || again.ServedFrom() != u.ServedFrom() || again.Commit() != u.Commit() {
			t.Fatalf("%q becomes %q, and that %q, %v", raw, u, again, err)
		}
		served, err := dvs.ParseSkillURL(u.ServedFrom(), dvs.Rules{})
		if err != nil || served.String() != u.String() {
			t.Fatalf("%q is served from %q, and that is %q, %v", raw, u.ServedFrom(), served, err)
		}
	})
}
