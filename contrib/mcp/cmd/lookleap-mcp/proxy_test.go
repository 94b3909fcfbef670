package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/policy"
)

// upstreamWord makes the test's own program a server behind the proxy. It is an argument, because the
// proxy passes no variable on.
const upstreamWord = "upstream-of-the-test"

// TestMain makes the test's own program lookleap-mcp, or a server behind it.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == upstreamWord:
		_, _ = os.Stderr.WriteString("started\x1b[2K\nno line feed")
		if err := testServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
	case len(os.Args) > 1 && (os.Args[1] == "proxy" || os.Args[1] == "--dev"):
		main()
	default:
		os.Exit(m.Run())
	}
}

func TestProxyEnvironment(t *testing.T) {
	secret := []string{"LOOKLEAP_TEST_SECRET=tomato", "LOOKLEAP_TEST_OTHER=potato"}
	t.Run("reject-variables-of-the-client", func(t *testing.T) {
		p := start(t, secret, "--state", t.TempDir(), "--pass", "env")
		got := p.call("env", nil)
		if strings.Contains(got, "tomato") || strings.Contains(got, "potato") || os.Getenv("PATH") != "" && !strings.Contains(got, "PATH=") {
			t.Errorf("%s", got)
		}
		for line := range strings.Lines(got) {
			if name, _, _ := strings.Cut(line, "="); !slices.Contains(strings.Fields(passed[runtime.GOOS == "windows"]), strings.ToUpper(name)) {
				t.Errorf("the server gets %s", name)
			}
		}
	})
	t.Run("accept-named-variable", func(t *testing.T) {
		p := start(t, secret, "--state", t.TempDir(), "--pass", "env", "--env", "LOOKLEAP_TEST_SECRET")
		if got := p.call("env", nil); !strings.Contains(got, "LOOKLEAP_TEST_SECRET=tomato") || strings.Contains(got, "potato") {
			t.Errorf("%s", got)
		}
	})
	t.Run("reject-variable-that-is-not-set", func(t *testing.T) {
		if p, err := tryStart(t, nil, "--state", t.TempDir(), "--env", "LOOKLEAP_TEST_SECRET"); err == nil || !strings.Contains(p.stderr.String(), `"LOOKLEAP_TEST_SECRET" is not set`) {
			t.Errorf("%v: %s", err, p.stderr)
		}
	})
	t.Run("accept-marked-lines-of-the-server", func(t *testing.T) {
		p := start(t, nil, "--state", t.TempDir())
		_ = p.Close()
		if got := p.stderr.String(); !strings.Contains(got, "[test] started\\u{1B}[2K\n") || !strings.HasSuffix(got, "[test] no line feed\n") || strings.Contains(got, "\x1b") {
			t.Errorf("%q", got)
		}
	})
}

