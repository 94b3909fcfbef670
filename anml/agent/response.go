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
)

// response writes the agent response that a settled disclosure makes
// (section 11.1); nil when it answers no ask. It says what the disclosure says and
// nothing else: no title, no language, no word about the user.
func (d *disclosure) response(e exchange) (*anml.Document, error) {
	r := anml.NewResponse()
	empty := true
	for _, t := range d.Tells {
		switch {
		case t.Kind == tellArg:
			continue
		case t.refused():
			r.Refuse(t.Field, t.Reason, "")
		case t.Kind == tellAnswer:
			r.Answer(t.Field, t.Value, t.Basis, t.Granted)
		case t.Kind == tellInform:
			r.Inform(t.Value)
		case t.Kind == tellAsk:
			r.Ask(t.Field, e.Action, strings.Join(t.Purposes, " "))
		}
		empty = false
	}
	if empty {
		return nil, nil
	}
	return r.Build()
}

// item is what the user is asked about one tell: the exact value, who receives
// it, and what the service says that it is for.
func (e exchange) item(asker string, t *tell, warnings []string) lookleap.ConsentItem {
	value, values := shownValue(t.Value, valueLabels[t.Kind], t.Field)
	var summary string
	switch t.Kind {
	case tellAnswer:
		summary = "answer the field " + quote(t.Field) + " with " + value
		if t.Required {
			summary += ", which the service calls required"
		}
	case tellArg:
		summary = "send the argument " + quote(t.Field) + " with " + value
		if t.Means != "" {
			summary += ", which is your " + quote(t.Means)
		}
	case tellInform:
		summary = "tell of the agent's own accord: " + value
	case tellAsk:
		summary = "ask them for the field " + quote(t.Field)
		if purpose := strings.Join(t.Purposes, " "); purpose != "" {
			var said string
			said, values = shownValue(purpose, "purpose", t.Field)
			summary += ", saying " + said
		}
	}
	if len(t.From) > 0 {
		summary += "; " + strings.Join(t.From, " and ") + " told this, and " + e.recipient() + " would learn it"
	}
	for _, w := range warnings {
		summary += "; " + w
	}
	item := lookleap.ConsentItem{ID: t.Item, Summary: summary, Recipient: e.Endpoint, Values: values, Optional: t.Kind != tellArg, Required: t.Required, Digest: e.cover(asker, t).digest()}
	if t.Category != "" {
		item.Class = lookleap.ItemSensitive
	}
	if t.Kind == tellAnswer || t.Kind == tellArg {
		for _, purpose := range t.Purposes {
			if purpose != "" {
				item.Remote = append(item.Remote, lookleap.RemoteText{Source: e.server(), Label: "purpose", Text: purpose})
			}
		}
	}
	return item
}

// valueLabels say what a long value of each kind is.
var valueLabels = map[tellKind]string{tellAnswer: "answer", tellArg: "argument", tellInform: "text", tellAsk: "ask"}

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
func (b *telling) authenticate(ctx context.Context) error {
	needs := func(t tell) bool { return t.authentic() && !t.refused() }
	if !slices.ContainsFunc(b.d.Tells, needs) {
		return nil
	}
	s := b.frame.page.session
	err := s.authenticate(ctx, b.d.Asker)
	for i := range b.d.Tells {
		t := &b.d.Tells[i]
		if !needs(*t) {
			continue
		}
		if err == nil {
			t.Shown = s.now()
			continue
		}
		if t.Kind == tellArg {
			t.refuse(CodeAuthentication, anml.ConstraintViolation)
			b.refusing = true
			return &lookleap.Error{Code: CodeAuthentication, Subject: b.frame.page.location(), Message: "the argument " + quote(t.Field) + " is not sent", Err: err}
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
	return do(ctx, s.agent.plugins.person, func(ctx context.Context) error {
		return s.user.Authenticate(ctx, "to tell "+asker+" what it demands authentication for")
	})
}
