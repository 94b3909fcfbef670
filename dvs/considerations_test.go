package dvs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestGuardAndNames(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	world := func(t *testing.T) (*lookleaptest.Internet, *lookleaptest.Site) {
		net := lookleaptest.ForTest(t)
		return net, net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund)
	}
	roots := func(t *testing.T) *dvs.Roots { return registry(t, "https://shop.example/") }
	t.Run("DVS-3.1-57/reject-restricted", func(t *testing.T) {
		net, site := world(t)
		site.Status("/agents.txt", 401)
		host := net.StubHost()
		_, err := dvs.NewLoader(host, dvs.Options{Roots: roots(t), Guard: agentstxt.Guard(host)}).Load(t.Context(), url)
		if lookleap.CodeOf(err) != dvs.CodeBlockedByPolicy || !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("got %v", err)
		}
		if got := net.Journal().Paths("shop.example"); !slices.Equal(got, []string{"GET /agents.txt"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-3.1-57/accept-no-guard", func(t *testing.T) {
		net, site := world(t)
		site.Status("/agents.txt", 401)
		if _, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url); err != nil || len(net.Journal().Requests()) != 1 {
			t.Error(err)
		}
	})
	t.Run("DVS-3.1-55/accept-nothing-ambient", func(t *testing.T) {
		net, _ := world(t)
		if _, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Cookie", "Authorization", "Referer"} {
			if v := net.Journal().Requests()[0].Header.Get(name); v != "" {
				t.Errorf("%s: %s", name, v)
			}
		}
	})
	for state, want := range map[lookleap.DNSSEC]string{lookleap.Insecure: "reject-unsigned", lookleap.Secure: "accept-signed", lookleap.Indeterminate: "accept-not-validated"} {
		t.Run("DVS-5.3-01/"+want, func(t *testing.T) {
			net, _ := world(t)
			net.Name("shop.example").DNSSEC(state)
			answer, err := net.StubHost().Lookup(t.Context(), "shop.example", lookleap.TypeA)
			if err != nil {
				t.Fatal(err)
			}
			findings := dvs.LintDNS(answer)
			if state != lookleap.Insecure && len(findings) != 0 {
				t.Errorf("got %v", findings)
			}
			if state == lookleap.Insecure && (len(findings) != 1 || findings[0].Code != lookleap.CodeDNSSECMissing || findings[0].Severity != lookleap.SeverityInfo || findings[0].Requirement != "DVS-5.3-01") {
				t.Errorf("got %v", findings)
			}
		})
	}
	t.Run("DVS-5.3-02/reject-bogus", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").Bogus()
		_, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url)
		if lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus || !errors.Is(err, lookleap.ErrBogus) || len(net.Journal().Dials()) != 0 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-5.3-02/reject-bogus-before-a-foreign-fetcher", func(t *testing.T) {
		net, _ := world(t)
		host := net.StubHost()
		host.Fetcher = net.Unguarded() // resolves by itself, without validation
		loader := dvs.NewLoader(host, dvs.Options{Roots: roots(t)})
		if _, err := loader.Load(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		net.Journal().Clear()
		net.Name("shop.example").Bogus()
		if _, err := dvs.NewLoader(host, dvs.Options{Roots: roots(t)}).Load(t.Context(), url); lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus || len(net.Journal().Requests()) != 0 {
			t.Errorf("got %v after %v", err, net.Journal().Requests())
		}
	})
	t.Run("DVS-5.3-02/accept-insecure-recorded", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").DNSSEC(lookleap.Insecure)
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url)
		if err != nil || !hasCheck(skill.Verdict, dvs.CodeDNSSECInsecure) {
			t.Error(err)
		}
	})
	t.Run("DVS-5.3-02/accept-secure-demanded", func(t *testing.T) {
		net, _ := world(t)
		net.Name("shop.example").DNSSEC(lookleap.Secure)
		if _, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t), RequireSecure: true}).Load(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
	t.Run("DVS-5.3-03/reject-bogus-serving-host", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, "/o/r/main/SKILL.md", refund)
		net.Name("raw.githubusercontent.com").Bogus()
		_, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://github.com/o/")}).Load(t.Context(), "https://github.com/o/r/blob/main/SKILL.md")
		if lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Errorf("got %v", err)
		}
	})
	t.Run("DVS-5.3-02/reject-bogus-target-of-a-redirect", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		github(net, "/o/r/main/SKILL.md", refund).Redirect("/o/r/main/SKILL.md", "https://github.com/o/r/raw/main/SKILL.md")
		host := net.StubHost()
		host.Fetcher = net.Unguarded() // resolves by itself, without validation
		net.Name("github.com").Bogus()
		_, err := dvs.NewLoader(host, dvs.Options{Roots: registry(t, "https://github.com/o/")}).Load(t.Context(), "https://github.com/o/r/blob/main/SKILL.md")
		if lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus || len(net.Journal().Requests("github.com")) != 0 {
			t.Errorf("got %v after %v", err, net.Journal().Requests())
		}
	})
	t.Run("DVS-5.3-02/accept-each-host-once", func(t *testing.T) {
		net, site := world(t)
		site.Redirect("/s/a/SKILL.md", "/s/b/SKILL.md").File("/s/b/SKILL.md", "text/markdown", refund)
		net.Name("shop.example").DNSSEC(lookleap.Secure)
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		var shown []lookleap.Evidence
		for _, c := range skill.Verdict.Checks {
			if c.Requirement == "DVS-5.3-02" {
				shown = c.Evidence
			}
		}
		if len(shown) != 1 || shown[0].DNSName != "shop.example" || shown[0].TTL == 0 {
			t.Errorf("got %+v", shown)
		}
	})
	t.Run("DVS-0-01/accept-one-host-contacted", func(t *testing.T) {
		net, _ := world(t)
		if _, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url); err != nil {
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
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)})
		skill, err := loader.Load(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		loader.Revoke(skill.Root)
		if _, err := skill.ContextText(); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Errorf("the text: %v", err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Errorf("a resource: %v", err)
		}
		if _, err := loader.Load(t.Context(), url); lookleap.CodeOf(err) != dvs.CodeRevoked || len(net.Journal().Requests()) != 1 {
			t.Errorf("loading: %v", err)
		}
	})
	t.Run("DVS-3.1-53/accept-base-is-final", func(t *testing.T) {
		net, site := world(t)
		site.Redirect("/s/a/SKILL.md", "/v2/a/SKILL.md").File("/v2/a/SKILL.md", "text/markdown", refund)
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)}).Load(t.Context(), url)
		if err != nil || skill.ID.String() != url {
			t.Fatal(err)
		}
		if target, err := skill.Resolve("x.json"); err != nil || target.URL != "https://shop.example/v2/a/x.json" {
			t.Error(target, err)
		}
	})
	t.Run("DVS-3-01/reject-cancelled-is-not-kept", func(t *testing.T) {
		net, _ := world(t)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: roots(t)})
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

