package strictxml

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// source is the window on a document: characters that XML allows, in UTF-8. Windows are strings, so
// that the strings of tokens never change.
type source struct {
	src    string // the window
	base   int    // bytes of the document before it
	lines  int    // line ends before the window
	lineAt int    // offset of the line in which the window starts
	more   bool   // the reader may have more
	end    *Error // why nothing follows the window, unless it ends the document

	r       io.Reader
	limit   int // bytes that may be read
	total   int // bytes read
	step    int // bytes to read at a time
	pending []byte
	ascii   bool
	mark    string           // the encoding according to the byte order mark
	utf16   binary.ByteOrder // of the bytes of a document in UTF-16
}

const (
	firstWindow = 4 << 10  // bytes of the first read of a stream
	window      = 64 << 10 // bytes of later reads
)

// marks lists the beginnings that say the encoding of a document. The longer ones come first.
var marks = []struct {
	bytes, encoding string
	order           binary.ByteOrder
}{
	{"\xFF\xFE\x00\x00", "utf-32", nil}, {"\x00\x00\xFE\xFF", "utf-32", nil},
	{"\xFF\xFE", "utf-16le", binary.LittleEndian}, {"\xFE\xFF", "utf-16be", binary.BigEndian},
	{"\xEF\xBB\xBF", "utf-8", nil},
	{"<\x00", "unmarked utf-16", nil}, {"\x00<", "unmarked utf-16", nil},
}

// fill drops the window before its index keep and reads more: at least as much as the window has,
// so that reading the whole document takes linear time.
func (s *source) fill(keep int) {
	lines, last := countLines(s.src[:keep])
	if lines > 0 {
		s.lines, s.lineAt = s.lines+lines, s.base+last
	}
	s.src, s.base = s.src[keep:], s.base+keep

	first := s.total == 0
	size := max(s.step, len(s.src))
	s.step = min(2*s.step, window)
	raw := make([]byte, len(s.pending)+size)
	copy(raw, s.pending)
	n, err := readFull(s.r, raw[len(s.pending):])
	raw = raw[:len(s.pending)+n]
	if s.total += n; s.total > s.limit {
		s.stop(bad(0, CodeLimit, "the document is longer than %d bytes", s.limit))
		return
	}
	if s.more = err == nil; err != nil && err != io.EOF {
		s.end = bad(0, CodeRead, "the document could not be read to its end")
		s.end.cause = err
	}
	for _, m := range marks {
		if first && bytes.HasPrefix(raw, []byte(m.bytes)) {
			if s.mark, s.utf16 = m.encoding, m.order; s.utf16 != nil {
				raw = raw[len(m.bytes):]
			}
			break
		}
	}
	s.decode(raw)
}

// stop ends the document after the window.
func (s *source) stop(e *Error) {
	e.at = len(s.src)
	s.end, s.more = e, false
}

// readFull is io.ReadFull. It returns an error for a reader that repeatedly returns no bytes, and
// one that a reader returns with the last bytes.
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for idle := 0; n < len(buf) && err == nil; idle++ {
		var more int
		more, err = r.Read(buf[n:])
		if n += more; more > 0 {
			idle = 0
		}
		if idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// decode appends bytes to the window. An incomplete character at the end is pending.
func (s *source) decode(raw []byte) {
	if s.utf16 != nil {
		raw = s.decodeUTF16(raw)
	} else if s.pending = nil; s.more || s.end != nil {
		for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
			if !utf8.FullRune(raw[len(raw)-n:]) { // it is true of bytes that begin no character
				raw, s.pending = raw[:len(raw)-n], raw[len(raw)-n:]
				break
			}
		}
	}
	old := len(s.src)
	s.src += string(raw)
	s.check(old)
	if s.end != nil {
		s.end.at = len(s.src)
	}
}

func (s *source) decodeUTF16(raw []byte) []byte {
	text, valid := make([]byte, 0, 2*len(raw)), true
	for len(raw) >= 2 && valid {
		r, n := rune(s.utf16.Uint16(raw)), 2
		if utf16.IsSurrogate(r) {
			if len(raw) < 4 {
				break
			}
			r, n = utf16.DecodeRune(r, rune(s.utf16.Uint16(raw[2:]))), 4
			valid = r != utf8.RuneError
		}
		if valid {
			text, raw = utf8.AppendRune(text, r), raw[n:]
		}
	}
	if s.pending = raw; !valid || len(raw) > 0 && !s.more && s.end == nil {
		s.more, s.end = false, bad(0, CodeEncoding, "the bytes are not valid UTF-16")
	}
	return text
}

// check cuts the window at the first character from index i on that is invalid or not allowed in
// XML. Nothing is read behind it.
func (s *source) check(i int) {
	for i < len(s.src) {
		c := s.src[i]
		if c >= ' ' && c < utf8.RuneSelf || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s.src[i:])
		switch {
		case s.ascii && c >= utf8.RuneSelf:
			s.src = s.src[:i]
			s.stop(bad(i, CodeEncoding, "the bytes are not valid US-ASCII"))
		case r == utf8.RuneError && n == 1:
			s.src = s.src[:i]
			s.stop(bad(i, CodeEncoding, "the bytes are not valid UTF-8"))
		case !isChar(r):
			s.src = s.src[:i]
			s.stop(bad(i, CodeBadChar, "the character U+%04X is not allowed in XML", r).fix("remove it"))
		}
		i += n
	}
}

// setEncoding chooses the encoding: the transport's charset, or else the XML declaration, or else
// the byte order mark, or else UTF-8. It refuses a byte order mark that contradicts the charset or
// the declaration, since other readers could read another text.
func (s *Scanner) setEncoding() *Error {
	switch s.mark {
	case "utf-32":
		return bad(0, CodeUnsupported, "the document is in UTF-32").fix("send UTF-8")
	case "unmarked utf-16":
		return bad(0, CodeEncoding, "the document is in UTF-16 without a byte order mark").fix("send UTF-8")
	}
	declared := strings.ToLower(s.prolog.Encoding)
	chosen := declared
	if s.charset != "" {
		chosen = s.charset
		s.prolog.Overruled = declared != "" && declared != chosen && !(isUTF16(declared) && isUTF16(chosen))
	}
	switch {
	case chosen != "" && chosen != "utf-8" && chosen != "us-ascii" && !isUTF16(chosen):
		return bad(0, CodeUnsupported, "the encoding %s is not supported", clip(chosen)).fix("send UTF-8")
	case s.mark == "" && isUTF16(chosen):
		return bad(0, CodeEncoding, "the document has no byte order mark, which UTF-16 needs").fix("send UTF-8")
	}
	for _, label := range []string{s.charset, declared} {
		if s.mark != "" && label != "" && label != s.mark && (label != "utf-16" || s.utf16 == nil) {
			return bad(0, CodeEncoding, "the byte order mark contradicts the encoding %s", clip(label)).fix("send UTF-8 and say so everywhere")
		}
	}
	if chosen == "us-ascii" {
		s.ascii = true
		s.check(0)
	}
	return nil
}

func isUTF16(label string) bool {
	return label == "utf-16" || label == "utf-16le" || label == "utf-16be"
}

func clip(label string) string {
	if len(label) > 40 {
		return label[:40] + "…"
	}
	return label
}
