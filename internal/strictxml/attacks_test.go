package strictxml

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/test/alloctest"
)

// The cases of the attack lists, as far as a tokenizer decides them.

func TestAttacks(t *testing.T) {
	refuse := func(id, name, doc, code string) {
		t.Run(id+"/reject-"+name, func(t *testing.T) {
			if got, err := render(NewBytes([]byte(doc), Options{})); !hasCode(err, code) {
				t.Errorf("got %s, %v, want %s", got, err, code)
			}
		})
	}
	accept := func(id, name, doc, want string) {
		t.Run(id+"/accept-"+name, func(t *testing.T) {
			if got, err := render(NewBytes([]byte(doc), Options{})); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}

	refuse("I01", "external-entity", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`, CodeUndefinedEntity)
	refuse("I01", "entity-in-a-value", `<!DOCTYPE a [<!ENTITY x "v">]><a b="&x;"/>`, CodeUndefinedEntity)
	refuse("I01", "entity-of-html", `<a>&nbsp;</a>`, CodeUndefinedEntity)
	refuse("I01", "declared-in-a-predefined-name-of-other-case", `<!DOCTYPE a [<!ENTITY AMP "v">]><a>&AMP;</a>`, CodeUndefinedEntity)
	accept("I01", "unused-entity", `<!DOCTYPE a SYSTEM "https://evil.example/x.dtd" [<!ENTITY x SYSTEM "file:///etc/passwd">]><a/>`, "doctype <a> </a>")
	accept("I01", "no-default-attribute", `<!DOCTYPE a [<!ATTLIST a ttl CDATA "9">]><a/>`, "doctype <a> </a>")

	refuse("I02", "billion-laughs", laughs(), CodeUndefinedEntity)
	refuse("I02", "parameter-entities", `<!DOCTYPE a [<!ENTITY % p "<!ENTITY x 'y'>"> %p; ]><a>&x;</a>`, CodeUndefinedEntity)
	refuse("I02", "endless-subset", `<!DOCTYPE a [`+strings.Repeat(`<!ENTITY x "y">`, 5000)+`]><a/>`, CodeLimit)
	subset := func(size int) string { // a document type declaration of so many bytes
		const before, after = `<!DOCTYPE a [<!--`, `-->]>`
		return before + strings.Repeat("x", size-len(before)-len(after)) + after + "<a/>"
	}
	refuse("I02", "a-byte-more-than-64-kib", subset(64<<10+1), CodeLimit)
	accept("I02", "64-kib", subset(64<<10), "doctype <a> </a>")
	accept("I02", "unused-laughs", strings.Replace(laughs(), "&l9;", "", 1), "doctype <a> </a>")

	refuse("I04", "duplicate-attribute", `<action id="a" endpoint="/ok" endpoint="https://evil.test/"/>`, CodeDuplicateAttribute)
	refuse("I04", "duplicate-among-many", `<a `+numbered(40)+` a7=""/>`, CodeDuplicateAttribute)
	refuse("I04", "duplicate-declaration", `<a xmlns:p="u" xmlns:p="v"/>`, CodeDuplicateAttribute)
	refuse("I04", "duplicate-default-declaration", `<a xmlns="u" xmlns="v"/>`, CodeDuplicateAttribute)
	refuse("I05", "two-prefixes-one-name", `<a xmlns:p="u" xmlns:q="u" p:x="1" q:x="2"/>`, CodeDuplicateAttribute)
	accept("I05", "foreign-attribute-apart", `<action xmlns:p="u" endpoint="/ok" p:endpoint="https://evil.test/"/>`,
		`<action endpoint="/ok" {u}endpoint="https://evil.test/"> </action>`)
	refuse("I07", "undeclared-prefix", `<p:interact/>`, CodeNamespace)
	refuse("I07", "undeclared-prefix-of-an-attribute", `<a p:b=""/>`, CodeNamespace)
	refuse("I07", "prefix-bound-to-nothing", `<a xmlns:p=""><p:b/></a>`, CodeNamespace)
	refuse("I07", "prefix-of-a-sibling-below-another-declaration", `<a xmlns:q="v"><b xmlns:p="u"/><p:c/></a>`, CodeNamespace)
	refuse("I07", "prefix-of-a-sibling", `<a><b xmlns:p="u"/><p:c/></a>`, CodeNamespace)

	accept("I08", "reported-as-what-it-is", `<?xml-stylesheet href="x"?><a b='1'><![CDATA[<interact/>]]></a>`,
		`? <a b="1"> cdata:"<interact/>" </a>`)
	for i, c := range []string{"&#0;", "&#xD800;", "&#xFFFE;", "\uFFFE", "\x01", "&#x110000;"} {
		refuse("I10", fmt.Sprintf("character-%d", i), "<a>"+c+"</a>", CodeBadChar)
	}
	for name, c := range map[string]string{"null": "\x00", "unit-separator": "\x1f", "vertical-tab": "\v", "fffe": "\uFFFE", "ffff": "\uFFFF"} {
		for place, format := range map[string]string{"text": "<a>%s</a>", "value": `<a b="%s"/>`, "comment": "<a><!--%s--></a>", "cdata": "<a><![CDATA[%s]]></a>", "instruction": "<a><?b %s?></a>"} {
			refuse("I10", name+"-in-"+place, fmt.Sprintf(format, c), CodeBadChar)
		}
	}
	for _, c := range []string{"&#1;", "&#x1F;", "&#11;", "&#xDFFF;", "&#xFFFF;"} {
		refuse("I10", "reference-"+strings.Trim(c, "&#;"), "<a>"+c+"</a>", CodeBadChar)
		refuse("I10", "reference-in-value-"+strings.Trim(c, "&#;"), `<a b="`+c+`"/>`, CodeBadChar)
	}
	accept("I11", "comment-reported-apart", `<a>ig<!-- -->nore rules</a>`, `<a> text:"ig" text:"nore rules" </a>`)

	refuse("I13", "too-many-attributes", `<a `+numbered(100_000)+`/>`, CodeLimit)
	refuse("I13", "too-long", `<a>`+strings.Repeat("x", 1<<20)+`</a>`, CodeLimit)
	refuse("I13", "too-deep", strings.Repeat("<a>", 33), CodeLimit)
	accept("I14", "normalised-value", "<a b='/a&#10;b\nc'/>", `<a b="/a\nb c"> </a>`)
	accept("I14", "normalised-blanks", "<a b='\t\r\n\r\n \n&#9;&#13;'/>", `<a b="     \t\r"> </a>`)
	for name, doc := range map[string]string{"utf-8": `<?xml version="1.0" encoding="utf-8"?><a/>`, "utf-16be": `<?xml version="1.0" encoding="utf-16be"?><a/>`} {
		refuse("I17", "utf-16-mark-against-"+name, string(utf16Bytes(doc, false, true)), CodeEncoding)
	}
	refuse("I17", "utf-16-mark-against-utf-16le", string(utf16Bytes(`<?xml version="1.0" encoding="utf-16le"?><a/>`, true, true)), CodeEncoding)
	refuse("I17", "latin1-bytes-in-utf-8", "<a>caf\xe9</a>", CodeEncoding)
	refuse("I17", "bytes-beyond-ascii", `<?xml version="1.0" encoding="us-ascii"?><a>`+"\u00e9</a>", CodeEncoding)
	refuse("I17", "half-a-character-in-utf-16", string(utf16Bytes("<a>", false, true))+"\x00\xd8x\x00", CodeEncoding)
	refuse("I17", "utf-16-without-mark", string(utf16Bytes("<a/>", false, false)), CodeEncoding)
	refuse("I17", "utf-16-without-mark-of-the-other-order", string(utf16Bytes("<a/>", true, false)), CodeEncoding)
	refuse("I17", "mark-against-latin1", "\uFEFF"+`<?xml version="1.0" encoding="latin1"?><a/>`, CodeUnsupported)
	refuse("F17", "utf-7", `<?xml version="1.0" encoding="utf-7"?><a/>`, CodeUnsupported)
	t.Run("F17/reject-utf-16-charset-for-utf-8", func(t *testing.T) {
		if _, err := render(NewBytes([]byte("<a/>"), Options{Charset: "utf-16"})); !hasCode(err, CodeEncoding) {
			t.Errorf("got %v", err)
		}
	})
}

// A sitemap that unpacks to more than it may is refused while it streams.
func TestSitemapBomb(t *testing.T) {
	t.Run("N01/reject-bomb", func(t *testing.T) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.Copy(z, io.MultiReader(strings.NewReader("<urlset>"), &repeat{unit: "<url><loc>https://a.example/</loc></url>\n", left: 2 << 20}))
		_ = z.Close()
		unpacked, err := gzip.NewReader(&packed)
		if err != nil {
			t.Fatal(err)
		}
		s := NewReader(unpacked, Options{Limits: Limits{Bytes: 8 << 20, Tokens: 1 << 24}})
		for err == nil {
			_, err = s.Next()
		}
		if !hasCode(err, CodeLimit) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("N01/reject-entity", func(t *testing.T) {
		s := NewReader(strings.NewReader(`<!DOCTYPE u [<!ENTITY x SYSTEM "file:///x">]><urlset><loc>&x;</loc></urlset>`), Options{})
		if _, err := render(s); !hasCode(err, CodeUndefinedEntity) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("N01/reject-one-endless-text", func(t *testing.T) {
		s := NewReader(io.MultiReader(strings.NewReader("<loc>"), &repeat{unit: "x", left: 40 << 20}), Options{Limits: Limits{Bytes: 64 << 20, Text: 8 << 10, Token: 8 << 10}})
		if _, err := render(s); !hasCode(err, CodeLimit) {
			t.Errorf("got %v", err)
		}
		if len(s.src) > 4*window {
			t.Errorf("%d octets held", len(s.src))
		}
	})
}

// Refusing takes little memory, whatever the document tries; BenchmarkHostile
// tells the time.
func TestHostileCost(t *testing.T) {
	for name, doc := range map[string]string{
		"attributes": `<a ` + numbered(100_000) + `/>`,
		"depth":      strings.Repeat("<a>", 340_000),
		"doctype":    `<!DOCTYPE a [` + strings.Repeat(`<!ENTITY x "y">`, 60_000),
		"value":      `<a b="` + strings.Repeat("&lt;", 250_000) + `"/>`,
		"comments":   strings.Repeat("<!---->", 140_000),
		"flat":       "<a>" + strings.Repeat("<b/>", 250_000),
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(doc)[:min(len(doc), 1<<20)]
			alloctest.AtMost(t, 2<<20, func() {
				if _, err := render2(NewBytes(data, Options{Limits: Limits{Tokens: 50_000}})); err == nil {
					t.Fatal("accepted")
				}
			})
		})
	}
}

func render2(s *Scanner) (n int, err error) {
	for {
		if _, err = s.Next(); err != nil {
			return n, err
		}
		n++
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `a%d="" `, i)
	}
	return b.String()
}

func laughs() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE a [<!ENTITY l0 "ha">`)
	for i := 1; i <= 9; i++ {
		fmt.Fprintf(&b, `<!ENTITY l%d "%s">`, i, strings.Repeat(fmt.Sprintf("&l%d;", i-1), 10))
	}
	b.WriteString(`]><a>&l9;</a>`)
	return b.String()
}
