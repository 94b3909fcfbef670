package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lookleap/lookleap/aiuri"
)

// TestMain lets the test binary be the gateway, so that the tests call a process
// of its own.
func TestMain(m *testing.M) {
	if os.Getenv("BE_THE_GATEWAY") != "" {
		go func() { // standard input ends with the tests, however they end
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a running gateway.
type process struct {
	base, dir string
}

func start(t *testing.T) process {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, os.Args[0], "--listen", "127.0.0.1:0", "--dir", dir)
	cmd.Env = append(os.Environ(), "BE_THE_GATEWAY=1")
	cmd.Stderr = os.Stderr
	alive, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	base, ok := strings.CutPrefix(lines.Text(), "gateway: ")
	if !ok {
		cancel()
		t.Fatalf("the gateway says %q", lines.Text())
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		defer cancel()
		defer alive.Close()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ends with %v", err)
		}
	})
	return process{base, dir}
}

// answer is what curl got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (p process) curl(t *testing.T, args ...string) answer {
	t.Helper()
	got, err := p.tryCurl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (p process) tryCurl(t *testing.T, args ...string) (answer, error) {
	t.Helper()
	body := filepath.Join(t.TempDir(), "body")
	format := `{"status":%{response_code},"header":%{header_json}}`
	cmd := exec.CommandContext(t.Context(), "curl", append([]string{"--silent", "--noproxy", "*", "--cacert", filepath.Join(p.dir, "ca.pem"), "-o", body, "-w", format}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		return answer{}, err
	}
	var told struct {
		Status int
		Header map[string][]string
	}
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := answer{status: told.Status, header: make(http.Header)}
	for name, values := range told.Header {
		for _, v := range values {
			a.header.Add(name, v)
		}
	}
	content, err := os.ReadFile(body)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	a.body = string(content)
	return a, nil
}

// TestCurl calls the gateway as a client does that knows nothing of ai: URIs.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	p := start(t)
	const ada, bob = "Authorization: Bearer ada", "Authorization: Bearer bob"
	t.Run("pay", func(t *testing.T) {
		const nonce, mediaType = "a-nonce-of-this-call", "application/json"
		a := p.curl(t, "-H", ada, "-H", aiuri.NonceHeader+": "+nonce, "-H", "Content-Type: "+mediaType, "-d", `{"amount":"10.00"}`, p.base+"/bank.example/payments?ref=1#f")
		if a.status != 200 || a.body != `{"paid":true}` || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "private, no-store" {
			t.Fatalf("got %+v", a)
		}
		set, err := os.ReadFile(filepath.Join(p.dir, "keys.json"))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := aiuri.ParseKeySet(set)
		if err != nil {
			t.Fatal(err)
		}
		u, err := aiuri.Parse("ai://bank.example/payments?ref=1")
		if err != nil {
			t.Fatal(err)
		}
		endpoint, err := aiuri.Parse("ai://bank.example/")
		if err != nil {
			t.Fatal(err)
		}
		x := aiuri.Expectation{Endpoint: endpoint, RequireBinding: true,
			Request: aiuri.RequestDigest(&aiuri.Call{URI: u, Method: "POST", Body: []byte(`{"amount":"10.00"}`), MediaType: mediaType, Nonce: nonce})}
		r := aiuri.SignedResult{JWS: a.header.Get(aiuri.ProvenanceHeader), Body: []byte(a.body)}
		if _, err := aiuri.VerifyResult(r, keys, time.Now(), x); err != nil {
			t.Errorf("the client cannot verify again: %v", err)
		}
	})
	t.Run("head", func(t *testing.T) {
		a := p.curl(t, "--head", "-H", bob, p.base+"/bank.example/balance")
		if a.status != 200 || a.header.Get("Content-Length") != "19" {
			t.Errorf("got %+v", a)
		}
	})
	for _, c := range []struct {
		name   string
		status int
		code   string // "": a result
		args   []string
	}{
		{"read", 200, "", []string{"-H", bob, p.base + "/bank.example/balance"}},
		{"upper-case-host", 200, "", []string{"-H", bob, p.base + "/BANK.example/balance"}},
		{"http1.1", 200, "", []string{"--http1.1", "-H", bob, p.base + "/bank.example/balance"}},
		{"no-session", 401, "no-session", []string{"-d", "{}", p.base + "/bank.example/payments"}},
		{"scope", 403, "scope", []string{"-H", bob, "-d", "{}", p.base + "/bank.example/payments"}},
		{"read-with-effect", 405, "not-declared-safe", []string{"-H", ada, p.base + "/bank.example/payments"}},
		{"method", 405, "method-not-allowed", []string{"-X", "DELETE", "-H", ada, p.base + "/bank.example/payments"}},
		{"unknown-authority", 404, "unknown-authority", []string{"-H", ada, "-d", "{}", p.base + "/bank/payments"}},
		{"forged", 502, "rejected-bad-signature", []string{"-H", ada, "-d", "{}", p.base + "/bank.example/forged"}},
		{"unsigned", 502, "rejected-unsigned", []string{"-H", ada, "-d", "{}", p.base + "/bank.example/unsigned"}},
		{"not-there", 502, "transport-failed", []string{"-H", ada, "-d", "{}", p.base + "/bank.example/other"}},
		{"dot-segments", 400, "ambiguous", []string{"--path-as-is", "-H", ada, "-d", "{}", p.base + "/bank.example/../other.example/x"}},
		{"escaped-dot-segments", 400, "ambiguous", []string{"--path-as-is", "-H", ada, "-d", "{}", p.base + "/bank.example/%2e%2e/x"}},
		{"escaped-slash", 400, "ambiguous", []string{"-H", ada, "-d", "{}", p.base + "/bank.example/a%2Fb"}},
		{"double-slash", 400, "ambiguous", []string{"-H", ada, "-d", "{}", p.base + "//bank.example/payments"}},
		{"user-information", 400, "userinfo", []string{"-H", ada, "-d", "{}", p.base + "/u@bank.example/payments"}},
		{"bad-port", 400, "bad-port", []string{"-H", ada, "-d", "{}", p.base + "/bank.example:0x50/payments"}},
		{"no-authority", 400, "empty-authority", []string{"-H", ada, "-d", "{}", p.base + "/"}},
		{"elsewhere", 400, "not-gateway", []string{"-H", ada, "-d", "{}", strings.TrimSuffix(p.base, "/gateway") + "/gatewayX/bank.example/payments"}},
		{"large-request", 400, "too-large", []string{"-H", ada, "--http1.1", "-H", "Expect: 100-continue", "--expect100-timeout", "30", "--data-binary", "@" + largeFile(t), p.base + "/bank.example/payments"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := p.curl(t, c.args...)
			if a.status != c.status {
				t.Fatalf("got %+v", a)
			}
			if c.code == "" {
				return
			}
			var problem struct {
				Status int
				Code   string
				Title  string
			}
			if err := json.Unmarshal([]byte(a.body), &problem); err != nil || problem.Code != c.code || problem.Status != c.status || problem.Title == "" {
				t.Errorf("got %s", a.body)
			}
			if a.header.Get("Content-Type") != "application/problem+json" || a.header.Get(aiuri.ProvenanceHeader) != "" || strings.Contains(a.body, "paid") {
				t.Errorf("got %+v", a)
			}
		})
	}
	t.Run("tls-1.2", func(t *testing.T) {
		if a, err := p.tryCurl(t, "--tls-max", "1.2", "-H", bob, p.base+"/bank.example/balance"); err == nil {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("clear-text", func(t *testing.T) {
		a, err := p.tryCurl(t, "-H", bob, strings.Replace(p.base, "https:", "http:", 1)+"/bank.example/balance")
		if err == nil && a.status != 400 {
			t.Errorf("got %+v", a)
		}
	})
}

// largeFile is more than the gateway takes.
func largeFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEnd holds that a gateway ends when it is told to, and leaves nothing behind.
func TestEnd(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, cancel := context.WithCancel(t.Context())
	started := &firstLine{line: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"--listen", "127.0.0.1:0"}, started) }()
	base, _, _ := strings.Cut(strings.TrimPrefix(<-started.line, "gateway: https://localhost:"), "/")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+base); err == nil {
		_ = conn.Close()
		t.Error("the port is still open")
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

type firstLine struct{ line chan string }

func (f *firstLine) Write(p []byte) (int, error) {
	select {
	case f.line <- string(p):
	default:
	}
	return len(p), nil
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--listen", "nowhere"}, {"--dir", "/nowhere/at/all"}} {
		if err := run(t.Context(), args, &firstLine{make(chan string, 1)}); err == nil {
			t.Errorf("%q is fine", args)
		}
	}
}
