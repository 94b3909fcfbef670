package anml

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// attribute reads the value of a key. It returns false if the key is not an attribute.
func (j *jsonReader) attribute(n node, key string, v strictjson.Value) (bool, error) {
	k := n.kind()
	if k == kAnml && (key == "anml" || key == "version") {
		return true, j.version(n, key, v)
	}
	name, spec := Name{"", key}, schema[k].attr(key)
	if spec == nil {
		foreign, ok := attributeKey(key)
		switch {
		case schema[k].child(key) != kUnknown:
			return false, nil
		case ok:
			name = foreign
			if name.Space == "" {
				spec = schema[k].attr(name.Local)
			}
		case key != "site" || k != kTrust && k != kSiteRef:
			return false, nil
		}
		if err := j.characters(key, v); err != nil {
			return true, err
		}
	}
	value, present, usable, err := j.attributeValue(n, key, v, spec)
	if err != nil || !present {
		return true, err
	}
	if spec != nil && n.lookup(spec.name).ok() {
		return true, j.refuse(ErrNotWellFormed, strictjson.CodeDuplicateName, n, v.Offset(),
			"the attribute "+plaintext.Quote(spec.name, maxQuoted)+" appears twice", "")
	}
	setAttr(n.e, name, value)
	if !usable {
		r := j.t.rare[n.e]
		r.unusable = append(r.unusable, name.Local)
		j.t.rare[n.e] = r
	}
	return true, nil
}

// attributeKey parses the key of an attribute that ANML does not define: @{namespace}local or
// xml:local.
func attributeKey(key string) (Name, bool) {
	if local, ok := strings.CutPrefix(key, "xml:"); ok && strictxml.IsNCName(local) {
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
	if i < 0 || !strictxml.IsNCName(key[i+1:]) {
		return Name{}, false
	}
	name := Name{key[1:i], key[i+1:]}
	return name, name.Space != xmlnsNamespace && name != (Name{"", "xmlns"})
}

// attributeValue reads the text of an attribute. A null is an absent attribute. An array or object
// is an unusable value, or an absent one if the type accepts every text.
func (j *jsonReader) attributeValue(n node, key string, v strictjson.Value, spec *attrSpec) (text string, present, usable bool, err error) {
	switch v.Kind() {
	case strictjson.String:
		text, err = j.text(v)
		return text, true, true, err
	case strictjson.Bool:
		return v.Source(), true, true, nil
	case strictjson.Number:
		text, usable = j.number(n, v.Source())
		return text, true, usable || spec == nil, nil
	case strictjson.Null:
		if !j.full() {
			j.add(n, lookleap.SeverityInfo, codeNullValue, "ANML-7.2.2-04",
				"the key "+plaintext.Quote(key, maxQuoted)+" is null, so it counts as absent", "omit it")
		}
		return "", false, false, nil
	}
	j.reportKind(n, key, v)
	accepts := []attrType{tString, tURI, tDomain, tMethod, tLang, tMedia}
	return "[]", spec != nil && !slices.Contains(accepts, spec.typ), false, nil // invalid for the types that remain
}

// number returns a JSON number as the decimal number that it would be in XML, and whether it may
// be used.
func (j *jsonReader) number(n node, source string) (text string, usable bool) {
	number, err := ParseNumber(source)
	if err == nil && number.Exact {
		return strconv.FormatFloat(number.Float, 'f', -1, 64), true
	}
	if !j.full() {
		code := codePrecision
		if err != nil {
			code = codeOverflow
		}
		j.add(n, lookleap.SeverityError, code, "ANML-7.5-08",
			"the number "+plaintext.Quote(source, maxQuoted)+" is not a number that all readers represent exactly", "write it as a string")
	}
	return source, false
}

// version reads the key that marks a JSON document (section 7.2.1).
func (j *jsonReader) version(n node, key string, v strictjson.Value) (err error) {
	text := v.Kind().String()
	switch v.Kind() {
	case strictjson.String:
		if text, err = j.text(v); err != nil {
			return err
		}
	case strictjson.Number:
		j.add(n, lookleap.SeverityWarning, codeVersionKey, "ANML-7.2.1-02", "the version is a number", `write "anml": "1.0"`)
		text = v.Source()
		if number, err := ParseNumber(text); err == nil && number.Exact && number.Float == 1 {
			text = Version
		}
	default:
		j.reportKind(n, key, v)
	}
	if key == "version" {
		j.add(n, lookleap.SeverityWarning, codeVersionKey, "ANML-7.2.1-02", "the key version is read as anml", `write "anml"`)
	}
	if i := plainAttr(n.e, "version"); i < 0 {
		setAttr(n.e, Name{"", "version"}, text)
	} else if key == "anml" {
		n.e.Attr[i].Value = text
	}
	return nil
}

// reportKind reports a value of a kind that has no meaning there.
func (j *jsonReader) reportKind(n node, key string, v strictjson.Value) {
	if !j.full() {
		j.add(n, lookleap.SeverityError, codeWrongShape, "ANML-7.2.2-04",
			"the key "+plaintext.Quote(key, maxQuoted)+" is "+v.Kind().String()+", which has no meaning there", "")
	}
}
