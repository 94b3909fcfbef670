package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

func flowDoc(state string) string {
	return `<head><title>Shop</title></head><state>` + state + `</state>` +
		`<interact><action id="search" method="GET" endpoint="/s"/><action id="pay" method="POST" endpoint="/p"/><action id="pay2" method="TRACE" endpoint="/p"/></interact>`
}

func show(f Flow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %q err %v:", f.Current, f.Err)
	for _, s := range f.Steps {
		fmt.Fprintf(&b, " %s", s.Step.ID())
		if s.Reachable {
			b.WriteString("+")
		}
		if s.Step.Required() {
			b.WriteString("!")
		}
		if s.Action != "" {
			b.WriteString("(" + s.Action + ")")
		}
	}
	return b.String()
}

func TestFlow(t *testing.T) {
	steps := `<flow><step id="find" label="Find" next="choose" action="search"/><step id="choose" next="pay" action="none"/><step id="pay" required="true" action="pay"/><step id="alone" action="pay2"/></flow>`
	for _, c := range []struct{ name, state, want string }{
		{"ANML-9.2-02/accept-flow-position-and-actions", steps + `<context><step>choose</step></context>`, `at "choose" err <nil>: find(search) choose+ pay+!(pay) alone`},
		{"ANML-11.4-06/reject-unknown-step", steps + `<context><step>gone</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"ANML-11.4-06/reject-inferring-from-status", strings.Replace(steps, `id="find"`, `id="find" status="current"`, 1) + `<context><step>gone</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"ANML-11.4-06/reject-first-as-current", steps, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"K14/reject-step-not-in-flow", steps + `<context><step>x</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"K14/accept-first-of-two", `<flow><step id="a" next="b" action="search"/><step id="a" next="c" action="pay"/><step id="b"/><step id="c"/></flow><context><step>a</step></context>`, `at "a" err <nil>: a+(search) b+ c`},
		{"K13/reject-cycle", `<flow><step id="a" next="b"/><step id="b" next="a"/></flow><context><step>a</step></context>`, `at "" err the flow is a cycle without an exit:`},
		{"K13/reject-self", `<flow><step id="a" next="a"/></flow><context><step>a</step></context>`, `at "" err the flow is a cycle without an exit:`},
		{"K13/accept-exit", `<flow><step id="a" next="b" condition="until sold"/><step id="b" next="a"/></flow><context><step>a</step></context>`, `at "a" err <nil>: a+ b+`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, asJSON := range []bool{false, true} {
				s := newStage(t, setting{doc: flowDoc(c.state), json: asJSON})
				equals(t, show(s.page.Flow("")), c.want)
			}
		})
	}
	t.Run("ANML-11.4-06/accept-actions-stay", func(t *testing.T) {
		s := newStage(t, setting{doc: flowDoc(steps + `<context><step>gone</step></context>`)})
		s.does(Call{Action: "search"}, lookleap.CodeOK)
	})
	t.Run("K13/reject-many-steps", func(t *testing.T) {
		var many strings.Builder
		for i := range 300 {
			fmt.Fprintf(&many, `<step id="s%d" next="s%d"/>`, i, i+1)
		}
		net := newLab(t)
		net.Site("www.shop.example").File("/anml", "application/anml+xml", service(flowDoc("<flow>"+many.String()+"</flow>")))
		if _, err := newSession(t, net, User{}, Options{}).Open(t.Context(), documentURL); err == nil {
			t.Error("a flow of 300 steps is read")
		}
	})
	t.Run("ANML-9.2-02/reject-actions-of-an-unverified-site", func(t *testing.T) {
		state := `<state><flow><step id="x" action="here"/><step id="y" action="own"/></flow></state>`
		doc := strings.ReplaceAll(brandSite, "<interact>", state+"<interact>")
		s := newStage(t, setting{doc: doc})
		equals(t, show(s.page.Flow("shop.example")), `at "" err <nil>: x y(own)`)
		equals(t, show(s.page.Flow("brand.example")), `at "" err <nil>: x y`)
	})
	t.Run("ANML-9.2-02/accept-none", func(t *testing.T) {
		s := newStage(t, setting{doc: gettable})
		if f := s.page.Flow(""); len(f.Steps) != 0 || f.Current != "" || f.Err != nil {
			t.Errorf("%+v", f)
		}
		if f := s.page.Flow("other.example"); len(f.Steps) != 0 {
			t.Errorf("%+v", f)
		}
	})
}

// The rows about role and version of a document (section 8.1).

func TestRole(t *testing.T) {
	const head = titled
	xml := func(role string) string { return strings.Replace(service(head), ` role="service"`, role, 1) }
	for name, c := range map[string]struct {
		id, role string
		want     lookleap.Code
	}{
		"inferred": {"ANML-8.1-06", "", lookleap.CodeOK}, "equal": {"ANML-8.1-07", ` role="service"`, lookleap.CodeOK},
		"another": {"ANML-8.1-08", ` role="agent-response"`, "role-conflict"}, "unknown": {"ANML-8.1-08", ` role="oracle"`, "role-conflict"},
		"other": {"ANML-8.1-07", ` role="agent-response"`, "role-conflict"},
	} {
		verdict := "reject-"
		if c.want == lookleap.CodeOK {
			verdict = "accept-"
		}
		t.Run(c.id+"/"+verdict+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.File(wellKnownPath, anml.MediaTypeXML, xml(c.role)).File("/a", anml.MediaTypeXML, xml(c.role))
			if c.want != lookleap.CodeOK {
				if e := f.fails(f.s, c.want); !errors.Is(e, anml.ErrRoleConflict) {
					t.Error(e)
				}
			} else if p := f.finds(f.s, "Shop"); p.Document().Role() != anml.RoleService {
				t.Error(p.Document().Role())
			}
			_, err := f.s.Open(t.Context(), shopOrigin+"/a")
			hasCode(t, err, c.want)
		})
		read := c.want == lookleap.CodeOK
		t.Run(c.id+"/"+verdict+name+"-after-an-action", func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			s.shop.Handle("/a", answering(200, anml.MediaTypeXML, xml(c.role)))
			if r := s.does(Call{Action: "a"}, c.want); r == nil || (r.Page != nil) != read || read && r.Page.Document().Role() != anml.RoleService {
				t.Errorf("%+v", r)
			}
		})
		t.Run(c.id+"/"+verdict+name+"-of-a-site-ref", func(t *testing.T) {
			f := newFinding(t)
			f.net.Site("brand.example").File("/a", anml.MediaTypeXML, xml(c.role))
			f.site.Handle(wellKnownPath, document(`<head><title>Shop</title><site-ref domain="brand.example" canonical="https://brand.example/a"/></head>`))
			refs := f.finds(f.s, "Shop").SiteRefs()
			if len(refs) != 1 || (refs[0].Page != nil) != read || read && refs[0].Page.Document().Role() != anml.RoleService || !read && !errors.Is(refs[0].Err, anml.ErrRoleConflict) {
				t.Errorf("%+v", refs)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	versioned := func(attrs string) string {
		return strings.Replace(service(titled+payable), `version="1.0" role`, attrs+` role`, 1)
	}
	for attrs, want := range map[string]int{`version="1.1"`: 1, `version="2.0"`: 1, `version="10.0"`: 1, `version="x"`: 1, `version="1.0"`: 0, ``: 0, `version="0.9"`: 0} {
		verdict := "accept-"
		if want == 0 {
			verdict = "reject-"
		}
		t.Run("ANML-8.1-21/"+verdict+"told-of-"+attrs, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, scripted(200, versioned(attrs), "Etag", `"1"`))
			for range 2 { // once for each document
				f.finds(f.s, "Shop")
			}
			if len(f.told) != want || want == 1 && (f.told[0].Kind != NoticeNewerVersion || f.told[0].Origin != shopOrigin) || len(f.s.Notices()) != want {
				t.Errorf("%+v", f.told)
			}
		})
	}
	for version, want := range map[string]lookleap.Code{"1.0": lookleap.CodeOK, "1.7": lookleap.CodeOK, "2.0": lookleap.CodeConsentNoPrompter} {
		verdict := "accept"
		if want != lookleap.CodeOK {
			verdict = "reject"
		}
		t.Run("ANML-8.1-21/"+verdict+"-unconfirmed-"+version, func(t *testing.T) {
			f := newFinding(t)
			doc := service(titled + `<interact><action id="find" method="GET" endpoint="/find"><description>Find</description></action></interact>`)
			f.site.File(wellKnownPath, anml.MediaTypeXML, strings.Replace(doc, `version="1.0" role`, `version="`+version+`" role`, 1)).Handle("/find", document(titled))
			_, err := f.finds(f.s, "Shop").Do(t.Context(), Call{Action: "find"})
			hasCode(t, err, want)
		})
	}
	for _, offers := range []string{`2.0,3.0`, ``, ` , `} {
		doc := versioned(`version="1.0" supported-versions="` + offers + `"`)
		t.Run("ANML-8.1-22/accept-readable-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.File(wellKnownPath, anml.MediaTypeXML, doc)
			f.finds(f.s, "Shop")
		})
		t.Run("ANML-8.1-23/reject-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.File(wellKnownPath, anml.MediaTypeXML, doc)
			p := f.finds(f.s, "Shop")
			hasCode(f, second(p.Do(t.Context(), Call{Action: "pay"})), anml.CodeNoVersion)
			f.requests("shop.example", getWellKnown)
			if len(p.Tools()) != 0 {
				t.Error(p.Tools())
			}
		})
		t.Run("ANML-8.1-24/accept-told-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.File(wellKnownPath, anml.MediaTypeXML, doc)
			p := f.finds(f.s, "Shop")
			_, err := p.Do(t.Context(), Call{Action: "pay"})
			for _, want := range []string{strings.Trim(strings.ReplaceAll(offers, ",", ", "), ", "), "1.0"} {
				if !strings.Contains(err.Error(), want) || !strings.Contains(f.told[0].Text, want) {
					t.Errorf("%v; %+v", err, f.told)
				}
			}
			if len(f.told) != 1 || f.told[0].Kind != NoticeUnsupported {
				t.Errorf("%+v", f.told)
			}
		})
	}
	t.Run("ANML-8.1-23/accept-our-version", func(t *testing.T) {
		f := newFinding(t)
		f.site.File(wellKnownPath, anml.MediaTypeXML, versioned(`version="1.0" supported-versions="2.0, 1.0"`))
		if p := f.finds(f.s, "Shop"); p.executable() != nil || len(f.told) != 0 {
			t.Error(p.executable(), f.told)
		}
	})
}

// payable is an interact section with one action.
const payable = `<interact><action id="pay" method="POST" endpoint="/pay"><description>Pay</description></action></interact>`

// TestStateRows: the effect of a plan and a line of a ledger have one reading.
func TestStateRows(t *testing.T) {
	t.Run("P08", func(t *testing.T) {
		s := newStage(t, setting{doc: asking, user: User{Profile: ada}, replies: nil})
		in, err := s.page.prepare(t.Context(), Call{Action: "book"})
		must(t, err)
		good, err := json.Marshal(in.effect)
		must(t, err)
		t.Run("accept-effect", func(t *testing.T) {
			must(t, second(parseEffect(good)))
		})
		for name, change := range map[string][2]string{
			"method-in-capital": {`"method":"POST"`, `"method":"POST","Method":"GET"`},
			"duplicate-method":  {`"method":"POST"`, `"method":"POST","method":"POST"`},
			"unknown-member":    {`"method":"POST"`, `"method":"POST","more":1`},
			"null-action":       {`"action":"book"`, `"action":null`},
		} {
			t.Run("reject-effect-with-"+name, func(t *testing.T) {
				text := strings.Replace(string(good), change[0], change[1], 1)
				if text == string(good) {
					t.Fatalf("nothing is changed in %s", good)
				}
				hasCode(t, second(parseEffect([]byte(text))), lookleap.CodePlanInvalid)
			})
		}
		entry := `[{"time":"2026-05-01T09:00:00Z","plan":"p","kind":"refused","serving":"a.example","owner":"a.example","endpoint":"a.example","document":"https://a.example","number":1}]`
		read := func(body string) ([]Entry, error) {
			store := lookleap.NewMemoryStore()
			must(t, store.Put(t.Context(), ledgerKey(1), nil, []byte(body), time.Time{}))
			return NewLedger(store).read(t.Context(), ledgerKey(1))
		}
		t.Run("accept-line", func(t *testing.T) {
			if entries, err := read(entry); err != nil || entries[0].Kind != EntryRefused {
				t.Errorf("%+v, %v", entries, err)
			}
		})
		for name, change := range map[string]string{
			"kind-in-capital": `"kind":"refused","Kind":"disclosed"`, "duplicate-kind": `"kind":"disclosed","kind":"refused"`, "unknown-member": `"kind":"refused","more":1`,
		} {
			t.Run("reject-line-with-"+name, func(t *testing.T) {
				if entries, err := read(strings.Replace(entry, `"kind":"refused"`, change, 1)); err == nil {
					t.Errorf("%+v", entries)
				}
			})
		}
	})
}

// twinSections are the sections of a site in which attributes are missing, unknown or misspelled.
const twinSections = `<head><title>T</title></head>
<constraints><disclosure field="email" requires="none"/><disclosure field="tel" requires="explicit-consent" valid-for="60"/>
<disclosure field="bday" requires="whatever"/><disclosure field="Email" requires="implicit-consent" valid-for="x"/></constraints>
<interact><action id="book" method="POST" endpoint="/book" confirm="TRUE" idempotent="1" auth="maybe"/><action id="find" method="post" endpoint="/find" auth="required"/>
<action id="twice" endpoint="/a"/><action id="twice" method="CONNECT" endpoint="/b"/></interact>
<knowledge><inform usage="store" confidentiality="secret">Member 4711-8822</inform><inform usage="all">gold</inform>
<ask field="email" action="book" purpose="to write to you" required="true"/><ask field="tel" action="book" purpose="data" type="DATE"/>
<ask field="bday" action="book" type="date"/><ask field="diagnosis" action="book" purpose="health intake" required="TRUE"/>
<ask field="acme:tier" action="find" purpose="email"/><ask field="lang" action="nowhere" purpose="&lt;b>"/><ask field="ssn" action="twice" purpose="x"/></knowledge>
<body usage="cache"><section id="s" usage="train">text</section><img src="/i" usage="none"/><video src="/v"/></body>
<footer><rights usage="display" scope="s">R</rights><rights usage="store" scope="nowhere">R</rights></footer>`

// TestEquivalence: what is made of a document is the same for both of its serializations
// (section 7.6).
func TestEquivalence(t *testing.T) {
	type site = anml.Site
	checks := map[string]func(*Page, site) any{
		"ANML-7.6-02": func(p *Page, _ site) any {
			var all []string
			for _, d := range p.Decide(t.Context()) {
				all = append(all, fmt.Sprint(d.Field, d.Site, d.Ask.Action(), brief(d), d.Owner.Domain, d.Reference, d.Rule, d.Sensitive, d.From, d.Warnings, d.value))
			}
			return all
		},
		"ANML-7.6-03": func(p *Page, s site) any {
			var all []string
			for a := range s.Interact().Actions() {
				confirm, stated := a.Confirm()
				all = append(all, fmt.Sprint(a.ID(), a.Method(), a.Endpoint(), a.Executable(), confirm, stated, a.Auth(), a.Idempotent()))
			}
			return all
		},
		"ANML-7.6-04": func(p *Page, s site) any {
			in, err := p.prepare(t.Context(), Call{Site: s.Domain(), Action: "book", Reply: &Reply{Omit: []string{"tel"}}})
			if err != nil {
				return lookleap.CodeOf(err)
			}
			must(t, in.effect.write())
			doc, err := anml.ParseXML(in.effect.Send.Body, anml.ReadOptions{Role: anml.RoleAgentResponse})
			if in.effect.Send.Format == anml.JSON {
				doc, err = anml.ParseJSON(in.effect.Send.Body, anml.ReadOptions{Role: anml.RoleAgentResponse})
			}
			must(t, err)
			data, err := anml.MarshalXML(doc, anml.WriteOptions{})
			must(t, err)
			return string(data)
		},
		"ANML-7.6-07": func(p *Page, s site) any {
			var all []anml.Rule
			f := p.decider(s, start, false)
			for _, field := range []string{"email", "tel", "bday", "acme:tier", "Email", "never"} {
				all = append(all, f.rules.rule(field))
			}
			return all
		},
		"ANML-7.6-08": func(p *Page, s site) any {
			var all []anml.Usage
			for i := range s.Knowledge().Informs() {
				all = append(all, i.Usage(), p.usage(s, anmltrust.Knowledge, i.Node, start))
			}
			for part := range s.Body().Content() {
				all = append(all, part.Usage(), p.usage(s, anmltrust.Body, part.Node, start))
			}
			for r := range s.Footer().Rights() {
				all = append(all, r.Usage())
			}
			return all
		},
	}
	for id, check := range checks {
		t.Run(id+"/accept-equal", func(t *testing.T) {
			for _, sections := range []string{twinSections, `<site domain="shop.example">` + twinSections + `</site><site domain="brand.example">` + twinSections + `</site>`} {
				net := newLab(t)
				host := net.StubHost()
				host.Prompter = lookleaptest.NewPrompter(t)
				s := sessionOn(t, host, User{Profile: ann}, Options{})
				of := func(path string, asJSON bool) (all []any) {
					serve(t, net.Site("www.shop.example"), path, service(sections), asJSON)
					p, err := s.Open(t.Context(), "https://www.shop.example"+path)
					must(t, err)
					for site := range p.doc.Containers() {
						all = append(all, check(p, site))
					}
					return all
				}
				if a, b := of("/x", false), of("/j", true); !reflect.DeepEqual(a, b) || len(a) == 0 {
					t.Errorf("from XML %v\nfrom JSON %v", a, b)
				}
			}
		})
	}
}
