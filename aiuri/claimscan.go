package aiuri

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// claimMembers calls claim with the members of a JSON object that are named like claims. It
// reports whether every reader sees the same members, with the same beginnings and ends.
// The values of other members are not checked beyond that, since results are large.
func claimMembers(payload []byte, claim func(name string, value []byte) bool) bool {
	if !utf8.Valid(payload) { // some readers join half a character and the quotation mark after it
		return false
	}
	r := objectReader{payload, 0}
	if r.next() != '{' {
		return false
	}
	r.at++
	if r.next() == '}' {
		return r.ends()
	}
	for {
		name, ok := r.text()
		if !ok || r.next() != ':' {
			return false
		}
		r.at++
		value, ok := r.value()
		if !ok {
			return false
		}
		switch known, ok := claimName(name); {
		case !ok, known != "" && !claim(known, value):
			return false
		}
		switch r.next() {
		case ',':
			r.at++
		case '}':
			return r.ends()
		default:
			return false
		}
	}
}

// objectReader reads the members of one object.
type objectReader struct {
	payload []byte
	at      int
}

// next skips white space and returns the byte after it, or 0 at the end.
func (r *objectReader) next() byte {
	for ; r.at < len(r.payload); r.at++ {
		switch c := r.payload[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// ends reports whether only white space follows the bracket here.
func (r *objectReader) ends() bool {
	r.at++
	return r.next() == 0 && r.at == len(r.payload)
}

// text returns a string in its source form.
func (r *objectReader) text() ([]byte, bool) {
	if r.next() != '"' {
		return nil, false
	}
	from := r.at
	for r.at++; ; r.at += 2 {
		r.at += plainText(r.payload[min(r.at, len(r.payload)):])
		switch {
		case r.at >= len(r.payload) || r.payload[r.at] < ' ':
			return nil, false
		case r.payload[r.at] == '"':
			r.at++
			return r.payload[from:r.at], true
		} // a backslash and the character that it escapes
	}
}

// value returns a value in its source form.
func (r *objectReader) value() ([]byte, bool) {
	c, from := r.next(), r.at
	switch c {
	case '"':
		return r.text()
	case '{', '[':
		n, ok := containerLen(r.payload[r.at:])
		r.at += n
		return r.payload[from:r.at], ok
	}
	for r.at < len(r.payload) && (class[r.payload[r.at]]&inHost != 0 || r.payload[r.at] == '+') {
		r.at++
	}
	return r.payload[from:r.at], r.at > from
}

// claimName returns the claim that a member's name is, after unescaping, or "". It fails on
// an invalid escape.
func claimName(quoted []byte) (name string, ok bool) {
	if len(quoted) > len(`"\u0073\u0063\u006f\u0070\u0065"`) {
		return "", true
	}
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var err error
		if text, err = jsontext.AppendUnquote(make([]byte, 0, 40), quoted); err != nil {
			return "", false
		}
	}
	for _, known := range claimNames {
		if string(text) == known {
			return known, true
		}
	}
	return "", true
}

// seemsToClaim reports whether less strict readers could see claims in a text that is not
// strict JSON, even readers that need no quotation marks.
func seemsToClaim(payload []byte) bool {
	if bytes.Contains(payload, []byte(`\u00`)) {
		return true // a name may be escaped
	}
	for _, name := range claimNames {
		for rest, found := payload, true; found; {
			if _, rest, found = bytes.Cut(rest, []byte(name)); found {
				after := bytes.TrimLeft(rest, " \t\r\n")
				if len(after) > 0 && strings.IndexByte(`"':/#`, after[0]) >= 0 { // the name's end, its colon, or a comment before that
					return true
				}
			}
		}
	}
	return false
}

// maxNesting is the largest depth of nested containers.
const maxNesting = 1024

// containerLen returns the length of the JSON object or array at the beginning of a text,
// by its strings and brackets only. It fails if less strict readers could see other strings
// or brackets: for example after the beginning of a comment or of another kind of string.
//
// It reads blocks of 64 bytes and turns them into masks with one bit for each byte. That
// costs about the same for every text, and half as much as reading byte by byte.
func containerLen(text []byte) (n int, ok bool) {
	var c container
	for at := 0; at < len(text); at += 64 {
		block := text[at:]
		if len(block) < 64 {
			block = append(make([]byte, 0, 64), block...)[:64] // padded with zeros, which are refused
		}
		end, ok := c.follow((*[64]byte)(block))
		if !ok {
			return 0, false
		}
		if end > 0 {
			return at + end, true
		}
	}
	return 0, false
}

// container is the state of the scan: the containers that are open, and whether the next
// byte is escaped or in a string.
type container struct {
	depth   int
	objects [maxNesting / 64]uint64 // one bit for each open container: 1 is an object
	escaped uint64                  // 1: a backslash escapes the next byte
	quoted  uint64                  // all ones: the next byte is in a string
}

// follow scans a block. It returns the offset after the container's end, or 0 if it does
// not end in this block.
func (c *container) follow(block *[64]byte) (end int, ok bool) {
	m := marksOf(block)
	if m.special != 0 || c.escaped != 0 {
		m.quotes &^= c.escapes(block, m.special)
	}
	inside := toggles(m.quotes) ^ c.quoted // strings, with the opening mark and without the closing one
	c.quoted = uint64(int64(inside) >> 63)
	for rest := m.brackets &^ inside; rest != 0 && end == 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if !c.step(block[i&63]) {
			return 0, false
		}
		if c.depth == 0 {
			end = i + 1
		}
	}
	doubt := m.special&^inside | m.controls&inside
	if end > 0 {
		doubt &= 1<<end - 1 // later bytes are not the container's
	}
	return end, doubt == 0
}

// step opens or closes a container.
func (c *container) step(bracket byte) bool {
	if bracket == '{' || bracket == '[' {
		if c.depth == maxNesting {
			return false
		}
		word, bit := &c.objects[c.depth/64], uint64(1)<<(c.depth%64)
		*word &^= bit
		if bracket == '{' {
			*word |= bit
		}
		c.depth++
		return true
	}
	c.depth--
	isObject := c.objects[c.depth/64]>>(c.depth%64)&1 == 1
	return isObject == (bracket == '}')
}

// escapes returns the mask of the bytes that a backslash escapes.
func (c *container) escapes(block *[64]byte, special uint64) (escaped uint64) {
	escaped, c.escaped = c.escaped, 0
	for rest := special &^ escaped; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		switch {
		case block[i&63] != '\\':
		case i == 63:
			c.escaped = 1
		default:
			escaped |= 2 << i
			rest &^= 2 << i
		}
	}
	return escaped
}

