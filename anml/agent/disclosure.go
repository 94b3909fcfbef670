package agent

import (
	"context"
	"errors"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// exchange is who would learn something by a call, and through what: the frame
// of every decision about it.
type exchange struct {
	Serving  string `json:"serving"`  // serving domain of the document
	Owner    string `json:"owner"`    // domain whose action it is
	Endpoint string `json:"endpoint"` // host that receives it
	Document string `json:"document"` // URL of the document
	Site     string `json:"site"`     // domain of the site element, "" in a single-site document
	Action   string `json:"action"`   // id
}

// disclosure is everything that a call would tell about the user, decided and
// with its values: one part of a plan's effect, and so complete by itself.
type disclosure struct {
	Tells []tell `json:"tells,omitempty"` // in the order of the document
}

// tell is one field, argument or text of a disclosure.
type tell struct {
	Kind      tellKind         `json:"kind"`
	Field     string           `json:"field"` // or name of the argument
	Value     string           `json:"value,omitempty"`
	Purpose   string           `json:"purpose,omitempty"`
	Item      string           `json:"item,omitempty"` // consent item that must be approved; "": none has to
	Basis     anml.ConsentKind `json:"basis,omitempty"`
	Reference string           `json:"reference,omitempty"`
	Reason    anml.Reason      `json:"reason,omitempty"` // refused from the start
	Code      lookleap.Code    `json:"code,omitempty"`
	Required  bool             `json:"required,omitempty"`
	From      []string         `json:"from,omitempty"` // other domains that it came from
	Category  string           `json:"category,omitempty"`
	Granted   time.Time        `json:"granted,omitzero"`
}

// tellKind says where a tell stands in what is sent.
type tellKind string

const (
	tellAnswer tellKind = "answer" // of an ask
	tellArg    tellKind = "arg"    // value of a parameter that says something about the user
	tellInform tellKind = "inform" // of the agent
	tellAsk    tellKind = "ask"    // of the agent
)

// prepareDisclosure decides all that a call tells and fetches the values that
// may be prepared. It asks nobody. The items are what the user has to be asked;
// what refuses the whole call is an error.
func (p *Page) prepareDisclosure(ctx context.Context, e exchange, act anml.Action, args []anml.Arg, c Call) (*disclosure, []lookleap.ConsentItem, error) {
	return nil, nil, errors.New("anml/agent: not built yet") // owner: data
}

// settle applies the user's word to a disclosure right before it is sent, and
// looks again at what may have changed since: refused domains, deleted context,
// withdrawn consents (sections 14.1 and 14.2). Until is that of the decision, zero
// for this once. It gives what is really told, and the ledger's entries for it,
// refusals too.
func (s *Session) settle(ctx context.Context, plan string, e exchange, d *disclosure, approved func(item string) bool, until, now time.Time) (*disclosure, []Entry, error) {
	return nil, nil, errors.New("anml/agent: not built yet") // owner: data
}

// response writes the agent response that a settled disclosure makes
// (section 11.1); nil when it answers no ask.
func (d *disclosure) response(e exchange) (*anml.Document, error) {
	return nil, errors.New("anml/agent: not built yet") // owner: data
}
