package anml

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
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
	j := &jsonReader{reader: newReader(JSON, o)}
	limits := strictjson.Limits{Size: j.limits.Bytes, Depth: rawDepth * j.limits.Depth,
		Values: valuesPerElement * j.limits.Elements, SkipBOM: true}
	j.judge = sync.OnceValue(func() error { _, err := strictjson.Parse(data, limits); return err })
	objects := bytes.Count(data, []byte("{"))
	if len(data) > min(j.limits.Bytes, math.MaxInt32) || !utf8.Valid(data) {
		return nil, j.refusal()
	}
	if objects > j.limits.Elements || bytes.Count(data, []byte(",")) > limits.Values {
		if j.unique = j.judge() == nil; !j.unique {
			return nil, j.refusal() // before anything is made of it
		}
	}
	j.src = string(data)
	j.t.src = j.src
	j.values, j.depth = limits.Values, limits.Depth
	j.odd = strings.Contains(j.src, "\uFFFE") || strings.Contains(j.src, "\uFFFF")
	if strings.HasPrefix(j.src, bom) {
		j.at = len(bom)
		j.add(node{}, lookleap.SeverityWarning, CodeBOM, "ANML-7.1-03", "the document begins with a byte order mark", "remove it")
	}
	j.t.rows = make([]row, root, root+min(firstRows, 8+objects))
	j.t.cells = make([]cell, 0, min(firstCells, 8+2*objects))
	j.root()
	if j.failed || j.err != nil {
		return nil, j.refusal()
	}
	if c := strings.ToLower(o.Charset); c != "" && c != "utf-8" {
		j.add(node{}, lookleap.SeverityWarning, CodeEncodingClash, "ANML-7.1-01", "the charset "+quoted(o.Charset)+" is ignored: JSON is UTF-8", "send no charset")
	}
	return j.finish()
}

const bom = "\uFEFF"

// jsonReader builds a tree while it reads a text once.
type jsonReader struct {
	*reader
	jsonScanner
	odd    bool    // the text holds a character that XML cannot
	cells  []cell  // of the objects being read, innermost last
	groups []group // likewise
	err    error   // the first that is about ANML and not about JSON
}

// refusal is why the text is refused. Being no JSON comes before anything else
// that is wrong with it.
func (j *jsonReader) refusal() error {
	if err := j.judge(); err != nil {
		return j.syntax(err)
	}
	if j.err != nil {
		return j.err
	}
	return j.refuse(ErrNotWellFormed, strictjson.CodeSyntax, node{}, j.at, "the text is no JSON", "")
}

func (j *jsonReader) root() {
	kind, start := j.kind(), j.at
	if kind != strictjson.Object {
		j.err = j.refuse(ErrNotWellFormed, CodeWrongShape, node{}, start, "the document is no JSON object", "")
		return
	}
	j.elements++
	j.t.rows = append(j.t.rows, row{kind: kAnml, offset: int32(start)})
	j.object(root, 1)
	if j.next(); j.at < len(j.src) && j.err == nil {
		j.jsonScanner.fail()
	}
	if j.err == nil && !j.doc.HasVersion() && !j.doc.root().lookup("version").ok() {
		j.err = j.refuse(ErrNotANML, CodeNotANML, node{}, start, "the object has no key anml", `begin with "anml": "1.0"`)
	}
}

// object reads the members of an object into an element at a depth.
func (j *jsonReader) object(i int32, depth int) {
	names, cells, groups := len(j.names), len(j.cells), len(j.groups)
	var content span
	var order token
	for more := j.enter('}'); more && j.err == nil; more = j.more('}') {
		key, number := j.name(names)
		id := words.find(key, number)
		kind := j.kind()
		switch {
		case id == 0 && key == "content":
			content = j.text(i, kind)
		case id == 0 && key == orderKey:
			order = token{kind: kind, from: j.at}
			j.skip(kind)
			order.to = j.at
		case j.attribute(i, cells, key, id, kind):
		default:
			j.children(i, key, id, kind, depth)
		}
	}
	if j.failed || j.err != nil {
		return
	}
	j.names = j.names[:names]
	r := &j.t.rows[i]
	r.cells, r.count = int32(len(j.t.cells)), uint16(len(j.cells)-cells)
	if len(j.cells)-cells > j.limits.Attrs {
		j.fail(j.over(j.node(i), -1, "attributes on one element", j.limits.Attrs))
		return
	}
	foreign := false
	for _, c := range j.cells[cells:] {
		foreign = foreign || c.spec < 0
		j.t.cells = append(j.t.cells, c)
	}
	j.cells = j.cells[:cells]
	if foreign {
		j.foreignAttrs(j.node(i))
	}
	j.arrange(i, content, order, j.groups[groups:])
	j.groups = j.groups[:groups]
}

