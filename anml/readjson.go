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
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

const (
	rawDepth         = 2 // nested JSON arrays and objects for each level of elements
	valuesPerElement = 2 // JSON values for each element
)

// ParseJSON reads the JSON serialization (section 7). It returns an error if the text is not
// RFC 8259 in UTF-8, has a member name twice or a character that XML does not allow, or is
// refused for one of the reasons that the Err variables list. It builds the same tree as ParseXML
// does from the same document.
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
		j.unique = j.judge() == nil
		if !j.unique {
			return nil, j.refusal() // before memory is spent on it
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
		j.add(node{}, lookleap.SeverityWarning, CodeEncodingClash, "ANML-7.1-01",
			"the charset "+plaintext.Quote(o.Charset, maxQuoted)+" is ignored: JSON is UTF-8", "send no charset")
	}
	return j.examine()
}

const bom = "\uFEFF"

// jsonReader builds a tree in one pass over the text.
type jsonReader struct {
	*reader
	jsonScanner
	odd    bool    // the text has U+FFFE or U+FFFF, which XML does not allow
	cells  []cell  // attributes of the open objects, innermost last
	groups []group // children of the open objects, innermost last
	err    error   // the first error that is not about JSON syntax
}

// refusal returns why the text is refused. A syntax error is reported before any other.
func (j *jsonReader) refusal() error {
	if err := j.judge(); err != nil {
		return jsonError(err, nil)
	}
	if j.err != nil {
		return j.err
	}
	return j.refuse(ErrNotWellFormed, strictjson.CodeSyntax, node{}, j.at, "the text is not JSON", "")
}

func (j *jsonReader) root() {
	kind, start := j.kind(), j.at
	if kind != strictjson.Object {
		j.err = j.refuse(ErrNotWellFormed, CodeWrongShape, node{}, start, "the document is not a JSON object", "")
		return
	}
	j.elements++
	j.t.rows = append(j.t.rows, row{kind: kAnml, offset: int32(start)})
	j.object(root, 1)
	j.next()
	if j.at < len(j.src) && j.err == nil {
		j.jsonScanner.fail()
	}
	if j.err == nil && !j.doc.root().lookup("version").ok() {
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
		id := words().find(key, number)
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
		j.fail(j.refuseTooMany(j.node(i), -1, "attributes on one element", j.limits.Attrs))
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

// text reads the value of the key content.
func (j *jsonReader) text(i int32, kind strictjson.Kind) span {
	if kind != strictjson.String {
		j.reportKind(j.node(i), "content", kind)
		j.skip(kind)
		return span{}
	}
	return j.span()
}

// span reads a string. A character that XML does not allow is an error, since the document could
// not be converted (section 7.6).
func (j *jsonReader) span() span {
	t := j.string()
	if !t.escaped {
		if j.odd {
			j.characters(j.src[t.from:t.to], t.from-1)
		}
		return span{int32(t.from), int32(t.to)}
	}
	s := j.t.store(string(j.unquote(t)))
	j.characters(j.t.string(s), t.from-1)
	return s
}

// characters fails on a character that XML does not allow.
func (j *jsonReader) characters(s string, offset int) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != 0xEF || c == '\t' || c == '\n' || c == '\r' {
			continue
		}
		r, _ := utf8.DecodeRuneInString(s[i:])
		if r < 0x20 || r == 0xFFFE || r == 0xFFFF {
			j.fail(j.refuse(ErrNotWellFormed, CodeBadCharacter, node{}, offset, "a string contains the character U+"+
				strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16)[1:])+", which ANML does not allow", "remove it"))
			return
		}
	}
}

