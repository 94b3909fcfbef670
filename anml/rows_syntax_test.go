package anml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/lookleap/lookleap"
)

func utf16Of(s string, bigEndian, mark bool) string {
	if mark {
		s = "\uFEFF" + s
	}
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if bigEndian {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestRowsSyntax(t *testing.T) {
	r := rows{t}
	title := func(d *Document) any { return d.Head().Title() }
	none := ReadOptions{}
	bare := `<anml xmlns="` + Namespace + `"/>`
	head := "<head><title>T</title></head>"
	found := func(d *Document) any {
		var all []string
		for _, f := range d.Findings() {
			if f.Code != codeNotObject { // how JSON writes an element that appears twice
				all = append(all, f.Severity.String()+" "+string(f.Code))
			}
		}
		return all
	}

	for name, doc := range map[string]string{
		"mismatched": service("<head></body>"), "two-roots": bare + bare, "entity": service("<head><title>&nbsp;</title></head>"),
		"nul": service("\x00"), "duplicate-attribute": `<anml xmlns="` + Namespace + `" ttl="1" ttl="2"/>`, "empty": "", "not-xml": "hello",
		"unclosed": `<anml xmlns="` + Namespace + `">`, "end-of-cdata-in-text": service("]]>"), "hyphens-in-a-comment": service("<!-- a -- b -->"), "no-space-between-attributes": service(`<body lang="en"usage="none"/>`),
		"attribute-without-value": service("<body lang/>"), "value-without-quotes": service("<body lang=en/>"), "tag-in-a-value": service(`<body lang="<"/>`), "declaration-inside": service(`<?xml version="1.0"?>`),
		"name-of-digits": service("<1/>"), "space-before-name": service("< body/>"), "text-before-the-root": "x" + bare, "control-in-a-value": service("<body lang=\"\x01\"/>"),
	} {
		r.refuses("ANML-1.2.1-01/reject-"+name, XML, doc, none, ErrNotWellFormed)
	}
	t.Run("ANML-1.2.1-01/reject-at-its-position", func(t *testing.T) {
		_, err := ParseXML([]byte("<anml xmlns=\""+Namespace+"\">\n <head>\n  <title></head>"), none)
		var e *lookleap.Error
		if !errors.As(err, &e) || e.Position != (lookleap.Position{Line: 3, Column: 10, Offset: 64, Path: "/anml/head/title"}) {
			t.Errorf("%+v", e)
		}
	})
	r.returns("ANML-1.2.1-01/accept-well-formed", head, "T", title)
	r.finds("ANML-1.2.1-02/accept-deviation-reported", "<body><title>x</title></body>", lookleap.SeverityWarning, codeMisplaced)
	r.clean("ANML-1.2.1-02/accept-conforming", XML, service(head))
	r.returns("ANML-1.2.1-02/accept-without-findings", head+`<body lang="en">x</body>`, "[]", func(d *Document) any { return d.Findings() })
	for finding, deviation := range map[string]string{"warning misplaced": "<body><title>x</title></body>", "info ext-anml-ns": "<zzz/>", "info ext-unqualified": `<body zzz="1"/>`, "info case": "<Body/>",
		"error surplus": "<body/><body/>", "error malformed": `<body><link/></body>`, "warning bad-value": `<body lang="not a tag"/>`, "warning dangling-reference": `<footer><rights scope="z" usage="none"/></footer>`} {
		_, code, _ := strings.Cut(finding, " ")
		r.returns("ANML-1.2.1-02/accept-"+code, service(head+deviation), "["+finding+"]", found)
	}
	r.reads("ANML-1.2.1-02/accept-stray-text", XML, service(head+"<knowledge>x</knowledge>"), none, "[warning stray-text]", found)
	r.refuses("ANML-1.2.2-01/reject-fault-at-the-end", XML, service(head)+"x", none, ErrNotWellFormed)
	r.returns("ANML-1.2.2-02/accept-bom", "<?xml version=\"1.0\"?><anml xmlns=\""+Namespace+"\">"+head+"</anml>", "T", title)
	t.Run("ANML-1.2.2-02/accept-bom-and-none-alike", func(t *testing.T) {
		a, err1 := ParseXML([]byte("\uFEFF"+service(head)), none)
		b, err2 := ParseXML([]byte(service(head)), none)
		if err1 != nil || err2 != nil || !Equal(a, b) {
			t.Error(err1, err2)
		}
	})
	r.refuses("ANML-1.2.2-02/reject-invalid-utf8", XML, service("\xff"), none, ErrEncoding)
	t.Run("ANML-1.2.1-03/accept-writes-utf8", func(t *testing.T) {
		d, err := ParseXML([]byte(utf16Of(`<?xml version="1.0" encoding="UTF-16"?>`+service("<head><title>é</title></head>")[39:], true, true)), none)
		if err != nil {
			t.Fatal(err)
		}
		x, err := MarshalXML(d, WriteOptions{})
		if err != nil || !bytes.HasPrefix(x, []byte(`<?xml version="1.0" encoding="UTF-8"?>`)) || !bytes.Contains(x, []byte("é")) {
			t.Errorf("%s %v", x, err)
		}
	})
	r.reads("ANML-1.2.1-03/accept-utf8-by-default", XML, `<anml xmlns="`+Namespace+`"><head><title>é日😀</title></head></anml>`, none, "é日😀", title)
	r.refuses("ANML-1.2.1-03/reject-what-it-declares-not", XML, strings.Replace(service("é"), "UTF-8", "US-ASCII", 1), none, ErrEncoding)
	r.refuses("ANML-1.2.1-03/reject-latin1", XML, `<?xml version="1.0" encoding="ISO-8859-1"?>`+bare, none, ErrUnsupportedEncoding)
	r.returns("ANML-1.2.2-05/accept-unknown", `<foo xmlns:x="urn:x" x:a="1" b="2"/><x:y xmlns:x="urn:x"/>`+head, "T", title)
	r.finds("ANML-1.2.2-05/accept-reported", `<foo/>`, lookleap.SeverityInfo, codeANMLNamespace, "ANML-5.3.4-03")

	r.refuses("ANML-5-01/reject-undeclared-prefix", XML, service("<p:x/>"), none, ErrNotWellFormed)
	r.refuses("ANML-5-01/reject-empty-prefix", XML, service(`<x xmlns:p=""/>`), none, ErrNotWellFormed)
	r.refuses("ANML-5-01/reject-twice-by-expanded-name", XML, service(`<x xmlns:p="u" xmlns:q="u" p:a="" q:a=""/>`), none, ErrNotWellFormed)
	for name, section := range map[string]string{
		"undeclared-attribute-prefix": `<x p:a=""/>`, "prefix-after-its-element": `<x xmlns:p="u"/><p:x/>`, "two-colons": `<x:y:z xmlns:x="u"/>`, "xml-rebound": `<x xmlns:xml="u"/>`, "xml-by-another-prefix": `<x xmlns:p="http://www.w3.org/XML/1998/namespace"/>`,
		"xmlns-declared": `<x xmlns:xmlns="u"/>`, "xmlns-as-prefix": `<xmlns:x/>`, "xmlns-as-namespace": `<x xmlns:p="http://www.w3.org/2000/xmlns/"/>`, "reserved-default": `<x xmlns="http://www.w3.org/XML/1998/namespace"/>`,
		"twice-of-many": `<x xmlns:p="u" xmlns:q="u" p:z="" a="" b="" c="" d="" e="" f="" g="" h="" i="" j="" q:z=""/>`,
	} {
		r.refuses("ANML-5-01/reject-"+name, XML, service(section), none, ErrNotWellFormed)
	}
	t.Run("ANML-5.1-01/accept-prefixed-root", func(t *testing.T) {
		d, err := ParseXML([]byte(`<a:anml xmlns:a="`+Namespace+`"><a:head><a:title>T</a:title></a:head></a:anml>`), none)
		if err != nil || d.Head().Title() != "T" {
			t.Fatal(err)
		}
		x, err := MarshalXML(d, WriteOptions{Role: RoleService})
		if err != nil || !bytes.Contains(x, []byte(`<anml xmlns="`+Namespace+`"`)) {
			t.Errorf("%s %v", x, err)
		}
	})
	r.refuses("ANML-5.1-02/reject-no-namespace", XML, `<anml/>`, none, ErrNotANML)
	r.refuses("ANML-5.1-02/reject-other-root", XML, `<html xmlns="`+Namespace+`"/>`, none, ErrNotANML)
	r.refuses("ANML-5.1-02/reject-other-version", XML, `<anml xmlns="urn:ietf:params:xml:ns:anml:2.0"/>`, none, ErrUnsupportedVersion)
	r.finds1("ANML-5.1-02/accept-option", XML, `<anml/>`, ReadOptions{AcceptMissingNamespace: true}, codeANMLNamespace)
	r.reads("ANML-5.1-02/accept-option-as-an-error", XML, `<anml>`+head+`</anml>`, ReadOptions{AcceptMissingNamespace: true}, "T error", func(d *Document) any {
		for _, f := range d.Findings() {
			if f.Code == codeANMLNamespace {
				return fmt.Sprint(d.Head().Title(), " ", f.Severity)
			}
		}
		return nil
	})
	r.returns("ANML-5.2.1-01/accept-lower-case", head, "T", title)
	r.returns("ANML-5.2.1-01/reject-upper-case-element", "<Head><title>T</title></Head>", "", title)
	r.finds("ANML-5.2.1-01/reject-upper-case-reported", "<Body/>", lookleap.SeverityInfo, codeCase)
	r.finds1("ANML-5.2.1-01/reject-attribute-case", XML, `<anml xmlns="`+Namespace+`" Ttl="1"/>`, none, codeCase)

	r.reads("ANML-5.2.1-01/reject-attribute-read", XML, `<anml xmlns="`+Namespace+`" Ttl="1"/>`, none, false, func(d *Document) any { _, has := d.TTL(); return has })
	for name, doc := range map[string]string{
		"": service(`<status code='1' result="success"/>`), "-second-attribute": service(`<status code="1" result='success'/>`), "-unknown-element": service("<zzz a='1'/>"), "-root": `<anml xmlns="` + Namespace + `" ttl='1'/>`,
		"-namespace": "<anml xmlns='" + Namespace + "'/>", "-prefix": service(`<x:y xmlns:x='urn:x'/>`),
	} {
		r.finds1("ANML-5.2.2-01/accept-with-finding"+name, XML, doc, none, codeQuote)
		r.refuses("ANML-5.2.2-01/reject-strict"+name, XML, doc, ReadOptions{StrictLexical: true}, ErrLexical)
	}
	r.returns("ANML-5.2.2-02/accept-raw-text-kept", `<body><nav total="abc"/></body>`, "abc true 0 false", func(d *Document) any {
		raw, ok := d.Body().Nav().Attr("total")
		n, valid := d.Body().Nav().Total()
		return strings.Join([]string{raw, map[bool]string{true: "true"}[ok], itoa(int(n)), map[bool]string{false: "false"}[valid]}, " ")
	})
	r.finds("ANML-5.2.2-02/reject-malformed-integer", `<body><nav total="abc"/></body>`, lookleap.SeverityError, codeBadValue, "ANML-8.1-11")
	r.returns("ANML-5.2.3-01/accept-space-kept", "<knowledge><inform> a\n b </inform></knowledge>", " a\n b ", func(d *Document) any { return first(d.Knowledge().Informs()).Text() })
	t.Run("ANML-5.2.3-01/accept-indent-outside-text", func(t *testing.T) {
		d, _ := ParseXML([]byte(service("<knowledge><inform>a</inform></knowledge><body>x<section>y</section> </body>")), none)
		x, err := MarshalXML(d, WriteOptions{Indent: "  "})
		again, err2 := ParseXML(x, none)
		if err != nil || err2 != nil || !Equal(d, again) || !bytes.Contains(x, []byte("\n  <knowledge>\n    <inform>a</inform>\n  </knowledge>\n  <body>x<section>y</section> </body>")) {
			t.Errorf("%s %v %v", x, err, err2)
		}
	})
	r.returns("ANML-5.2.4-01/accept-references", "<head><title>&#65;&#x41;&amp;&lt;&gt;&quot;&apos;</title></head>", `AA&<>"'`, title)
	r.returns("ANML-5.2.4-01/accept-references-in-a-value", `<head><meta name="a" value="&#65;&#x41;&amp;&lt;&gt;&quot;&apos;&#x1F600;"/></head>`, `AA&<>"'😀`, func(d *Document) any { v, _ := d.Head().Meta("a"); return v })
	for name, reference := range map[string]string{"capital-x": "&#X41;", "no-semicolon": "a & b", "surrogate": "&#xD800;", "control": "&#x1F;", "beyond-unicode": "&#x110000;", "no-digits": "&#;", "decimal-letter": "&#6A;", "copy": "&copy;", "capitals": "&AMP;"} {
		r.refuses("ANML-5.2.4-01/reject-"+name, XML, service("<head><title>"+reference+"</title></head>"), none, ErrNotWellFormed)
		r.refuses("ANML-5.2.4-01/reject-in-a-value-"+name, XML, service(`<head><meta name="a" value="`+reference+`"/></head>`), none, ErrNotWellFormed)
	}
	r.refuses("ANML-5.2.4-01/reject-nbsp", XML, service("<head><title>&nbsp;</title></head>"), none, ErrNotWellFormed)
	r.refuses("ANML-5.2.4-01/reject-nul-reference", XML, service("&#0;"), none, ErrNotWellFormed)
	r.refuses("ANML-5.2.4-01/reject-noncharacter", XML, service("&#xFFFE;"), none, ErrNotWellFormed)
	r.returns("ANML-5.2.5-01/accept-as-text", "<head><title>a<![CDATA[<b>]]>c</title></head>", "a<b>c", title)
	for name, text := range map[string]string{"": "<head><title><![CDATA[T]]></title></head>", "-space": "<body><![CDATA[ ]]></body>", "-empty": "<body><![CDATA[]]></body>", "-unknown-element": "<zzz><![CDATA[T]]></zzz>"} {
		r.finds1("ANML-5.2.5-01/accept-with-finding"+name, XML, service(text), none, codeCDATA)
		r.refuses("ANML-5.2.5-01/reject-strict"+name, XML, service(text), ReadOptions{StrictLexical: true}, ErrLexical)
	}
	r.clean("ANML-5.2.6-01/accept-comment", XML, "<!-- a -->"+service("<!-- b -->" + head)[39:]+"<!-- c -->")
	r.returns("ANML-5.2.6-02/accept-joined", "<head><title>ad<!--x-->min</title></head>", "admin", title)
	t.Run("ANML-5.2.6-03/accept-comments-dropped", func(t *testing.T) {
		d, _ := ParseXML([]byte(service("<!--secret--><head><title>T</title></head>")), none)
		x, err := MarshalXML(d, WriteOptions{})
		if err != nil || bytes.Contains(x, []byte("secret")) {
			t.Errorf("%s %v", x, err)
		}
	})
	for name, doc := range map[string]string{"": service("<?foo bar?>"), "-before-the-root": "<?foo bar?>" + bare, "-after-the-root": bare + "<?foo bar?>", "-in-a-text": service("<body>a<?foo?>b</body>")} {
		r.finds1("ANML-5.2.6-04/accept-with-finding"+name, XML, doc, none, codePI)
		r.refuses("ANML-5.2.6-04/reject-strict"+name, XML, doc, ReadOptions{StrictLexical: true}, ErrLexical)
	}
	r.returns("ANML-5.2.6-04/accept-skipped", "<body>a<?foo bar?>b</body>", "ab", func(d *Document) any { return d.Body().Text() })
	for _, id := range []string{"ANML-5.2.7-01", "ANML-6.1-03"} {
		r.returns(id+"/accept-subtree-skipped", `<x:head xmlns:x="urn:x"><title>no</title><head><title>no</title></head></x:head>`, "", title)
		r.returns(id+"/reject-nested-anml", `<interact><x:y xmlns:x="urn:x"><action id="a" method="GET" endpoint="/a"/></x:y></interact>`, 0, func(d *Document) any { return count(d.Interact().Actions()) })
		r.returns(id+"/accept-attributes-ignored", `<body xmlns:x="urn:x" x:usage="train" Usage="train" use="train">b</body>`, "cache b", func(d *Document) any { return fmt.Sprint(d.Body().Usage(), " ", d.Body().Text()) })
	}
	r.refuses("ANML-5.3.1-01/reject-other-case", XML, `<anml xmlns="`+strings.ToUpper(Namespace)+`"/>`, none, ErrNotANML)
	r.refuses("ANML-5.3.2-01/reject-by-default", XML, `<anml xmlns="urn:ietf:params:xml:ns:anml"/>`, none, ErrUnsupportedVersion)
	t.Run("ANML-5.3.2-01/accept-alias-option", func(t *testing.T) {
		d, err := ParseXML([]byte(`<anml xmlns="urn:ietf:params:xml:ns:anml">`+head+`</anml>`), ReadOptions{Aliases: []string{"urn:ietf:params:xml:ns:anml"}})
		if err != nil || d.Head().Title() != "T" {
			t.Fatal(err)
		}
		if x, err := MarshalXML(d, WriteOptions{Role: RoleService}); err != nil || !bytes.Contains(x, []byte(Namespace)) {
			t.Errorf("%s %v", x, err)
		}
	})
	r.finds("ANML-5.3.3-01/accept-attribute", strings.Replace(service(head), `version="1.0" role`, `version="2.0" role`, 1), lookleap.SeverityWarning, CodeNewVersion, "ANML-8.1-20")
	r.refuses("ANML-5.3.3-01/reject-namespace", XML, `<anml xmlns="urn:ietf:params:xml:ns:anml:2.0"/>`, none, ErrUnsupportedVersion)
	r.same("ANML-5.3.4-01/accept-kept", service(`<body><x:y xmlns:x="urn:x" x:a="1">t</x:y></body>`), `{"anml":"1.0","role":"service","body":{"{urn:x}y":[{"@{urn:x}a":"1","content":"t"}]}}`)
	for _, f := range []Format{XML, JSON} {
		t.Run("ANML-5.3.4-01/accept-attribute-written-as-"+f.String(), func(t *testing.T) {
			d, err := ParseXML([]byte(service(head+`<body xmlns:x="urn:x" x:a="1">b</body>`)), none)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Marshal(d, f, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse(f.MediaType(), b, none)
			if v, ok := again.Body().Foreign(Name{"urn:x", "a"}); err != nil || !ok || v != "1" {
				t.Errorf("%s %v", b, err)
			}
		})
	}
	r.returns("ANML-5.3.4-02/accept-xml-attributes", head+`<body xml:lang="en" xml:space="preserve" xml:id="a" xml:base="https://example.com/">b</body>`, "[]", func(d *Document) any { return d.Findings() })
	r.finds("ANML-5.3.4-02/reject-unqualified-attribute", `<body zzz="1"/>`, lookleap.SeverityInfo, codeUnqualified)
	r.finds("ANML-5.3.4-02/reject-no-namespace", `<x xmlns=""/>`, lookleap.SeverityWarning, codeUnqualified)
	r.finds("ANML-5.3.4-03/reject-element", `<zzz/>`, lookleap.SeverityInfo, codeANMLNamespace)
	r.returns("ANML-5.3.4-03/reject-prefixed-attribute", `<anml xmlns="`+Namespace+`" xmlns:a="`+Namespace+`" a:ttl="5"/>`, false, func(d *Document) any { _, ok := d.TTL(); return ok })
	r.finds1("ANML-5.3.5-01/accept-with-finding", XML, "<!DOCTYPE anml>"+bare, none, codeDoctype)
	r.reads("ANML-5.3.5-01/accept-with-a-warning", XML, "<!DOCTYPE anml>"+service(head)[39:], none, "[warning lex-doctype]", func(d *Document) any {
		var out []string
		for _, f := range d.Findings() {
			if f.Code != codeNoDecl {
				out = append(out, f.Severity.String()+" "+string(f.Code))
			}
		}
		return out
	})
	r.refuses("ANML-5.3.5-01/reject-option", XML, "<!DOCTYPE anml>"+bare, ReadOptions{RejectDoctype: true}, ErrLexical)
	t.Run("ANML-5.3.5-02/accept-no-default", func(t *testing.T) {
		d, err := ParseXML([]byte(`<!DOCTYPE anml [<!ENTITY a "x"><!ATTLIST anml ttl CDATA "9">]>`+bare), none)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := d.TTL(); has {
			t.Error("the default of the DTD was taken")
		}
	})
	r.refuses("ANML-5.3.5-02/reject-entity", XML, `<!DOCTYPE anml [<!ENTITY a "x">]><anml xmlns="`+Namespace+`"><head><title>&a;</title></head></anml>`, none, ErrNotWellFormed)
	r.refuses("ANML-13.5-01/reject-external-entity", XML, `<!DOCTYPE anml [<!ENTITY a SYSTEM "file:///etc/passwd">]><anml xmlns="`+Namespace+`"><head><title>&a;</title></head></anml>`, none, ErrNotWellFormed)
	r.finds1("ANML-13.5-02/accept-with-finding", XML, "<!DOCTYPE anml>"+bare, none, codeDoctype)
	r.returns("ANML-13.5-03/accept-as-without", service(head), "T", title)
	r.finds1("ANML-13.5-03/accept-doctype", XML, `<!DOCTYPE anml SYSTEM "https://evil.example/x.dtd">`+bare, none, codeDoctype)
	r.refuses("ANML-13.5-03/reject-large", XML, `<!DOCTYPE anml [`+strings.Repeat("<!ENTITY x 'y'>", 5000)+`]>`+bare, none, ErrLimit)
	r.refuses("ANML-13.5-03/reject-unclosed-subset", XML, `<!DOCTYPE anml [<!ENTITY x "y">`+bare, none, ErrNotWellFormed)
	r.refuses("ANML-13.5-03/reject-unclosed-literal", XML, `<!DOCTYPE anml SYSTEM "x>`+bare, none, ErrNotWellFormed)
	r.refuses("ANML-13.5-03/reject-badly-nested", XML, `<!DOCTYPE anml [ > ]>`+bare, none, ErrNotWellFormed)
	r.refuses("ANML-13.5-04/reject-reference", XML, `<!DOCTYPE anml [<!ENTITY a "x">]><anml xmlns="`+Namespace+`" lang="&a;"/>`, none, ErrNotWellFormed)
	r.returns("ANML-13.5-04/accept-predefined", "<head><title>&lt;&#60;</title></head>", "<<", title)

	t.Run("ANML-6.1-01/accept-media-types", func(t *testing.T) {
		for _, ct := range []string{"application/anml+xml", "Application/ANML+XML; charset=utf-8; x=y"} {
			if f, ok := FormatOf(ct); f != XML || !ok {
				t.Error(ct)
			}
			if _, err := Parse(ct, []byte(service(head)), none); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("ANML-6.1-01/reject-others", func(t *testing.T) {
		for _, ct := range []string{"text/html", "", "application/xml", "application/anml+json, text/html", "application/octet-stream"} {
			if _, err := Parse(ct, []byte(service(head)), none); err == nil {
				t.Error(ct)
			}
		}
	})
	t.Run("ANML-6.1-01/accept-parameters", func(t *testing.T) {
		if _, err := Parse("application/anml+xml; charset=us-ascii", []byte(service("é")), none); !errors.Is(err, ErrEncoding) {
			t.Error("the charset is not used:", err)
		}
		for parameter, differs := range map[string]bool{"": false, "; version=1.0": false, "; version=2.0": true} {
			for mediaType, doc := range map[string]string{"application/anml+xml": service(head), "application/anml+json": `{"anml":"1.0"}`} {
				d, err := Parse(mediaType+parameter, []byte(doc), none)
				if err != nil || d.hasFinding(codeVersionType) != differs {
					t.Errorf("%s%s: %v %v", mediaType, parameter, d.Findings(), err)
				}
			}
		}
		if ExtensionXML != ".anml" {
			t.Error(ExtensionXML)
		}
	})
	r.finds1("ANML-6.1-02/accept-with-finding", XML, service(head), ReadOptions{Version: "2.0"}, codeVersionType)
	r.returns("ANML-6.1-03/accept-unknown", "<zzz/>"+head, "T", title)
	r.refuses("ANML-6.2.1-01/reject-invalid", XML, service("<head><title>\xc3</title></head>"), none, ErrEncoding)
	r.finds1("ANML-6.2.1-02/accept-charset-wins", XML, strings.Replace(service(head), "UTF-8", "ISO-8859-1", 1), ReadOptions{Charset: "utf-8"}, codeEncodingClash)
	r.reads("ANML-6.2.1-02/accept-text-in-the-charset", XML, strings.Replace(service("<head><title>é</title></head>"), "UTF-8", "ISO-8859-1", 1), ReadOptions{Charset: "utf-8"}, "é", title)
	r.refuses("ANML-6.2.1-02/reject-beyond-the-charset", XML, service("é"), ReadOptions{Charset: "us-ascii"}, ErrEncoding)
	r.reads("ANML-6.2.1-02/accept-more-than-the-declaration", XML, strings.Replace(service("<head><title>é</title></head>"), "UTF-8", "US-ASCII", 1), ReadOptions{Charset: "utf-8"}, "é", title)
	r.refuses("ANML-6.2.1-02/reject-without-fallback", XML, strings.Replace(service("\xe9"), "UTF-8", "ISO-8859-1", 1), ReadOptions{Charset: "utf-8"}, ErrEncoding)
	r.finds1("ANML-6.2.2-01/accept-without", XML, bare, none, codeNoDecl)
	r.refuses("ANML-6.2.2-01/reject-xml-1.1", XML, `<?xml version="1.1"?>`+bare, none, ErrNotWellFormed)
	r.finds1("ANML-6.2.2-02/accept-with-finding", XML, utf16Of(bare, false, true), none, codeNoDecl)
	r.finds1("ANML-6.2.3-01/accept-with-finding", XML, "\uFEFF"+bare, none, codeBOM)
	t.Run("ANML-6.2.2-02/accept-as-an-error", func(t *testing.T) { // and its byte order mark is needed
		for doc, want := range map[string]lookleap.Severity{bare: lookleap.SeverityInfo, utf16Of(bare, false, true): lookleap.SeverityError} {
			d, err := ParseXML([]byte(doc), none)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range d.Findings() {
				if f.Code == codeBOM || f.Code == codeNoDecl && f.Severity != want {
					t.Errorf("%+v", f)
				}
			}
		}
	})
	t.Run("ANML-7.1-01/accept-the-charset", func(t *testing.T) {
		for _, charset := range []string{"", "utf-8", "UTF-8"} {
			d, err := ParseJSON([]byte(`{"anml":"1.0"}`), ReadOptions{Charset: charset})
			if err != nil || slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool { return f.Code == codeEncodingClash }) {
				t.Errorf("%q: %v", charset, err)
			}
		}
	})
	t.Run("ANML-5.1-02/reject-with-the-reason", func(t *testing.T) {
		if _, err := ParseXML([]byte(`<anml/>`), none); err == nil || !strings.Contains(err.Error(), "has no namespace") {
			t.Error(err)
		}
	})
	t.Run("ANML-8-02/reject-text-of-another-element", func(t *testing.T) { // a comment divides the text before it
		d, err := ParseXML([]byte(service(`<head>stray<!-- c --> <title>Shop</title></head>`)), none)
		if err != nil || d.Head().Title() != "Shop" {
			t.Errorf("%q, %v", d.Head().Title(), err)
		}
	})
	r.finds1("ANML-6.2.3-02/accept-xml", XML, "\uFEFF"+service(head), none, codeBOM)
	r.finds1("ANML-6.2.3-02/accept-json", JSON, "\uFEFF"+`{"anml":"1.0"}`, none, codeBOM)
	for name, bigEndian := range map[string]bool{"": false, "-big-endian": true} {
		r.refuses("ANML-6.2.3-03/reject-without-mark"+name, XML, utf16Of(bare, bigEndian, false), none, ErrEncoding)
		r.reads("ANML-6.2.3-03/accept-with-mark"+name, XML, utf16Of(`<?xml version="1.0" encoding="UTF-16"?><anml xmlns="`+Namespace+`">`+head+`</anml>`, bigEndian, true), none, "T", title)
		for _, charset := range []string{"utf-16", "utf-16le", "utf-16be"} {
			r.refuses("ANML-6.2.3-03/reject-labelled"+name+"-"+charset, XML, utf16Of(bare, bigEndian, false), ReadOptions{Charset: charset}, ErrEncoding)
			r.refuses("ANML-6.2.3-03/reject-utf8-labelled"+name+"-"+charset, XML, bare, ReadOptions{Charset: charset}, ErrEncoding)
		}
	}
	r.returns("ANML-6.2.4-02/accept-normalised", "<head><title>a\r\nb\rc\nd&#13;</title></head>", "a\nb\nc\nd\r", title)
	r.returns("ANML-6.2.4-02/accept-normalised-in-cdata", "<head><title><![CDATA[a\r\nb\rc\nd]]></title></head>", "a\nb\nc\nd", title)
	r.returns("ANML-6.2.4-02/accept-normalised-in-a-value", "<head><meta name=\"a\" value=\"a\r\nb\rc\nd&#13;&#10;e\"/></head>", "a b c d\r\ne", func(d *Document) any { v, _ := d.Head().Meta("a"); return v })
	r.reads("ANML-6.2.4-02/accept-escapes-in-json-kept", JSON, "{\r\"anml\":\"1.0\",\r\n\"head\":{\"title\":\"a\\r\\n\"}}", none, "a\r\n", title)
	for _, f := range []Format{XML, JSON} {
		t.Run("ANML-6.2.4-01/accept-writes-lf-between-elements-"+f.String(), func(t *testing.T) {
			d, _ := ParseXML([]byte(service("<head>\r\n<title>a</title>\r</head>")), none)
			b, err := Marshal(d, f, WriteOptions{Indent: "  "})
			if err != nil || bytes.ContainsRune(b, '\r') || bytes.Count(b, []byte("\n")) < 4 {
				t.Errorf("%q %v", b, err)
			}
		})
	}
	t.Run("ANML-6.2.4-01/accept-writes-lf", func(t *testing.T) {
		d, _ := ParseXML([]byte(service("<head><title>a\r\nb&#13;</title></head>")), none)
		x, err := MarshalXML(d, WriteOptions{})
		if err != nil || bytes.ContainsRune(x, '\r') || !bytes.Contains(x, []byte("a\nb&#xD;")) {
			t.Errorf("%s %v", x, err)
		}
	})
	r.finds("ANML-6.5.1-13/accept-elsewhere", "", lookleap.SeverityWarning, codeNoTitle)
	r.clean("ANML-6.5.1-13/accept-minimal", XML, service(head))
	t.Run("ANML-6.5.1-13/reject-at-well-known", func(t *testing.T) {
		d, err := ParseXML([]byte(service("")), ReadOptions{WellKnown: true})
		if err != nil || d.Findings()[0].Code != codeNoTitle || d.Findings()[0].Severity != lookleap.SeverityError {
			t.Error(err, d.Findings())
		}
	})
	r.returns("ANML-10-01/accept-unicode", "<head><title>日本語 \U0001F600</title></head>", "日本語 \U0001F600", title)
	t.Run("ANML-10.1-01/accept-reference-in-utf16", func(t *testing.T) {
		d, err := ParseXML([]byte(utf16Of(`<?xml version="1.0" encoding="UTF-16"?><anml xmlns="`+Namespace+`"><head><title>&#233;</title></head></anml>`, false, true)), none)
		if err != nil || d.Head().Title() != "é" {
			t.Error(err)
		}
	})
	r.finds1("ANML-10.2-01/accept-charset-first", XML, strings.Replace(service(head), "UTF-8", "UTF-16", 1), ReadOptions{Charset: "utf-8"}, codeEncodingClash)
	r.refuses("ANML-10.2-01/reject-contradicting-mark", XML, "\uFEFF"+service(head), ReadOptions{Charset: "utf-16"}, ErrEncoding)
	r.refuses("ANML-10.2-02/reject-latin1", XML, strings.Replace(service(head), "UTF-8", "ISO-8859-1", 1), none, ErrUnsupportedEncoding)
	r.refuses("ANML-10.2-02/reject-windows-1252", XML, service(head), ReadOptions{Charset: "windows-1252"}, ErrUnsupportedEncoding)
	r.clean("ANML-10.2-02/accept-ascii", XML, strings.Replace(service(head), "UTF-8", "US-ASCII", 1))
	lang := `<body lang="en"><audio src="a" lang="fr"><description>d</description></audio><section xml:lang="de"/><section/></body>`
	r.returns("ANML-10.3-01/accept-inherited", lang, "en fr de en", func(d *Document) any {
		out := d.Body().Lang()
		for c := range d.Body().Content() {
			out += " " + c.Lang()
		}
		return out
	})
	r.returns("ANML-10.3-01/accept-none", "<body/>", "", func(d *Document) any { return d.Body().Lang() })
	r.finds("ANML-10.3-02/reject-dir", `<body dir="rtl"/>`, lookleap.SeverityInfo, codeUnqualified, "ANML-5.3.4-02")
	r.returns("ANML-16.4-01/accept-exact", head, "T", title)
	r.refuses("ANML-16.4-01/reject-trailing-space", XML, `<anml xmlns="`+Namespace+` "/>`, none, ErrUnsupportedVersion)
	r.refuses("ANML-17-03/reject-alias-by-default", XML, `<anml xmlns="urn:ietf:params:xml:ns:anml"/>`, none, ErrUnsupportedVersion)
	r.returns("ANML-17-03/accept-provisional", head, "T", title)
	r.returns("ANML-15.5-02/accept-text-as-is", "<body> a\r\n<section/>\t<![CDATA[<]]>&#32;</body>", " a\n\t< ", func(d *Document) any { return d.Body().Text() })
	r.returns("ANML-15.2-01/accept-schema-org", `<body><data><item><field name="https://schema.org/price">1</field></item></data></body>`, "https://schema.org/price",
		func(d *Document) any { return first(first(first(d.Body().Data()).Items()).Fields()).Name() })
	t.Run("ANML-16.1-01/reject-trust-type", func(t *testing.T) {
		for _, mediaType := range []string{MediaTypeTrust, "Application/ANML-Trust+JSON", "application/anml-trust+json; charset=utf-8"} {
			for _, generic := range []bool{false, true} {
				if _, err := Parse(mediaType, []byte(`{"anml":"1.0"}`), ReadOptions{AcceptGenericTypes: generic}); err == nil {
					t.Errorf("%s was read as a document", mediaType)
				}
			}
		}
	})
	t.Run("ANML-16.1-01/accept-case", func(t *testing.T) {
		for mediaType, text := range map[string]string{
			"APPLICATION/anml+JSON": `{"anml":"1.0"}`, "application/anml+json": `{"anml":"1.0"}`, "Application/ANML+Xml; charset=UTF-8": service(""), "application/anml+xml": service(""),
		} {
			if _, err := Parse(mediaType, []byte(text), none); err != nil {
				t.Errorf("%s: %v", mediaType, err)
			}
		}
	})
}