func (j *jsonReader) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}

// text reads the text of an element.
func (j *jsonReader) text(i int32, kind strictjson.Kind) span {
	if kind != strictjson.String {
		j.shape(j.node(i), "content", kind)
		j.skip(kind)
		return span{}
	}
	return j.span()
}

// span reads a string, which may hold no character that XML cannot: such a
// document has no XML image (section 7.6).
func (j *jsonReader) span() span {
	t := j.string()
	if !t.escaped {
		if j.odd {
			j.characters(j.src[t.from:t.to], t.from-1)
		}
		return span{int32(t.from), int32(t.to)}
	}
	s := j.t.keep(string(j.unquote(t)))
	j.characters(j.t.string(s), t.from-1)
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
			j.fail(j.refuse(ErrNotWellFormed, CodeBadCharacter, node{}, offset, "a string holds the character U+"+strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16)[1:])+", which ANML cannot hold", "remove it"))
			return
		}
	}
}

// children reads a key that is an element, or keeps it as it is.
func (j *jsonReader) children(i int32, key string, id uint8, kind strictjson.Kind, depth int) {
	inside := j.t.rows[i].kind
	g := group{key: key, name: Name{Namespace, key}, kind: words.child[inside][id]}
	many, bare := true, false
	if g.kind != kUnknown {
		spec, rank := schema[inside].place(g.kind)
		many, bare, g.rank = spec.many, spec.bare, rank
	} else if name, ok := expandedKey(key); ok {
		g.name, g.rank = name, 100+len(j.groups)
		j.characters(key, j.at)
	} else {
		j.keep(i, key, kind, depth)
		return
	}
	if kind == strictjson.Array {
		if !many {
			j.lint(i, CodeNotObject, "ANML-7.2.4-04", "the key "+quoted(key)+" is an array of what stands once")
		}
		for more := j.enter(']'); more && j.err == nil; more = j.more(']') {
			j.child(i, &g, j.kind(), depth)
		}
	} else {
		if many && !bare {
			j.lint(i, CodeNotArray, "ANML-7.2.4-02", "the key "+quoted(key)+" is no array although it may repeat")
		}
		j.child(i, &g, kind, depth)
	}
	if g.first != 0 {
		j.groups = append(j.groups, g)
	}
}

func (j *jsonReader) lint(i int32, code lookleap.Code, requirement, message string) {
	if !j.full() {
		j.add(j.node(i), lookleap.SeverityInfo, code, requirement, message, "")
	}
}

