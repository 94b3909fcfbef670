package dvs_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

const refund = "---\nname: refund\ndescription: Refunds an order.\n---\nAsk for the order number. See [more](ADVANCED.md).\n"

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
		site func(*lab.Site)
		url  string
		want lookleap.Code
		seen string // a code that the verdict of a loaded skill has to show
	}{
		{id: "DVS-0-01/accept-url-alone"},
		{id: "DVS-0-05/accept-static-host", site: func(s *lab.Site) { s.Body(at, "text/plain; charset=utf-8", refund) }, seen: "media-type"},
		{id: "DVS-1-06/accept-agent-skill", site: func(s *lab.Site) {
			s.Body(at, "text/markdown", "---\nname: refund\ndescription: d\nlicense: MIT\nmetadata:\n  author: x\nallowed-tools: Bash\n---\nbody\n")
		}},
		{id: "DVS-2-02/reject-no-skill", url: "https://shop.example/none/", want: "skill-not-found"},
		{id: "DVS-2-04/accept-directory", url: "https://shop.example/s/a/"},
		{id: "DVS-3.1-01/accept-https"},
		{id: "DVS-3.1-01/reject-not-tls", site: func(s *lab.Site) { s.Connection(lab.NotTLS) }, want: "tls"},
		{id: "DVS-3.1-02/reject-http", url: "http://shop.example/s/a/SKILL.md", want: "not-https"},
		{id: "DVS-3.1-03/reject-hop-to-http", site: func(s *lab.Site) { s.Redirect(at, "http://shop.example/b/SKILL.md") }, want: "not-https"},
		{id: "DVS-3.1-04/reject-expired", site: func(s *lab.Site) { s.Certificate(lab.Expired) }, want: "tls"},
		{id: "DVS-3.1-04/reject-self-signed", site: func(s *lab.Site) { s.Certificate(lab.SelfSigned) }, want: "tls"},
		{id: "DVS-3.1-04/reject-wrong-name", site: func(s *lab.Site) { s.Certificate(lab.WrongName) }, want: "tls"},
		{id: "DVS-3.1-50/accept-inside", site: func(s *lab.Site) {
			s.Handle(at, lab.Status(301, "Location", "/v2/a/SKILL.md")).Body("/v2/a/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-50/reject-www", site: func(s *lab.Site) { s.Redirect(at, "https://www.shop.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "DVS-3.1-50/reject-evil", site: func(s *lab.Site) { s.Redirect(at, "https://other.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "A28/reject-protocol-relative", site: func(s *lab.Site) { s.Redirect(at, "/open").Redirect("/open", "//other.example/s/a/SKILL.md") }, want: "redirect-outside-root"},
		{id: "A28/reject-out-and-back", site: func(s *lab.Site) { s.Redirect(at, "https://other.example/back") }, want: "redirect-outside-root"},
		{id: "A29/reject-downgrade", site: func(s *lab.Site) { s.Handle(at, lab.Status(307, "Location", "http://shop.example/s/a/SKILL.md")) }, want: "not-https"},
		{id: "DVS-3.1-51/accept-five", site: func(s *lab.Site) {
			s.RedirectChain(at, 5, "/ok/SKILL.md").RedirectChain(at, 4, "/ok/SKILL.md").Body("/ok/SKILL.md", "text/markdown", refund)
		}},
		{id: "DVS-3.1-51/reject-six", site: func(s *lab.Site) { s.RedirectChain(at, 6, "") }, want: "too-many-redirects"},
		{id: "DVS-3.1-51/reject-loop", site: func(s *lab.Site) { s.Redirect(at, at) }, want: "too-many-redirects"},
		{id: "DVS-3.1-51/reject-no-location", site: func(s *lab.Site) { s.Status(at, 302) }, want: "bad-redirect"},
		{id: "DVS-3.1-51/reject-300", site: func(s *lab.Site) { s.Status(at, 300) }, want: "bad-status"},
		{id: "DVS-3.1-51/reject-304-unsolicited", site: func(s *lab.Site) { s.Status(at, 304) }, want: "bad-status"},
		{id: "DVS-3.1-54/reject-404", site: func(s *lab.Site) { s.Status(at, 404) }, want: "skill-not-found"},
		{id: "DVS-3.1-54/reject-403", site: func(s *lab.Site) { s.Status(at, 403) }, want: "skill-forbidden"},
		{id: "DVS-3.1-54/reject-206", site: func(s *lab.Site) { s.Status(at, 206) }, want: "bad-status"},
		{id: "DVS-3.1-54/reject-500", site: func(s *lab.Site) { s.Status(at, 500) }, want: "bad-status"},
		{id: "DVS-3.1-55/reject-private", site: func(s *lab.Site) { s.At("10.0.0.1") }, want: "blocked-address"},
		{id: "DVS-3.1-55/reject-metadata", site: func(s *lab.Site) { s.At("169.254.169.254") }, want: "blocked-address"},
		{id: "DVS-4.2-04/accept-markdown"},
		{id: "DVS-4.2-04/reject-html", site: func(s *lab.Site) { s.Body(at, "text/html", refund) }, want: "media-type"},
		{id: "DVS-4.2-04/reject-doubled", site: func(s *lab.Site) { s.Fault(at, lab.ContentType("text/markdown", "text/html")) }, want: "media-type"},
		{id: "DVS-4.2-05/reject-none", site: func(s *lab.Site) { s.Body(at, "image/png", refund) }, want: "media-type"},
		{id: "DVS-4.2-05/accept-octets-registered", site: func(s *lab.Site) { s.Body(at, "application/octet-stream", refund) }, seen: "media-type"},
		{id: "DVS-4.2-06/reject-latin1", site: func(s *lab.Site) { s.Body(at, "text/markdown; charset=iso-8859-1", refund) }, want: "not-utf8"},
		{id: "DVS-4.2-06/accept-quoted", site: func(s *lab.Site) { s.Body(at, `text/markdown; charset="utf-8"`, refund) }},
		{id: "DVS-4.2-08/reject-huge", site: func(s *lab.Site) { s.Fault(at, lab.Huge(2<<20)) }, want: "too-large"},
		{id: "DVS-4.2-08/reject-truncated", site: func(s *lab.Site) { s.HTTP1().Fault(at, lab.Truncated()) }, want: "truncated"},
		{id: "DVS-4.2-08/accept-large", site: func(s *lab.Site) { s.Body(at, "text/markdown", refund+strings.Repeat("x", 1<<20-len(refund))) }},
		{id: "C20/reject-endless", site: func(s *lab.Site) { s.Fault(at, lab.Endless()) }, want: "too-large"},
		{id: "D08/reject-gzip-bomb", site: func(s *lab.Site) { s.Fault(at, lab.GzipBomb(64)) }, want: "too-large"},
		{id: "DVS-4.2-09/reject-no-frontmatter", site: func(s *lab.Site) { s.Body(at, "text/markdown", "# hello\n") }, want: "no-frontmatter"},
		{id: "DVS-4.2-10/reject-empty-body", site: func(s *lab.Site) { s.Body(at, "text/markdown", "---\nname: a\ndescription: d\n---\n") }, want: "empty-body"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lab.ForTest(t)
			site := net.Site("shop.example").Body(at, "text/markdown; charset=utf-8", refund)
			net.Site("other.example").Body(at, "text/html", "<p>")
			net.Site("www.shop.example").Body(at, "text/markdown", refund)
			if c.site != nil {
				c.site(site)
			}
			url := c.url
			if url == "" {
				url = "https://shop.example" + at
			}
			loader := dvs.Options{Roots: registry(t, "https://shop.example/")}.NewLoader(net.Host())
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

// TestLoadHTTP sends nothing for a plain http URL.
func TestLoadNothingSent(t *testing.T) {
	for _, c := range []struct {
		id, url string
		want    lookleap.Code
	}{
		{"DVS-3.1-02/reject-no-request", "http://shop.example/s/a/SKILL.md", "not-https"},
		{"A05/reject-no-request", "ftp://shop.example/s/a/SKILL.md", "not-https"},
		{"A32/reject-blocked-at-load", "https://shop.example/bad/SKILL.md", "blocked-root"},
		{"DVS-3.1-28/reject-derived-nobody-to-ask", "https://github.com/o/r/blob/main/SKILL.md", "needs-root"},
		{"DVS-3.1-31/reject-forge", "https://git.shop.example/o/r/-/raw/main/SKILL.md", "needs-root"},
		{"DVS-3.1-44/reject-commit", "https://github.com/known/r/blob/deadbeef/SKILL.md", "commit-ref"},
		{"DVS-3.1-43/reject-pull", "https://github.com/known/r/blob/refs/pull/1/head/SKILL.md", "untrusted-ref"},
		{"DVS-7-03/reject-revoked", "https://gone.example/s/SKILL.md", "revoked"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lab.ForTest(t)
			for _, host := range []string{"shop.example", "github.com", "raw.githubusercontent.com", "gone.example", "git.shop.example"} {
				net.Site(host).Plain().Body("*", "text/markdown", refund)
			}
			roots := registry(t, "https://shop.example/", "https://github.com/known/", "https://gone.example/s/")
			if _, err := roots.Block("https://shop.example/bad/"); err != nil {
				t.Fatal(err)
			}
			loader := dvs.Options{Roots: roots}.NewLoader(net.Host())
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
	net := lab.ForTest(t)
	net.Site("shop.example").Body("*", "text/markdown", refund)
	loader := dvs.NewLoader(net.Host())
	root, _ := dvs.ParseTrustRoot("https://shop.example/s/")
	t.Run("DVS-3.1-49/reject-outside", func(t *testing.T) {
		skill, err := loader.LoadUnder(t.Context(), "https://shop.example/other/SKILL.md", root)
		var no *lookleap.VerifyError
		if skill != nil || !errors.As(err, &no) || no.Verdict.Code != lookleap.CodeOutsideRoot {
			t.Fatal(err)
		}
		if text := no.Verdict.String(); !strings.Contains(text, "https://shop.example/other/SKILL.md") || !strings.Contains(text, "https://shop.example/s/") {
			t.Errorf("URL and root are missing in\n%s", text)
		}
		if n := len(net.Journal().Dials()); n != 0 {
			t.Errorf("%d connections were opened", n)
		}
	})
	t.Run("DVS-3.1-49/accept-inside", func(t *testing.T) {
		if skill, err := loader.LoadUnder(t.Context(), "https://shop.example/s/a/", root); err != nil || skill.Root.String() != root.String() {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-49/reject-no-root", func(t *testing.T) {
		if _, err := loader.LoadUnder(t.Context(), "https://shop.example/s/a/", dvs.TrustRoot{}); lookleap.CodeOf(err) != lookleap.CodeNeedsRoot {
			t.Error(err)
		}
	})
}

func github(net *lab.Internet, path, body string) *lab.Site {
	net.Site("github.com").Body("*", "text/html", "<p>a page</p>")
	return net.Site("raw.githubusercontent.com").Body(path, "text/plain; charset=utf-8", body)
}

func TestLoadMapped(t *testing.T) {
	const page, raw = "https://github.com/example-org/skills/blob/main/refund/SKILL.md", "/example-org/skills/main/refund/SKILL.md"
	t.Run("DVS-1-04/accept-blob-page", func(t *testing.T) {
		net := lab.ForTest(t)
		github(net, raw, refund)
		skill, err := dvs.Options{Roots: registry(t, "https://github.com/example-org/")}.NewLoader(net.Host()).Load(t.Context(), page)
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
		net := lab.ForTest(t)
		github(net, "/evil/r/main/SKILL.md", strings.Replace(refund, "name: refund", "name: microsoft-support", 1))
		ui := &prompter{decide: agree}
		host := net.Host()
		host.Prompter = ui
		skill, err := dvs.NewLoader(host).Load(t.Context(), "https://github.com/evil/r/blob/main/SKILL.md")
		if err != nil || skill.Root.String() != "https://github.com/evil/" || ui.asked[0].TrustRoot != "https://github.com/evil/" || strings.Contains(ui.asked[0].Summary, "microsoft") {
			t.Errorf("got %v, %v", skill, err)
		}
	})
	t.Run("B05/reject-page-is-html", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("www.github.com").Body("*", "text/html", refund)
		roots := registry(t, "https://www.github.com/example-org/")
		_, err := dvs.Options{Roots: roots}.NewLoader(net.Host()).Load(t.Context(), strings.Replace(page, "github.com", "www.github.com", 1))
		if lookleap.CodeOf(err) != lookleap.CodeMediaType {
			t.Errorf("got %v", err)
		}
	})
	for _, c := range []struct{ id, location string }{
		{"DVS-3.1-52/reject-other-owner", "/newer/skills/main/refund/SKILL.md"},
		{"B08/reject-renamed", "https://github.com/neworg/skills/blob/main/refund/SKILL.md"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lab.ForTest(t)
			github(net, "/newer/skills/main/refund/SKILL.md", refund).Handle(raw, lab.Status(301, "Location", c.location))
			_, err := dvs.Options{Roots: registry(t, "https://github.com/example-org/")}.NewLoader(net.Host()).Load(t.Context(), page)
			if lookleap.CodeOf(err) != lookleap.CodeRedirectOutside || len(net.Journal().Requests()) != 1 {
				t.Errorf("got %v after %v", err, net.Journal().Requests())
			}
		})
	}
	t.Run("DVS-3.1-52/accept-same-owner", func(t *testing.T) {
		net := lab.ForTest(t)
		github(net, "/example-org/moved/main/refund/SKILL.md", refund).Handle(raw, lab.Status(301, "Location", "/example-org/moved/main/refund/SKILL.md"))
		if _, err := (dvs.Options{Roots: registry(t, "https://github.com/example-org/")}).NewLoader(net.Host()).Load(t.Context(), page); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-43/reject-redirect-to-pull", func(t *testing.T) {
		net := lab.ForTest(t)
		github(net, raw, "").Redirect(raw, "/example-org/skills/refs/pull/1/head/SKILL.md")
		_, err := dvs.Options{Roots: registry(t, "https://github.com/example-org/")}.NewLoader(net.Host()).Load(t.Context(), page)
		if lookleap.CodeOf(err) != lookleap.CodeUntrustedRef {
			t.Errorf("got %v", err)
		}
	})
}

// TestActivation is who is asked, and what nobody's answer means.
func TestActivation(t *testing.T) {
	const own, hub = "https://shop.example/s/a/SKILL.md", "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	world := func(t *testing.T, p lookleap.ConsentPrompter) (*lab.Internet, *lookleap.Host) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
		github(net, "/example-org/skills/main/refund/SKILL.md", refund)
		host := net.Host()
		host.Prompter = p
		return net, host
	}
	t.Run("DVS-5.2-05/accept-registered-no-prompt", func(t *testing.T) {
		ui := &prompter{decide: decline}
		_, host := world(t, ui)
		if _, err := (dvs.Options{Roots: registry(t, "https://shop.example/")}).NewLoader(host).Load(t.Context(), own); err != nil || ui.count() != 0 {
			t.Errorf("asked %d times, %v", ui.count(), err)
		}
	})
	t.Run("DVS-5.2-05/accept-default-asks-once", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		loader := dvs.NewLoader(host)
		for range 2 {
			skill, err := loader.Load(t.Context(), own)
			if err != nil || skill.Source != dvs.DefaultOrigin || !hasCheck(skill.Verdict, lookleap.CodeNotRegistered) {
				t.Fatal(err)
			}
		}
		if ui.count() != 1 || ui.asked[0].Kind != lookleap.ConsentSkill {
			t.Errorf("asked %d times", ui.count())
		}
	})
	t.Run("DVS-3.1-28/accept-user-confirms", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		loader := dvs.NewLoader(host)
		for range 2 {
			skill, err := loader.Load(t.Context(), hub)
			if err != nil || skill.Source != dvs.ByUser || skill.Root.String() != "https://github.com/example-org/" {
				t.Fatal(err)
			}
		}
		if ui.count() != 1 || ui.asked[0].Kind != lookleap.ConsentTrustRoot {
			t.Errorf("asked %d times", ui.count())
		}
	})
	t.Run("DVS-5.2-02/accept-root-and-domain-shown", func(t *testing.T) {
		ui := &prompter{decide: agree}
		_, host := world(t, ui)
		if _, err := dvs.NewLoader(host).Load(t.Context(), hub); err != nil {
			t.Fatal(err)
		}
		text := ui.asked[0].String()
		for _, want := range []string{"[github.com]", "https://github.com/example-org/", "[raw.githubusercontent.com]", "derived and unconfirmed"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	})
	for name, p := range map[string]lookleap.ConsentPrompter{
		"nil-prompter": nil,
		"decline":      &prompter{decide: decline},
		"error": &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, errors.New("no terminal")
		}},
		"panic": &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) { panic("x") }},
		"other-digest": &prompter{decide: func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: "x", Approved: []string{"skill"}}, nil
		}},
		"half": &prompter{decide: func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{"skill", "more"}}, nil
		}},
	} {
		for _, id := range []string{"DVS-5.2-08", "E10"} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				for _, url := range []string{own, hub} {
					_, host := world(t, p)
					skill, err := dvs.NewLoader(host).Load(t.Context(), url)
					var no *lookleap.VerifyError
					if skill != nil || !errors.As(err, &no) || no.Verdict.OK {
						t.Errorf("got %v", err)
					}
				}
			})
		}
	}
	t.Run("DVS-3.1-30/accept-narrowed", func(t *testing.T) {
		net, host := world(t, &prompter{decide: agree})
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "name:", "trust-root: https://shop.example/s/\nname:", 1))
		skill, err := dvs.NewLoader(host).Load(t.Context(), own)
		if err != nil || skill.Root.String() != "https://shop.example/s/" {
			t.Fatal(skill, err)
		}
		if target, err := skill.Resolve("/other/GUIDE.md"); err != nil || target.Access != dvs.NeedsConsent {
			t.Errorf("got %v, %v", target, err)
		}
	})
	t.Run("DVS-3.1-30/reject-widened", func(t *testing.T) {
		net, host := world(t, nil)
		github(net, "/example-org/skills/main/refund/SKILL.md", strings.Replace(refund, "name:", "trust-root: https://github.com/\nname:", 1))
		skill, err := dvs.Options{Roots: registry(t, "https://github.com/example-org/")}.NewLoader(host).Load(t.Context(), hub)
		if err != nil || skill.Root.String() != "https://github.com/example-org/" || !hasCheck(skill.Verdict, lookleap.CodeSelfDeclared) {
			t.Error(skill, err)
		}
	})
}

