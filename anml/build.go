package anml

import (
	"slices"
	"strconv"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// ErrEmptyResponse is why a response that says nothing is not built.
var ErrEmptyResponse = coded.New("usage", "anml: there is nothing to respond to")

// element is one element of a document that is being built, or a text in it.
type element struct {
	kind     kind
	content  string // of kText
	attrs    [][2]string
	children []*element
}

// el returns the element of a builder: nil for a nil or zero builder, which ignores what it is told.
func el[B ~struct{ e *element }](b *B) *element {
	if b == nil {
		return nil
	}
	return (struct{ e *element })(*b).e
}

// errNoBuilder is why a nil or zero builder builds nothing.
var errNoBuilder = coded.New("usage", "anml: the builder is empty: make it with NewService, NewSites or NewResponse")

func newElement(k kind) *element { return &element{kind: k} }

// value gives an attribute's text, "" when it is absent.
func (e *element) value(name string) string {
	for _, at := range e.attrs {
		if at[0] == name {
			return at[1]
		}
	}
	return ""
}

// set writes an attribute of the draft; an empty text leaves it out, except where
// empty is a value.
func (e *element) set(name, value string) {
	if e == nil {
		return
	}
	e.attrs = slices.DeleteFunc(e.attrs, func(at [2]string) bool { return at[0] == name })
	if value != "" || specs[words.spec(e.kind, name)].need == present {
		e.attrs = append(e.attrs, [2]string{name, value})
	}
}

func (e *element) flag(name string, value bool) { e.set(name, strconv.FormatBool(value)) }
func (e *element) seconds(name string, d time.Duration) {
	e.set(name, strconv.FormatInt(int64(d/time.Second), 10))
}

// add makes a child.
func (e *element) add(k kind) *element {
	c := newElement(k)
	if e != nil {
		e.children = append(e.children, c)
	}
	return c
}

func (e *element) text(s string) *element {
	if e != nil && s != "" {
		e.children = append(e.children, &element{kind: kText, content: s})
	}
	return e
}

// find gives the first child of a kind, or nil.
func (e *element) find(k kind) *element {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		if c.kind == k {
			return c
		}
	}
	return nil
}

// child makes a child, or gives the one that is there.
func (e *element) child(k kind) *element {
	if c := e.find(k); c != nil {
		return c
	}
	return e.add(k)
}

// arrange puts sections into the order of the draft.
func (e *element) arrange() {
	if e == nil {
		return
	}
	slices.SortStableFunc(e.children, func(a, b *element) int { return int(a.kind) - int(b.kind) })
}

// write writes what follows the name in the start tag, and all that it holds.
func (e *element) write(w *xmlWriter) {
	name := schema[e.kind].name
	for _, at := range e.attrs {
		w.attribute(at[0], at[1])
	}
	if len(e.children) == 0 {
		w.raw("/>")
		return
	}
	w.raw(">")
	for _, c := range e.children {
		if c.kind == kText {
			w.out = appendText(w.out, c.content)
		} else {
			w.raw("<" + schema[c.kind].name)
			c.write(w)
		}
	}
	w.raw("</" + name + ">")
}

// build writes the tree and reads it back, so that what comes out is what any
// reader would see, and nothing invalid comes out.
func build(root *element, role Role) (*Document, error) {
	if root == nil {
		return nil, errNoBuilder
	}
	root.set("version", Version)
	root.set("role", role.String())
	w := &xmlWriter{}
	w.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<anml")
	w.attribute("xmlns", Namespace)
	root.write(w)
	d, err := ParseXML(w.out, ReadOptions{Role: role})
	if err != nil {
		return nil, err
	}
	d.built = true
	if _, err := d.writable(WriteOptions{}); err != nil {
		return nil, err
	}
	return d, nil
}

// Builder makes a single-site service document:
//
//	b := anml.NewService("Flights")
//	b.Rule("email", anml.ExplicitConsent)
//	b.Action("search", "GET", "/search").Param("date", anml.TypeDate).Required()
//	b.Action("book", "POST", "/book").Confirm(true)
//	b.Ask("email", "book", "to send the ticket")
//	doc, err := b.Build()
//
// Sections appear in the order of the draft, whatever the order of the calls. An
// action that asks name is executed by answering them: a required parameter of it
// needs an ask of the same name (sections 9.3 and 11.1).
type Builder struct {
	SiteBuilder
}

