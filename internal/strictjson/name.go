package strictjson

import (
	"hash/maphash"

	"github.com/go-json-experiment/json/jsontext"
)

// text is a JSON text while it is scanned, and after.
type text interface{ []byte | string }

// nameSource gives a member's name as it is written, with its quotes. It ends
// where, seen from the value, the white space around the colon does.
func nameSource[T text](s T, n node) T {
	end := int(n.start) - 1
	for isSpace(s[end]) || s[end] == ':' {
		end--
	}
	return s[n.name&^flagEscaped : end+1]
}

// nameText gives a member's name.
func nameText[T text](s T, n node) string {
	return unquote(nameSource(s, n), n.name&flagEscaped != 0)
}

// unquote gives the text of a string that was scanned before. Of a document's
// text it makes no copy unless there are escapes.
func unquote[T text](source T, escaped bool) string {
	if !escaped {
		return string(source[1 : len(source)-1])
	}
	var buffer [256]byte
	plain, _ := jsontext.AppendUnquote(buffer[:0], source) // scanned before: cannot fail
	return string(plain)
}

// fewNames is the number of members up to which each name is compared with each.
const fewNames = 12

// nameTable finds members that have one name. It is used again for each object.
type nameTable struct {
	seed   maphash.Seed
	slots  []uint32  // open addressing: indices of members, 0 where there is none
	plain  [2][]byte // names without their escapes
	seeded bool
}

// duplicate gives the first member of an object whose name an earlier member
// has too, or 0.
func (t *nameTable) duplicate(data []byte, nodes []node, object uint32) (member uint32) {
	var few [fewNames][]byte
	count := 0
	for m := object + 1; m < uint32(len(nodes)); m = nodes[m].next {
		if count == fewNames {
			return t.duplicateOfMany(data, nodes, object)
		}
		name := t.name(data, nodes[m], nil)
		for _, earlier := range few[:count] {
			if string(name) == string(earlier) {
				return m
			}
		}
		few[count] = name
		count++
	}
	return 0
}

// duplicateOfMany is duplicate in time proportional to the number of members.
func (t *nameTable) duplicateOfMany(data []byte, nodes []node, object uint32) (member uint32) {
	count := 0
	for m := object + 1; m < uint32(len(nodes)); m = nodes[m].next {
		count++
	}
	t.reset(count)
	mask := uint64(len(t.slots) - 1)
	for m := object + 1; m < uint32(len(nodes)); m = nodes[m].next {
		t.plain[0] = t.plain[0][:0]
		name := t.name(data, nodes[m], &t.plain[0])
		slot := maphash.Bytes(t.seed, name) & mask
		for ; t.slots[slot] != 0; slot = (slot + 1) & mask {
			if string(name) == string(t.name(data, nodes[t.slots[slot]], &t.plain[1])) {
				return m
			}
		}
		t.slots[slot] = m
	}
	return 0
}

// reset empties the table and makes room for count names at twice as many slots
// or more. The seed is random, so that nobody can write names that collide.
func (t *nameTable) reset(count int) {
	if !t.seeded {
		t.seed, t.seeded = maphash.MakeSeed(), true
	}
	size := 4 * fewNames
	for size < 2*count {
		size *= 2
	}
	if size > len(t.slots) {
		t.slots = make([]uint32, size)
		return
	}
	clear(t.slots)
}

// name gives a member's name; one with escapes is written to a buffer.
func (t *nameTable) name(data []byte, n node, buffer *[]byte) []byte {
	source := nameSource(data, n)
	if n.name&flagEscaped == 0 {
		return source[1 : len(source)-1]
	}
	if buffer == nil {
		buffer = new([]byte)
	}
	*buffer, _ = jsontext.AppendUnquote((*buffer)[:0], source) // scanned before: cannot fail
	return *buffer
}
