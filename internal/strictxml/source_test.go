package strictxml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPlaces compares the places of tokens with a plain count of line ends, in memory and in a
// stream whose window moves, with line ends on its edges.
func TestPlaces(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\r\n\r", "\n\r\n"} {
		var b strings.Builder
		b.WriteString("<root>")
		for i := range 300 {
			fmt.Fprintf(&b, "%s<e a='%d'%sb='é'/>%sx", end, i, end, end)
		}
		b.WriteString("</wrong>")
		doc := b.String()
		line, start := 1, 0
		lines, columns := make([]int, len(doc)), make([]int, len(doc))
		for i := range len(doc) {
			lines[i], columns[i] = line, i-start+1
			if doc[i] == '\n' || doc[i] == '\r' && (i+1 == len(doc) || doc[i+1] != '\n') {
				line, start = line+1, i+1
			}
		}
		index := NewLines(doc)
		for _, s := range []*Scanner{NewBytes([]byte(doc), Options{}), NewReader(strings.NewReader(doc), Options{}), NewReader(iotest.HalfReader(strings.NewReader(doc)), Options{})} {
			tokens := 0
			for {
				tok, err := s.Next()
				var e *Error
				if errors.As(err, &e) {
					at := strings.LastIndex(doc, "<")
					if e.Offset != at || e.Line != lines[at] || e.Column != columns[at] || tokens < 900 {
						t.Errorf("%q: %d tokens, the error is at %d (%d:%d), want %d (%d:%d)", end, tokens, e.Offset, e.Line, e.Column, at, lines[at], columns[at])
					}
					break
				}
				if err == io.EOF {
					t.Fatal("no error")
				}
				tokens++
				offsets := []int{tok.Offset}
				for _, a := range tok.Attrs {
					offsets = append(offsets, a.Offset)
				}
				for _, at := range offsets {
					line, column := s.Place(at)
					again, same := index.At(at)
					if line != lines[at] || column != columns[at] || again != line || same != column {
						t.Fatalf("%q: offset %d is at %d:%d and %d:%d, want %d:%d", end, at, line, column, again, same, lines[at], columns[at])
					}
				}
			}
		}
		if line, column := index.At(len(doc) + 9); line != lines[len(doc)-1] || column != columns[len(doc)-1]+1 {
			t.Errorf("the end is at %d:%d", line, column)
		}
	}
}

// TestEncodingNames: whether the transport and the document name the same encoding.
func TestEncodingNames(t *testing.T) {
	for _, c := range []struct {
		charset, declared string
		overruled         bool
		refused           bool
	}{
		{"utf-16", "UTF-16LE", false, false}, {"utf-16le", "utf-16", false, false}, {"UTF-16", "utf-16", false, false}, {"utf-16le", "", false, false},
		{"", "utf-16", false, false}, {"utf-16", "utf-8", true, true}, {"utf-16", "us-ascii", true, true}, {"utf-16", "latin1", true, true},
	} {
		doc := `<a/>`
		if c.declared != "" {
			doc = `<?xml version="1.0" encoding="` + c.declared + `"?>` + doc
		}
		s := NewBytes(utf16Bytes(doc, false, true), Options{Charset: c.charset})
		_, err := render(s)
		if (err != nil) != c.refused || s.Prolog().Overruled != c.overruled {
			t.Errorf("%+v: %+v, %v", c, s.Prolog(), err)
		}
	}
}

// TestWindowEdges reads documents of which the first window of a stream ends at each of their bytes.
func TestWindowEdges(t *testing.T) {
	for _, doc := range []string{
		`<!DOCTYPE a:b PUBLIC "p" 's' [<!-- x --><?p q?> <!ENTITY % e "]>'">%e;<!ELEMENT a ANY><!ATTLIST a b CDATA '>'><!NOTATION n SYSTEM "x">] ><a:b xmlns:a="u"/>`,
		`<!DOCTYPE a SYSTEM "s"><!-- a - b --><?p q ?><?r?><é:à xmlns:é="ü" b='1' é:c="&amp;&#65;é" ></é:à >`,
		"<a>x]] &lt; é\r\n<![CDATA[ ]] > ]]>\U0001F600\r<b c = '1\r\n2' /></a >\r\n<!--z-->",
		`<!DOCTYPE a><a></b>`, `<!DOCTYPE a[<!ELEMENTx>]><a/>`, `<!DOCTYPE a SYSTEM><a/>`, `<a><b c="1" c="2"/></a>`, `<a>&#x110000;</a>`, "<a>é\x01</a>", "<a>\xc3\x28</a>",
		`<a b="1"c="2"/>`, `<a>]]></a>`, `<!DOCTYPE a[<!-- -- -->]><a/>`, `<a/><b/>`, `<?p/q?><a/>`,
	} {
		for k := range len(doc) {
			whole := "<!--" + strings.Repeat("x", firstWindow-k-len("<!---->")) + "-->" + doc
			want, wantErr := render(NewBytes([]byte(whole), Options{}))
			got, gotErr := render(NewReader(strings.NewReader(whole), Options{}))
			if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%q, window of %d bytes:\n%s, %v\nwant\n%s, %v", doc, k, got, gotErr, want, wantErr)
			}
		}
	}
}

