package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// carried finds out which of the user's fields a text holds that did not come from
// the profile: whatever it is called, what it tells is theirs. They are the
// recognised ones, and those that the user has a rule about.
type carried struct {
	values []carriedValue // the longest first
	failed bool           // some field of the profile could not be read
}

// carriedValue is one field of the profile, folded.
type carriedValue struct{ field, text string }

// carried reads these fields of the profile, to compare texts with.
func (f *frame) carried(ctx context.Context, recipient string) *carried {
	s := f.page.session
	c := &carried{}
	names := append(s.agent.names(), f.will.fields()...)
	slices.Sort(names)
	for _, field := range slices.Compact(names) {
		v, err := ask(ctx, s.user.Profile, Question{Field: field, Recipient: recipient})
		switch {
		case errors.Is(err, ErrNoValue):
		case err != nil:
			c.failed = true
		default:
			if text := spelled(v.Text); text != "" {
				c.values = append(c.values, carriedValue{field, text})
			}
		}
	}
	slices.SortStableFunc(c.values, func(a, b carriedValue) int { return cmp.Compare(len(b.text), len(a.text)) })
	return c
}

// fields lists the fields whose value a text is, or else those whose value it
// holds, however it is spelled, the longest first. A short value has to be all of
// the text.
func (c *carried) fields(text string) []string { return c.find(spelled(text)) }

func (c *carried) find(text string) []string {
	var whole, part []string
	for _, v := range c.values {
		switch {
		case v.text == text:
			whole = append(whole, v.field)
		case utf8.RuneCountInString(v.text) >= rowLen && strings.Contains(text, v.text):
			part = append(part, v.field)
		}
	}
	if whole != nil {
		return whole
	}
	return part
}

// beside lists the fields that a text holds beside the one that it is told as: what
// else is in it than that field's own value.
func (c *carried) beside(field, text string) []string {
	text = spelled(text)
	for _, v := range c.values {
		if v.field == field {
			text = strings.ReplaceAll(text, v.text, gap)
		}
	}
	if text = strings.Trim(text, gap); text == "" {
		return nil
	}
	return slices.DeleteFunc(c.find(text), func(other string) bool { return other == field })
}

// gap stands where a value was, and is in no spelled text.
const gap = "\x00"

// spelled is a text in the one spelling in which values are compared.
func spelled(text string) string {
	f := fold(text)
	return string(f.runes)
}
