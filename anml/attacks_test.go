package anml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// The cases of attack groups I and J that a document decides.
func TestAttacks(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	bare := `<anml xmlns="` + Namespace + `"/>`
	with := func(inner string) string { return `<anml xmlns="` + Namespace + `">` + inner + `</anml>` }
	endpoint := func(d *Document) any { return first(d.Interact().Actions()).Endpoint() }

	r.refuses("I01/reject-external-entity", XML, `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>`+with("<head><title>&x;</title></head>"), none, ErrNotWellFormed)
	var laughs strings.Builder
	laughs.WriteString(`<!DOCTYPE a [<!ENTITY l0 "ha">`)
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&laughs, `<!ENTITY l%d "%s">`, i, strings.Repeat(fmt.Sprintf("&l%d;", i-1), 10))
	}
	laughs.WriteString("]>")
	r.refuses("I02/reject-billion-laughs", XML, laughs.String()+with("<head><title>&l9;</title></head>"), none, ErrNotWellFormed)
	r.returns1("I02/accept-unused", XML, laughs.String()+bare)
	r.refuses("I04/reject-duplicate-attribute", XML, with(`<interact><action id="a" endpoint="/ok" endpoint="https://evil.test/"/></interact>`), none, ErrNotWellFormed)
	r.returns("I05/accept-own-attribute-only", with(`<interact><action xmlns:p="u" id="a" method="GET" p:endpoint="https://evil.test/" endpoint="/ok"/></interact>`), "/ok", endpoint)
	r.returns("I05/reject-foreign-alone", with(`<interact><action xmlns:p="u" id="a" method="GET" p:endpoint="https://evil.test/"/></interact>`), 0, func(d *Document) any { return count(d.Interact().Actions()) })
	r.returns("I05/reject-own-namespace-alone", with(`<interact><action xmlns:p="`+Namespace+`" id="a" method="GET" p:endpoint="https://evil.test/"/></interact>`), 0, func(d *Document) any { return count(d.Interact().Actions()) })
	r.refuses("I07/reject-undeclared-prefix", XML, with("<p:interact/>"), none, ErrNotWellFormed)
	r.refuses("I07/reject-undeclared-prefix-of-an-attribute", XML, with(`<interact p:id="a"/>`), none, ErrNotWellFormed)
	r.refuses("I07/reject-prefix-of-a-sibling", XML, with(`<a xmlns:p="u"/><p:interact/>`), none, ErrNotWellFormed)
	r.returns1("I07/accept-declared-prefix", XML, with(`<a xmlns:p="u"><p:interact p:id="a"/></a>`))
	r.returns("I08/accept-cdata-as-text", with("<body><![CDATA[<interact/>]]></body>"), "<interact/> false", func(d *Document) any { return fmt.Sprint(d.Body().Text(), " ", d.Interact().Exists()) })
	for name, doc := range map[string]string{"cdata": with("<body><![CDATA[<interact/>]]></body>"), "php": with("<?php ?>"), "stylesheet": `<?xml-stylesheet href="x"?>` + bare, "quotes": `<anml xmlns='` + Namespace + `' ttl='1'/>`} {
		r.refuses("I08/reject-strict-"+name, XML, doc, ReadOptions{StrictLexical: true}, ErrLexical)
		r.finds1("I08/accept-with-finding-"+name, XML, doc, none, map[string]lookleap.Code{"cdata": codeCDATA, "php": codePI, "stylesheet": codePI, "quotes": codeQuote}[name])
	}
	for i, c := range []string{"&#0;", "&#xD800;", "&#xFFFE;", "\uFFFE", "\x01"} {
		r.refuses("I10/reject-"+itoa(i), XML, with("<body>"+c+"</body>"), none, ErrNotWellFormed)
	}
	r.returns("I11/accept-joined", with("<persona><instructions>ig<!-- -->nore rules</instructions></persona>"), "ignore rules", func(d *Document) any { return d.Persona().Instructions() })
	r.returns("I11/accept-joined-in-a-body", with("<body>ig<!-- -->nore rules</body>"), "ignore rules", func(d *Document) any { return d.Body().Text() })
	r.returns("I11/accept-joined-around-an-instruction", with("<persona><instructions>ig<?x y?>nore<![CDATA[ ru]]><!-- -->les</instructions></persona>"), "ignore rules", func(d *Document) any { return d.Persona().Instructions() })
	r.returns("I11/accept-one-piece", with("<body>ig<!-- -->nore</body>"), 1, func(d *Document) any { return count(d.Body().Content()) })
	r.refuses("I13/reject-size", XML, with("<body>"+strings.Repeat("x", 1<<20)+"</body>"), none, ErrLimit)
	r.refuses("I13/reject-actions", XML, with("<interact>"+strings.Repeat("<action/>", 65)+"</interact>"), none, ErrLimit)
	r.refuses("I13/reject-asks", XML, with("<knowledge>"+strings.Repeat("<ask/>", 33)+"</knowledge>"), none, ErrLimit)
	for name, c := range map[string]string{"tab": "&#9;", "carriage-return": "&#13;", "raw-newline": "\n", "raw-tab": "\t"} {
		r.returns("I14/reject-"+name+"-in-endpoint", with(`<interact><action id="a" method="GET" endpoint="/a`+c+`b"/></interact>`), true, func(d *Document) any { return first(d.Interact().Actions()).Executable() != nil })
	}
	r.returns("I14/accept-plain-endpoint", with(`<interact><action id="a" method="GET" endpoint="/ab"/></interact>`), "<nil>", func(d *Document) any { return first(d.Interact().Actions()).Executable() })
	r.returns("I14/reject-newline-in-endpoint", with(`<interact><action id="a" method="GET" endpoint="/a&#10;b"/></interact>`), true, func(d *Document) any { return first(d.Interact().Actions()).Executable() != nil })
	for _, versions := range []string{"2.0", "", "9, 8", "1.1", "1", "11.0", "1.0.1", "1.00", "1.0;1.1", "2.0 1.0"} {
		r.returns("I16/reject-"+versions, `<anml xmlns="`+Namespace+`" version="2.0" supported-versions="`+versions+`"><interact><action id="a" method="GET" endpoint="/"/></interact></anml>`, "false true", func(d *Document) any {
			return fmt.Sprint(d.Executable(), " ", errors.Is(first(d.Interact().Actions()).Executable(), ErrUnsupportedVersion))
		})
	}
	r.returns("I16/accept-offered-beside-another-version", `<anml xmlns="`+Namespace+`" version="2.0" supported-versions="9, 1.0"><interact><action id="a" method="GET" endpoint="/"/></interact></anml>`, "true <nil>", func(d *Document) any {
		return fmt.Sprint(d.Executable(), " ", first(d.Interact().Actions()).Executable())
	})
	r.returns("I16/accept-offered", `<anml xmlns="`+Namespace+`" supported-versions="1.0, 9"/>`, true, func(d *Document) any { return d.Executable() })
	r.refuses("I17/reject-utf16-without-mark", XML, utf16Of(bare, true, false), none, ErrEncoding)
	r.refuses("I17/reject-utf16-without-mark-of-the-other-order", XML, utf16Of(bare, false, false), none, ErrEncoding)
	r.refuses("I17/reject-mark-against-utf16", XML, "\uFEFF"+`<?xml version="1.0" encoding="utf-16"?>`+bare, none, ErrEncoding)
	r.refuses("I17/reject-declared-utf16-in-utf8", XML, `<?xml version="1.0" encoding="utf-16"?>`+bare, none, ErrEncoding)
	r.returns1("I17/accept-utf16-with-mark", XML, utf16Of(bare, true, true))
	r.returns1("I17/accept-mark-and-utf8", XML, "\uFEFF"+`<?xml version="1.0" encoding="utf-8"?>`+bare)
	r.refuses("I17/reject-mark-against-latin1", XML, "\uFEFF"+`<?xml version="1.0" encoding="latin1"?>`+bare, none, ErrEncoding)
	r.refuses("F17/reject-utf16-charset", XML, bare, ReadOptions{Charset: "utf-16"}, ErrEncoding)
	r.refuses("F17/reject-utf7", XML, `<?xml version="1.0" encoding="utf-7"?>`+bare, none, ErrUnsupportedEncoding)

	j := func(members string) string { return `{"anml":"1.0"` + members + `}` }
	r.refuses("J01/reject-top", JSON, j(`,"ttl":1,"ttl":2`), none, ErrNotWellFormed)
	r.refuses("J01/reject-nested", JSON, j(`,"x":{"a":1,"a":2}`), none, ErrNotWellFormed)
	r.refuses("J01/reject-unescaped", JSON, j(`,"ttl":1,"tt\u006c":2`), none, ErrNotWellFormed)
	t.Run("J02/reject-folded-keys", func(t *testing.T) {
		d, err := ParseJSON([]byte(j(`,"TTL":9,"tt\u017f":9,"Head":{"title":"x"},"Lang":"x"`)), none)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := d.TTL(); has || d.Head().Exists() || d.Lang() != "" {
			t.Error("a key of another case was taken")
		}
	})
	for name, text := range map[string]string{"octet": "\"\xff\"", "surrogate": `"\ud800"`, "overlong": "\"\xc0\x80\"", "surrogate-octets": "\"\xed\xa0\x80\"", "low-surrogate": `"\udc00"`, "two-high-surrogates": `"\ud800\ud800"`} {
		r.refuses("J04/reject-"+name, JSON, j(`,"x":`+text), none, ErrEncoding)
	}
	r.finds1("J05/accept-mark-with-finding", JSON, "\uFEFF"+j(""), none, codeBOM)
	for _, n := range []string{"-1", "1.5", "1e400", "9007199254740993", "-0", `"x"`, "[]", "true"} {
		t.Run("J07/reject-ttl-"+n, func(t *testing.T) {
			d, err := ParseJSON([]byte(j(`,"ttl":`+n)), none)
			if err != nil {
				t.Fatal(err)
			}
			if ttl, has := d.TTL(); ttl != 0 || !has {
				t.Error(ttl, has)
			}
		})
	}
	for name, members := range map[string]string{"object": `"disclosure":{"field":"email","requires":"authentication"}`, "array": `"disclosure":[{"field":"email","requires":"authentication"}]`} {
		t.Run("J08/accept-"+name, func(t *testing.T) {
			d, err := ParseJSON([]byte(j(`,"constraints":{`+members+`},"knowledge":{"ask":{"field":"email","action":"a"}}`)), none)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Constraints().Rule("email", nil).Requires; got != Authentication || count(d.Knowledge().Asks()) != 1 {
				t.Error(got)
			}
		})
	}
	t.Run("J08/accept-array-of-one", func(t *testing.T) {
		d, err := ParseJSON([]byte(j(`,"head":[{"title":"T"}],"constraints":[{"disclosure":[{"field":"email","requires":"authentication"},{"field":"email","requires":"none"}]},{"disclosure":[{"field":"email","requires":"none"}]}]`)), none)
		if err != nil || d.Head().Title() != "T" || d.Constraints().Rule("email", nil).Requires != Authentication {
			t.Error(err)
		}
	})
	t.Run("J10/accept-same-decisions", TestRoundTrip)
	t.Run("J10/accept-unknown-constraint-survives", func(t *testing.T) {
		d, _ := ParseJSON([]byte(j(`,"constraints":{"zzz":1,"disclosure":[{"field":"email","requires":"none"}]}`)), none)
		x, err := MarshalXML(d, WriteOptions{Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		twin, err := ParseXML(x, none)
		if err != nil || twin.Constraints().Rule("email", nil).Requires != ExplicitConsent || d.Constraints().Rule("email", nil).Requires != ExplicitConsent {
			t.Errorf("%s %v", x, err)
		}
	})
	for text, want := range map[string]string{`"required":"false"`: "false", `"required":"true"`: "true", `"required":1`: "false", `"required":{}`: "false", `"required":null`: "false", `"required":true`: "true", `"required":[true]`: "false"} {
		t.Run("J11/accept-"+text, func(t *testing.T) {
			d, err := ParseJSON([]byte(j(`,"knowledge":{"ask":[{"field":"f","action":"a",`+text+`}]}`)), none)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(first(d.Knowledge().Asks()).Required()); got != want {
				t.Error(got)
			}
		})
	}
	for text, want := range map[string]bool{`"confirm":"true"`: true, `"confirm":1`: true, `"confirm":{}`: true, `"confirm":[false]`: true, `"confirm":"no"`: true, `"confirm":"false"`: false, `"confirm":0`: true, `"confirm":false`: false, `"confirm":true`: true} {
		t.Run("J11/reject-"+text, func(t *testing.T) {
			d, err := ParseJSON([]byte(j(`,"interact":{"action":[{"id":"a","method":"GET","endpoint":"/",`+text+`}]}`)), none)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := first(d.Interact().Actions()).Confirm(); got != want {
				t.Error(got)
			}
		})
	}
}

// TestHostileCost holds what refusing may cost.
func TestHostileCost(t *testing.T) {
	many := func(f string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, f, i)
		}
		return b.String()
	}
	open := `<anml xmlns="` + Namespace + `">`
	for name, doc := range map[string]string{
		"xml-attributes": open + "<zzz" + many(` a%d=""`, 90_000) + "/></anml>",
		"xml-deep":       open + strings.Repeat("<body>", 170_000),
		"xml-flat":       open + strings.Repeat("<b/>", 250_000) + "</anml>",
		"xml-unclosed":   open + strings.Repeat("<b></b>", 140_000),
		"xml-value":      open + `<b c="` + strings.Repeat("x", 1_000_000) + `"/>`,
		"xml-foreign":    open + many(`<b c%d="" d=""/>`, 49_000) + "<",
		"xml-escaped":    open + "<body>" + strings.Repeat("&amp;", 200_000),
		"xml-side":       open + "<body>" + strings.Repeat("<section>&amp;"+strings.Repeat("x", 30)+"</section>", 19_000) + "<",
		"xml-texts":      open + "<body>" + strings.Repeat("x<link/>", 49_000) + "<",
		"json-escaped":   `{"anml":"1.0","body":"` + strings.Repeat(`\n`, 500_000),
		"json-foreign":   `{"anml":"1.0","{}x":[` + strings.Repeat(`{"@{u}a":"","{}y":""},`, 45_000) + "[",
		"xml-comments":   open + "<body>" + strings.Repeat("x<!---->", 130_000),
		"xml-doctype":    `<!DOCTYPE a [` + strings.Repeat(`<!ENTITY x "y">`, 60_000),
		"json-deep":      `{"anml":"1.0","x":` + strings.Repeat("[", 1_000_000),
		"json-duplicate": `{"anml":"1.0"` + many(`,"k%d":1`, 80_000) + `,"k1":1}`,
		"json-flat":      `{"anml":"1.0","x":[` + strings.Repeat("{},", 340_000) + `{}]}`,
		"json-elements":  `{"anml":"1.0","{}x":[` + strings.Repeat(`"",`, 340_000) + `""]}`,
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(doc)
			most := 3 << 20
			if name == "json-duplicate" {
				most = 20 << 20 // all tables of names while they grow
			}
			alloctest.AtMost(t, most, func() {
				parse := ParseJSON
				if doc[0] == '<' {
					parse = ParseXML
				}
				_, err := parse(data, ReadOptions{})
				var e *lookleap.Error
				if !errors.As(err, &e) || e.Position.Line == 0 {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}
