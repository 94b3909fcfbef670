package dvs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

const indexAt = "https://shop.example/.well-known/skills/index.json"

func digestOf(s string) string { return dvs.DigestOf([]byte(s)).String() }

// TestParseIndex reads like the rows: an index, the locations in it and
// the codes of its findings, or the code of its refusal.
func TestParseIndex(t *testing.T) {
	entries := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"s%d","description":"d","path":"/s/%d/"}`, i, i)
		}
		return "[" + strings.TrimPrefix(b.String(), ",") + "]"
	}
	const a = "https://shop.example/.well-known/skills/a/SKILL.md"
	v2 := func(entry string) string {
		return `{"$schema":"https://schemas.agentskills.io/discovery/0.2.0/schema.json","skills":[` + entry + `]}`
	}
	for _, c := range []struct {
		id, in   string
		want     []string
		findings []lookleap.Code
		refused  lookleap.Code
	}{
		{id: "DVS-3.2-16/accept-array", in: `[{"name":"a","description":"d","path":"/.well-known/skills/a/"}]`, want: []string{a}},
		{id: "DVS-3.2-16/accept-no-description", in: `[{"name":"a","path":"/.well-known/skills/a/"}]`, want: []string{a}, findings: []lookleap.Code{"bad-index-entry"}},
		{id: "DVS-3.2-17/accept-object", in: `{"skills":[{"name":"a","description":"d"}]}`, want: []string{a}},
		{id: "DVS-3.2-17/accept-files", in: `{"skills":[{"name":"a","description":"d","files":["SKILL.md","scripts/x.py"]}]}`, want: []string{a}},
		{id: "DVS-3.2-17/accept-v0.2", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md","digest":"` + digestOf("x") + `"}`), want: []string{a}},
		{id: "DVS-3.2-17/reject-v0.2-digest", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md","digest":"sha256:abc"}`), findings: []lookleap.Code{"bad-index-entry"}},
		{id: "DVS-3.2-17/accept-archive", in: v2(`{"name":"a","type":"archive","description":"d","url":"a.zip","digest":"` + digestOf("x") + `"},{"name":"b","type":"archive","description":"d","url":"/download/b","digest":"` + digestOf("x") + `"}`),
			want: []string{"https://shop.example/.well-known/skills/a.zip", "https://shop.example/download/b"}},
		{id: "DVS-3.2-17/accept-file-of-another-name", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"/guides/a.md","digest":"` + digestOf("x") + `"}`), want: []string{"https://shop.example/guides/a.md"}},
		{id: "DVS-3.2-17/reject-no-digest", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md"}`), findings: []lookleap.Code{"bad-index-entry"}},
		{id: "DVS-3.2-17/reject-no-type", in: v2(`{"name":"a","description":"d","url":"a/SKILL.md","digest":"` + digestOf("x") + `"}`), findings: []lookleap.Code{"unknown-type"}},
		{id: "DVS-3.2-17/accept-digest-of-a-path", in: `{"$schema":"x","skills":[{"name":"a","description":"d","path":"a/","digest":"` + digestOf("x") + `"}]}`, want: []string{a}, findings: []lookleap.Code{"unknown-schema"}},
		{id: "DVS-3.2-17/accept-skill-md-without-digest", in: `{"$schema":"x","skills":[{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md"}]}`, want: []string{a}, findings: []lookleap.Code{"unknown-schema"}},
		{id: "DVS-3.2-18/reject-first-of-two", in: `[{"name":"a","description":"d","path":"/a/?x=1","url":"https://cdn.example/a/"}]`, findings: []lookleap.Code{"query-in-skill-url"}},
		{id: "DVS-3.2-17/reject-type", in: v2(`{"name":"a","type":"mcp","description":"d","url":"a.zip","digest":"` + digestOf("x") + `"}`), findings: []lookleap.Code{"unknown-type"}},
		{id: "DVS-3.2-17/reject-no-url", in: v2(`{"name":"a","type":"skill-md","path":"/a/","digest":"` + digestOf("x") + `"}`), findings: []lookleap.Code{"bad-index-entry"}},
		{id: "DVS-3.2-17/reject-other-schema", in: `{"$schema":"https://schemas.agentskills.io/discovery/9/schema.json","skills":[]}`, refused: "unknown-schema"},
		{id: "DVS-3.2-17/accept-invented-schema", in: `{"$schema":"https://agentskills.example/v1.json","skills":[{"name":"a","description":"d","files":["SKILL.md"]}]}`, want: []string{a}, findings: []lookleap.Code{"unknown-schema"}},
		{id: "DVS-3.2-17/accept-invented-schema-with-digests", in: `{"$schema":5,"skills":[{"name":"a","type":"skill-md","description":"d","url":"https://cdn.example/a/SKILL.md","digest":"` + digestOf("x") +
			`"},{"name":"b","type":"archive","description":"d","url":"b.zip","digest":"` + digestOf("x") + `"},{"name":"c","type":"document","description":"d","url":"/c/SKILL.md"}]}`,
			want: []string{"https://cdn.example/a/SKILL.md", "https://shop.example/.well-known/skills/b.zip", "https://shop.example/c/SKILL.md"}, findings: []lookleap.Code{"unknown-schema"}},
		{id: "DVS-3.2-17/reject-file-of-another-name-without-digest", in: `{"$schema":"x","skills":[{"name":"a","type":"skill-md","description":"d","url":"/guides/a.md"},{"name":"b","type":"archive","description":"d","url":"/b.zip"}]}`,
			findings: []lookleap.Code{"unknown-schema", "bad-index-entry", "bad-index-entry"}},
		{id: "DVS-3.2-17/reject-type-of-invented-schema", in: `{"$schema":"x","skills":[{"name":"a","type":"api","description":"d","url":"/api/search"},{"name":"b","type":"document","description":"d","url":"https://cdn.example/b/SKILL.md"}]}`,
			findings: []lookleap.Code{"unknown-schema", "unknown-type", "entry-outside-root"}},
		{id: "DVS-3.2-17/reject-string", in: `"skills"`, refused: "bad-index"},
		{id: "DVS-3.2-17/reject-no-array", in: `{"skills":{}}`, refused: "bad-index"},
		{id: "DVS-3.2-18/accept-relative", in: `[{"name":"a","description":"d","path":"skills/a/"}]`, want: []string{"https://shop.example/.well-known/skills/skills/a/SKILL.md"}},
		{id: "DVS-3.2-18/accept-absolute-path", in: `[{"name":"a","description":"d","path":"/s/a/SKILL.md"}]`, want: []string{"https://shop.example/s/a/SKILL.md"}},
		{id: "DVS-3.2-18/accept-url", in: `[{"name":"a","description":"d","url":"https://shop.example/s/a/"}]`, want: []string{"https://shop.example/s/a/SKILL.md"}},
		{id: "DVS-3.2-18/accept-both-same", in: `[{"name":"a","description":"d","path":"/s/a","url":"https://shop.example/s/a/SKILL.md"}]`, want: []string{"https://shop.example/s/a/SKILL.md"}},
		{id: "DVS-3.2-18/reject-both-different", in: `[{"name":"a","description":"d","path":"/s/a","url":"/s/b"}]`, findings: []lookleap.Code{"conflicting-path"}},
		{id: "DVS-3.2-19/accept-climbing-on-origin", in: `[{"name":"x","description":"d","path":"../../../x"}]`, want: []string{"https://shop.example/x/SKILL.md"}},
		{id: "DVS-3.2-19/reject-other-origins", in: `[{"name":"a","description":"d","path":"//evil.example/x"},{"name":"b","description":"d","path":"https://cdn.example/x"},{"name":"c","description":"d","path":"http://shop.example/x"}]`,
			findings: []lookleap.Code{"entry-outside-root", "entry-outside-root", "entry-outside-root"}},
		{id: "DVS-3.2-19/accept-other-origin-with-digest", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"https://cdn.example/a/SKILL.md","digest":"` + digestOf("x") +
			`"},{"name":"b","type":"archive","description":"d","url":"//cdn.example/b.tar.gz","digest":"` + digestOf("x") + `"}`), want: []string{"https://cdn.example/a/SKILL.md", "https://cdn.example/b.tar.gz"}},
		{id: "DVS-3.2-19/accept-page-of-a-platform-with-digest", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"https://github.com/o/r/blob/main/a/SKILL.md?plain=1","digest":"` + digestOf("x") + `"}`), want: []string{"https://github.com/o/r/blob/main/a/SKILL.md"}},
		{id: "DVS-3.2-19/reject-http-with-digest", in: v2(`{"name":"a","type":"skill-md","description":"d","url":"http://cdn.example/a/SKILL.md","digest":"` + digestOf("x") + `"}`), findings: []lookleap.Code{"entry-outside-root"}},
		{id: "DVS-3.2-20/accept-the-rest", in: `[1,{"name":5},{"name":"A"},{"name":"a/b"},{},null,{"name":"ok","description":"d"}]`, want: []string{"https://shop.example/.well-known/skills/ok/SKILL.md"},
			findings: []lookleap.Code{"bad-index-entry", "bad-index-entry", "bad-name", "bad-name", "bad-name", "bad-index-entry"}},
		{id: "DVS-3.2-20/accept-same-name-elsewhere", in: `[{"name":"a","description":"d","path":"/x/"},{"name":"a","description":"d","path":"/y/"}]`, want: []string{"https://shop.example/x/SKILL.md", "https://shop.example/y/SKILL.md"}},
		{id: "DVS-3.2-20/reject-same-location", in: `[{"name":"a","description":"d","path":"/x/"},{"name":"b","description":"d","path":"/x/SKILL.md"}]`, want: []string{"https://shop.example/x/SKILL.md"}, findings: []lookleap.Code{"duplicate-entry"}},
		{id: "DVS-3.2-20/accept-the-rest-of-one-with-a-query", in: `[{"name":"a","description":"d","path":"/s/a/SKILL.md?v=1"},{"name":"b","description":"d","path":"/s/b/SKILL.md?plain=1"},{"name":"c","description":"d","path":"/s/c/"}]`,
			want: []string{"https://shop.example/s/c/SKILL.md"}, findings: []lookleap.Code{"query-in-skill-url", "query-in-skill-url"}},
		{id: "DVS-3.2-22/reject-large", in: "[" + strings.Repeat(" ", 1<<20) + "]", refused: "bad-index"},
		{id: "DVS-3.2-22/reject-deep", in: strings.Repeat("[", 17) + strings.Repeat("]", 17), refused: "bad-index"},
		{id: "DVS-3.2-22/reject-duplicate-keys", in: `[{"name":"a","name":"b"}]`, refused: "bad-index"},
		{id: "DVS-3.2-22/reject-not-utf8", in: "[\"\xff\"]", refused: "bad-index"},
		{id: "DVS-3.2-22/reject-trailing", in: "[] []", refused: "bad-index"},
		{id: "J13/reject-names-of-files", in: `{"skills":[{"name":"a","description":"d","files":[` + strings.Repeat(`"a",`, 50_000) + `"b"]},{"name":"b","description":"d"}]}`,
			want: []string{a, "https://shop.example/.well-known/skills/b/SKILL.md"}, findings: []lookleap.Code{"index-truncated"}},
		{id: "J13/reject-not-array", in: `5`, refused: "bad-index"},
		{id: "J13/reject-elsewhere", in: `[{"name":"a","description":"d","path":"https://evil.example/x"}]`, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "DVS-8-01/accept-same-suffix", in: `[]`},
	} {
		t.Run(c.id, func(t *testing.T) {
			list, err := dvs.ParseIndex([]byte(c.in), indexAt, dvs.Rules{}, dvs.Limits{})
			checkListing(t, list, err, c.refused, c.want, c.findings)
		})
	}
	for _, id := range []string{"DVS-3.2-22", "J13"} {
		t.Run(id+"/accept-truncated", func(t *testing.T) {
			list, err := dvs.ParseIndex([]byte(entries(1001)), indexAt, dvs.Rules{}, dvs.Limits{})
			if err != nil || len(list.Skills) != 1000 || list.Findings[0].Code != dvs.CodeIndexTruncated {
				t.Error(err)
			}
		})
	}
	t.Run("reject-index-at-an-invalid-url", func(t *testing.T) {
		if list, err := dvs.ParseIndex([]byte("[]"), "http://shop.example/index.json", dvs.Rules{}, dvs.Limits{}); list != nil || lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Error(list, err)
		}
		if list, err := dvs.ReadSitemap(strings.NewReader(urlset()), "http://shop.example/sitemap.xml", dvs.Rules{}, dvs.Limits{}); list != nil || lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Error(list, err)
		}
	})
	t.Run("accept-foreign-only-with-a-skill-and-a-source", func(t *testing.T) {
		const elsewhere = "https://cdn.example/a/SKILL.md"
		for want, l := range map[*dvs.Listing]bool{nil: false, {}: false, {Source: indexAt}: false, {Skill: skillURL(t, elsewhere)}: false,
			{Skill: skillURL(t, "https://github.com/o/r/blob/main/SKILL.md"), Source: "https://github.com/index.json"}: false, {Skill: skillURL(t, "https://github.com/o/r/blob/main/SKILL.md"), Source: "https://raw.githubusercontent.com/index.json"}: false,
			{Skill: skillURL(t, elsewhere), Source: "http://x"}: false, {Skill: skillURL(t, elsewhere), Source: indexAt}: true, {Skill: skillURL(t, "https://shop.example/a/SKILL.md"), Source: indexAt}: false} {
			if want.Foreign() != l {
				t.Errorf("%+v: %v", want, !l)
			}
		}
	})
	t.Run("accept-skill-md-of-an-entry-with-a-digest", func(t *testing.T) {
		list, err := dvs.ParseIndex([]byte(v2(`{"name":"a","type":"skill-md","description":"d","url":"a/SKILL.md","path":"/other/","digest":"`+digestOf("x")+`"},
			{"name":"b","type":"skill-md","description":"d","url":"b.md","digest":"`+digestOf("x")+`"},{"name":"c","type":"archive","description":"d","url":"c/SKILL.md","digest":"`+digestOf("x")+`"}`)), indexAt, dvs.Rules{}, dvs.Limits{})
		if err != nil || len(list.Skills) != 3 || list.Skills[2].Skill.Artifact() != dvs.SkillArchive || list.Skills[0].Skill.Artifact() != dvs.SkillDirectory || list.Skills[1].Skill.Artifact() != dvs.SingleFile {
			t.Error(list, err)
		}
	})
	t.Run("accept-query-with-the-option", func(t *testing.T) {
		list, err := dvs.ParseIndex([]byte(`[{"name":"a","description":"d","path":"/a/?v=1"}]`), indexAt, dvs.Rules{AllowQuery: true}, dvs.Limits{})
		if err != nil || len(list.Skills) != 1 || list.Skills[0].Skill.String() != "https://shop.example/a/SKILL.md?v=1" {
			t.Error(list, err)
		}
	})
	t.Run("accept-first-findings", func(t *testing.T) {
		for n, more := range map[int]string{200: "", 201: "1 more findings are not shown", 203: "3 more findings are not shown"} {
			list, err := dvs.ParseIndex([]byte("["+strings.Repeat("1,", n-1)+"1]"), indexAt, dvs.Rules{}, dvs.Limits{})
			if err != nil || len(list.Findings) != min(n, 201) || more != "" && (list.Findings[200].Message != more || list.Findings[200].Code != lookleap.CodeLimit) {
				t.Errorf("%d: %v", n, err)
			}
		}
	})
	t.Run("reject-says-why", func(t *testing.T) {
		for in, why := range map[string]string{"5": "an index is an array or an object", "{}": `the object has no array "skills"`, "[] []": "something follows the value"} {
			if _, err := dvs.ParseIndex([]byte(in), indexAt, dvs.Rules{}, dvs.Limits{}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", in, err)
			}
		}
	})
	t.Run("DVS-4.1-04/reject-listed-paths", func(t *testing.T) {
		list, err := dvs.ParseIndex([]byte(`[{"name":"a","description":"d","files":["SKILL.md","../x","/x","a/../b","a\\b","C:x","a%2fb","a//b","","./a","a\u001fb","a\u007fb","a b~","a[b",7]}]`), indexAt, dvs.Rules{}, dvs.Limits{})
		if err != nil || !slices.Equal(list.Skills[0].Files, []string{"SKILL.md", "a b~"}) || len(list.Findings) != 13 || strings.Contains(list.Findings[12].Message, "not a path") {
			t.Error(list, err)
		}
	})
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func TestDiscover(t *testing.T) {
	const root = "https://shop.example/"
	const index = `[{"name":"a","description":"d","path":"/s/a/"}]`
	const child = "https://shop.example/c1.xml"
	for _, c := range []struct {
		id   string
		site func(*lab.Site)
		want string
	}{
		{"DVS-3.2-06/accept-both-merged", func(s *lab.Site) {
			s.Body("/.well-known/skills/index.json", "application/json", index).Body("/sitemap.xml", "application/xml", urlset("https://shop.example/s/a/SKILL.md", "https://shop.example/s/b/SKILL.md"))
		}, "/s/a/ /s/b/"},
		{"DVS-3.2-06/accept-bad-index-not-fatal", func(s *lab.Site) {
			s.Body("/.well-known/skills/index.json", "application/json", "{").Body("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "!bad-index /s/b/"},
		{"DVS-3.2-05/accept-sitemap-alone", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "/s/b/"},
		{"DVS-3.2-09/accept-one-level", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", sitemapIndex(child, "https://shop.example/c2.xml")).Body("/c1.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md")).
				Body("/c2.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "/s/b/ /s/c/"},
		{"DVS-3.2-09/reject-second-level", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", sitemapIndex(child)).Body("/c1.xml", "application/xml", sitemapIndex("https://shop.example/c2.xml")).Body("/c2.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "!sitemap-nested"},
		{"DVS-3.2-09/accept-the-next-after-a-second-level", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", sitemapIndex(child, "https://shop.example/c3.xml")).Body("/c1.xml", "application/xml", sitemapIndex("https://shop.example/c2.xml")).Body("/c3.xml", "application/xml", urlset("https://shop.example/s/c/SKILL.md"))
		}, "!sitemap-nested /s/c/"},
		{"DVS-3.2-09/reject-other-port", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", sitemapIndex("https://shop.example:8443/c.xml"))
		}, "!sitemap-nested"},
		{"DVS-3.2-09/reject-other-origin", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/xml", sitemapIndex("https://evil.example/c.xml"))
		}, "!sitemap-nested"},
		{"DVS-3.2-11/accept-gzip-file", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/gzip", zipped(urlset("https://shop.example/s/b/SKILL.md")))
		}, "/s/b/"},
		{"DVS-3.2-11/reject-bomb", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/gzip", zipped(strings.TrimSuffix(urlset("https://shop.example/s/b/SKILL.md"), "</urlset>")+strings.Repeat("<url/>", 9<<20)))
		}, "!sitemap-limit /s/b/"},
		{"DVS-3.2-11/reject-damaged-gzip-header", func(s *lab.Site) { s.Body("/sitemap.xml", "application/gzip", "\x1f\x8bxxxxxxxxxxxx") }, "!bad-sitemap"},
		{"DVS-3.2-11/reject-truncated-gzip-file", func(s *lab.Site) {
			s.Body("/sitemap.xml", "application/gzip", zipped(urlset("https://shop.example/s/b/SKILL.md"))[:40])
		}, "!bad-sitemap"},
		{"N01/reject-bomb", func(s *lab.Site) { s.Fault("/sitemap.xml", lab.GzipBomb(64)) }, "!bad-sitemap"},
		{"DVS-3.2-13/accept-missing", func(*lab.Site) {}, ""},
		{"DVS-3.2-13/accept-forbidden", func(s *lab.Site) { s.Status("/sitemap.xml", 403) }, ""},
		{"DVS-3.2-13/accept-html", func(s *lab.Site) { s.Body("*", "text/html", "<p>") }, ""},
		{"DVS-3.2-13/accept-xhtml", func(s *lab.Site) { s.Body("*", "application/xhtml+xml", "<p>") }, ""},
		{"DVS-3.2-14/accept-no-index", func(s *lab.Site) {
			s.Status("/.well-known/skills/index.json", 404).Body("/sitemap.xml", "application/xml", urlset("https://shop.example/s/b/SKILL.md"))
		}, "/s/b/"},
		{"DVS-3.2-15/accept-redirect-inside", func(s *lab.Site) {
			s.Redirect("/.well-known/skills/index.json", "/i.json").Body("/i.json", "application/json", index)
		}, "/s/a/"},
		{"DVS-3.2-15/reject-redirect-to-other-port", func(s *lab.Site) { s.Redirect("/.well-known/skills/index.json", "https://shop.example:8443/i.json") }, "!redirect-outside-root"},
		{"DVS-3.2-15/reject-redirect-outside", func(s *lab.Site) { s.Redirect("/.well-known/skills/index.json", "https://evil.example/i.json") }, "!redirect-outside-root"},
		{"DVS-3.2-23/accept-json", func(s *lab.Site) { s.Body("/.well-known/skills/index.json", "application/x+json", index) }, "/s/a/"},
		{"DVS-3.2-23/accept-plain", func(s *lab.Site) { s.Body("/.well-known/skills/index.json", "text/plain", index) }, "!media-type /s/a/"},
		{"DVS-3.2-23/reject-html", func(s *lab.Site) { s.Body("/.well-known/skills/index.json", "text/html", index) }, ""},
		{"DVS-3.2-23/reject-image", func(s *lab.Site) { s.Body("/.well-known/skills/index.json", "image/png", index) }, "!media-type"},
	} {
		t.Run(c.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // much is read within a limit of time
				net := lab.ForTest(t)
				c.site(net.Site("shop.example"))
				net.Site("evil.example").Body("*", "application/json", index)
				var got []string
				for l, err := range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(t.Context(), root) {
					var skipped *dvs.Skipped
					switch {
					case errors.As(err, &skipped):
						got = append(got, "!"+string(skipped.Finding.Code))
					case err != nil:
						t.Fatal(err)
					default:
						got = append(got, strings.TrimPrefix(l.Skill.Directory(), "https://shop.example"))
					}
				}
				if text := strings.Join(got, " "); text != c.want {
					t.Errorf("got %q, want %q", text, c.want)
				}
				if seen := net.Journal().Requests("evil.example"); len(seen) != 0 {
					t.Error("another origin was asked")
				}
			})
		})
	}
	t.Run("DVS-3.2-04/reject-path-root", func(t *testing.T) {
		net := lab.ForTest(t)
		for _, root := range []string{"https://github.com/o/", "https://shop.example/a/"} {
			for l, err := range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(t.Context(), root) {
				if !l.Skill.IsZero() || lookleap.CodeOf(err) != dvs.CodeNoOriginDiscovery {
					t.Error(l, err)
				}
			}
		}
		if len(net.Journal().Dials()) != 0 {
			t.Error("something was asked")
		}
	})
	t.Run("DVS-3.2-04/accept-origin", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example")
		for range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(t.Context(), root) {
			t.Error("there is something")
		}
		got := net.Journal().Paths("shop.example")
		if slices.Sort(got[:2]); !slices.Equal(got, []string{"GET /.well-known/agent-skills/index.json", "GET /.well-known/skills/index.json", "GET /sitemap.xml"}) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DVS-3.2-15/accept-agent-skills", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/s/b/SKILL.md", "text/markdown", refund).
			Body("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[{"name":"refund","type":"skill-md","description":"Refunds an order.","url":"/s/a/SKILL.md","digest":"`+digestOf(refund)+
				`"},{"name":"b","type":"skill-md","description":"d","url":"/s/b/SKILL.md","digest":"`+digestOf("other")+`"}]}`)
		loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, root)})
		var codes []string
		for l, err := range loader.Discover(t.Context(), root) {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			codes = append(codes, string(lookleap.CodeOf(err)))
			if err == nil && hasFinding(skill.Verdict, dvs.CodeIndexMismatch) {
				t.Error("the index says the same")
			}
		}
		if !slices.Equal(codes, []string{"ok", "digest-mismatch"}) {
			t.Errorf("got %v", codes)
		}
	})
	for name, c := range map[string]struct {
		indexes []string
		want    []string
	}{
		"accept-both-by-default": {nil, []string{"/s/new/SKILL.md", "/s/a/SKILL.md"}},
		"accept-narrowed":        {[]string{dvs.SkillsPrefix}, []string{"/s/a/SKILL.md"}},
		"accept-other-order":     {[]string{dvs.SkillsPrefix, dvs.AgentSkillsPrefix}, []string{"/s/a/SKILL.md", "/s/new/SKILL.md"}},
		"accept-sitemap-alone":   {[]string{}, nil},
	} {
		t.Run("DVS-3.2-15/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			net.Site("shop.example").Body("/.well-known/skills/index.json", "application/json", `[{"name":"a","description":"d","path":"/s/a/"}]`).
				Body("/.well-known/agent-skills/index.json", "application/json", `{"$schema":"`+dvs.IndexSchema+`","skills":[{"name":"new","type":"skill-md","description":"d","url":"/s/new/SKILL.md","digest":"`+digestOf(refund)+`"}]}`)
			var got []string
			for l, err := range dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, root), Indexes: c.indexes}).Discover(t.Context(), root) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.TrimPrefix(l.Skill.String(), "https://shop.example"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v", got)
			}
			asked := 0
			for _, path := range net.Journal().Paths("shop.example") {
				if strings.HasSuffix(path, "/index.json") {
					asked++
				}
			}
			if want := len(c.indexes); c.indexes == nil && asked != 2 || c.indexes != nil && asked != want {
				t.Errorf("%d indexes were asked for", asked)
			}
		})
	}
	t.Run("DVS-3.2-15/accept-one-round", func(t *testing.T) {
		net := lab.ForTest(t)
		both := make(chan struct{}, 2)
		meet := func(w http.ResponseWriter, r *http.Request) {
			both <- struct{}{}
			for len(both) < 2 && r.Context().Err() == nil {
				runtime.Gosched()
			}
			w.WriteHeader(http.StatusNotFound)
		}
		net.Site("shop.example").HandleFunc("/.well-known/skills/index.json", meet).HandleFunc("/.well-known/agent-skills/index.json", meet)
		for _, err := range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(t.Context(), root) {
			t.Error(err)
		}
	})
	t.Run("DVS-3.2-21/accept-file-decides", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/.well-known/skills/index.json", "application/json", index)
		loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, root)})
		for l, err := range loader.Discover(t.Context(), root) {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			if err != nil || skill.Name != "refund" || !hasFinding(skill.Verdict, dvs.CodeIndexMismatch) {
				t.Error(skill, err)
			}
		}
	})
	t.Run("N04/reject-disallowed-path", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).Body("/sitemap.xml", "application/xml", urlset("https://shop.example/s/a/SKILL.md")).
			Body("/.well-known/skills/index.json", "text/html", "").Status("/agents.txt", 401)
		host := net.Host()
		loader := dvs.NewLoader(host, dvs.Options{Roots: registry(t, root), Guard: agentstxt.Guard(host)})
		refused := 0
		for l, err := range loader.Discover(t.Context(), root) {
			if refused++; err == nil || lookleap.CodeOf(err) != dvs.CodeBlockedByPolicy {
				t.Error(l, err)
			}
		}
		if refused != 1 || slices.Contains(net.Journal().Paths("shop.example"), "GET /sitemap.xml") {
			t.Errorf("%d results; the sitemap was asked for: %v", refused, net.Journal().Paths("shop.example"))
		}
		if _, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md"); lookleap.CodeOf(err) != dvs.CodeBlockedByPolicy {
			t.Error(err)
		}
	})
	t.Run("reject-invalid-root", func(t *testing.T) {
		net := lab.ForTest(t)
		n := 0
		for l, err := range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(t.Context(), "http://shop.example/") {
			if n++; !l.Skill.IsZero() || lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
				t.Error(l, err)
			}
		}
		if n != 1 || len(net.Journal().Dials()) != 0 {
			t.Errorf("%d results", n)
		}
	})
	t.Run("DVS-3.2-06/reject-cancelled", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Site("shop.example")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range dvs.NewLoader(net.Host(), dvs.Options{}).Discover(ctx, root) {
			if n++; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the list of skills was not read") {
				t.Error(err)
			}
		}
		if n != 1 {
			t.Errorf("%d results", n)
		}
	})
}

