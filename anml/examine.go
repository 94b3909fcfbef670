package anml

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// examine applies section 8 to a finished tree and returns the document. It marks what may not be
// processed and reports what is wrong; only a few conditions refuse the document. The order is
// fixed: role, mixed model, elements with their limits, then the sites.
func (r *reader) examine() (*Document, error) {
	root := r.doc.root()
	if err := r.examineRole(root); err != nil {
		return nil, err
	}
	if err := r.examineModel(root); err != nil {
		return nil, err
	}
	e := examination{reader: r, response: r.doc.Role() == RoleAgentResponse,
		patterns: patternBase + patternByte*int64(len(r.t.src))}
	if err := e.elements(); err != nil {
		return nil, err
	}
	e.root(root)
	if r.doc.Multi() {
		e.sites(root)
	} else {
		e.container(root)
		e.title(root)
	}
	e.scopes(root) // last, since scopes only refer to what is processed
	r.doc.found = r.findings
	return r.doc, nil
}

func (r *reader) examineRole(root node) error {
	r.doc.role = r.options.Role
	at := root.lookup("role")
	if !at.ok() {
		r.add(root, lookleap.SeverityInfo, codeNoRole, "ANML-8.1-05", "the document has no role",
			`write role="service" or role="agent-response"`)
		return nil
	}
	role := parse[Role](roleWords[:], at.value)
	if r.options.Role != RoleUnspecified && role != r.options.Role {
		return r.refuse(ErrRoleConflict, codeRoleConflict, root, -1,
			"the role is "+plaintext.Quote(at.value, maxQuoted)+", but the exchange implies "+r.options.Role.String(), "")
	}
	if role == RoleUnspecified {
		r.add(root, lookleap.SeverityError, codeBadRole, "ANML-8.1-04",
			"the role "+plaintext.Quote(at.value, maxQuoted)+" is unknown", "write service or agent-response")
	}
	return nil
}

// examineModel refuses a root with sections and sites (section 8.1): readers could disagree about
// the site that such a section belongs to.
func (r *reader) examineModel(root node) error {
	var site, section node
	for c := range root.all() {
		if c.kind() == kSite {
			site = c
		} else if slices.ContainsFunc(sections, func(s childSpec) bool { return s.kind == c.kind() }) {
			section = c
		}
	}
	if site.ok() && section.ok() {
		return r.refuse(ErrMixedModel, codeMixedModel, section, -1,
			"the root has the section "+section.name().Local+" and a site", "move it into a site")
	}
	return nil
}

// examination is one pass over a tree.
type examination struct {
	*reader
	response bool  // the document is an agent response
	patterns int64 // what the patterns of parameters may still cost; see checkPattern
}

// root reports findings about the versions of the document.
func (e *examination) root(root node) {
	if v := e.doc.Version(); v != Version {
		e.add(root, lookleap.SeverityWarning, CodeNewVersion, "ANML-8.1-20",
			"the document has the version "+plaintext.Quote(v, maxQuoted)+"; it is read as far as it is understood", "")
	}
	if versions, _ := e.doc.SupportedVersions(); !e.doc.Executable() {
		e.add(root, lookleap.SeverityWarning, CodeNoVersion, "ANML-8.1-23", "the document offers the versions "+
			plaintext.Quote(strings.Join(versions, ", "), maxQuoted)+" and not 1.0, so its actions are not executed", "")
	}
	if v := e.options.Version; v != "" && v != Version {
		e.add(root, lookleap.SeverityWarning, codeVersionType, "ANML-6.1-02",
			"the media type has the version "+plaintext.Quote(v, maxQuoted)+", and the document 1.0", "")
	}
}

// title reports a missing title (section 6.5.1).
func (e *examination) title(root node) {
	if e.response || root.child(kHead).child(kTitle).ok() {
		return
	}
	s := lookleap.SeverityWarning
	if e.options.WellKnown {
		s = lookleap.SeverityError
	}
	e.add(root, s, codeNoTitle, "ANML-6.5.1-13", "the document has no title", "write <head><title>")
}

// elements checks each element of the draft in the order of reading. It returns an error for a
// count above its limit (section 13.7).
func (e *examination) elements() error {
	limits := [kindCount]struct {
		count, limit int
		what         string
	}{
		kAction:  {0, e.limits.Actions, "actions"},
		kAsk:     {0, e.limits.Asks, "asks"},
		kSite:    {0, e.limits.Sites, "sites"},
		kSiteRef: {0, e.limits.SiteRefs, "site references"},
	}
	var err error
	e.doc.root().walk(func(n node) bool {
		k := n.kind()
		if l := &limits[k]; l.limit > 0 && err == nil {
			l.count++
			if l.count > l.limit {
				err = e.refuseTooMany(n, -1, l.what, l.limit)
			}
		}
		if err == nil {
			err = e.element(n, k)
		}
		return err == nil
	})
	return err
}

