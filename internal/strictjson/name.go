package strictjson

import (
	"hash/maphash"

	"github.com/go-json-experiment/json/jsontext"
)

// text is a JSON text: bytes while it is scanned, a string afterwards.
type text interface{ []byte | string }

// nameSource returns a member's name as it is written, with its quotes. The name ends before the
// white space and the colon that precede the value.
func nameSource[T text](s T, n node) T {
	end := int(n.start) - 1
	for isSpace(s[end]) || s[end] == ':' {
		end--
	}
	return s[n.name&^flagEscaped : end+1]
}

// nameText returns a member's name.
func nameText[T text](s T, n node) string {
	return unquote(nameSource(s, n), n.name&flagEscaped != 0)
}

// unquote returns the decoded text of a string that was scanned before. Without escapes, it is a
// substring of a string source.
func unquote[T text](source T, escaped bool) string {
	if !escaped {
		return string(source[1 : len(source)-1])
	}
	var buffer [256]byte
	plain, _ := jsontext.AppendUnquote(buffer[:0], source) // scanned before: cannot fail
	return string(plain)
}

// fewNames is the number of members up to which all names are compared with one another.
const fewNames = 12

// nameTable finds members with the same name. It is reused for each object.
type nameTable struct {
	seed   maphash.Seed
	slots  []uint32  // open addressing: indexes of members, or 0
	plain  [2][]byte // buffers for names with escapes
	seeded bool
}

// duplicate returns the first member of an object with the name of an earlier member, or 0.
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

// duplicateOfMany is duplicate in time linear in the number of members.
func (t *nameTable) duplicateOfMany(data []byte, nodes []node, object uint32) (member uint32) {
	count := 0
	for m := object + 1; m < uint32(len(nodes)); m = nodes[m].next {
		count++
	}
	t.reset(count)
	mask := uint64(len(t.slots) - 1)
	for m := object + 1; m < uint32(len(nodes)); m = nodes[m].next {
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

// reset empties the table and makes room for count names: at least twice as many slots. The seed is
// random, so that an attacker cannot choose names that collide.
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

// name returns a member's name. It decodes a name with escapes into the buffer.
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
