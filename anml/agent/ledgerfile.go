package agent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/zero"
)

// FileDisclosureLedger is a [DisclosureLedger] in one append-only file. Each Append is one
// line, {"sum":…,"entries":[…]}, with the beginning of the SHA-256 of its entries. The
// line is on disk before Append returns. Several processes may use one file.
//
// A process that dies while it writes leaves part of a line; the call of these entries
// was not sent. The next process that opens the file or appends to it moves that part
// to a new file in the same directory, and [FileDisclosureLedger.Damage] reports it.
// Complete lines stay as they are, also damaged ones.
//
// The ledger uses two more files in the directory: one with the suffix ".lock" and,
// while it is pruned, one with ".new".
type FileDisclosureLedger struct {
	path string
	lock *filestore.Lock

	mu     sync.Mutex // of what follows, also held through the lock
	file   *os.File
	damage []Damage
	head   fileHead
}

// LedgerOptions configure [OpenDisclosureLedger].
type LedgerOptions struct {
	// Retention is how long entries are kept: opening the file removes older ones. 0
	// keeps them until [FileDisclosureLedger.Prune].
	Retention time.Duration
}

// Damage is a part of a ledger's file that is not a valid line.
type Damage struct {
	Offset int64  // of its first byte in the file, when it was found
	Length int64  // its length in bytes
	Aside  string // path of the file that an incomplete line was moved to; "" if the part is still in place
}

func (d Damage) String() string {
	if d.Aside != "" {
		return fmt.Sprintf("%d bytes at offset %d are an incomplete line, and are now in %s", d.Length, d.Offset, d.Aside)
	}
	return fmt.Sprintf("%d bytes at offset %d are not a valid line", d.Length, d.Offset)
}

// DamageError is the error that Entries yields for entries that cannot be read.
type DamageError struct {
	Path string
	Damage
}

func (e *DamageError) Error() string {
	e = zero.Or(e)
	return "the ledger " + e.Path + ": " + e.String()
}

// maxLedgerLine is the longest line of one Append, in bytes, far above that of any plan.
const maxLedgerLine = 8 << 20

// errLine reports a line that this package did not write, or not completely.
var errLine = errors.New("the line is not a ledger entry")

