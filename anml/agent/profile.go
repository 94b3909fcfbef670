package agent

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/confusable"
)

// Profile is the user's data, in the host's hands. Value is called for one field
// at a time, when a decision allows to prepare it, and gives one value of the
// type that is asked, or an error: [ErrNoValue] where the user has none. An error
// or a panic refuses the field, and so does a call that does not return within 10
// seconds. It is called from several goroutines at once.
//
// When a call has arguments, or texts that the host supplies, Value is also called
// without a purpose, to find out whether they hold data of the user: for the names
// of the arguments, the recognised fields, the fields that the page asks for or
// that a standing rule names, and those of [FieldLister].
type Profile interface {
	Value(ctx context.Context, q Question) (Value, error)
}

// FieldLister is a [Profile] that lists its fields. Implement it: otherwise a value
// of a field that no one named yet is not recognised in an argument.
type FieldLister interface {
	// FieldNames returns the names of all fields that the user has a value for. An
	// error makes every argument count as personal.
	FieldNames(ctx context.Context) ([]string, error)
}

// Question is what a service asks for, so that the profile can give no more than
// the purpose needs (section 13.2).
type Question struct {
	Field     string
	Type      anml.Type
	Purpose   string // untrusted text of the service; "" when it states none
	Recipient string // domain that would receive it
}

// Value is one piece of the user's data.
type Value struct {
	Text string
	// Provenance is where the value comes from: [ProvenanceUser] where the host
	// knows that the user gave it, the domain of the service that told it, or "".
	// Whatever is not known to be the user's is compared with what services told
	// (section 14.1).
	Provenance string
	// Category is the host's own word for its kind, "" when it has none;
	// "health", "finance" and "location" are sensitive (section 14.2).
	Category string
}

// ProvenanceUser marks a value that the user gave: it is the user's to tell, also
// where a service knows it too.
const ProvenanceUser = "user"

// ErrNoValue is a field that the user has no value for.
var ErrNoValue = coded.New("no-value", "anml/agent: the user has no value for the field")

// NoProfile is the profile of a user who has given no data.
type NoProfile struct{}

// Value gives [ErrNoValue].
func (NoProfile) Value(context.Context, Question) (Value, error) { return Value{}, ErrNoValue }

// FieldNames returns no names.
func (NoProfile) FieldNames(context.Context) ([]string, error) { return nil, nil }

// Fields is a profile of fixed values, by field.
type Fields map[string]Value

// Value gives the field's value, or [ErrNoValue].
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

// fieldKey is the name of a field in the one spelling in which what the user
// forbids is compared: without case, accents, separators and characters that
// nobody sees, and with one letter for all that look like it. So a denial holds
// for every name that the user would take for the same field, while whatever
// permits compares names exactly (section 16.3). A name without a letter or a
// digit is its own key.
func fieldKey(name string) string {
	key := asciiKey(name)
	if !isASCII(name) {
		key = asciiKey(latin(name))
	}
	if key == "" {
		return name
	}
	return ligatures.Replace(key)
}

// ligatures are pairs of letters that look like one.
var ligatures = strings.NewReplacer("rn", "m", "vv", "w")

// latin is a text with the ASCII letters that its own look like, and in lower case and
// without accents where they look like none. What separates words is left out.
func latin(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text))) {
		switch letters := confusable.Letters(r); {
		case letters != "":
			b.WriteString(letters)
		case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.N, unicode.M) && !unseen(r):
			b.WriteString(spelled(string(r)))
		}
	}
	return b.String()
}

// asciiKey is the key of a name in one pass. It folds the case of ASCII letters, and
// keeps characters that are not ASCII.
func asciiKey(name string) string {
	key := make([]byte, 0, 32)
	for i := range len(name) {
		switch c := lower(name[i]); {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '|', c >= utf8.RuneSelf:
			key = append(key, stroke(c))
		}
	}
	return string(key)
}

// stroke is the ASCII letter that a letter or digit cannot be told from.
func stroke(c byte) byte {
	switch c {
	case '0':
		return 'o'
	case '1', 'i', '|':
		return 'l' // I, l, 1 and | are one stroke
	}
	return c
}

// sameField reports whether the user would take two names for the same field.
func sameField(a, b string) bool { return a == b || fieldKey(a) == fieldKey(b) }
