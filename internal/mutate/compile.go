package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A program is a package that is mutated: its files and what it needs to check their types.
type program struct {
	dir      string // absolute
	path     string // the import path
	files    []string
	source   map[string][]byte // by absolute path
	importer types.Importer    // of the dependencies
}

// loadProgram asks the go command for a package. The dependencies are compiled if necessary.
func loadProgram(ctx context.Context, root, dir string) (*program, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export", "os", "strconv", "sync", "./"+dir) // the selector imports the first three
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w: %s", dir, err, stderr.String())
	}
	p := &program{source: make(map[string][]byte)}
	exported := make(map[string]string) // export data by import path
	for dec := json.NewDecoder(strings.NewReader(string(output))); ; {
		var pkg struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exported[pkg.ImportPath] = pkg.Export
		p.dir, p.path, p.files = pkg.Dir, pkg.ImportPath, pkg.GoFiles // the last one is the package itself
	}
	for i, name := range p.files {
		p.files[i] = filepath.Join(p.dir, name)
		if p.source[p.files[i]], err = os.ReadFile(p.files[i]); err != nil {
			return nil, err
		}
	}
	p.importer = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exported[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exported[path])
	})
	return p, nil
}

// checked is a package whose types were checked, with what was found wrong.
type checked struct {
	set    *token.FileSet
	files  map[string]*ast.File
	pkg    *types.Package
	info   *types.Info
	errors []types.Error
}

// check checks the package's types with some files replaced or added.
func (p *program) check(replaced map[string]string) (*checked, error) {
	c := &checked{set: token.NewFileSet(), files: make(map[string]*ast.File),
		info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}}
	names := p.files
	if _, ok := replaced[filepath.Join(p.dir, selector)]; ok {
		names = append(names[:len(names):len(names)], filepath.Join(p.dir, selector))
	}
	var files []*ast.File
	for _, name := range names {
		text, ok := replaced[name]
		if !ok {
			text = string(p.source[name])
		}
		f, err := parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		c.files[name] = f
	}
	config := types.Config{
		Importer: p.importer,
		Error: func(err error) {
			var found types.Error
			if errors.As(err, &found) && !found.Soft || strings.Contains(err.Error(), "declared and not used") ||
				strings.Contains(err.Error(), "imported and not used") {
				c.errors = append(c.errors, found)
			}
		},
	}
	c.pkg, _ = config.Check(p.path, c.set, files, c.info) // the errors are in c
	return c, nil
}

// builds reports whether one mutant compiles.
func (p *program) builds(m *Mutant, path string) bool {
	c, err := p.check(map[string]string{path: string(m.Apply(p.source[path]))})
	return err == nil && len(c.errors) == 0
}

// An overlay is the text of a package that contains many mutants, and those that it contains.
type overlay struct {
	files   map[string]string
	mutants []numbered
}

// weave puts as many mutants as possible into one overlay. It returns those that need another
// one, and those that can only be compiled alone.
func (p *program) weave(mutants []numbered, pathOf func(*Mutant) string) (woven *overlay, later, alone []numbered, err error) {
	plain, err := p.check(nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(plain.errors) > 0 {
		return nil, nil, nil, plain.errors[0]
	}
	byFile := make(map[string][]numbered)
	for _, m := range mutants {
		path := pathOf(m.Mutant)
		if m.form == value || m.form == lazy {
			m.typ = typeOf(plain.set, plain.files[path], plain.pkg, plain.info)(m.start, m.end)
			if m.typ == "" {
				alone = append(alone, m)
				continue
			}
		}
		byFile[path] = append(byFile[path], m)
	}
	for path := range byFile {
		var rest []numbered
		byFile[path], rest = nest(byFile[path])
		later = append(later, rest...)
	}
	for range 20 {
		woven = &overlay{files: map[string]string{filepath.Join(p.dir, selector): "package " + plain.pkg.Name() + selectorSource}}
		places := make(map[string][]numbered)
		for path, tree := range byFile {
			var text strings.Builder
			source := p.source[path]
			instrument(&text, source, 0, len(source), tree, func(m numbered) { places[path] = append(places[path], m) })
			woven.files[path] = text.String()
			woven.mutants = append(woven.mutants, places[path]...)
		}
		now, err := p.check(woven.files)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(now.errors) == 0 {
			return woven, later, alone, nil
		}
		refused := make(map[int]bool)
		for _, e := range now.errors {
			at := now.set.Position(e.Pos)
			for id := range blamed(at, places[at.Filename], now.files[at.Filename], now.set) {
				refused[id] = true
			}
		}
		if len(refused) == 0 {
			return nil, nil, nil, fmt.Errorf("the mutated package does not compile: %w", now.errors[0])
		}
		for _, m := range woven.mutants {
			if refused[m.id] {
				m.inner = nil
				alone = append(alone, m)
			}
		}
		for path := range byFile {
			byFile[path] = without(byFile[path], refused)
		}
	}
	return nil, nil, nil, errors.New("the mutated package does not compile after 20 attempts")
}

// blamed returns the mutants that an error is due to: the innermost around it, or, for an
// error elsewhere such as a missing return, all of the function.
func blamed(at token.Position, places []numbered, file *ast.File, set *token.FileSet) map[int]bool {
	best, found := numbered{}, false
	for _, m := range places {
		if m.from <= at.Offset && at.Offset < m.to && (!found || m.to-m.from < best.to-best.from) {
			best, found = m, true
		}
	}
	if found {
		return map[int]bool{best.id: true}
	}
	all := make(map[int]bool)
	for _, decl := range file.Decls {
		from, to := set.Position(decl.Pos()).Offset, set.Position(decl.End()).Offset
		if at.Offset < from || at.Offset > to {
			continue
		}
		for _, m := range places {
			if from <= m.from && m.to <= to {
				all[m.id] = true
			}
		}
	}
	return all
}

// without removes mutants from a tree; what lies within them stays.
func without(tree []numbered, refused map[int]bool) []numbered {
	var kept []numbered
	for _, m := range tree {
		m.inner = without(m.inner, refused)
		if refused[m.id] {
			kept = append(kept, m.inner...)
		} else {
			kept = append(kept, m)
		}
	}
	return kept
}

// write stores the overlay below a directory and returns the file for the go command.
func (o *overlay) write(dir string) (string, error) {
	replace := make(map[string]string)
	for path, text := range o.files {
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}
