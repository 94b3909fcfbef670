package lookleap

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Plan is one effect that is completely prepared and not yet done: the exact bytes and
// all consents that they need. A Plan does not change after [NewPlan].
//
// A plan is prepared by [NewPlan], approved by the user through [Host.Ask], and done by
// [Host.Commit]. If the prompter suspends the operation, Ask returns a [*PendingError].
// [ParsePlan] parses its State later, and [Host.Decide] takes the user's decision.
type Plan struct {
	request ConsentRequest
	effect  []byte
}

// NewPlan prepares a plan at the time now. The request needs Kind, Origin, Summary and
// Items; NewPlan sets ID, Effect, Expires and Digest. The effect is what will be sent or
// run, in the form of the package that commits it.
//
// NewPlan sorts the items into the order in which they are shown, and makes all texts
// valid UTF-8. It returns an [*Error] with [CodeConsentTooLong] if the command of an item
// is too long to be shown.
func NewPlan(req ConsentRequest, effect []byte, now time.Time) (*Plan, error) {
	req = *req.clone()
	req.ID = rand.Text()
	req.Effect = Digest(effect)
	req.Expires = now.Add(PlanLifetime).UTC().Truncate(time.Second)
	if err := req.normalize(); err != nil {
		return nil, err
	}
	var err error
	if req.Digest, err = req.digest(); err != nil {
		return nil, planError("it cannot be written as JSON", err)
	}
	p := &Plan{request: req, effect: bytes.Clone(effect)}
	if err := p.valid(); err != nil {
		return nil, err
	}
	return p, nil
}

// normalize brings a request into its final form, so that the user is shown what the
// digest covers and what ParsePlan reads.
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
			if len(v.Text) > 0 && len(v.Data) > 0 {
				return planError("a value of the item "+quote(item.ID, 100)+" has both a Text and Data", nil)
			}
			if v.Command {
				command += len(v.Name) + max(v.Size, len(v.value()))
			}
		}
		if command > MaxShown {
			return consentError(CodeConsentTooLong,
				fmt.Sprintf("item %s has a command of %d bytes, and a user is shown at most %d", quote(item.ID, 100),
					command, MaxShown), nil)
		}
	}
	r.Items = slices.Concat(arrange(r.Items)...)
	r.makeValid()
	return nil
}

// makeValid makes all texts of a request valid UTF-8, as JSON would. A verdict that cannot be
// written as JSON stays, so that the request has no digest.
func (r *ConsentRequest) makeValid() {
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
		return
	}
	data, _ := json.Marshal(r.Verdict)
	if v := new(Verdict); json.Unmarshal(data, v) == nil {
		r.Verdict = v
	}
}

// ID returns the name of the plan in ledgers and logs.
func (p *Plan) ID() string { return zero.Or(p).request.ID }

// IdempotencyHeader is the header field of a request that commits a plan
// (draft-ietf-httpapi-idempotency-key-header).
const IdempotencyHeader = "Idempotency-Key"

