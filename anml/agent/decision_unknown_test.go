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

// TestUnknownFieldLikeAny decides about an unregistered field and a registered one in the same
// situations: what stops the one stops the other, for the same reason.
func TestUnknownFieldLikeAny(t *testing.T) {
	const sites = `<site domain="shop.example"><head><title>Shop</title></head></site><site domain="other.example">`
	for _, field := range []string{"acme:tier", "email"} {
		for name, c := range map[string]struct {
			set  func(st *stand)
			doc  string
			want string
		}{
			"user-rule": {func(st *stand) {
				must(st, st.user.Policy.Set(StandingRule{Field: field, Domain: "*", Effect: EffectDeny}))
			}, booking("", askFor(field)), "refuse user-rule user-denied"},
			"refused-domain": {func(st *stand) { must(st, st.user.Policy.RefuseDomain("shop.example")) },
				booking("", askFor(field)), "refuse domain-refused user-denied"},
			"authentication": {nil, booking(rule(field, "authentication"), askFor(field)), "refuse authentication constraint-violation"},
			"purpose": {func(st *stand) { st.user.Policy.Judge = judged(PurposeImplausible) },
				booking("", askFor(field)), "refuse purpose-implausible policy-violation"},
			"veto": {func(st *stand) { st.user.Policy.Veto = func(context.Context, Decision) error { return errTest } },
				booking("", askFor(field)), "refuse policy-veto policy-violation"},
			"version":     {nil, strings.Replace(service(booking("", askFor(field))), `role="service"`, `role="service" supported-versions="2.0"`, 1), "refuse version-not-offered trust-insufficient"},
			"no-prompter": {func(st *stand) { st.ask = nil }, booking(rule(field, "explicit-consent"), askFor(field)), "refuse consent-no-prompter constraint-violation"},
		} {
			for _, id := range []string{"ANML-8.7.2-06", "ANML-9.2-03"} {
				t.Run(id+"/reject-"+field+"-"+name, func(t *testing.T) {
					st := newStand(t, labprompt.Deny())
					if c.set != nil {
						c.set(st)
					}
					st.decides(c.doc, c.want)
				})
			}
		}
		for _, id := range []string{"ANML-8.7.2-06", "ANML-9.2-03"} {
			t.Run(id+"/reject-"+field+"-of-an-unverified-site", func(t *testing.T) {
				st := newStand(t, labprompt.Deny())
				all := st.page(sites + booking("", askFor(field)) + "</site>").Decide(t.Context())
				if len(all) != 1 || all[0].Verb != VerbRefuse || all[0].Reason != anml.TrustInsufficient {
					t.Errorf("%+v", all)
				}
			})
		}
		t.Run("ANML-8.7.2-06/reject-"+field+"-not-approved", func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			x := st.prepares(st.page(booking("", askFor(field))), Call{})
			if len(x.items) != 1 {
				t.Error(x.items)
			}
			x.sends(none, `<refuse field="`+field+`" reason="user-denied"`, "!"+ann[field].Text)
		})
	}
	t.Run("ANML-8.7.2-08/reject-without-approval", func(t *testing.T) {
		st := newStand(t, labprompt.Deny()).allow("acme:tier", "shop.example")
		x := st.prepares(st.page(booking(rule("acme:tier", "none"), askFor("acme:tier"))), Call{})
		if len(x.items) != 1 {
			t.Error(x.items)
		}
		x.sends(none, `<refuse field="acme:tier" reason="user-denied"`, "!gold")
		x.sends(all, `field="acme:tier" value="gold" consent="explicit"`)
	})
}

// TestOneInputAgainstAllOthers: a field that everything else allows is asked about because of one
// input.
func TestOneInputAgainstAllOthers(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(st *stand)
		doc  string
		want string
	}{
		"no-consent": {func(st *stand) { st.user.Policy = &UserPolicy{} }, booking(rule("email", "none"), askFor("email")), "prompt needs-consent"},
		"rule-that-asks": {func(st *stand) {
			must(st, st.user.Policy.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAsk}))
		}, booking(rule("email", "none"), askFor("email")), "prompt user-rule"},
		"constraint":    {nil, booking(rule("email", "explicit-consent"), askFor("email")), "prompt explicit-consent"},
		"no-purpose":    {nil, booking(rule("email", "none"), askFor("email", `purpose=""`)), "prompt purpose-missing"},
		"vague-purpose": {func(st *stand) { st.user.Policy.Judge = judged(PurposeVague) }, booking(rule("email", "none"), askFor("email")), "prompt purpose-vague"},
		"sensitive": {func(st *stand) {
			st.user.Policy.Classify = func(context.Context, Subject) (string, error) { return "private", nil }
		}, booking(rule("email", "none"), askFor("email")), "prompt sensitive"},
		"unrecognised":  {func(st *stand) { st.allow("acme:tier", "*") }, booking(rule("acme:tier", "none"), askFor("acme:tier")), "prompt unrecognised-field"},
		"other-version": {nil, strings.Replace(service(booking(rule("email", "none"), askFor("email"))), `version="1.0" role`, `version="2.0" role`, 1), "prompt other-version"},
	} {
		t.Run("ANML-9.2-03/reject-"+name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny()).allow("email", "*")
			if c.set != nil {
				c.set(st)
			}
			st.decides(c.doc, c.want)
		})
	}
}

