package dvs

import (
	"strings"

	"github.com/lookleap/lookleap"
)

// maxPlainKeys keeps the search for duplicates short; headers with more keys go
// to the YAML parser.
const maxPlainKeys = 24

// readPlain reads the header that most skills have: keys with one-line values,
// and below a key perhaps one level more of them. It returns exactly what readYAML
// returns, or ok is false and nothing was decided. So it knows only what is beyond
// doubt: no comment, no flow collection, no escape, no value of several lines.
// The characters of the header were checked before (checkCharacters).
func readPlain(header string, origin origin) (fields []Field, ok bool) {
	r := plainReader{text: header, origin: origin}
	r.next()
	fields = make([]Field, 0, 6)
	for r.next() {
		if r.line.indent > 0 {
			return nil, false
		}
		field, ok := r.field()
		if !ok || len(fields) == maxPlainKeys || find(fields, field.Key) != nil {
			return nil, false
		}
		fields = append(fields, field)
	}
	return fields, !r.failed && len(fields) > 0
}

// plainReader steps through the lines of a header that are not blank. Values are
// parts of the header's string.
type plainReader struct {
	text   string
	origin origin

	line, ahead plainLine // the current line, and the one after it
	after       int       // where the line behind that begins
	number      int       // lines before it
	failed      bool
}

// plainLine is a line by offsets; the zero plainLine means that there is no line.
type plainLine struct {
	start, end int
	number     int // from 1
	indent     int // blanks that it begins with
}

// next makes the next line current.
func (r *plainReader) next() bool {
	r.line, r.ahead = r.ahead, plainLine{}
	for r.after < len(r.text) {
		start := r.after
		n := strings.IndexByte(r.text[start:], '\n')
		if n < 0 { // a header's last line always has an end
			r.failed = true
			break
		}
		end := start + n
		r.after = end + 1
		r.number++
		if end > start && r.text[end-1] == '\r' {
			end--
		}
		indent := 0
		for r.text[start+indent] == ' ' { // ends at the end of the line
			indent++
		}
		if start+indent < end {
			r.ahead = plainLine{start, end, r.number, indent}
			break
		}
	}
	return r.line.number > 0
}

func (r *plainReader) position(at int) lookleap.Position {
	return lookleap.Position{Line: r.origin.Line + r.line.number - 1, Column: at - r.line.start + 1, Offset: r.origin.Offset + at}
}

// field reads the field of the current line, and the lines below it that are
// its value.
func (r *plainReader) field() (f Field, ok bool) {
	at := r.line.start + r.line.indent
	colon := plainKey(r.text[at:r.line.end])
	f.Key = r.text[at : at+colon]
	if isNull(f.Key) {
		return Field{}, false
	}
	f.Position = r.position(at)
	value := at + colon + 1
	for r.text[value] == ' ' {
		value++
	}
	switch {
	case value < r.line.end:
		f.Value, ok = r.scalar(value)
		return f, ok
	case r.ahead.indent <= r.line.indent:
		f.Value.Position = f.Position
		return f, true
	case r.line.indent > 0:
		return Field{}, false
	}
	f.Value, ok = r.nested(r.ahead.indent)
	return f, ok
}

// nested reads the block of fields or items below a key.
func (r *plainReader) nested(indent int) (v Value, ok bool) {
	for r.ahead.indent == indent {
		r.next()
		at := r.line.start + indent
		if v.Kind == Null {
			v.Position = r.position(at)
		}
		if r.text[at] == '-' {
			item, ok := r.item(at)
			if !ok || v.Kind == Map {
				return Value{}, false
			}
			v.Kind, v.Items = List, append(v.Items, item)
			continue
		}
		field, ok := r.field()
		if !ok || v.Kind == List || len(v.Fields) == maxPlainKeys || find(v.Fields, field.Key) != nil {
			return Value{}, false
		}
		v.Kind, v.Fields = Map, append(v.Fields, field)
	}
	return v, r.ahead.indent == 0
}

// item reads a one-line text after "- ".
func (r *plainReader) item(at int) (v Value, ok bool) {
	if r.text[at+1] != ' ' {
		return Value{}, false
	}
	at += 2
	for r.text[at] == ' ' {
		at++
	}
	if at == r.line.end {
		return Value{}, false
	}
	return r.scalar(at)
}

// scalar reads a one-line scalar that takes the rest of the current line.
func (r *plainReader) scalar(at int) (v Value, ok bool) {
	v.Position = r.position(at)
	source := strings.TrimRight(r.text[at:r.line.end], " ")
	if quote := source[0]; quote == '"' || quote == '\'' {
		last := len(source) - 1
		if last == 0 || source[last] != quote || strings.IndexByte(source[1:last], quote) >= 0 ||
			strings.IndexByte(source[1:last], '\\') >= 0 {
			return Value{}, false
		}
		v.Kind, v.Text = Text, source[1:last]
		return v, strings.IndexByte(source, '\t') < 0
	}
	if plainStart[source[0]] == 0 {
		return Value{}, false
	}
	for i := range len(source) { // what could end a plain scalar in block context is left to YAML
		switch source[i] {
		case ':':
			if i+1 == len(source) || source[i+1] == ' ' {
				return Value{}, false
			}
		case '#':
			if source[i-1] == ' ' {
				return Value{}, false
			}
		case '\t':
			return Value{}, false
		}
	}
	v.Text = source
	if !isNull(v.Text) {
		v.Kind = Text
	}
	return v, true
}

// plainKey returns the length of the key that a line begins with, or 0: letters, digits, "-", "_"
// and "." before ": " or a final ":".
func plainKey(line string) int {
	for i := range len(line) {
		c := line[i]
		if c == ':' {
			if i+1 == len(line) || line[i+1] == ' ' {
				return i
			}
			return 0
		}
		if plainStart[c] != plainWord && (i == 0 || c != '-' && c != '.') || i == 64 {
			return 0
		}
	}
	return 0
}

const (
	plainOther = 1 // may begin a plain scalar
	plainWord  = 2 // may begin a key too
)

// plainStart says what a byte may begin: nothing that YAML could read as an
// indicator.
var plainStart = func() (table [256]byte) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
			table[c] = plainWord
		case c >= 0x80, strings.IndexByte("$()+./;\\^~", byte(c)) >= 0:
			table[c] = plainOther
		}
	}
	return table
}()

// isNull reports whether YAML reads a plain scalar as nothing.
func isNull(text string) bool {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}
