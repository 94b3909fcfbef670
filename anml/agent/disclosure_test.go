package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

const annsEmail = "ann@example.org"

// bodies are the bodies of all requests of a stage, with their targets and
// headers: everywhere that a value could be. The Idempotency-Key is left out: it is a random
// number, which may contain the digits of a value by chance.
func (s *stage) bodies() string {
	var b strings.Builder
	for _, r := range s.net.Journal().Requests() {
		b.WriteString(r.Method + " " + r.Target + "\n")
		_ = r.Header.WriteSubset(&b, map[string]bool{"Idempotency-Key": true})
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
				equals(t, r.Header.Get("Content-Type"), c.want)
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
				s.does(book, CodeNoBodyMethod)
				s.sends()
			})
		}
	})
	t.Run("ANML-11.1-02", func(t *testing.T) {
		t.Run("accept-json-enctype", func(t *testing.T) {
			s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="/book" enctype="application/anml+json"`, 1), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			sameList(t, s.net.Journal().Requests()[0].Header.Values("Content-Type"), []string{anml.MediaTypeJSON})
		})
		t.Run("reject-form-enctype", func(t *testing.T) {
			s := newStage(t, setting{doc: strings.Replace(doc, `endpoint="/book"`, `endpoint="/book" enctype="application/x-www-form-urlencoded"`, 1), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			sameList(t, s.net.Journal().Requests()[0].Header.Values("Content-Type"), []string{anml.MediaTypeXML})
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
						s.shop.Fault("/anml", lookleaptest.Header("Accept", c.accept))
					}
				}})
				s.does(book, lookleap.CodeOK)
				equals(t, s.net.Journal().Requests()[0].Header.Get("Content-Type"), c.want)
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
			st := transfers(t, `confidentiality="restricted"`, lookleaptest.Approve())
			hasCode(t, second(st.prepare(st.b, Call{})), CodeRequiredAskOpen)
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
			"second-omission": {Omit: []string{"email", "fn"}},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				s := newStage(t, setting{doc: elsewhere, user: User{Profile: ann}})
				s.does(Call{Action: "book", Reply: r}, CodeNotAsked)
				s.sends()
			})
		}
		t.Run("reject-duplicate", func(t *testing.T) {
			s := newStage(t, setting{doc: elsewhere, user: User{Profile: ann}})
			s.does(Call{Action: "book", Reply: &Reply{Values: map[string]Value{"email": {Text: "x"}}, Refuse: map[string]anml.Reason{"email": anml.UserDenied}}}, CodeDuplicateAnswer)
			s.sends()
		})
		t.Run("accept-one-answer-for-two-asks", func(t *testing.T) {
			s := newStage(t, setting{doc: booking("", askFor("email")+askFor("email", `purpose="to say hello"`)), user: User{Profile: ann}})
			s.does(book, lookleap.CodeOK)
			equals(t, strings.Count(s.bodies(), `<answer field="email"`), 1)
			equals(t, len(s.user.Requests()[0].Items[1].Remote), 2)
		})
	})
	t.Run("ANML-11.1-11", func(t *testing.T) {
		r := &Reply{Informs: []Value{{Text: "likes the window seat"}}}
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
			p := &UserPolicy{}
			must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
			s := newStage(t, setting{doc: doc, user: User{Profile: ann, Policy: p}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct, "answer-1")}})
			s.does(Call{Action: "book", Reply: r}, lookleap.CodeOK)
			s.wantSent("!window", annsEmail)
		})
		t.Run("reject-refused-domain", func(t *testing.T) {
			p := &UserPolicy{}
			must(t, p.Set(StandingRule{Field: "*", Domain: "shop.example"}))
			s := newStage(t, setting{doc: doc, user: User{Profile: ann, Policy: p}})
			s.does(Call{Action: "book", Reply: r}, CodeDomainRefused)
			s.sends()
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
			s.does(book, anml.CodeParamMissing)
			s.sends()
		})
	})
}

// questions is a profile that sees what it is asked.
type questions struct{ f func(Question) (Value, error) }

func (q questions) Value(_ context.Context, question Question) (Value, error) { return q.f(question) }

func ptr[T any](v T) *T { return &v }

// TestDiscloseAttacks shows attacks on what may be told.
func TestDiscloseAttacks(t *testing.T) {
	book := Call{Action: "book"}

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
				p := &UserPolicy{}
				must(t, p.Set(StandingRule{Field: "*", Domain: "*", Effect: EffectAllow}))
				s := newStage(t, setting{doc: booking(constraints, askFor("ssn")), user: User{Profile: ann, Policy: p}, replies: []lookleaptest.Reply{lookleaptest.Approve(itemAct)}})
				s.does(book, lookleap.CodeOK)
				s.wantSent(`<refuse field="ssn"`, "!078-05-1120")
			})
		}
	})
	t.Run("K08", func(t *testing.T) {
		for _, order := range []string{rule("email", "none") + rule("email", "explicit-consent"), rule("email", "explicit-consent") + rule("email", "none"), rule("email", "implicit-consent") + rule("email", "nonsense")} {
			t.Run("reject-loosest", func(t *testing.T) {
				newStand(t, lookleaptest.Refuse()).allow("email", "*").decides(booking(order, askFor("email")), "prompt explicit-consent")
			})
		}
		t.Run("reject-two-sections", func(t *testing.T) {
			newStand(t, lookleaptest.Refuse()).allow("email", "*").decides("<constraints>"+rule("email", "authentication")+"</constraints>"+booking(rule("email", "none"), askFor("email")), "refuse authentication constraint-violation")
		})
	})
}

// prepared is a call with its disclosure, not yet sent.
type prepared struct {
	st    *stand
	p     *Page
	e     *effect
	items []lookleap.ConsentItem
}

// plainOf returns the arguments that say nothing about the user.
func plainOf(e *effect) []disclosure {
	return slices.DeleteFunc(slices.Clone(e.Disclosures), func(t disclosure) bool { return t.Kind != disclosePlain })
}

func (st *stand) prepare(p *Page, c Call) (*prepared, error) {
	st.Helper()
	if c.Action == "" {
		c.Action = "book"
	}
	site, _ := p.container(c.Site)
	act, err := site.Interact().Action(c.Action)
	must(st, err)
	f := p.decider(site, p.session.agent.host.Time(), c.Initiated)
	to := f.route(c.Action)
	if to.unusable != nil && (len(c.Args) == 0 || lookleap.CodeOf(to.unusable) != CodeNoBodyMethod) {
		st.Fatal(to.unusable)
	}
	var args []anml.Arg
	if len(c.Args) > 0 {
		if args, err = act.Args(c.Args); err != nil {
			st.Fatal(err)
		}
		// What is asked besides is left out: arguments and answers go different ways.
		r := Reply{}
		if c.Reply != nil {
			r = *c.Reply
		}
		for a := range site.Knowledge().Asks() {
			if a.Action() == act.ID() && !slices.Contains(r.Omit, a.Field()) {
				r.Omit = append(r.Omit, a.Field())
			}
		}
		c.Reply = &r
	}
	asked := merge(asksByAction(site)[act.ID()])
	if err := p.checkReply(c.reply(), asked); err != nil {
		return &prepared{st: st, p: p}, err
	}
	disclosures, items, err := f.disclose(st.Context(), to.exchange, asked, act, args, c)
	return &prepared{st, p, &effect{Exchange: to.exchange, Disclosures: disclosures}, items}, err
}

func (st *stand) prepares(p *Page, c Call) *prepared {
	st.Helper()
	x, err := st.prepare(p, c)
	must(st, err)
	return x
}

// settle sends what was prepared, as far as a test can see: the response in XML
// and the ledger's entries.
func (x *prepared) settle(approved func(string) bool, until time.Time) (string, []Entry, error) {
	x.st.Helper()
	now := x.st.net.Clock().Now()
	disclosures, err := x.p.session.recheck(x.st.Context(), x.e, "plan", approved, until, now)
	if err != nil {
		return "", nil, err
	}
	entries := x.p.session.entries(x.e.Exchange, "plan", disclosures, now)
	doc, err := response(x.e.Exchange, disclosures)
	must(x.st, err)
	if doc == nil {
		return "", entries, nil
	}
	data, err := anml.MarshalXML(doc, anml.WriteOptions{})
	must(x.st, err)
	return string(data), entries, nil
}

func (x *prepared) settles(approved func(string) bool) (string, []Entry) {
	x.st.Helper()
	text, entries, err := x.settle(approved, time.Time{})
	must(x.st, err)
	return text, entries
}

// sends settles and checks the texts of the response (see hasTexts).
func (x *prepared) sends(approved func(string) bool, want ...string) []Entry {
	x.st.Helper()
	text, entries := x.settles(approved)
	hasTexts(x.st, text, want...)
	return entries
}
