package strictxml

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

var seeds = []string{
	`<a/>`,
	`<!DOCTYPE A [<!ENTITY ""><!----><`,
	`<?xml version="1.0" encoding="UTF-8" standalone="no"?><!DOCTYPE a [<!ENTITY x "]>"><!-- ] --><?p ]?>%p;]><a b="1" c='&lt;&#10;'>x<!-- c --><![CDATA[ ]]]]><?p q?></a>`,
	`<p:a xmlns:p="u" xmlns="d" p:b="1" b="2"><c xmlns=""/>` + "\r\n\r" + `</p:a>`,
	"<p:a xmlns:p=\"\r\" p:b=\"1\"/>",
	"\uFEFF<é ñ='ö&#233;'>\U0001F600</é>",
	`<a b="1" b="2"/>`, `<a>]]></a>`, `<a>&nbsp;</a>`, `<p:a/>`, `<!-- -- --><a/>`, `<a/><b/>`, "<a>\xff</a>",
	string(utf16Bytes(`<?xml version="1.0" encoding="UTF-16"?><a>é</a>`, true, true)),
}

// FuzzModes compares the two front doors on every size of window.
func FuzzModes(f *testing.F) {
	for _, doc := range seeds {
		f.Add([]byte(doc), uint16(1))
	}
	f.Fuzz(func(t *testing.T, doc []byte, step uint16) {
		limits := Limits{Tokens: 2000, Attrs: 20, Value: 300}
		want, wantErr := render(NewBytes(doc, Options{Limits: limits}))
		s := NewReader(bytes.NewReader(doc), Options{Limits: limits})
		s.step = int(step)%40 + 16
		got, gotErr := render(s)
		if got != want || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("in memory: %s, %v\nstreamed:  %s, %v", want, wantErr, got, gotErr)
		}
		// A document in memory is judged by its encoding first, a stream by its
		// first fault; apart from that both say the same about the same place.
		if wantErr != nil && !hasCode(wantErr, CodeEncoding) && wantErr.Error() != gotErr.Error() {
			t.Fatalf("in memory: %v\nstreamed:  %v", wantErr, gotErr)
		}
	})
}

// FuzzPeer holds that encoding/xml accepts whatever is accepted here and reads
// the same from it.
func FuzzPeer(f *testing.F) {
	for _, doc := range seeds {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := NewBytes(doc, Options{})
		got, err := merged(s)
		if err != nil || s.Prolog().UTF16 || strings.Contains(got, xmlnsNamespace) || confusing.Match(doc) {
			return // refused, or what encoding/xml does not read right
		}
		want, err := peer(doc)
		if err != nil {
			if peerIsWrong(err) {
				return
			}
			t.Fatalf("encoding/xml refuses %q: %v", doc, err)
		}
		if got != want {
			t.Fatalf("here:         %s\nencoding/xml: %s", got, want)
		}
	})
}

// confusing is a processing instruction in or behind a document type declaration: in it,
// encoding/xml takes one for more declarations.
var confusing = regexp.MustCompile(`(?s)<!DOCTYPE.*<\?`)

// peerIsWrong knows where encoding/xml refuses what XML 1.0 allows.
func peerIsWrong(err error) bool {
	for _, known := range []string{
		"invalid XML name",            // its tables are those of an older edition
		"expected element name after", // so are these
		"expected attribute name",
		"expected target name",
		"invalid sequence \"--\"",     // inside a DTD's literal
		"unsupported version",         // "1.0" in odd quotes
		"encoding \"",                 // US-ASCII without a CharsetReader
		"invalid character entity &#", // with many zeros
		"unexpected EOF",              // a quote in a comment of a DTD
		"illegal character code",      // in a DTD or a processing instruction
	} {
		if strings.Contains(err.Error(), known) {
			return true
		}
	}
	return false
}

// encoding/xml does not normalise white space in attribute values.
var whiteSpace = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// merged renders elements and their text, with neighbouring texts as one.
func merged(s *Scanner) (string, error) {
	var b strings.Builder
	text := ""
	flush := func() {
		if text != "" {
			fmt.Fprintf(&b, "%q ", text)
		}
		text = ""
	}
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch tok.Kind {
		case Text, CData:
			text += tok.Text
		case StartElement:
			flush()
			fmt.Fprintf(&b, "<%s", normal(tok.Name))
			for _, a := range tok.Attrs {
				fmt.Fprintf(&b, " %s=%q", normal(a.Name), whiteSpace.Replace(a.Value))
			}
			b.WriteString("> ")
		case EndElement:
			flush()
			fmt.Fprintf(&b, "</%s> ", normal(tok.Name))
		}
	}
}

// normal is render1 without the white space in a namespace that only one of the
// two normalises.
func normal(n Name) string { return render1(Name{whiteSpace.Replace(n.Space), n.Local}) }

func peer(doc []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\uFEFF"))))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var b strings.Builder
	text, depth := "", 0
	flush := func() {
		if text != "" && depth > 0 {
			fmt.Fprintf(&b, "%q ", text)
		}
		text = ""
	}
	name := func(n xml.Name) string { return normal(Name(n)) }
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch tok := tok.(type) {
		case xml.CharData:
			text += string(tok)
		case xml.StartElement:
			flush()
			depth++
			fmt.Fprintf(&b, "<%s", name(tok.Name))
			for _, a := range tok.Attr {
				if a.Name.Space == "xmlns" || a.Name == (xml.Name{Local: "xmlns"}) {
					continue
				}
				fmt.Fprintf(&b, " %s=%q", name(a.Name), whiteSpace.Replace(a.Value))
			}
			b.WriteString("> ")
		case xml.EndElement:
			flush()
			fmt.Fprintf(&b, "</%s> ", name(tok.Name))
			depth--
		}
	}
}
