// Package agent is the behaviour of a conforming ANML agent: everything that
// draft-jeskey-anml-01 demands of an agent beyond reading the document.
//
//	agent := agent.New(host, agent.Options{})
//	session, err := agent.NewSession(agent.User{Profile: profile})
//	page, err := session.Discover(ctx, "https://shop.example")
//	for _, d := range page.Decide(ctx) {
//		fmt.Println(d.Field, d.Verb, d.Code)
//	}
//	result, err := page.Do(ctx, agent.Call{Action: "search", Args: map[string]string{"q": "tea"}})
//
// # Who keeps what
//
// An [Agent] is per process and holds nothing of anybody's. A [Session] is one
// user's: profile, policy, ledger, consents, what services told (its [Context]),
// tombstones and cached pages. A [Page] is one opened document with its parties,
// and never changes; what a service answers is a new Page.
//
// # One effect, one plan
//
// Disclosing and acting are one thing here, a [Call]: the answers to the asks of
// an action and its parameters. [Page.Do] reads and decides everything, shows
// the user the exact values and the exact request once, writes the ledger, and
// sends. Where the prompter suspends, it ends with a *lookleap.PendingError, and
// [Session.Resume] commits that very plan later, in another process too, after
// verifying trust afresh and without loading the page again.
//
// # What a document can never do
//
// Loosen a rule. A document states what its service offers and demands; whether
// anything about the user is told is decided by the user's policy and by asking,
// and the default is no. Persona and all other remote text is data with a label;
// no decision reads it.
package agent

import "github.com/lookleap/lookleap/anml"

// Draft names the document that this package implements.
const Draft = anml.Draft
