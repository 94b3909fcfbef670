package agent

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/test/vectors"
	"github.com/lookleap/lookleap/lookleaptest"
)

// best are inputs on which a field is told without asking.
func best() inputs {
	return inputs{
		item: item{kind: discloseAnswer, field: "email", purposes: []string{"to send the ticket"}}, stated: true, judged: PurposeOK, recognised: true,
		rule:     anml.Rule{Field: "email", Requires: anml.RequiresNothing, Declared: true},
		standing: StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}, ruled: true,
		prompter: true, authentic: true,
	}
}

// TestWeighMonotone takes every pair of inputs: together they are never looser
// than either of them alone.
func TestWeighMonotone(t *testing.T) {
	changes := []func(*inputs){
		func(g *inputs) { g.rule.Requires = g.rule.Requires.Stricter(anml.ExplicitConsent) },
		func(g *inputs) { g.rule.Requires, g.authentic = anml.Authentication, false },
		func(g *inputs) { g.standing.Effect = min(g.standing.Effect, EffectAsk) },
		func(g *inputs) { g.standing.Effect = EffectDeny },
		func(g *inputs) { g.refuse = anml.UserDenied },
		func(g *inputs) { g.untrusted = anmltrust.CodeNoRecord }, func(g *inputs) { g.judged = PurposeImplausible },
		func(g *inputs) { g.judged = min(g.judged, PurposeVague) }, func(g *inputs) { g.stated = false },
		func(g *inputs) { g.missing = CodeNoValue }, func(g *inputs) { g.recognised = false },
		func(g *inputs) { g.foreign = true }, func(g *inputs) { g.version = true }, func(g *inputs) { g.category = "health" },
		func(g *inputs) {
			g.services = append(g.services, source{serving: "a.test", confidentiality: anml.Public})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "b.test", confidentiality: anml.Restricted})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "c.test", confidentiality: anml.Private})
		},
		func(g *inputs) {
			g.services = append(g.services, source{serving: "d.test", confidentiality: anml.Public, deleted: true})
		},
		func(g *inputs) { g.prompter = false },
	}
	verb := func(changes ...func(*inputs)) Verb {
		g := best()
		for _, change := range changes {
			change(&g)
		}
		return decisionFor(&g).Verb
	}
	for i, a := range changes {
		for j, b := range changes {
			if both := verb(a, b); both > min(verb(a), verb(b)) {
				t.Errorf("%d and %d together %s, alone %s and %s", i, j, both, verb(a), verb(b))
			}
		}
	}
}

func TestVetoIsLastAndOnlyDenies(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email"))
	for name, veto := range map[string]func(context.Context, Decision) error{
		"error": func(_ context.Context, d Decision) error {
			equals(t, d.Verb, VerbAllow)
			return errors.New("no")
		},
		"panic": func(context.Context, Decision) error { panic("no") },
	} {
		t.Run(name, func(t *testing.T) {
			st := asker(t).allow("email", "shop.example")
			st.user.Policy.Veto = veto
			if d := st.one(doc); brief(d) != "refuse policy-veto policy-violation" || d.Basis != anml.ConsentUnstated || d.Reference != "" {
				t.Errorf("%s, basis %v, reference %q", brief(d), d.Basis, d.Reference)
			}
		})
	}
	t.Run("not-asked-about-a-refusal", func(t *testing.T) {
		st := asker(t)
		must(t, st.user.Policy.Set(StandingRule{Field: "email", Domain: "*", Effect: EffectDeny}))
		st.user.Policy.Veto = func(_ context.Context, d Decision) error { t.Error("the veto saw", d.Verb); return nil }
		st.decides(doc, "refuse user-rule user-denied")
	})
	t.Run("silent", func(t *testing.T) {
		st := asker(t)
		st.user.Policy.Veto = func(context.Context, Decision) error { return nil }
		st.decides(doc, "prompt needs-consent")
	})
}

type profileFunc func() (Value, error)

func (f profileFunc) Value(context.Context, Question) (Value, error) { return f() }

