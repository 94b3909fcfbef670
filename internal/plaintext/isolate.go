package plaintext

import (
	"strings"
	"unicode/utf8"

	unicodebidi "golang.org/x/text/unicode/bidi"
)

// The isolates of UAX 9: what stands between them has no effect on the order of what stands around.
const (
	isolate = "\u2068" // FIRST STRONG ISOLATE
	endOfIt = "\u2069" // POP DIRECTIONAL ISOLATE
)

// Isolate returns a line of [Line], [Quote] or [Host] for a display that follows UAX 9, the
// Unicode bidirectional algorithm: words that are written from right to left, such as Hebrew,
// do not change the order of the words around them. Each quotation that holds such words gets
// isolates inside of its marks; escapes such as \u{1B} in it stay outside of the isolates.
// Isolates that Isolate has put there before are replaced.
func Isolate(line string) string {
	line = withoutIsolates.Replace(line)
	if !hasRightToLeft(line) {
		return line
	}
	var b strings.Builder
	for line != "" {
		i := strings.IndexByte(line, '"')
		if i < 0 {
			i = len(line)
		}
		isolateWords(&b, line[:i])
		line = line[i:]
		if line == "" {
			break
		}
		end := quotationEnd(line)
		b.WriteByte('"')
		isolateText(&b, strings.TrimSuffix(line[1:end], `"`))
		if strings.HasSuffix(line[1:end], `"`) {
			b.WriteByte('"')
		}
		line = line[end:]
	}
	return b.String()
}

// IsolateRow is [Isolate] for a row of [Block].
func IsolateRow(row string) string {
	for _, start := range []string{"| ", ": "} {
		if text, ok := strings.CutPrefix(row, start); ok && hasRightToLeft(text) {
			var b strings.Builder
			b.WriteString(start)
			isolateText(&b, text)
			return b.String()
		}
	}
	return row
}

var withoutIsolates = strings.NewReplacer(isolate, "", endOfIt, "")

// quotationEnd returns the length of the quotation that line begins with.
func quotationEnd(line string) int {
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// isolateText writes a text with isolates around each piece between two numeric escapes.
func isolateText(b *strings.Builder, text string) {
	start := 0
	piece := func(end int) {
		if part := text[start:end]; hasRightToLeft(part) {
			b.WriteString(isolate + part + endOfIt)
		} else {
			b.WriteString(part)
		}
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		size := numericEscape(text[i:])
		if size == 0 {
			i++ // the escaped character
			continue
		}
		piece(i)
		b.WriteString(text[i : i+size])
		start = i + size
		i = start - 1
	}
	piece(len(text))
}

// numericEscape returns the length of an escape such as \u{1B} that text begins with, or 0.
func numericEscape(text string) int {
	if !strings.HasPrefix(text, `\u{`) && !strings.HasPrefix(text, `\x{`) {
		return 0
	}
	return strings.IndexByte(text, '}') + 1
}

// isolateWords writes a part of a sentence with isolates around each word from right to left.
func isolateWords(b *strings.Builder, text string) {
	for word := range strings.SplitAfterSeq(text, " ") {
		if bare := strings.TrimSuffix(word, " "); hasRightToLeft(bare) {
			b.WriteString(isolate + bare + endOfIt + word[len(bare):])
			continue
		}
		b.WriteString(word)
	}
}

// hasRightToLeft reports whether a text has characters that are written from right to left, or
// numbers of such scripts.
func hasRightToLeft(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		p, size := unicodebidi.LookupString(text[i:])
		switch p.Class() {
		case unicodebidi.R, unicodebidi.AL, unicodebidi.AN:
			return true
		}
		i += max(size, 1)
	}
	return false
}
