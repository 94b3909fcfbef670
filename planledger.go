package lookleap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// PlanLedger records the life of committed plans, so that a plan has its effect at most
// once among the processes that share a ledger.
//
//	state    what happened                              a later Commit of the plan
//	claimed  a worker prepares the effect               refused; after PlanLease it takes over
//	sent     the effect may have begun                  refused: no one can know
//	done     the effect happened; there is a receipt    refused, with the receipt
//	failed   the effect did not begin                   runs, without another question
//	unknown  the effect may have happened in part       refused: ask the user about [Host.Again]
//	refused  the user refused the plan                  refused
//
// The default is one ledger in memory for all Hosts of a process, which is lost when the
// process ends. Processes that resume plans of each other, or their own after a restart,
// need a shared ledger such as [FilePlanLedger].
//
// What an engine must guarantee: Claim and Record are atomic across all processes, and
// what they wrote survives a crash once they have returned nil. [PlanRecord.Claim] and
// [PlanRecord.Record] contain the rules, so a ledger only has to apply them to its record
// in one transaction. A call that is repeated by the same owner, because the response was
// lost, succeeds. A ledger keeps a record until the plan has expired by any clock; a week
// is enough. It is called from several goroutines at once.
type PlanLedger interface {
	// Claim claims a plan for an owner. If the plan cannot be claimed, Claim returns its
	// record and an [ErrAlreadyDone]. Any other error stops the commit.
	Claim(ctx context.Context, c PlanClaim) (PlanRecord, error)
	// Record writes the outcome of a plan that owner has claimed. It returns an
	// [ErrClaimLost] and changes nothing if owner does not have the claim.
	Record(ctx context.Context, id, owner string, o PlanOutcome) error
	// Plan returns the record of a plan. The error is [fs.ErrNotExist] if there is none.
	Plan(ctx context.Context, id string) (PlanRecord, error)
}

// PlanState is how far the commit of a plan is; see [PlanLedger].
type PlanState string

// The states of a plan in a ledger.
const (
	PlanClaimed PlanState = "claimed" // nothing was sent
	PlanSent    PlanState = "sent"    // written right before the effect
	PlanDone    PlanState = "done"
	PlanFailed  PlanState = "failed"  // nothing was sent
	PlanUnknown PlanState = "unknown" // the effect failed, and may have happened in part
	PlanRefused PlanState = "refused" // by the user; nothing was sent
)

// PlanLease is how long a plan stays claimed by a worker that sends nothing. After it,
// another worker may take the claim over. The first one then sends nothing any more.
const PlanLease = time.Minute

// MaxReceipt is the longest receipt that a ledger keeps, in bytes.
const MaxReceipt = 64 << 10

// PlanClaim is the claim of one commit.
type PlanClaim struct {
	ID      string    // of the plan
	Owner   string    // random, different for each commit
	Expires time.Time // of the plan
}

// PlanOutcome is what a commit records about its plan.
type PlanOutcome struct {
	State   PlanState
	Receipt []byte // of PlanDone, at most MaxReceipt
}

// PlanRecord is what a ledger knows about a plan.
type PlanRecord struct {
	ID      string    `json:"id"`
	Owner   string    `json:"owner"` // who claimed it last
	State   PlanState `json:"state"`
	Receipt []byte    `json:"receipt,omitempty"`
	Expires time.Time `json:"expires"`
	At      time.Time `json:"at"` // of the last change, by the clock of the ledger
}

// Claim returns the record after a claim at the time now. The zero PlanRecord is that of
// an unknown plan. Claim returns r and an [ErrAlreadyDone] if the plan cannot be claimed.
func (r PlanRecord) Claim(c PlanClaim, now time.Time) (PlanRecord, error) {
	switch {
	case r.State == "", r.State == PlanFailed && r.Owner != c.Owner:
	case r.State == PlanClaimed && r.Owner == c.Owner:
		return r, nil // the response to the first call was lost
	case r.State == PlanClaimed && r.leaseOver(now):
	default:
		return r, ErrAlreadyDone
	}
	return PlanRecord{ID: c.ID, Owner: c.Owner, State: PlanClaimed, Expires: c.Expires, At: now}, nil
}

