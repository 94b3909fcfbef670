package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
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
		{"ANML-9.2-02/accept", steps + `<context><step>choose</step></context>`, `at "choose" err <nil>: find(search) choose+ pay+!(pay) alone`},
		{"ANML-11.4-06/reject-unknown-step", steps + `<context><step>gone</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"ANML-11.4-06/reject-inferring-from-status", strings.Replace(steps, `id="find"`, `id="find" status="current"`, 1) + `<context><step>gone</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"ANML-11.4-06/reject-first-as-current", steps, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"K14/reject-step-not-in-flow", steps + `<context><step>x</step></context>`, `at "" err <nil>: find(search) choose pay!(pay) alone`},
		{"K13/reject-cycle", `<flow><step id="a" next="b"/><step id="b" next="a"/></flow><context><step>a</step></context>`, `at "" err anml: the flow is a cycle without an exit:`},
		{"K13/reject-self", `<flow><step id="a" next="a"/></flow><context><step>a</step></context>`, `at "" err anml: the flow is a cycle without an exit:`},
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
		net.Site("www.shop.example").Body("/anml", "application/anml+xml", service(flowDoc("<flow>"+many.String()+"</flow>")))
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
