package aiuri

import "github.com/lookleap/lookleap"

// Kind is the form of the part behind "ai:" (RFC 3986 section 3).
type Kind uint8

const (
	// Rootless URIs ("ai:agent/x") are well-formed and name nobody; probably a
	// "//" was forgotten. It is the zero value.
	Rootless Kind = iota
	// Absolute URIs ("ai:/agent/x") have a path and no authority: they mean
	// something to a local resolver alone.
	Absolute
	// Authority URIs ("ai://bank/x") name who is to be asked.
	Authority
)

// String gives the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Authority:
		return "authority"
	case Absolute:
		return "absolute"
	}
	return "rootless"
}

// URI is a well-formed ai: URI as it was written. It is immutable, and its zero
// value is no URI. Two URIs mean the same if [URI.Equal] says so; == compares
// the spelling.
type URI struct {
	text     string
	host     string // as written, of a valid authority
	port     string // "": none, or an empty one
	path     string // escaped
	query    string // without "?"
	fragment string // without "#"

	kind        Kind
	hasQuery    bool
	hasFragment bool
}

// String gives the URI as it was written.
func (u URI) String() string { return u.text }

// IsZero reports whether u is the zero value.
func (u URI) IsZero() bool { return u.text == "" }

// Kind tells the form.
func (u URI) Kind() Kind { return u.kind }

// HasAuthority reports whether the URI names who is to be asked. "ai:/x" does
// not, and "ai:///x" is no URI at all.
func (u URI) HasAuthority() bool { return u.kind == Authority }

// Authority gives host and port in lower case, the port only where one was
// written: no default port is defined. It is empty for the other kinds.
func (u URI) Authority() string {
	if u.port == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.port
}

// Host gives the host in lower case, IPv6 addresses in brackets.
func (u URI) Host() string { return lower(u.host) }

// Port gives the port as digits, or "".
func (u URI) Port() string { return u.port }

// Path gives the escaped path. It may be empty.
func (u URI) Path() string { return u.path }

// Query gives the query without "?", and whether there is one, perhaps empty.
// It is opaque: its octets are forwarded as they are.
func (u URI) Query() (query string, ok bool) { return u.query, u.hasQuery }

// Fragment gives the fragment without "#", and whether there is one. It stays
// with the client and is never sent.
func (u URI) Fragment() (fragment string, ok bool) { return u.fragment, u.hasFragment }

// WithoutFragment gives the URI as it may be sent.
func (u URI) WithoutFragment() URI {
	if u.hasFragment {
		u.text = u.text[:len(u.text)-len(u.fragment)-1]
		u.fragment, u.hasFragment = "", false
	}
	return u
}

// Redacted gives what may stand in a log (section 6): scheme and authority. That
// there was more is shown by an ellipsis.
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

// Equal compares normal forms.
func (u URI) Equal(v URI) bool { return u.Normalize().text == v.Normalize().text }

// MarshalText gives the URI as it was written.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.text), nil }

// UnmarshalText reads what [Parse] accepts.
func (u *URI) UnmarshalText(text []byte) error {
	if u == nil {
		return fail(lookleap.CodeUsage, "a nil URI cannot hold what is read", "")
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}
