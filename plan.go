package lookleap

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// PlanLifetime is how long after its preparation a plan may be committed.
const PlanLifetime = 24 * time.Hour

// Plan is one effect, completely prepared and not yet done: the exact bytes and
// all the consents that they need. A Plan is not changed after [NewPlan].
//
// The life of a plan is prepare, prompt, commit: [NewPlan], [Host.Ask],
// [Host.Commit]. When the prompter suspends, Ask gives a [*PendingError];
// [ParsePlan] reads its State again and [Plan.Approve] takes the decision.
type Plan struct {
	request ConsentRequest
	effect  []byte
}

// NewPlan prepares a plan at the time now. The request needs Kind, Origin,
// Summary and Items; ID, Effect, Expires and Digest are set here. The effect is
// what will be sent or run, in the form of the package that commits it.
//
// NewPlan brings the items into the order in which every rendering shows them,
// and makes all texts valid UTF-8. It returns a [*Error] with
// [CodeConsentTooLong] if an item has a command that is too long to be shown.
func NewPlan(req ConsentRequest, effect []byte, now time.Time) (*Plan, error) {
	req = *req.clone()
	req.ID = rand.Text()
	req.Effect = Digest(effect)
	req.Expires = now.Add(PlanLifetime).UTC().Truncate(time.Second)
	if err := req.normalize(); err != nil {
		return nil, err
	}
	digest, err := req.digest()
	if err != nil {
		return nil, planError("it cannot be written as JSON", err)
	}
	req.Digest = digest
	p := &Plan{request: req, effect: bytes.Clone(effect)}
	if err := p.valid(); err != nil {
		return nil, err
	}
	return p, nil
}

// normalize brings a request into the form that it keeps: what is shown, what is
// digested and what ParsePlan reads again are the same.
func (r *ConsentRequest) normalize() error {
	for i := range r.Items {
		item := &r.Items[i]
		if item.Class.rank() > ItemOtherRecipient.rank() && r.foreign(item) {
			item.Class = ItemOtherRecipient
		}
		command := 0
		for j := range item.Values {
			v := &item.Values[j]
			if !utf8.ValidString(v.Text) {
				v.Text, v.Data = "", []byte(v.Text)
			}
			if v.Command {
				command += len(v.Name) + len(v.value())
			}
		}
		if command > MaxShown {
			return consentError(CodeConsentTooLong, fmt.Sprintf("item %s has a command of %d bytes, and a user is shown at most %d", quote(item.ID, 100), command, MaxShown), nil)
		}
	}
	r.Items = slices.Concat(arrange(r.Items)...)
	return r.makeValid()
}

// makeValid makes all texts of a request valid UTF-8, as JSON would.
func (r *ConsentRequest) makeValid() error {
	valid := func(texts ...*string) {
		for _, t := range texts {
			*t = strings.ToValidUTF8(*t, "\ufffd")
		}
	}
	valid(&r.Origin, &r.TrustRoot, &r.Summary)
	for i := range r.Items {
		item := &r.Items[i]
		valid(&item.ID, (*string)(&item.Class), &item.Summary, &item.Recipient, &item.Digest)
		for j := range item.Values {
			v := &item.Values[j]
			valid(&v.Label, &v.Name, &v.Digest, &v.Source)
		}
		for j := range item.Remote {
			said := &item.Remote[j]
			valid(&said.Source, &said.Label, &said.Text)
		}
	}
	if r.Verdict == nil {
		return nil
	}
	data, err := json.Marshal(r.Verdict)
	if err == nil {
		r.Verdict = new(Verdict)
		err = json.Unmarshal(data, r.Verdict)
	}
	if err != nil {
		return planError("it cannot be written as JSON", err)
	}
	return nil
}

// ID names the plan in every ledger and log.
func (p *Plan) ID() string { return zero.Or(p).request.ID }

// Request is what the user is asked. The caller may change its copy.
func (p *Plan) Request() *ConsentRequest { return zero.Or(p).request.clone() }

// Effect is exactly what will be sent or run.
func (p *Plan) Effect() []byte { return bytes.Clone(zero.Or(p).effect) }

// planState is the plan as JSON.
type planState struct {
	Type    string         `json:"type"`
	Request ConsentRequest `json:"request"`
	Effect  []byte         `json:"effect"`
}