// element checks one element.
func (e *examination) element(n node, k kind) error {
	e.attributes(n, k)
	switch k {
	case kFlow:
		steps := 0
		for c := range n.all() {
			if c.kind() == kStep {
				steps++
			}
		}
		if steps > e.limits.Steps {
			return e.refuseTooMany(n, -1, "steps in one flow", e.limits.Steps)
		}
	case kField:
		e.field(n)
	case kAction:
		e.action(n)
	case kParam:
		e.param(n)
	case kAsk:
		e.ask(n)
	default:
		e.advice(n, k)
	}
	e.repeated(n, k)
	return nil
}

// repeated reports children that appear more than once and must not. The first one counts. Of
// constraints all count, since no restriction may be lost, and different claims are all invalid.
func (e *examination) repeated(n node, k kind) {
	var seen uint64 // a bit for each kind
	for c := range n.all() {
		inner := c.kind()
		if rule, _ := schema[k].place(inner); inner <= kText || rule.many {
			continue
		}
		bit := uint64(1) << inner
		if seen&bit == 0 {
			seen |= bit
			continue
		}
		if inner != kConstraints && inner != kTrust {
			c.mark(ignored)
		}
		if !e.full() {
			e.add(c, lookleap.SeverityError, codeSurplus, "ANML-8-03",
				schema[inner].name+" appears more than once in "+schema[k].name, "keep one of them")
		}
	}
}

// attributes checks the attributes of an element. It marks an element that lacks a required
// attribute (section 11.4).
func (e *examination) attributes(n node, k kind) {
	for at := range n.attrs() {
		if at.spec != nil && !slices.Contains(at.spec.enum, at.value) {
			e.attribute(n, at)
		}
	}
	for _, spec := range schema[k].attrs {
		at := n.lookup(spec.name)
		if spec.need == optional || at.ok() && (at.value != "" || spec.need == present) {
			continue
		}
		n.mark(ignored | malformed)
		if e.full() {
			continue
		}
		requirement := "ANML-11.4-01"
		if spec.need == wanted {
			requirement = "ANML-11.4-02"
		}
		e.add(n, lookleap.SeverityError, CodeMalformed, requirement,
			schema[k].name+" has no "+spec.name+", so it is not processed", "write the attribute "+spec.name)
	}
}

// attribute checks the text of an attribute against its type. An invalid text is kept; the
// accessors return the safe value for it. A JSON number that is not exact was reported before.
func (e *examination) attribute(n node, at attr) {
	switch at.spec.typ {
	case tBool:
		if at.value != "true" && at.value != "false" {
			e.badValue(n, at, lookleap.SeverityError, "ANML-8.11-05", "is neither true nor false")
		}
	case tInteger:
		if _, ok := seconds(at.value); !ok {
			e.badValue(n, at, lookleap.SeverityError, "ANML-8.1-11", "is not a non-negative integer")
		}
	case tEnum:
		e.unknownWord(n, at)
	case tURI:
		switch {
		case at.value == "": // reported as malformed if it is required
		case n.kind() == kAction:
			if !usableTarget(at.value) {
				e.badValue(n, at, lookleap.SeverityError, "ANML-8.6.1-04", "is not a usable URI reference, so the action is not executed")
			}
		case n.kind() == kSiteRef:
			if _, err := domain.Parse(at.value); err != nil {
				n.mark(ignored | malformed)
				e.badValue(n, at, lookleap.SeverityError, "ANML-12.6-03", "is not an absolute https URL with a host name")
			}
		case executableScheme(at.value):
			e.badValue(n, at, lookleap.SeverityWarning, "ANML-8.10.7-02", "is never followed")
		case !isURIReference(at.value):
			e.badValue(n, at, lookleap.SeverityWarning, "ANML-8.11-09", "is not a URI reference")
		}
	case tLang:
		if !isLang(at.value) {
			e.badValue(n, at, lookleap.SeverityWarning, "ANML-8.1-13", "is not a language tag")
		}
	case tDateTime:
		if _, strict, ok := parseTime(at.value); !ok {
			e.badValue(n, at, lookleap.SeverityWarning, "ANML-8.2-05", "is not a time with a zone")
		} else if !strict {
			e.badValue(n, at, lookleap.SeverityInfo, "ANML-8.11-07", "is not in the form YYYY-MM-DDTHH:MM:SSZ")
		}
	case tMethod:
		switch method, exact := knownMethod(at.value); {
		case exact || at.value == "":
		case method != "":
			e.badValue(n, at, lookleap.SeverityInfo, "ANML-8.6.1-03", "is read as "+method)
		default:
			e.badValue(n, at, lookleap.SeverityError, "ANML-8.6.1-03", "is not a usable method, so the action is not executed")
		}
	case tDomain:
		if at.value != "" && normalDomain(at.value) == "" {
			n.mark(ignored | malformed)
			e.badValue(n, at, lookleap.SeverityError, "ANML-12.7-03", "is not exactly one domain name")
		}
	}
}

