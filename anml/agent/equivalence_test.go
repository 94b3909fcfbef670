package agent

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
				all = append(all, f.rule(&item{field: field}, f.foreign))
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
