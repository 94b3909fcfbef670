package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// playPolicy lets an ordinary client go by what a site says about its paths.
func playPolicy(s *stage) {
	file := string(must(agentstxt.Sign([]byte("/status ALLOW\n/dashboard ALLOW limit=50\n/admin DISALLOW\n"))))
	shop := s.lab.Site("shop.example").File("*", "text/plain", "welcome").
		File("/agents.txt", "text/plain; charset=utf-8", file)

	s.say("An agent is sent shopping for a lamp. Before each step it looks. shop.example publishes a policy for automated clients. Its first line is the hash of the rest.")
	s.show(file)
	policy := must(agentstxt.Fetch(s.ctx, s.host, shop.URL("/")))
	s.allowed("believe the policy", policy.Err(), "it came over TLS from the origin that it speaks for, and its hash is right")
	s.fact(policy.State() == agentstxt.Valid, "the policy is valid")

	s.say("The agent puts the policy guard before its ordinary HTTP client. Whatever passes through is judged first.")
	visit := s.visit()
	s.allowed("GET "+shop.URL("/dashboard"), visit(shop.URL("/dashboard")), "line 3 allows it, 50 times an hour")
	err := visit(shop.URL("/admin/users"))
	s.refused("GET "+shop.URL("/admin/users"), err, agentstxt.CodeDisallowed)
	var no *lookleap.VerifyError
	if errors.As(err, &no) {
		s.show(no.Verdict.String())
	}
	s.refused("GET "+shop.URL("/basket"), visit(shop.URL("/basket")), agentstxt.CodeUnlisted)
	s.fact(onlyAsked(s, shop, "GET /agents.txt", "GET /dashboard", "GET /robots.txt"),
		"the shop was asked for its policy, its robots.txt and /dashboard, and for nothing else")

	s.say("A mirror of the shop says that /admin is open. An attacker changed the line and not the hash. A file that was changed in one place may have been changed in others, so the whole site counts as closed.")
	mirror := s.lab.Site("mirror.example").File("*", "text/plain", "welcome").
		File("/agents.txt", "text/plain; charset=utf-8", strings.Replace(file, "/admin DISALLOW", "/admin ALLOW", 1))
	policy = must(agentstxt.Fetch(s.ctx, s.host, mirror.URL("/")))
	s.refused("believe the forged policy", policy.Err(), agentstxt.CodeHashMismatch)
	for _, path := range []string{"/admin", "/dashboard"} {
		s.refused("GET "+mirror.URL(path), visit(mirror.URL(path)), agentstxt.CodeHashMismatch)
	}
	s.fact(onlyAsked(s, mirror, "GET /agents.txt") || onlyAsked(s, mirror, "GET /agents.txt", "GET /robots.txt"),
		"the mirror was asked for its policy, for robots.txt at the most, and for no page")
}

// onlyAsked reports whether the site was asked for each of these and for nothing else.
func onlyAsked(s *stage, site *lookleaptest.Site, what ...string) bool {
	got := s.lab.Journal().Paths(site.Name())
	slices.Sort(got)
	return slices.Equal(slices.Compact(got), what)
}
