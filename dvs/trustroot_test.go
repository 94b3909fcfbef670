package dvs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestParseTrustRoot reads like the rows: a root, and its canonical form or
// the code of its refusal.
func TestParseTrustRoot(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"DVS-0-04/accept-owner", "https://github.com/example-org/", "https://github.com/example-org/"},
		{"DVS-0-04/reject-bare", "https://github.com/", "ugc-bare-root"},
		{"DVS-2-08/accept-path", "https://example.com/skills/", "https://example.com/skills/"},
		{"DVS-2-08/reject-http", "http://example.com/skills/", "not-https"},
		{"DVS-2-08/reject-ai", "ai://example.com/skills/", "not-https"},
		{"DVS-2-08/reject-file", "file:///skills/", "not-https"},
		{"DVS-2-08/reject-relative", "skills/", "not-https"},
		{"DVS-2-09/accept-adds-slash", "https://github.com/microsoft", "https://github.com/microsoft/"},
		{"DVS-2-09/accept-origin", "https://example.com", "https://example.com/"},
		{"DVS-2-10/accept-plain", "https://example.com/teams/a/", "https://example.com/teams/a/"},
		{"DVS-2-10/reject-query", "https://example.com/?x", "invalid-trust-root"},
		{"DVS-2-10/reject-fragment", "https://example.com/#f", "invalid-trust-root"},
		{"DVS-2-10/reject-userinfo", "https://u@example.com/", "invalid-trust-root"},
		{"DVS-2-10/reject-dots", "https://example.com/a/../b/", "invalid-trust-root"},
		{"DVS-2-10/reject-wildcard-host", "https://*.example.com/", "invalid-trust-root"},
		{"DVS-2-10/reject-wildcard-path", "https://example.com/teams/*/", "invalid-trust-root"},
		{"DVS-2-10/reject-escaped-wildcard", "https://example.com/teams/%2A/", "invalid-trust-root"},
		{"DVS-2-11/accept-owner", "https://huggingface.co/org/", "https://huggingface.co/org/"},
		{"DVS-2-11/reject-bare", "https://huggingface.co/", "ugc-bare-root"},
		{"DVS-3.1-32/accept-group", "https://gitlab.com/group/", "https://gitlab.com/group/"},
		{"DVS-3.1-32/accept-datasets", "https://huggingface.co/datasets/org/", "https://huggingface.co/datasets/org/"},
		{"DVS-3.1-32/reject-bare", "https://gitlab.com/", "ugc-bare-root"},
		{"DVS-3.1-32/reject-too-short", "https://huggingface.co/datasets/", "ugc-root-too-short"},
		{"DVS-3.1-33/accept-owner", "https://GITHUB.com:443/Example-Org", "https://github.com/example-org/"},
		{"DVS-3.1-33/reject-no-slash", "https://github.com", "ugc-bare-root"},
		{"DVS-3.1-33/reject-slash", "https://github.com/", "ugc-bare-root"},
		{"DVS-3.1-33/reject-port-and-case", "https://GITHUB.com:443/", "ugc-bare-root"},
		{"DVS-3.1-35/accept-bucket", "https://storage.googleapis.com/bucket/", "https://storage.googleapis.com/bucket/"},
		{"DVS-3.1-35/reject-storage", "https://storage.googleapis.com/", "ugc-bare-root"},
		{"DVS-3.1-35/reject-raw", "https://raw.githubusercontent.com/", "ugc-bare-root"},
		{"DVS-3.1-36/accept-github-io", "https://alice.github.io/", "https://alice.github.io/"},
		{"DVS-3.1-36/accept-pages-dev", "https://p.pages.dev/", "https://p.pages.dev/"},
		{"DVS-3.1-36/accept-vercel", "https://x.vercel.app/", "https://x.vercel.app/"},
		{"DVS-3.1-36/accept-hf-space", "https://org.hf.space/", "https://org.hf.space/"},
		{"DVS-3.1-36/reject-suffix", "https://hf.space/", "public-suffix-host"},
		{"DVS-3.1-37/accept-bucket", "https://s3.amazonaws.com/bucket/", "https://s3.amazonaws.com/bucket/"},
		{"DVS-3.1-37/reject-github-io", "https://github.io/", "public-suffix-host"},
		{"DVS-3.1-37/reject-pages-dev", "https://pages.dev/", "public-suffix-host"},
		{"DVS-3.1-37/reject-co-uk", "https://co.uk/", "public-suffix-host"},
		{"DVS-3.1-37/reject-co-uk-path", "https://co.uk/path/", "public-suffix-host"},
		{"DVS-3.1-37/reject-com", "https://com.example.com.co.uk.com/../", "invalid-trust-root"},
		{"DVS-3.1-38/accept-own", "https://archive.example/x/", "https://archive.example/x/"},
		{"DVS-3.1-38/reject-archive-org", "https://web.archive.org/web/2026/https:/example.com/", "never-trusted-host"},
		{"DVS-3.1-38/reject-archive-ph", "https://archive.ph/x/", "never-trusted-host"},
		{"DVS-3.1-38/reject-translate", "https://example-com.translate.goog/", "never-trusted-host"},
		{"DVS-3.1-38/reject-ipfs", "https://ipfs.io/ipfs/x/", "never-trusted-host"},
		{"DVS-3.1-38/reject-dweb", "https://bafy.dweb.link/", "never-trusted-host"},
		{"DVS-3.1-38/reject-pastebin", "https://pastebin.com/raw/", "never-trusted-host"},
		{"DVS-3.1-38/reject-docs", "https://docs.google.com/document/", "never-trusted-host"},
		{"DVS-3.1-38/reject-drive", "https://drive.google.com/file/", "never-trusted-host"},
		{"DVS-3.1-38/reject-jina", "https://r.jina.ai/", "never-trusted-host"},
		{"DVS-3.1-41/accept-owner", "https://github.com/orgs-of-example/", "https://github.com/orgs-of-example/"},
		{"DVS-3.1-41/reject-orgs", "https://github.com/orgs/", "reserved-segment"},
		{"DVS-3.1-41/reject-orgs-case", "https://github.com/Orgs/example/", "reserved-segment"},
		{"DVS-3.1-43/reject-namespace-like-tags", "https://github.com/o/r/blob/refs/tagsevil/x/", "untrusted-ref"},
		{"DVS-3.1-44/reject-gist-without-file", "https://gist.github.com/u/0123456789abcdef/raw/0123456789abcdef0123456789abcdef01234567/", "not-content-route"},
		{"DVS-3.1-41/reject-case-of-a-word", "https://gitlab.com/Explore/", "reserved-segment"},
		{"DVS-3.1-41/reject-case-of-a-route", "https://huggingface.co/DataSets/", "ugc-root-too-short"},
		{"DVS-3.1-41/reject-prefix-alone", "https://git.sr.ht/~/", "reserved-segment"},
		{"DVS-3.1-41/reject-topics", "https://github.com/topics/", "reserved-segment"},
		{"DVS-3.1-41/reject-marketplace", "https://github.com/marketplace/", "reserved-segment"},
		{"DVS-3.1-41/reject-settings", "https://github.com/settings/", "reserved-segment"},
		{"DVS-3.1-41/reject-features", "https://github.com/features/", "reserved-segment"},
		{"DVS-3.1-41/reject-search", "https://github.com/search/", "reserved-segment"},
		{"DVS-3.1-41/reject-login", "https://github.com/login/", "reserved-segment"},
		{"DVS-3.1-41/reject-attachments", "https://github.com/user-attachments/", "reserved-segment"},
		{"DVS-3.1-41/reject-sponsors", "https://github.com/sponsors/", "reserved-segment"},
		{"DVS-3.1-41/reject-apps", "https://github.com/apps/", "reserved-segment"},
		{"DVS-3.1-41/reject-collections", "https://github.com/collections/", "reserved-segment"},
		{"DVS-3.1-41/reject-raw-wiki", "https://raw.githubusercontent.com/wiki/", "reserved-segment"},
		{"DVS-3.1-41/reject-gitlab-explore", "https://gitlab.com/explore/", "reserved-segment"},
		{"DVS-3.1-41/reject-gitlab-dash", "https://gitlab.com/-/", "reserved-segment"},
		{"DVS-3.1-41/reject-hf-blog", "https://huggingface.co/blog/", "reserved-segment"},
		{"DVS-3.1-41/reject-hf-papers", "https://huggingface.co/papers/", "reserved-segment"},
		{"DVS-3.1-41/reject-hf-collections", "https://huggingface.co/collections/", "reserved-segment"},
		{"DVS-3.1-42/reject-root-on-issues", "https://github.com/o/r/issues/", "not-content-route"},
		{"DVS-3.1-42/reject-content-of-a-group", "https://gitlab.com/g/-/blob/main/", "not-content-route"},
		{"DVS-3.1-42/reject-marker-alone", "https://gitlab.com/g/p/-/", "not-content-route"},
		{"DVS-3.1-42/accept-branch-named-pull", "https://github.com/o/r/blob/pull/", "https://github.com/o/r/blob/pull/"},
		{"DVS-3.1-42/accept-branch-named-refs", "https://github.com/o/r/blob/refs/", "https://github.com/o/r/blob/refs/"},
		{"DVS-3.1-48/reject-page-without-a-kind", "https://codeberg.org/o/r/src/", "not-content-route"},
		{"DVS-3.1-48/reject-kind-alone", "https://codeberg.org/o/r/src/branch/", "not-content-route"},
		{"DVS-3.1-48/reject-other-kind", "https://codeberg.org/o/r/src/main/s/", "not-content-route"},
		{"DVS-3.1-48/accept-revision-without-a-path", "https://git.sr.ht/~o/r/tree/main/", "https://git.sr.ht/~o/r/tree/main/"},
		{"DVS-3.1-48/reject-page-without-its-word", "https://git.sr.ht/~o/r/tree/main/a/", "not-content-route"},
		{"DVS-3.1-46/accept-tree-becomes-page", "https://github.com/o/r/tree/main/skills", "https://github.com/o/r/blob/main/skills/"},
		{"DVS-3.1-46/accept-raw-becomes-page", "https://raw.githubusercontent.com/o/r/main/skills/", "https://github.com/o/r/blob/main/skills/"},
		{"DVS-3.1-10/reject-underscore", "https://a_b.example/", "bad-host"},
		{"DVS-3.1-27/reject-long-with-its-slash", "https://example.com/" + strings.Repeat("x", 8192-len("https://example.com/")), "url-too-long"},
		{"DVS-3.1-27/reject-long-page", "https://git.sr.ht/~o/r/tree/main/item/" + strings.Repeat("x", 8192-len("https://git.sr.ht/~o/r/tree/main/item/")), "url-too-long"},
		{"DVS-3.1-27/reject-long-url-of-the-bytes", "https://github.com/o/r/blob/main/" + strings.Repeat("x", 8182-len("https://github.com/o/r/blob/main/")), "url-too-long"},
		{"A08/accept-443", "https://example.com:443/", "https://example.com/"},
		{"A08/accept-empty", "https://example.com:/", "https://example.com/"},
		{"A08/reject-leading-zero", "https://example.com:0443/", "bad-port"},
		{"A08/reject-range", "https://example.com:99999/", "bad-port"},
		{"A08/reject-overflow", "https://example.com:4294967739/", "bad-port"},
		{"A14/reject-root-query", "https://example.com/?x=", "invalid-trust-root"},
		{"A14/reject-root-fragment", "https://evil.example/#https://example.com/", "invalid-trust-root"},
		{"A16/reject-double-slash", "https://github.com//example-org/", "empty-segment"},
		{"A26/reject-decimal", "https://2130706433/", "ip-host"},
		{"A26/reject-hex", "https://0x7f.1/", "ip-host"},
		{"A26/reject-short", "https://127.1/", "ip-host"},
		{"A26/reject-octal", "https://0177.0.0.1/", "ip-host"},
		{"A26/reject-ipv6", "https://[::1]/", "ip-host"},
		{"A26/reject-zone", "https://[fe80::1%25eth0]/", "!"},
		{"B01/reject-plain", "https://github.com/", "ugc-bare-root"},
		{"B01/reject-case", "https://GITHUB.com", "ugc-bare-root"},
		{"B01/reject-port", "https://github.com:443/", "ugc-bare-root"},
		{"B01/reject-www", "https://www.github.com/", "ugc-bare-root"},
		{"B01/reject-hf", "https://huggingface.co/", "ugc-bare-root"},
		{"B01/reject-gist", "https://gist.github.com/", "ugc-bare-root"},
		{"B01/accept-owner", "https://gist.github.com/example/", "https://gist.github.com/example/"},
		{"B02/reject-orgs", "https://github.com/orgs/", "reserved-segment"},
		{"B02/reject-search", "https://github.com/search/", "reserved-segment"},
		{"B02/reject-login", "https://github.com/login/", "reserved-segment"},
		{"B02/reject-attachments", "https://github.com/user-attachments/", "reserved-segment"},
		{"B02/reject-other-case", "https://github.com/Orgs/", "reserved-segment"},
		{"B02/reject-topics", "https://github.com/topics/", "reserved-segment"},
	} {
		t.Run(c.id, func(t *testing.T) {
			root, err := dvs.ParseTrustRoot(c.in, dvs.Rules{})
			if err != nil {
				if got := string(lookleap.CodeOf(err)); got != c.want && c.want != "!" {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if !root.IsZero() {
					t.Errorf("a refused root is %s", root)
				}
				return
			}
			if root.String() != c.want {
				t.Errorf("got %s, want %s", root, c.want)
			}
			if again, err := dvs.ParseTrustRoot(root.String(), dvs.Rules{}); err != nil || again.String() != root.String() {
				t.Errorf("the canonical form is read as %s, %v", again, err)
			}
		})
	}
	t.Run("DVS-2-09/reject-lint", func(t *testing.T) {
		root, err := dvs.ParseTrustRoot("https://github.com/microsoft", dvs.Rules{})
		if err != nil || !slices.ContainsFunc(root.Lint(), func(f lookleap.Finding) bool { return f.Code == "trust-root-no-slash" }) {
			t.Errorf("got %v, %v", root.Lint(), err)
		}
		if root, _ := dvs.ParseTrustRoot("https://github.com/microsoft/", dvs.Rules{}); len(root.Lint()) != 0 {
			t.Errorf("a perfect root has %v", root.Lint())
		}
	})
	t.Run("DVS-2-12/accept-hosting-domain", func(t *testing.T) {
		root, _ := dvs.ParseTrustRoot("https://github.com/o/", dvs.Rules{})
		u, _ := dvs.ParseSkillURL("https://github.com/o/r/blob/main/s/SKILL.md", dvs.Rules{})
		if root.HostingDomain() != "github.com" || u.ServingHost() != "raw.githubusercontent.com" {
			t.Errorf("got %s and %s", root.HostingDomain(), u.ServingHost())
		}
	})
}

