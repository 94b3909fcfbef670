package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// carried finds out which of the user's fields a text holds that did not come from
// the profile: whatever it is called, what it tells is theirs.
type carried struct {
	names  map[string]string // fields that the profile knows, by their keys
	values []carriedValue    // the longest first
	failed bool              // some field of the profile could not be read
}

// carriedValue is one field of the profile in one of the forms that it is written
// in, folded.
type carriedValue struct{ field, text string }

// carried reads the fields of the profile that can be found, to compare texts with:
// those that it lists, and those that the agent, the page, a standing rule or an
// argument names.
func (f *frame) carried(ctx context.Context, recipient string, args ...string) *carried {
	s := f.page.session
	c := &carried{names: map[string]string{}}
	listed, err := fieldNames(ctx, s.user.Profile)
	c.failed = err != nil
	names := slices.Concat(s.agent.names(), f.will.fields(), f.page.askedFields(), listed, args)
	slices.Sort(names)
	for _, field := range slices.Compact(names) {
		v, err := ask(ctx, s.user.Profile, Question{Field: field, Recipient: recipient})
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
func fieldNames(ctx context.Context, p Profile) (names []string, err error) {
	lister, ok := p.(FieldLister)
	if !ok {
		return nil, nil
	}
	defer guard("profile", &err)
	return lister.FieldNames(ctx)
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

// find lists the fields whose value a folded text is, or else those whose value it
// holds, the longest first.
func (c *carried) find(text string) []string {
	var whole, part []string
	rest, last := text, ""
	for _, v := range c.values {
		switch {
		case v.text == text && distinct(text):
			whole = append(whole, v.field)
		case utf8.RuneCountInString(v.text) < rowLen:
		case v.text == last:
			part = append(part, v.field)
		case strings.Contains(rest, v.text): // and not only within a longer one, as a name in an address is
			part, last = append(part, v.field), v.text
			rest = strings.ReplaceAll(rest, v.text, gap)
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
	for _, reading := range readings(text) {
		rest := spelled(reading)
		for _, v := range c.values {
			if v.field == field {
				rest = strings.ReplaceAll(rest, v.text, gap)
			}
		}
		for _, other := range c.find(strings.Trim(rest, gap)) {
			if other != field && !slices.Contains(found, other) {
				found = append(found, other)
			}
		}
	}
	return found
}

// divided lists, for each of some texts that are sent together, the fields whose
// value only several of them make, in whichever order: the end of one and the
// beginning of another, and texts that are a part of a value by themselves.
func (c *carried) divided(texts []string) [][]string {
	found := make([][]string, len(texts))
	if len(texts) < 2 {
		return found
	}
	folded := make([]string, len(texts))
	for i, text := range texts {
		folded[i] = spelled(text)
	}
	for _, v := range c.values {
		if utf8.RuneCountInString(v.text) < rowLen {
			continue
		}
		covered := make([]bool, len(v.text))
		var holders []int
		for i, text := range folded {
			if strings.Contains(text, v.text) {
				continue // found by itself
			}
			if markParts(covered, v.text, text) {
				holders = append(holders, i)
			}
		}
		if len(holders) < 2 || slices.Contains(covered, false) {
			continue
		}
		for _, i := range holders {
			if !slices.Contains(found[i], v.field) {
				found[i] = append(found[i], v.field)
			}
		}
	}
	return found
}

// partLen is how many octets of a folded value a text holds at least that is a part
// of a divided one: single characters are in every text.
const partLen = 2

// markParts marks what of a value a text holds: all places of the text in it, the longest
// beginning of it that the text ends with, and the longest end that it begins with.
func markParts(covered []bool, value, text string) (some bool) {
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			covered[i] = true
		}
		some = true
	}
	if len(text) < partLen {
		return false
	}
	for from := 0; from+len(text) <= len(value); from++ {
		if value[from:from+len(text)] == text {
			mark(from, from+len(text))
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasSuffix(text, value[:n]) {
			mark(0, n)
			break
		}
	}
	for n := min(len(value)-1, len(text)); n >= partLen; n-- {
		if strings.HasPrefix(text, value[len(value)-n:]) {
			mark(len(value)-n, len(value))
			break
		}
	}
	return some
}

// gap stands where a value was, and is in no spelled text.
const gap = "\x00"

// spelled is a text in the one spelling in which values are compared.
func spelled(text string) string {
	f := fold(text)
	return string(f.runes)
}
