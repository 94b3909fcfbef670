package dvs_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// prompter answers every request by a rule, and remembers what it was asked.
type prompter struct {
	mu     sync.Mutex
	asked  []*lookleap.ConsentRequest
	decide func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error)
}

func (p *prompter) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, req)
	return p.decide(req)
}

func (p *prompter) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

func agree(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	d := lookleap.ConsentDecision{Digest: req.Digest}
	for _, item := range req.Items {
		d.Approved = append(d.Approved, item.ID)
	}
	return d, nil
}

func decline(req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{Digest: req.Digest}, nil
}

func registry(t *testing.T, roots ...string) *dvs.Roots {
	t.Helper()
	r := dvs.NewRoots(dvs.Rules{})
	for _, root := range roots {
		if _, err := r.Register(root, dvs.ByHost); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func hasFinding(v *lookleap.Verdict, code lookleap.Code) bool {
	return v != nil && slices.ContainsFunc(v.Findings, func(f lookleap.Finding) bool { return f.Code == code })
}

func hasCheck(v *lookleap.Verdict, code lookleap.Code) bool {
	return v != nil && slices.ContainsFunc(v.Checks, func(c lookleap.Check) bool { return c.Code == code })
}

// TestLoad spoils one thing about a site that publishes a skill.
func TestLoad(t *testing.T) {
	const at = "/s/a/SKILL.md"
	for _, c := range []struct {
		id   string
		site func(*lookleaptest.Site)
		url  string
		want lookleap.Code
		seen string // a code that the verdict of a loaded skill has to show
	}{
		{id: "DVS-0-01/accept-url-alone"},
		{id: "DVS-0-05/accept-static-host", site: func(s *lookleaptest.Site) { s.File(at, "text/plain; charset=utf-8", refund) }, seen: "media-type"},
		{id: "DVS-1-06/accept-agent-skill", site: func(s *lookleaptest.Site) {
			s.File(at, "text/markdown", "---\nname: refund\ndescription: d\nlicense: MIT\nmetadata:\n  author: x\nallowed-tools: Bash\n---\nbody\n")
		}},
		{id: "DVS-2-02/reject-no-skill", url: "https://shop.example/none/", want: "skill-not-found"},
		{id: "DVS-2-04/accept-directory", url: "https://shop.example/s/a/"},
		{id: "DVS-3.1-01/accept-https"},
		{id: "DVS-3.1-01/reject-not-tls", site: func(s *lookleaptest.Site) { s.Connection(lookleaptest.ConnectionNotTLS) }, want: "tls"},
		{id: "DVS-3.1-02/reject-http", url: "http://shop.example/s/a/SKILL.md", want: "not-https"},
		{id: "DVS-3.1-03/reject-hop-to-http", site: func(s *lookleaptest.Site) { s.Redirect(at, "http://shop.example/b/SKILL.md") }, want: "not-https"},
		{id: "DVS-3.1-04/reject-expired", site: func(s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateExpired) }, want: "tls"},
		{id: "DVS-3.1-04/reject-self-signed", site: func(s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateSelfSigned) }, want: "tls"},
		{id: "DVS-3.1-04/reject-wrong-name", site: func(s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateWrongName) }, want: "tls"},
		{id: "DVS-3.1-50/accept-inside", site: func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(301, "Location", "/v2/a/SKILL.md")).File("/v2/a/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-50/reject-www", site: func(s *lookleaptest.Site) { s.Redirect(at, "https://www.shop.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "DVS-3.1-50/reject-evil", site: func(s *lookleaptest.Site) { s.Redirect(at, "https://other.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "A28/reject-protocol-relative", site: func(s *lookleaptest.Site) { s.Redirect(at, "/open").Redirect("/open", "//other.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "A28/reject-out-and-back", site: func(s *lookleaptest.Site) { s.Redirect(at, "https://other.example/back") }, want: "redirect-outside-root"},
		{id: "A28/accept-redirects-inside", site: func(s *lookleaptest.Site) {
			s.Redirect(at, "/open").Redirect("/open", "//shop.example/b/SKILL.md").File("/b/SKILL.md", "text/markdown", refund)
		}},
		{id: "A29/reject-downgrade", site: func(s *lookleaptest.Site) {
			s.Handle(at, lookleaptest.Status(307, "Location", "http://shop.example/s/a/SKILL.md"))
		}, want: "not-https"},
		{id: "DVS-3.1-51/accept-five", site: func(s *lookleaptest.Site) {
			s.RedirectChain(at, 5, "/ok/SKILL.md").RedirectChain(at, 4, "/ok/SKILL.md").File("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/accept-301", site: func(s *lookleaptest.Site) {
			s.Status(at, 301, "Location", "/ok/SKILL.md").File("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/accept-303", site: func(s *lookleaptest.Site) {
			s.Status(at, 303, "Location", "/ok/SKILL.md").File("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/accept-307", site: func(s *lookleaptest.Site) {
			s.Status(at, 307, "Location", "/ok/SKILL.md").File("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/accept-308", site: func(s *lookleaptest.Site) {
			s.Status(at, 308, "Location", "/ok/SKILL.md").File("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/reject-six", site: func(s *lookleaptest.Site) { s.RedirectChain(at, 6, "") }, want: "too-many-redirects"},
		{id: "DVS-3.1-51/reject-loop", site: func(s *lookleaptest.Site) { s.Redirect(at, at) }, want: "too-many-redirects"},
		{id: "DVS-3.1-51/reject-no-location", site: func(s *lookleaptest.Site) { s.Status(at, 302) }, want: "bad-redirect"},
		{id: "DVS-3.1-51/reject-300", site: func(s *lookleaptest.Site) { s.Status(at, 300) }, want: "bad-status"},
		{id: "DVS-3.1-51/reject-304-unsolicited", site: func(s *lookleaptest.Site) { s.Status(at, 304) }, want: "bad-status"},
		{id: "DVS-3.1-54/reject-404", site: func(s *lookleaptest.Site) { s.Status(at, 404) }, want: "skill-not-found"},
		{id: "DVS-3.1-54/reject-403", site: func(s *lookleaptest.Site) { s.Status(at, 403) }, want: "skill-forbidden"},
		{id: "DVS-3.1-54/reject-206", site: func(s *lookleaptest.Site) { s.Status(at, 206) }, want: "bad-status"},
		{id: "DVS-3.1-54/reject-500", site: func(s *lookleaptest.Site) { s.Status(at, 500) }, want: "bad-status"},
		{id: "DVS-3.1-55/reject-private", site: func(s *lookleaptest.Site) { s.At("10.0.0.1") }, want: "blocked-address"},
		{id: "DVS-3.1-55/reject-metadata", site: func(s *lookleaptest.Site) { s.At("169.254.169.254") }, want: "blocked-address"},
		{id: "DVS-4.2-04/accept-markdown"},
		{id: "DVS-4.2-04/reject-html", site: func(s *lookleaptest.Site) { s.File(at, "text/html", refund) }, want: "media-type"},
		{id: "DVS-4.2-04/reject-doubled", site: func(s *lookleaptest.Site) {
			s.Fault(at, lookleaptest.Header("Content-Type", "text/markdown", "text/html"))
		}, want: "media-type"},
		{id: "DVS-4.2-05/reject-image", site: func(s *lookleaptest.Site) { s.File(at, "image/png", refund) }, want: "media-type"},
		{id: "DVS-4.2-05/reject-bytes-of-another-name", site: func(s *lookleaptest.Site) {
			s.Redirect(at, "/download/1").File("/download/1", "application/octet-stream", refund)
		}, want: "media-type"},
		{id: "DVS-4.2-05/accept-bytes-after-redirect", site: func(s *lookleaptest.Site) {
			s.Redirect(at, "/v2/SKILL.md").File("/v2/SKILL.md", "application/octet-stream", refund)
		}, seen: "media-type"},
		{id: "reject-broken-archive", url: "https://shop.example/a.zip", site: func(s *lookleaptest.Site) { s.File("/a.zip", "application/zip", "PK\x03\x04 and nothing more") }, want: dvs.CodeBadArchive},
		{id: "DVS-4.2-05/accept-no-type-registered", site: func(s *lookleaptest.Site) {
			s.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				_, _ = w.Write([]byte(refund))
			})
		}, seen: "media-type"},
		{id: "DVS-4.2-05/accept-bytes-registered", site: func(s *lookleaptest.Site) { s.File(at, "application/octet-stream", refund) }, seen: "media-type"},
		{id: "DVS-4.2-06/reject-latin1", site: func(s *lookleaptest.Site) { s.File(at, "text/markdown; charset=iso-8859-1", refund) }, want: "not-utf8"},
		{id: "DVS-4.2-06/accept-quoted", site: func(s *lookleaptest.Site) { s.File(at, `text/markdown; charset="utf-8"`, refund) }},
		{id: "DVS-4.2-08/reject-huge", site: func(s *lookleaptest.Site) { s.Fault(at, lookleaptest.Huge(2<<20)) }, want: "too-large"},
		{id: "DVS-4.2-08/reject-truncated", site: func(s *lookleaptest.Site) { s.HTTP1().Fault(at, lookleaptest.Truncated()) }, want: "truncated"},
		{id: "DVS-4.2-08/accept-large", site: func(s *lookleaptest.Site) { s.File(at, "text/markdown", refund+strings.Repeat("x", 1<<20-len(refund))) }},
		{id: "C20/reject-endless", site: func(s *lookleaptest.Site) { s.Fault(at, lookleaptest.Endless()) }, want: "too-large"},
		{id: "D08/reject-gzip-bomb", site: func(s *lookleaptest.Site) { s.Fault(at, lookleaptest.GzipBomb(64)) }, want: "too-large"},
		{id: "DVS-4.2-09/reject-no-frontmatter", site: func(s *lookleaptest.Site) { s.File(at, "text/markdown", "# hello\n") }, want: "no-frontmatter"},
		{id: "DVS-4.2-10/reject-empty-body", site: func(s *lookleaptest.Site) { s.File(at, "text/markdown", "---\nname: a\ndescription: d\n---\n") }, want: "empty-body"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			site := net.Site("shop.example").File(at, "text/markdown; charset=utf-8", refund)
			net.Site("other.example").File(at, "text/html", "<p>")
			net.Site("www.shop.example").File(at, "text/markdown", refund)
			if c.site != nil {
				c.site(site)
			}
			url := c.url
			if url == "" {
				url = "https://shop.example" + at
			}
			loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
			skill, err := loader.Load(t.Context(), url)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if !skill.Verdict.OK || skill.Name != "refund" || !skill.Source.Registered() || c.seen != "" && !hasCheck(skill.Verdict, lookleap.Code(c.seen)) {
					t.Errorf("got\n%s", skill.Verdict)
				}
				return
			}
			var no *lookleap.VerifyError
			if !errors.As(err, &no) || no.Verdict.OK || no.Verdict.Code != c.want || skill != nil {
				t.Fatalf("want %s, got %v", c.want, err)
			}
			if strings.Contains(no.Verdict.Summary, `""`) {
				t.Errorf("something has no name in %q", no.Verdict.Summary)
			}
			if c.want == "not-https" || c.want == "redirect-outside-root" {
				for _, other := range []string{"other.example", "www.shop.example"} {
					if seen := net.Journal().Requests(other); len(seen) > 0 {
						t.Errorf("%s was asked", other)
					}
				}
			}
		})
	}
}

// TestLoadNothingSent sends nothing for a plain http URL.
func TestLoadNothingSent(t *testing.T) {
	for _, c := range []struct {
		id, url string
		want    lookleap.Code
	}{
		{"DVS-3.1-02/reject-no-request", "http://shop.example/s/a/SKILL.md", "not-https"},
		{"DVS-3.1-02/reject-no-request-in-capitals", "HTTP://shop.example/s/a/SKILL.md", "not-https"},
		{"DVS-3.1-02/reject-no-request-at-443", "http://shop.example:443/s/a/SKILL.md", "not-https"},
		{"A05/reject-no-request", "ftp://shop.example/s/a/SKILL.md", "not-https"},
		{"A32/reject-blocked-at-load", "https://shop.example/bad/SKILL.md", "blocked-root"},
		{"DVS-3.1-28/reject-derived-without-prompter", "https://github.com/o/r/blob/main/SKILL.md", "needs-root"},
		{"DVS-3.1-31/reject-forge", "https://git.shop.example/o/r/-/raw/main/SKILL.md", "needs-root"},
		{"DVS-3.1-44/reject-commit", "https://github.com/known/r/blob/deadbeef/SKILL.md", "commit-ref"},
		{"DVS-3.1-43/reject-pull", "https://github.com/known/r/blob/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-7-03/reject-revoked", "https://gone.example/s/SKILL.md", "revoked"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			for _, host := range []string{"shop.example", "github.com", "raw.githubusercontent.com", "gone.example", "git.shop.example"} {
				net.Site(host).Plain().File("*", "text/markdown", refund)
			}
			roots := registry(t, "https://shop.example/", "https://github.com/known/", "https://gone.example/s/")
			if _, err := roots.Block("https://shop.example/bad/"); err != nil {
				t.Fatal(err)
			}
			loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots})
			if err := loader.RevokeDomain("gone.example", false); err != nil {
				t.Fatal(err)
			}
			skill, err := loader.Load(t.Context(), c.url)
			if lookleap.CodeOf(err) != c.want || skill != nil {
				t.Errorf("got %v", err)
			}
			if dials := net.Journal().Dials(); len(dials) != 0 {
				t.Errorf("%d connections were opened", len(dials))
			}
		})
	}
}

func TestLoadUnder(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("*", "text/markdown", refund)
	loader := dvs.NewLoader(net.StubHost(), dvs.Options{})
	root, _ := dvs.ParseTrustRoot("https://shop.example/s/", dvs.Rules{})
	t.Run("DVS-3.1-49/reject-outside", func(t *testing.T) {
		skill, err := loader.LoadUnder(t.Context(), "https://shop.example/other/SKILL.md", root)
		var no *lookleap.VerifyError
		if skill != nil || !errors.As(err, &no) || no.Verdict.Code != dvs.CodeOutsideTrustRoot {
			t.Fatal(err)
		}
		if text := no.Verdict.String(); !strings.Contains(text, "https://shop.example/other/SKILL.md") || !strings.Contains(text, "https://shop.example/s/") {
			t.Errorf("URL and root are missing in\n%s", text)
		}
		if n := len(net.Journal().Dials()); n != 0 {
			t.Errorf("%d connections were opened", n)
		}
	})
	t.Run("DVS-3.1-49/reject-outside-host", func(t *testing.T) {
		skill, err := loader.LoadUnder(t.Context(), "https://other.example/s/a/SKILL.md", root)
		if n := len(net.Journal().Dials()); skill != nil || lookleap.CodeOf(err) != dvs.CodeOutsideTrustRoot || n != 0 {
			t.Errorf("got %v after %d connections", err, n)
		}
	})
	t.Run("DVS-3.1-50/reject-other-path-at-load", func(t *testing.T) {
		net.Site("shop.example").Redirect("/s/away/SKILL.md", "/t/SKILL.md")
		skill, err := loader.LoadUnder(t.Context(), "https://shop.example/s/away/SKILL.md", root)
		if sent := net.Journal().Paths("shop.example"); skill != nil || lookleap.CodeOf(err) != dvs.CodeRedirectOutside || len(sent) != 1 {
			t.Errorf("got %v after %v", err, sent)
		}
	})
	t.Run("DVS-3.1-49/accept-inside", func(t *testing.T) {
		skill, err := loader.LoadUnder(t.Context(), "https://shop.example/s/a/", root)
		if err != nil || skill.Root.String() != root.String() {
			t.Fatal(err)
		}
		if text, err := skill.File(); err != nil || string(text) != refund {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("reject-what-is-no-skill-url", func(t *testing.T) {
		skill, err := loader.LoadUnder(t.Context(), "http://shop.example/s/a/SKILL.md", root)
		var no *lookleap.VerifyError
		if skill != nil || !errors.As(err, &no) || no.Verdict.Code != lookleap.CodeNotHTTPS || strings.Contains(string(no.Verdict.Record), root.String()) {
			t.Errorf("it was judged under a root: %v", err)
		}
	})
	t.Run("DVS-3.1-49/reject-no-root", func(t *testing.T) {
		if _, err := loader.LoadUnder(t.Context(), "https://shop.example/s/a/", dvs.TrustRoot{}); lookleap.CodeOf(err) != dvs.CodeNeedsRoot {
			t.Error(err)
		}
	})
}

func github(net *lookleaptest.Internet, path, body string) *lookleaptest.Site {
	net.Site("github.com").File("*", "text/html", "<p>a page</p>")
	return net.Site("raw.githubusercontent.com").File(path, "text/plain; charset=utf-8", body)
}

func TestLoadMapped(t *testing.T) {
	const page, raw = "https://github.com/example-org/skills/blob/main/refund/SKILL.md", "/example-org/skills/main/refund/SKILL.md"
	t.Run("DVS-1-04/accept-blob-page", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, raw, refund)
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		if skill.ID.String() != page || skill.ID.ServedFrom() != "https://raw.githubusercontent.com"+raw || skill.ServingHost() != "raw.githubusercontent.com" {
			t.Errorf("got %s from %s", skill.ID, skill.ID.ServedFrom())
		}
		if seen := net.Journal().Requests("github.com"); len(seen) != 0 {
			t.Errorf("the page was asked: %v", seen)
		}
	})
	t.Run("DVS-1-07/accept-root-is-the-publisher", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, "/evil/r/main/SKILL.md", strings.Replace(refund, "name: refund", "name: microsoft-support", 1))
		ui := &prompter{decide: agree}
		host := net.StubHost()
		host.Prompter = ui
		skill, err := dvs.NewLoader(host, dvs.Options{}).Load(t.Context(), "https://github.com/evil/r/blob/main/SKILL.md")
		if err != nil || skill.Root.String() != "https://github.com/evil/" || ui.asked[0].TrustRoot != "https://github.com/evil/" || strings.Contains(ui.asked[0].Summary, "microsoft") {
			t.Errorf("got %v, %v", skill, err)
		}
	})
	t.Run("B05/reject-page-is-html", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("raw.githubusercontent.com").File("*", "text/html", refund)
		_, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), page)
		if lookleap.CodeOf(err) != lookleap.CodeMediaType {
			t.Errorf("got %v", err)
		}
	})
	for _, c := range []struct{ id, location string }{
		{"DVS-3.1-52/reject-other-owner", "/newer/skills/main/refund/SKILL.md"},
		{"B08/reject-renamed", "https://github.com/neworg/skills/blob/main/refund/SKILL.md"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			github(net, "/newer/skills/main/refund/SKILL.md", refund).Handle(raw, lookleaptest.Status(301, "Location", c.location))
			_, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), page)
			if lookleap.CodeOf(err) != dvs.CodeRedirectOutside || len(net.Journal().Requests()) != 1 {
				t.Errorf("got %v after %v", err, net.Journal().Requests())
			}
		})
	}
	t.Run("DVS-3.1-52/accept-same-owner", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, "/example-org/moved/main/refund/SKILL.md", refund).Handle(raw, lookleaptest.Status(301, "Location", "/example-org/moved/main/refund/SKILL.md"))
		if _, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), page); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-43/reject-redirect-to-pull", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, raw, "").Redirect(raw, "/example-org/skills/refs/pull/1/head/SKILL.md")
		_, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).Load(t.Context(), page)
		if sent := net.Journal().Requests(); lookleap.CodeOf(err) != "untrusted-ref" || len(sent) != 1 {
			t.Errorf("got %v after %v", err, sent)
		}
	})
}

