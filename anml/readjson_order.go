package anml

import (
	"slices"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// orderKey carries the order of mixed content and of differently named children,
// which JSON objects lose: numbers say how many code points of "content" come
// next, names which element. It cannot clash with an element or attribute, and
// a reader that knows the draft alone ignores it and loses nothing but order.
const orderKey = "$order"

// group is the children of one key, waiting for their order.
type group struct {
	key         string
	rank        int // place in the default order
	first, last *node
}

// arrange puts text and children in their order: the one that $order gives, or
// text first and then the children as they are written.
func (j *jsonReader) arrange(n *node, content string, order strictjson.Value, groups []group) {
	if order.Kind() != strictjson.None {
		if j.ordered(n, content, order, groups) {
			return
		}
		j.add(n, SeverityWarning, CodeOrder, "ANML-7.2.3-03", "$order does not fit the content, so it is ignored", "")
	}
	slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
	t := tail{of: n}
	j.text(&t, content, len(groups) == 0)
	for _, g := range groups {
		for c := g.first; c != nil; {
			next := c.next
			c.next = nil
			t.add(c)
			c = next
		}
	}
}

// ordered applies $order, or changes nothing and reports that it does not fit.
func (j *jsonReader) ordered(n *node, content string, order strictjson.Value, groups []group) bool {
	if order.Kind() != strictjson.Array {
		return false
	}
	left, used := content, make(map[string]int, len(groups))
	pieces := make([]string, 0, order.Len()) // texts in their order; elements are ""
	for item := range order.Elements() {
		if name, err := item.Text(); err == nil {
			used[name]++
			pieces = append(pieces, "")
			continue
		}
		count, err := item.Int()
		if err != nil || count < 1 {
			return false
		}
		end := 0
		for ; count > 0; count-- {
			if end == len(left) {
				return false
			}
			_, size := utf8.DecodeRuneInString(left[end:])
			end += size
		}
		pieces = append(pieces, left[:end])
		left = left[end:]
	}
	byKey := make(map[string]*group, len(groups))
	for i := range groups {
		g := &groups[i]
		byKey[g.key] = g
		for c := g.first; c != nil; c = c.next {
			used[g.key]--
		}
	}
	for _, balance := range used {
		if balance != 0 {
			return false
		}
	}
	if left != "" {
		return false
	}
	i, t := 0, tail{of: n}
	for item := range order.Elements() {
		if name, err := item.Text(); err == nil {
			g := byKey[name]
			c := g.first
			g.first, c.next = c.next, nil
			t.add(c)
		} else {
			j.text(&t, pieces[i], i == 0 && len(pieces) == 1)
		}
		i++
	}
	return true
}
