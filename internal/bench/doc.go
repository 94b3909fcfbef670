// Package bench holds what needs other people's modules: benchmarks against
// peers, and tests against their tables. It is a module of its own, so that
// users of the library do not download them.
//
//	go test -C internal/bench -bench . ./...
package bench
