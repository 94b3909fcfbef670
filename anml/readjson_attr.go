package anml

import (
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// attribute reads the value of a key and reports whether the key is an attribute. The attributes
// of the object so far are j.cells[mark:].
func (j *jsonReader) attribute(i int32, mark int, key string, id uint8, kind strictjson.Kind) bool {
	k := j.t.rows[i].kind
	if k == kAnml && (key == "anml" || key == "version") {
		j.version(i, mark, key, kind)
		return true
	}
	c := cell{spec: int32(words().attr[k][id])}
	if c.spec < 0 {
		if words().child[k][id] != kUnknown {
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
			c.spec = words().spec(k, name.Local)
		}
		if c.spec < 0 {
			c.spec = ^int32(len(j.t.names))
			j.t.names = append(j.t.names, name)
			j.characters(key, j.at)
		}
	}
	start := j.at
	if j.attributeValue(i, key, kind, &c) {
		if c.spec >= 0 && find(j.cells[mark:], c.spec%words().bad) != nil {
			j.fail(j.refuse(ErrNotWellFormed, strictjson.CodeDuplicateName, j.node(i), start,
				"the attribute "+plaintext.Quote(words().specs[c.spec].name, maxQuoted)+" appears twice", ""))
		}
		j.cells = append(j.cells, c)
	}
	return true
}

// find returns the cell of an attribute, or nil.
func find(cells []cell, spec int32) *cell {
	for i := range cells {
		if c := &cells[i]; c.spec >= 0 && c.spec%words().bad == spec {
			return c
		}
	}
	return nil
}

// attributeKey parses the key of an attribute that ANML does not define: @{namespace}local or
// xml:local.
func attributeKey(key string) (Name, bool) {
	if local, ok := strings.CutPrefix(key, "xml:"); ok && isNCName(local) {
		return Name{xmlNamespace, local}, true
	}
	if rest, ok := strings.CutPrefix(key, "@"); ok {
		return expandedKey(rest)
	}
	return Name{}, false
}

// expandedKey parses {namespace}local.
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

// attributeValue reads the text of an attribute, and reports whether the attribute is present. A
// null is an absent attribute. An array or object is an unusable value, or an absent one if the
// type accepts every text.
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
		j.scalar(kind)
		if !j.full() {
			j.add(j.node(i), lookleap.SeverityInfo, CodeNullValue, "ANML-7.2.2-04",
				"the key "+plaintext.Quote(key, maxQuoted)+" is null, so it counts as absent", "omit it")
		}
		return false
	default:
		j.reportKind(j.node(i), key, kind)
		j.skip(kind)
		if c.spec < 0 {
			return false
		}
		switch words().specs[c.spec].typ {
		case tString, tURI, tDomain, tMethod, tLang, tMedia:
			return false
		}
		c.value = j.t.store("[]") // invalid for the types that remain
		c.spec += words().bad
	}
	return true
}

// number reads a JSON number as the decimal number that it would be in XML.
func (j *jsonReader) number(i int32, c *cell) {
	t := j.scalar(strictjson.Number)
	source := j.src[t.from:t.to]
	c.value = span{int32(t.from), int32(t.to)}
	n, err := ParseNumber(source)
	if err == nil && n.Exact {
		if text := strconv.FormatFloat(n.Float, 'f', -1, 64); text != source {
			c.value = j.t.store(text)
		}
		return
	}
	if !j.full() {
		code := CodePrecision
		if err != nil {
			code = CodeOverflow
		}
		j.add(j.node(i), lookleap.SeverityError, code, "ANML-7.5-08",
			"the number "+plaintext.Quote(source, maxQuoted)+" is not a number that all readers represent exactly", "write it as a string")
	}
	if c.spec >= 0 {
		c.spec += words().bad
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
			text = j.t.store("1.0")
		}
	default:
		j.reportKind(n, key, kind)
		j.skip(kind)
		text = j.t.store(kind.String())
	}
	if key == "version" {
		j.add(n, lookleap.SeverityWarning, CodeVersionKey, "ANML-7.2.1-02", "the key version is read as anml", `write "anml"`)
	}
	spec := words().spec(kAnml, "version")
	if c := find(j.cells[mark:], spec); c != nil {
		if key == "anml" {
			c.value = text
		}
		return
	}
	j.cells = append(j.cells, cell{spec, text})
}

// reportKind reports a value of a kind that has no meaning there.
func (j *jsonReader) reportKind(n node, key string, kind strictjson.Kind) {
	if !j.full() {
		j.add(n, lookleap.SeverityError, CodeWrongShape, "ANML-7.2.2-04",
			"the key "+plaintext.Quote(key, maxQuoted)+" is "+kind.String()+", which has no meaning there", "")
	}
}

// keepRaw keeps a key that is neither attribute nor element, as it is written.
func (j *jsonReader) keepRaw(i int32, key string, kind strictjson.Kind, depth int) {
	n := j.node(i)
	j.characters(key, j.at)
	start := j.at
	j.skipRaw(kind, depth)
	if j.failed || j.err != nil {
		return
	}
	r := n.makeRare()
	r.keys = append(r.keys, rawMember{key, j.src[start:j.at]})
	switch {
	case j.full():
	case n.kind() == kConstraints:
		j.add(n, lookleap.SeverityWarning, CodeConstraint, "ANML-9.5-02",
			"the key "+plaintext.Quote(key, maxQuoted)+" in constraints is unknown, so every ask needs explicit consent", "")
	case kindNamed(key):
		j.add(n, lookleap.SeverityWarning, CodeMisplaced, "ANML-8-01",
			"the key "+plaintext.Quote(key, maxQuoted)+" is not allowed in "+schema[n.kind()].name+", so it is ignored", "")
	default:
		j.add(n, lookleap.SeverityInfo, CodeUnknownKey, "ANML-7.2.6-01",
			"the key "+plaintext.Quote(key, maxQuoted)+" is unknown, so it is ignored", "")
	}
}

// skipRaw passes over a value that is kept as it is. It checks limits and characters as for values
// that are read.
func (j *jsonReader) skipRaw(kind strictjson.Kind, depth int) {
	start := j.at
	switch kind {
	case strictjson.String:
		if t := j.string(); t.escaped || j.odd {
			j.characters(j.jsonScanner.text(t), start)
		}
	case strictjson.Array:
		for more := j.enter(']'); more && j.err == nil; more = j.more(']') {
			j.skipRaw(j.kind(), depth)
		}
	case strictjson.Object:
		j.elements++
		if j.elements > j.limits.Elements {
			j.fail(j.refuseTooMany(node{}, start, "elements", j.limits.Elements))
			return
		}
		depth++
		if depth > j.limits.Depth {
			j.fail(j.refuse(ErrLimit, lookleap.CodeLimit, node{}, start, "elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
			return
		}
		names := len(j.names)
		for more := j.enter('}'); more && j.err == nil; more = j.more('}') {
			key, _ := j.name(names)
			kind := j.kind()
			j.characters(key, j.at)
			j.skipRaw(kind, depth)
		}
		j.names = j.names[:min(names, len(j.names))]
	default:
		j.scalar(kind)
	}
}

// skip passes over a value that has no meaning there.
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
