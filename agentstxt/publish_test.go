package agentstxt

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestFormat(t *testing.T) {
	section3 := []Directive{
		{Path: "/status", Action: Allow},
		{Path: "/dashboard", Action: Allow, Params: []Param{{"limit", "50"}}},
		{Path: "/admin"},
	}
	t.Run("AGT-7-04/accept-right-file", func(t *testing.T) {
		file, err := Format(section3, map[string]string{"version": "1.0", "generated-by": "test"})
		if err != nil || string(file) != "# generated-by: test\n# version: 1.0\n"+vectorFile {
			t.Errorf("%v:\n%s", err, file)
		}
	})
	t.Run("AGT-0-01/accept-generated", func(t *testing.T) {
		file, err := Format(section3, nil)
		if p, parseErr := Parse(file, Options{}); err != nil || parseErr != nil || p.Len() != 3 {
			t.Error(err, parseErr)
		}
	})
	t.Run("AGT-7-04/accept-nothing", func(t *testing.T) {
		if file, err := Format(nil, nil); err != nil || string(file) != hashOf("")+"\n" {
			t.Errorf("%v: %s", err, file)
		}
	})
	for _, c := range []struct {
		d    Directive
		says string
	}{
		{Directive{Path: "a", Action: Allow}, `directive 2, "a ALLOW": the path does not begin with "/"`},
		{Directive{Path: "/a?b", Action: Allow}, `directive 2, "/a?b ALLOW": the path has a query`},
		{Directive{Path: "/a ", Action: Allow}, `directive 2, "/a  ALLOW": the directive would be read as another one`},
		{Directive{Path: "/a", Action: 7}, `directive 2, "/a DISALLOW": the directive would be read as another one`},
		{Directive{Path: "/a", Params: []Param{{"a=b", "1"}}}, `directive 2, "/a DISALLOW a=b=1": the directive would be read as another one`},
		{Directive{Path: "/\xff", Action: Allow}, `: the directive is not UTF-8`},
	} {
		t.Run("AGT-7-04/reject-with-message", func(t *testing.T) {
			var bad *lookleap.Error
			if file, err := Format([]Directive{{Path: "/ok", Action: Allow}, c.d}, nil); file != nil || !errors.As(err, &bad) ||
				!strings.Contains(bad.Message, c.says) || bad.Fix == "" || bad.Code != codeBadDirective {
				t.Errorf("%v, want %s:\n%s", err, c.says, file)
			}
		})
	}
	for name, d := range map[string]Directive{
		"no-path":         {Action: Allow},
		"blank-after":     {Path: "/a ", Action: Allow},
		"relative-path":   {Path: "a", Action: Allow},
		"blank-in-path":   {Path: "/a ALLOW", Action: Allow},
		"line-in-path":    {Path: "/a ALLOW\n/b", Action: Allow},
		"query-in-path":   {Path: "/a?b", Action: Allow},
		"comment":         {Path: "#", Action: Allow},
		"unknown-action":  {Path: "/a", Action: 7},
		"no-key":          {Path: "/a", Action: Allow, Params: []Param{{"", "1"}}},
		"equals-in-key":   {Path: "/a", Action: Allow, Params: []Param{{"a=b", "1"}}},
		"blank-in-value":  {Path: "/a", Action: Allow, Params: []Param{{"a", "1 b=2"}}},
		"line-in-value":   {Path: "/a", Action: Allow, Params: []Param{{"a", "1\n/b ALLOW"}}},
		"key-twice":       {Path: "/a", Action: Allow, Params: []Param{{"a", "1"}, {"A", "1"}}},
		"not-utf8":        {Path: "/\xff", Action: Allow},
		"blank-at-end":    {Path: "/a", Action: Allow, Params: []Param{{"a", "1 "}}},
		"carriage-return": {Path: "/a", Action: Allow, Params: []Param{{"a", "1\r"}}},
	} {
		t.Run("AGT-7-04/reject-"+name, func(t *testing.T) {
			var bad *lookleap.Error
			if file, err := Format([]Directive{{Path: "/ok", Action: Allow}, d}, nil); file != nil || !errors.As(err, &bad) {
				t.Errorf("%v:\n%s", err, file)
			}
		})
	}
	for name, meta := range map[string]map[string]string{
		"line-in-metadata": {"a": "b\n/c ALLOW"},
		"bad-key":          {"a b": "c"},
		"upper-case-key":   {"A": "c"},
		"empty-key":        {"": "c"},
		"nul-in-metadata":  {"a": "b\x00"},
		"long-value":       {"a": strings.Repeat("b", 300)},
		"nothing":          {"": ""},
		"value-with-blank": {"a": "b "},
		"line-at-end":      {"a": "b\n"},
	} {
		t.Run("AGT-7-04/reject-"+name, func(t *testing.T) {
			if file, err := Format(section3, meta); file != nil || err == nil {
				t.Errorf("%v:\n%s", err, file)
			}
		})
	}
}

