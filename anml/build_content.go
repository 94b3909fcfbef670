package anml

import (
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
)

// Body gives the body to fill.
func (s *SiteBuilder) Body() *ContentBuilder { return &ContentBuilder{el(s).child(kBody)} }

// ContentBuilder fills a body or a section with text and elements in any order.
type ContentBuilder struct{ e *element }

func (c *ContentBuilder) Usage(u Usage) *ContentBuilder { el(c).set("usage", u.String()); return c }

// Text adds text, kept character for character.
func (c *ContentBuilder) Text(s string) *ContentBuilder { el(c).text(s); return c }

// Section adds a section and gives it to fill.
func (c *ContentBuilder) Section(id, label string) *ContentBuilder {
	s := el(c).add(kSection)
	s.set("id", id)
	s.set("label", label)
	return &ContentBuilder{s}
}

// Link adds a link; rel is a list of words.
func (c *ContentBuilder) Link(href, rel, label string) *ContentBuilder {
	l := el(c).add(kLink)
	l.set("href", href)
	l.set("rel", rel)
	l.set("label", label)
	return c
}

// Img adds an image with the text that may stand for it.
func (c *ContentBuilder) Img(src, description string) *ContentBuilder {
	i := el(c).add(kImg)
	i.set("src", src)
	i.add(kDescription).text(description)
	return c
}

// Audio and Video add a medium with its transcript.
func (c *ContentBuilder) Audio(src, transcript string) *ContentBuilder {
	return c.medium(kAudio, src, transcript)
}

func (c *ContentBuilder) Video(src, transcript string) *ContentBuilder {
	return c.medium(kVideo, src, transcript)
}

func (c *ContentBuilder) medium(k kind, src, transcript string) *ContentBuilder {
	m := el(c).add(k)
	m.set("src", src)
	m.add(kTranscript).text(transcript)
	return c
}

// Nav adds references to the next and previous page, "" for none, and the number
// of items, negative when unknown.
func (c *ContentBuilder) Nav(next, prev string, total int) *ContentBuilder {
	n := el(c).add(kNav)
	n.set("next", next)
	n.set("prev", prev)
	if total >= 0 {
		n.set("total", itoa(total))
	}
	return c
}

// Data adds structured data and gives it to fill.
func (c *ContentBuilder) Data(id, label string) *DataBuilder {
	d := el(c).add(kData)
	d.set("id", id)
	d.set("label", label)
	return &DataBuilder{d}
}

// DataBuilder fills structured data.
type DataBuilder struct{ e *element }

// Item adds an item and gives it to fill.
func (d *DataBuilder) Item(id string) *ItemBuilder {
	i := el(d).add(kItem)
	i.set("id", id)
	return &ItemBuilder{i}
}

// ItemBuilder fills an item.
type ItemBuilder struct{ e *element }

// Field adds a field with a value as FormatValue writes it. What has no text of
// the type is written as it is and found by Build.
func (i *ItemBuilder) Field(name string, t Type, value any) *ItemBuilder {
	text, err := FormatValue(t, value)
	if err != nil && text == "" {
		text = fmt.Sprint(value)
	}
	f := el(i).add(kField)
	f.set("name", name)
	f.set("type", t.String())
	f.text(text)
	return i
}

// Persona gives the advice on presentation to fill.
func (s *SiteBuilder) Persona() *PersonaBuilder { return &PersonaBuilder{el(s).child(kPersona)} }

// PersonaBuilder fills a persona.
type PersonaBuilder struct{ e *element }

func (p *PersonaBuilder) Tone(value string) *PersonaBuilder {
	el(p).child(kTone).set("value", value)
	return p
}
func (p *PersonaBuilder) Instructions(text string) *PersonaBuilder {
	el(p).child(kInstructions).text(text)
	return p
}

func (p *PersonaBuilder) Language(l LanguagePolicy, value string) *PersonaBuilder {
	e := el(p).child(kLanguage)
	e.set("value", value)
	e.set("policy", l.String())
	return p
}

