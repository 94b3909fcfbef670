package aiuri

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// MaxURI is the number of bytes that a URI may have.
const MaxURI = 8192

// Rules allow URIs that [Parse] refuses. The zero value allows nothing more.
type Rules struct {
	AllowIP bool // IP addresses as authority, for test beds
}

// Parse parses an ai: URI (RFC 3986). The authority is one or more labels of letters,
// digits and hyphens with an optional port. That is narrower than RFC 3986, so that it
// is one unambiguous path segment at a gateway. Parse repairs nothing and refuses
// characters outside ASCII; see [FromIRI]. Errors are a [*lookleap.Error].
func Parse(text string) (URI, error) { return ParseWith(text, Rules{}) }

// ParseWith parses an ai: URI as [Parse] does, with rules that allow more.
func ParseWith(text string, rules Rules) (URI, error) {
	var u URI
	if err := rules.parse(text, &u); err != nil {
		return URI{}, err // never a typed nil
	}
	return u, nil
}

func (r Rules) parse(text string, u *URI) *lookleap.Error {
	switch {
	case len(text) > MaxURI:
		return failAt(CodeURITooLong, MaxURI, fmt.Sprintf("the URI has more than %d bytes", MaxURI), "")
	case len(text) < 3 || !strings.EqualFold(text[:3], "ai:"):
		return fail(CodeNotAI, "the text does not begin with ai:", "")
	}
	u.text = text
	at := 3
	if strings.HasPrefix(text[3:], "//") {
		end, err := r.authority(u, 5)
		if err != nil {
			return err
		}
		at = end
	}
	return u.rest(at)
}

// rest parses path, query and fragment.
func (u *URI) rest(at int) *lookleap.Error {
	text := u.text
	end, err := scan(text, at, inPath)
	if err != nil {
		return err
	}
	u.path = text[at:end]
	switch {
	case u.kind == Authority:
	case u.path == "":
		return failAt(CodeURIEmpty, at, "nothing follows ai:", "write ai://authority/path")
	case u.path[0] == '/':
		u.kind = Absolute
	}
	if end < len(text) && text[end] == '?' {
		at = end + 1
		if end, err = scan(text, at, inQuery); err != nil {
			return err
		}
		u.query, u.hasQuery = text[at:end], true
	}
	if end < len(text) { // a "#"
		at = end + 1
		if end, err = scan(text, at, inFragment); err != nil {
			return err
		}
		u.fragment, u.hasFragment = text[at:end], true
	}
	return nil
}

// Classes of characters (RFC 3986 appendix A), one bit for each part of a URI.
const (
	inPath     = 1 << iota // pchar and "/"
	inQuery                // pchar, "/" and "?"
	inFragment             // like inQuery
	inHost                 // letters, digits, hyphen and dot
	unreserved             // characters that need no escape
	hexDigit
)

var class = func() (c [256]uint8) {
	set := func(bits uint8, chars string) {
		for i := range len(chars) {
			c[chars[i]] |= bits
		}
	}
	const letters, digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	set(inPath|inQuery|inFragment|unreserved, letters+digits+"-._~")
	set(inPath|inQuery|inFragment, "!$&'()*+,;=:@/")
	set(inQuery|inFragment, "?")
	set(inHost, letters+digits+"-.")
	set(hexDigit, digits+"abcdefABCDEF")
	return c
}()

// scan returns the end of a part: the offset of the "?" or "#" that begins another part, or
// the end of the text.
func scan(text string, at int, part uint8) (int, *lookleap.Error) {
	for i := at; i < len(text); i++ {
		c := text[i]
		if class[c]&part != 0 {
			continue
		}
		switch {
		case c == '%':
			if i+2 >= len(text) || class[text[i+1]]&class[text[i+2]]&hexDigit == 0 {
				return 0, failAt(CodeBadChar, i, "a percent sign is not followed by two hexadecimal digits", "write %25 for a percent sign")
			}
		case c == '#' && part != inFragment, c == '?' && part == inPath:
			return i, nil
		default:
			return 0, badByte(c, i)
		}
	}
	return len(text), nil
}

func badByte(c byte, at int) *lookleap.Error {
	switch {
	case c >= 0x80:
		return failAt(CodeNonASCII, at, "the URI has a character outside ASCII", "percent-encode its UTF-8 bytes, or use FromIRI")
	case c == '\\':
		return failAt(CodeBadChar, at, "some readers take a backslash for a slash", "write / or %5C")
	case c == '#':
		return failAt(CodeBadChar, at, "a fragment has another number sign", "write %23")
	case c <= ' ' || c == 0x7f:
		return failAt(CodeBadChar, at, "white space and control characters are not allowed", "remove or percent-encode it")
	}
	return failAt(CodeBadChar, at, "the character is not allowed here", "percent-encode it")
}

