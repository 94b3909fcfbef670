// Package bench holds what needs other people's modules: benchmarks beside
// peers, and tests against their tables. It is a module of its own so that
// nobody who uses the library pays for them.
//
//	go test -C internal/bench -bench . ./...
package bench