// IdempotencyKey returns the value of the [IdempotencyHeader] for this plan: a string of
// RFC 9651 that is derived from the plan's id. It is the same in each process, and that of the
// first plan for a plan of [Host.Again], so a server can refuse to do an effect twice. The id
// cannot be computed from it.
func (p *Plan) IdempotencyKey() string {
	if p == nil {
		return ""
	}
	sum := sha256.Sum256([]byte("lookleap idempotency key\n" + cmp.Or(p.request.Again, p.request.ID)))
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// Request returns a copy of what the user is asked.
func (p *Plan) Request() *ConsentRequest { return zero.Or(p).request.clone() }

// Effect returns a copy of exactly what will be sent or run.
func (p *Plan) Effect() []byte { return bytes.Clone(zero.Or(p).effect) }

// planState is the plan as JSON.
type planState struct {
	Type    string         `json:"type"`
	Request ConsentRequest `json:"request"`
	Effect  string         `json:"effect"` // base64: encoding/json accepts several spellings of a []byte
}

const planStateType = "application/vnd.lookleap.plan+json;version=1"

// State returns the whole plan as JSON, for [ParsePlan]. It contains what will be sent:
// treat it as confidential, and seal it with [Keys] if it passes through untrusted systems.
func (p *Plan) State() (json.RawMessage, error) {
	if p == nil {
		return nil, errNoPlan
	}
	return json.Marshal(planState{Type: planStateType, Request: p.request, Effect: base64.StdEncoding.EncodeToString(p.effect)})
}

// errNoPlan is the error of using a nil *Plan.
var errNoPlan = consentError(CodeUsage, "there is no plan", nil)

// ErrPlanInvalid is the error for a plan whose state is malformed or was changed.
var ErrPlanInvalid = coded.New(string(CodePlanInvalid), "the plan is malformed or was changed")

// planError returns an [ErrPlanInvalid].
func planError(reason string, cause error) error {
	message := "the plan is invalid"
	if reason != "" {
		message += ": " + reason
	}
	return &Error{Code: CodePlanInvalid, Message: message, Err: coded.Classify(ErrPlanInvalid, cause)}
}

// ParsePlan parses the JSON that State returns. It returns an [ErrPlanInvalid] if the
// bytes do not match their digests. If an attacker changed bytes and digests together,
// Approve returns an error, because the decision names the digest that the user saw.
func ParsePlan(state json.RawMessage) (*Plan, error) {
	var in planState
	if err := strictjson.Decode(state, &in); err != nil {
		return nil, planError("", err)
	}
	if in.Type != planStateType {
		return nil, planError("its type is not "+planStateType, nil)
	}
	effect, err := base64.StdEncoding.DecodeString(in.Effect)
	if base64.StdEncoding.EncodeToString(effect) != in.Effect {
		return nil, planError("its effect is not canonical base64", err)
	}
	p := &Plan{request: in.Request, effect: effect}
	switch digest, err := p.request.digest(); {
	case err != nil:
		return nil, planError("it cannot be written as JSON", err)
	case digest != p.request.Digest:
		return nil, planError("the request does not match its digest", nil)
	case Digest(effect) != p.request.Effect:
		return nil, planError("the effect does not match its digest", nil)
	}
	if err := p.valid(); err != nil {
		return nil, err
	}
	return p, nil
}

// valid checks what must be true of both a new and a parsed plan, apart from its digests.
func (p *Plan) valid() error {
	r := &p.request
	switch {
	case !r.Kind.known():
		return consentError(CodeConsentUnknown, "the kind of the request, "+quote(string(r.Kind), 40)+", is unknown", nil)
	case r.ID == "" || r.Summary == "" || len(r.Items) == 0:
		return planError("its id, summary or items are missing", nil)
	case !isOrigin(r.Origin) && (r.Kind != ConsentTool || r.Origin != RecipientAgent):
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

// Approval is a plan that its user approved. [Plan.Approve], [Host.Ask] and [Host.Decide]
// return it. It can be committed once. A nil or zero Approval permits nothing.
type Approval struct {
	plan  *Plan
	items map[string]bool
	until time.Time
}

// Approve checks a decision about this plan at the time now. It returns an [*Error] if the
// digest is not the plan's, an item that is not optional is not approved, an unknown item
// is approved, or the plan has expired.
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

// Plan returns the plan that was approved.
func (a *Approval) Plan() *Plan {
	if a == nil {
		return nil
	}
	return a.plan
}

// Has reports whether the item with this id was approved.
func (a *Approval) Has(item string) bool { return a != nil && a.items[item] }

// Until returns the time until which the user approved identical requests too. It is zero
// if the approval is for this request only.
func (a *Approval) Until() time.Time {
	if a == nil {
		return time.Time{}
	}
	return a.until
}

// Effect is what an approved plan does, in two steps. Prepare may be nil.
//
// Prepare runs while this process holds the claim of the plan, and must not let anything
// leave the process. If it returns an error, the same approval can be committed again.
//
// Send has the effect, and returns the receipt that is kept with the plan's record, [Host].Plans. If it returns
// an error, the plan stays used, because the effect may have happened in part. The
// exception is an error of [NothingSent].
type Effect struct {
	Prepare func(ctx context.Context, a *Approval) error
	Send    func(ctx context.Context, a *Approval) (receipt []byte, err error)
}

// Commit runs the effect of an approved plan once. It claims the plan in [Host].Plans
// before it calls effect, and records the outcome after it. It returns the receipt that
// effect returned.
//
// If the plan was committed before, by any process that shares that store, Commit returns
// an [ErrAlreadyDone] and the receipt of the commit that is done. [errors.As] with an
// [*AlreadyDoneError] finds the whole record, which says whether the effect happened, may
// have happened, or may still be tried.
//
// Commit is for an effect that is done as a whole. If the user refused an optional item,
// Commit does nothing and returns an [*Error] with [CodeConsentPartial]. Use
// [Host.CommitApproved] for such a plan.
func (h *Host) Commit(ctx context.Context, a *Approval, effect func(ctx context.Context, bytes []byte) (receipt []byte, err error)) (receipt []byte, err error) {
	c := commit{approval: a, whole: true}
	if effect != nil {
		c.effect.Send = func(ctx context.Context, a *Approval) ([]byte, error) { return effect(ctx, a.Plan().Effect()) }
	}
	return h.commit(ctx, c)
}

// CommitApproved is [Host.Commit] for an effect with a preparation, or one that can be
// done without its optional items. The effect must leave out every item for which
// [Approval.Has] reports false.
func (h *Host) CommitApproved(ctx context.Context, a *Approval, effect Effect) (receipt []byte, err error) {
	return h.commit(ctx, commit{approval: a, effect: effect})
}

// NothingSent returns an error for an effect that failed before anything left the process.
// [errors.Is] and [CodeOf] see the cause. The plan can then be committed again without
// another question to the user.
func NothingSent(cause error) error {
	if cause == nil {
		return nil
	}
	return coded.Attach(errNothingSent, cause)
}

var errNothingSent = errors.New("nothing was sent")

// ErrInDoubt marks an error of an effect that may have happened. Do not repeat such a call without
// asking the user.
var ErrInDoubt = errors.New("it is not known whether the action was done")

// InDoubt marks an error of an effect that was begun as an [ErrInDoubt], unless it is one of
// [NothingSent].
func InDoubt(err error) error {
	if err == nil || errors.Is(err, errNothingSent) || errors.Is(err, ErrInDoubt) {
		return err
	}
	return coded.Attach(ErrInDoubt, err)
}

type commit struct {
	approval *Approval
	whole    bool // the effect has only one form
	effect   Effect
}

func (h *Host) commit(ctx context.Context, c commit) (receipt []byte, err error) {
	p := c.approval.Plan()
	if p == nil {
		return nil, consentError(CodeConsentRefused, "there is no approval to commit", nil)
	}
	ctx = h.enter(ctx)
	defer func() {
		h.Report(ctx, Event{Kind: EventPlan, Code: CodeOf(err), Subject: p.ID(), Shown: p.request.Digest, Err: err})
	}()
	now, clock := h.clock()
	unusable := h.usable()
	switch {
	case c.effect.Send == nil:
		return nil, consentError(CodeUsage, "there is no effect to commit", nil)
	case cmp.Or(unusable, ctx.Err()) != nil:
		return nil, notCommitted(p, cmp.Or(unusable, ctx.Err()))
	case clock != nil:
		return nil, clockFailed(clock)
	case !now.Before(p.request.Expires):
		return nil, consentError(CodePlanExpired, "the plan expired before it was committed", nil)
	case c.whole && len(c.approval.items) < len(p.request.Items):
		return nil, consentError(CodeConsentPartial, "the user refused an optional item, and the effect can only be done as a whole", nil)
	}
	first := PlanClaimed
	if c.effect.Prepare == nil && h.Record == nil {
		first = PlanSent // nothing comes between the claim and the effect
	}
	held, err := h.claim(ctx, p, rand.Text(), first)
	if err != nil {
		return held.Receipt, notCommitted(p, err)
	}
	if c.effect.Prepare != nil {
		if err := c.effect.Prepare(ctx, c.approval); err != nil {
			h.settle(ctx, p, held, PlanFailed, nil)
			return nil, err
		}
	}
	if err := h.recorded(ctx, p, c.approval, PlanSent, nil); err != nil {
		h.settle(ctx, p, held, PlanFailed, nil)
		return nil, notCommitted(p, err)
	}
	if first != PlanSent {
		sent, err := h.record(ctx, p, held, PlanSent, nil)
		if err != nil {
			h.conclude(ctx, p, c.approval, held, PlanFailed, nil)
			return nil, notCommitted(p, err)
		}
		held = sent
	}
	receipt, err = c.effect.Send(ctx, c.approval)
	switch {
	case err == nil:
		h.conclude(ctx, p, c.approval, held, PlanDone, receipt)
	case errors.Is(err, errNothingSent):
		h.conclude(ctx, p, c.approval, held, PlanFailed, nil)
	default:
		h.conclude(ctx, p, c.approval, held, PlanUnknown, nil)
	}
	return receipt, InDoubt(err)
}

// conclude settles a plan, and tells Record.
func (h *Host) conclude(ctx context.Context, p *Plan, a *Approval, held PlanRecord, state PlanState, receipt []byte) {
	h.settle(ctx, p, held, state, receipt)
	_ = h.recorded(context.WithoutCancel(ctx), p, a, state, receipt)
}

// notCommitted returns an error for a plan whose effect was not called.
func notCommitted(p *Plan, cause error) error {
	message := "nothing was committed"
	if coded.Cause(cause) == nil {
		message = cause.Error()
	}
	return &Error{Code: CodeOf(cause), Subject: "plan " + p.ID(), Message: message, Err: cause}
}

// claim claims a plan for an owner, as claimed or as sent. If another call has it, claim returns
// the record of that call with an [*AlreadyDoneError].
func (h *Host) claim(ctx context.Context, p *Plan, owner string, state PlanState) (PlanRecord, error) {
	record, err := h.changePlan(ctx, p, PlanRecord{}, func(r PlanRecord, now time.Time) (PlanRecord, error) {
		return r.claimed(owner, state, p.request.Expires, now)
	})
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, ErrAlreadyDone):
		return record, &AlreadyDoneError{record}
	case state == PlanSent: // the store may have written it although it returned an error
		_, _ = h.record(context.WithoutCancel(ctx), p, PlanRecord{Owner: owner}, PlanFailed, nil)
	}
	return PlanRecord{}, err
}

// record writes an outcome of a plan that this call has claimed, and returns the record after it.
// The effect must not run if the outcome before it cannot be written.
func (h *Host) record(ctx context.Context, p *Plan, held PlanRecord, state PlanState, receipt []byte) (PlanRecord, error) {
	return h.changePlan(ctx, p, held, func(r PlanRecord, now time.Time) (PlanRecord, error) {
		return r.ended(held.Owner, state, receipt, now)
	})
}

// settle writes an outcome that cannot change any more, also if the caller has left. A
// failure is only reported: the record then says less than it could, and never permits more.
func (h *Host) settle(ctx context.Context, p *Plan, held PlanRecord, state PlanState, receipt []byte) {
	var tooLong error
	if len(receipt) > MaxReceipt {
		tooLong = &Error{Code: CodeTooLarge, Subject: "plan " + p.ID(), Message: "the receipt is too long to be recorded",
			Fix: "return a shorter receipt, such as a digest"}
		receipt = nil
	}
	_, err := h.record(context.WithoutCancel(ctx), p, held, state, receipt)
	if err := cmp.Or(err, tooLong); err != nil {
		h.Report(ctx, Event{Kind: EventFinding, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}
}

// Again returns a plan that has the effect of p once more. It asks the user whether to send the
// same bytes again although the first time may have worked, and it has the same
// [Plan.IdempotencyKey], so a server that saw the first request can refuse the second one.
//
// Again returns an [*Error] with [CodeUsage] unless [Host].Plans says that the outcome of p is
// unknown: its effect failed in part, or the worker that sent it did not return within
// [PlanLease].
func (h *Host) Again(ctx context.Context, p *Plan) (*Plan, error) {
	if p == nil {
		return nil, errNoPlan
	}
	record, err := h.PlanRecord(ctx, p.ID())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	now, clock := h.clock()
	if clock != nil {
		return nil, clockFailed(clock)
	}
	if record.State != PlanUnknown && (record.State != PlanSent || !record.leaseOver(time.Now())) {
		return nil, usageError("the outcome of the plan " + p.ID() + " is not unknown, so it is not sent again")
	}
	r := p.Request()
	if r.Again == "" {
		r.Again, r.Summary = r.ID, againWords+r.Summary
	}
	return NewPlan(*r, p.effect, now)
}

// againWords begin the summary of a plan of [Host.Again].
const againWords = "once more, although the first time may have worked: "
