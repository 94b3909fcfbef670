package dvs

import "bytes"

// span is a part of a text, by offsets.
type span struct{ start, end int }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

const byteOrderMark = "\ufeff"

// split finds the header between its fences and the body after them, by the
// rule of this draft: the first line is a fence, and the next line that is one
// ends the header wherever it stands. A fence is exactly three hyphens in the
// first column, and blanks after them.
func split(text []byte) (header, body span, f *fault) {
	start := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		start = len(byteOrderMark)
	}
	first, next := lineAt(text, start)
	if !isFence(first.of(text)) {
		return span{}, span{}, missingFence(text, first)
	}
	header.start = next
	for at := next; at < len(text); {
		found := bytes.Index(text[at:], []byte("---"))
		if found < 0 {
			break
		}
		at += found
		line, after := lineAt(text, at)
		if text[at-1] == '\n' && isFence(line.of(text)) {
			header.end = at
			return header, span{after, len(text)}, nil
		}
		at = max(line.end, at+1)
	}
	return header, span{}, &fault{
		code: codeUnterminated, requirement: "DVS-4.3-01", at: first.start, short: true,
		message: "the --- line that opens the metadata is never answered by one that closes it",
		fix:     "end the metadata with a line of exactly three hyphens",
	}
}

func missingFence(text []byte, first span) *fault {
	f := &fault{code: codeNoFrontmatter, requirement: "DVS-4.3-01", at: first.start,
		message: "the first line is no line of exactly three hyphens", fix: "begin the file with a --- line"}
	line := bytes.TrimSpace(first.of(text))
	switch {
	case len(line) == 0:
		f.message, f.fix = "the file begins with a blank line", "remove what stands before the first --- line"
	case isFence(line):
		f.message, f.fix = "blanks stand before the first --- line", "write the --- in the first column"
	case len(bytes.Trim(line, "-")) == 0 && len(line) > 1:
		f.message, f.fix = "the first line has another number of hyphens than three", "write exactly three hyphens"
	}
	return f
}

// isFence reports whether a line, without its end, is a fence.
func isFence(line []byte) bool {
	return len(line) >= 3 && line[0] == '-' && line[1] == '-' && line[2] == '-' && len(bytes.Trim(line[3:], " \t")) == 0
}

// lineAt gives the line that begins at an offset, without the LF or CR LF that
// ends it, and where the next one begins.
func lineAt(text []byte, at int) (line span, next int) {
	n := bytes.IndexByte(text[at:], '\n')
	if n < 0 {
		return span{at, len(text)}, len(text)
	}
	end := at + n
	if end > at && text[end-1] == '\r' {
		end--
	}
	return span{at, end}, at + n + 1
}
