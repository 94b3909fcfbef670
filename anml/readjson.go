package anml

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/strictxml"
)

const (
	rawDepth         = 2 // nested JSON arrays and objects for each level of elements
	valuesPerElement = 2 // JSON values for each element
	bom              = "\uFEFF"
)

// ParseJSON reads the JSON serialization (section 7). It returns an error if the text is not
// RFC 8259 in UTF-8, has a member name twice or a character that XML does not allow, or is
// refused for one of the reasons that the Err variables list. It builds the same tree as ParseXML
// does from the same document.
func ParseJSON(data []byte, o ReadOptions) (*Document, error) {
	j := &jsonReader{newReader(JSON, o)}
	v, err := strictjson.Parse(data, strictjson.Limits{Size: min(j.limits.Bytes, math.MaxInt32), Depth: rawDepth * j.limits.Depth,
		Values: valuesPerElement * j.limits.Elements, SkipBOM: true})
	if err != nil {
		return nil, jsonError(err, nil)
	}
	j.t.src = string(data)
	if strings.HasPrefix(j.t.src, bom) {
		j.add(node{}, lookleap.SeverityWarning, codeBOM, "ANML-7.1-03", "the document begins with a byte order mark", "remove it")
	}
	if v.Kind() != strictjson.Object {
		return nil, j.refuse(ErrNotWellFormed, codeWrongShape, node{}, v.Offset(), "the document is not a JSON object", "")
	}
	j.elements = 1
	if err := j.object(j.addRoot(v.Offset()), v, 1); err != nil {
		return nil, err
	}
	if !j.doc.root().lookup("version").ok() {
		return nil, j.refuse(ErrNotANML, codeNotANML, node{}, v.Offset(), "the object has no key anml", `begin with "anml": "1.0"`)
	}
	if c := strings.ToLower(o.Charset); c != "" && c != "utf-8" {
		j.add(node{}, lookleap.SeverityWarning, codeEncodingClash, "ANML-7.1-01",
			"the charset "+plaintext.Quote(o.Charset, maxQuoted)+" is ignored: JSON is UTF-8", "send no charset")
	}
	return j.examine()
}

// jsonReader builds a tree from a parsed text.
type jsonReader struct{ *reader }

// group is the children of one key, which are already in the tree.
type group struct {
	key      string
	rank     int // in the default order
	elements []etree.Token
}

// object reads the members of an object into an element at a depth.
func (j *jsonReader) object(n node, v strictjson.Value, depth int) error {
	content, order := "", strictjson.Value{}
	var groups []group
	for key, member := range v.Members() {
		known, err := j.attribute(n, key, member)
		switch {
		case err != nil || known:
		case key == "content" && member.Kind() == strictjson.String:
			content, err = j.text(member)
		case key == "content":
			j.reportKind(n, key, member)
		case key == orderKey:
			order = member
		default:
			var g group
			if g, err = j.children(n, key, member, depth); len(g.elements) > 0 {
				groups = append(groups, g)
			}
		}
		if err != nil {
			return err
		}
	}
	if countAttrs(n) > j.limits.Attrs {
		return j.refuseTooMany(n, -1, "attributes on one element", j.limits.Attrs)
	}
	j.foreignAttrs(n)
	j.arrange(n, content, order, groups)
	return nil
}

func countAttrs(n node) (count int) {
	for range n.attrs() {
		count++
	}
	return count
}

// text returns a string. A character that XML does not allow is an error, since the document
// could not be converted (section 7.6).
func (j *jsonReader) text(v strictjson.Value) (string, error) {
	s, _ := v.Text()
	return s, j.characters(s, v)
}

// characters returns an error for a character that XML does not allow.
func (j *jsonReader) characters(s string, at strictjson.Value) error {
	if strictxml.IsText(s) {
		return nil
	}
	for _, r := range s {
		if !strictxml.IsText(string(r)) {
			return j.refuse(ErrNotWellFormed, codeBadCharacter, node{}, at.Offset(), "a string contains the character U+"+
				strings.ToUpper(strconv.FormatInt(int64(r)+0x10000, 16)[1:])+", which ANML does not allow", "remove it")
		}
	}
	return nil
}

