package anml

// vocabulary is the schema as tables that readers index by number: each name of
// the draft has one, 0 is any other name. The tables are made once from the
// schema and never written again.
type vocabulary struct {
	slots  [slots]slot
	names  [maxNames]string
	child  [kindCount][maxNames]kind  // what a name means inside an element; kUnknown for nothing
	attr   [kindCount][maxNames]int16 // number in specs of an attribute; -1 for none
	many   [kindCount][kindCount]bool // which children may repeat
	single [kindCount]bool            // some child may not
	typed  []bool                     // by number in specs: the text is more than a string
	quoted []bool                     // likewise: it is a string in JSON, whatever it holds
	needs  [kindCount][]int32         // numbers in specs of attributes that must be there
}

const (
	maxNames = 128
	slots    = 512
)

// slot is a name of at most eight octets, or the first eight of a longer one.
type slot struct {
	key  uint64
	size uint8
	name uint8
}

// langSpec is the number of the attribute lang, which every element has.
const langSpec = 0

// specs lists every attribute of every element by number, and then all of them
// once more for those whose text is never used.
var specs = allSpecs()

// lossy is what the number of a spoiled attribute has more.
var lossy = int32(len(specs) / 2)

func allSpecs() []attrSpec {
	list := []attrSpec{{name: "lang", typ: tLang}}
	for k := range schema {
		list = append(list, schema[k].attrs...)
	}
	for _, s := range list {
		s.lossy = true
		list = append(list, s)
	}
	return list
}

// words is the vocabulary of the draft.
var words = newVocabulary()

func newVocabulary() *vocabulary {
	v := &vocabulary{}
	count := uint8(0)
	enter := func(name string) uint8 {
		if id := v.id(name); id != 0 {
			return id
		}
		count++
		v.names[count] = name
		at := v.hash(key(name), len(name))
		for v.slots[at].name != 0 {
			at = (at + 1) % slots
		}
		v.slots[at] = slot{key(name), uint8(len(name)), count}
		return count
	}
	lang := enter("lang")
	number := int32(1)
	for k := range schema {
		for i := range v.attr[k] {
			v.attr[k][i] = -1
		}
		if kind(k) != kUnknown && kind(k) != kText {
			v.attr[k][lang] = langSpec
		}
		for _, a := range schema[k].attrs {
			v.attr[k][enter(a.name)] = int16(number)
			if a.need != optional {
				v.needs[k] = append(v.needs[k], number)
			}
			number++
		}
		for _, c := range schema[k].children {
			v.child[k][enter(schema[c.kind].name)] = c.kind
			v.many[k][c.kind] = c.many
			v.single[k] = v.single[k] || !c.many
		}
	}
	for _, s := range specs {
		v.typed = append(v.typed, s.typ != tString)
		v.quoted = append(v.quoted, s.typ != tBool && !s.json && s.name != "version")
	}
	return v
}

// id gives the number of a name.
func (v *vocabulary) id(name string) uint8 { return v.find(name, key(name)) }

// at gives the number of the name at text[from:to].
func (v *vocabulary) at(text string, from, to int32) uint8 {
	name, rest := text[from:to], text[from:]
	if len(name) > 8 || len(rest) < 8 {
		return v.find(name, key(name))
	}
	k := octets(rest) & lowest[len(name)] // keyAt, without the cost of a call
	if s := &v.slots[v.hash(k, len(name))%slots]; s.key == k && int(s.size) == len(name) {
		return s.name // nearly always
	}
	return v.find(name, k)
}

// lowest masks the octets of a name within eight, by its length.
var lowest = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

func (v *vocabulary) find(name string, k uint64) uint8 {
	for at := v.hash(k, len(name)); ; at++ {
		s := &v.slots[at%slots]
		if s.key == k && int(s.size) == len(name) && (len(name) <= 8 || v.names[s.name] == name) || s.name == 0 {
			return s.name
		}
	}
}

// spec gives the number of an attribute of an element, or -1.
func (v *vocabulary) spec(k kind, name string) int32 { return int32(v.attr[k][v.id(name)]) }

func (v *vocabulary) hash(key uint64, size int) uint64 {
	return (key + uint64(size)) * 0x9E3779B97F4A7C15 >> 55
}

// key gives the first eight octets of a name as a number.
func key(name string) uint64 {
	if len(name) >= 8 {
		return octets(name)
	}
	k := uint64(0)
	for i := len(name) - 1; i >= 0; i-- {
		k = k<<8 | uint64(name[i])
	}
	return k
}

// keyAt is key of text[from:to], and looks at what follows it.
func keyAt(text string, from, to int) uint64 {
	name, rest := text[from:to], text[from:]
	if len(name) > 8 || len(rest) < 8 {
		return key(name)
	}
	return octets(rest) & lowest[len(name)]
}

// octets reads eight octets as a number, the first as the lowest.
func octets(s string) uint64 {
	b := s[:8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
