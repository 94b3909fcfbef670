//go:build !unix

package dvs

import (
	"io/fs"
	"os"
)

// openWithoutWaiting opens a file for reading.
const openWithoutWaiting = os.O_RDONLY

// directOpener returns nil: on this system Stat is called before a file is opened.
func directOpener(fs.FS) func(name string) (fs.File, error) { return nil }
