package wellknown

import (
	"errors"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Prefix is the reserved path prefix (section 3).
const Prefix = "/.well-known/"

// URI is a well-known URI taken apart.
type URI struct {
	Origin string // scheme, host and port unless it is the default; canonical
	Name   string // the registered name, one segment
	Rest   string // further path below the name, without a leading slash; most names define none
	Query  string // without "?"
}

// ErrNoName is a URL that is the bare prefix: it is well-known, but nothing is
// defined there.
var ErrNoName error = &Error{Code: lookleap.CodeBadName, Input: Prefix, Reason: "nothing is defined at the prefix itself", Fix: "add a registered name"}

// Parse takes a well-known URI apart. A URL of a scheme without support, an
// ambiguous spelling, and a URL that is not well-known are each an [*Error]; the
// bare prefix is [ErrNoName].
func Parse(raw string) (URI, error) {
	u, err := parseURL(raw)
	if err != nil {
		return URI{}, err
	}
	after, ok := strings.CutPrefix(u.Path(), Prefix)
	if !ok {
		return URI{}, &Error{Code: CodeNotWellKnown, Input: raw, Reason: "the path does not begin with " + Prefix}
	}
	if after == "" {
		return URI{}, ErrNoName
	}
	name, rest, _ := strings.Cut(after, "/")
	if err := CheckName(name); err != nil {
		return URI{}, err
	}
	return URI{Origin: u.Origin(), Name: name, Rest: rest, Query: u.RawQuery()}, nil
}

// IsWellKnown reports whether a URL is a well-known URI: its scheme has support
// and its path begins with the prefix, letter by letter, at the root. The bare
// prefix counts; ambiguous spellings do not.
func IsWellKnown(raw string) bool {
	_, err := Parse(raw)
	return err == nil || errors.Is(err, ErrNoName)
}

// URL is the registry's [Registry.URL] of the built-in table.
func URL(origin, name string, rest ...string) (string, error) {
	return Builtin().URL(origin, name, rest...)
}

// URL builds the well-known URI of a name on an origin, with further path
// segments where the name's registration defines any. The path, query and
// fragment of origin are ignored. A port that is not the scheme's default has to
// be one of the registration's; [Registry.URLOn] takes the caller's word for it.
func (r *Registry) URL(origin, name string, rest ...string) (string, error) {
	return r.build(origin, name, false, rest)
}

// URLOn is URL for a caller that already works on this origin: naming it with
// its port is the explicit statement that section 3 demands.
func (r *Registry) URLOn(origin, name string, rest ...string) (string, error) {
	return r.build(origin, name, true, rest)
}

func (r *Registry) build(origin, name string, explicitPort bool, rest []string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	base, err := parseOrigin(origin)
	if err != nil {
		return "", err
	}
	entry := r.Lookup(name)
	if !slices.Contains(entry.schemes(), base.Scheme()) {
		return "", &Error{Code: CodeSchemeUnsupported, Input: origin, Reason: "the name " + name + " is not defined for the scheme " + base.Scheme(),
			Fix: "use " + strings.Join(entry.schemes(), " or ")}
	}
	if base.Port() != schemes[base.Scheme()].port && !explicitPort && !slices.Contains(entry.Ports, base.Port()) {
		return "", &Error{Code: CodePortNotSpecified, Input: origin, Reason: "the name " + name + " does not define this port"}
	}
	text := base.Origin() + Prefix + name
	for _, part := range rest {
		text += "/" + part
	}
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	if u.HasQuery() {
		return "", &Error{Code: lookleap.CodeBadURL, Input: text, Reason: "a segment holds a question mark", Fix: "write %3F"}
	}
	return u.String(), nil
}

// parseOrigin reads the origin of a URL. Its path, query and fragment play no
// part, and so are not judged.
func parseOrigin(raw string) (domain.URL, error) {
	if scheme, after, ok := strings.Cut(raw, "://"); ok {
		if end := strings.IndexAny(after, "/?#"); end >= 0 {
			raw = scheme + "://" + after[:end]
		}
	}
	return parseURL(raw)
}

func parseURL(raw string) (domain.URL, error) {
	if scheme, _, ok := strings.Cut(raw, ":"); ok {
		if _, supported := SchemeSupported(scheme); !supported {
			return domain.URL{}, &Error{Code: CodeSchemeUnsupported, Input: raw, Reason: "well-known URIs are not defined for this scheme"}
		}
	}
	u, err := domain.Rules{Schemes: supportedSchemes}.Parse(raw)
	if err == nil {
		return u, nil
	}
	var bad *domain.Error
	if !errors.As(err, &bad) {
		return domain.URL{}, err
	}
	return domain.URL{}, &Error{Code: pathCode(bad.Code), Input: raw, Reason: bad.Message, Fix: bad.Fix}
}

// pathCode gives one code to all the spellings that might be normalised into or
// out of the prefix.
func pathCode(code string) lookleap.Code {
	switch code {
	case domain.CodeDotSegment, domain.CodeEmptySegment:
		return lookleap.CodeAmbiguousPath
	}
	return lookleap.Code(code)
}
