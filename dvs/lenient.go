package dvs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/lookleap/lookleap"
)

// What Lenient does with a file that this draft refuses leaves a warning: no repair is silent.

// recode returns the text of a file with U+FFFD for what is not UTF-8, and a blank for each NUL.
func (p *skillParser) recode(data []byte) []byte {
	at := invalidText(data)
	if at < 0 {
		return data
	}
	f := notUTF8(at)
	f.message = "bytes that are not UTF-8 were read as U+FFFD, and NUL as a blank"
	p.add(lookleap.SeverityWarning, f)
	text := make([]byte, min(3*len(data), p.limits.Skill+1)) // one byte beyond the limit shows that it is too large
	n, _ := io.ReadFull(unicode.UTF8.NewDecoder().Reader(bytes.NewReader(data)), text)
	for i, c := range text[:n] {
		if c == 0 {
			text[i] = ' '
		}
	}
	return text[:n]
}

// repairHeader reads a header that this draft refuses for f: it looks for the fences
// where they are, and takes the values as the text that a person sees.
func (p *skillParser) repairHeader(header, body span, f *fault) (span, span, []Field) {
	if f.code == codeNoFrontmatter || f.code == codeUnterminated {
		var ok bool
		if header, body, ok = looseSplit(p.text); !ok {
			p.fatal(f)
			return header, body, nil
		}
	} else if cut, rest, ok := looseClose(p.text, header); ok {
		header, body = cut, rest
	}
	p.add(lookleap.SeverityWarning, f)
	if end, _ := lineAt(p.text, header.end); f.code != codeUnterminated && !isFence(end.of(p.text)) {
		p.add(lookleap.SeverityWarning, &fault{code: codeUnterminated, requirement: "DVS-4.3-01", at: header.end,
			message: "the metadata was taken to end here, without a closing --- line",
			fix:     "end the metadata with a line of exactly three hyphens"})
	}
	p.setText(withoutControls(p.text, header))
	if fields, again := p.strict(header); again == nil {
		return header, body, fields
	}
	return header, body, p.readLoose(header, f.at)
}

// withoutControls returns a text with blanks in place of the header's characters that YAML refuses or that
// end lines for some readers. Offsets stay.
func withoutControls(text []byte, header span) []byte {
	if checkCharacters(text, header) == nil {
		return text
	}
	text = bytes.Clone(text)
	for i := header.start; i < header.end; {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n', r == '\t', bytes.HasPrefix(text[i:], []byte("\r\n")):
		case r == '\r':
			text[i] = '\n'
		case isControl(r), r == '\u2028', r == '\u2029', r == '\ufeff', r == '\ufffe', r == '\uffff':
			copy(text[i:i+size], "    ")
		}
		i += size
	}
	return text
}

// readLoose takes each key at the beginning of a line, and what follows it up to the next one. What is YAML
// by itself is read as that, the rest as text, with a warning unless its place is known already. A header
// that is too large is text throughout.
func (p *skillParser) readLoose(header span, known int) []Field {
	var fields []Field
	passed := 0 // keys that were passed over
	for at := header.start; at < header.end; {
		chunk := span{at, nextKey(p.text, header, at)}
		at = chunk.end
		key, valueAt, ok := looseKey(p.text, chunk.start)
		if !ok {
			if line, _ := lineAt(p.text, chunk.start); len(bytes.TrimSpace(line.of(p.text))) > 0 && p.text[line.start] != '#' {
				p.add(lookleap.SeverityWarning, badFrontmatter(chunk.start, "the line belongs to no key and was skipped",
					"indent it below its key, or remove it"))
			}
			continue
		}
		if len(fields) >= maxLooseKeys && (!isNeeded(key) || len(fields) >= 2*maxLooseKeys) {
			passed++
			if passed == 1 {
				p.add(lookleap.SeverityWarning, badFrontmatter(chunk.start,
					fmt.Sprintf("only the first %d keys were read", maxLooseKeys), "write fewer keys"))
			}
			continue
		}
		position := p.position(chunk.start)
		if header.end-header.start <= maxFrontmatter {
			field, f := readFrontmatter(p.text, chunk, position.Line)
			if len(field) == 1 && !(field[0].Value.Kind == Null && hasText(p.text, valueAt, chunk.end)) {
				fields = append(fields, field[0])
				continue
			}
			if f == nil {
				f = badFrontmatter(valueAt, "YAML reads the value as nothing", "put the value between quotation marks")
			}
			if f.at != known {
				p.add(lookleap.SeverityWarning, f)
			}
		}
		if strings.EqualFold(key, "name") && hasText(p.text, valueAt, lineEnd(p.text, valueAt)) {
			chunk.end = lineEnd(p.text, valueAt) // what follows is not part of the name
		}
		value := Value{Kind: Text, Text: looseText(p.text[valueAt:chunk.end]), Position: p.position(valueAt)}
		if isNull(value.Text) {
			value.Kind = Null
		}
		fields = append(fields, Field{Key: key, Value: value, Position: position})
	}
	return fields
}

// maxLooseKeys bounds the memory for a header. The keys that a skill needs
// have as many places of their own.
const maxLooseKeys = 256

// isNeeded reports whether a key is one that every skill has, in any case.
func isNeeded(key string) bool {
	return strings.EqualFold(key, "name") || strings.EqualFold(key, "description")
}

// hasText reports whether there is a text between two offsets that YAML would not read as nothing.
func hasText(text []byte, from, to int) bool { return !isNull(string(bytes.TrimSpace(text[from:to]))) }

