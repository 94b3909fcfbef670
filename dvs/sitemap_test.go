package dvs_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/alloctest"
)

func urlset(locs ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, l := range locs {
		b.WriteString("<url><loc>" + l + "</loc></url>")
	}
	return b.String() + "</urlset>"
}

func sitemapIndex(locs ...string) string {
	return `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>` + strings.Join(locs, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

func TestReadSitemap(t *testing.T) {
	const at = "https://shop.example/sitemap.xml"
	const a = "https://shop.example/.well-known/skills/a/SKILL.md"
	many := make([]string, 50_001)
	for i := range many {
		many[i] = "https://shop.example/p"
	}
	for _, c := range []struct {
		id, in   string
		want     []string
		findings []lookleap.Code
		refused  lookleap.Code
	}{
		{id: "DVS-3.2-07/accept-entry", in: urlset("https://shop.example/s/a/SKILL.md"), want: []string{"https://shop.example/s/a/SKILL.md"}},
		{id: "DVS-3.2-07/accept-directory", in: urlset("https://shop.example/.well-known/skills/a/"), want: []string{a}},
		{id: "DVS-3.2-07/reject-other", in: urlset("https://shop.example/skills.html", "https://shop.example/.well-known/skills/index.json", "https://shop.example/.well-known/skills/a/b/",
			"https://shop.example/users/eve/.well-known/skills/a/")},
		{id: "DVS-3.2-07/reject-prefix-alone", in: urlset("https://shop.example/.well-known/skills/", "https://shop.example/.well-known/skills", "https://shop.example/.well-known/skillsets/a/")},
		{id: "DVS-3.2-07/reject-file-of-the-directory", in: urlset("https://shop.example/.well-known/skills/a.md", "https://shop.example/.well-known/skills/a.b/")},
		{id: "DVS-3.2-07/reject-other-end", in: urlset("https://shop.example/s/skill.md", "https://shop.example/s/xSKILL.md", "https://shop.example/s/SKILL.md/", "https://shop.example/s/SKILL.mdx", "https://shop.example/s/SKILL")},
		{id: "DVS-3.2-07/reject-end-of-query-or-fragment", in: urlset("https://shop.example/p?q=/SKILL.md", "https://shop.example/p#/SKILL.md", "https://shop.example/p?.well-known/skills/a/")},
		{id: "DVS-3.2-07/accept-directory-without-slash", in: urlset("https://shop.example/.well-known/skills/a"), want: []string{a}},
		{id: "DVS-3.2-07/accept-entry-of-the-origin", in: urlset("https://shop.example/SKILL.md"), want: []string{"https://shop.example/SKILL.md"}},
		{id: "DVS-3.2-08/reject-elsewhere", in: urlset("http://shop.example/s/SKILL.md", "https://evil.example/s/SKILL.md", "https://shop.example:8443/s/SKILL.md"),
			findings: []lookleap.Code{"entry-outside-root", "entry-outside-root", "entry-outside-root"}},
		{id: "DVS-3.2-08/accept-rest", in: urlset("https://evil.example/s/SKILL.md", a), want: []string{a}, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "DVS-3.2-10/reject-50001", in: urlset(append([]string{a}, many[1:]...)...), want: []string{a}, findings: []lookleap.Code{"sitemap-limit"}},
		{id: "DVS-3.2-10/reject-long-location", in: urlset("https://shop.example/"+strings.Repeat("a", 2048)+"/SKILL.md", a), want: []string{a}, findings: []lookleap.Code{"sitemap-limit"}},
		{id: "DVS-3.2-10/reject-end-of-long-location", in: urlset(strings.Repeat("x", 9000) + "<![CDATA[" + a + "]]>"), findings: []lookleap.Code{"sitemap-limit"}},
		{id: "DVS-3.2-10/accept-50000", in: urlset(append([]string{a}, many[2:]...)...), want: []string{a}},
		{id: "DVS-3.2-12/accept-amp-and-extensions", in: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="urn:x"><url><loc>https://shop.example/a&amp;b/SKILL.md</loc><i:image><i:loc>https://shop.example/no/SKILL.md</i:loc></i:image></url></urlset>`,
			want: []string{"https://shop.example/a&b/SKILL.md"}},
		{id: "DVS-3.2-12/accept-cdata-and-blanks", in: urlset("\n <![CDATA[" + a + "]]> \n"), want: []string{a}},
		{id: "DVS-3.2-12/reject-doctype", in: `<!DOCTYPE urlset>` + strings.TrimPrefix(urlset(a), `<?xml version="1.0" encoding="UTF-8"?>`), refused: "bad-sitemap"},
		{id: "DVS-3.2-12/reject-entity", in: urlset(a, "&x;"), refused: "bad-sitemap"},
		{id: "DVS-3.2-12/reject-not-well-formed", in: "<urlset><url>", refused: "bad-sitemap"},
		{id: "DVS-3.2-12/reject-html", in: "<html></html>", refused: "bad-sitemap"},
		{id: "N01/reject-xxe", in: `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>`, refused: "bad-sitemap"},
		{id: "N02/reject-evil", in: urlset("https://evil.example/.well-known/skills/x/SKILL.md"), findings: []lookleap.Code{"entry-outside-root"}},
		{id: "N02/reject-http", in: urlset("http://shop.example/SKILL.md"), findings: []lookleap.Code{"entry-outside-root"}},
		{id: "N02/reject-userinfo", in: urlset("https://shop.example@evil.example/SKILL.md"), findings: []lookleap.Code{"userinfo"}},
		{id: "N02/reject-dots", in: urlset("https://shop.example/a/%2e%2e/SKILL.md"), findings: []lookleap.Code{"dot-segment"}},
		{id: "N01/reject-50001", in: urlset(append([]string{a}, many[1:]...)...), want: []string{a}, findings: []lookleap.Code{"sitemap-limit"}},
		{id: "N01/accept-50000", in: urlset(append([]string{a}, many[2:]...)...), want: []string{a}},
		{id: "N01/reject-doctype", in: `<!DOCTYPE urlset>` + strings.TrimPrefix(urlset(a), `<?xml version="1.0" encoding="UTF-8"?>`), refused: "bad-sitemap"},
		{id: "N02/accept-ampersand", in: urlset("https://shop.example/a&amp;b/SKILL.md"), want: []string{"https://shop.example/a&b/SKILL.md"}},
		{id: "N02/reject-ampersand-before-a-host", in: urlset("https://shop.example&amp;x@evil.example/SKILL.md"), findings: []lookleap.Code{"userinfo"}},
		{id: "N02/reject-character-for-a-sign", in: urlset("https://shop.example&#64;evil.example/SKILL.md"), findings: []lookleap.Code{"userinfo"}},
		{id: "N02/reject-subdomain", in: urlset("https://www.shop.example/SKILL.md"), findings: []lookleap.Code{"entry-outside-root"}},
		{id: "N02/reject-other-port", in: urlset("https://shop.example:8443/SKILL.md"), findings: []lookleap.Code{"entry-outside-root"}},
		{id: "N02/accept-own", in: urlset(a), want: []string{a}},
	} {
		t.Run(c.id, func(t *testing.T) {
			list, err := dvs.ReadSitemap(strings.NewReader(c.in), at, dvs.Rules{}, dvs.Limits{})
			checkListing(t, list, err, c.refused, c.want, c.findings)
		})
	}
	const space = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	for _, c := range []struct {
		id, in string
		limits dvs.Limits
		want   string // skills, children and codes
	}{
		{"DVS-3.2-12/accept-without-namespace", "<urlset><url><loc>" + a + "</loc></url></urlset>", dvs.Limits{}, "1 0 []"},
		{"DVS-3.2-12/reject-other-namespace", `<urlset xmlns="urn:x"><url><loc>` + a + "</loc></url></urlset>", dvs.Limits{}, "0 0 []"},
		{"DVS-3.2-12/reject-deeper", space + "<url><x><loc>" + a + "</loc></x></url></urlset>", dvs.Limits{}, "0 0 []"},
		{"DVS-3.2-12/reject-not-deep-enough", space + "<loc>" + a + "</loc></urlset>", dvs.Limits{}, "0 0 []"},
		{"DVS-3.2-12/reject-other-element", space + "<url><link>" + a + "</link></url></urlset>", dvs.Limits{}, "0 0 []"},
		{"DVS-3.2-10/reject-65-blanks-too-many", urlset(strings.Repeat(" ", 2113-len(a)) + a), dvs.Limits{}, "0 0 [sitemap-limit]"},
		{"DVS-3.2-12/reject-depth-17", space + strings.Repeat("<x>", 16) + strings.Repeat("</x>", 16) + "<url><loc>" + a + "</loc></url></urlset>", dvs.Limits{}, "0 0 [sitemap-limit]"},
		{"DVS-3.2-12/reject-text-beyond-64-kib", urlset(strings.Repeat("x", 64<<10+1), a), dvs.Limits{}, "0 0 [sitemap-limit]"},
		{"DVS-3.2-10/accept-2047-characters", urlset("https://shop.example/" + strings.Repeat("a", 2047-len("https://shop.example//SKILL.md")) + "/SKILL.md"), dvs.Limits{}, "1 0 []"},
		{"DVS-3.2-10/reject-2048-characters", urlset("https://shop.example/" + strings.Repeat("a", 2048-len("https://shop.example//SKILL.md")) + "/SKILL.md"), dvs.Limits{}, "0 0 [sitemap-limit]"},
		{"DVS-3.2-10/reject-overlong-then-accept-next", urlset(strings.Repeat("a", 5000), a), dvs.Limits{}, "1 0 [sitemap-limit]"},
		{"DVS-3.2-10/accept-as-many-bytes-as-the-limit", urlset(a), dvs.Limits{Sitemap: len(urlset(a))}, "1 0 []"},
		{"DVS-3.2-10/reject-a-byte-more", urlset(a), dvs.Limits{Sitemap: len(urlset(a)) - 1}, "0 0 [sitemap-limit]"},
		{"DVS-3.2-10/accept-number-of-skills", urlset(a, "https://shop.example/b/SKILL.md"), dvs.Limits{Candidates: 2}, "2 0 []"},
		{"DVS-3.2-10/reject-number-of-skills", urlset(a, "https://shop.example/b/SKILL.md", "https://shop.example/c/SKILL.md", "https://shop.example/d/SKILL.md"), dvs.Limits{Candidates: 2}, "2 0 [sitemap-limit]"},
		{"DVS-3.2-09/accept-number-of-sitemaps", sitemapIndex("https://shop.example/1.xml", "https://shop.example/2.xml"), dvs.Limits{SitemapChildren: 2}, "0 2 []"},
		{"DVS-3.2-09/reject-number-of-sitemaps-once", sitemapIndex("https://shop.example/1.xml", "https://shop.example/2.xml", "https://shop.example/3.xml", "https://shop.example/4.xml"), dvs.Limits{SitemapChildren: 2}, "0 2 [sitemap-limit]"},
		{"DVS-3.2-09/reject-number-of-sitemaps-after-another-origin", sitemapIndex("https://evil.example/0.xml", "https://shop.example/1.xml", "https://shop.example/2.xml", "https://shop.example/3.xml"), dvs.Limits{SitemapChildren: 2}, "0 2 [sitemap-nested sitemap-limit]"},
		{"DVS-3.2-09/reject-child-that-is-no-url", sitemapIndex("x", "https://shop.example/1.xml"), dvs.Limits{}, "0 1 [sitemap-nested]"},
	} {
		t.Run(c.id, func(t *testing.T) {
			list, err := dvs.ReadSitemap(strings.NewReader(c.in), at, dvs.Rules{}, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			codes := []lookleap.Code{}
			for _, f := range list.Findings {
				codes = append(codes, f.Code)
			}
			if got := fmt.Sprint(len(list.Skills), len(list.Children), codes); got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, list.Findings)
			}
		})
	}
	t.Run("DVS-3.2-12/reject-source-that-is-no-url", func(t *testing.T) {
		if list, err := dvs.ReadSitemap(strings.NewReader(urlset(a)), "sitemap.xml", dvs.Rules{}, dvs.Limits{}); list != nil || err == nil {
			t.Errorf("got %v", list)
		}
	})
	t.Run("N01/reject-beyond-size", func(t *testing.T) {
		list, err := dvs.ReadSitemap(io.MultiReader(strings.NewReader(strings.TrimSuffix(urlset(a), "</urlset>")), blanks{}), at, dvs.Rules{}, dvs.Limits{})
		if err != nil || len(list.Skills) != 1 || list.Findings[0].Code != "sitemap-limit" {
			t.Error(list, err)
		}
	})
}

func TestReadSitemapMemory(t *testing.T) {
	text := urlset(slices.Repeat([]string{"https://shop.example/p"}, 50_000)...)
	t.Run("N01/accept-memory-flat", func(t *testing.T) {
		alloctest.AtMost(t, 64<<20, func() {
			if _, err := dvs.ReadSitemap(strings.NewReader(text), "https://shop.example/sitemap.xml", dvs.Rules{}, dvs.Limits{}); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// blanks is an endless text.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	if len(p) > 8 {
		copy(p, "<url/>")
	}
	return len(p), nil
}
