package dvs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

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
		{id: "DVS-3.2-22/accept-a-mebibyte", in: "[" + strings.Repeat(" ", 1<<20-2) + "]"},
		{id: "DVS-3.2-22/accept-depth-16", in: `[{"name":"a","description":"d","x":` + strings.Repeat("[", 14) + strings.Repeat("]", 14) + `}]`, want: []string{a}},
		{id: "DVS-3.2-22/reject-large", in: "[" + strings.Repeat(" ", 1<<20-1) + "]", refused: "bad-index"},
		{id: "DVS-3.2-22/reject-deep", in: strings.Repeat("[", 17) + strings.Repeat("]", 17), refused: "bad-index"},
		{id: "DVS-3.2-22/reject-duplicate-keys", in: `[{"name":"a","name":"b"}]`, refused: "bad-index"},
		{id: "DVS-3.2-22/reject-not-utf8", in: "[\"\xff\"]", refused: "bad-index"},
		{id: "DVS-3.2-22/reject-trailing", in: "[] []", refused: "bad-index"},
		{id: "J13/reject-names-of-files", in: `{"skills":[{"name":"a","description":"d","files":[` + strings.Repeat(`"a",`, 50_000) + `"b"]},{"name":"b","description":"d"}]}`,
			want: []string{a, "https://shop.example/.well-known/skills/b/SKILL.md"}, findings: []lookleap.Code{"index-truncated"}},
		{id: "J13/reject-not-array", in: `5`, refused: "bad-index"},
		{id: "J13/reject-text", in: `"a"`, refused: "bad-index"},
		{id: "J13/reject-null", in: `null`, refused: "bad-index"},
		{id: "J13/reject-object-without-skills", in: `{"name":"a","description":"d"}`, refused: "bad-index"},
		{id: "J13/reject-skills-not-array", in: `{"skills":{"name":"a","description":"d"}}`, refused: "bad-index"},
		{id: "J13/accept-array", in: `[{"name":"a","description":"d"}]`, want: []string{a}},
		{id: "J13/accept-object-with-skills", in: `{"skills":[{"name":"a","description":"d"}]}`, want: []string{a}},
		{id: "J13/reject-http", in: `[{"name":"a","description":"d","path":"http://shop.example/x/"}]`, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "J13/reject-other-host", in: `[{"name":"a","description":"d","path":"//evil.example/x"}]`, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "J13/reject-place-twice", in: `[{"name":"a","description":"d","path":"/x/"},{"name":"b","description":"d","path":"/x/SKILL.md"}]`, want: []string{"https://shop.example/x/SKILL.md"}, findings: []lookleap.Code{"duplicate-entry"}},
		{id: "J13/reject-elsewhere", in: `[{"name":"a","description":"d","path":"https://evil.example/x"}]`, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "J13/reject-parts-of-the-host", in: `[{"name":"a","description":"d","path":"https://www.shop.example/x/"},{"name":"b","description":"d","path":"https://example/x/"},{"name":"c","description":"d","path":"https://evilshop.example/x/"}]`,
			findings: []lookleap.Code{"entry-outside-root", "special-host", "entry-outside-root"}},
		{id: "J13/reject-other-port", in: `[{"name":"a","description":"d","path":"https://shop.example:8443/x/"}]`, findings: []lookleap.Code{"entry-outside-root"}},
		{id: "J13/reject-userinfo", in: `[{"name":"a","description":"d","path":"https://shop.example@evil.example/x/"}]`, findings: []lookleap.Code{"userinfo"}},
		{id: "J13/reject-climbing", in: `[{"name":"a","description":"d","path":"../../../../../..//evil.example/x"},{"name":"b","description":"d","path":"%2e%2e/x"}]`, findings: []lookleap.Code{"empty-segment", "dot-segment"}},
		{id: "J13/accept-name-twice", in: `[{"name":"a","description":"d","path":"/x/"},{"name":"a","description":"d","path":"/y/"}]`, want: []string{"https://shop.example/x/SKILL.md", "https://shop.example/y/SKILL.md"}},
	} {
		t.Run(c.id, func(t *testing.T) {
			list, err := dvs.ParseIndex([]byte(c.in), indexAt, dvs.Rules{}, dvs.Limits{})
			checkListing(t, list, err, c.refused, c.want, c.findings)
		})
	}
	for _, id := range []string{"DVS-3.2-22", "J13"} {
		t.Run(id+"/accept-truncated", func(t *testing.T) {
			list, err := dvs.ParseIndex([]byte(entries(1001)), indexAt, dvs.Rules{}, dvs.Limits{})
			if err != nil || len(list.Skills) != 1000 || list.Findings[0].Code != "index-truncated" {
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
