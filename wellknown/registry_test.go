package wellknown_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

const csvHeader = "URI Suffix,Change Controller,Reference,Status,Related Information,Date Registered,Date Modified\n"

var csvDate = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func TestBuiltin(t *testing.T) {
	r := wellknown.Builtin()
	if r.Date().IsZero() || len(r.Names()) < 20 {
		t.Fatalf("the table of %v has %d names", r.Date(), len(r.Names()))
	}
	t.Run("WK-3.1-02/accept-permanent", func(t *testing.T) {
		if got := r.Lookup("acme-challenge").Status; got != wellknown.Permanent || got.String() != "permanent" {
			t.Error(got)
		}
	})
	for name, reference := range map[string]string{"skills": "draft-zzn-dvs-00", "agent-skills": "Agent Skills discovery v0.2",
		"aiip": "draft-sogomonian-ai-uri-scheme-01", "anml": "draft-jeskey-anml-01", "anml-trust": "draft-jeskey-anml-01"} {
		t.Run("WK-3.1-04/accept-"+name, func(t *testing.T) {
			e := r.Lookup(name)
			if e.Status != wellknown.Unregistered || e.Reference != reference {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("WK-3-09/reject-other-case", func(t *testing.T) {
		for _, name := range []string{"Security.txt", "SECURITY.TXT", "security.Txt"} {
			if e := r.Lookup(name); e.Name != name || e.Reference != "" || e.Status != wellknown.Unregistered {
				t.Errorf("%+v", e)
			}
		}
	})
	t.Run("WK-3-09/accept-same-case", func(t *testing.T) {
		if e := r.Lookup("security.txt"); e.Reference != "RFC9116" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("WK-B-01/accept-old-entries-permanent", func(t *testing.T) {
		for _, name := range []string{"caldav", "carddav", "core", "est", "genid", "host-meta", "host-meta.json", "mta-sts.txt", "ni",
			"oauth-authorization-server", "openid-configuration", "timezone", "webfinger"} { // registered before 2019
			if e := r.Lookup(name); e.Status != wellknown.Permanent {
				t.Errorf("%s: %v", name, e.Status)
			}
		}
	})
	t.Run("WK-B-01/accept-other-schemes", func(t *testing.T) {
		for _, scheme := range []string{"coap", "coaps", "coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws", "http", "https"} {
			if got, err := r.URL(scheme+"://h.example", "core"); err != nil || got != scheme+"://h.example/.well-known/core" {
				t.Errorf("got %q, %v", got, err)
			}
		}
	})
}

func TestWith(t *testing.T) {
	r := wellknown.Builtin()
	t.Run("WK-3-11/reject-no-reference", func(t *testing.T) {
		for _, reference := range []string{"", " ", "\t"} {
			if next, err := r.With(wellknown.Entry{Name: "mine", Reference: reference}); next != nil || lookleap.CodeOf(err) != "bad-entry" {
				t.Errorf("%q: got %v", reference, err)
			}
		}
	})
	t.Run("WK-3-11/reject-scheme", func(t *testing.T) {
		if next, err := r.With(wellknown.Entry{Name: "mine", Reference: "RFC1", Schemes: []string{"ai"}}); next != nil || lookleap.CodeOf(err) != wellknown.CodeSchemeUnsupported {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-3-11/reject-second-scheme", func(t *testing.T) {
		if next, err := r.With(wellknown.Entry{Name: "mine", Reference: "RFC1", Schemes: []string{"https", "ai"}}); next != nil || lookleap.CodeOf(err) != wellknown.CodeSchemeUnsupported {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-3-11/reject-second-entry", func(t *testing.T) {
		if next, err := r.With(wellknown.Entry{Name: "mine", Reference: "RFC1"}, wellknown.Entry{Name: "other"}); next != nil || lookleap.CodeOf(err) != "bad-entry" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-3-11/accept-every-field", func(t *testing.T) {
		e := wellknown.Entry{Name: "mine", Controller: "Example Org", Reference: "RFC1", Status: wellknown.Provisional, Related: "none",
			Schemes: []string{"https", "coaps"}, Ports: []uint16{8443, 9443}, MediaTypes: []string{"text/plain", "text/csv"}, HasPath: true, Sensitive: true}
		next, err := r.With(e)
		if got := next.Lookup("mine"); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("WK-3-11/accept", func(t *testing.T) {
		next, err := r.With(wellknown.Entry{Name: "mine", Reference: "RFC1", Schemes: []string{"https"}, MediaTypes: []string{"text/plain"}, Ports: []uint16{8443}})
		if err != nil || next.Lookup("mine").Ports[0] != 8443 {
			t.Fatal(err)
		}
		if r.Lookup("mine").Reference != "" {
			t.Error("the old table changed")
		}
	})
	t.Run("WK-3.1-01/accept-export", func(t *testing.T) {
		text := wellknown.Entry{Name: "mine", Controller: "Example Org", Reference: "RFC1", Status: wellknown.Provisional, Related: "none"}.Export()
		for _, line := range []string{"URI suffix: mine\n", "Change controller: Example Org\n", "Specification document(s): RFC1\n", "Status: provisional\n", "Related information: none\n"} {
			if !strings.Contains(text, line) {
				t.Errorf("%q is missing in\n%s", line, text)
			}
		}
	})
}

func TestLoadRegistry(t *testing.T) {
	good := csvHeader + "security.txt,IETF,[RFC9116],permanent,,2020-01-01,\nnew-name,Example,[RFC1],Provisional,\"a, b\",2026-01-01,2026-02-01\n"
	load := func(text string) (*wellknown.Registry, error) {
		return wellknown.LoadRegistry(strings.NewReader(text), csvDate)
	}
	r, err := load(good)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("WK-5.1-01/accept-columns", func(t *testing.T) {
		e := r.Lookup("new-name")
		if e.Status != wellknown.Provisional || e.Related != "a, b" || e.Controller != "Example" || !r.Date().Equal(csvDate) {
			t.Errorf("%+v", e)
		}
		if use := r.Lookup("security.txt").MediaTypes; len(use) != 1 || use[0] != "text/plain" {
			t.Errorf("how the name is used was lost: %v", use)
		}
	})
	t.Run("WK-3.1-03/accept-removed-name-is-unknown", func(t *testing.T) {
		for _, name := range []string{"nodeinfo", "webfinger"} { // provisional and permanent
			if e := r.Lookup(name); e.Reference != "" || e.Status != wellknown.Unregistered {
				t.Errorf("%+v", e)
			}
		}
	})
	t.Run("WK-3.1-02/accept-both-statuses", func(t *testing.T) {
		for text, want := range map[string]wellknown.Status{"permanent": wellknown.Permanent, "Permanent": wellknown.Permanent,
			"provisional": wellknown.Provisional, " PROVISIONAL ": wellknown.Provisional} {
			r, err := load(csvHeader + "x,IETF,[RFC1]," + text + ",,,\n")
			if err != nil || r.Lookup("x").Status != want || r.Lookup("x").Status.String() != strings.ToLower(strings.TrimSpace(text)) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
	t.Run("WK-5.1-01/reject-each-other-column", func(t *testing.T) {
		for i := range 7 {
			columns := strings.Split(strings.TrimSpace(csvHeader), ",")
			columns[i] = "Other"
			if r, err := load(strings.Join(columns, ",") + "\nx,IETF,[RFC1],permanent,,,\n"); r != nil || lookleap.CodeOf(err) != "bad-registry" || !strings.Contains(err.Error(), fmt.Sprint("column ", i+1)) {
				t.Errorf("column %d: %v", i+1, err)
			}
		}
	})
	t.Run("WK-5.1-01/accept-byte-order-mark", func(t *testing.T) {
		if r, err := load("\ufeff" + good); err != nil || r.Lookup("new-name").Reference != "[RFC1]" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-5.1-01/accept-most-rows", func(t *testing.T) {
		if r, err := load(csvHeader + many(20_000)); err != nil || r.Lookup("name-19999").Status != wellknown.Permanent {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-3.1-04/accept-registered-since", func(t *testing.T) {
		r, err := load(csvHeader + "skills,IETF,[RFC9999],provisional,,2026-04-01,\n")
		if err != nil {
			t.Fatal(err)
		}
		if e := r.Lookup("skills"); e.Status != wellknown.Provisional || e.Reference != "[RFC9999]" || !e.HasPath {
			t.Errorf("%+v", e)
		}
	})
	t.Run("WK-5.1-01/accept-largest-file", func(t *testing.T) {
		const most = 4 << 20
		begin, end := csvHeader+"x,IETF,[RFC1],permanent,\"", "\",,\n"
		for size, want := range map[int]lookleap.Code{most: lookleap.CodeOK, most + 1: lookleap.CodeTooLarge} {
			if _, err := load(begin + strings.Repeat("a", size-len(begin)-len(end)) + end); lookleap.CodeOf(err) != want {
				t.Errorf("%d bytes: %v, want %s", size, err, want)
			}
		}
	})
	t.Run("WK-5.1-01/reject-file-that-was-cut", func(t *testing.T) {
		cut := fmt.Errorf("the connection ended: %w", io.EOF)
		r, err := wellknown.LoadRegistry(io.MultiReader(strings.NewReader(good), iotest.ErrReader(cut)), csvDate)
		if r != nil || lookleap.CodeOf(err) != "bad-registry" || !errors.Is(err, cut) {
			t.Errorf("%v, %v", r, err)
		}
	})
	t.Run("WK-3.1-04/accept-unregistered-stay-so", func(t *testing.T) {
		for _, name := range []string{"skills", "agent-skills", "aiip", "anml", "anml-trust"} {
			if e := r.Lookup(name); e.Status != wellknown.Unregistered || e.Reference == "" {
				t.Errorf("%+v", e)
			}
		}
	})
	for _, c := range []struct {
		id, name, text string
		want           lookleap.Code
	}{
		{"WK-3.1-02", "reject-status", csvHeader + "x,IETF,[RFC1],foo,,,\n", lookleap.CodeBadStatus},
		{"WK-5.1-01", "reject-columns", strings.Replace(good, "Reference", "Spec", 1), "bad-registry"},
		{"WK-5.1-01", "reject-more-columns", strings.Replace(csvHeader, "\n", ",More\n", 1) + "x,IETF,[RFC1],permanent,,,,\n", "bad-registry"},
		{"WK-5.1-01", "reject-fewer-columns", csvHeader + "x,IETF,[RFC1],permanent\n", "bad-registry"},
		{"WK-5.1-01", "reject-empty", "", "bad-registry"},
		{"WK-5.1-01", "reject-twice", csvHeader + strings.Repeat("x,IETF,[RFC1],permanent,,,\n", 2), "bad-registry"},
		{"WK-5.1-01", "reject-bad-name", csvHeader + "a/b,IETF,[RFC1],permanent,,,\n", lookleap.CodeBadName},
		{"WK-5.1-01", "reject-no-reference", csvHeader + "x,IETF,,permanent,,,\n", "bad-entry"},
		{"WK-5.1-01", "reject-too-large", csvHeader + "x,IETF,\"" + strings.Repeat("a", 5<<20) + "\",permanent,,,\n", lookleap.CodeTooLarge},
		{"WK-5.1-01", "reject-too-large-cut", csvHeader + strings.ReplaceAll(many(5000), ",,,", ","+strings.Repeat("a", 1000)+",,"), lookleap.CodeTooLarge},
		{"WK-5.1-01", "reject-too-many", csvHeader + many(20_001), lookleap.CodeTooLarge},
		{"WK-5.1-01", "reject-open-quote", csvHeader + "x,IETF,\"[RFC1],permanent,,,\n", "bad-registry"},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			if r, err := load(c.text); r != nil || err == nil || lookleap.CodeOf(err) != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	for name, c := range map[string]struct {
		row, message string
		column       int
	}{
		"status":    {"x,IETF,[RFC1],foo,,,", `"x": the status is neither permanent nor provisional`, 1},
		"name":      {"a/b,IETF,[RFC1],permanent,,,", `"a/b": `, 1},
		"reference": {"x,IETF,,permanent,,,", `"x": the entry has no specification`, 1},
		"twice":     {"security.txt,IETF,[RFC1],permanent,,,", `"security.txt" is listed twice`, 1},
		"columns":   {"x,IETF", "wrong number of fields", 1},
		"quote":     {"x,IETF,a\"b,permanent,,,", `bare " in non-quoted-field`, 9},
	} {
		t.Run("WK-5.1-01/reject-naming-the-line-of-"+name, func(t *testing.T) {
			_, err := load(good + c.row + "\n")
			bad := new(lookleap.Error)
			if !errors.As(err, &bad) || bad.Position.Line != 4 || bad.Position.Column != c.column || !strings.HasPrefix(bad.Message, c.message) {
				t.Errorf("got %v, want %q in line 4", err, c.message)
			}
			if name == "quote" && (bad.Err != nil || strings.Count(err.Error(), "bare") != 1) {
				t.Errorf("%v says it twice", err)
			}
		})
	}
}

// many returns rows with different names.
func many(rows int) string {
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "name-%d,IETF,[RFC1],permanent,,,\n", i)
	}
	return text.String()
}

func TestLint(t *testing.T) {
	codes := func(findings []lookleap.Finding) (list []lookleap.Code) {
		for _, f := range findings {
			list = append(list, f.Code)
		}
		return list
	}
	has := func(t *testing.T, findings []lookleap.Finding, code lookleap.Code, want bool) {
		t.Helper()
		for _, f := range findings {
			if f.Code == code {
				if !want {
					t.Errorf("unwanted: %v", f)
				}
				return
			}
		}
		if want {
			t.Errorf("%s is missing in %v", code, codes(findings))
		}
	}
	generic := func(t *testing.T, name string, want bool) {
		findings, err := wellknown.Lint(name)
		if err != nil {
			t.Fatal(err)
		}
		has(t, findings, "generic-name", want)
	}
	t.Run("WK-3-10/reject-generic", func(t *testing.T) {
		for _, name := range []string{"metadata", "MetaData", "agent", "agents", "ai", "api", "app", "config", "configuration", "data", "discovery", "index", "info",
			"manifest", "policy", "service", "services", "settings", "site", "skills", "status", "trust", "version"} {
			generic(t, name, true)
		}
	})
	t.Run("WK-3-10/accept-precise", func(t *testing.T) {
		for _, name := range []string{"example-metadata", "example.com-metadata", "metadata-example", "api.example", "agent-skills", "apis", "dat"} {
			generic(t, name, false)
		}
	})
	t.Run("WK-3-07/reject-unregistered", func(t *testing.T) {
		for name, message := range map[string]string{"made-up-name": `"made-up-name" is not in the registry of 2025-12-01`,
			"aiip": `"aiip" is not in the registry of 2025-12-01; it is used by draft-sogomonian-ai-uri-scheme-01`} {
			findings, err := wellknown.Lint(name)
			if err != nil || len(findings) != 1 || findings[0].Code != "unregistered-name" || findings[0].Message != message {
				t.Errorf("%+v, %v", findings, err)
			}
		}
	})
	t.Run("WK-3-07/accept-registered", func(t *testing.T) {
		findings, _ := wellknown.Lint("security.txt")
		has(t, findings, "unregistered-name", false)
	})
	t.Run("WK-3-15/reject-extra-path", func(t *testing.T) {
		findings, _ := wellknown.Builtin().Lint("security.txt", "more")
		has(t, findings, wellknown.CodeExtraPath, true)
	})
	t.Run("WK-3-15/accept-defined-path", func(t *testing.T) {
		findings, _ := wellknown.Builtin().Lint("acme-challenge", "token")
		has(t, findings, wellknown.CodeExtraPath, false)
	})
	t.Run("WK-4.4-01/accept-every-file", func(t *testing.T) {
		findings, err := wellknown.Builtin().LintTree(fstest.MapFS{
			".well-known/security.txt": {Data: []byte("x")}, ".well-known/up load": {Data: []byte("x")},
			".well-known/deep/er/file": {Data: []byte("x")}, "index.html": {Data: []byte("x")},
		})
		if err != nil {
			t.Fatal(err)
		}
		paths := map[string]bool{}
		for _, f := range findings {
			if f.Requirement == "WK-4.4-01" {
				if strings.Contains(f.Message, "link") {
					t.Errorf("%s is a plain file: %s", f.Path, f.Message)
				}
				paths[f.Path] = true
			}
		}
		if len(paths) != 3 || !paths["/.well-known/security.txt"] || !paths["/.well-known/up load"] || !paths["/.well-known/deep/er/file"] {
			t.Errorf("listed: %v", paths)
		}
		has(t, findings, lookleap.CodeBadName, true)
	})
	t.Run("WK-4.4-01/accept-no-directory", func(t *testing.T) {
		if findings, err := wellknown.Builtin().LintTree(fstest.MapFS{"index.html": {}}); err != nil || findings != nil {
			t.Errorf("%v, %v", findings, err)
		}
	})
	t.Run("WK-4.4-01/reject-link-unnoticed", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(dir+"/.well-known", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", dir+"/.well-known/x"); err != nil {
			t.Skip("no symbolic links here")
		}
		findings, err := wellknown.Builtin().LintTree(os.DirFS(dir))
		if err != nil || len(findings) == 0 || !strings.Contains(findings[0].Message, "link") {
			t.Errorf("%v, %v", findings, err)
		}
	})
}
