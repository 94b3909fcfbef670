package main

import (
	"time"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

const demoSkill = `---
name: book-a-ferry
description: Books seats on a ferry of Harbour Ferries.
---
# Book a ferry
1. Search for trips.
2. Reserve seats on a trip, pay, and confirm.
3. If the user declines, cancel.
`

var demoProfile = agent.Fields{
	"fn":    {Text: "Kim Example", Provenance: agent.ProvenanceUser},
	"email": {Text: "kim@example.com", Provenance: agent.ProvenanceUser},
	"tel":   {Text: "+1 555 0100", Provenance: agent.ProvenanceUser},
}

// newDemo returns an internet inside the process with a ferry company, and fills in what the flags
// leave open.
func newDemo(s *settings) *lookleaptest.Internet {
	lab := lookleaptest.NewInternet()
	lab.Clock().Set(time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)) // before the trips leave
	lab.Site("ferries.example").Handle("*", booking.New(lab.Clock().Now)).
		File("/skills/book-a-ferry/SKILL.md", "text/markdown", demoSkill)
	s.site = "https://ferries.example"
	s.roots = append(s.roots, "https://ferries.example/")
	s.skills = append(s.skills, "https://ferries.example/skills/book-a-ferry/SKILL.md")
	if s.task == "" {
		s.task = "Book two seats on the ferry to the island."
	}
	return lab
}
