package dvs

import (
	"bytes"
	"strings"
	"unicode"
)

// Where Lenient finds the fences of a header that is not closed, or does not begin
// with the file (section 4.3).

// isLooseFence reports whether a line is meant as a fence: three or more
// hyphens, or what programs make of them, or the end of a YAML document.
func isLooseFence(line []byte) bool {
	text := bytes.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	if string(text) == "..." || string(text) == "+++" {
		return true
	}
	rest := bytes.TrimLeft(text, "-–—")
	return len(rest) == 0 && len(text) >= 3
}

// looseClose looks inside a header for a line that is meant as its end.
func looseClose(text []byte, header span) (cut, body span, ok bool) {
	previous := 0
	for at := header.start; at < header.end; {
		line, next := lineAt(text, at)
		content := line.of(text)
		indent := len(content) - len(bytes.TrimLeft(content, " \t"))
		switch {
		case indent == len(content):
		case isLooseFence(content) && (indent == 0 || previous < indent):
			return span{header.start, line.start}, span{next, len(text)}, true
		default:
			previous = indent
		}
		at = next
	}
	return span{}, span{}, false
}

// maxPreface is the number of lines before the header that are looked at.
const maxPreface = 100

// looseSplit finds a header that does not begin with the file, or is not closed:
// between fences of any kind, or from the first key on.
func looseSplit(text []byte) (header, body span, ok bool) {
	inComment, keyAt := false, -1
	for at, lines := 0, 0; at < len(text) && lines < maxPreface; lines++ {
		line, next := lineAt(text, at)
		content := bytes.TrimLeft(line.of(text), byteOrderMark)
		switch trimmed := bytes.TrimSpace(content); {
		case isLooseFence(content):
			if header, body, ok := looseEnd(text, next); ok {
				return header, body, true
			}
		case inComment, bytes.HasPrefix(trimmed, []byte("<!--")):
			inComment = !bytes.Contains(trimmed, []byte("-->"))
		case keyAt < 0:
			if _, _, ok := looseKey(text, line.end-len(content)); ok {
				keyAt = line.end - len(content)
			}
		}
		at = next
	}
	if keyAt < 0 {
		return span{}, span{}, false
	}
	return looseEnd(text, keyAt)
}

// looseEnd finds the end of a header that begins at an offset, and whether it
// has the two keys that a skill needs: at a fence, or where text begins that is
// neither key nor below one.
func looseEnd(text []byte, start int) (header, body span, ok bool) {
	name, description := false, false
	blank, stop := false, -1
	for at := start; at < len(text); {
		line, next := lineAt(text, at)
		content := line.of(text)
		key, _, isKey := looseKey(text, line.end-len(bytes.TrimLeft(content, " \t-*")))
		name = name || isKey && strings.EqualFold(key, "name")
		description = description || isKey && strings.EqualFold(key, "description")
		both := name && description
		heading := len(content) > 1 && content[0] == '#' && bytes.HasPrefix(bytes.TrimLeft(content, "#"), []byte(" "))
		switch {
		case isLooseFence(content) || bytes.HasPrefix(content, []byte("```")):
			if !both {
				return span{}, span{}, false
			}
			return span{start, line.start}, span{next, len(text)}, true
		case both && blank && heading:
			if stop < 0 {
				stop = line.start
			}
			return span{start, stop}, span{stop, len(text)}, true
		case both && blank && stop < 0 && !isKey && len(content) > 0 && content[0] != ' ' && content[0] != '\t':
			stop = line.start
		}
		blank = len(bytes.TrimSpace(content)) == 0
		at = next
	}
	if stop < 0 {
		stop = len(text)
	}
	return span{start, stop}, span{stop, len(text)}, name && description
}
