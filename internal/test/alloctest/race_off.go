//go:build !race

package alloctest

// Race reports that the race detector runs.
const Race = false
