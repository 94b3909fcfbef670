package anml

import (
	"errors"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// attribute reads a key that is an attribute, and reports whether it is one.
func (j *jsonReader) attribute(n *node, key string, v strictjson.Value) bool {
	var at attr
	switch {
	case n.kind == kUnknown:
	case n.kind == kAnml && (key == "anml" || key == "version"):
		j.version(n, key, v)
		return true
	default:
		at.spec = schema[n.kind].attr(key)
	}
	if at.spec == nil {
		name, ok := attributeKey(key)
		if !ok && key == "site" && (n.kind == kTrust || n.kind == kSiteRef) {
			name, ok = Name{"", key}, true
		}
		if !ok {
			return false
		}
		if n.kind != kUnknown && name.Space == "" {
			at.spec = schema[n.kind].attr(name.Local)
		}
		if at.spec == nil {
			at.spec = foreignAttr(name)
			j.characters(key, v.Offset())
		}
	}
	if j.attributeValue(n, key, v, &at) {
		if at.known() && n.lookup(at.spec.name) != nil {
			j.fail(j.refuse(ErrNotWellFormed, strictjson.CodeDuplicateName, n, v.Offset(), "the attribute "+quoted(at.spec.name)+" stands twice", ""))
		}
		n.attrs = append(n.attrs, at)
	}
	return true
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
	i := strings.LastIndexByte(key, '}')
	if !strings.HasPrefix(key, "{") || i < 0 || !isNCName(key[i+1:]) {
		return Name{}, false
	}
	name := Name{key[1:i], key[i+1:]}
	return name, name.Space != xmlnsNamespace && name != (Name{"", "xmlns"})
}

// attributeValue gives the text of an attribute. Strings, numbers and booleans
// say the same; null is an absent attribute; anything else is none.
func (j *jsonReader) attributeValue(n *node, key string, v strictjson.Value, at *attr) bool {
	switch v.Kind() {
	case strictjson.String:
		at.value = j.string(v)
	case strictjson.Bool:
		at.value = v.Source()
	case strictjson.Number:
		at.value = j.number(n, v, at)
	case strictjson.Null:
		if !j.full() {
			j.add(n, SeverityInfo, CodeNullValue, "ANML-7.2.2-04", "the key "+quoted(key)+" is null, so it counts as absent", "leave it out")
		}
		return false
	default:
		j.shape(n, key, v)
		if at.spec.typ == tString || at.spec.typ == tURI || at.spec.typ == tDomain || at.spec.typ == tMethod {
			return false
		}
		at.value = "[]" // invalid, so that the safe reading is taken
		at.spoil()
	}
	return true
}

// number gives a JSON number as a plain decimal, the text that XML would have.
func (j *jsonReader) number(n *node, v strictjson.Value, at *attr) string {
	f, err := v.Float()
	if err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	var e *strictjson.Error
	if errors.As(err, &e) && !j.full() {
		code, requirement := CodePrecision, "ANML-7.5-08"
		if e.Code == strictjson.CodeOverflow {
			code = CodeOverflow
		}
		j.add(n, SeverityError, code, requirement, "the number "+quoted(v.Source())+" is not one that every reader reads alike", "write it as a string")
	}
	at.spoil()
	return v.Source()
}

// version reads the key that marks a JSON document (section 7.2.1).
func (j *jsonReader) version(n *node, key string, v strictjson.Value) {
	text := ""
	switch v.Kind() {
	case strictjson.String:
		text = j.string(v)
	case strictjson.Number:
		j.add(n, SeverityWarning, CodeVersionKey, "ANML-7.2.1-02", "the version is a number", `write "anml": "1.0"`)
		if f, err := v.Float(); err == nil && f == 1 {
			text = "1.0"
		} else {
			text = v.Source()
		}
	default:
		j.shape(n, key, v)
		text = v.Kind().String()
	}
	if key == "version" {
		j.add(n, SeverityWarning, CodeVersionKey, "ANML-7.2.1-02", "the key version is read as anml", `write "anml"`)
	}
	if at := n.lookup("version"); at != nil {
		if key == "anml" {
			at.value = text
		}
		return
	}
	n.attrs = append(n.attrs, attr{spec: schema[kAnml].attr("version"), value: text})
}

// shape reports a value of a kind that means nothing where it stands.
func (j *jsonReader) shape(n *node, key string, v strictjson.Value) {
	if !j.full() {
		j.add(n, SeverityError, CodeWrongShape, "ANML-7.2.2-04", "the key "+quoted(key)+" holds "+v.Kind().String()+", which means nothing there", "")
	}
}

// keep remembers a key that is neither attribute nor element, as it is written.
func (j *jsonReader) keep(n *node, key string, v strictjson.Value, depth int) {
	j.characters(key, v.Offset())
	j.raw(v, depth)
	if n.more == nil {
		n.more = &more{}
	}
	n.more.keys = append(n.more.keys, rawMember{key, v.Source()})
	switch {
	case j.full():
	case n.kind == kConstraints:
		j.add(n, SeverityWarning, CodeConstraint, "ANML-9.5-02", "the key "+quoted(key)+" in constraints is unknown, so every ask needs explicit consent", "")
	case kindNamed(key):
		j.add(n, SeverityWarning, CodeMisplaced, "ANML-8-01", "the key "+quoted(key)+" cannot stand in "+n.element()+", so it is ignored", "")
	default:
		j.add(n, SeverityInfo, CodeUnknownKey, "ANML-7.2.6-01", "the key "+quoted(key)+" is unknown, so it is ignored", "")
	}
}

// raw holds the limits and characters of a value that is kept unread.
func (j *jsonReader) raw(v strictjson.Value, depth int) {
	if j.err != nil {
		return
	}
	switch v.Kind() {
	case strictjson.String:
		j.string(v)
	case strictjson.Array:
		for item := range v.Elements() {
			j.raw(item, depth)
		}
	case strictjson.Object:
		if j.elements++; j.elements > j.limits.Elements {
			j.fail(j.over(nil, v.Offset(), "elements", j.limits.Elements))
			return
		}
		if depth++; depth > j.limits.Depth {
			j.fail(j.refuse(ErrLimit, CodeLimit, nil, v.Offset(), "elements are nested more than "+itoa(j.limits.Depth)+" deep", ""))
			return
		}
		for key, item := range v.Members() {
			j.characters(key, item.Offset())
			j.raw(item, depth)
		}
	}
}
