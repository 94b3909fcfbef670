package strictxml

import (
	"math"
	"math/bits"
	"strings"
)

// Burst is a buffer for plain markup that [Scanner.Burst] reads. It can be on the stack.
type Burst struct {
	marks [128]Mark
	attrs [256]MarkAttr
	tags  int // number of marks
	given int // number of attrs
}

// Marks returns the tags of a burst in document order. The next burst overwrites them.
func (b *Burst) Marks() []Mark { return b.marks[:b.tags] }

// Attrs returns the attributes of all its start tags in document order.
func (b *Burst) Attrs() []MarkAttr { return b.attrs[:b.given] }

// Mark is a tag with the text before it. Offsets count in [Scanner.Source].
type Mark struct {
	From  int32 // where the text before the tag begins
	At    int32 // where the tag begins, and the text ends
	Name  int32 // where the name of a start tag ends; it begins at At+1
	Attrs uint8 // number of attributes
	Flags MarkFlags
}

// MarkFlags says what a [Mark] is.
type MarkFlags uint8

const (
	EndTag      MarkFlags = 1 << iota // it ends an element
	SelfClosing                       // a start tag that ends its element too
	Blank                             // the text before it is literal white space, or empty
	Escaped                           // the text before it needs Unescape
)

// MarkAttr is an attribute without a prefix.
type MarkAttr struct {
	At, From, To int32  // of the name, and of the value
	Size         uint16 // of the name
	Escaped      bool   // the value needs Unescape
}

// BurstAttrs is the largest number of attributes of a plain tag.
const BurstAttrs = 16

// Burst scans ahead while the markup is plain: tags of elements and attributes without prefixes or
// namespace declarations, values in double quotes, and text between tags. It leaves everything
// else, including errors, to Next: Burst only passes what Next would return, token by token,
// without an error. Burst reads nothing outside the root element and not its end tag. It reads
// nothing of a stream.
func (s *Scanner) Burst(b *Burst) {
	b.tags, b.given = 0, 0
	if s.state != inRoot || s.r != nil || s.err != nil || s.odd || len(s.src) > math.MaxInt32 {
		return
	}
	src, pos, marks, attrs, tokens := s.src, s.pos, 0, 0, s.tokens
	most := min(len(b.marks), (s.limits.Tokens-s.tokens)/3)
	for marks < most && attrs+BurstAttrs <= len(b.attrs) {
		at, flags := plainText(src, pos)
		if at+2 >= len(src) || src[at] != '<' || at-pos > s.limits.Text {
			break
		}
		m := &b.marks[marks]
		m.From, m.At, m.Attrs = int32(pos), int32(at), 0
		if c := src[at+1]; c == '/' {
			end, ok := s.plainEnd(at + len("</"))
			if !ok {
				break
			}
			m.Flags = flags | EndTag
			tokens++
			if at > pos {
				tokens++
			}
			pos = end
			marks++
			continue
		} else if class[c]&isNameStart == 0 || len(s.open)+len(s.plain) == s.limits.Depth {
			break
		}
		name := at + 2
		for name < len(src) && class[src[name]]&isName != 0 {
			name++
		}
		if name == len(src) || name-at > s.limits.Name {
			break
		}
		end := name + 1
		if src[name] != '>' {
			count, behind, ok := s.plainAttrs(name, b.attrs[attrs:attrs+BurstAttrs])
			if !ok || behind-at > s.limits.Token {
				break
			}
			end = behind
			m.Attrs = uint8(count)
			attrs += count
		}
		if src[end-2] == '/' {
			flags |= SelfClosing
			tokens++
		} else {
			s.plain = append(s.plain, plainFrame{at + 1, name})
		}
		m.Name, m.Flags = int32(name), flags
		tokens++
		if at > pos {
			tokens++
		}
		pos = end
		marks++
	}
	b.tags, b.given = marks, attrs
	s.pos, s.tokens = pos, tokens
	for _, f := range s.plain {
		raw := src[f.from:f.to]
		s.open = append(s.open, frame{raw, Name{s.names.dflt, raw}, len(s.names.stack)})
	}
	s.plain = s.plain[:0]
}

// plainFrame is the name of an element that a burst opened. It becomes a frame if the element is
// still open at the end of the burst.
type plainFrame struct{ from, to int }

// DefaultSpace returns the default namespace in scope. A burst does not change it.
func (s *Scanner) DefaultSpace() string { return s.names.dflt }

// plainEnd closes the innermost element if the name at i is its name. It returns the index after
// the end tag.
func (s *Scanner) plainEnd(i int) (end int, ok bool) {
	src := s.src
	if top := len(s.plain) - 1; top >= 0 {
		f := s.plain[top]
		end = i + f.to - f.from
		if end >= len(src) || src[end] != '>' || !same(src, i, f.from, f.to-f.from) {
			return 0, false
		}
		s.plain = s.plain[:top]
		return end + 1, true
	}
	top := len(s.open) - 1
	f := &s.open[top]
	end = i + len(f.raw)
	if top == 0 || f.bound != len(s.names.stack) || end >= len(src) || src[end] != '>' || src[i:end] != f.raw {
		return 0, false
	}
	s.open = s.open[:top]
	return end + 1, true
}