func TestSign(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"AGT-7-04/accept-insert", "# c\n\n/a ALLOW\n", "# c\n\n" + hashOf("/a ALLOW") + "\n/a ALLOW\n"},
		{"AGT-7-04/accept-replace", "# c\n" + vector + "\n#d\n/a ALLOW\n", "# c\n" + hashOf("/a ALLOW") + "\n#d\n/a ALLOW\n"},
		{"AGT-7-04/accept-replace-malformed", "# version: 1.0\n" + hashOf("") + " \\\n#s\n/a ALLOW\n", "# version: 1.0\n" + hashOf("/a ALLOW") + "\n#s\n/a ALLOW\n"},
		{"AGT-7-04/accept-crlf", "# c\r\n/a ALLOW\r\n/b ALLOW\r\n", "# c\r\n" + hashOf("/a ALLOW\n/b ALLOW") + "\r\n/a ALLOW\r\n/b ALLOW\r\n"},
		{"AGT-7-04/accept-bom", "\ufeff/a ALLOW", "\ufeff" + hashOf("/a ALLOW") + "\n/a ALLOW"},
		{"AGT-7-04/accept-no-directive", "# nothing", "# nothing\n" + hashOf("") + "\n"},
		{"AGT-7-04/accept-no-directive-but-line-end", "# nothing\n", "# nothing\n" + hashOf("") + "\n"},
		{"AGT-7-04/accept-blank-line-first", "\n/a ALLOW\n", "\n" + hashOf("/a ALLOW") + "\n/a ALLOW\n"},
		{"AGT-7-04/accept-empty", "", hashOf("") + "\n"},
		{"AGT-7-04/accept-empty-comment-alone", "#", "#\n" + hashOf("") + "\n"},
		{"AGT-7-04/accept-crlf-first", "\r\n/a ALLOW\r\n", "\r\n" + hashOf("/a ALLOW") + "\r\n/a ALLOW\r\n"},
		{"AGT-7-04/accept-bom-alone", "\ufeff", "\ufeff" + hashOf("") + "\n"},
		{"AGT-7-04/accept-signed-already", vectorFile, vectorFile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Sign([]byte(tt.file))
			if err != nil || string(got) != tt.want {
				t.Fatalf("%v: %q", err, got)
			}
			if again, err := Sign(got); err != nil || string(again) != tt.want {
				t.Errorf("signed again: %v: %q", err, again)
			}
		})
	}
	for _, tt := range []struct {
		name, file string
		line       int
	}{
		{"AGT-7-04/reject-bad-directive", "# c\n/a ALLOW\n/b MAYBE\n", 3},
		{"AGT-7-04/reject-bad-directive-after-hash-line", "# c\n" + vector + "\n/a ALLOW\n/b MAYBE\n", 4},
		{"AGT-7-04/reject-second-hash-line", vector + "\n" + vector + "\n", 2},
		{"AGT-7-04/reject-hash-line-after-directive", "/a ALLOW\n" + vector + "\n", 2},
		{"AGT-7-04/reject-text", "hello\n", 1},
		{"AGT-7-04/reject-nul-in-comment-before-directives", "#\x00\n/a ALLOW\n", 1},
		{"AGT-7-04/reject-nul-in-comment-behind-directives", "/a ALLOW\n#\x00\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var bad *lookleap.Error
			if got, err := Sign([]byte(tt.file)); got != nil || !errors.As(err, &bad) || bad.Position.Line != tt.line ||
				1+strings.Count(tt.file[:bad.Position.Offset], "\n") != tt.line {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, file, contentType string
		want                    []lookleap.Code
		lines                   []int
	}{
		{"AGT-8-01/accept-clean", vectorFile, "text/plain; charset=utf-8", nil, nil},
		{"AGT-8-01/reject-each-defect", vector + "\n/a MAYBE\nhello\n/b ALLOW x\n", "",
			[]lookleap.Code{"bad-directive", "bad-directive", "bad-directive", "hash-mismatch"}, []int{2, 3, 4, 1}},
		{"AGT-8-01/reject-missing-hash", "/a ALLOW\n/b MAYBE\n", "", []lookleap.Code{"hash-missing", "bad-directive"}, []int{1, 2}},
		{"AGT-8-01/reject-encoding-once", signed("/\xff ALLOW", "/\xfe ALLOW"), "", []lookleap.Code{"not-utf8"}, []int{2}},
		{"AGT-8-01/accept-worth-a-look", signed("/a ALLOW", "/a ALLOW"), "", []lookleap.Code{"duplicate"}, []int{3}},
		{"AGT-2-04/reject-json", vectorFile, "application/json", []lookleap.Code{"media-type"}, []int{0}},
		{"AGT-2-04/reject-html", vectorFile, "text/html; charset=utf-8", []lookleap.Code{"media-type"}, []int{0}},
		{"AGT-2-04/reject-charset", vectorFile, "text/plain; charset=latin1", []lookleap.Code{"charset"}, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var codes []lookleap.Code
			var lines []int
			fatal := false
			for _, f := range Lint([]byte(tt.file), tt.contentType, Options{}) {
				codes, lines = append(codes, f.Code), append(lines, f.Line)
				fatal = fatal || f.Severity == lookleap.SeverityError
				if f.Severity == lookleap.SeverityError && f.Fix == "" {
					t.Errorf("%v names no fix", f)
				}
			}
			if !slices.Equal(codes, tt.want) || !slices.Equal(lines, tt.lines) {
				t.Errorf("got %v in lines %v", codes, lines)
			}
			if fatal != strings.Contains(tt.name, "/reject") {
				t.Errorf("fatal: %v", fatal)
			}
		})
	}
	t.Run("bounded", func(t *testing.T) {
		if n := len(Lint([]byte(vector+"\n"+strings.Repeat("x\n", 10_000)), "", Options{})); n != 64 {
			t.Errorf("%d findings", n)
		}
	})
}

