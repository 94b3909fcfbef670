package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestTransferOfArgumentsAndInforms: what one service told in confidence reaches
// another one as an argument or in the agent's own words too, after an authorization
// of its own and once.
func TestTransferOfArgumentsAndInforms(t *testing.T) {
	const number = "my number is 4711-8822"
	value := &Value{Text: number}
	restricted := `confidentiality="restricted"`
	for name, c := range map[string]struct {
		transfer Transfer
		call     Call
	}{
		"argument": {Transfer{Action: "find", Param: "q", Value: value}, Call{Action: "find", Args: map[string]string{"q": number}}},
		"inform":   {Transfer{Action: "book", Inform: true, Value: value}, Call{Action: "book", Reply: &Reply{Informs: []Told{{Text: number}}, Omit: []string{}}}},
	} {
		t.Run("ANML-14.2-03/accept-authorized-"+name, func(t *testing.T) {
			c, s := c, transfers(t, restricted, lookleaptest.Approve())
			s.b = pageFor(t, s.net, s.s, "https://b.example/c", booking("", ""))
			_, err := s.prepare(s.b, c.call)
			hasCode(t, err, CodeRestrictedContext)
			must(t, s.b.AuthorizeTransfer(t.Context(), c.transfer))
			asked := s.ask.Requests()
			if len(asked) != 1 || len(asked[0].Items) != 1 || !strings.Contains(asked[0].Items[0].Summary, number) || !strings.Contains(asked[0].Items[0].Summary, "a.example told this, and b.example would learn it") {
				t.Fatalf("%+v", asked)
			}
			hasCode(t, s.b.AuthorizeTransfer(t.Context(), c.transfer), lookleap.CodeUsage)
			x, again := s.prepares(s.b, c.call), s.prepares(s.b, c.call)
			if len(x.items) != 0 {
				t.Fatalf("asked again: %+v", x.items)
			}
			disclosures, err := x.p.session.settle(t.Context(), x.e, "plan", none, time.Time{}, start)
			entries := s.s.entries(x.e.Exchange, "plan", disclosures, start)
			if err != nil || len(disclosures) != 1 || disclosures[0].Value != number || entries[0].Kind != EntryDisclosed || entries[0].From != "a.example" || entries[0].Basis != "explicit" {
				t.Errorf("%+v, %v", entries, err)
			}
			disclosures, err = again.p.session.settle(t.Context(), again.e, "plan", none, time.Time{}, start)
			if disclosures[0].Value != "" || !disclosures[0].refused() || (err == nil) != (name == "inform") {
				t.Errorf("told twice: %+v, %v", disclosures, err)
			}
		})
		t.Run("ANML-14.2-03/reject-authorized-for-another-"+name, func(t *testing.T) {
			s := transfers(t, restricted, lookleaptest.Approve())
			s.b = pageFor(t, s.net, s.s, "https://b.example/c", booking("", ""))
			other := c.transfer
			other.Value = &Value{Text: "their number is 4711-8822"}
			must(t, s.b.AuthorizeTransfer(t.Context(), other))
			_, err := s.prepare(s.b, c.call)
			hasCode(t, err, CodeRestrictedContext)
		})
		t.Run("ANML-14.2-02/reject-private-"+name, func(t *testing.T) {
			s := transfers(t, `confidentiality="private"`, lookleaptest.Approve())
			err := s.b.AuthorizeTransfer(t.Context(), c.transfer)
			if hasCode(t, err, CodePrivateContext); !strings.Contains(err.Error(), "the "+name) {
				t.Errorf("%v does not say what is refused", err)
			}
			if len(s.ask.Requests()) != 0 {
				t.Error("the user was asked")
			}
		})
	}
	t.Run("ANML-14.2-03/accept-shown-as-it-is-sent", func(t *testing.T) {
		st := newStand(t, lookleaptest.Approve())
		pageFor(t, st.net, st.session(), "https://a.example/a", `<knowledge><inform confidentiality="restricted">You are `+annsEmail+`</inform></knowledge>`)
		p := pageFor(t, st.net, st.s, "https://b.example/b", booking("", ""))
		must(t, p.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Param: "q", Value: &Value{Text: annsEmail}}))
		if s := st.ask.Requests()[0].Items[0].Summary; !strings.Contains(s, `the argument "q"`) || !strings.Contains(s, `which is your "email"`) {
			t.Error(s)
		}
		if x := st.prepares(p, Call{Action: "find", Args: map[string]string{"q": annsEmail}}); len(x.items) != 0 || x.e.Disclosures[0].Code != CodeConsentHeld {
			t.Errorf("%+v", x.e)
		}
	})
	t.Run("ANML-14.2-03/reject-malformed", func(t *testing.T) {
		s := transfers(t, restricted, lookleaptest.Approve())
		for _, x := range []Transfer{
			{Action: "find", Param: "q"}, {Action: "book", Inform: true}, {Action: "find", Param: "q", Field: "member", Value: value},
			{Action: "find", Param: "q", Inform: true, Value: value}, {Action: "find", Param: "q", Value: &Value{Text: "shoes"}},
		} {
			hasCode(t, s.b.AuthorizeTransfer(t.Context(), x), lookleap.CodeUsage)
		}
		hasCode(t, s.b.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Param: "nope", Value: value}), anml.CodeParamUnknown)
		hasCode(t, s.b.AuthorizeTransfer(t.Context(), Transfer{Action: "find", Field: "member"}), CodeNoBodyMethod)
	})
}
