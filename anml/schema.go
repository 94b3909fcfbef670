package anml

import (
	"slices"

	"github.com/lookleap/lookleap/internal/anmltable"
)

// kind is the element of the draft that a node is. Name and parent decide it: step in context
// and step in flow are two kinds.
type kind uint8

const (
	kUnknown kind = iota // not an element of the draft in this parent
	kText                // a piece of text between elements
	kAnml
	kSite
	kHead
	kTitle
	kMeta
	kTrust
	kSiteRef
	kConstraints
	kDisclosure
	kState
	kContext
	kContextStep
	kFlow
	kStep
	kInteract
	kAction
	kParam
	kOption
	kResponse
	kKnowledge
	kInform
	kAsk
	kAnswer
	kRefuse
	kPersona
	kModel
	kLanguage
	kTone
	kVoice
	kInstructions
	kVocabulary
	kPrefer
	kAvoid
	kAesthetic
	kDisplayName
	kLogo
	kColors
	kColor
	kTypography
	kFont
	kBody
	kSection
	kImg
	kAudio
	kVideo
	kDescription
	kTranscript
	kLink
	kData
	kItem
	kField
	kNav
	kFooter
	kRights
	kAttribution
	kStatus
	kindCount
)

// content is what an element may contain.
type content uint8

const (
	empty    content = iota // nothing
	textOnly                // text
	elements                // elements
	mixed                   // both
)

// attrType is the type of an attribute's text.
type attrType uint8

const (
	tString attrType = iota
	tBool
	tInteger  // non-negative
	tNumber   // of param: min, max
	tURI      // URI reference
	tLang     // BCP 47
	tDateTime // ISO 8601, read tolerantly
	tMedia
	tDomain
	tEnum
	tMethod
)

// need says what an absent or empty attribute does to its element.
type need uint8

const (
	optional need = iota
	required      // absent or empty: the element is malformed
	present       // absent: malformed; empty: valid
	wanted        // like required, although the draft states no duty
)

// attrSpec is one attribute of an element.
type attrSpec struct {
	name string
	typ  attrType
	need need
	enum []string
	json bool // written as a JSON number if the text is a canonical number
}

// childSpec is one child of an element, in the order of writing.
type childSpec struct {
	kind kind
	many bool // repeatable in XML, so an array in JSON
	bare bool // repeatable, but an object in JSON if there is only one
}

// spec is one element of section 8.
type spec struct {
	name     string
	content  content
	compact  bool // a JSON string if it has only text
	attrs    []attrSpec
	children []childSpec
}

func one(k kind) childSpec      { return childSpec{kind: k} }
func many(k kind) childSpec     { return childSpec{kind: k, many: true} }
func bareMany(k kind) childSpec { return childSpec{kind: k, many: true, bare: true} }

func a(name string, typ attrType) attrSpec { return attrSpec{name: name, typ: typ} }
func need1(name string, typ attrType, n need) attrSpec {
	return attrSpec{name: name, typ: typ, need: n}
}

// enum is an attribute with the words of a type in enum.go, where "" is the word of an absent
// attribute.
func enum(name string, words []string) attrSpec {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	return attrSpec{name: name, typ: tEnum, enum: words}
}
func number(name string, typ attrType) attrSpec {
	return attrSpec{name: name, typ: typ, json: true}
}
func (s attrSpec) is(n need) attrSpec { s.need = n; return s }

var (
	usageAttr     = enum("usage", usageWords[:])
	inferenceAttr = enum("inference", inferenceWords[:])
	sections      = []childSpec{one(kHead), one(kConstraints), one(kState), one(kInteract), one(kKnowledge),
		one(kPersona), one(kAesthetic), one(kBody), one(kFooter), one(kStatus)}
	flowContent = []childSpec{many(kSection), many(kData), many(kImg), many(kAudio), many(kVideo), many(kLink), bareMany(kNav)}
	valueTypes  = typeWords[:TypeEnum]
	paramTypes  = typeWords[:]
)

