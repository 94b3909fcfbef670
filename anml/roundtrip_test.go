package anml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap"
)

// genDocument draws a document: mostly right, with everything that goes wrong in
// real ones: foreign and misplaced elements, bad values, text where none belongs.
func genDocument(t *rapid.T) string {
	var b strings.Builder
	b.WriteString(`<anml xmlns="` + Namespace + `" xmlns:x="urn:x"`)
	genAttrs(t, &b, kAnml)
	b.WriteString(">")
	if rapid.IntRange(0, 3).Draw(t, "multi") == 0 {
		for range rapid.IntRange(1, 3).Draw(t, "sites") {
			genElement(t, &b, kSite, 1)
		}
	} else {
		for _, c := range sections {
			if rapid.Bool().Draw(t, "section") {
				genElement(t, &b, c.kind, 1)
			}
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "foreign") == 0 {
		genForeign(t, &b, 1)
	}
	b.WriteString("</anml>")
	return b.String()
}

var genWords = []string{"a", "b", "f1", "email", "true", "false", "3600", "007", "-1", "1e3", "0.5", "none", "store", "display",
	"explicit-consent", "authentication", "GET", "POST", "/p?q=1&r", "https://example.com/x", "", " x ", "é\U0001F600", "tab\there",
	"a\"b'c", "<&>]]>", "line\nend\r", "1.0", "2026-05-01T08:00:00Z", "content", "$order", "xml:lang"}

func genText(t *rapid.T) string { return rapid.SampledFrom(genWords).Draw(t, "text") }

func genAttrs(t *rapid.T, b *strings.Builder, k kind) {
	for _, a := range schema[k].attrs {
		if a.need == optional && rapid.IntRange(0, 2).Draw(t, "has") > 0 || rapid.IntRange(0, 19).Draw(t, "drop") == 0 {
			continue
		}
		value := genText(t)
		switch {
		case len(a.enum) > 0 && rapid.IntRange(0, 3).Draw(t, "enum") > 0:
			value = rapid.SampledFrom(a.enum).Draw(t, "word")
		case a.typ == tDomain:
			value = rapid.SampledFrom([]string{"example.com", "example.net", "EXAMPLE.org."}).Draw(t, "domain")
		case a.typ == tMethod:
			value = rapid.SampledFrom([]string{"GET", "POST", "post", "FOO"}).Draw(t, "method")
		}
		if a.name == "role" {
			value = "service"
		}
		b.WriteString(" " + a.name + `="` + string(appendValue(nil, value)) + `"`)
	}
	switch rapid.IntRange(0, 12).Draw(t, "extra") {
	case 0:
		b.WriteString(` x:ttl="1"`)
	case 1:
		b.WriteString(` foo="bar"`)
	case 2:
		b.WriteString(` lang="fr"`)
	case 3:
		b.WriteString(` xml:lang="de"`)
	}
}

func genElement(t *rapid.T, b *strings.Builder, k kind, depth int) {
	s := &schema[k]
	b.WriteString("<" + s.name)
	genAttrs(t, b, k)
	b.WriteString(">")
	text := func() {
		if s.content == mixed || s.content == textOnly || rapid.IntRange(0, 15).Draw(t, "stray") == 0 {
			b.Write(appendText(nil, genText(t)))
		}
	}
	text()
	if depth < 6 {
		for range rapid.IntRange(0, 4).Draw(t, "children") {
			switch {
			case rapid.IntRange(0, 9).Draw(t, "odd") == 0:
				genForeign(t, b, depth+1)
			case rapid.IntRange(0, 14).Draw(t, "wrong") == 0:
				genElement(t, b, kind(rapid.IntRange(int(kHead), int(kStatus)).Draw(t, "kind")), depth+1)
			case len(s.children) > 0:
				genElement(t, b, s.children[rapid.IntRange(0, len(s.children)-1).Draw(t, "child")].kind, depth+1)
			}
			text()
		}
	}
	b.WriteString("</" + s.name + ">")
}

func genForeign(t *rapid.T, b *strings.Builder, depth int) {
	name := rapid.SampledFrom([]string{"x:a", "x:ask", "zzz", "none", "xml:z"}).Draw(t, "name")
	b.WriteString("<" + name)
	switch name {
	case "none":
		b.WriteString(` xmlns=""`)
	case "zzz":
		b.WriteString(` x:q="1" q="2"`)
	}
	b.WriteString(">")
	b.Write(appendText(nil, genText(t)))
	if depth < 6 && rapid.Bool().Draw(t, "inner") {
		genElement(t, b, kAsk, 6)
		genForeign(t, b, depth+1)
	}
	b.WriteString("</" + name + ">")
}

// decisions is everything that an agent may conclude from a document.
func decisions(d *Document) string {
	var b strings.Builder
	fmt.Fprintln(&b, d.Version(), d.Role(), d.Executable(), d.Multi(), d.LowestUsage())
	ttl, has := d.TTL()
	fmt.Fprintln(&b, ttl, has, d.Claims())
	for c := range d.Containers() {
		fmt.Fprintln(&b, "site", c.Domain(), c.Head().Title(), c.Head().Trust(), c.Status().Result(), c.State().CurrentStep().ID(), c.State().FlowError())
		for a := range c.Knowledge().Asks() {
			r := c.Constraints().Rule(a.Field(), nil)
			fmt.Fprintln(&b, "ask", a.Field(), a.Action(), a.Required(), a.Type(), a.Dangling(), r)
		}
		for i := range c.Knowledge().Informs() {
			fmt.Fprintln(&b, "inform", i.Text(), i.Usage(), i.Confidentiality(), i.Priority(), i.Lang())
		}
		for a := range c.Interact().Actions() {
			confirm, stated := a.Confirm()
			fmt.Fprintln(&b, "action", a.ID(), a.Method(), a.Endpoint(), a.EncType(), a.Auth(), a.Idempotent(), confirm, stated, a.Executable())
			for p := range a.Params() {
				fmt.Fprintln(&b, "param", p.Name(), p.Type(), p.Required())
			}
		}
		for p := range c.Body().Content() {
			fmt.Fprintln(&b, "body", p.Element(), p.Text(), p.Usage(), p.Lang())
		}
	}
	return b.String()
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, doc string) {
	d, err := ParseXML([]byte(doc), ReadOptions{})
	if err != nil {
		var e *lookleap.Error
		if errors.As(err, &e) && (errors.Is(err, ErrLimit) || errors.Is(err, ErrMixedModel) || errors.Is(err, ErrNotWellFormed)) {
			return
		}
		t.Fatalf("%v\n%s", err, doc)
	}
	j, err := MarshalJSON(d, WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	fromJSON, err := ParseJSON(j, ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, doc, j)
	}
	if !Equal(d, fromJSON) {
		t.Fatalf("XML and JSON differ:\n%s\n%s", doc, j)
	}
	x, err := MarshalXML(fromJSON, WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, j)
	}
	again, err := ParseXML(x, ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, j, x)
	}
	if !Equal(d, again) {
		t.Fatalf("XML, JSON, XML differ:\n%s\n%s\n%s", doc, j, x)
	}
	if a, b := decisions(d), decisions(fromJSON); a != b {
		t.Fatalf("decisions differ:\n%s\n%s\n%s\n%s", doc, j, a, b)
	}
	canonical, err := MarshalXML(d, WriteOptions{Verbatim: true, Canonical: true})
	if err != nil {
		t.Fatalf("%v", err)
	}
	twin, err := MarshalXML(fromJSON, WriteOptions{Verbatim: true, Canonical: true})
	if err != nil || d.hasVersion() && string(canonical) != string(twin) {
		t.Fatalf("canonical forms differ:\n%s\n%s", canonical, twin)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRoundTrip(t, genDocument(t)) })
}

// appendText appends escaped character data.
func appendText(dst []byte, s string) []byte {
	return append(dst, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;").Replace(s)...)
}

// appendValue appends an escaped attribute value for double quotes.
func appendValue(dst []byte, s string) []byte {
	return append(dst, strings.NewReplacer("&", "&amp;", "<", "&lt;", "\r", "&#13;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;").Replace(s)...)
}
