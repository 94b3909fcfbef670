package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A Mutant is one small change of a file that breaks a rule which the file implements.
type Mutant struct {
	File     string // path below the root of the module
	Line     int
	Func     string // the function around the change
	Operator string // what kind of change it is
	From, To string // the text before and after
	Nth      int    // among the equal changes of the function, from 1

	start, end int  // byte offsets of From
	form       form // how the mutant is compiled next to the original
}

// ID names a mutant independently of its line, so that the list of equivalent mutants and
// the stored results survive edits elsewhere in the file.
func (m *Mutant) ID() string {
	operator := m.Operator
	if m.Nth > 1 {
		operator += " #" + strconv.Itoa(m.Nth)
	}
	return strings.Join([]string{m.File, m.Func, operator, oneLine(m.From), oneLine(m.To)}, "\t")
}

// String returns the mutant as a compiler prints an error.
func (m *Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s in %s: %s  →  %s", m.File, m.Line, m.Operator, m.Func, shorten(oneLine(m.From)), shorten(oneLine(m.To)))
}

// Apply returns the source with the change.
func (m *Mutant) Apply(source []byte) []byte {
	mutated := make([]byte, 0, len(source)+len(m.To))
	mutated = append(mutated, source[:m.start]...)
	mutated = append(mutated, m.To...)
	return append(mutated, source[m.end:]...)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func shorten(text string) string {
	if r := []rune(text); len(r) > 70 {
		return string(r[:70]) + "…"
	}
	return text
}

// Mutants returns the mutants of a source file, in the order of the file. A mutant that does
// not compile is found by running it.
func Mutants(file string, source []byte) ([]Mutant, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	g := &generator{set: set, file: file, source: source, listed: make(map[ast.Stmt]bool), unmeasured: make(map[ast.Expr]bool)}
	for _, decl := range tree.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			g.function = functionName(f)
			g.returnsError = endsWithError(f.Type)
			ast.Inspect(f.Body, g.visit)
		}
	}
	seen := make(map[string]int)
	for i := range g.mutants {
		m := &g.mutants[i]
		seen[m.ID()]++
		m.Nth = seen[m.ID()] // the ID had no number yet
	}
	return g.mutants, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
			continue
		case *ast.IndexExpr:
			receiver = r.X
			continue
		case *ast.Ident:
			return r.Name + "." + f.Name.Name
		}
		return f.Name.Name
	}
}

func endsWithError(t *ast.FuncType) bool {
	if t.Results == nil || len(t.Results.List) == 0 {
		return false
	}
	last, ok := t.Results.List[len(t.Results.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// generator collects the mutants of one file.
type generator struct {
	set          *token.FileSet
	file         string
	source       []byte
	function     string
	returnsError bool
	listed       map[ast.Stmt]bool // statements that stand in a block
	operation    ast.Stmt          // of a case of a select: it cannot be replaced
	unmeasured   map[ast.Expr]bool // numbers on which no rule depends
	mutants      []Mutant
}

func (g *generator) text(from, to token.Pos) string {
	return string(g.source[g.set.Position(from).Offset:g.set.Position(to).Offset])
}

// add appends the mutant that replaces the text between two positions.
func (g *generator) add(form form, operator string, from, to token.Pos, replacement string) {
	start := g.set.Position(from)
	g.mutants = append(g.mutants, Mutant{
		File: g.file, Line: start.Line, Func: g.function, Operator: operator, From: g.text(from, to), To: replacement,
		start: start.Offset, end: g.set.Position(to).Offset, form: form,
	})
}

// list remembers the statements of a block: each can become a block of its own.
func (g *generator) list(stmts []ast.Stmt) {
	for _, s := range stmts {
		g.listed[s] = true
	}
}

// statement adds the mutant that replaces a statement.
func (g *generator) statement(operator string, s ast.Stmt, replacement string) {
	if s == g.operation {
		return
	}
	form := statement
	if !g.listed[s] {
		form = clauseOfStatement
	}
	g.add(form, operator, s.Pos(), s.End(), replacement)
}

// comparisons are the operators that a comparison is changed to.
var comparisons = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GTR}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LSS}, token.GEQ: {token.GTR, token.LSS},
}

func (g *generator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		g.list(n.List)
	case *ast.CommClause:
		g.list(n.Body)
		g.operation = n.Comm
	case *ast.IfStmt:
		g.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			g.add(truth, "loop never runs", n.Cond.Pos(), n.Cond.End(), "false")
		}
	case *ast.CaseClause:
		g.list(n.Body)
		g.clause(n)
	case *ast.BinaryExpr:
		g.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			g.add(truth, "negation dropped", n.Pos(), n.End(), g.text(n.X.Pos(), n.X.End()))
		}
	case *ast.BasicLit:
		if number, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil && !g.unmeasured[n] {
			g.add(value, "constant changed", n.Pos(), n.End(), strconv.FormatInt(number+1, 10))
		}
	case *ast.ReturnStmt:
		g.result(n)
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok {
			g.statement("call removed", n, "")
		}
	case *ast.AssignStmt:
		if name, ok := n.Lhs[0].(*ast.Ident); n.Tok != token.DEFINE && !(ok && name.Name == "_") {
			g.statement("assignment removed", n, discard(g, n))
		}
	case *ast.IncDecStmt:
		g.statement("step removed", n, "")
	case *ast.BranchStmt:
		if n.Label == nil && n.Tok == token.CONTINUE {
			g.statement("continue becomes break", n, "break")
		}
	case *ast.CallExpr:
		g.display(n)
		g.arguments(n)
	}
	return true
}

