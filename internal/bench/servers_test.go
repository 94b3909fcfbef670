package bench

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/internal/test/enginetest"
)

// The guard reads a path in every way that it knows of. These tests ask real
// servers how they read it: nothing that a policy disallows may come back for a
// path that the policy allows.

const (
	secret = "this is not for agents"
	public = "this is for everyone"
)

// server is one real server over the files of a directory.
type server struct {
	name  string
	start func(t *testing.T, root, dir string) (addr string)
}

func servers() []server {
	return []server{
		{"go", goServer},
		{"nginx", nginxServer},
		{"apache", apacheServer},
		{"python", pythonServer},
		{"python-urlsplit", scriptServer("python3", "split.py", pythonSplit)},
		{"node-url", scriptServer("node", "url.js", nodeServer("new URL(req.url, 'http://localhost').pathname"))},
		{"node-url-decoded", scriptServer("node", "decoded.js", nodeServer("decodeURIComponent(new URL(req.url, 'http://localhost').pathname)"))},
		{"node-decoded-url", scriptServer("node", "reference.js", nodeServer("new URL(decodeURIComponent(req.url), 'http://localhost').pathname"))},
		{"node-legacy", scriptServer("node", "legacy.js", nodeServer("decodeURIComponent(require('url').parse(req.url).pathname)"))},
		{"node-twice", scriptServer("node", "twice.js", nodeServer("decodeURIComponent(decodeURIComponent(req.url.split('?')[0]))"))},
		{"node-windows", scriptServer("node", "windows.js", nodeServer("require('path').win32.normalize(decodeURIComponent(req.url)).replace(/\\\\/g, '/').split('/').map(s => s.replace(/[. ]+$/, '')).join('/')"))},
	}
}

// TestServers sends paths that a policy allows to real servers.
func TestServers(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"admin/secret.txt": secret, "admin/index.html": secret, "secret.txt": public, "x/y.txt": public, "x/admin.txt": public,
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	paths := hostilePaths(5_000)
	if testing.Short() {
		paths = paths[:1_000]
	}
	for name, decide := range map[string]func(path string) agentstxt.Decision{
		"disallow":                   policy(t, "/admin DISALLOW").Decide,
		"disallow-directory":         policy(t, "/admin/ DISALLOW").Decide,
		"robots-disallow":            agentstxt.ParseRobots([]byte("User-agent: *\nDisallow: /admin\n"), "ExampleBot").Decide,
		"robots-disallow-directory":  agentstxt.ParseRobots([]byte("User-agent: *\nDisallow: /admin/\n"), "ExampleBot").Decide,
		"robots-allow-all-but-admin": agentstxt.ParseRobots([]byte("User-agent: *\nDisallow: /\nAllow: /x\nAllow: /secret.txt\n"), "ExampleBot").Decide,
	} {
		var allowed []string
		for _, path := range paths {
			if decide(path).Allowed {
				allowed = append(allowed, path)
			}
		}
		for _, s := range servers() {
			leaf := "O59/" + s.name + "/" + name
			if strings.HasPrefix(name, "robots-") {
				leaf = "P14/reject-on-" + s.name + "-" + name
			}
			t.Run(leaf, func(t *testing.T) {
				addr := s.start(t, root, t.TempDir())
				c := &client{addr: addr}
				defer c.close()
				if body, err := c.get("/admin/secret.txt"); err != nil || !strings.Contains(body, secret) {
					t.Fatalf("the server does not serve what it should: %q, %v", body, err)
				}
				served := 0
				for _, path := range allowed {
					body, err := c.get(path)
					if err != nil {
						continue // the server refuses the request line
					}
					if strings.Contains(body, secret) {
						t.Errorf("%q is allowed, and the server answers with a disallowed file", path)
					}
					if strings.Contains(body, public) {
						served++
					}
				}
				t.Logf("%d of %d paths allowed, %d of them served", len(allowed), len(paths), served)
			})
		}
	}
}