// schema is sections 8 and 12 of the draft: one line for each element. It is never changed.
var schema = [kindCount]spec{
	kUnknown: {name: "?", content: mixed},
	kAnml: {name: "anml", content: elements, attrs: []attrSpec{a("version", tString), enum("role", roleWords[:]),
		a("supported-versions", tString), number("ttl", tInteger)}, children: append(append([]childSpec(nil), sections...), many(kSite))},
	kSite: {name: "site", content: elements, attrs: []attrSpec{need1("domain", tDomain, required), a("trust-verified", tDateTime)},
		children: append(append([]childSpec(nil), sections...), many(kSiteRef))},

	kHead:  {name: "head", content: elements, children: []childSpec{one(kTitle), many(kMeta), one(kTrust), many(kSiteRef)}},
	kTitle: {name: "title", content: textOnly, compact: true},
	kMeta:  {name: "meta", attrs: []attrSpec{need1("name", tString, wanted), a("value", tString)}},
	kTrust: {name: "trust", attrs: []attrSpec{need1("domain", tDomain, required)}},
	kSiteRef: {name: "site-ref", attrs: []attrSpec{need1("domain", tDomain, required), need1("canonical", tURI, required),
		a("relationship", tString)}},

	kConstraints: {name: "constraints", content: elements, children: []childSpec{many(kDisclosure)}},
	kDisclosure: {name: "disclosure", attrs: []attrSpec{need1("field", tString, required),
		enum("requires", requiresWords[:]).is(required), a("valid-for", tInteger)}},

	kState:       {name: "state", content: elements, children: []childSpec{one(kContext), one(kFlow)}},
	kContext:     {name: "context", content: elements, children: []childSpec{one(kContextStep)}},
	kContextStep: {name: "step", content: textOnly, compact: true},
	kFlow:        {name: "flow", content: elements, children: []childSpec{many(kStep)}},
	kStep: {name: "step", attrs: []attrSpec{need1("id", tString, required), a("label", tString),
		enum("status", stepStatusWords[:]), a("required", tBool), a("next", tString), a("condition", tString), a("action", tString)}},

	kInteract: {name: "interact", content: elements, children: []childSpec{many(kAction)}},
	kAction: {name: "action", content: elements, attrs: []attrSpec{need1("id", tString, required), need1("method", tMethod, required),
		need1("endpoint", tURI, required), a("enctype", tMedia), enum("auth", authWords[:]),
		a("idempotent", tBool), a("confirm", tBool), a("description", tString)},
		children: []childSpec{many(kParam), one(kResponse)}},
	kParam: {name: "param", content: elements, attrs: []attrSpec{need1("name", tString, wanted), enum("type", paramTypes),
		a("required", tBool), a("default", tString), a("description", tString), a("pattern", tString),
		number("min", tNumber), number("max", tNumber)},
		children: []childSpec{many(kOption)}},
	kOption:   {name: "option", attrs: []attrSpec{need1("value", tString, present), a("label", tString)}},
	kResponse: {name: "response", attrs: []attrSpec{a("type", tMedia), a("description", tString)}},

	kKnowledge: {name: "knowledge", content: elements, children: []childSpec{many(kInform), many(kAsk), many(kAnswer), many(kRefuse)}},
	kInform: {name: "inform", content: textOnly, attrs: []attrSpec{number("ttl", tInteger), a("scope", tString),
		enum("priority", priorityWords[:]), enum("confidentiality", confidentialityWords[:]), usageAttr}},
	kAsk: {name: "ask", attrs: []attrSpec{need1("field", tString, required), need1("action", tString, required),
		a("required", tBool), a("purpose", tString), enum("type", valueTypes)}},
	kAnswer: {name: "answer", attrs: []attrSpec{need1("field", tString, required), need1("value", tString, present),
		enum("consent", consentWords[:]), a("consent-granted", tDateTime)}},
	kRefuse: {name: "refuse", attrs: []attrSpec{need1("field", tString, required),
		enum("reason", reasonWords[:]).is(required),
		a("constraint", tString), a("message", tString)}},

	kPersona: {name: "persona", content: elements,
		children: []childSpec{one(kModel), one(kLanguage), one(kTone), one(kVoice), one(kInstructions), one(kVocabulary)}},
	kModel:        {name: "model", attrs: []attrSpec{a("name", tString), a("provider", tString), a("capability", tString)}},
	kLanguage:     {name: "language", attrs: []attrSpec{a("value", tLang), enum("policy", languageWords[:])}},
	kTone:         {name: "tone", attrs: []attrSpec{a("value", tString)}},
	kVoice:        {name: "voice", attrs: []attrSpec{enum("perspective", perspectiveWords[:]), a("name", tString)}},
	kInstructions: {name: "instructions", content: textOnly, compact: true},
	kVocabulary:   {name: "vocabulary", content: elements, children: []childSpec{many(kPrefer), many(kAvoid)}},
	kPrefer:       {name: "prefer", content: textOnly, compact: true},
	kAvoid:        {name: "avoid", content: textOnly, compact: true},

	kAesthetic: {name: "aesthetic", content: elements,
		children: []childSpec{one(kDisplayName), many(kLogo), one(kColors), one(kTypography)}},
	kDisplayName: {name: "display-name", content: textOnly, compact: true},
	kLogo:        {name: "logo", attrs: []attrSpec{a("src", tURI), a("alt", tString), a("type", tMedia), a("variant", tString)}},
	kColors:      {name: "colors", content: elements, children: []childSpec{many(kColor)}},
	kColor:       {name: "color", attrs: []attrSpec{a("role", tString), a("value", tString)}},
	kTypography:  {name: "typography", content: elements, children: []childSpec{many(kFont)}},
	kFont:        {name: "font", attrs: []attrSpec{a("role", tString), a("family", tString), a("fallback", tString)}},

	kBody:    {name: "body", content: mixed, attrs: []attrSpec{usageAttr}, children: flowContent},
	kSection: {name: "section", content: mixed, attrs: []attrSpec{a("id", tString), a("label", tString), usageAttr}, children: flowContent},
	kImg: {name: "img", content: elements, attrs: []attrSpec{need1("src", tURI, required), inferenceAttr, a("type", tMedia),
		a("width", tInteger), a("height", tInteger), usageAttr}, children: []childSpec{one(kDescription)}},
	kAudio: {name: "audio", content: elements, attrs: []attrSpec{need1("src", tURI, required), inferenceAttr, a("type", tMedia),
		a("duration", tNumber), usageAttr}, children: []childSpec{one(kTranscript), one(kDescription)}},
	kVideo: {name: "video", content: elements, attrs: []attrSpec{need1("src", tURI, required), inferenceAttr, a("type", tMedia),
		a("duration", tNumber), a("width", tInteger), a("height", tInteger), usageAttr},
		children: []childSpec{one(kTranscript), one(kDescription)}},
	kDescription: {name: "description", content: textOnly, compact: true},
	kTranscript:  {name: "transcript", content: textOnly, compact: true},
	kLink: {name: "link", attrs: []attrSpec{need1("href", tURI, required), a("rel", tString), a("type", tMedia),
		a("label", tString)}},
	kData: {name: "data", content: elements, attrs: []attrSpec{a("id", tString), a("label", tString), usageAttr},
		children: []childSpec{many(kItem)}},
	kItem:  {name: "item", content: elements, attrs: []attrSpec{a("id", tString)}, children: []childSpec{many(kField)}},
	kField: {name: "field", content: textOnly, attrs: []attrSpec{a("name", tString), enum("type", valueTypes)}},
	kNav:   {name: "nav", attrs: []attrSpec{a("next", tURI), a("prev", tURI), a("cursor", tString), a("total", tInteger)}},

	kFooter: {name: "footer", content: mixed, children: []childSpec{bareMany(kRights), many(kAttribution)}},
	kRights: {name: "rights", content: textOnly,
		attrs: []attrSpec{a("holder", tString), a("year", tString), a("license", tString), usageAttr, a("scope", tString)}},
	kAttribution: {name: "attribution", content: textOnly, attrs: []attrSpec{a("required", tBool), a("scope", tString)}},
	kStatus: {name: "status", attrs: []attrSpec{need1("code", tString, required), enum("result", resultWords[:]).is(required),
		a("message", tString), a("retry-after", tInteger)}},
}