// leaseOver reports whether the worker that claimed the plan had its time. It had it, too,
// if the clock was set back.
func (r PlanRecord) leaseOver(now time.Time) bool {
	return now.Sub(r.At).Abs() >= PlanLease
}

// Record returns the record after an outcome at the time now. It returns r and an
// [ErrClaimLost] if owner does not have the claim, or the plan has another outcome.
func (r PlanRecord) Record(owner string, o PlanOutcome, now time.Time) (PlanRecord, error) {
	open := r.State == PlanClaimed || r.State == PlanSent
	next := false
	switch o.State {
	case PlanSent:
		next = r.State == PlanClaimed
	case PlanDone, PlanUnknown:
		next = r.State == PlanSent
	case PlanFailed:
		next = open
	case PlanRefused:
		next = r.State == PlanClaimed
	}
	switch {
	case r.Owner == "" || r.Owner != owner:
		return r, ErrClaimLost
	case r.State == o.State && bytes.Equal(r.Receipt, o.Receipt):
		return r, nil // the response to the first call was lost
	case !next, len(o.Receipt) > MaxReceipt:
		return r, ErrClaimLost
	}
	r.State, r.Receipt, r.At = o.State, bytes.Clone(o.Receipt), now
	return r, nil
}

// ErrAlreadyDone is the error for a plan that was committed before, or is being committed.
// [Host.Commit] returns it as an [*AlreadyDoneError].
var ErrAlreadyDone = coded.New(string(CodePlanDone), "the plan was committed before")

// ErrClaimLost is the error of [PlanLedger.Record] for a worker that does not have the
// claim of the plan: another one took it over.
var ErrClaimLost = coded.New(string(CodeClaimLost), "another worker has taken the plan over")

// AlreadyDoneError is an [ErrAlreadyDone] with the plan's record. The record's state says
// what the caller can do; see [PlanLedger].
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

// Is reports whether target is [ErrAlreadyDone].
func (e *AlreadyDoneError) Is(target error) bool { return target == ErrAlreadyDone }

// ReasonCode returns [CodeConsentRefused] for a plan that the user refused, otherwise
// [CodePlanDone].
func (e *AlreadyDoneError) ReasonCode() Code {
	if zero.Or(e).Record.State == PlanRefused {
		return CodeConsentRefused
	}
	return CodePlanDone
}

// processLedger is the default ledger of every Host.
var processLedger = newMemoryLedger(time.Now)

// NewMemoryPlanLedger returns a ledger in memory. Hosts that share it commit a plan once.
func NewMemoryPlanLedger() PlanLedger { return newMemoryLedger(time.Now) }

// memoryLedger is a ledger in memory. It does not use the clock of a Host, which may be
// set forward and back. It drops a record a week after its last change by the monotonic clock,
// if the plan has also expired by the system's clock.
type memoryLedger struct {
	now   func() time.Time
	mu    sync.Mutex
	plans map[string]PlanRecord
	sweep int // how many plans there are when old ones are dropped next
}

const keepRecords = 7 * PlanLifetime

func newMemoryLedger(now func() time.Time) *memoryLedger {
	return &memoryLedger{now: now, plans: make(map[string]PlanRecord)}
}

func (l *memoryLedger) Claim(_ context.Context, c PlanClaim) (PlanRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	r, err := l.plans[c.ID].Claim(c, now)
	if err != nil {
		return r.clone(), err
	}
	if l.plans[c.ID] = r; len(l.plans) > l.sweep {
		maps.DeleteFunc(l.plans, func(_ string, r PlanRecord) bool {
			return now.Sub(r.At) >= keepRecords && !now.Before(r.Expires) // a plan of a fast clock expires late
		})
		l.sweep = 2*len(l.plans) + 100
	}
	return r, nil
}

