package wellknown_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

func newHandler(t *testing.T) *wellknown.Handler {
	t.Helper()
	registry, err := wellknown.Builtin().With(wellknown.Entry{Name: "example-secret", Reference: "RFC1", MediaTypes: []string{"text/plain"}, Sensitive: true})
	if err != nil {
		t.Fatal(err)
	}
	h, err := wellknown.NewHandler(fstest.MapFS{
		"security.txt": {Data: []byte("Contact: https://example.com/\n")},
		"index.json":   {Data: []byte("[]")},
		"upload.txt":   {Data: []byte("not listed")},
	}, []wellknown.Document{
		{Name: "security.txt", File: "security.txt"},
		{Name: "skills", Rest: "index.json", File: "index.json", MediaType: "application/json", CORS: true},
		{Name: "skills", Rest: "a/SKILL.md", File: "index.json", MediaType: "text/markdown", MaxAge: 2 * time.Minute},
		{Name: "example-secret", File: "security.txt"},
	}, wellknown.HandlerOptions{Registry: registry})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(h http.Handler, method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "https://h.example"+path, strings.NewReader(""))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestHandler(t *testing.T) {
	h := newHandler(t)
	good := ask(h, "GET", "/.well-known/security.txt", "Cookie", "a=b")
	t.Run("WK-3-23/accept", func(t *testing.T) {
		for name, want := range map[string]string{"Content-Type": "text/plain", "X-Content-Type-Options": "nosniff", "Cache-Control": "max-age=3600"} {
			if got := good.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		if good.StatusCode != 200 || good.Header.Get("ETag") == "" || good.ContentLength != 30 {
			t.Errorf("%+v", good)
		}
		if body, err := io.ReadAll(good.Body); err != nil || string(body) != "Contact: https://example.com/\n" {
			t.Errorf("GET: %q, %v", body, err)
		}
		head := ask(h, "HEAD", "/.well-known/security.txt")
		if body, err := io.ReadAll(head.Body); head.StatusCode != 200 || len(body) != 0 || err != nil {
			t.Errorf("HEAD: %d %q, %v", head.StatusCode, body, err)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "X-Content-Type-Options", "Cache-Control", "Etag"} {
			if got, want := head.Header.Get(name), good.Header.Get(name); got != want {
				t.Errorf("HEAD: %s is %q, and %q for GET", name, got, want)
			}
		}
		if again := ask(h, "GET", "/.well-known/security.txt", "If-None-Match", good.Header.Get("ETag")); again.StatusCode != 304 {
			t.Errorf("conditional: %d", again.StatusCode)
		}
		if part := ask(h, "GET", "/.well-known/security.txt", "Range", "bytes=0-3"); part.StatusCode != 200 {
			t.Errorf("range: %d", part.StatusCode)
		}
	})
	t.Run("WK-3-23/accept-options-of-the-document", func(t *testing.T) {
		resp := ask(h, "GET", "/.well-known/skills/a/SKILL.md")
		if resp.StatusCode != 200 || resp.Header.Get("Cache-Control") != "max-age=120" || resp.Header.Get("Content-Type") != "text/markdown" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
	})
	for path, want := range map[string]int{
		"/.well-known/other": 404, "/.well-known/": 404, "/.well-known": 404, "/.well-known/upload.txt": 404, "/.well-known/skills/": 404,
		"/.well-known/security%2Etxt": 404, "/x/.well-known/security.txt": 404, "//.well-known/security.txt": 404, "/.well-known/skills/index.json": 200,
	} {
		verdict := "reject"
		if want == 200 {
			verdict = "accept"
		}
		t.Run("WK-3-23/"+verdict+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			if got := ask(h, "GET", path).StatusCode; got != want {
				t.Errorf("GET %s: %d", path, got)
			}
		})
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		t.Run("WK-3-23/reject-"+method, func(t *testing.T) {
			resp := ask(h, method, "/.well-known/security.txt")
			if resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%d %v", resp.StatusCode, resp.Header)
			}
		})
	}
	t.Run("WK-4.2-01/accept-restrictive-policy", func(t *testing.T) {
		if csp := good.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("CSP: %q", csp)
		}
		if got := good.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("X-Content-Type-Options: %q", got)
		}
	})
	t.Run("WK-4.2-01/reject-other-origins-unasked", func(t *testing.T) {
		for _, resp := range []*http.Response{good, ask(h, "GET", "/.well-known/skills/a/SKILL.md"), ask(h, "GET", "/.well-known/example-secret"), ask(h, "GET", "/.well-known/other")} {
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("scripts of other origins may read it unasked: %v", resp.Header)
			}
		}
	})
	t.Run("WK-4.2-01/accept-other-origins-on-request", func(t *testing.T) {
		if asked := ask(h, "GET", "/.well-known/skills/index.json"); asked.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Error("what was asked for is missing")
		}
	})
	t.Run("WK-4.2-01/reject-writing", func(t *testing.T) {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			if resp := ask(h, method, "/.well-known/security.txt"); resp.StatusCode != 405 {
				t.Errorf("%s: %d", method, resp.StatusCode)
			}
		}
	})
	t.Run("WK-4.2-02/accept-headers", func(t *testing.T) {
		if good.Header.Get("X-Content-Type-Options") != "nosniff" || good.Header.Get("Content-Security-Policy") == "" || good.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Error(good.Header)
		}
	})
	t.Run("WK-4.2-02/reject-compressed-secret", func(t *testing.T) {
		secret := ask(h, "GET", "/.well-known/example-secret", "Accept-Encoding", "gzip")
		if secret.Header.Get("Content-Encoding") != "" || !strings.Contains(strings.Join(secret.Header.Values("Cache-Control"), ","), "no-transform") {
			t.Errorf("a secret may be compressed: %v", secret.Header)
		}
	})
	t.Run("WK-4.2-04/reject-cookies", func(t *testing.T) {
		if with := ask(h, "GET", "/.well-known/security.txt", "Cookie", "user=1"); len(good.Cookies())+len(with.Cookies()) != 0 || with.StatusCode != 200 {
			t.Errorf("a cookie was set or had an effect: %d %v", with.StatusCode, with.Header)
		}
	})
	t.Run("WK-3-07/accept-finding", func(t *testing.T) {
		found := false
		for _, f := range h.Findings() {
			found = found || f.Code == "unregistered-name"
		}
		if !found {
			t.Error("publishing an unregistered name went unnoticed")
		}
	})
}