// hasText reports whether the element may contain text.
func (s *spec) hasText() bool { return s.content == textOnly || s.content == mixed }

// place returns a child by its kind, and its place in the order of writing.
func (s *spec) place(k kind) (c childSpec, rank int) {
	for i, c := range s.children {
		if c.kind == k {
			return c, i
		}
	}
	return childSpec{}, 0
}

// kindNamed reports whether an element of the draft has the name.
func kindNamed(name string) bool {
	for k := kAnml; k < kindCount; k++ {
		if schema[k].name == name {
			return true
		}
	}
	return false
}

// langSpec is the attribute lang, which every element has.
var langSpec = attrSpec{name: "lang", typ: tLang}

// attr returns an attribute of an element, or nil.
func (s *spec) attr(name string) *attrSpec {
	for i := range s.attrs {
		if s.attrs[i].name == name {
			return &s.attrs[i]
		}
	}
	if name == "lang" && s.name != "" && s != &schema[kUnknown] {
		return &langSpec
	}
	return nil
}

// child returns the element that a name is inside an element, or kUnknown.
func (s *spec) child(name string) kind {
	for _, c := range s.children {
		if schema[c.kind].name == name {
			return c.kind
		}
	}
	return kUnknown
}

func init() { anmltable.Elements = elementTable }

// elementTable returns the schema for programs that generate documents from it.
func elementTable() []anmltable.Element {
	types := [...]anmltable.Type{tString: anmltable.TypeText, tBool: anmltable.TypeBool, tInteger: anmltable.TypeNumber,
		tNumber: anmltable.TypeNumber, tURI: anmltable.TypeURI, tLang: anmltable.TypeLang, tDateTime: anmltable.TypeTime,
		tMedia: anmltable.TypeMedia, tDomain: anmltable.TypeDomain, tEnum: anmltable.TypeWord, tMethod: anmltable.TypeMethod}
	table := make([]anmltable.Element, 0, kindCount-kAnml)
	for _, s := range schema[kAnml:] {
		e := anmltable.Element{Name: s.name, Text: s.hasText()}
		for _, a := range s.attrs {
			e.Attributes = append(e.Attributes, anmltable.Attribute{Name: a.name, Type: types[a.typ], Words: a.enum})
		}
		for _, c := range s.children {
			e.Children = append(e.Children, anmltable.Child{Element: int(c.kind - kAnml), Many: c.many})
		}
		table = append(table, e)
	}
	return table
}
