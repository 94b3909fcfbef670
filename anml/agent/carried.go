package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/plugin"
)

// carried finds out which of the user's fields a text holds that did not come from
// the profile: whatever it is called, what it tells is theirs.
type carried struct {
	names  map[string]string // fields that the profile knows, by their keys
	values []carriedValue    // the longest first
	failed bool              // some field of the profile could not be read
}

// carriedValue is one field of the profile in one of the forms that it is written in.
type carriedValue struct {
	field string
	wanted
}

// carried reads the fields of the profile that can be found, to compare texts with:
// those that it lists, and those that the agent, the page, a standing rule or an
// argument names.
func (f *frame) carried(ctx context.Context, recipient string, args ...string) *carried {
	s := f.page.session
	c := &carried{names: map[string]string{}}
	listed, err := s.fieldNames(ctx)
	c.failed = err != nil
	names := slices.Concat(s.agent.names(), f.will.fields(), f.page.askedFields(), listed, args)
	slices.Sort(names)
	for _, field := range slices.Compact(names) {
		v, err := s.valueOf(ctx, Question{Field: field, Recipient: recipient})
		switch {
		case errors.Is(err, ErrNoValue):
			continue
		case err != nil && !slices.Contains(args, field):
			c.failed = true
			continue
		}
		c.names[fieldKey(field)] = field // also where the profile fails for a name that only a service gave
		for _, form := range forms(v.Text) {
			c.values = append(c.values, carriedValue{field, form})
		}
	}
	slices.SortStableFunc(c.values, func(a, b carriedValue) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	return c
}

// fieldNames lists the fields of a profile that lists them.
func (s *Session) fieldNames(ctx context.Context) ([]string, error) {
	switch p := s.user.Profile.(type) {
	case NoProfile:
		return nil, nil
	case Fields:
		return p.FieldNames(ctx)
	case FieldLister:
		return plugin.Await(ctx, s.agent.plugins.profile, p.FieldNames)
	}
	return nil, nil
}

// askedFields lists the fields that any ask of the page names.
func (p *Page) askedFields() (names []string) {
	for site := range p.doc.Containers() {
		for ask := range site.Knowledge().Asks() {
			names = append(names, ask.Field())
		}
	}
	return names
}

// find lists the fields whose value a text is, or else those whose value it holds,
// the longest first.
func (c *carried) find(p *searchText) []string {
	var whole, part []string
	text, last := p.rest(), ""
	for _, v := range c.values {
		value := v.in(p)
		switch {
		case value == text && distinct(text) && (!p.alike || len(text) >= 4):
			whole = append(whole, v.field)
		case utf8.RuneCountInString(v.text) < rowLen:
		case value == last:
			part = append(part, v.field)
		case p.cut(v.wanted): // and not only within a longer one, as a name in an address is
			part, last = append(part, v.field), value
		}
	}
	if whole != nil {
		return whole
	}
	return part
}

// distinct reports whether a whole value says anything about whose it is. A single
// character, a number of three digits or less and the words of a choice are in most
// profiles and in most forms, so an argument that equals one is no evidence.
func distinct(text string) bool {
	switch text {
	case "yes", "no", "true", "false", "on", "off", "null", "none":
		return false
	}
	n := utf8.RuneCountInString(text)
	if n > 3 {
		return true
	}
	return n > 1 && strings.ContainsFunc(text, unicode.IsLetter)
}

// beside lists the fields that a text holds, however it is spelled or encoded,
// beside the one that it is told as, "" for none: what else is in it than that
// field's own value.
func (c *carried) beside(field, text string) (found []string) {
	if len(c.values) == 0 {
		return nil
	}
	for _, reading := range readingsSent(text) {
		for p := range searchTexts(reading) {
			for _, v := range c.values {
				if v.field == field {
					p.cut(v.wanted)
				}
			}
			for _, other := range c.find(p) {
				if other != field && !slices.Contains(found, other) {
					found = append(found, other)
				}
			}
		}
	}
	return found
}

// spelled is a text in the one spelling in which values are compared.
func spelled(text string) string {
	f := fold(text)
	return string(f.runes)
}
