package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/dvs"
)

// TestDevelopmentIsSaid: nothing that a command prints or writes with --dev claims a connection that
// did not happen, and all of it says that it was made in development mode.
func TestDevelopmentIsSaid(t *testing.T) {
	policy, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/agents.txt":
			w.Header().Set("Content-Type", "text/plain")
			w.Write(policy)
		case "/skills/tea/SKILL.md":
			w.Header().Set("Content-Type", "text/markdown")
			w.Write([]byte("---\nname: tea\ndescription: Makes tea.\n---\n# Tea\n"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	skill := server.URL + "/skills/tea/SKILL.md"
	locked := func(args ...string) int {
		return run(context.Background(), append([]string{"lock", "--root", "https://localhost.example/skills/"}, args...), nil, new(bytes.Buffer), new(bytes.Buffer))
	}
	lock := filepath.Join(t.TempDir(), "skills.lock")
	if exit := locked("--dev", "--out", lock, skill); exit != exitAccepted {
		t.Fatal(exit)
	}
	t.Run("P36/accept-lock-in-the-same-mode", func(t *testing.T) {
		if exit := locked("--dev", "--check", lock, skill); exit != exitAccepted {
			t.Error(exit)
		}
	})
	t.Run("P36/reject-lock-elsewhere", func(t *testing.T) {
		data, err := os.ReadFile(lock)
		if err != nil || !strings.Contains(string(data), `"development": true`) {
			t.Errorf("%s, %v", data, err)
		}
		if exit := locked("--check", lock, t.TempDir()); exit != exitUsage {
			t.Error(exit)
		}
		l, err := dvs.ParseLockfile(data)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dvs.NewLoader(new(lookleap.Host), dvs.Options{Lock: l}).Load(t.Context(), "https://localhost.example/skills/tea/SKILL.md")
		if lookleap.CodeOf(err) != lookleap.CodeDevelopment {
			t.Error(err)
		}
	})
	for name, args := range map[string][]string{
		"skill":     {"skill", "--root", "https://localhost.example/skills/", server.URL + "/skills/tea/SKILL.md"},
		"lock":      {"lock", "--root", "https://localhost.example/skills/", server.URL + "/skills/tea/SKILL.md"},
		"doctor":    {"doctor", server.URL},
		"agentstxt": {"agentstxt", server.URL, "/x"},
		"site":      {"site", server.URL},
		"wellknown": {"wellknown", server.URL, "security.txt"},
	} {
		t.Run("P36/reject-silent-"+name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			var text, lines, errs bytes.Buffer
			run(context.Background(), append([]string{"--dev", "--html", page}, args...), nil, &text, &errs)
			run(context.Background(), append([]string{"--dev", "--json"}, args...), nil, &lines, &errs)
			html, err := os.ReadFile(page)
			if err != nil {
				t.Fatalf("%v\n%s%s", err, &text, &errs)
			}
			for kind, out := range map[string]string{"text": text.String(), "JSON": lines.String(), "HTML": string(html)} {
				if strings.Contains(out, "TLS 1.") || strings.Contains(out, "verified TLS") || strings.Contains(out, "127.0.0.1:443") {
					t.Errorf("%s claims a connection that was not made:\n%s", kind, out)
				}
				if !strings.Contains(out, "made in development mode") {
					t.Errorf("%s does not say how it was made:\n%s", kind, out)
				}
			}
			var r result
			if err := json.Unmarshal(bytes.SplitN(lines.Bytes(), []byte("\n"), 2)[0], &r); err != nil {
				t.Fatalf("%v in %s", err, &lines)
			}
			if r.Verdict != nil && (!r.Verdict.Development() || !strings.Contains(lines.String(), `"development":true`)) {
				t.Errorf("the verdict says nothing: %s", r.Verdict)
			}
			if r.Verdict != nil && r.Verdict.OK && r.Verdict.Code == lookleap.CodeDevelopment {
				t.Errorf("%s", r.Verdict)
			}
		})
	}
}
