package dvs

import (
	"bytes"

	"github.com/lookleap/lookleap"
)

// maxPlainKeys keeps the search for duplicates short; headers with more keys go
// to the YAML parser.
const maxPlainKeys = 24

// readPlain reads the header that most skills have: keys with one-line values,
// and below a key perhaps one level more of them. It gives exactly what readYAML
// gives, or ok is false and nothing was decided. So it knows only what is beyond
// doubt: no comment, no flow collection, no escape, no value of several lines.
// The characters of the header were checked before (checkCharacters).
func readPlain(header []byte, origin origin) (fields []Field, ok bool) {
	r := plainReader{text: header, origin: origin}
	fields = make([]Field, 0, 8)
	for r.next() {
		if r.indent > 0 {
			return nil, false
		}
		field, ok := r.field()
		if !ok || len(fields) == maxPlainKeys || has(fields, field.Key) {
			return nil, false
		}
		fields = append(fields, field)
	}
	return fields, !r.failed && len(fields) > 0
}

func has(fields []Field, key string) bool {
	for i := range fields {
		if fields[i].Key == key {
			return true
		}
	}
	return false
}

// plainReader steps through the lines of a header, one of which is current.
type plainReader struct {
	text   []byte
	origin origin

	start, end int // of the current line
	after      int // where the next line begins
	number     int // lines before the current one
	indent     int // blanks that it begins with
	failed     bool
}

// next makes the next line current that is not blank.
func (r *plainReader) next() bool {
	for r.after < len(r.text) {
		r.start = r.after
		n := bytes.IndexByte(r.text[r.start:], '\n')
		if n < 0 { // a header's last line always has an end
			r.failed = true
			return false
		}
		r.end = r.start + n
		r.after = r.end + 1
		r.number++
		if r.end > r.start && r.text[r.end-1] == '\r' {
			r.end--
		}
		r.indent = 0
		for r.start+r.indent < r.end && r.text[r.start+r.indent] == ' ' {
			r.indent++
		}
		if r.start+r.indent < r.end {
			return true
		}
	}
	return false
}

// peekIndent gives the indentation of the next line that is not blank, and its
// first octet; 0 and 0 if there is none.
func (r *plainReader) peekIndent() (indent int, first byte) {
	ahead := *r
	if !ahead.next() {
		return 0, 0
	}
	return ahead.indent, ahead.text[ahead.start+ahead.indent]
}

func (r *plainReader) position(at int) lookleap.Position {
	return lookleap.Position{Line: r.origin.Line + r.number - 1, Column: at - r.start + 1, Offset: r.origin.Offset + at}
}

// field reads the field of the current line, and the lines below it that are
// its value.
func (r *plainReader) field() (f Field, ok bool) {
	at := r.start + r.indent
	colon := plainKey(r.text[at:r.end])
	f.Key = string(r.text[at : at+colon])
	if isNull(f.Key) {
		return Field{}, false
	}
	f.Position = r.position(at)
	value := at + colon + 1
	for value < r.end && r.text[value] == ' ' {
		value++
	}
	indent, top := r.indent, r.indent == 0
	deeper, first := r.peekIndent()
	switch {
	case value < r.end:
		if deeper > indent {
			return Field{}, false
		}
		f.Value, ok = r.scalar(value)
		return f, ok
	case deeper == indent && first == '-':
		return Field{}, false
	case deeper <= indent:
		f.Value.Position = f.Position
		return f, true
	case !top:
		return Field{}, false
	}
	f.Value, ok = r.nested(deeper)
	return f, ok
}

// nested reads the block of fields or items below a key.
func (r *plainReader) nested(indent int) (v Value, ok bool) {
	for deeper := indent; deeper == indent; deeper, _ = r.peekIndent() {
		r.next()
		at := r.start + indent
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
		if !ok || v.Kind == List || len(v.Fields) == maxPlainKeys || has(v.Fields, field.Key) {
			return Value{}, false
		}
		v.Kind, v.Fields = Map, append(v.Fields, field)
	}
	deeper, _ := r.peekIndent()
	return v, deeper == 0
}

// item reads a one-line text after "- ".
func (r *plainReader) item(at int) (v Value, ok bool) {
	if at+1 >= r.end || r.text[at+1] != ' ' {
		return Value{}, false
	}
	at += 2
	for at < r.end && r.text[at] == ' ' {
		at++
	}
	if deeper, _ := r.peekIndent(); at == r.end || deeper > r.indent {
		return Value{}, false
	}
	return r.scalar(at)
}

// scalar reads a one-line scalar that takes the rest of the current line.
func (r *plainReader) scalar(at int) (v Value, ok bool) {
	v.Position = r.position(at)
	source := bytes.TrimRight(r.text[at:r.end], " ")
	if quote := source[0]; quote == '"' || quote == '\'' {
		last := len(source) - 1
		if last == 0 || source[last] != quote || bytes.IndexByte(source[1:last], quote) >= 0 || bytes.IndexByte(source[1:last], '\\') >= 0 {
			return Value{}, false
		}
		v.Kind, v.Text = Text, string(source[1:last])
		return v, bytes.IndexByte(source, '\t') < 0
	}
	if !isPlainScalar(source) {
		return Value{}, false
	}
	v.Text = string(source)
	if !isNull(v.Text) {
		v.Kind = Text
	}
	return v, true
}

// isPlainScalar reports whether a text that is not empty is beyond doubt one
// plain scalar in block context.
func isPlainScalar(source []byte) bool {
	if plainStart[source[0]] == 0 {
		return false
	}
	for i, c := range source {
		switch c {
		case ':':
			if i+1 == len(source) || source[i+1] == ' ' {
				return false
			}
		case '#':
			if source[i-1] == ' ' {
				return false
			}
		case '\t':
			return false
		}
	}
	return true
}

// plainKey gives the length of the key that a line begins with, 0 if it begins
// with none: letters, digits, "-", "_" and "." before ": " or a final ":".
func plainKey(line []byte) int {
	for i, c := range line {
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

// plainStart says what an octet may begin: nothing that YAML could read as an
// indicator.
var plainStart = func() (table [256]byte) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
			table[c] = plainWord
		case c >= 0x80, bytes.IndexByte([]byte("$()+./;\\^~"), byte(c)) >= 0:
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
