package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// trial runs a command as a person does, and returns its exit code and everything it printed. The
// context has ended, if a command would otherwise run on.
func trial(args []string, stop bool) (exit int, output string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if stop {
		cancel()
	}
	var out bytes.Buffer
	exit = run(ctx, args, nil, &out, &out)
	return exit, out.String()
}

// firstHour is a mistake of a person's first hour, the fix that lookleap prints, and what it leads to.
type firstHour struct {
	args   []string
	exit   int
	fix    string   // part of the output
	follow func()   // what the fix says to change; nil: nothing but the command
	then   []string // the command that follows the fix; nil: the same one
	serves bool     // then runs until it is interrupted
}

// TestFirstHour makes typical mistakes and follows the printed fix literally: then it works.
func TestFirstHour(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler()) // publishes nothing, which is fine
	defer server.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := net.SplitHostPort(address)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	n := lookleaptest.ForTest(t)
	door := opened(t, n)
	on := func(args ...string) []string { return append(door.Args(), args...) }
	shop := func(name string) *lookleaptest.Site { return n.Site(name + ".example") }
	shop("fine")
	shop("private").At("10.1.2.3")
	shop("vpn").At("198.18.0.5")
	proxy, err := n.Proxy("http", "")
	if err != nil {
		t.Fatal(err)
	}
	n.Name("nowhere.example")
	n.Name("bare-nowhere.example")
	shop("full").Handle("/.well-known/anml", booking.New(time.Now))
	shop("wrong-digest").File("/agents.txt", "text/plain", "/admin DISALLOW\n*"+strings.Repeat("0", 64)+"\n")
	signed, err := agentstxt.Sign([]byte("/admin DISALLOW\n"))
	if err != nil {
		t.Fatal(err)
	}
	document := `<anml xmlns="` + anml.Namespace + `" version="1.0" role="service"><head><title>One</title></head></anml>`
	shop("media-type").File("/.well-known/anml", "text/plain", document)
	shop("no-manifest")
	n.Name("_anml.no-manifest.example").TXT("v=anml1; manifest=https://no-manifest.example/.well-known/anml-trust")
	manifest, err := anmltrust.BuildManifest("no-manifest.example", time.Now().Add(-time.Hour), 0,
		anmltrust.Entry{Domain: "partner.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("body")})
	if err != nil {
		t.Fatal(err)
	}
	rules, page := filepath.Join(t.TempDir(), "agents.json"), filepath.Join(t.TempDir(), "page.anml")

	for name, c := range map[string]firstHour{
		"wrong-port":      {[]string{"doctor", "--dev", closed.URL}, 1, "fix start the server, and let it listen on this port", nil, []string{"doctor", "--dev", server.URL}, false},
		"no-scheme":       {[]string{"doctor", "localhost:" + port}, 1, "add --dev", nil, []string{"doctor", "localhost:" + port, "--dev"}, false},
		"http":            {[]string{"site", server.URL}, 1, "add --dev", nil, []string{"site", server.URL, "--dev"}, false},
		"ip-address":      {[]string{"doctor", secure.URL}, 1, "add --dev", nil, []string{"doctor", secure.URL, "--dev"}, false},
		"http-on-connect": {[]string{"doctor", "--connect", address, "https://shop.example"}, 1, "add --dev", nil, []string{"doctor", "--connect", address, "https://shop.example", "--dev"}, false},
		"no-dns":          {[]string{"site", "--dns", "127.0.0.1:9", "https://fine.example"}, 1, "ask another DNS server with --dns ADDRESS:53", nil, on("site", "https://fine.example"), false},
		"no-dns-doctor":   {[]string{"doctor", "--dns", "127.0.0.1:9", "https://fine.example"}, 1, "ask another DNS server", nil, on("doctor", "https://fine.example"), false},
		"no-address":      {on("doctor", "https://nowhere.example"), 1, "publish A or AAAA records", func() { shop("nowhere") }, nil, false},
		"private-address": {on("site", "https://private.example"), 1, "--allow-private", nil, on("site", "https://private.example", "--allow-private"), false},
		"fake-ip":         {on("site", "https://vpn.example"), 1, "--allow 198.18.0.0/15=*", nil, on("site", "https://vpn.example", "--allow", "198.18.0.0/15=*"), false},
		"only-by-proxy": {[]string{"site", "--dns", "127.0.0.1:9", "https://fine.example"}, 1, "--proxy env", nil,
			[]string{"site", "--dns", door.DNS, "--ca", door.CAFile, "--anchor", door.AnchorFile, "--proxy", proxy.URL.String(), "https://fine.example"}, false},
		"wrong-digest": {on("doctor", "https://wrong-digest.example"), 1, "lookleap agentstxt sign agents.txt --write",
			func() { shop("wrong-digest").File("/agents.txt", "text/plain", string(signed)) }, nil, false},
		"bad-media-type": {on("doctor", "https://media-type.example"), 1, anml.MediaTypeXML,
			func() { shop("media-type").Handle("/.well-known/anml", booking.New(time.Now)) }, nil, false},
		"no-manifest": {on("doctor", "https://no-manifest.example"), 1, "publish the manifest",
			func() {
				shop("no-manifest").File("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(manifest))
			}, nil, false},
		"no-policy": {[]string{"policy", rules}, 1, "check the path, or create the file", func() {
			writeFile(t, rules, `{"type": "application/vnd.lookleap.policy+json;version=1", "name": "example"}`)
		}, nil, false},
		"no-file":         {[]string{"anml", page}, 1, "fix check the path", func() { writeFile(t, page, document) }, nil, false},
		"port-in-use":     {[]string{"serve", "--listen", address}, 2, "port 0 is any", nil, []string{"serve", "--listen", "127.0.0.1:0"}, true},
		"bare-name":       {on("doctor", "bare-nowhere.example"), 1, "publish A or AAAA records", func() { shop("bare-nowhere") }, nil, false},
		"bare-page":       {on("anml", "full.example"), 1, "write https://full.example", nil, on("anml", "https://full.example/.well-known/anml"), false},
		"bare-server":     {on("trust", "no-manifest.example", "full.example"), 1, "", nil, on("trust", "full.example", "full.example"), false},
		"unknown-flag":    {[]string{"site", "--verbose", "https://fine.example"}, 2, "Try: lookleap help site", nil, []string{"help", "site"}, false},
		"unknown-command": {[]string{"sites", "https://fine.example"}, 2, "Try: lookleap help", nil, []string{"help"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "only-by-proxy" {
				t.Setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:9")
			}
			exit, output := trial(c.args, false)
			if exit != c.exit || !strings.Contains(output, c.fix) {
				t.Fatalf("exit %d, and the fix %q is not in\n%s", exit, c.fix, output)
			}
			if strings.Contains(output, "localhost.example") || strings.Contains(output, `\u{A}`) || strings.Contains(output, "secret") {
				t.Errorf("not in the user's words:\n%s", output)
			}
			if c.follow != nil {
				c.follow()
			}
			if c.then == nil {
				c.then = c.args
			}
			if exit, output := trial(c.then, c.serves); exit != exitAccepted {
				t.Errorf("the fix does not help: exit %d\n%s", exit, output)
			}
		})
	}
}

// TestFollowedFixes makes the mistakes of a first hour, and does literally what the message says.
func TestFollowedFixes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"agents.txt": "*abc\n/ ALLOW", "policy.json": `{"type":"application/lookleap-policy+json","version":"1","rots":{}}`} {
		writeFile(t, name, content)
	}
	const record = "manifest=https://example.com/.well-known/anml-trust"
	for name, c := range map[string]struct {
		args []string
		fix  string
		then []string // what the fix says; nil: nothing can be run
	}{
		"hash-line":       {[]string{"agentstxt", "agents.txt"}, "lookleap agentstxt sign agents.txt --write", []string{"agentstxt", "sign", "agents.txt", "--write"}},
		"record-start":    {[]string{"record", record}, "begin the record with v=anml1 and a semicolon", []string{"record", "v=anml1;" + record}},
		"record-colon":    {[]string{"record", "v=anml1 " + record}, "write a semicolon after v=anml1", []string{"record", "v=anml1; " + record}},
		"record-quotes":   {[]string{"record", `"v=anml1; ` + record + `"`}, "remove the quotation marks", []string{"record", "v=anml1; " + record}},
		"command":         {[]string{"docter"}, "did you mean doctor?", []string{"doctor", "--help"}},
		"code":            {[]string{"code", "blocked-adress"}, "did you mean blocked-address?", []string{"code", "blocked-address"}},
		"code-unknown":    {[]string{"code", "xyzzy-xyzzy"}, "lookleap code lists all codes", []string{"code"}},
		"port":            {[]string{"doctor", "8080"}, "write localhost:8080, and add --dev", nil},
		"port-dev":        {[]string{"doctor", "--dev", "8080"}, "write localhost:8080\n", nil},
		"directory":       {[]string{"agentstxt", "."}, "name a file", nil},
		"missing":         {[]string{"anml", "missing.xml"}, "check the path", nil},
		"ca":              {[]string{"url", "https://example.com", "--ca", "missing.pem"}, "check the path", []string{"url", "https://example.com"}},
		"archive-is-null": {[]string{"skill", os.DevNull}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if exit, out := trial(c.args, false); exit == 0 || !strings.Contains(out, c.fix) {
				t.Fatalf("exit %d\n%s", exit, out)
			}
			if c.then == nil {
				return
			}
			if exit, out := trial(c.then, false); exit != 0 {
				t.Errorf("lookleap %s: exit %d\n%s", strings.Join(c.then, " "), exit, out)
			}
		})
	}
	if signed, err := os.ReadFile(filepath.Join(".", "agents.txt")); err != nil || !strings.HasPrefix(string(signed), "*") || !strings.HasSuffix(string(signed), "\n/ ALLOW\n") && !strings.HasSuffix(string(signed), "\n/ ALLOW") {
		t.Errorf("%q, %v", signed, err)
	}
}

// TestSignFilter: what sign prints for standard input is the file, so that it can be redirected.
func TestSignFilter(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if exit := run(context.Background(), []string{"agentstxt", "sign", "-"}, strings.NewReader("/ ALLOW\n/staff DISALLOW\n"), &stdout, &stderr); exit != 0 || stderr.Len() > 0 {
		t.Fatal(exit, &stderr)
	}
	var out bytes.Buffer
	if exit := run(context.Background(), []string{"agentstxt", "-", "--path", "/staff"}, &stdout, &out, &out); exit != 0 || !strings.Contains(out.String(), "disallow") {
		t.Errorf("exit %d\n%s", exit, &out)
	}
	stdout.Reset()
	if exit := run(context.Background(), []string{"agentstxt", "sign", "-"}, strings.NewReader("/ MAYBE\n"), &stdout, &stderr); exit != 1 || stdout.Len() > 0 || stderr.Len() == 0 {
		t.Errorf("exit %d, %q, %q", exit, &stdout, &stderr)
	}
}
