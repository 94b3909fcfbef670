// Package zerotest calls everything that a package exports with nothing in hand: methods of
// zero values and of nil pointers, and functions with zero arguments. What comes back is an
// error that says what is missing, or a result, and never a panic.
package zerotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// Run tests the package in the current directory. The types are all that it exports but
// interfaces, and the functions, by name, all that it exports: a test fails if one is missing.
func Run(t *testing.T, types []reflect.Type, functions map[string]any) {
	t.Run("O27/accept-complete", func(t *testing.T) { complete(t, types, functions) })
	for _, typ := range types {
		t.Run("O27/accept-zero-"+typ.Name(), func(t *testing.T) {
			methods(t, reflect.New(typ), func(string) bool { return true })
		})
		// As everywhere in Go, a method of the value itself needs one, and so do methods of an
		// embedded value and what decodes into it.
		t.Run("O27/accept-nil-"+typ.Name(), func(t *testing.T) {
			methods(t, reflect.Zero(reflect.PointerTo(typ)), func(name string) bool {
				_, ofValue := typ.MethodByName(name)
				return !ofValue && !strings.HasPrefix(name, "Unmarshal") && !promoted(typ, name)
			})
		})
	}
	for name, f := range functions {
		t.Run("O27/accept-"+name, func(t *testing.T) { call(t, name, reflect.ValueOf(f)) })
	}
}

// complete compares the tables with the source.
func complete(t *testing.T, types []reflect.Type, functions map[string]any) {
	known := make(map[string]bool)
	for _, typ := range types {
		known[typ.Name()] = true
	}
	for name := range functions {
		known[name] = true
	}
	for _, file := range Source(t) {
		for _, name := range exported(file) {
			if !known[name] {
				t.Errorf("%s is exported and not in the table", name)
			}
		}
	}
}

// Source parses the Go files of the package that is tested, but for its tests.
func Source(t testing.TB) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// exported lists the exported types, but for interfaces and aliases, and functions of a file.
func exported(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && !s.Assign.IsValid() {
					if _, isInterface := s.Type.(*ast.InterfaceType); !isInterface {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !token.IsExported(name) })
}

func methods(t *testing.T, v reflect.Value, want func(string) bool) {
	for i := range v.NumMethod() {
		if name := v.Type().Method(i).Name; want(name) {
			call(t, v.Type().String()+"."+name, v.Method(i))
		}
	}
}

// call calls a function with zero arguments, and what it returns if that is an iterator.
func call(t *testing.T, name string, f reflect.Value) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s panics: %v", name, p)
		}
	}()
	var in []reflect.Value
	for i := range f.Type().NumIn() {
		in = append(in, argument(f.Type().In(i)))
	}
	do := f.Call
	if f.Type().IsVariadic() {
		do = f.CallSlice
	}
	results := do(in)
	if n := len(results); n > 1 && f.Type().Out(n-1) == reflect.TypeFor[error]() && f.Type().Out(0).Kind() == reflect.Pointer &&
		results[0].IsNil() && results[n-1].IsNil() {
		t.Errorf("%s returns neither a result nor an error", name)
	}
	for _, out := range results {
		if err, ok := out.Interface().(error); ok && !strings.HasSuffix(name, ".Unwrap") {
			if lookleap.CodeOf(err) == lookleap.CodeInternal && !standard(err) {
				t.Errorf("%s: %v has no code of its own", name, err)
			}
		}
		iterate(out)
	}
}

// promoted reports whether a method of a pointer is one of an embedded field, which the type
// has not replaced by its own.
func promoted(typ reflect.Type, name string) bool {
	if typ.Kind() != reflect.Struct {
		return false
	}
	own, _ := reflect.PointerTo(typ).MethodByName(name)
	for i := range typ.NumField() {
		if f := typ.Field(i); f.Anonymous {
			embedded, ok := reflect.PointerTo(f.Type).MethodByName(name)
			if ok && own.Type.NumIn() == embedded.Type.NumIn() && own.Type.NumOut() == embedded.Type.NumOut() {
				return true
			}
		}
	}
	return false
}

// standard reports whether an error is one that the standard library's contracts ask for.
func standard(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrNotExist) || errors.As(err, &syntax)
}

// iterate takes at most a few elements of an iterator.
func iterate(v reflect.Value) {
	typ := v.Type()
	if typ.Kind() != reflect.Func || typ.NumIn() != 1 || typ.NumOut() != 0 || typ.In(0).Kind() != reflect.Func || v.IsNil() {
		return
	}
	taken := 0
	v.Call([]reflect.Value{reflect.MakeFunc(typ.In(0), func([]reflect.Value) []reflect.Value {
		taken++
		return []reflect.Value{reflect.ValueOf(taken < 3)}
	})})
}

// argument is the zero value of a parameter, but for what no caller leaves out.
func argument(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[http.ResponseWriter]():
		return reflect.ValueOf(httptest.NewRecorder())
	case reflect.TypeFor[*http.Request]():
		return reflect.ValueOf(httptest.NewRequest(http.MethodGet, "https://example.com/", nil))
	case reflect.TypeFor[fmt.State]():
		return reflect.ValueOf(printing{io.Discard})
	case reflect.TypeFor[io.Writer]():
		return reflect.ValueOf(io.Discard)
	case reflect.TypeFor[io.Reader]():
		return reflect.ValueOf(strings.NewReader(""))
	}
	return reflect.Zero(t)
}

// printing is a fmt.State without flags, width and precision.
type printing struct{ io.Writer }

func (printing) Width() (int, bool)     { return 0, false }
func (printing) Precision() (int, bool) { return 0, false }
func (printing) Flag(int) bool          { return false }
