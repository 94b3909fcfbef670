package anml

import (
	"math/bits"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// jsonScanner reads the octets of a JSON text that is known to be UTF-8. It says
// only that something is wrong, by failed: what is wrong is worked out by
// strictjson, which reads the text again, so that there is one judge. A scanner
// that failed stays where the text ends and finds nothing any more.
type jsonScanner struct {
	src    string
	at     int
	failed bool
	values int // how many more there may be
	depth  int // how many more arrays and objects there may be inside one another

	names   []jsonName // of the objects being read, innermost last
	judge   func() error
	unique  bool // the judge found no name twice
	scratch []byte
}

// jsonName is a member's name, to be told from the others.
type jsonName struct {
	key  uint64
	text string
}

// manyNames is how many names of one object are compared with one another.
// Beyond that strictjson looks at the whole text, once.
const manyNames = 48

// token is a string or a scalar as it stands in the text.
type token struct {
	kind     strictjson.Kind
	from, to int // without the quotes of a string
	escaped  bool
}

func (s *jsonScanner) fail() {
	s.failed = true
	s.at = len(s.src)
}

// next passes white space and gives the octet behind it, NUL at the end.
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

// enter passes the octet that opens an array or object, and reports whether
// anything is in it.
func (s *jsonScanner) enter(closing byte) bool {
	if s.depth--; s.depth < 0 {
		s.fail()
	}
	if s.at++; s.next() == closing {
		s.at++
		s.depth++
		return false
	}
	return !s.failed
}

// more passes a comma, or the octet that closes the array or object.
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

// kind tells what the value is that begins here.
func (s *jsonScanner) kind() strictjson.Kind {
	if s.values--; s.values < 0 {
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

// name passes a member's name and the colon, and holds it against those before
// it, which begin at mark. The key is that of the vocabulary.
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
	if text = s.text(t); t.escaped {
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
	if s.names = append(s.names, jsonName{k, text}); len(s.names)-mark > manyNames {
		if s.unique = s.judge() == nil; !s.unique {
			s.fail()
		}
	}
	return text, k
}

// string passes the string that begins here.
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

// text gives what a string means.
func (s *jsonScanner) text(t token) string {
	if !t.escaped {
		return s.src[t.from:t.to]
	}
	return string(s.unquote(t))
}

// unquote gives what a string with escapes means, until it is called again.
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
