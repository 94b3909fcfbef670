//go:build !linux || !(amd64 || arm64)

package confine

import (
	"context"
	"os"

	"github.com/lookleap/lookleap/dvs"
)

// Enter has to be the first call of the program's main function. On this system
// nothing can be confined, so it does nothing.
func Enter() {}

func scriptUser() int { return os.Getuid() }

func landlockVersion() (int, error) { return 0, ErrUnconfined }

func (r *Runner) start(context.Context, *jail) (*dvs.RunResult, error) { return nil, ErrUnconfined }
