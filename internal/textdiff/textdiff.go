// Package textdiff finds the lines in which two texts differ, for people to judge. It reads text
// that attackers write: its time and memory are bounded, whatever the input is. So it does not
// always find the smallest difference, but it never leaves a difference out.
package textdiff

import (
	"fmt"
	"slices"
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
func Lines(old, updated string) []Line { return compare(split(old), split(updated), maxSteps) }

// split returns the lines of a text without their ends.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

const (
	maxSteps = 16 << 20 // comparisons of lines
	maxEdits = 2000     // lines of a smallest difference; its memory is the square of them
)

// compare returns the difference of two lists of lines: the smallest one if it is found within a
// number of steps, and otherwise everything between what they have in common at both ends.
func compare(a, b []string, steps int) []Line {
	d := differ{a: a, b: b}
	ids := make(map[string]int32) // equal lines are compared once
	number := func(lines []string) []int32 {
		numbers := make([]int32, len(lines))
		for i, line := range lines {
			id, known := ids[line]
			if !known {
				id = int32(len(ids))
				ids[line] = id
			}
			numbers[i] = id
		}
		return numbers
	}
	x, y := number(a), number(b)
	start := 0
	for start < min(len(x), len(y)) && x[start] == y[start] {
		start++
	}
	x, y = x[start:], y[start:]
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	fromA, fromB := start, start
	for _, at := range common(x, y, steps) {
		d.replace(fromA, start+at.a, fromB, start+at.b)
		fromA, fromB = start+at.a+1, start+at.b+1
	}
	d.replace(fromA, start+len(x), fromB, start+len(y))
	return d.lines
}

// pair is a line that both texts have.
type pair struct{ a, b int }

// common returns the lines that a smallest difference leaves as they are, in order, by the
// algorithm of Myers ("An O(ND) Difference Algorithm", 1986). It returns none if that takes too many steps.
func common(x, y []int32, steps int) (same []pair) {
	n, m := len(x), len(y)
	most := min(n+m, maxEdits, steps/(n+m+1))
	reached := make([]int32, 2*most+3) // by diagonal: the line of x that so many edits reach
	at := func(k int) *int32 { return &reached[most+1+k] }
	var before [][]int32 // reached, for each number of edits
	for edits := 0; edits <= most; edits++ {
		before = append(before, slices.Clone(reached[most-edits:most+edits+3]))
		for k := -edits; k <= edits; k += 2 {
			i := int(*at(k - 1)) + 1
			if k == -edits || k != edits && *at(k - 1) < *at(k + 1) {
				i = int(*at(k + 1))
			}
			for i < n && i-k < m && x[i] == y[i-k] {
				i++
			}
			*at(k) = int32(i)
			if i >= n && i-k >= m {
				return retrace(before, n, m)
			}
		}
	}
	return nil
}

// retrace goes back from the end of both texts.
func retrace(before [][]int32, i, j int) (same []pair) {
	for edits := len(before) - 1; edits >= 0; edits-- {
		reached, k := before[edits], i-j
		at := func(k int) int { return int(reached[edits+1+k]) }
		fromI, fromK := at(k-1)+1, k-1
		if k == -edits || k != edits && at(k-1) < at(k+1) {
			fromI, fromK = at(k+1), k+1
		}
		for i > max(fromI, 0) && j > max(fromI-k, 0) {
			i, j = i-1, j-1
			same = append(same, pair{i, j})
		}
		if fromK < k {
			fromI--
		}
		i, j = fromI, fromI-fromK
	}
	slices.Reverse(same)
	return same
}

type differ struct {
	a, b  []string
	lines []Line
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