func TestProxyProgram(t *testing.T) {
	milk := map[string]any{"text": "milk"}
	t.Run("accept-decision-on-the-page-over-a-restart", func(t *testing.T) {
		state := t.TempDir()
		p := start(t, nil, "--state", state)
		asked := p.call("note", milk)
		p.stderr.line("lookleap-mcp proxy: decide at http://127.0.0.1:")
		decide(t, asked, "approve")
		_ = p.Close()
		p = start(t, nil, "--state", state)
		if got := p.call("note", milk); got != `noted {"text":"milk"}` {
			t.Fatalf("%s", got)
		}
		if got := p.call("note", milk); !strings.Contains(got, "http://127.0.0.1:") {
			t.Errorf("one approval is for two calls: %s", got)
		}
		if got := receipts(t, state); !slices.Equal(got, []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone}) {
			t.Errorf("receipts: %q", got)
		}
	})
	t.Run("accept-receipts-of-decisions-and-a-record-of-the-other-calls", func(t *testing.T) {
		state := t.TempDir()
		p := start(t, nil, "--state", state, "--pass", "env")
		p.call("env", nil)
		decide(t, p.call("note", milk), "refuse")
		p.call("note", milk)
		decide(t, p.call("note", map[string]any{"text": "beer"}), "approve")
		p.call("note", map[string]any{"text": "beer"})
		_ = p.Close()
		if got := receipts(t, state); !slices.Equal(got, []lookleap.PlanState{lookleap.PlanRefused, lookleap.PlanSent, lookleap.PlanDone}) {
			t.Errorf("receipts: %q", got)
		}
		record, err := os.ReadFile(filepath.Join(state, "calls.jsonl"))
		if err != nil || strings.Count(string(record), `"decision":"rule"`) != 2 || strings.Count(string(record), "\n") != 2 {
			t.Errorf("%s, %v", record, err)
		}
		if err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s can be read by others: %v", path, info.Mode())
			}
			if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("milk")) && strings.Contains(path, "receipt") {
				t.Errorf("%s has a value of the user, or %v", path, err)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	for name, spoil := range map[string]func(key string) error{
		"damaged": func(key string) error { return os.Truncate(key, 3) }, "lost": os.Remove,
	} {
		t.Run("reject-receipts-whose-key-is-"+name, func(t *testing.T) {
			state := t.TempDir()
			receipts(t, state)
			keys, err := filepath.Glob(filepath.Join(state, "store", "mcp_proxy-*")) // there is no other one yet
			if err != nil || len(keys) != 1 {
				t.Fatal(keys, err)
			}
			if err := spoil(keys[0]); err != nil {
				t.Fatal(err)
			}
			if p, err := tryStart(t, nil, "--state", state); err == nil {
				t.Errorf("%s", p.stderr)
			}
		})
	}
	t.Run("accept-a-large-record-of-calls-is-put-aside", func(t *testing.T) {
		state := t.TempDir()
		file := filepath.Join(state, "calls.jsonl")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, maxRecord+1)); err != nil {
			t.Fatal(err)
		}
		start(t, nil, "--state", state, "--pass", "env").call("env", nil)
		old, err := os.Stat(file + ".1")
		if err != nil || old.Size() != maxRecord+1 {
			t.Fatal(old, err)
		}
		if record, err := os.ReadFile(file); err != nil || strings.Count(string(record), "\n") != 2 {
			t.Errorf("%s, %v", record, err)
		}
	})
	t.Run("reject-by-policy", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(file, []byte(`{"type":"`+policy.MediaType+`","tools":{"allow":["env"]}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, nil, "--state", t.TempDir(), "--policy", file, "--pass", "*")
		if got := p.call("note", milk); !strings.Contains(got, "the policy forbids this call") {
			t.Errorf("%s", got)
		}
		if got := p.call("env", nil); strings.Contains(got, "forbids") {
			t.Errorf("%s", got)
		}
	})
	t.Run("reject-policy-that-cannot-be-read", func(t *testing.T) {
		if p, err := tryStart(t, nil, "--state", t.TempDir(), "--policy", filepath.Join(t.TempDir(), "nothing"), "--pass", "*"); err == nil {
			t.Errorf("%s", p.stderr)
		}
	})
	t.Run("reject-link-for-the-model-with-open", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("the browser is opened by a script")
		}
		bin := t.TempDir()
		link := filepath.Join(bin, "link")
		if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+link+".new && mv "+link+".new "+link+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p := start(t, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "--state", t.TempDir(), "--open")
		got := p.call("note", milk)
		if strings.Contains(got, "http://") || !strings.Contains(got, "it was opened in the browser") {
			t.Errorf("%s", got)
		}
		decide(t, p.stderr.line("lookleap-mcp proxy: decide at "), "approve")
		if got := p.call("note", milk); got != `noted {"text":"milk"}` {
			t.Errorf("%s", got)
		}
	})
}

// TestProxyURL: the header goes to the host of the URL, and to no other place.
func TestProxyURL(t *testing.T) {
	const secret = "Bearer tomato-tomato"
	env := []string{"LOOKLEAP_TEST_TOKEN=" + secret}
	elsewhere := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { elsewhere <- r.Header.Get("Authorization") }))
	defer other.Close()
	server := testServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != secret:
			http.Error(w, "no token", http.StatusUnauthorized)
		case r.URL.Path == "/redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	defer func() { web.CloseClientConnections(); web.Close() }()
	header := []string{"--header-env", "Authorization=LOOKLEAP_TEST_TOKEN"}
	t.Run("accept-server-with-header", func(t *testing.T) {
		state := t.TempDir()
		p := start(t, env, append(header, "--state", state, "--dev", "--pass", "note", "--url", web.URL+"/mcp")...)
		if got := p.call("note", map[string]any{"text": "milk"}); got != `noted {"text":"milk"}` {
			t.Errorf("%s", got)
		}
		if record, err := os.ReadFile(filepath.Join(state, "calls.jsonl")); err != nil || strings.Contains(string(record)+p.stderr.String(), "tomato") {
			t.Errorf("%s, %s, %v", record, p.stderr, err)
		}
	})
	for name, args := range map[string][]string{
		"without-header": {"--dev", "--url", web.URL + "/mcp"}, "redirect-to-another-host": append(header, "--dev", "--url", web.URL+"/redirect"),
		"without-development-mode": append(header, "--url", web.URL+"/mcp"), "private-address": append(header, "--url", "https://127.0.0.1:1/mcp"),
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			p, err := tryStart(t, env, append([]string{"--state", t.TempDir()}, args...)...)
			if err == nil || strings.Contains(p.stderr.String()+err.Error(), "tomato") || len(elsewhere) > 0 {
				t.Errorf("%v: %s", err, p.stderr)
			}
		})
	}
	for name, to := range map[string]string{"another-host": "https://other.example/", "another-port": "https://mcp.example:8443/", "http": "http://mcp.example/"} {
		t.Run("reject-request-to-"+name, func(t *testing.T) {
			var sent []string
			own, err := newOneHost("https://mcp.example/", http.Header{"Authorization": {secret}}, transport(func(r *http.Request) (*http.Response, error) {
				sent = append(sent, r.URL.String()+" "+r.Header.Get("Authorization"))
				return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {to}}, Body: http.NoBody, Request: r}, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&http.Client{Transport: own}).Post("https://mcp.example/", "application/json", strings.NewReader("{}"))
			if err == nil || strings.Contains(err.Error(), "tomato") || !slices.Equal(sent, []string{"https://mcp.example/ " + secret}) {
				t.Errorf("%v, sent %q", err, sent)
			}
		})
	}
	for name, value := range map[string]string{"line-break": "a\nb-tomato", "control": "a\x01tomato", "empty": ""} {
		t.Run("reject-header-with-"+name, func(t *testing.T) {
			t.Setenv("LOOKLEAP_TEST_TOKEN", value)
			if got, err := headers([]string{"Authorization=LOOKLEAP_TEST_TOKEN"}); err == nil || strings.Contains(err.Error(), "tomato") {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// transport is a server as a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestProxyCommandLine(t *testing.T) {
	run := func(args ...string) (code int, out, diagnostics string) {
		var stdout, stderr bytes.Buffer
		code = runProxy(t.Context(), args, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	t.Run("accept-help", func(t *testing.T) {
		code, _, help := run("-h")
		if code != 0 || strings.Count(help, "\n") > 40 || !strings.Contains(help, "Exit codes: 0") {
			t.Errorf("%d: %d lines\n%s", code, strings.Count(help, "\n"), help)
		}
		o, err := parseProxy([]string{"--", "x"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if o.name != "x" {
			t.Errorf("%s", o.name)
		}
	})
	for name, args := range map[string][]string{
		"no-server": {}, "two-servers": {"--url", "https://x.example/", "--", "x"}, "header-for-a-program": {"--header-env", "A=B", "--", "x"},
		"variable-for-a-url": {"--env", "A", "--url", "https://x.example/"}, "value-of-a-header": {"--header-env", "Authorization", "--url", "https://x.example/"},
		"pattern": {"--pass", "[", "--", "x"}, "timeout": {"--timeout", "-1s", "--", "x"}, "unknown-flag": {"--nope", "--", "x"},
		"http-url": {"--state", t.TempDir(), "--url", "http://x.example/"}, "user-in-url": {"--state", t.TempDir(), "--url", "https://a:b@x.example/"},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if code, _, diagnostics := run(args...); code != 2 || diagnostics == "" {
				t.Errorf("%d: %s", code, diagnostics)
			}
		})
	}
	t.Run("reject-program-that-does-not-start", func(t *testing.T) {
		if code, _, diagnostics := run("--state", t.TempDir(), "--", filepath.Join(t.TempDir(), "nothing")); code != 1 || !strings.Contains(diagnostics, "it does not start") {
			t.Errorf("%d: %s", code, diagnostics)
		}
	})
	t.Run("accept-printed-configuration", func(t *testing.T) {
		code, out, diagnostics := run("--env", "TOKEN", "--print-config", "My Files", "--pass=read_*", "--", "server", "--name", "x", "<dir>")
		var config struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(out), &config); code != 0 || err != nil || !strings.Contains(diagnostics, "TOKEN") {
			t.Fatalf("%d, %v: %s%s", code, err, out, diagnostics)
		}
		want := []string{"proxy", "--name", "my-files", "--env=TOKEN", "--pass=read_*", "--", "server", "--name", "x", "<dir>"}
		if got := config.Servers["My Files"]; !filepath.IsAbs(got.Command) || !slices.Equal(got.Args, want) {
			t.Errorf("%+v", got)
		}
		if o, err := parseProxy(config.Servers["My Files"].Args[1:], io.Discard); err != nil || o.name != "my-files" || !slices.Equal(o.command, want[6:]) {
			t.Errorf("%+v, %v", o, err)
		}
	})
	t.Run("accept-printed-configuration-with-values-like-flags", func(t *testing.T) {
		code, out, _ := run("--pass", "name", "--pass", "print-config", "--open", "--dns", "127.0.0.1:53", "--dns", "127.0.0.1:54",
			"--at", "2026-01-02T15:04:05Z", "--name", "x", "--print-config=Y", "--url", "https://x.example/")
		for _, want := range []string{"--pass=name", "--pass=print-config", "--open=true", "--dns=127.0.0.1:53", "--dns=127.0.0.1:54",
			"--at=2026-01-02T15:04:05Z", "--url=https://x.example/"} {
			if code != 0 || !strings.Contains(out, `"`+want+`"`) {
				t.Errorf("%d, without %s: %s", code, want, out)
			}
		}
		if strings.Contains(out, "--print-config=") || strings.Contains(out, `"--"`) {
			t.Error(out)
		}
	})
	for given, want := range map[string]string{"https://API.example.com:8443/mcp": "api-example-com-8443", "https://例え.example/": "example", "https://---/": "server",
		"https://key.example?api_key=SECRET": "key-example"} {
		t.Run("accept-label-"+want, func(t *testing.T) {
			if got := label("", given, nil); got != want {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestListening: the program says where it listens.
func TestListening(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--dev", "--site", "localhost:1", "--http", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "lookleap-mcp: listening at "); ok {
			resp, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return
		}
	}
	t.Error("the program does not say where it listens")
}
