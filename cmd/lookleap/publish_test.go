package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/test/enginetest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// sourceDir is a directory that publishes everything.
func sourceDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agents.txt": "/admin DISALLOW\n",
		"page.xml": `<?xml version="1.0" encoding="UTF-8"?><anml xmlns="` + anml.Namespace + `" version="1.0" role="service"><head><title>Ferries</title></head>` +
			`<body><section label="Routes">Twice a day.</section></body></anml>`,
		"skills/refund/SKILL.md": goodSkill,
		"skills/refund/rules.md": "# Rules\n",
		"skills/greet/SKILL.md":  "---\nname: greet\ndescription: Greets.\n---\n# Greet\n",
		"trust.yaml":             "days: 90\npartners:\n  - domain: partner.example\n    tier: full\n    scope: [body]\n",
		"ai.yaml":                "endpoint: ai://published.example/pay\nscopes: [pay]\n",
		"keys.json":              keySet(t),
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func publishDir(t *testing.T, args ...string) (exit int, value publishValue, output string) {
	t.Helper()
	var out, errs bytes.Buffer
	exit = run(context.Background(), append([]string{"--json", "publish", "--origin", "https://published.example"}, args...), nil, &out, &errs)
	var got struct{ Value publishValue }
	_ = json.Unmarshal(out.Bytes(), &got) // a usage error has no result
	return exit, got.Value, out.String() + errs.String()
}

// TestPublish writes a site, and the doctor finds it healthy.
func TestPublish(t *testing.T) {
	dir := sourceDir(t)
	public := filepath.Join(dir, "public")
	exit, value, output := publishDir(t, dir)
	if exit != exitAccepted || len(value.Files) < 12 || len(value.DNS) != 1 {
		t.Fatalf("exit %d: %s", exit, output)
	}
	n := lookleaptest.ForTest(t)
	site := n.Site("published.example")
	for _, f := range value.Files {
		content, err := os.ReadFile(filepath.Join(public, filepath.FromSlash(f.Path)))
		if err != nil || len(content) != f.Bytes {
			t.Fatalf("%s: %v", f.Path, err)
		}
		site.File(f.Path, f.Type, string(content))
	}
	_, text, _ := strings.Cut(value.DNS[0], `"`)
	n.Name("_anml.published.example").TXT(strings.TrimSuffix(text, `"`))
	door := opened(t, n).Args()
	healthy(t, append(door, "https://published.example")...)
	t.Run("accept-again", func(t *testing.T) {
		for _, args := range [][]string{{dir, "--check", public}, {dir}} {
			if exit, _, output := publishDir(t, args...); exit != exitAccepted {
				t.Errorf("%v: exit %d: %s", args, exit, output)
			}
		}
	})
	t.Run("reject-what-changed", func(t *testing.T) {
		writeFile(t, filepath.Join(dir, "agents.txt"), "/staff DISALLOW\n")
		if err := os.RemoveAll(filepath.Join(dir, "skills", "greet")); err != nil {
			t.Fatal(err)
		}
		if exit, _, output := publishDir(t, dir, "--check", public); exit != exitRefused || !strings.Contains(output, "agents.txt") {
			t.Errorf("exit %d: %s", exit, output)
		}
		gone := filepath.Join(public, ".well-known", "skills", "greet", "SKILL.md")
		if _, err := os.Stat(gone); err != nil {
			t.Errorf("--check has written: %v", err)
		}
		if exit, _, output := publishDir(t, dir); exit != exitAccepted {
			t.Errorf("exit %d: %s", exit, output)
		}
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("what is no longer published is still there: %v", err)
		}
		if exit, _, _ := publishDir(t, dir, "--check", public); exit != exitAccepted {
			t.Error("the files that were written differ")
		}
	})
	t.Run("reject-soon-ending-manifest", func(t *testing.T) {
		if exit, _, output := publishDir(t, dir, "--check", public, "--at", "2035-01-01T00:00:00Z"); exit != exitRefused || !strings.Contains(output, "anml-trust") {
			t.Errorf("exit %d: %s", exit, output)
		}
	})
}

