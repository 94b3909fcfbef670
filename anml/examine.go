package anml

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// examine applies section 8 to a finished tree, whichever codec or builder made
// it: what may not be processed is marked, what is wrong is reported, and only
// the listed conditions refuse the document. The order is fixed: role, mixed
// model, counts, then everything else in document order.
func (r *reader) examine(root node) error {
	if err := r.examineRole(root); err != nil {
		return err
	}
	if err := r.examineModel(root); err != nil {
		return err
	}
	e := examination{reader: r, response: r.doc.Role() == RoleAgentResponse,
		patterns: patternBase + patternByte*int64(len(r.t.src))}
	e.elements()
	if e.err != nil {
		return e.err
	}
	e.versions(root)
	if r.doc.Multi() {
		e.sites(root)
	} else {
		e.container(root)
		e.title(root)
	}
	e.scopes(root) // behind everything that marks what is not processed
	return e.err
}

func (r *reader) examineRole(root node) error {
	r.doc.role = r.o.Role
	at := root.lookup("role")
	if !at.ok() {
		r.add(root, lookleap.SeverityInfo, CodeNoRole, "ANML-8.1-05", "the document does not name its role", `write role="service" or role="agent-response"`)
		return nil
	}
	role := parse[Role](roleWords[:], at.value)
	if r.o.Role != RoleUnspecified && role != r.o.Role {
		return r.refuse(ErrRoleConflict, CodeRoleConflict, root, -1, "the role "+quoted(at.value)+" is not the one of this exchange, "+r.o.Role.String(), "")
	}
	if role == RoleUnspecified {
		r.add(root, lookleap.SeverityError, CodeBadRole, "ANML-8.1-04", "the role "+quoted(at.value)+" is unknown", "write service or agent-response")
	}
	return nil
}

// isSection reports whether a kind is one of the ten sections.
func isSection(k kind) bool {
	return slices.ContainsFunc(sections, func(c childSpec) bool { return c.kind == k })
}

// examineModel refuses sections beside sites: the pattern of layered identity.
func (r *reader) examineModel(root node) error {
	var site, section node
	for c := root.first(); c.ok(); c = c.next() {
		if c.kind() == kSite {
			site = c
		} else if isSection(c.kind()) {
			section = c
		}
	}
	if site.ok() && section.ok() {
		return r.refuse(ErrMixedModel, CodeMixedModel, section, -1, "the section "+section.element()+" stands beside a site", "put it into a site")
	}
	return nil
}

// examination is one pass over a tree.
type examination struct {
	*reader
	response bool // the document is an agent response
	actions  int
	asks     int
	refs     int
	sited    int
	patterns int64 // what the patterns of parameters may still weigh
	err      error
}

// elements checks each element of the draft, in the order in which they were
// read.
func (e *examination) elements() {
	for i := root; i < len(e.t.rows) && e.err == nil; i++ {
		k := e.t.rows[i].kind
		if k <= kText {
			continue
		}
		n := e.node(int32(i))
		if counted[k] {
			e.count(n)
		}
		e.attributes(n, k)
		e.special(n, k)
		if words.single[k] {
			e.single(n, k)
		}
	}
}

// single finds children that stand more than once where they must not.
func (e *examination) single(n node, k kind) {
	var seen uint64
	for c := n.first(); c.ok(); c = c.next() {
		inner := c.kind()
		if bit := uint64(1) << inner; inner > kText && !words.many[k][inner] {
			if seen&bit != 0 {
				e.surplus(n, c)
			}
			seen |= bit
		}
	}
}

// surplus is the second of something that stands once: the first counts, except
// that restrictions are never lost and different claims are all invalid.
func (e *examination) surplus(parent, n node) {
	if n.kind() != kConstraints && n.kind() != kTrust {
		n.mark(ignored)
	}
	if !e.full() {
		e.add(n, lookleap.SeverityError, CodeSurplus, "ANML-8-03", schema[n.kind()].name+" stands more than once in "+schema[parent.kind()].name, "keep one of them")
	}
}

