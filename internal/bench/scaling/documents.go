package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/anmltable"
)

// family makes inputs of one kind in any size.
type family struct {
	name string
	make func(n int) []byte // n is about the number of repeated pieces
}

// values are ways to fill attributes and texts: with the same for all, so that
// everything refers to everything, or with others for each.
var values = []struct {
	name string
	word func(i int) string
}{
	{"equal", func(int) string { return "a" }},
	{"distinct", func(i int) string { return fmt.Sprintf("a%d", i) }},
	{"prefixed", func(i int) string { return strings.Repeat("p", 40) + fmt.Sprint(i) }},
	{"suffixed", func(i int) string { return fmt.Sprint(i) + strings.Repeat("s", 40) }},
	{"odd", func(i int) string { return fmt.Sprintf("?&amp;: %d", i) }},
	{"foreign", func(i int) string { return fmt.Sprintf("bücher-ﷺ%d", i) }},
}

// generator writes documents from the element table of package anml.
type generator struct {
	table []anmltable.Element
	word  func(i int) string
	odd   bool // no attribute is what its type demands
	b     strings.Builder
}

func newGenerator(value int) *generator {
	return &generator{table: anmltable.Elements(), word: values[value].word, odd: values[value].name == "odd"}
}

// document wraps what a function writes into a root element.
func (g *generator) document(sections func()) []byte {
	g.b.Reset()
	g.b.WriteString(`<anml xmlns="` + anml.Namespace + `" version="1.0" role="service">`)
	sections()
	g.b.WriteString("</anml>")
	return []byte(g.b.String())
}

func (g *generator) attribute(a anmltable.Attribute, i int) string {
	word := g.word(i)
	switch a.Type {
	case anmltable.TypeText:
		return word
	case anmltable.TypeMethod:
		return "POST"
	}
	if g.odd {
		return word
	}
	switch a.Type {
	case anmltable.TypeBool:
		return "true"
	case anmltable.TypeNumber:
		return "1"
	case anmltable.TypeURI:
		return "https://a.example/" + strings.ReplaceAll(word, "ü", "u")
	case anmltable.TypeLang:
		return "en"
	case anmltable.TypeTime:
		return "2026-01-01T00:00:00Z"
	case anmltable.TypeMedia:
		return "text/plain"
	case anmltable.TypeDomain:
		return word + ".example"
	}
	return a.Words[i%len(a.Words)]
}

// open writes a start tag with every attribute.
func (g *generator) open(e, i int) {
	g.b.WriteString("<" + g.table[e].Name)
	for _, a := range g.table[e].Attributes {
		fmt.Fprintf(&g.b, ` %s="%s"`, a.Name, g.attribute(a, i))
	}
	g.b.WriteString(">")
}

func (g *generator) close(e int) { g.b.WriteString("</" + g.table[e].Name + ">") }

// least writes an element with attributes and text, and nothing inside.
func (g *generator) least(e, i int) {
	g.open(e, i)
	if g.table[e].Text {
		g.b.WriteString(g.word(i))
	}
	g.close(e)
}

// around writes the start tags that lead to an element, what a function writes
// there, and the end tags.
func (g *generator) around(path []int, inside func()) {
	if len(path) == 0 {
		inside()
		return
	}
	g.open(path[0], 0)
	g.around(path[1:], inside)
	g.close(path[0])
}

// most writes the children of an element and theirs: each that may repeat n times.
func (g *generator) most(e, n int, path []int) {
	for _, c := range g.table[e].Children {
		if slices.Contains(path, c.Element) || g.table[c.Element].Name == "site" {
			continue
		}
		g.open(c.Element, 0)
		g.most(c.Element, n, append(path, c.Element))
		g.close(c.Element)
		for i := 1; c.Many && i < n; i++ {
			g.least(c.Element, i)
		}
	}
}

// place is an element with the elements that lead to it, without the root.
type place struct {
	path    []int
	element int
}

// places lists each element of the table once, by the shortest way to it.
func places(table []anmltable.Element) (list []place) {
	seen := map[int]bool{anmltable.Root: true}
	todo := []place{{nil, anmltable.Root}}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		inside := at.path
		if at.element != anmltable.Root {
			list = append(list, at)
			inside = append(slices.Clone(at.path), at.element)
		}
		for _, c := range table[at.element].Children {
			if !seen[c.Element] {
				seen[c.Element] = true
				todo = append(todo, place{inside, c.Element})
			}
		}
	}
	return list
}

// refers reports whether an element has an attribute that is free text, as all
// have that name something or are named.
func refers(e anmltable.Element) bool {
	return slices.ContainsFunc(e.Attributes, func(a anmltable.Attribute) bool { return a.Type == anmltable.TypeText })
}

// documents lists families of documents in XML.
func documents() (list []family) {
	table := anmltable.Elements()
	all := places(table)
	name := func(p place) string {
		s := ""
		for _, e := range append(slices.Clone(p.path), p.element) {
			s += "/" + table[e].Name
		}
		return s
	}
	add := func(name string, value int, write func(g *generator, n int)) {
		list = append(list, family{name + "/" + values[value].name, func(n int) []byte {
			g := newGenerator(value)
			return g.document(func() { write(g, n) })
		}})
	}
	for v := range values {
		add("everything", v, func(g *generator, n int) { g.most(anmltable.Root, 1+n/20, nil) })
		for _, p := range all {
			add("wide"+name(p), v, func(g *generator, n int) {
				g.around(p.path, func() {
					for i := range n {
						g.least(p.element, i)
					}
				})
			})
			if v > 1 {
				continue
			}
			add("apart"+name(p), v, func(g *generator, n int) { // each in parents of its own
				for i := range n {
					g.around(p.path, func() { g.least(p.element, i) })
				}
			})
		}
	}
	for i, p := range all {
		for _, q := range all[:i] {
			if !refers(table[p.element]) || !refers(table[q.element]) {
				continue
			}
			for v := range 2 { // equal and distinct
				add("pair"+name(q)+name(p), v, func(g *generator, n int) {
					for _, at := range []place{q, p} {
						g.around(at.path, func() {
							for i := range n / 2 {
								g.least(at.element, i)
							}
						})
					}
				})
			}
		}
	}
	for _, p := range all {
		add("unknown-in"+name(p), 1, func(g *generator, n int) {
			g.around(p.path, func() {
				g.open(p.element, 0)
				for i := range n {
					fmt.Fprintf(&g.b, `<x%d xmlns="urn:x:%d" y%d="z"/>`, i, i%7, i)
				}
				g.most(p.element, 40, append(slices.Clone(p.path), p.element))
				g.close(p.element)
			})
		})
		for _, c := range table[p.element].Children {
			if c.Element == p.element {
				add("deep"+name(p), 1, func(g *generator, n int) {
					g.around(p.path, func() {
						for i := range n {
							g.open(p.element, i)
						}
						for range n {
							g.close(p.element)
						}
					})
				})
			}
		}
	}
	return list
}
