package strictxml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// TestRefusalTexts compares what an author reads, since several faults share a code and a place.
func TestRefusalTexts(t *testing.T) {
	for doc, want := range map[string]string{
		`<?xml encoding="UTF-8"?><a/>`:                    `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version=""?><a/>`:                          `1:1 the document is not XML 1.0; write version="1.0"`,
		`<?xml version="1.1"?><a/>`:                       `1:1 the document is not XML 1.0; write version="1.0"`,
		`<?xml version=?><a/>`:                            `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version "1.0"?><a/>`:                       `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0?><a/>`:                        `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" encoding="8"?><a/>`:          `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" encoding=""?><a/>`:           `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" encoding="a b"?><a/>`:        `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" standalone="maybe"?><a/>`:    `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" more="x"?><a/>`:              `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" standalone?><a/>`:            `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" standalone "yes"?><a/>`:      `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" standalone=yes?><a/>`:        `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" standalone="yes?><a/>`:       `1:1 the XML declaration is malformed; start with <?xml version="1.0" encoding="UTF-8"?>`,
		`<?xml version="1.0" <a/>`:                        `1:25 the document ends inside a processing instruction`,
		`<?xml version="1.0"?>` + `<?xml version="1.0"?>`: `1:22 an XML declaration is not at the start of the document, or not in lower case`,
		`<?xml?><a/>`:                                    `1:1 an XML declaration is not at the start of the document, or not in lower case`,
		`<!DOCTYPEa><a/>`:                                `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a x><a/>`:                             `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[]x><a/>`:                            `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a SYSTEM><a/>`:                        `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a SYSTEM"x"><a/>`:                     `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a SYSTEM x><a/>`:                      `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a PUBLIC "x"><a/>`:                    `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a PUBLIC "x""y"><a/>`:                 `1:1 the document type declaration is malformed; remove it`,
		"<!DOCTYPE a SYSTEM \"\x01\"><a/>":               "1:21 the character U+0001 is not allowed in XML; remove it",
		"<!DOCTYPE a SYSTEM '\uFFFF'><a/>":               "1:21 the character U+FFFF is not allowed in XML; remove it",
		`<!DOCTYPE a[<!ABCDEF x>]><a/>`:                  `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<!x`:                                `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[x`:                                  `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<!WRONG x>]><a/>`:                   `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<!ELEMENTx>]><a/>`:                  `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<!ENTITY x <y>]><a/>`:               `1:1 the document type declaration is malformed; remove it`,
		"<!DOCTYPE a[<!ENTITY x '\x02'>]><a/>":           "1:25 the character U+0002 is not allowed in XML; remove it",
		"<!DOCTYPE a[<!ENTITY \x02>]><a/>":               "1:22 the character U+0002 is not allowed in XML; remove it",
		"<!DOCTYPE a[<!ENTITY \uFFFE>]><a/>":             "1:22 the character U+FFFE is not allowed in XML; remove it",
		`<!DOCTYPE a[%b c;]><a/>`:                        `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[%1;]><a/>`:                          `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<?b?c?>]><a/>`:                      `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[<!-- -- -->]><a/>`:                  `1:1 the document type declaration is malformed; remove it`,
		`<!DOCTYPE a[x]><a/>`:                            `1:1 the document type declaration is malformed; remove it`,
		`<?p?q?><a/>`:                                    `1:3 the target of a processing instruction is not a name without a colon`,
		`<?p/q?><a/>`:                                    `1:3 the target of a processing instruction is not a name without a colon`,
		"<?p \x01?><a/>":                                 "1:5 the character U+0001 is not allowed in XML; remove it",
		"<!--\uFFFE--><a/>":                              "1:5 the character U+FFFE is not allowed in XML; remove it",
		"\x01<a/>":                                       "1:1 the character U+0001 is not allowed in XML; remove it",
		"\uFFFE<a/>":                                     "1:1 the character U+FFFE is not allowed in XML; remove it",
		"<a><![CDATA[\x02]]></a>":                        "1:13 the character U+0002 is not allowed in XML; remove it",
		`<a:b:c xmlns:a="u"/>`:                           `1:2 an element name is missing or invalid: "a:b:c"`,
		`<a b:c:d="1" xmlns:b="u"/>`:                     `1:4 an attribute name is missing or invalid: "b:c:d"`,
		`<a =""/>`:                                       `1:4 an attribute name is missing or invalid: ""`,
		"<a b='\uFFFE'/>":                                "1:7 the character U+FFFE is not allowed in XML; remove it",
		"<a\x01b=''/>":                                   "1:3 the character U+0001 is not allowed in XML; remove it",
		"<\uFFFEa/>":                                     "1:2 the character U+FFFE is not allowed in XML; remove it",
		"<a\uFFFE/>":                                     "1:3 the character U+FFFE is not allowed in XML; remove it",
		"<a×/>":                                          `1:2 an element name is missing or invalid: "a×"`,
		"<a b='1'\x01/>":                                 "1:9 the character U+0001 is not allowed in XML; remove it",
		`<a b="1"c="2"/>`:                                `1:9 white space is missing before an attribute`,
		`<a b="1"/ >`:                                    `1:9 white space is missing before an attribute`,
		`<a></b>`:                                        `1:4 </b> closes <a>; close elements in the reverse order of their opening`,
		`<a></a b>`:                                      `1:8 an end tag contains more than its name`,
		`<p:a/>`:                                         `1:2 the prefix p is not declared; declare it with xmlns:p`,
		`<xmlns:a/>`:                                     `1:2 the prefix xmlns is not declared; declare it with xmlns:xmlns`,
		`<a xmlns:p="http://www.w3.org/2000/xmlns/"/>`:   `1:4 the prefix p cannot be bound to this namespace`,
		`<a xmlns:xml="http://www.w3.org/2000/xmlns/"/>`: `1:4 the prefix xml cannot be bound to this namespace`,
		`<a>&é;</a>`:                                     `1:4 the entity &é; is not one of the five predefined; write the character itself or its number`,
		`<a>&a·b;</a>`:                                   `1:4 the entity &a·b; is not one of the five predefined; write the character itself or its number`,
		`<a>&·b;</a>`:                                    `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&a×;</a>`:                                    `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&1a;</a>`:                                    `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&-a;</a>`:                                    `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&;</a>`:                                      `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&a:b;</a>`:                                   `1:4 "&" does not begin a reference; write &amp;`,
		`<a>&` + strings.Repeat("a", 32) + `;</a>`:       `1:4 the entity &` + strings.Repeat("a", 32) + `; is not one of the five predefined; write the character itself or its number`,
		`<a>&` + strings.Repeat("a", 33) + `;</a>`:       `1:4 the entity &…; is not one of the five predefined; write the character itself or its number`,
		`<a>&#x;</a>`:                                    `1:4 a character reference is malformed`,
		`<a>&#xg;</a>`:                                   `1:4 a character reference is malformed`,
		`<a>&#a;</a>`:                                    `1:4 a character reference is malformed`,
		`<a>&#:;</a>`:                                    `1:4 a character reference is malformed`,
		`<a>&#x/;</a>`:                                   `1:4 a character reference is malformed`,
		`<a>&#x@;</a>`:                                   `1:4 a character reference is malformed`,
		`<a>&#x` + "`" + `;</a>`:                         `1:4 a character reference is malformed`,
		`<a>&#4294967361;</a>`:                           `1:4 a character reference names a character that XML does not allow`, // 65 in 32 bits
		`<a>&#x100000041;</a>`:                           `1:4 a character reference names a character that XML does not allow`,
		`<a>&#x110000;</a>`:                              `1:4 a character reference names a character that XML does not allow`,
		`<a>&#xFFFE;</a>`:                                `1:4 a character reference names a character that XML does not allow`,
		"\x00<\x00a":                                     `1:1 the document is in UTF-16 without a byte order mark; send UTF-8`,
		"<\x00a\x00":                                     `1:1 the document is in UTF-16 without a byte order mark; send UTF-8`,
		"\x00\x00\xFE\xFF\x00\x00\x00<":                  `1:1 the document is in UTF-32; send UTF-8`,
		"\xff<a/>":                                       `1:1 the bytes are not valid UTF-8`,
		"\xFF\xFE<\x00a\x00/\x00>":                       `1:4 the bytes are not valid UTF-16`,
		"\xFF\xFE<\x00a\x00>\x00\x00\xDC\x00\x00":        `1:4 the bytes are not valid UTF-16`,
	} {
		for how, s := range map[string]*Scanner{
			"in memory": NewBytes([]byte(doc), Options{}),
			"streamed":  NewReader(iotest.OneByteReader(strings.NewReader(doc)), Options{}),
			"at once":   NewReader(strings.NewReader(doc), Options{}),
		} {
			got, err := render(s)
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%s, %q: accepted as %s", how, doc, got)
				continue
			}
			text := fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Message)
			if e.Fix != "" {
				text += "; " + e.Fix
			}
			if text != want {
				t.Errorf("%s, %q:\n%s\nwant\n%s", how, doc, text, want)
			}
		}
	}
}

