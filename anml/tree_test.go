package anml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/beevik/etree"
)

// TestTree tests where a tree keeps namespaces. A search would take quadratic time for an element
// with many attributes; these trees are such that a search finds something else.
func TestTree(t *testing.T) {
	t.Run("the namespace of an attribute is what the attribute before it declares", func(t *testing.T) {
		e := &etree.Element{Attr: []etree.Attr{
			{Space: "xmlns", Key: "n", Value: "urn:a"}, {Space: "n", Key: "x"}, {Space: "xmlns", Key: "n", Value: "urn:b"}, {Space: "n", Key: "x"},
		}}
		var got []string
		for a := range (node{t: &tree{}, e: e}).attrs() {
			got = append(got, a.name.String())
		}
		if fmt.Sprint(got) != "[{urn:a}x {urn:b}x]" {
			t.Error(got)
		}
	})
	t.Run("the default namespace is in the first attribute", func(t *testing.T) {
		e := &etree.Element{Attr: []etree.Attr{{Key: "x"}, {Key: "xmlns", Value: "urn:a"}}}
		if space := defaultSpace(e); space != "" {
			t.Error(space)
		}
	})
	t.Run("each attribute keeps its namespace in both serializations", func(t *testing.T) {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, ` xmlns:p%d="urn:%d" p%d:x="%d"`, i, i, i, i)
		}
		in(t, service(`<body xml:lang="de"`+b.String()+`><x xmlns="urn:x"/></body>`), func(t *testing.T, d *Document) {
			body := d.root().child(kBody)
			for i := range 60 {
				if a := body.foreign(Name{fmt.Sprintf("urn:%d", i), "x"}); a.value != fmt.Sprint(i) {
					t.Errorf("%s: %d is %+v", d.Format(), i, a)
				}
			}
			for c := range body.all() {
				if c.name() != (Name{"urn:x", "x"}) {
					t.Errorf("%s: the child is %s", d.Format(), c.name())
				}
			}
		})
	})
	t.Run("an attribute of another vocabulary is not the version", func(t *testing.T) {
		for _, text := range []string{`{"@{urn:x}version":"9","anml":"1.0"}`, `{"version":"1.0","@{urn:x}version":"9"}`} {
			d, err := ParseJSON([]byte(text), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if own, foreign := d.root().value("version"), d.root().foreign(Name{"urn:x", "version"}).value; own != Version || foreign != "9" {
				t.Errorf("%s: %q, %q", text, own, foreign)
			}
		}
	})
}
