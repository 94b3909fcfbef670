package domain

import (
	"strconv"
	"strings"
)

// Reason codes of [Error].
const (
	CodeNotHTTPS      = "not-https"         // the scheme is missing or not among the allowed ones
	CodeBadURL        = "bad-url"           // not a URL with an authority by RFC 3986
	CodeTooLong       = "url-too-long"      // longer than Rules.MaxLength
	CodeUserinfo      = "userinfo"          // user information before the host, even when empty
	CodeBadHost       = "bad-host"          // not a host name, or one that turns into another when it is looked up
	CodeTrailingDot   = "host-trailing-dot" // a host name with a final dot is another web origin
	CodeIPHost        = "ip-host"           // an IP address in any notation
	CodeSpecialHost   = "special-host"      // a single label or a special-use name
	CodeBadPort       = "bad-port"          // not 1 to 65535 without leading zeros
	CodeDotSegment    = "dot-segment"       // "." or ".." as a path segment, also percent-encoded or before ";"
	CodeEmptySegment  = "empty-segment"     // "//" inside the path
	CodeAmbiguousPath = "ambiguous-path"    // an escape that servers read in different ways
	CodeQuery         = "query-not-allowed"
	CodeFragment      = "fragment-not-allowed"
)

// Error says why a URL, reference or host was refused. Its text is printable ASCII
// whatever the input was, and quotes no user information, query or fragment.
type Error struct {
	Code    string // one of the Code constants
	Offset  int    // byte at which Part begins in the text that was given
	Part    string // the offending part as it was written, at most 256 bytes: untrusted
	Message string // one sentence
	Fix     string // what to write instead, or empty
}

// ReasonCode returns the reason code.
func (e *Error) ReasonCode() string { return e.Code }

func (e *Error) Error() string {
	text := e.Message
	switch e.Code {
	case CodeQuery, CodeFragment, CodeUserinfo: // the part may hold secrets
	default:
		if e.Part != "" {
			text = strconv.QuoteToASCII(e.Part) + ": " + text
		}
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

const maxPart = 256

func fail(code string, offset int, part, message, fix string) error {
	if len(part) > maxPart {
		part = strings.Clone(part[:maxPart]) // so that an error does not keep a large input alive
	}
	return &Error{Code: code, Offset: offset, Part: part, Message: message, Fix: fix}
}

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
	if after, same := strings.CutPrefix(raw, scheme); same && after == rest {
		return raw // nothing is hidden, and nothing is allocated
	}
	return scheme + rest
}
