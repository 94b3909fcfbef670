package domain

import "strings"

// hidden stands for what [Redact] removes.
const hidden = "…"

// Redact returns a URL or reference in the form in which logs, events and errors may show it:
// user information, query and fragment are hidden, and so is everything after a scheme that no
// "//" follows (data:, mailto:). The text may be anything, and its result is redacted again to
// itself. A URL that is refused for its user information, query or fragment is refused for the
// same reason in this form.
func Redact(raw string) string {
	rest, scheme := raw, ""
	if n := schemeLength(raw); n > 0 {
		scheme, rest = raw[:n+1], raw[n+1:]
		if !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, `\`) {
			if rest == "" {
				return raw
			}
			return scheme + hidden
		}
	}
	slashes := len(rest) - len(strings.TrimLeft(rest, `/\`))
	if scheme != "" || slashes > 1 {
		authority := rest[slashes:]
		if end := strings.IndexAny(authority, `/\`); end >= 0 {
			authority = authority[:end]
		}
		if at := strings.LastIndexByte(authority, '@'); at >= 0 {
			if strings.ContainsAny(authority, "?#") {
				return scheme + rest[:slashes] + hidden // where the host begins is unclear
			}
			scheme, rest, slashes = scheme+rest[:slashes]+hidden+"@", rest[slashes+at+1:], 0
		}
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 && end+1 < len(rest) {
		rest = rest[:end+1] + hidden
	}
	return scheme + rest
}