// NewService starts a service document with its title, the least that one holds.
func NewService(title string) *Builder {
	b := &Builder{SiteBuilder{newElement(kAnml)}}
	b.Title(title)
	return b
}

// TTL sets the lifetime of the document, Lang its language.
func (b *Builder) TTL(d time.Duration) *Builder { zero.Or(b).e.seconds("ttl", d); return b }
func (b *Builder) Lang(tag string) *Builder     { zero.Or(b).e.set("lang", tag); return b }

// Trust claims to speak for another site, which agents verify.
func (b *Builder) Trust(domain string) *Builder {
	zero.Or(b).e.child(kHead).child(kTrust).set("domain", domain)
	return b
}

// Build checks the document as a reader would, and gives it, or an
// *InvalidError with everything that is wrong.
func (b *Builder) Build() (*Document, error) {
	zero.Or(b).e.arrange()
	return build(zero.Or(b).e, RoleService)
}

// MultiBuilder makes a multi-site document: sites and nothing beside them.
type MultiBuilder struct{ e *element }

// NewSites starts a multi-site document.
func NewSites() *MultiBuilder { return &MultiBuilder{newElement(kAnml)} }

// Site adds a site. One of them has to be the serving party's own.
func (m *MultiBuilder) Site(domain string) *SiteBuilder {
	s := &SiteBuilder{el(m).add(kSite)}
	s.e.set("domain", domain)
	return s
}

// Build works like Builder.Build.
func (m *MultiBuilder) Build() (*Document, error) {
	if e := el(m); e != nil {
		for _, c := range e.children {
			c.arrange()
		}
	}
	return build(el(m), RoleService)
}

// SiteBuilder fills the sections of one site.
type SiteBuilder struct{ e *element }

func (s *SiteBuilder) Title(text string) *SiteBuilder {
	title := el(s).child(kHead).child(kTitle)
	title.children = nil
	title.text(text)
	return s
}

func (s *SiteBuilder) Meta(name, value string) *SiteBuilder {
	m := el(s).child(kHead).add(kMeta)
	m.set("name", name)
	m.set("value", value)
	return s
}

// SiteRef points to another site's own document.
func (s *SiteBuilder) SiteRef(domain, canonical string, r Relationship) *SiteBuilder {
	ref := el(s).child(kHead).add(kSiteRef)
	ref.set("domain", domain)
	ref.set("canonical", canonical)
	ref.set("relationship", string(r))
	return s
}

// Rule adds a disclosure rule; ValidFor limits how long a consent stays valid.
func (s *SiteBuilder) Rule(field string, r Requires) *RuleBuilder {
	d := el(s).child(kConstraints).add(kDisclosure)
	d.set("field", field)
	d.set("requires", r.String())
	return &RuleBuilder{d}
}

// RuleBuilder is one disclosure rule.
type RuleBuilder struct{ e *element }

func (r *RuleBuilder) ValidFor(d time.Duration) *RuleBuilder { el(r).seconds("valid-for", d); return r }

// Step adds a step of the workflow, Context says which is the current one.
func (s *SiteBuilder) Step(id, label string, status StepStatus) *StepBuilder {
	step := el(s).child(kState).child(kFlow).add(kStep)
	step.set("id", id)
	step.set("label", label)
	step.set("status", status.String())
	return &StepBuilder{step}
}

func (s *SiteBuilder) Context(step string) *SiteBuilder {
	el(s).child(kState).child(kContext).add(kContextStep).text(step)
	el(s).child(kState).arrange()
	return s
}

// StepBuilder is one step.
type StepBuilder struct{ e *element }

func (s *StepBuilder) Required() *StepBuilder             { el(s).flag("required", true); return s }
func (s *StepBuilder) Next(id string) *StepBuilder        { el(s).set("next", id); return s }
func (s *StepBuilder) Condition(text string) *StepBuilder { el(s).set("condition", text); return s }
func (s *StepBuilder) Action(id string) *StepBuilder      { el(s).set("action", id); return s }