func (e *examination) badValue(n node, at attr, s lookleap.Severity, requirement, what string) {
	if !e.full() {
		e.add(n, s, codeBadValue, requirement, at.spec.name+"="+plaintext.Quote(at.value, maxQuoted)+" "+what, "")
	}
}

// unknownWord reports an unknown word of an enumeration and how it is read.
func (e *examination) unknownWord(n node, at attr) {
	severity, requirement, readAs := lookleap.SeverityWarning, "ANML-1.2.2-05", "absent"
	switch at.spec.name {
	case "requires":
		if at.value == "" {
			return // reported as malformed
		}
		severity = lookleap.SeverityError
		requirement = "ANML-8.4.1-03"
		readAs = "explicit-consent"
	case "usage":
		requirement, readAs = "ANML-16.5-01", "none"
	case "confidentiality":
		requirement, readAs = "ANML-8.7.1-01", "private"
	case "priority":
		requirement, readAs = "ANML-8.7.1-01", "normal"
	case "type":
		requirement, readAs = "ANML-8.11-01", "string"
	case "auth":
		requirement, readAs = "ANML-8.6.1-06", "required"
	case "result":
		severity, requirement, readAs = lookleap.SeverityError, "ANML-8.13-03", "error"
	case "reason":
		requirement, readAs = "ANML-8.7.4-02", "a refusal"
	case "status":
		requirement, readAs = "ANML-8.5.3-01", "absent"
	case "inference":
		requirement, readAs = "ANML-8.10.2-01", "none"
	case "role":
		return // reported by examineRole
	}
	if !e.full() {
		e.add(n, severity, codeBadValue, requirement, at.spec.name+"="+plaintext.Quote(at.value, maxQuoted)+
			" is unknown and read as "+readAs, "write one of "+strings.Join(at.spec.enum, ", "))
	}
}

// action drops repeated parameters. It reports a changing action without confirm.
func (e *examination) action(n node) {
	names := map[string]bool{}
	for c := range n.children(kParam) {
		if name := c.value("name"); name != "" && names[name] {
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, codeDuplicateID, "ANML-8.6.2-01",
				"the parameter "+plaintext.Quote(name, maxQuoted)+" appears twice; the first one counts", "rename one of them")
		} else {
			names[name] = true
		}
	}
	switch m, _ := knownMethod(n.value("method")); m {
	case "", "GET", "HEAD", "OPTIONS":
	default:
		if !n.lookup("confirm").ok() {
			e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-13.4-14",
				"the action changes something and does not say whether it needs confirmation", `write confirm="true" or confirm="false"`)
		}
	}
}

// param checks the pattern, options and bounds of a parameter.
func (e *examination) param(n node) {
	p := Param{Node{n, e.doc}}
	e.checkPattern(p)
	switch t, options := p.Type(), n.has(kOption); {
	case t == TypeEnum && !options:
		e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.6.3-01", "an enum without options accepts no value",
			"write option elements")
	case t != TypeEnum && options:
		e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.6.3-01",
			"the options are ignored, since the parameter is not an enum", `write type="enum"`)
	}
	for _, bound := range []string{"min", "max"} {
		if text, ok := p.Attr(bound); ok && !isBound(p.Type(), text) {
			e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.6.2-04",
				bound+"="+plaintext.Quote(text, maxQuoted)+" has no meaning for the type "+p.Type().String(), "")
		}
	}
	lo, _ := p.Min()
	hi, _ := p.Max()
	t := p.Type()
	if isBound(t, lo) && isBound(t, hi) && above(t, lo, hi) {
		e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.6.2-04",
			"no value is at least "+plaintext.Quote(lo, maxQuoted)+" and at most "+plaintext.Quote(hi, maxQuoted), "exchange min and max")
	}
	if def, ok := p.Default(); ok && !p.hasDefault() {
		e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.6.2-04",
			"the default "+plaintext.Quote(def, maxQuoted)+" is not used, since the parameter does not accept it", "write a default that fits type, pattern, options and bounds")
	}
}

