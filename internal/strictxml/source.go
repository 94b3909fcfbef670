package strictxml

import (
	"cmp"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// source is the window on a document, in valid UTF-8. The window on a document in memory is the
// whole document. Windows are strings, so that the strings of tokens never change.
type source struct {
	src     string // the window
	base    int    // bytes of the document before it
	lines   int    // line ends before the window
	lineAt  int    // offset of the line in which the window starts
	cr      bool   // the byte before the window is a CR
	more    bool   // the reader may have more
	srcErr  error  // the error after the window: a *fault
	readErr error

	r       io.Reader
	total   int    // bytes read from r
	charset string // according to the transport
	pending []byte // the first bytes of an incomplete character
	chunk   []byte // read buffer
	step    int    // bytes to read at a time
	bom     bool
	sniffed bool
	ascii   bool
	refused error // the error that the first bytes show
	utf16   *utf16Decoder
}

const (
	firstWindow = 4 << 10  // bytes of the first read
	window      = 64 << 10 // bytes of later reads
	longestMark = 4        // bytes of the longest byte order mark
)

// loadAll sets the window to a document in memory.
func (s *source) loadAll(doc []byte) {
	s.sniff(doc)
	if s.utf16 != nil {
		text, rest, ok := s.utf16.decode(make([]byte, 0, len(doc)), doc)
		s.src = string(text)
		if !ok || len(rest) > 0 {
			s.srcErr = bad(len(s.src), CodeEncoding, "the bytes are not valid UTF-16")
		}
		return
	}
	s.src = string(doc)
	s.check(0)
}

// fill drops the window before its index keep and reads more: at least as much as the window has,
// so that reading the whole document takes linear time.
func (s *source) fill(keep, limit int) error {
	s.slide(keep)
	step := max(s.step, len(s.src), longestMark)
	s.step = min(2*s.step, window)
	if cap(s.chunk) < len(s.pending)+step {
		s.chunk = make([]byte, 0, len(s.pending)+step)
	}
	raw := append(s.chunk[:0], s.pending...)
	n, err := readFull(s.r, raw[len(raw):len(raw)+step])
	raw = raw[:len(raw)+n]
	s.total += n
	if s.total > limit {
		return bad(len(s.src), CodeLimit, "the document is longer than %d bytes", limit)
	}
	last := err == io.EOF
	if err != nil {
		s.more = false
		if !last {
			s.readErr = err
			s.srcErr = bad(len(s.src), CodeRead, "the document could not be read to its end")
		}
	}
	if !s.sniffed {
		s.sniff(raw)
	}
	s.take(raw, last)
	return nil
}

// readFull is io.ReadFull. It returns an error for a reader that repeatedly returns no bytes, and
// one that a reader returns with the last bytes.
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for idle := 0; n < len(buf) && err == nil; idle++ {
		var more int
		more, err = r.Read(buf[n:])
		if more > 0 {
			n, idle = n+more, 0
		}
		if idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// take appends bytes to the window.
func (s *source) take(raw []byte, last bool) {
	old := len(s.src)
	if s.utf16 != nil {
		text, rest, ok := s.utf16.decode([]byte(s.src), raw)
		s.src = string(text)
		s.pending = append(s.pending[:0], rest...)
		if !ok || last && len(rest) > 0 {
			s.more = false
			s.srcErr = bad(len(s.src), CodeEncoding, "the bytes are not valid UTF-16")
		}
		return
	}
	cut := len(raw)
	if !last {
		cut -= partial(raw)
	}
	s.pending = append(s.pending[:0], raw[cut:]...)
	s.src += string(raw[:cut])
	s.check(old)
}

// partial returns the number of bytes at the end of b that begin an incomplete character.
func partial(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if !utf8.FullRune(b[len(b)-n:]) { // it is true of bytes that begin no character
			return n
		}
	}
	return 0
}

// check cuts the window at the first invalid byte from index old on. Nothing is read behind it.
func (s *source) check(old int) {
	text := s.src[old:]
	valid := len(text)
	if s.ascii {
		for i := range len(text) {
			if text[i] >= utf8.RuneSelf {
				valid = i
				break
			}
		}
	} else if !utf8.ValidString(text) {
		for i, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
				valid = i
				break
			}
		}
	}
	if valid == len(text) {
		return
	}
	s.src, s.more = s.src[:old+valid], false
	s.srcErr = bad(len(s.src), CodeEncoding, "the bytes are not valid %s", s.charsetName())
}

func (s *source) charsetName() string {
	if s.ascii {
		return "US-ASCII"
	}
	return "UTF-8"
}

// slide drops the first n bytes of the window and counts their lines.
func (s *source) slide(n int) {
	s.lines, s.lineAt, s.cr = countLines(s.src[:n], s.base, s.lines, s.lineAt, s.cr)
	s.src = s.src[n:]
	s.base += n
}

// place returns line and column of an index of the window.
func (s *source) place(i int) (line, column int) {
	lines, lineAt, _ := countLines(s.src[:min(i, len(s.src))], s.base, s.lines, s.lineAt, s.cr)
	return lines + 1, s.base + i - lineAt + 1
}

// Lines finds line and column of offsets in a text without reading the text before each.
type Lines struct {
	text  string
	marks []lineMark // at the start of each block
}

// lineMark is the state of countLines at an offset.
type lineMark struct {
	lines, lineAt int
	cr            bool
}

// lineBlock is the number of bytes between two marks.
const lineBlock = 4 << 10

// NewLines returns the Lines of a text, which it reads once.
func NewLines(text string) Lines {
	x := Lines{text, make([]lineMark, 1, len(text)/lineBlock+1)}
	for at := lineBlock; at <= len(text); at += lineBlock {
		x.marks = append(x.marks, x.advance(at))
	}
	return x
}

