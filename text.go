package lookleap

import (
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// line makes a sentence of ours, in which remote words are quoted already, safe
// to stand in one line of output.
func line(s string) string { return plaintext.Line(s) }

// quote shows untrusted text in quotation marks, at most limit characters of it.
func quote(s string, limit int) string { return plaintext.Quote(s, limit) }

// word shows a value that stands among others on a line: quoted, unless it is
// one word of printable ASCII without a quotation mark.
func word(s string) string {
	for _, c := range []byte(s) {
		if c <= ' ' || c == '"' || c > '~' {
			return plaintext.Quote(s, 0)
		}
	}
	return plaintext.Line(s)
}

// originLine shows an https origin alone on its line, the registrable domain
// marked and never cut. What is no such origin is shown as quoted text.
func originLine(origin string) string {
	host, ok := strings.CutPrefix(origin, "https://")
	if !ok {
		return plaintext.Quote(origin, 0)
	}
	host, port, _ := strings.Cut(host, ":")
	if port != "" {
		port = ":" + plaintext.Line(port)
	}
	return plaintext.Host(host) + port
}
