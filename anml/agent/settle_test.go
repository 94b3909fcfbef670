package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestVetoIsHeardAgain: the host's veto stands between the user's word and what
// leaves, however long that was waited for.
func TestVetoIsHeardAgain(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		allow bool
	}{
		"asked":   {booking(rule("email", "explicit-consent"), askFor("email")), false},
		"allowed": {booking(rule("email", "none"), askFor("email")), true},
	} {
		for how, veto := range map[string]func(Decision) error{
			"error": func(Decision) error { return errDown }, "panic": func(Decision) error { panic("x") },
			"zero-ask": func(d Decision) error { _ = d.Ask.Purpose() + d.Ask.Field(); return errDown },
		} {
			t.Run("reject-"+name+"-"+how, func(t *testing.T) {
				st := asker(t)
				if c.allow {
					st.allow("email", "*")
				}
				var seen []Decision
				st.user.Policy.Veto = func(_ context.Context, d Decision) error {
					if seen = append(seen, d); len(seen) == 1 {
						return nil
					}
					return veto(d)
				}
				x := st.prepares(st.page(c.doc), Call{})
				if _, _, err := x.settle(all, start.Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				x.sends(all, `<refuse field="email" reason="policy-violation"`, "!"+annsEmail)
				again := seen[1]
				if again.Field != "email" || again.Owner.Domain != "shop.example" || again.Verb != seen[0].Verb || again.Basis != seen[0].Basis ||
					again.Reference != seen[0].Reference || again.Rule != seen[0].Rule || again.Code != seen[0].Code {
					t.Errorf("first %+v\nthen %+v", seen[0], again)
				}
				if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
					t.Error("a consent to what was vetoed is kept", list, err)
				}
			})
		}
	}
	t.Run("reject-arguments", func(t *testing.T) {
		st := asker(t)
		n := 0
		st.user.Policy.Veto = func(context.Context, Decision) error {
			if n++; n > 1 {
				return errDown
			}
			return nil
		}
		x := st.prepares(st.page(booking("", "")), Call{Action: "find", Args: map[string]string{"q": annsEmail}})
		_, _, err := x.settle(all, time.Time{})
		hasCode(t, err, CodePolicyVeto)
	})
	t.Run("reject-resumed", func(t *testing.T) { // by the policy of the process that sends
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: []labprompt.Reply{labprompt.Pending()}})
		_, err := s.page.Do(t.Context(), Call{Action: "book"})
		var pending *lookleap.PendingError
		if !asError(err, &pending) {
			t.Fatal(err)
		}
		p := &UserPolicy{Veto: func(_ context.Context, d Decision) error {
			if d.Field == "tel" {
				return errDown
			}
			return nil
		}}
		other := s.open(Options{}, User{Profile: ada, Policy: p})
		_, err = other.Resume(t.Context(), pending.State, labprompt.Decide(pending.Request))
		must(t, err)
		s.wantSent("ada@example.org", `<refuse field="tel" reason="policy-violation"`, "!7946")
	})
}

// TestPlainArgumentsAreLookedAtAgain: nobody was asked about them, so they are not
// sent once there is a reason to ask.
func TestPlainArgumentsAreLookedAtAgain(t *testing.T) {
	call := Call{Action: "find", Args: map[string]string{"q": "booking 998877"}}
	const says = `<knowledge><inform>Your booking is 998877</inform></knowledge>`
	prepare := func(t *testing.T, st *stand) *prepared {
		x := st.prepares(st.page(booking("", "")), call)
		if len(x.items) != 0 || x.d.tells() {
			t.Fatalf("%+v", x.items)
		}
		if _, _, err := x.settle(none, time.Time{}); err != nil {
			t.Fatal(err)
		}
		return x
	}
	t.Run("reject-deleted-since", func(t *testing.T) {
		st := asker(t)
		pageFor(t, st.net, st.session(), "https://shop.example/told", says)
		x := prepare(t, st)
		_, err := st.s.Forget(t.Context(), "shop.example")
		must(t, err)
		_, _, err = x.settle(all, time.Time{})
		hasCode(t, err, CodeDeletedContext)
	})
	t.Run("reject-learned-since", func(t *testing.T) {
		st := asker(t)
		x := prepare(t, st)
		pageFor(t, st.net, st.s, "https://a.example/told", says)
		_, _, err := x.settle(all, time.Time{})
		hasCode(t, err, CodeCrossService)
	})
	t.Run("accept-the-users", func(t *testing.T) {
		st := asker(t)
		call := call
		call.Provenance = map[string]string{"q": ProvenanceUser}
		x := st.prepares(st.page(booking("", "")), call)
		pageFor(t, st.net, st.s, "https://a.example/told", says)
		if _, _, err := x.settle(all, time.Time{}); err != nil {
			t.Error(err)
		}
	})
}

// TestToldAgainMoreStrictly: the user was asked about what one service told to
// everybody; since then it tells it in confidence.
func TestToldAgainMoreStrictly(t *testing.T) {
	for confidentiality, reason := range map[string]anml.Reason{"restricted": anml.UserDenied, "private": anml.PolicyViolation} {
		c := transfers(t, "", labprompt.Deny())
		x := c.prepares(c.b, Call{})
		pageFor(t, c.net, c.s, "https://a.example/again", `<knowledge><inform confidentiality="`+confidentiality+`">Member 4711-8822</inform></knowledge>`)
		x.sends(all, `<refuse field="member" reason="`+string(reason)+`"`, "!4711")
	}
}

// TestSensitiveSince: a standing rule no longer tells what was told for a
// sensitive purpose meanwhile, in whichever session.
func TestSensitiveSince(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		st := asker(t).allow("tel", "*")
		st.user.Store = NewMemoryStore()
		plain := booking(rule("tel", "none"), askFor("tel"))
		p := st.page(plain)
		x := st.prepares(p, Call{})
		s := st.s
		if elsewhere {
			st.s = nil
		}
		st.prepares(pageFor(t, st.net, st.session(), "https://shop.example/health", strings.Replace(plain, "to send the ticket", "health intake", 1)), Call{}).sends(all, `field="tel" value`)
		x.p.session = s
		x.sends(none, `<refuse field="tel" reason="user-denied"`, "!123456")
	}
}

// TestRememberedForNobodyElse: a consent that is kept is for one asker, one
// recipient and one value.
func TestRememberedForNobodyElse(t *testing.T) {
	st := asker(t)
	doc := booking(rule("email", "explicit-consent"), askFor("email"))
	if _, _, err := st.prepares(st.page(doc), Call{}).settle(all, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if d := pageFor(t, st.net, st.s, "https://shop.example/b", doc).Decide(t.Context())[0]; d.Code != CodeConsentHeld {
		t.Fatal(brief(d))
	}
	for name, url := range map[string]string{"other-server": "https://evil.example/a", "server-below": "https://x.shop.example/a", "name-that-ends-alike": "https://myshop.example/a"} {
		doc := doc
		if name == "other-server" { // that sends it to where the consent is for
			doc = strings.Replace(doc, `"/book"`, `"https://shop.example/book"`, 1)
		}
		for _, d := range pageFor(t, st.net, st.s, url, doc).Decide(t.Context()) {
			if d.Verb == VerbAllow {
				t.Errorf("%s: %s", name, brief(d))
			}
		}
	}
}
