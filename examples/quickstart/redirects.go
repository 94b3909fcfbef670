package main

import "github.com/lookleap/lookleap"

// playRedirects shows that a redirect is a question, and that the document whose
// address it was answers it before the next request leaves.
func playRedirects(s *stage) {
	shop := s.lab.Site("shop.example").
		Redirect("/old", "/new").File("/new", "text/plain", "welcome").
		Redirect("/out", "https://tracker.example/collect").
		Redirect("/inwards", "https://printer.attacker.example/").
		Redirect("/plain", "http://shop.example/new").
		Redirect("/images", "https://cdn.example/images").
		Redirect("/loop", "/pool").Redirect("/pool", "/loop")
	tracker := s.lab.Site("tracker.example").File("*", "text/plain", "thank you")
	printer := s.lab.Site("printer.attacker.example").At("192.168.0.9").File("*", "text/plain", "secret")
	cdn := s.lab.Site("cdn.example").File("*", "text/plain", "pictures")

	s.say("A policy file may redirect within its own origin, and nowhere else.")
	err := s.get(shop.URL("/old"), sameOrigin)
	s.allowed("shop.example/old leads to shop.example/new", err, "the redirect stays at the origin that was asked")
	s.refused("shop.example/out leads to tracker.example", s.get(shop.URL("/out"), sameOrigin),
		lookleap.CodeRedirectForbidden)
	s.fact(len(s.got(tracker)) == 0, "tracker.example never heard of it")

	s.say("Other documents may follow a redirect to another site. Each hop is still checked like the first one.")
	err = s.get(shop.URL("/inwards"), anywhere)
	s.refused("shop.example/inwards leads to a private address", err, lookleap.CodeBlockedAddress)
	s.fact(len(s.got(printer)) == 0, "the printer never heard of it")
	s.refused("shop.example/plain leads to http", s.get(shop.URL("/plain"), anywhere), lookleap.CodeNotHTTPS)
	s.refused("shop.example/loop leads back to itself", s.get(shop.URL("/loop"), anywhere), lookleap.CodeTooManyRedirects)

	s.say("What the agent says to one origin is not for another one.")
	secrets := []string{"Authorization", "Bearer 42", "Cookie", "session=42", "X-Api-Key", "42"}
	err = s.get(shop.URL("/images"), anywhere, secrets...)
	s.allowed("shop.example/images leads to cdn.example", err,
		"the rule of this fetch allows other sites, and the agent's headers stay behind")
	sent := s.got(shop)
	s.fact(sent[len(sent)-1].Header.Get("X-Api-Key") != "", "shop.example got the agent's key")
	h := s.got(cdn)[0].Header
	s.fact(h["Authorization"] == nil && h["Cookie"] == nil && h["X-Api-Key"] == nil,
		"cdn.example got the request without key, cookie and token")
}
