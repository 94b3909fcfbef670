package agentstxt

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// Rules of robots.txt match the start of a path with its query. "*" stands for any
// characters and a final "$" for the end (RFC 9309, section 2.2.3). Both sides are
// compared in one spelling: encoded characters that need no encoding are decoded, and
// characters outside ASCII are encoded (section 2.2.2). A "*" or "$" of a URL is encoded,
// so that it is not a wildcard.

// robotsRule is one Allow or Disallow line.
type robotsRule struct {
	pattern  pattern // in normal form, without a final "*" or "$"
	priority int     // the length that decides between rules
	raw      string  // as written
	line     int
	letters  uint64 // the pairs of bytes that a match must have
}

// newRobotsRule reads the value of an Allow or Disallow line. ok is false if it matches
// nothing: if it is empty, or if no path can begin with it.
func newRobotsRule(value string, line int) (r robotsRule, ok bool) {
	if value == "" || value[0] != '/' && value[0] != '*' {
		return r, false
	}
	text := appendRobotsText(nil, value, true)
	r = robotsRule{priority: len(text), raw: value, line: line}
	text, ends := bytes.CutSuffix(text, []byte("$"))
	if !ends {
		text = bytes.TrimRight(text, "*") // any rest matches anyway
		r.priority = min(r.priority, len(text)+1)
	}
	r.pattern = pattern{text: text, ends: ends}
	r.letters = pairs(text)
	return r, true
}

// plain reports whether the rule is only a prefix.
func (r *robotsRule) plain() bool {
	return !r.pattern.ends && bytes.IndexByte(r.pattern.text, '*') < 0 && len(r.pattern.text) <= math.MaxUint16
}

// appendRobotsText appends the normal form of a rule, or of a path with its query. Only a
// rule has wildcards.
func appendRobotsText[S []byte | string](dst []byte, s S, rule bool) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+2 < len(s) && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0:
			dst = appendEscape(dst, s[i+1], s[i+2])
			i += 2
		case c >= 0x80, c <= ' ', c == 0x7f,
			c == '*' && !rule,
			c == '$' && (!rule || i+1 < len(s)):
			dst = appendEncoded(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// pairs returns a set of the pairs of adjacent bytes in a text, wildcards apart. A text in
// which a pair of a rule is missing cannot match the rule.
func pairs[S []byte | string](s S) (set uint64) {
	for i := 1; i < len(s); i++ {
		if a, b := s[i-1], s[i]; a != '*' && b != '*' {
			set |= 1 << ((a*7 + b) & 63)
		}
	}
	return set
}

// robotsRules are all Allow or all Disallow rules that bind one crawler. Rules without
// wildcards are in a hash table of prefixes, the others in a list.
type robotsRules struct {
	rules    []robotsRule
	text     string // the text of all plain rules
	plain    []rule
	of       []int32 // from plain to rules
	index    index
	patterns []int32 // positions of rules with wildcards or "$", the longest first
}

func (r *robotsRules) len() int { return len(r.rules) }

// robotsBuilder collects rules.
type robotsBuilder struct{ rules []robotsRule }

func (b *robotsBuilder) add(value string, line int) {
	if r, ok := newRobotsRule(value, line); ok {
		b.rules = append(b.rules, r)
	}
}

func (b *robotsBuilder) build() robotsRules {
	r := robotsRules{rules: b.rules}
	var text strings.Builder
	longest := 0
	for i := range b.rules {
		added := &b.rules[i]
		if !added.plain() {
			r.patterns = append(r.patterns, int32(i))
			continue
		}
		r.plain = append(r.plain, rule{at: uint32(text.Len()), length: uint16(len(added.pattern.text))})
		r.of = append(r.of, int32(i))
		text.Write(added.pattern.text)
		longest = max(longest, len(added.pattern.text))
	}
	r.text = text.String()
	r.index = newIndex(len(r.plain), longest)
	for i := range r.plain {
		if taken := r.index.insert(r.text, r.plain, i); taken != nil {
			if first := r.index.rule(*taken); r.rules[r.of[i]].priority > r.rules[r.of[first]].priority {
				r.index.put(taken, r.plain, i)
			}
		}
	}
	slices.SortStableFunc(r.patterns, func(a, b int32) int { return cmp.Compare(r.rules[b].priority, r.rules[a].priority) })
	return r
}

// match returns the rule with the highest priority that matches a path, and nil if no rule
// matches with a priority of at least least. If *effort is negative then, the search was
// ended.
func (r *robotsRules) match(path []byte, has uint64, least int, effort *int) (found *robotsRule) {
	if i := longest(&r.index, r.text, r.plain, path); i != noRule {
		if rule := &r.rules[r.of[i]]; rule.priority >= least {
			found, least = rule, rule.priority+1
		}
	}
	for _, i := range r.patterns {
		rule := &r.rules[i]
		if rule.priority < least {
			break
		}
		if rule.letters&^has != 0 {
			continue
		}
		*effort -= len(path) + len(rule.pattern.text)
		if *effort < 0 {
			break
		}
		if rule.pattern.match(path) {
			return rule
		}
	}
	return found
}

// robotsPath returns the normal form of a path with its query, which may be missing. Dot
// segments are removed, as servers do.
func robotsPath(dst []byte, path, query string, hasQuery bool) []byte {
	if path == "" || path[0] != '/' {
		dst = append(dst, '/')
	}
	dst = appendRobotsText(dst, path, false)
	if bytes.Contains(dst, []byte("/.")) {
		dst = removeDots(dst)
	}
	return appendRobotsQuery(dst, query, hasQuery)
}

// appendRobotsForm appends the normal form of one reading of a path, with the query.
func appendRobotsForm(dst, reading []byte, query string, hasQuery bool) []byte {
	return appendRobotsQuery(appendRobotsText(dst, reading, false), query, hasQuery)
}

func appendRobotsQuery(dst []byte, query string, hasQuery bool) []byte {
	if !hasQuery {
		return dst
	}
	return appendRobotsText(append(dst, '?'), query, false)
}
