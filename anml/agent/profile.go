package agent

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Profile is the user's data, held by the host. Value is called for one field at a time, after a
// decision allows it. It returns one value of the requested type, or [ErrNoValue] if the user has
// none. An error, a panic or a call that takes longer than 10 seconds refuses the field. It is
// called from several goroutines.
//
// If a call has arguments, or texts from the host, Value is also called without a purpose, to find
// out whether they contain data of the user. It is then called for the names of the arguments, the
// recognised fields, the fields that the page asks for or that a standing rule names, and those of
// [FieldLister].
type Profile interface {
	Value(ctx context.Context, q Question) (Value, error)
}

// FieldLister is a [Profile] that lists its fields. Implement it: otherwise the value of a field
// that was never named is not recognised in an argument.
type FieldLister interface {
	// FieldNames returns the names of all fields that the user has a value for. An
	// error makes every argument count as personal.
	FieldNames(ctx context.Context) ([]string, error)
}

// Question is what a service asks for. A profile can use it to return no more than the purpose
// needs (section 13.2).
type Question struct {
	Field     string
	Type      anml.Type
	Purpose   string // untrusted text of the service; "" if it states no purpose
	Recipient string // domain that would receive it
}

// Value is one item of the user's data.
type Value struct {
	Text string
	// Provenance is where the value comes from: [ProvenanceUser] where the host
	// knows that the user gave it, the domain of the service that told it, or "".
	// Whatever is not known to be the user's is compared with what services told
	// (section 14.1), see [CrossService].
	Provenance string
	// Category is the host's own category, or "". The categories "health", "finance" and "location"
	// are sensitive (section 14.2).
	Category string
}

// ProvenanceUser marks a value that the user entered. It may be sent even if a service also knows
// it.
const ProvenanceUser = "user"

// ErrNoValue is the error for a field that the user has no value for.
var ErrNoValue = coded.New("no-value", "the user has no value for the field")

// Fields is a profile of fixed values, keyed by field. Without values it is a user without data.
type Fields map[string]Value

// Value returns the field's value, or [ErrNoValue].
func (f Fields) Value(_ context.Context, q Question) (Value, error) {
	if v, ok := f[q.Field]; ok {
		return v, nil
	}
	return Value{}, ErrNoValue
}

// FieldNames returns the names of the fields in alphabetical order.
func (f Fields) FieldNames(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(f)), nil
}

// fieldNames returns the fields of a profile that lists them.
func (s *Session) fieldNames(ctx context.Context) ([]string, error) {
	switch p := s.user.Profile.(type) {
	case Fields:
		return p.FieldNames(ctx)
	case FieldLister:
		return plugin.Await(ctx, s.agent.plugins.profile, p.FieldNames)
	}
	return nil, nil
}

// fieldKey returns the form of a field's name in which denials are compared: folded, with the Latin
// letters that others look like, and one letter for I, l, 1 and |, which are one stroke. So a denial
// applies to every name that the user would take for the same field. Rules that allow compare names
// exactly (section 16.3). A name without letters and digits is its own key.
func fieldKey(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(name))) {
		if r == '|' {
			r = 'l'
		}
		b.WriteString(cmp.Or(confusable.Letters(r), string(r)))
	}
	return cmp.Or(strokes.Replace(fold(b.String()).text), name)
}

var strokes = strings.NewReplacer("i", "l", "1", "l", "0", "o", "rn", "m", "vv", "w")

// profileValues are the values of the user's profile. Texts that did not come from the profile are
// compared with them, whatever the texts are called.
type profileValues struct {
	names  map[string]string // fields that the profile knows, by their keys
	values []profileValue    // the longest first
	failed bool              // some field of the profile could not be read
}

// profileValue is the folded value of one field of the profile.
type profileValue struct{ field, text string }

// commonValues are in most profiles and forms, as values of up to three characters are. Equality
// with them shows nothing.
var commonValues = [...]string{"true", "false", "null", "none"}

// profileValues reads the fields of the profile to compare texts with: those that the profile
// lists, and those that the agent, the page, a standing rule or an argument names.
func (f *decider) profileValues(ctx context.Context, recipient string, args ...string) *profileValues {
	s := f.page.session
	p := &profileValues{names: map[string]string{}}
	listed, err := s.fieldNames(ctx)
	p.failed = err != nil
	names := slices.Concat(s.agent.options.Fields, f.page.askedFields(), listed, args)
	for _, r := range f.will.rules {
		if r.Field != "*" {
			names = append(names, r.Field)
		}
	}
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
		if text := fold(v.Text).text; utf8.RuneCountInString(text) >= wholeLen && !slices.Contains(commonValues[:], text) {
			p.values = append(p.values, profileValue{field, text})
		}
	}
	slices.SortStableFunc(p.values, func(a, b profileValue) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	return p
}

// gap stands where a value was, and is in no folded text.
const gap = "\x00"

// fieldsIn returns the fields whose value a text is, or else those whose value it contains, in any
// reading, without the field that it is sent as ("" if it is sent as no field). A value that is
// only within a longer one, as a name in an address, is not contained. The texts are long and the
// values many, so it ends with ctx, as divided does: the caller must then end too.
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
		rest = strings.Trim(rest, gap)
		var whole, part []string
		last := ""
		for _, v := range p.values {
			if ctx.Err() != nil {
				return found
			}
			switch {
			case v.field == field || slices.Contains(found, v.field):
			case v.text == rest:
				whole = append(whole, v.field)
			case utf8.RuneCountInString(v.text) < tokenLen:
			case v.text == last:
				part = append(part, v.field)
			case strings.Contains(rest, v.text):
				part, last = append(part, v.field), v.text
				rest = strings.ReplaceAll(rest, v.text, gap)
			}
		}
		if whole == nil {
			whole = part
		}
		found = append(found, whole...)
	}
	return found
}

// divided returns, for each of some texts that are sent together, the fields whose value several of
// them make in a row, in their order or in reverse.
func (p *profileValues) divided(ctx context.Context, texts []string) map[string][]string {
	found := make(map[string][]string)
	for _, j := range joinTexts(texts) {
		for _, v := range p.values {
			if ctx.Err() != nil {
				return found
			}
			at := strings.Index(j.text, v.text)
			for from := 0; at >= 0 && utf8.RuneCountInString(v.text) >= tokenLen; {
				from += at
				for _, text := range j.touched(span{from, from + len(v.text)}) {
					found[text] = append(found[text], v.field)
				}
				from++
				at = strings.Index(j.text[from:], v.text)
			}
		}
	}
	return found
}

// joinedTexts are several texts as one: folded, and without anything between them.
type joinedTexts struct {
	text  string
	texts []string // each of them,
	ends  []int    // and where it ends in the text
}

// joinTexts joins texts in their order, and in reverse: a value may be divided between the
// arguments of one call.
func joinTexts(texts []string) (list [2]joinedTexts) {
	for k := range list {
		j, b := &list[k], new(strings.Builder)
		j.texts = slices.Clone(texts)
		if k == 1 {
			slices.Reverse(j.texts)
		}
		for _, text := range j.texts {
			b.WriteString(fold(text).text)
			j.ends = append(j.ends, b.Len())
		}
		j.text = b.String()
	}
	return list
}

// touched returns the texts that a part of the joined text touches, if they are several.
func (j *joinedTexts) touched(part span) []string {
	first, _ := slices.BinarySearch(j.ends, part.from+1)
	last, _ := slices.BinarySearch(j.ends, part.to)
	if first == last {
		return nil
	}
	return j.texts[first : last+1]
}
