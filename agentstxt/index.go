package agentstxt

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
)

// rule is one entry of a policy's table: a directive, or another spelling of
// its path under which it also counts. Its path stands in the policy's text.
type rule struct {
	at     uint32 // where the path begins in the text
	line   uint32 // of the directive, from 1
	length uint16 // of the path
	flags  uint16
}

func (r rule) path(text string) string { return text[r.at : r.at+uint32(r.length)] }

func (r rule) allows() bool { return r.flags&isAllow != 0 }

// index finds the longest rule whose path begins a given path. It is a hash
// table of whole rule paths beside the set of their lengths. A lookup hashes
// the path once, in words of eight octets, and derives from that the hash of
// each of its beginnings that has the length of some rule. So it costs the
// same however many rules there are, and needs no memory of its own.
type index struct {
	slots   []slot
	shift   uint8    // of a hash, to the slot where its rule is looked for first
	numbers slot     // the bits of a slot that number its rule
	seed    uint64   // unlike in every policy, so that nobody can prepare collisions
	lengths []uint64 // bit n: a DISALLOW path has length n
	bounded []uint64 // bit n: an ALLOW path has length n
}

// slot is a rule's position plus one in its lower bits, zero if the slot is free,
// and above them a tag: bits of the hash that tell most other rules apart.
type slot uint32

const (
	mix1 = 0x9e3779b97f4a7c15
	mix2 = 0xe7037ed1a0b428db
)

func newIndex(rules, longest int) index {
	size := bits.Len(uint(rules) * 2) // half full at most
	return index{
		slots:   make([]slot, 1<<size),
		shift:   uint8(64 - size),
		numbers: 1<<bits.Len(uint(rules)) - 1,
		seed:    rand.Uint64(),
		lengths: make([]uint64, longest/64+1),
		bounded: make([]uint64, longest/64+1),
	}
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// word gives the eight octets from i on.
func word[S []byte | string](s S, i int) uint64 {
	s = s[i : i+8] // one check of bounds for all
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lastWord is word with zeros after the end.
func lastWord[S []byte | string](s S, i int) (w uint64) {
	if i+8 <= len(s) {
		return word(s, i)
	}
	for n := len(s) - 1; n >= i; n-- {
		w = w<<8 | uint64(s[n])
	}
	return w
}

// ending finishes the hash of a beginning of the given length: state covers its
// whole words, w holds its last octets and whatever follows them.
func ending(state, w uint64, length int) uint64 {
	rest := w & (1<<(uint(length&7)*8) - 1)
	return fold(state^rest, mix2+uint64(length)<<1)
}

// insert enters the rule at position n. If a rule with the same path is there
// already, nothing changes and its slot comes back.
func (x *index) insert(text string, rules []rule, n int) (taken *slot) {
	r := rules[n]
	path := r.path(text)
	state, i := x.seed, 0
	for ; i+8 <= len(path); i += 8 {
		state = fold(state^word(path, i), mix1)
	}
	hash := ending(state, lastWord(text, int(r.at)+i), len(path))
	mask := uint64(len(x.slots) - 1)
	at := hash >> x.shift
	for ; x.slots[at] != 0; at = (at + 1) & mask {
		if s := &x.slots[at]; x.tagged(*s, hash) && rules[x.rule(*s)].path(text) == path {
			return s
		}
	}
	x.slots[at] = slot(hash)&^x.numbers | slot(n+1)
	x.addLength(r)
	return nil
}

// replace lets the rule at position n, of the same path, take another one's slot.
func (x *index) replace(taken *slot, rules []rule, n int) {
	*taken = *taken&^x.numbers | slot(n+1)
	x.addLength(rules[n])
}

func (x *index) rule(s slot) int { return int(s&x.numbers) - 1 }

func (x *index) tagged(s slot, hash uint64) bool { return (s^slot(hash))&^x.numbers == 0 }

func (x *index) addLength(r rule) {
	lengths := x.lengths
	if r.allows() {
		lengths = x.bounded
	}
	lengths[r.length/64] |= 1 << (r.length % 64)
}

// longest gives the position of the longest rule that matches, or -1. A DISALLOW
// path matches as a prefix of octets, an ALLOW path only up to the end of a
// segment.
func longest[S []byte | string](x *index, text string, rules []rule, path S) int {
	found := -1
	state, whole := x.seed, 0 // state covers path[:whole]
	var w uint64
	if len(path) > 0 {
		w = lastWord(path, 0)
	}
	slots, mask := x.slots, uint64(len(x.slots)-1)
	for i := 0; i < len(x.lengths) && i*64 <= len(path); i++ {
		for set := x.lengths[i] | x.bounded[i]; set != 0; set &= set - 1 {
			bit := bits.TrailingZeros64(set)
			n := i*64 + bit
			if n > len(path) {
				return found
			}
			if x.lengths[i]>>bit&1 == 0 && !atBoundary(path, n) {
				continue
			}
			for ; whole+8 <= n; whole += 8 {
				state = fold(state^w, mix1)
				w = lastWord(path, whole+8)
			}
			hash := ending(state, w, n)
			for at := hash >> x.shift; ; at++ {
				s := slots[at&mask]
				if s == 0 {
					break
				}
				if !x.tagged(s, hash) {
					continue
				}
				r := rules[x.rule(s)]
				if string(path[:n]) == r.path(text) {
					if !r.allows() || atBoundary(path, n) {
						found = x.rule(s)
					}
					break
				}
			}
		}
	}
	return found
}

// atBoundary reports whether the first n octets of the path are whole segments.
func atBoundary[S []byte | string](path S, n int) bool {
	return n == len(path) || path[n] == '/' || path[n-1] == '/'
}

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

// maxEffort bounds what patterns may cost in one decision: the sum of the bytes
// of path and pattern over all matches. A policy of a thousand short patterns
// uses it up on a path of several KiB.
const maxEffort = 4 << 20

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
