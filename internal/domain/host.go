package domain

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// ParseHost returns a host name in canonical form by the zero [Rules]: see [Rules.ParseHost].
func ParseHost(raw string) (string, error) { return Rules{}.ParseHost(raw) }

// ParseHost returns a host in canonical form, A-labels in lower case, or an [*Error].
// International names go through UTS 46 (non-transitional); one that this changes in more than
// letter case or composition is refused, since it shows another name than it stands for.
func (r Rules) ParseHost(raw string) (string, error) {
	if raw == "" {
		return "", fail(CodeBadHost, 0, "", "the host is empty", "")
	}
	if !utf8.ValidString(raw) {
		i := invalidAt(raw)
		return "", fail(CodeBadHost, i, raw[i:i+1], "the host is not UTF-8", "")
	}
	return r.parseHost(raw, 0)
}

const (
	maxNameLength  = 253 // RFC 1035, section 2.3.4, as text
	maxLabelLength = 63
	// maxHostInput bounds the work of IDNA mapping, quadratic in the length of a label.
	maxHostInput = 4 * maxNameLength
)

// parseHost parses a host that is not empty and begins at offset at of the input.
func (r Rules) parseHost(raw string, at int) (string, error) {
	if raw[0] == '[' {
		return r.parseIPv6(raw, at)
	}
	if len(raw) > maxHostInput {
		return "", fail(CodeBadHost, at, raw, "a host name has at most 253 bytes", "")
	}
	if i := strings.IndexByte(raw, '%'); i >= 0 {
		return "", fail(CodeBadHost, at+i, raw[i:min(len(raw), i+3)], "escapes are not allowed in a host", "write the character itself")
	}
	if name, ok := strings.CutSuffix(raw, "."); ok && name != "" && name[len(name)-1] != '.' {
		return "", fail(CodeTrailingDot, at+len(name), ".", "with a final dot the host is another web origin", "remove the dot")
	}
	if needsIDNA(raw) { // before folding case, which makes K of U+212A KELVIN SIGN
		return r.parseInternational(raw, at)
	}
	name := strings.ToLower(raw)
	if endsInNumber(name) {
		return r.parseIPv4(name, at)
	}
	if err := checkName(name, at); err != nil {
		return "", err
	}
	return r.public(name, at)
}

// needsIDNA reports whether raw has non-ASCII characters or what may be an A-label.
func needsIDNA(raw string) bool {
	for label := range strings.SplitSeq(raw, ".") {
		if len(label) >= 4 && strings.EqualFold(label[:4], "xn--") {
			return true
		}
	}
	return !isASCII(raw)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkName checks labels and lengths of an ASCII host in lower case. Hyphens in third and
// fourth place ("v2--site") are ordinary here: IDNA reserves them, hosting companies use them,
// and an ASCII label means the same to every reader unless it begins with "xn--".
func checkName(name string, at int) error {
	if len(name) > maxNameLength {
		return fail(CodeBadHost, at, name, "a host name has at most 253 bytes", "")
	}
	start := 0
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return fail(CodeBadHost, at+start, name[start:], "a label of the host is empty", "")
		case len(label) > maxLabelLength:
			return fail(CodeBadHost, at+start, label, "a label of a host has at most 63 bytes", "")
		case label[0] == '-' || label[len(label)-1] == '-':
			return fail(CodeBadHost, at+start, label, "a label of a host neither begins nor ends with a hyphen", "")
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && !isDigit(c) && !('a' <= c && c <= 'z') {
				return fail(CodeBadHost, at+start+i, label[i:i+1], "this character is not allowed in a host name", "")
			}
		}
		start += len(label) + 1
	}
	return nil
}

// lookup maps and validates by UTS 46. Hyphens are checked by checkName and parseInternational.
var lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true), idna.CheckHyphens(false))

