package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// upstream is the way to the server, as a program or at a URL.
type upstream struct {
	mcp.Transport
	closed  chan struct{} // of a program; nil for a URL
	started atomic.Bool
	lines   *prefixer // of a program
}

// upstream returns the way to the server, and the host of the program.
func (o *proxyOptions) upstream(stderr io.Writer) (*upstream, *hostflags.Host, error) {
	endpoint := o.url
	if o.url != "" {
		var err error
		if endpoint, err = o.network.URL(o.url); err != nil {
			return nil, nil, err
		}
		o.network.Streams = true
	}
	host, err := o.network.NewHost()
	if err != nil {
		return nil, nil, err
	}
	for _, skipped := range o.network.Skipped() {
		fmt.Fprintln(stderr, "lookleap-mcp proxy: DEVELOPMENT MODE, not checked:", skipped)
	}
	if o.url == "" {
		env, err := environment(o.env)
		if err != nil {
			return nil, nil, errors.Join(err, host.Close())
		}
		child := exec.Command(o.command[0], o.command[1:]...)
		lines := &prefixer{to: stderr, prefix: "[" + o.name + "] "}
		child.Env, child.Stderr = env, lines
		child.WaitDelay = 2 * time.Second // for a descendant that keeps the output open
		return &upstream{Transport: &mcp.CommandTransport{Command: child}, closed: make(chan struct{}), lines: lines}, host, nil
	}
	header, err := headers(o.headers)
	if err != nil {
		return nil, nil, errors.Join(err, host.Close())
	}
	own, err := newOneHost(endpoint, header, &host.Host)
	if err != nil {
		return nil, nil, errors.Join(err, host.Close())
	}
	// Without a stream of its own, a server sends what it has to say with its answers.
	return &upstream{Transport: &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: &http.Client{Transport: own}, MaxRetries: -1, DisableStandaloneSSE: true,
	}}, host, nil
}

// way returns what the proxy connects to. A transport to a URL goes as it is: from it the proxy knows the
// URL, whose query it keeps out of errors.
func (u *upstream) way() mcp.Transport {
	if u.closed == nil {
		return u.Transport
	}
	return u
}

// Connect starts the program.
func (u *upstream) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := u.Transport.Connect(ctx)
	if err != nil {
		return c, err
	}
	u.started.Store(true)
	return &childConn{Connection: c, closed: u.closed}, nil
}

// endTimeout is how long a program may take to end: it is asked by closing its input, then by a signal, and
// killed in the end.
const endTimeout = 20 * time.Second

// wait waits until a program has ended whose connection is closed.
func (u *upstream) wait() {
	if u.started.Load() {
		select {
		case <-u.closed:
			_, _ = u.lines.Write([]byte("\n")) // after a last line without an end
		case <-time.After(endTimeout):
		}
	}
}

// childConn is the connection to a program. Closing it ends the program, by force if need be.
type childConn struct {
	mcp.Connection
	once   sync.Once
	closed chan struct{}
}

// Close ends the program.
func (c *childConn) Close() error {
	err := c.Connection.Close()
	c.once.Do(func() { close(c.closed) })
	return err
}

// passed are the variables that each program gets.
var passed = map[bool]string{
	false: "PATH HOME LANG TERM TMPDIR",
	true: "PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA " +
		"PROGRAMDATA PROGRAMFILES",
}

// environment returns the environment of the program: what each program gets, and the named variables.
func environment(names []string) ([]string, error) {
	env := []string{} // nil would mean all
	for _, name := range strings.Fields(passed[runtime.GOOS == "windows"]) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range names {
		value, ok := os.LookupEnv(name)
		if !ok || strings.Contains(name, "=") {
			return nil, usage("--env: the variable "+plaintext.Quote(name, 100)+" is not set", "set it where the client runs")
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// headers returns the header fields of --header-env. No error has a value.
func headers(pairs []string) (http.Header, error) {
	all := http.Header{}
	for _, pair := range pairs {
		name, variable, _ := strings.Cut(pair, "=")
		value := os.Getenv(variable)
		switch {
		case value == "":
			return nil, usage("--header-env: the variable "+plaintext.Quote(variable, 100)+" is not set", "set it where the client runs")
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, usage("--header-env: the value of "+plaintext.Quote(variable, 100)+" cannot be a header field", "use printable ASCII")
		}
		all.Set(name, value)
	}
	return all, nil
}

func usage(message, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}

// oneHost sends requests, with some header fields, to one host alone. Arguments of tools and the token
// would otherwise follow a redirect.
type oneHost struct {
	scheme, host string
	header       http.Header
	next         http.RoundTripper
}

func newOneHost(endpoint string, header http.Header, next http.RoundTripper) (*oneHost, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, usage("--url: this is not an https URL of a server", "write https://HOST/PATH, or add --dev for a server on this machine")
	}
	return &oneHost{u.Scheme, u.Host, header, next}, nil
}

// RoundTrip sends a request. http.Client calls it for each redirect, too.
func (o *oneHost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != o.scheme || r.URL.Host != o.host {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, &lookleap.Error{Code: lookleap.CodeDenied, Err: lookleap.ErrDenied,
			Message: "the server redirects to another host, " + plaintext.Quote(r.URL.Host, 200), Fix: "use its URL if you trust that host"}
	}
	r = r.Clone(r.Context())
	for name, values := range o.header {
		r.Header[name] = values
	}
	resp, err := o.next.RoundTrip(r)
	// A stream of events has no end, and the SDK bounds each event.
	if err == nil && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &boundedBody{resp.Body, maxBody}
	}
	return resp, err
}

// maxBody is how many bytes an answer that is no stream of events may have. The SDK reads all of it.
const maxBody = 32 << 20

// boundedBody is a body that fails after some bytes.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if b.left -= int64(n); b.left < 0 {
		return 0, &lookleap.Error{Code: lookleap.CodeTooLarge,
			Message: fmt.Sprintf("the answer of the server has more than %d bytes", int64(maxBody))}
	}
	return n, err
}

// prefixer writes the lines of a program with a prefix and visible characters.
type prefixer struct {
	to     io.Writer
	prefix string
	line   []byte
}

// maxLine is the length at which a line of a program is divided, in bytes.
const maxLine = 4 << 10

// Write writes the complete lines, and keeps the rest for the next call. It never fails: a closed
// standard error must not end the program.
func (p *prefixer) Write(data []byte) (int, error) {
	p.line = append(p.line, data...)
	for {
		end := bytes.IndexByte(p.line, '\n')
		rest := end + 1
		switch {
		case end < 0 && len(p.line) <= maxLine:
			return len(data), nil
		case end < 0 || end > maxLine:
			end, rest = maxLine, maxLine
		}
		if end > 0 {
			fmt.Fprintln(p.to, p.prefix+plaintext.Line(strings.TrimSuffix(string(p.line[:end]), "\r")))
		}
		p.line = p.line[rest:]
	}
}
