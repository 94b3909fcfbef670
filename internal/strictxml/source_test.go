package strictxml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

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
			s.step = step + 16
			if got, err := render(s); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%q, window of %d bytes:\n%s, %v\nwant\n%s, %v", doc, step, got, err, want, wantErr)
			}
		}
	}
}

// TestEndlessToken: a stream is not read beyond the longest token that it may have.
func TestEndlessToken(t *testing.T) {
	small := Limits{Text: 100, Token: 100}
	for _, begin := range []string{"<a>", "<a b='", "<!--", "<?p ", "<a><![CDATA["} {
		_, err := render(NewReader(strings.NewReader(begin+strings.Repeat("x", 2*firstWindow)), Options{Limits: small}))
		if err == nil || !strings.Contains(err.Error(), "longer than 100 bytes") {
			t.Errorf("%q: %v", begin, err)
		}
	}
}

// TestLongestToken: a token of the greatest length may need one byte more to be recognised.
func TestLongestToken(t *testing.T) {
	const longest = firstWindow - len("<a>")
	o := Options{Limits: Limits{Text: longest, Token: longest}}
	if _, err := render(NewReader(strings.NewReader("<a>"+strings.Repeat("x", longest)+"</a>"), o)); err != nil {
		t.Error(err)
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

// TestClippedEncoding: an error shows the first 40 bytes of an encoding.
func TestClippedEncoding(t *testing.T) {
	for n, want := range map[int]string{40: strings.Repeat("a", 40) + " is", 41: strings.Repeat("a", 40) + "… is"} {
		_, err := render(NewBytes([]byte(`<?xml version="1.0" encoding="`+strings.Repeat("a", n)+`"?><a/>`), Options{}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestPlaces: an error in a later window of a stream has the line and column that it has in memory,
// and so does [Lines].
func TestPlaces(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n", "\r\n\r", "\n\r\n"} {
		doc := "<root>" + strings.Repeat(end+"<e a='1'"+end+"b='\u00e9'/>"+end+"x", 3000) + end + "</wrong>"
		offset := strings.LastIndex(doc, "<")
		before := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(doc[:offset])
		want := fmt.Sprintf("%d:%d:", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'))
		for _, s := range []*Scanner{NewBytes([]byte(doc), Options{}), NewReader(iotest.HalfReader(strings.NewReader(doc)), Options{})} {
			if _, err := render(s); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: got %v, want %s", end, err, want)
			}
		}
		if line, column := NewLines(doc).At(offset); fmt.Sprintf("%d:%d:", line, column) != want {
			t.Errorf("%q: %d:%d, want %s", end, line, column, want)
		}
	}
}