// children reads the elements of a key. An unknown key is kept as it is.
func (j *jsonReader) children(n node, key string, v strictjson.Value, depth int) (group, error) {
	inside := &schema[n.kind()]
	g, name, spec := group{key: key}, Name{Namespace, key}, childSpec{many: true}
	if k := inside.child(key); k != kUnknown {
		spec, g.rank = inside.place(k)
	} else if foreign, ok := expandedKey(key); ok {
		name, g.rank = foreign, foreignRank
		if err := j.characters(key, v); err != nil {
			return g, err
		}
	} else {
		return g, j.keepRaw(n, key, v, depth)
	}
	if v.Kind() != strictjson.Array {
		if spec.many && !spec.bare {
			j.lint(n, codeNotArray, "ANML-7.2.4-02",
				"the key "+plaintext.Quote(key, maxQuoted)+" is not an array, although the element may repeat")
		}
		return g, j.child(n, &g, name, v, depth)
	}
	if !spec.many {
		j.lint(n, codeNotObject, "ANML-7.2.4-04",
			"the key "+plaintext.Quote(key, maxQuoted)+" is an array, although the element does not repeat")
	}
	for item := range v.Elements() {
		if err := j.child(n, &g, name, item, depth); err != nil {
			return g, err
		}
	}
	return g, nil
}

func (j *jsonReader) lint(n node, code lookleap.Code, requirement, message string) {
	if !j.full() {
		j.add(n, lookleap.SeverityInfo, code, requirement, message, "")
	}
}

// child reads one element.
func (j *jsonReader) child(parent node, g *group, name Name, v strictjson.Value, depth int) error {
	switch v.Kind() {
	case strictjson.Object, strictjson.String:
	case strictjson.Array:
		return j.refuse(ErrNotWellFormed, codeNestedArray, parent, v.Offset(), "an array is nested in an array", "")
	default:
		j.reportKind(parent, g.key, v)
		if parent.kind() == kConstraints || g.key == "constraints" { // it may have been a restriction
			g.elements = append(g.elements, j.unreadable(parent, v.Offset()).e)
		}
		return nil
	}
	if err := j.enter(parent, v, depth+1); err != nil {
		return err
	}
	n := j.addElement(parent, name, v.Offset())
	g.elements = append(g.elements, n.e)
	if v.Kind() == strictjson.Object {
		return j.object(n, v, depth+1)
	}
	text, err := j.text(v)
	if schema[n.kind()].hasText() {
		j.addText(n, text)
	} else if text != "" {
		j.reportKind(parent, g.key, v)
		if n.kind() == kConstraints {
			j.unreadable(n, v.Offset())
		}
	}
	return err
}

// enter counts one more element at a depth against the limits.
func (j *jsonReader) enter(parent node, v strictjson.Value, depth int) error {
	j.elements++
	if j.elements > j.limits.Elements {
		return j.refuseTooMany(parent, v.Offset(), "elements", j.limits.Elements)
	}
	if depth > j.limits.Depth {
		return j.refuse(ErrLimit, lookleap.CodeLimit, parent, v.Offset(),
			"elements are nested more than "+itoa(j.limits.Depth)+" deep", "")
	}
	return nil
}

// unreadable is the name of the element that replaces an unreadable constraint: the constraint
// must not be lost.
const unreadable = "unreadable"

// unreadable adds an unreadable constraint to an element: in its constraints element, which it
// adds if the parent is another element. It returns the child that it added.
func (j *jsonReader) unreadable(parent node, offset int) node {
	if parent.kind() != kConstraints {
		top := j.t.add(parent.e, kConstraints, Name{Namespace, "constraints"}, offset)
		j.unreadable(top, offset)
		return top
	}
	n := j.t.add(parent.e, kUnknown, Name{Namespace, unreadable}, offset)
	n.mark(ignored)
	return n
}