// plainAttrs scans the attributes from the end of a tag's name. It returns the index after the ">".
func (s *Scanner) plainAttrs(i int, attrs []MarkAttr) (count, end int, ok bool) {
	src := s.src
	for i+1 < len(src) {
		switch {
		case src[i] == '>':
			return count, i + 1, true
		case src[i] == '/' && src[i+1] == '>':
			return count, i + 2, true
		case class[src[i]]&isSpace == 0:
			return 0, 0, false
		}
		for i++; i < len(src) && class[src[i]]&isSpace != 0; i++ {
		}
		if i == len(src) || class[src[i]]&isNameStart == 0 {
			if i+1 < len(src) && (src[i] == '>' || src[i] == '/') {
				continue
			}
			return 0, 0, false
		}
		at := i
		for i++; i < len(src) && class[src[i]]&isName != 0; i++ {
		}
		name := src[at:i]
		if i+2 >= len(src) || src[i] != '=' || src[i+1] != '"' || len(name) > s.limits.Name || name == "xmlns" ||
			count == len(attrs) || count == s.limits.Attrs {
			return 0, 0, false
		}
		for k := range attrs[:count] {
			if other := &attrs[k]; int(other.Size) == len(name) && same(src, at, int(other.At), len(name)) {
				return 0, 0, false
			}
		}
		from := i + 2
		to, escaped := plainValue(src, from)
		if to >= len(src) || src[to] != '"' || to-from > s.limits.Value {
			return 0, 0, false
		}
		a := &attrs[count]
		a.At = int32(at)
		a.From = int32(from)
		a.To = int32(to)
		a.Size = uint16(len(name))
		a.Escaped = escaped
		count++
		i = to + 1
	}
	return 0, 0, false
}

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// word returns eight bytes as a little-endian number.
func word(src string, i int) uint64 {
	b := src[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// same reports whether n bytes of src, at least one, are the same in two places.
func same(src string, i, j, n int) bool {
	if n > 8 || max(i, j)+8 > len(src) {
		return src[i:i+n] == src[j:j+n]
	}
	return (word(src, i)^word(src, j))<<(uint(64-8*n)%64) == 0
}

// plainText passes character data and stops at a "<" or at an error.
//
// It reads eight bytes at a time. The lowest bit set in stop is in the first byte that is a
// control character, an ampersand, or one of "<" and ">", which differ in one bit. A borrow can
// only set bits in later bytes.
func plainText(src string, i int) (end int, flags MarkFlags) {
	from := i
	for i < len(src) && (src[i] == ' ' || src[i] == '\n' || src[i] == '\t') {
		for i++; i+8 <= len(src) && word(src, i) == ones*' '; {
			i += 8
		}
	}
	if i < len(src) && src[i] == '<' {
		return i, Blank
	}
	for {
		for i+8 <= len(src) {
			w := word(src, i)
			amp, angle := w^ones*'&', (w|ones*2)^ones*'>'
			stop := ((w-ones*' ')&^w | (amp-ones)&^amp | (angle-ones)&^angle) & high
			if stop != 0 {
				i += bits.TrailingZeros64(stop) / 8
				break
			}
			i += 8
		}
		if i >= len(src) {
			return i, flags
		}
		switch c := src[i]; {
		case c == '<':
			return i, flags
		case c == '&':
			_, end, err := reference(src, i)
			if err != nil {
				return i, flags
			}
			i = end
			flags |= Escaped
			continue
		case c == '>' && i-from >= 2 && src[i-1] == ']' && src[i-2] == ']':
			return i, flags
		case c == '\r':
			flags |= Escaped
		case class[c]&isBad != 0:
			return i, flags
		}
		i++
	}
}

// plainValue passes an attribute value and stops at its closing quote, at an error, or at white
// space to normalise. Ampersands and quotes differ in one bit.
func plainValue(src string, i int) (end int, escaped bool) {
	for {
		for i+8 <= len(src) {
			w := word(src, i)
			quote, angle := (w|ones*4)^ones*'&', w^ones*'<'
			stop := ((w-ones*' ')&^w | (quote-ones)&^quote | (angle-ones)&^angle) & high
			if stop != 0 {
				i += bits.TrailingZeros64(stop) / 8
				break
			}
			i += 8
		}
		if i >= len(src) {
			return i, false
		}
		switch c := src[i]; {
		case c == '&':
			_, end, err := reference(src, i)
			if err != nil {
				return i, false
			}
			i, escaped = end, true
			continue
		case c == '"', c == '<', c < ' ':
			return i, escaped
		}
		i++
	}
}

// Unescape appends the decoded form of a text or value of a burst. Literal white space in a value
// becomes a space.
func Unescape(b *strings.Builder, raw string, value bool) { _ = unescape(b, raw, value) }

// hasNonCharacter reports whether a text contains U+FFFE or U+FFFF.
func hasNonCharacter(text string) bool {
	for {
		i := strings.Index(text, "\xEF\xBF") // rare
		if i < 0 {
			return false
		}
		if isNonCharacter(text, i) {
			return true
		}
		text = text[i+2:]
	}
}
