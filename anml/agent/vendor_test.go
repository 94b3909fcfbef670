package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/anml"
)

var vendorNames = map[Vendor]*regexp.Regexp{
	AnyVendor: regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`),
	OpenAI:    regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`),
	Anthropic: regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`),
	Gemini:    regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`),
}

// TestNameFor shows that each vendor accepts the name of every tool, and that no two tools
// share one.
func TestNameFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[0-9a-zA-Z_.-]{1,80}|t_x[0-9]+|é+`), 1, 20, rapid.ID[string]).Draw(t, "ids")
		for v, valid := range vendorNames {
			seen := map[string]string{}
			for _, id := range ids {
				name := Tool{Name: anml.ToolName("", id)}.NameFor(v)
				if !valid.MatchString(name) {
					t.Fatalf("%s does not accept %q of %q", v, name, id)
				}
				if other, ok := seen[name]; ok {
					t.Fatalf("%s: %q and %q are both %q", v, id, other, name)
				}
				seen[name] = id
			}
		}
	})
}

func definitionsOf(t *testing.T, params string) Tool {
	doc := `<head><title>Shop</title></head><interact><action id="2search" method="GET" endpoint="/search">` + params + `</action></interact>`
	s := newStage(t, setting{doc: doc})
	return s.page.Tools()[0]
}

func TestDefinition(t *testing.T) {
	tool := definitionsOf(t, `<param name="q" required="true" pattern="[a-z]+" min="2"/><param name="class" type="enum"><option value="a"/><option value="b"/></param><param name="on" type="date"/>`)
	if d := tool.Definition(AnyVendor); d.Strict || d.Name != "t_x2search" || d.Parameters["$schema"] == nil {
		t.Errorf("%+v", d)
	}
	if d := tool.Definition(OpenAI); !d.Strict || d.Name != "2search" || fmt.Sprint(d.Parameters["required"]) != "[q class on]" ||
		fmt.Sprint(members(d.Parameters)["class"].(map[string]any)["type"]) != "[string null]" || d.Parameters["additionalProperties"] != false {
		t.Errorf("%+v", d)
	}
	for _, v := range []Vendor{Anthropic, Gemini} {
		d := tool.Definition(v)
		class := members(d.Parameters)["class"].(map[string]any)
		if d.Strict != (v == Anthropic) || fmt.Sprint(d.Parameters["required"]) != "[q]" || class["type"] != "string" || fmt.Sprint(class["enum"]) != "[a b]" ||
			(d.Parameters["additionalProperties"] == false) != (v == Anthropic) || d.Parameters["$schema"] != nil {
			t.Errorf("%s: %+v", v, d)
		}
	}
	none := definitionsOf(t, "")
	if d := none.Definition(Gemini); d.Parameters != nil {
		t.Errorf("%+v", d)
	}
	if d := none.Definition(Anthropic); !d.Strict || d.Parameters == nil {
		t.Errorf("%+v", d)
	}
	var many strings.Builder
	for i := range 120 {
		fmt.Fprintf(&many, `<param name="p%d"/>`, i)
	}
	large := definitionsOf(t, many.String())
	for _, v := range []Vendor{OpenAI, Anthropic} {
		if d := large.Definition(v); d.Strict || len(members(d.Parameters)) != 120 {
			t.Errorf("%s: strict: %v", v, d.Strict)
		}
	}
	// A caller may change what it gets.
	delete(members(tool.Schema()), "q")
	if members(tool.Schema())["q"] == nil || members(tool.Definition(OpenAI).Parameters)["q"] == nil {
		t.Error("the schema is shared")
	}
	// An answer by a strict schema has null where the model leaves something out.
	if _, err := tool.Call(t.Context(), []byte(`{"q":"tea","class":null,"on":null}`)); err != nil {
		t.Error(err)
	}
	if !slices.Equal([]string{AnyVendor.String(), Gemini.String(), Vendor(9).String()}, []string{"any vendor", "Gemini", "Gemini"}) {
		t.Error("names of vendors")
	}
}
