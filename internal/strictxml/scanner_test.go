package strictxml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// render writes tokens in a form that a table can hold.
func render(s *Scanner) (string, error) {
	var b strings.Builder
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return strings.TrimSpace(b.String()), nil
		}
		if err != nil {
			return "", err
		}
		switch tok.Kind {
		case StartElement:
			fmt.Fprintf(&b, "<%s", render1(tok.Name))
			for _, a := range tok.Attrs {
				fmt.Fprintf(&b, " %s=%q", render1(a.Name), a.Value)
			}
			b.WriteString("> ")
		case EndElement:
			fmt.Fprintf(&b, "</%s> ", render1(tok.Name))
		case ProcInst:
			b.WriteString("? ")
		case Doctype:
			b.WriteString("doctype ")
		default:
			fmt.Fprintf(&b, "%s:%q ", map[Kind]string{Text: "text", CData: "cdata"}[tok.Kind], tok.Text)
		}
	}
}

func render1(n Name) string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

func TestAccepts(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"empty element", `<a/>`, `<a> </a>`},
		{"space around the sign", "<a b\t=\n'1'/>", `<a b="1"> </a>`},
		{"attributes", `<a b="1" c='"2"' />`, `<a b="1" c="\"2\""> </a>`},
		{"text and references", "<a>x &lt;&amp;&gt;&quot;&apos; &#65;&#x41;</a >", `<a> text:"x <&>\"' AA" </a>`},
		{"references in both cases", "<a>&#x4a;&#x4A;&#xfA;</a>", `<a> text:"JJú" </a>`},
		{"line ends", "<a>1\r\n2\r3\n4&#13;</a>", `<a> text:"1\n2\n3\n4\r" </a>`},
		{"line ends before text", "<a>\r\n\rx</a>", `<a> text:"\n\nx" </a>`},
		{"blank text", "<a>\r\n <b/>\n</a>", `<a> text:"\n " <b> </b> text:"\n" </a>`},
		{"value normalised", "<a b='1\r\n2\t3\n4&#10;5&#9;'/>", `<a b="1 2 3 4\n5\t"> </a>`},
		{"cdata", "<a><![CDATA[<b>&amp;]]\r\n]]]></a>", `<a> cdata:"<b>&amp;]]\n]" </a>`},
		{"comment", "<!-- a - b --><a>x<!---->y</a><!--z-->", `<a> text:"x" text:"y" </a>`},
		{"processing instruction", "<?p  a?b ?><a><?q?></a>", `? <a> ? </a>`},
		{"declaration", `<?xml version='1.0' encoding="utf-8" standalone = "yes" ?>` + "\n<a/>\n", `<a> </a>`},
		{"namespaces", `<p:a xmlns:p="u" xmlns="d" p:x="1" x="2"><b/><c xmlns=""/><p:d xmlns:p="v"/><p:e/></p:a>`,
			`<{u}a {u}x="1" x="2"> <{d}b> </{d}b> <c> </c> <{v}d> </{v}d> <{u}e> </{u}e> </{u}a>`},
		{"default namespace within another", `<a xmlns="u"><b xmlns="v"/><c/></a>`, `<{u}a> <{v}b> </{v}b> <{u}c> </{u}c> </{u}a>`},
		{"xml prefix undeclared", `<a xml:lang="en"/>`, `<a {http://www.w3.org/XML/1998/namespace}lang="en"> </a>`},
		{"xml prefix", `<a xml:lang="en" xmlns:xml="http://www.w3.org/XML/1998/namespace"/>`, `<a {http://www.w3.org/XML/1998/namespace}lang="en"> </a>`},
		{"names beyond ASCII", `<é·à-1.2 ñ="ö"/>`, `<é·à-1.2 ñ="ö"> </é·à-1.2>`},
		{"brackets in text", `<a>]] ]> ]</a>`, `<a> text:"]] ]> ]" </a>`},
		{"greater-than in a value", `<a b=">"/>`, `<a b=">"> </a>`},
		{"U+FFFD and astral", "<a>\uFFFD\U0001F600\uFEFF</a>", "<a> text:\"\uFFFD\U0001F600\\ufeff\" </a>"},
		{"doctype", `<!DOCTYPE a PUBLIC "p" 's'[<!ENTITY x "]>'"> <!-- ]> ' --> <?p ]> " ?> %pe; <!ATTLIST a b CDATA ">">] ><a/>`, `doctype <a> </a>`},
		{"doctype without subset", `<!DOCTYPE a><a/>`, `doctype <a> </a>`},
		{"doctype with empty literals", `<!DOCTYPE a PUBLIC "" ''[<!ENTITY ａ "">]><a/>`, `doctype <a> </a>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := render(NewBytes([]byte(c.doc), Options{}))
			if err != nil || got != c.want {
				t.Fatalf("in memory: got %s, %v\nwant %s", got, err, c.want)
			}
			streamed, err := render(NewReader(iotest.OneByteReader(strings.NewReader(c.doc)), Options{}))
			if err != nil || streamed != got {
				t.Fatalf("streamed: got %s, %v", streamed, err)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ name, doc, code, place string }{
		{"nothing", ``, CodeUnclosed, "1:1"},
		{"white space alone", "\n ", CodeUnclosed, "2:2"},
		{"text before root", `x<a/>`, CodeSyntax, "1:1"},
		{"text after root", `<a/>x`, CodeTrailing, "1:5"},
		{"second root", `<a/><b/>`, CodeTrailing, "1:5"},
		{"reference after root", `<a/>&#32;`, CodeTrailing, "1:5"},
		{"unclosed", "<a>\n<b></b>", CodeUnclosed, "2:8"},
		{"misnested", `<a><b></a></b>`, CodeMismatch, "1:7"},
		{"stray end tag", `</a>`, CodeMismatch, "1:1"},
		{"end tag with attribute", `<a></a b="1">`, CodeSyntax, "1:8"},
		{"duplicate attribute", `<a b="1" b="2"/>`, CodeDuplicateAttribute, "1:10"},
		{"duplicate expanded name", `<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>`, CodeDuplicateAttribute, "1:36"},
		{"duplicate declaration", `<a xmlns="u" xmlns="u"/>`, CodeDuplicateAttribute, "1:14"},
		{"no space between attributes", `<a b="1"c="2"/>`, CodeSyntax, "1:9"},
		{"no value", `<a b/>`, CodeSyntax, "1:5"},
		{"unquoted", `<a b=1/>`, CodeSyntax, "1:6"},
		{"less-than in a value", `<a b="<"/>`, CodeSyntax, "1:7"},
		{"slash alone", `<a /b>`, CodeBadName, "1:4"},
		{"name with a digit first", `<1a/>`, CodeBadName, "1:2"},
		{"space before name", `< a/>`, CodeBadName, "1:2"},
		{"combining character first", "<\u0301a/>", CodeBadName, "1:2"},
		{"times sign in a name", "<a×/>", CodeBadName, "1:2"},
		{"two colons", `<a:b:c xmlns:a="u"/>`, CodeBadName, "1:2"},
		{"colon first", `<:a/>`, CodeBadName, "1:2"},
		{"colon last", `<a: xmlns:a="u"/>`, CodeBadName, "1:2"},
		{"undeclared prefix", `<p:a/>`, CodeNamespace, "1:2"},
		{"undeclared attribute prefix", `<a p:b=""/>`, CodeNamespace, "1:4"},
		{"prefix out of scope", `<a><b xmlns:p="u"/><p:c/></a>`, CodeNamespace, "1:21"},
		{"prefix bound to nothing", `<a xmlns:p=""/>`, CodeNamespace, "1:4"},
		{"xmlns prefix declared", `<a xmlns:xmlns="u"/>`, CodeNamespace, "1:4"},
		{"xml prefix elsewhere", `<a xmlns:xml="u"/>`, CodeNamespace, "1:4"},
		{"other prefix for xml", `<a xmlns:x="http://www.w3.org/XML/1998/namespace"/>`, CodeNamespace, "1:4"},
		{"default is xml", `<a xmlns="http://www.w3.org/XML/1998/namespace"/>`, CodeNamespace, "1:4"},
		{"default is xmlns", `<a xmlns="http://www.w3.org/2000/xmlns/"/>`, CodeNamespace, "1:4"},
		{"xmlns element", `<xmlns:a/>`, CodeNamespace, "1:2"},
		{"unknown entity", "<a>\n&nbsp;</a>", CodeUndefinedEntity, "2:1"},
		{"unknown entity in a value", `<a b="&x;"/>`, CodeUndefinedEntity, "1:7"},
		{"bare ampersand", `<a>a & b;</a>`, CodeSyntax, "1:6"},
		{"ampersand without end", `<a>a &amp</a>`, CodeSyntax, "1:6"},
		{"upper-case X", `<a>&#X41;</a>`, CodeSyntax, "1:4"},
		{"empty reference", `<a>&#;</a>`, CodeSyntax, "1:4"},
		{"reference beyond Unicode", `<a>&#99999999999999999999;</a>`, CodeBadChar, "1:4"},
		{"control character", "<a>\x01</a>", CodeBadChar, "1:4"},
		{"control character in a value", "<a b='\x01'/>", CodeBadChar, "1:7"},
		{"control character in a comment", "<!--\x01--><a/>", CodeBadChar, "1:5"},
		{"non-character", "<a>x\uFFFE</a>", CodeBadChar, "1:5"},
		{"bracket sequence in text", `<a>]]></a>`, CodeSyntax, "1:4"},
		{"double hyphen", `<!-- a -- b --><a/>`, CodeSyntax, "1:8"},
		{"triple hyphen", `<!-- a ---><a/>`, CodeSyntax, "1:8"},
		{"cdata outside", `<![CDATA[x]]><a/>`, CodeSyntax, "1:1"},
		{"lower-case cdata", `<a><![cdata[x]]></a>`, CodeSyntax, "1:4"},
		{"target xml", `<a><?xml version="1.0"?></a>`, CodeDeclaration, "1:4"},
		{"target XmL", `<?XmL?><a/>`, CodeDeclaration, "1:1"},
		{"declaration after space", ` <?xml version="1.0"?><a/>`, CodeDeclaration, "1:2"},
		{"declaration without version", `<?xml encoding="UTF-8"?><a/>`, CodeDeclaration, "1:1"},
		{"declaration in disorder", `<?xml version="1.0" standalone="no" encoding="UTF-8"?><a/>`, CodeDeclaration, "1:1"},
		{"declaration run together", `<?xml version="1.0"encoding="UTF-8"?><a/>`, CodeDeclaration, "1:1"},
		{"version 1.1", `<?xml version="1.1"?><a/>`, CodeDeclaration, "1:1"},
		{"target with a colon", `<?a:b?><a/>`, CodeBadName, "1:3"},
		{"doctype after root", `<a/><!DOCTYPE a>`, CodeSyntax, "1:5"},
		{"two doctypes", `<!DOCTYPE a><!DOCTYPE a><a/>`, CodeSyntax, "1:13"},
		{"lower-case doctype", `<!doctype a><a/>`, CodeSyntax, "1:1"},
		{"doctype without name", `<!DOCTYPE ><a/>`, CodeSyntax, "1:1"},
		{"doctype that never ends", `<!DOCTYPE a [ <!ENTITY x "]> <a/>`, CodeSyntax, "1:1"},
		{"junk in the subset", `<!DOCTYPE a [ x ]><a/>`, CodeSyntax, "1:1"},
		{"invalid UTF-8", "<a>\xff</a>", CodeEncoding, "1:4"},
		{"overlong UTF-8", "<a>\xc0\x80</a>", CodeEncoding, "1:4"},
		{"encoded surrogate", "<a>\xed\xa0\x80</a>", CodeEncoding, "1:4"},
		{"cut UTF-8", "<a>\xe2\x82", CodeEncoding, "1:4"},
		{"UTF-32", "\xff\xfe\x00\x00<\x00\x00\x00", CodeUnsupported, "1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, s := range map[string]*Scanner{
				"in memory": NewBytes([]byte(c.doc), Options{}),
				"streamed":  NewReader(iotest.OneByteReader(strings.NewReader(c.doc)), Options{}),
			} {
				got, err := render(s)
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: accepted as %s", how, got)
				}
				if place := fmt.Sprintf("%d:%d", e.Line, e.Column); e.Code != c.code || place != c.place {
					t.Errorf("%s: got %v, want %s at %s", how, e, c.code, c.place)
				}
				if again, sticky := s.Next(); again != nil || sticky != err {
					t.Errorf("%s: the error is not repeated: %v", how, sticky)
				}
			}
		})
	}
}

