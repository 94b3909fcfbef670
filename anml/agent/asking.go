package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
)

func (e *effect) request(items []lookleap.ConsentItem) lookleap.ConsentRequest {
	return lookleap.ConsentRequest{Kind: lookleap.ConsentAct, Origin: e.key().document, Summary: e.summary(), Items: items}
}

// summary says what happens, in the words of the service that owns the action.
func (e *effect) summary() string {
	owner, offers := "it", ""
	if e.Exchange.Owner != e.Exchange.Serving {
		owner = plaintext.Host(e.Exchange.Owner)
		offers = "; the action is that of " + owner + ", and a document of " + plaintext.Host(e.Exchange.Serving) + " offers it"
	}
	s := "do what " + owner + " calls " + quote(cmp.Or(e.Send.Says, e.Exchange.Action)) + offers
	if e.Claim != nil && !e.Owned {
		s += "; " + plaintext.Host(e.Exchange.Serving) + " speaks for " + plaintext.Host(e.Claim.Site)
	}
	return s
}

// maxWarnings is how many findings about a document a prompt shows.
const maxWarnings = 5

// actItem is the item for the act itself, with the first reason to ask about it, if any. Nothing is
// sent unless the user approves it.
func (e *effect) actItem(why string, findings []lookleap.Finding, args []anml.Arg) lookleap.ConsentItem {
	item := lookleap.ConsentItem{
		ID: itemAct, Summary: "send the request " + e.Send.Method + " " + shownURL(e.Send.Endpoint), Recipient: e.Exchange.Endpoint,
		Digest: digestOf(struct {
			Exchange exchange
			Send     actionRequest
		}{e.Exchange, e.Send}),
	}
	if why != "" {
		item.Summary += "; " + why
	}
	for _, f := range findings[:min(len(findings), maxWarnings)] {
		item.Summary += "; beware: " + f.Message
	}
	item.Remote = append(item.Remote, lookleap.RemoteText{Source: e.Exchange.Owner, Label: "name of the action", Text: e.Exchange.Action})
	if e.Send.Says != "" {
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: e.Exchange.Owner, Label: "what the action does", Text: e.Send.Says})
	}
	if len(e.Send.Endpoint) > shownBytes {
		item.Values = append(item.Values, lookleap.ConsentValue{Label: "whole address", Text: e.Send.Endpoint, Source: e.Exchange.Owner, Detail: true})
	}
	for _, arg := range args {
		shown := lookleap.ConsentValue{Label: "argument that is sent", Name: arg.Name, Text: arg.Value}
		if arg.Default {
			shown.Label, shown.Source = "argument that is sent, the service's own choice", e.Exchange.Owner
		}
		item.Values = append(item.Values, shown)
	}
	return item
}

// originItem names both origins of an action that goes to another origin than its
// document's (sections 13.4 and 13.11).
func (e *effect) originItem() lookleap.ConsentItem {
	from, to := e.key().document, e.Send.origin()
	s := "let the document of " + shownURL(from) + " send this to another origin, " + shownURL(to)
	switch e.Send.Reach {
	case atOther:
		s += ", which belongs to another party"
	case atOwner:
		s += ", which belongs to " + plaintext.Host(e.Exchange.Owner)
	}
	return lookleap.ConsentItem{ID: itemOrigin, Summary: s, Recipient: e.Exchange.Endpoint, Digest: digestOf([2]string{from, to})}
}

// plainItem asks the user to acknowledge that anyone on the network path can read and
// change the request and the response (section 13.12).
func (e *effect) plainItem() lookleap.ConsentItem {
	to := e.Send.origin()
	return lookleap.ConsentItem{
		ID: itemPlain, Class: lookleap.ItemUnencrypted,
		Summary:   "use " + quote(to) + " without encryption: anyone on the way can read and change it",
		Recipient: e.Exchange.Endpoint, Digest: digestOf(to),
	}
}

// without returns the call of a request that was shown with a site's identity, to ask about
// every item again without that identity.
func without(r *lookleap.ConsentRequest, e *effect) *preparedCall {
	plain := *e
	plain.Claim = nil
	return &preparedCall{effect: &plain, request: plain.request(slices.Clone(r.Items)), asks: true}
}

// shownBytes is how much of an address a summary shows. The user can see the rest in
// another value.
const shownBytes = 300

// shownURL shows a canonical URL with its owner marked.
func shownURL(text string) string {
	u, err := endpointRules.Parse(text)
	if err != nil {
		return quote(text)
	}
	return plaintext.URL(u, shownBytes)
}

// quote quotes a short text of the other side.
func quote(text string) string { return plaintext.Quote(text, 100) }

// digestOf returns the digest of a value's JSON.
func digestOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "" // does not happen: all values that are passed can be marshalled
	}
	return lookleap.Digest(data)
}

// response writes the agent response that the checked disclosures make (section 11.1), nil if there is nothing
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
		summary += "; " + strings.Join(t.From, " and ") + origin + registrable(e.Endpoint) + " would learn it"
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
	s := b.page.session
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
			return &lookleap.Error{Code: CodeAuthentication, Subject: b.page.location(),
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
