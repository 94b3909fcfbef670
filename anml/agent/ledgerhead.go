package agent

import (
	"io"
	"os"
)

// fileHead is the head of a ledger's file when it had a size.
type fileHead struct {
	Head
	file *os.File
	size int64
}

// tailRead is how much of the end of a file is read at first, in bytes: more than the line
// of a usual plan.
const tailRead = 16 << 10

// headAt returns the head of the file. The caller holds the lock. It reads the last line if
// another process wrote it, and all lines if the last one is damaged.
func (l *FileDisclosureLedger) headAt(size int64) (Head, error) {
	if size == 0 {
		return Head{}, nil
	}
	if l.head.file == l.file && l.head.size == size {
		return l.head.Head, nil
	}
	for n := min(size, tailRead); ; n = min(size, 8*n) {
		tail := make([]byte, n)
		if _, err := l.file.ReadAt(tail, size-n); err != nil && err != io.EOF {
			return Head{}, err
		}
		begin := lastLine(tail)
		if begin < 0 && n < min(size, maxLedgerLine) {
			continue
		}
		if entries, err := parseLedgerLine(tail[max(begin, 0):]); err == nil && len(entries) > 0 {
			return entries[len(entries)-1].Head(), nil
		}
		return l.lastHead(size)
	}
}

// lastLine returns where the last line begins in the end of a file, -1 if it begins before.
func lastLine(tail []byte) int {
	for i := len(tail) - 2; i >= 0; i-- {
		if tail[i] == '\n' {
			return i + 1
		}
	}
	return -1
}

// lastHead returns the head of the last line that is not damaged.
func (l *FileDisclosureLedger) lastHead(size int64) (head Head, err error) {
	for line, err := range ledgerLines(io.NewSectionReader(l.file, 0, size)) {
		if err != nil && err != errLine {
			return Head{}, err
		}
		if entries, err := parseLedgerLine(line.text); err == nil && len(entries) > 0 {
			head = entries[len(entries)-1].Head()
		}
	}
	return head, nil
}
