package lookleap

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var codeForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestCodeTable(t *testing.T) {
	for code, title := range Codes() {
		if !codeForm.MatchString(string(code)) {
			t.Errorf("%q is not kebab-case", code)
		}
		if title == "" || strings.HasSuffix(title, ".") || strings.ContainsAny(title, "\n\t") {
			t.Errorf("%s: the title %q is not a bare sentence", code, title)
		}
	}
	last := Code("")
	for code, title := range Codes() {
		if code <= last || code.Title() != title || !code.Known() {
			t.Errorf("%s is out of order or unknown", code)
		}
		last = code
	}
	if Code("no-such-code").Known() || Code("no-such-code").Title() != "no-such-code" {
		t.Error("an unknown code is known")
	}
}

// TestCodesAreInTheTable finds every constant of the module that is named like
// a code and holds one, so that no package can answer with an unknown code.
func TestCodesAreInTheTable(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bench" || name == "examples" || name == "spec" || name == "lab") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasPrefix(name.Name, "Code") || i >= len(spec.Values) {
					continue
				}
				lit, ok := spec.Values[i].(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				value, _ := strconv.Unquote(lit.Value)
				found++
				if !Code(value).Known() {
					t.Errorf("%s: %s = %q is not in the shared table", path, name.Name, value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || found < 300 {
		t.Fatalf("%d constants found, %v", found, err)
	}
}

func TestCodeOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Code
	}{
		{nil, CodeOK},
		{errors.New("anything"), CodeInternal},
		{fmt.Errorf("asking: %w", &BogusError{Zone: "example"}), CodeDNSSECBogus},
		{fmt.Errorf("guard: %w", ErrDenied), CodeDenied},
		{&VerifyError{Verdict: &Verdict{Code: CodeMediaType}, Err: ErrDenied}, CodeMediaType},
		{&VerifyError{}, CodeInternal},
		{&Error{Code: CodePlanExpired, Err: ErrConsentRefused}, CodePlanExpired},
		{&PendingError{Request: &ConsentRequest{}}, CodeConsentPending},
		{ErrCacheForged, CodeCacheForged},
		{fs.ErrNotExist, CodeInternal},
		{context.Canceled, CodeCancelled},
	} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) = %s, want %s", c.err, got, c.want)
		}
	}
}
