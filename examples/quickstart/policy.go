package main

import (
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
)

// playPolicy asks a site's agents.txt before touching its paths.
func playPolicy(s *stage) error {
	directives := []string{"/status ALLOW", "/dashboard ALLOW limit=50", "/admin DISALLOW"}
	digest := strings.TrimPrefix(lookleap.Digest([]byte(strings.Join(directives, "\n"))), "sha256:")
	file := "*" + digest + "\n" + strings.Join(directives, "\n") + "\n"
	shop := s.lab.Site("shop.example").Body("/agents.txt", "text/plain; charset=utf-8", file)

	s.say("Before the agent touches shop.example it reads the policy that the shop publishes for automated clients. Its first line is the hash of the rest.")
	s.show(file)
	answer, err := s.read(shop.URL("/agents.txt"), "text/plain")
	if err != nil {
		return err
	}
	policy, err := agentstxt.Parse(answer.Body)
	s.allowed("believe the policy", err, "it came over TLS from the origin that it speaks for, and its hash is right")
	if err != nil {
		return nil
	}
	s.decide(policy, "/dashboard", allowed, lookleap.CodeAllowed)
	s.decide(policy, "/admin/users", refused, lookleap.CodeDisallowed)
	s.decide(policy, "/basket", refused, lookleap.CodeUnlisted)

	s.say("Somebody else's copy says that /admin is open. The hash was not touched, and so the whole site counts as closed: a file that was changed once may have been changed anywhere.")
	forged, err := agentstxt.Parse([]byte(strings.Replace(file, "/admin DISALLOW", "/admin ALLOW", 1)))
	s.refused("believe the forged policy", err, lookleap.CodeHashMismatch)
	s.decide(forged, "/dashboard", refused, lookleap.CodeRestricted)
	return nil
}

// decide asks a policy about a path.
func (s *stage) decide(policy *agentstxt.Policy, path string, want outcome, code lookleap.Code) {
	d := policy.Decide(path)
	got, why := refused, d.Code.Title()
	if d.Allowed {
		got = allowed
	}
	if d.Line > 0 {
		why += fmt.Sprintf(": line %d, %s", d.Line, d.Rule)
	}
	if d.Limit > 0 {
		why += fmt.Sprintf(", %d requests an hour", d.Limit)
	}
	s.decided(got, "touch shop.example"+path, d.Code, why, want, code)
}