// child reads one element.
func (j *jsonReader) child(parent int32, g *group, kind strictjson.Kind, depth int) {
	start := j.at
	switch kind {
	case strictjson.Object, strictjson.String:
	case strictjson.Array:
		j.fail(j.refuse(ErrNotWellFormed, CodeNestedArray, j.node(parent), start, "an array stands in an array", ""))
		return
	default:
		j.shape(j.node(parent), g.key, kind)
		if j.scalar(kind); j.t.rows[parent].kind == kConstraints || g.key == "constraints" {
			g.join(j.unreadable(parent, g.last, start)) // it may have been a restriction
		}
		return
	}
	if j.elements++; j.elements > j.limits.Elements {
		j.fail(j.over(j.node(parent), start, "elements", j.limits.Elements))
		return
	}
	if depth++; depth > j.limits.Depth {
		j.fail(j.refuse(ErrLimit, lookleap.CodeLimit, j.node(parent), start, "elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
		return
	}
	var i int32
	if g.kind != kUnknown {
		i = j.t.add(g.kind, parent, g.last, int32(start))
	} else {
		i = j.place(parent, g.last, g.name, start)
	}
	g.join(i)
	if kind == strictjson.Object {
		j.object(i, depth)
		return
	}
	text := j.span()
	if k := j.t.rows[i].kind; schema[k].content == empty || schema[k].content == elements {
		if !text.empty() {
			j.shape(j.node(parent), g.key, kind)
			if k == kConstraints {
				j.unreadable(i, 0, start)
			}
		}
		return
	}
	j.content(i, 0, text, true)
}

// unreadable names the element that stands for a constraint which could not be
// read, so that the fact that there is one is not lost.
const unreadable = "unreadable"

// unreadable adds that element, in a constraints element.
func (j *jsonReader) unreadable(parent, last int32, offset int) int32 {
	top := int32(0)
	if j.t.rows[parent].kind != kConstraints {
		parent = j.t.add(kConstraints, parent, last, int32(offset))
		top, last = parent, 0
	}
	i := j.t.add(kUnknown, parent, last, int32(offset))
	j.node(i).mark(ignored)
	j.node(i).needMore().name = Name{Namespace, unreadable}
	if top != 0 {
		return top
	}
	return i
}

// syntax turns the parser's error into one of this package.
func (j *jsonReader) syntax(err error) error {
	var s *strictjson.Error
	if !errors.As(err, &s) {
		return err
	}
	class := ErrNotWellFormed
	switch s.Code {
	case strictjson.CodeNotUTF8, strictjson.CodeSurrogate:
		class = ErrEncoding
	case strictjson.CodeTooLarge, strictjson.CodeTooDeep, strictjson.CodeTooMany:
		class = ErrLimit
	}
	p := s.Place()
	return &lookleap.Error{
		Code: lookleap.Code(s.Code), Position: lookleap.Position{Line: p.Line, Column: p.Column, Offset: p.Offset, Path: p.Pointer},
		Message: s.Message, Fix: s.Fix, Err: class,
	}
}

// orderKey carries the order of mixed content and of differently named children,
// which JSON objects lose: numbers say how many code points of "content" come
// next, names which element. It cannot clash with an element or attribute, and
// a reader that knows the draft alone ignores it and loses nothing but order.
const orderKey = "$order"

// group is the children of one key, linked and waiting for their order.
type group struct {
	key         string
	name        Name
	kind        kind // kUnknown for an element that the draft does not know here
	rank        int  // place in the default order
	first, last int32
}

func (g *group) join(i int32) {
	if g.first == 0 {
		g.first = i
	}
	g.last = i
}

// arrange puts text and children in their order: the one that $order gives, or
// text first and then the children as they are written.
func (j *jsonReader) arrange(i int32, content span, order token, groups []group) {
	rows := j.t.rows
	rows[i].first = 0
	if order.kind != strictjson.None {
		if j.ordered(i, content, order, groups) {
			return
		}
		j.add(j.node(i), lookleap.SeverityWarning, CodeOrder, "ANML-7.2.3-03", "$order does not fit the content, so it is ignored", "")
	}
	if len(groups) > 1 {
		slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
	}
	last := j.content(i, 0, content, len(groups) == 0)
	for _, g := range groups {
		j.t.link(i, last, g.first)
		last = g.last
	}
}

// part gives a part of a text.
func (s span) part(from, to int) span {
	if s.from < 0 {
		return span{^(^s.from + int32(from)), ^s.from + int32(to)}
	}
	return span{s.from + int32(from), s.from + int32(to)}
}

// ordered applies $order, or changes nothing and reports that it does not fit.
func (j *jsonReader) ordered(i int32, content span, order token, groups []group) bool {
	if order.kind != strictjson.Array {
		return false
	}
	list, err := strictjson.Parse([]byte(j.src[order.from:order.to]), strictjson.Limits{Size: len(j.src), Values: len(j.src)})
	if err != nil {
		return false
	}
	text, done, used := j.t.string(content), 0, make(map[string]int, len(groups))
	pieces := make([]span, 0, list.Len()) // texts in their order; elements are empty
	begin := 0                            // of the text since the last element
	for item := range list.Elements() {
		if name, err := item.Text(); err == nil {
			used[name]++
			pieces = append(pieces, span{})
			begin = done
			continue
		}
		count, err := item.Int()
		if err != nil || count < 1 {
			return false
		}
		end := done
		for ; count > 0; count-- {
			if end == len(text) {
				return false
			}
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if begin < done { // texts that nothing divides are one, as in XML
			pieces[len(pieces)-1] = span{}
		}
		pieces = append(pieces, content.part(begin, end))
		done = end
	}
	byKey := make(map[string]int32, len(groups)) // the next child of each key
	for _, g := range groups {
		byKey[g.key] = g.first
		for c := g.first; c != 0; c = j.t.rows[c].next {
			used[g.key]--
		}
	}
	for _, balance := range used {
		if balance != 0 {
			return false
		}
	}
	if done != len(text) {
		return false
	}
	at, last := 0, int32(0)
	for item := range list.Elements() {
		if name, err := item.Text(); err == nil {
			c := byKey[name]
			byKey[name] = j.t.rows[c].next
			j.t.rows[c].next = 0
			j.t.link(i, last, c)
			last = c
		} else {
			last = j.content(i, last, pieces[at], len(groups) == 0)
		}
		at++
	}
	return true
}