func (p *PersonaBuilder) Prefer(term string) *PersonaBuilder {
	el(p).child(kVocabulary).add(kPrefer).text(term)
	return p
}

func (p *PersonaBuilder) Avoid(term string) *PersonaBuilder {
	el(p).child(kVocabulary).add(kAvoid).text(term)
	return p
}

// DisplayName is a name to show. It is no identity.
func (s *SiteBuilder) DisplayName(name string) *SiteBuilder {
	el(s).child(kAesthetic).child(kDisplayName).text(name)
	return s
}

// Rights states what may be done with content: of the whole site, or with a
// scope of the elements of that id.
func (s *SiteBuilder) Rights(holder, year string, u Usage, scope, text string) *SiteBuilder {
	r := el(s).child(kFooter).add(kRights)
	r.set("holder", holder)
	r.set("year", year)
	r.set("usage", u.String())
	r.set("scope", scope)
	r.text(text)
	return s
}

// Attribution adds a credit.
func (s *SiteBuilder) Attribution(text string, required bool) *SiteBuilder {
	a := el(s).child(kFooter).add(kAttribution)
	a.flag("required", required)
	a.text(text)
	return s
}

// ResponseBuilder makes an agent response (section 11.1). It has no way to add
// what a response must not hold. Whether anything may be said at all is decided
// before, in anml/agent.
type ResponseBuilder struct{ e *element }

// NewResponse starts an agent response.
func NewResponse() *ResponseBuilder { return &ResponseBuilder{newElement(kAnml)} }

func (r *ResponseBuilder) Title(text string) *ResponseBuilder {
	el(r).child(kHead).child(kTitle).text(text)
	return r
}

// Answer answers a field. Granted is when the user agreed; the zero time is left
// out, never made up.
func (r *ResponseBuilder) Answer(field, value string, c ConsentKind, granted time.Time) *ResponseBuilder {
	a := el(r).child(kKnowledge).add(kAnswer)
	a.set("field", field)
	a.set("value", value)
	a.set("consent", c.String())
	if !granted.IsZero() {
		a.set("consent-granted", FormatDateTime(granted))
	}
	return r
}

// Refuse refuses a field; a ConstraintViolation names the rule of that field. A
// message is optional and should tell nothing of the user.
func (r *ResponseBuilder) Refuse(field string, reason Reason, message string) *ResponseBuilder {
	x := el(r).child(kKnowledge).add(kRefuse)
	x.set("field", field)
	x.set("reason", string(reason))
	if reason == ConstraintViolation {
		x.set("constraint", field)
	}
	x.set("message", message)
	return r
}

// Ask asks back, for an action of the document that is answered.
func (r *ResponseBuilder) Ask(field, action, purpose string) *AskBuilder {
	return newAsk(el(r).child(kKnowledge), field, action, purpose)
}

// Inform tells something that nobody asked for.
func (r *ResponseBuilder) Inform(text string) *InformBuilder {
	return &InformBuilder{el(r).child(kKnowledge).add(kInform).text(text)}
}

// Build checks the response as a reader would. One that says nothing is
// ErrEmptyResponse; a reason that the draft does not define is invalid.
func (r *ResponseBuilder) Build() (*Document, error) {
	knowledge := el(r).find(kKnowledge)
	if knowledge == nil {
		return nil, ErrEmptyResponse
	}
	for _, c := range knowledge.children {
		if c.kind == kRefuse && !Reason(c.value("reason")).Known() {
			return nil, &InvalidError{[]lookleap.Finding{{Code: CodeBadValue, Requirement: "ANML-8.7.4-02",
				Message: "the reason " + quoted(c.value("reason")) + " is not one of the draft"}}}
		}
	}
	el(r).arrange()
	return build(el(r), RoleAgentResponse)
}

// MinimalResponse is the least valid response to an action of a site: a refusal
// for each field that it needs (section 11.2).
func MinimalResponse(s Site, action string, reason Reason) (*Document, error) {
	b := NewResponse()
	for a := range s.Knowledge().Asks() {
		if a.Required() && a.Action() == action {
			b.Refuse(a.Field(), reason, "")
		}
	}
	return b.Build()
}