func TestResumeActivation(t *testing.T) {
	const hub = "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	net := lab.ForTest(t)
	github(net, "/example-org/skills/main/refund/SKILL.md", refund)
	host := net.Host()
	host.Prompter = &prompter{decide: func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}}
	skill, err := dvs.NewLoader(host).Load(t.Context(), hub)
	var pending *lookleap.PendingError
	if skill != nil || !errors.As(err, &pending) {
		t.Fatal(err)
	}
	asked := len(net.Journal().Requests())
	decision, _ := agree(pending.Request)
	t.Run("DVS-5.2-09/accept-resumed-elsewhere", func(t *testing.T) {
		other := dvs.NewLoader(host)
		got, err := other.Resume(t.Context(), pending.State, decision)
		if err != nil || got.Loaded.Source != dvs.ByUser || got.Loaded.Name != "refund" {
			t.Fatal(got, err)
		}
		if n := len(net.Journal().Requests()); n != asked {
			t.Errorf("%d requests were sent again", n-asked)
		}
		if _, err := other.Resume(t.Context(), pending.State, decision); !errors.Is(err, lookleap.ErrAlreadyDone) {
			t.Errorf("a second time gives %v", err)
		}
	})
	t.Run("DVS-5.2-08/reject-resumed-no", func(t *testing.T) {
		if got, err := dvs.NewLoader(host).Resume(t.Context(), pending.State, lookleap.ConsentDecision{Digest: decision.Digest}); got != nil || !errors.Is(err, lookleap.ErrConsentRefused) {
			t.Error(got, err)
		}
	})
}

