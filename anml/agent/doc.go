// Package agent implements a conforming ANML agent: discovery, decisions about the
// user's data, consent, actions and records, as draft-jeskey-anml-01 requires them.
// Package anml reads the documents, package anmltrust verifies who speaks in them.
//
//	agent := agent.New(host, agent.Options{})
//	session, err := agent.NewSession(agent.User{Profile: profile})
//	page, err := session.Discover(ctx, "https://shop.example")
//	for _, d := range page.Decide(ctx) {
//		fmt.Println(d.Field, d.Verb, d.Code)
//	}
//	result, err := page.Do(ctx, agent.Call{Action: "search", Args: map[string]string{"q": "tea"}})
//
// # Lifetimes
//
// An [Agent] is shared by all users of a process and holds no user data. A [Session]
// belongs to one user: profile, policy, ledger, consents, what services told (its
// [Context]), remembered discoveries and cached pages. A [Page] is one opened
// document with its parties. It never changes; the response of an action is a new
// Page.
//
// # One call, one plan
//
// Disclosing and acting are one [Call]: the answers to the asks of an action, and its
// parameters. [Page.Do] decides, shows the user the exact values and the exact
// request once, writes the ledger, and sends. If the prompter suspends, Do returns a
// *lookleap.PendingError. [Session.Resume] commits that plan later, also in another
// process. It verifies trust again and does not load the page again.
//
// # Documents never loosen a rule
//
// A document states what its service offers and demands. The user's policy and the
// user decide what is disclosed, and the default is no. Personas and all other remote
// text are labelled data; no decision reads them.
package agent

import "github.com/lookleap/lookleap/anml"

// Draft names the document that this package implements.
const Draft = anml.Draft