// keepRaw keeps a key that is neither attribute nor element, as it is written.
func (j *jsonReader) keepRaw(n node, key string, v strictjson.Value, depth int) error {
	if err := errors.Join(j.characters(key, v), j.checkRaw(v, depth)); err != nil {
		return err
	}
	r := j.t.rare[n.e]
	r.keys = append(r.keys, rawMember{key, v.Source()})
	j.t.rare[n.e] = r
	switch {
	case j.full():
	case n.kind() == kConstraints:
		j.add(n, lookleap.SeverityWarning, codeConstraint, "ANML-9.5-02",
			"the key "+plaintext.Quote(key, maxQuoted)+" in constraints is unknown, so every ask needs explicit consent", "")
	case kindNamed(key):
		j.add(n, lookleap.SeverityWarning, codeMisplaced, "ANML-8-01",
			"the key "+plaintext.Quote(key, maxQuoted)+" is not allowed in "+schema[n.kind()].name+", so it is ignored", "")
	default:
		j.add(n, lookleap.SeverityInfo, codeUnknownKey, "ANML-7.2.6-01",
			"the key "+plaintext.Quote(key, maxQuoted)+" is unknown, so it is ignored", "")
	}
	return nil
}

// checkRaw checks limits and characters of a value that is kept as it is.
func (j *jsonReader) checkRaw(v strictjson.Value, depth int) (err error) {
	switch v.Kind() {
	case strictjson.String:
		_, err = j.text(v)
	case strictjson.Array:
		for item := range v.Elements() {
			if err = j.checkRaw(item, depth); err != nil {
				break
			}
		}
	case strictjson.Object:
		if err = j.enter(node{}, v, depth+1); err != nil {
			return err
		}
		for key, member := range v.Members() {
			if err = j.characters(key, member); err == nil {
				err = j.checkRaw(member, depth+1)
			}
			if err != nil {
				break
			}
		}
	}
	return err
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
	return &lookleap.Error{
		Code: lookleap.Code(s.Code), Position: lookleap.Position(s.Place()),
		Message: s.Message, Fix: s.Fix, Err: class,
	}
}

// orderKey has the order of mixed content and of children with different names, which JSON
// objects do not keep. A number says how many code points of "content" come next, a name which
// element. It cannot be the name of an element or attribute. Readers that do not know it lose
// only the order.
const orderKey = "$order"

// arrange sorts text and children into the order of $order, or the text first and then the
// children in the default order.
func (j *jsonReader) arrange(n node, content string, order strictjson.Value, groups []group) {
	pieces, ok := ordered(content, order, groups)
	if !ok {
		if order.Kind() != strictjson.None {
			j.add(n, lookleap.SeverityWarning, codeOrder, "ANML-7.2.3-03", "$order does not match the content, so it is ignored", "")
		}
		slices.SortStableFunc(groups, func(a, b group) int { return a.rank - b.rank })
		pieces = []piece{{text: content}}
		for _, g := range groups {
			for _, e := range g.elements {
				pieces = append(pieces, piece{element: e})
			}
		}
	}
	var children []etree.Token
	for _, p := range pieces {
		if p.element == nil {
			p.element = j.addText(n, p.text)
		}
		if p.element != nil {
			children = append(children, p.element)
		}
	}
	n.e.Child = children
	n.e.ReindexChildren()
}

// piece is an element or a text.
type piece struct {
	element etree.Token
	text    string
}

// ordered returns text and children in the order of $order, and false if $order does not match
// them. Adjacent texts are one text, as in XML.
func ordered(content string, order strictjson.Value, groups []group) (pieces []piece, ok bool) {
	if order.Kind() != strictjson.Array {
		return nil, false
	}
	left, open := make(map[string][]etree.Token, len(groups)), 0
	for _, g := range groups {
		left[g.key] = g.elements
		open += len(g.elements)
	}
	begin, done := -1, 0 // of the text since the last element, and of all text
	for item := range order.Elements() {
		if name, err := item.Text(); err == nil {
			if len(left[name]) == 0 {
				return nil, false
			}
			pieces = append(pieces, piece{element: left[name][0]})
			left[name] = left[name][1:]
			begin = -1
			open--
			continue
		}
		count, err := item.Int()
		if err != nil || count < 1 {
			return nil, false
		}
		if begin < 0 {
			begin = done
			pieces = append(pieces, piece{})
		}
		for ; count > 0; count-- {
			if done == len(content) {
				return nil, false
			}
			_, size := utf8.DecodeRuneInString(content[done:])
			done += size
		}
		pieces[len(pieces)-1].text = content[begin:done]
	}
	return pieces, open == 0 && done == len(content)
}
