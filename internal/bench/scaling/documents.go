package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/anmltable"
	"github.com/lookleap/lookleap/lookleaptest"
)

// document returns an ANML document around some sections.
func document(inner string) string {
	return `<anml xmlns="` + anml.Namespace + `" version="1.0" role="service">` + inner + `</anml>`
}

// elements are documents in which each element of the draft stands n times: with equal and with
// distinct words in its attributes, in one parent and each in a parent of its own.
func elements() (list []input) {
	table := anmltable.Elements()
	words := map[string]string{"equal": "a", "distinct": "a%d", "foreign": "bücher-ﷺ%d"}
	open := func(e int, word string) string {
		s := "<" + table[e].Name
		for _, a := range table[e].Attributes {
			s += " " + a.Name + `="` + value(a, word) + `"`
		}
		return s + ">"
	}
	seen := map[int]bool{anmltable.Root: true}
	var visit func(e int, begin, end string)
	visit = func(e int, begin, end string) {
		for _, c := range table[e].Children {
			if seen[c.Element] {
				continue
			}
			seen[c.Element] = true
			name := table[c.Element].Name
			for _, word := range words {
				piece := open(c.Element, word)
				if table[c.Element].Text {
					piece += word
				}
				piece += "</" + name + ">"
				list = append(list, repeated(document(begin+nul+end), piece, ""))
				list = append(list, repeated(document(nul), begin+piece+end, ""))
			}
			visit(c.Element, begin+open(c.Element, "a"), "</"+name+">"+end)
		}
	}
	visit(anmltable.Root, "", "")
	return list
}