// TestInvalidBytes: a stream is read to its first invalid byte, however much follows. In memory,
// such a document is refused before its first token.
func TestInvalidBytes(t *testing.T) {
	read := func(s *Scanner) string {
		var b strings.Builder
		for {
			tok, err := s.Next()
			if err != nil {
				return b.String() + err.Error()
			}
			fmt.Fprintf(&b, "%s %d, ", []string{1: "start tag", 2: "end tag", 3: "text"}[tok.Kind], len(tok.Text))
		}
	}
	const begin = "<a>\n<b/>"
	pairs := "<a>" + strings.Repeat("\U0001F600", firstWindow) + "<b/>"
	for name, c := range map[string]struct {
		doc                              []byte
		charset, tokens, place, encoding string
	}{
		"UTF-8":                     {[]byte(begin + "\xff"), "", "text 1, ", "2:5", "UTF-8"},
		"UTF-8 after U+FFFD":        {[]byte("<a>\uFFFD<b/>\xff"), "", "text 3, ", "1:11", "UTF-8"},
		"US-ASCII":                  {[]byte(begin + "\u00e9"), "us-ascii", "text 1, ", "2:5", "US-ASCII"},
		"US-ASCII in a later read":  {[]byte("<a>" + strings.Repeat("x", firstWindow) + "<b/>\u00e9"), "us-ascii", "text 4096, ", "1:4104", "US-ASCII"},
		"UTF-16, a lone surrogate":  {append(utf16Bytes(begin, false, true), 0, 0xDC, 'x', 0), "", "text 1, ", "2:5", "UTF-16"},
		"UTF-16, half a pair":       {append(utf16Bytes(begin, false, true), 0x3D, 0xD8, 'x', 0), "", "text 1, ", "2:5", "UTF-16"},
		"UTF-16, split between two": {append(utf16Bytes(pairs, true, true), 0xDC, 0, 0, 'x'), "", "text 16384, ", "1:16392", "UTF-16"},
	} {
		want := c.place + ": the bytes are not valid " + c.encoding + " (encoding)"
		for _, more := range []string{"", "<b/></a>", strings.Repeat("y ", firstWindow) + "<c/></a>"} {
			doc := slices.Concat(c.doc, []byte(more))
			if got := read(NewBytes(doc, Options{Charset: c.charset})); got != want {
				t.Errorf("%s, %d bytes more, in memory: got %s, want %s", name, len(more), got, want)
			}
			tokens := "start tag 0, " + c.tokens + "start tag 0, end tag 0, "
			if got := read(NewReader(bytes.NewReader(doc), Options{Charset: c.charset})); got != tokens+want {
				t.Errorf("%s, %d bytes more, as a stream: got %s, want %s", name, len(more), got, tokens+want)
			}
		}
	}
	for _, doc := range []string{"\xFF\xFE<\x00a\x00>\x00\x3D\xD8", "\xFF\xFE<\x00a\x00>\x00\x3D\xD8\x00"} { // half a pair at the end
		if got := read(NewBytes([]byte(doc), Options{})); !strings.HasSuffix(got, "1:4: the bytes are not valid UTF-16 (encoding)") {
			t.Errorf("%q: %s", doc, got)
		}
	}
}

// TestLaterASCII: each byte beyond ASCII is invalid in US-ASCII, also where no other encoding is
// tried.
func TestLaterASCII(t *testing.T) {
	for _, c := range []string{"\x80", "\xff"} {
		doc := "<a>" + strings.Repeat("x", firstWindow) + c + "</a>"
		_, err := render(NewReader(strings.NewReader(doc), Options{Charset: "us-ascii"}))
		if want := "1:4100: the bytes are not valid US-ASCII (encoding)"; fmt.Sprint(err) != want {
			t.Errorf("%q: got %v, want %s", c, err, want)
		}
	}
}

