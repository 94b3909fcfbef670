// Package limitdoc tests that limits have the defaults that their documentation states.
package limitdoc

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// documented is the end of a field's comment: a number and its unit.
var documented = regexp.MustCompile(`(?:^|[; ])([0-9][0-9,]*)( ?(?:s|h|KiB|MiB))?(?:, at most)?$`)

// units are what a documented number is multiplied by.
var units = map[string]int64{"": 1, "s": int64(time.Second), "h": int64(time.Hour), "KiB": 1 << 10, "MiB": 1 << 20}

// Check reads the struct T in a file of the package under test. The comment of each field ends
// with its default. Check fails unless complete sets a field that is 0 or negative to that default,
// and keeps a field that is 1. Fields that complete does not set are listed in except.
func Check[T any](t *testing.T, file string, complete func(T) T, except ...string) {
	t.Helper()
	typ := reflect.TypeFor[T]()
	set := func(name string, value int64) int64 {
		limits := reflect.New(typ).Elem()
		limits.FieldByName(name).SetInt(value)
		return reflect.ValueOf(complete(limits.Interface().(T))).FieldByName(name).Int()
	}
	comments := fieldComments(t, file, typ.Name())
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		if slices.Contains(except, name) {
			continue
		}
		found := documented.FindStringSubmatch(comments[name])
		if found == nil {
			t.Errorf("%s: the comment %q does not end with a default", name, comments[name])
			continue
		}
		number, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := number * units[strings.TrimSpace(found[2])]
		for value, want := range map[int64]int64{0: want, -1: want, 1: 1} {
			if got := set(name, value); got != want {
				t.Errorf("%s: %d becomes %d, want %d", name, value, got, want)
			}
		}
	}
}

// fieldComments returns the comment at the end of the line of each field of a struct.
func fieldComments(t *testing.T, file, typ string) map[string]string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := make(map[string]string)
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != typ {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			for _, name := range field.Names {
				comments[name.Name] = strings.TrimSpace(field.Comment.Text())
			}
		}
		return false
	})
	return comments
}
