package anml

import (
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// special checks what single elements need beyond the types of their attributes.
func (e *examination) special(n node, k kind) {
	switch k {
	case kField:
		e.field(n)
	case kAction:
		e.action(n)
	case kParam:
		e.param(n)
	case kAsk:
		e.ask(n)
	case kImg:
		e.img(n)
	case kColor:
		e.color(n)
	case kLanguage:
		e.language(n)
	case kLogo:
		e.logo(n)
	case kBody:
		if only := n.first(); only.ok() && only.kind() == kText && !only.next().ok() && len(only.text()) > longText {
			e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-4-04", "the body is one long text without structure", "divide it into sections and data")
		}
	}
}

// longText is how many octets of text without structure are worth a remark.
const longText = 4 << 10

// canonicalURL is what a site-ref must give: https, a named host, nothing odd.
func canonicalURL(s string) bool {
	_, err := domain.Parse(s)
	return err == nil
}

// action keeps parameters apart and notes what its author left open.
func (e *examination) action(n node) {
	a := Action{Node{n, e.doc}}
	names := map[string]bool{}
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() != kParam {
			continue
		}
		if name := c.value("name"); name != "" && names[name] {
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, CodeDuplicateID, "ANML-8.6.2-01", "the parameter "+quoted(name)+" stands twice; the first one counts", "rename one of them")
		} else {
			names[name] = true
		}
	}
	switch m := a.Method(); m {
	case "", "GET", "HEAD", "OPTIONS":
	default:
		if _, stated := a.Confirm(); !stated {
			e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-13.4-14", "the action changes something and says nothing about confirmation", `write confirm="true" or confirm="false"`)
		}
	}
}

func (e *examination) param(n node) {
	p := Param{Node{n, e.doc}}
	e.pattern(p)
	options := 0
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == kOption {
			options++
		}
	}
	switch t := p.Type(); {
	case t == TypeEnum && options == 0:
		e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.6.3-01", "an enum without options accepts no value", "write option elements")
	case t != TypeEnum && options > 0:
		e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.6.3-01", "the options of a parameter that is no enum are ignored", `write type="enum"`)
	}
	for _, bound := range []string{"min", "max"} {
		if text, ok := p.Attr(bound); ok && !boundFits(p.Type(), text) {
			e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.6.2-04", bound+"="+quoted(text)+" means nothing for the type "+p.Type().String(), "")
		}
	}
}

// boundFits reports whether min or max can be applied to a type.
func boundFits(t Type, bound string) bool {
	switch t {
	case TypeNumber:
		_, err := ParseNumber(bound)
		return err == nil
	case TypeDate, TypeDateTime:
		return CheckValue(t, bound) == nil
	case TypeString:
		_, ok := seconds(bound)
		return ok
	}
	return false
}

// betterField names the registered field that other words mean.
var betterField = map[string]string{
	"e-mail": "email", "mail": "email", "email-address": "email", "phone": "tel", "telephone": "tel", "mobile": "tel",
	"birthday": "bday", "birthdate": "bday", "date-of-birth": "bday", "name": "fn", "full-name": "fn", "fullname": "fn",
	"address": "adr", "timezone": "tz", "time-zone": "tz", "language": "lang", "organization": "org", "organisation": "org",
	"company": "org", "sex": "gender", "website": "url", "homepage": "url",
}

func (e *examination) ask(n node) {
	a := Ask{Node{n, e.doc}}
	if strings.Trim(a.Purpose(), " \t\r\n") == "" {
		e.add(n, lookleap.SeverityError, CodeNoPurpose, "ANML-14.3-02", "the ask for "+quoted(a.Field())+" does not say what for", "write purpose")
	}
	lower := strings.ToLower(a.Field())
	if better := betterField[lower]; better != "" {
		e.add(n, lookleap.SeverityInfo, CodeFieldName, "ANML-8.7.2-04", "the field "+quoted(a.Field())+" has a registered name", "write "+better)
	} else if lower != a.Field() && IsStandardField(lower) {
		e.add(n, lookleap.SeverityInfo, CodeFieldName, "ANML-16.3-02", "the field "+quoted(a.Field())+" is not the registered spelling", "write "+lower)
	}
}

// The attributes of a field.
var (
	fieldName = words.spec(kField, "name")
	fieldType = words.spec(kField, "type")
)

func (e *examination) field(n node) {
	t, name := TypeString, ""
	for _, c := range n.cells() {
		switch c.spec {
		case fieldType:
			t = valueType(e.t.string(c.value))
		case fieldName:
			name = e.t.string(c.value)
		}
	}
	if t == TypeString {
		return
	}
	text := n.content()
	if CheckValue(t, text) != nil && !e.full() {
		e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.10.10-01", "the value "+quoted(text)+" is no "+t.String(), "")
	}
	if t == TypeNumber && !e.full() {
		switch name {
		case "price", "amount", "total":
			e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-8.11-04", "money as a number loses digits", `write type="string"`)
		}
	}
}

func (e *examination) img(n node) {
	if !n.child(kDescription).ok() && !e.full() {
		e.add(n, lookleap.SeverityWarning, CodeLint, "ANML-8.10.2-03", "the image has no description", "write a description")
	}
}

func (e *examination) color(n node) {
	if v := n.value("value"); strings.ContainsAny(v, ";{}") || strings.Contains(strings.ToLower(v), "url(") {
		e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.9.4-01", "the colour "+quoted(v)+" holds more than a colour", "")
	}
}

func (e *examination) language(n node) {
	if n.value("policy") == "fixed" && n.value("value") == "" {
		e.add(n, lookleap.SeverityWarning, CodeBadValue, "ANML-8.8.2-01", "a fixed language without a value has no effect", "write value")
	}
}

func (e *examination) logo(n node) {
	if n.value("src") == "" {
		e.add(n, lookleap.SeverityWarning, CodeMissingKey, "ANML-8.9.2-01", "the logo has no src", "write src")
	}
}