// TestWeighty shows which names of an action say that it costs or destroys something.
func TestWeighty(t *testing.T) {
	for name, c := range map[string]struct {
		act  Act
		want bool
	}{
		"reject-id":                    {Act{ID: "buy"}, true},
		"reject-id-of-words":           {Act{ID: "seat-BUY2"}, true},
		"reject-camel-case":            {Act{ID: "seatBuyNow"}, true},
		"reject-path":                  {Act{URL: "https://shop.example/cart/checkout?x=1"}, true},
		"reject-unreadable-address":    {Act{URL: "https:// shop.example/checkout"}, true},
		"reject-description":           {Act{Description: "Pay for the seats"}, true},
		"reject-description-of-a-word": {Act{Description: "Pay!"}, true},
		"accept-later-in-description":  {Act{Description: "Trips that you can book"}, false},
		"accept-no-text":               {Act{}, false},
		"accept-no-letters":            {Act{ID: "1", Description: "…", URL: "https://shop.example/2"}, false},
		"accept-longer-word":           {Act{ID: "bookish", URL: "https://shop.example/orderly"}, false},
		"accept-query":                 {Act{URL: "https://shop.example/list?sort=order"}, false},
		"accept-host":                  {Act{URL: "https://book.example/list"}, false},
	} {
		t.Run("ANML-13.4-05/"+name, func(t *testing.T) {
			equals(t, weighty(c.act), c.want)
		})
	}
}

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
			"refused-domain": {func(st *stand) { must(st, st.user.Policy.Set(StandingRule{Field: "*", Domain: "shop.example"})) },
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
					st := newStand(t, lookleaptest.Refuse())
					if c.set != nil {
						c.set(st)
					}
					st.decides(c.doc, c.want)
				})
			}
		}
		for _, id := range []string{"ANML-8.7.2-06", "ANML-9.2-03"} {
			t.Run(id+"/reject-"+field+"-of-an-unverified-site", func(t *testing.T) {
				st := newStand(t, lookleaptest.Refuse())
				all := st.page(sites + booking("", askFor(field)) + "</site>").Decide(t.Context())
				if len(all) != 1 || all[0].Verb != VerbRefuse || all[0].Reason != anml.TrustInsufficient {
					t.Errorf("%+v", all)
				}
			})
		}
		t.Run("ANML-8.7.2-06/reject-"+field+"-not-approved", func(t *testing.T) {
			st := newStand(t, lookleaptest.Refuse())
			x := st.prepares(st.page(booking("", askFor(field))), Call{})
			equals(t, len(x.items), 1)
			x.sends(none, `<refuse field="`+field+`" reason="user-denied"`, "!"+ann[field].Text)
		})
	}
	t.Run("ANML-8.7.2-08/reject-without-approval", func(t *testing.T) {
		st := newStand(t, lookleaptest.Refuse()).allow("acme:tier", "shop.example")
		x := st.prepares(st.page(booking(rule("acme:tier", "none"), askFor("acme:tier"))), Call{})
		equals(t, len(x.items), 1)
		x.sends(none, `<refuse field="acme:tier" reason="user-denied"`, "!gold")
		x.sends(all, `field="acme:tier" value="gold" consent="explicit"`)
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
			newStand(t, lookleaptest.Refuse()).allow("lang", "shop.example").decides(booking(rule("lang", c.requires), askFor("lang"))+persona, c.want)
		})
	}
	t.Run("ANML-8.8.2-07/reject-item", func(t *testing.T) { // the user agrees to the act and not to the field
		doc := booking(rule("lang", "explicit-consent"), askFor("lang")) + persona
		s := newStage(t, setting{doc: doc, user: User{Language: "de-CH", Profile: Fields{"lang": {Text: "de-CH"}}}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
		s.does(book, lookleap.CodeOK)
		s.sends("POST /book")
		sent := s.net.Journal().Requests("www.shop.example")[0]
		if sent.Header.Get("Accept-Language") != "" || strings.Contains(string(sent.Body), "de-CH") || !strings.Contains(string(sent.Body), `<refuse field="lang"`) {
			t.Errorf("%v\n%s", sent.Header, sent.Body)
		}
	})
}

// TestAllowedUses: a usage permits itself and what is below it, and nothing after its end.
func TestAllowedUses(t *testing.T) {
	m := newMemo(t)
	m.s.user.Policy.SetTrainingConsent(true)
	now := m.s.now()
	for id, usage := range map[string]anml.Usage{
		"ANML-14.4-02": anml.UsageNone, "ANML-14.4-03": anml.UsageDisplay, "ANML-14.4-04": anml.UsageCache,
		"ANML-14.4-06": anml.UsageStore,
	} {
		t.Run(id+"/reject-more-than-"+usage.String(), func(t *testing.T) {
			for use := anml.UsageNone; use <= anml.UsageTrain; use++ {
				err := m.s.Allowed(Inform{Usage: usage, Expires: now.Add(time.Hour)}, use, now)
				if (err == nil) != (use <= usage) {
					t.Errorf("%s: %v", use, err)
				}
			}
		})
	}
	for _, id := range []string{"ANML-16.5-08", "ANML-16.5-09"} {
		for usage := anml.UsageNone; usage < anml.UsageTrain; usage++ {
			t.Run(id+"/reject-above-"+usage.String(), func(t *testing.T) {
				equals(t, m.s.Allowed(Inform{Usage: usage, Expires: now.Add(time.Hour)}, usage+1, now), ErrUsage)
			})
		}
	}
	for _, id := range []string{"ANML-14.4-05", "ANML-16.5-04"} {
		t.Run(id+"/reject-use-after-the-ttl", func(t *testing.T) {
			i := Inform{Usage: anml.UsageCache, Received: now, Expires: now.Add(time.Minute)}
			for use := anml.UsageDisplay; use <= anml.UsageCache; use++ {
				if err := m.s.Allowed(i, use, now.Add(time.Minute-1)); err != nil {
					t.Errorf("%s before: %v", use, err)
				}
				equals(t, m.s.Allowed(i, use, now.Add(time.Minute)), ErrUsage)
			}
		})
	}
	t.Run("ANML-14.4-04/accept-stored-without-a-time", func(t *testing.T) {
		must(t, m.s.Allowed(Inform{Usage: anml.UsageStore}, anml.UsageCache, now))
	})
}

// TestSensitiveEachTime: whatever makes a value sensitive, the user is asked each time.
func TestSensitiveEachTime(t *testing.T) {
	doc := func(purpose string) string {
		return booking(rule("tel", "none"), askFor("tel", `purpose="`+purpose+`"`))
	}
	for word, purpose := range map[string]string{
		"health": "Health intake", "medical": "MEDICAL history", "diagnos": "for diagnosis", "insurance": "your insurance",
		"financ": "financial advice", "bank": "Banking", "payment": "prepayment", "credit": "to check credit", "income": "INCOME",
		"location": "your locations", "geo": "Geography", "whereabouts": "whereabouts", "other-letters": "ｈｅａｌｔｈ",
	} {
		t.Run("ANML-14.2-04/reject-word-"+word, func(t *testing.T) {
			asker(t).allow("tel", "*").decides(doc(purpose), "prompt sensitive")
		})
	}
	for _, field := range []string{"acme:bank", "GeoPoint", "heal\u200bth"} {
		t.Run("ANML-14.2-04/reject-name-of-a-field", func(t *testing.T) {
			st := asker(t).allow(field, "*")
			st.opts.Fields, st.user.Profile = []string{field}, Fields{field: {Text: "1"}}
			st.decides(booking(rule(field, "none"), askFor(field)), "prompt sensitive")
		})
	}
	for _, category := range []string{CategoryHealth, CategoryFinance, CategoryLocation} {
		t.Run("ANML-14.2-04/reject-category-"+category, func(t *testing.T) {
			st := asker(t).allow("tel", "*")
			st.user.Profile = Fields{"tel": {Text: "1", Category: strings.ToUpper(category)}}
			st.decides(doc("to call you"), "prompt sensitive")
		})
	}
	t.Run("ANML-14.2-04/accept-other-category", func(t *testing.T) {
		st := asker(t).allow("tel", "*")
		st.user.Profile = Fields{"tel": {Text: "1", Category: "phone"}}
		st.decides(doc("to call you"), "allow user-rule delegated")
	})
	t.Run("ANML-14.2-04/reject-classified", func(t *testing.T) {
		st := asker(t).allow("tel", "*")
		st.user.Policy.Classify = func(_ context.Context, s Subject) (string, error) {
			if s.Purpose == "to call you" {
				return "household", nil
			}
			return "", nil
		}
		st.decides(doc("to call you"), "prompt sensitive")
		st.decides(doc("to greet you"), "allow user-rule delegated")
	})
	t.Run("ANML-14.2-04/reject-earlier-consent", func(t *testing.T) {
		st := asker(t)
		must(t, third(st.prepares(st.page(doc("payment")), Call{}).settle(all, start.Add(time.Hour))))
		st.decides(doc("payment"), "prompt sensitive")
		if list, err := st.s.Consents(t.Context()); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
	})
}

// decisionVector is a document, a user, and what becomes of each ask.
type decisionVector struct {
	Name        string            `json:"name"`
	Requirement string            `json:"requirement"`
	Document    string            `json:"document"`
	Profile     map[string]string `json:"profile"`
	Rules       []vectorRule      `json:"rules"`
	Decisions   []vectorDecision  `json:"decisions"`
}

type vectorRule struct {
	Field  string `json:"field"`
	Effect string `json:"effect"`
	Domain string `json:"domain"`
}

type vectorDecision struct {
	Field  string        `json:"field"`
	Verb   string        `json:"verb"`
	Basis  string        `json:"basis,omitempty"`
	Reason anml.Reason   `json:"reason,omitempty"`
	Code   lookleap.Code `json:"code"`
}

// TestVectors decides the published cases, from both serializations alike.
func TestVectors(t *testing.T) {
	file := vectors.Open[decisionVector](t, "decisions.json", Draft)
	if len(file.Cases) < 20 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	verbs := map[string]bool{}
	for i, c := range file.Cases {
		asXML := c.decide(t, c.Document)
		doc, err := anml.ParseXML([]byte(c.Document), anml.ReadOptions{})
		must(t, err)
		asJSON, err := anml.MarshalJSON(doc, anml.WriteOptions{Verbatim: true})
		must(t, err)
		if *vectors.Update {
			file.Cases[i].Decisions = asXML
			c.Decisions = asXML
		}
		side := "accept"
		for _, d := range c.Decisions {
			verbs[d.Verb] = true
			if d.Verb != VerbAllow.String() {
				side = "reject"
			}
		}
		t.Run(c.Requirement+"/"+side+"-vector-"+c.Name, func(t *testing.T) {
			if !reflect.DeepEqual(asXML, c.Decisions) || len(c.Decisions) == 0 {
				t.Errorf("got %+v, want %+v", asXML, c.Decisions)
			}
			if got := c.decide(t, string(asJSON)); !reflect.DeepEqual(got, c.Decisions) {
				t.Errorf("from JSON: %+v, want %+v", got, c.Decisions)
			}
		})
	}
	if !verbs["allow"] || !verbs["prompt"] || !verbs["refuse"] {
		t.Errorf("the cases show %v only", verbs)
	}
	if *vectors.Update {
		must(t, file.Write("decisions.json"))
	}
}

func (c decisionVector) decide(t *testing.T, document string) (out []vectorDecision) {
	t.Helper()
	net := newLab(t)
	user := User{Profile: Fields{}, Policy: &UserPolicy{}}
	for field, text := range c.Profile {
		user.Profile.(Fields)[field] = Value{Text: text}
	}
	for _, r := range c.Rules {
		effect := map[string]Effect{"allow": EffectAllow, "deny": EffectDeny}[r.Effect]
		must(t, user.Policy.Set(StandingRule{Field: r.Field, Domain: r.Domain, Effect: effect}))
	}
	host := net.StubHost()
	host.Prompter = lookleaptest.NewPrompter(t)
	session, err := New(host, Options{}).NewSession(user)
	must(t, err)
	defer session.Close()
	mediaType := anml.MediaTypeXML
	if document[0] == '{' {
		mediaType = anml.MediaTypeJSON
	}
	page, err := session.Open(context.Background(), net.Site("shop.example").File("/page", mediaType, document).URL("/page"))
	must(t, err)
	for _, d := range page.Decide(context.Background()) {
		basis := ""
		if d.Verb != VerbRefuse {
			basis = d.Basis.String()
		}
		out = append(out, vectorDecision{d.Field, d.Verb.String(), basis, d.Reason, d.Code})
	}
	return out
}
