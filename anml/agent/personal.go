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

// profileValues are the values of the user's profile. Texts that did not come from the profile are
// compared with them, whatever the texts are called.
type profileValues struct {
	names  map[string]string // fields that the profile knows, by their keys
	values []profileValue    // the longest first
	failed bool              // some field of the profile could not be read
}

// profileValue is one field of the profile.
type profileValue struct {
	field  string
	text   string // folded
	itself string // without white space at its ends
}

// profileValues reads the fields of the profile to compare texts with: those that the profile
// lists, and those that the agent, the page, a standing rule or an argument names.
func (f *frame) profileValues(ctx context.Context, recipient string, args ...string) *profileValues {
	s := f.page.session
	p := &profileValues{names: map[string]string{}}
	listed, err := s.fieldNames(ctx)
	p.failed = err != nil
	names := slices.Concat(s.agent.names(), f.will.fields(), f.page.askedFields(), listed, args)
	slices.Sort(names)
	for _, field := range slices.Compact(names) {
		v, err := s.valueOf(ctx, Question{Field: field, Recipient: recipient})
		switch {
		case errors.Is(err, ErrNoValue):
			continue
		case err != nil && !slices.Contains(args, field):
			p.failed = true
			continue
		}
		p.names[fieldKey(field)] = field // also where the profile fails for a name that only a service gave
		if text := fold(v.Text).text; text != "" {
			p.values = append(p.values, profileValue{field, text, strings.TrimSpace(v.Text)})
		}
	}
	slices.SortStableFunc(p.values, func(a, b profileValue) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	return p
}

// fieldNames returns the fields of a profile that lists them.
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

// askedFields returns the fields that the page asks for.
func (p *Page) askedFields() (names []string) {
	for site := range p.doc.Containers() {
		for ask := range site.Knowledge().Asks() {
			names = append(names, ask.Field())
		}
	}
	return names
}

// gap stands where a value was, and is in no folded text.
const gap = "\x00"

// fieldsIn returns the fields whose value a text is or contains, in any reading, without the field
// that it is sent as ("" if it is sent as no field). The texts are long and the values many, so it
// ends with ctx, as divided does: the caller must then end too.
func (p *profileValues) fieldsIn(ctx context.Context, field, text string) (found []string) {
	if len(p.values) == 0 {
		return nil
	}
	for _, reading := range readings(text) {
		rest := fold(reading).text
		for _, v := range p.values {
			if v.field == field {
				rest = strings.ReplaceAll(rest, v.text, gap)
			}
		}
		for _, other := range p.find(ctx, strings.TrimSpace(reading), strings.Trim(rest, gap)) {
			if other != field && !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
		if ctx.Err() != nil {
			return found
		}
	}
	return found
}

// find returns the fields whose value a text is, or else those whose value it contains, the longest
// first. A value that is only within a longer one, as a name in an address, is not contained.
func (p *profileValues) find(ctx context.Context, itself, text string) []string {
	var whole, part []string
	last := ""
	for _, v := range p.values {
		if ctx.Err() != nil {
			return nil
		}
		switch {
		case v.is(itself, text):
			whole = append(whole, v.field)
		case utf8.RuneCountInString(v.text) < tokenLen:
		case v.text == last:
			part = append(part, v.field)
		case strings.Contains(text, v.text):
			part, last = append(part, v.field), v.text
			text = strings.ReplaceAll(text, v.text, gap)
		}
	}
	if whole != nil {
		return whole
	}
	return part
}

// is reports whether a text is the value, and shows whose it is. Single characters, numbers of up to
// three digits and words such as "yes" are in most profiles and forms, so equality with them is no
// evidence. Other values of up to three characters are compared as they are written.
func (v *profileValue) is(itself, text string) bool {
	n := utf8.RuneCountInString(v.itself)
	if n > 3 {
		return v.text == text && !slices.Contains([]string{"true", "false", "null", "none"}, v.text)
	}
	return n > 1 && strings.EqualFold(v.itself, itself) && strings.ContainsFunc(itself, unicode.IsLetter) &&
		!slices.Contains([]string{"yes", "no", "on", "off"}, strings.ToLower(itself))
}

// divided returns, for each of some texts that are sent together, the fields whose value several of
// them make in a row, in their order or in reverse.
func (p *profileValues) divided(ctx context.Context, texts []string) [][]string {
	found := make([][]string, len(texts))
	for _, j := range joinTexts(texts) {
		for _, v := range p.values {
			if ctx.Err() != nil {
				return found
			}
			if utf8.RuneCountInString(v.text) < tokenLen {
				continue
			}
			for from := 0; ; {
				at := strings.Index(j.text[from:], v.text)
				if at < 0 {
					break
				}
				for _, i := range j.touched(span{from + at, from + at + len(v.text)}) {
					found[i] = append(found[i], v.field)
				}
				from += at + 1
			}
		}
	}
	return found
}

// joinedTexts are several texts as one: folded, and without anything between them.
type joinedTexts struct {
	text   string
	parts  []span // of the texts
	places []int  // of the texts in their list
}

// joinTexts joins texts in their order, and in reverse: a value may be divided between the arguments
// of one call. It returns nothing for a single text.
func joinTexts(texts []string) []joinedTexts {
	if len(texts) < 2 {
		return nil
	}
	list := make([]joinedTexts, 2)
	folded := make([]string, len(texts))
	for i, text := range texts {
		folded[i] = fold(text).text
	}
	for k := range list {
		var b strings.Builder
		for n := range texts {
			i := n
			if k == 1 {
				i = len(texts) - 1 - n
			}
			begin := b.Len()
			b.WriteString(folded[i])
			list[k].parts = append(list[k].parts, span{begin, b.Len()})
			list[k].places = append(list[k].places, i)
		}
		list[k].text = b.String()
	}
	return list
}

// touched returns the places of the texts that a part of the joined text touches, or none if it
// touches only one.
func (j *joinedTexts) touched(part span) (places []int) {
	at, _ := slices.BinarySearchFunc(j.parts, part.from, func(p span, from int) int { return cmp.Compare(p.to, from+1) })
	for ; at < len(j.parts) && j.parts[at].from < part.to; at++ {
		if j.parts[at].from < j.parts[at].to {
			places = append(places, j.places[at])
		}
	}
	if len(places) < 2 {
		return nil
	}
	return places
}