// marks are masks of the bytes of a block, by kind.
type marks struct {
	quotes, brackets uint64

	special  uint64 // allowed only in strings: backslashes, and what begins a comment or string for some readers
	controls uint64 // allowed only outside strings; those that are not white space are special too
}

// kinds are the kinds of each byte, with one bit in each 16.
var kinds = func() (kinds [256]uint64) {
	const quote, bracket, special, control = 1, 1 << 16, 1 << 32, 1 << 48
	for c := range ' ' {
		kinds[c] = special | control
	}
	kinds['\t'], kinds['\r'], kinds['\n'] = control, control, control
	kinds['"'] = quote
	kinds['{'], kinds['}'], kinds['['], kinds[']'] = bracket, bracket, bracket, bracket
	kinds['\\'], kinds['/'], kinds['#'], kinds['\''] = special, special, special, special
	return kinds
}()

func marksOf(block *[64]byte) (m marks) {
	for i := 48; i >= 0; i -= 16 {
		b, k := (*[16]byte)(block[i:]), &kinds
		all := k[b[0]] | k[b[1]]<<1 | k[b[2]]<<2 | k[b[3]]<<3 | k[b[4]]<<4 | k[b[5]]<<5 | k[b[6]]<<6 | k[b[7]]<<7 |
			k[b[8]]<<8 | k[b[9]]<<9 | k[b[10]]<<10 | k[b[11]]<<11 | k[b[12]]<<12 | k[b[13]]<<13 | k[b[14]]<<14 | k[b[15]]<<15
		m.quotes = m.quotes<<16 | all&0xffff
		m.brackets = m.brackets<<16 | all>>16&0xffff
		m.special = m.special<<16 | all>>32&0xffff
		m.controls = m.controls<<16 | all>>48
	}
	return m
}

// toggles sets all bits from each first, third, fifth … set bit up to the next set bit,
// without that one.
func toggles(m uint64) uint64 {
	m ^= m << 1
	m ^= m << 2
	m ^= m << 4
	m ^= m << 8
	m ^= m << 16
	return m ^ m<<32
}

// plainText returns the number of bytes before a quotation mark, a backslash or a control
// character. It reads eight bytes at a time: the first match of a block is always exact.
func plainText(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, backslash := w^'"'*ones, w^'\\'*ones
		if stop := ((quote-ones)&^quote | (backslash-ones)&^backslash | (w-' '*ones)&^w) & highs; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}
