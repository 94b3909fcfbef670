package anml

import (
	"math/bits"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// jsonScanner reads a JSON text that is valid UTF-8. It only reports by failed that there is an
// error. Then strictjson parses the text again to say what is wrong, so that only one parser
// decides. A scanner that failed is at the end of the text and finds nothing more.
type jsonScanner struct {
	src    string
	at     int
	failed bool
	values int // how many more values are allowed
	depth  int // how many more levels of nesting are allowed

	names   []jsonName   // members of the open objects, innermost last
	judge   func() error // returns the error of strictjson for the whole text
	unique  bool         // judge returned no error, so no name appears twice
	scratch []byte
}

// jsonName is a member's name with its key in the vocabulary, for finding duplicates.
type jsonName struct {
	key  uint64
	text string
}

// manyNames is the number of names in one object up to which they are compared with one another.
// Above it, strictjson parses the whole text once.
const manyNames = 48

// token is a string or a scalar as it is written.
type token struct {
	kind     strictjson.Kind
	from, to int // without the quotes of a string
	escaped  bool
}

func (s *jsonScanner) fail() {
	s.failed = true
	s.at = len(s.src)
}

// next skips white space and returns the byte after it, NUL at the end.
func (s *jsonScanner) next() byte {
	for s.at < len(s.src) {
		c := s.src[s.at]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			break
		}
		s.at++
	}
	return 0
}

// enter passes the byte that opens an array or object, and reports whether it has elements.
func (s *jsonScanner) enter(closing byte) bool {
	s.depth--
	if s.depth < 0 {
		s.fail()
	}
	s.at++
	if s.next() == closing {
		s.at++
		s.depth++
		return false
	}
	return !s.failed
}

// more passes a comma, or the byte that closes the array or object. It reports whether another
// element follows.
func (s *jsonScanner) more(closing byte) bool {
	switch c := s.next(); c {
	case ',':
		s.at++
		return true
	case closing:
		s.at++
		s.depth++
	default:
		s.fail()
	}
	return false
}

// kind returns the kind of the value that begins here.
func (s *jsonScanner) kind() strictjson.Kind {
	s.values--
	if s.values < 0 {
		s.fail()
	}
	switch c := s.next(); c {
	case '"':
		return strictjson.String
	case '{':
		return strictjson.Object
	case '[':
		return strictjson.Array
	case 't', 'f':
		return strictjson.Bool
	case 'n':
		return strictjson.Null
	case 0:
		s.fail()
		return strictjson.None
	}
	return strictjson.Number
}

// name passes a member's name and the colon. It fails if the name is among the earlier names of
// the object, s.names[mark:]. It returns the name and its key in the vocabulary.
func (s *jsonScanner) name(mark int) (text string, k uint64) {
	if s.next() != '"' {
		s.fail()
		return "", 0
	}
	t := s.string()
	if s.next() != ':' {
		s.fail()
		return "", 0
	}
	s.at++
	text = s.text(t)
	if t.escaped {
		k = key(text)
	} else {
		k = keyAt(s.src, t.from, t.to)
	}
	if s.unique {
		return text, k
	}
	for _, earlier := range s.names[mark:] {
		if earlier.key == k && earlier.text == text {
			s.fail()
			return "", 0
		}
	}
	s.names = append(s.names, jsonName{k, text})
	if len(s.names)-mark > manyNames {
		s.unique = s.judge() == nil
		if !s.unique {
			s.fail()
		}
	}
	return text, k
}

// string passes the string that begins here, eight bytes at a time.
func (s *jsonScanner) string() token {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	src := s.src
	t := token{kind: strictjson.String, from: s.at + 1}
	i := t.from
	for {
		for i+8 <= len(src) {
			w := key(src[i:])
			quote, backslash := w^ones*'"', w^ones*'\\'
			if stop := ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & high; stop != 0 {
				i += bits.TrailingZeros64(stop) / 8
				break
			}
			i += 8
		}
		for i < len(src) && src[i] >= ' ' && src[i] != '"' && src[i] != '\\' {
			i++
		}
		if i >= len(src) || src[i] < ' ' {
			s.fail()
			return token{}
		}
		if src[i] == '"' {
			t.to = i
			s.at = i + 1
			return t
		}
		t.escaped = true
		i += 2
	}
}

// text returns the decoded text of a string.
func (s *jsonScanner) text(t token) string {
	if !t.escaped {
		return s.src[t.from:t.to]
	}
	return string(s.unquote(t))
}

// unquote returns the decoded text of a string with escapes. The next call overwrites it.
func (s *jsonScanner) unquote(t token) []byte {
	out, err := jsontext.AppendUnquote(s.scratch[:0], s.src[t.from-1:t.to+1])
	if err != nil {
		s.fail()
		return nil
	}
	s.scratch = out
	return out
}

// scalar passes a number or a literal.
func (s *jsonScanner) scalar(kind strictjson.Kind) token {
	t := token{kind: kind, from: s.at, to: s.at}
	for t.to < len(s.src) && !strings.ContainsRune(" \t\r\n,]}", rune(s.src[t.to])) {
		t.to++
	}
	s.at = t.to
	switch text := s.src[t.from:t.to]; kind {
	case strictjson.Bool:
		s.failed = s.failed || text != "true" && text != "false"
	case strictjson.Null:
		s.failed = s.failed || text != "null"
	case strictjson.Number:
		s.failed = s.failed || !isJSONNumber(text)
	default:
		s.failed = true
	}
	if s.failed {
		s.fail()
	}
	return t
}
