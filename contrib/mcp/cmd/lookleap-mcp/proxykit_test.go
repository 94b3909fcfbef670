package main

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/receipt"
)

func testServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for name, result := range map[string]func(arguments string) string{
		"env":  func(string) string { return strings.Join(os.Environ(), "\n") },
		"note": func(arguments string) string { return "noted " + arguments },
	} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: result(string(r.Params.Arguments))}}}, nil
		})
	}
	return server
}

// output is what a program writes, which comes later than its answers.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written sync.Cond
}

func newOutput() *output {
	o := new(output)
	o.written.L = &o.mu
	return o
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.written.Broadcast()
	return o.text.Write(data)
}

// line waits for a line that begins with a text, and returns it.
func (o *output) line(start string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for line := range strings.Lines(o.text.String()) {
			if strings.HasPrefix(line, start) && strings.HasSuffix(line, "\n") {
				return line
			}
		}
		o.written.Wait()
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// program is lookleap-mcp proxy with a client.
type program struct {
	*mcp.ClientSession
	t      *testing.T
	stderr *output
}

// start runs the program in front of the server of the test, or with the arguments alone if they name a URL.
func start(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	p, err := tryStart(t, env, args...)
	if err != nil {
		t.Fatalf("%v: %s", err, p.stderr)
	}
	return p
}

func tryStart(t *testing.T, env []string, args ...string) (*program, error) {
	t.Helper()
	args = append([]string{"proxy", "--name", "test"}, args...)
	if !slices.Contains(args, "--url") {
		args = append(args, "--", os.Args[0], upstreamWord)
	}
	p := &program{t: t, stderr: newOutput()}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), p.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err == nil {
		p.ClientSession = session
		t.Cleanup(func() { _ = session.Close() })
	}
	return p, err
}

func (p *program) call(tool string, args map[string]any) string {
	p.t.Helper()
	r, err := p.CallTool(p.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		p.t.Fatalf("%v: %s", err, p.stderr)
	}
	var all strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			all.WriteString(text.Text)
		}
	}
	return all.String()
}

// decide opens a link and decides about the only request on the page.
func decide(t *testing.T, told, do string) {
	t.Helper()
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*open\?\S+`).FindString(told)
	if link == "" {
		t.Fatalf("no link in %s", told)
	}
	jar, _ := cookiejar.New(nil)
	client := http.Client{Jar: jar}
	get := func(address string) string {
		resp, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body) // a page of ours
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	get(link)
	home := link[:strings.Index(link, "open?")]
	plan := home + regexp.MustCompile(`plan/[A-Z0-9]+`).FindString(get(home))
	form := url.Values{"do": {do}, "item": {"call"}}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`).FindAllStringSubmatch(get(plan), -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	req, err := http.NewRequest(http.MethodPost, plan, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	origin, _ := url.Parse(home)
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin.Scheme + "://" + origin.Host}, "Sec-Fetch-Site": {"same-origin"}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
}

// receipts prints the receipts of a state directory, verifies them with the public key there, and returns
// their outcomes.
func receipts(t *testing.T, state string) (outcomes []lookleap.PlanState) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "proxy", "--receipts", "--state", state)
	printed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(state, "receipts.jwks"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := aiuri.ParseKeySet(public)
	if err != nil {
		t.Fatal(err)
	}
	lines := func(yield func(string, error) bool) {
		for line := range strings.Lines(string(printed)) {
			if !yield(strings.TrimSpace(line), nil) {
				return
			}
		}
	}
	for r, err := range receipt.VerifyAll(lines, keys, receipt.Head{}) {
		if err != nil {
			t.Fatalf("%v: %s", err, printed)
		}
		outcomes = append(outcomes, r.Outcome)
	}
	return outcomes
}
