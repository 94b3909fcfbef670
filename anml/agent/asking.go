package agent

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// request returns the request for the user's consent to some items.
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