// advance counts from the last mark before an offset.
func (x *Lines) advance(offset int) (m lineMark) {
	block := min(offset/lineBlock, len(x.marks)-1)
	m = x.marks[block]
	m.lines, m.lineAt, m.cr = countLines(x.text[block*lineBlock:offset], block*lineBlock, m.lines, m.lineAt, m.cr)
	return m
}

// At returns line and column, counted from 1 and in bytes, of an offset.
func (x *Lines) At(offset int) (line, column int) {
	offset = min(offset, len(x.text))
	m := x.advance(offset)
	return m.lines + 1, offset - m.lineAt + 1
}

// countLines continues to count line ends (LF, CR LF, CR) in text, which starts at offset base.
func countLines(text string, base, lines, lineAt int, cr bool) (int, int, bool) {
	if strings.IndexByte(text, '\r') < 0 && !cr {
		if n := strings.Count(text, "\n"); n > 0 {
			return lines + n, base + strings.LastIndexByte(text, '\n') + 1, false
		}
		return lines, lineAt, false
	}
	for i := range len(text) {
		switch text[i] {
		case '\n':
			if !cr {
				lines++
			}
			lineAt = base + i + 1
			cr = false
		case '\r':
			lines++
			lineAt = base + i + 1
			cr = true
		default:
			cr = false
		}
	}
	return lines, lineAt, cr
}

// sniff detects a byte order mark.
func (s *source) sniff(doc []byte) {
	s.sniffed = true
	has := func(mark string) bool { return strings.HasPrefix(string(doc[:min(4, len(doc))]), mark) }
	switch {
	case has("\xFF\xFE\x00\x00"), has("\x00\x00\xFE\xFF"):
		s.unreadable(CodeUnsupported, "the document is in UTF-32")
	case has("\xFF\xFE"):
		s.bom, s.utf16 = true, &utf16Decoder{low: 0, high: 1}
	case has("\xFE\xFF"):
		s.bom, s.utf16 = true, &utf16Decoder{low: 1, high: 0}
	case has("\xEF\xBB\xBF"):
		s.bom = true
	case has("<\x00"), has("\x00<"):
		s.unreadable(CodeEncoding, "the document is in UTF-16 without a byte order mark")
	}
}

func (s *source) unreadable(code, msg string) {
	s.refused = bad(0, code, "%s", msg).fix("send UTF-8")
}

// chooseEncoding chooses the encoding: the transport's charset, or else the XML declaration, or
// else the byte order mark, or else UTF-8. It refuses a byte order mark that contradicts the
// charset or the declaration, since other readers could read another text.
func (s *source) chooseEncoding(p *Prolog) error {
	if s.refused != nil {
		return s.refused
	}
	declared := strings.ToLower(p.Encoding)
	charset := strings.ToLower(s.charset)
	chosen := cmp.Or(charset, declared, "utf-8")
	if !supported(chosen) {
		return bad(0, CodeUnsupported, "the encoding %s is not supported", clip(chosen)).fix("send UTF-8")
	}
	p.Overruled = charset != "" && declared != "" && !sameEncoding(charset, declared)
	if s.bom {
		for _, label := range []string{charset, declared} {
			if label != "" && !s.markFits(label) {
				return bad(0, CodeEncoding, "the byte order mark contradicts the encoding %s",
					clip(label)).fix("send UTF-8 and say so everywhere")
			}
		}
	} else if strings.HasPrefix(chosen, "utf-16") {
		return bad(0, CodeEncoding, "the document has no byte order mark, which UTF-16 needs").fix("send UTF-8")
	}
	if chosen == "us-ascii" {
		s.ascii = true
		s.check(0)
	}
	return nil
}

func supported(label string) bool {
	switch label {
	case "utf-8", "us-ascii", "utf-16", "utf-16le", "utf-16be":
		return true
	}
	return false
}

func sameEncoding(a, b string) bool {
	return a == b || strings.HasPrefix(a, "utf-16") && strings.HasPrefix(b, "utf-16")
}

// markFits reports whether the byte order mark is one of the encoding.
func (s *source) markFits(label string) bool {
	switch label {
	case "utf-8":
		return s.utf16 == nil
	case "utf-16":
		return s.utf16 != nil
	case "utf-16le":
		return s.utf16 != nil && s.utf16.low == 0
	case "utf-16be":
		return s.utf16 != nil && s.utf16.low == 1
	}
	return false
}

func clip(label string) string {
	if len(label) > 40 {
		return label[:40] + "…"
	}
	return label
}

// utf16Decoder converts UTF-16 to UTF-8.
type utf16Decoder struct {
	low, high int  // index of the bytes within a unit
	marked    bool // the byte order mark was skipped
}

// decode appends src to dst in UTF-8. It returns an incomplete character at the end as rest. It
// returns false for a lone surrogate after text.
func (d *utf16Decoder) decode(dst, src []byte) (text, rest []byte, ok bool) {
	unit := func() rune { return rune(src[d.low]) | rune(src[d.high])<<8 }
	if !d.marked { // the first bytes have the mark: it chose this decoder
		d.marked = true
		src = src[2:]
	}
	for len(src) >= 2 {
		r, n := unit(), 2
		if utf16.IsSurrogate(r) {
			if len(src) < 4 {
				break
			}
			first := r
			src = src[2:]
			r = utf16.DecodeRune(first, unit())
			if r == utf8.RuneError {
				return dst, nil, false
			}
		}
		dst = utf8.AppendRune(dst, r)
		src = src[n:]
	}
	return dst, src, true
}
