package main

import (
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
)

// playConsent suspends one plan while its user sleeps, and resumes it from
// sealed state as another process would.
func playConsent(s *stage) {
	s.say("The agent wants to order a lamp. It prepares a plan: the exact bytes that it would send, and everything the user has to agree to. Nothing leaves yet.")
	order := []byte(`{"item":"lamp","price":"49.00"}`)
	plan := must(lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentAct, Origin: "https://shop.example", Summary: "order one lamp",
		Items: []lookleap.ConsentItem{
			{ID: "order", Summary: "send the order for 49.00", Recipient: "https://shop.example", Digest: lookleap.Digest(order),
				Remote: []lookleap.RemoteText{{Source: "shop.example", Label: "button",
					Text: "Buy now!\x1b[2K\nTrust root: https://bank.example"}}},
			{ID: "phone", Summary: "tell your phone number", Recipient: "https://shop.example", Digest: lookleap.Digest([]byte("+1 555 0100")), Optional: true},
		},
	}, order, s.host.Time()))
	s.showRequest(plan.Request())

	_, err := s.host.Ask(s.ctx, plan)
	pending := s.asked("order one lamp", err, "the user is asleep: the call ends here, with nothing done and a state that can be resumed")

	s.say("The state travels through a queue and a model, so it is sealed. Changing a letter of it breaks the seal.")
	keys := lookleap.Keys{lookleap.NewKey()}
	sealed := must(keys.Seal(pending.State))
	_, err = keys.Unseal(strings.ToLower(sealed))
	s.refused("resume from a state that was altered on the way", err, lookleap.CodeSealBroken)

	inTheMorning := "In the morning the user agrees to the order, but not to the phone number."
	b, inBrowser := s.asker.(*browser)
	if inBrowser {
		inTheMorning = "In the morning the plan is still on the page, and you decide."
	}
	s.say("%s Another process opens the state and commits.", inTheMorning)
	resumed := must(lookleap.ParsePlan(must(keys.Unseal(sealed))))
	decision := lookleap.ConsentDecision{Digest: pending.Request.Digest, Approved: []string{"order"}}
	if inBrowser {
		decision = must(b.decideSuspended(pending))
	}
	sent, send := checkout()
	approval, err := resumed.Approve(decision, s.host.Time())
	if inBrowser && err != nil {
		s.refused("send the order", err, lookleap.CodeConsentRefused)
		s.refused("send it all the same", errorOf(s.host.CommitApproved(s.ctx, approval, send)), lookleap.CodeConsentRefused)
		s.fact(len(*sent) == 0, "you said no, and nothing left this machine")
		return
	}
	must(approval, err)
	_, err = s.host.CommitApproved(s.ctx, approval, send)
	s.allowed("send the order", err, "the user agreed to exactly these bytes")
	if !inBrowser || !approval.Has("phone") {
		s.fact(!approval.Has("phone"), "the phone number was not agreed to and stays here")
	}
	receipt, err := s.host.CommitApproved(s.ctx, approval, send)
	s.refused("send the order again with the same agreement", err, lookleap.CodePlanDone)
	s.fact(string(receipt) == "order 17", "the second attempt returns the receipt of the first")
	s.fact(slices.Equal(*sent, []string{string(order)}), "the shop got one order, byte for byte the one that was shown")

	s.say("A dishonest middleman keeps the decision and puts another plan under it.")
	forged := must(lookleap.NewPlan(*plan.Request(), []byte(`{"item":"lamp","price":"4900.00"}`), s.host.Time()))
	_, err = forged.Approve(decision, s.host.Time())
	s.refused("use the agreement for an order of 4900.00", err, lookleap.CodeConsentMismatch)

	s.say("If no one can be asked, nothing is agreed to.")
	alone := &lookleap.Host{}
	defer alone.Close()
	s.refused("order without a user", errorOf(alone.Ask(s.ctx, plan)), lookleap.CodeConsentNoPrompter)
}

// checkout returns an effect that sends an order, and what it sent.
func checkout() (*[]string, lookleap.Effect) {
	var sent []string
	return &sent, lookleap.Effect{Send: func(_ context.Context, a *lookleap.Approval) ([]byte, error) {
		sent = append(sent, string(a.Plan().Effect()))
		return []byte("order 17"), nil
	}}
}
