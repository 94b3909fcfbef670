package aiuri

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// maxURI is the number of bytes that a URI may have.
const maxURI = 8192

// Parse parses an ai: URI (RFC 3986). The authority is one or more labels of letters,
// digits and hyphens with an optional port. That is narrower than RFC 3986, so that it
// is one unambiguous path segment at a gateway. Parse repairs nothing and refuses
// characters outside ASCII; see [FromIRI]. Errors are a [*lookleap.Error].
func Parse(text string) (URI, error) {
	switch {
	case len(text) > maxURI:
		return URI{}, failAt(codeURITooLong, maxURI, fmt.Sprintf("the URI has more than %d bytes", maxURI), "")
	case len(text) < 3 || !strings.EqualFold(text[:3], "ai:"):
		return URI{}, fail(codeNotAI, "the text does not begin with ai:", "")
	}
	u := URI{text: text}
	hierarchy, fragment, hasFragment := strings.Cut(text[3:], "#")
	u.fragment, u.hasFragment = fragment, hasFragment
	hierarchy, u.query, u.hasQuery = strings.Cut(hierarchy, "?")
	u.path = hierarchy
	if authority, ok := strings.CutPrefix(hierarchy, "//"); ok {
		authority, _, _ = strings.Cut(authority, "/")
		u.kind, u.path = Authority, hierarchy[2+len(authority):]
		if err := u.parseAuthority(authority, 5); err != nil {
			return URI{}, err
		}
	} else if u.path == "" {
		return URI{}, failAt(codeURIEmpty, 3, "nothing follows ai:", "write ai://authority/path")
	} else if u.path[0] == '/' {
		u.kind = Absolute
	}
	at := 3 + len(hierarchy)
	for _, part := range []struct {
		text string
		at   int
	}{{u.path, at - len(u.path)}, {u.query, at + 1}, {u.fragment, len(text) - len(u.fragment)}} {
		if err := checkCharacters(part.text, part.at, true); err != nil {
			return URI{}, err
		}
	}
	return u, nil
}

// allowed are the characters of path, query and fragment (RFC 3986 section 3.3), without escapes.
// A path has no "?", because the query begins there.
var allowed = func() (set [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?" {
		set[c] = true
	}
	return set
}()

// checkCharacters refuses characters of a part that begins at an offset. In an authority, it leaves
// escapes and brackets to the parser of the host.
func checkCharacters(part string, at int, escapes bool) error {
	for i := range len(part) {
		bad := func(code lookleap.Code, message, fix string) error { return failAt(code, at+i, message, fix) }
		switch c := part[i]; {
		case allowed[c] || !escapes && strings.IndexByte("%[]", c) >= 0:
		case c == '%':
			if _, err := strconv.ParseUint(part[i+1:min(i+3, len(part))], 16, 8); err != nil || i+2 >= len(part) {
				return bad(codeBadChar, "a percent sign is not followed by two hexadecimal digits", "write %25 for a percent sign")
			}
		case c >= utf8.RuneSelf:
			return bad(codeNonASCII, "the URI has a character outside ASCII", "percent-encode its UTF-8 bytes, or use FromIRI")
		case c == '\\':
			return bad(codeBadChar, "some readers take a backslash for a slash", "write / or %5C")
		default:
			return bad(codeBadChar, "the character is not allowed here", "percent-encode it")
		}
	}
	return nil
}

// parseAuthority parses host and port, which begin at an offset.
func (u *URI) parseAuthority(text string, at int) error {
	if strings.Contains(text, "@") {
		return failAt(lookleap.CodeUserinfo, at, "the authority has user information", "remove everything up to the @")
	}
	if err := checkCharacters(text, at, false); err != nil {
		return err
	}
	if strings.HasPrefix(text, "[") {
		return failAt(codeBadAuthority, at, "the authority is an IP literal", "write the name of the host")
	}
	host, port, _ := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || port != strconv.FormatUint(n, 10) || n == 0) {
		return failAt(lookleap.CodeBadPort, at+len(host)+1, "the port is not a number from 1 to 65535 without leading zeros", "")
	}
	if host == "" {
		return failAt(codeEmptyAuthority, at, "the authority has no host", "write ai:/path for a URI without authority")
	}
	if strings.HasSuffix(host, ".") {
		return failAt(codeBadAuthority, at+len(host), "the last label of the host is empty", "remove the dot")
	}
	canonical, err := parseHost(host, at)
	if err == nil && canonical != strings.ToLower(host) { // such as one with an A-label of an upper-case letter
		err = failAt(codeBadAuthority, at, "the host has an A-label that IDNA does not allow", "")
	}
	u.host, u.port = canonical, port
	return err
}

// parseHost returns a host as A-labels in lower case. It refuses what is not labels of letters,
// digits and hyphens, and IP addresses in any notation.
func parseHost(host string, at int) (string, error) {
	canonical, err := domain.Rules{AllowSpecial: true}.ParseHost(host)
	if err == nil {
		return canonical, nil
	}
	e := urlError(codeBadAuthority, "", "the authority has no valid host name", err)
	var bad *domain.Error
	if errors.As(err, &bad) {
		e.Position = positionOf(at + bad.Offset)
	}
	return "", e
}

// FromIRI parses an ai: URI that may have characters outside ASCII (section 7). It
// percent-encodes those of path, query and fragment as UTF-8, and converts the host by IDNA.
// Everything else is as in [Parse].
func FromIRI(text string) (URI, error) {
	if len(text) > maxURI {
		return Parse(text)
	}
	if !utf8.ValidString(text) {
		return URI{}, fail(codeNonASCII, "the text is not UTF-8", "")
	}
	var host string
	before, after := "", text
	if strings.Index(text, "://") == 2 {
		before, after = text[:5], text[5:]
		if end := strings.IndexAny(after, "/?#@:[]\\"); end >= 0 { // Parse checks user information and port
			host, after = after[:end], after[end:]
		} else {
			host, after = after, ""
		}
	}
	converted := host
	if utf8.RuneCountInString(host) < len(host) {
		var err error
		if converted, err = parseHost(host, len(before)); err != nil {
			return URI{}, err
		}
	}
	u, err := Parse(before + converted + domain.EscapeText(after))
	var e *lookleap.Error
	if errors.As(err, &e) && e.Position != (lookleap.Position{}) { // its place is one of the converted text
		rest := e.Position.Offset - len(before) - len(converted)
		at := min(e.Position.Offset, len(before)+len(host))
		for n := 0; n < rest && n < len(after); n++ {
			at++
			if after[n] >= utf8.RuneSelf {
				rest -= len("%XX") - 1
			}
		}
		e.Position = positionOf(at)
	}
	return u, err
}
