//go:build !unix

package dvs_test

import (
	"errors"
	"time"
)

var started = time.Now()

func makePipe(string) error { return errors.ErrUnsupported }

func processorTime() time.Duration { return time.Since(started) }
