package lookleap

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Commit runs the effect of an approved plan once. It records the plan's id in the ledger
// before it calls effect. The id stays there even if effect returns an error, because the
// effect may have happened in part. A second Commit returns [ErrAlreadyDone].
//
// Commit is for an effect that is done as a whole. If the user refused an optional item,
// Commit does nothing and returns an [*Error] with [CodeConsentPartial]. Use
// [Host.CommitApproved] for such a plan.
func (h *Host) Commit(ctx context.Context, a *Approval, effect func(ctx context.Context, bytes []byte) error) error {
	c := commit{approval: a, whole: true}
	if effect != nil {
		c.effect = func(ctx context.Context) error { return effect(ctx, a.Plan().Effect()) }
	}
	return h.commit(ctx, c)
}

// CommitApproved is [Host.Commit] for an effect that can be done without its optional
// items. The effect must leave out every item for which [Approval.Has] reports false.
func (h *Host) CommitApproved(ctx context.Context, a *Approval, effect func(ctx context.Context, a *Approval) error) error {
	c := commit{approval: a}
	if effect != nil {
		c.effect = func(ctx context.Context) error { return effect(ctx, a) }
	}
	return h.commit(ctx, c)
}

type commit struct {
	approval *Approval
	whole    bool // the effect has only one form
	effect   func(context.Context) error
}

func (h *Host) commit(ctx context.Context, c commit) (err error) {
	p := c.approval.Plan()
	if p == nil {
		return consentError(CodeConsentRefused, "there is no approval to commit", nil)
	}
	ctx = h.enter(ctx)
	defer func() {
		h.Report(ctx, Event{Kind: EventPlan, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}()
	now, clock := h.clock()
	unusable := h.usable()
	switch {
	case c.effect == nil:
		return consentError(CodeUsage, "there is no effect to commit", nil)
	case cmp.Or(unusable, ctx.Err()) != nil:
		return notCommitted(p, cmp.Or(unusable, ctx.Err()))
	case clock != nil:
		return clockFailed(clock)
	case !now.Before(p.request.Expires):
		return consentError(CodePlanExpired, "the plan expired before it was committed", nil)
	case c.whole && len(c.approval.items) < len(p.request.Items):
		return consentError(CodeConsentPartial, "the user refused an optional item, and the effect can only be done as a whole", nil)
	}
	if err := h.claim(ctx, p); err != nil {
		return notCommitted(p, err)
	}
	return c.effect(ctx)
}

// notCommitted returns an error for a plan whose effect was not called.
func notCommitted(p *Plan, cause error) error {
	message := "nothing was committed"
	if coded.Cause(cause) == nil {
		message = cause.Error()
	}
	return &Error{Code: CodeOf(cause), Subject: "plan " + p.ID(), Message: message, Err: cause}
}

func (h *Host) claim(ctx context.Context, p *Plan) (err error) {
	defer func() { err = partLedger.coded(err) }()
	parts := h.parts()
	_, err = plugin.Await(ctx, parts.planCalls, func(ctx context.Context) (_ struct{}, err error) {
		defer partLedger.guard(&err)
		return struct{}{}, parts.plans.Claim(ctx, p.ID(), p.request.Expires)
	})
	return err
}

// PlanLedger records which plans were committed. Claim records an id before anything is
// sent, and returns [ErrAlreadyDone] if the id is already there. Any other error stops
// the commit. A ledger keeps an id until the plan has expired by any clock.
//
// A plan is committed at most once among the processes that share a ledger. The default
// is one ledger in memory for all Hosts of a process, which is lost when the process
// ends. Processes that resume plans of each other, or their own after a restart, need a
// shared ledger such as [FilePlanLedger], whose Claim is atomic across processes.
type PlanLedger interface {
	Claim(ctx context.Context, id string, expires time.Time) error
}

// ErrAlreadyDone is the error for a plan that was committed before.
var ErrAlreadyDone = coded.New(string(CodePlanDone), "the plan was committed before")

// processLedger is the default ledger of every Host.
var processLedger = newMemoryLedger(time.Now)

// memoryLedger is a ledger in memory. It does not use the clock of a Host, which may be
// set forward and back. It drops an id a week after its claim by the monotonic clock, if
// the plan has also expired by the system's clock.
type memoryLedger struct {
	now  func() time.Time
	mu   sync.Mutex
	done map[string]struct{}
	// claims are the claims in done, the oldest first.
	claims []claim
}

const keepClaims = 7 * PlanLifetime

type claim struct {
	id          string
	at, expires time.Time
}

func newMemoryLedger(now func() time.Time) *memoryLedger {
	return &memoryLedger{now: now, done: make(map[string]struct{})}
}

func (l *memoryLedger) Claim(_ context.Context, id string, expires time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.done[id]; ok {
		return ErrAlreadyDone
	}
	now := l.now()
	l.drop(now)
	l.done[id] = struct{}{}
	l.claims = append(l.claims, claim{id, now, expires})
	return nil
}

// drop removes a few old claims.
func (l *memoryLedger) drop(now time.Time) {
	for range min(4, len(l.claims)) {
		oldest := l.claims[0]
		if now.Sub(oldest.at) < keepClaims {
			return
		}
		l.claims = l.claims[1:]
		if now.Before(oldest.expires) { // made under a clock that was fast
			l.claims = append(l.claims, claim{oldest.id, now, oldest.expires})
			continue
		}
		delete(l.done, oldest.id)
	}
}

// FilePlanLedger returns a ledger that stores the ids of committed plans as files in a
// directory, so that the processes of a machine can resume plans of each other. The
// directory must exist, and only the agent may have write access to it. A relative path is
// resolved when FilePlanLedger is called. Claim returns an error if the path is empty.
func FilePlanLedger(dir string) PlanLedger {
	if dir == "" {
		return fileLedger{err: usageError("the directory of the plan ledger has no name")}
	}
	dir, err := filepath.Abs(dir)
	return fileLedger{dir, err}
}

type fileLedger struct {
	dir string
	err error // why the directory is invalid
}

// Claim creates the file of an id, which only one process can do. The file and its
// directory entry are on disk before Claim returns, so that the plan cannot be committed
// again after a crash. Claim never deletes files: each contains the time after which the
// operator may delete it.
func (l fileLedger) Claim(ctx context.Context, id string, expires time.Time) error {
	if err := cmp.Or(l.err, ctx.Err()); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(id)) // an id is not a safe file name
	f, err := os.OpenFile(filepath.Join(l.dir, hex.EncodeToString(sum[:])), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrAlreadyDone
	}
	if err != nil {
		return l.failed(err)
	}
	_, err = f.WriteString(expires.UTC().Format(time.RFC3339) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return l.failed(err)
	}
	d, err := os.Open(l.dir)
	if err != nil {
		return l.failed(err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return l.failed(err)
	}
	return nil
}

func (l fileLedger) failed(err error) error {
	return &Error{Code: CodeLedgerFailed, Message: "the plan cannot be recorded", Err: err, Fix: "make the directory of the plan ledger writable for the agent"}
}
