package lookleap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// PlanState is how far the commit of a plan is. [Host].Plans keeps it, so that a plan has its
// effect at most once among the processes that share that [Store].
//
//	state    what happened                              a later Commit of the plan
//	claimed  a worker prepares or records the effect    refused; after PlanLease it takes over
//	sent     the effect may have begun                  refused: no one can know
//	done     the effect happened; there is a receipt    refused, with the receipt
//	failed   the effect did not begin                   runs, without another question
//	unknown  the effect may have happened in part       refused: ask the user about [Host.Again]
//	refused  the user refused the plan                  refused
//
// The default is one store in memory for all Hosts of a process, which is lost when the process
// ends. Processes that resume plans of each other, or their own after a restart, need a shared
// store, such as that of [OpenStore]. It may drop a record a week after its plan has expired.
type PlanState string

// The states of a plan.
const (
	PlanClaimed PlanState = "claimed"
	PlanSent    PlanState = "sent" // written right before the effect
	PlanDone    PlanState = "done"
	PlanFailed  PlanState = "failed"
	PlanUnknown PlanState = "unknown"
	PlanRefused PlanState = "refused"
)

// PlanLease is how long a plan stays claimed by a worker that sends nothing. After it,
// another worker may take the claim over. The first one then sends nothing any more.
const PlanLease = time.Minute

// MaxReceipt is the longest receipt that is kept, in bytes.
const MaxReceipt = 64 << 10

// PlanRecord is what is known about the commit of a plan.
type PlanRecord struct {
	ID      string    `json:"id"`
	Owner   string    `json:"owner"` // who claimed it last: random, different for each commit
	State   PlanState `json:"state"`
	Receipt []byte    `json:"receipt,omitempty"` // of PlanDone, at most MaxReceipt
	Expires time.Time `json:"expires"`           // of the plan
	At      time.Time `json:"at"`                // of the last change, by the system's clock
}

// claimed returns the record after a claim, which is claimed or, if nothing has to be prepared,
// sent. The zero PlanRecord is that of an unknown plan.
func (r PlanRecord) claimed(owner string, state PlanState, expires, now time.Time) (PlanRecord, error) {
	switch {
	case r.State == "", r.State == PlanFailed && r.Owner != owner:
	case r.State == state && r.Owner == owner:
		return r, nil // the response to the first call was lost
	case r.State == PlanClaimed && r.leaseOver(now):
	default:
		return r, ErrAlreadyDone
	}
	return PlanRecord{ID: r.ID, Owner: owner, State: state, Expires: expires, At: now}, nil
}

// leaseOver reports whether the worker that claimed the plan had its time. It had it, too,
// if the clock was set back.
func (r PlanRecord) leaseOver(now time.Time) bool {
	return now.Sub(r.At).Abs() >= PlanLease
}

// ended returns the record after an outcome. It returns an [ErrClaimLost] if owner does not have
// the claim, or the plan has another outcome.
func (r PlanRecord) ended(owner string, state PlanState, receipt []byte, now time.Time) (PlanRecord, error) {
	next := false
	switch state {
	case PlanSent, PlanRefused:
		next = r.State == PlanClaimed
	case PlanDone, PlanUnknown:
		next = r.State == PlanSent
	case PlanFailed:
		next = r.State == PlanClaimed || r.State == PlanSent
	}
	switch {
	case r.Owner != owner:
		return r, ErrClaimLost
	case r.State == state && bytes.Equal(r.Receipt, receipt):
		return r, nil // the response to the first call was lost
	case !next:
		return r, ErrClaimLost
	}
	r.State, r.Receipt, r.At = state, receipt, now
	return r, nil
}

// ErrAlreadyDone is the error for a plan that was committed before, or is being committed.
// [Host.Commit] returns it as an [*AlreadyDoneError].
var ErrAlreadyDone = coded.New(string(CodePlanDone), "the plan was committed before")

// ErrClaimLost is the error for a worker that does not have the claim of the plan: another one took
// it over.
var ErrClaimLost = coded.New(string(CodeClaimLost), "another worker has taken the plan over")

// AlreadyDoneError is an [ErrAlreadyDone] with the plan's record. The record's state says
// what the caller can do; see [PlanState].
type AlreadyDoneError struct{ Record PlanRecord }