// TestConstraintsBeforeAnswers: whatever the user allows, the site's constraints decide first, and
// nothing is sent that they forbid.
func TestConstraintsBeforeAnswers(t *testing.T) {
	const told, refused = `<answer field="email" value="` + annsEmail, `<refuse field="email" reason="`
	for name, c := range map[string]struct {
		constraints string
		items       int
		sent        string // if the user agrees to nothing
	}{
		"accept-none":           {rule("email", "none"), 0, told},
		"accept-implicit":       {rule("email", "implicit-consent"), 0, told},
		"reject-explicit":       {rule("email", "explicit-consent"), 1, refused + "user-denied"},
		"reject-authentication": {rule("email", "authentication"), 0, refused + "constraint-violation"},
		"reject-unknown-word":   {rule("email", "everything"), 1, refused + "user-denied"},
		"reject-malformed":      {`<disclosure field="email"/>`, 1, refused + "user-denied"},
		"reject-stricter":       {rule("email", "none") + rule("email", "explicit-consent"), 1, refused + "user-denied"},
	} {
		t.Run("ANML-9.5-01/"+name, func(t *testing.T) {
			st := newStand(t, labprompt.Deny()).allow("email", "*")
			x := st.prepares(st.page(booking(c.constraints, askFor("email"))), Call{})
			if len(x.items) != c.items {
				t.Errorf("the user is asked about %d items, want %d", len(x.items), c.items)
			}
			x.sends(none, c.sent)
		})
	}
}

// TestInferredConsent: consent that is inferred from the user's initiation is implicit, and the
// answer says so.
func TestInferredConsent(t *testing.T) {
	st := newStand(t, labprompt.Deny())
	st.user.Policy.InferConsentFromInitiation(true)
	page := st.page(booking(rule("email", "implicit-consent"), askFor("email")))
	t.Run("ANML-8.7.3-05/accept-inferred", func(t *testing.T) {
		x := st.prepares(page, Call{Initiated: true})
		if len(x.items) != 0 {
			t.Error(x.items)
		}
		x.sends(none, `field="email" value="ann@example.org" consent="implicit"`)
	})
	t.Run("ANML-8.7.3-05/reject-inferred-without-initiation", func(t *testing.T) {
		x := st.prepares(page, Call{})
		if len(x.items) != 1 {
			t.Error(x.items)
		}
		x.sends(none, `<refuse field="email" reason="user-denied"`)
	})
}

// TestLanguageRules: the disclosure rules of the field lang apply as those of any other field.
func TestLanguageRules(t *testing.T) {
	const persona = `<persona><language policy="native"/></persona>`
	for name, c := range map[string]struct{ requires, want string }{
		"accept-none":            {"none", "allow user-rule delegated"},
		"accept-implicit":        {"implicit-consent", "allow user-rule implicit"},
		"reject-explicit":        {"explicit-consent", "prompt explicit-consent"},
		"reject-authentication":  {"authentication", "refuse authentication constraint-violation"},
		"reject-unknown-demands": {"everything", "prompt explicit-consent"},
	} {
		t.Run("ANML-8.8.2-07/"+name, func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("lang", "shop.example").decides(booking(rule("lang", c.requires), askFor("lang"))+persona, c.want)
		})
	}
	t.Run("ANML-8.8.2-07/reject-item", func(t *testing.T) { // the user agrees to the act and not to the field
		doc := booking(rule("lang", "explicit-consent"), askFor("lang")) + persona
		s := newStage(t, setting{doc: doc, user: User{Language: "de-CH", Profile: Fields{"lang": {Text: "de-CH"}}}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
		s.does(book, lookleap.CodeOK)
		s.sends("POST /book")
		sent := s.net.Journal().Requests("www.shop.example")[0]
		if sent.Header.Get("Accept-Language") != "" || strings.Contains(string(sent.Body), "de-CH") || !strings.Contains(string(sent.Body), `<refuse field="lang"`) {
			t.Errorf("%v\n%s", sent.Header, sent.Body)
		}
	})
}

// TestLifetimeOfInforms shows the lives that an inform may have from elsewhere.
func TestLifetimeOfInforms(t *testing.T) {
	for name, c := range map[string]struct {
		document, own string
		header        []string
		life          time.Duration
	}{
		"document-alone": {`ttl="60"`, "", nil, 60 * time.Second},
		"document-first": {`ttl="60"`, `ttl="600"`, nil, 60 * time.Second},
		"own-first":      {`ttl="600"`, `ttl="60"`, nil, 60 * time.Second},
		"http-alone":     {"", "", []string{"Cache-Control", "max-age=60"}, 60 * time.Second},
		"http-first":     {`ttl="600"`, `ttl="600"`, []string{"Cache-Control", "max-age=60"}, 60 * time.Second},
		"since-date":     {"", `ttl="60"`, []string{"Age", "20"}, 40 * time.Second},
	} {
		memory := func(t *testing.T, after time.Duration, want string) {
			m := newMemo(t)
			doc := strings.Replace(service(inform("x", c.own)), `role="service"`, `role="service" `+c.document, 1)
			m.net.Site("a.example").Handle("/x", scripted(200, doc, append([]string{"Content-Type", anml.MediaTypeXML}, c.header...)...))
			_, err := m.s.Open(t.Context(), "https://a.example/x")
			must(t, err)
			m.net.Clock().Advance(after)
			m.has(want)
		}
		t.Run("ANML-8.7.1-02/accept-before-"+name, func(t *testing.T) { memory(t, c.life-time.Second, "x") })
		t.Run("ANML-8.7.1-02/reject-after-"+name, func(t *testing.T) { memory(t, c.life, "") })
	}
}
