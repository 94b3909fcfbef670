package anml

import (
	"slices"
	"strconv"
	"time"

	"github.com/beevik/etree"
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictxml"
	"github.com/lookleap/lookleap/internal/zero"
)

// element is an etree element with the methods of the builders. A nil element, which a nil or zero
// builder has, ignores every call.
type element etree.Element

// el returns the element of a builder, and nil for a nil or zero builder, whose methods do nothing.
func el[B ~struct{ e *element }](b *B) *element {
	if b == nil {
		return nil
	}
	return (struct{ e *element })(*b).e
}

func newElement(k kind) *element { return &element{Tag: schema[k].name} }

func (e *element) tree() *etree.Element { return (*etree.Element)(e) }

// set sets an attribute of the draft. An empty text removes it, unless the empty text is valid.
func (e *element) set(name, value string) {
	if e == nil {
		return
	}
	e.tree().RemoveAttr(name)
	if value != "" || name == "value" && (e.Tag == "answer" || e.Tag == "option") {
		e.tree().CreateAttr(name, value)
	}
}

func (e *element) flag(name string, value bool) { e.set(name, strconv.FormatBool(value)) }
func (e *element) seconds(name string, d time.Duration) {
	e.set(name, strconv.FormatInt(int64(d/time.Second), 10))
}

// add adds a child.
func (e *element) add(k kind) *element {
	if e == nil {
		return newElement(k)
	}
	return (*element)(e.tree().CreateElement(schema[k].name))
}

func (e *element) text(s string) *element {
	if e != nil && s != "" {
		e.tree().CreateText(s)
	}
	return e
}

// child returns the child of a kind. It adds the child if there is none.
func (e *element) child(k kind) *element {
	if e != nil {
		if c := e.tree().SelectElement(schema[k].name); c != nil {
			return (*element)(c)
		}
	}
	return e.add(k)
}

// arrange sorts the children into the order of the draft.
func (e *element) arrange() {
	if e == nil {
		return
	}
	rank := func(t etree.Token) int {
		return slices.IndexFunc(schema[:], func(s spec) bool { return s.name == t.(*etree.Element).Tag })
	}
	slices.SortStableFunc(e.Child, func(a, b etree.Token) int { return rank(a) - rank(b) })
	e.tree().ReindexChildren()
}

// build writes the tree as XML and parses it, so that the result is what a reader sees, and is
// valid.
func build(root *element, role Role) (*Document, error) {
	if root == nil {
		return nil, errNoBuilder
	}
	root.set("version", Version)
	root.set("role", role.String())
	root.set("xmlns", Namespace)
	if err := checkText(root.tree()); err != nil {
		return nil, err
	}
	data, err := writeXML(root.tree())
	if err != nil {
		return nil, err
	}
	d, err := ParseXML(data, ReadOptions{Role: role})
	if err != nil {
		return nil, err
	}
	d.built = true
	if _, err := d.writable(WriteOptions{}); err != nil {
		return nil, err
	}
	return d, nil
}

