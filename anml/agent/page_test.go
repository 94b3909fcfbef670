package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

func flowDoc(state string) string {
	return `<head><title>Shop</title></head><state>` + state + `</state>` +
		`<interact><action id="search" method="GET" endpoint="/s"/><action id="pay" method="POST" endpoint="/p"/><action id="pay2" method="TRACE" endpoint="/p"/></interact>`
}

func show(f Flow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %q err %v:", f.Current, f.Err)
	for _, s := range f.Steps {
		fmt.Fprintf(&b, " %s", s.ID)
		if s.Reachable {
			b.WriteString("+")
		}
		if s.Required {
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
				if got := show(s.page.Flow("")); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
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
		if got := show(s.page.Flow("shop.example")); got != `at "" err <nil>: x y(own)` {
			t.Errorf("%s", got)
		}
		if got := show(s.page.Flow("brand.example")); got != `at "" err <nil>: x y` {
			t.Errorf("%s", got)
		}
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
			if got := lookleap.CodeOf(err); got != c.want {
				t.Error(err)
			}
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
			if got := lookleap.CodeOf(err); got != want {
				t.Errorf("%v", err)
			}
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
			_, err := p.Do(t.Context(), Call{Action: "pay"})
			hasCode(f, err, anml.CodeNoVersion)
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