func (l *memoryLedger) Record(_ context.Context, id, owner string, o PlanOutcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := l.plans[id].Record(owner, o, l.now())
	if err == nil {
		l.plans[id] = r
	}
	return err
}

func (l *memoryLedger) Plan(_ context.Context, id string) (PlanRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.plans[id]
	if !ok {
		return PlanRecord{}, fs.ErrNotExist
	}
	return r.clone(), nil
}

func (r PlanRecord) clone() PlanRecord {
	r.Receipt = bytes.Clone(r.Receipt)
	return r
}

// FilePlanLedger returns a ledger that keeps the records of plans as files in a directory, so that
// the processes of a machine can resume plans of each other. The directory must exist, be on a file
// system with locks, and only the agent may have write access to it. A relative path is resolved
// when FilePlanLedger is called. The methods return an error if the path is empty.
//
// The ledger never deletes records: each contains the time after which the operator may
// delete it.
func FilePlanLedger(dir string) PlanLedger {
	if dir == "" {
		return &fileLedger{err: usageError("the directory of the plan ledger has no name")}
	}
	dir, err := filepath.Abs(dir)
	return &fileLedger{path: dir, err: err}
}

// fileLedger keeps each record in a file of its own.
type fileLedger struct {
	path string
	err  error // why the path is invalid

	mu  sync.Mutex
	dir *filestore.Dir // nil before the first use
}

func (l *fileLedger) Claim(ctx context.Context, c PlanClaim) (r PlanRecord, err error) {
	err = l.change(ctx, c.ID, func(before PlanRecord) (PlanRecord, error) {
		r, err = before.Claim(c, time.Now())
		return r, err
	})
	return r, err
}

func (l *fileLedger) Record(ctx context.Context, id, owner string, o PlanOutcome) error {
	return l.change(ctx, id, func(before PlanRecord) (PlanRecord, error) {
		return before.Record(owner, o, time.Now())
	})
}

func (l *fileLedger) Plan(ctx context.Context, id string) (r PlanRecord, err error) {
	dir, err := l.open()
	if err != nil {
		return r, err
	}
	data, err := dir.Get(ctx, planKey(id))
	if err == nil {
		err = strictjson.Decode(data, &r)
	}
	r.ID = id // JSON has only UTF-8
	return r, l.failed(err)
}

// open opens the directory. It does not make a missing one: a ledger that is empty because a disk is
// not mounted would let everything happen again.
func (l *fileLedger) open() (*filestore.Dir, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil || l.dir != nil {
		return l.dir, l.err
	}
	_, err := os.Stat(l.path)
	if err == nil {
		l.dir, err = filestore.OpenDir(l.path)
	}
	if err != nil {
		return nil, ledgerFailed(err)
	}
	return l.dir, nil
}

// change replaces the record of a plan, unless to returns an error or the same record.
func (l *fileLedger) change(ctx context.Context, id string, to func(PlanRecord) (PlanRecord, error)) error {
	dir, err := l.open()
	if err != nil {
		return err
	}
	return l.failed(dir.Change(ctx, planKey(id), func(stored []byte) ([]byte, error) {
		var before PlanRecord
		if stored != nil {
			if err := strictjson.Decode(stored, &before); err != nil {
				return nil, err
			}
		}
		after, err := to(before)
		if err != nil || after.State == before.State && after.Owner == before.Owner {
			return nil, err // or this call repeats one that succeeded
		}
		return json.Marshal(after)
	}))
}

func planKey(id string) string { return "plan/" + id }

// failed returns an error of the files, and those of the rules as they are.
func (l *fileLedger) failed(err error) error {
	if err == nil || errors.Is(err, ErrAlreadyDone) || errors.Is(err, ErrClaimLost) || errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return ledgerFailed(err)
}

func ledgerFailed(err error) error {
	return &Error{Code: CodeLedgerFailed, Message: "the plan cannot be recorded", Err: err,
		Fix: "make the directory of the plan ledger writable for the agent, on a file system with locks"}
}
