// Supply checks what packages can do against the baseline in docs/capabilities.tsv.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	capabilityFile = "docs/capabilities.tsv"
	rootModule     = "github.com/lookleap/lookleap"
)

func main() {
	problems, err := capabilityProblems()
	if err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		fmt.Fprintln(os.Stderr, "supply:", strings.Join(problems, "\n"))
		os.Exit(1)
	}
}

// systems are those for which imports are looked at: build tags give each other files.
var systems = []string{"linux", "windows", "darwin"}

// capabilities are what a package can do because it imports a package. The analysis of calls by
// capslock would be finer; this one needs nothing but the go command.
var capabilities = map[string]string{
	"os":                       "files",
	"os/exec":                  "execute",
	"net":                      "network",
	"net/http":                 "network",
	"crypto/tls":               "network",
	"syscall":                  "system",
	"golang.org/x/sys/unix":    "system",
	"golang.org/x/sys/windows": "system",
	"unsafe":                   "unsafe",
	"plugin":                   "plugin",
	"C":                        "cgo",
	"runtime/cgo":              "cgo",
}

// use is a package, or a module for a dependency, and something that it can do.
type use struct{ name, capability string }

// capabilityProblems compares the capabilities of the packages that users compile in with the
// baseline. A capability without a reason there, and a line that is no longer true, are problems.
func capabilityProblems() ([]string, error) {
	used, err := capabilityUses()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(capabilityFile)
	if err != nil {
		return nil, err
	}
	var problems []string
	stated := make(map[use]bool)
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		if len(cells) != 3 || strings.TrimSpace(cells[2]) == "" {
			problems = append(problems, fmt.Sprintf("%s:%d: write package, capability and reason, with tabs between", capabilityFile, i+1))
			continue
		}
		u := use{cells[0], cells[1]}
		stated[u] = true
		if !used[u] {
			problems = append(problems, fmt.Sprintf("%s:%d: %s no longer has the capability %s: remove the line",
				capabilityFile, i+1, u.name, u.capability))
		}
	}
	for _, u := range slices.SortedFunc(maps.Keys(used),
		func(a, b use) int { return strings.Compare(a.name+a.capability, b.name+b.capability) }) {
		if !stated[u] {
			problems = append(problems, fmt.Sprintf("%s has the new capability %s: add it to %s with a reason",
				u.name, u.capability, capabilityFile))
		}
	}
	return problems, nil
}

// capabilityUses returns what the packages of the root module that are not tests, and the modules
// that they use, can do on any of the systems.
func capabilityUses() (map[use]bool, error) {
	used := make(map[use]bool)
	for _, system := range systems {
		packages, err := listPackages(system)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Standard || p.Module == nil {
				continue
			}
			name := p.Module.Path
			if p.Module.Main {
				name = "." + strings.TrimPrefix(p.ImportPath, rootModule)
			}
			for _, imported := range p.Imports {
				if c := capabilities[imported]; c != "" {
					used[use{name, c}] = true
				}
			}
		}
	}
	return used, nil
}

// pkg is what "go list -json" says about a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct {
		Path string
		Main bool
	}
}

// listPackages returns the packages of the root module and their dependencies for one system.
func listPackages(system string) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Module", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", system, err)
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
