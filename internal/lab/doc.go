// Package lab is an internet in one process: TLS servers under any https name with a certificate
// authority of their own, DNS, a clock that can be set, and a journal of everything that happens.
// Tests and examples live on it, so that nothing here needs the real internet and no code of ours
// is replaced by a mock.
//
//	net := lab.ForTest(t)
//	shop := net.Site("shop.example").Body("/agents.txt", "text/plain", policy)
//	shop.Fault("/slow.txt", lab.Slow(10*time.Second))
//	net.Name("rebind.example").Rebind("93.184.216.34", "127.0.0.1")
//	host := net.Host()
//	// … use host …
//	net.Journal().Requests("shop.example")
//
// # Places
//
// Every site has a made-up public unicast address, so that the guard against private ones is really
// asked, and passes. [Site.At] moves a site to any address, private ones too. Dialling an address
// without a listener is refused.
//
// Connections are in memory. They have TCP's buffering, deadlines and errors, and all waiting is
// durable in the sense of testing/synctest: in a bubble, half a minute's timeout over real TLS
// passes at once. An [Internet] that is used in a bubble must be made in it. [Internet.Loopback]
// lets other processes take part too, over real sockets.
//
// # Faults
//
// What goes wrong has three places. A [Fault] spoils the answers of a path: it comes late, is cut,
// too long, compressed to bursting, or of another type. A [Connection] is the fate of a connection
// before HTTP is spoken; a [Certificate] is what the site shows for itself. The methods of [Name]
// make the DNS fail, lie, or change its mind.
//
// # Two clients
//
// [Internet.Host] and [Internet.Fetcher] return the guarded fetcher of production, with the lab's
// names, roads and CA. [Internet.ForeignTransport] is what an embedding agent may bring instead: it
// knows the same roads and no guard, so a test can show that a request could have arrived, and did
// not.
//
// # Names
//
// [Internet.Resolver] answers from the lab's DNS and validates nothing; [Name.DNSSEC] and
// [Name.Bogus] script what it says of that. A validating resolver gets signed zones instead, by
// [Internet.PutZones], and reaches them through zone.Dial of [Internet.DNS]. Records of sites and
// names are signed with the zone in which they lie. Zones are signed again when they change and
// when the clock has moved a day.
package lab