// above reports whether one bound is greater than another.
func above(t Type, lo, hi string) bool {
	if t != TypeString {
		return compare(t, lo, hi) > 0
	}
	least, _ := seconds(lo)
	most, _ := seconds(hi)
	return least > most
}

// isBound reports whether a text is a bound for values of a type.
func isBound(t Type, text string) bool {
	switch t {
	case TypeNumber:
		return isFinite(text)
	case TypeDate, TypeDateTime:
		return hasType(t, text)
	case TypeString:
		_, ok := seconds(text)
		return ok
	}
	return false
}

// betterField maps common field names to the registered names.
var betterField = map[string]string{
	"e-mail": "email", "mail": "email", "email-address": "email", "phone": "tel", "telephone": "tel", "mobile": "tel",
	"birthday": "bday", "birthdate": "bday", "date-of-birth": "bday", "name": "fn", "full-name": "fn", "fullname": "fn",
	"address": "adr", "timezone": "tz", "time-zone": "tz", "language": "lang", "organization": "org", "organisation": "org",
	"company": "org", "sex": "gender", "website": "url", "homepage": "url",
}

// ask reports a missing purpose and unregistered field names.
func (e *examination) ask(n node) {
	field := n.value("field")
	if trimSpace(n.value("purpose")) == "" {
		e.add(n, lookleap.SeverityError, CodeNoPurpose, "ANML-14.3-02",
			"the ask for "+plaintext.Quote(field, maxQuoted)+" has no purpose", "write the attribute purpose")
	}
	lower := strings.ToLower(field)
	if better := betterField[lower]; better != "" {
		e.add(n, lookleap.SeverityInfo, codeFieldName, "ANML-8.7.2-04",
			"the field "+plaintext.Quote(field, maxQuoted)+" has another registered name", "write "+better)
	} else if lower != field && IsStandardField(lower) {
		e.add(n, lookleap.SeverityInfo, codeFieldName, "ANML-16.3-02",
			"the field "+plaintext.Quote(field, maxQuoted)+" is not in lower case", "write "+lower)
	}
}

// field checks a value against its type.
func (e *examination) field(n node) {
	t := valueType(n.value("type"))
	if t == TypeString {
		return
	}
	if text := n.content(); !hasType(t, text) && !e.full() {
		e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.10.10-01",
			"the value "+plaintext.Quote(text, maxQuoted)+" is not a "+t.String(), "")
	}
	if t == TypeNumber && slices.Contains([]string{"price", "amount", "total"}, n.value("name")) && !e.full() {
		e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-8.11-04", "an amount of money is a number, which can lose digits",
			`write type="string"`)
	}
}

// longText is the size of an unstructured body, in bytes, above which it is reported.
const longText = 4 << 10

// advice reports what the author of the document could do better.
func (e *examination) advice(n node, k kind) {
	switch k {
	case kImg:
		if !n.child(kDescription).ok() && !e.full() {
			e.add(n, lookleap.SeverityWarning, CodeLint, "ANML-8.10.2-03", "the image has no description", "write a description")
		}
	case kColor:
		if v := n.value("value"); strings.ContainsAny(v, ";{}") || strings.Contains(strings.ToLower(v), "url(") {
			e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.9.4-01",
				"the colour "+plaintext.Quote(v, maxQuoted)+" is more than a colour", "")
		}
	case kLanguage:
		if n.value("policy") == "fixed" && n.value("value") == "" {
			e.add(n, lookleap.SeverityWarning, codeBadValue, "ANML-8.8.2-01", "a fixed language without a value has no effect",
				"write the attribute value")
		}
	case kLogo:
		if n.value("src") == "" {
			e.add(n, lookleap.SeverityWarning, codeMissingKey, "ANML-8.9.2-01", "the logo has no src", "write the attribute src")
		}
	case kBody:
		if len(n.e.Child) == 1 && len(n.content()) > longText {
			e.add(n, lookleap.SeverityInfo, CodeLint, "ANML-4-04", "the body is one long text without structure", "use sections and data")
		}
	}
}
