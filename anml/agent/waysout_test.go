package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// wayOut is one way for something to leave a session.
type wayOut struct {
	class   string                          // which outcomes it has, see wayOutcomes
	call    func(v outValue) Call           // of an action at b.example; nil: see run
	run     func(*stand, *Page) (err error) // what the session does that has no place for a value
	do      func(*stand, *Page, Call) error // how the call is made; nil: by Page.Do
	waits   bool                            // the user decides later, and the session resumes
	answers func() http.Handler             // of b.example
}

// outValue is a value that might leave, and what makes it what it is.
type outValue struct {
	id     string // of the cells
	text   string
	field  string // that answers it
	before func(*stand)
}

// wayOutcomes says what becomes of each kind of value on each class of way: it is
// told, asked about and then told, or refused; "cannot carry" is that there is no
// place for it.
var wayOutcomes = map[string]map[string]string{
	"profile":    {"answer": "asked", "argument": "asked", "words": "asked"},
	"allowed":    {"answer": "told", "argument": "told", "words": "asked"},
	"denied":     {"answer": "refused", "argument": "refused", "words": "refused"},
	"sensitive":  {"answer": "asked", "argument": "asked", "words": "asked"},
	"other":      {"answer": "asked", "argument": "asked", "words": "asked"},
	"restricted": {"answer": "refused", "argument": "refused", "words": "refused"},
	"private":    {"answer": "refused", "argument": "refused", "words": "refused"},
	"cut":        {"answer": "asked", "argument": "asked", "words": "asked"},
	"ordinary":   {"answer": "asked", "argument": "told", "words": "asked"},
}

func toldByA(confidentiality string) func(*stand) {
	return func(st *stand) {
		pageFor(st.T, st.net, st.session(), "https://a.example/a", titled+`<knowledge><inform `+confidentiality+`>Member 4711-8822</inform></knowledge>`)
	}
}

var outValues = map[string]outValue{
	"profile": {id: "O02", text: "ann@example.org", field: "email"},
	"allowed": {id: "O02", text: "ann@example.org", field: "email", before: func(st *stand) { st.allow("email", "*") }},
	"denied": {id: "O02", text: "ann@example.org", field: "email", before: func(st *stand) {
		must(st.T, st.user.Policy.Set(StandingRule{Field: "e-mail", Domain: "*", Effect: EffectDeny}))
	}},
	"sensitive": {id: "O02", text: "hay fever", field: "diagnosis"},
	"other": {id: "O03", text: "4711-8822", field: "member", before: func(st *stand) {
		pageFor(st.T, st.net, st.session(), "https://a.example/a", saying("4711-8822")["body"])
	}},
	"restricted": {id: "ANML-14.1-07", text: "4711-8822", field: "member", before: toldByA(`confidentiality="restricted"`)},
	"private":    {id: "ANML-14.1-07", text: "4711-8822", field: "member", before: toldByA(`confidentiality="private"`)},
	"cut": {id: "O03", text: "4711-8822", field: "member", before: func(st *stand) { // no one verified the site
		pageFor(st.T, st.net, st.session(), "https://a.example/a", `<site domain="bank.example"><head><title>Bank</title></head><body>Account 4711-8822</body></site>`)
	}},
	"ordinary": {id: "ANML-13.4-05", text: "green tea", field: "topic"},
}

