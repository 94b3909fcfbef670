package anml

import (
	"iter"
	"strings"
	"time"
)

// Content is one piece of mixed content: a text or an element.
type Content struct{ Node }

// Text returns the piece of text, or the element's own text.
func (c Content) Text() string {
	return c.text()
}

// IsText reports whether the piece is text between elements.
func (c Content) IsText() bool { return c.n.ok() && c.n.kind() == kText }

// As returns the element as its type: Section, Data, Img, Audio, Video, Link, Nav, Rights or
// Attribution. It returns nil for a text.
func (c Content) As() any {
	if !c.n.ok() {
		return nil
	}
	switch c.n.kind() {
	case kSection:
		return Section(c)
	case kData:
		return Data(c)
	case kImg:
		return Img{Media(c)}
	case kAudio:
		return Audio{Media(c)}
	case kVideo:
		return Video{Media(c)}
	case kLink:
		return Link(c)
	case kNav:
		return Nav(c)
	case kRights:
		return Rights(c)
	case kAttribution:
		return Attribution(c)
	}
	return nil
}

// contents yields texts and usable elements in document order.
func contents(v Node) iter.Seq[Content] {
	return func(yield func(Content) bool) {
		for c := range v.n.all() {
			if c.usable() && !yield(Content{Node{c, v.d}}) {
				return
			}
		}
	}
}

// Body holds text, sections, data, media, links and paging in any order (section 8.10).
type Body struct{ Node }

// Text returns the body's own text, without the text of its elements.
func (b Body) Text() string { return b.text() }

// Content yields texts and elements in document order.
func (b Body) Content() iter.Seq[Content] { return contents(b.Node) }

// Sections yields the sections directly in the body.
func (b Body) Sections() iter.Seq[Section] { return each[Section](b.Node, kSection) }

// Data yields the structured data directly in the body.
func (b Body) Data() iter.Seq[Data] { return each[Data](b.Node, kData) }

// Links yields the links directly in the body.
func (b Body) Links() iter.Seq[Link] { return each[Link](b.Node, kLink) }

// Nav returns the first paging element directly in the body.
func (b Body) Nav() Nav { return child[Nav](b.Node, kNav) }

// Section is a part of the body, which may hold further sections (section 8.10.1).
type Section struct{ Node }

// ID returns the id, "" if it is absent.
func (s Section) ID() string { return s.n.value("id") }

// Label returns the heading.
func (s Section) Label() string { return s.n.value("label") }

// Text returns the section's own text, without the text of its elements.
func (s Section) Text() string { return s.text() }

// Content yields texts and elements in document order.
func (s Section) Content() iter.Seq[Content] { return contents(s.Node) }

// Sections yields the sections directly in this one.
func (s Section) Sections() iter.Seq[Section] { return each[Section](s.Node, kSection) }

// Data yields the structured data directly in the section.
func (s Section) Data() iter.Seq[Data] { return each[Data](s.Node, kData) }

// Links yields the links directly in the section.
func (s Section) Links() iter.Seq[Link] { return each[Link](s.Node, kLink) }

// Nav returns the first paging element directly in the section.
func (s Section) Nav() Nav { return child[Nav](s.Node, kNav) }

// Media is an image, audio or video. This package never fetches it.
type Media struct{ Node }

// Src returns the URI reference of the medium.
func (m Media) Src() string { return m.n.value("src") }

// Type returns the media type, "" if it is absent.
func (m Media) Type() string { return m.n.value("type") }

// Inference returns how much the medium needs analysis by a model (section 8.10.2).
func (m Media) Inference() Inference {
	return parse[Inference](inferenceWords[:], m.n.value("inference"))
}

// Description returns the text of the description (section 8.10.5).
func (m Media) Description() string { return m.n.child(kDescription).content() }

// Transcript returns the text of the transcript (section 8.10.6).
func (m Media) Transcript() string { return m.n.child(kTranscript).content() }

// TextFor returns the text that may replace the medium: the transcript, or else the
// description (sections 8.10.5 and 8.10.6).
func (m Media) TextFor() string {
	if t := m.Transcript(); t != "" {
		return t
	}
	return m.Description()
}

// Width returns the width in pixels, and false if it is absent or invalid.
func (m Media) Width() (int64, bool) { n, _, ok := m.integer("width"); return n, ok }

// Height returns the height in pixels, and false if it is absent or invalid.
func (m Media) Height() (int64, bool) { n, _, ok := m.integer("height"); return n, ok }

