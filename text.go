package lookleap

import (
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// line makes a sentence of ours, in which remote words are quoted already, safe
// to stand in one line of output.
// Words from right to left do not change its order.
func line(s string) string { return plaintext.Isolate(plaintext.Line(unisolated.Replace(s))) }

// unisolated takes away the isolates of a sentence that went through line before.
var unisolated = strings.NewReplacer("\u2068", "", "\u2069", "")

// quote shows untrusted text in quotation marks, at most limit characters of it.
func quote(s string, limit int) string { return plaintext.Quote(s, limit) }

// word shows a value that stands among others on a line: quoted, unless it is
// one word of printable ASCII without a quotation mark.
func word(s string) string {
	for _, c := range []byte(s) {
		if c <= ' ' || c == '"' || c > '~' {
			return plaintext.Quote(s, 0)
		}
	}
	return plaintext.Line(s)
}

// originRules are those of the origins that may ask for consent.
var originRules = domain.Rules{AllowIP: true, AllowSpecial: true}

// isOrigin reports whether a text is an https origin in canonical form.
func isOrigin(s string) bool {
	u, err := originRules.Parse(s)
	return err == nil && u.Origin() == s
}

// hostOf returns the host of a text that is a canonical host or URL. A single word
// is no host: recipients have names, too.
func hostOf(s string) (host string, ok bool) {
	if u, err := partyRules.Parse(s); err == nil && (u.Origin() == s || u.String() == s) {
		return u.Host(), true
	}
	if !strings.ContainsAny(s, ".:") {
		return "", false
	}
	host, err := partyRules.ParseHost(s)
	return host, err == nil && host == s
}

// siteOf returns the registrable domain of a host, or the host if it has none.
func siteOf(host string) string {
	if site, ok := domain.Registrable(host); ok {
		return site
	}
	return host
}
