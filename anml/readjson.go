package anml

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/strictjson"
)

const (
	rawDepth         = 2 // arrays and objects inside one another for every level of elements
	valuesPerElement = 2 // JSON values for every element
)

// ParseJSON reads the JSON serialization (section 7). What is not RFC 8259 in
// UTF-8, or holds a name twice or a character that XML cannot hold, is refused
// as a whole. The tree that it builds is the one that ParseXML builds from the
// same document.
func ParseJSON(data []byte, o ReadOptions) (*Document, error) {
	r := newReader(JSON, o)
	j := &jsonReader{reader: r}
	v, err := strictjson.Parse(data, strictjson.Limits{Size: r.limits.Bytes, Depth: rawDepth * r.limits.Depth,
		Values: valuesPerElement * r.limits.Elements, SkipBOM: true})
	if err != nil {
		return nil, j.syntax(err)
	}
	r.src = string(data[:v.Offset()]) + v.Source()
	if strings.HasPrefix(r.src, "\uFEFF") {
		r.add(nil, SeverityWarning, CodeBOM, "ANML-7.1-03", "the document begins with a byte order mark", "remove it")
	}
	root, err := j.root(v)
	if err != nil {
		return nil, err
	}
	if c := strings.ToLower(o.Charset); c != "" && c != "utf-8" {
		r.add(nil, SeverityWarning, CodeEncodingClash, "ANML-7.1-01", "the charset "+quoted(o.Charset)+" is ignored: JSON is UTF-8", "send no charset")
	}
	return r.finish(root)
}

type jsonReader struct {
	*reader
	groups []group // of the objects being read, innermost last
	err    error
}

func (j *jsonReader) root(v strictjson.Value) (*node, error) {
	if v.Kind() != strictjson.Object {
		return nil, j.refuse(ErrNotWellFormed, CodeWrongShape, nil, v.Offset(), "the document is no JSON object", "")
	}
	_, hasVersion := v.Member("anml")
	if _, alias := v.Member("version"); !hasVersion && !alias {
		return nil, j.refuse(ErrNotANML, CodeNotANML, nil, v.Offset(), "the object has no key anml", `begin with "anml": "1.0"`)
	}
	j.elements++
	n := j.node()
	n.kind, n.offset = kAnml, int32(v.Offset())
	j.object(n, v, 1)
	if j.err != nil {
		return nil, j.err
	}
	return n, nil
}

// object reads the members of an object into a node at a depth.
func (j *jsonReader) object(n *node, v strictjson.Value, depth int) {
	mark := len(j.groups)
	content, order := "", strictjson.Value{}
	count := v.Len()
	if count > 0 {
		n.attrs = j.room(count)[:0]
	}
	for key, value := range v.Members() {
		if j.err != nil {
			return
		}
		switch {
		case key == "content":
			content = j.content(n, value)
		case key == orderKey:
			order = value
		case j.attribute(n, key, value):
		default:
			j.children(n, key, value, depth)
		}
	}
	if len(n.attrs) > j.limits.Attrs {
		j.fail(j.over(n, -1, "attributes on one element", j.limits.Attrs))
	}
	if j.err != nil {
		return
	}
	if n.kind == kTrust || n.kind == kSiteRef || n.kind == kAnml || n.kind == kAudio || n.kind == kVideo {
		j.adopt(n)
	}
	for i := range n.attrs {
		if !n.attrs[i].known() {
			j.noteAttr(n, n.attrs[i].name())
		}
	}
	j.arrange(n, content, order, j.groups[mark:])
	j.groups = j.groups[:mark]
}

func (j *jsonReader) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}

// content reads the text of an element.
func (j *jsonReader) content(n *node, v strictjson.Value) string {
	if v.Kind() != strictjson.String {
		j.shape(n, "content", v)
		return ""
	}
	return j.string(v)
}

// string reads a JSON string, which may hold no character that XML cannot: such
// a document has no XML image (section 7.6).
func (j *jsonReader) string(v strictjson.Value) string {
	s, err := v.Text()
	if err != nil {
		j.fail(j.syntax(err))
		return ""
	}
	j.characters(s, v.Offset())
	return s
}

func (j *jsonReader) characters(s string, offset int) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != 0xEF || c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		r, _ := utf8.DecodeRuneInString(s[i:])
		if r < 0x20 || r == 0xFFFE || r == 0xFFFF {
			j.fail(j.refuse(ErrNotWellFormed, CodeBadCharacter, nil, offset, "a string holds the character U+"+strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16)[1:])+", which ANML cannot hold", "remove it"))
			return
		}
	}
}