func TestHandlerRefuses(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(secret, filepath.Join(dir, "link")) == nil && os.Symlink(filepath.Dir(secret), filepath.Join(dir, "linkdir")) == nil
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, wellknown.MaxDocument+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ok"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"largest": wellknown.MaxDocument, "below/ok": 1} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, d := range map[string]wellknown.Document{
		"link":          {Name: "security.txt", File: "link"},
		"linked-parent": {Name: "security.txt", File: "linkdir/secret"},
		"outside":       {Name: "security.txt", File: "../" + filepath.Base(filepath.Dir(secret)) + "/secret"},
		"directory":     {Name: "security.txt", File: "."},
		"too-large":     {Name: "security.txt", File: "big"},
		"missing":       {Name: "security.txt", File: "missing"},
		"no-type":       {Name: "acme-challenge", Rest: "x", File: "ok"},
		"bad-name":      {Name: "a/b", File: "ok"},
		"bad-rest":      {Name: "skills", Rest: "../x", File: "ok", MediaType: "text/plain"},
	} {
		t.Run("WK-4.1-01/reject-"+name, func(t *testing.T) {
			if strings.HasPrefix(name, "link") && !linked {
				t.Skip("no symbolic links here")
			}
			if h, err := wellknown.NewHandler(os.DirFS(dir), []wellknown.Document{d}, wellknown.HandlerOptions{}); h != nil || err == nil {
				t.Errorf("it is served: %v", err)
			}
		})
	}
	for name, want := range map[string]lookleap.Code{"../ok": "bad-entry", "/ok": "bad-entry", ".": "bad-entry", "": "bad-entry",
		"below": "bad-entry", "ok/x": lookleap.CodeIO, "missing": lookleap.CodeIO, "big": lookleap.CodeTooLarge} {
		t.Run("WK-4.1-01/reject-says-why_"+strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			_, err := wellknown.NewHandler(os.DirFS(dir), []wellknown.Document{{Name: "security.txt", File: name}}, wellknown.HandlerOptions{})
			if lookleap.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	for _, when := range []string{"open", "read"} {
		t.Run("WK-4.1-01/reject-unreadable-at-"+when, func(t *testing.T) {
			h, err := wellknown.NewHandler(failing{fstest.MapFS{"ok": {Data: []byte("x")}}, when}, []wellknown.Document{{Name: "security.txt", File: "ok"}}, wellknown.HandlerOptions{})
			if h != nil || lookleap.CodeOf(err) != lookleap.CodeIO || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("WK-4.1-01/reject-two-of-one-path", func(t *testing.T) {
		d := wellknown.Document{Name: "security.txt", File: "ok"}
		if h, err := wellknown.NewHandler(os.DirFS(dir), []wellknown.Document{d, d}, wellknown.HandlerOptions{}); h != nil || lookleap.CodeOf(err) != "bad-entry" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("WK-4.1-01/accept", func(t *testing.T) {
		for _, name := range []string{"ok", "below/ok", "largest"} {
			if _, err := wellknown.NewHandler(os.DirFS(dir), []wellknown.Document{{Name: "security.txt", File: name}}, wellknown.HandlerOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// failing is a file system that fails when a file is opened, or when it is read.
type failing struct {
	fstest.MapFS
	when string
}

func (f failing) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	if f.when == "open" {
		return nil, fs.ErrPermission
	}
	return failingFile{file}, err
}

type failingFile struct{ fs.File }

func (failingFile) Read([]byte) (int, error) { return 0, fs.ErrPermission }
