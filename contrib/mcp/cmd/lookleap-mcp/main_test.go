package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	lookleapmcp "github.com/lookleap/lookleap/contrib/mcp"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"

	"github.com/lookleap/lookleap"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--nope"}, {"--site", "https://x.example", "more"}, {"--site", "https://x.example", "--users", "u.json"},
		{"--site", "https://x.example", "--http", ":8080"}, {"--site", "https://x.example", "--http", "192.0.2.1:80"},
		{"--site", "https://x.example", "--http", ":8080", "--users", "u.json", "--profile", "p.json"},
	} {
		if _, err := parse(args, &strings.Builder{}); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	for _, args := range [][]string{
		{"--site", "https://x.example", "--http", "localhost:8080"}, {"--site", "https://x.example", "--http", "[::1]:80"},
		{"--skill", "https://x.example/a/SKILL.md", "--http", ":8080", "--users", "u.json"},
	} {
		if _, err := parse(args, &strings.Builder{}); err != nil {
			t.Errorf("%q is refused", args)
		}
	}
}

func internet(t *testing.T) *lookleap.Host {
	w := lookleaptest.NewInternet()
	t.Cleanup(func() { w.Close() })
	w.Site("ferries.example").Handle("*", booking.New(w.Clock().Now))
	w.Site("skills.example").File("/refund/SKILL.md", "text/markdown", "---\nname: refund\ndescription: Refunds a ticket.\n---\nAsk.\n")
	host := w.Host()
	host.Prompter = lookleapmcp.Prompter{}
	return host
}

func digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func file(t *testing.T, text string) string {
	path := t.TempDir() + "/users.json"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestTokens(t *testing.T) {
	const token = "a-long-secret-of-kim"
	o := options{
		site: "https://ferries.example", http: ":0", roots: words{"https://skills.example/"}, skills: words{"https://skills.example/refund/SKILL.md"},
		users: file(t, `[{"id":"kim","token":"`+digest(token)+`"},{"id":"lee","token":"`+digest("short")+`"}]`),
	}
	server, handler, err := open(t.Context(), internet(t), o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := httptest.NewServer(handler)
	defer web.Close()
	for given, known := range map[bearer]bool{token: true, "another-long-secret": false, "short": false} {
		over := &mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1, HTTPClient: &http.Client{Transport: given}}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), over, nil)
		if known != (err == nil) {
			t.Errorf("token %q: %v", given, err)
		}
		if err != nil {
			continue
		}
		if tools, err := session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
			t.Errorf("tools: %v %v", tools, err)
		}
		if list, err := session.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 1 || list.Resources[0].Meta["com.github.lookleap/verdict"] == nil {
			t.Errorf("resources: %+v %v", list, err)
		}
		_ = session.Close()
	}
}

func TestNotServed(t *testing.T) {
	host := internet(t)
	untrusted := options{skills: words{"https://skills.example/refund/SKILL.md"}}
	if _, _, err := open(t.Context(), host, untrusted); lookleap.CodeOf(err) != lookleap.CodeConsentPending && lookleap.CodeOf(err) != dvs.CodeNotRegistered {
		t.Errorf("a skill outside the trusted roots: %v", err)
	}
	for name, users := range map[string]string{
		"no-id": `[{"token":"` + digest("a") + `"}]`, "no-token": `[{"id":"kim"}]`, "plain-token": `[{"id":"kim","token":"secret"}]`,
		"twice": `[{"id":"kim","token":"` + digest("a") + `"},{"id":"kim","token":"` + digest("b") + `"}]`, "not-json": `{`,
		"unknown-member": `[{"id":"kim","token":"` + digest("a") + `","legder":"kim.jsonl"}]`,
		"two-tokens":     `[{"id":"kim","token":"` + digest("a") + `","token":"` + digest("b") + `"}]`, "null": `[null]`,
		"shared-token": `[{"id":"kim","token":"` + digest("a") + `"},{"id":"lee","token":"` + digest("a") + `"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := open(t.Context(), host, options{site: "https://ferries.example", users: file(t, users)}); err == nil {
				t.Error("served")
			}
		})
	}
}
