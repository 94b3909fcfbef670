package gate

import (
	jsonv1 "encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// plannedCall is the effect of a plan: the call in the form of RFC 8785, which has its members in this
// order.
type plannedCall struct {
	Arguments  jsonv1.RawMessage `json:"arguments"`
	Changed    []string          `json:"changed,omitempty"`
	Definition string            `json:"definition"`
	Tool       string            `json:"tool"`
	Type       string            `json:"type"`
	User       string            `json:"user,omitempty"` // a mark

	args *arguments // the same, parsed
}

// stale returns an error if the definition of the tool is not the one that the person was asked about.
func (p *plannedCall) stale(t *Gated) error {
	if t.definition == p.Definition {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodeStale, Subject: "tool " + plaintext.Quote(t.Name, 100),
		Message: "its definition has changed since the person was asked", Fix: "call the tool again, so that the person is asked about the new one"}
}

const callType = "application/vnd.lookleap.call+json;version=1"

// definition is what a model is told about a tool. A change of it ends approvals.
type definition struct {
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Source      string              `json:"source,omitempty"`
	Schema      jsonv1.RawMessage   `json:"schema,omitempty"`
	ReadOnly    bool                `json:"readOnly"`
	Arguments   map[string]Argument `json:"arguments,omitempty"`
}

// digest checks a tool and returns the digest of its definition.
func (t *Tool) digest() (string, error) {
	switch {
	case t.Name == "" || len(t.Name) > 200:
		return "", usage("a tool needs a name of at most 200 bytes", "set Tool.Name")
	case t.Run == nil:
		return "", usage("the tool "+plaintext.Quote(t.Name, 100)+" has no function", "set Tool.Run")
	}
	for pointer := range t.Arguments {
		if !jsontext.Pointer(pointer).IsValid() || pointer == "" {
			return "", usage(plaintext.Quote(pointer, 100)+" is not a JSON pointer", "write a slash and the name of the argument")
		}
	}
	if t.Schema != nil {
		if v, err := strictjson.Parse(t.Schema, strictjson.Limits{}); err != nil || v.Kind() == strictjson.None {
			return "", usage("the schema of the tool "+plaintext.Quote(t.Name, 100)+" is not JSON", "set Tool.Schema to a JSON Schema")
		}
	}
	text, err := jsonv1.Marshal(definition{t.Name, t.Description, t.Source, t.Schema, t.ReadOnly, t.Arguments})
	if err != nil {
		return "", err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return "", err
	}
	return lookleap.Digest(canonical), nil
}

// plan prepares a call whose secrets are hidden, and returns it also as its plan says it. All that is
// shown is derived from the effect.
func (t *Gated) plan(args *arguments, changed []string) (*lookleap.Plan, *plannedCall, error) {
	g := t.gate
	planned := &plannedCall{args.canonical(), changed, t.definition, t.Name, callType, planowner.Mark(g.options.User), args}
	effect, err := json.Marshal(planned, jsontext.AllowInvalidUTF8(true)) // in a name of this program
	if err != nil {
		return nil, nil, err
	}
	plan, err := lookleap.NewPlan(t.request(args, changed), effect, g.host.Time())
	return plan, planned, err
}

// request is what the person is asked.
func (t *Gated) request(args *arguments, changed []string) lookleap.ConsentRequest {
	item := lookleap.ConsentItem{ID: "call", Summary: "run the tool " + plaintext.Quote(t.Name, 100), Recipient: lookleap.RecipientAgent,
		Digest: args.shownDigest(&t.Tool)}
	if !t.ReadOnly {
		item.Class = lookleap.ItemCode
	}
	leaves := args.leaves()
	slices.SortStableFunc(leaves, func(a, b leaf) int { // what a person has to look at first, long texts last
		rank := [...]int{Recipient: 0, Amount: 1, Plain: 2, Secret: 3, Text: 4}
		return rank[min(t.argument(a.pointer).Role, Secret)] - rank[min(t.argument(b.pointer).Role, Secret)]
	})
	for _, l := range leaves {
		kind, text := l.text()
		value := lookleap.ConsentValue{Label: kind, Name: l.pointer, Text: text, Command: true}
		switch t.argument(l.pointer).Role {
		case Recipient:
			value.Label = "recipient"
		case Amount:
			value.Label = "amount"
			item.Class = lookleap.ItemPayment
		case Text:
			value.Command = false
		case Secret:
			value.Label, value.Text = "secret, which is not shown", "********"
		}
		item.Values = append(item.Values, value)
	}
	item.Values = append(item.Values, t.Notes...)
	for _, sentence := range changed {
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: lookleap.RecipientAgent, Label: "a change of yours", Text: sentence})
	}
	if t.Source != "" && t.Description != "" {
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: t.Source, Label: "description", Text: t.Description})
	}
	return lookleap.ConsentRequest{Kind: lookleap.ConsentTool, Origin: lookleap.RecipientAgent,
		Summary: "run the tool " + plaintext.Quote(t.Name, 100) + t.whose() + t.purpose(), Items: []lookleap.ConsentItem{item}}
}

// whose names the source of the tool, if it is not this program.
func (t *Gated) whose() string {
	if t.Source == "" {
		return ""
	}
	return " of " + plaintext.Line(t.Source)
}

// purpose is the first sentence of the description, if it is this program's own.
func (t *Gated) purpose() string {
	if t.Source != "" || t.Description == "" {
		return ""
	}
	first, _, _ := strings.Cut(t.Description, ". ")
	return ": " + plaintext.Clip(strings.TrimSuffix(first, "."), 200)
}

// parsePlanned reads the call of a plan. Its arguments are in the form of RFC 8785.
func parsePlanned(plan *lookleap.Plan) (*plannedCall, error) {
	var p plannedCall
	err := strictjson.Decode(plan.Effect(), &p)
	if err != nil || p.Type != callType || plan.Request().Kind != lookleap.ConsentTool {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan is not one of a gate", Err: lookleap.ErrPlanInvalid}
	}
	if p.args, err = parseArguments(p.Arguments); err != nil {
		return nil, err
	}
	p.Arguments = jsonv1.RawMessage(p.args.canonical())
	return &p, nil
}
