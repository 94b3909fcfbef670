//go:build unix

package policy_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
)

// TestLoadPipe: a pipe has no writer that Load could wait for, neither as a policy nor as one that
// a policy extends.
func TestLoadPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("this file system has no pipes: ", err)
	}
	for name, path := range map[string]string{"named": pipe, "extended": writeIn(t, dir, "team.json", head+`,"extends":["pipe.json"]}`)} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Load(path)
			if e := new(lookleap.Error); !errors.As(err, &e) || e.Code != dvs.CodePolicyUnreadable || e.Fix != "write the policy to a file, and name that file" {
				t.Error(err)
			}
			if p.Check("https://example.com/s/SKILL.md") == nil {
				t.Error("an unreadable policy allows a skill")
			}
		})
	}
}

// TestLoadNowhere: a path without an absolute form, since the working directory is gone, is an error.
func TestLoadNowhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Skip("this system keeps the working directory: ", err)
	}
	if _, err := filepath.Abs("policy.json"); err == nil {
		t.Skip("this system knows the name of a directory that is gone")
	}
	p, err := policy.Load("policy.json")
	var refused *lookleap.Error
	if !errors.As(err, &refused) || refused.Code != dvs.CodePolicyUnreadable || refused.Subject != "policy.json" ||
		refused.Message != "the policy could not be read, so nothing is allowed" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if p.Err() == nil || p.Check("https://example.com/s/SKILL.md") == nil {
		t.Error("an unreadable policy allows a skill")
	}
}