// policy returns the policy with these directives.
func policy(t *testing.T, directives string) *agentstxt.Policy {
	t.Helper()
	sum := sha256.Sum256([]byte(directives))
	p, err := agentstxt.Parse([]byte("*"+hex.EncodeToString(sum[:])+"\n"+directives), agentstxt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hostilePaths returns fixed paths of the attack list and many more made of the
// same pieces. The seed is constant, so a failure repeats.
func hostilePaths(n int) []string {
	pieces := []string{
		"admin", "admin", "secret.txt", "x", "y.txt", "%61dmin", "%2561dmin", "adm%69n.", "/", "/", "/", "//", "..", "..", ".", "%2e%2e", "%2e", "%252e", "%252e%252e",
		"%2f", "%252f", "%2F", "%5c", "%255c", "\\", ";", ";x", "%3b", ".", "%20", "+", "%00", "%09", "%0a", "?", "%3f", "%23", ":80", "@", "localhost", "http:",
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := []string{
		"//x/admin/secret.txt", "///x/admin/secret.txt", "//x@y:1/admin/secret.txt", "/%2Fx/admin/secret.txt", "/admin.%5Csecret.txt", "/%2Fadmin/%252e/../admin/secret.txt",
		"/admin%2F%252e/../secret.txt", "/x/..%2Fadmin%2F%252e/../secret.txt", "/%3b%5cx//admin/secret.txt", "/admin/%2e%2e/admin/secret.txt",
	}
	for len(all) < n {
		var b strings.Builder
		b.WriteByte('/')
		for range 1 + r.IntN(7) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) > 0 {
				b.WriteByte('/')
			}
		}
		if r.IntN(2) == 0 {
			b.WriteString([]string{"admin/secret.txt", "secret.txt", "admin/"}[r.IntN(3)])
		}
		all = append(all, b.String())
	}
	return all
}

// client sends request targets byte for byte, over connections that it keeps.
type client struct {
	addr string
	conn net.Conn
	read *bufio.Reader
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

func (c *client) get(path string) (string, error) {
	for range 2 {
		if c.conn == nil {
			conn, err := net.Dial("tcp", c.addr)
			if err != nil {
				return "", err
			}
			c.conn, c.read = conn, bufio.NewReader(conn)
		}
		_ = c.conn.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err == nil {
			resp, err := http.ReadResponse(c.read, nil)
			if err == nil {
				body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
				_ = resp.Body.Close()
				if err != nil || resp.Close {
					c.close()
				}
				return string(body), err
			}
		}
		c.close() // a connection that was kept may have been closed meanwhile
	}
	return "", io.ErrUnexpectedEOF
}

func goServer(t *testing.T, root, _ string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.FileServer(http.Dir(root))}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// freeAddr returns an address on which nothing listens.
func freeAddr(t *testing.T) (addr, port string) {
	t.Helper()
	port = enginetest.FreePort(t)
	return "127.0.0.1:" + port, port
}

// run starts a program and waits until it listens.
func run(t *testing.T, addr, name string, args ...string) {
	t.Helper()
	bin, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if output, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s: %s", name, output)
		}
		_ = log.Close()
	})
	cmd := exec.Command(bin, args...)
	cmd.Stdout, cmd.Stderr = log, log
	server := enginetest.Start(t, cmd, func() error {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	t.Cleanup(func() { server.End(os.Kill) })
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func nginxServer(t *testing.T, root, dir string) string {
	addr, _ := freeAddr(t)
	config := write(t, dir, "nginx.conf", fmt.Sprintf(`
daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
%[4]s
events { worker_connections 64; }
http {
	access_log off; default_type text/plain;
	client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
	keepalive_requests 1000000;
	server { listen %[2]s; root %[3]s; autoindex on; }
}`, dir, addr, root, asRoot("user root;")))
	run(t, addr, "nginx", "-c", config, "-p", dir, "-e", filepath.Join(dir, "error.log"))
	return addr
}

func asRoot(directive string) string {
	if os.Geteuid() == 0 {
		return directive
	}
	return ""
}

func apacheServer(t *testing.T, root, dir string) string {
	addr, _ := freeAddr(t)
	const modules = "/usr/lib/apache2/modules"
	if _, err := os.Stat(modules); err != nil {
		t.Skip("apache2 is not installed")
	}
	config := write(t, dir, "apache.conf", fmt.Sprintf(`
ServerRoot %[1]s
ServerName localhost
PidFile %[1]s/pid
ErrorLog %[1]s/error.log
Listen %[2]s
LoadModule mpm_event_module %[3]s/mod_mpm_event.so
LoadModule authz_core_module %[3]s/mod_authz_core.so
LoadModule dir_module %[3]s/mod_dir.so
DocumentRoot %[4]s
DirectoryIndex index.html
AllowEncodedSlashes On
MaxKeepAliveRequests 0
%[5]s
<Directory />
	Require all granted
</Directory>`, dir, addr, modules, root, asRoot("User www-data\nGroup www-data")))
	for parent := root; parent != "/" && os.Geteuid() == 0; parent = filepath.Dir(parent) {
		if strings.HasPrefix(parent, os.TempDir()) && parent != os.TempDir() {
			_ = os.Chmod(parent, 0o755) // apache leaves its root rights
		}
	}
	run(t, addr, "apache2", "-X", "-f", config)
	return addr
}

func pythonServer(t *testing.T, root, _ string) string {
	addr, port := freeAddr(t)
	run(t, addr, "python3", "-m", "http.server", port, "--bind", "127.0.0.1", "--directory", root, "--protocol", "HTTP/1.1")
	return addr
}

// scriptServer runs a program that gets root and port as arguments.
func scriptServer(interpreter, name, text string) func(*testing.T, string, string) string {
	return func(t *testing.T, root, dir string) string {
		addr, port := freeAddr(t)
		run(t, addr, interpreter, write(t, dir, name, text), root, port)
		return addr
	}
}

// pythonSplit is a server that reads the request target as a reference.
const pythonSplit = `
import os, sys, http.server, urllib.parse
root, port = sys.argv[1], int(sys.argv[2])
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    def log_message(self, *args): pass
    def do_GET(self):
        try:
            path = urllib.parse.unquote(urllib.parse.urlsplit(self.requestline.split(" ")[1]).path)
            path = os.path.normpath("/" + path)
            body = open(root + path, "rb").read()
        except Exception:
            body = b"not found"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
`

// nodeServer is a server that finds the file by an expression over req.
func nodeServer(expression string) string {
	return `
const fs = require('fs'), http = require('http'), path = require('path');
const [root, port] = process.argv.slice(2);
http.createServer((req, res) => {
  let body = 'not found';
  try { body = fs.readFileSync(path.join(root, path.posix.normalize('/' + (` + expression + `)))); } catch {}
  res.end(body);
}).listen(Number(port), '127.0.0.1');
`
}
