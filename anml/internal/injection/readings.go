package injection

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// readings are the texts that a folded text can be read as: as it stands, with
// comments and markup taken out, with words put together again that signs or
// blanks divide, and written backwards or with letters rotated.
func readings(folded string) []string {
	bare := folded
	if strings.ContainsAny(folded, "<{/") {
		bare = comments().ReplaceAllString(folded, "")
	}
	joined := join(bare)
	list := []string{folded}
	for _, s := range []string{bare, joined, undisguise(joined), spelled(folded), rotate(folded), reverse(folded)} {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

var comments = lazily(`(?s)<!--.*?-->|/\*.*?\*/|\{#.*?#\}|<[^<>]{0,80}>`)

// join takes out the signs that stand between the letters of one word, and the
// marks of emphasis and quotation.
func join(text string) string {
	var b strings.Builder
	var signs []rune
	letter := false // the last character that was written
	for _, r := range text {
		switch {
		case strings.ContainsRune("*_~\"“”«»", r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !letter {
				b.WriteString(string(signs))
			}
			signs = signs[:0]
			b.WriteRune(r)
			letter = true
		case unicode.IsSpace(r):
			b.WriteString(string(signs))
			signs = signs[:0]
			b.WriteRune(r)
			letter = false
		default:
			signs = append(signs, r)
		}
	}
	b.WriteString(string(signs))
	return b.String()
}

// spelled joins letters that stand alone: "i g n o r e". Where the author left
// wider gaps between words they are kept, otherwise the words of the patterns
// are looked for in the row of letters. A text without such rows stays as it is.
func spelled(text string) string {
	var out []string
	found := false
	for _, part := range gaps().Split(text, -1) {
		row, ended := 0, false
		for _, w := range words(part) {
			r, size := utf8.DecodeRuneInString(w)
			switch {
			case w == stop:
				ended = true
				continue
			case size < len(w) || unspaced(r):
				row = 0
			default:
				row++
			}
			if row > 1 {
				out[len(out)-1] += w
				found = found || row > 3
				continue
			}
			if ended {
				out = append(out, stop)
			}
			out, ended = append(out, w), false
		}
	}
	if !found {
		return text
	}
	for i, w := range out {
		out[i] = cutWords(w)
	}
	return strings.Join(out, " ")
}

var gaps = lazily(`[^\p{L}\p{N}.!?]{2,}`)

// cutWords puts blanks around words of the patterns in a long row of letters.
func cutWords(row string) string {
	if len(row) <= 12 {
		return row
	}
	return inRow().ReplaceAllStringFunc(row, func(w string) string {
		switch w {
		case "donot":
			w = "do not"
		case "theuser":
			w = "the user"
		}
		return " " + w + " "
	})
}

var inRow = lazily(`ignore|disregard|forget|override|bypass|skip|reveal|without|previous|prior|instructions?|rules|system|prompt|confirmation|consent|donot|tell|theuser|password|above|all|your|safety|guidelines`)

func rotate(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, text)
}

func reverse(text string) string {
	runes := []rune(text)
	slices.Reverse(runes)
	return string(runes)
}

var (
	base64Rows = lazily(`[A-Za-z0-9+/_-]{8,}(?:\s+[A-Za-z0-9+/_-]{4,})*={0,2}`)
	hexRun     = lazily(`(?:[0-9A-Fa-f]{2}[\s:]?){8,}`)
	escapes    = lazily(`\\u\{?([0-9A-Fa-f]{2,6})\}?|\\x([0-9A-Fa-f]{2})`)
)

// base64Pieces is in how many pieces an encoded text may be cut.
const base64Pieces = 12

// decodings are the texts that stand encoded in a text: base64, also in pieces;
// hexadecimal digits; percent, HTML and backslash escapes.
func decodings(text string) []string {
	text = strings.Map(func(r rune) rune {
		if Invisible(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	var out []string
	add := func(s string) {
		if s != "" && s != text && len(out) < scanParts {
			out = append(out, s)
		}
	}
	for _, row := range base64Rows().FindAllString(text, scanParts) {
		pieces := strings.Fields(row)
		for i := range pieces {
			for n := 1; n <= base64Pieces && i+n <= len(pieces); n++ {
				add(unbase64(strings.Join(pieces[i:i+n], "")))
			}
		}
	}
	for _, run := range hexRun().FindAllString(text, scanParts) {
		b, err := hex.DecodeString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || r == ':' {
				return -1
			}
			return r
		}, run))
		if err == nil && readable(b) {
			add(string(b))
		}
	}
	add(html.UnescapeString(text))
	if strings.Contains(text, "%") {
		if s, err := url.PathUnescape(text); err == nil {
			add(s)
		}
	}
	add(escapes().ReplaceAllStringFunc(text, func(e string) string {
		digits := strings.Trim(e[2:], "{}")
		var r rune
		for _, c := range strings.ToLower(digits) {
			r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c))
		}
		return string(r)
	}))
	return out
}

func unbase64(s string) string {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	if len(s)%4 == 1 { // a single digit left over means nothing
		s = s[:len(s)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || !readable(b) {
		return ""
	}
	return string(b)
}

// readable reports whether bytes could be meant as text.
func readable(b []byte) bool {
	if len(b) < 6 || !utf8.Valid(b) {
		return false
	}
	odd := 0
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			odd++
		}
	}
	return odd*10 <= len(b)
}

// lazily compiles an expression on first use, so that importing the package costs nothing
// for it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
