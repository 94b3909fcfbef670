package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Act is an action as a host's own policy may judge it. Its words are the
// service's: data to look at, never instructions.
type Act struct {
	Method      string
	URL         string // exactly what is requested
	ID          string // of the action
	Description string // untrusted
	Serving     string // domain that delivered the document
	Owner       string // domain whose action it is
	Endpoint    string // host that receives it
	Fields      []string
	Idempotent  bool // as the service says
}

// Weight is what a host thinks of an action's consequences (section 13.4).
type Weight uint8

const (
	// WeighedByRule leaves it to the rules: every unsafe method, whatever carries
	// data of the user's, what is called buying or deleting, confirm="true".
	WeighedByRule Weight = iota
	// Consequential asks the user although no rule does.
	Consequential
	// Harmless does not ask because of an unsafe method alone. Every other reason
	// to ask stays.
	Harmless
)

// consequential reports whether the user has to confirm an act, and for which
// reason first (section 13.4). Stated confirm="false" is no reason not to ask.
func consequential(a Act, confirm, tells bool, host Weight) (why string) {
	switch {
	case confirm:
		return "the service demands confirmation"
	case tells:
		return "it tells something about you"
	case a.Method == http.MethodDelete, weighty(a):
		return "it may buy, book or delete something"
	case host == Consequential:
		return "your policy demands it"
	case !safeMethod(a.Method) && host != Harmless:
		return "it may change something"
	}
	return ""
}

// safeMethod reports whether a method asks for nothing but an answer (RFC 9110
// section 9.2.1).
func safeMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// weightyWords are words by which actions that cost or destroy something are
// called. A service that calls them otherwise is caught by its method.
var weightyWords = map[string]bool{
	"buy": true, "purchase": true, "pay": true, "payment": true, "checkout": true, "order": true, "book": true,
	"reserve": true, "subscribe": true, "donate": true, "charge": true, "transfer": true, "bid": true, "deposit": true,
	"withdraw": true, "refund": true, "upgrade": true, "renew": true, "invoice": true,
	"delete": true, "remove": true, "erase": true, "cancel": true, "terminate": true, "unsubscribe": true,
	"destroy": true, "drop": true, "revoke": true, "wipe": true, "purge": true, "close": true, "deactivate": true,
}

// weighty reports whether an act is called like one that costs or destroys.
func weighty(a Act) bool {
	named := append(words(a.ID), words(path(a.URL))...)
	if said := words(a.Description); len(said) > 0 {
		named = append(named, said[0]) // "pay for the seats", and not "trips that you can book"
	}
	return slices.ContainsFunc(named, func(word string) bool { return weightyWords[word] })
}

func path(url string) string {
	u, err := endpointRules.Parse(url)
	if err != nil {
		return url
	}
	return u.Path()
}

// words cuts a text into words in lower case, also where camelCase joins them.
func words(text string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			end()
		}
		if unicode.IsLetter(r) {
			word.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	end()
	return out
}

// weigh asks the host what it thinks of an act. A panic, or no answer, is taken as
// doubt.
func (u *User) weigh(ctx context.Context, b *plugin.Bound, a Act) Weight {
	if u.Policy == nil || u.Policy.Weigh == nil {
		return WeighedByRule
	}
	w, err := plugin.Await(ctx, b, func(ctx context.Context) (Weight, error) { return u.Policy.Weigh(ctx, a), nil })
	if err != nil || w > Harmless {
		return Consequential
	}
	return w
}

// forbids asks the host's policy last, when all else is decided. A panic, or no
// answer, forbids.
func (u *User) forbids(ctx context.Context, b *plugin.Bound, a Act) error {
	if u.Policy == nil || u.Policy.VetoAct == nil {
		return nil
	}
	return do(ctx, b, func(ctx context.Context) error { return u.Policy.VetoAct(ctx, a) })
}