// parseInternational parses a host with A-labels or non-ASCII characters.
func (r Rules) parseInternational(raw string, at int) (string, error) {
	bad := func(part string, offset int, message string) (string, error) {
		return "", fail(CodeBadHost, at+offset, part, message, "write the name that is meant, in lower case")
	}
	name, err := lookup.ToASCII(raw)
	if endsInNumber(name) { // whatever else is wrong: full-width digits and ideographic full stops make addresses
		return "", fail(CodeIPHost, at, raw, "this is an IP address once it is looked up", "use a domain name")
	}
	if err != nil || checkName(name, at) != nil {
		return bad(raw, 0, "this is not a valid international host name")
	}
	display, err := lookup.ToUnicode(name)
	if err != nil {
		return bad(raw, 0, "this is not a valid international host name")
	}
	if again, err := lookup.ToASCII(display); err != nil || again != name {
		return bad(raw, 0, "the A-label is not the one of its Unicode form")
	}
	written, labels := strings.Split(raw, "."), strings.Split(display, ".")
	if len(written) != len(labels) {
		return bad(raw, 0, "a character of the host turns into a dot when it is looked up")
	}
	offset := 0
	for i, label := range written {
		if strings.HasPrefix(labels[i], "-") || strings.HasSuffix(labels[i], "-") {
			return bad(label, offset, "a label of a host neither begins nor ends with a hyphen")
		}
		if !isASCII(label) && !sameLetters(label, labels[i]) {
			return bad(label, offset, "a character of the host turns into another one when it is looked up")
		}
		offset += len(label) + 1
	}
	return r.public(name, at)
}

// sameLetters reports whether mapping a label changed only letter case or composition, and made
// no ASCII character of another one (U+212A KELVIN SIGN is canonically equivalent to K).
func sameLetters(written, mapped string) bool {
	for _, c := range written {
		if c >= utf8.RuneSelf && norm.NFC.String(string(unicode.ToLower(c)))[0] < utf8.RuneSelf {
			return false
		}
	}
	rest := mapped
	for _, c := range norm.NFC.String(written) {
		m, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		if c != m && unicode.ToLower(c) != m && unicode.ToUpper(c) != m { // upper: the normal form of Cherokee letters
			return false
		}
	}
	return rest == ""
}

// endsInNumber reports whether a host is or may be read as an IPv4 address: its last label is a
// number (WHATWG URL, "ends in a number"), as in
// 127.1, 2130706433 and 0x7f.1.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := isDigit
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, func(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' }
	} else if last == "" {
		return false
	}
	for i := range len(last) {
		if !digits(last[i]) {
			return false
		}
	}
	return true
}

// parseIPv4 parses a host that ends in a number: an address in dotted decimal form, or nothing.
func (r Rules) parseIPv4(name string, at int) (string, error) {
	if r.AllowIP {
		if a, err := netip.ParseAddr(name); err == nil && a.Is4() {
			return name, nil
		}
	}
	return "", fail(CodeIPHost, at, name, "an IP address is not a domain name", "use a domain name")
}

// parseIPv6 parses a host in brackets.
func (r Rules) parseIPv6(raw string, at int) (string, error) {
	inner, closed := strings.CutSuffix(raw[1:], "]")
	if !closed {
		return "", fail(CodeBadHost, at, raw, "an IPv6 address ends with a bracket", "")
	}
	if r.AllowIP {
		if a, err := netip.ParseAddr(inner); err == nil && a.Is6() && a.Zone() == "" && !a.Is4In6() {
			return "[" + a.String() + "]", nil
		}
	}
	return "", fail(CodeIPHost, at, raw, "an IP address is not a domain name", "use a domain name")
}

// public returns name unless it means something else on each network: single labels and the
// special-use names of RFC 6761 and its registry. The documentation names (example,
// example.com) are ordinary.
func (r Rules) public(name string, at int) (string, error) {
	if r.AllowSpecial {
		return name, nil
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", fail(CodeSpecialHost, at, name, "a single label is a name on the local network", "use a full domain name")
	}
	switch last := name[dot+1:]; last {
	case "alt", "arpa", "internal", "invalid", "local", "localhost", "onion", "test":
		return "", fail(CodeSpecialHost, at+dot+1, last, "names below this one are reserved for special use", "use a public domain name")
	}
	return name, nil
}