// authority parses host and port, which begin at an offset, and returns their end.
func (r Rules) authority(u *URI, at int) (int, *lookleap.Error) {
	text := u.text
	u.kind = Authority
	end := at
	for end < len(text) && text[end] != '/' && text[end] != '?' && text[end] != '#' {
		end++
	}
	host := text[at:end]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		return 0, failAt(lookleap.CodeUserinfo, at, "the authority has user information", "remove everything up to the @")
	}
	bracket := strings.LastIndexByte(host, ']')
	if i := strings.IndexByte(host[bracket+1:], ':'); i >= 0 {
		i += bracket + 1
		port := host[i+1:]
		if !validPort(port) {
			return 0, portFault(text, at+i+1, end)
		}
		host, u.port = host[:i], port
	}
	if err := r.checkHost(host, at); err != nil {
		return 0, err
	}
	u.host = host
	return end, nil
}

// validPort reports whether port is 1 to 65535 without leading zeros, or empty.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil && port[0] != '0'
}

func portFault(text string, at, end int) *lookleap.Error {
	for i := at; i < end; i++ {
		if c := text[i]; class[c]&inPath == 0 && c != '%' && c != '[' {
			return badByte(c, i)
		}
	}
	return failAt(lookleap.CodeBadPort, at, "the port is not a number from 1 to 65535 without leading zeros", "")
}

// checkHost refuses a host that is not labels of letters, digits and hyphens. It refuses IP
// addresses in any notation unless the rules allow them.
func (r Rules) checkHost(host string, at int) *lookleap.Error {
	if host == "" {
		return failAt(CodeEmptyAuthority, at, "the authority has no host", "write ai:/path for a URI without authority")
	}
	if host[0] == '[' {
		addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		if host[len(host)-1] == ']' && err == nil && addr.Is6() && addr.Zone() == "" && r.AllowIP {
			return nil
		}
		return badHost(at, "the authority is an IP literal", "write the name of the host")
	}
	label, encoded := 0, false
	for i := 0; i <= len(host); i++ {
		if i < len(host) && host[i] != '.' {
			if c := host[i]; class[c]&inHost == 0 {
				if class[c]&inPath != 0 || c == '%' || c == '[' || c == ']' || c == '_' {
					return badHost(at+i, "a host has only letters, digits, hyphens and dots", "")
				}
				return badByte(c, at+i)
			}
			continue
		}
		switch name := host[label:i]; {
		case name == "":
			return badHost(at+i, "the host has an empty label", "remove the dot")
		case len(name) > 63 || i > 253:
			return badHost(at+label, "a label has more than 63 bytes or the host more than 253", "")
		case name[0] == '-' || name[len(name)-1] == '-':
			return badHost(at+label, "a label begins or ends with a hyphen", "")
		case len(name) > 3 && name[2:4] == "--":
			encoded = true
		}
		label = i + 1
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; readsAsNumber(last) {
		if _, err := netip.ParseAddr(host); err == nil && r.AllowIP {
			return nil
		}
		return badHost(at, "the host is an IP address or some readers take it for one", "write the name of the host")
	}
	if encoded {
		return checkALabels(host, at)
	}
	return nil
}

// readsAsNumber reports whether some readers take a host with this last label for an IPv4
// address.
func readsAsNumber(label string) bool {
	if len(label) >= 2 && label[0] == '0' && label[1]|0x20 == 'x' {
		label = label[2:]
		for i := range len(label) {
			if class[label[i]]&hexDigit == 0 {
				return false
			}
		}
		return true
	}
	for i := range len(label) {
		if label[i] < '0' || label[i] > '9' {
			return false
		}
	}
	return true
}

// checkALabels checks labels with hyphens in third and fourth place (section 7): they must be
// valid A-labels of IDNA.
func checkALabels(host string, at int) *lookleap.Error {
	canonical, err := domain.Rules{AllowSpecial: true}.ParseHost(host)
	if err != nil || canonical != strings.ToLower(host) {
		return badIDN(at, "the host has an A-label that IDNA does not allow", err)
	}
	return nil
}

func badHost(at int, message, fix string) *lookleap.Error {
	return failAt(CodeBadAuthority, at, message, fix)
}

func badIDN(at int, message string, err error) *lookleap.Error {
	e := urlError(CodeBadAuthority, "", message, err)
	e.Position = positionOf(at)
	return e
}

// FromIRI parses an ai: URI that may have characters outside ASCII (section 7). It
// percent-encodes those of path, query and fragment as UTF-8, and converts the host by IDNA.
// Everything else is as in [Parse]. Positions of errors are those of the converted text.
func FromIRI(text string) (URI, error) {
	if len(text) > MaxURI {
		return Parse(text)
	}
	if !utf8.ValidString(text) {
		return URI{}, fail(CodeNonASCII, "the text is not UTF-8", "")
	}
	start, end := hostSpan(text)
	host := text[start:end]
	if utf8.RuneCountInString(host) < len(host) {
		canonical, err := domain.Rules{AllowSpecial: true}.ParseHost(host)
		if err != nil {
			return URI{}, badIDN(start, "the host is not an internationalized domain name", err)
		}
		host = canonical
	}
	return Parse(text[:start] + host + domain.EscapeText(text[end:]))
}

// hostSpan returns where the host is, and an empty span if there is none. The span ends before
// user information or a port, which Parse checks.
func hostSpan(text string) (start, end int) {
	if strings.Index(text, "://") != 2 {
		return 0, 0
	}
	if end = strings.IndexAny(text[5:], "/?#@:[]\\"); end < 0 {
		return 5, len(text)
	}
	return 5, 5 + end
}