// waysOut are all of them. Argument ways exist for each method and encoding.
func waysOut() map[string]wayOut {
	answer := func(v outValue) Call {
		return Call{Action: "book", Reply: &Reply{Values: map[string]Value{v.field: {Text: v.text}}, Omit: others(v.field)}}
	}
	words := func(r func(text string) Reply) func(outValue) Call {
		return func(v outValue) Call {
			reply := r(v.text)
			reply.Omit = others("")
			return Call{Action: "book", Reply: &reply}
		}
	}
	argument := func(action string) func(outValue) Call {
		return func(v outValue) Call { return Call{Action: action, Args: map[string]string{"q": "it is " + v.text}} }
	}
	open := func(url string) func(*stand, *Page) error {
		return func(st *stand, _ *Page) error { _, err := st.s.Open(st.Context(), url); return err }
	}
	ways := map[string]wayOut{
		"answer":              {class: "answer", call: answer},
		"counter-ask-field":   {class: "words", call: words(func(t string) Reply { return Reply{Asks: []Counter{{t, "to compare"}}} })},
		"counter-ask-purpose": {class: "words", call: words(func(t string) Reply { return Reply{Asks: []Counter{{"price", "for " + t}}} })},
		"inform":              {class: "words", call: words(func(t string) Reply { return Reply{Informs: []Value{{Text: "it is " + t}}} })},
		"json-arguments": {class: "argument", call: func(v outValue) Call {
			args, _ := json.Marshal(map[string]string{"q": v.text})
			return Call{Action: "POST-application/json", ArgsJSON: args}
		}},
		"tool": {class: "argument", call: argument("POST-application/json"), do: func(st *stand, p *Page, c Call) error {
			tools := p.Tools()
			args, _ := json.Marshal(c.Args)
			_, err := tools[slices.IndexFunc(tools, func(tool Tool) bool { return tool.Action == c.Action })].Call(st.Context(), args)
			return err
		}},
		"resumed-argument": {class: "argument", call: argument("POST-"), waits: true},
		"resumed-answer":   {class: "answer", call: answer, waits: true},
		"percent-encoded": {class: "argument", call: func(v outValue) Call {
			var text strings.Builder
			for _, c := range []byte(v.text) {
				fmt.Fprintf(&text, "%%%02X", c)
			}
			return Call{Action: "GET-", Args: map[string]string{"q": text.String()}}
		}},
		"url-template":   {class: "argument", call: argument("template")}, // templates are not filled in
		"redirect":       {class: "argument", call: argument("POST-"), answers: func() http.Handler { return scripted(307, "", "Location", "/again") }},
		"redirect-away":  {class: "argument", call: argument("POST-"), answers: func() http.Handler { return scripted(307, "", "Location", "https://c.example/x") }},
		"redirect-other": {class: "argument", call: argument("GET-"), answers: func() http.Handler { return scripted(303, "", "Location", "/again") }},
		"retry": {class: "argument", call: argument("GET-"),
			answers: func() http.Handler { return lookleaptest.Sequence(lookleaptest.Status(500), lookleaptest.Status(204)) }},

		"page-fetch":  {class: "none", run: open("https://b.example/other")},
		"site-ref":    {class: "none", run: open("https://b.example/refs")},
		"next-page":   {class: "none", run: func(st *stand, p *Page) error { _, err := p.Pager().Next(st.Context(), PageWanted); return err }},
		"medium":      {class: "none", run: func(st *stand, p *Page) error { _, err := p.LoadMedium(st.Context(), p.Media()[0]); return err }},
		"discovery":   {class: "none", run: func(st *stand, _ *Page) error { _, _ = st.s.Discover(st.Context(), "https://none.example"); return nil }},
		"trust":       {class: "none", run: open("https://b.example/claims")},
		"no-argument": {class: "none", run: func(st *stand, p *Page) error { _, err := p.Do(st.Context(), Call{Action: "GET-"}); return err }},
		"result-text": {class: "none", run: func(st *stand, p *Page) error {
			r, err := p.Do(st.Context(), Call{Action: "GET-"})
			return carriesNothing(r.Text(anml.TextOptions{}), err)
		}},
		"ledger-export": {class: "none", run: func(st *stand, p *Page) error {
			_, _ = p.Do(st.Context(), Call{Action: "book"})
			var text strings.Builder
			_, err := Filter{}.Export(st.Context(), st.s.Ledger(), &text)
			st.net.Journal().Clear() // what that call told is another cell
			return carriesNothing(text.String(), err)
		}},
	}
	for _, a := range outActions {
		ways["argument-"+a] = wayOut{class: "argument", call: argument(a)}
	}
	return ways
}

var (
	outFields  = []string{"email", "member", "diagnosis", "topic"}
	outActions = func() (list []string) {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE", "POST", "PUT", "PATCH"} {
			list = append(list, method+"-")
			if hasBody(method) {
				list = append(list, method+"-application/json", method+"-multipart/form-data")
			}
		}
		return list
	}()
	outTexts = []string{"annexampleorg", "hayfever", "47118822"} // as they are compared
)

// others are the fields that a call leaves out.
func others(field string) (list []string) {
	return slices.DeleteFunc(slices.Clone(outFields), func(f string) bool { return f == field })
}

func carriesNothing(text string, err error) error {
	for _, reading := range readings(text) {
		for _, secret := range outTexts {
			if strings.Contains(fold(reading).text, fold(secret).text) {
				return fmt.Errorf("it holds %q: %s", secret, text)
			}
		}
	}
	return err
}

// outPage is the document at b.example that asks for everything.
func outPage() string {
	var actions, asks strings.Builder
	for _, a := range outActions {
		method, enctype, _ := strings.Cut(a, "-")
		fmt.Fprintf(&actions, `<action id="%s" method="%s" endpoint="/do" idempotent="true" enctype="%s"><param name="q" description="what to look for"/></action>`, a, method, enctype)
	}
	for _, field := range outFields {
		asks.WriteString(askFor(field))
	}
	return titled + `<constraints>` + rule("email", "none") + `</constraints><interact>` + actions.String() +
		`<action id="template" method="GET" endpoint="/do/%7Bq%7D"><param name="q" description="what to look for"/></action><action id="book" method="POST" endpoint="/do"/></interact>` +
		`<knowledge>` + asks.String() + `</knowledge><body><nav next="/page2"/><img src="/a.png" alt="x"/></body>`
}