// children reads the elements of a key. An unknown key is kept as it is.
func (j *jsonReader) children(i int32, key string, id uint8, kind strictjson.Kind, depth int) {
	inside := j.t.rows[i].kind
	g := group{key: key, name: Name{Namespace, key}, kind: words().child[inside][id]}
	many, bare := true, false
	if g.kind != kUnknown {
		spec, rank := schema[inside].place(g.kind)
		many, bare, g.rank = spec.many, spec.bare, rank
	} else if name, ok := expandedKey(key); ok {
		g.name, g.rank = name, 100+len(j.groups)
		j.characters(key, j.at)
	} else {
		j.keepRaw(i, key, kind, depth)
		return
	}
	if kind == strictjson.Array {
		if !many {
			j.lint(i, CodeNotObject, "ANML-7.2.4-04",
				"the key "+plaintext.Quote(key, maxQuoted)+" is an array, although the element does not repeat")
		}
		for more := j.enter(']'); more && j.err == nil; more = j.more(']') {
			j.child(i, &g, j.kind(), depth)
		}
	} else {
		if many && !bare {
			j.lint(i, CodeNotArray, "ANML-7.2.4-02",
				"the key "+plaintext.Quote(key, maxQuoted)+" is not an array, although the element may repeat")
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
		j.fail(j.refuse(ErrNotWellFormed, CodeNestedArray, j.node(parent), start, "an array is nested in an array", ""))
		return
	default:
		j.reportKind(j.node(parent), g.key, kind)
		j.scalar(kind)
		if j.t.rows[parent].kind == kConstraints || g.key == "constraints" {
			g.append(j.unreadable(parent, g.last, start)) // it may have been a restriction
		}
		return
	}
	j.elements++
	if j.elements > j.limits.Elements {
		j.fail(j.refuseTooMany(j.node(parent), start, "elements", j.limits.Elements))
		return
	}
	depth++
	if depth > j.limits.Depth {
		j.fail(j.refuse(ErrLimit, lookleap.CodeLimit, j.node(parent), start,
			"elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
		return
	}
	var i int32
	if g.kind != kUnknown {
		i = j.t.add(g.kind, parent, g.last, int32(start))
	} else {
		i = j.addElement(parent, g.last, g.name, start)
	}
	g.append(i)
	if kind == strictjson.Object {
		j.object(i, depth)
		return
	}
	text := j.span()
	if k := j.t.rows[i].kind; schema[k].content == empty || schema[k].content == elements {
		if !text.empty() {
			j.reportKind(j.node(parent), g.key, kind)
			if k == kConstraints {
				j.unreadable(i, 0, start)
			}
		}
		return
	}
	j.addText(i, 0, text, true)
}

// unreadable is the name of the element that replaces an unreadable constraint: the constraint
// must not be lost.
const unreadable = "unreadable"

// unreadable adds an unreadable constraint to an element: in its constraints element, which it
// adds if the parent is another element. It returns the row of the child that it added.
func (j *jsonReader) unreadable(parent, last int32, offset int) int32 {
	top := int32(0)
	if j.t.rows[parent].kind != kConstraints {
		parent = j.t.add(kConstraints, parent, last, int32(offset))
		top, last = parent, 0
	}
	i := j.t.add(kUnknown, parent, last, int32(offset))
	j.node(i).mark(ignored)
	j.node(i).makeRare().name = Name{Namespace, unreadable}
	if top != 0 {
		return top
	}
	return i
}

// jsonError returns an error of strictjson as an error of a class, or of the class that follows
// from its code.
func jsonError(err, class error) *lookleap.Error {
	var s *strictjson.Error
	if !errors.As(err, &s) {
		return &lookleap.Error{Code: lookleap.CodeInternal, Err: err}
	}
	switch {
	case class != nil:
	case s.Code == strictjson.CodeNotUTF8, s.Code == strictjson.CodeSurrogate:
		class = ErrEncoding
	case s.Code == strictjson.CodeTooLarge, s.Code == strictjson.CodeTooDeep, s.Code == strictjson.CodeTooMany:
		class = ErrLimit
	default:
		class = ErrNotWellFormed
	}
	p := s.Place()
	return &lookleap.Error{
		Code: lookleap.Code(s.Code), Position: lookleap.Position{Line: p.Line, Column: p.Column, Offset: p.Offset, Path: p.Pointer},
		Message: s.Message, Fix: s.Fix, Err: class,
	}
}

// orderKey has the order of mixed content and of children with different names, which JSON
// objects do not keep. A number says how many code points of "content" come next, a name which
// element. It cannot be the name of an element or attribute. Readers that do not know it lose
// only the order.
const orderKey = "$order"

// group is the children of one key, linked with one another.
type group struct {
	key         string
	name        Name
	kind        kind // kUnknown for an element that the draft does not allow here
	rank        int  // in the default order
	first, last int32
}

// append adds a child that the parser has linked to the last one.
func (g *group) append(i int32) {
	if g.first == 0 {
		g.first = i
	}
	g.last = i
}

// arrange links text and children in the order of $order, or the text first and then the children
// in the default order.
func (j *jsonReader) arrange(i int32, content span, order token, groups []group) {
	rows := j.t.rows
	rows[i].first = 0
	if order.kind != strictjson.None {
		if j.ordered(i, content, order, groups) {
			return
		}
		j.add(j.node(i), lookleap.SeverityWarning, CodeOrder, "ANML-7.2.3-03", "$order does not match the content, so it is ignored", "")
	}
	if len(groups) > 1 {
		slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
	}
	last := j.addText(i, 0, content, len(groups) == 0)
	for _, g := range groups {
		j.t.link(i, last, g.first)
		last = g.last
	}
}

// ordered applies $order. If $order does not match the content, it changes nothing and returns
// false.
func (j *jsonReader) ordered(i int32, content span, order token, groups []group) bool {
	if order.kind != strictjson.Array {
		return false
	}
	list, err := strictjson.Parse([]byte(j.src[order.from:order.to]), strictjson.Limits{Size: len(j.src), Values: len(j.src)})
	if err != nil {
		return false
	}
	text, done, balance := j.t.string(content), 0, make(map[string]int, len(groups))
	pieces := make([]span, 0, list.Len()) // texts in order; empty for an element
	begin := 0                            // start of the text since the last element
	for item := range list.Elements() {
		if name, err := item.Text(); err == nil {
			balance[name]++
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
		if begin < done { // adjacent texts are one text, as in XML
			pieces[len(pieces)-1] = span{}
		}
		pieces = append(pieces, content.part(begin, end))
		done = end
	}
	byKey := make(map[string]int32, len(groups)) // the next child of each key
	for _, g := range groups {
		byKey[g.key] = g.first
		for c := g.first; c != 0; c = j.t.rows[c].next {
			balance[g.key]--
		}
	}
	for _, count := range balance {
		if count != 0 {
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
			last = j.addText(i, last, pieces[at], len(groups) == 0)
		}
		at++
	}
	return true
}
