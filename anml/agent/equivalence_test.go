package agent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/labprompt"
)

// twins are one document in both serializations, opened in one session.
type twins struct {
	*rapid.T
	net       *lab.Internet
	s         *Session
	xml, json *Page
}

var (
	someFields   = rapid.SampledFrom([]string{"email", "tel", "bday", "lang", "acme:tier", "diagnosis", "Email", "ssn", "x"})
	someRequires = rapid.SampledFrom([]string{"none", "implicit-consent", "explicit-consent", "authentication", "None", "whatever", ""})
	somePurposes = rapid.SampledFrom([]string{"to send the ticket", "to write to you", "personalization", "", "data", "health intake", "email", "&lt;b>\u202e"})
	someTypes    = rapid.SampledFrom([]string{"", "string", "", "", "date", "boolean", "number", "DATE", "enum"})
	someActions  = rapid.SampledFrom([]string{"book", "book", "book", "find", "twice", "nowhere"})
	someBools    = rapid.SampledFrom([]string{"", "true", "false", "TRUE", "1"})
	someValues   = rapid.SampledFrom([]string{"ann@example.org", "2000-01-01", "true", "12", "gold", "Member 4711-8822", "hay fever"})
	someUsages   = rapid.SampledFrom([]string{"", "none", "display", "cache", "store", "train", "all"})
)

func attr(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + value + `"`
}

// drawSections makes the sections of one site.
func drawSections(t *rapid.T) string {
	var constraints, asks, informs strings.Builder
	for range rapid.IntRange(0, 5).Draw(t, "rules") {
		fmt.Fprintf(&constraints, `<disclosure%s%s%s/>`, attr("field", someFields.Draw(t, "field")), attr("requires", someRequires.Draw(t, "requires")), attr("valid-for", rapid.SampledFrom([]string{"", "0", "60", "x"}).Draw(t, "valid-for")))
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 9 {
		constraints.WriteString(`<quota per="day"/>`)
	}
	for range rapid.IntRange(0, 6).Draw(t, "asks") {
		fmt.Fprintf(&asks, `<ask%s%s%s%s%s/>`, attr("field", someFields.Draw(t, "asked")), attr("action", someActions.Draw(t, "action")), attr("purpose", somePurposes.Draw(t, "purpose")),
			attr("type", someTypes.Draw(t, "type")), attr("required", someBools.Draw(t, "required")))
	}
	for range rapid.IntRange(0, 2).Draw(t, "informs") {
		fmt.Fprintf(&informs, `<inform%s%s>%s</inform>`, attr("usage", someUsages.Draw(t, "usage")), attr("confidentiality", rapid.SampledFrom([]string{"", "public", "restricted", "private", "secret"}).Draw(t, "confidentiality")), someValues.Draw(t, "inform"))
	}
	action := func(id string) string {
		return `<action id="` + id + `"` + attr("method", rapid.SampledFrom([]string{"POST", "POST", "POST", "GET", "post", "DELETE", "CONNECT", ""}).Draw(t, "method")) + ` endpoint="/` + id + `"` +
			attr("confirm", someBools.Draw(t, "confirm")) + attr("idempotent", someBools.Draw(t, "idempotent")) + attr("auth", rapid.SampledFrom([]string{"", "none", "optional", "required", "maybe"}).Draw(t, "auth")) + `/>`
	}
	sections := `<head><title>T</title></head>`
	if constraints.Len() > 0 || rapid.Bool().Draw(t, "constrained") {
		sections += `<constraints>` + constraints.String() + `</constraints>`
	}
	usage := func(of string) string { return attr("usage", someUsages.Draw(t, "usage of "+of)) }
	body := `<body` + usage("body") + `><section id="s"` + usage("section") + `>text</section><data` + usage("data") + `/><img src="/i"` + usage("img") + `/><audio src="/a"` +
		usage("audio") + `/><video src="/v"` + usage("video") + `/></body>`
	footer := ""
	for _, scope := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "s", "s", "nowhere"}), 0, 2).Draw(t, "rights") {
		footer += `<rights` + usage("rights") + attr("scope", scope) + `>R</rights>`
	}
	return sections + `<interact>` + action("book") + action("find") + action("twice") + action("twice") + `</interact><knowledge>` + informs.String() + asks.String() + `</knowledge>` + body + `<footer>` + footer + `</footer>`
}

