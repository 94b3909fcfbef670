package roundtrip

import "strings"

// Plan 9 has no numbers for errors.

func isRefused(err error) bool { return strings.Contains(err.Error(), "connection refused") }
func isReset(err error) bool   { return strings.Contains(err.Error(), "connection reset") }
