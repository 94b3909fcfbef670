package lookleap

import "strconv"

// line makes our own sentence, which may hold remote words, safe to stand in
// one line of output.
func line(s string) string {
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
}

// quote shows untrusted text in quotation marks, at most limit runes of it.
func quote(s string, limit int) string {
	r := []rune(s)
	if len(r) > limit {
		r = r[:limit]
	}
	return strconv.QuoteToASCII(string(r))
}

// originLine shows an origin alone on its line, its registrable part marked.
func originLine(s string) string { return line(s) }
