package agent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// divided lists, for each of some texts that are sent together, the fields whose
// value only several pieces of them make, in whichever order: the end of one and the
// beginning of another, and pieces that are a part of a value by themselves.
func (c *carried) divided(texts []string) [][]string {
	found := make([][]string, len(texts))
	folded, parts, count := make([]string, len(texts)), make([][]string, len(texts)), 0
	for i, text := range texts {
		folded[i], parts[i] = spelled(text), pieces(text)
		count += len(parts[i])
	}
	if count < 2 {
		return found
	}
	for _, v := range c.values {
		if utf8.RuneCountInString(v.text) < rowLen {
			continue
		}
		covered, marked := make([]bool, len(v.text)), 0
		var holders []int
		for i := range texts {
			if strings.Contains(folded[i], v.text) {
				continue // found by itself
			}
			before := marked
			for _, piece := range parts[i] {
				if markParts(covered, v.text, piece) {
					marked++
				}
			}
			if marked > before {
				holders = append(holders, i)
			}
		}
		if marked < 2 || slices.Contains(covered, false) {
			continue
		}
		for _, i := range holders {
			if !slices.Contains(found[i], v.field) {
				found[i] = append(found[i], v.field)
			}
		}
	}
	return found
}

// pieces are the parts of a text, folded, that may be parts of a value each: all of
// it, what stands between the separators of lists and structures, and words with a
// digit, in any encoding. The more there are, the longer each has to be, since many
// short ones make any value.
func pieces(text string) (list []string) {
	for _, reading := range readings(text) {
		list = append(list, spelled(reading))
		for part := range strings.FieldsFuncSeq(reading, func(r rune) bool { return strings.ContainsRune("=:;&?,{}[]()<>|\"'/\t\r\n", r) }) {
			list = append(list, spelled(part))
			for word := range strings.FieldsSeq(part) {
				if strings.ContainsFunc(word, unicode.IsDigit) {
					list = append(list, spelled(word))
				}
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	least := partLen
	for limit := fewPieces; len(list) > limit && least < rowLen; limit *= 2 {
		least++
	}
	return slices.DeleteFunc(list, func(piece string) bool { return len(piece) < least })
}

// fewPieces is how many pieces of a text may be as short as partLen.
const fewPieces = 12

// partLen is how many octets of a folded value a text holds at least that is a part
// of a divided one: single characters are in every text.
const partLen = 2

// markParts marks what of a value a text holds: all places of the text in it, the longest
// beginning of it that the text ends with, and the longest end that it begins with.
func markParts(covered []bool, value, text string) (some bool) {
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			covered[i] = true
		}
		some = true
	}
	if len(text) < partLen {
		return false
	}
	for from := 0; from+len(text) <= len(value); from++ {
		if value[from:from+len(text)] == text {
			mark(from, from+len(text))
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasSuffix(text, value[:n]) {
			mark(0, n)
			break
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasPrefix(text, value[len(value)-n:]) {
			mark(len(value)-n, len(value))
			break
		}
	}
	return some
}