const planStateType = "application/vnd.lookleap.plan+json;version=1"

// State is the whole plan as JSON, for [ParsePlan]. It holds what will be sent:
// treat it as confidential, and [Seal] it where it passes through other hands.
func (p *Plan) State() (json.RawMessage, error) {
	if p == nil {
		return nil, errNoPlan
	}
	return json.Marshal(planState{Type: planStateType, Request: p.request, Effect: p.effect})
}

// errNoPlan is any use of a nil *Plan.
var errNoPlan = consentError(CodeUsage, "there is no plan", nil)

// ErrPlanInvalid is a plan whose state is malformed or was changed.
var ErrPlanInvalid = coded.New(string(CodePlanInvalid), "the plan is malformed or was changed")

// planError returns an [ErrPlanInvalid].
func planError(reason string, cause error) error {
	message := "the plan is invalid"
	if reason != "" {
		message += ": " + reason
	}
	return &Error{Code: CodePlanInvalid, Message: message, Err: coded.Classify(ErrPlanInvalid, cause)}
}

// ParsePlan reads what State wrote. A plan whose bytes do not match its digests
// is an [ErrPlanInvalid]; that somebody rewrote bytes and digests together is
// found by Approve, since the user's decision names the digest that was shown.
func ParsePlan(state json.RawMessage) (*Plan, error) {
	if _, err := strictjson.Parse(state, strictjson.Limits{Size: math.MaxInt32}); err != nil {
		return nil, planError("", err)
	}
	var in planState
	dec := json.NewDecoder(bytes.NewReader(state))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, planError("", err)
	}
	if in.Type != planStateType {
		return nil, planError("its type is not "+planStateType, nil)
	}
	p := &Plan{request: in.Request, effect: in.Effect}
	if err := p.valid(); err != nil {
		return nil, err
	}
	return p, nil
}

// valid holds the invariants that both a new and a parsed plan must have.
func (p *Plan) valid() error {
	r := &p.request
	switch digest, err := r.digest(); {
	case err != nil:
		return planError("", err)
	case digest != r.Digest:
		return planError("the request does not match its digest", nil)
	case Digest(p.effect) != r.Effect:
		return planError("the effect does not match its digest", nil)
	case !r.Kind.known():
		return consentError(CodeConsentUnknown, fmt.Sprintf("nobody can decide a request of kind %q", r.Kind), nil)
	case r.ID == "" || r.Origin == "" || r.Summary == "" || len(r.Items) == 0:
		return planError("its id, origin, summary or items are missing", nil)
	case !isOrigin(r.Origin):
		return planError(quote(r.Origin, 200)+" is not a canonical https origin", nil)
	}
	seen := make(map[string]bool, len(r.Items))
	for _, item := range r.Items {
		if item.ID == "" || seen[item.ID] {
			return planError("the item id "+quote(item.ID, 100)+" is empty or used twice", nil)
		}
		seen[item.ID] = true
	}
	return nil
}

// Approval is a plan that its user agreed to. It can only be had from a
// decision, and commits once. A nil or zero Approval permits nothing.
type Approval struct {
	plan  *Plan
	items map[string]bool
	until time.Time
}

// Approve judges a decision about this plan at the time now: the digest must be
// that of the plan, every item that is not optional approved, nothing approved
// that was not asked, and the plan not expired. Every error is a [*Error].
func (p *Plan) Approve(d ConsentDecision, now time.Time) (*Approval, error) {
	if p == nil {
		return nil, errNoPlan
	}
	ids, err := p.request.check(d, now)
	if err != nil {
		return nil, err
	}
	a := &Approval{plan: p, items: make(map[string]bool, len(ids)), until: d.Until}
	for _, id := range ids {
		a.items[id] = true
	}
	return a, nil
}

// Plan is the plan that was approved.
func (a *Approval) Plan() *Plan {
	if a == nil {
		return nil
	}
	return a.plan
}

// Has reports whether the item with this id was approved.
func (a *Approval) Has(item string) bool { return a != nil && a.items[item] }

// Until is the time until which the user agreed to identical requests; zero is
// this once.
func (a *Approval) Until() time.Time {
	if a == nil {
		return time.Time{}
	}
	return a.until
}
