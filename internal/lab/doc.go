// Package lab is an internet in one process: TLS servers under any https name with a certificate authority of their own,
// DNS, a clock that can be set, and a journal of everything that happens. Tests and examples live on it, so that
// nothing here needs the real internet and no code of ours is replaced by a mock.
//
//	net := lab.ForTest(t)
//	shop := net.Site("shop.example").Body("/agents.txt", "text/plain", policy)
//	shop.Fault("/slow.txt", lab.Slow(10*time.Second))
//	net.Name("rebind.example").Rebind("93.184.216.34", "127.0.0.1")
//	host := net.Host()
//	// … use host …
//	net.Journal().Requests("shop.example")
//
// # Where things are
//
// Every site has a made-up public unicast address, so that the guard against private ones is really asked, and passes.
// [Site.At] moves a site to any address, private ones too. Dialling an address where nobody listens is refused.
//
// Connections are in memory. They have TCP's buffering, deadlines and errors, and all waiting is durable in the sense
// of testing/synctest: in a bubble, half a minute's timeout over real TLS passes at once. An [Internet] that is used in
// a bubble must be made in it.
package lab