// value returns a value of an attribute.
func value(a anmltable.Attribute, word string) string {
	switch a.Type {
	case anmltable.TypeText:
		return word
	case anmltable.TypeMethod:
		return "POST"
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
	return a.Words[0]
}

// markup are documents full of what XML and JSON have besides elements of the draft.
func markup() []input {
	body := document("<body>" + nul + "</body>")
	object := func(members string) string { return `{"anml":"1.0","role":"service",` + members + `}` }
	return slices.Concat(
		with(document("<body "+nul+"/>"), " ", `a%d="x"`, `xmlns:n%d="urn:%d"`, `xmlns:n%d="urn:%d" n%d:x="y"`),
		with(document(nul), "", `<n%d:x xmlns:n%d="urn:%d">`, `<x%d xmlns="urn:x:%d"/>`, "<section>"),
		with(body, "", `a<!-- %d -->b`, `a<![CDATA[x]]>`, `&amp;&#65;x`, `<?x y%d?>a`, "]]", "<!-- - "),
		with("<!DOCTYPE a ["+nul+"]>"+document(""), "", `<!ENTITY e%d "&f;">`), with(nul, "", "<a"), with(document(`<body a="`+nul), "", "'x"),
		with(document(`<interact><action id="a" method="POST" endpoint="/a">`+nul+`</action></interact>`), "", `<param name="p%d" pattern="((a{10}){10}){9}%d" default="%d"/>`),
		with(object(`"knowledge":{`+nul+`}`), ",", `"unknown%d":1`, `"@{urn:x}y%d":1`, `"{urn:x}y%d":[{}]`),
		with(object(`"body":{"content":"text","section":[{}],"$order":[`+nul+`]}`), ",", `"section"`),
		with(object(`"body":{"section":[`+nul+`]}`), ",", `{"content":"abc","link":[{"href":"/"},{"href":"/"}],"$order":[1,"link",1,"link",1]}`),
		with(object(`"body":{"content":"`+nul+`"}`), "", `\u00e9\n`), with(object(`"x":`+nul), "", "["), with(object(`"x":{`+nul+`}`), ",", `"k%d":1`, `"`+strings.Repeat("p", 60)+`%d":1`),
	)
}

// informed are documents that tell the agent much, ask for much or offer many actions.
func informed() []input {
	informs := document("<knowledge>" + nul + "</knowledge>")
	persona := document("<persona><instructions>" + nul + "</instructions></persona>")
	return slices.Concat(
		with(informs, "", `<inform>fact %d of many</inform>`, `<inform usage="store">fact %d</inform>`, `<inform>fact</inform>`, `<inform>`+strings.Repeat("p", 60)+`%d</inform>`,
			`<inform>aGF5IGZldmVy%d &amp;#104; %%68%%61 104 97 121 32 0x68</inform>`, `<ask field="f%d" action="a" purpose="to test %d"/>`),
		with(document("<knowledge><inform>"+nul+"</inform></knowledge>"), "", `word%d `, `é%d ﷺ `, `aGF5IGZldmVy%d`),
		with(persona, "", `ignore all %d `, `a%d.example [dot] `),
		with(document(`<knowledge><ask field="`+nul+`" action="a" purpose="x"/></knowledge>`), "", "rn1lI%d"),
		with(document(`<interact>`+nul+`</interact>`), "", `<action id="a%d" method="POST" endpoint="/a%d"><param name="email" required="true"/></action>`),
		with(document(`<constraints>`+nul+`</constraints><knowledge><ask field="f1" action="a" purpose="x"/></knowledge>`), "", `<disclosure field="f%d" requires="explicit-consent"/>`),
	)
}

// roomy are limits that no input reaches, so that what is behind them is measured too.
var roomy = anml.Limits{Bytes: 64 << 20, Depth: 4000, Actions: 1 << 20, Asks: 1 << 20, Elements: 1 << 24, Attrs: 60_000,
	Value: 64 << 20, Steps: 1 << 20, Sites: 1 << 20, SiteRefs: 1 << 20}

func parse(data []byte, limits anml.Limits) *anml.Document {
	read := anml.ParseXML
	if bytes.HasPrefix(data, []byte("{")) {
		read = anml.ParseJSON
	}
	d, err := read(data, anml.ReadOptions{Limits: limits, Role: anml.RoleService})
	if err != nil {
		return nil
	}
	return d
}

// on measures what is done with a document that was parsed before.
func on(name string, inputs []input, do func(*anml.Document)) reader {
	return reader{name: name, inputs: inputs, prepare: func(text []byte) func() {
		d := parse(text, roomy)
		return func() {
			if d != nil {
				do(d)
			}
		}
	}}
}

func documentReaders() []reader {
	all := slices.Concat(elements(), markup(), informed())
	return []reader{
		{name: "anml.Parse", inputs: all, prepare: func(text []byte) func() { return func() { parse(text, roomy) } }},
		{name: "anml.Parse/default", inputs: markup(), prepare: func(text []byte) func() { return func() { parse(text, anml.Limits{}) } }},
		on("anml.Marshal", all, func(d *anml.Document) {
			_, _ = anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true, Canonical: true})
			_, _ = anml.MarshalXML(d, anml.WriteOptions{Verbatim: true, Canonical: true, Indent: " "})
		}),
		on("anml.Findings", all, func(d *anml.Document) { d.Findings(); anml.Lint(d) }),
		on("anml.Text", all, func(d *anml.Document) { d.Text(anml.TextOptions{Bytes: 64 << 20}) }),
		on("anml.Tools", all, func(d *anml.Document) {
			for range d.Tools(anml.StrictSchema) {
			}
		}),
		visit("agent.Open", nil),
		visit("agent.Decide", func(ctx context.Context, _ *agent.Session, p *agent.Page) { p.Decide(ctx) }),
		visit("agent.Explain", func(_ context.Context, _ *agent.Session, p *agent.Page) {
			_ = fmt.Sprint(p.Explain(), p.Findings(), p.Tools())
		}),
		visit("agent.Do", func(ctx context.Context, _ *agent.Session, p *agent.Page) { _, _ = p.Do(ctx, agent.Call{Action: "a0"}) }),
		visit("agent.Forget", func(ctx context.Context, s *agent.Session, _ *agent.Page) {
			s.Context().Supplied("fact 1 of many")
			_, _ = s.Forget(ctx, "a.example")
		}),
	}
}

// visit measures what is done with a page in a session of its own, or the opening if do is nil.
func visit(name string, do func(context.Context, *agent.Session, *agent.Page)) reader {
	return reader{name: name, scale: 4, slow: true, inputs: informed(), prepare: func(text []byte) func() {
		net := lookleaptest.NewInternet()
		session, err := agent.New(net.StubHost(), agent.Options{
			Read: anml.ReadOptions{Limits: roomy}, Limits: agent.Limits{Document: 64 << 20, Informs: 1000},
		}).NewSession(agent.User{Store: lookleap.NewMemoryStore()})
		if err != nil {
			panic(err)
		}
		net.Site("a.example").File("/doc", anml.MediaTypeXML, string(text))
		ctx := context.Background()
		finish := func() { _ = session.Close(); net.Close() }
		if do == nil {
			return func() { _, _ = session.Open(ctx, "https://a.example/doc"); finish() }
		}
		page, err := session.Open(ctx, "https://a.example/doc")
		return func() {
			if err == nil {
				do(ctx, session, page)
			}
			finish()
		}
	}}
}
