package main

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/anml"
)

// roomy are limits that no family reaches, so that what is behind them is measured
// too.
var roomy = anml.Limits{Bytes: 64 << 20, Depth: 4000, Actions: 1 << 20, Asks: 1 << 20, Elements: 1 << 24, Attrs: 60_000,
	Value: 64 << 20, Steps: 1 << 20, Sites: 1 << 20, SiteRefs: 1 << 20}

// read reads a document of either serialization, or returns nil.
func read(data []byte, limits anml.Limits) *anml.Document {
	parse := anml.ParseXML
	if bytes.HasPrefix(data, []byte("{")) {
		parse = anml.ParseJSON
	}
	d, err := parse(data, anml.ReadOptions{Limits: limits, Role: anml.RoleService})
	if err != nil {
		return nil
	}
	return d
}

// inJSON makes the JSON image of families in XML.
func inJSON(list []family) (out []family) {
	for _, f := range list {
		out = append(out, family{"json/" + f.name, func(n int) []byte {
			d := read(f.make(n), roomy)
			if d == nil {
				return []byte("{}")
			}
			data, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
			if err != nil {
				return []byte("{}")
			}
			return data
		}})
	}
	return out
}

// jsonDocuments are families that XML has no image of.
func jsonDocuments() []family {
	object := func(members string) string { return `{"anml":"1.0","role":"service"` + members + `}` }
	return append([]family{
		repeated("json/unknown-keys", object(`,"knowledge":{`+"\x00"+`}`), `"unknown%d":1`, ","),
		repeated("json/foreign-attributes", object(`,"knowledge":{`+"\x00"+`}`), `"@{urn:x}y%d":1`, ","),
		repeated("json/foreign-elements", object(`,"knowledge":{`+"\x00"+`}`), `"{urn:x}y%d":[{}]`, ","),
		repeated("json/order", object(`,"body":{"content":"text","section":[{}],"$order":[`+"\x00"+`]}`), `"section"`, ","),
		repeated("json/orders", object(`,"body":{"section":[`+"\x00"+`]}`), `{"content":"abc","link":[{"href":"/"},{"href":"/"}],"$order":[1,"link",1,"link",1]}`, ","),
		repeated("json/escapes", object(`,"body":{"content":"`+"\x00"+`"}`), `\u00e9\n`, ""),
		repeated("json/nulls", object(`,"knowledge":{"inform":[`+"\x00"+`]}`), `{"content":null,"ttl":null}`, ","),
		repeated("json/arrays", object(`,"x":`+"\x00"+``), `[`, ""),
		repeated("json/numbers", object(`,"knowledge":{"inform":[`+"\x00"+`]}`), `{"ttl":1e%d}`, ","),
		repeated("json/duplicates", object(`,"x":{`+"\x00"+`,"k1":1}`), `"k%d":1`, ","),
		repeated("json/prefixes", object(`,"x":{`+"\x00"+`}`), `"`+strings.Repeat("p", 60)+`%d":1`, ","),
	}, inJSON(documents())...)
}

// xmlDocuments are families of what documents in XML have besides elements of the
// table.
func xmlDocuments() []family {
	around := func(inner string) string {
		return `<anml xmlns="` + anml.Namespace + `" role="service">` + inner + `</anml>`
	}
	return append([]family{
		repeated("xml/attributes", around("<body "+"\x00"+"/>"), `a%d="x"`, " "),
		repeated("xml/namespaces", around("<body "+"\x00"+"/>"), `xmlns:n%d="urn:%d"`, " "),
		repeated("xml/prefixes", around("<body "+"\x00"+"/>"), `xmlns:n%d="urn:%d" n%d:x="y"`, " "),
		repeated("xml/nested-namespaces", around("\x00"), `<n%d:x xmlns:n%d="urn:%d">`, ""),
		repeated("xml/comments", around("<body>"+"\x00"+"</body>"), `a<!-- %d -->b`, ""),
		repeated("xml/comment-ends", around("<body><!-- "+"\x00"+"</body>"), `- `, ""),
		repeated("xml/cdata", around("<body>"+"\x00"+"</body>"), `a<![CDATA[x]]>`, ""),
		repeated("xml/brackets", around("<body>"+"\x00"+"</body>"), `]]`, " "),
		repeated("xml/references", around("<body>"+"\x00"+"</body>"), `&amp;&#%d;`, "x"),
		repeated("xml/instructions", around("<body>"+"\x00"+"</body>"), `<?x y%d?>`, "a"),
		repeated("xml/doctype", "<!DOCTYPE a ["+"\x00"+"]>"+around(""), `<!ENTITY e%d "&f;">`, ""),
		repeated("xml/spaces", around("\x00"), ` `, "\r\n"),
		repeated("xml/open", "\x00", `<a`, ""),
		repeated("xml/quotes", around(`<body a="`+"\x00"), `'x`, ""),
		repeated("xml/patterns", around(`<interact><action id="a" method="POST" endpoint="/a">`+"\x00"+`</action></interact>`),
			`<param name="p%d" pattern="((a{10}){10}){9}%d" default="%d"/>`, ""),
	}, documents()...)
}