// checkText returns an error for a character that XML does not allow: etree would replace it.
func checkText(e *etree.Element) error {
	bad := &lookleap.Error{Code: codeBadCharacter, Message: e.Tag + " contains a character that XML does not allow",
		Fix: "remove it", Err: ErrNotWellFormed}
	for _, a := range e.Attr {
		if !strictxml.IsText(a.Value) {
			return bad
		}
	}
	for _, token := range e.Child {
		switch c := token.(type) {
		case *etree.CharData:
			if !strictxml.IsText(c.Data) {
				return bad
			}
		case *etree.Element:
			if err := checkText(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Builder builds a single-site service document:
//
//	b := anml.NewService("Flights")
//	b.Rule("email", anml.ExplicitConsent)
//	b.Action("search", "GET", "/search").Param("date", anml.TypeDate).Required()
//	b.Action("book", "POST", "/book").Confirm(true)
//	b.Ask("email", "book", "to send the ticket")
//	doc, err := b.Build()
//
// The document has the order of the draft, not that of the calls. An action with asks is executed
// by answering them, so each of its required parameters needs an ask of the same name
// (sections 9.3 and 11.1).
type Builder struct {
	SiteBuilder
}

// NewService returns a builder of a service document with a title, which every document needs.
func NewService(title string) *Builder {
	b := &Builder{SiteBuilder{newElement(kAnml)}}
	b.Title(title)
	return b
}

// TTL sets how long the document may be used, in whole seconds (section 8.1).
func (b *Builder) TTL(d time.Duration) *Builder { zero.Or(b).e.seconds("ttl", d); return b }

// Lang sets the language of the document, a BCP 47 tag (section 10.3).
func (b *Builder) Lang(tag string) *Builder { zero.Or(b).e.set("lang", tag); return b }

// Trust sets the claim to speak for another site, which agents verify (section 12.5).
func (b *Builder) Trust(domain string) *Builder {
	zero.Or(b).e.child(kHead).child(kTrust).set("domain", domain)
	return b
}

// Build returns the document. It checks the document as a reader does, and returns an error with an
// [*InvalidError] if anything is wrong.
func (b *Builder) Build() (*Document, error) {
	zero.Or(b).e.arrange()
	return build(zero.Or(b).e, RoleService)
}

// SiteBuilder builds the sections of one site.
type SiteBuilder struct{ e *element }

// Title sets the title (section 8.3.1).
func (s *SiteBuilder) Title(text string) *SiteBuilder {
	title := el(s).child(kHead).child(kTitle)
	title.tree().SetText(text)
	return s
}

// Meta adds a name and value pair to the head (section 8.3.2).
func (s *SiteBuilder) Meta(name, value string) *SiteBuilder {
	m := el(s).child(kHead).add(kMeta)
	m.set("name", name)
	m.set("value", value)
	return s
}

// SiteRef adds a reference to another site's own document, an https URL (section 12.6).
func (s *SiteBuilder) SiteRef(domain, canonical string, r Relationship) *SiteBuilder {
	ref := el(s).child(kHead).add(kSiteRef)
	ref.set("domain", domain)
	ref.set("canonical", canonical)
	ref.set("relationship", string(r))
	return s
}

// Rule adds a disclosure rule for a field (section 8.4.1).
func (s *SiteBuilder) Rule(field string, r Requires) *RuleBuilder {
	d := el(s).child(kConstraints).add(kDisclosure)
	d.set("field", field)
	d.set("requires", r.String())
	return &RuleBuilder{d}
}

// RuleBuilder builds one disclosure rule.
type RuleBuilder struct{ e *element }

// ValidFor limits how long a consent stays valid, in whole seconds.
func (r *RuleBuilder) ValidFor(d time.Duration) *RuleBuilder { el(r).seconds("valid-for", d); return r }

// Step adds a step to the workflow (section 8.5.3).
func (s *SiteBuilder) Step(id, label string, status StepStatus) *StepBuilder {
	step := el(s).child(kState).child(kFlow).add(kStep)
	step.set("id", id)
	step.set("label", label)
	step.set("status", status.String())
	return &StepBuilder{step}
}

// Context sets the current step by its id (section 8.5.1).
func (s *SiteBuilder) Context(step string) *SiteBuilder {
	el(s).child(kState).child(kContext).add(kContextStep).text(step)
	el(s).child(kState).arrange()
	return s
}

// StepBuilder builds one step.
type StepBuilder struct{ e *element }

// Required says that the step cannot be skipped.
func (s *StepBuilder) Required() *StepBuilder { el(s).flag("required", true); return s }

// Next sets the id of the step that follows.
func (s *StepBuilder) Next(id string) *StepBuilder { el(s).set("next", id); return s }

// Condition sets the condition of the next step, as text for people.
func (s *StepBuilder) Condition(text string) *StepBuilder { el(s).set("condition", text); return s }

// Action sets the id of the action that the step is done with.
func (s *StepBuilder) Action(id string) *StepBuilder { el(s).set("action", id); return s }

// Action adds an action: an HTTP method on an endpoint, a URI reference (section 8.6.1).
func (s *SiteBuilder) Action(id, method, endpoint string) *ActionBuilder {
	a := el(s).child(kInteract).add(kAction)
	a.set("id", id)
	a.set("method", method)
	a.set("endpoint", endpoint)
	return &ActionBuilder{a}
}

// ActionBuilder builds one action.
type ActionBuilder struct{ e *element }

// Description sets the description.
func (a *ActionBuilder) Description(text string) *ActionBuilder {
	el(a).set("description", text)
	return a
}

// EncType sets the media type of the request body.
func (a *ActionBuilder) EncType(mediaType string) *ActionBuilder {
	el(a).set("enctype", mediaType)
	return a
}

// Auth says whether the action needs authentication.
func (a *ActionBuilder) Auth(auth Auth) *ActionBuilder { el(a).set("auth", auth.String()); return a }

// Idempotent says whether repeating the action has no further effect.
func (a *ActionBuilder) Idempotent(yes bool) *ActionBuilder { el(a).flag("idempotent", yes); return a }

// Confirm says whether the user has to confirm the action.
func (a *ActionBuilder) Confirm(yes bool) *ActionBuilder { el(a).flag("confirm", yes); return a }

// Response describes the response: its media type and a text (section 8.6.4).
func (a *ActionBuilder) Response(mediaType, description string) *ActionBuilder {
	r := el(a).child(kResponse)
	r.set("type", mediaType)
	r.set("description", description)
	return a
}

// Param adds a parameter (section 8.6.2).
func (a *ActionBuilder) Param(name string, t Type) *ParamBuilder {
	p := el(a).add(kParam)
	p.set("name", name)
	p.set("type", t.String())
	el(a).arrange()
	return &ParamBuilder{p}
}

// ParamBuilder builds one parameter.
type ParamBuilder struct{ e *element }

// Required says that the action cannot be executed without a value.
func (p *ParamBuilder) Required() *ParamBuilder { el(p).flag("required", true); return p }

// Description sets the description.
func (p *ParamBuilder) Description(text string) *ParamBuilder {
	el(p).set("description", text)
	return p
}

// Default sets the value to use if the caller provides no value.
func (p *ParamBuilder) Default(value string) *ParamBuilder { el(p).set("default", value); return p }

// Pattern sets the RE2 pattern that the whole value has to match.
func (p *ParamBuilder) Pattern(re2 string) *ParamBuilder { el(p).set("pattern", re2); return p }

// Min sets the least value, for strings the least number of characters.
func (p *ParamBuilder) Min(bound string) *ParamBuilder { el(p).set("min", bound); return p }

// Max sets the greatest value, for strings the greatest number of characters.
func (p *ParamBuilder) Max(bound string) *ParamBuilder { el(p).set("max", bound); return p }

// Option adds a permitted value of an enum with its label (section 8.6.3).
func (p *ParamBuilder) Option(value, label string) *ParamBuilder {
	o := el(p).add(kOption)
	o.set("value", value)
	o.set("label", label)
	return p
}

// Inform adds a piece of information (section 8.7.1).
func (s *SiteBuilder) Inform(text string) *InformBuilder {
	return &InformBuilder{el(s).child(kKnowledge).add(kInform).text(text)}
}

// InformBuilder builds one inform.
type InformBuilder struct{ e *element }

// TTL sets how long the information is valid, in whole seconds.
func (i *InformBuilder) TTL(d time.Duration) *InformBuilder { el(i).seconds("ttl", d); return i }

// Scope sets the id of the elements that the information is about.
func (i *InformBuilder) Scope(id string) *InformBuilder { el(i).set("scope", id); return i }

// Priority sets the priority.
func (i *InformBuilder) Priority(p Priority) *InformBuilder {
	el(i).set("priority", p.String())
	return i
}

// Usage sets what may be done with the information (section 16.5).
func (i *InformBuilder) Usage(u Usage) *InformBuilder { el(i).set("usage", u.String()); return i }

// Confidentiality sets who may see the information.
func (i *InformBuilder) Confidentiality(c Confidentiality) *InformBuilder {
	el(i).set("confidentiality", c.String())
	return i
}

// Ask adds an ask: for a field, answered with an action, for a purpose (section 8.7.2).
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

// AskBuilder builds one ask.
type AskBuilder struct{ e *element }

// Required states that the service requires the field.
func (a *AskBuilder) Required() *AskBuilder { el(a).flag("required", true); return a }

// Type sets the type of the value.
func (a *AskBuilder) Type(t Type) *AskBuilder { el(a).set("type", t.String()); return a }

// Status sets the outcome of a submitted action (section 8.13).
func (s *SiteBuilder) Status(code string, r Result, message string) *SiteBuilder {
	st := el(s).child(kStatus)
	st.set("code", code)
	st.set("result", r.String())
	st.set("message", message)
	return s
}
