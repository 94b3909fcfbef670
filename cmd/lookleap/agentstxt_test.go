package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestAgentsTxtURLs reads the policies of sites of a lab.
func TestAgentsTxtURLs(t *testing.T) {
	n := lookleaptest.ForTest(t)
	signed, err := agentstxt.Sign([]byte("/a ALLOW limit=5\n"))
	if err != nil {
		t.Fatal(err)
	}
	n.Site("shop.example").File("/agents.txt", "text/plain", string(signed))
	n.Site("quiet.example")
	n.Site("forged.example").File("/agents.txt", "text/plain", strings.Replace(string(signed), "/a", "/b", 1))
	n.Site("down.example").Status("/agents.txt", 503)
	args := append(opened(t, n).Args(), "--json", "agentstxt", "--path", "/a")
	want := []struct {
		site, code, message, state string
		ok, allowed                bool
	}{
		{"shop.example", "ok", "accepted", "valid", true, true},
		{"quiet.example", "no-policy", "accepted", "absent", true, true},
		{"forged.example", "hash-mismatch", "the hash line does not match the directives", "restricted", false, false},
		{"down.example", "unreachable", "the server answered 503", "restricted", false, false},
	}
	for _, w := range want {
		args = append(args, "https://"+w.site+"/some/page")
	}
	var stdout, stderr bytes.Buffer
	if exit := run(context.Background(), args, nil, &stdout, &stderr); exit != 1 {
		t.Errorf("exit %d: %s", exit, &stderr)
	}
	lines := json.NewDecoder(&stdout)
	for _, w := range want {
		var got struct {
			OK            bool
			Code, Message string
			Value         struct {
				State     string
				Decisions []struct{ Allowed bool }
			}
		}
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.OK != w.ok || got.Code != w.code || got.Message != w.message || got.Value.State != w.state || len(got.Value.Decisions) != 1 || got.Value.Decisions[0].Allowed != w.allowed {
			t.Errorf("%s: %+v", w.site, got)
		}
	}
}

func TestAgentsTxtSignWrites(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	for name, text := range map[string]string{good: "/a ALLOW\n", bad: "/a MAYBE\n"} {
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chmod(name, 0o640)); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	if exit := run(context.Background(), []string{"agentstxt", "sign", "--write", good, bad}, nil, &stdout, &stderr); exit != 1 {
		t.Errorf("exit %d: %s", exit, &stderr)
	}
	signed, _ := os.ReadFile(good)
	if _, err := agentstxt.Parse(signed, agentstxt.Options{}); err != nil {
		t.Errorf("the signed file: %v", err)
	}
	if info, err := os.Stat(good); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode changed: %v, %v", info.Mode(), err)
	}
	if kept, _ := os.ReadFile(bad); string(kept) != "/a MAYBE\n" {
		t.Errorf("a file that cannot be signed was changed: %q", kept)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("something was left behind: %v", left)
	}
}

// TestAgentsTxtReadings: the program refuses a path that one reading of robots.txt disallows.
func TestAgentsTxtReadings(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\n")
	door := opened(t, n).Args()
	for name, path := range map[string]string{
		"two-slashes": "//private/x", "encoded-slash": "/%2fprivate/x", "dots": "/x/..%2fprivate/x", "parameters": "/private;a=b/x",
	} {
		t.Run("P14/reject-by-the-program-"+name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			run(context.Background(), append(door, "agentstxt", "--web", "--path", path, "https://shop.example/"), nil, &stdout, &stderr)
			if !strings.Contains(stdout.String(), "is denied: a rule of robots.txt disallows the path") {
				t.Errorf("%s%s", &stdout, &stderr)
			}
		})
	}
}
