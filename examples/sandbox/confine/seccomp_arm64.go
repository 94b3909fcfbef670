//go:build linux

package confine

// oldAttributeCalls are attributeCalls that only older machines have.
var oldAttributeCalls []uint32