// TestCovers reads like the rows: root, skill URL, and whether the skill lies
// under the root. A refusal's reason is a code.
func TestCovers(t *testing.T) {
	const outside = "outside-trust-root"
	for _, c := range []struct{ id, root, url, want string }{
		{"DVS-1-02/accept-domain", "https://microsoft.com/", "https://microsoft.com/skills/x/SKILL.md", ""},
		{"DVS-1-02/reject-www", "https://microsoft.com/", "https://www.microsoft.com/skills/x/SKILL.md", outside},
		{"DVS-1-03/accept-org", "https://github.com/microsoft/", "https://github.com/microsoft/r/blob/main/s/SKILL.md", ""},
		{"DVS-1-03/reject-longer-name", "https://github.com/microsoft/", "https://github.com/microsoft-evil/r/blob/main/s/SKILL.md", outside},
		{"DVS-3.1-05/accept-prefix", "https://example.com/a/", "https://example.com/a/b/SKILL.md", ""},
		{"DVS-3.1-05/reject-other-host", "https://example.com/a/", "https://other.example/a/b/SKILL.md", outside},
		{"DVS-3.1-05/reject-string-prefix", "https://example.com/a", "https://example.com/ab/SKILL.md", outside},
		{"DVS-3.1-06/accept-case", "https://example.com/", "HTTPS://example.com/x/SKILL.md", ""},
		{"DVS-3.1-06/reject-httpss", "https://example.com/", "httpss://example.com/x/SKILL.md", "not-https"},
		{"DVS-3.1-06/reject-wss", "https://example.com/", "wss://example.com/x/SKILL.md", "not-https"},
		{"DVS-3.1-06/reject-http", "https://example.com/", "http://example.com/x/SKILL.md", "not-https"},
		{"DVS-3.1-07/accept-case", "https://example.com/", "https://EXAMPLE.COM/x/SKILL.md", ""},
		{"DVS-3.1-07/reject-suffix", "https://example.com/", "https://example.com.evil.com/x/SKILL.md", outside},
		{"DVS-3.1-07/reject-prefix", "https://example.com/", "https://evilexample.com/x/SKILL.md", outside},
		{"DVS-3.1-07/reject-www", "https://example.com/", "https://www.example.com/x/SKILL.md", outside},
		{"DVS-3.1-08/accept-u-label", "https://xn--bcher-kva.example/", "https://BÜCHER.example/x/SKILL.md", ""},
		{"DVS-3.1-08/accept-sharp-s", "https://xn--fa-hia.de/", "https://faß.de/x/SKILL.md", ""},
		{"DVS-3.1-08/reject-sharp-s-as-ss", "https://fass.de/", "https://faß.de/x/SKILL.md", outside},
		{"DVS-3.1-08/reject-bad-a-label", "https://example.com/", "https://xn--zzzz.example/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-underscore", "https://example.com/", "https://a_b.example/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-hyphen", "https://example.com/", "https://-a.example/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-full-width", "https://example.com/", "https://ｅxample.com/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-ideographic-dot", "https://example.com/", "https://example。com/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-soft-hyphen", "https://example.com/", "https://ex\u00adample.com/x/SKILL.md", "bad-host"},
		{"DVS-3.1-08/reject-zero-width", "https://example.com/", "https://example\u200b.com/x/SKILL.md", "bad-host"},
		{"DVS-3.1-09/accept-ascii", "https://apple.com/", "https://apple.com/x/SKILL.md", ""},
		{"DVS-3.1-09/reject-cyrillic", "https://apple.com/", "https://аpple.com/x/SKILL.md", outside},
		{"DVS-3.1-10/reject-empty-label", "https://example.com/", "https://a..b/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-leading-dot", "https://example.com/", "https://.example.com/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-long-label", "https://example.com/", "https://" + strings.Repeat("a", 64) + ".example/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-long-name", "https://example.com/", "https://" + strings.Repeat("a123456.", 31) + "example/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-escaped", "https://example.com/", "https://%65xample.com/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-escaped-slash", "https://example.com/", "https://example.com%2f.evil.test/SKILL.md", "bad-host"},
		{"DVS-3.1-10/reject-opaque", "https://example.com/", "https:example.com", "bad-url"},
		{"DVS-3.1-10/reject-one-slash", "https://example.com/", "https:/example.com/", "bad-url"},
		{"DVS-3.1-10/reject-three-slashes", "https://example.com/", "https:///example.com/", "bad-url"},
		{"DVS-3.1-10/reject-no-scheme", "https://example.com/", "//example.com/", "!"},
		{"DVS-3.1-10/accept-ordinary", "https://example.com/", "https://example.com/SKILL.md", ""},
		{"DVS-3.1-11/accept-no-dot", "https://example.com/", "https://example.com/x/SKILL.md", ""},
		{"DVS-3.1-11/reject-dot", "https://example.com/", "https://example.com./x/SKILL.md", "host-trailing-dot"},
		{"DVS-3.1-12/reject-ipv4", "https://example.com/", "https://127.0.0.1/SKILL.md", "ip-host"},
		{"DVS-3.1-12/reject-ipv6", "https://example.com/", "https://[::1]/SKILL.md", "ip-host"},
		{"DVS-3.1-12/reject-hex", "https://example.com/", "https://0x7f.1/SKILL.md", "ip-host"},
		{"DVS-3.1-12/reject-short", "https://example.com/", "https://127.1/SKILL.md", "ip-host"},
		{"DVS-3.1-12/reject-decimal", "https://example.com/", "https://2130706433/SKILL.md", "ip-host"},
		{"DVS-3.1-12/reject-full-width", "https://example.com/", "https://１２７.0.0.1/SKILL.md", "!"},
		{"DVS-3.1-12/accept-name", "https://example.com/", "https://example.com/127.0.0.1/SKILL.md", ""},
		{"DVS-3.1-13/reject-localhost", "https://example.com/", "https://localhost/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-single-label", "https://example.com/", "https://intranet/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-local", "https://example.com/", "https://x.local/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-internal", "https://example.com/", "https://x.internal/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-test", "https://example.com/", "https://x.test/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-invalid", "https://example.com/", "https://x.invalid/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-onion", "https://example.com/", "https://x.onion/SKILL.md", "special-host"},
		{"DVS-3.1-13/reject-home-arpa", "https://example.com/", "https://x.home.arpa/SKILL.md", "special-host"},
		{"DVS-3.1-13/accept-example", "https://x.example/", "https://x.example/SKILL.md", ""},
		{"DVS-3.1-14/accept-443", "https://example.com/", "https://example.com:443/SKILL.md", ""},
		{"DVS-3.1-14/accept-empty", "https://example.com/", "https://example.com:/SKILL.md", ""},
		{"DVS-3.1-14/accept-named", "https://example.com:8443/", "https://example.com:8443/SKILL.md", ""},
		{"DVS-3.1-14/reject-8443", "https://example.com/", "https://example.com:8443/SKILL.md", outside},
		{"DVS-3.1-14/reject-0", "https://example.com/", "https://example.com:0/SKILL.md", "bad-port"},
		{"DVS-3.1-14/reject-65536", "https://example.com/", "https://example.com:65536/SKILL.md", "bad-port"},
		{"DVS-3.1-14/reject-sign", "https://example.com/", "https://example.com:+1/SKILL.md", "bad-port"},
		{"DVS-3.1-14/reject-zero", "https://example.com/", "https://example.com:0443/SKILL.md", "bad-port"},
		{"DVS-3.1-15/reject-name", "https://github.com/o/", "https://github.com@evil.com/SKILL.md", "userinfo"},
		{"DVS-3.1-15/reject-empty", "https://example.com/", "https://@example.com/SKILL.md", "userinfo"},
		{"DVS-3.1-15/reject-password", "https://example.com/", "https://u:p@example.com/SKILL.md", "userinfo"},
		{"DVS-3.1-15/accept-at-in-path", "https://example.com/", "https://example.com/@x/SKILL.md", ""},
		{"DVS-3.1-16/accept-segments", "https://github.com/microsoft", "https://github.com/microsoft/r/blob/main/s/SKILL.md", ""},
		{"DVS-3.1-16/reject-dash", "https://github.com/microsoft", "https://github.com/microsoft-evil/r/blob/main/s/SKILL.md", outside},
		{"DVS-3.1-16/reject-longer", "https://github.com/microsoft", "https://github.com/microsoftx/r/blob/main/s/SKILL.md", outside},
		{"DVS-3.1-17/accept-equal-no-slash", "https://example.com/s/x/", "https://example.com/s/x", ""},
		{"DVS-3.1-17/accept-equal", "https://example.com/s/x/", "https://example.com/s/x/", ""},
		{"DVS-3.1-17/reject-parent", "https://example.com/s/x/", "https://example.com/s/", outside},
		{"DVS-3.1-18/accept-github-folds", "https://github.com/microsoft/", "https://github.com/Microsoft/R/blob/main/s/SKILL.md", ""},
		{"DVS-3.1-18/reject-path-case", "https://example.com/Skills/", "https://example.com/skills/x/SKILL.md", outside},
		{"DVS-3.1-18/reject-github-path-case", "https://github.com/o/r/blob/Main/", "https://github.com/o/r/blob/main/SKILL.md", outside},
		{"DVS-3.1-19/reject-up", "https://github.com/microsoft/", "https://github.com/microsoft/../evil/SKILL.md", "dot-segment"},
		{"DVS-3.1-19/reject-here", "https://example.com/", "https://example.com/a/./b", "dot-segment"},
		{"DVS-3.1-19/accept-dots-in-name", "https://example.com/", "https://example.com/a..b/...c/SKILL.md", ""},
		{"DVS-3.1-20/reject-escaped-up", "https://github.com/microsoft/", "https://github.com/microsoft/%2e%2e/evil/SKILL.md", "dot-segment"},
		{"DVS-3.1-20/reject-half-escaped", "https://example.com/", "https://example.com/.%2E/SKILL.md", "dot-segment"},
		{"DVS-3.1-20/reject-in-file", "https://example.com/", "https://example.com/s/x/SKILL%2Emd", "ambiguous-path"},
		{"DVS-3.1-20/reject-in-well-known", "https://example.com/", "https://example.com/%2Ewell-known/skills/x/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-20/accept-other-byte", "https://example.com/", "https://example.com/s/%78/SKILL.md", ""},
		{"DVS-3.1-21/reject-slash", "https://example.com/", "https://example.com/a%2Fb/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-21/reject-backslash", "https://example.com/", "https://example.com/a%5Cb/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-21/reject-nul", "https://example.com/", "https://example.com/a%00/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-21/reject-newline", "https://example.com/", "https://example.com/a%0a/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-21/reject-delete", "https://example.com/", "https://example.com/a%7f/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-21/accept-space", "https://example.com/", "https://example.com/a%20b/SKILL.md", ""},
		{"DVS-3.1-22/reject-dots", "https://example.com/", "https://example.com/%252e%252e/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-22/reject-slash", "https://example.com/", "https://example.com/a%252Fb/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-22/reject-backslash", "https://example.com/", "https://example.com/a%255cb/SKILL.md", "ambiguous-path"},
		{"DVS-3.1-22/accept-percent", "https://example.com/", "https://example.com/a%2525/SKILL.md", ""},
		{"DVS-3.1-23/reject-backslash-host", "https://example.com/", `https://h\@evil/`, "!"},
		{"DVS-3.1-23/reject-backslash-path", "https://example.com/", `https://example.com/a\..\b`, "bad-url"},
		{"DVS-3.1-23/reject-space", "https://example.com/", "https://example.com/a b", "bad-url"},
		{"DVS-3.1-23/reject-leading-space", "https://example.com/", " https://example.com/", "!"},
		{"DVS-3.1-23/reject-trailing-space", "https://example.com/", "https://example.com/ ", "bad-url"},
		{"DVS-3.1-23/reject-tab", "https://example.com/", "https://example.com/a\tb", "bad-url"},
		{"DVS-3.1-23/reject-newline", "https://example.com/", "https://example.com/a\nb", "bad-url"},
		{"DVS-3.1-23/accept-plain", "https://example.com/", "https://example.com/a-b", ""},
		{"DVS-3.1-24/reject-up", "https://example.com/", "https://example.com/a/..;/b/SKILL.md", "dot-segment"},
		{"DVS-3.1-24/reject-here", "https://example.com/", "https://example.com/a/.;x/b/SKILL.md", "dot-segment"},
		{"DVS-3.1-24/accept-parameter", "https://example.com/", "https://example.com/a;x/SKILL.md", ""},
		{"DVS-3.1-25/reject-first", "https://github.com/o/", "https://github.com//evil/", "empty-segment"},
		{"DVS-3.1-25/reject-inner", "https://example.com/", "https://example.com/a//b/SKILL.md", "empty-segment"},
		{"DVS-3.1-25/accept-final", "https://example.com/", "https://example.com/a/b/", ""},
		{"DVS-3.1-26/accept-tilde", "https://example.com/~org/", "https://example.com/%7Eorg/SKILL.md", ""},
		{"DVS-3.1-26/accept-hex-case", "https://example.com/%C3%A9/", "https://example.com/%c3%a9/SKILL.md", ""},
		{"DVS-3.1-26/accept-raw", "https://example.com/%C3%A9/", "https://example.com/é/SKILL.md", ""},
		{"DVS-3.1-26/reject-not-hex", "https://example.com/", "https://example.com/%zz/SKILL.md", "bad-url"},
		{"DVS-3.1-26/reject-short", "https://example.com/", "https://example.com/a%4", "bad-url"},
		{"DVS-3.1-27/reject-long", "https://example.com/", "https://example.com/" + strings.Repeat("a", 8192), "url-too-long"},
		{"DVS-3.1-27/accept-limit", "https://example.com/", "https://example.com/" + strings.Repeat("a", 8000) + "/SKILL.md", ""},
		{"DVS-3.1-36/reject-neighbour", "https://alice.github.io/", "https://bob.github.io/x/SKILL.md", outside},
		{"DVS-7-04/accept-same", "https://example.com/", "https://example.com/x/SKILL.md", ""},
		{"DVS-7-04/reject-subdomain", "https://example.com/", "https://sub.example.com/x/SKILL.md", outside},
		{"DVS-7-04/reject-parent", "https://sub.example.com/", "https://example.com/x/SKILL.md", outside},
		{"DVS-3.2-01/accept-any-path", "https://example.com/", "https://example.com/skills/my-assistant/SKILL.md", ""},

		{"A01/reject-suffix", "https://example.com", "https://example.com.evil.example/SKILL.md", outside},
		{"A01/accept-no-path", "https://example.com", "https://example.com/SKILL.md", ""},
		{"A02/reject-dash", "https://example.com/", "https://evil-example.com/SKILL.md", outside},
		{"A02/reject-not", "https://example.com/", "https://notexample.com/", outside},
		{"A04/reject-above", "https://github.com/example-org/repo/", "https://github.com/example-org/SKILL.md", "!"},
		{"A04/reject-sibling", "https://github.com/example-org/repo/", "https://github.com/example-org/other/blob/main/SKILL.md", outside},
		{"A05/reject-http", "https://example.com/", "http://example.com/SKILL.md", "not-https"},
		{"A05/reject-http-case", "https://example.com/", "HTTP://example.com/SKILL.md", "not-https"},
		{"A05/reject-ftp", "https://example.com/", "ftp://example.com/SKILL.md", "not-https"},
		{"A05/reject-file", "https://example.com/", "file:///SKILL.md", "not-https"},
		{"A05/reject-javascript", "https://example.com/", "javascript:alert(1)", "not-https"},
		{"A05/reject-data", "https://example.com/", "data:text/markdown,x", "not-https"},
		{"A07/reject-case", "https://example.com/Skills/", "https://example.com/skills/x/SKILL.md", outside},
		{"A08/accept-443", "https://example.com/", "https://example.com:443/SKILL.md", ""},
		{"A08/reject-8443", "https://example.com/", "https://example.com:8443/SKILL.md", outside},
		{"A10/reject-escaped", "https://github.com/example-org/", "https://github.com/example-org/%2e%2e/evil/SKILL.md", "dot-segment"},
		{"A10/reject-upper", "https://github.com/example-org/", "https://github.com/example-org/%2E./evil/SKILL.md", "dot-segment"},
		{"A10/reject-half", "https://github.com/example-org/", "https://github.com/example-org/.%2e/evil/SKILL.md", "dot-segment"},
		{"A11/reject-slash", "https://github.com/example-org/", "https://github.com/example-org%2f..%2fevil/SKILL.md", "ambiguous-path"},
		{"A11/reject-slash-in-capitals", "https://github.com/example-org/", "https://github.com/example-org%2F..%2Fevil/SKILL.md", "ambiguous-path"},
		{"A11/reject-backslash-in-capitals", "https://github.com/example-org/", "https://github.com/example-org/a%5Cevil/SKILL.md", "ambiguous-path"},
		{"A11/reject-backslash", "https://github.com/example-org/", "https://github.com/a%5c..%5cevil", "ambiguous-path"},
		{"A11/reject-final", "https://github.com/example-org/", "https://github.com/example-org/..%2f", "!"},
		{"A13/reject-host", "https://example.com/", "https://example.com@evil.test/", "userinfo"},
		{"A13/reject-port", "https://example.com/", "https://example.com:443@evil.test/", "userinfo"},
		{"A13/reject-password", "https://example.com/", "https://u:p@example.com/", "userinfo"},
		{"A14/reject-fragment-on-authority", "https://example.com/", "https://example.com#@evil.test/", "bad-url"},
		{"A14/reject-query", "https://example.com/", "https://example.com?@evil.test/", "query-in-skill-url"},
		{"A14/reject-other-host", "https://example.com/", "https://evil.example/#https://example.com/", outside},
		{"A16/reject-first", "https://example.com/", "https://example.com//evil/SKILL.md", "empty-segment"},
		{"A16/reject-dots", "https://example.com/", "https://example.com/skills//../x", "!"},
		{"A17/reject-parameter", "https://github.com/example-org/", "https://github.com/example-org;x/r/blob/main/SKILL.md", outside},
		{"A19/reject-full-width", "https://example.com/", "https://ｅxample.com/", "bad-host"},
		{"A19/reject-dot", "https://example.com/", "https://example。com/", "bad-host"},
		{"A19/reject-soft-hyphen", "https://example.com/", "https://ex\u00adample.com/", "bad-host"},
		{"A19/reject-zero-width", "https://example.com/", "https://EXAMPLE\u200b.com/", "bad-host"},
		{"A19/accept-composed", "https://xn--bcher-kva.example/", "https://BÜCHER.example/", ""},
		{"A20/reject-homograph", "https://example.com/", "https://exаmple.com/", outside},
		{"A22/reject-empty-label", "https://example.com/", "https://a..b/", "bad-host"},
		{"A22/reject-64", "https://example.com/", "https://" + strings.Repeat("a", 64) + ".example/", "bad-host"},
		{"A23/reject-letter", "https://example.com/", "https://%65xample.com/", "bad-host"},
		{"A23/reject-slash", "https://example.com/", "https://example.com%2f.evil.test/", "bad-host"},
		{"A23/reject-nul", "https://example.com/", "https://example.com%00.evil.test/", "bad-host"},
		{"A23/reject-utf8", "https://example.com/", "https://%e2%98%83/", "bad-host"},
		{"A25/reject-opaque", "https://example.com/", "https:example.com", "bad-url"},
		{"A25/reject-one-slash", "https://example.com/", "https:/example.com/", "bad-url"},
		{"A25/reject-hostless", "https://example.com/", "https:///example.com/", "bad-url"},
		{"A25/reject-no-scheme", "https://example.com/", "//example.com/", "!"},
		{"A31/reject-subdomain", "https://example.com/", "https://skills.example.com/x/SKILL.md", outside},
	} {
		t.Run(c.id, func(t *testing.T) {
			root, err := dvs.ParseTrustRoot(c.root, dvs.Rules{})
			if err != nil {
				t.Fatal(err)
			}
			u, err := dvs.ParseSkillURL(c.url, dvs.Rules{})
			got := ""
			switch {
			case err != nil:
				got = string(lookleap.CodeOf(err))
				if !u.IsZero() || root.Covers(u) {
					t.Errorf("a refused URL is %s", u)
				}
			case !root.Covers(u):
				got = outside
			}
			if got != c.want && (c.want != "!" || got == "") {
				t.Errorf("%s under %s: got %q (%v), want %q", c.url, root, got, err, c.want)
			}
		})
	}
}

