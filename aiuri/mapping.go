package aiuri

import (
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Mapping converts ai: URIs to URLs of one gateway and back (section 3.2). The first segment
// below the base is the authority, followed by path and query:
//
//	ai://bank/service/payments?amount=10
//	https://ai.example/gateway/bank/service/payments?amount=10
//
// The mapping is one to one for everything that it accepts. A Mapping is immutable. Its zero
// value returns an error for every URI and URL.
type Mapping struct {
	base domain.URL
	path string // of the base, without final slash
}

// NewMapping returns the mapping of a gateway by its base: an https URL without user
// information, query and fragment. A final slash makes no difference.
func NewMapping(base string) (Mapping, error) {
	return newMapping(base, domain.Rules{})
}

func newMapping(base string, rules domain.Rules) (Mapping, error) {
	rules.RefuseQuery, rules.RefuseFragment = true, true
	u, err := rules.Parse(base)
	if err != nil {
		return Mapping{}, urlError(CodeBadGateway, "", "the gateway's base URL is invalid", err)
	}
	return Mapping{base: u, path: strings.TrimSuffix(u.Path(), "/")}, nil
}

// Base returns the canonical base without a final slash.
func (m Mapping) Base() string { return m.base.Origin() + m.path }

// URL returns the gateway's URL for the normal form of a URI, without its fragment (see
// [URI.Fragment]). It returns an error for a URI without authority, because its first segment
// would be read back as one.
func (m Mapping) URL(u URI) (string, error) {
	if m.base.IsZero() {
		return "", fail(CodeBadGateway, "the mapping is zero", "make it with NewMapping")
	}
	n, err := mappable(u)
	if err != nil {
		return "", err
	}
	url := m.Base() + "/" + n.Authority() + n.path
	if n.hasQuery {
		url += "?" + n.query
	}
	return url, nil
}

// mappable returns the normal form, without fragment, of a URI that can be mapped.
func mappable(u URI) (URI, error) {
	if u.kind != Authority {
		return URI{}, &lookleap.Error{Code: CodeNoAuthority, Subject: u.Redacted(),
			Message: "a URI without authority cannot be mapped", Fix: "write ai://authority/path"}
	}
	n := u.Normalize().WithoutFragment()
	if at, reason := ambiguousAt(n.path); reason != "" {
		return URI{}, &lookleap.Error{Code: CodeAmbiguous, Subject: n.Redacted(), Message: reason,
			Position: positionOf(strings.Index(n.text, n.path) + at)}
	}
	if strings.HasPrefix(n.host, "[") {
		return URI{}, &lookleap.Error{Code: CodeAmbiguous, Subject: n.Redacted(), Message: "an IP literal cannot be a path segment"}
	}
	return n, nil
}

// URI returns the URI for a gateway's URL, by its escaped path as received and its query,
// which may be present and empty. It returns an error for paths that servers read in different
// ways: with dot segments, empty segments, escapes of slashes, backslashes, control characters
// or percent signs, and escapes that are not UTF-8.
func (m Mapping) URI(escapedPath, query string, hasQuery bool) (URI, error) {
	rest, ok := strings.CutPrefix(escapedPath, m.path+"/")
	if !ok || m.base.IsZero() {
		return URI{}, fail(CodeNotGateway, "the path is not below the gateway's base", "")
	}
	if at, reason := ambiguousAt("/" + rest); reason != "" {
		return URI{}, failAt(CodeAmbiguous, len(m.path)+at, reason, "")
	}
	text := "ai://" + rest
	if hasQuery {
		text += "?" + query
	}
	u, err := Parse(text)
	if err != nil {
		return URI{}, err
	}
	n := u.Normalize()
	if n.hasFragment || strings.HasSuffix(rest[:len(rest)-len(u.path)], ":") {
		return URI{}, failAt(CodeAmbiguous, len(m.path)+1, "the authority is not in its normal form", "")
	}
	return n, nil
}

// Split returns the URI for a gateway's URL, as a client writes it.
func (m Mapping) Split(url string) (URI, error) {
	origin := m.base.Origin()
	if n := min(len(url), len(origin)); !strings.EqualFold(url[:n], origin) {
		return URI{}, fail(CodeNotGateway, "the URL is not at the gateway's origin", "")
	}
	path, query, hasQuery := strings.Cut(url[len(origin):], "?")
	return m.URI(path, query, hasQuery)
}

// ambiguousAt returns where and why servers read an escaped path in different ways. The path
// begins with a slash.
func ambiguousAt(path string) (at int, reason string) {
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '/':
			if i > 0 && path[i-1] == '/' {
				return i, "the path has an empty segment"
			}
			if isDotSegment(path[i+1:]) {
				return i + 1, "the path has a dot segment"
			}
		case c == '\\':
			return i, "some readers take a backslash for a slash"
		case c == '?', c == '#':
			return i, "the path ends here"
		case c == '%' && i+2 < len(path):
			switch c := unhex(path[i+1], path[i+2]); {
			case class[path[i+1]]&class[path[i+2]]&hexDigit == 0: // not an escape: the parser refuses it
			case c == '/' || c == '\\':
				return i, "the path has an escaped slash or backslash"
			case c < ' ' || c == 0x7f:
				return i, "the path has an escaped control character, at which some readers stop or begin a line"
			case c == '%':
				return i, "the path has an escaped percent sign, which some readers decode twice"
			case c >= utf8.RuneSelf:
				n := escapedRune(path[i:])
				if n == 0 {
					return i, "the path has escapes that are not UTF-8, which some readers decode to slashes and dots"
				}
				i += n - 3
			}
		}
	}
	return 0, ""
}

// escapedRune returns the length of the escapes of one character outside ASCII, or 0 if they
// are not UTF-8.
func escapedRune(escapes string) int {
	var decoded [utf8.UTFMax]byte
	n := 0
	for ; n < len(decoded) && len(escapes) >= 3 && escapes[0] == '%' && class[escapes[1]]&class[escapes[2]]&hexDigit != 0; n++ {
		decoded[n] = unhex(escapes[1], escapes[2])
		escapes = escapes[3:]
	}
	_, size := utf8.DecodeRune(decoded[:n])
	if size <= 1 { // an error, because the first byte is outside ASCII
		return 0
	}
	return 3 * size
}

// isDotSegment reports whether the next segment is "." or "..", escaped or not, or one of
// these with parameters, which some servers cut off.
func isDotSegment(rest string) bool {
	dots := 0
	for rest != "" && dots < 3 {
		switch {
		case rest[0] == '.':
			rest = rest[1:]
		case len(rest) >= 3 && strings.EqualFold(rest[:3], "%2e"):
			rest = rest[3:]
		default:
			return dots > 0 && (rest[0] == '/' || rest[0] == ';' || len(rest) >= 3 && strings.EqualFold(rest[:3], "%3b"))
		}
		dots++
	}
	return rest == "" && dots > 0 && dots < 3
}
