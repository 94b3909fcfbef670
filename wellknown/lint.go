package wellknown

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Lint reports findings about a name by the built-in registry. See [Registry.Lint].
func Lint(name string) ([]lookleap.Finding, error) { return Builtin().Lint(name, "") }

// Lint reports findings about a name that a publisher uses, with the path rest below
// it: whether the name is registered, whether it is too general, and whether its
// specification defines paths below it (section 3). It returns an error only for a bad
// name.
func (r *Registry) Lint(name, rest string) ([]lookleap.Finding, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var findings []lookleap.Finding
	add := func(code lookleap.Code, requirement, message, fix string) {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message, Fix: fix,
			Position: lookleap.Position{Path: Prefix + name}})
	}
	entry := r.Lookup(name)
	if entry.Status == Unregistered {
		message := fmt.Sprintf("%s is not in the registry of %s", plaintext.Quote(name, 100), r.Date().Format("2006-01-02"))
		if entry.Reference != "" {
			message += "; it is used by " + entry.Reference
		}
		add(CodeUnregisteredName, "WK-3-07", message, "register the name, or use a registered one")
	}
	if genericNames[strings.ToLower(name)] {
		add(CodeGenericName, "WK-3-10", plaintext.Quote(name, 100)+" does not name an application", "put the application's name before it")
	}
	if rest != "" && !entry.HasPath {
		add(CodeExtraPath, "WK-3-15", noPathBelow(name), "serve the document at the name itself")
	}
	return findings, nil
}

func noPathBelow(name string) string { return "no path is defined below " + plaintext.Quote(name, 100) }

// genericNames are words that are too general for a name: other applications might
// use them for something else (section 3).
var genericNames = map[string]bool{
	"agent": true, "agents": true, "ai": true, "api": true, "app": true, "config": true, "configuration": true, "data": true,
	"discovery": true, "index": true, "info": true, "manifest": true, "metadata": true, "policy": true, "service": true,
	"services": true, "settings": true, "site": true, "skills": true, "status": true, "trust": true, "version": true,
}

// LintTree reports every file below .well-known of a web root, each with the findings
// of its name. A server that publishes the whole root publishes these files, and users
// who can write there speak for the origin, possibly without knowing that the
// directory exists (section 4.4). A root without the directory has no findings.
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
		message := "the file is published for the whole origin"
		if d.Type()&fs.ModeSymlink != 0 {
			message = "the link is published for the whole origin, and its target may be outside the web root"
		}
		at := lookleap.Position{Path: "/" + path}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: lookleap.CodeOK, Requirement: "WK-4.4-01", Message: message, Position: at})
		name, rest, _ := strings.Cut(strings.TrimPrefix(path, ".well-known/"), "/")
		about, err := r.Lint(name, rest)
		if err != nil {
			about = []lookleap.Finding{{Code: lookleap.CodeBadName, Requirement: "WK-3-08", Message: "the file's name cannot be a well-known name",
				Fix: "rename or remove it", Position: at}}
		}
		findings = append(findings, about...)
		return nil
	})
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeIO, Message: "the web root cannot be read", Err: err}
	}
	return findings, nil
}
