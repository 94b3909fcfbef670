package domain

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultMaxLength is the number of bytes that a URL or a reference may have.
const DefaultMaxLength = 8192

// Rules say which canonical URLs and hosts are acceptable. The zero Rules are the strict ones:
// https with a public domain name.
type Rules struct {
	Schemes        []string // allowed schemes in lower case; nil: https alone
	MaxLength      int      // bytes of a URL, before and after normalisation, and of a reference; 0: DefaultMaxLength
	RefuseQuery    bool     // otherwise a query is kept
	RefuseFragment bool     // otherwise a fragment is dropped and reported, except right after the authority, where it is always refused
	AllowIP        bool     // IP addresses as hosts: for test beds
	AllowSpecial   bool     // single labels, localhost and special-use names as hosts: for test beds and intranets
}

// Parse returns the canonical form of an absolute https URL by the zero [Rules], or an [*Error].
func Parse(raw string) (URL, error) { return Rules{}.Parse(raw) }

// Parse returns the canonical form of an absolute URL, or an [*Error] for whatever is ambiguous.
func (r Rules) Parse(raw string) (URL, error) {
	if err := r.checkText(raw); err != nil {
		return URL{}, err
	}
	n := schemeLength(raw)
	if strings.HasPrefix(raw, "//") {
		return URL{}, fail(CodeBadURL, 0, "//", "the scheme is missing", "write https:// before the host")
	}
	scheme := strings.ToLower(raw[:n])
	if err := r.checkScheme(scheme); err != nil {
		return URL{}, err
	}
	return r.parseAuthority(scheme, raw, n+1)
}

