package strictxml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// renderBursts is render with everything taken in bursts that can be.
func renderBursts(s *Scanner) (string, int, error) {
	var b strings.Builder
	var burst Burst
	var open []string
	marks := 0
	end := func() {
		fmt.Fprintf(&b, "</%s> ", open[len(open)-1])
		open = open[:len(open)-1]
	}
	for {
		tok, err := s.Next()
		if err == io.EOF {
			return strings.TrimSpace(b.String()), marks, nil
		}
		if err != nil {
			return "", marks, err
		}
		switch tok.Kind {
		case StartElement:
			open = append(open, render1(tok.Name))
			fmt.Fprintf(&b, "<%s", render1(tok.Name))
			for _, a := range tok.Attrs {
				fmt.Fprintf(&b, " %s=%q", render1(a.Name), a.Value)
				if raw := s.Source()[a.Start : a.Start+1]; raw == "" {
					return "", marks, errors.New("a value begins nowhere")
				}
			}
			b.WriteString("> ")
		case EndElement:
			end()
		case ProcInst:
			fmt.Fprintf(&b, "?%s:%q ", tok.Name.Local, tok.Text)
		case Doctype:
			b.WriteString("doctype ")
		default:
			fmt.Fprintf(&b, "%s:%q ", map[Kind]string{Text: "text", CData: "cdata", Comment: "comment"}[tok.Kind], tok.Text)
		}
		for s.Burst(&burst); len(burst.Marks()) > 0; s.Burst(&burst) {
			src, attrs := s.Source(), burst.Attrs()
			for _, m := range burst.Marks() {
				marks++
				if m.From < m.At {
					raw := src[m.From:m.At]
					if blank := strings.Trim(raw, " \t\n") == ""; blank != (m.Flags&Blank != 0) {
						return "", marks, fmt.Errorf("%q is blank: %v", raw, !blank)
					}
					fmt.Fprintf(&b, "text:%q ", meaning(raw, m.Flags&Escaped != 0, false))
				}
				if m.Flags&EndTag != 0 {
					end()
					continue
				}
				open = append(open, render1(Name{s.DefaultSpace(), src[m.At+1 : m.Name]}))
				fmt.Fprintf(&b, "<%s", open[len(open)-1])
				for _, a := range attrs[:m.Attrs] {
					fmt.Fprintf(&b, " %s=%q", src[a.At:int(a.At)+int(a.Size)], meaning(src[a.From:a.To], a.Escaped, true))
				}
				attrs = attrs[m.Attrs:]
				b.WriteString("> ")
				if m.Flags&SelfClosing != 0 {
					end()
				}
			}
			if len(attrs) != 0 || s.Depth() != len(open) {
				return "", marks, errors.New("the burst does not add up")
			}
		}
	}
}

func meaning(raw string, escaped, value bool) string {
	if !escaped {
		return raw
	}
	var b strings.Builder
	Unescape(&b, raw, value)
	return b.String()
}

// sameInBursts holds that bursts change nothing but the speed.
func sameInBursts(t *testing.T, doc []byte, o Options) (marks int) {
	t.Helper()
	want, wantErr := render(NewBytes(doc, o))
	got, marks, gotErr := renderBursts(NewBytes(doc, o))
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || got != want {
		t.Fatalf("%q\ntokens: %s, %v\nbursts: %s, %v", doc, want, wantErr, got, gotErr)
	}
	return marks
}

func TestBurst(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		marks int // how many tags go in bursts
	}{
		"plain":       {"<a><b c=\"1\" d=\"2\">x</b>\n  <b/><b c=\">\" /></a>", 4},
		"references":  {`<a><b c="&amp;&#65;">&lt;x&gt; &quot;&apos;&#x41;</b></a>`, 2},
		"line ends":   {"<a><b>1\r\n2\r3</b>\r\n<b/></a>", 3},
		"beyond":      {"<a>\u00fcber<b c=\"\u00fc\">\U0001F600</b></a>", 2},
		"comment":     {"<a><b/><!-- c --><b/>x<!-- d --></a>", 2},
		"namespaces":  {`<a xmlns="u"><b/><c xmlns="v"><d/></c><p:e xmlns:p="w" p:f="1"><g/></p:e></a>`, 3},
		"quotes":      {`<a><b c='1'/><b c = "1"/><b/></a>`, 1},
		"white space": {"<a><b c=\"1\t2\"/><b\tc=\"1\"\n/></a>", 1},
		"mismatched":  {"<a><b></c></a>", 1},
		"duplicate":   {`<a><b c="1" c="2"/></a>`, 0},
		"delimiter":   {"<a><b>]]></b></a>", 1},
		"entity":      {"<a><b>&nbsp;</b></a>", 1},
		"control":     {"<a><b>\x01</b></a>", 1},
		"cut text":    {"<a><b>xxxxxxxxxxxxxx", 1},
		"cut value":   {`<a><b c="xxxxxxxxxxx`, 0},
		"cut tag":     {`<a><b`, 0},
		"end of all":  {"<a><b/></a><!-- -->", 1},
		"second root": {"<a><b/></a><a/>", 1},
	} {
		t.Run(name, func(t *testing.T) {
			if marks := sameInBursts(t, []byte(c.doc), Options{}); marks != c.marks {
				t.Errorf("%d marks, want %d", marks, c.marks)
			}
		})
	}
	t.Run("large", func(t *testing.T) {
		doc := document(200 << 10)
		if marks := sameInBursts(t, doc, Options{}); marks < bytes.Count(doc, []byte("<"))-8 {
			t.Errorf("only %d tags are plain", marks)
		}
	})
	t.Run("limits", func(t *testing.T) {
		doc := []byte(`<a><bb ccc="dddd" e="f">xxxx</bb>` + strings.Repeat("<b>", 8) + strings.Repeat("</b>", 8) + strings.Repeat("<b/>x", 300) + "</a>")
		for n := 1; n < 1000; n++ {
			sameInBursts(t, doc, Options{Limits: Limits{Tokens: n}})
			sameInBursts(t, doc, Options{Limits: Limits{Depth: n, Attrs: n, Name: n, Value: n, Text: n, Token: n}})
		}
	})
	t.Run("no bursts in a stream", func(t *testing.T) {
		if _, marks, err := renderBursts(NewReader(strings.NewReader("<a><b/></a>"), Options{})); marks != 0 || err != nil {
			t.Error(marks, err)
		}
	})
}

// TestBurstW3C reads the whole conformance suite in both ways.
func TestBurstW3C(t *testing.T) {
	root := xmlconf(t)
	for _, c := range xmlconfIndex(t, root) {
		doc, err := os.ReadFile(c.file)
		if err != nil {
			continue // the index lists what is not there
		}
		sameInBursts(t, doc, Options{Limits: Limits{Bytes: 1 << 30}})
	}
}

// FuzzBurst holds that bursts change nothing, whatever the document.
func FuzzBurst(f *testing.F) {
	for _, doc := range seeds {
		f.Add([]byte(doc))
	}
	f.Add(document(1000))
	f.Add([]byte("<a><b c=\"1\" d=\"&amp;\">x &lt; ]] > y</b>\r\n  <b/><\u00fc/></a>"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		sameInBursts(t, doc, Options{})
		sameInBursts(t, doc, Options{Limits: Limits{Tokens: 20, Attrs: 3, Value: 20, Text: 20, Token: 40, Depth: 4, Name: 8}})
	})
}
