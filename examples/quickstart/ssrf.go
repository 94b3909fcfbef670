package main

import (
	"fmt"

	"github.com/lookleap/lookleap"
)

// playSSRF lets a page send the agent to places that only the agent can reach.
func playSSRF(s *stage) {
	s.lab.Site("news.example").File("/today", "text/plain", "sunny")
	s.say("A page lists links that the agent should open. The first one is what it seems.")
	err := s.get("https://news.example/today", nil)
	s.allowed("GET https://news.example/today", err, "the name resolves to a public address, and that is the address dialled")

	s.say("The others are names of the attacker that resolve to addresses inside, where the agent runs.")
	for _, in := range []struct{ host, addr, what string }{
		{"wiki.attacker.example", "10.0.0.5", "a private address"},
		{"metadata.attacker.example", "169.254.169.254", "the cloud's metadata service"},
		{"wire.attacker.example", "168.63.129.16", "another metadata service, at an address that looks public"},
		{"nat64.attacker.example", "64:ff9b::a9fe:a9fe", "the metadata service again, as IPv4 inside IPv6"},
		{"6to4.attacker.example", "2002:7f00:1::", "this very machine, as IPv4 inside another IPv6"},
	} {
		site := s.lab.Site(in.host).At(in.addr).File("*", "text/plain", "secret")
		err := s.get(site.URL("/"), nil)
		s.refused(fmt.Sprintf("GET %s at %s, %s", site.URL("/"), in.addr, in.what), err, lookleap.CodeBlockedAddress)
	}
	err = s.get("https://[::ffff:127.0.0.1]/", nil)
	s.refused("GET https://[::ffff:127.0.0.1]/, without any name", err, lookleap.CodeBlockedAddress)

	s.say("The cleverest name changes its address between two queries: a program that checks first and resolves again to dial is fooled.")
	s.lab.Site("home.example").At("127.0.0.1").File("*", "text/plain", "secret")
	s.lab.Name("rebind.attacker.example").Rebind(s.lab.Site("news.example").Addr().String(), "127.0.0.1")
	first := must(s.host.Lookup(s.ctx, "rebind.attacker.example", lookleap.TypeA))
	s.fact(len(first.Records) == 1 && first.Records[0].Addr == s.lab.Site("news.example").Addr(), "the first answer is a public address")
	err = s.get("https://rebind.attacker.example/", nil)
	s.refused("GET https://rebind.attacker.example/", err, lookleap.CodeBlockedAddress)

	public := s.lab.Site("news.example").Addr()
	quiet := true
	for _, dial := range s.lab.Journal().Dials() {
		quiet = quiet && dial.Addr.Addr() == public
	}
	s.fact(quiet, "no connection to any other address was even tried")
}
