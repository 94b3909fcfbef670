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
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestDoctor examines a site where everything is right, one where everything is
// wrong, and one that publishes nothing.
func TestDoctor(t *testing.T) {
	n := lookleaptest.ForTest(t)
	newWard(t, n, "well.example")

	n.Site("sick.example").
		File("/agents.txt", "text/plain", "/admin DISALLOW\n# hash: sha256:00\n").
		HandleFunc("/.well-known/anml", func(w http.ResponseWriter, r *http.Request) {
			if f, _ := anml.Negotiate(r.Header.Get("Accept")); f == anml.JSON {
				w.Header().Set("Content-Type", anml.MediaTypeJSON)
				w.Write([]byte(`{"anml":"1.0","role":"service","head":{"title":"Another"}}`))
				return
			}
			w.Header().Set("Content-Type", anml.MediaTypeXML)
			w.Write([]byte(`<anml xmlns="` + anml.Namespace + `" version="1.0" role="service"><head><title>One</title></head></anml>`))
		}).
		File("/.well-known/anml-trust", "application/json", `{"version":"1.0","site":"other.example"}`).
		File("/.well-known/skills/index.json", "application/json", `{"skills":`).
		File("/.well-known/aiip", "application/json", `{"endpoint":"https://sick.example/"}`)
	n.Name("_anml.sick.example").TXT("v=anml1; manifest=https://sick.example/.well-known/anml-trust")
	n.Site("bare.example")
	door := opened(t, n).Args()

	for _, c := range []struct {
		site  string
		ok    bool
		state map[string]string // of all checks but the address, which is fine
	}{
		{"well.example", true, map[string]string{"agents.txt": fine, "robots.txt": fine, "anml": fine, "claims": fine, "trust record": fine,
			"trust manifest": fine, "skills": fine, "ai endpoint": fine, "access": fine}},
		{"sick.example", false, map[string]string{"agents.txt": wrong, "robots.txt": absent, "anml": wrong, "claims": fine, "trust record": fine,
			"trust manifest": wrong, "skills": wrong, "ai endpoint": wrong, "access": skipped}},
		{"bare.example", true, map[string]string{"agents.txt": absent, "robots.txt": absent, "anml": absent, "claims": absent, "trust record": absent,
			"trust manifest": absent, "skills": absent, "ai endpoint": absent, "access": absent}},
	} {
		t.Run(c.site, func(t *testing.T) {
			got := judged[doctorValue](t, append(door, "doctor", "https://"+c.site)...)
			if got.OK != c.ok || (got.exit == 0) != c.ok {
				t.Errorf("exit %d, ok %v", got.exit, got.OK)
			}
			for _, d := range got.Value.Checks {
				if want := c.state[d.Check]; d.State != want && (d.Check != "address" && d.Check != "connection" || d.State != fine) {
					t.Errorf("%s is %s (%s), want %s", d.Check, d.State, d.Message, want)
				}
				if d.State == wrong && (len(d.Findings) == 0 || d.Findings[0].Fix == "") {
					t.Errorf("%s is wrong and nothing says how to fix it: %+v", d.Check, d.Findings)
				}
			}
			if len(got.Value.Checks) != len(c.state)+2 {
				t.Errorf("%d checks", len(got.Value.Checks))
			}
		})
	}
}

// A site on this machine is examined over http, under the address or under the name that it will
// have, and what is not checked is said.
func TestDoctorDev(t *testing.T) {
	policy, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		t.Fatal(err)
	}
	hosts := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.Host
		if r.URL.Path == "/agents.txt" {
			w.Header().Set("Content-Type", "text/plain")
			w.Write(policy)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	for name, c := range map[string]struct {
		args []string
		host string
	}{
		"accept-address":   {[]string{"--dev", address}, address},
		"accept-localhost": {[]string{"--dev", "localhost:" + port}, "localhost:" + port},
		"accept-http":      {[]string{"--dev", server.URL}, address},
		"accept-name":      {[]string{"--dev", "--connect", address, "https://shop.example"}, "shop.example"},
	} {
		t.Run(name, func(t *testing.T) {
			got := judged[doctorValue](t, append([]string{"doctor"}, c.args...)...)
			state := map[string]string{}
			for _, d := range got.Value.Checks {
				state[d.Check] = d.State
			}
			if got.exit != 0 || state["agents.txt"] != fine || state["anml"] != absent || state["address"] != skipped || state["trust record"] != skipped {
				t.Error(got.text)
			}
			if !strings.Contains(got.text, "DEVELOPMENT MODE") || !strings.Contains(got.text, "certificate") {
				t.Errorf("not said loudly: %q", got.text)
			}
			for len(hosts) > 0 {
				if host := <-hosts; host != c.host {
					t.Errorf("the host was %q", host)
				}
			}
		})
	}
	t.Run("reject-without-dev", func(t *testing.T) {
		if exit, _ := trial([]string{"doctor", server.URL}, false); exit != exitRefused {
			t.Error(exit)
		}
	})
	t.Run("reject-two-servers", func(t *testing.T) {
		if exit, out := trial([]string{"doctor", "--dev", "localhost:1", "localhost:2"}, false); exit != exitUsage {
			t.Error(exit, out)
		}
	})
}

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
		exit, _ := trial(append([]string{"lock", "--root", "https://localhost.example/skills/"}, args...), false)
		return exit
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
