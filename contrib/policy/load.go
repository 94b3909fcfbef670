package policy

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// maxExtended is how many files one policy may consist of.
const maxExtended = 32

// Load reads policy files and the files that they extend, whose paths are relative to the file that
// names them. A symbolic link is replaced by its target first, so a link elsewhere to a policy
// extends the same files as the policy. Each file has to permit what is done, so the order does not matter. On an error it
// also returns a policy that allows nothing, so a program that goes on fails closed. Without a path
// it allows nothing.
func Load(paths ...string) (*Policy, error) {
	if len(paths) == 0 {
		return unreadable("", &lookleap.Error{Code: lookleap.CodeUsage, Message: "no policy file is named", Fix: "name at least one"})
	}
	l := loading{}
	for _, path := range paths {
		if err := l.read(path, nil); err != nil {
			return unreadable(strings.Join(paths, ", "), err)
		}
	}
	return &Policy{name: l.parts[0].name, parts: l.parts}, nil
}

// loading collects the files of a policy.
type loading struct {
	parts []part
	done  []string // absolute paths
}

// read reads a file and those that it extends. Above are the files that led to it.
func (l *loading) read(path string, above []string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	bad := func(message, fix string, err error) error {
		return &lookleap.Error{Code: dvs.CodePolicyUnreadable, Subject: plaintext.Line(path), Message: message, Fix: fix, Err: err}
	}
	if target, err := filepath.EvalSymlinks(absolute); err == nil { // otherwise Open returns the error
		absolute = target
	}
	switch {
	case slices.Contains(above, absolute):
		return bad("the policy extends itself, through "+strings.Join(append(above[slices.Index(above, absolute):], absolute),
			", "), "remove one of the references", nil)
	case slices.Contains(l.done, absolute):
		return nil
	case len(l.parts) >= maxExtended:
		return bad("the policy consists of too many files", "use at most 32", nil)
	}
	data, err := filestore.ReadFile(absolute, maxFile)
	if err != nil {
		fix := "make the file readable"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fix = "check the path, or create the file"
		case errors.Is(err, filestore.ErrNotRegular):
			fix = "write the policy to a file, and name that file"
		case errors.Is(err, filestore.ErrTooLarge):
			fix = "use at most 1 MiB, and several files if needed"
		}
		return bad("the policy cannot be read, so nothing is allowed", fix, err)
	}
	one, err := parse(path, data)
	if err != nil {
		return err
	}
	l.parts, l.done = append(l.parts, one), append(l.done, absolute)
	for _, next := range one.extends {
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(absolute), next)
		}
		if err := l.read(next, append(slices.Clone(above), absolute)); err != nil {
			return err
		}
	}
	return nil
}
