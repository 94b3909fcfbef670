package agentstxt

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Preference is what a publisher states about one use of its content.
type Preference uint8

const (
	// Unstated: the publisher states nothing about the use.
	Unstated Preference = iota
	// Yes: the publisher agrees to the use.
	Yes
	// No: the publisher objects to the use.
	No
)

var preferenceNames = [...]string{"unstated", "yes", "no"}

// String returns unstated, yes or no.
func (p Preference) String() string {
	if int(p) < len(preferenceNames) {
		return preferenceNames[p]
	}
	return preferenceNames[Unstated]
}

// MarshalText returns unstated, yes or no.
func (p Preference) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Usage is what a publisher states about the use of its content, in Content-Signal lines
// of robots.txt and in Content-Usage lines or header fields (IETF working group AIPREF).
// It is data for programs that build an index or train a model. No decision of this
// package depends on it.
type Usage struct {
	Search  Preference `json:"search"`  // building a search index and showing links and excerpts
	AIInput Preference `json:"aiInput"` // giving the content to a model as input
	AITrain Preference `json:"aiTrain"` // training a model

	// Other holds further categories by their names in lower case, such as "bots".
	Other map[string]Preference `json:"other,omitempty"`
}

// IsZero reports whether nothing is stated.
func (u Usage) IsZero() bool {
	return u.Search == Unstated && u.AIInput == Unstated && u.AITrain == Unstated && len(u.Other) == 0
}

// Of returns what is stated about a category by the name that either format uses, such as
// "search", "ai-train" or "train-ai".
func (u Usage) Of(category string) Preference {
	if p := u.field(strings.ToLower(category)); p != nil {
		return *p
	}
	return u.Other[strings.ToLower(category)]
}

func (u *Usage) field(category string) *Preference {
	switch category {
	case "search":
		return &u.Search
	case "ai-input":
		return &u.AIInput
	case "ai-train", "train-ai":
		return &u.AITrain
	}
	return nil
}

// maxCategories bounds Usage.Other.
const maxCategories = 16

func (u *Usage) set(category string, p Preference) {
	if field := u.field(category); field != nil {
		*field = p
		return
	}
	if u.Other == nil {
		u.Other = make(map[string]Preference)
	}
	if _, known := u.Other[category]; known || len(u.Other) < maxCategories {
		u.Other[category] = p
	}
}

// Strictest returns what two statements about the same content say together: an objection
// in either of them counts, and what only one of them states counts.
func (u Usage) Strictest(other Usage) Usage {
	u.Search, u.AIInput, u.AITrain = max(u.Search, other.Search), max(u.AIInput, other.AIInput), max(u.AITrain, other.AITrain)
	u.Other = maps.Clone(u.Other)
	for category, p := range other.Other {
		u.set(category, max(u.Other[category], p))
	}
	return u
}

// String returns the stated categories, such as "search=yes, ai-train=no".
func (u Usage) String() string {
	var parts []string
	say := func(category string, p Preference) {
		if p != Unstated {
			parts = append(parts, category+"="+p.String())
		}
	}
	say("search", u.Search)
	say("ai-input", u.AIInput)
	say("ai-train", u.AITrain)
	for _, category := range slices.Sorted(maps.Keys(u.Other)) {
		say(category, u.Other[category])
	}
	return strings.Join(parts, ", ")
}

// ParseContentSignal parses the value of a Content-Signal line of robots.txt, such as
// "search=yes, ai-train=no". Of a value that is not a valid Structured Fields dictionary
// (RFC 9651), only the objections count.
func ParseContentSignal(value string) Usage {
	return parseUsage([]string{value}, "yes", "no").Strictest(objections(value, "no"))
}

// ParseContentUsage parses the Content-Usage header fields of a response, such as
// "train-ai=n". It states nothing if they are not a valid Structured Fields dictionary
// (RFC 9651).
func ParseContentUsage(header http.Header) Usage {
	return parseUsage(header.Values("Content-Usage"), "y", "n")
}

// parseUsage parses the lines of a dictionary whose members have the tokens yes and no.
func parseUsage(lines []string, yes, no string) (u Usage) {
	members, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return u
	}
	for _, name := range members.Names() {
		member, _ := members.Get(name)
		item, _ := member.(httpsfv.Item)
		switch {
		case !isCategory(name):
		case item.Value == httpsfv.Token(yes):
			u.set(name, Yes)
		case item.Value == httpsfv.Token(no):
			u.set(name, No)
		}
	}
	return u
}

// objections returns what a line of robots.txt objects to, although it may not be a valid
// dictionary: robots.txt is written by hand, and an objection must not get lost by a slip.
func objections(value, no string) (u Usage) {
	for member := range strings.SplitSeq(value, ",") {
		name, word, _ := strings.Cut(member, "=")
		word, _, _ = strings.Cut(word, ";") // without parameters
		name = strings.ToLower(strings.Trim(name, " \t"))
		if strings.EqualFold(strings.Trim(word, " \t=\"'"), no) && isCategory(name) {
			u.set(name, No)
		}
	}
	return u
}

func isCategory(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isAlnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// parseUsageLine parses the value of a Content-Signal or Content-Usage line of robots.txt.
// It may begin with a path that limits it.
func parseUsageLine(key, value string) (stated robotsUsage) {
	stated.rule, _ = newRobotsRule("/", 0)
	if strings.HasPrefix(value, "/") {
		end := strings.IndexAny(value, " \t")
		if end < 0 {
			return stated
		}
		stated.rule, _ = newRobotsRule(value[:end], 0)
		value = strings.Trim(value[end:], " \t")
	}
	if key == "content-signal" {
		stated.usage = ParseContentSignal(value)
	} else {
		stated.usage = parseUsage([]string{value}, "y", "n").Strictest(objections(value, "n"))
	}
	return stated
}

// UsageFrom returns what the publisher states about the use of a response that came
// through a guard, also below a [lookleap.Host] or an [http.Client]. The context is that of
// [http.Response.Request]. robots.txt and the Content-Usage header field of the response
// count, the stricter of both.
//
// Callers of a loader see no response; they use [TraceUsage].
func UsageFrom(ctx context.Context) (u Usage, ok bool) {
	u, ok = roundtrip.Note(ctx).(Usage)
	return u, ok
}

// usageTraceKey is the context key of what TraceUsage calls.
type usageTraceKey struct{}

// TraceUsage returns a context for calls that make requests through a guard, such as those of
// a loader. The guard calls seen for each response about whose use the publisher states
// something, with the URL of the request, before it returns the response. seen may be called
// from several goroutines at once. If callers share one request, only the function of the
// first is called.
func TraceUsage(ctx context.Context, seen func(url string, u Usage)) context.Context {
	return context.WithValue(ctx, usageTraceKey{}, seen)
}

// stateUsage adds what the publisher states to a response, and tells the request's tracer.
func stateUsage(req *http.Request, resp *http.Response, u Usage) {
	if resp.Request != nil { // which the host may have sent through another guard
		before, _ := UsageFrom(resp.Request.Context())
		u = u.Strictest(before)
	}
	if u.IsZero() {
		return
	}
	roundtrip.Annotate(resp, u)
	if seen, _ := req.Context().Value(usageTraceKey{}).(func(string, Usage)); seen != nil {
		seen(req.URL.String(), u)
	}
}
