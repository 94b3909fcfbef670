package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// TestRefusedTell: of what is refused no value and no consent is left.
func TestRefusedTell(t *testing.T) {
	got := tell{Kind: tellAnswer, Field: "email", Value: annsEmail, Item: "answer-1", Basis: anml.ConsentExplicit, Reference: "plan#answer-1", Granted: start,
		Purposes: []string{"p"}, Category: "health"}
	got.refuse(CodeUserRule, anml.UserDenied)
	want := tell{Kind: tellAnswer, Field: "email", Reason: anml.UserDenied, Code: CodeUserRule, Purposes: []string{"p"}, Category: "health"}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestVetoSeesWhatIsSent: right before it is sent, the host's veto sees who asks and what is sensitive.
func TestVetoSeesWhatIsSent(t *testing.T) {
	for purpose, sensitive := range map[string]bool{"to send the ticket": false, "health intake": true} {
		st := asker(t)
		var seen []Decision
		st.user.Policy.Veto = func(_ context.Context, d Decision) error { seen = append(seen, d); return nil }
		x := st.prepares(st.page(booking("", askFor("email", `purpose="`+purpose+`"`))), Call{})
		seen = nil
		x.sends(all, annsEmail)
		if len(seen) != 1 || seen[0].Field != "email" || seen[0].Verb != VerbPrompt || !seen[0].Owner.Serving || seen[0].Sensitive != sensitive {
			t.Errorf("%s: %+v", purpose, seen)
		}
	}
}

// TestMergedAsks: asks for one field have each purpose and type once.
func TestMergedAsks(t *testing.T) {
	p := asker(t).page(booking("", askFor("email")+askFor("email")+askFor("email", `purpose="other"`)+askFor("email", `type="uri"`)))
	act, err := p.doc.Site.Interact().Action("book")
	must(t, err)
	items := merge(asksFor(p.doc.Site, act))
	if len(items) != 1 || !slices.Equal(items[0].purposes, []string{"to send the ticket", "other"}) || !slices.Equal(items[0].types, []anml.Type{anml.TypeString, anml.TypeURI}) {
		t.Errorf("%+v", items)
	}
}

// TestEachStatementOfAReply: no statement goes unchecked behind another one.
func TestEachStatementOfAReply(t *testing.T) {
	st := asker(t)
	p := st.page(booking("", askFor("email")+askFor("tel")))
	known := Value{Text: "x"}
	for name, r := range map[string]*Reply{
		"values": {Values: map[string]Value{"email": known, "other": known}},
		"refuse": {Values: map[string]Value{"email": known}, Refuse: map[string]anml.Reason{"other": anml.UserDenied}},
		"omit":   {Refuse: map[string]anml.Reason{"email": anml.UserDenied}, Omit: []string{"other"}},
		"omits":  {Omit: []string{"email", "other"}},
	} {
		_, err := st.prepare(p, Call{Reply: r})
		if lookleap.CodeOf(err) != CodeNotAsked {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSilentCall: the caller's list of fields to leave unanswered stays as it is.
func TestSilentCall(t *testing.T) {
	p := asker(t).page(booking("", askFor("tel")))
	act, err := p.doc.Site.Interact().Action("book")
	must(t, err)
	omit := append(make([]string, 0, 4), "email")
	c, err := silent(asksFor(p.doc.Site, act), Call{Reply: &Reply{Omit: omit}})
	if err != nil || !slices.Equal(c.Reply.Omit, []string{"email", "tel"}) || omit[:2][1] != "" {
		t.Errorf("%q, %q, %v", c.Reply.Omit, omit[:2], err)
	}
}

// TestBasis: only an allowance has a basis, and it says which consent it rests on.
func TestBasis(t *testing.T) {
	held := &consent{Consent: Consent{ID: "plan#answer-1"}}
	for name, change := range map[string]func(*grounds){
		"held": func(g *grounds) { g.rule.Requires, g.held = anml.ExplicitConsent, held },
		"transfer": func(g *grounds) {
			g.sources, g.transfer = []source{{serving: "a.test", confidentiality: anml.Restricted}}, held
		},
	} {
		g := best()
		change(&g)
		if d := weigh(&g); d.Basis != anml.ConsentExplicit || d.Reference != held.ID || d.granted != held {
			t.Errorf("%s: %+v", name, d)
		}
	}
	st := asker(t).allow("email", "shop.example")
	st.user.Policy.Veto = func(context.Context, Decision) error { return errTest }
	if d := st.one(booking(rule("email", "none"), askFor("email"))); d.Verb != VerbRefuse || d.Basis != anml.ConsentUnstated || d.Reference != "" {
		t.Errorf("%s rests on %s, %q", brief(d), d.Basis, d.Reference)
	}
}

// TestGroundsOfAValue has what the profile is asked, and where its answer came from.
func TestGroundsOfAValue(t *testing.T) {
	t.Run("purpose", func(t *testing.T) { // the first one that is stated
		var seen []string
		st := asker(t)
		st.user.Profile = profileOf(func(q Question) (Value, error) {
			if q.Field == "email" {
				seen = append(seen, q.Purpose)
			}
			return Value{Text: annsEmail}, nil
		})
		st.prepares(st.page(booking("", askFor("email", `purpose="one"`)+askFor("email", `purpose="two"`))), Call{})
		if !slices.Contains(seen, "one") || slices.Contains(seen, "two") {
			t.Errorf("%q", seen)
		}
	})
	t.Run("failure", func(t *testing.T) { // is another reason than no value
		st := asker(t)
		st.user.Profile = profileFunc(func() (Value, error) { return Value{}, errTest })
		if d := st.one(booking("", askFor("email"))); d.Verb != VerbRefuse || d.Code == CodeNoValue || d.Reason != anml.PolicyViolation {
			t.Error(brief(d))
		}
	})
	t.Run("sources", func(t *testing.T) { // each once
		st := asker(t)
		pageFor(t, st.net, st.session(), "https://a.example/a", titled+`<knowledge><inform>You are `+annsEmail+`</inform></knowledge>`)
		if found := st.s.sources("shop.example", Value{Text: annsEmail, Provenance: "a.example"}); len(found) != 1 || found[0].serving != "a.example" {
			t.Errorf("%+v", found)
		}
	})
}

// TestWordsOfNames splits names of actions.
func TestWordsOfNames(t *testing.T) {
	for text, want := range map[string][]string{"": nil, " 1-Pay nowOK!": {"pay", "now", "ok"}, "buyTicket_v2": {"buy", "ticket", "v"}, "“Pay” now": {"pay", "now"}} {
		if got := words(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCommitOfAClosedAction: nothing is fetched to verify trust for an action that is not sent, and
// the user accepts no origin that they were not asked about.
func TestCommitOfAClosedAction(t *testing.T) {
	s := newStage(t, setting{doc: asking, user: User{Profile: ada}, answer: lab.Status(410)})
	in, err := s.page.prepare(t.Context(), book)
	must(t, err)
	_, approval, err := s.session.ask(t.Context(), in)
	must(t, err)
	s.does(book, CodeGone)
	if s.session.gate.acknowledged(in.effect.Send.origin()) {
		t.Errorf("%s is used without encryption", in.effect.Send.origin())
	}
	in.effect.Claim, in.effect.Owned = &anmltrust.Claim{Site: "brand.example"}, true
	_, err = s.session.commit(t.Context(), approval, in.effect, fetch.NewBudget(10))
	hasCode(t, err, CodeGone)
}

// failsToList is a profile without values that cannot list its fields.
type failsToList struct{}

func (failsToList) Value(context.Context, Question) (Value, error) { return Value{}, ErrNoValue }
func (failsToList) FieldNames(context.Context) ([]string, error)   { return nil, errTest }

// TestProfileThatCannotBeRead: nothing of it is compared, and that it failed is known.
func TestProfileThatCannotBeRead(t *testing.T) {
	for name, profile := range map[string]Profile{
		"values": profileFunc(func() (Value, error) { return Value{Text: "secret words"}, errors.New("down") }), "list": failsToList{},
	} {
		st := asker(t)
		st.user.Profile = profile
		p := st.page(booking("", ""))
		c := p.frame(p.doc.Site, start.Add(time.Second), false).profileValues(t.Context(), "shop.example")
		if !c.failed || len(c.values) != 0 || len(c.names) != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestTellingInPart: an optional field that needs an authorization is left out, and the others are
// decided all the same.
func TestTellingInPart(t *testing.T) {
	c := transfers(t, `confidentiality="restricted"`, labprompt.Deny())
	x := c.prepares(pageFor(t, c.net, c.session(), "https://b.example/later", booking("", askFor("member")+askFor("email"))), Call{})
	if len(x.d.Tells) != 1 || x.d.Tells[0].Field != "email" || x.d.Tells[0].Means != "" {
		t.Errorf("%+v", x.d.Tells)
	}
}

// TestPurposeOfAnArgument: the user is shown what the action says about this parameter.
func TestPurposeOfAnArgument(t *testing.T) {
	const doc = `<action id="find" method="GET" endpoint="/find"><param name="q" description="the address to write to"/><param name="z" description="the last one"/></action>`
	st := asker(t)
	x := st.prepares(st.page(interact(doc)), Call{Action: "find", Args: map[string]string{"q": annsEmail}})
	if len(x.d.Tells) != 1 || !slices.Equal(x.d.Tells[0].Purposes, []string{"the address to write to"}) || x.d.Tells[0].Field != "q" || x.d.Tells[0].Means != "email" {
		t.Errorf("%+v", x.d.Tells)
	}
}
