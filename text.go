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