// TestSecurityConsiderations is section 7 in one story: who controls the domain
// speaks for it, and no other party does.
func TestSecurityConsiderations(t *testing.T) {
	const url = "https://shop.example/s/a/SKILL.md"
	load := func(t *testing.T, change func(*lookleaptest.Internet, *lookleaptest.Site)) (*dvs.Loaded, error) {
		net := lookleaptest.ForTest(t)
		change(net, net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", strings.Replace(refund, "description: Refunds", "description: by Example Bank, certified. Refunds", 1)))
		return dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), url)
	}
	t.Run("DVS-7-01/accept-domain-control-and-no-more", func(t *testing.T) {
		skill, err := load(t, func(*lookleaptest.Internet, *lookleaptest.Site) {})
		if err != nil || skill.Root.HostingDomain() != "shop.example" || strings.Contains(skill.Verdict.String(), "Bank") {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-7-01/reject-without-domain-control", func(t *testing.T) {
		if skill, err := load(t, func(_ *lookleaptest.Internet, s *lookleaptest.Site) { s.Certificate(lookleaptest.CertificateUnknownCA) }); skill != nil || lookleap.CodeOf(err) != lookleap.CodeTLS {
			t.Error(err)
		}
	})
	t.Run("DVS-7-02/reject-spoofed-name", func(t *testing.T) {
		if skill, err := load(t, func(n *lookleaptest.Internet, _ *lookleaptest.Site) { n.Name("shop.example").Bogus() }); skill != nil || lookleap.CodeOf(err) != lookleap.CodeDNSSECBogus {
			t.Error(err)
		}
	})
	t.Run("DVS-7-02/accept-signed-name", func(t *testing.T) {
		skill, err := load(t, func(n *lookleaptest.Internet, _ *lookleaptest.Site) { n.Name("shop.example").DNSSEC(lookleap.Secure) })
		if err != nil || hasCheck(skill.Verdict, dvs.CodeDNSSECInsecure) {
			t.Error(err)
		}
	})
	t.Run("DVS-4.6-04/accept-only-when-referenced", func(t *testing.T) {
		var net *lookleaptest.Internet
		skill, err := load(t, func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			net = n
			s.File("/s/a/ADVANCED.md", "text/markdown", "x")
		})
		if err != nil || len(net.Journal().Requests()) != 1 {
			t.Fatal(err)
		}
		if _, err := skill.Resource(t.Context(), "ADVANCED.md"); err != nil || len(net.Journal().Requests()) != 2 {
			t.Error(err)
		}
	})
}