func TestHandler(t *testing.T) {
	get := func(h http.Handler, method, path string, header ...string) *http.Response {
		req := httptest.NewRequest(method, "https://shop.example"+path, nil)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w.Result()
	}
	file := []byte(vectorFile)
	h, err := NewHandler(file)
	if err != nil {
		t.Fatal(err)
	}
	file[0] = 'x' // the handler has a copy
	t.Run("AGT-8-01/accept-valid-file", func(t *testing.T) {
		r := get(h, "GET", "/agents.txt")
		if r.StatusCode != 200 || r.ContentLength != int64(len(vectorFile)) {
			t.Errorf("%+v", r)
		}
	})
	t.Run("AGT-8-01/reject-invalid-file", func(t *testing.T) {
		for _, file := range []string{"", "/a ALLOW", signed("/a MAYBE"), strings.Replace(vectorFile, "50", "51", 1)} {
			if h, err := NewHandler([]byte(file)); h != nil || err == nil {
				t.Errorf("%q is served", file)
			}
		}
	})
	t.Run("AGT-2-04/accept-media-type", func(t *testing.T) {
		r := get(h, "GET", "/agents.txt")
		if r.Header.Get("Content-Type") != "text/plain; charset=utf-8" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v", r.Header)
		}
	})
	t.Run("AGT-2-01/accept-exact-path", func(t *testing.T) {
		if r := get(h, "GET", "/agents.txt?x"); r.StatusCode != 200 {
			t.Error(r.Status)
		}
	})
	t.Run("AGT-2-01/reject-other-paths", func(t *testing.T) {
		for _, path := range []string{"/", "/Agents.txt", "/agents.txt/", "/.well-known/agents.txt", "//agents.txt", "/x/agents.txt", "/agents%2etxt"} {
			if r := get(h, "GET", path); r.StatusCode != 404 {
				t.Error(path, r.Status)
			}
		}
	})
	t.Run("AGT-5-07/accept-validator", func(t *testing.T) {
		r := get(h, "HEAD", "/agents.txt")
		if r.Header.Get("Cache-Control") != "max-age=3600" {
			t.Errorf("%v", r.Header)
		}
		if r := get(h, "GET", "/agents.txt", "If-None-Match", r.Header.Get("ETag")); r.StatusCode != 304 {
			t.Error(r.Status)
		}
	})
	t.Run("AGT-2-13/accept-whole-despite-range", func(t *testing.T) {
		if r := get(h, "GET", "/agents.txt", "Range", "bytes=0-9"); r.StatusCode != 200 || r.ContentLength != int64(len(vectorFile)) {
			t.Error(r.Status)
		}
	})
	t.Run("reject-other-methods", func(t *testing.T) {
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			if r := get(h, method, "/agents.txt"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
				t.Error(method, r.Status)
			}
		}
	})
	t.Run("AGT-8-01/accept-own-client-reads-it", func(t *testing.T) {
		inWorld(t, "lab", Options{Strict: true}, func(w *world) {
			w.site.Handle("/agents.txt", h)
			if p := w.want(Valid, lookleap.CodeOK); len(p.Findings()) > 0 {
				w.Error(p.Findings())
			}
		})
	})
}