// maxCost is what reading a hostile document of a mebibyte may take in bytes of
// memory, garbage included: some 17 MiB, and twice that for what a newer library takes.
// What goes back and forth over its input leaves garbage at every turn; the time is for
// the benchmarks, since a busy machine takes any.
const maxCost = 48 << 20

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
		"SKILL.md":         {func(b *dvs.Bundle) { b.Files["SKILL.md"] = append(b.Files["SKILL.md"], "evil"...) }, dvs.CodeDigestMismatch},
		"byte-of-SKILL.md": {func(b *dvs.Bundle) { b.Files["SKILL.md"][len(b.Files["SKILL.md"])-1] = 'x' }, dvs.CodeDigestMismatch},
		"file":             {func(b *dvs.Bundle) { b.Files["data/x.csv"] = []byte("evil") }, dvs.CodeDigestMismatch},
		"one-more":         {func(b *dvs.Bundle) { b.Files["evil.sh"] = []byte("evil") }, dvs.CodeDigestMismatch},
		"one-less":         {func(b *dvs.Bundle) { delete(b.Files, "data/x.csv") }, dvs.CodeDigestMismatch},
		"renamed":          {func(b *dvs.Bundle) { b.Files["y.csv"] = b.Files["data/x.csv"]; delete(b.Files, "data/x.csv") }, dvs.CodeDigestMismatch},
		"root":             {func(b *dvs.Bundle) { b.Root = "https://bank.example/" }, dvs.CodeNeedsRoot},
		"wider-root":       {func(b *dvs.Bundle) { b.Root = "https://shop.example/s/" }, dvs.CodeNeedsRoot},
		"id":               {func(b *dvs.Bundle) { b.ID = "https://bank.example/SKILL.md" }, dvs.CodeNeedsRoot},
		"id-and-verdict": {func(b *dvs.Bundle) {
			v := *b.Verdict
			b.ID, v.Subject, b.Verdict = "https://shop.example/s/b/SKILL.md", "https://shop.example/s/b/SKILL.md", &v
		}, dvs.CodeNeedsRoot},
		"made-again-with-another-file": {func(b *dvs.Bundle) {
			*b = dvs.Bundle{ID: b.ID, Root: b.Root, Verdict: b.Verdict, Files: map[string][]byte{"SKILL.md": []byte("---\nname: a\ndescription: evil\n---\nx\n")}}
		}, dvs.CodeDigestMismatch},
		"made-again-with-another-root": {func(b *dvs.Bundle) {
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
			if entries, _ := fs.ReadDir(v, "."); len(entries) != 0 {
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
		before, _ := fs.ReadFile(v, directory+"/data/x.csv")
		copy(b.Files["data/x.csv"], "evil") // later changes are not seen
		if after, _ := fs.ReadFile(v, directory+"/data/x.csv"); string(after) != string(before) {
			t.Errorf("%q became %q", before, after)
		}
		if err := v.Lock().Verify(fetched(t)); err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentLoads(t *testing.T) {
	net := lookleaptest.ForTest(t)
	net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
	loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(net.Journal().Requests()); n != 1 {
		t.Errorf("%d requests for one question", n)
	}
}
