package spec

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Command runs the tests of one row in one package.
type Command struct {
	ID      string
	Package string // import path
	Pattern string // for the flag -run of go test
}

// Commands returns the commands that run the tests of each row that passed, in
// the order of the registers.
func (s *Spec) Commands(r *Results) []Command {
	evidence := r.evidence()
	var all []Command
	for _, id := range s.ids() {
		if e := evidence[id]; e.holds() {
			all = append(all, commands(id, e.Passed)...)
		}
	}
	return all
}

// commands returns one command for each package of the tests.
func commands(id string, tests []Test) []Command {
	var list []Command
	for len(tests) > 0 {
		pkg := tests[0].Package
		end := slices.IndexFunc(tests, func(t Test) bool { return t.Package != pkg })
		if end < 0 {
			end = len(tests)
		}
		list = append(list, Command{id, pkg, pattern(id, tests[:end])})
		tests = tests[end:]
	}
	return list
}

// pattern returns the shortest expression for -run that selects only the test
// functions of a row and, below them, only its subtests. An id that is taken in
// a function gets a suffix such as #01, so the expression has no end after it.
func pattern(id string, tests []Test) string {
	functions := make(map[int][]string) // by the depth of the id
	for _, test := range tests {
		steps := steps(test.Name)
		depth := slices.Index(steps, id)
		if !slices.Contains(functions[depth], steps[0]) {
			functions[depth] = append(functions[depth], steps[0])
		}
	}
	var alternatives []string
	for depth, names := range functions {
		slices.Sort(names)
		function := strings.Join(names, "|")
		if len(names) > 1 {
			function = "(" + function + ")"
		}
		alternatives = append(alternatives, "^"+function+"$"+strings.Repeat("/", depth)+"^"+regexp.QuoteMeta(id))
	}
	slices.SortFunc(alternatives, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return strings.Join(alternatives, "|")
}

// Dir returns the directory of the package below the module's root.
func (c Command) Dir() string {
	if dir, below := strings.CutPrefix(c.Package, modulePath+"/"); below {
		return dir
	}
	return "."
}

// shell returns the command as the user types it in the root of the module.
// Packages of nested modules can be tested only from inside these.
func (c Command) shell(nested []string) string {
	dir := c.Dir()
	for _, module := range nested {
		if dir == module || strings.HasPrefix(dir, module+"/") {
			return "go test -C " + dir + " -run '" + c.Pattern + "'"
		}
	}
	if dir != "." {
		dir = "./" + path.Clean(dir)
	}
	return "go test " + dir + " -run '" + c.Pattern + "'"
}
