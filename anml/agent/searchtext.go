package agent

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/confusable"
)

// searchText is a text in which values are looked for: one reading of it, folded.
type searchText struct {
	text   []byte
	inside []bool // of each byte, and of the end: it is not the first of a word
	alike  bool   // characters that look alike are one
}

// searchTexts yields a text as it is folded, with what looks alike as one, and with its
// dates in one form if it names a month.
func searchTexts(text string) iter.Seq[*searchText] {
	return func(yield func(*searchText) bool) {
		f := fold(text)
		if !yield(newSearchText(&f, func(r rune) string { return string(r) })) {
			return
		}
		alike := newSearchText(&f, lookAlike)
		alike.alike = true
		if !yield(alike) {
			return
		}
		if dated := monthsInEnglish(&f); dated != "" {
			f = fold(dated)
			yield(newSearchText(&f, func(r rune) string { return string(r) }))
		}
	}
}

func newSearchText(f *folded, as func(rune) string) *searchText {
	p := &searchText{text: make([]byte, 0, len(f.runes)), inside: make([]bool, 0, len(f.runes)+1)}
	for _, word := range f.words {
		begin := len(p.text)
		for _, r := range f.runes[word.from:word.to] {
			p.text = append(p.text, as(r)...)
		}
		for i := begin; i < len(p.text); i++ {
			p.inside = append(p.inside, i > begin)
		}
	}
	p.inside = append(p.inside, false)
	return p
}

// lookAlike is a folded character as the ones that it may be taken for.
func lookAlike(r rune) string {
	letters := string(r)
	if r >= utf8.RuneSelf {
		if like := confusable.Letters(r); like != "" {
			letters = like
		}
	}
	if len(letters) > 1 {
		return letters
	}
	switch c := stroke(letters[0]); c {
	case 'm':
		return "rn"
	case 'w':
		return "vv"
	default:
		return string(rune(c))
	}
}

// wanted is a value that is looked for, folded.
type wanted struct {
	text, alike string // the second with what looks alike as one
	from, to    bool   // it begins, ends with a number that is all of it only where no other digit follows
}

// newWanted returns a value to look for. A value of few digits, as a house number, is
// another one where more digits stand next to them.
func newWanted(value string) wanted {
	f := fold(value)
	w := wanted{text: string(f.runes), alike: string(newSearchText(&f, lookAlike).text)}
	digits := 0
	for _, r := range f.runes {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	if digits <= nationalLen && len(f.words) > 0 {
		w.from, w.to = f.isNumber(f.words[0]), f.isNumber(f.words[len(f.words)-1])
	}
	return w
}

func (f *folded) isNumber(s span) bool {
	for _, r := range f.runes[s.from:s.to] {
		if !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// in is a value as it stands in a text.
func (w *wanted) in(p *searchText) string {
	if p.alike {
		return w.alike
	}
	return w.text
}

// cut takes a value out of a text, and reports whether it was there.
func (p *searchText) cut(w wanted) (found bool) {
	value := []byte(w.in(p))
	if len(value) == 0 {
		return false
	}
	for from := 0; ; {
		i := bytes.Index(p.text[from:], value)
		if i < 0 {
			return found
		}
		i += from
		end := i + len(value)
		if w.from && p.divides(i) || w.to && p.divides(end) {
			from = i + 1
			continue
		}
		for j := i; j < end; j++ {
			p.text[j] = gap
		}
		from, found = end, true
	}
}

// divides reports whether a place is inside of a number.
func (p *searchText) divides(at int) bool {
	return p.inside[at] && p.digit(p.text[at-1]) && p.digit(p.text[at])
}

func (p *searchText) digit(c byte) bool {
	return '0' <= c && c <= '9' || p.alike && (c == 'o' || c == 'l')
}

// rest is what is left of a text, without the places of values at its ends.
func (p *searchText) rest() string { return strings.Trim(string(p.text), string(rune(gap))) }

// gap stands where a value was, and is in no folded text.
const gap = 0

// sipHash is SipHash-2-4, a keyed hash for short messages: an attacker who does not know the
// key cannot foresee it. The standard library's own keyed hashes either take five times
// as long for the few bytes that are hashed here, or have a key that no other process
// can use.
type sipHash struct {
	v0, v1, v2, v3 uint64
	words          uint64
}

func newSipHash(key [16]byte) sipHash {
	k0, k1 := binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])
	return sipHash{v0: k0 ^ 0x736f6d6570736575, v1: k1 ^ 0x646f72616e646f6d, v2: k0 ^ 0x6c7967656e657261, v3: k1 ^ 0x7465646279746573}
}

// write adds eight bytes to the message, as a number.
func (h *sipHash) write(word uint64) {
	h.words++
	h.v3 ^= word
	h.round()
	h.round()
	h.v0 ^= word
}

// sum ends the message.
func (h *sipHash) sum() uint64 {
	h.write(h.words * 8 << 56)
	h.v2 ^= 0xff
	for range 4 {
		h.round()
	}
	return h.v0 ^ h.v1 ^ h.v2 ^ h.v3
}

func (h *sipHash) round() {
	h.v0 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 13) ^ h.v0
	h.v0 = bits.RotateLeft64(h.v0, 32)
	h.v2 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 16) ^ h.v2
	h.v0 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 21) ^ h.v0
	h.v2 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 17) ^ h.v2
	h.v2 = bits.RotateLeft64(h.v2, 32)
}

// text returns the hash of a text as it is, of one kind. Two texts that are the same when folded
// can mean different things after decoding.
func (h sipHash) text(kind uint64, text string) uint64 {
	h.write(kind | uint64(len(text))<<8)
	for ; len(text) >= 8; text = text[8:] {
		h.write(binary.LittleEndian.Uint64([]byte(text[:8])))
	}
	var last [8]byte
	copy(last[:], text)
	h.write(binary.LittleEndian.Uint64(last[:]))
	return h.sum()
}