func TestAllowLocalhost(t *testing.T) {
	rules := dvs.Rules{InsecureAllowLocalhost: true}
	t.Run("DVS-3.1-13/accept-option", func(t *testing.T) {
		root, err := dvs.ParseTrustRoot("https://localhost/", rules)
		u, err2 := dvs.ParseSkillURL("https://localhost/s/SKILL.md", rules)
		if err != nil || err2 != nil || !root.Covers(u) {
			t.Error(root, u, err, err2)
		}
	})
}

func FuzzTrustRoot(f *testing.F) {
	for _, s := range []string{"https://example.com/skills/", "https://GITHUB.com:443/Org", "https://raw.githubusercontent.com/o/r/main/", "https://a..b/", "https://git.sr.ht/~o/r/tree/main/item/x/",
		"https://gist.github.com/o/abcdef/raw/", "https://huggingface.co/datasets/o/d/tree/main/", "https://BÜCHER.example/é/", "https://gitlab.com/g/s/p/-/raw/v1/x"} {
		f.Add(s, "https://github.com/o/r/blob/main/SKILL.md")
	}
	f.Fuzz(func(t *testing.T, raw, skill string) {
		root, err := dvs.ParseTrustRoot(raw, dvs.Rules{})
		if err != nil {
			if !root.IsZero() || !lookleap.CodeOf(err).Known() {
				t.Fatalf("%q: %v with %v", raw, root, err)
			}
			return
		}
		if again, err := dvs.ParseTrustRoot(root.String(), dvs.Rules{}); err != nil || again.String() != root.String() {
			t.Fatalf("%q becomes %q, and that %q, %v", raw, root, again, err)
		}
		u, err := dvs.ParseSkillURL(skill, dvs.Rules{})
		if err == nil && root.Covers(u) && !strings.HasPrefix(u.String(), root.String()) {
			t.Fatalf("%s covers %s", root, u)
		}
	})
}

