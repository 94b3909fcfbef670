package install_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/lookleap/lookleap/dvs/install"
)

func TestCredentials(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	bin := t.TempDir()
	program := func(name, script string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", bin)
	is := func(name, host, user, secret string) {
		t.Run(name, func(t *testing.T) {
			if u, s, err := install.Credentials(t.Context(), host); u != user || s != secret || err != nil {
				t.Errorf("got %q, %q, %v", u, s, err)
			}
		})
	}
	is("no-program", "github.com", "", "")
	program("git", `while read -r line && [ "$line" ]; do asked="$asked $line"; done
case "$asked" in " protocol=https host=git.example.com"|*gitlab.com|*github.com) echo username=ada; echo password=of-git ;; *) exit 1 ;; esac`)
	is("git", "git.example.com", "ada", "of-git")
	is("git-has-none", "git.example.net", "", "")
	program("gh", `[ "$*" = "auth token --hostname github.com" ] && echo of-gh`)
	is("gh", "github.com", "x-access-token", "of-gh")
	is("gh-is-for-github-alone", "gitlab.com", "ada", "of-git")
	t.Setenv("GITHUB_TOKEN", "of-environment")
	is("environment", "github.com", "x-access-token", "of-environment")
	is("environment-of-one-host", "gitlab.com", "ada", "of-git")
}
