// Package redisengine keeps what a fleet of agents shares in one Redis or Valkey server: the
// cache, the store of plans, limits, and each user's store.
//
//	engine, err := redisengine.Open("rediss://user:password@redis.example:6379/0", redisengine.Options{})
//	host := &lookleap.Host{Cache: sealed, Plans: engine.Plans(), Limiter: engine.Limiter()}
//
// Seal the cache with [lookleap.SealedCache] unless all who can write to the server are trusted.
// It needs Redis 7 or Valkey. Each operation is one command or one script on keys of one hash
// slot, so it is atomic, also in a cluster.
//
// # What survives
//
// The server must not evict keys (maxmemory-policy noeviction). What it keeps beyond that depends
// on how it is set up:
//
//	event                      appendonly yes,        appendonly yes,         replica is promoted,
//	                           appendfsync always     appendfsync everysec    asynchronous replication
//	worker is killed           nothing is lost        nothing is lost         -
//	server is killed           nothing is lost        nothing is lost         -
//	machine loses power        nothing is lost        about 1 second          -
//	failover                   -                      -                       what was not replicated
//
//	what is lost means:
//	plans     a plan can be committed twice. Use appendfsync always, and
//	          min-replicas-to-write with WAIT or a database that replicates synchronously
//	limits    more uses are permitted within one window
//	cache     a miss; a lost withdrawal counts again after at most a minute
//	store     the last decisions are missing: a consent that was withdrawn may be back
//	          in a ledger of disclosures agent.VerifyLedger finds that with a later head
//
// While the server does not answer, nothing is committed and nothing that is limited is sent.
//
// # Cost
//
// Medians next to the bare command of the client, in turns in one run, on two busy cores with
// appendfsync always (BenchmarkCost). They do not grow with the number of entries.
// To commit a plan takes three puts, and a get before each; an append reads whether its place was pruned:
//
//	                                        entries: 1,000  10,000  100,000  1,000,000
//	put a record, next to SET NX                      1.15    1.12     1.15       1.14
//	limited use, next to INCR                         1.17    1.14     1.15       1.17
//	append to a ledger, next to RPUSH                 1.61    1.64     1.66       1.62
//
// # Valkey
//
// The tests run on each of redis-server and valkey-server that is on PATH.
package redisengine
