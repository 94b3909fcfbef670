// Package textdiff finds the lines in which two texts differ, for people to judge. It reads text
// that attackers write: its time grows with n log n of the input, whatever the input is. So it does
// not always find the smallest difference, but it never leaves a difference out.
package textdiff

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Line is one line that only one of the texts has.
type Line struct {
	Added  bool // the line is in the new text; otherwise it is in the old one
	Number int  // in its text, from 1
	Text   string
	Pair   int // index of the line that it replaces or is replaced by; -1: none
}

// Lines returns the lines of old that are not in updated and the lines of updated that are not in
// old, in the order in which a unified difference shows them. A text ends with its last line, with
// or without a line feed: to add one there is no difference of lines.
func Lines(old, updated string) []Line {
	d := differ{a: split(old), b: split(updated), budget: maxCells}
	d.compare(0, len(d.a), 0, len(d.b), maxDepth)
	return d.lines
}

// split returns the lines of a text without their ends.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

const (
	maxDepth = 16      // of sections within sections between lines that both texts have once
	maxCells = 4 << 20 // comparisons for the exact difference of small sections, in all
)

type differ struct {
	a, b   []string
	lines  []Line
	budget int64
}

// compare adds the difference of two sections. It goes over equal lines at both ends, then over
// lines that both sections have exactly once, and compares what lies between them, to a depth.
func (d *differ) compare(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.replace(a0, a1, b0, b1)
		return
	}
	if cells := int64(a1-a0) * int64(b1-b0); cells <= d.budget { // of 64 bits: it overflows others
		d.budget -= cells
		d.exact(a0, a1, b0, b1)
		return
	}
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 || depth == 0 {
		d.replace(a0, a1, b0, b1)
		return
	}
	for _, at := range anchors {
		d.compare(a0, at.a, b0, at.b, depth-1)
		a0, b0 = at.a+1, at.b+1
	}
	d.compare(a0, a1, b0, b1, depth-1)
}

// replace adds a section of the old text as removed and one of the new text as added.
func (d *differ) replace(a0, a1, b0, b1 int) {
	first, pairs := len(d.lines), min(a1-a0, b1-b0)
	pair := func(i, other int) int {
		if i < pairs {
			return first + other + i
		}
		return -1
	}
	for i := range a1 - a0 {
		d.lines = append(d.lines, Line{false, a0 + i + 1, d.a[a0+i], pair(i, a1-a0)})
	}
	for i := range b1 - b0 {
		d.lines = append(d.lines, Line{true, b0 + i + 1, d.b[b0+i], pair(i, 0)})
	}
}

// exact adds the smallest difference of two small sections.
func (d *differ) exact(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	common := make([]int32, (n+1)*(m+1)) // length of the longest common sequence from there on
	at := func(i, j int) *int32 { return &common[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if d.a[a0+i] == d.b[b0+j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	i, j, fromA, fromB := 0, 0, 0, 0
	for i < n && j < m {
		switch {
		case d.a[a0+i] == d.b[b0+j]:
			d.replace(a0+fromA, a0+i, b0+fromB, b0+j)
			i, j = i+1, j+1
			fromA, fromB = i, j
		case *at(i+1, j) >= *at(i, j+1):
			i++
		default:
			j++
		}
	}
	d.replace(a0+fromA, a1, b0+fromB, b1)
}

type anchor struct{ a, b int }

// anchors returns lines that both sections have exactly once, the longest list that is in the same
// order in both.
func (d *differ) anchors(a0, a1, b0, b1 int) []anchor {
	type count struct{ inA, inB, at int }
	counts := make(map[string]count, a1-a0)
	for _, line := range d.a[a0:a1] {
		c := counts[line]
		c.inA++
		counts[line] = c
	}
	for j, line := range d.b[b0:b1] {
		if c, ok := counts[line]; ok {
			c.inB, c.at = c.inB+1, b0+j
			counts[line] = c
		}
	}
	var unique []anchor
	for i, line := range d.a[a0:a1] {
		if c := counts[line]; c.inA == 1 && c.inB == 1 {
			unique = append(unique, anchor{a0 + i, c.at})
		}
	}
	return increasing(unique)
}

// increasing returns the longest part of a list that increases in both texts.
func increasing(list []anchor) []anchor {
	var ends []int // ends[k] is the index of the smallest end of an increasing part of length k+1
	before := make([]int, len(list))
	for i, at := range list {
		k := sort.Search(len(ends), func(k int) bool { return list[ends[k]].b >= at.b })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	var found []anchor
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		found = append(found, list[i])
	}
	slices.Reverse(found)
	return found
}

// around is how much of equal text is kept on each side of a change within a line, in bytes.
const around = 40

// Shorten returns the part of a line that differs from another one, with some text around it, and
// at most limit bytes of it. It says how much it leaves out. No character is cut.
func Shorten(text, other string, limit int) string {
	if len(text) <= limit {
		return text
	}
	start, end := 0, len(text)
	for start < len(text) && start < len(other) && text[start] == other[start] {
		start++
	}
	for end > start && end-(len(text)-len(other)) > start && text[end-1] == other[end-(len(text)-len(other))-1] {
		end--
	}
	start, end = max(start-around, 0), min(end+around, len(text))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	end = min(end, start+limit)
	for end > start && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return leftOut(start, "", " ") + text[start:end] + leftOut(len(text)-end, " ", "")
}

func leftOut(n int, before, after string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s…(%d bytes)…%s", before, n, after)
}

// Edits returns how many bytes must be inserted, removed or replaced to make one word of another.
// Its time is the product of the lengths: both words must be short.
func Edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Nearest returns the known word that differs least from a word, without regard to letter case, and
// "" if none is similar. Words that differ in more than one letter begin with the same one.
func Nearest(word string, known []string) string {
	nearest, least := "", len(word)/2+1
	if len(word) > 60 {
		return ""
	}
	word = strings.ToLower(word)
	for _, k := range known {
		lower := strings.ToLower(k)
		if edits := Edits(word, lower); edits < least && (edits <= 1 || word[0] == lower[0]) {
			nearest, least = k, edits
		}
	}
	return nearest
}