// leave sends a value by a way, with a user who agrees to everything or to the act
// alone, and says what became of it.
func leave(t *testing.T, way wayOut, v outValue, agrees bool) (outcome string) {
	t.Helper()
	st := asker(t)
	var agreed []string // to everything
	if !agrees {
		agreed = []string{itemAct}
	}
	reply := lookleaptest.Approve(agreed...)
	if way.waits {
		reply = lookleaptest.Pending()
	}
	st.ask = lookleaptest.NewPrompter(t, slices.Repeat([]lookleaptest.Reply{reply}, 8)...)
	st.user.Language, st.user.Ledger = v.text, lookleap.NewMemoryStore()
	if v.before != nil {
		v.before(st)
	}
	answers := document(titled + `<body>Thank you.</body>`)
	if way.answers != nil {
		answers = way.answers()
	}
	b := st.net.Site("b.example")
	for _, path := range []string{"/other", "/page2", "/again"} {
		b.Handle(path, document(titled+`<body>`+path+`</body>`))
	}
	b.Handle("/refs", document(`<head><title>x</title><site-ref domain="c.example" canonical="https://c.example/own"/></head>`))
	b.Handle("/claims", document(`<site domain="c.example"><head><title>x</title><trust/></head></site>`))
	st.net.Site("c.example").Handle("*", document(titled))
	p := pageFor(t, st.net, st.session(), "https://b.example/b", outPage())
	b.Handle("*", answers)
	st.net.Journal().Clear()

	var err error
	switch {
	case way.run != nil:
		if err = way.run(st, p); err != nil {
			t.Errorf("it could not be walked: %v", err)
		}
	case way.do != nil:
		err = way.do(st, p, way.call(v))
	default:
		_, err = p.Do(t.Context(), way.call(v))
	}
	if pending := new(lookleap.PendingError); errors.As(err, &pending) {
		_, err = st.s.Resume(t.Context(), pending.State, lookleaptest.Decide(pending.Request, agreed...))
	}
	var sent strings.Builder
	for _, r := range st.net.Journal().Requests() {
		fmt.Fprintf(&sent, "%s %s\n%s\n%s\n", r.Method, r.Target, r.Header, r.Body)
		if r.Host == "c.example" && way.call != nil {
			t.Error("another origin got a request")
		}
	}
	asked := slices.ContainsFunc(st.ask.Requests(), func(r lookleap.ConsentRequest) bool {
		return slices.ContainsFunc(r.Items, func(item lookleap.ConsentItem) bool {
			return item.ID != itemAct && slices.ContainsFunc(readings(item.Summary), func(s string) bool { return strings.Contains(fold(s).text, fold(v.text).text) })
		})
	})
	left := slices.ContainsFunc(readings(strings.ReplaceAll(sent.String(), "%25", "%")), func(s string) bool { return strings.Contains(fold(s).text, fold(v.text).text) })
	if left && err == nil || left && way.answers != nil {
		entries := ledgerOf(t, st.user.Ledger)
		if asked && !slices.ContainsFunc(entries, func(e string) bool { return strings.HasPrefix(e, "disclosed ") }) {
			t.Errorf("the ledger does not tell: %q", entries)
		}
	}
	switch {
	case left && asked:
		return "asked"
	case left:
		return "told"
	case way.class == "none":
		return "cannot carry"
	}
	return "refused"
}

// TestWaysOut walks every way out of a session with every kind of value.
func TestWaysOut(t *testing.T) {
	for name, way := range waysOut() {
		for kind, v := range outValues {
			want, ok := wayOutcomes[kind][way.class]
			if way.class == "none" {
				want, ok = "cannot carry", true
			}
			if !ok {
				t.Fatalf("no outcome of %s by %s", kind, name)
			}
			side := map[string]string{"told": "accept", "asked": "accept", "refused": "reject", "cannot carry": "reject"}[want]
			walk := func(t *testing.T) {
				equals(t, leave(t, way, v, true), want)
				if want == "asked" {
					equals(t, leave(t, way, v, false), "refused")
				}
			}
			t.Run(fmt.Sprintf("%s/%s-%s-%s", v.id, side, name, kind), func(t *testing.T) {
				synctest.Test(t, walk) // nothing is too late on a slow machine
			})
		}
	}
}
