package main

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/wellknown"
)

// playWellKnown asks sites for documents that may or may not be there.
func playWellKnown(s *stage) {
	const at = "/.well-known/security.txt"
	s.lab.Site("shop.example").File(at, "text/plain", "Contact: https://shop.example/security\n")
	s.lab.Site("quiet.example")
	s.lab.Site("app.example").File("*", "text/html", "<!doctype html><title>An app</title>")
	s.lab.Site("lazy.example").Redirect(at, "https://elsewhere.example"+at)
	elsewhere := s.lab.Site("elsewhere.example").File(at, "text/plain", "Contact: https://elsewhere.example/\n")

	client := wellknown.NewClient(s.host, wellknown.Options{})
	ask := func(origin string) (*wellknown.Resource, error) {
		result, err := client.Fetch(s.ctx, origin, "security.txt")
		if err == nil && result.State != wellknown.Present {
			err = &lookleap.VerifyError{Verdict: result.Verdict}
		}
		return result, err
	}

	s.say("Who should hear about a security hole in a site? RFC 8615 says where to look, and RFC 9116 what the file contains.")
	result, err := ask("https://shop.example")
	s.allowed("use the contact of shop.example", err, "the origin itself answered with the document")
	s.show(string(result.Body))
	s.fact(!result.AppliesTo("https://www.shop.example"), "what shop.example says does not hold for www.shop.example")

	s.say("A site without the document has done nothing wrong: absence is an answer. So is a page that a single-page app returns for every path.")
	s.refused("use the contact of quiet.example", errorOf(ask("https://quiet.example")), wellknown.CodeAbsent)
	s.refused("take the app's page for the document", errorOf(ask("https://app.example")), lookleap.CodeSoft404)

	s.say("lazy.example sends the question to another origin, which cannot speak for it.")
	_, err = ask("https://lazy.example")
	s.refused("take elsewhere.example's word for lazy.example", err, lookleap.CodeRedirectCrossOrigin)
	s.fact(len(s.got(elsewhere)) == 0, "elsewhere.example was never asked")

	s.say("Spellings that some servers read as the well-known path, and some do not, are not even asked for.")
	for _, url := range []string{"https://shop.example/x/../.well-known/security.txt", "https://shop.example/%2Ewell-known/security.txt"} {
		_, err := wellknown.Parse(url)
		s.refused("read "+url, err, lookleap.CodeAmbiguousPath)
	}
}
