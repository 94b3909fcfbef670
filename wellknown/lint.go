package wellknown

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lookleap/lookleap"
)

// Lint judges a name, with further path if any, as a publisher would want to
// know it: whether the registry has it, whether it is too general, whether its
// specification defines path below it. A bad name is the only error; the rest
// are findings (section 3).
func (r *Registry) Lint(name, rest string) ([]lookleap.Finding, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var findings []lookleap.Finding
	add := func(severity lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
		findings = append(findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
			Position: lookleap.Position{Path: Prefix + name}})
	}
	entry := r.Lookup(name)
	if entry.Status == Unregistered {
		message := fmt.Sprintf("%q is not in the registry of %s", name, r.date.Format("2006-01-02"))
		if entry.Reference != "" {
			message += "; it is used by " + entry.Reference
		}
		add(lookleap.SeverityWarning, CodeUnregisteredName, "WK-3-07", message, "register the name, or use one that is registered")
	}
	if generic[strings.ToLower(name)] {
		add(lookleap.SeverityWarning, CodeGenericName, "WK-3-10", fmt.Sprintf("%q says nothing about the application", name), "put the application's name before it")
	}
	if rest != "" && !entry.HasPath {
		add(lookleap.SeverityWarning, CodeExtraPath, "WK-3-15", noPathBelow(name), "serve the document at the name itself")
	}
	return findings, nil
}

func noPathBelow(name string) string { return fmt.Sprintf("no path is defined below %q", name) }

// Lint is the built-in table's [Registry.Lint] of a name alone.
func Lint(name string) ([]lookleap.Finding, error) { return Builtin().Lint(name, "") }

// LintTree lists every file below .well-known of a web root that a server of
// the whole root would publish, each with the findings of its name. Who can
// write there speaks for the origin, and may not know that the directory exists
// (section 4.4). A root without that directory publishes nothing there.
func (r *Registry) LintTree(root fs.FS) ([]lookleap.Finding, error) {
	if root == nil {
		return nil, errNoFiles
	}
	var findings []lookleap.Finding
	err := fs.WalkDir(root, ".well-known", func(path string, d fs.DirEntry, err error) error {
		if path == ".well-known" && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, ".well-known/"), "/")
		message := "the file is published for the whole origin"
		if d.Type()&fs.ModeSymlink != 0 {
			message = "the link is published for the whole origin, and its target may lie outside the web root"
		}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeOK, Requirement: "WK-4.4-01", Message: message,
			Position: lookleap.Position{Path: "/" + path}})
		about, err := r.Lint(name, rest)
		if err != nil {
			about = []lookleap.Finding{{Code: lookleap.CodeBadName, Requirement: "WK-3-08", Message: "the file's name cannot be a well-known name",
				Fix: "rename or remove it", Position: lookleap.Position{Path: "/" + path}}}
		}
		findings = append(findings, about...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("wellknown: reading the web root: %w", err)
	}
	return findings, nil
}
