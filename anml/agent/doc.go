// Package agent implements a conforming ANML agent: discovery, decisions about the
// user's data, consent, actions and records, as draft-jeskey-anml-01 requires them.
//
//	agent := agent.New(host, agent.Options{})
//	session, err := agent.NewSession(agent.User{Profile: profile})
//	page, err := session.Discover(ctx, "https://shop.example")
//	for _, d := range page.Decide(ctx) {
//		fmt.Println(d.Field, d.Verb, d.Code)
//	}
//	result, err := page.Do(ctx, agent.Call{Action: "search", Args: map[string]string{"q": "tea"}})
//
// An [Agent] is shared by all users of a process and holds no user data. A [Session]
// belongs to one user. A [Page] is one opened document with its parties. [Page.Do]
// decides, shows the user the exact values and the exact request once, writes the ledger,
// and sends. [Session.Resume] commits a plan that the prompter suspended.
//
// A document never loosens a rule: the user's policy and the user decide what is
// disclosed, and the default is no. Remote text is labelled data; no decision reads it.
// docs/packages.md describes the lifetimes and the one plan of a call; docs/architecture.md
// shows the life of a plan.
package agent

import "github.com/lookleap/lookleap/anml"

// Draft names the document that this package implements.
const Draft = anml.Draft