func (e *AlreadyDoneError) Error() string {
	switch zero.Or(e).Record.State {
	case PlanClaimed:
		return "another worker is preparing the plan; commit it again after " + PlanLease.String()
	case PlanSent:
		return "another worker has begun the effect of the plan, and no outcome is known"
	case PlanUnknown:
		return "the effect of the plan failed, and may have happened in part"
	case PlanRefused:
		return "the user refused the plan"
	}
	return ErrAlreadyDone.Error()
}

// Is reports whether target is [ErrAlreadyDone], or [ErrInDoubt] for a plan without a known outcome.
func (e *AlreadyDoneError) Is(target error) bool {
	state := zero.Or(e).Record.State
	return target == ErrAlreadyDone || target == ErrInDoubt && (state == PlanSent || state == PlanUnknown)
}

// ReasonCode returns [CodeConsentRefused] for a plan that the user refused, otherwise
// [CodePlanDone].
func (e *AlreadyDoneError) ReasonCode() Code {
	if zero.Or(e).Record.State == PlanRefused {
		return CodeConsentRefused
	}
	return CodePlanDone
}

// processPlans is the default Plans of every Host.
var processPlans = NewMemoryStore()

// keepPlans is how long the record of a plan is kept after the plan has expired.
const keepPlans = 7 * PlanLifetime

const planPrefix = "plan/"

// parsePlanRecord parses the stored record of a plan, nil for an unknown plan.
func parsePlanRecord(id string, stored []byte) (r PlanRecord, err error) {
	if stored != nil {
		err = strictjson.Decode(stored, &r)
	}
	if err == nil && stored != nil && (r.State == "" || r.Owner == "") {
		err = errors.New("the record of the plan has no state or owner")
	}
	r.ID = id // JSON has only UTF-8
	return r, err
}

// changePlan applies a rule to the record of a plan, and returns the record after it, also next to
// an error of the rule. It reads the record only if it is not the one that is known: the zero one is
// that of a plan without a record, and one without a state is not known.
func (h *Host) changePlan(ctx context.Context, p *Plan, known PlanRecord, rule func(r PlanRecord, now time.Time) (PlanRecord, error)) (r PlanRecord, err error) {
	now := time.Now().UTC()
	until := now
	if p.request.Expires.After(now) {
		until = p.request.Expires // by a fast clock
	}
	change := func(before PlanRecord) (value []byte, err error) {
		r, err = rule(before, now)
		if err != nil || r.State == before.State && r.Owner == before.Owner {
			return nil, err // or this call repeats one that succeeded
		}
		return json.Marshal(r)
	}
	store, key, until := h.plans(), planPrefix+p.ID(), until.Add(keepPlans)
	if known.State != "" || known.Owner == "" {
		var stored []byte
		if known.ID = p.ID(); known.State != "" {
			stored, _ = json.Marshal(known) // as this call wrote it
		}
		if value, err := change(known); err == nil && value != nil {
			if err := store.Put(ctx, key, stored, value, until); !errors.Is(err, ErrConflict) {
				return r, partPlans.coded(err)
			}
		}
	}
	err = UpdateRecord(ctx, store, key, until, func(stored []byte) ([]byte, error) {
		before, err := parsePlanRecord(p.ID(), stored)
		if err != nil {
			return nil, err
		}
		return change(before)
	})
	return r, partPlans.coded(err)
}

// plans returns the store of plans, with panics as errors and calls that end.
func (h *Host) plans() Store {
	parts := h.parts()
	return plugin.Store{Store: parts.plans, Bound: parts.planCalls}
}

// PlanRecord returns what is known about the commit of a plan, by any process that shares
// [Host].Plans. The error is [fs.ErrNotExist] if it was not committed. A workflow engine that runs a
// step again asks it before the user.
func (h *Host) PlanRecord(ctx context.Context, id string) (PlanRecord, error) {
	if err := h.usable(); err != nil {
		return PlanRecord{}, err
	}
	stored, err := h.plans().Get(h.enter(ctx), planPrefix+id)
	if errors.Is(err, fs.ErrNotExist) {
		return PlanRecord{}, fs.ErrNotExist
	}
	var r PlanRecord
	if err == nil {
		r, err = parsePlanRecord(id, append([]byte{}, stored...))
	}
	return r, partPlans.coded(err)
}