// TestCut ends documents after every byte: each is incomplete, in memory and in a stream.
func TestCut(t *testing.T) {
	for _, doc := range []string{
		`<?xml version="1.0" encoding="UTF-8" standalone='no'?><a/>`,
		`<!DOCTYPE a:b PUBLIC "p" 's' [<!-- x --><?p q?><!ENTITY % e "]>'">%e;<!ELEMENT a ANY><!ATTLIST a b CDATA '>'><!NOTATION n SYSTEM "x">] ><a/>`,
		`<!DOCTYPE a SYSTEM "s"><!-- a - b --><?p q ?><é:à xmlns:é="ü" b='1' é:c="&amp;&#65;"/>`,
		"<a>x]] &lt; é\r\n<![CDATA[ ]] > ]]>\U0001F600<b c = '1' /></a >",
	} {
		for end := range len(doc) {
			_, err := render(NewBytes([]byte(doc[:end]), Options{}))
			_, streamed := render(NewReader(iotest.OneByteReader(strings.NewReader(doc[:end])), Options{}))
			if err == nil || fmt.Sprint(err) != fmt.Sprint(streamed) {
				t.Errorf("%q: %v, as a stream %v", doc[:end], err, streamed)
			}
		}
		want, err := render(NewBytes([]byte(doc), Options{}))
		got, streamed := render(NewReader(iotest.OneByteReader(strings.NewReader(doc)), Options{}))
		if err != nil || streamed != nil || got != want {
			t.Errorf("%q: %v, %v", doc, err, streamed)
		}
	}
}

// TestManyAttributes: elements with many attributes share nothing.
func TestManyAttributes(t *testing.T) {
	tag := "<b " + numbered(16) + "/>"
	if _, err := render(NewBytes([]byte("<a>"+tag+tag+"</a>"), Options{})); err != nil {
		t.Error(err)
	}
	if _, err := render(NewBytes([]byte("<a>"+tag+"<b "+numbered(16)+" a3=''/></a>"), Options{})); !hasCode(err, CodeDuplicateAttribute) {
		t.Error(err)
	}
}
