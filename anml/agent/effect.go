package agent

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
)

const effectType = "application/vnd.lookleap.anml-call+json;version=1"

// effect is all that a call does, complete by itself: what a plan carries, and
// what another process needs to commit it without the page.
type effect struct {
	Type       string           `json:"type"`
	Exchange   exchange         `json:"exchange"`
	Send       sending          `json:"send"`
	Disclosure *disclosure      `json:"disclosure"`
	Claim      *anmltrust.Claim `json:"claim,omitempty"` // to verify anew; nil: nothing rests on one
	Owned      bool             `json:"owned,omitempty"` // the action is the claimed site's, else the claim was only shown
	User       string           `json:"user,omitempty"`  // whose plan it is, see [Session.owns]
}

// parseEffect reads the effect of a plan. It was digested and approved as a whole;
// what is checked here is that it is one of ours, and that its parts agree.
func parseEffect(data []byte) (*effect, error) {
	var e effect
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return nil, badState("its effect is no call: " + err.Error())
	}
	if e.Type != effectType {
		return nil, badState("its effect is no " + effectType)
	}
	if e.Disclosure == nil {
		return nil, badState("it lacks its disclosure")
	}
	u, err := endpointRules.Parse(e.Send.URL)
	if err != nil || u.String() != e.Send.URL {
		return nil, badState("its URL is not one that is sent to")
	}
	document, err := domain.Parse(e.Exchange.Document)
	if err != nil {
		return nil, badState("its document has no https URL")
	}
	site := ""
	if e.Owned {
		site = e.Exchange.Owner
	}
	to, err := resolveEndpoint(document, e.Send.Endpoint, site)
	switch {
	case err != nil || to.url.String() != e.Send.Endpoint || to.reach != e.Send.Reach || to.plain != e.Send.Plain:
		return nil, badState("its endpoint is not one that is sent to")
	case u.Origin() != to.url.Origin() || u.Path() != to.url.Path() || u.Host() != e.Exchange.Endpoint,
		!strings.HasPrefix(e.Send.URL, e.Send.Endpoint), hasBody(e.Send.Method) && e.Send.URL != e.Send.Endpoint:
		return nil, badState("its URL is not that of its endpoint")
	case e.Owned && (e.Claim == nil || e.Claim.Site != e.Exchange.Owner):
		return nil, badState("its owner is nobody's claim")
	case !executable(e.Send.Method):
		return nil, badState("its method is not one that is executed")
	case to.plain && (e.Send.Method != http.MethodGet && e.Send.Method != http.MethodHead || e.Disclosure.tells()):
		return nil, badState("nothing of it is sent over plain http")
	case !hasBody(e.Send.Method) && (e.Send.Response || len(e.Send.Body) > 0):
		return nil, badState("its method has no body")
	case e.Send.Format != anml.XML && e.Send.Format != anml.JSON:
		return nil, badState("its serialization is unknown")
	case strings.ContainsAny(e.Send.ContentType+e.Send.Expects, "\r\n\x00"):
		return nil, badState("its media type is malformed")
	}
	return &e, nil
}

func badState(reason string) error {
	return &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: reason, Err: lookleap.ErrPlanInvalid}
}

// executable reports whether a method is one of those that actions have.
func executable(method string) bool {
	return hasBody(method) || safeMethod(method) || method == http.MethodDelete
}

// passage is how the gate knows the call.
func (e *effect) passage() passage {
	document := e.Exchange.Document
	if u, err := domain.Parse(document); err == nil {
		document = u.Origin()
	}
	return passage{action: e.Send.key(), origin: e.Send.origin(), document: document}
}

// act is the call as a host's policy judges it.
func (e *effect) act(d *disclosure) Act {
	a := Act{
		Method: e.Send.Method, URL: e.Send.URL, ID: e.Exchange.Action, Description: e.Send.Says,
		Serving: e.Exchange.Serving, Owner: e.Exchange.Owner, Endpoint: e.Exchange.Endpoint, Idempotent: e.Send.Idempotent,
	}
	for _, t := range d.Tells {
		if !t.refused() {
			a.Fields = append(a.Fields, t.Field)
		}
	}
	return a
}

// body is what is sent, once it is settled what may be told. An argument that may
// no longer be has ended the call before: arguments are sent as they were shown.
func (e *effect) body(told *disclosure) (contentType string, body []byte, err error) {
	if !e.Send.Response {
		return e.Send.ContentType, e.Send.Body, nil
	}
	doc, err := told.response(e.Exchange)
	if err == nil && doc == nil {
		return "", nil, &lookleap.Error{Code: lookleap.CodeConsentRefused, Subject: e.Send.place(), Message: "nothing is left that may be told", Err: anml.ErrEmptyResponse}
	}
	if err == nil {
		body, err = anml.Marshal(doc, e.Send.Format, anml.WriteOptions{Role: anml.RoleAgentResponse})
	}
	if err != nil {
		return "", nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: e.Send.place(), Message: "the response cannot be written", Err: err}
	}
	return e.Send.Format.MediaType(), body, nil
}

// entry is the call in the ledger: no values, no query.
func (e *effect) entry(plan string, kind EntryKind, now time.Time) Entry {
	document, _, _ := strings.Cut(e.Exchange.Document, "?")
	return Entry{
		Time: now, Plan: plan, Kind: kind, Serving: e.Exchange.Serving, Owner: e.Exchange.Owner,
		Endpoint: e.Exchange.Endpoint, Document: document, Action: e.Exchange.Action,
	}
}
