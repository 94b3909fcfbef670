//go:build !windows

package dnssec

import (
	"os"
	"runtime"
)

// findServers reads the files in which the system names its servers.
func findServers() *systemServers {
	return findIn(runtime.GOOS, os.Getenv("PREFIX"), os.DirFS("/"))
}
