package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
)

// response writes the agent response that settled disclosures make (section 11.1), nil if there is nothing
// to say. It says nothing else: no title, no language, no word about the user. Only what the service
// asked for is refused in it.
func response(e exchange, disclosures []disclosure) (*anml.Document, error) {
	r := anml.NewResponse()
	empty := true
	for _, t := range disclosures {
		switch {
		case t.Kind == discloseAnswer && t.refused():
			r.Refuse(t.Field, t.Reason, "")
		case t.Kind == discloseAnswer:
			r.Answer(t.Field, t.Value, t.Basis, t.Granted)
		case t.Kind == discloseInform && !t.refused():
			r.Inform(t.Value)
		case t.Kind == discloseAsk && !t.refused():
			r.Ask(t.Field, e.Action, strings.Join(t.Purposes, " "))
		default:
			continue
		}
		empty = false
	}
	if empty {
		return nil, nil
	}
	return r.Build()
}

// item is what the user is asked about one disclosure: the exact value, who receives
// it, and what the service says that it is for.
func (e exchange) item(t *disclosure, warnings []string) lookleap.ConsentItem {
	value, values := shownValue(t.Value, valueLabels[t.Kind], t.Field)
	field, named := shownValue(t.Field, "name", "")
	var summary string
	switch t.Kind {
	case discloseAnswer:
		summary, values = "answer the field "+field+" with "+value, append(named, values...)
		if t.Required {
			summary += ", which the service calls required"
		}
	case discloseArg:
		summary, values = "send the argument "+field+" with "+value, append(named, values...)
		if t.Means != "" {
			summary += ", which is your " + quote(t.Means)
		}
	case discloseInform:
		summary = "tell of the agent's own accord: " + value
	case discloseAsk:
		summary, values = "ask them for the field "+field, named
		if purpose := strings.Join(t.Purposes, " "); purpose != "" {
			said, whole := shownValue(purpose, "purpose", "")
			summary, values = summary+", saying "+said, append(named, whole...)
		}
	}
	if len(t.From) > 0 {
		origin := " told this, and "
		if t.Unsure {
			origin = " may have told this, and "
		}
		summary += "; " + strings.Join(t.From, " and ") + origin + e.recipient() + " would learn it"
	}
	for _, w := range warnings {
		summary += "; " + w
	}
	item := lookleap.ConsentItem{ID: t.Item, Summary: summary, Recipient: e.Endpoint, Values: values,
		Optional: t.Kind != discloseArg, Required: t.Required, Digest: e.cover(t).digest()}
	if t.Category != "" {
		item.Class = lookleap.ItemSensitive
	}
	if t.Kind == discloseAnswer || t.Kind == discloseArg {
		for _, purpose := range t.Purposes {
			if purpose != "" {
				item.Remote = append(item.Remote, lookleap.RemoteText{Source: e.server(), Label: "purpose", Text: purpose})
			}
		}
	}
	return item
}

// valueLabels say what a long value of each kind is.
var valueLabels = map[disclosureKind]string{discloseAnswer: "answer", discloseArg: "argument", discloseInform: "text", discloseAsk: "ask"}

// summaryBytes is how long a value may be that a summary quotes.
const summaryBytes = 400

// shownValue quotes a value for a summary, which holds all of it. A longer one becomes
// a value of its own, which every dialogue lays out whole, or with its length and
// digest where it is very long.
func shownValue(text, label, name string) (quoted string, values []lookleap.ConsentValue) {
	if len(text) <= summaryBytes {
		return plaintext.Quote(text, utf8.RuneCountInString(text)+1), nil
	}
	return fmt.Sprintf("the %d bytes shown as %s", len(text), label), []lookleap.ConsentValue{{Label: label, Name: name, Text: text}}
}

// authenticate shows that the user is there, where a rule of what is told demands
// that; what cannot be told without is refused.
func (b *disclosureBuilder) authenticate(ctx context.Context) error {
	needs := func(t disclosure) bool { return t.authentic() && !t.refused() }
	if !slices.ContainsFunc(b.disclosures, needs) {
		return nil
	}
	s := b.decider.page.session
	err := s.authenticate(ctx, b.to.Asker)
	for i := range b.disclosures {
		t := &b.disclosures[i]
		if !needs(*t) {
			continue
		}
		if err == nil {
			t.Shown = s.now()
			continue
		}
		if t.Kind == discloseArg {
			t.refuse(CodeAuthentication, anml.ConstraintViolation)
			b.refusing = true
			return &lookleap.Error{Code: CodeAuthentication, Subject: b.decider.page.location(),
				Message: "the argument " + quote(t.Field) + " is not sent", Err: err}
		}
		b.items = slices.DeleteFunc(b.items, func(it lookleap.ConsentItem) bool { return it.ID == t.Item })
		t.refuse(CodeAuthentication, anml.ConstraintViolation)
	}
	return nil
}

// authenticate asks the host to show that the user is present.
func (s *Session) authenticate(ctx context.Context, asker string) error {
	if s.user.Authenticate == nil {
		return &lookleap.Error{Code: CodeAuthentication}
	}
	return plugin.Do(ctx, s.agent.plugins.person, func(ctx context.Context) error {
		return s.user.Authenticate(ctx, "to tell "+asker+" what it demands authentication for")
	})
}
