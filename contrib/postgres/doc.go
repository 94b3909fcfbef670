// Package pgengine keeps what a fleet of agents shares in one PostgreSQL database: the cache, the
// store of plans, limits, and each user's store.
//
//	engine, err := pgengine.Open(ctx, "postgres://agent@db.example/lookleap", pgengine.Options{})
//	host := &lookleap.Host{Cache: sealed, Plans: engine.Plans(), Limiter: engine.Limiter()}
//
// Open creates and migrates the tables in a schema of their own, once for all processes that start
// at the same time. Seal the cache with [lookleap.SealedCache] unless all who can write to the
// database are trusted. Each operation is one statement in one transaction.
//
// # What survives
//
//	event                      synchronous_commit on   synchronous_commit off   standby is promoted,
//	                                                                            asynchronous replication
//	worker is killed           nothing is lost         nothing is lost          -
//	server is killed           nothing is lost         up to 3 wal_writer_delay -
//	machine loses power        nothing is lost         up to 3 wal_writer_delay -
//	failover                   -                       -                        what was not replicated
//
// With synchronous_standby_names and synchronous_commit on, a failover loses nothing that was
// acknowledged. What is lost means:
//
//	plans     a plan can be committed twice
//	limits    more uses are permitted within one window
//	cache     a miss; a lost withdrawal counts again after at most a minute
//	store     the last decisions are missing: a consent that was withdrawn may be back
//	          in a ledger of disclosures agent.VerifyLedger finds that with a later head
//
// While the database does not answer, nothing is committed and nothing that is limited is sent.
//
// # Cost
//
// Medians next to the bare command of the client, in turns in one run, on two busy cores with
// synchronous_commit on (BenchmarkCost). They do not grow with the number of entries.
// To commit a plan takes three puts, and a get before each; an append reads whether its place was pruned:
//
//	                                        entries: 1,000  10,000  100,000  1,000,000
//	put a record, next to INSERT                      1.03    1.05     1.08       1.10
//	limited use, next to UPDATE                       0.97    0.95     1.09       1.12
//	append to a ledger, next to INSERT                1.59    1.50     1.43       1.66
package pgengine
