package aiuri

import (
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/domain"
)

// FromIRI reads an ai: URI in which people may have written characters outside
// ASCII (section 7): those of path, query and fragment are percent-encoded as
// UTF-8, and the host goes through IDNA. Everything else is as in [Parse], the
// offsets of errors included, which are those of the text given.
func FromIRI(text string) (URI, error) {
	if len(text) > MaxURI {
		return Parse(text)
	}
	if !utf8.ValidString(text) {
		return URI{}, failAt(CodeNonASCII, invalidAt(text), "the text is not UTF-8", "")
	}
	host, end := hostSpan(text)
	var b strings.Builder
	b.WriteString(text[:host])
	if name := text[host:end]; isASCII(name) {
		b.WriteString(name)
	} else {
		canonical, err := domain.Rules{AllowSpecial: true}.ParseHost(name)
		if err != nil {
			e := badHost(host, "the host is no international domain name", "")
			e.Err = err
			return URI{}, e
		}
		b.WriteString(canonical)
	}
	shift := b.Len() - end
	writeEscaped(&b, text[end:])
	var u URI
	if err := (Rules{}).parse(b.String(), &u); err != nil {
		err.Place.Offset = originalOffset(text, end, shift, err.Place.Offset)
		return URI{}, err
	}
	return u, nil
}

// hostSpan is where the host stands, without user information and port, which
// Parse judges.
func hostSpan(text string) (start, end int) {
	if len(text) < 5 || text[2:5] != "://" {
		return min(len(text), 3), min(len(text), 3)
	}
	end = 5
	for end < len(text) && !strings.ContainsRune("/?#@:[]\\", rune(text[end])) {
		end++
	}
	return 5, end
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func invalidAt(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}

func writeEscaped(b *strings.Builder, s string) {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
}

// originalOffset brings an offset in the converted text back to the given one.
// The octets before end were moved by shift as a whole.
func originalOffset(text string, end, shift, offset int) int {
	at := end + shift
	if offset < at {
		return min(offset, end)
	}
	for i := end; i < len(text); i++ {
		if at >= offset {
			return i
		}
		at++
		if text[i] >= utf8.RuneSelf {
			at += 2
		}
	}
	return len(text)
}