// condition changes a whole condition. The comparisons within it have mutants of their own.
func (g *generator) condition(c ast.Expr) {
	text := g.text(c.Pos(), c.End())
	g.add(truth, "condition is never true", c.Pos(), c.End(), "false && ("+text+")")
	g.add(truth, "condition is always true", c.Pos(), c.End(), "true || ("+text+")")
}

// clause makes a case of a switch without a tag never match.
func (g *generator) clause(c *ast.CaseClause) {
	for _, value := range c.List {
		switch value.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.CallExpr:
			g.add(truth, "condition is never true", value.Pos(), value.End(), "false && ("+g.text(value.Pos(), value.End())+")")
		}
	}
}

func (g *generator) binary(b *ast.BinaryExpr) {
	replace := func(operator token.Token) string {
		return g.text(b.X.Pos(), b.X.End()) + " " + operator.String() + " " + g.text(b.Y.Pos(), b.Y.End())
	}
	if g.unmeasured[b] {
		return
	}
	switch b.Op {
	case token.LAND, token.LOR:
		g.add(truth, "operand dropped", b.Pos(), b.End(), g.text(b.X.Pos(), b.X.End()))
		g.add(truth, "operand dropped", b.Pos(), b.End(), g.text(b.Y.Pos(), b.Y.End()))
	case token.ADD:
		if !isText(b.X) && !isText(b.Y) {
			g.add(lazy, "comparison changed", b.Pos(), b.End(), replace(token.SUB))
		}
	case token.SUB:
		g.add(lazy, "comparison changed", b.Pos(), b.End(), replace(token.ADD))
	default:
		for _, other := range comparisons[b.Op] {
			g.add(truth, "comparison changed", b.Pos(), b.End(), replace(other))
		}
	}
}

// isText reports whether an operand contains a string literal.
func isText(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		found = found || ok && lit.Kind == token.STRING
		return !found
	})
	return found
}

// result flips a returned truth value and drops a returned error. What is returned next to an
// error has no meaning.
func (g *generator) result(r *ast.ReturnStmt) {
	last := len(r.Results) - 1
	failed := false
	if last > 0 && g.returnsError {
		id, named := r.Results[last].(*ast.Ident)
		failed = !(named && id.Name == "nil")
	}
	for i, value := range r.Results {
		id, named := value.(*ast.Ident)
		switch {
		case failed && i < last:
			g.unmeasured[value] = true
		case named && id.Name == "true":
			g.add(truth, "result flipped", value.Pos(), value.End(), "false")
		case named && id.Name == "false":
			g.add(truth, "result flipped", value.Pos(), value.End(), "true")
		case i == last && g.returnsError && !(named && id.Name == "nil"):
			g.add(failure, "error dropped", value.Pos(), value.End(), "nil")
		}
	}
}

// discard returns a statement that uses the right side of an assignment without assigning it,
// so that the mutant still compiles.
func discard(g *generator, a *ast.AssignStmt) string {
	if a.Tok != token.ASSIGN || len(a.Rhs) != len(a.Lhs) {
		return ""
	}
	blanks := strings.TrimSuffix(strings.Repeat("_, ", len(a.Rhs)), ", ")
	return blanks + " = " + g.text(a.Rhs[0].Pos(), a.Rhs[len(a.Rhs)-1].End())
}

// ignore marks an expression and its parts: no rule depends on its value.
func (g *generator) ignore(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if part, ok := n.(ast.Expr); ok {
			g.unmeasured[part] = true
		}
		return true
	})
}

// display marks the numbers of a call on which no rule depends: how many characters of a text
// plaintext.Quote shows in a message, and the capacity that make reserves.
func (g *generator) display(c *ast.CallExpr) {
	switch name := g.text(c.Fun.Pos(), c.Fun.End()); {
	case name == "plaintext.Quote" && len(c.Args) == 2:
		g.unmeasured[c.Args[1]] = true
	case name == "make" && len(c.Args) == 3:
		g.ignore(c.Args[2])
	case name == "make" && len(c.Args) == 2:
		if _, ok := c.Args[0].(*ast.MapType); ok {
			g.ignore(c.Args[1])
		}
	}
}

// arguments swaps two adjacent arguments that are plain names or fields. If their types
// differ, the mutant does not compile.
func (g *generator) arguments(c *ast.CallExpr) {
	var plain func(e ast.Expr) bool
	plain = func(e ast.Expr) bool {
		if s, ok := e.(*ast.SelectorExpr); ok {
			return plain(s.X)
		}
		_, ok := e.(*ast.Ident)
		return ok
	}
	switch g.text(c.Fun.Pos(), c.Fun.End()) {
	case "min", "max", "bytes.Equal", "maps.Equal", "slices.Equal", "strings.EqualFold", "unicode.In":
		return // their order has no meaning
	}
	for i := 1; i < len(c.Args); i++ {
		a, b := c.Args[i-1], c.Args[i]
		if plain(a) && plain(b) && g.text(a.Pos(), a.End()) != g.text(b.Pos(), b.End()) {
			g.add(swap, "arguments swapped", a.Pos(), b.End(), g.text(b.Pos(), b.End())+", "+g.text(a.Pos(), a.End()))
		}
	}
}