func TestErrorClasses(t *testing.T) {
	broken := errors.New("cable cut")
	for _, c := range []struct {
		name string
		s    *Scanner
		want error
	}{
		{"syntax", NewBytes([]byte("<a>"), Options{}), ErrSyntax},
		{"encoding", NewBytes([]byte("<a>\xff"), Options{}), ErrEncoding},
		{"unsupported", NewBytes([]byte("<a/>"), Options{Charset: "latin1"}), ErrEncoding},
		{"limit", NewBytes([]byte("<a/>"), Options{Limits: Limits{Bytes: 3}}), ErrLimit},
		{"reader", NewReader(io.MultiReader(strings.NewReader("<a>"), iotest.ErrReader(broken)), Options{}), ErrRead},
		{"a reader without progress", NewReader(idleReader{}, Options{}), io.ErrNoProgress},
		{"the reader's own", NewReader(iotest.ErrReader(broken), Options{}), broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := render(c.s); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestPath(t *testing.T) {
	_, err := render(NewBytes([]byte(`<a><p:b xmlns:p="u"><c d="1" d="2"/>`), Options{}))
	var e *Error
	if !errors.As(err, &e) || e.Path != "/a/p:b" || e.Offset != 29 || e.Fix == "" {
		t.Errorf("got %#v", err)
	}
}

// TestNothingRemains: a token has nothing of the token before it.
func TestNothingRemains(t *testing.T) {
	s := NewBytes([]byte(`<a xmlns='u' b='1'> <c/><d>x</d></a>`), Options{})
	for i, want := range []Token{
		{Kind: StartElement, Name: Name{"u", "a"}, Attrs: []Attr{{Name{"", "b"}, "1", 13}}, Quoted: 3},
		{Kind: Text, Text: " ", Offset: 19},
		{Kind: StartElement, Name: Name{"u", "c"}, Offset: 20},
		{Kind: EndElement, Name: Name{"u", "c"}, Offset: 20}, // of the same tag
		{Kind: StartElement, Name: Name{"u", "d"}, Offset: 24},
		{Kind: Text, Text: "x", Offset: 27},
	} {
		if got, err := s.Next(); err != nil || fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", want) {
			t.Errorf("token %d: got %+v, %v, want %+v", i, *got, err, want)
		}
	}
}

func utf16Bytes(s string, bigEndian, mark bool) []byte {
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
	return b
}

func TestEncodings(t *testing.T) {
	const text = "<a>é\U0001F600</a>"
	decl := func(enc string) string { return `<?xml version="1.0" encoding="` + enc + `"?>` }
	for _, c := range []struct {
		name    string
		doc     []byte
		charset string
		code    string // of the refusal, empty when read
		check   func(Prolog) bool
	}{
		{"UTF-8", []byte(text), "", "", func(p Prolog) bool { return p == Prolog{} }},
		{"UTF-8 with mark", []byte("\uFEFF" + text), "", "", func(p Prolog) bool { return p.BOM && !p.UTF16 }},
		{"UTF-8 declared", []byte(decl("uTf-8") + text), "UTF-8", "", func(p Prolog) bool { return p.Encoding == "uTf-8" && !p.Overruled }},
		{"UTF-16LE with mark", utf16Bytes(text, false, true), "", "", func(p Prolog) bool { return p.UTF16 && !p.Declared }},
		{"UTF-16BE with mark", utf16Bytes(decl("UTF-16")+text, true, true), "utf-16", "", func(p Prolog) bool { return p.UTF16 && p.Declared }},
		{"UTF-16BE labelled so", utf16Bytes(text, true, true), "utf-16be", "", nil},
		{"UTF-16LE labelled so", utf16Bytes(text, false, true), "utf-16le", "", nil},
		{"charset beats declaration", []byte(decl("ISO-8859-1") + text), "utf-8", "", func(p Prolog) bool { return p.Overruled }},
		{"charset beats declared UTF-16", []byte(decl("UTF-16") + text), "utf-8", "", func(p Prolog) bool { return p.Overruled }},
		{"US-ASCII", []byte(decl("US-ASCII") + "<a/>"), "", "", nil},

		{"US-ASCII with more", []byte(decl("US-ASCII") + text), "", CodeEncoding, nil},
		{"charset US-ASCII with more", []byte(text), "us-ascii", CodeEncoding, nil},
		{"UTF-16 without mark", utf16Bytes(text, false, false), "", CodeEncoding, nil},
		{"UTF-16 without mark, labelled", utf16Bytes(text, false, false), "utf-16le", CodeEncoding, nil},
		{"UTF-16 declared in UTF-8", []byte(decl("UTF-16") + text), "", CodeEncoding, nil},
		{"UTF-16 by charset in UTF-8", []byte(text), "utf-16", CodeEncoding, nil},
		{"mark against declaration", []byte("\uFEFF" + decl("ISO-8859-1") + text), "utf-8", CodeEncoding, nil},
		{"mark against charset", utf16Bytes(text, false, true), "utf-8", CodeEncoding, nil},
		{"mark of the other order", utf16Bytes(text, false, true), "utf-16be", CodeEncoding, nil},
		{"mark of the other order, little", utf16Bytes(text, true, true), "utf-16le", CodeEncoding, nil},
		{"UTF-8 mark and UTF-16 by charset", []byte("\uFEFF" + text), "utf-16", CodeEncoding, nil},
		{"UTF-8 mark and UTF-16LE by charset", []byte("\uFEFF" + text), "utf-16le", CodeEncoding, nil},
		{"UTF-8 mark and UTF-16BE by charset", []byte("\uFEFF" + text), "utf-16be", CodeEncoding, nil},
		{"charset only", []byte(text), "utf-8", "", func(p Prolog) bool { return !p.Overruled }},
		{"declared Latin 1", []byte(decl("latin1") + "<a/>"), "", CodeUnsupported, nil},
		{"charset and declaration Latin 1", []byte(decl("latin1") + "<a/>"), "latin1", CodeUnsupported, nil},
		{"declared UTF-7", []byte(decl("utf-7") + "<a/>"), "", CodeUnsupported, nil},
		{"charset windows-1252", []byte(text), "windows-1252", CodeUnsupported, nil},
		{"lone surrogate", append(utf16Bytes("<a>", false, true), 0x00, 0xD8, 'x', 0), "", CodeEncoding, nil},
		{"a pair of surrogates at the end", utf16Bytes("<a>\U0001F600", false, true), "", CodeUnclosed, nil},
		{"odd number of octets", append(utf16Bytes("<a/>", false, true), ' '), "", CodeEncoding, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, s := range map[string]*Scanner{
				"in memory": NewBytes(c.doc, Options{Charset: c.charset}),
				"streamed":  NewReader(iotest.HalfReader(bytes.NewReader(c.doc)), Options{Charset: c.charset}),
			} {
				got, err := render(s)
				if c.code != "" {
					if !hasCode(err, c.code) {
						t.Errorf("%s: got %s, %v, want %s", how, got, err, c.code)
					}
					continue
				}
				if err != nil || strings.Contains(text, "é") && !strings.Contains(string(c.doc), "US-ASCII") && !strings.Contains(got, "é\U0001F600") {
					t.Errorf("%s: got %s, %v", how, got, err)
				}
				if c.check != nil && !c.check(s.Prolog()) {
					t.Errorf("%s: prolog %+v", how, s.Prolog())
				}
			}
		})
	}
}

// TestLinear reads documents that tempt a scanner into quadratic time, which is for
// ever: the tests' own limit ends it, and BenchmarkHostile tells the time.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	many := func(unit string) string { return strings.Repeat(unit, n/len(unit)) }
	var attrs, prefixes strings.Builder
	for i := range 60 {
		fmt.Fprintf(&prefixes, " xmlns:p%d='u%d'", i, i)
	}
	for i := range n / 12 {
		fmt.Fprintf(&attrs, " a%d=''", i)
	}
	wide := Limits{Bytes: 64 << 20, Attrs: 1 << 20, Depth: 1 << 20, Token: 1 << 24, Text: 1 << 24, Value: 1 << 24, Tokens: 1 << 24}
	for name, doc := range map[string]string{
		"attributes":      "<a" + attrs.String() + "/>",
		"prefixes":        strings.Repeat("<a"+prefixes.String()+">", 30) + many("<p0:b p1:c=''/>"),
		"depth":           many("<a>"),
		"ampersands":      "<a>" + many("&") + ";</a>",
		"references":      "<a>" + many("&#60;") + "</a>",
		"zeros":           "<a>&#" + many("0") + "65;</a>",
		"brackets":        "<a>" + many("]"),
		"comment opening": "<a>" + many("<!--"),
		"cdata opening":   "<a>" + many("<![CDATA["),
		"doctype subset":  "<!DOCTYPE a [" + many("<!ENTITY x ''>") + "]><a/>",
		"long name":       "<" + many("a") + "/>",
		"carriage return": "<a>" + many("\r") + "</a>",
		"empty elements":  "<a>" + many("<b/>") + "</a>",
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", name, stream), func(t *testing.T) {
				s := NewBytes([]byte(doc), Options{Limits: wide})
				if stream {
					s = NewReader(strings.NewReader(doc), Options{Limits: wide})
				}
				for {
					if _, err := s.Next(); err != nil {
						break
					}
				}
			})
		}
	}
}

type idleReader struct{}

func (idleReader) Read([]byte) (int, error) { return 0, nil }

// TestStreamMemory reads 50 MB with the window alone in memory.
func TestStreamMemory(t *testing.T) {
	const entry = "<url><loc>https://www.example.com/a</loc></url>\n"
	const count = 50 << 20 / len(entry)
	doc := io.MultiReader(strings.NewReader("<urlset>"), &repeat{unit: entry, left: count}, strings.NewReader("</urlset>"))
	s := NewReader(doc, Options{Limits: Limits{Bytes: 64 << 20, Tokens: 1 << 24}})
	seen, held := 0, 0
	for {
		tok, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if tok.Kind == StartElement && tok.Name.Local == "loc" {
			seen++
		}
		held = max(held, len(s.src))
	}
	if seen != count || held > 4*window {
		t.Errorf("%d entries of %d, %d octets held", seen, count, held)
	}
}

type repeat struct {
	unit string
	rest string
	left int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if r.rest == "" {
			if r.left == 0 {
				break
			}
			r.rest = r.unit
			r.left--
		}
		m := copy(p[n:], r.rest)
		r.rest = r.rest[m:]
		n += m
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
