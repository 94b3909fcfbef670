package main

import (
	"errors"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// playDNS asks a resolver that an attacker could have tampered with.
func playDNS(s *stage) {
	s.lab.Sign("bank.example").Name("_anml.bank.example").TXT("v=anml1; manifest=https://bank.example/.well-known/anml-trust")
	s.lab.Name("_anml.village.example").TXT("v=anml1; query=https://village.example/ask")
	s.lab.Sign("lapsed.example", lookleaptest.SignaturesExpired).Name("_anml.lapsed.example").TXT("v=anml1; query=https://evil.example/ask")
	ask := func(name string) (*lookleap.DNSAnswer, error) { return s.host.Lookup(s.ctx, name, lookleap.TypeTXT) }

	s.say("Trust in a site's delegates starts from a DNS record. The agent believes no server: it checks the signatures itself, from the root's key down.")
	answer, err := ask("_anml.bank.example")
	s.allowed("believe the record of bank.example", err, "signatures lead from the root to it")
	for _, link := range answer.Chain {
		s.show(fmt.Sprintf("%-14s %s", link.Zone, link.DNSSEC))
	}
	s.fact(answer.DNSSEC == lookleap.Secure, "the answer is secure")

	absent, err := ask("_anml.absent.example")
	s.allowed("believe that absent.example has no record", err, "the absence is signed too")
	s.fact(!absent.Exists && absent.DNSSEC == lookleap.Secure, "the absence is proven, so no attacker hid a record")

	unsigned, err := ask("_anml.village.example")
	s.allowed("use the record of village.example as a hint", err,
		"its parent proves that the zone is not signed, so anyone on the way could have written it")
	s.fact(unsigned.DNSSEC == lookleap.Insecure, "the answer is insecure, and says so")

	s.say("An attacker replays a record whose signature has expired. It is not absent and not unsigned: it is bogus, and never used as data.")
	_, err = ask("_anml.lapsed.example")
	s.refused("believe the record of lapsed.example", err, lookleap.CodeDNSSECBogus)
	var bogus *lookleap.BogusError
	s.fact(errors.As(err, &bogus) && bogus.Zone == "lapsed.example", "the refusal names the zone that failed")
}
