package main

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

const refund = "---\nname: refund\ndescription: Refunds an order.\n---\n# Refund\nAsk for the number of the order.\n"

const tours = `<?xml version="1.0" encoding="UTF-8"?>
<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" version="1.0" role="service">
  <head><title>Example Tours</title></head>
  <constraints><disclosure field="email" requires="explicit-consent"/></constraints>
  <interact>
    <action id="search" method="GET" endpoint="/search"><param name="day" type="date" required="true"/></action>
    <action id="book" method="POST" endpoint="/book" confirm="true"/>
  </interact>
  <knowledge><ask field="email" action="book" purpose="to send the ticket" required="true"/></knowledge>
</anml>
`

// theLab puts a small internet under the host of a program of the README.
func theLab(h *lookleap.Host) *lookleap.Host {
	net := lookleaptest.NewInternet()
	net.Site("raw.githubusercontent.com").
		File("/example-org/skills/main/refund/SKILL.md", "text/plain", refund).
		File("/example-0rg/skills/main/refund/SKILL.md", "text/plain", refund)
	net.Site("tours.example").File("/.well-known/anml", "application/anml+xml", tours).File("/search*", "application/anml+xml", tours)
	host := net.Host()
	h.Fetcher, h.Resolver = host, host
	return h
}