// drawUser makes a user with a policy and a profile, and what they agree to.
func drawUser(t *rapid.T) User {
	p := &UserPolicy{}
	for range rapid.IntRange(0, 4).Draw(t, "standing") {
		r := StandingRule{
			Field:  rapid.OneOf(someFields, rapid.Just("*")).Draw(t, "of"),
			Domain: rapid.SampledFrom([]string{"*", "shop.example", "*", "example.org", "www.shop.example"}).Draw(t, "to"),
			Effect: rapid.SampledFrom([]Effect{EffectAllow, EffectAllow, EffectAllow, EffectAllow, EffectAsk, EffectDeny}).Draw(t, "effect"),
		}
		if err := p.Set(r); err != nil {
			t.Fatal(err)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "refuse") == 9 {
		if err := p.RefuseDomain("shop.example"); err != nil {
			t.Fatal(err)
		}
	}
	p.InferConsentFromInitiation(rapid.Bool().Draw(t, "infer"))
	profile := Fields{}
	for _, field := range []string{"email", "tel", "bday", "lang", "acme:tier", "diagnosis", "Email", "x"} {
		if rapid.IntRange(0, 9).Draw(t, "has") < 9 {
			profile[field] = Value{
				Text:       someValues.Draw(t, "value"),
				Provenance: rapid.SampledFrom([]string{"", "user", "", "a.example", "shop.example"}).Draw(t, "provenance"),
				Category:   rapid.SampledFrom([]string{"", "", "", "", "health"}).Draw(t, "category"),
			}
		}
	}
	return User{Policy: p, Profile: profile}
}

// TestEquivalence: every decision about a document is the same for both of its
// serializations, whatever the document and whatever the user wants (section
// 7.6). It runs in a bubble: a machine that stalls for ten seconds would
// otherwise end a retrieval at its limit of real time.
func TestEquivalence(t *testing.T) {
	for id, check := range map[string]func(*twins){
		"ANML-7.6-02": (*twins).decisions, "ANML-7.6-03": (*twins).actions, "ANML-7.6-04": (*twins).responses,
		"ANML-7.6-07": (*twins).constraints, "ANML-7.6-08": (*twins).usages,
	} {
		t.Run(id, func(t *testing.T) {
			t.Run("accept-equal", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkTwins(t, check) })
			})
		})
	}
}

// bubbled hides the deadline of a test, which cannot be asked for in a bubble.
type bubbled struct{ rapid.TB }

