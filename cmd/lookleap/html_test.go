package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// forger publishes a document that speaks for a bank, which has a manifest without it.
func forger(t *testing.T) *lookleaptest.Internet {
	n := lookleaptest.ForTest(t)
	manifest, err := anmltrust.BuildManifest("bank.example", time.Now().Add(-time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	n.Site("bank.example").File("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(manifest))
	n.Name("_anml.bank.example").TXT("v=anml1; manifest=https://bank.example/.well-known/anml-trust")
	n.Site("forger.example").File("/.well-known/anml", anml.MediaTypeXML,
		`<?xml version="1.0" encoding="UTF-8"?><anml xmlns="`+anml.Namespace+`" version="1.0" role="service"><head><title>&lt;script&gt;alert(1)&lt;/script&gt;</title><trust domain="bank.example"/></head></anml>`)
	return n
}

// TestHTML writes the pages of the commands that people look at.
func TestHTML(t *testing.T) {
	door := opened(t, forger(t)).Args()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"site":   {[]string{"site", "https://forger.example"}, []string{"No:", "claim to speak for bank.example", "5 ✗", "_anml.bank.example TXT", "<svg"}},
		"doctor": {[]string{"doctor", "https://bank.example"}, []string{"trust manifest", "agents.txt", "<svg"}},
		"replay": {[]string{"replay", "testdata/trust-retailer.json"}, []string{"Yes:", "Tier 2 (full)", "6 ✓"}},
		"url":    {[]string{"url", "https://EXAMPLE.com/../x"}, []string{"No:"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.html")
			if code, out := trial(append(append(door, c.args...), "--html", file), false); code == exitUsage {
				t.Fatal(out)
			}
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(page), want) {
					t.Errorf("no %q in %s", want, page)
				}
			}
			if strings.Contains(string(page), "<script") {
				t.Error("the page has a script")
			}
		})
	}
	t.Run("reject-no-directory", func(t *testing.T) {
		code, out := trial([]string{"url", "https://example.com", "--html", filepath.Join(t.TempDir(), "none", "x.html")}, false)
		if code != exitRefused || !strings.Contains(out, "writing the page") {
			t.Errorf("%d %s", code, out)
		}
	})
}

var tokenField = regexp.MustCompile(`name="token" value="([^"]+)"`)

// TestServe types URLs on the page of lookleap serve.
func TestServe(t *testing.T) {
	door := opened(t, forger(t)).Args()
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, append(append([]string{}, door...), "serve"), nil, out, io.Discard) }()
	line := make([]byte, 500)
	n, err := in.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	link := strings.Fields(string(line[:n]))[1]
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	send := func(method, url, body, origin string) (int, string) {
		t.Helper()
		req, _ := http.NewRequest(method, url, strings.NewReader(body))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if status, text := send("GET", link, "", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	home := link[:strings.Index(link, "open?")]
	u, _ := url.Parse(home)
	origin := u.Scheme + "://" + u.Host
	_, page := send("GET", home, "", "")
	token := tokenField.FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("no form in %s", page)
	}
	form := func(command, url string) string {
		return "token=" + token[1] + "&command=" + command + "&url=" + strings.ReplaceAll(url, ":", "%3A")
	}
	for name, c := range map[string]struct {
		body, origin string
		status       int
		says         string
	}{
		"accept-site":         {form("site", "https://forger.example"), origin, http.StatusOK, "claim to speak for bank.example"},
		"accept-doctor":       {form("doctor", "https://bank.example"), origin, http.StatusOK, "trust manifest"},
		"reject-other-origin": {form("site", "https://forger.example"), "https://evil.example", http.StatusForbidden, ""},
		"reject-no-token":     {"command=site&url=https://forger.example", origin, http.StatusForbidden, ""},
		"reject-not-a-url":    {form("site", "javascript:alert(1)"), origin, http.StatusOK, "No:"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := send("POST", home, c.body, c.origin)
			if status != c.status || !strings.Contains(text, c.says) || strings.Contains(text, "<script") {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	cancel()
	if code := <-ended; code != exitAccepted {
		t.Errorf("exit code %d", code)
	}
	if code, out := trial([]string{"serve", "--listen", "0.0.0.0:0"}, false); code != exitUsage {
		t.Errorf("%d %s", code, out)
	}
}
