package dvs_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func served(t *testing.T) *dvs.Handler {
	t.Helper()
	h, err := dvs.NewHandler(fstest.MapFS{
		"refund/SKILL.md":       {Data: []byte(file("name: refund\ndescription: b\n"))},
		"refund/scripts/a.py":   {Data: []byte("print()")},
		"refund/data/a b.html":  {Data: []byte("<script>")},
		"billing/SKILL.md":      {Data: []byte(file("name: billing\ndescription: c\n"))},
		"notes/README.md":       {Data: []byte("no skill")},
		"README.md":             {Data: []byte("no skill")},
		"refund/ADVANCED.md":    {Data: []byte("more")},
		"refund/data/table.csv": {Data: []byte("a,b")},
	}, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, method, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "https://example.com"+path, nil))
	return w.Result()
}

func TestHandler(t *testing.T) {
	h := served(t)
	for _, c := range []struct {
		id, name, path string
		status         int
		mediaType      string
	}{
		{"DVS-4.2-03", "accept-markdown", "/.well-known/skills/refund/SKILL.md", 200, "text/markdown; charset=utf-8"},
		{"DVS-4.2-03", "accept-markdown-of-v2", "/.well-known/agent-skills/refund/SKILL.md", 200, "text/markdown; charset=utf-8"},
		{"DVS-4.5.1-01", "accept-more-instructions", "/.well-known/skills/refund/ADVANCED.md", 200, "text/markdown; charset=utf-8"},
		{"DVS-3.2-02", "accept-script-as-text", "/.well-known/skills/refund/scripts/a.py", 200, "text/plain; charset=utf-8"},
		{"DVS-3.2-02", "accept-page-as-text", "/.well-known/skills/refund/data/a%20b.html", 200, "text/plain; charset=utf-8"},
		{"DVS-3.2-02", "accept-table", "/.well-known/skills/refund/data/table.csv", 200, "text/csv; charset=utf-8"},
		{"DVS-3.2-14", "accept-index", "/.well-known/skills/index.json", 200, "application/json"},
		{"DVS-3.2-02", "reject-other-case", "/.well-known/skills/refund/skill.md", 404, ""},
		{"DVS-3.2-02", "reject-listing", "/.well-known/skills/refund/", 404, ""},
		{"DVS-3.2-02", "reject-encoded-slash", "/.well-known/skills/refund/scripts%2Fa.py", 404, ""},
		{"DVS-3.2-02", "reject-climbing", "/.well-known/skills/refund/../billing/SKILL.md", 404, ""},
		{"DVS-3.2-02", "reject-no-skill", "/.well-known/skills/notes/README.md", 404, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			r := get(h, "GET", c.path)
			if r.StatusCode != c.status {
				t.Fatal(r.StatusCode)
			}
			if c.status == 200 && (r.Header.Get("Content-Type") != c.mediaType || r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("ETag") == "" || len(r.Header.Values("Set-Cookie")) > 0) {
				t.Errorf("%v", r.Header)
			}
		})
	}
	t.Run("DVS-3.2-02/accept-no-type-that-browsers-run", func(t *testing.T) {
		const inert = " text/plain; text/csv; text/markdown; application/json application/octet-stream application/pdf application/yaml image/png image/jpeg image/gif image/webp "
		files := fstest.MapFS{"all/SKILL.md": {Data: []byte(file("name: all\ndescription: b\n"))}}
		for e := range strings.FieldsSeq(dataExtensions + " " + scriptExtensions + " .xhtml .wasm .unknown") {
			files["all/x"+e] = &fstest.MapFile{Data: []byte("<script>")}
		}
		all, err := dvs.NewHandler(files, dvs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for name := range files {
			r := get(all, "GET", dvs.SkillsPrefix+name)
			mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), " ")
			if r.StatusCode != 200 || !strings.Contains(inert, " "+mediaType+" ") {
				t.Errorf("%s: %d %s", name, r.StatusCode, mediaType)
			}
		}
	})
	t.Run("DVS-3.2-15/accept-all-files-by-a-loader", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").Handle("*", h)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")})
		var names []string
		for l, err := range loader.Discover(t.Context(), "https://shop.example/") {
			var skipped *dvs.Skipped
			if errors.As(err, &skipped) && skipped.Finding.Code == dvs.CodeDuplicateEntry {
				continue // the index of v0.1 has the same skills
			}
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			b, err := skill.Bundle(t.Context())
			i := slices.IndexFunc(h.Skills(), func(p *dvs.Published) bool { return p.Name == l.Name })
			if err != nil || !maps.EqualFunc(b.Files, h.Skills()[i].Files, bytes.Equal) {
				t.Errorf("%s: got %v, %v", l.Name, slices.Sorted(maps.Keys(b.Files)), err)
			}
			names = append(names, l.Name)
		}
		if !slices.Equal(names, []string{"billing", "refund"}) {
			t.Errorf("got %v", names)
		}
	})
	for _, c := range []struct{ path, mediaType string }{
		{dvs.AgentSkillsPrefix + "refund.tar.gz", "application/gzip"},
		{dvs.AgentSkillsPrefix + "billing.tar.gz", ""}, // one file needs no archive
	} {
		t.Run("DVS-3.2-14/accept-"+c.path, func(t *testing.T) {
			r := get(h, "GET", c.path)
			if (r.StatusCode == 200) != (c.mediaType != "") || c.mediaType != "" && r.Header.Get("Content-Type") != c.mediaType {
				t.Errorf("%d %v", r.StatusCode, r.Header)
			}
		})
	}
	t.Run("DVS-3.2-17/accept-v0.1-beside", func(t *testing.T) {
		if body, err := io.ReadAll(get(h, "GET", dvs.SkillsPrefix+dvs.IndexFile).Body); err != nil || !strings.Contains(string(body), `"files"`) {
			t.Errorf("%s %v", body, err)
		}
	})
	t.Run("DVS-4.2-03/accept-by-lint", func(t *testing.T) {
		r := get(h, "HEAD", "/.well-known/skills/refund/SKILL.md")
		if f := dvs.LintResponse("https://example.com/.well-known/skills/refund/SKILL.md", r.Header); len(f) > 0 {
			t.Error(f)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		if r := get(h, "POST", "/.well-known/skills/refund/SKILL.md"); r.StatusCode != 405 || r.Header.Get("Allow") == "" {
			t.Error(r.StatusCode)
		}
	})
	t.Run("reject-what-agents-refuse", func(t *testing.T) {
		for code, files := range map[lookleap.Code]fstest.MapFS{
			"no-frontmatter":      {"a/SKILL.md": {Data: []byte("x")}},
			dvs.CodeNameDirectory: {"b/SKILL.md": {Data: []byte(file("name: a\ndescription: b\n"))}},
			dvs.CodeUnsafeName:    {"a/SKILL.md": {Data: []byte(file("name: a\ndescription: b\n"))}, "a/nul.txt": {}},
		} {
			if h, err := dvs.NewHandler(files, dvs.Limits{}); lookleap.CodeOf(err) != code {
				t.Errorf("%s: %v, %v", code, h, err)
			}
		}
	})
}
