package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Place says where something stands in a text.
type Place struct {
	Line    int    // from 1
	Column  int    // from 1, in octets
	Offset  int    // octets before the place
	Pointer string // JSON pointer (RFC 6901); "" is the whole text. Longer than 512 octets: cut, with "…"
}

// String gives line:column and the pointer, if there is one, quoted.
func (p Place) String() string {
	if p.Pointer == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d %s", p.Line, p.Column, strconv.Quote(p.Pointer))
}

// position gives line and column of an offset by reading everything before it.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	return 1 + bytes.Count(before, []byte{'\n'}), offset - bytes.LastIndexByte(before, '\n')
}

// lineIndex finds line and column of any offset quickly, so that a hostile text
// with many faulty values does not cost a reading for each of them.
type lineIndex []lineMark

// lineMark is what holds at the start of a block.
type lineMark struct{ line, lineStart int }

const lineBlock = 1 << 10 // octets between marks

func newLineIndex(text string) lineIndex {
	index := make(lineIndex, 0, len(text)/lineBlock+1)
	mark := lineMark{line: 1}
	for start := 0; start <= len(text); start += lineBlock {
		index = append(index, mark)
		mark = mark.advance(text, start, min(start+lineBlock, len(text)))
	}
	return index
}

// advance counts the lines that begin between start and end.
func (m lineMark) advance(text string, start, end int) lineMark {
	m.line += strings.Count(text[start:end], "\n")
	if last := strings.LastIndexByte(text[start:end], '\n'); last >= 0 {
		m.lineStart = start + last + 1
	}
	return m
}

func (x lineIndex) position(text string, offset int) (line, column int) {
	block := offset / lineBlock
	mark := x[block].advance(text, block*lineBlock, offset)
	return mark.line, offset - mark.lineStart + 1
}

// maxPointer bounds pointers, since names are as long as their author likes.
const maxPointer = 512

// pointerTo leads from the root to a value. It works on a finished table and on
// one that is being built, where the containers of the value have no next yet.
func pointerTo[T text](s T, nodes []node, target uint32) string {
	var pointer []byte
	for at := uint32(0); at != target; {
		child, index := at+1, 0
		for nodes[child].next != 0 && nodes[child].next <= target {
			child = nodes[child].next
			index++
		}
		if nodes[child].name != 0 {
			pointer = appendStep(pointer, nameText(s, nodes[child]))
		} else {
			pointer = appendStep(pointer, strconv.Itoa(index))
		}
		at = child
	}
	if len(pointer) > maxPointer {
		return strings.ToValidUTF8(string(pointer[:maxPointer]), "") + "…"
	}
	return string(pointer)
}

// appendStep adds one reference token, up to the bound.
func appendStep(pointer []byte, token string) []byte {
	if len(pointer) > maxPointer {
		return pointer
	}
	pointer = append(pointer, '/')
	for i := 0; i < len(token) && len(pointer) <= maxPointer; i++ {
		switch c := token[i]; c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}
