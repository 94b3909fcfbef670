package agent_test

import (
	"context"
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
)

const tickets = `<?xml version="1.0" encoding="UTF-8"?>
<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" version="1.0" role="service">
  <head><title>Tickets</title></head>
  <constraints>
    <disclosure field="lang" requires="none"/>
    <disclosure field="email" requires="explicit-consent"/>
  </constraints>
  <interact><action id="book" method="POST" endpoint="/book"/></interact>
  <knowledge>
    <ask field="lang" action="book" purpose="to write in your language"/>
    <ask field="email" action="book" required="true" purpose="to send the ticket"/>
    <ask field="tel" action="book" purpose="data"/>
    <ask field="acme:tier" action="book" purpose="to give you your discount"/>
    <ask field="bday" action="book" purpose="to check your age" type="date"/>
  </knowledge>
</anml>`

// What a user tells everyone, what they tell no one, and what they are asked about.
func ExamplePage_Decide() {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Site("tickets.example").File("/", anml.MediaTypeXML, tickets)

	host := net.Host()
	defer host.Close()
	host.Prompter = user{} // if no one can be asked, more is refused

	var policy agent.UserPolicy
	_ = policy.Set(agent.StandingRule{Field: "lang", Domain: "*", Effect: agent.EffectAllow})
	_ = policy.Set(agent.StandingRule{Field: "email", Domain: "tickets.example", Effect: agent.EffectAllow})
	_ = policy.Set(agent.StandingRule{Field: "bday", Domain: "*", Effect: agent.EffectDeny})

	session, err := agent.New(host, agent.Options{}).NewSession(agent.User{
		Policy: &policy,
		Profile: agent.Fields{
			"lang": {Text: "de"}, "email": {Text: "ann@example.org"}, "tel": {Text: "+49 30 123456"},
			"acme:tier": {Text: "gold"}, "bday": {Text: "1990-02-28"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := session.Open(context.Background(), "https://tickets.example/")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range page.Decide(context.Background()) {
		fmt.Println(d.Field, d.Verb, d.Code)
	}
	// Output:
	// lang allow user-rule
	// email prompt explicit-consent
	// tel prompt purpose-vague
	// acme:tier prompt unrecognised-field
	// bday refuse user-rule
}

// user is the dialogue of the embedding agent.
type user struct{}

func (user) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}