// Action adds an operation.
func (s *SiteBuilder) Action(id, method, endpoint string) *ActionBuilder {
	a := el(s).child(kInteract).add(kAction)
	a.set("id", id)
	a.set("method", method)
	a.set("endpoint", endpoint)
	return &ActionBuilder{a}
}

// ActionBuilder is one action.
type ActionBuilder struct{ e *element }

func (a *ActionBuilder) Description(text string) *ActionBuilder {
	el(a).set("description", text)
	return a
}
func (a *ActionBuilder) EncType(mediaType string) *ActionBuilder {
	el(a).set("enctype", mediaType)
	return a
}
func (a *ActionBuilder) Auth(auth Auth) *ActionBuilder      { el(a).set("auth", auth.String()); return a }
func (a *ActionBuilder) Idempotent(yes bool) *ActionBuilder { el(a).flag("idempotent", yes); return a }
func (a *ActionBuilder) Confirm(yes bool) *ActionBuilder    { el(a).flag("confirm", yes); return a }
func (a *ActionBuilder) Response(mediaType, description string) *ActionBuilder {
	r := el(a).child(kResponse)
	r.set("type", mediaType)
	r.set("description", description)
	return a
}

// Param adds a parameter.
func (a *ActionBuilder) Param(name string, t Type) *ParamBuilder {
	p := el(a).add(kParam)
	p.set("name", name)
	p.set("type", t.String())
	el(a).arrange()
	return &ParamBuilder{p}
}

// ParamBuilder is one parameter.
type ParamBuilder struct{ e *element }

func (p *ParamBuilder) Required() *ParamBuilder { el(p).flag("required", true); return p }
func (p *ParamBuilder) Description(text string) *ParamBuilder {
	el(p).set("description", text)
	return p
}
func (p *ParamBuilder) Default(value string) *ParamBuilder { el(p).set("default", value); return p }
func (p *ParamBuilder) Pattern(re2 string) *ParamBuilder   { el(p).set("pattern", re2); return p }
func (p *ParamBuilder) Min(bound string) *ParamBuilder     { el(p).set("min", bound); return p }
func (p *ParamBuilder) Max(bound string) *ParamBuilder     { el(p).set("max", bound); return p }
func (p *ParamBuilder) Option(value, label string) *ParamBuilder {
	o := el(p).add(kOption)
	o.set("value", value)
	o.set("label", label)
	return p
}

// Inform adds a piece of information.
func (s *SiteBuilder) Inform(text string) *InformBuilder {
	return &InformBuilder{el(s).child(kKnowledge).add(kInform).text(text)}
}

// InformBuilder is one inform.
type InformBuilder struct{ e *element }

func (i *InformBuilder) TTL(d time.Duration) *InformBuilder { el(i).seconds("ttl", d); return i }
func (i *InformBuilder) Scope(id string) *InformBuilder     { el(i).set("scope", id); return i }
func (i *InformBuilder) Priority(p Priority) *InformBuilder {
	el(i).set("priority", p.String())
	return i
}
func (i *InformBuilder) Usage(u Usage) *InformBuilder { el(i).set("usage", u.String()); return i }
func (i *InformBuilder) Confidentiality(c Confidentiality) *InformBuilder {
	el(i).set("confidentiality", c.String())
	return i
}

// Ask asks for a field, to be answered to an action, for a purpose.
func (s *SiteBuilder) Ask(field, action, purpose string) *AskBuilder {
	return newAsk(el(s).child(kKnowledge), field, action, purpose)
}

func newAsk(knowledge *element, field, action, purpose string) *AskBuilder {
	a := knowledge.add(kAsk)
	a.set("field", field)
	a.set("action", action)
	a.set("purpose", purpose)
	return &AskBuilder{a}
}

// AskBuilder is one ask.
type AskBuilder struct{ e *element }

func (a *AskBuilder) Required() *AskBuilder   { el(a).flag("required", true); return a }
func (a *AskBuilder) Type(t Type) *AskBuilder { el(a).set("type", t.String()); return a }

// Status states the outcome of a submitted action.
func (s *SiteBuilder) Status(code string, r Result, message string) *SiteBuilder {
	st := el(s).child(kStatus)
	st.set("code", code)
	st.set("result", r.String())
	st.set("message", message)
	return s
}
