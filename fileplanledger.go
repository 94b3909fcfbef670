package lookleap

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lookleap/lookleap/internal/filestore"
)

// FilePlanLedger returns a ledger that stores the records of plans as files in a
// directory, so that the processes of a machine can resume plans of each other. The
// directory must exist, be on a file system with hard links, and only the agent may have
// write access to it. A relative path is resolved when FilePlanLedger is called. The
// methods return an error if the path is empty.
//
// The ledger never deletes records: each contains the time after which the operator may
// delete it.
func FilePlanLedger(dir string) PlanLedger {
	if dir == "" {
		return fileLedger{err: usageError("the directory of the plan ledger has no name")}
	}
	dir, err := filepath.Abs(dir)
	return fileLedger{dir, err}
}

// fileLedger stores each version of a record in a file of its own: the first one under the
// digest of the id, later ones with a number after it. A version is written to a temporary
// file and linked to its name, which only one process can do. So there are no locks that a
// process could leave behind, and no reader sees a part of a version.
type fileLedger struct {
	dir string
	err error // why the directory is invalid
}

func (l fileLedger) Claim(ctx context.Context, c PlanClaim) (r PlanRecord, err error) {
	err = l.change(ctx, c.ID, func(before PlanRecord) (PlanRecord, error) {
		r, err = before.Claim(c, time.Now())
		return r, err
	})
	return r, err
}

func (l fileLedger) Record(ctx context.Context, id, owner string, o PlanOutcome) error {
	return l.change(ctx, id, func(before PlanRecord) (PlanRecord, error) {
		return before.Record(owner, o, time.Now())
	})
}

func (l fileLedger) Plan(ctx context.Context, id string) (PlanRecord, error) {
	if err := cmp.Or(l.err, ctx.Err()); err != nil {
		return PlanRecord{}, err
	}
	r, next, err := l.read(id)
	if err == nil && next == 0 {
		err = fs.ErrNotExist
	}
	return r, err
}

// change writes the next version of a record. It starts again if another process was faster.
func (l fileLedger) change(ctx context.Context, id string, to func(PlanRecord) (PlanRecord, error)) error {
	if err := cmp.Or(l.err, ctx.Err()); err != nil {
		return err
	}
	for {
		before, n, err := l.read(id)
		if err != nil {
			return err
		}
		after, err := to(before)
		if err != nil {
			return err
		}
		if n > 0 && after.State == before.State && after.Owner == before.Owner {
			return nil // this call repeats one that succeeded
		}
		err = l.write(l.path(id, n), after)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// read returns the last version of a record, and the number of the next one.
func (l fileLedger) read(id string) (r PlanRecord, next int, err error) {
	for ; ; next++ {
		data, err := os.ReadFile(l.path(id, next))
		if errors.Is(err, fs.ErrNotExist) {
			return r, next, nil
		}
		if err != nil {
			return PlanRecord{}, 0, l.failed(err)
		}
		r = parseRecord(id, data)
	}
}

// parseRecord reads a version. A damaged one, and one of a release that recorded only
// claims, stands for an effect that may have happened.
func parseRecord(id string, data []byte) PlanRecord {
	var r PlanRecord
	if err := json.Unmarshal(data, &r); err == nil && r.ID == id && r.State.known() {
		return r
	}
	return PlanRecord{ID: id, State: PlanUnknown}
}

func (s PlanState) known() bool {
	switch s {
	case PlanClaimed, PlanSent, PlanDone, PlanFailed, PlanUnknown:
		return true
	}
	return false
}

// path returns the file of a version. An id is not a safe file name.
func (l fileLedger) path(id string, version int) string {
	sum := sha256.Sum256([]byte(id))
	name := hex.EncodeToString(sum[:])
	if version > 0 {
		name += "." + strconv.Itoa(version)
	}
	return filepath.Join(l.dir, name)
}

// write creates the file of a version. The file and its directory entry are on disk before
// write returns, so that the plan cannot be committed again after a crash. The error is
// fs.ErrExist if the version exists.
func (l fileLedger) write(path string, r PlanRecord) error {
	data, err := json.Marshal(r)
	if err != nil {
		return l.failed(err)
	}
	f, err := os.CreateTemp(l.dir, ".new-*") // mode 0600
	if err != nil {
		return l.failed(err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return l.failed(err)
	}
	switch err := os.Link(f.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	case err != nil:
		return l.failed(err)
	}
	if err := filestore.SyncDir(l.dir); err != nil {
		return l.failed(err)
	}
	return nil
}

func (l fileLedger) failed(err error) error {
	return &Error{Code: CodeLedgerFailed, Message: "the plan cannot be recorded", Err: err, Fix: "make the directory of the plan ledger writable for the agent, on a file system with hard links"}
}