// Duration returns the playing time, and false if it is absent or invalid.
func (m Media) Duration() (time.Duration, bool) {
	n, err := ParseNumber(m.n.value("duration"))
	if err != nil || n.Float < 0 || n.Float > 1e9 {
		return 0, false
	}
	return time.Duration(n.Float * float64(time.Second)), true
}

type (
	// Img is an image (section 8.10.2).
	Img struct{ Media }
	// Audio is an audio recording (section 8.10.3).
	Audio struct{ Media }
	// Video is a video (section 8.10.4).
	Video struct{ Media }
)

// Link is a link (section 8.10.7). Nothing in this package follows it.
type Link struct{ Node }

// Href returns the URI reference of the target.
func (l Link) Href() string { return l.n.value("href") }

// Rel returns the relation types.
func (l Link) Rel() []string { return strings.Fields(l.n.value("rel")) }

// Type returns the media type of the target, "" if it is absent.
func (l Link) Type() string { return l.n.value("type") }

// Label returns the text to show for the link.
func (l Link) Label() string { return l.n.value("label") }

// Followable reports whether href leads to another document. It returns false for schemes
// such as javascript and data.
func (l Link) Followable() bool { return l.Exists() && !executableScheme(l.Href()) }

// executableScheme reports whether a URI carries content or code in itself, or reads local
// files. Like browsers, it ignores white space and control characters in the scheme.
func executableScheme(uri string) bool {
	scheme, _, found := strings.Cut(uri, ":")
	if !found {
		return false
	}
	switch strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, scheme)) {
	case "javascript", "data", "vbscript", "blob", "file":
		return true
	}
	return false
}

// Data is structured data: a list of items (section 8.10.8).
type Data struct{ Node }

// ID returns the id, "" if it is absent.
func (d Data) ID() string { return d.n.value("id") }

// Label returns the heading.
func (d Data) Label() string { return d.n.value("label") }

// Items yields the items in document order.
func (d Data) Items() iter.Seq[Item] { return each[Item](d.Node, kItem) }

// Item is one item of structured data: a list of fields (section 8.10.9).
type Item struct{ Node }

// ID returns the id, "" if it is absent.
func (i Item) ID() string { return i.n.value("id") }

// Fields yields the fields in document order.
func (i Item) Fields() iter.Seq[Field] { return each[Field](i.Node, kField) }

// Field returns the first field with that name, or an absent Field.
func (i Item) Field(name string) Field {
	for f := range i.Fields() {
		if f.Name() == name {
			return f
		}
	}
	return Field{}
}

// Field is a named value of an item (section 8.10.10). Its text is its value.
type Field struct{ Node }

// Name returns the name.
func (f Field) Name() string { return f.n.value("name") }

// Text returns the value as it is written.
func (f Field) Text() string { return f.text() }

// Type returns the declared type, and TypeString for "enum", which only parameters have.
func (f Field) Type() Type { return valueType(f.n.value("type")) }

// Check returns an [ErrType] if the text does not have the type of the field (section 8.11).
func (f Field) Check() error { return CheckValue(f.Type(), f.Text()) }

// Number returns the value of a number field, and an [ErrType] for any other field.
func (f Field) Number() (Number, error) {
	if f.Type() != TypeNumber {
		return Number{}, ErrType
	}
	return ParseNumber(f.Text())
}

// Time returns the value of a date or datetime field, and an [ErrType] for any other field.
func (f Field) Time() (time.Time, error) {
	if err := f.Check(); err != nil {
		return time.Time{}, err
	}
	switch f.Type() {
	case TypeDate:
		return time.Parse(DateLayout, f.Text())
	case TypeDateTime:
		return time.Parse(DateTimeLayout, f.Text())
	}
	return time.Time{}, ErrType
}

// valueType reads the type of an ask or field, for which the draft has no "enum".
func valueType(text string) Type {
	if t := ParseType(text); t != TypeEnum {
		return t
	}
	return TypeString
}

// Nav is paging (section 8.10.11). Its URI references are relative to the document's final
// URL. The agent decides whether to follow them.
type Nav struct{ Node }

// Next returns the URI reference of the next page, "" if there is no next page.
func (n Nav) Next() string { return n.n.value("next") }

// Prev returns the URI reference of the previous page, "" if there is no previous page.
func (n Nav) Prev() string { return n.n.value("prev") }

// Cursor returns the service's name for the position.
func (n Nav) Cursor() string { return n.n.value("cursor") }

// Total returns the number of items on all pages, and false if it is absent or invalid.
func (n Nav) Total() (int64, bool) { total, _, ok := n.integer("total"); return total, ok }