func lineEnd(text []byte, at int) int {
	line, _ := lineAt(text, at)
	return line.end
}

// nextKey returns the offset of the next line after at that begins with a key, or
// the end of the header.
func nextKey(text []byte, header span, at int) int {
	for at < header.end {
		_, at = lineAt(text, at)
		if _, _, ok := looseKey(text, at); ok {
			return at
		}
	}
	return header.end
}

// looseKey reads the key that begins at an offset, perhaps in quotes, and returns
// where its value begins. After the keys that this draft needs, no blank has to follow the colon.
func looseKey(text []byte, at int) (key string, valueAt int, ok bool) {
	line, _ := lineAt(text, at)
	rest := line.of(text)
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && n < maxName && (isWord(rest[n]) || n > 0 && (rest[n] == '-' || rest[n] == '.')) {
		n++
	}
	if n == 0 {
		return "", 0, false
	}
	key = string(rest[:n])
	rest = bytes.TrimLeft(rest[n:], "\"' \t")
	if !bytes.HasPrefix(rest, []byte(":")) || !isNeeded(key) && len(rest) > 1 && rest[1] != ' ' && rest[1] != '\t' {
		return "", 0, false
	}
	return key, line.end - len(rest) + 1, true
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// looseText reads a value as the text that a person sees: a block below "|" or
// ">", or words on one line or several, without the quotation marks around them.
func looseText(source []byte) string {
	line, next := lineAt(source, 0)
	first := bytes.TrimSpace(line.of(source))
	block := len(first) < 8 && isBlockSign(string(first))
	var b strings.Builder
	if !block {
		writeWords(&b, first)
	}
	for rest := bytes.TrimRight(source[next:], " \t\r\n"); len(rest) > 0; {
		line, next := lineAt(rest, 0)
		text := line.of(rest)
		rest = rest[next:]
		switch {
		case len(text) > 0 && text[0] == '#': // a comment between keys
		case block && first[0] == '|':
			b.Write(bytes.TrimSpace(text))
			b.WriteByte('\n')
		default:
			writeWords(&b, text)
		}
	}
	if block {
		return strings.TrimSpace(b.String())
	}
	return unquoted(b.String())
}

// writeWords adds the words of a line with one blank before each, where something stands before it.
func writeWords(b *strings.Builder, line []byte) {
	for word := range bytes.FieldsSeq(line) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(word)
	}
}

// isBlockSign reports whether a value begins a block scalar.
func isBlockSign(first string) bool {
	return first != "" && (first[0] == '|' || first[0] == '>') && strings.Trim(first[1:], "+-0123456789") == ""
}

// unquoted removes the quotation mark that a text begins with and the one that answers it, if any.
func unquoted(text string) string {
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return text
	}
	quote := text[:1]
	inner, closed := strings.CutSuffix(text[1:], quote)
	if !closed && strings.Contains(inner, quote) {
		return text // the first word or so is in quotes, not the value
	}
	if quote == "'" {
		return strings.ReplaceAll(inner, "''", "'")
	}
	return escapes.Replace(inner)
}

// escapes are those between double quotation marks that people use.
var escapes = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ", `\t`, " ")

// isLooseFence reports whether a line is meant as a fence: three or more hyphens, or the end of a
// YAML document.
func isLooseFence(line []byte) bool {
	text := bytes.TrimSpace(bytes.TrimLeft(line, byteOrderMark))
	return string(text) == "..." || len(text) >= 3 && len(bytes.Trim(text, "-")) == 0
}

// looseClose looks inside a header for a line that is meant as its end.
func looseClose(text []byte, header span) (cut, body span, ok bool) {
	for at := header.start; at < header.end; {
		line, next := lineAt(text, at)
		if content := line.of(text); len(content) > 0 && content[0] != ' ' && content[0] != '\t' && isLooseFence(content) {
			return span{header.start, line.start}, span{next, len(text)}, true
		}
		at = next
	}
	return span{}, span{}, false
}

// maxPreface is the number of lines before the header that are looked at.
const maxPreface = 100

// looseSplit finds a header that does not begin with the file, or is not closed: from a fence of any
// kind, or the first key, up to a fence, or to where text begins that is neither key nor below one.
// The header has both keys that a skill needs.
func looseSplit(text []byte) (header, body span, ok bool) {
	start, stop, name, description, blank := -1, -1, false, false, false
	for at, lines := 0, 0; at < len(text) && (lines < maxPreface || start >= 0); lines++ {
		line, next := lineAt(text, at)
		content := line.of(text)
		key, _, isKey := looseKey(text, line.start)
		both := name && description
		switch {
		case isLooseFence(content) && both:
			return span{start, line.start}, span{next, len(text)}, true
		case isLooseFence(content):
			start, name, description = next, false, false
		case isKey && start < 0:
			start = line.start
		case both && blank && bytes.HasPrefix(bytes.TrimLeft(content, "#"), []byte(" ")) && content[0] == '#':
			return span{start, line.start}, span{line.start, len(text)}, true
		case both && blank && stop < 0 && !isKey && len(content) > 0 && content[0] != ' ' && content[0] != '\t':
			stop = line.start
		}
		name = name || start >= 0 && strings.EqualFold(key, "name")
		description = description || start >= 0 && strings.EqualFold(key, "description")
		blank = len(bytes.TrimSpace(content)) == 0
		at = next
	}
	if !name || !description {
		return span{}, span{}, false
	}
	if stop < 0 {
		stop = len(text)
	}
	return span{start, stop}, span{stop, len(text)}, true
}