// checkText refuses what is wrong anywhere in a URL: bad length, white space, controls,
// backslashes, bytes that are not UTF-8.
func (r Rules) checkText(raw string) error {
	if most := r.maxLength(); len(raw) > most {
		return fail(CodeTooLong, most, "", fmt.Sprintf("the text has %d bytes, %d are allowed", len(raw), most), "")
	}
	ascii := true
	for i := range len(raw) {
		switch c := raw[i]; {
		case c <= ' ' || c == 0x7f:
			return fail(CodeBadURL, i, raw[i:i+1], "white space and control characters are not allowed in a URL",
				"remove or percent-encode it")
		case c == '\\':
			return fail(CodeBadURL, i, `\`, "some readers take a backslash for a slash", `write "/"`)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !utf8.ValidString(raw) {
		i := invalidAt(raw)
		return fail(CodeBadURL, i, raw[i:i+1], "the text is not UTF-8", "")
	}
	return nil
}

func (r Rules) maxLength() int {
	if r.MaxLength > 0 {
		return r.MaxLength
	}
	return DefaultMaxLength
}

// invalidAt returns the offset of the first byte that is not UTF-8.
func invalidAt(s string) int {
	for i, c := range s {
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
	}
	return len(s)
}

// schemeLength returns the length of the scheme that raw begins with, 0 if it begins with none
// (RFC 3986, section 3.1).
func schemeLength(raw string) int {
	for i := range len(raw) {
		switch c := raw[i]; {
		case isAlpha(c):
		case i > 0 && c == ':':
			return i
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

var onlyHTTPS = []string{"https"}

func (r Rules) checkScheme(scheme string) error {
	allowed := r.Schemes
	if allowed == nil {
		allowed = onlyHTTPS
	}
	if slices.Contains(allowed, scheme) {
		return nil
	}
	want := "write a URL that begins with " + strings.Join(allowed, ":// or ") + "://"
	if scheme == "" {
		return fail(CodeNotHTTPS, 0, "", "the scheme is missing", want)
	}
	return fail(CodeNotHTTPS, 0, scheme, "this scheme is not allowed", want)
}

// parseAuthority parses what follows the colon of the scheme, raw[at:], which has to begin with
// "//" and a host.
func (r Rules) parseAuthority(scheme, raw string, at int) (URL, error) {
	rest, ok := strings.CutPrefix(raw[at:], "//")
	if !ok {
		return URL{}, fail(CodeBadURL, at, "", `"//" and a host are missing after the scheme`, "write "+scheme+"://HOST/PATH")
	}
	at += len("//")
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	end := at + len(authority)
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return URL{}, fail(CodeUserinfo, at, authority[:i+1], "user information hides which host is meant", `remove everything up to "@"`)
	}
	host, port := splitPort(authority)
	if host == "" {
		return URL{}, fail(CodeBadURL, at, authority, "the host is missing", "write "+scheme+"://HOST/PATH")
	}
	if strings.HasPrefix(raw[end:], "#") {
		return URL{}, fail(CodeBadURL, end, "#", "some readers do not end the host at this character", `write "/" after the host`)
	}
	name, err := r.parseHost(host, at)
	if err != nil {
		return URL{}, err
	}
	number, err := parsePort(port, at+len(host), defaultPort(scheme))
	if err != nil {
		return URL{}, err
	}
	t, err := r.parseTail(raw, end, false)
	if err != nil {
		return URL{}, err
	}
	if t.path == "" {
		t.path = "/"
	}
	return r.build(raw, scheme, name, number, t)
}

// splitPort cuts an authority before the colon of its port. The port keeps the colon.
func splitPort(authority string) (host, port string) {
	skip := 0
	if strings.HasPrefix(authority, "[") {
		skip = strings.IndexByte(authority, ']') + 1
	}
	if i := strings.IndexByte(authority[skip:], ':'); i >= 0 {
		return authority[:skip+i], authority[skip+i:]
	}
	return authority, ""
}

// parsePort reads "", ":" or ":" and a number without leading zeros.
func parsePort(port string, at int, byDefault uint16) (uint16, error) {
	digits := strings.TrimPrefix(port, ":")
	if digits == "" {
		return byDefault, nil
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || digits[0] == '0' {
		return 0, fail(CodeBadPort, at+1, digits, "a port is a number from 1 to 65535 without leading zeros", "")
	}
	return uint16(number), nil
}

// defaultPort returns the port of the schemes that can have well-known URIs (RFC 8615, section
// 5.2), 0 for any other.
func defaultPort(scheme string) uint16 {
	switch scheme {
	case "https", "wss", "coaps+ws":
		return 443
	case "http", "ws", "coap+ws":
		return 80
	case "coap", "coap+tcp":
		return 5683
	case "coaps", "coaps+tcp":
		return 5684
	}
	return 0
}

// tail is what follows the authority, in canonical form.
type tail struct {
	path     string
	query    string // with "?"; empty: none
	fragment bool
}

// parseTail parses path, query and fragment in raw[at:]. With dots, literal "." and ".."
// segments are left in the path.
func (r Rules) parseTail(raw string, at int, dots bool) (t tail, err error) {
	path := raw[at:]
	if i := strings.IndexByte(path, '#'); i >= 0 {
		t.fragment = true
		if r.RefuseFragment {
			return tail{}, fail(CodeFragment, at+i, path[i:], "a fragment is not allowed here", `remove "#" and what follows`)
		}
		if _, err := canonicalQuery(path[i+1:], at+i+1); err != nil {
			return tail{}, err // dropped, but not a licence for text that is not a URL
		}
		path = path[:i]
	}
	if i := strings.IndexByte(path, '?'); i >= 0 {
		if r.RefuseQuery {
			return tail{}, fail(CodeQuery, at+i, path[i:], "a query is not allowed here", `remove "?" and what follows`)
		}
		query, err := canonicalQuery(path[i+1:], at+i+1)
		if err != nil {
			return tail{}, err
		}
		t.query = join(path[i:], "?", query)
		path = path[:i]
	}
	t.path, err = canonicalPath(path, at, dots)
	return t, err
}

// build puts canonical parts together. raw is what they came from, kept if it is canonical already.
func (r Rules) build(raw, scheme, host string, port uint16, t tail) (URL, error) {
	colonPort := ""
	if port != defaultPort(scheme) {
		colonPort = ":" + strconv.Itoa(int(port))
	}
	u := URL{text: join(raw, scheme, "://", host, colonPort, t.path, t.query), port: port, fragment: t.fragment}
	if most := r.maxLength(); len(u.text) > most {
		return URL{}, fail(CodeTooLong, 0, "", fmt.Sprintf("the canonical form has %d bytes, %d are allowed", len(u.text), most), "")
	}
	u.host = len(scheme) + len("://")
	u.hostEnd = u.host + len(host)
	u.path = u.hostEnd + len(colonPort)
	u.pathEnd = u.path + len(t.path)
	return u, nil
}

// join concatenates parts; if the result is raw, it returns raw and allocates nothing.
func join(raw string, parts ...string) string {
	rest, same := raw, true
	for _, part := range parts {
		if rest, same = strings.CutPrefix(rest, part); !same {
			return strings.Join(parts, "")
		}
	}
	if rest != "" {
		return strings.Join(parts, "")
	}
	return raw
}

// Resolve resolves a reference against u by the zero [Rules]: see [Rules.Resolve].
func (u URL) Resolve(ref string) (URL, error) { return Rules{}.Resolve(u, ref) }

// Resolve returns the canonical URL that a reference in the resource base stands for (RFC 3986,
// section 5.2): the target of a redirect, a link, an endpoint. It refuses what [Rules.Parse]
// refuses, with offsets into ref. References with a scheme and those that begin with "//" are
// judged by r as absolute URLs; the others stay on the origin of base.
//
// Relative paths such as "../b/x.md" are the one place where "." and ".." have a meaning: they
// are resolved, and end at the root of the host however often they climb. In a path that begins
// with "/" they are refused. Whether the result lies where it may is the caller's question
// ([URL.Under]).
func (r Rules) Resolve(base URL, ref string) (URL, error) {
	if base.IsZero() {
		return URL{}, fail(CodeBadURL, 0, "", "there is no base URL to resolve against", "")
	}
	if schemeLength(ref) > 0 {
		return r.Parse(ref)
	}
	if err := r.checkText(ref); err != nil {
		return URL{}, err
	}
	if strings.HasPrefix(ref, "//") {
		if err := r.checkScheme(base.Scheme()); err != nil {
			return URL{}, err
		}
		return r.parseAuthority(base.Scheme(), ref, 0)
	}
	t, err := r.parseTail(ref, 0, !strings.HasPrefix(ref, "/"))
	if err != nil {
		return URL{}, err
	}
	switch {
	case t.path == "":
		t.path = base.Path()
		if t.query == "" && base.HasQuery() {
			if r.RefuseQuery {
				return URL{}, fail(CodeQuery, 0, "", "the base has a query, which is not allowed here", "")
			}
			t.query = "?" + base.RawQuery()
		}
	case t.path[0] != '/':
		t.path = mergePath(base.Path(), t.path)
	}
	return r.build("", base.Scheme(), base.Host(), base.Port(), t)
}

// mergePath resolves the canonical relative path ref against the directory of base (RFC 3986,
// sections 5.2.3 and 5.2.4).
func mergePath(base, ref string) string {
	out := []byte(base[:strings.LastIndexByte(base, '/')+1]) // ends with "/" wherever a segment is due
	for i := 0; i < len(ref); {
		segment, _, inner := strings.Cut(ref[i:], "/")
		switch segment {
		case ".":
		case "..":
			if len(out) > len("/") {
				out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
			}
		default:
			out = append(out, segment...)
			if inner {
				out = append(out, '/')
			}
		}
		i += len(segment) + 1
	}
	return string(out)
}
