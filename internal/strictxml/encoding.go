package strictxml

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// sniff looks at the first octets for a byte order mark.
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

// settle brings the transport's charset, the XML declaration and the byte order
// mark together. Charset beats declaration beats mark beats UTF-8, and a mark
// that contradicts either is refused, so that no reader can see another text.
func (s *source) settle(p *Prolog) error {
	if s.refused != nil {
		return s.refused
	}
	declared := strings.ToLower(p.Encoding)
	charset := strings.ToLower(s.charset)
	for _, label := range []string{charset, declared} {
		if label != "" && !supported(label) {
			if label == declared && charset != "" {
				continue // outranked, so that it need not be known
			}
			return bad(0, CodeUnsupported, "the encoding %s is not read here", clip(label)).fix("send UTF-8")
		}
	}
	chosen := charset
	if chosen == "" {
		chosen = declared
	}
	p.Overruled = charset != "" && declared != "" && !sameEncoding(charset, declared)
	if s.bom {
		for _, label := range []string{charset, declared} {
			if label != "" && !s.markFits(label) {
				return bad(0, CodeEncoding, "the byte order mark contradicts the encoding %s", clip(label)).fix("send UTF-8 and say so everywhere")
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

// markFits reports whether the byte order mark seen is one of that encoding.
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

// utf16Decoder makes UTF-8 of UTF-16 and keeps nothing between calls but
// whether the byte order mark was passed.
type utf16Decoder struct {
	low, high int // place of the octets within a unit
	marked    bool
}

// decode appends src to dst as UTF-8. The rest is what ends within a character;
// not ok means that a surrogate stands alone where dst ends.
func (d *utf16Decoder) decode(dst, src []byte) (text, rest []byte, ok bool) {
	unit := func() rune { return rune(src[d.low]) | rune(src[d.high])<<8 }
	if !d.marked && len(src) >= 2 {
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
			if r = utf16.DecodeRune(first, unit()); r == utf8.RuneError {
				return dst, nil, false
			}
		}
		dst = utf8.AppendRune(dst, r)
		src = src[n:]
	}
	return dst, src, true
}
