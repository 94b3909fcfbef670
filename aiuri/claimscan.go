package aiuri

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// claimMembers calls claim with the members of a JSON object that are named like
// claims. It reports whether every reader sees the same members: where they and
// what they hold begin and end. What they hold is not judged beyond that, since
// results are large and claims few.
func claimMembers(payload []byte, claim func(name string, value []byte) bool) bool {
	if !utf8.Valid(payload) { // of half a character some readers make one with the quotation mark after it
		return false
	}
	r := objectReader{payload, 0}
	if r.next() != '{' {
		return false
	}
	r.at++
	if r.next() == '}' {
		return r.ends()
	}
	for {
		name, ok := r.text()
		if !ok || r.next() != ':' {
			return false
		}
		r.at++
		value, ok := r.value()
		if !ok {
			return false
		}
		switch known, ok := claimName(name); {
		case !ok, known != "" && !claim(known, value):
			return false
		}
		switch r.next() {
		case ',':
			r.at++
		case '}':
			return r.ends()
		default:
			return false
		}
	}
}

// objectReader reads the members of one object.
type objectReader struct {
	payload []byte
	at      int
}

// next passes over white space and gives the octet after it; 0: there is none.
func (r *objectReader) next() byte {
	for ; r.at < len(r.payload); r.at++ {
		switch c := r.payload[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// ends reports whether the bracket here is the last thing in the payload.
func (r *objectReader) ends() bool {
	r.at++
	return r.next() == 0 && r.at == len(r.payload)
}

// text gives a string as it is written.
func (r *objectReader) text() ([]byte, bool) {
	if r.next() != '"' {
		return nil, false
	}
	from := r.at
	for r.at++; ; r.at += 2 {
		r.at += plainText(r.payload[min(r.at, len(r.payload)):])
		switch {
		case r.at >= len(r.payload) || r.payload[r.at] < ' ':
			return nil, false
		case r.payload[r.at] == '"':
			r.at++
			return r.payload[from:r.at], true
		} // a backslash, and what it escapes
	}
}

// value gives a value as it is written.
func (r *objectReader) value() ([]byte, bool) {
	c, from := r.next(), r.at
	switch c {
	case '"':
		return r.text()
	case '{', '[':
		n, ok := containerLen(r.payload[r.at:])
		r.at += n
		return r.payload[from:r.at], ok
	}
	for r.at < len(r.payload) && (class[r.payload[r.at]]&inHost != 0 || r.payload[r.at] == '+') {
		r.at++
	}
	return r.payload[from:r.at], r.at > from
}

// claimName gives the claim that a member's name is, escapes undone, or "". It
// fails on an escape that is none.
func claimName(quoted []byte) (name string, ok bool) {
	if len(quoted) > len(`"\u0073\u0063\u006f\u0070\u0065"`) {
		return "", true
	}
	text := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		var err error
		if text, err = jsontext.AppendUnquote(make([]byte, 0, 40), quoted); err != nil {
			return "", false
		}
	}
	for _, known := range claimNames {
		if string(text) == known {
			return known, true
		}
	}
	return "", true
}

// seemsToClaim reports whether a text that is no strict JSON could make claims to
// readers that are less strict, even those who need no quotation marks.
func seemsToClaim(payload []byte) bool {
	if bytes.Contains(payload, []byte(`\u00`)) {
		return true // a name may be written in escapes
	}
	for _, name := range claimNames {
		for rest, found := payload, true; found; {
			if _, rest, found = bytes.Cut(rest, []byte(name)); found {
				after := bytes.TrimLeft(rest, " \t\r\n")
				if len(after) > 0 && strings.IndexByte(`"':/#`, after[0]) >= 0 { // the name's end, its colon, or a comment before that
					return true
				}
			}
		}
	}
	return false
}