func FuzzIndex(f *testing.F) {
	for _, s := range []string{`[]`, `{"skills":[{"name":"a","files":["SKILL.md"]}]}`, `[{"name":"a","path":"../x","url":"https://shop.example/x"}]`,
		`{"$schema":"` + dvs.IndexSchema + `","skills":[{"name":"a","type":"skill-md","url":"x","digest":"` + digestOf("") + `"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := dvs.ParseIndex(data, indexAt, dvs.Rules{}, dvs.Limits{})
		checkListings(t, list, err)
	})
}

func FuzzSitemap(f *testing.F) {
	for _, s := range []string{urlset("https://shop.example/a/SKILL.md", "&amp;"), "<sitemapindex><sitemap><loc>https://shop.example/x</loc></sitemap></sitemapindex>", "<!DOCTYPE x><urlset/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := dvs.ReadSitemap(bytes.NewReader(data), "https://shop.example/sitemap.xml", dvs.Rules{}, dvs.Limits{})
		checkListings(t, list, err)
	})
}

func checkListings(t *testing.T, list *dvs.Listings, err error) {
	if err != nil {
		if list != nil || !lookleap.CodeOf(err).Known() {
			t.Fatalf("got %v with %v", err, list)
		}
		return
	}
	root, _ := dvs.ParseTrustRoot("https://shop.example/", dvs.Rules{})
	for _, l := range list.Skills {
		if !root.Covers(l.Skill) && (l.Digest.IsZero() || !l.Foreign()) || !strings.HasSuffix(l.Skill.String(), "/SKILL.md") && l.Digest.IsZero() {
			t.Fatalf("listed %s", l.Skill)
		}
	}
}

// checkListing compares what was read from an index or a sitemap with the skills and findings that
// it should have, or with the code of the refusal.
func checkListing(t *testing.T, list *dvs.Listings, err error, refused lookleap.Code, want []string, findings []lookleap.Code) {
	t.Helper()
	if refused != "" {
		if list != nil || lookleap.CodeOf(err) != refused {
			t.Errorf("got %v, %v", list, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range list.Skills {
		got = append(got, l.Skill.String())
	}
	var codes []lookleap.Code
	for _, f := range list.Findings {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(got, want) || !slices.Equal(codes, findings) {
		t.Errorf("got %v with %v, want %v with %v", got, list.Findings, want, findings)
	}
}