// TestPublishRefuses: what agents would refuse is not written.
func TestPublishRefuses(t *testing.T) {
	private := `{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","d":"870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE"}]}`
	for name, c := range map[string]struct{ file, text, says string }{
		"anml":           {"page.xml", "<anml>", "page.xml"},
		"anml-twice":     {"page.json", `{"anml":"1.0","role":"service","head":{"title":"x"}}`, "page.xml and page.json"},
		"skill":          {"skills/refund/SKILL.md", "# Refunds\n", "refund"},
		"skill-name":     {"skills/refund/SKILL.md", "---\nname: other\ndescription: x\n---\n", "refund"},
		"unknown-member": {"trust.yaml", "dayz: 1\n", "dayz"},
		"tier":           {"trust.yaml", "partners:\n  - domain: partner.example\n    tier: royal\n", "royal"},
		"partner":        {"trust.yaml", "partners:\n  - domain: com\n", "com"},
		"endpoint":       {"ai.yaml", "endpoint: https://published.example/\n", "ai.yaml: the text does not begin with ai:"},
		"private-key":    {"keys.json", private, "keys.json"},
		"rules":          {"agents.txt", "/admin MAYBE\n", ""},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			dir := sourceDir(t)
			writeFile(t, filepath.Join(dir, c.file), c.text)
			exit, _, output := publishDir(t, dir)
			if exit != exitRefused || !strings.Contains(output, c.says) || strings.Contains(output, "870MB6") {
				t.Errorf("exit %d: %s", exit, output)
			}
			if _, err := os.Stat(filepath.Join(dir, "public")); !os.IsNotExist(err) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
	t.Run("reject-nothing", func(t *testing.T) {
		if exit, _, output := publishDir(t, t.TempDir()); exit != exitRefused || !strings.Contains(output, "nothing to publish") {
			t.Errorf("exit %d: %s", exit, output)
		}
	})
	t.Run("reject-usage", func(t *testing.T) {
		dir := sourceDir(t)
		for _, args := range [][]string{{}, {dir, dir}, {dir, "--origin", "example.com"}, {dir, "--origin", "https://example.com/shop"}, {dir, "--check", dir, "--out", dir}, {dir, "--serve", "192.0.2.1:80"}} {
			if exit, _, output := publishDir(t, args...); exit != exitUsage {
				t.Errorf("%v: exit %d: %s", args, exit, output)
			}
		}
	})
	t.Run("reject-link-out", func(t *testing.T) {
		dir, other := sourceDir(t), t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "public"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, filepath.Join(dir, "public", ".well-known")); err != nil {
			t.Skip(err)
		}
		if exit, _, output := publishDir(t, dir); exit != exitRefused {
			t.Errorf("exit %d: %s", exit, output)
		}
		if left, err := os.ReadDir(other); len(left) > 0 || err != nil {
			t.Errorf("%v was written, %v", left, err)
		}
	})
}

// TestPublishNginx serves the files with nginx, by the file that publish wrote for it.
func TestPublishNginx(t *testing.T) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip("there is no nginx")
	}
	dir := sourceDir(t)
	if exit, _, output := publishDir(t, dir); exit != exitAccepted {
		t.Fatal(output)
	}
	for _, up := range []string{dir, filepath.Dir(dir)} { // its workers are another user
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	port := enginetest.FreePort(t)
	conf := filepath.Join(dir, "test.conf")
	writeFile(t, conf, `daemon off; pid `+dir+`/pid; error_log `+dir+`/log;
events { }
http { access_log off; client_body_temp_path `+dir+`/t1; proxy_temp_path `+dir+`/t2; fastcgi_temp_path `+dir+`/t3; uwsgi_temp_path `+dir+`/t4; scgi_temp_path `+dir+`/t5;
server { listen 127.0.0.1:`+port+`; root `+dir+`/public; include `+dir+`/public/nginx.conf; } }`)
	server := enginetest.Start(t, exec.Command(program, "-c", conf, "-p", dir, "-e", dir+"/log"), func() error {
		resp, err := http.Get("http://127.0.0.1:" + port + "/agents.txt")
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	})
	t.Cleanup(func() { server.End(os.Interrupt) })
	for accept, want := range map[string]string{anml.Accept(anml.XML): anml.MediaTypeXML, anml.Accept(anml.JSON): anml.MediaTypeJSON, "": anml.MediaTypeXML, anml.MediaTypeJSON: anml.MediaTypeJSON} {
		req, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+port+"/.well-known/anml", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); got != want || resp.StatusCode != http.StatusOK {
			t.Errorf("Accept %q: %d, %s", accept, resp.StatusCode, got)
		}
	}
	healthy(t, "--dev", "--connect", "127.0.0.1:"+port, "https://published.example")
}

// healthy examines a site that publishes everything.
func healthy(t *testing.T, args ...string) {
	t.Helper()
	got := judged[doctorValue](t, append([]string{"doctor"}, args...)...)
	for _, d := range got.Value.Checks {
		if d.State != fine && (d.State != skipped || args[0] != "--dev") || got.exit != exitAccepted {
			t.Errorf("exit %d, %s is %s: %s", got.exit, d.Check, d.State, d.Message)
		}
	}
}