// TestSmallWindows compares the tokens of streams whose windows begin with a few bytes.
func TestSmallWindows(t *testing.T) {
	for _, doc := range seeds {
		want, wantErr := render(NewBytes([]byte(doc), Options{}))
		for step := range 40 {
			s := NewReader(strings.NewReader(doc), Options{})
			s.step = step
			if got, err := render(s); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%q, window of %d bytes:\n%s, %v\nwant\n%s, %v", doc, step, got, err, want, wantErr)
			}
		}
	}
}

// TestEndlessToken: a stream is not read beyond the longest token that it may have.
func TestEndlessToken(t *testing.T) {
	small := Limits{Text: 100, Token: 100, Doctype: 100}
	for _, begin := range []string{"<a>", "<a b='", "<!--", "<!DOCTYPE a SYSTEM '", "<?p ", "<a><![CDATA["} {
		_, err := render(NewReader(strings.NewReader(begin+strings.Repeat("x", 2*firstWindow)), Options{Limits: small}))
		if err == nil || !strings.Contains(err.Error(), "longer than 100 bytes") {
			t.Errorf("%q: %v", begin, err)
		}
	}
}

// TestEndlessDoctype: a document type declaration without an end is too long, in memory too. One
// that may still be longer is incomplete.
func TestEndlessDoctype(t *testing.T) {
	const begin = "<!DOCTYPE a ["
	for n, want := range map[int]string{
		100: "the document ends inside the internal subset of the document type declaration (unexpected-end)",
		101: "the document type declaration is longer than 100 bytes (limit); remove it",
	} {
		doc := strings.Repeat("\n", 50) + begin + strings.Repeat(" ", n-len(begin))
		for how, s := range map[string]*Scanner{
			"in memory": NewBytes([]byte(doc), Options{Limits: Limits{Doctype: 100}}),
			"streamed":  NewReader(strings.NewReader(doc), Options{Limits: Limits{Doctype: 100}}),
		} {
			if _, err := render(s); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s, %d bytes: %v", how, n, err)
			}
		}
	}
}

// TestLongestToken: a token of the greatest length may need one byte more to be recognised. White
// space outside the root is not a token.
func TestLongestToken(t *testing.T) {
	const longest = firstWindow - len("<a>")
	o := Options{Limits: Limits{Text: longest, Token: longest, Doctype: longest}}
	blank := strings.Repeat(" ", 3*firstWindow)
	if _, err := render(NewReader(strings.NewReader(blank+"<a/>"+blank), o)); err != nil {
		t.Error(err)
	}
	if _, err := render(NewReader(strings.NewReader("<a>"+strings.Repeat("x", longest)+"</a>"), o)); err != nil {
		t.Error(err)
	}
}

// TestDeclarationRoom: an XML declaration has the same greatest length in memory and in a stream,
// whatever the windows of the stream.
func TestDeclarationRoom(t *testing.T) {
	const begin, end = `<?xml version="1.0"`, "?>"
	for _, n := range []int{2046, 2047, 2048, 2049, 4090, 4091, 4092, 4093, 4094, 4095, declRoom, declRoom + 1} {
		doc := begin + strings.Repeat(" ", n-len(begin+end)) + end + "<a/>" + strings.Repeat(" ", 2*firstWindow)
		for name, encoded := range map[string][]byte{"UTF-8": []byte(doc), "UTF-8 with a mark": []byte("\uFEFF" + doc), "UTF-16": utf16Bytes(doc, true, true)} {
			for how, s := range map[string]*Scanner{"in memory": NewBytes(encoded, Options{}), "streamed": NewReader(bytes.NewReader(encoded), Options{})} {
				if got, err := render(s); (err == nil) != (n <= declRoom) || err == nil && got != "<a> </a>" || err != nil && !hasCode(err, CodeDeclaration) {
					t.Errorf("%d bytes, %s, %s: got %s, %v", n, name, how, got, err)
				}
			}
		}
	}
}

// TestReadAhead: to read the first token, a stream is not read beyond its first window, or beyond
// the room of an XML declaration.
func TestReadAhead(t *testing.T) {
	for begin, most := range map[string]int{"<a>": firstWindow, `<?xml version="1.0"`: 4 * firstWindow} {
		r := strings.NewReader(begin + strings.Repeat(" ", 16*firstWindow))
		all := r.Len()
		if _, err := NewReader(r, Options{}).Next(); err != nil && !hasCode(err, CodeDeclaration) || all-r.Len() > most {
			t.Errorf("%s: %d bytes read, %v", begin, all-r.Len(), err)
		}
	}
}