// counted are the kinds that count looks at.
var counted = [kindCount]bool{kAction: true, kAsk: true, kSite: true, kSiteRef: true, kFlow: true}

// count keeps the limits of section 13.7.
func (e *examination) count(n node) {
	check := func(count *int, limit int, what string) {
		if *count++; *count > limit {
			e.err = e.over(n, -1, what, limit)
		}
	}
	switch n.kind() {
	case kAction:
		check(&e.actions, e.limits.Actions, "actions")
	case kAsk:
		check(&e.asks, e.limits.Asks, "asks")
	case kSite:
		check(&e.sited, e.limits.Sites, "sites")
	case kSiteRef:
		check(&e.refs, e.limits.SiteRefs, "site references")
	case kFlow:
		steps := 0
		for c := n.first(); c.ok() && e.err == nil; c = c.next() {
			if c.kind() == kStep {
				check(&steps, e.limits.Steps, "steps in one flow")
			}
		}
	}
}

func (e *examination) attributes(n node, k kind) {
	for _, c := range n.cells() {
		if c.spec >= 0 && words.typed[c.spec] {
			if spec := &specs[c.spec]; spec.typ != tEnum || spec.lossy || !slices.Contains(spec.enum, e.t.string(c.value)) {
				e.attribute(n, e.t.attr(c))
			}
		}
	}
	for _, spec := range words.needs[k] {
		e.required(n, &specs[spec])
	}
}

// required marks an element whose required attribute is absent (section 11.4).
func (e *examination) required(n node, a *attrSpec) {
	at := n.lookup(a.name)
	if at.ok() && (at.value != "" || a.need == present) {
		return
	}
	n.mark(ignored | malformed)
	if e.full() {
		return
	}
	requirement := "ANML-11.4-01"
	if a.need == wanted {
		requirement = "ANML-11.4-02"
	}
	e.add(n, lookleap.SeverityError, CodeMalformed, requirement, schema[n.kind()].name+" has no "+a.name+", so it is not processed", "write the attribute "+a.name)
}

// attribute checks the text of an attribute against its type. What is wrong is
// kept as it is and read on the safe side by the accessors.
func (e *examination) attribute(n node, at attr) {
	switch at.spec.typ {
	case tBool:
		if at.value != "true" && at.value != "false" || at.spec.lossy {
			e.value(n, at, lookleap.SeverityError, "ANML-8.11-05", "is neither true nor false")
		}
	case tInteger:
		if _, ok := seconds(at.value); !ok || at.spec.lossy {
			e.value(n, at, lookleap.SeverityError, "ANML-8.1-11", "is no non-negative integer")
		}
	case tNumber:
		if at.spec.lossy {
			e.value(n, at, lookleap.SeverityError, "ANML-7.5-08", "is no number that is used")
		}
	case tEnum:
		e.enumValue(n, at)
	case tURI:
		e.uri(n, at)
	case tLang:
		if !isLang(at.value) {
			e.value(n, at, lookleap.SeverityWarning, "ANML-8.1-13", "is no language tag")
		}
	case tDateTime:
		if _, strict, ok := parseMoment(at.value); !ok {
			e.value(n, at, lookleap.SeverityWarning, "ANML-8.2-05", "is no time with a zone")
		} else if !strict {
			e.value(n, at, lookleap.SeverityInfo, "ANML-8.11-07", "is not written as YYYY-MM-DDTHH:MM:SSZ")
		}
	case tMethod:
		if _, exact := knownMethod(at.value); !exact && at.value != "" {
			e.method(n, at)
		}
	case tDomain:
		if at.value != "" && normalDomain(at.value) == "" {
			n.mark(ignored | malformed)
			e.value(n, at, lookleap.SeverityError, "ANML-12.7-03", "is not exactly one domain name")
		}
	}
}

func (e *examination) value(n node, at attr, s lookleap.Severity, requirement, what string) {
	if !e.full() {
		e.add(n, s, CodeBadValue, requirement, at.spec.name+"="+quoted(at.value)+" "+what, "")
	}
}