// TestLevels is progressive loading (section 4.6).
func TestLevels(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	world := func(t *testing.T) (*lab.Internet, *lab.Site, *dvs.Loader) {
		net := lab.ForTest(t)
		site := net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/s/a/ADVANCED.md", "text/markdown", "more").Body("/s/a/data/x.json", "application/json", "{}")
		return net, site, dvs.Options{Roots: registry(t, "https://shop.example/")}.NewLoader(net.Host())
	}
	t.Run("DVS-4.6-01/accept-three-fetches", func(t *testing.T) {
		net, _, loader := world(t)
		r, err := loader.Register(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		skill, err := r.Activate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil {
			t.Fatal(err)
		}
		if got := net.Journal().Paths("shop.example"); !slices.Equal(got, []string{"GET /s/a/SKILL.md", "GET /s/a/SKILL.md", "GET /s/a/ADVANCED.md"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-4.6-02/accept-metadata-only", func(t *testing.T) {
		_, _, loader := world(t)
		r, err := loader.Register(t.Context(), url)
		if err != nil || r.ContextText() != "refund: Refunds an order." || r.Header.IsZero() || r.Digest != dvs.DigestOf([]byte(refund)) {
			t.Error(r, err)
		}
	})
	t.Run("DVS-4.6-03/accept-unchanged", func(t *testing.T) {
		_, _, loader := world(t)
		r, _ := loader.Register(t.Context(), url)
		if skill, err := r.Activate(t.Context()); err != nil || hasFinding(skill.Verdict, lookleap.CodeChanged) {
			t.Error(err)
		}
	})
	t.Run("DVS-4.6-03/accept-changed-is-a-finding", func(t *testing.T) {
		_, site, loader := world(t)
		r, _ := loader.Register(t.Context(), url)
		site.Body("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "Refunds", "Now refunds", 1))
		skill, err := r.Activate(t.Context())
		if err != nil || !hasFinding(skill.Verdict, lookleap.CodeChanged) || skill.Description != "Now refunds an order." {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-4.5.1-02/accept-on-demand", func(t *testing.T) {
		net, _, loader := world(t)
		skill, err := loader.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if got := net.Journal().Paths("shop.example"); len(got) != 1 {
			t.Errorf("activation sent %v", got)
		}
		r, err := skill.Resource(t.Context(), "ADVANCED.md")
		if err != nil || r.Kind != dvs.Instructions || r.External {
			t.Fatal(r, err)
		}
		if text, err := r.ContextText(); err != nil || text != "more" {
			t.Error(text, err)
		}
	})
	t.Run("DVS-4.5.3-02/accept-on-demand", func(t *testing.T) {
		net, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		before := len(net.Journal().Requests())
		r, err := skill.Resource(t.Context(), "data/x.json")
		if before != 1 || err != nil || r.Kind != dvs.Data || string(r.Bytes()) != "{}" {
			t.Error(before, err)
		}
	})
	t.Run("DVS-4.6-05/reject-after-deactivation", func(t *testing.T) {
		_, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		if text, err := skill.ContextText(); err != nil || !strings.HasPrefix(text, "Ask for") {
			t.Fatal(text, err)
		}
		skill.Deactivate()
		if text, err := skill.ContextText(); lookleap.CodeOf(err) != lookleap.CodeNotActivated || text != "" {
			t.Error(text, err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); lookleap.CodeOf(err) != lookleap.CodeNotActivated {
			t.Error(err)
		}
		if skill.Name != "refund" {
			t.Error("the metadata are gone")
		}
	})
	t.Run("DVS-4.6-05/accept-again", func(t *testing.T) {
		_, _, loader := world(t)
		skill, _ := loader.Load(t.Context(), url)
		skill.Deactivate()
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
}

func TestFreshness(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	cached := func(control, tag string, hits *int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*hits++
			w.Header().Set("Content-Type", "text/markdown")
			if control != "" {
				w.Header().Set("Cache-Control", control)
			}
			if tag != "" {
				w.Header().Set("ETag", tag)
				if r.Header.Get("If-None-Match") == tag {
					w.WriteHeader(http.StatusNotModified)
					return
				}
			}
			_, _ = w.Write([]byte(refund))
		})
	}
	for _, c := range []struct {
		id, control, tag string
		after            time.Duration
		hits             int
	}{
		{"accept-default-hour", "", "", 59 * time.Minute, 1},
		{"reject-after-default", "", "", 61 * time.Minute, 2},
		{"accept-max-age", "max-age=7200", "", 119 * time.Minute, 1},
		{"reject-clamped-to-a-day", "max-age=9999999", "", 25 * time.Hour, 2},
		{"reject-no-store", "no-store", "", 0, 2},
		{"reject-no-cache", "no-cache", "", 0, 2},
		{"accept-revalidated", "max-age=60", `"v1"`, time.Hour, 2},
	} {
		t.Run("DVS-3.1-56/"+c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.ForTest(t)
				hits := 0
				net.Site("shop.example").Handle("/s/a/SKILL.md", cached(c.control, c.tag, &hits))
				loader := dvs.Options{Roots: registry(t, "https://shop.example/")}.NewLoader(net.Host())
				first, err := loader.Load(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				net.Clock().Advance(c.after)
				second, err := loader.Load(t.Context(), url)
				if err != nil || hits != c.hits || second.Digest != first.Digest {
					t.Errorf("%d requests, %v", hits, err)
				}
			})
		})
	}
	t.Run("DVS-3.1-56/reject-verdict-is-computed-again", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
		roots := registry(t)
		root, _ := roots.Register("https://shop.example/", dvs.ByHost)
		loader := dvs.Options{Roots: roots, Strict: true}.NewLoader(net.Host())
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		roots.Unregister(root)
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != lookleap.CodeNeedsRoot {
			t.Errorf("without the root: %v", err)
		}
		if _, err := roots.Register("https://shop.example/", dvs.ByHost); err != nil {
			t.Fatal(err)
		}
		if _, err := roots.AddPlatform(dvs.Platform{Name: "shop", Hosts: []string{"shop.example"}, Owner: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != lookleap.CodeNeedsRoot {
			t.Errorf("as a platform: %v", err)
		}
	})
}

func TestGuardAndNames(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	world := func(t *testing.T) (*lab.Internet, *lab.Site) {
		net := lab.ForTest(t)
		return net, net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
	}
	roots := func(t *testing.T) *dvs.Roots { return registry(t, "https://shop.example/") }
	t.Run("DVS-3.1-57/reject-restricted", func(t *testing.T) {
		net, site := world(t)
		site.Status("/agents.txt", 401)
		host := net.Host()
		_, err := dvs.Options{Roots: roots(t), Guard: agentstxt.Guard(host)}.NewLoader(host).Load(t.Context(), url)
		if lookleap.CodeOf(err) != lookleap.CodeBlockedByPolicy || !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("got %v", err)
		}
		if got := net.Journal().Paths("shop.example"); !slices.Equal(got, []string{"GET /agents.txt"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-3.1-57/accept-no-guard", func(t *testing.T) {
		net, site := world(t)
		site.Status("/agents.txt", 401)
		if _, err := (dvs.Options{Roots: roots(t)}).NewLoader(net.Host()).Load(t.Context(), url); err != nil || len(net.Journal().Requests()) != 1 {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-55/accept-nothing-ambient", func(t *testing.T) {
		net, _ := world(t)
		if _, err := (dvs.Options{Roots: roots(t)}).NewLoader(net.Host()).Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if v := net.Journal().Requests()[0].Header.Get(name); v != "" {
				t.Errorf("%s: %s", name, v)
			}
		}
	})
	t.Run("DVS-5.3-02/reject-bogus", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").Bogus()
		_, err := dvs.Options{Roots: roots(t)}.NewLoader(net.Host()).Load(t.Context(), url)
		if lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus || !errors.Is(err, lookleap.ErrBogus) || len(net.Journal().Dials()) != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-5.3-02/reject-bogus-before-a-foreign-fetcher", func(t *testing.T) {
		net, _ := world(t)
		host := net.Host()
		host.Fetcher = net.ForeignTransport() // resolves by itself, without validation
		loader := dvs.Options{Roots: roots(t)}.NewLoader(host)
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		net.Journal().Clear()
		net.Name("shop.example").Bogus()
		if _, err := (dvs.Options{Roots: roots(t)}).NewLoader(host).Load(t.Context(), url); lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus || len(net.Journal().Requests()) != 0 {
			t.Errorf("got %v after %v", err, net.Journal().Requests())
		}
	})
	t.Run("DVS-5.3-02/accept-insecure-recorded", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").DNSSEC(lookleap.Insecure)
		skill, err := dvs.Options{Roots: roots(t)}.NewLoader(net.Host()).Load(t.Context(), url)
		if err != nil || !hasCheck(skill.Verdict, lookleap.CodeDNSSECInsecure) {
			t.Error(err)
		}
	})
	t.Run("DVS-5.3-02/accept-secure-demanded", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").DNSSEC(lookleap.Secure)
		if _, err := (dvs.Options{Roots: roots(t), RequireSecure: true}).NewLoader(net.Host()).Load(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-5.3-03/reject-bogus-serving-host", func(t *testing.T) {
		net := lab.ForTest(t)
		github(net, "/o/r/main/SKILL.md", refund)
		net.Name("raw.githubusercontent.com").Bogus()
		_, err := dvs.Options{Roots: registry(t, "https://github.com/o/")}.NewLoader(net.Host()).Load(t.Context(), "https://github.com/o/r/blob/main/SKILL.md")
		if lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-0-01/accept-one-host-contacted", func(t *testing.T) {
		net, _ := world(t)
		if _, err := (dvs.Options{Roots: roots(t)}).NewLoader(net.Host()).Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		for _, q := range net.Journal().Queries() {
			if q.Name != "shop.example" {
				t.Errorf("%s was looked up", q.Name)
			}
		}
	})
	t.Run("DVS-7-03/reject-running-handle", func(t *testing.T) {
		net, _ := world(t)
		loader := dvs.Options{Roots: roots(t)}.NewLoader(net.Host())
		skill, err := loader.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		loader.Revoke(skill.Root)
		if _, err := skill.ContextText(); lookleap.CodeOf(err) != lookleap.CodeRevoked {
			t.Errorf("the text: %v", err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); lookleap.CodeOf(err) != lookleap.CodeRevoked {
			t.Errorf("a resource: %v", err)
		}
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != lookleap.CodeRevoked || len(net.Journal().Requests()) != 1 {
			t.Errorf("loading: %v", err)
		}
	})
	t.Run("DVS-3.1-53/accept-base-is-final", func(t *testing.T) {
		net, site := world(t)
		site.Redirect("/s/a/SKILL.md", "/v2/a/SKILL.md").Body("/v2/a/SKILL.md", "text/markdown", refund)
		skill, err := dvs.Options{Roots: roots(t)}.NewLoader(net.Host()).Load(t.Context(), url)
		if err != nil || skill.ID.String() != url {
			t.Fatal(err)
		}
		if target, err := skill.Resolve("x.json"); err != nil || target.URL != "https://shop.example/v2/a/x.json" {
			t.Error(target, err)
		}
	})
	t.Run("DVS-3-01/reject-cancelled-is-not-kept", func(t *testing.T) {
		net, _ := world(t)
		loader := dvs.Options{Roots: roots(t)}.NewLoader(net.Host())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := loader.Load(ctx, url); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentLoads(t *testing.T) {
	net := lab.ForTest(t)
	net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund)
	loader := dvs.Options{Roots: registry(t, "https://shop.example/")}.NewLoader(net.Host())
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

// TestSecurityConsiderations is section 7 in one story: who controls the domain
// speaks for it, and nobody else does.
func TestSecurityConsiderations(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	load := func(t *testing.T, change func(*lab.Internet, *lab.Site)) (*dvs.Loaded, error) {
		net := lab.ForTest(t)
		change(net, net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "description: Refunds", "description: by Example Bank, certified. Refunds", 1)))
		return dvs.Options{Roots: registry(t, "https://shop.example/")}.NewLoader(net.Host()).Load(t.Context(), url)
	}
	t.Run("DVS-7-01/accept-domain-control-and-no-more", func(t *testing.T) {
		skill, err := load(t, func(*lab.Internet, *lab.Site) {})
		if err != nil || skill.Root.HostingDomain() != "shop.example" || strings.Contains(skill.Verdict.String(), "Bank") {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-7-01/reject-without-domain-control", func(t *testing.T) {
		if skill, err := load(t, func(_ *lab.Internet, s *lab.Site) { s.Certificate(lab.UnknownCA) }); skill != nil || lookleap.CodeOf(err) != lookleap.CodeTLS {
			t.Error(err)
		}
	})
	t.Run("DVS-7-02/reject-spoofed-name", func(t *testing.T) {
		if skill, err := load(t, func(n *lab.Internet, _ *lab.Site) { n.Name("shop.example").Bogus() }); skill != nil || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Error(err)
		}
	})
	t.Run("DVS-7-02/accept-signed-name", func(t *testing.T) {
		skill, err := load(t, func(n *lab.Internet, _ *lab.Site) { n.Name("shop.example").DNSSEC(lookleap.Secure) })
		if err != nil || hasCheck(skill.Verdict, lookleap.CodeDNSSECInsecure) {
			t.Error(err)
		}
	})
	t.Run("DVS-4.6-04/accept-only-when-referenced", func(t *testing.T) {
		var net *lab.Internet
		skill, err := load(t, func(n *lab.Internet, s *lab.Site) {
			net = n
			s.Body("/s/a/ADVANCED.md", "text/markdown", "x")
		})
		if err != nil || len(net.Journal().Requests()) != 1 {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil || len(net.Journal().Requests()) != 2 {
			t.Error(err)
		}
	})
}
