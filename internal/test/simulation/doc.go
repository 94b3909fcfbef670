// Package simulation contains no code besides its tests. They run a fleet of agents in a
// bubble of testing/synctest: three workers on one internet with shared engines (cache, plan
// ledger, limiter, disclosure ledger, store), a user who decides later, crashes, restarts,
// partitions between a worker and an engine, lost responses, and clocks that differ.
//
// One number, the seed, decides everything that happens. After each run, invariants are
// checked; see invariants_test.go. To repeat a seed that failed, and to run many:
//
//	go test ./internal/test/simulation -run TestSeeds -seed 4711 -v
//	go test ./internal/test/simulation -run TestSeeds -seeds 1000000 -timeout 0
//
// TestPlantedBugs replaces one part of the fleet by a broken one and counts how many seeds
// it takes until an invariant fails. TestModel explores a model of a plan's life completely,
// and TestTracesFollowTheModel checks the runs against it. docs/simulation.md has the results.
package simulation
