package install_test

import (
	"os"
	"os/exec"
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

// TestCredentialsInCheckout asks git in a checkout whose configuration names a program of its own.
func TestCredentialsInCheckout(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	for _, c := range []struct{ name, kind, variable string }{
		{"configuration", "--quiet", ""}, {"bare-repository", "--bare", ""}, {"inherited-directory", "--quiet", "GIT_DIR"},
		{"inherited-settings", "--quiet", "GIT_CONFIG_PARAMETERS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkout := t.TempDir()
			ran := filepath.Join(checkout, "ran")
			if out, err := exec.Command(git, "init", c.kind, checkout).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
			helper := "!echo >" + ran + "; :"
			if out, err := exec.Command(git, "-C", checkout, "config", "credential.helper", helper).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
			t.Chdir(checkout)
			switch c.variable {
			case "GIT_DIR":
				t.Setenv(c.variable, filepath.Join(checkout, ".git"))
			case "GIT_CONFIG_PARAMETERS":
				t.Setenv(c.variable, "'credential.helper="+helper+"'")
			}
			_, secret, err := install.Credentials(t.Context(), "git.example.com")
			if _, missing := os.Stat(ran); missing == nil || secret != "" || err != nil {
				t.Errorf("the program of the checkout ran, or %q, %v", secret, err)
			}
		})
	}
	t.Run("the-users-own-helper", func(t *testing.T) {
		write(t, filepath.Join(home, ".gitconfig"), "[credential]\n\thelper = \"!echo username=ada; echo password=of-user; :\"\n")
		user, secret, err := install.Credentials(t.Context(), "git.example.com")
		if user != "ada" || secret != "of-user" || err != nil {
			t.Errorf("got %q, %q, %v", user, secret, err)
		}
	})
}
