//go:build !race

package simulation

// raceDetector reports that the race detector runs.
const raceDetector = false