var benchCovered bool

func BenchmarkCovers(b *testing.B) {
	root, _ := dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{})
	u, _ := dvs.ParseSkillURL("https://github.com/example-org/skills/blob/main/refund/SKILL.md", dvs.Rules{})
	b.Run("parsed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			benchCovered = root.Covers(u)
		}
	})
	b.Run("parse-skill-url-and-decide", func(b *testing.B) {
		b.ReportAllocs()
		origin, _ := dvs.ParseTrustRoot("https://example.com/", dvs.Rules{})
		for b.Loop() {
			u, _ := dvs.ParseSkillURL("https://example.com/.well-known/skills/refund/SKILL.md", dvs.Rules{})
			benchCovered = origin.Covers(u)
		}
	})
}

// TestTrustRootOf derives roots and reports their spelling.
func TestTrustRootOf(t *testing.T) {
	t.Run("DVS-3.1-46/accept-lint-of-a-mapped-root", func(t *testing.T) {
		root, err := dvs.ParseTrustRoot("https://raw.githubusercontent.com/o/", dvs.Rules{})
		if findings := root.Lint(); err != nil || len(findings) != 1 || findings[0].Code != "trust-root-mapped" {
			t.Errorf("got %v, %v", findings, err)
		}
	})
	t.Run("DVS-3.1-28/reject-default-of-nothing", func(t *testing.T) {
		if root, source, err := dvs.DefaultRoot(dvs.SkillURL{}, dvs.Rules{}); lookleap.CodeOf(err) != dvs.CodeNeedsRoot || !root.IsZero() || source != dvs.Undeclared {
			t.Errorf("got %s, %s, %v", root, source, err)
		}
	})
	t.Run("DVS-3.1-31/reject-routes-of-a-code-host", func(t *testing.T) {
		for path, want := range map[string]lookleap.Code{
			"g/p/-/blob/m": dvs.CodeNeedsRoot, "g/p/-/raw/m": dvs.CodeNeedsRoot, "g/p/-/tree/m": dvs.CodeNeedsRoot, "g/p/-/x/m": lookleap.CodeOK, "g/p/x/blob/m": lookleap.CodeOK,
			"o/r/src/branch/m": dvs.CodeNeedsRoot, "o/r/src/tag/v1": dvs.CodeNeedsRoot, "o/r/raw/commit/c": dvs.CodeNeedsRoot, "o/r/raw/branch/m": dvs.CodeNeedsRoot, "o/r/src/x/m": lookleap.CodeOK, "o/r/x/branch/m": lookleap.CodeOK,
		} {
			if _, _, err := dvs.DefaultRoot(skillURL(t, "https://forge.example/"+path+"/SKILL.md"), dvs.Rules{}); lookleap.CodeOf(err) != want {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	t.Run("DVS-3.1-31/reject-file-named-as-a-route", func(t *testing.T) {
		u, err := dvs.ParseArtifactURL("https://forge.example/g/p/-/blob", dvs.SingleFile, dvs.Rules{})
		if _, _, refused := dvs.DefaultRoot(u, dvs.Rules{}); err != nil || lookleap.CodeOf(refused) != dvs.CodeNeedsRoot {
			t.Error(err, refused)
		}
	})
	t.Run("DVS-3.1-28/reject-pattern-as-publisher", func(t *testing.T) {
		if root, source, err := dvs.DefaultRoot(skillURL(t, "https://cs.univ.example/~a*/s/SKILL.md"), dvs.Rules{}); lookleap.CodeOf(err) != "invalid-trust-root" || !root.IsZero() || source != dvs.Undeclared {
			t.Errorf("got %s, %s, %v", root, source, err)
		}
	})
	t.Run("DVS-3.1-37/reject-file-of-a-host-of-many-names", func(t *testing.T) {
		if _, _, err := dvs.DefaultRoot(skillURL(t, "https://web.app/SKILL.md"), dvs.Rules{}); lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-37/accept-path-below-a-host-of-many-names", func(t *testing.T) {
		root, source, err := dvs.DefaultRoot(skillURL(t, "https://web.app/bucket/s/SKILL.md"), dvs.Rules{})
		if err != nil || root.String() != "https://web.app/bucket/" || source != dvs.Derived {
			t.Errorf("got %s, %s, %v", root, source, err)
		}
	})
}

// TestCoversByBothURLs: a root covers a skill only if the page and the URL of the bytes lie under
// it. They can differ if one was parsed before a platform was added.
func TestCoversByBothURLs(t *testing.T) {
	without := dvs.Rules{Platforms: new(dvs.Platforms)}
	root, err := dvs.ParseTrustRoot("https://github.com/example-org/", dvs.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{
		"bytes": "https://github.com/example-org/skills/blob/main/a/SKILL.md",
		"page":  "https://raw.githubusercontent.com/example-org/skills/main/a/SKILL.md",
	} {
		t.Run("DVS-3.1-46/reject-"+name+"-outside-the-mapped-root", func(t *testing.T) {
			for _, rules := range []dvs.Rules{{}, without} {
				u, err := dvs.ParseSkillURL(url, rules)
				if err != nil || root.Covers(u) != (rules.Platforms == nil) {
					t.Errorf("%s, served from %s: %t, %v", u, u.ServedFrom(), root.Covers(u), err)
				}
			}
		})
	}
	if (dvs.TrustRoot{}).Covers(dvs.SkillURL{}) || root.Covers(dvs.SkillURL{}) || (dvs.TrustRoot{}).Covers(skillURL(t, "https://shop.example/a/SKILL.md")) {
		t.Error("nothing covers something")
	}
}
