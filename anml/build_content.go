package anml

import (
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Body returns the builder of the body (section 8.10).
func (s *SiteBuilder) Body() *ContentBuilder { return &ContentBuilder{el(s).child(kBody)} }

// ContentBuilder builds a body or a section from text and elements in any order.
type ContentBuilder struct{ e *element }

// Usage sets what may be done with the content (section 16.5).
func (c *ContentBuilder) Usage(u Usage) *ContentBuilder { el(c).set("usage", u.String()); return c }

// Text adds text, which is kept unchanged.
func (c *ContentBuilder) Text(s string) *ContentBuilder { el(c).text(s); return c }

// Section adds a section and returns its builder (section 8.10.1).
func (c *ContentBuilder) Section(id, label string) *ContentBuilder {
	s := el(c).add(kSection)
	s.set("id", id)
	s.set("label", label)
	return &ContentBuilder{s}
}

// Link adds a link (section 8.10.7). The relation types in rel are separated by spaces.
func (c *ContentBuilder) Link(href, rel, label string) *ContentBuilder {
	l := el(c).add(kLink)
	l.set("href", href)
	l.set("rel", rel)
	l.set("label", label)
	return c
}

// Img adds an image with the text that may replace it (section 8.10.2).
func (c *ContentBuilder) Img(src, description string) *ContentBuilder {
	i := el(c).add(kImg)
	i.set("src", src)
	i.add(kDescription).text(description)
	return c
}

// Audio adds an audio recording with its transcript (section 8.10.3).
func (c *ContentBuilder) Audio(src, transcript string) *ContentBuilder {
	return c.medium(kAudio, src, transcript)
}

// Video adds a video with its transcript (section 8.10.4).
func (c *ContentBuilder) Video(src, transcript string) *ContentBuilder {
	return c.medium(kVideo, src, transcript)
}

func (c *ContentBuilder) medium(k kind, src, transcript string) *ContentBuilder {
	m := el(c).add(k)
	m.set("src", src)
	m.add(kTranscript).text(transcript)
	return c
}

// Nav adds paging (section 8.10.11): URI references of the next and previous page, or "", and the
// number of items on all pages, or a negative number if it is unknown.
func (c *ContentBuilder) Nav(next, prev string, total int) *ContentBuilder {
	n := el(c).add(kNav)
	n.set("next", next)
	n.set("prev", prev)
	if total >= 0 {
		n.set("total", itoa(total))
	}
	return c
}

// Data adds structured data and returns its builder (section 8.10.8).
func (c *ContentBuilder) Data(id, label string) *DataBuilder {
	d := el(c).add(kData)
	d.set("id", id)
	d.set("label", label)
	return &DataBuilder{d}
}

// DataBuilder builds structured data.
type DataBuilder struct{ e *element }

// Item adds an item and returns its builder (section 8.10.9).
func (d *DataBuilder) Item(id string) *ItemBuilder {
	i := el(d).add(kItem)
	i.set("id", id)
	return &ItemBuilder{i}
}

// ItemBuilder builds an item.
type ItemBuilder struct{ e *element }

// Field adds a field (section 8.10.10): a string, or a bool, int, int64, float64 or time.Time in the
// canonical form of the type. Build returns an error for a value that does not have the type.
func (i *ItemBuilder) Field(name string, t Type, value any) *ItemBuilder {
	text, err := formatValue(t, value)
	if err != nil && text == "" {
		text = fmt.Sprint(value)
	}
	f := el(i).add(kField)
	f.set("name", name)
	f.set("type", t.String())
	f.text(text)
	return i
}

// Persona returns the builder of the advice on presentation (section 8.8).
func (s *SiteBuilder) Persona() *PersonaBuilder { return &PersonaBuilder{el(s).child(kPersona)} }

// PersonaBuilder builds a persona.
type PersonaBuilder struct{ e *element }

// Tone sets the tone (section 8.8.3).
func (p *PersonaBuilder) Tone(value string) *PersonaBuilder {
	el(p).child(kTone).set("value", value)
	return p
}

// Instructions sets the instructions (section 8.8.5).
func (p *PersonaBuilder) Instructions(text string) *PersonaBuilder {
	el(p).child(kInstructions).text(text)
	return p
}

// Language sets the policy and, for LanguageFixed, the language tag (section 8.8.2).
func (p *PersonaBuilder) Language(l LanguagePolicy, value string) *PersonaBuilder {
	e := el(p).child(kLanguage)
	e.set("value", value)
	e.set("policy", l.String())
	return p
}

// Prefer adds a word to prefer (section 8.8.7).
func (p *PersonaBuilder) Prefer(term string) *PersonaBuilder {
	el(p).child(kVocabulary).add(kPrefer).text(term)
	return p
}

// Avoid adds a word to avoid (section 8.8.8).
func (p *PersonaBuilder) Avoid(term string) *PersonaBuilder {
	el(p).child(kVocabulary).add(kAvoid).text(term)
	return p
}

// DisplayName sets the name to show, which does not identify the service (section 8.9.1).
func (s *SiteBuilder) DisplayName(name string) *SiteBuilder {
	el(s).child(kAesthetic).child(kDisplayName).text(name)
	return s
}

// Rights adds a rights statement (section 8.12.1). It covers the elements whose id is the scope, or
// the whole site if the scope is "".
func (s *SiteBuilder) Rights(holder, year string, u Usage, scope, text string) *SiteBuilder {
	r := el(s).child(kFooter).add(kRights)
	r.set("holder", holder)
	r.set("year", year)
	r.set("usage", u.String())
	r.set("scope", scope)
	r.text(text)
	return s
}

// Attribution adds a credit (section 8.12.2).
func (s *SiteBuilder) Attribution(text string, required bool) *SiteBuilder {
	a := el(s).child(kFooter).add(kAttribution)
	a.flag("required", required)
	a.text(text)
	return s
}

// ResponseBuilder builds an agent response (section 11.1), and only from what a response may
// contain. It does not check the user's consent; package anml/agent does.
type ResponseBuilder struct{ e *element }

// NewResponse returns a builder of an agent response.
func NewResponse() *ResponseBuilder { return &ResponseBuilder{newElement(kAnml)} }

// Title sets the title.
func (r *ResponseBuilder) Title(text string) *ResponseBuilder {
	el(r).child(kHead).child(kTitle).text(text)
	return r
}

// Answer adds an answer for a field (section 8.7.3). Granted is when the user agreed; the zero time
// is omitted.
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

// Refuse adds a refusal for a field (section 8.7.4). With ConstraintViolation it names the rule of
// that field. The message is optional and must not disclose user data.
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

// Ask adds an ask for an action of the document that the response answers.
func (r *ResponseBuilder) Ask(field, action, purpose string) *AskBuilder {
	return newAsk(el(r).child(kKnowledge), field, action, purpose)
}

// Inform adds information that the service did not ask for.
func (r *ResponseBuilder) Inform(text string) *InformBuilder {
	return &InformBuilder{el(r).child(kKnowledge).add(kInform).text(text)}
}

// Build returns the response. It checks the response as a reader does, and returns
// [ErrEmptyResponse] for an empty response and an error with an [*InvalidError] if anything is
// wrong, such as an unknown reason.
func (r *ResponseBuilder) Build() (*Document, error) {
	if el(r) == nil || el(r).tree().SelectElement("knowledge") == nil {
		return nil, ErrEmptyResponse
	}
	for _, c := range el(r).child(kKnowledge).tree().SelectElements("refuse") {
		if reason := c.SelectAttrValue("reason", ""); !Reason(reason).Known() {
			return nil, invalid([]lookleap.Finding{{Code: codeBadValue, Requirement: "ANML-8.7.4-02",
				Message: "the reason " + plaintext.Quote(reason, maxQuoted) + " is unknown"}})
		}
	}
	el(r).arrange()
	return build(el(r), RoleAgentResponse)
}
