package domain

import (
	"net/url"
	"strings"
)

// URL is a canonical URL with an authority: https unless [Rules] allowed another scheme. It is
// immutable. Two URLs are the same if their strings are. The zero URL is not a URL: its string is
// empty and it is under nothing.
type URL struct {
	_ [0]func() // not comparable by ==, which would also compare fragment

	text     string // scheme://host[:port]/path[?query]
	host     int    // where the host begins in text
	hostEnd  int
	path     int // where the path begins
	pathEnd  int
	port     uint16
	fragment bool
}

// String returns the canonical form: printable ASCII, lower-case scheme and host, no default
// port, a path that begins with a slash. Parsing it again returns the same string.
func (u URL) String() string { return u.text }

// WithoutQuery returns the canonical form without the query, which may hold secrets. Messages
// and events use it.
func (u URL) WithoutQuery() string {
	text, _, _ := strings.Cut(u.text, "?")
	return text
}

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.text == "" }

// Scheme returns the scheme in lower case.
func (u URL) Scheme() string { return u.text[:max(0, u.host-len("://"))] }

// Host returns the host without port: A-labels in lower case. An IP address appears only if
// [Rules] allowed it, IPv6 in brackets.
func (u URL) Host() string { return u.text[u.host:u.hostEnd] }

// Port returns the effective port: the scheme's default where the URL named none, 0 if the
// scheme has none.
func (u URL) Port() uint16 { return u.port }

// Origin returns scheme, host and port (unless it is the default) without a final slash.
func (u URL) Origin() string { return u.text[:u.path] }

// Path returns the canonical escaped path. It begins with "/".
func (u URL) Path() string { return u.text[u.path:u.pathEnd] }

// Segments returns the escaped segments of the path. A final slash adds none, so the path "/"
// has no segments.
func (u URL) Segments() []string {
	path := strings.Trim(u.Path(), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// HasQuery reports whether there is a query, perhaps an empty one.
func (u URL) HasQuery() bool { return u.pathEnd < len(u.text) }

// RawQuery returns the query without "?". Its escapes are kept as they were written.
func (u URL) RawQuery() string {
	if !u.HasQuery() {
		return ""
	}
	return u.text[u.pathEnd+1:]
}

// FragmentDropped reports whether the input had a fragment. It is not a part of u.
func (u URL) FragmentDropped() bool { return u.fragment }

// NetURL returns a new *url.URL with the same host and the same escaped path: what net/http
// sends is what String shows.
func (u URL) NetURL() *url.URL {
	parsed, err := url.Parse(u.text)
	if err != nil {
		return new(url.URL) // cannot happen for a canonical URL (FuzzParse); net/http refuses to request an empty one
	}
	return parsed
}

// Under reports whether u lies at or below root: same scheme, host and port, and the segments
// of root's path are the first segments of u's path, byte by byte. A final slash of root makes
// no difference, queries are ignored. (DVS 3.1; never a string prefix.)
func (u URL) Under(root URL) bool {
	if u.IsZero() || u.Origin() != root.Origin() {
		return false
	}
	rest, ok := strings.CutPrefix(u.Path(), strings.TrimSuffix(root.Path(), "/"))
	return ok && (rest == "" || rest[0] == '/')
}
