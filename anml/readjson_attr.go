package anml

import (
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// attribute reads a key that is an attribute, and reports whether it is one. The
// attributes that the object has so far are those from mark on.
func (j *jsonReader) attribute(i int32, mark int, key string, id uint8, kind strictjson.Kind) bool {
	k := j.t.rows[i].kind
	if k == kAnml && (key == "anml" || key == "version") {
		j.version(i, mark, key, kind)
		return true
	}
	c := cell{spec: int32(words.attr[k][id])}
	if c.spec < 0 {
		if words.child[k][id] != kUnknown {
			return false
		}
		name, ok := attributeKey(key)
		if !ok && key == "site" && (k == kTrust || k == kSiteRef) {
			name, ok = Name{"", key}, true
		}
		if !ok {
			return false
		}
		if k != kUnknown && name.Space == "" {
			c.spec = words.spec(k, name.Local)
		}
		if c.spec < 0 {
			c.spec = ^int32(len(j.t.names))
			j.t.names = append(j.t.names, name)
			j.characters(key, j.at)
		}
	}
	start := j.at
	if j.attributeValue(i, key, kind, &c) {
		if c.spec >= 0 && find(j.cells[mark:], c.spec%lossy) != nil {
			j.fail(j.refuse(ErrNotWellFormed, strictjson.CodeDuplicateName, j.node(i), start, "the attribute "+quoted(specs[c.spec].name)+" stands twice", ""))
		}
		j.cells = append(j.cells, c)
	}
	return true
}

// find gives the cell of an attribute, or nil.
func find(cells []cell, spec int32) *cell {
	for i := range cells {
		if c := &cells[i]; c.spec >= 0 && c.spec%lossy == spec {
			return c
		}
	}
	return nil
}

// attributeKey reads the key of an attribute that ANML does not define:
// @{namespace}local, or xml:local.
func attributeKey(key string) (Name, bool) {
	if local, ok := strings.CutPrefix(key, "xml:"); ok && isNCName(local) {
		return Name{xmlNamespace, local}, true
	}
	if rest, ok := strings.CutPrefix(key, "@"); ok {
		return expandedKey(rest)
	}
	return Name{}, false
}

// expandedKey reads {namespace}local.
func expandedKey(key string) (Name, bool) {
	if !strings.HasPrefix(key, "{") {
		return Name{}, false
	}
	i := strings.LastIndexByte(key, '}')
	if i < 0 || !isNCName(key[i+1:]) {
		return Name{}, false
	}
	name := Name{key[1:i], key[i+1:]}
	return name, name.Space != xmlnsNamespace && name != (Name{"", "xmlns"})
}

// attributeValue gives the text of an attribute. Strings, numbers and booleans
// say the same; null is an absent attribute; anything else is none.
func (j *jsonReader) attributeValue(i int32, key string, kind strictjson.Kind, c *cell) bool {
	switch kind {
	case strictjson.String:
		c.value = j.span()
	case strictjson.Bool:
		t := j.scalar(kind)
		c.value = span{int32(t.from), int32(t.to)}
	case strictjson.Number:
		j.number(i, c)
	case strictjson.Null:
		if j.scalar(kind); !j.full() {
			j.add(j.node(i), lookleap.SeverityInfo, CodeNullValue, "ANML-7.2.2-04", "the key "+quoted(key)+" is null, so it counts as absent", "leave it out")
		}
		return false
	default:
		j.shape(j.node(i), key, kind)
		j.skip(kind)
		if c.spec < 0 {
			return false
		}
		switch specs[c.spec].typ {
		case tString, tURI, tDomain, tMethod:
			return false
		}
		c.value = j.t.keep("[]") // invalid, so that the safe reading is taken
		c.spec += lossy
	}
	return true
}

// number reads a JSON number as a plain decimal, the text that XML would have.
func (j *jsonReader) number(i int32, c *cell) {
	t := j.scalar(strictjson.Number)
	source := j.src[t.from:t.to]
	c.value = span{int32(t.from), int32(t.to)}
	if len(source) <= 15 && digits(source) >= 0 {
		return // every double holds it as it is written
	}
	n, err := ParseNumber(source)
	if err == nil && n.Exact {
		if text := strconv.FormatFloat(n.Float, 'f', -1, 64); text != source {
			c.value = j.t.keep(text)
		}
		return
	}
	if !j.full() {
		code := CodePrecision
		if err != nil {
			code = CodeOverflow
		}
		j.add(j.node(i), lookleap.SeverityError, code, "ANML-7.5-08", "the number "+quoted(source)+" is not one that every reader reads alike", "write it as a string")
	}
	if c.spec >= 0 {
		c.spec += lossy
	}
}

// version reads the key that marks a JSON document (section 7.2.1).
func (j *jsonReader) version(i int32, mark int, key string, kind strictjson.Kind) {
	var text span
	n := j.node(i)
	switch kind {
	case strictjson.String:
		text = j.span()
	case strictjson.Number:
		t := j.scalar(kind)
		j.add(n, lookleap.SeverityWarning, CodeVersionKey, "ANML-7.2.1-02", "the version is a number", `write "anml": "1.0"`)
		text = span{int32(t.from), int32(t.to)}
		if v, err := ParseNumber(j.src[t.from:t.to]); err == nil && v.Exact && v.Float == 1 {
			text = j.t.keep("1.0")
		}
	default:
		j.shape(n, key, kind)
		j.skip(kind)
		text = j.t.keep(kind.String())
	}
	if key == "version" {
		j.add(n, lookleap.SeverityWarning, CodeVersionKey, "ANML-7.2.1-02", "the key version is read as anml", `write "anml"`)
	}
	spec := words.spec(kAnml, "version")
	if c := find(j.cells[mark:], spec); c != nil {
		if key == "anml" {
			c.value = text
		}
		return
	}
	j.cells = append(j.cells, cell{spec, text})
}

// shape reports a value of a kind that means nothing where it stands.
func (j *jsonReader) shape(n node, key string, kind strictjson.Kind) {
	if !j.full() {
		j.add(n, lookleap.SeverityError, CodeWrongShape, "ANML-7.2.2-04", "the key "+quoted(key)+" holds "+kind.String()+", which means nothing there", "")
	}
}

// keep remembers a key that is neither attribute nor element, as it is written.
func (j *jsonReader) keep(i int32, key string, kind strictjson.Kind, depth int) {
	n := j.node(i)
	j.characters(key, j.at)
	start := j.at
	if j.raw(kind, depth); j.failed || j.err != nil {
		return
	}
	m := n.needMore()
	m.keys = append(m.keys, rawMember{key, j.src[start:j.at]})
	switch {
	case j.full():
	case n.kind() == kConstraints:
		j.add(n, lookleap.SeverityWarning, CodeConstraint, "ANML-9.5-02", "the key "+quoted(key)+" in constraints is unknown, so every ask needs explicit consent", "")
	case kindNamed(key):
		j.add(n, lookleap.SeverityWarning, CodeMisplaced, "ANML-8-01", "the key "+quoted(key)+" cannot stand in "+n.element()+", so it is ignored", "")
	default:
		j.add(n, lookleap.SeverityInfo, CodeUnknownKey, "ANML-7.2.6-01", "the key "+quoted(key)+" is unknown, so it is ignored", "")
	}
}

// raw passes a value that is kept unread, within the limits and characters of
// one that is read.
func (j *jsonReader) raw(kind strictjson.Kind, depth int) {
	start := j.at
	switch kind {
	case strictjson.String:
		if t := j.string(); t.escaped || j.odd {
			j.characters(j.jsonScanner.text(t), start)
		}
	case strictjson.Array:
		for more := j.enter(']'); more && j.err == nil; more = j.more(']') {
			j.raw(j.kind(), depth)
		}
	case strictjson.Object:
		if j.elements++; j.elements > j.limits.Elements {
			j.fail(j.over(node{}, start, "elements", j.limits.Elements))
			return
		}
		if depth++; depth > j.limits.Depth {
			j.fail(j.refuse(ErrLimit, lookleap.CodeLimit, node{}, start, "elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
			return
		}
		names := len(j.names)
		for more := j.enter('}'); more && j.err == nil; more = j.more('}') {
			key, _ := j.name(names)
			kind := j.kind()
			j.characters(key, j.at)
			j.raw(kind, depth)
		}
		j.names = j.names[:min(names, len(j.names))]
	default:
		j.scalar(kind)
	}
}

// skip passes a value that means nothing where it stands.
func (j *jsonReader) skip(kind strictjson.Kind) {
	switch kind {
	case strictjson.String:
		j.jsonScanner.text(j.string())
	case strictjson.Array:
		for more := j.enter(']'); more; more = j.more(']') {
			j.skip(j.kind())
		}
	case strictjson.Object:
		names := len(j.names)
		for more := j.enter('}'); more; more = j.more('}') {
			j.name(names)
			j.skip(j.kind())
		}
		j.names = j.names[:min(names, len(j.names))]
	default:
		j.scalar(kind)
	}
}