// OpenDisclosureLedger opens the ledger in a file, and creates the file, readable only by
// its owner, if it does not exist. It returns an error of the file system, or one with
// the code usage for an empty path. Damaged lines are not an error; Damage reports them.
func OpenDisclosureLedger(path string, o LedgerOptions) (*FileDisclosureLedger, error) {
	if path == "" {
		return nil, missing("the ledger has no path", "name a file")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	lock, err := filestore.Open(path + ".lock")
	if err != nil {
		return nil, err
	}
	l := &FileDisclosureLedger{path: path, lock: lock}
	err = l.locked(context.Background(), func(size int64) error { return l.inspect(size) })
	if err == nil && o.Retention > 0 {
		_, err = l.Prune(context.Background(), time.Now().Add(-o.Retention))
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// ready returns an error unless OpenDisclosureLedger opened the ledger.
func (l *FileDisclosureLedger) ready() error {
	if l == nil || l.lock == nil {
		return missing("the ledger is not open", "open it with OpenDisclosureLedger")
	}
	return nil
}

// Append writes the entries as one line, and returns when it is on disk.
func (l *FileDisclosureLedger) Append(ctx context.Context, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return l.locked(ctx, func(size int64) error {
		head, err := l.headAt(size)
		if err != nil {
			return err
		}
		chained, head, err := head.Extend(entries...)
		if err != nil {
			return err
		}
		line, err := ledgerLine(chained)
		if err != nil {
			return err
		}
		l.head = fileHead{} // until it is known that the line is there
		_, err = l.file.Write(line)
		if err == nil {
			err = l.file.Sync()
		}
		if err != nil { // usually a full disk: remove the incomplete line
			_ = l.file.Truncate(size)
			return err
		}
		l.head = fileHead{head, l.file, size + int64(len(line))}
		return nil
	})
}

// Entries yields the entries in the file, in order, and a [*DamageError] for each damaged
// line. It does not yield what is appended meanwhile.
func (l *FileDisclosureLedger) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var f *os.File
		var end int64
		err := l.locked(ctx, func(size int64) (err error) {
			end = size
			f, err = filestore.OpenFile(l.path, os.O_RDONLY, 0)
			return err
		})
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		for line, err := range ledgerLines(io.NewSectionReader(f, 0, end)) {
			if errors.Is(err, errLine) {
				err = &DamageError{l.path, Damage{Offset: line.offset, Length: line.length}}
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil && !yield(Entry{}, err) || ctx.Err() != nil {
				return
			}
			for _, e := range line.entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Damage returns the damaged parts that were found since the ledger was opened.
func (l *FileDisclosureLedger) Damage() []Damage {
	l = zero.Or(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Damage(nil), l.damage...)
}

// Prune removes the entries from before a time, and returns their number. Damaged lines
// stay. To verify the ledger later, keep the [Entry.Head] of the last entry that is removed.
// If the clock was set back meanwhile, an entry is also removed between younger ones, and
// [VerifyLedger] reports that place.
func (l *FileDisclosureLedger) Prune(ctx context.Context, before time.Time) (removed int, err error) {
	err = l.locked(ctx, func(size int64) error {
		var kept [][]byte
		for line, err := range ledgerLines(io.NewSectionReader(l.file, 0, size)) {
			if err != nil && !errors.Is(err, errLine) {
				return err
			}
			stay := slices.DeleteFunc(slices.Clone(line.entries), func(e Entry) bool { return e.Time.Before(before) })
			raw := make([]byte, line.length)
			if _, err := l.file.ReadAt(raw, line.offset); err != nil {
				return err
			}
			if gone := len(line.entries) - len(stay); gone > 0 { // not in damaged lines
				removed += gone
				if raw, err = ledgerLine(stay); err != nil {
					return err
				}
			}
			if len(stay) > 0 || len(line.entries) == 0 {
				kept = append(kept, raw)
			}
		}
		if removed == 0 {
			return nil
		}
		if err := l.file.Close(); err != nil { // Windows does not replace a file that is open
			return err
		}
		l.file = nil
		return filestore.Replace(l.path, l.path+".new", kept...)
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// Close closes the ledger. Later calls return an error.
func (l *FileDisclosureLedger) Close() error {
	if err := l.ready(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.lock.Close()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// locked runs f with the file's size, under the lock. The file is then the one at the
// path, and ends with a complete line.
func (l *FileDisclosureLedger) locked(ctx context.Context, f func(size int64) error) error {
	if err := l.ready(); err != nil {
		return err
	}
	return l.lock.With(ctx, func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		for {
			size, err := l.current()
			if err != nil {
				return err
			}
			torn, err := l.torn(size)
			if err != nil {
				return err
			}
			if !torn {
				return f(size)
			}
			if err := l.inspect(size); err != nil { // it moves the incomplete line aside
				return err
			}
		}
	})
}

// torn reports whether the file ends with an incomplete line.
func (l *FileDisclosureLedger) torn(size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	_, err := l.file.ReadAt(last[:], size-1)
	return last[0] != '\n', err
}

// current opens the file at the path unless that is the open one: another process may
// have pruned it, or the user may have removed it.
func (l *FileDisclosureLedger) current() (size int64, err error) {
	at, err := os.Stat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if l.file != nil {
		open, serr := l.file.Stat()
		if serr != nil {
			return 0, serr
		}
		if err == nil && os.SameFile(at, open) {
			return open.Size(), nil
		}
		_ = l.file.Close()
		l.file = nil
	}
	created := err != nil
	if l.file, err = filestore.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		l.file = nil
		return 0, err
	}
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	if created {
		err = filestore.SyncDir(filepath.Dir(l.path))
	}
	return info.Size(), err
}

// inspect checks every line. It moves an incomplete last line aside, since its call was
// not sent. A complete line that cannot be read stays, since its call may have been.
func (l *FileDisclosureLedger) inspect(size int64) error {
	for line, err := range ledgerLines(io.NewSectionReader(l.file, 0, size)) {
		if err == nil {
			continue
		}
		if !errors.Is(err, errLine) {
			return err
		}
		d := Damage{Offset: line.offset, Length: line.length}
		if line.torn {
			if d.Aside, err = l.setAside(line.offset, size); err != nil {
				return err
			}
		}
		if !slices.Contains(l.damage, d) {
			l.damage = append(l.damage, d)
		}
	}
	return nil
}

// setAside moves the end of the file to a new file. After a crash it may be in both.
func (l *FileDisclosureLedger) setAside(from, to int64) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.torn-%d", l.path, n)
		f, err := filestore.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 10_000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, io.NewSectionReader(l.file, from, to-from))
		if err = errors.Join(err, f.Sync(), f.Close(), filestore.SyncDir(filepath.Dir(l.path))); err != nil {
			return "", err
		}
		return name, errors.Join(l.file.Truncate(from), l.file.Sync())
	}
}

// The frame of a line. The sum is the first 16 bytes of the SHA-256 of the entries as
// they are written, in hexadecimal.
const (
	frameSum     = `{"sum":"`
	frameEntries = `","entries":`
	frameEnd     = "}\n"
	sumBytes     = 16
)

func ledgerLine(entries []Entry) ([]byte, error) {
	body, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	line := append(make([]byte, 0, len(body)+64), frameSum...)
	line = append(line, ledgerSum(body)...)
	line = append(line, frameEntries...)
	line = append(line, body...)
	line = append(line, frameEnd...)
	if len(line) > maxLedgerLine {
		return nil, fmt.Errorf("%d entries make a line of %d bytes; the limit is %d", len(entries), len(line), maxLedgerLine)
	}
	return line, nil
}

// parseLedgerLine parses exactly what ledgerLine wrote, including the line feed.
func parseLedgerLine(line []byte) ([]Entry, error) {
	rest, ok := bytes.CutPrefix(line, []byte(frameSum))
	if !ok {
		return nil, errLine
	}
	sum, rest, ok := bytes.Cut(rest, []byte(frameEntries))
	if !ok {
		return nil, errLine
	}
	body, ok := bytes.CutSuffix(rest, []byte(frameEnd))
	if !ok || !bytes.Equal(sum, ledgerSum(body)) {
		return nil, errLine
	}
	var entries []Entry
	if strictjson.Decode(body, &entries) != nil {
		return nil, errLine
	}
	return entries, nil
}

func ledgerSum(body []byte) []byte {
	sum := sha256.Sum256(body)
	return hex.AppendEncode(nil, sum[:sumBytes])
}

// lineRead is a piece of a ledger's file that ends with a line feed or the file.
type lineRead struct {
	offset, length int64
	entries        []Entry // nil with an error
	torn           bool    // without a line feed
}

// ledgerLines yields the lines of a file. It yields errLine for a line that is damaged or too long.
// Any other error is the reader's, and ends the sequence.
func ledgerLines(r io.Reader) iter.Seq2[lineRead, error] {
	return func(yield func(lineRead, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var text []byte
		for offset := int64(0); ; {
			line, err := lineRead{offset: offset}, bufio.ErrBufferFull
			for text = text[:0]; err == bufio.ErrBufferFull; {
				var piece []byte
				piece, err = in.ReadSlice('\n')
				line.length += int64(len(piece))
				if line.length <= maxLedgerLine {
					text = append(text, piece...)
				}
			}
			if err != nil && err != io.EOF {
				yield(line, err)
				return
			}
			if line.length == 0 {
				return
			}
			line.torn = err == io.EOF
			damage := errLine
			if line.length <= maxLedgerLine {
				line.entries, damage = parseLedgerLine(text)
			}
			if !yield(line, damage) || line.torn {
				return
			}
			offset += line.length
		}
	}
}
