package lookleap

import (
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// value shows a value: in its line if it is short, else below.
func (v *view) value(value *ConsentValue) []ConsentLine {
	text := value.value()
	parts := []ConsentPart{ours("%s", value.Label)}
	if value.Name != "" {
		parts = append(parts, ours(" "), quoted(value.Name))
	}
	if value.Source != "" {
		parts = append(parts, ours(", written by "))
		parts = append(parts, partyParts(value.Source)...)
	}
	if value.Size > len(text) {
		parts = append(parts, ours(", %d bytes, %s, of which the first %d are shown; the plan holds the rest",
			value.Size, shortDigest(value.Digest), len(text)))
	}
	parts = append(parts, ours(": "))
	head, tail := text, ""
	if len(text) > MaxShown && !v.complete {
		head, tail = cutAt(text, MaxShown*3/4), text[len(cutAt(text, len(text)-MaxShown/4)):]
		parts = append(parts, ours("%d bytes, %s, shown in part; ", len(text), shortDigest(Digest([]byte(text)))))
	}
	if !strings.Contains(text, "\n") {
		parts = append(parts, quoted(head))
		if tail != "" {
			parts = append(parts, leftOut(text, head, tail), quoted(tail))
		}
		return []ConsentLine{{Indent: 1, Parts: parts}}
	}
	most := MaxShownLines
	if v.complete || value.Command {
		most = len(text) + 1
	}
	lines := append([]ConsentLine{{Indent: 1, Parts: parts}}, block(head, most)...)
	if tail != "" {
		lines = append(lines, ConsentLine{Indent: 2, Parts: []ConsentPart{leftOut(text, head, tail)}})
		lines = append(lines, block(tail, most)...)
	}
	return lines
}

func leftOut(text, head, tail string) ConsentPart {
	return ours(" ... %d bytes are left out here; the complete request shows them ... ", len(text)-len(head)-len(tail))
}

// block shows a text of several lines, at most a number of them: both ends of a longer one.
func block(text string, most int) (lines []ConsentLine) {
	rows := foldedRows(text)
	for i, row := range rows {
		if n := len(rows) - most; n > 0 && i >= most*3/4 && i < most*3/4+n {
			if i == most*3/4 {
				lines = append(lines, ConsentLine{Indent: 2, Parts: []ConsentPart{
					ours(" ... %d lines are left out here; the complete request shows them ... ", n)}})
			}
			continue
		}
		lines = append(lines, ConsentLine{Indent: 2, Parts: []ConsentPart{{Kind: PartQuote, Text: plaintext.IsolateRow(row.text)}}})
		if row.again > 0 {
			lines = append(lines, ConsentLine{Indent: 2, Parts: []ConsentPart{
				ours(" ... the same line again, %s ... ", plaintext.Plural(row.again, "time", "times"))}})
		}
	}
	return lines
}

// row is a line of a text, with the number of equal lines that follow it.
type row struct {
	text  string
	again int
}

// foldedRows returns the lines of a text as they are shown. Equal ones that follow each other are one.
func foldedRows(text string) (rows []row) {
	shown := plaintext.Block(text, 10*len(text))
	for line := range strings.SplitSeq(strings.TrimSuffix(shown, "\n"), "\n") {
		if n := len(rows); n > 0 && rows[n-1].text == line {
			rows[n-1].again++
			continue
		}
		rows = append(rows, row{text: line})
	}
	return rows
}

// cutAt returns the first n bytes of a text that is longer, or up to three fewer so that no
// character is cut.
func cutAt(text string, n int) string {
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return text[:i]
		}
	}
	return text[:n]
}

// shortDigest returns the beginning of a digest, enough to compare by eye.
func shortDigest(digest string) string {
	if hex, ok := strings.CutPrefix(digest, "sha256:"); ok && len(hex) == 64 {
		return "sha256:" + word(hex[:12]) + "\u2026"
	}
	return quote(digest, 80)
}
