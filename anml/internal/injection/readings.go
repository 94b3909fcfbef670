package injection

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// readings returns what a folded text can be read as: as it stands, and without comments, markup
// and the signs between the letters of a word.
func readings(folded string) []string {
	plain := comments().ReplaceAllString(folded, "")
	plain = betweenLetters().ReplaceAllString(emphasis.Replace(plain), "$1")
	if plain == folded {
		return []string{folded}
	}
	return []string{folded, plain}
}

var (
	comments       = lazily(`(?s)<!--.*?-->|/\*.*?\*/|\{#.*?#\}|<[^<>]{0,80}>`)
	betweenLetters = lazily(`([\p{L}\p{N}])[^\p{L}\p{N}\s]+\b`)
	emphasis       = strings.NewReplacer("*", "", "_", "", "~", "", `"`, "", "“", "", "”", "", "«", "", "»", "")

	base64Run = lazily(`[A-Za-z0-9+/_-]{8,}`)
	hexRun    = lazily(`(?:[0-9A-Fa-f]{2}){8,}`)
)

// decodings returns the texts that stand encoded in a text: base64, hexadecimal digits, percent
// and HTML escapes.
func decodings(text string) []string {
	var out []string
	add := func(s string) {
		if s != "" && s != text {
			out = append(out, s)
		}
	}
	add(html.UnescapeString(text))
	if s, err := url.PathUnescape(text); err == nil {
		add(s)
	}
	for _, run := range hexRun().FindAllString(text, scanParts) {
		if b, err := hex.DecodeString(run); err == nil && readable(b) {
			add(string(b))
		}
	}
	standard := strings.NewReplacer("-", "+", "_", "/")
	for _, run := range base64Run().FindAllString(text, scanParts) {
		if b, err := base64.RawStdEncoding.DecodeString(standard.Replace(run)); err == nil && readable(b) {
			add(string(b))
		}
	}
	return out
}

// readable reports whether bytes can be a text.
func readable(b []byte) bool {
	return len(b) >= 6 && utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool {
		return !unicode.IsPrint(r) && !unicode.IsSpace(r)
	})
}

// lazily compiles an expression on first use, so that importing the package costs nothing
// for it.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
