package agentstxt

import (
	"bytes"
	"cmp"
	"slices"
)

// pattern is a DISALLOW path read as RFC 9309, section 2.2.3, reads it: "*"
// stands for any octets, a final "$" for the end of the path.
type pattern struct {
	text   []byte // in normal form, without a final "$"
	length int    // that counts when rules are compared, with the "$"
	rule   int    // the directive
	ends   bool   // it had a final "$"
}

func (b *builder) addPatterns(i int) {
	spelled, _ := appendSpelled(nil, b.rules[i].path(b.text))
	normal := removeDots(bytes.Clone(spelled))
	b.addPattern(i, normal)
	if merged := removeDots(mergeSlashes(spelled)); !bytes.Equal(merged, normal) {
		b.addPattern(i, merged)
	}
}

func (b *builder) addPattern(i int, text []byte) {
	length := len(text)
	text, ends := bytes.CutSuffix(text, []byte("$"))
	b.patterns = append(b.patterns, pattern{text: text, length: length, rule: i, ends: ends})
}

// sortPatterns puts long patterns first, so that the first match is the longest.
func sortPatterns(all []pattern) {
	slices.SortStableFunc(all, func(a, b pattern) int { return cmp.Compare(b.length, a.length) })
}

// match takes time linear in path and pattern: each piece between two "*" is
// looked for once, from where the one before it was found first.
func (p *pattern) match(path []byte) bool {
	piece, rest, more := bytes.Cut(p.text, []byte("*"))
	if !bytes.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for more {
		piece, rest, more = bytes.Cut(rest, []byte("*"))
		if !more && p.ends {
			return bytes.HasSuffix(path, piece)
		}
		at := bytes.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !p.ends || len(path) == 0
}

// mostEffort bounds what patterns may cost in one decision: the sum of the bytes
// of path and pattern over all matches. A policy of a thousand short patterns
// uses it up on a path of several KiB.
const mostEffort = 4 << 20

// lookup returns the position of the rule that decides a path in normal form, or
// noRule: the longest one, and DISALLOW among equals. Each match with a pattern
// costs effort; when that is below zero, the result means nothing.
func (p *Policy) lookup(path []byte, effort *int) int {
	found := longest(&p.index, p.text, p.rules, path)
	for i := range p.patterns {
		pat := &p.patterns[i]
		if found >= 0 && pat.length < int(p.rules[found].length) {
			break
		}
		if *effort -= len(path) + len(pat.text); *effort < 0 {
			break
		}
		if pat.match(path) {
			return pat.rule
		}
	}
	return found
}
