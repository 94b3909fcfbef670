package main

import (
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// playUnsure reads the front page of sites whose policy is missing, foreign or out of reach.
func playUnsure(s *stage) {
	visit := s.visit()
	for _, c := range []struct {
		name, about string
		publish     func(*lookleaptest.Site)
		want        lookleap.Code // "": allowed
		why         string        // when allowed
	}{
		{"plain.example", "has no agents.txt.", nil, "", "the site asks for nothing"},
		{"app.example", "is a single-page app: it answers every path with its page.", func(site *lookleaptest.Site) {
			site.File("/agents.txt", "text/html", "<!doctype html><title>An app</title>")
		}, "", "a page in the place of the file is no policy"},
		{"other.example", "uses the file name for another format.", func(site *lookleaptest.Site) {
			site.File("/agents.txt", "text/plain", "Protocols: x402\nCapability: pay\n")
		}, "", "most files of this name are of other formats, and this one invites agents"},
		{"rules.example", "writes the rules of robots.txt into the file, and means them.", func(site *lookleaptest.Site) {
			site.File("/agents.txt", "text/plain", "User-agent: *\nDisallow: /\n")
		}, agentstxt.CodeForeignDisallowed, ""},
		{"robots.example", "has a robots.txt against this agent.", func(site *lookleaptest.Site) {
			site.File("/robots.txt", "text/plain", "User-agent: ExampleBot\nDisallow: /\n")
		}, agentstxt.CodeRobotsDisallowed, ""},
		{"down.example", "is out of order.", func(site *lookleaptest.Site) { site.Status("/agents.txt", 503) }, lookleap.CodeUnavailable, ""},
	} {
		site := s.lab.Site(c.name).File("/", "text/plain", "welcome")
		if c.publish != nil {
			c.publish(site)
		}
		s.say("%s %s", c.name, c.about)
		if c.want == "" {
			s.allowed("GET "+site.URL("/"), visit(site.URL("/")), c.why)
		} else {
			s.refused("GET "+site.URL("/"), visit(site.URL("/")), c.want)
		}
	}

	s.freeze(2026, 3, 1, 12) // the refusal says when the next search may follow
	signed := must(agentstxt.Sign([]byte("/search ALLOW limit=2\n")))
	busy := s.lab.Site("busy.example").File("/search", "text/plain", "found").File("/agents.txt", "text/plain", string(signed))
	s.say("busy.example allows two searches an hour. The guard counts.")
	for i := range 2 {
		s.allowed(fmt.Sprintf("search number %d", i+1), visit(busy.URL("/search")), "within the limit of the directive")
	}
	s.refused("search number 3", visit(busy.URL("/search")), lookleap.CodeLimit)
}
