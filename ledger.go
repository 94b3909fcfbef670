package lookleap

import (
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
)

// PlanLedger remembers which plans were committed. Claim records the id before
// anything leaves and gives [ErrAlreadyDone] when it is there already; any other
// error stops the commit. Ids are kept until their plan has expired. Processes
// that resume one another's plans need a ledger that they share, and its Claim
// has to be atomic across them.
type PlanLedger interface {
	Claim(ctx context.Context, id string, expires time.Time) error
}

// ErrAlreadyDone is a plan that was committed before.
var ErrAlreadyDone = errors.New("the plan was committed before")

// memoryLedger is the ledger of one process.
type memoryLedger struct {
	now  func() time.Time
	mu   sync.Mutex
	done map[string]time.Time
}

func (l *memoryLedger) Claim(_ context.Context, id string, expires time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.done[id]; ok {
		return ErrAlreadyDone
	}
	now := l.now()
	for old, end := range l.done {
		if !now.Before(end) {
			delete(l.done, old)
		}
	}
	l.done[id] = expires
	return nil
}

// FileLedger keeps the ids of committed plans as files of one directory, so
// that the processes of one machine can resume one another's plans. The
// directory must exist and belong to the agent alone.
func FileLedger(dir string) PlanLedger { return fileLedger{dir} }

type fileLedger struct{ dir string }

// Claim creates the id's file, which the file system lets only one process do.
// The file and its name are on the disk before Claim returns, so that a crash
// right afterwards cannot make the plan committable again. The files are never
// deleted here: each holds the time after which its owner may.
func (l fileLedger) Claim(ctx context.Context, id string, expires time.Time) error {
	if err := ctx.Err(); err != nil {
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
