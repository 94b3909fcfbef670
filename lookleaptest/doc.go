// Package lookleaptest helps to test agents that use lookleap, and what they plug into it.
// It has an internet in memory, a user who answers by a script, and contract tests.
//
// # A small internet
//
// An [Internet] has web sites with TLS, a DNS with signed and unsigned zones, a clock that
// can be set, and a journal of each connection, request and query. [Internet.Host] returns
// a host with the guarded fetcher and the validating resolver of production. It reaches the
// sites of this internet and nothing else:
//
//	net := lookleaptest.NewInternet()
//	defer net.Close()
//	shop := net.Site("shop.example").File("/agents.txt", "text/plain", policy)
//	net.Name("rebind.example", "127.0.0.1")
//	host := net.Host()
//
// Each site has a public address, so no part of the guard against private addresses is
// switched off: a request for shop.example succeeds, and one for rebind.example is refused
// as in production. [Site.At] moves a site to another address, also to a private one, so
// that a test can show that a refused request would have arrived.
//
// A name is in an unsigned zone unless [Internet.Sign] signs its zone. The trust anchor of
// the host is the key of this internet's root zone.
//
// Faults are of three kinds. A [Fault] changes the response of a path, a [Connection] says
// what happens to connections of a site, and a [Certificate] what the site shows in the TLS
// handshake. The methods of [Name] make the DNS fail.
//
// Connections are in memory and behave like those of TCP. An Internet works in a bubble of
// testing/synctest, where timeouts take no time; it must be made in that bubble.
//
// # A user who answers by a script
//
// A [Prompter] approves, refuses, waits, hangs or answers wrongly, in a given order, and
// fails the test for a question that it does not expect:
//
//	host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve(), lookleaptest.Refuse())
//
// # Contract tests
//
// A contract test checks an implementation of an interface of lookleap promise by promise:
// [TestFetcher], [TestResolver], [TestPrompter], [TestCache], [TestPlanLedger] and
// [TestLimiter] for parts of a host, [TestStore] and [TestLedger] for those of package
// anml/agent, and [TestTrustStore] for package dvs. Call it from a test of the
// implementation:
//
//	func TestContract(t *testing.T) {
//		lookleaptest.TestCache(t, lookleaptest.Engine[lookleap.Cache]{
//			Open: func(t testing.TB, name string) lookleap.Cache { return mycache.New(client, name) },
//		})
//	}
//
// Each promise is a subtest. If it is broken, the message states the promise and what was
// observed instead. The other fields of [Engine] let the test check more: whether data are
// shared between processes, and what happens when the back end hangs or its data are
// damaged.
package lookleaptest
