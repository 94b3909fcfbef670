// Api prints the exported API of the module, one declaration a line: constants
// with their values, and struct fields, interface methods and methods on lines
// of their own. What a struct embeds is a line; the methods that it has from there
// are those of the other type. It reads the export data that the compiler writes.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	lines, err := api()
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(lines, "\n"))
}

// listed is what "go list -json" says about a package, as far as it is needed.
type listed struct {
	ImportPath string
	Name       string
	Export     string // file of the export data
	DepOnly    bool   // imported by a package of the module only
}

// public reports whether users of the module can import the package.
func (p *listed) public() bool {
	steps := strings.Split(p.ImportPath, "/")
	return !p.DepOnly && p.Name != "main" && !slices.Contains(steps, "internal") && !slices.Contains(steps, "examples")
}

// api returns the lines of all public packages, sorted within each package.
func api() ([]string, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,DepOnly", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := make(map[string]string) // by import path
	var public []string
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
		if p.public() {
			public = append(public, p.ImportPath)
		}
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	slices.Sort(public)
	var all []string
	for _, path := range public {
		pkg, err := imports.Import(path)
		if err != nil {
			return nil, err
		}
		all = append(all, declarations(pkg, strings.TrimPrefix(path, public[0]+"/"))...)
	}
	return all, nil
}

// declarations returns the lines of a package, each with the package's name.
func declarations(pkg *types.Package, name string) []string {
	if name == pkg.Path() {
		name = pkg.Name() // the root of the module
	}
	var lines []string
	add := func(format string, args ...any) {
		lines = append(lines, name+": "+fmt.Sprintf(format, args...))
	}
	other := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Const:
			add("const %s%s = %s", object.Name(), constantType(object, other), object.Val().ExactString())
		case *types.TypeName:
			addType(object, other, add)
		default:
			add("%s", types.ObjectString(object, other))
		}
	}
	slices.Sort(lines)
	return lines
}

// constantType returns the type of a typed constant, after a space.
func constantType(c *types.Const, other types.Qualifier) string {
	if basic, ok := c.Type().(*types.Basic); ok && basic.Info()&types.IsUntyped != 0 {
		return ""
	}
	return " " + types.TypeString(c.Type(), other)
}

// addType adds a type with its fields and methods.
func addType(object *types.TypeName, other types.Qualifier, add func(string, ...any)) {
	if object.IsAlias() {
		add("%s", types.ObjectString(object, other))
		return
	}
	named := object.Type().(*types.Named)
	head := "type " + types.TypeString(named, other)
	switch under := named.Underlying().(type) {
	case *types.Struct:
		addStruct(head+" struct", under, other, add)
	case *types.Interface:
		addInterface(head+" interface", under, other, add)
	default:
		add("%s %s", head, types.TypeString(under, other))
	}
	if types.IsInterface(named) {
		return
	}
	values := types.NewMethodSet(named)
	pointers := types.NewMethodSet(types.NewPointer(named))
	for m := range pointers.Methods() {
		if !m.Obj().Exported() || embedsExported(named, m) {
			continue
		}
		receiver := types.TypeString(named, other)
		if values.Lookup(m.Obj().Pkg(), m.Obj().Name()) == nil {
			receiver = "*" + receiver
		}
		add("method (%s) %s%s", receiver, m.Obj().Name(), signature(m.Type(), other))
	}
}

// embedsExported reports whether a method is that of an exported type which the type embeds.
func embedsExported(named *types.Named, method *types.Selection) bool {
	t, ok := named.Underlying().(*types.Struct)
	return ok && len(method.Index()) > 1 && t.Field(method.Index()[0]).Exported()
}

func addStruct(head string, t *types.Struct, other types.Qualifier, add func(string, ...any)) {
	add("%s", head)
	for i := range t.NumFields() {
		field := t.Field(i)
		switch {
		case !field.Exported():
		case field.Embedded():
			add("%s, embedded %s", head, types.TypeString(field.Type(), other))
		case t.Tag(i) != "":
			add("%s, %s %s `%s`", head, field.Name(), types.TypeString(field.Type(), other), t.Tag(i))
		default:
			add("%s, %s %s", head, field.Name(), types.TypeString(field.Type(), other))
		}
	}
}

func addInterface(head string, t *types.Interface, other types.Qualifier, add func(string, ...any)) {
	add("%s", head)
	if !t.IsMethodSet() {
		add("%s, %s", head, types.TypeString(t, other))
	}
	hidden := false
	for m := range t.Methods() {
		if !m.Exported() {
			hidden = true
			continue
		}
		add("%s, %s%s", head, m.Name(), signature(m.Type(), other))
	}
	if hidden {
		add("%s, unexported methods", head)
	}
}

func signature(t types.Type, other types.Qualifier) string {
	return strings.TrimPrefix(types.TypeString(t, other), "func")
}
