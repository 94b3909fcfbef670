package textdiff

import (
	"fmt"
	"unicode/utf8"
)

// around is how much of equal text is kept on each side of a change within a line, in bytes.
const around = 40

// Shorten returns the part of a line that differs from another one, with some text around it, and
// at most limit bytes of it. It says how much it leaves out. No character is cut.
func Shorten(text, other string, limit int) string {
	if len(text) <= limit {
		return text
	}
	start, end := 0, len(text)
	if other != "" {
		for start < len(text) && start < len(other) && text[start] == other[start] {
			start++
		}
		for end > start && end-(len(text)-len(other)) > start && text[end-1] == other[end-(len(text)-len(other))-1] {
			end--
		}
	}
	start, end = max(start-around, 0), min(end+around, len(text))
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
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
