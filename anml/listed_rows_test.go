package anml

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// The rows whose rule is a list: each member is shown.

func parsed(t *testing.T, doc string, o ReadOptions) *Document {
	t.Helper()
	d, err := ParseXML([]byte(doc), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// reports says whether a document has a finding with a code under a requirement.
func reports(d *Document, requirement string, code lookleap.Code) bool {
	return slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool { return f.Requirement == requirement && f.Code == code })
}

func TestListedNames(t *testing.T) {
	ask := func(field string) string {
		return service(`<interact><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="` + field + `" action="a" purpose="p"/></knowledge>`)
	}
	for _, name := range strings.Fields("fn email tel adr bday gender lang tz nickname org title url") {
		t.Run("ANML-16.3-01/accept-"+name, func(t *testing.T) {
			if !IsStandardField(name) || !slices.Contains(StandardFields(), name) || IsStandardField(strings.ToUpper(name)) {
				t.Error(name)
			}
		})
		t.Run("ANML-16.3-02/reject-capital-"+name, func(t *testing.T) {
			if !reports(parsed(t, ask(strings.ToUpper(name)), ReadOptions{}), "ANML-16.3-02", codeFieldName) {
				t.Error("no note")
			}
			if d := parsed(t, ask(name), ReadOptions{}); reports(d, "ANML-16.3-02", codeFieldName) || reports(d, "ANML-8.7.2-04", codeFieldName) {
				t.Error(d.Findings())
			}
		})
	}
	for better, names := range map[string]string{
		"email": "e-mail mail email-address", "tel": "phone telephone mobile", "bday": "birthday birthdate date-of-birth",
		"fn": "name full-name fullname", "adr": "address", "tz": "timezone time-zone", "lang": "language",
		"org": "organization organisation company", "gender": "sex", "url": "website homepage",
	} {
		for _, name := range strings.Fields(names) {
			t.Run("ANML-16.3-02/accept-note-about-"+name, func(t *testing.T) {
				if !slices.ContainsFunc(parsed(t, ask(name), ReadOptions{}).Findings(), func(f lookleap.Finding) bool { return f.Fix == "write "+better }) {
					t.Errorf("%s is not suggested", better)
				}
			})
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS"} {
		unsafe := method[0] == 'P' || method == "DELETE"
		t.Run("ANML-13.4-14/"+map[bool]string{true: "reject", false: "accept"}[unsafe]+"-method-"+method, func(t *testing.T) {
			d := parsed(t, service(`<interact><action id="a" method="`+method+`" endpoint="/"/></interact>`), ReadOptions{})
			if reports(d, "ANML-13.4-14", CodeLint) != unsafe {
				t.Error(d.Findings())
			}
		})
	}
	t.Run("ANML-16.6-01/reject-unknown-reported", func(t *testing.T) {
		d := parsed(t, service(`<constraints><disclosure field="x" requires="None"/></constraints>`), ReadOptions{})
		if !reports(d, "ANML-8.4.1-03", codeBadValue) {
			t.Error(d.Findings())
		}
	})
}

// TestListedOrders: each verb of orders, introduction and end of a clause.
func TestListedOrders(t *testing.T) {
	lints := func(text string) int {
		return len(lintOf(t, "ANML-13.3-10", "<persona><instructions>"+text+"</instructions></persona>"))
	}
	for _, verb := range strings.Fields(`approve authorize authorise bill book buy charge click collect confirm contact delete disclose
		download email enable execute fetch forward gather grant install invoke navigate notify obtain order pay post promote
		publish purchase query recommend register remember reserve retrieve reveal run save select send share skip store
		submit subscribe transfer transmit upload upsell visit`) {
		t.Run("ANML-13.3-10/reject-verb-"+verb, func(t *testing.T) {
			if n := lints("Be kind. " + strings.ToUpper(verb) + " tea."); n != 1 {
				t.Errorf("%d findings", n)
			}
		})
	}
	for _, word := range strings.Fields(`please always never then first finally also and now you the agent agents assistant must should
		automatically immediately do not`) {
		t.Run("ANML-13.3-10/reject-after-"+word, func(t *testing.T) {
			if n := lints("Be kind. " + word + " recommend tea."); n != 1 {
				t.Errorf("%d findings", n)
			}
		})
	}
	for name, end := range map[string]string{"dot": ".", "exclamation": "!", "question": "?", "semicolon": ";", "colon": ":", "line": "\n"} {
		t.Run("ANML-13.3-10/reject-after-a-"+name, func(t *testing.T) {
			if n := lints("Be kind" + end + "Recommend tea"); n != 1 {
				t.Errorf("%d findings", n)
			}
		})
	}
}

// TestListedLimits: each limit is one that a host can configure.
func TestListedLimits(t *testing.T) {
	const act, ask = `<action id="%" method="GET" endpoint="/"/>`, `<ask field="x" action="1" purpose="p"/>`
	for name, c := range map[string]struct {
		limits Limits
		doc    string
	}{
		"bytes":     {Limits{Bytes: 200}, service("<body>" + strings.Repeat("x", 200) + "</body>")},
		"depth":     {Limits{Depth: 2}, service("<body><section/></body>")},
		"actions":   {Limits{Actions: 1}, service("<interact>" + strings.Replace(act, "%", "1", 1) + strings.Replace(act, "%", "2", 1) + "</interact>")},
		"asks":      {Limits{Asks: 1}, service("<interact>" + strings.Replace(act, "%", "1", 1) + "</interact><knowledge>" + ask + ask + "</knowledge>")},
		"elements":  {Limits{Elements: 2}, service("<head/><body/>")},
		"attrs":     {Limits{Attrs: 4}, service(`<zzz a="" b="" c="" d="" e=""/>`)},
		"value":     {Limits{Value: 200}, service(`<zzz a="` + strings.Repeat("x", 201) + `"/>`)},
		"steps":     {Limits{Steps: 1}, service(`<state><flow><step id="a"/><step id="b"/></flow></state>`)},
		"sites":     {Limits{Sites: 1}, service(`<site domain="a.example"><body/></site><site domain="b.example"><body/></site>`)},
		"site-refs": {Limits{SiteRefs: 1}, service("<head>" + strings.Repeat(`<site-ref domain="a.example" canonical="https://a.example/"/>`, 2) + "</head>")},
	} {
		t.Run("ANML-13.7-01/reject-configured-"+name, func(t *testing.T) {
			if _, err := ParseXML([]byte(c.doc), ReadOptions{Limits: c.limits}); !errors.Is(err, ErrLimit) {
				t.Errorf("got %v", err)
			}
			parsed(t, c.doc, ReadOptions{})
		})
	}
	t.Run("ANML-13.7-08/accept-value", func(t *testing.T) {
		parsed(t, service(`<zzz a="`+strings.Repeat("x", 65536)+`"/>`), ReadOptions{})
	})
	t.Run("ANML-13.7-08/accept-steps", func(t *testing.T) {
		var steps strings.Builder
		for i := range 256 {
			steps.WriteString(`<step id="s` + itoa(i) + `"/>`)
		}
		parsed(t, service("<state><flow>"+steps.String()+"</flow></state>"), ReadOptions{})
	})
	t.Run("ANML-13.7-09/reject-condition-before-the-circle", func(t *testing.T) {
		d := parsed(t, service(`<state><flow><step id="a" next="b" condition="paid"/><step id="b" next="c"/><step id="c" next="b"/></flow></state>`), ReadOptions{})
		if !errors.Is(d.State().FlowError(), ErrFlowCycle) {
			t.Error("a condition outside of the circle ends it")
		}
	})
}

// TestListedForms: each form of a name, and each element with text.
func TestListedForms(t *testing.T) {
	for name, twice := range map[string][2]string{
		"case": {"a.example", "A.Example"}, "final-dot": {"a.example", "a.example."}, "letters": {"bücher.example", "xn--bcher-kva.example"},
		"spelling": {"a.example", "a.example"},
	} {
		t.Run("ANML-12.7-03/reject-same-domain-in-another-"+name, func(t *testing.T) {
			d := parsed(t, service(`<site domain="`+twice[0]+`"><body/></site><site domain="`+twice[1]+`"><body/></site><site domain="b.example"><body/></site>`), ReadOptions{})
			var used []string
			for s := range d.Sites() {
				used = append(used, s.Domain())
			}
			if !slices.Equal(used, []string{"b.example"}) {
				t.Errorf("%q are used", used)
			}
		})
	}
	t.Run("ANML-16.4-01/reject-other-case", func(t *testing.T) {
		if _, err := ParseXML([]byte(strings.Replace(service(""), Namespace, strings.ToUpper(Namespace), 1)), ReadOptions{}); err == nil {
			t.Error("read")
		}
	})
	t.Run("ANML-12.7-14/accept-both-written-once", func(t *testing.T) {
		d := parsed(t, service(`<head><site-ref domain="a.example" site="a.example" canonical="https://a.example/"/></head>`), ReadOptions{})
		out, err := Marshal(d, XML, WriteOptions{})
		if err != nil || strings.Contains(string(out), ` site=`) || !strings.Contains(string(out), ` domain="a.example"`) {
			t.Errorf("%v\n%s", err, out)
		}
	})
	const text = " a\n\tb  c "
	for name, c := range map[string]struct {
		doc string
		got func(*Document) string
	}{
		"instructions": {"<persona><instructions>" + text + "</instructions></persona>", func(d *Document) string { return d.Persona().Instructions() }},
		"inform":       {"<knowledge><inform>" + text + "</inform></knowledge>", func(d *Document) string { return first(d.Knowledge().Informs()).Text() }},
	} {
		t.Run("ANML-15.5-02/accept-text-of-"+name, func(t *testing.T) {
			if got := c.got(parsed(t, service(c.doc), ReadOptions{})); got != text {
				t.Errorf("%q", got)
			}
		})
	}
}
