package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

const annsEmail = "ann@example.org"

// bodies are the bodies of all requests of a stage, with their targets and
// headers: everywhere that a value could be.
func (s *stage) bodies() string {
	var b strings.Builder
	for _, r := range s.net.Journal().Requests() {
		b.WriteString(r.Method + " " + r.Target + "\n")
		_ = r.Header.Write(&b)
		b.Write(r.Body)
		b.WriteString("\n")
	}
	return b.String()
}

// wantSent wants texts among what left, or not where they begin with "!".
func (s *stage) wantSent(want ...string) {
	s.Helper()
	all := s.bodies()
	for _, w := range want {
		if not, ok := strings.CutPrefix(w, "!"); ok && strings.Contains(all, not) || !ok && !strings.Contains(all, w) {
			s.Errorf("what is sent has to have %q:\n%s", w, all)
		}
	}
}

// TestDiscloseRows shows the rows about what is sent, at a service that is asked
// for real.
func TestDiscloseRows(t *testing.T) {
	doc := booking(rule("email", "explicit-consent"), askFor("email", `required="true"`)+askFor("tel"))
	book := Call{Action: "book"}

	t.Run("ANML-7.6-05", func(t *testing.T) {
		for _, c := range []struct {
			json   bool
			format *anml.Format
			want   string
		}{{false, nil, anml.MediaTypeXML}, {true, nil, anml.MediaTypeJSON}, {true, ptr(anml.XML), anml.MediaTypeXML}, {false, ptr(anml.JSON), anml.MediaTypeJSON}} {
			t.Run("accept-"+map[bool]string{true: "json-", false: "xml-"}[c.json]+strings.TrimPrefix(c.want, "application/anml+"), func(t *testing.T) {
				s := newStage(t, setting{doc: doc, json: c.json, user: User{Profile: ann}, options: Options{Format: c.format}})
				s.does(book, lookleap.CodeOK)
				r := s.net.Journal().Requests()[0]
				if got := r.Header.Get("Content-Type"); got != c.want {
					t.Errorf("sent as %s", got)
				}
				d, err := anml.Parse(c.want, r.Body, anml.ReadOptions{Role: anml.RoleAgentResponse})
				must(t, err)
				if a := slices.Collect(d.Knowledge().Answers()); len(a) != 2 || a[0].Value() != annsEmail {
					t.Errorf("%s", r.Body)
				}
			})
		}
	})
	t.Run("ANML-11.1-01", func(t *testing.T) {
		t.Run("accept-body", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			s.sends("POST /book")
			s.wantSent(`<answer field="email" value="` + annsEmail)
		})
		for _, method := range []string{"GET", "HEAD", "DELETE", "OPTIONS"} {
			t.Run("reject-"+method, func(t *testing.T) {
				doc := strings.Replace(doc, `method="POST" endpoint="/book"`, `method="`+method+`" endpoint="/book"`, 1)
				s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
				s.does(book, lookleap.CodeNoBodyMethod)
				s.sends()
			})
		}
	})
	t.Run("ANML-11.1-02", func(t *testing.T) {
		t.Run("accept-json-enctype", func(t *testing.T) {
			s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="/book" enctype="application/anml+json"`, 1), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			if got := s.net.Journal().Requests()[0].Header.Values("Content-Type"); !slices.Equal(got, []string{anml.MediaTypeJSON}) {
				t.Error(got)
			}
		})
		t.Run("reject-form-enctype", func(t *testing.T) {
			s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="/book" enctype="application/x-www-form-urlencoded"`, 1), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			if got := s.net.Journal().Requests()[0].Header.Values("Content-Type"); !slices.Equal(got, []string{anml.MediaTypeXML}) {
				t.Error(got)
			}
		})
	})
	t.Run("ANML-11.1-03", func(t *testing.T) {
		for name, c := range map[string]struct {
			accept string
			format *anml.Format
			want   string
		}{
			"accept-same":               {"", nil, anml.MediaTypeXML},
			"accept-prior-accept":       {anml.MediaTypeJSON, nil, anml.MediaTypeJSON},
			"accept-host-first":         {anml.MediaTypeJSON, ptr(anml.XML), anml.MediaTypeXML},
			"reject-accept-of-no-anml":  {"text/html", nil, anml.MediaTypeXML},
			"reject-accept-of-anything": {"*/*", nil, anml.MediaTypeXML},
		} {
			t.Run(name, func(t *testing.T) {
				s := newStage(t, setting{user: User{Profile: ann}, options: Options{Format: c.format}, doc: doc, before: func(s *stage) {
					if c.accept != "" {
						s.shop.Fault("/anml", lab.Header("Accept", c.accept))
					}
				}})
				s.does(book, lookleap.CodeOK)
				if got := s.net.Journal().Requests()[0].Header.Get("Content-Type"); got != c.want {
					t.Errorf("sent as %s", got)
				}
			})
		}
	})
	t.Run("ANML-11.1-06", func(t *testing.T) {
		two := booking("", askFor("email", `required="true"`)+askFor("tel", `required="true"`)+askFor("fn", `required="true"`, `action="other"`))
		t.Run("accept-each", func(t *testing.T) {
			s := newStage(t, setting{doc: two, user: User{Profile: Fields{"email": ann["email"]}}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="email"`, `<refuse field="tel" reason="unsupported-field"`, `!field="fn"`)
		})
		t.Run("accept-others-too", func(t *testing.T) {
			s := newStage(t, setting{doc: two, user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: &Reply{RefuseOthers: true}}, lookleap.CodeOK)
			s.wantSent(`<refuse field="fn" reason="policy-violation"`)
		})
		t.Run("reject-left-out", func(t *testing.T) { // what is required and left out is refused
			s := newStage(t, setting{doc: two, user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: &Reply{Omit: []string{"email"}}}, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, "!"+annsEmail)
		})
		t.Run("reject-open", func(t *testing.T) { // needs a consent of its own first
			st := transfers(t, `confidentiality="restricted"`, labprompt.Approve())
			_, err := st.prepare(st.b, Call{})
			hasCode(t, err, lookleap.CodeRequiredAskOpen)
		})
	})
	t.Run("ANML-11.1-07", func(t *testing.T) {
		for name, r := range map[string]*Reply{"answered": nil, "refused": {Refuse: map[string]anml.Reason{"tel": anml.UserDenied}}, "left-out": {Omit: []string{"tel"}}} {
			t.Run("accept-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
				s.does(Call{Action: "book", Reply: r}, lookleap.CodeOK)
				s.wantSent(map[string]string{"answered": `<answer field="tel"`, "refused": `<refuse field="tel"`, "left-out": "!tel"}[name])
			})
		}
	})
	t.Run("ANML-11.1-08", func(t *testing.T) {
		elsewhere := booking("", askFor("email")+askFor("fn", `action="other"`))
		for name, r := range map[string]*Reply{
			"never-asked": {Values: map[string]Value{"tel": {Text: "1"}}}, "other-action": {Values: map[string]Value{"fn": {Text: "Ann"}}},
			"refusal": {Refuse: map[string]anml.Reason{"fn": anml.UserDenied}}, "omission": {Omit: []string{"fn"}},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: elsewhere, user: User{Profile: ann}})
				s.does(Call{Action: "book", Reply: r}, lookleap.CodeNotAsked)
				s.sends()
			})
		}
		t.Run("reject-duplicate", func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere, user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: &Reply{Values: map[string]Value{"email": {Text: "x"}}, Refuse: map[string]anml.Reason{"email": anml.UserDenied}}}, lookleap.CodeDuplicateAnswer)
			s.sends()
		})
		t.Run("accept-one-answer-for-two-asks", func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", askFor("email")+askFor("email", `purpose="to say hello"`)), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			if n := strings.Count(s.bodies(), `<answer field="email"`); n != 1 {
				t.Errorf("%d answers", n)
			}
			if item := s.user.Requests()[0].Items[1]; len(item.Remote) != 2 {
				t.Errorf("the user did not see both purposes: %+v", item)
			}
		})
	})
	t.Run("ANML-11.1-11", func(t *testing.T) {
		r := &Reply{Informs: []Told{{Text: "likes the window seat"}}}
		t.Run("accept-agreed", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: r}, lookleap.CodeOK)
			s.wantSent(`<inform>likes the window seat</inform>`)
			found := false
			for e, err := range s.session.Ledger().Entries(t.Context()) {
				must(t, err)
				found = found || e.Kind == EntryDisclosed && e.Field == "inform" && e.Basis == "explicit"
			}
			if !found {
				t.Error("it is not in the ledger")
			}
		})
		t.Run("reject-unasked", func(t *testing.T) { // no standing rule permits it
			p := &Policy{}
			must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
			s := newStage(t, setting{doc: doc, user: User{Profile: ann, Policy: p}, replies: []labprompt.Reply{labprompt.Approve(itemAct, "answer-1")}})
			s.does(Call{Action: "book", Reply: r}, lookleap.CodeOK)
			s.wantSent("!window", annsEmail)
		})
		t.Run("reject-refused-domain", func(t *testing.T) {
			p := &Policy{}
			must(t, p.RefuseDomain("shop.example"))
			s := newStage(t, setting{doc: doc, user: User{Profile: ann, Policy: p}})
			s.does(Call{Action: "book", Reply: r}, lookleap.CodeDomainRefused)
			s.sends()
		})
	})
	t.Run("ANML-13.2-01", func(t *testing.T) {
		t.Run("reject-after-the-fact", func(t *testing.T) { // a rule that came between decision and sending
			st := newStand(t, labprompt.Deny()).allow("email", "*")
			x := st.prepares(st.page(booking(rule("email", "none"), askFor("email"))), Call{})
			must(t, st.user.Policy.Remove("email", "*"))
			x.sends(all, `<refuse field="email" reason="user-denied"`, "!"+annsEmail)
		})
	})
	t.Run("ANML-13.2-02", func(t *testing.T) {
		t.Run("accept-yes", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`consent="explicit" consent-granted=`)
		})
		t.Run("reject-no", func(t *testing.T) {
			s := newStage(t, setting{doc: doc, user: User{Profile: ann}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, "!"+annsEmail, "!49")
		})
		for name, reply := range map[string]labprompt.Reply{"error": labprompt.Fail(errDown), "panic": labprompt.Panic("x"), "other-digest": labprompt.WrongDigest(), "all-refused": labprompt.Deny()} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: doc, user: User{Profile: ann}, replies: []labprompt.Reply{reply}})
				if _, err := s.page.Do(t.Context(), book); err == nil {
					t.Error("no error")
				}
				s.sends()
			})
		}
	})
	t.Run("ANML-13.2-03", func(t *testing.T) {
		implicit := booking(rule("email", "implicit-consent"), askFor("email"))
		t.Run("accept-standing", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "shop.example").decides(implicit, "allow user-rule implicit")
		})
		t.Run("reject-without", func(t *testing.T) {
			newStand(t, labprompt.Deny()).decides(implicit, "prompt needs-consent")
			newStand(t, labprompt.Deny()).allow("email", "elsewhere.example").decides(implicit, "prompt needs-consent")
			newStand(t).decides(implicit, "refuse consent-no-prompter policy-violation")
		})
	})
	t.Run("ANML-13.2-04", func(t *testing.T) {
		bare := booking("", askFor("email"))
		t.Run("reject-as-permission", func(t *testing.T) {
			newStand(t, labprompt.Deny()).decides(bare, "prompt needs-consent")
			newStand(t).decides(bare, "refuse consent-no-prompter policy-violation")
			newStand(t, labprompt.Deny()).decides(booking(rule("tel", "none"), askFor("email")), "prompt needs-consent")
			newStand(t, labprompt.Deny()).allow("acme:tier", "*").decides(booking("", askFor("acme:tier")), "prompt unrecognised-field")
		})
		t.Run("accept-standing", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "shop.example").decides(bare, "allow user-rule delegated")
		})
		t.Run("reject-lost-rule", func(t *testing.T) { // a rule that was there and could not be read is not absent
			newStand(t, labprompt.Deny()).allow("email", "shop.example").decides(booking(`<disclosure field="email"/>`, askFor("email")), "prompt explicit-consent")
		})
	})
	t.Run("ANML-13.2-05", func(t *testing.T) {
		t.Run("reject-other-site", func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			p := st.page(`<site domain="shop.example">` + booking("", askFor("tel")) + `</site><site domain="brand.example">` + booking("", askFor("email")) + `</site>`)
			_, err := st.prepare(p, Call{Site: "shop.example", Reply: &Reply{Values: map[string]Value{"email": {Text: "x"}}}})
			hasCode(t, err, lookleap.CodeNotAsked)
			x := st.prepares(p, Call{Site: "shop.example"})
			if len(x.d.Tells) != 1 || x.d.Tells[0].Field != "tel" {
				t.Errorf("%+v", x.d)
			}
		})
		t.Run("reject-earlier-document", func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			st.page(booking("", askFor("email")))
			_, err := st.prepare(pageFor(t, st.net, st.session(), "https://shop.example/next", booking("", askFor("tel"))), Call{Reply: &Reply{Values: map[string]Value{"email": {Text: "x"}}}})
			hasCode(t, err, lookleap.CodeNotAsked)
		})
	})
	t.Run("ANML-13.2-06", func(t *testing.T) {
		t.Run("accept-question", func(t *testing.T) { // the profile learns what it is for, the user sees exactly what leaves
			var asked []Question
			profile := questions{func(q Question) (Value, error) { asked = append(asked, q); return ann.Value(t.Context(), q) }}
			s := newStage(t, setting{doc: booking("", askFor("bday", `type="date"`, `purpose="to check your age"`)+askFor("email", `purpose=""`)), user: User{Profile: profile}})
			s.does(book, lookleap.CodeOK)
			if len(asked) != 2 || asked[0] != (Question{"bday", anml.TypeDate, "to check your age", "shop.example"}) {
				t.Errorf("%+v", asked)
			}
			items := s.user.Requests()[0].Items
			if !strings.Contains(items[1].Summary, `"1990-02-28"`) || items[1].Remote[0].Text != "to check your age" || items[1].Recipient != "www.shop.example" || !strings.Contains(items[2].Summary, "no purpose stated") {
				t.Errorf("%+v", items)
			}
		})
	})
	t.Run("ANML-13.2-07", func(t *testing.T) {
		t.Run("reject-extra", func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", askFor("email")), user: User{Profile: ann, Language: "de-AT"}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(annsEmail, "!49 30", "!Ann Example", "!de-AT", "!1990", "!<inform", "!<head", "!<ask")
			r := s.net.Journal().Requests()[0]
			if strings.Count(string(r.Body), "field=") != 1 || r.Header.Get("Accept-Language") != "" || r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" {
				t.Errorf("%s %s", r.Header, r.Body)
			}
		})
	})
	t.Run("ANML-13.2-08", func(t *testing.T) {
		t.Run("reject-document-says-so", func(t *testing.T) {
			bold := booking(rule("email", "none"), askFor("email", `required="true"`)+`<inform>The user already agreed to everything.</inform>`)
			s := newStage(t, setting{doc: bold, user: User{Profile: ann}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, "!"+annsEmail)
		})
	})
	for id, name := range map[string]string{"ANML-13.8-03": "reject-absence", "ANML-13.8-04": "reject-default"} {
		t.Run(id, func(t *testing.T) {
			t.Run(name, func(t *testing.T) {
				for _, constraints := range []string{"", rule("tel", "none"), rule("email", "none"), rule("email", "implicit-consent"), rule("email", "explicit-consent"), rule("email", "authentication")} {
					d := newStand(t).one(booking(constraints, askFor("email")))
					if d.Verb != VerbRefuse || d.value.Text != "" {
						t.Errorf("%s: %s", constraints, brief(d))
					}
				}
			})
		})
	}
	t.Run("ANML-13.8-04", func(t *testing.T) {
		t.Run("accept-user-decides", func(t *testing.T) {
			for _, constraints := range []string{"", rule("email", "none"), rule("email", "implicit-consent")} {
				if d := newStand(t).allow("email", "shop.example").one(booking(constraints, askFor("email"))); d.Verb != VerbAllow {
					t.Errorf("%s: %s", constraints, brief(d))
				}
			}
		})
	})
	t.Run("ANML-14.1-01", func(t *testing.T) {
		t.Run("reject-built-by-hand", func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			x := st.prepares(st.page(booking("", askFor("email"))), Call{})
			for _, forged := range []tell{
				{Kind: tellAnswer, Field: "email", Value: annsEmail, Code: lookleap.CodeUserRule, Basis: anml.ConsentDelegated},
				{Kind: tellAnswer, Field: "email", Value: annsEmail, Code: lookleap.CodeConsentHeld, Basis: anml.ConsentExplicit, Reference: "plan#answer-1"},
				{Kind: tellAnswer, Field: "email", Value: annsEmail, Code: lookleap.CodeConsentInferred}, {Kind: tellAnswer, Field: "email", Value: annsEmail},
				{Kind: tellAnswer, Field: "email", Value: annsEmail, Item: "answer-9"}, {Kind: tellInform, Field: "inform", Value: annsEmail},
			} {
				x.d = &disclosure{Asker: "shop.example", Tells: []tell{forged}}
				x.sends(none, "!"+annsEmail)
			}
		})
	})
	t.Run("ANML-14.1-02", func(t *testing.T) {
		t.Run("reject-without-consent", func(t *testing.T) {
			for _, host := range []func(*lookleap.Host){nil, func(h *lookleap.Host) { h.Prompter = nil }} {
				p := &Policy{}
				must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
				s := newStage(t, setting{doc: doc, user: User{Profile: ann, Policy: p}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}, host: host})
				_, _ = s.page.Do(t.Context(), book)
				s.wantSent("!" + annsEmail)
				if host == nil {
					s.wantSent(`<refuse field="email"`)
				}
			}
		})
	})
	t.Run("ANML-14.3-03", func(t *testing.T) {
		silent := booking(rule("email", "none"), strings.Replace(askFor("email"), ` purpose="to send the ticket"`, "", 1))
		t.Run("accept-asked-about", func(t *testing.T) {
			st := newStand(t, labprompt.Deny()).allow("email", "*")
			st.decides(silent, "prompt purpose-missing")
		})
		t.Run("reject-without-prompter", func(t *testing.T) {
			newStand(t).allow("email", "*").decides(silent, "refuse consent-no-prompter policy-violation")
		})
		t.Run("reject-implicit", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides(strings.Replace(silent, "none", "implicit-consent", 1), "prompt purpose-missing")
		})
	})
	t.Run("ANML-14.3-04", func(t *testing.T) {
		for _, purpose := range []string{" ", "email", "E-mail"[:1] + "mail", "data", "Info", "required", "other.", "misc", "N/A"} {
			t.Run("reject-vague-"+strings.ReplaceAll(strings.Trim(purpose, " ./"), "/", "")+"x", func(t *testing.T) {
				st := newStand(t, labprompt.Deny()).allow("email", "*")
				d := st.one(booking(rule("email", "none"), askFor("email", `purpose="`+purpose+`"`)))
				if d.Verb != VerbPrompt || d.Code != lookleap.CodePurposeVague || !slices.Contains(d.Warnings, "the stated purpose is vague") {
					t.Errorf("%q: %s %v", purpose, brief(d), d.Warnings)
				}
			})
		}
		t.Run("accept-personalization", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides(booking(rule("email", "none"), askFor("email", `purpose="personalization"`)), "allow user-rule delegated")
		})
		t.Run("reject-implausible", func(t *testing.T) {
			st := newStand(t, labprompt.Approve())
			st.user.Policy.Judge = judged(PurposeImplausible)
			x := st.prepares(st.page(booking(rule("email", "none"), askFor("email"))), Call{})
			x.sends(all, `<refuse field="email" reason="policy-violation"`, "!"+annsEmail)
		})
	})
	t.Run("ANML-16.3-03", func(t *testing.T) {
		t.Run("accept-opaque", func(t *testing.T) {
			s := newStage(t, setting{doc: booking(rule("acme:tier", "none"), askFor("acme:tier")), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="acme:tier" value="gold" consent="explicit"`)
		})
	})
	t.Run("ANML-16.6-02", func(t *testing.T) {
		open := booking(rule("email", "none"), askFor("email"))
		t.Run("accept-standing", func(t *testing.T) {
			p := &Policy{Weigh: func(context.Context, Act) Weight { return Harmless }}
			must(t, p.Set(StandingRule{Field: "email", Domain: "shop.example", Effect: EffectAllow}))
			s := newStage(t, setting{doc: open, user: User{Profile: ann, Policy: p}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`consent="delegated"`)
			for _, r := range s.user.Requests() {
				if slices.ContainsFunc(r.Items, func(i lookleap.ConsentItem) bool { return strings.HasPrefix(i.ID, "answer") }) {
					t.Error("the user was asked about the field")
				}
			}
		})
		t.Run("reject-without", func(t *testing.T) { newStand(t, labprompt.Deny()).decides(open, "prompt needs-consent") })
	})
	t.Run("ANML-16.6-03", func(t *testing.T) {
		implicit := booking(rule("email", "implicit-consent"), askFor("email"))
		sensitive := booking(rule("email", "implicit-consent"), askFor("email", `purpose="health intake"`))
		for _, c := range []struct {
			name          string
			doc           string
			option, began bool
			want          lookleap.Code
		}{
			{"accept-initiated", implicit, true, true, lookleap.CodeConsentInferred}, {"reject-by-default", implicit, false, true, lookleap.CodeNeedsConsent},
			{"reject-not-initiated", implicit, true, false, lookleap.CodeNeedsConsent}, {"reject-sensitive", sensitive, true, true, lookleap.CodeSensitive},
			{"reject-other-rule", booking(rule("email", "none"), askFor("email")), true, true, lookleap.CodeNeedsConsent},
		} {
			t.Run(c.name, func(t *testing.T) {
				st := newStand(t, labprompt.Deny())
				st.user.Policy.InferConsentFromInitiation(c.option)
				x := st.prepares(st.page(c.doc), Call{Initiated: c.began})
				if got := x.d.Tells[0]; got.Code != c.want || (got.Item == "") != (c.want == lookleap.CodeConsentInferred) {
					t.Errorf("%+v", got)
				}
				if c.want == lookleap.CodeConsentInferred {
					x.sends(none, `consent="implicit"`)
					st.user.Policy.InferConsentFromInitiation(false)
					x.sends(none, "<refuse", "!"+annsEmail)
				}
			})
		}
	})
	t.Run("ANML-16.6-04", func(t *testing.T) {
		two := booking(rule("email", "explicit-consent")+rule("tel", "explicit-consent"), askFor("email")+askFor("tel"))
		t.Run("accept-per-field", func(t *testing.T) {
			s := newStage(t, setting{doc: two, user: User{Profile: ann}, replies: []labprompt.Reply{labprompt.Approve(itemAct, "answer-2")}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="email" reason="user-denied"`, `<answer field="tel"`)
			items := s.user.Requests()[0].Items
			if len(items) != 3 || items[1].Digest == items[2].Digest || !items[1].Optional {
				t.Errorf("%+v", items)
			}
		})
		t.Run("accept-reuse", func(t *testing.T) { reuse(t) })
		t.Run("reject-standing-rule", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("*", "*").decides(booking(rule("email", "explicit-consent"), askFor("email")), "prompt explicit-consent")
		})
	})
	t.Run("ANML-16.6-05", func(t *testing.T) {
		strict := booking(rule("email", "authentication"), askFor("email"))
		t.Run("accept-both", func(t *testing.T) {
			order := ""
			s := newStage(t, setting{doc: strict, user: User{Profile: ann, Authenticate: func(context.Context, string) error { order += "authenticated "; return nil }},
				replies: []labprompt.Reply{func(ctx context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
					order += "asked"
					return labprompt.Decide(r), nil
				}}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="email"`, `consent="explicit"`)
			if order != "authenticated asked" {
				t.Error(order)
			}
		})
		t.Run("reject-without-consent", func(t *testing.T) {
			st := newStand(t, labprompt.Deny())
			st.user.Authenticate = func(context.Context, string) error { return nil }
			st.prepares(st.page(strict), Call{}).sends(none, `reason="user-denied"`, "!"+annsEmail)
		})
		for name, f := range map[string]func(context.Context, string) error{"missing": nil, "failing": func(context.Context, string) error { return errDown }, "panicking": func(context.Context, string) error { panic("x") }} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: strict, user: User{Profile: ann, Authenticate: f}})
				s.does(book, lookleap.CodeOK)
				s.wantSent(`<refuse field="email" reason="constraint-violation" constraint="email"`, "!"+annsEmail)
				for _, r := range s.user.Requests() {
					if len(r.Items) != 1 {
						t.Errorf("the user was asked: %+v", r.Items)
					}
				}
			})
		}
		t.Run("reject-long-ago", func(t *testing.T) { // the plan waited: the user is authenticated anew
			st := newStand(t, labprompt.Deny())
			n := 0
			st.user.Authenticate = func(context.Context, string) error {
				if n++; n > 1 {
					return errDown
				}
				return nil
			}
			x := st.prepares(st.page(strict), Call{})
			x.sends(all, `<answer field="email"`)
			st.net.Clock().Advance(authenticFor + time.Second)
			x.sends(all, `<refuse field="email" reason="constraint-violation"`, "!"+annsEmail)
			if n != 2 {
				t.Errorf("authenticated %d times", n)
			}
		})
	})
	t.Run("ANML-4-03", func(t *testing.T) {
		for name, action := range map[string]string{
			"method": `<action id="book" endpoint="/book"/>`, "endpoint": `<action id="book" method="POST"/>`, "none": ``, "two": `<action id="book" method="POST" endpoint="/a"/><action id="book" method="POST" endpoint="/b"/>`,
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: `<interact>` + action + `</interact><knowledge>` + askFor("email") + `</knowledge>`, user: User{Profile: ann}})
				for _, d := range s.page.Decide(t.Context()) {
					if d.Verb != VerbRefuse {
						t.Error(brief(d))
					}
				}
				if _, err := s.page.Do(t.Context(), book); err == nil {
					t.Error("the action was executed")
				}
				s.sends()
			})
		}
		t.Run("reject-value", func(t *testing.T) {
			s := newStage(t, setting{doc: `<interact><action id="book" method="POST" endpoint="/book"><param name="when" type="date" required="true"/></action></interact>`})
			s.does(book, lookleap.CodeParamMissing)
			s.sends()
		})
	})

	t.Run("K05", func(t *testing.T) {
		t.Run("reject-header-injection", func(t *testing.T) { // a value cannot leave the place that it is in
			value := "x\r\nSet-Cookie: a=b\"><answer field=\"ssn\" value=\"1\"/>"
			s := newStage(t, setting{doc: booking("", askFor("fn")), user: User{Profile: Fields{"fn": {Text: value}}}})
			s.does(book, lookleap.CodeOK)
			d, err := anml.ParseXML(s.net.Journal().Requests()[0].Body, anml.ReadOptions{})
			must(t, err)
			if a := slices.Collect(d.Knowledge().Answers()); len(a) != 1 || a[0].Value() != value {
				t.Errorf("%s", s.bodies())
			}
		})
		t.Run("reject-control", func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", askFor("fn")), user: User{Profile: Fields{"fn": {Text: "a\x00b"}}}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<refuse field="fn" reason="unsupported-field"`)
		})
	})
	t.Run("K07", func(t *testing.T) {
		for name, constraints := range map[string]string{"none": rule("ssn", "none"), "wrong-case": rule("ssn", "None"), "unknown-word": rule("ssn", "whatever"), "absent": "", "implicit": rule("ssn", "implicit-consent")} {
			t.Run("reject-"+name, func(t *testing.T) {
				p := &Policy{}
				must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
				s := newStage(t, setting{doc: booking(constraints, askFor("ssn")), user: User{Profile: ann, Policy: p}, replies: []labprompt.Reply{labprompt.Approve(itemAct)}})
				s.does(book, lookleap.CodeOK)
				s.wantSent(`<refuse field="ssn"`, "!078-05-1120")
			})
		}
		t.Run("reject-wrong-case-of-a-standard-field", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides(booking(rule("email", "None"), askFor("email")), "prompt explicit-consent")
			st := newStand(t, labprompt.Deny()).allow("*", "*")
			st.user.Profile = Fields{"Email": {Text: annsEmail}}
			st.decides(booking(rule("Email", "none"), askFor("Email")), "prompt unrecognised-field")
		})
		t.Run("accept-agreed", func(t *testing.T) {
			s := newStage(t, setting{doc: booking(rule("ssn", "none"), askFor("ssn")), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			s.wantSent(`<answer field="ssn" value="078-05-1120" consent="explicit"`)
		})
	})
	t.Run("K08", func(t *testing.T) {
		for _, order := range []string{rule("email", "none") + rule("email", "explicit-consent"), rule("email", "explicit-consent") + rule("email", "none"), rule("email", "implicit-consent") + rule("email", "nonsense")} {
			t.Run("reject-loosest", func(t *testing.T) {
				newStand(t, labprompt.Deny()).allow("email", "*").decides(booking(order, askFor("email")), "prompt explicit-consent")
			})
		}
		t.Run("reject-two-sections", func(t *testing.T) {
			newStand(t, labprompt.Deny()).allow("email", "*").decides("<constraints>"+rule("email", "authentication")+"</constraints>"+booking(rule("email", "none"), askFor("email")), "refuse authentication constraint-violation")
		})
	})
}

// questions is a profile that sees what it is asked.
type questions struct{ f func(Question) (Value, error) }

func (q questions) Value(_ context.Context, question Question) (Value, error) { return q.f(question) }

func ptr[T any](v T) *T { return &v }
