package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A form says how a mutant is compiled next to the original, so that one test binary holds
// all mutants of a package and an environment variable selects one.
type form int

const (
	truth             form = iota // a boolean expression
	value                         // an expression of any type, without side effects
	lazy                          // an expression of any type
	failure                       // an expression of type error
	swap                          // two arguments of one type
	statement                     // a statement of a block
	clauseOfStatement             // a statement before or after a condition
)

// selector is the name of the file that is added to a package with mutants.
const selector = "mutants_selector.go"

// selectorSource decides which mutant is active and records which were reached. A mutant is
// reached when its code runs; its number is then appended to the file LOOKLEAP_MUTANTS_REACHED.
const selectorSource = `
import (
	mutantOS "os"
	mutantConv "strconv"
	mutantSync "sync"
)

var (
	mutantActive, mutantWanted = mutantSetup()
	mutantReached              mutantSync.Map
)

func mutantSetup() (int, string) {
	id, _ := mutantConv.Atoi(mutantOS.Getenv("LOOKLEAP_MUTANT"))
	return id, mutantOS.Getenv("LOOKLEAP_MUTANTS_REACHED")
}

func mutantOn(id int) bool {
	if mutantWanted != "" {
		if _, known := mutantReached.LoadOrStore(id, true); !known {
			if f, err := mutantOS.OpenFile(mutantWanted, mutantOS.O_APPEND|mutantOS.O_CREATE|mutantOS.O_WRONLY, 0o600); err == nil {
				f.WriteString(mutantConv.Itoa(id) + "\n")
				f.Close()
			}
		}
	}
	return mutantActive == id
}

func mutantPick[T any](id int, original, mutated T) T {
	if mutantOn(id) {
		return mutated
	}
	return original
}
`

// A numbered mutant has the number that selects it.
type numbered struct {
	*Mutant
	id       int
	typ      string     // of the expression, for value and lazy
	from, to int        // where it is in the instrumented text
	inner    []numbered // mutants within its span
}

// typeOf returns the type of the expression with a span, as the file writes it; "" if there
// is no such expression or its type cannot be written.
func typeOf(set *token.FileSet, file *ast.File, pkg *types.Package, info *types.Info) func(start, end int) string {
	names := make(map[string]string) // of imports, by path
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		for _, p := range pkg.Imports() {
			if p.Path() == path {
				names[path] = p.Name()
			}
		}
		if spec.Name != nil {
			names[path] = spec.Name.Name
		}
	}
	spans := make(map[[2]int]types.Type)
	ast.Inspect(file, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if tv, known := info.Types[e]; known && tv.Type != nil {
				spans[[2]int{set.Position(e.Pos()).Offset, set.Position(e.End()).Offset}] = types.Default(tv.Type)
			}
		}
		return true
	})
	return func(start, end int) string {
		t := spans[[2]int{start, end}]
		if t == nil {
			return ""
		}
		return types.TypeString(t, func(p *types.Package) string {
			if p == pkg {
				return ""
			}
			return names[p.Path()]
		})
	}
}

// nest arranges mutants as a tree by their spans. It returns those that overlap another one
// without lying within it: they need a binary of their own.
func nest(mutants []numbered) (tree, rest []numbered) {
	slices.SortStableFunc(mutants, func(a, b numbered) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	for i := 0; i < len(mutants); {
		top := mutants[i]
		j := i + 1
		var inner []numbered
		for ; j < len(mutants) && mutants[j].start < top.end; j++ {
			if mutants[j].end > top.end || top.form == swap {
				rest = append(rest, mutants[j])
			} else {
				inner = append(inner, mutants[j])
			}
		}
		var left []numbered
		top.inner, left = nest(inner)
		tree, rest = append(tree, top), append(rest, left...)
		i = j
	}
	return tree, rest
}

// instrument writes source[start:end] with the mutants of a tree and reports each one's place
// in the output.
func instrument(out *strings.Builder, source []byte, start, end int, tree []numbered, placed func(m numbered)) {
	at := start
	for _, m := range tree {
		out.Write(source[at:m.start])
		m.from = out.Len()
		before, after := m.around()
		out.WriteString(before)
		if m.form != swap {
			instrument(out, source, m.start, m.end, m.inner, placed)
		}
		out.WriteString(after)
		m.to = out.Len()
		placed(m)
		at = m.end
	}
	out.Write(source[at:end])
}

// around returns the text before and after the original that adds the mutant to it.
func (m *numbered) around() (before, after string) {
	switch m.form {
	case truth:
		return fmt.Sprintf("(mutantOn(%d) && (%s) || !mutantOn(%d) && (", m.id, m.To, m.id), "))"
	case value:
		return fmt.Sprintf("mutantPick[%s](%d, ", m.typ, m.id), fmt.Sprintf(", %s)", m.To)
	case lazy:
		return fmt.Sprintf("func() %s { if mutantOn(%d) { return %s }; return ", m.typ, m.id, m.To), " }()"
	case failure:
		return fmt.Sprintf("mutantPick[error](%d, ", m.id), ", nil)"
	case swap:
		second, first, _ := strings.Cut(m.To, ", ")
		return fmt.Sprintf("mutantPick(%d, %s, %s), mutantPick(%d, %s, %s)", m.id, first, second, m.id, second, first), ""
	case clauseOfStatement:
		return fmt.Sprintf("func() { if mutantOn(%d) { %s } else { ", m.id, m.To), " } }()"
	default:
		return fmt.Sprintf("if mutantOn(%d) { %s } else { ", m.id, m.To), " }"
	}
}