func checkTwins(t *testing.T, check func(*twins)) {
	net := newLab(t)
	site, other := net.Site("www.shop.example"), net.Site("www.a.example")
	asker := labprompt.New(t) // no one asks here
	n := 0
	draw := func(t *rapid.T) *twins {
		n++
		host := net.Host()
		if rapid.IntRange(0, 4).Draw(t, "asked") < 4 {
			host.Prompter = asker
		}
		s, err := New(host, Options{Fields: []string{"x"}}).NewSession(drawUser(t))
		if err != nil {
			t.Fatal(err)
		}
		other.Body("/a", anml.MediaTypeXML, service(`<knowledge><inform confidentiality="restricted">Member 4711-8822</inform><inform confidentiality="private">hay fever</inform></knowledge>`))
		if _, err := s.Open(t.Context(), "https://www.a.example/a"); err != nil {
			t.Fatal(err)
		}
		var doc string
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 3:
			doc = service(`<site domain="shop.example">` + drawSections(t) + `</site><site domain="brand.example">` + drawSections(t) + `</site>`)
		default:
			doc = service(drawSections(t))
		}
		d, err := anml.ParseXML([]byte(doc), anml.ReadOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		twin, err := anml.MarshalJSON(d, anml.WriteOptions{Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		open := func(path, mediaType, body string) *Page {
			site.Body(path, mediaType, body)
			p, err := s.Open(t.Context(), "https://www.shop.example"+path)
			if err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			return p
		}
		path := fmt.Sprintf("/%d", n)
		w := &twins{t, net, s, open(path+"x", anml.MediaTypeXML, doc), nil}
		w.json = open(path+"j", anml.MediaTypeJSON, string(twin))
		if w.xml.doc.Format() != anml.XML || w.json.doc.Format() != anml.JSON {
			t.Fatal("the serializations are not what they should be")
		}
		return w
	}
	rapid.Check(bubbled{t}, func(t *rapid.T) { check(draw(t)) })
}

func (w *twins) same(what string, of func(*Page) any) {
	w.Helper()
	if a, b := of(w.xml), of(w.json); !reflect.DeepEqual(a, b) {
		w.Fatalf("%s: from XML %v, from JSON %v", what, a, b)
	}
}

func (w *twins) decisions() {
	w.same("decisions", func(p *Page) any {
		var all []string
		for _, d := range p.Decide(w.Context()) {
			all = append(all, fmt.Sprint(d.Field, d.Ask.Action(), brief(d), d.Owner.Domain, d.Reference, d.Rule, d.Sensitive, d.From, d.Warnings, d.value))
		}
		return all
	})
}

func (w *twins) actions() {
	w.same("actions", func(p *Page) any {
		var all []string
		for site := range p.doc.Containers() {
			for a := range site.Interact().Actions() {
				confirm, stated := a.Confirm()
				all = append(all, fmt.Sprint(site.Domain(), a.ID(), a.Method(), a.Endpoint(), a.Executable(), confirm, stated, a.Auth(), a.Idempotent()))
			}
		}
		return all
	})
}

func (w *twins) constraints() {
	w.same("constraints", func(p *Page) any {
		var all []anml.Rule
		for site := range p.doc.Containers() {
			f := p.frame(site, start, false)
			for _, field := range []string{"email", "tel", "bday", "acme:tier", "Email", "x", "never"} {
				all = append(all, f.rule(&item{field: field}, f.foreign))
			}
		}
		return all
	})
}

func (w *twins) usages() {
	w.same("usages", func(p *Page) any {
		var all []anml.Usage
		for site := range p.doc.Containers() {
			for i := range site.Knowledge().Informs() {
				all = append(all, i.Usage(), p.usage(site, anmltrust.Knowledge, i.Node, start))
			}
			all = append(all, site.Body().Usage())
			for part := range site.Body().Content() {
				all = append(all, part.Usage(), p.usage(site, anmltrust.Body, part.Node, start))
			}
			for r := range site.Footer().Rights() {
				all = append(all, r.Usage())
			}
		}
		return all
	})
}

// responses: the same is told, in documents that are equal.
func (w *twins) responses() {
	initiated, approve := rapid.Bool().Draw(w.T, "initiated"), rapid.Bool().Draw(w.T, "approve")
	type outcome struct {
		code    lookleap.Code
		tells   []tell
		items   []string
		entries []Entry
		doc     string
	}
	of := func(p *Page) any {
		var all []outcome
		for site := range p.doc.Containers() {
			for _, id := range []string{"book", "find"} {
				act, err := site.Interact().Action(id)
				if err != nil {
					continue
				}
				to := p.frame(site, start, initiated).route(id)
				if to.unusable != nil {
					all = append(all, outcome{code: lookleap.CodeOf(to.unusable)})
					continue
				}
				e := to.exchange
				e.Document = "https://www.shop.example/" // the two were read at different places
				d, items, err := p.prepareDisclosure(w.Context(), e, site, act, nil, Call{Site: site.Domain(), Action: id, Initiated: initiated})
				o := outcome{code: lookleap.CodeOf(err)}
				if err == nil {
					o.tells = d.Tells
					for _, it := range items {
						o.items = append(o.items, it.ID+it.Summary+it.Digest)
					}
					told, entries, err := w.s.settle(w.Context(), "plan", e, d, func(string) bool { return approve }, time.Time{}, start)
					if err != nil {
						w.Fatal(err)
					}
					o.entries = entries
					doc, err := told.response(e)
					if err != nil {
						w.Fatal(err)
					}
					if doc != nil {
						data, err := anml.MarshalXML(doc, anml.WriteOptions{})
						if err != nil {
							w.Fatal(err)
						}
						o.doc = string(data)
						w.inJSONToo(doc)
					}
					w.complete(site, id, o.doc, told)
				}
				all = append(all, o)
			}
		}
		return all
	}
	// What is told for a sensitive purpose is remembered, so both look at it twice.
	of(w.xml)
	w.same("responses", of)
}

// inJSONToo: a response is one document, whichever serialization it is sent in.
func (w *twins) inJSONToo(doc *anml.Document) {
	data, err := anml.MarshalJSON(doc, anml.WriteOptions{})
	if err != nil {
		w.Fatal(err)
	}
	twin, err := anml.ParseJSON(data, anml.ReadOptions{Role: anml.RoleAgentResponse})
	if err != nil || !anml.Equal(doc, twin) {
		w.Fatalf("%v\n%s", err, data)
	}
}

// complete: every required ask is answered or refused, nothing else is told, and
// nothing without a basis.
func (w *twins) complete(site anml.Site, action, text string, d *disclosure) {
	var asked, required []string
	for a := range site.Knowledge().Asks() {
		if a.Action() == action {
			asked = append(asked, a.Field())
			if a.Required() {
				required = append(required, a.Field())
			}
		}
	}
	var told []string
	for _, t := range d.Tells {
		told = append(told, t.Field)
		if !slices.Contains(asked, t.Field) {
			w.Fatalf("%q was not asked: %s", t.Field, text)
		}
		if (t.Basis == anml.ConsentUnstated) != t.refused() || t.refused() != (t.Value == "") {
			w.Fatalf("%+v", t)
		}
	}
	for _, field := range required {
		if !slices.Contains(told, field) {
			w.Fatalf("%q is open: %s", field, text)
		}
	}
	slices.Sort(told)
	if len(slices.Compact(slices.Clone(told))) != len(told) {
		w.Fatalf("a field is told twice: %v", told)
	}
}
