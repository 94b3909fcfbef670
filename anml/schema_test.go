package anml

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lookleap/lookleap/internal/anmltable"
)

// TestElementTable: programs that generate documents learn which elements hold text, and which attributes
// and children each has.
func TestElementTable(t *testing.T) {
	text := make(map[string]bool)
	for _, e := range anmltable.Elements() {
		text[e.Name] = e.Text
	}
	for name, want := range map[string]bool{"body": true, "footer": true, "title": true, "inform": true, "link": false, "data": false, "anml": false} {
		if got, ok := text[name]; got != want || !ok {
			t.Errorf("%s: %t", name, got)
		}
	}
	all := anmltable.Elements()
	for i, e := range all {
		var attributes, children []string
		for _, a := range e.Attributes {
			attributes = append(attributes, fmt.Sprint(a.Name, a.Type, a.Words))
		}
		for _, c := range e.Children {
			children = append(children, fmt.Sprint(all[c.Element].Name, c.Many))
		}
		if spec := schema[kAnml+kind(i)]; len(attributes) != len(spec.attrs) || len(children) != len(spec.children) {
			t.Errorf("%s: %q, %q", e.Name, attributes, children)
		}
		switch e.Name {
		case "status":
			if want := fmt.Sprint("result", anmltable.TypeWord, resultWords); !slices.Contains(attributes, want) {
				t.Errorf("no %s in %q", want, attributes)
			}
		case "flow":
			if !slices.Equal(children, []string{"steptrue"}) {
				t.Errorf("%q", children)
			}
		case "head":
			if !slices.Equal(children, []string{"titlefalse", "metatrue", "trustfalse", "site-reftrue"}) {
				t.Errorf("%q", children)
			}
		}
	}
}
