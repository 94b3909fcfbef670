package anml

import (
	"slices"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// orderKey carries the order of mixed content and of differently named children,
// which JSON objects lose: numbers say how many code points of "content" come
// next, names which element. It cannot clash with an element or attribute, and
// a reader that knows the draft alone ignores it and loses nothing but order.
const orderKey = "$order"

// group is the children of one key, linked and waiting for their order.
type group struct {
	key         string
	name        Name
	kind        kind // kUnknown for an element that the draft does not know here
	rank        int  // place in the default order
	first, last int32
}

func (g *group) join(i int32) {
	if g.first == 0 {
		g.first = i
	}
	g.last = i
}

// arrange puts text and children in their order: the one that $order gives, or
// text first and then the children as they are written.
func (j *jsonReader) arrange(i int32, content span, order token, groups []group) {
	rows := j.t.rows
	rows[i].first = 0
	if order.kind != strictjson.None {
		if j.ordered(i, content, order, groups) {
			return
		}
		j.add(j.node(i), lookleap.SeverityWarning, CodeOrder, "ANML-7.2.3-03", "$order does not fit the content, so it is ignored", "")
	}
	if len(groups) > 1 {
		slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
	}
	last := j.content(i, 0, content, len(groups) == 0)
	for _, g := range groups {
		j.t.link(i, last, g.first)
		last = g.last
	}
}

// part gives a part of a text.
func (s span) part(from, to int) span {
	if s.from < 0 {
		return span{^(^s.from + int32(from)), ^s.from + int32(to)}
	}
	return span{s.from + int32(from), s.from + int32(to)}
}

// ordered applies $order, or changes nothing and reports that it does not fit.
func (j *jsonReader) ordered(i int32, content span, order token, groups []group) bool {
	if order.kind != strictjson.Array {
		return false
	}
	list, err := strictjson.Parse([]byte(j.src[order.from:order.to]), strictjson.Limits{Size: len(j.src), Values: len(j.src)})
	if err != nil {
		return false
	}
	text, done, used := j.t.string(content), 0, make(map[string]int, len(groups))
	pieces := make([]span, 0, list.Len()) // texts in their order; elements are empty
	begin := 0                            // of the text since the last element
	for item := range list.Elements() {
		if name, err := item.Text(); err == nil {
			used[name]++
			pieces = append(pieces, span{})
			begin = done
			continue
		}
		count, err := item.Int()
		if err != nil || count < 1 {
			return false
		}
		end := done
		for ; count > 0; count-- {
			if end == len(text) {
				return false
			}
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if begin < done { // texts that nothing divides are one, as in XML
			pieces[len(pieces)-1] = span{}
		}
		pieces = append(pieces, content.part(begin, end))
		done = end
	}
	byKey := make(map[string]int32, len(groups)) // the next child of each key
	for _, g := range groups {
		byKey[g.key] = g.first
		for c := g.first; c != 0; c = j.t.rows[c].next {
			used[g.key]--
		}
	}
	for _, balance := range used {
		if balance != 0 {
			return false
		}
	}
	if done != len(text) {
		return false
	}
	at, last := 0, int32(0)
	for item := range list.Elements() {
		if name, err := item.Text(); err == nil {
			c := byKey[name]
			byKey[name] = j.t.rows[c].next
			j.t.rows[c].next = 0
			j.t.link(i, last, c)
			last = c
		} else {
			last = j.content(i, last, pieces[at], len(groups) == 0)
		}
		at++
	}
	return true
}
