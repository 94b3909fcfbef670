package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// TestDoctor examines a site where everything is right, one where everything is
// wrong, and one that publishes nothing.
func TestDoctor(t *testing.T) {
	n := lab.ForTest(t)
	policy, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := anmltrust.BuildManifest("well.example", time.Now().Add(-time.Hour), 0,
		anmltrust.Entry{Domain: "partner.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("body")})
	if err != nil {
		t.Fatal(err)
	}
	n.Site("well.example").
		Body("/agents.txt", "text/plain", string(policy)).
		Handle("/.well-known/anml", booking.New(time.Now)).
		Body("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(manifest)).
		Body("/.well-known/skills/index.json", "application/json", `{"skills":[{"name":"refund","description":"Refunds an order.","files":["SKILL.md"]}]}`).
		Body("/.well-known/aiip", "application/json", `{"endpoint":"ai://well.example/pay","jwks":"https://well.example/keys.json","scopes":["pay"]}`)
	n.Name("_anml.well.example").TXT("v=anml1; manifest=https://well.example/.well-known/anml-trust")

	n.Site("sick.example").
		Body("/agents.txt", "text/plain", "/admin DISALLOW\n# hash: sha256:00\n").
		HandleFunc("/.well-known/anml", func(w http.ResponseWriter, r *http.Request) {
			if f, _ := anml.Negotiate(r.Header.Get("Accept")); f == anml.JSON {
				w.Header().Set("Content-Type", anml.MediaTypeJSON)
				w.Write([]byte(`{"anml":"1.0","role":"service","head":{"title":"Another"}}`))
				return
			}
			w.Header().Set("Content-Type", anml.MediaTypeXML)
			w.Write([]byte(`<anml xmlns="` + anml.Namespace + `" version="1.0" role="service"><head><title>One</title></head></anml>`))
		}).
		Body("/.well-known/anml-trust", "application/json", `{"version":"1.0","site":"other.example"}`).
		Body("/.well-known/skills/index.json", "application/json", `{"skills":`).
		Body("/.well-known/aiip", "application/json", `{"endpoint":"https://sick.example/"}`)
	n.Name("_anml.sick.example").TXT("v=anml1; manifest=https://sick.example/.well-known/anml-trust")
	n.Site("bare.example")
	door := opened(t, n).Args()

	for _, c := range []struct {
		site  string
		ok    bool
		state map[string]string // of all checks but the address, which is fine
	}{
		{"well.example", true, map[string]string{"agents.txt": fine, "anml": fine, "trust record": fine, "trust manifest": fine, "skills": fine, "ai endpoint": fine}},
		{"sick.example", false, map[string]string{"agents.txt": wrong, "anml": wrong, "trust record": fine, "trust manifest": wrong, "skills": wrong, "ai endpoint": wrong}},
		{"bare.example", true, map[string]string{"agents.txt": absent, "anml": absent, "trust record": absent, "trust manifest": absent, "skills": absent, "ai endpoint": absent}},
	} {
		t.Run(c.site, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := run(context.Background(), append(append([]string{}, door...), "--json", "doctor", "https://"+c.site), nil, &stdout, &stderr)
			var got struct {
				OK    bool
				Value doctorValue
			}
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s%s", err, &stdout, &stderr)
			}
			if got.OK != c.ok || (exit == 0) != c.ok {
				t.Errorf("exit %d, ok %v", exit, got.OK)
			}
			for _, d := range got.Value.Checks {
				if want := c.state[d.Check]; d.State != want && (d.Check != "address" || d.State != fine) {
					t.Errorf("%s is %s (%s), want %s", d.Check, d.State, d.Message, want)
				}
				if d.State == wrong && (len(d.Findings) == 0 || d.Findings[0].Fix == "") {
					t.Errorf("%s is wrong and nothing says how to mend it: %+v", d.Check, d.Findings)
				}
			}
			if len(got.Value.Checks) != len(c.state)+1 {
				t.Errorf("%d checks", len(got.Value.Checks))
			}
		})
	}
}