// children reads a key that is an element, or keeps it as it is.
func (j *jsonReader) children(n *node, key string, v strictjson.Value, depth int) {
	g := group{key: key}
	many := true
	if c := schema[n.kind].child(key); c != nil && n.kind != kUnknown {
		many, g.rank = c.many, j.rank(n.kind, c)
	} else if _, ok := expandedKey(key); ok {
		g.rank = 100 + len(j.groups)
		j.characters(key, v.Offset())
	} else {
		j.keep(n, key, v, depth)
		return
	}
	if v.Kind() == strictjson.Array {
		if !many && v.Len() != 1 || !many {
			j.lint(n, CodeNotObject, "ANML-7.2.4-04", "the key "+quoted(key)+" is an array of what stands once")
		}
		for item := range v.Elements() {
			j.child(n, &g, item, depth)
		}
	} else {
		if c := schema[n.kind].child(key); many && (c == nil || !c.bare) {
			j.lint(n, CodeNotArray, "ANML-7.2.4-02", "the key "+quoted(key)+" is no array although it may repeat")
		}
		j.child(n, &g, v, depth)
	}
	if g.first != nil {
		j.groups = append(j.groups, g)
	}
}

func (j *jsonReader) lint(n *node, code, requirement, message string) {
	if !j.full() {
		j.add(n, SeverityInfo, code, requirement, message, "")
	}
}

// rank is the place of a child in the order for writing.
func (j *jsonReader) rank(parent kind, c *childSpec) int {
	for i := range schema[parent].children {
		if &schema[parent].children[i] == c {
			return i
		}
	}
	return 0
}

// child reads one element.
func (j *jsonReader) child(parent *node, g *group, v strictjson.Value, depth int) {
	if j.err != nil {
		return
	}
	switch v.Kind() {
	case strictjson.Object, strictjson.String:
	case strictjson.Array:
		j.fail(j.refuse(ErrNotWellFormed, CodeNestedArray, parent, v.Offset(), "an array stands in an array", ""))
		return
	default:
		j.shape(parent, g.key, v)
		if parent.kind == kConstraints || g.key == "constraints" {
			j.unreadable(parent, g, v) // it may have been a restriction
		}
		return
	}
	if j.elements++; j.elements > j.limits.Elements {
		j.fail(j.over(parent, v.Offset(), "elements", j.limits.Elements))
		return
	}
	if depth++; depth > j.limits.Depth {
		j.fail(j.refuse(ErrLimit, CodeLimit, parent, v.Offset(), "elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
		return
	}
	name, ok := expandedKey(g.key)
	if !ok {
		name = Name{Namespace, g.key}
	}
	n := j.place(parent, name, v.Offset())
	j.join(g, n)
	if v.Kind() == strictjson.String {
		text := j.string(v)
		if schema[n.kind].content == empty || schema[n.kind].content == elements {
			if text != "" {
				j.shape(parent, g.key, v)
				if n.kind == kConstraints {
					j.unreadable(n, nil, v)
				}
			}
			return
		}
		n.text = text
		return
	}
	j.object(n, v, depth)
}

func (j *jsonReader) join(g *group, n *node) {
	if g.first == nil {
		g.first = n
	} else {
		g.last.next = n
	}
	g.last = n
}

// unreadable names the element that stands for a constraint which could not be
// read, so that the fact that there is one is not lost.
const unreadable = "unreadable"

// unreadable adds that element.
func (j *jsonReader) unreadable(parent *node, g *group, v strictjson.Value) {
	n := j.node()
	n.flags, n.offset, n.parent = ignored, int32(v.Offset()), parent
	n.more = &more{name: Name{Namespace, unreadable}}
	if parent.kind != kConstraints {
		section := j.node()
		section.kind, section.offset, section.parent = kConstraints, n.offset, parent
		section.first, n.parent = n, section
		n = section
	}
	if g != nil {
		j.join(g, n)
	} else {
		parent.first = n
	}
}

// syntax turns the parser's error into one of this package.
func (j *jsonReader) syntax(err error) error {
	var s *strictjson.Error
	if !errors.As(err, &s) {
		return err
	}
	e := &Error{Code: s.Code, Message: s.Message, Fix: s.Fix, class: ErrNotWellFormed}
	p := s.Place()
	e.Position = Position{p.Line, p.Column, p.Offset, p.Pointer}
	switch s.Code {
	case strictjson.CodeNotUTF8, strictjson.CodeSurrogate:
		e.class = ErrEncoding
	case strictjson.CodeTooLarge, strictjson.CodeTooDeep, strictjson.CodeTooMany:
		e.class = ErrLimit
	}
	return e
}
