package aiuri

import (
	"cmp"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Kind is the form of the part after "ai:" (RFC 3986 section 3).
type Kind uint8

const (
	// Rootless URIs ("ai:agent/x") are well-formed but name no authority; the "//" may be
	// missing by mistake. It is the zero value.
	Rootless Kind = iota
	// Absolute URIs ("ai:/agent/x") have a path but no authority: only a local resolver
	// can use them.
	Absolute
	// Authority URIs ("ai://bank/x") name the authority of the endpoint.
	Authority
)

// String returns the kind in lower case.
func (k Kind) String() string {
	return [...]string{"rootless", "absolute", "authority"}[min(k, Authority)]
}

// URI is a well-formed ai: URI as it was written. It is immutable. The zero value is not a
// URI: see [URI.IsZero]. Compare URIs with [URI.Equal]; == compares the spelling.
type URI struct {
	text                  string
	kind                  Kind
	host, port            string // host in lower case; port "" if absent or empty
	path, query, fragment string // escaped, without the "?" and "#" before them
	hasQuery, hasFragment bool
}

// String returns the URI as it was written.
func (u URI) String() string { return u.text }

// IsZero reports whether u is the zero value.
func (u URI) IsZero() bool { return u.text == "" }

// Kind returns the form of the URI.
func (u URI) Kind() Kind { return u.kind }

// Authority returns host and port in lower case, without a port if none was written: no
// default port is defined. It is empty for the other kinds.
func (u URI) Authority() string {
	if u.port == "" {
		return u.host
	}
	return u.host + ":" + u.port
}

// Host returns the host in lower case.
func (u URI) Host() string { return u.host }

// Port returns the port as digits, or "".
func (u URI) Port() string { return u.port }

// Path returns the escaped path, which may be empty.
func (u URI) Path() string { return u.path }

// Query returns the query without "?", and whether there is one. It is opaque and is
// forwarded unchanged.
func (u URI) Query() (query string, ok bool) { return u.query, u.hasQuery }

// Fragment returns the fragment without "#", and whether there is one. It is never sent.
func (u URI) Fragment() (fragment string, ok bool) { return u.fragment, u.hasFragment }

// Redacted returns what may be logged (section 6): scheme and authority, with an ellipsis if
// there is more.
func (u URI) Redacted() string {
	switch {
	case u.IsZero():
		return ""
	case u.kind != Authority:
		return "ai:…"
	case len(u.path) <= 1 && !u.hasQuery && !u.hasFragment:
		return "ai://" + u.Authority()
	}
	return "ai://" + u.Authority() + "/…"
}

// Equal reports whether two URIs have the same normal form.
func (u URI) Equal(v URI) bool { return u.Normalize().text == v.Normalize().text }

// MarshalText returns the URI as it was written.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.text), nil }

// UnmarshalText parses a URI as [Parse] does.
func (u *URI) UnmarshalText(text []byte) error {
	if u == nil {
		return fail(lookleap.CodeUsage, "the URI to unmarshal into is nil", "pass a pointer to a URI")
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}

// Normalize returns the normal form (RFC 3986 sections 6.2.2 and 6.2.3). Scheme and host are
// in lower case and an empty port is removed. In the path, escapes are in upper case, and
// escapes of unreserved characters and dot segments are removed. An authority without a path
// gets "/". Query and fragment stay unchanged. Normalize is idempotent.
func (u URI) Normalize() URI {
	if u.IsZero() {
		return u
	}
	u.path = domain.NormalEscapes(u.path)
	if u.kind != Rootless { // which has no base for dot segments
		u.path = removeDotSegments(u.path)
	}
	u.text = "ai:"
	switch {
	case u.kind == Authority:
		u.path = cmp.Or(u.path, "/")
		u.text = "ai://" + u.Authority()
	case u.kind == Absolute && strings.HasPrefix(u.path, "//"):
		u.path = "/." + u.path // otherwise the path would be read as an authority
	}
	u.text += u.path
	if u.hasQuery {
		u.text += "?" + u.query
	}
	if u.hasFragment {
		u.text += "#" + u.fragment
	}
	return u
}

// sent returns the normal form without the fragment, as it is sent.
func (u URI) sent() URI {
	u.fragment, u.hasFragment = "", false
	return u.Normalize()
}

// removeDotSegments removes the dot segments of a path that is empty or begins with a slash
// (RFC 3986 section 5.2.4).
func removeDotSegments(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, segment := range segments {
		if segment != "." && segment != ".." {
			out = append(out, segment)
			continue
		}
		if segment == ".." {
			out = out[:max(0, len(out)-1)]
		}
		if i == len(segments)-1 {
			out = append(out, "") // a dot segment at the end leaves its slash
		}
	}
	return "/" + strings.Join(out, "/")
}
