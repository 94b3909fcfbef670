package anml

import (
	"iter"
	"strings"
	"time"
)

// Content is one piece of mixed content: a text, or an element.
type Content struct{ Node }

// Text gives the text of a piece of text, or of an element.
func (c Content) Text() string {
	if c.IsText() {
		return c.n.text()
	}
	return c.text()
}

// IsText reports whether the piece is text between elements.
func (c Content) IsText() bool { return c.n.ok() && c.n.kind() == kText }

// As tells what element the piece is: one of Section, Data, Img, Audio, Video,
// Link, Nav, Rights and Attribution, or nil for text.
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
		for c := v.n.first(); c.ok(); c = c.next() {
			if c.usable() && !yield(Content{Node{c, v.d}}) {
				return
			}
		}
	}
}

// Body is section 8.10: text, sections, data, media, links and pages in any order.
type Body struct{ Node }

func (b Body) Text() string                { return b.text() }
func (b Body) Content() iter.Seq[Content]  { return contents(b.Node) }
func (b Body) Sections() iter.Seq[Section] { return each[Section](b.Node, kSection) }
func (b Body) Data() iter.Seq[Data]        { return each[Data](b.Node, kData) }
func (b Body) Links() iter.Seq[Link]       { return each[Link](b.Node, kLink) }
func (b Body) Nav() Nav                    { return child[Nav](b.Node, kNav) }

// Section is a part of the body, which may hold further ones.
type Section struct{ Node }

func (s Section) ID() string                  { return s.n.value("id") }
func (s Section) Label() string               { return s.n.value("label") }
func (s Section) Text() string                { return s.text() }
func (s Section) Content() iter.Seq[Content]  { return contents(s.Node) }
func (s Section) Sections() iter.Seq[Section] { return each[Section](s.Node, kSection) }
func (s Section) Data() iter.Seq[Data]        { return each[Data](s.Node, kData) }
func (s Section) Links() iter.Seq[Link]       { return each[Link](s.Node, kLink) }
func (s Section) Nav() Nav                    { return child[Nav](s.Node, kNav) }

// Media is what img, audio and video share. Nothing of it is ever fetched by
// this package.
type Media struct{ Node }

func (m Media) Src() string  { return m.n.value("src") }
func (m Media) Type() string { return m.n.value("type") }
func (m Media) Inference() Inference {
	return parse[Inference](inferenceWords[:], m.n.value("inference"))
}
func (m Media) Description() string { return m.n.child(kDescription).content() }
func (m Media) Transcript() string  { return m.n.child(kTranscript).content() }

// TextFor is the text that may stand for the medium: the transcript, or else
// the description (sections 8.10.5 and 8.10.6).
func (m Media) TextFor() string {
	if t := m.Transcript(); t != "" {
		return t
	}
	return m.Description()
}

// Width and Height are in pixels, Duration is time; false when absent or invalid.
func (m Media) Width() (int64, bool)  { n, _, ok := m.integer("width"); return n, ok }
func (m Media) Height() (int64, bool) { n, _, ok := m.integer("height"); return n, ok }
func (m Media) Duration() (time.Duration, bool) {
	n, err := ParseNumber(m.n.value("duration"))
	if err != nil || n.Float < 0 || n.Float > 1e9 {
		return 0, false
	}
	return time.Duration(n.Float * float64(time.Second)), true
}

// Img is section 8.10.2, Audio 8.10.3, Video 8.10.4.
type (
	Img   struct{ Media }
	Audio struct{ Media }
	Video struct{ Media }
)

// Link is section 8.10.7. It is never followed by itself.
type Link struct{ Node }

func (l Link) Href() string  { return l.n.value("href") }
func (l Link) Rel() []string { return strings.Fields(l.n.value("rel")) }
func (l Link) Type() string  { return l.n.value("type") }
func (l Link) Label() string { return l.n.value("label") }

// Followable reports whether href leads to another document: no javascript:,
// data: or similar.
func (l Link) Followable() bool { return l.Exists() && !executableScheme(l.Href()) }

// executableScheme finds URIs that carry their content or code in themselves.
func executableScheme(uri string) bool {
	scheme, _, found := strings.Cut(strings.TrimLeft(uri, " \t\r\n\x00"), ":")
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

// Data is section 8.10.8.
type Data struct{ Node }

func (d Data) ID() string            { return d.n.value("id") }
func (d Data) Label() string         { return d.n.value("label") }
func (d Data) Items() iter.Seq[Item] { return each[Item](d.Node, kItem) }

// Item is section 8.10.9.
type Item struct{ Node }

func (i Item) ID() string              { return i.n.value("id") }
func (i Item) Fields() iter.Seq[Field] { return each[Field](i.Node, kField) }

// Field gives the first field of that name.
func (i Item) Field(name string) Field {
	for f := range i.Fields() {
		if f.Name() == name {
			return f
		}
	}
	return Field{}
}

// Field is section 8.10.10: its text is its value.
type Field struct{ Node }

func (f Field) Name() string { return f.n.value("name") }
func (f Field) Text() string { return f.text() }

// Type is the declared type; enum, which only parameters have, reads as string.
func (f Field) Type() Type { return valueType(f.n.value("type")) }

// Check reports whether the text is of the type: see CheckValue.
func (f Field) Check() error { return CheckValue(f.Type(), f.Text()) }

// Number is the text as a number, for a field of that type.
func (f Field) Number() (Number, error) {
	if f.Type() != TypeNumber {
		return Number{}, ErrType
	}
	return ParseNumber(f.Text())
}

// Time is the text as a date or datetime, for a field of one of these types.
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

func valueType(text string) Type {
	if t := ParseType(text); t != TypeEnum {
		return t
	}
	return TypeString
}

// Nav is section 8.10.11. Its URIs are references to resolve on the document's
// final URL; following them is the agent's decision.
type Nav struct{ Node }

func (n Nav) Next() string         { return n.n.value("next") }
func (n Nav) Prev() string         { return n.n.value("prev") }
func (n Nav) Cursor() string       { return n.n.value("cursor") }
func (n Nav) Total() (int64, bool) { total, _, ok := n.integer("total"); return total, ok }
