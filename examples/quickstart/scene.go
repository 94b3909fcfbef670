package main

import (
	"context"
	"fmt"

	"github.com/lookleap/lookleap/lookleaptest"
)

// scene is one part of the story.
type scene struct {
	name  string // for --scene
	title string
	play  func(*stage)
}

// scenes is the whole story, in order.
func scenes() []scene {
	return []scene{
		{"policy", "A site says what automated clients may do", playPolicy},
		{"policies", "Sites whose policy is missing, foreign, out of reach, or counts", playUnsure},
		{"wellknown", "A document that is there, is not, and is elsewhere", playWellKnown},
		{"document", "A page for agents, honest and hostile", playDocument},
		{"trust", "Who may speak for a brand", playTrust},
		{"skills", "A skill from its real publisher", playSkills},
		{"consent", "The user is asked, sleeps on it, and is obeyed once", playConsent},
		{"booking", "A service is used, asked back, and told no more than the user wants", playBooking},
		{"pay", "A bank is paid through a gateway, and its receipt is verified", playPay},
		{"ssrf", "A page sends the agent to places where only the agent can go", playSSRF},
		{"redirects", "A redirect is a question", playRedirects},
		{"liar", "A server cheats about what it sends", playLiar},
		{"dns", "A resolver lies about a name", playDNS},
	}
}

func sceneNames() (names []string) {
	for _, sc := range append(scenes(), short()...) {
		names = append(names, sc.name)
	}
	return names
}

// choose returns the scene of that name, all scenes, or the short story.
func choose(name string, all bool) ([]scene, error) {
	switch {
	case name == "" && all:
		return scenes(), nil
	case name == "":
		return short(), nil
	}
	for _, sc := range append(scenes(), short()...) {
		if sc.name == name {
			return []scene{sc}, nil
		}
	}
	return nil, fmt.Errorf("quickstart: there is no scene %q, only %q", name, sceneNames())
}

// play runs one scene on a stage of its own.
func play(ctx context.Context, sc scene, p printer, user asker, t *tally) {
	s := &stage{printer: p, ctx: ctx, lab: lookleaptest.NewInternet(), asker: user, tally: t}
	defer s.lab.Close()
	s.host = s.lab.Host()
	s.host.Prompter = s
	if b, ok := user.(*browser); ok {
		b.clock.Store(s.lab.Clock())
	}
	before := t.decisions
	defer func() {
		cause := recover()
		switch stop, ok := cause.(stopped); {
		case ok && stop.err != nil:
			s.wrong("the scene stopped: %v", stop.err)
		case !ok && cause != nil:
			panic(cause)
		}
		if t.scenes++; t.decisions == before {
			s.wrong("the scene decided nothing")
		}
	}()
	sc.play(s)
}

// tally counts what was decided.
type tally struct {
	scenes, decisions int
	by                map[outcome]int
	wrong             int // how often the story was not kept
}

// String is the summary line.
func (t *tally) String() string {
	return fmt.Sprintf("%d scenes, %d decisions: %d allowed, %d refused, %d asked",
		t.scenes, t.decisions, t.by[allowed], t.by[refused], t.by[asked])
}
