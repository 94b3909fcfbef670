package main

import (
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// playTrust asks who may speak for a brand.
func playTrust(s *stage) {
	s.freeze(2026, 3, 1, 12) // so that the manifest below is always the same
	serve := func(at time.Time, entries ...anmltrust.Entry) {
		manifest := must(anmltrust.BuildManifest("brand.example", at, 0, entries...))
		s.lab.Site("brand.example").File("/.well-known/anml-trust", anmltrust.ManifestMediaType, string(manifest))
	}
	retailer := anmltrust.Entry{Domain: "retailer.example", Tier: anmltrust.Full, Scope: anmltrust.ScopeOf("interact", "knowledge", "body")}
	cdn := anmltrust.Entry{Domain: "cdn.example", Tier: anmltrust.Display, Scope: anmltrust.AllSections}
	serve(s.lab.Clock().Now().Add(-time.Hour), retailer, cdn)
	s.lab.Name("_anml.brand.example").TXT("v=anml1; manifest=https://brand.example/.well-known/anml-trust")
	s.lab.Sign("broken.example", lookleaptest.SignaturesForged).Name("_anml.broken.example").TXT("v=anml1; manifest=https://broken.example/.well-known/anml-trust")

	verifier := anmltrust.NewVerifier(s.host, anmltrust.Rules{})
	claim := func(server, site string) anmltrust.Claim {
		return anmltrust.Claim{URL: "https://" + server + "/page", Site: site, Form: anmltrust.SiteElement}
	}
	speak := func(server, site string) (*anmltrust.Authorization, error) {
		return verifier.Verify(s.ctx, claim(server, site))
	}

	s.say("Four servers say that they speak for brand.example. The brand's DNS record names its manifest, and the manifest names who may.")
	a, err := speak("retailer.example", "brand.example")
	s.allowed("let retailer.example speak for the brand", err, "the manifest lists it at Tier 2")
	s.show(fmt.Sprintf("tier:  %s\nscope: %s", a.Tier, a.Scope))
	s.fact(!a.Permits("persona", s.lab.Clock().Now()), "it may not speak as the brand's persona, which is not in its scope")
	a, err = speak("cdn.example", "brand.example")
	s.allowed("let cdn.example show the brand's pages", err, "the manifest lists it at Tier 1")
	s.show(fmt.Sprintf("tier:  %s\nscope: %s\ncut:   %s", a.Tier, a.Scope, a.Truncated))
	s.fact(!a.Permits("interact", s.lab.Clock().Now()), "Tier 1 offers no actions, whatever its scope says")
	_, err = speak("brand.example", "brand.example")
	s.allowed("let the brand speak for itself", err, "no one has to vouch for that")
	_, err = speak("brand-sale.example", "brand.example")
	s.refused("let brand-sale.example speak for the brand", err, anmltrust.CodeNotListed)

	s.say("The brand takes its retailer off the list. What was verified a minute ago is still in memory; before it pays, the agent verifies again.")
	serve(s.lab.Clock().Now(), cdn)
	_, err = speak("retailer.example", "brand.example")
	s.allowed("go on reading at retailer.example", err, "the grant from before holds until its end")
	_, err = verifier.VerifyFresh(s.ctx, claim("retailer.example", "brand.example"))
	s.refused("pay at retailer.example", err, anmltrust.CodeNotListed)
	s.refused("go on reading after that", errorOf(speak("retailer.example", "brand.example")), anmltrust.CodeNotListed)

	s.say("The record of broken.example fails validation. Forgery looks the same as carelessness, so no one may speak for it.")
	_, err = speak("retailer.example", "broken.example")
	s.refused("let anyone speak for broken.example", err, lookleap.CodeDNSSECBogus)
}
