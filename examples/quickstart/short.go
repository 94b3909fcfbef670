package main

import (
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
)

// short is the story in a minute: what a site allows, what the user agreed to, and where a
// connection may go.
func short() []scene {
	return []scene{
		{"look", "What does the site allow?", playLook},
		{"agree", "What did the user agree to?", playAgree},
		{"inside", "Where does a link lead?", playInside},
	}
}

// playLook puts the guard of a policy in front of an ordinary client.
func playLook(s *stage) {
	policy := must(agentstxt.Sign([]byte("/ ALLOW\n/admin DISALLOW\n")))
	shop := s.lab.Site("shop.example").File("*", "text/plain", "welcome").File("/agents.txt", "text/plain", string(policy))
	s.say("shop.example publishes a policy for agents. An http.Client with the guard reads it first and obeys it.")
	visit := s.visit()
	s.allowed("GET "+shop.URL("/lamps"), visit(shop.URL("/lamps")), "line 2 of the policy allows it")
	s.refused("GET "+shop.URL("/admin/users"), visit(shop.URL("/admin/users")), agentstxt.CodeDisallowed)
	s.fact(onlyAsked(s, shop, "GET /agents.txt", "GET /lamps", "GET /robots.txt"), "nothing else was requested")
}

// playAgree shows a plan, and does it once and unchanged.
func playAgree(s *stage) {
	order := []byte(`{"item":"lamp","price":"49.00"}`)
	plan := must(lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order one lamp for 49.00",
		Items: []lookleap.ConsentItem{
			{ID: "order", Summary: "send this order", Recipient: "https://shop.example", Digest: lookleap.Digest(order),
				Values: []lookleap.ConsentValue{{Label: "order", Text: string(order)}}},
			{ID: "phone", Summary: `tell your "phone" number`, Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("+1 555 0100")), Optional: true,
				Values: []lookleap.ConsentValue{{Label: "value", Text: "+1 555 0100"}}},
		},
	}, order, s.host.Time()))
	s.say("The agent plans an order. The user sees exactly what would be sent:")
	s.showRequest(plan.Request())
	s.user = func(r *lookleap.ConsentRequest) lookleap.ConsentDecision { return s.decide(r, "phone") }
	sent, send := checkout()
	approval, err := s.host.Ask(s.ctx, plan)
	if err != nil && s.live() { // who may say no
		s.refused("send the order", err, lookleap.CodeConsentRefused)
		s.fact(len(*sent) == 0, "you said no, and nothing left this machine")
		return
	}
	if err == nil {
		_, err = s.host.CommitApproved(s.ctx, approval, send)
	}
	s.allowed("send the order", err, "the user agreed to exactly these bytes")
	s.refused("send it a second time", errorOf(s.host.CommitApproved(s.ctx, approval, send)), lookleap.CodePlanDone)
	forged := must(lookleap.NewPlan(*plan.Request(), []byte(`{"item":"lamp","price":"4900.00"}`), s.host.Time()))
	_, err = forged.Approve(lookleap.ConsentDecision{Digest: plan.Request().Digest, Approved: []string{"order"}}, s.host.Time())
	s.refused("use the same yes for 4900.00", err, lookleap.CodeConsentMismatch)
	if !s.live() {
		s.fact(!approval.Has("phone"), "the phone number was not agreed to and stays here")
	}
	s.fact(slices.Equal(*sent, []string{string(order)}), "the shop got one order, byte for byte the one that was shown")
}

// playInside follows links of which two lead into the network of the agent.
func playInside(s *stage) {
	s.say("A page lists links. Two of the names are the attacker's, and resolve to addresses where only the agent can go.")
	news := s.lab.Site("news.example").File("*", "text/plain", "sunny")
	s.lab.Site("meta.evil.example").At("169.254.169.254").File("*", "text/plain", "secret")
	s.lab.Site("home.example").At("127.0.0.1").File("*", "text/plain", "secret")
	s.lab.Name("rebind.evil.example").Rebind(news.Addr().String(), "127.0.0.1")
	s.allowed("GET "+news.URL("/today"), s.get(news.URL("/today"), nil), "a public address")
	s.refused("GET https://meta.evil.example/, at 169.254.169.254", s.get("https://meta.evil.example/", nil), lookleap.CodeBlockedAddress)
	must(s.host.Lookup(s.ctx, "rebind.evil.example", lookleap.TypeA))
	s.refused("GET https://rebind.evil.example/, public before", s.get("https://rebind.evil.example/", nil), lookleap.CodeBlockedAddress)
}
