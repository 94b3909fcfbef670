package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFollowedFixes makes the mistakes of a first hour, and does literally what the message says.
func TestFollowedFixes(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"agents.txt": "*abc\n/ ALLOW", "policy.json": `{"type":"application/lookleap-policy+json","version":"1","rots":{}}`} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
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
			var out bytes.Buffer
			if exit := run(context.Background(), c.args, nil, &out, &out); exit == 0 || !strings.Contains(out.String(), c.fix) {
				t.Fatalf("exit %d\n%s", exit, &out)
			}
			if c.then == nil {
				return
			}
			out.Reset()
			if exit := run(context.Background(), c.then, nil, &out, &out); exit != 0 {
				t.Errorf("lookleap %s: exit %d\n%s", strings.Join(c.then, " "), exit, &out)
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
