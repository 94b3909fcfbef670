// Package gittest is a code host for tests: real repositories, whose references and archives the program
// git makes. It also starts the installer of skills that most people use. Only tests import it.
package gittest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Repository is a repository of a test.
type Repository struct {
	Owner, Name string
	Secret      string // of the only user who may see it; "": all may

	t   testing.TB
	dir string
}

// New makes an empty repository whose default branch is main. It skips the test if git is not installed.
func New(t testing.TB, owner, name string) *Repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &Repository{Owner: owner, Name: name, t: t, dir: t.TempDir()}
	r.Git("init", "--quiet", "--initial-branch=main")
	return r
}

// Dir returns the working tree.
func (r *Repository) Dir() string { return r.dir }

// Git runs a command of git in the repository, and returns what it prints.
func (r *Repository) Git(args ...string) string {
	r.t.Helper()
	out, err := r.output(args...)
	if err != nil {
		r.t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func (r *Repository) output(args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=false", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	return cmd.Output()
}

// Commit writes files, commits all, and returns the commit. A content that begins with "-> " is a link,
// one that begins with "#!" is executable, and "" removes the file.
func (r *Repository) Commit(files map[string]string) string {
	r.t.Helper()
	for name, content := range files {
		file := filepath.Join(r.dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		_ = os.Remove(file)
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case err != nil || content == "":
		case link:
			err = os.Symlink(target, file)
		case strings.HasPrefix(content, "#!"):
			err = os.WriteFile(file, []byte(content), 0o755)
		default:
			err = os.WriteFile(file, []byte(content), 0o644)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "--message=change")
	return r.Git("rev-parse", "HEAD")
}

// Host serves repositories as GitHub does, at the paths of github.com and of codeload.github.com.
type Host struct {
	mu    sync.Mutex
	repos []*Repository
	Asked []string // the paths and whether a user signed in
}

// Add adds a repository.
func (h *Host) Add(r *Repository) *Repository {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repos = append(h.repos, r)
	return r
}

// ServeHTTP serves both hosts.
func (h *Host) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	user, secret, signed := q.BasicAuth()
	h.mu.Lock()
	h.Asked = append(h.Asked, fmt.Sprintf("%s%s %v %s", q.Host, q.URL.Path, signed, user))
	repos := h.repos
	h.mu.Unlock()
	for _, r := range repos {
		rest, ok := strings.CutPrefix(strings.ToLower(q.URL.Path), strings.ToLower("/"+r.Owner+"/"+r.Name))
		if !ok || rest == "" || rest[0] != '.' && rest[0] != '/' {
			continue
		}
		private := r.Secret != "" && secret != r.Secret
		switch commit, archive := strings.CutPrefix(rest, "/archive/"); {
		case q.Host == "codeload.github.com" && strings.HasPrefix(rest, "/tar.gz/"):
			r.archive(w, strings.TrimPrefix(rest, "/tar.gz/"))
		case private:
			w.Header().Set("WWW-Authenticate", `Basic realm="code"`)
			http.Error(w, "sign in", http.StatusUnauthorized)
		case rest == ".git/info/refs":
			r.refs(w)
		case archive:
			http.Redirect(w, q, "https://codeload.github.com/"+r.Owner+"/"+r.Name+"/tar.gz/"+strings.TrimSuffix(commit, ".tar.gz"), http.StatusFound)
		default:
			http.NotFound(w, q)
		}
		return
	}
	http.Error(w, "sign in", http.StatusUnauthorized)
}

func (r *Repository) refs(w http.ResponseWriter) {
	out, err := r.output("upload-pack", "--stateless-rpc", "--advertise-refs", ".")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
	fmt.Fprint(w, "001e# service=git-upload-pack\n0000")
	_, _ = w.Write(out)
}

func (r *Repository) archive(w http.ResponseWriter, commit string) {
	out, err := r.output("archive", "--format=tar.gz", "--prefix="+r.Name+"-"+commit+"/", commit)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = w.Write(out)
}

// SkillsCLI returns the command that starts the npm package skills, which .ci/run fetches. Top is the path
// to the top of the tree. It skips the test if node or the package is absent.
func SkillsCLI(t testing.TB, top string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	cli, err := filepath.Abs(filepath.Join(top, ".cache/skills-cli/node_modules/skills/bin/cli.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cli); err != nil {
		t.Skipf("the npm package skills is absent: .ci/run suites fetches it (%v)", err)
	}
	return []string{node, cli}
}
