package plaintext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/domain"
)

// Host shows a host: its A-labels with the registrable domain in brackets, never cut, and
// behind them in parentheses what a reader should know.
//
//	skills.[example.com]
//	[xn--bcher-kva.example] ("bücher.example")        the Unicode form, if each label is of one script and has letters and digits only
//	[xn--pple-43d.com] (mixed scripts: Cyrillic, Latin)
//	[xn--80ak6aa92e.com] (a look-alike in Cyrillic letters, not shown)
//	github.io (no registrable domain)
//	127.0.0.1 (IP address)
//
// What is not a host at all is shown as a quoted text.
func Host(host string) string {
	marked, note := hostAndNote(host)
	return marked + note
}

// HostParts returns the parts of [Host]: what stands before the registrable domain, the domain
// in its brackets, and what stands behind it. The first part holds everything that is shown of
// a host without a registrable domain.
func HostParts(host string) (before, marked, note string) {
	whole, note := hostAndNote(host)
	if strings.HasSuffix(whole, "]") && note != ipNote {
		i := strings.IndexByte(whole, '[')
		return whole[:i], whole[i:], note
	}
	return whole, "", note
}

const ipNote = " (IP address)"

// URL shows a canonical URL: its host as [Host] does, first and never cut, then the path and
// query in quotes, at most limit characters of them. A port or scheme that is not the usual one
// stands before the path.
func URL(u domain.URL, limit int) string {
	if u.IsZero() {
		return Quote("", limit) + " (not a URL)"
	}
	marked, note := hostAndNote(u.Host())
	if port := u.NetURL().Port(); port != "" {
		marked += ":" + port
	}
	if u.Scheme() != "https" {
		note = " (scheme " + u.Scheme() + ")" + note
	}
	return marked + note + " " + Quote(u.String()[len(u.Origin()):], limit)
}

// maxNoHost bounds what is shown of a text that is not a host. A host has at most 253 characters.
const maxNoHost = 300

func hostAndNote(raw string) (marked, note string) {
	host, err := domain.Rules{AllowIP: true, AllowSpecial: true}.ParseHost(raw)
	if err != nil {
		return Quote(raw, maxNoHost), " (not a host)"
	}
	if _, err := (domain.Rules{AllowSpecial: true}).ParseHost(host); err != nil {
		return host, ipNote
	}
	marked = host
	if site, ok := domain.Registrable(host); ok {
		marked = strings.TrimSuffix(host, site) + "[" + site + "]"
	} else {
		note = " (no registrable domain)"
	}
	return marked, note + unicodeNote(host)
}

// unicodeNote returns the Unicode form of an international host, or why it is not shown.
func unicodeNote(host string) string {
	var mixed []string
	for _, label := range domain.Labels(host) {
		if label.Mixed {
			mixed = append(mixed, label.Scripts...)
		}
	}
	if mixed != nil {
		slices.Sort(mixed)
		return fmt.Sprintf(" (mixed scripts: %s)", strings.Join(slices.Compact(mixed), ", "))
	}
	display, ok := domain.Unicode(host)
	if !ok || Count(display).Total() > 0 {
		return ""
	}
	for _, label := range domain.Labels(host) {
		if looksASCII(label) {
			return fmt.Sprintf(" (a look-alike in %s letters, not shown)", strings.Join(label.Scripts, ", "))
		}
	}
	return fmt.Sprintf(" (%s)", Quote(display, len(display)))
}

// looksASCII reports whether a label with other characters looks like one of ASCII characters,
// as UTS 39 tells: an IDN that may be made to look like another host, although it is of one
// script.
func looksASCII(label domain.Label) bool {
	return label.Unicode != label.ASCII && !strings.ContainsFunc(confusable.Skeleton(label.Unicode),
		func(c rune) bool { return c > unicode.MaxASCII })
}
