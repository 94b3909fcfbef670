package agent

import (
	"context"
	"encoding/json"

	"github.com/lookleap/lookleap/anml"
)

// Call is one use of an action: its arguments, and the answers to the asks that
// point to it.
type Call struct {
	Site     string            // domain of the site whose action it is; "" in a single-site document
	Action   string            // id of the action
	Args     map[string]string // values of its parameters, as text
	ArgsJSON json.RawMessage   // or as a JSON object that fits [Tool.InputSchema]; not both
	// Provenance names the domain that an argument's value came from, where it is
	// not the user (section 14.1).
	Provenance map[string]string
	// Initiated says that the user began this very interaction, from which
	// [UserPolicy.InferConsentFromInitiation] may infer implicit consent (section 16.6).
	Initiated bool
	// Reply answers the action's asks: fields to answer, fields to refuse, and what
	// the agent itself tells or asks. Nil answers as the decisions say.
	Reply *Reply
}

// Reply is what the host wants to say to the asks of an action. Whatever it
// holds goes through the same decisions as everything else.
type Reply struct {
	Values  map[string]Value       // in place of the profile's, by field
	Refuse  map[string]anml.Reason // fields to refuse whatever the decision
	Omit    []string               // optional fields to leave unanswered
	Informs []Told                 // what the agent tells unasked: always asked about (section 11.1)
	Asks    []Counter              // what the agent asks back
	// RefuseOthers refuses the required asks of the site's other actions too; by
	// itself a response is about its own action alone (section 11.1).
	RefuseOthers bool
}

// Told is an inform of the agent's.
type Told struct {
	Text       string
	Provenance string // as [Value.Provenance]
}

// Counter is an ask of the agent's.
type Counter struct {
	Field, Purpose string
}

// text is what leaves with the ask, to be looked at.
func (c Counter) text() string { return c.Field + "\n" + c.Purpose }

// CallResult is what became of a call that reached its service. Where the service did
// not do what was asked, it comes beside the error that says so: with the page of
// a conflict, or the problem that the service reports. Everything in it is remote
// and untrusted; [CallResult.Text] makes it ready for a model.
type CallResult struct {
	Plan    string       // id of the plan in every ledger
	Outcome anml.Outcome // the worse of what HTTP and the document say
	Status  int          // HTTP status
	Page    *Page        // the document that came back: it replaces the old one as a whole; nil: none
	Problem *anml.Problem
	Body    []byte // of an answer that is no ANML document; untrusted
	Type    string // its media type
}

func (p *Page) do(ctx context.Context, c Call) (*CallResult, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	ctx, done, err := p.session.life.during(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	in, err := p.prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	return p.session.run(ctx, in, p.budget)
}
