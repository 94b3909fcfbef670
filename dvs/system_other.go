//go:build !unix || solaris || illumos || aix

package dvs

import (
	"io/fs"
	"os"
)

// tryLock marks a new file as used. Whether the process that did so still runs is not known here,
// so leftovers of killed processes stay, and Materialize names them.
func tryLock(f *os.File) bool {
	if info, err := f.Stat(); err != nil || info.Size() > 0 {
		return false
	}
	_, err := f.WriteString("used")
	return err == nil
}

// renamesOpen reports whether an open file can be renamed. A lock file without its name does no
// harm here, since no process looks for it.
const renamesOpen = false

// isOwn reports false: whose a file is, is not known here.
func isOwn(fs.FileInfo) bool { return false }
