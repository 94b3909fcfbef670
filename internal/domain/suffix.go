package domain

import (
	_ "embed" // of the names that the list lacks
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"
)

// SuffixDate is the day of the Public Suffix List whose private section [PublicSuffix] knows: the
// list in golang.org/x/net/publicsuffix, and the names in suffixes.txt.
const SuffixDate = "2026-11-15"

//go:embed suffixes.txt
var extraNames string

// extraSuffixes has the names of suffixes.txt. They are read on first use.
var extraSuffixes = sync.OnceValue(func() *SuffixList {
	l := &SuffixList{rules: make(map[string]bool)}
	for line := range strings.Lines(extraNames) {
		if rule := strings.TrimSpace(line); rule != "" && !strings.HasPrefix(rule, "//") {
			l.rules[rule] = false
		}
	}
	return l
})

// Registrable returns the registrable domain of a canonical host: its public suffix and one
// more label. The private section of the Public Suffix List counts, so alice.github.io is a
// registrable domain of its own. It is not ok for a host that is a public suffix itself, a
// single label or an IP address, and for a host that is not in the form that [ParseHost]
// returns. A top-level domain that is not in the list is a public suffix.
func Registrable(host string) (domain string, ok bool) {
	suffix, _ := PublicSuffix(host)
	if suffix == "" || len(suffix) == len(host) {
		return "", false
	}
	rest := host[:len(host)-len(suffix)-1]
	return host[strings.LastIndexByte(rest, '.')+1:], true
}

// PublicSuffix returns the public suffix that a canonical host ends with, perhaps the whole
// host, and whether a domain registry runs it (co.uk) rather than a company that lends names
// below its own (github.io). It is empty for what is not a name, as in [Registrable].
//
// The longest suffix counts: of the built-in list, or of the list in [UseSuffixes].
func PublicSuffix(host string) (suffix string, icann bool) { return PublicSuffixWith(host, nil) }

// PublicSuffixWith is [PublicSuffix] with one list more, which may be nil.
func PublicSuffixWith(host string, list SuffixSource) (suffix string, icann bool) {
	if !isCanonicalName(host) {
		return "", false // the list knows lower-case A-labels: EXAMPLE.CO.UK would yield CO.UK
	}
	suffix, icann = publicsuffix.PublicSuffix(host)
	if extra := extraSuffixes().PublicSuffix(host); len(extra) > len(suffix) {
		suffix, icann = extra, false
	}
	for _, more := range []SuffixSource{addedSource(), list} {
		if newer, registry := suffixOf(more, host); len(newer) > len(suffix) {
			suffix, icann = newer, registry
		}
	}
	if endsInNumber(suffix) { // no suffix in the list is a number
		return "", false
	}
	return suffix, icann
}

// isCanonicalName reports whether host consists of labels in the form of a canonical name.
func isCanonicalName(host string) bool {
	before := byte('.')
	for i := range len(host) {
		c := host[i]
		if c == '.' && before == '.' || !isNameChar(c) {
			return false
		}
		before = c
	}
	return before != '.'
}