// enumValue reports an unknown word, and how it is read.
func (e *examination) enumValue(n node, at attr) {
	if e.full() {
		return
	}
	severity, requirement, reads := lookleap.SeverityWarning, "ANML-1.2.2-05", "nothing"
	switch at.spec.name {
	case "requires":
		if at.value == "" {
			return // malformed
		}
		severity, requirement, reads = lookleap.SeverityError, "ANML-8.4.1-03", "explicit-consent"
	case "usage":
		requirement, reads = "ANML-16.5-01", "none"
	case "confidentiality":
		requirement, reads = "ANML-8.7.1-01", "private"
	case "priority":
		requirement, reads = "ANML-8.7.1-01", "normal"
	case "type":
		requirement, reads = "ANML-8.11-01", "string"
	case "auth":
		requirement, reads = "ANML-8.6.1-06", "required"
	case "result":
		severity, requirement, reads = lookleap.SeverityError, "ANML-8.13-03", "error"
	case "reason":
		requirement, reads = "ANML-8.7.4-02", "a refusal"
	case "status":
		requirement, reads = "ANML-8.5.3-01", "nothing"
	case "inference":
		requirement, reads = "ANML-8.10.2-01", "none"
	case "role":
		return // reported by examineRole
	}
	e.add(n, severity, CodeBadValue, requirement, at.spec.name+"="+quoted(at.value)+" is unknown and read as "+reads, "write one of "+strings.Join(at.spec.enum, ", "))
}

func (e *examination) uri(n node, at attr) {
	switch {
	case at.value == "" && at.spec.need != optional:
	case n.kind() == kAction:
		if !usableTarget(at.value) {
			e.value(n, at, lookleap.SeverityError, "ANML-8.6.1-04", "is no URI reference that is executed, so the action is not")
		}
	case n.kind() == kSiteRef:
		if !canonicalURL(at.value) {
			n.mark(ignored | malformed)
			e.value(n, at, lookleap.SeverityError, "ANML-12.6-03", "is no absolute https URL of a named host")
		}
	case executableScheme(at.value):
		e.value(n, at, lookleap.SeverityWarning, "ANML-8.10.7-02", "is never followed")
	case !isURIReference(at.value):
		e.value(n, at, lookleap.SeverityWarning, "ANML-8.11-09", "is no URI reference")
	}
}

func (e *examination) method(n node, at attr) {
	if method, _ := knownMethod(at.value); method != "" {
		e.value(n, at, lookleap.SeverityInfo, "ANML-8.6.1-03", "is read as "+method)
		return
	}
	e.value(n, at, lookleap.SeverityError, "ANML-8.6.1-03", "is no method that is executed, so the action is not")
}

func (e *examination) versions(root node) {
	if v := e.doc.Version(); v != "1.0" {
		e.add(root, lookleap.SeverityWarning, CodeNewVersion, "ANML-8.1-20", "the document is of version "+quoted(v)+", read as far as it is understood", "")
	}
	if versions, present := e.doc.SupportedVersions(); present && !e.doc.Executable() {
		e.add(root, lookleap.SeverityWarning, CodeNoVersion, "ANML-8.1-23", "the document offers the versions "+quoted(strings.Join(versions, ", "))+" and not 1.0, so no action of it is executed", "")
	}
	if v := e.o.Version; v != "" && v != "1.0" {
		e.add(root, lookleap.SeverityWarning, CodeVersionType, "ANML-6.1-02", "the media type says version "+quoted(v)+", the document 1.0", "")
	}
}

// title applies section 6.5.1: a title is the least that a document holds.
func (e *examination) title(root node) {
	if e.response || root.child(kHead).child(kTitle).ok() {
		return
	}
	s := lookleap.SeverityWarning
	if e.o.WellKnown {
		s = lookleap.SeverityError
	}
	e.add(root, s, CodeNoTitle, "ANML-6.5.1-13", "the document has no title", "write <head><title>")
}

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
