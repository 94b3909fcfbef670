package lookleap

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
)

// PlanLedger remembers which plans were committed. Claim records the id before
// anything leaves and returns [ErrAlreadyDone] if it is there already; any other
// error stops the commit. A ledger keeps an id until its plan has expired by any
// clock.
//
// The reach of a ledger is the reach of the promise that a plan is committed
// once. The default is one ledger for all Hosts of a process, in memory: it
// forgets everything when the process ends. Processes that resume one another's
// plans, or their own after a restart, need a ledger that they share, such as
// [FilePlanLedger], and its Claim has to be atomic across them.
type PlanLedger interface {
	Claim(ctx context.Context, id string, expires time.Time) error
}

// ErrAlreadyDone is a plan that was committed before.
var ErrAlreadyDone = coded.New(string(CodePlanDone), "the plan was committed before")

// processLedger is the default ledger of every Host.
var processLedger = newMemoryLedger(time.Now)

// memoryLedger is a ledger in memory. It does not use the clock of a Host, which
// may jump and come back: an id is dropped a week after its claim by the monotonic
// clock, if its plan has expired by the system's clock, too.
type memoryLedger struct {
	now  func() time.Time
	mu   sync.Mutex
	done map[string]struct{}
	// claims are those in done, the oldest first. Their order makes dropping cheap.
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

// drop removes what is old, a few claims at a time.
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

// FilePlanLedger keeps the ids of committed plans as files of one directory, so
// that the processes of one machine can resume one another's plans. The
// directory must exist and be writable by the agent alone. A relative path is
// resolved when FileLedger is called. Claim returns an error for an empty path.
func FilePlanLedger(dir string) PlanLedger {
	if dir == "" {
		return fileLedger{err: usageError("plan ledger: the directory has no name")}
	}
	dir, err := filepath.Abs(dir)
	return fileLedger{dir, err}
}

type fileLedger struct {
	dir string
	err error // why there is no directory
}

// Claim creates the id's file, which the file system lets only one process do.
// The file and its name are on the disk before Claim returns, so that a crash
// right afterwards cannot make the plan committable again. The files are never
// deleted here: each holds the time after which its owner may.
func (l fileLedger) Claim(ctx context.Context, id string, expires time.Time) error {
	if err := cmp.Or(l.err, ctx.Err()); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(id)) // an id is no safe file name
	f, err := os.OpenFile(filepath.Join(l.dir, hex.EncodeToString(sum[:])), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrAlreadyDone
	}
	if err != nil {
		return fmt.Errorf("lookleap: plan ledger: %w", err)
	}
	_, err = f.WriteString(expires.UTC().Format(time.RFC3339) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("lookleap: plan ledger: %w", err)
	}
	return l.syncDir()
}

func (l fileLedger) syncDir() error {
	d, err := os.Open(l.dir)
	if err != nil {
		return fmt.Errorf("lookleap: plan ledger: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("lookleap: plan ledger: %w", err)
	}
	return nil
}
