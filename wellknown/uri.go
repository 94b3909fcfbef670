package wellknown

import (
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// Prefix is the reserved path prefix (section 3).
const Prefix = "/.well-known/"

// URI is a well-known URI in its parts.
type URI struct {
	Origin string // scheme, host, and port unless it is the default; canonical
	Name   string // the registered name, one segment
	Rest   string // the path below the name without a leading slash; most names define none
	Query  string // without "?"
}

// ErrNoName is the error for the bare prefix: the URL is well-known, but the prefix
// has no document.
var ErrNoName error = newError(lookleap.CodeBadName, Prefix, "nothing is defined at the prefix itself", "add a registered name")

// Parse splits a well-known URI into its parts. It returns a [*lookleap.Error] for a
// scheme that has no well-known URIs, for an ambiguous spelling, and for a URL that
// is not well-known, and [ErrNoName] for the bare prefix.
func Parse(raw string) (URI, error) {
	u, err := parseURL(raw)
	if err != nil {
		return URI{}, err
	}
	after, ok := strings.CutPrefix(u.Path(), Prefix)
	if !ok {
		return URI{}, newError(CodeNotWellKnown, raw, "the path does not begin with "+Prefix, "")
	}
	if !spellsPrefix(raw) { // an escape that the parser decoded
		return URI{}, newError(lookleap.CodeAmbiguousPath, raw, "the prefix is written with escapes", "write "+Prefix)
	}
	if after == "" {
		return URI{}, ErrNoName
	}
	name, rest, _ := strings.Cut(after, "/") // a segment of a parsed URL passes CheckName
	return URI{Origin: u.Origin(), Name: name, Rest: rest, Query: u.RawQuery()}, nil
}

// spellsPrefix reports whether the path of a URL begins with the characters of [Prefix] as written.
func spellsPrefix(raw string) bool {
	_, after, _ := strings.Cut(raw, "://")
	_, path, _ := strings.Cut(after, "/")
	return strings.HasPrefix("/"+path, Prefix)
}

// IsWellKnown reports whether a URL is a well-known URI: well-known URIs are defined
// for its scheme, and its path begins with exactly [Prefix]. The bare prefix is
// well-known; ambiguous spellings are not.
func IsWellKnown(raw string) bool {
	_, err := Parse(raw)
	return err == nil || err == ErrNoName
}

// URL returns the well-known URI of a name on an origin by the built-in registry. See
// [Registry.URL].
func URL(origin, name string, rest ...string) (string, error) {
	return Builtin().URL(origin, name, rest...)
}

// URL returns the well-known URI of a name on an origin, followed by the segments of
// rest. The path, query and fragment of origin are ignored. A port that is not the
// scheme's default must be one of the name's registration; use [Registry.URLOn] for
// other ports.
func (r *Registry) URL(origin, name string, rest ...string) (string, error) {
	return r.buildURL(origin, name, false, rest)
}

// URLOn is [Registry.URL] for a caller that already uses this origin. It accepts any
// port: naming the origin is the explicit statement that section 3 demands.
func (r *Registry) URLOn(origin, name string, rest ...string) (string, error) {
	return r.buildURL(origin, name, true, rest)
}

func (r *Registry) buildURL(origin, name string, anyPort bool, rest []string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	base, err := parseOrigin(origin)
	if err != nil {
		return "", err
	}
	entry := r.Lookup(name)
	if !slices.Contains(entry.schemes(), base.Scheme()) {
		return "", newError(CodeSchemeUnsupported, origin, "the name "+name+" is not defined for the scheme "+base.Scheme(),
			"use "+strings.Join(entry.schemes(), " or "))
	}
	if base.Port() != schemes[base.Scheme()].port && !anyPort && !slices.Contains(entry.Ports, base.Port()) {
		return "", newError(codePortNotSpecified, origin, "the name "+name+" does not define this port", "")
	}
	text := base.Origin() + Prefix + name
	for _, part := range rest {
		text += "/" + part
	}
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	if u.HasQuery() || u.FragmentDropped() {
		return "", newError(lookleap.CodeBadURL, text, "a segment has a question mark or a number sign", "write %3F or %23")
	}
	return u.String(), nil
}

// parseOrigin reads the origin of a URL. It ignores path, query and fragment, so they
// may be malformed.
func parseOrigin(raw string) (domain.URL, error) {
	scheme, after, _ := strings.Cut(raw, "://")
	if end := strings.IndexAny(after, "/?#"); end >= 0 {
		raw = scheme + "://" + after[:end]
	}
	return parseURL(raw)
}

func parseURL(raw string) (domain.URL, error) {
	if scheme, _, ok := strings.Cut(raw, ":"); ok {
		if _, supported := SchemeSupported(scheme); !supported {
			return domain.URL{}, newError(CodeSchemeUnsupported, raw, "well-known URIs are not defined for this scheme", "")
		}
	}
	u, err := domain.Rules{Schemes: supportedSchemes}.Parse(raw)
	if err == nil {
		return u, nil
	}
	refused := fetch.URLError(raw, "", err)
	switch refused.Code {
	case lookleap.CodeDotSegment, lookleap.CodeEmptySegment: // they might be normalised into or out of the prefix
		refused.Code = lookleap.CodeAmbiguousPath
	}
	return domain.URL{}, refused
}

// schemes is the column "Well-Known URI Support" of the registry of URI schemes
// (section 5.2). Well-known URIs are not defined for other schemes.
var schemes = map[string]struct {
	reference string
	port      uint16
}{
	"coap":      {"RFC7252", 5683},
	"coap+tcp":  {"RFC8323", 5683},
	"coap+ws":   {"RFC8323", 80},
	"coaps":     {"RFC7252", 5684},
	"coaps+tcp": {"RFC8323", 5684},
	"coaps+ws":  {"RFC8323", 443},
	"http":      {"RFC8615", 80},
	"https":     {"RFC8615", 443},
	"ws":        {"RFC8307", 80},
	"wss":       {"RFC8307", 443},
}

var supportedSchemes = slices.Collect(maps.Keys(schemes))

// SchemeSupported reports whether well-known URIs are defined for a scheme, and by
// which document (section 5.2). It ignores letter case.
func SchemeSupported(scheme string) (reference string, ok bool) {
	s, ok := schemes[strings.ToLower(scheme)]
	return s.reference, ok
}

// CheckName returns an error with [lookleap.CodeBadName] unless name can be a
// well-known name: one non-empty path segment of RFC 3986 (section 3). Slashes,
// encoded slashes and dot segments are refused. Names are case-sensitive.
func CheckName(name string) error {
	bad := func(message, fix string) error { return newError(lookleap.CodeBadName, name, message, fix) }
	switch name {
	case "":
		return bad("the name is empty", "use a registered name")
	case ".", "..":
		return bad("a dot segment is removed from every path", "use a registered name")
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '%':
			switch octet, ok := domain.Unescape(name, i); {
			case !ok:
				return bad("a percent sign is not followed by two hex digits", "write %25 for a percent sign")
			case octet == '/' || octet == '\\' || octet == '.':
				return bad("an encoded slash, backslash or dot is read differently by different servers", "use another name")
			}
		case c == '/' || !domain.IsPathChar(c):
			return bad("a character is not allowed in a path segment", "percent-encode it as UTF-8")
		}
	}
	return nil
}
