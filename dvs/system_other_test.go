//go:build !unix

package dvs_test

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
