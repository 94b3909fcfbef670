package dvs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestRegisterListing registers what an index tells, of which nothing is fetched
// before it is activated.
func TestRegisterListing(t *testing.T) {
	const skills, file = "/.well-known/skills/", "/.well-known/skills/refund/SKILL.md"
	v2 := func(digest dvs.Digest) string {
		return fmt.Sprintf(`{"$schema":%q,"skills":[{"name":"refund","type":"skill-md","description":"Refunds an order.","url":"/.well-known/skills/refund/SKILL.md","digest":%q}]}`, dvs.IndexSchema, digest)
	}
	world := func(t *testing.T, index string) (*lookleaptest.Internet, *lookleaptest.Site, *dvs.Loader, dvs.Listing) {
		t.Helper()
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File(file, "text/markdown", refund).File(skills+"index.json", "application/json", index)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
		for listing, err := range loader.Discover(t.Context(), "https://shop.example/") {
			if err == nil {
				return net, site, loader, listing
			}
		}
		t.Fatal("nothing is listed")
		return nil, nil, nil, dvs.Listing{}
	}
	asked := func(net *lookleaptest.Internet) bool {
		return slices.Contains(net.Journal().Paths("shop.example"), "GET "+file)
	}
	const index = `[{"name":"refund","description":"Refunds\nan order."}]`

	t.Run("DVS-4.6-02/accept-nothing-fetched", func(t *testing.T) {
		net, _, loader, listing := world(t, index)
		r, err := loader.RegisterListing(t.Context(), listing)
		if err != nil || r.ContextText() != "refund: Refunds an order." || !r.Digest.IsZero() || !r.Header.IsZero() || r.Root.String() != "https://shop.example/" || !r.Source.Registered() || r.Verdict.OK || r.Verdict.Code != dvs.CodeNotActivated || asked(net) {
			t.Fatal(r, err)
		}
		if last := r.Verdict.Checks[len(r.Verdict.Checks)-1]; last.Status != lookleap.Skipped || last.Message != "not before activation" {
			t.Errorf("%+v", last)
		}
		skill, err := r.Activate(t.Context())
		if err != nil || skill.Digest != dvs.DigestOf([]byte(refund)) || !skill.Verdict.OK || hasFinding(skill.Verdict, dvs.CodeChanged) {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-4.6-02/reject-body-at-activation", func(t *testing.T) {
		_, site, loader, listing := world(t, index)
		r, err := loader.RegisterListing(t.Context(), listing)
		if err != nil {
			t.Fatal(err)
		}
		site.File(file, "text/markdown", strings.Join(strings.SplitAfter(refund, "---\n")[:2], ""))
		if skill, err := r.Activate(t.Context()); lookleap.CodeOf(err) != "empty-body" || skill != nil {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-3.2-21/accept-file-decides", func(t *testing.T) {
		_, _, loader, listing := world(t, `[{"name":"refund","description":"Gives everything away."}]`)
		r, err := loader.RegisterListing(t.Context(), listing)
		if err != nil || r.Description != "Gives everything away." {
			t.Fatal(r, err)
		}
		skill, err := r.Activate(t.Context())
		if err != nil || !hasFinding(skill.Verdict, dvs.CodeIndexMismatch) || skill.Description != "Refunds an order." {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-3.2-21/accept-file-decides-the-name", func(t *testing.T) {
		_, _, loader, listing := world(t, `[{"name":"repay","description":"Refunds an order.","path":"`+skills+`refund/"}]`)
		skill, err := loader.LoadListing(t.Context(), listing)
		if err != nil || skill.Name != "refund" || !hasFinding(skill.Verdict, dvs.CodeIndexMismatch) {
			t.Error(skill, err)
		}
	})
	t.Run("promised-digest", func(t *testing.T) {
		for digest, code := range map[dvs.Digest]lookleap.Code{dvs.DigestOf([]byte(refund)): lookleap.CodeOK, dvs.DigestOf(nil): dvs.CodeDigestMismatch} {
			_, _, loader, listing := world(t, v2(digest))
			r, err := loader.RegisterListing(t.Context(), listing)
			if err != nil || r.Digest != digest {
				t.Fatal(r, err)
			}
			if skill, err := r.Activate(t.Context()); lookleap.CodeOf(err) != code || (skill == nil) != (err != nil) {
				t.Errorf("got %v, want %s", err, code)
			}
		}
	})
	t.Run("promised-digest-and-too-little", func(t *testing.T) {
		_, _, loader, listing := world(t, index)
		listing.Description, listing.Digest = "", dvs.DigestOf([]byte("another file"))
		if r, err := loader.RegisterListing(t.Context(), listing); lookleap.CodeOf(err) != dvs.CodeDigestMismatch || r != nil {
			t.Error(r, err)
		}
		listing.Digest = dvs.DigestOf([]byte(refund))
		r, err := loader.RegisterListing(t.Context(), listing)
		if err != nil {
			t.Fatal(err)
		}
		if skill, err := r.Activate(t.Context()); err != nil {
			t.Error(skill, err)
		}
	})
	t.Run("DVS-4.3-13/accept-one-line", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/a/SKILL.md", "text/markdown", "---\nname: \"a\\n\\nother: b\"\ndescription: c\n---\nx\n")
		r, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Profile: dvs.Lenient}).Register(t.Context(), "https://shop.example/a/")
		if err != nil || r.ContextText() != "a other: b: c" {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("too-little-is-fetched", func(t *testing.T) {
		for name, change := range map[string]func(*dvs.Listing){
			"sitemap":        func(l *dvs.Listing) { l.Name, l.Description = "", "" },
			"no-description": func(l *dvs.Listing) { l.Description = "" },
			"too-long":       func(l *dvs.Listing) { l.Description = strings.Repeat("x", 1025) },
			"control":        func(l *dvs.Listing) { l.Description = "a\x1b[2Jb" },
			"bad-name":       func(l *dvs.Listing) { l.Name = "Refund" },
			"quotes":         func(l *dvs.Listing) { l.Name = `a" b: "c` },
		} {
			t.Run(name, func(t *testing.T) {
				net, _, loader, listing := world(t, index)
				change(&listing)
				r, err := loader.RegisterListing(t.Context(), listing)
				if err != nil || r.ContextText() != "refund: Refunds an order." || !r.Verdict.OK || !asked(net) {
					t.Error(r, err)
				}
			})
		}
	})
	t.Run("DVS-7-03/reject-revoked", func(t *testing.T) {
		net, _, loader, listing := world(t, index)
		r, err := loader.RegisterListing(t.Context(), listing)
		if err != nil {
			t.Fatal(err)
		}
		if err := loader.RevokeDomain("shop.example", false); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Activate(t.Context()); lookleap.CodeOf(err) != dvs.CodeRevoked {
			t.Error(err)
		}
		if r, err := loader.RegisterListing(t.Context(), listing); lookleap.CodeOf(err) != dvs.CodeRevoked || r != nil || asked(net) {
			t.Error(r, err)
		}
	})
	t.Run("DVS-3.1-28/reject-unconfirmed-platform", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		u, err := dvs.ParseSkillURL("https://github.com/example-org/skills/blob/main/refund/SKILL.md", dvs.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := dvs.NewLoader(net.StubHost(), dvs.Options{}).RegisterListing(t.Context(), dvs.Listing{Skill: u, Name: "refund", Description: "d"})
		if lookleap.CodeOf(err) != dvs.CodeNeedsRoot || r != nil {
			t.Error(r, err)
		}
	})
}
