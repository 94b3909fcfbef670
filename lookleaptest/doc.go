// Package lookleaptest helps to test agents that use lookleap, and what they plug into it.
//
// An [Internet] in memory has web sites with TLS, a DNS with signed and unsigned zones, a
// clock that can be set, and a journal. [Internet.Host] returns a host with the guarded
// fetcher and the validating resolver of production:
//
//	net := lookleaptest.ForTest(t)
//	shop := net.Site("shop.example").File("/agents.txt", "text/plain", policy)
//	net.Name("rebind.example", "127.0.0.1")
//	host := net.Host()
//
// A [Prompter] is a user who answers by a script. An unexpected question fails the test:
//
//	host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve(), lookleaptest.Refuse())
//
// Contract tests such as [TestCache] check an implementation of an interface of lookleap,
// promise by promise. docs/packages.md shows the faults and a whole contract test.
package lookleaptest
