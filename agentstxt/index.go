package agentstxt

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
)

// rule is a directive, or another spelling of its path to which it also applies. The
// path is in the policy's text.
type rule struct {
	at     uint32 // where the path begins in the text
	line   uint32 // of the directive, from 1
	length uint16 // of the path
	flags  uint16
}

func (r rule) path(text string) string { return text[r.at : r.at+uint32(r.length)] }

func (r rule) allows() bool { return r.flags&isAllow != 0 }

// index finds the longest rule whose path is a prefix of a given path. It is a hash
// table of rule paths and the set of their lengths. A lookup hashes the path once, eight
// bytes at a time, and derives the hash of each prefix that has the length of some rule.
// So its time does not depend on the number of rules, and it does not allocate.
type index struct {
	slots   []slot
	shift   uint8    // from a hash to the first slot for it
	numbers slot     // the bits of a slot that hold the rule
	seed    uint64   // random, so that collisions cannot be prepared
	lengths []uint64 // bit n: a DISALLOW path has length n
	bounded []uint64 // bit n: an ALLOW path has length n
}

// slot holds a rule's position plus one in its lower bits, and bits of its hash above
// them, which tell most rules apart. A free slot is zero.
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

// word returns the eight bytes of s from i on, with zeros after its end.
func word[S []byte | string](s S, i int) (w uint64) {
	if i+8 <= len(s) {
		s = s[i : i+8] // one bounds check for all
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	}
	for n := len(s) - 1; n >= i; n-- {
		w = w<<8 | uint64(s[n])
	}
	return w
}

// ending returns the hash of a prefix of the given length. state is the hash of its whole
// words; w holds its last bytes and whatever follows them.
func ending(state, w uint64, length int) uint64 {
	rest := w & (1<<(uint(length&7)*8) - 1)
	return fold(state^rest, mix2+uint64(length)<<1)
}

// insert adds the rule at position n. If there is a rule with the same path, insert
// changes nothing and returns its slot.
func (x *index) insert(text string, rules []rule, n int) (taken *slot) {
	r := rules[n]
	path := r.path(text)
	state, i := x.seed, 0
	for ; i+8 <= len(path); i += 8 {
		state = fold(state^word(path, i), mix1)
	}
	hash := ending(state, word(text, int(r.at)+i), len(path))
	mask := uint64(len(x.slots) - 1)
	at := hash >> x.shift
	for ; x.slots[at] != 0; at = (at + 1) & mask {
		if s := &x.slots[at]; (*s^slot(hash))&^x.numbers == 0 && rules[x.rule(*s)].path(text) == path {
			return s
		}
	}
	x.slots[at] = slot(hash)
	x.put(&x.slots[at], rules, n)
	return nil
}

// put puts the rule at position n into a slot, whose upper bits hold the hash of its path.
func (x *index) put(s *slot, rules []rule, n int) {
	*s = *s&^x.numbers | slot(n+1)
	r, lengths := rules[n], x.lengths
	if r.allows() {
		lengths = x.bounded
	}
	lengths[r.length/64] |= 1 << (r.length % 64)
}

func (x *index) rule(s slot) int { return int(s&x.numbers) - 1 }

// longest returns the position of the longest rule that matches, or noRule. A DISALLOW
// path matches any prefix, an ALLOW path only whole segments.
func longest[S []byte | string](x *index, text string, rules []rule, path S) int {
	found := noRule
	state, whole := x.seed, 0 // state covers path[:whole]
	var w uint64
	if len(path) > 0 {
		w = word(path, 0)
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
				w = word(path, whole+8)
			}
			hash := ending(state, w, n)
			for at := hash >> x.shift; ; at++ {
				s := slots[at&mask]
				if s == 0 {
					break
				}
				if (s^slot(hash))&^x.numbers != 0 {
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

// atBoundary reports whether the first n bytes of the path are whole segments.
func atBoundary[S []byte | string](path S, n int) bool {
	return n == len(path) || path[n] == '/' || path[n-1] == '/'
}

// pattern is a DISALLOW path with wildcards (RFC 9309, section 2.2.3): "*" matches any
// bytes, a final "$" the end of the path.
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

// match reports whether the pattern matches a path, in linear time: it searches each
// piece between two "*" once, after the first match of the piece before it.
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

// maxEffort bounds the cost of patterns in one decision: the sum of the bytes of path and
// pattern over all matches. A thousand short patterns exceed it for a path of several
// KiB.
const maxEffort = 4 << 20

// lookup returns the position of the rule that decides a path in normal form, or
// noRule: the longest one, and DISALLOW among equals. Each match with a pattern
// costs effort; if effort is negative then, the result is meaningless.
func (p *Policy) lookup(path []byte, effort *int) int {
	found := longest(&p.index, p.text, p.rules, path)
	for i := range p.patterns {
		pat := &p.patterns[i]
		if found >= 0 && pat.length < int(p.rules[found].length) {
			break
		}
		*effort -= len(path) + len(pat.text)
		if *effort < 0 {
			break
		}
		if pat.match(path) {
			return pat.rule
		}
	}
	return found
}