// TestMarkWithinText: only the first bytes of a stream are a byte order mark.
func TestMarkWithinText(t *testing.T) {
	doc := "<a>" + strings.Repeat("x", firstWindow/2-len("\x00<a>")) + "\uFEFFx</a>" // at the start of the second window
	encoded := utf16Bytes(doc, false, true)
	want, err := render(NewBytes([]byte(doc), Options{}))
	got, streamed := render(NewReader(bytes.NewReader(encoded), Options{}))
	if err != nil || streamed != nil || got != want {
		t.Errorf("got %s, %v, want %s, %v", got, streamed, want, err)
	}
}

// hesitant reads one byte at a time, after some reads of none: a number for the first byte, another
// for each later one and for the end.
type hesitant struct {
	first, later int
	text         string
	idle         int
}

func (r *hesitant) Read(p []byte) (int, error) {
	if r.idle < r.first {
		r.idle++
		return 0, nil
	}
	r.idle, r.first = 0, r.later
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:1], r.text)
	r.text = r.text[n:]
	return n, nil
}

// TestHesitantReader: a reader may return no bytes 100 times in a row.
func TestHesitantReader(t *testing.T) {
	for _, c := range []struct {
		first, later int
		fails        bool
	}{{100, 99, false}, {101, 0, true}, {0, 101, true}} {
		_, err := render(NewReader(&hesitant{first: c.first, later: c.later, text: "<a/>"}, Options{}))
		if errors.Is(err, io.ErrNoProgress) != c.fails || err != nil && !c.fails {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestReadFull: what a reader returns with its last bytes counts.
func TestReadFull(t *testing.T) {
	doc := "<a>" + strings.Repeat("x", firstWindow-len("<a></a>")) + "</a>"
	if _, err := render(NewReader(iotest.DataErrReader(strings.NewReader(doc)), Options{})); err != nil {
		t.Error(err)
	}
	broken := errors.New("cable cut")
	failing := iotest.DataErrReader(io.MultiReader(strings.NewReader(doc[:len(doc)-1]+" "), iotest.ErrReader(broken)))
	if _, err := render(NewReader(failing, Options{})); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := render(NewReader(io.MultiReader(strings.NewReader("\xc3"), iotest.ErrReader(broken)), Options{})); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestLines counts blank lines, of which each block of the index begins with one.
func TestLines(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "x\n", strings.Repeat("x", lineBlock) + "\n"} {
		text := strings.Repeat(end, 3*lineBlock/len(end))
		index := NewLines(text)
		for at := 0; at <= len(text); at += len(end) {
			if line, column := index.At(at); line != at/len(end)+1 || column != 1 {
				t.Fatalf("%q: offset %d is at %d:%d", end, at, line, column)
			}
		}
	}
}

// TestEncodingRefusals compares what an author reads when the encoding cannot be used.
func TestEncodingRefusals(t *testing.T) {
	for _, c := range []struct{ doc, charset, want string }{
		{"<a/>", "latin1", "1:1: the encoding latin1 is not supported (unsupported-encoding); send UTF-8"},
		{`<?xml version="1.0" encoding="KOI8-R"?><a/>`, "", "1:1: the encoding koi8-r is not supported (unsupported-encoding); send UTF-8"},
		{"\uFEFF<a/>", "utf-16", "1:1: the byte order mark contradicts the encoding utf-16 (encoding); send UTF-8 and say so everywhere"},
		{"<a/>", "UTF-16LE", "1:1: the document has no byte order mark, which UTF-16 needs (encoding); send UTF-8"},
		{"\u00e9<a/>", "us-ascii", "1:1: the bytes are not valid US-ASCII (encoding)"},
	} {
		if _, err := render(NewBytes([]byte(c.doc), Options{Charset: c.charset})); fmt.Sprint(err) != c.want {
			t.Errorf("%q, %s: got %v, want %s", c.doc, c.charset, err, c.want)
		}
	}
}

func TestEncodingNameSyntax(t *testing.T) {
	for name, valid := range map[string]bool{
		"A": true, "Z": true, "a": true, "z": true, "x-1.0_B": true, "utf-8": true,
		"": false, "8": false, "-a": false, "@": false, "[": false, "`": false, "{": false, "a@": false, "a{": false, "a b": false,
	} {
		if isEncodingName(name) != valid {
			t.Errorf("%q is valid: %t", name, !valid)
		}
	}
}

// TestClippedEncoding: an error shows the first 40 bytes of an encoding.
func TestClippedEncoding(t *testing.T) {
	for n, want := range map[int]string{40: strings.Repeat("a", 40) + " is", 41: strings.Repeat("a", 40) + "… is"} {
		_, err := render(NewBytes([]byte(`<?xml version="1.0" encoding="`+strings.Repeat("a", n)+`"?><a/>`), Options{}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", n, err)
		}
	}
}
