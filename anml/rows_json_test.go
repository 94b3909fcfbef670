package anml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestRowsJSON(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	doc := func(members string) string { return `{"anml":"1.0","role":"service"` + members + `}` }
	title := func(d *Document) any { return d.Head().Title() }

	r.same("ANML-0-01/accept-one-model", service(`<head><title>T</title></head><knowledge><ask field="f" action="a" required="true"/></knowledge>`),
		doc(`,"head":{"title":"T"},"knowledge":{"ask":[{"field":"f","action":"a","required":true}]}`))
	r.same("ANML-7-01/accept-both", service("<body>x</body>"), doc(`,"body":"x"`))
	r.same("ANML-7-02/accept-same", service("<body>x</body>"), doc(`,"body":{"content":"x"}`))
	t.Run("ANML-7-07/accept-both-codecs", func(t *testing.T) {
		for _, f := range []Format{XML, JSON} {
			d, _ := ParseXML([]byte(service("<head><title>T</title></head>")), none)
			b, err := Marshal(d, f, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Parse(f.MediaType(), b, none); err != nil || !Equal(d, again) {
				t.Error(f, err)
			}
		}
	})
	r.finds1("ANML-7.1-01/accept-charset-ignored", JSON, doc(""), ReadOptions{Charset: "latin1"}, codeEncodingClash)
	r.reads("ANML-7.1-01/accept-as-utf8", JSON, doc(`,"head":{"title":"é"}`), ReadOptions{Charset: "latin1"}, "é", title)
	t.Run("ANML-7.1-01/accept-type", func(t *testing.T) {
		if f, ok := FormatOf("application/anml+json; version=1.0"); f != JSON || !ok || ExtensionJSON != ".anml.json" {
			t.Error(f, ok)
		}
	})
	r.refuses("ANML-7.1-02/reject-utf16", JSON, utf16Of(doc(""), false, true), none, ErrEncoding)
	r.refuses("ANML-7.1-02/reject-invalid", JSON, doc(",\"x\":\"\xff\""), none, ErrEncoding)
	r.finds1("ANML-7.1-03/accept-with-finding", JSON, "\uFEFF"+doc(""), none, codeBOM)
	t.Run("ANML-7.1-03/accept-writes-none", func(t *testing.T) {
		d, _ := ParseJSON([]byte("\uFEFF"+doc("")), none)
		if j, err := MarshalJSON(d, WriteOptions{}); err != nil || j[0] != '{' {
			t.Error(err)
		}
	})
	r.finds1("ANML-7.1-04/accept-unknown-key", JSON, doc(`,"zzz":1`), none, codeUnknownKey)
	r.reads("ANML-7.1-04/accept-beside-unknown-keys", JSON, doc(`,"zzz":{"title":"Z"},"head":{"zzz":[{"title":"Z"}],"title":"T"}`), none, "T", title)
	for name, bad := range map[string]string{"array": `[]`, "scalar": `1`, "trailing": doc("") + "{}", "empty": ""} {
		r.refuses("ANML-7.2.1-01/reject-"+name, JSON, bad, none, ErrNotWellFormed)
	}
	r.refuses("ANML-7.2.1-02/reject-missing", JSON, `{"head":{}}`, none, ErrNotANML)
	r.finds1("ANML-7.2.1-02/accept-best-effort", JSON, `{"anml":"2.0"}`, none, CodeNewVersion)
	r.finds1("ANML-7.2.1-02/accept-number", JSON, `{"anml":1.0}`, none, codeVersionKey)
	r.finds1("ANML-7.2.1-02/accept-alias", JSON, `{"version":"1.0"}`, none, codeVersionKey)
	for text, want := range map[string]string{`"anml":"2.0"`: "2.0", `"anml":1.0`: "1.0", `"anml":1`: "1.0", `"version":"1.0"`: "1.0", `"version":"2.0","anml":"1.0"`: "1.0"} {
		r.reads("ANML-7.2.1-02/accept-"+text, JSON, `{`+text+`,"head":{"title":"T"}}`, none, want+" T", func(d *Document) any { return d.Version() + " " + d.Head().Title() })
	}
	t.Run("ANML-7.2.1-02/accept-written-first", func(t *testing.T) {
		d, _ := ParseXML([]byte(`<anml xmlns="`+Namespace+`" ttl="5" role="service"/>`), none)
		if j, err := MarshalJSON(d, WriteOptions{}); err != nil || string(j) != `{"anml":"1.0","ttl":5,"role":"service"}`+"\n" {
			t.Errorf("%s %v", j, err)
		}
	})
	all := ""
	for _, c := range sections {
		all += "<" + schema[c.kind].name + "/>"
	}
	r.writes("ANML-7.2.1-03/accept-sections", all, `"head":{},"constraints":{},"state":{},"interact":{},"knowledge":{},"persona":{},"aesthetic":{},"body":{},"footer":{},"status":{}`)
	r.same("ANML-7.2.1-03/accept-attributes", strings.Replace(service(""), ` role`, ` lang="fr" ttl="5" role`, 1), doc(`,"lang":"fr","ttl":5`))
	r.reads("ANML-7.2.1-03/accept-their-values", JSON, doc(`,"lang":"fr","ttl":5`), none, "1.0 fr 5s true", func(d *Document) any {
		ttl, has := d.TTL()
		return fmt.Sprint(d.Version(), " ", d.Lang(), " ", ttl, " ", has)
	})
	t.Run("ANML-7.2.2-01/accept-hyphen", func(t *testing.T) {
		d, err := ParseJSON([]byte(`{"anml":"1.0","supported-versions":"1.0","Supported-Versions":"9"}`), none)
		if v, ok := d.SupportedVersions(); err != nil || !ok || len(v) != 1 || v[0] != "1.0" {
			t.Error(v, err)
		}
	})
	r.writes("ANML-7.2.2-02/accept-booleans", `<head><meta name="a" value="true"/></head><interact><action id="a" method="GET" endpoint="/" confirm="true" idempotent="TRUE"/></interact>`,
		`"head":{"meta":[{"name":"a","value":"true"}]},"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","confirm":true,"idempotent":"TRUE"}]}`)
	r.writes("ANML-7.2.2-03/accept-numbers", `<knowledge><inform ttl="3600"/><inform ttl="0x10"/></knowledge><footer><rights year="2026"/></footer>`,
		`"knowledge":{"inform":[{"ttl":3600},{"ttl":"0x10"}]},"footer":{"rights":{"year":"2026"}}`)
	r.same("ANML-7.2.2-04/accept-types", service(`<interact><action id="a" method="GET" endpoint="/" confirm="true"><param name="p" min="100"/></action></interact><knowledge><inform ttl="3600"/></knowledge><footer><rights year="2026"/></footer>`),
		doc(`,"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","confirm":"true","param":[{"name":"p","min":1e2}]}]},"knowledge":{"inform":[{"ttl":"3600"}]},"footer":{"rights":{"year":2026}}`))
	r.finds1("ANML-7.2.2-04/accept-null", JSON, doc(`,"lang":null`), none, codeNullValue)
	r.finds1("ANML-7.2.2-04/reject-object", JSON, doc(`,"lang":{}`), none, codeWrongShape)
	r.finds1("ANML-7.2.2-04/reject-array", JSON, doc(`,"lang":["fr"]`), none, codeWrongShape)
	for name, value := range map[string]string{"accept-null": "null", "reject-object": "{}", "reject-array": `["fr"]`} {
		r.reads("ANML-7.2.2-04/"+name+"-as-absent", JSON, doc(`,"body":{"lang":`+value+`}`), none, " false", func(d *Document) any {
			text, has := d.Body().Attr("lang")
			return fmt.Sprint(text, " ", has)
		})
		r.reads("ANML-7.2.2-04/"+name+"-as-the-safe-value", JSON, doc(`,"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","idempotent":`+value+`}]}`), none, false,
			func(d *Document) any { return first(d.Interact().Actions()).Idempotent() })
	}
	r.same("ANML-7.2.3-01/accept-content", service(`<knowledge><inform ttl="3600">x</inform></knowledge>`), doc(`,"knowledge":{"inform":[{"ttl":3600,"content":"x"}]}`))
	r.same("ANML-7.2.3-02/accept-bare", service(`<head><title>T</title></head><knowledge><inform>a</inform></knowledge>`), doc(`,"head":{"title":{"content":"T"}},"knowledge":{"inform":["a"]}`))
	r.writes("ANML-7.2.3-02/accept-compact", `<head><title>T</title></head><state><context><step>s</step></context></state><knowledge><inform>a</inform></knowledge><persona><instructions>i</instructions><vocabulary><prefer>p</prefer></vocabulary></persona>`,
		`"head":{"title":"T"},"state":{"context":{"step":"s"}},"knowledge":{"inform":[{"content":"a"}]},"persona":{"instructions":"i","vocabulary":{"prefer":["p"]}}`)
	r.finds1("ANML-7.2.3-02/reject-string-for-empty", JSON, doc(`,"persona":{"tone":"friendly"}`), none, codeWrongShape)
	r.reads("ANML-7.2.3-02/reject-string-read", JSON, doc(`,"persona":{"tone":"friendly"}`), none, "", func(d *Document) any { return d.Persona().Tone() })
	r.writes("ANML-7.2.3-03/accept-order", `<body>a<link href="u"/>b</body>`, `"body":{"content":"ab","link":[{"href":"u"}],"$order":[1,"link",1]}`)
	for _, id := range []string{"ANML-0-01", "ANML-7-01", "ANML-7.4-04"} {
		r.same(id+"/accept-order", service(`<head><title>T</title><meta name="a" value="b"/></head><body>é<link href="u"/>b</body>`),
			doc(`,"head":{"title":"T","meta":[{"name":"a","value":"b"}]},"body":{"content":"éb","link":[{"href":"u"}],"$order":[1,"link",1]}`))
	}
	r.same("ANML-7.2.3-03/accept-both-ways", service(`<body>é<link href="u"/>b</body>`), doc(`,"body":{"content":"éb","link":[{"href":"u"}],"$order":[1,"link",1]}`))
	r.same("ANML-7.2.3-03/accept-adjacent-texts", service(`<body>ab<link href="u"/>c</body>`), doc(`,"body":{"content":"abc","link":[{"href":"u"}],"$order":[1,1,"link",1]}`))
	r.same("ANML-7.2.3-03/accept-default-order-of-any-keys", service(`<body>a<section/><data/><link href="u"/><link href="v"/></body>`), doc(`,"body":{"link":[{"href":"u"},{"href":"v"}],"data":[{}],"content":"a","section":[{}]}`))
	r.same("ANML-7.2.3-03/accept-default-order-of-two-keys", service(`<body><section/><link href="u"/></body>`), doc(`,"body":{"link":[{"href":"u"}],"section":[{}]}`))
	r.same("ANML-7.2.3-03/accept-default-order-of-sections", service(`<head><title>T</title></head><knowledge/><body/>`), doc(`,"body":{},"knowledge":{},"head":{"title":{"content":"T"}}`))
	r.writes("ANML-7.2.3-03/accept-default-order", `<body>a<section/><link href="u"/></body>`, `"body":{"content":"a","section":[{}],"link":[{"href":"u"}]}`)
	for name, order := range map[string]string{"sum": `[1,"link",2]`, "name": `[1,"nav",1]`, "twice": `[1,"link","link",1]`, "missing": `[2]`, "short": `["link",1]`, "without-text": `["link"]`, "type": `"x"`, "zero": `[0,1,"link",1]`, "negative": `[-1,"link",3]`, "huge": `[9007199254740993,"link"]`} {
		r.finds1("ANML-7.2.3-03/reject-"+name, JSON, doc(`,"body":{"content":"ab","link":[{"href":"u"}],"$order":`+order+`}`), none, codeOrder)
	}
	r.same("ANML-7.2.4-01/accept-nested", service(`<body><data/><data><item/><item><field name="a">1</field><field name="b">2</field></item></data></body>`),
		doc(`,"body":{"data":[{},{"item":[{},{"field":[{"name":"a","content":"1"},{"name":"b","content":"2"}]}]}]}`))
	for name, c := range map[string]struct{ sections, json string }{
		"inform": {"<knowledge><inform> x </inform></knowledge>", `"knowledge":{"inform":[{"content":" x "}]}`}, "body": {"<body> x </body>", `"body":{"content":" x "}`},
		"section": {"<body><section> x </section></body>", `"body":{"section":[{"content":" x "}]}`}, "footer": {"<footer> x </footer>", `"footer":{"content":" x "}`},
		"field":  {"<body><data><item><field> x </field></item></data></body>", `"body":{"data":[{"item":[{"field":[{"content":" x "}]}]}]}`},
		"rights": {"<footer><rights> x </rights></footer>", `"footer":{"rights":{"content":" x "}}`}, "attribution": {"<footer><attribution> x </attribution></footer>", `"footer":{"attribution":[{"content":" x "}]}`},
	} {
		r.writes("ANML-7.2.3-01/accept-content-of-"+name, c.sections, c.json)
		r.same("ANML-7.2.3-01/accept-both-ways-of-"+name, service(c.sections), doc(","+c.json))
	}
	r.writes("ANML-7.2.4-02/accept-single-is-array", `<knowledge><ask field="f" action="a"/></knowledge>`, `"knowledge":{"ask":[{"field":"f","action":"a"}]}`)
	r.finds1("ANML-7.2.4-02/accept-bare-object", JSON, doc(`,"knowledge":{"ask":{"field":"f","action":"a"}}`), none, codeNotArray)
	r.reads("ANML-7.2.4-02/accept-bare-object-read", JSON, doc(`,"knowledge":{"ask":{"field":"f","action":"a"}}`), none, "f", func(d *Document) any { return first(d.Knowledge().Asks()).Field() })
	arrays := strings.Fields("inform ask answer refuse action param option step meta logo color font section item field attribution" +
		" disclosure site site-ref prefer avoid data img audio video link") // the draft's, and those of R24
	for k := kAnml; k < kindCount; k++ {
		for _, c := range schema[k].children {
			name := schema[c.kind].name
			sections, want := nest(k, c.kind)
			if want == "" {
				continue
			}
			isArray := slices.Contains(arrays, name) && k != kContext // whose step is a string
			id := "ANML-7.2.4-04/accept-" + schema[k].name + "-" + name
			if isArray {
				id = "ANML-7.2.4-03/accept-" + schema[k].name + "-" + name
			}
			t.Run(id, func(t *testing.T) {
				d, err := ParseXML([]byte(sections), none)
				if err != nil {
					t.Fatal(err)
				}
				j, err := MarshalJSON(d, WriteOptions{Verbatim: true})
				array := strings.Contains(string(j), `"`+name+`":[`)
				if err != nil || array != isArray {
					t.Errorf("%s %v", j, err)
				}
			})
		}
	}
	r.finds1("ANML-7.2.4-04/reject-array", JSON, doc(`,"head":[{"title":"T"}]`), none, codeNotObject)
	r.same("ANML-7.2.5-01/accept-empty", service(`<persona><tone value="x"/></persona><body><nav/></body>`), doc(`,"persona":{"tone":{"value":"x"}},"body":{"nav":{}}`))
	r.finds1("ANML-7.2.6-01/accept-unknown", JSON, doc(`,"zzz":{"a":[1,2]}`), none, codeUnknownKey)
	t.Run("ANML-7.2.6-01/accept-kept-raw", func(t *testing.T) {
		d, _ := ParseJSON([]byte(doc(`,"zzz":{"a":[1, 2]}`)), none)
		if j, err := MarshalJSON(d, WriteOptions{}); err != nil || !bytes.Contains(j, []byte(`"zzz":{"a":[1, 2]}`)) {
			t.Errorf("%s %v", j, err)
		}
		if x, err := MarshalXML(d, WriteOptions{}); err != nil || bytes.Contains(x, []byte("zzz")) {
			t.Errorf("%s %v", x, err)
		}
	})
	r.same("ANML-7.2.6-02/accept-foreign", service(`<x:foo xmlns:x="urn:x" x:a="1" xml:lang="en"/>`), doc(`,"{urn:x}foo":[{"@{urn:x}a":"1","xml:lang":"en"}]`))
	r.same("ANML-7.4-04/accept-same-model", service(`<body usage="store">x</body>`), doc(`,"body":{"usage":"store","content":"x"}`))
	t.Run("ANML-7.4-05/accept-nothing-lost", TestRoundTrip)
	t.Run("ANML-7.6-01/accept-round-trip", TestRoundTrip)
	t.Run("ANML-7.6-10/accept-round-trip", TestRoundTrip)

	deep := func(n int) string {
		return doc(`,"body":` + strings.Repeat(`{"section":[`, n-2) + "{}" + strings.Repeat("]}", n-2))
	}
	deepXML := func(n int) string {
		return service("<body>" + strings.Repeat("<section>", n-2) + strings.Repeat("</section>", n-2) + "</body>")
	}
	r.returns1("ANML-7.5-01/accept-at-the-limit", JSON, deep(32))
	r.refuses("ANML-7.5-01/reject-deeper", JSON, deep(33), none, ErrLimit)
	r.refuses("ANML-7.5-01/reject-absurd", JSON, strings.Repeat("[", 500_000), none, ErrLimit)
	r.returns1("ANML-7.5-02/accept-32", JSON, deep(32))
	r.returns1("ANML-7.5-02/accept-32-xml", XML, deepXML(32))
	r.refuses("ANML-7.5-02/reject-33", JSON, deep(33), none, ErrLimit)
	r.refuses("ANML-7.5-02/reject-33-xml", XML, deepXML(33), none, ErrLimit)
	r.refuses("ANML-7.5-02/reject-nested-array", JSON, doc(`,"knowledge":{"ask":[[{}]]}`), none, ErrNotWellFormed)
	for _, id := range []string{"ANML-7.5-03", "ANML-7.5-04", "ANML-13.7-02"} {
		pad := func(n int) string { return doc(`,"x":"` + strings.Repeat("y", n-len(doc(`,"x":""`))) + `"`) }
		padXML := func(n int) string {
			return service("<body>" + strings.Repeat("y", n-len(service("<body></body>"))) + "</body>")
		}
		r.returns1(id+"/accept-1-MiB", JSON, pad(1<<20))
		r.refuses(id+"/reject-one-more", JSON, pad(1<<20+1), none, ErrLimit)
		r.returns1(id+"/accept-1-MiB-xml", XML, padXML(1<<20))
		r.refuses(id+"/reject-one-more-xml", XML, padXML(1<<20+1), none, ErrLimit)
	}
	for _, id := range []string{"ANML-7.5-05", "ANML-7.5-06"} {
		for name, members := range map[string]string{"top": `,"a":1,"a":2`, "nested": `,"body":{"usage":"none","usage":"train"}`, "escaped": `,"a":1,"\u0061":2`, "unknown": `,"x":{"y":[{"b":1,"b":1}]}`} {
			r.refuses(id+"/reject-"+name, JSON, doc(members), none, ErrNotWellFormed)
		}
	}
	r.refuses("ANML-7.5-05/reject-two-spellings", JSON, doc(`,"ttl":1,"@{}ttl":2`), none, ErrNotWellFormed)
	param := func(bound string) string {
		return doc(`,"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","param":[{"name":"p","type":"number","min":` + bound + `}]}]}`)
	}
	for bound, want := range map[string]string{"0.1": "0.1", "1e2": "100", "-0": "-0", "1E2": "100", "1.23456789012345e1": "12.3456789012345"} {
		t.Run("ANML-7.5-07/accept-"+bound, func(t *testing.T) {
			d, err := ParseJSON([]byte(param(bound)), none)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := first(first(d.Interact().Actions()).Params()).Min(); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
	r.finds1("ANML-7.5-08/reject-overflow", JSON, param("1e400"), none, codeOverflow)
	r.reads("ANML-7.5-08/reject-overflow-read", JSON, doc(`,"ttl":1e400`), none, "0s true", func(d *Document) any {
		ttl, has := d.TTL()
		return fmt.Sprint(ttl, " ", has)
	})
	r.finds1("ANML-7.5-08/reject-lost-digits", JSON, doc(`,"ttl":9007199254740993`), none, codePrecision)
	t.Run("ANML-7.5-08/reject-typed-value", func(t *testing.T) {
		d, _ := ParseJSON([]byte(doc(`,"ttl":9007199254740993`)), none)
		if ttl, has := d.TTL(); !has || ttl != 0 {
			t.Error(ttl, has)
		}
	})
	for _, id := range []string{"ANML-7.5-09", "ANML-7.5-10"} {
		for name, text := range map[string]string{"overlong": "\xc0\x80", "cut": "\xe2\x82", "surrogate": `\ud800`} {
			r.refuses(id+"/reject-"+name, JSON, doc(`,"x":"`+text+`"`), none, ErrEncoding)
		}
	}
	for name, text := range map[string]string{"nul": `\u0000`, "control": `\u0001`, "noncharacter": `\ufffe`, "literal": "\uFFFF", "literal-fffe": "\uFFFE"} {
		r.refuses("ANML-7.5-10/reject-"+name, JSON, doc(`,"x":{"y":["`+text+`"]}`), none, ErrNotWellFormed)
		r.refuses("ANML-7.5-10/reject-key-"+name, JSON, doc(`,"`+text+`":1`), none, ErrNotWellFormed)
	}
	for name, bad := range map[string]string{"comment": `{"anml":"1.0"/**/}`, "comma": `{"anml":"1.0",}`, "nan": doc(`,"ttl":NaN`), "quotes": `{'anml':"1.0"}`, "zeros": doc(`,"ttl":01`), "control": "{\"anml\":\"1.0\n\"}", "two": doc("") + doc(""), "empty": " "} {
		r.refuses("ANML-7.5-11/reject-"+name, JSON, bad, none, ErrNotWellFormed)
	}
	r.refuses("ANML-11.4-09/reject-json-at-the-end", JSON, doc("")+"x", none, ErrNotWellFormed)
	r.refuses("ANML-11.4-09/reject-xml-at-the-end", XML, service("<body/>")+"x", none, ErrNotWellFormed)
	r.same("ANML-15.5-01/accept-both", service("<body>x</body>"), doc(`,"body":"x"`))
	r.same("ANML-8.1-03/accept-default", `<anml xmlns="`+Namespace+`" role="service"/>`, doc(""))
}

// TestShapesInJSON shows what becomes of values that have another shape than the draft's, and that
// the rest of the document is read.
func TestShapesInJSON(t *testing.T) {
	const rule = `{"disclosure":[{"field":"email","requires":"none"}]}`
	for _, c := range []struct {
		members string
		code    lookleap.Code // of a finding, "" for no finding of a shape or an order
		want    string        // usage and sections of the body, links, and what the rule requires
	}{
		{`"body":{"content":5,"usage":"train"}`, codeWrongShape, "train 0 0 explicit-consent"},
		{`"body":{"section":5,"link":[{"href":"u"}]}`, codeWrongShape, "cache 0 1 explicit-consent"},
		{`"body":{"section":[{}],"img":[],"link":[{"href":"u"}]}`, "", "cache 1 1 explicit-consent"},
		{`"head":5,"constraints":` + rule, codeWrongShape, "cache 0 0 none"},
		{`"head":"","constraints":` + rule, "", "cache 0 0 none"},
		{`"head":"x","constraints":` + rule, codeWrongShape, "cache 0 0 none"},
		{`"constraints":[` + rule + `,5]`, codeWrongShape, "cache 0 0 explicit-consent"},
		{`"constraints":[` + rule + `,"x"]`, codeWrongShape, "cache 0 0 explicit-consent"},
		{`"body":{"$order":"x"}`, codeOrder, "cache 0 0 explicit-consent"},
		{`"body":{"$order":[` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `]}`, codeOrder, "cache 0 0 explicit-consent"},
		{`"body":{"$order":[]}`, "", "cache 0 0 explicit-consent"},
	} {
		d, err := ParseJSON([]byte(`{"anml":"1.0","role":"service",`+c.members+`}`), ReadOptions{})
		if err != nil {
			t.Fatal(c.members, err)
		}
		x, err := MarshalXML(d, WriteOptions{Verbatim: true})
		if err != nil {
			t.Fatal(c.members, err)
		}
		again, err := ParseXML(x, ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v in %s", c.members, err, x)
		}
		for _, d := range []*Document{d, again} {
			got := fmt.Sprint(d.Body().Usage(), " ", count(d.Body().Sections()), " ", count(d.Body().Links()), " ", d.Constraints().Rule("email", nil).Requires)
			if !d.Body().Exists() {
				got = strings.Replace(got, "none", "cache", 1)
			}
			if got != c.want || d.Head().n.e != nil && len(d.Head().n.e.Child) > 0 {
				t.Errorf("%s: got %s, want %s", c.members, got, c.want)
			}
		}
		for _, code := range []lookleap.Code{codeWrongShape, codeOrder} {
			if d.hasFinding(code) != (code == c.code) {
				t.Errorf("%s: %v", c.members, d.Findings())
			}
		}
	}
}

// TestCharactersInJSON shows where a character that XML does not allow is found, and which one.
func TestCharactersInJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"head":{"title":"` + "a\uFFFF" + `"}`: "U+FFFF 30", `"head":{"title":"` + "\uFFFE" + `"}`: "U+FFFE 30",
		`"head":{"title":"a\u001f"}`: "U+001F 30", `"head":{"title":"\t\u0000"}`: "U+0000 30", `"head":{"title":"\uFfFe\u0001"}`: "U+FFFE 30",
		`"{urn:\uffff}a":{}`: "U+FFFF 30", `"{urn:\uffff}a":"\uffff"`: "U+FFFF 30", `"{urn:` + "\uFFFE" + `}a":{}`: "U+FFFE 27",
		`"head":{"title":"\u0041\t\n\r ！` + "\uFFFD" + `"}`: "", `"body":"` + "\uFFFD ！" + `","head":{"title":"A"}`: "",
	} {
		_, err := ParseJSON([]byte(`{"anml":"1.0",`+text+`}`), ReadOptions{})
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		var e *lookleap.Error
		name, offset, _ := strings.Cut(want, " ")
		if !errors.As(err, &e) || e.Code != codeBadCharacter || !strings.Contains(e.Message, "the character "+name+",") || itoa(e.Position.Offset) != offset {
			t.Errorf("%s: got %v at %d, want %s", text, err, e.Position.Offset, want)
		}
	}
}

// TestRowsLimitsJSON: the limits of section 13.7 hold in JSON as in XML.
func TestRowsLimitsJSON(t *testing.T) {
	r := rows{t}
	document := func(section, list, element string, n int) string {
		return `{"anml":"1.0","role":"service","` + section + `":{"` + list + `":[` + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + `]}}`
	}
	for _, c := range []struct {
		id, section, list, element string
		most                       int
	}{
		{"ANML-13.7-04", "interact", "action", `{"id":"a","method":"GET","endpoint":"/"}`, 64},
		{"ANML-13.7-05", "knowledge", "ask", `{"field":"f","action":"a","purpose":"p"}`, 32},
	} {
		r.returns1(fmt.Sprintf("%s/accept-%d-in-json", c.id, c.most), JSON, document(c.section, c.list, c.element, c.most))
		r.refuses(fmt.Sprintf("%s/reject-%d-in-json", c.id, c.most+1), JSON, document(c.section, c.list, c.element, c.most+1), ReadOptions{}, ErrLimit)
	}
	attrs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"@{urn:x}a%d":""`, i)
		}
		return b.String()
	}
	r.returns1("ANML-13.7-08/accept-json-attributes-of-each-element", JSON, `{"anml":"1.0"`+attrs(40)+`,"head":{"title":"T"`+attrs(40)+`}}`)
	r.refuses("ANML-13.7-08/reject-json-values", JSON, `{"anml":"1.0","zzz":[0`+strings.Repeat(",0", 100_000)+`]}`, ReadOptions{}, ErrLimit)
	r.refuses("ANML-13.7-08/reject-json-objects-with-a-fault", JSON, `{"anml":"1.0","zzz":[`+strings.Repeat("{},", 50_001)+`]}`, ReadOptions{}, ErrNotWellFormed)
}

// returns1 wants the document to be read.
func (r rows) returns1(id string, f Format, doc string) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		if _, err := parseAs(f, doc, ReadOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// nest writes a document in which one child stands in one parent.
func nest(parent, child kind) (doc, name string) {
	path := []kind{child, parent}
	for k := parent; k != kAnml; {
		up := kUnknown
		for p := kAnml; p < kindCount && up == kUnknown; p++ {
			if schema[p].child(schema[k].name) == k && p != k {
				up = p
			}
		}
		if up == kUnknown {
			return "", ""
		}
		path = append(path, up)
		k = up
	}
	open, end := "", ""
	for i := len(path) - 2; i >= 0; i-- {
		n := schema[path[i]].name
		open += "<" + n + ">"
		end = "</" + n + ">" + end
	}
	return service(open + end), schema[child].name
}
