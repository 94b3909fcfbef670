package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kit")
	const question = `{"id":"x","operation":"wellknown.parse","input":{"uri":"https://example.com/.well-known/anml"}}` + "\n"
	for _, step := range []struct {
		args, stdin    string // DIR is the directory of the kit
		code           int
		stdout, stderr string // part of what is printed
	}{
		{"-serve", question, 0, `{"id":"x","class":"accept","outcome":{"name":"anml","origin":"https://example.com","rest":""}}`, ""},
		{"-serve", `{"id":"y","operation":"other","input":{}}` + "\n", 0, `{"id":"y","class":"unsupported"}`, ""},
		{"-serve", "{\n", 1, "", "not JSON"},
		{"-export DIR", "", 0, "", ""},
		{"-export DIR", "", 1, "", "exist"},
		{"-kit DIR -- DIR/absent", "", 1, "", "absent"},
		{"-unknown", "", 2, "", "-unknown"},
	} {
		var stdout, stderr strings.Builder
		args := strings.Fields(step.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir) // which can have blanks
		}
		code := run(t.Context(), args, strings.NewReader(step.stdin), &stdout, &stderr)
		if code != step.code || !strings.Contains(stdout.String(), step.stdout) || !strings.Contains(stderr.String(), step.stderr) {
			t.Errorf("%q: exit %d, %q, %q", step.args, code, stdout.String(), stderr.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
		t.Error(err)
	}
}