// repeated makes a family of one text, in which a piece stands n times in the place
// of the NUL, with its number in the places of %d.
func repeated(name, text, piece, between string) family {
	return family{name, func(n int) []byte {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(strings.ReplaceAll(piece, "%d", fmt.Sprint(i)))
		}
		return []byte(strings.Replace(text, "\x00", b.String(), 1))
	}}
}

// on makes a target of something that is done with a document that was read before.
// Nothing that the document works out once is kept from one run to the next.
func on(name string, families []family, covers []string, do func(*anml.Document)) target {
	return target{name: name, families: families, covers: covers, prepare: func(input []byte) func() {
		d := read(input, roomy)
		return func() {
			if d != nil {
				do(d)
			}
		}
	}}
}

func anmlTargets() []target {
	xml, json := xmlDocuments(), jsonDocuments()
	table := documents()
	parse := func(name string, families []family, limits anml.Limits, covers ...string) target {
		return target{name: name, families: families, covers: covers, prepare: func(input []byte) func() {
			return func() { read(input, limits) }
		}}
	}
	return []target{
		parse("anml.ParseXML", xml, roomy, "anml.ParseXML"),
		parse("anml.ParseXML/default", xml, anml.Limits{}, "anml.ParseXML"),
		parse("anml.ParseJSON", json, roomy, "anml.ParseJSON"),
		parse("anml.ParseJSON/default", json, anml.Limits{}, "anml.ParseJSON"),
		on("anml.MarshalJSON", xml, []string{"anml.MarshalJSON", "anml.Marshal"}, func(d *anml.Document) {
			_, _ = anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true, Canonical: true})
		}),
		on("anml.MarshalXML", json, []string{"anml.MarshalXML"}, func(d *anml.Document) {
			_, _ = anml.MarshalXML(d, anml.WriteOptions{Verbatim: true, Canonical: true, Indent: " "})
			d.JSONOnly()
		}),
		on("anml.Text", table, []string{"anml.Document.Text"}, func(d *anml.Document) { d.Text(anml.TextOptions{}) }),
		on("anml.Text/long", table, nil, func(d *anml.Document) { d.Text(anml.TextOptions{Bytes: 64 << 20}) }),
		on("anml.Tools", xml, []string{"anml.Document.Tool"}, func(d *anml.Document) {
			for _, dialect := range []anml.Dialect{anml.JSONSchema, anml.StrictSchema} {
				for range d.Tools(dialect) {
				}
			}
			_, _ = d.Tool("none")
		}),
		on("anml.Findings", xml, nil, func(d *anml.Document) { d.Findings(); _, _ = anml.MarshalXML(d, anml.WriteOptions{}) }),
		on("anml.Lint", table, []string{"anml.Lint"}, func(d *anml.Document) { anml.Lint(d) }),
		on("anml.Equal", table, []string{"anml.Equal"}, func(d *anml.Document) { anml.Equal(d, d) }),
		walking(table),
	}
}

// walking visits everything that is reachable from a document by the methods of
// its types that have no parameters, each once. The path of an element is as long as
// the element is deep, so documents that are only deep are left out.
func walking(families []family) target {
	families = slices.DeleteFunc(slices.Clone(families), func(f family) bool { return strings.HasPrefix(f.name, "deep/") })
	t := on("anml (every method)", families, nil, func(d *anml.Document) { walk(d, nil) })
	t.slow = true // reflection costs more than what it calls
	return t
}

// walk calls the methods and reports their names.
func walk(d *anml.Document, report func(name string)) {
	seen := map[any]bool{}
	home := reflect.TypeFor[anml.Document]().PkgPath()
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		if !v.IsValid() || v.Type().PkgPath() != home && v.Type() != reflect.TypeFor[*anml.Document]() {
			return
		}
		if !v.Comparable() || seen[v.Interface()] {
			return
		}
		seen[v.Interface()] = true
		for i := range v.NumMethod() {
			m := v.Method(i)
			if m.Type().NumIn() > 0 {
				continue
			}
			if report != nil {
				t := v.Type()
				for t.Kind() == reflect.Pointer {
					t = t.Elem()
				}
				report("anml." + t.Name() + "." + v.Type().Method(i).Name)
			}
			for _, out := range m.Call(nil) {
				if out.Kind() == reflect.Func && out.Type().CanSeq() {
					for item := range out.Seq() {
						visit(item)
					}
				} else {
					visit(out)
				}
			}
		}
	}
	visit(reflect.ValueOf(d))
}
