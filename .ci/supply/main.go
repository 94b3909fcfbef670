// Supply checks what the module is made of: the bill of materials in docs/sbom.json, with the
// versions and licences of all dependencies, and the baseline of capabilities in docs/capabilities.tsv.
//
//	go run ./.ci/supply           fails if a file is not current
//	go run ./.ci/supply -update   writes docs/sbom.json
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	sbomFile       = "docs/sbom.json"
	capabilityFile = "docs/capabilities.tsv"
)

func main() {
	update := flag.Bool("update", false, "write "+sbomFile)
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	text, err := billOfMaterials()
	if err != nil {
		return err
	}
	if update {
		return os.WriteFile(sbomFile, text, 0o644)
	}
	problems, err := capabilityProblems()
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(sbomFile); err != nil || !bytes.Equal(now, text) {
		problems = append(problems, sbomFile+" is not current: run .ci/run supply-update")
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

// module is what "go list -json" says about a module.
type module struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Replace                 *module
}

// pkg is what "go list -json" says about a package.
type pkg struct {
	ImportPath, ForTest string
	Standard            bool
	Imports             []string
	Module              *module
}

// listPackages returns the packages of a module and their dependencies for one system.
func listPackages(dir, system string, arguments ...string) ([]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-e=false", "-deps", "-json=ImportPath,ForTest,Standard,Imports,Module"},
		arguments...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, stderr.String())
	}
	var packages []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// moduleDirs returns the directories of all modules of the repository, the root first.
func moduleDirs() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "*go.mod").Output()
	if err != nil {
		return nil, err
	}
	dirs := []string{"."}
	for name := range strings.FieldsSeq(string(out)) {
		if dir := filepath.Dir(name); dir != "." && !strings.Contains(name, "testdata/") {
			dirs = append(dirs, filepath.ToSlash(dir))
		}
	}
	slices.Sort(dirs[1:])
	return dirs, nil
}
