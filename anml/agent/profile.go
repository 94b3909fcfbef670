package agent

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

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
