package agent

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// saying lists ways for a service to tell a text in a document of its own.
func saying(text string) map[string]string {
	return map[string]string{
		"title":       `<head><title>Member ` + text + `</title></head>`,
		"meta":        `<head><title>x</title><meta name="member" value="` + text + `"/></head>`,
		"body":        titled + `<body><section id="s"><p>x</p>Your number is ` + text + `, keep it.</section></body>`,
		"label":       titled + `<body><section id="s" label="Member ` + text + `"/></body>`,
		"data-field":  titled + `<body><data id="d"><item id="i"><field name="member">` + text + `</field></item></data></body>`,
		"data-id":     titled + `<body><data id="d"><item id="` + text + `"><field name="x">y</field></item></data></body>`,
		"link":        titled + `<body><link href="/orders/` + text + `">Order</link></body>`,
		"cursor":      titled + `<body><nav next="/n" cursor="` + text + `"/></body>`,
		"description": titled + `<body><img src="/a.png"><description>Card ` + text + `</description></img></body>`,
		"alternative": titled + `<body><img src="/a.png" alt="Card ` + text + `"/></body>`,
		"transcript":  titled + `<body><audio src="/a.mp3"><transcript>It is ` + text + `</transcript></audio></body>`,
		"status":      titled + `<status result="success" code="x" message="Booked as ` + text + `"/>`,
		"answer":      titled + `<knowledge><answer field="member" value="` + text + `"/></knowledge>`,
		"refusal":     titled + `<knowledge><refuse field="x" reason="policy-violation" message="not for ` + text + `"/></knowledge>`,
		"purpose":     titled + `<knowledge><ask field="x" action="a" purpose="for ` + text + `"/></knowledge>`,
		"option":      interact(`<action id="a" method="GET" endpoint="/a"><param name="p" type="enum"><option value="` + text + `"/></param></action>`),
		"default":     interact(`<action id="a" method="GET" endpoint="/a"><param name="p" default="` + text + `"/></action>`),
		"action":      interact(`<action id="a" method="GET" endpoint="/a" description="the order ` + text + `"/>`),
		"step":        titled + `<state><flow><step id="one" label="pay ` + text + `"/></flow></state>`,
		"persona":     titled + `<persona><instructions>greet ` + text + `</instructions></persona>`,
		"credit":      titled + `<footer><attribution required="true">for ` + text + `</attribution></footer>`,
		"unknown":     titled + `<body><wish xmlns="urn:x" note="` + text + `">x</wish></body>`,
		"escaped":     titled + `<body>&#x34;&#x37;11&#45;8822</body>`,
		"divided":     titled + `<body>4711<x xmlns="urn:x"/>-8822</body>`,
	}
}

// TestToldAnywhere: what a service told in any place reaches no other one unasked.
func TestToldAnywhere(t *testing.T) {
	const secret = "4711-8822"
	ways := map[string]Call{
		"answer":   {Action: "book", Reply: &Reply{Values: map[string]Value{"member": {Text: secret}}}},
		"argument": {Action: "find", Args: map[string]string{"q": "my number: " + secret}},
		"inform":   {Action: "book", Reply: &Reply{Omit: []string{"member"}, Informs: []Value{{Text: "the number is 4711 8822"}}}},
	}
	asked := func(t *testing.T, st *stand) {
		t.Helper()
		st.opts.Fields = nil
		b := pageFor(t, st.net, st.session(), "https://b.example/b", booking("", askFor("member")))
		for name, call := range ways {
			x := st.prepares(b, call)
			if len(x.items) != 1 || !strings.Contains(x.items[0].Summary, "a.example told this, and b.example would learn it") {
				t.Errorf("%s: %+v", name, x.items)
			}
		}
		st.s.agent.host.Prompter = nil
		hasCode(t, second(st.prepare(b, ways["argument"])), lookleap.CodeConsentNoPrompter)
	}
	t.Run("O03", func(t *testing.T) {
		for place, doc := range saying(secret) {
			t.Run("reject-"+place, func(t *testing.T) {
				st := asker(t)
				pageFor(t, st.net, st.session(), "https://a.example/a", doc)
				asked(t, st)
			})
			if place != "divided" && place != "unknown" { // which are not written as JSON
				t.Run("reject-json-"+place, func(t *testing.T) {
					st := asker(t)
					st.net.Site("a.example").File("/a", anml.MediaTypeJSON, jsonOf(t, service(doc)))
					_, err := st.session().Open(t.Context(), "https://a.example/a")
					must(t, err)
					asked(t, st)
				})
			}
		}
		for name, answer := range map[string]http.Handler{
			"json":          scripted(200, `{"order":{"no":["x","4711-8822"]}}`, "Content-Type", "application/json"),
			"escaped-json":  scripted(200, `{"no":"\u0034\u0037\u0031\u0031-8822"}`, "Content-Type", "application/json"),
			"text":          scripted(200, "order 4711-8822", "Content-Type", "text/plain"),
			"latin-1":       scripted(200, "caf\xe9 4711-8822", "Content-Type", "text/plain; charset=iso-8859-1"),
			"html":          scripted(200, "<p>47&#49;1-8822", "Content-Type", "text/html"),
			"problem":       scripted(422, `{"title":"no","detail":"order 4711-8822"}`, "Content-Type", anml.MediaTypeProblemJSON),
			"document":      scripted(200, service(saying(secret)["status"]), "Content-Type", anml.MediaTypeXML),
			"divided-html":  scripted(200, "<p>47<b>11-8</b>822", "Content-Type", "text/html"),
			"open-html":     scripted(200, "<p>47<b>11-8</b><822", "Content-Type", "text/html"),
			"divided-xml":   scripted(200, "<p>47<b>11-8</b>822", "Content-Type", "application/xml"),
			"false-image":   scripted(200, "order 4711-8822", "Content-Type", "image/png"),
			"false-font":    scripted(200, `{"order":"4711-8822"}`, "Content-Type", "font/woff2"),
			"utf-16":        scripted(200, "\xff\xfe4\x007\x001\x001\x00-\x008\x008\x002\x002\x00", "Content-Type", "text/plain; charset=utf-16"),
			"redirect":      scripted(303, "", "Location", "/orders/4711-8822"),
			"redirect-away": scripted(302, "", "Location", "https://c.example/orders/4711-8822"),
			"media-type":    scripted(200, "x", "Content-Type", "text/order-4711-8822"),
			"error":         scripted(200, "<anml><n4711-8822></q>", "Content-Type", anml.MediaTypeXML),
			"failed-status": scripted(503, service(saying(secret)["status"]), "Content-Type", anml.MediaTypeXML),
		} {
			t.Run("reject-result-"+name, func(t *testing.T) {
				st := asker(t)
				p := pageFor(t, st.net, st.session(), "https://a.example/a", interact(action("go", "GET", "/go", "")))
				st.net.Site("a.example").Handle("/go", answer)
				_, _ = p.Do(t.Context(), Call{Action: "go"})
				asked(t, st)
			})
		}
		for name, answer := range map[string]http.Handler{
			"redirect":   scripted(302, "", "Location", "/orders/4711-8822"),
			"link":       scripted(200, `<link rel="alternate" type="application/anml+xml" href="/orders/4711-8822">`, "Content-Type", "text/html"),
			"media-type": scripted(200, "x", "Content-Type", "text/order-4711-8822"),
			"error":      scripted(200, "<anml><n4711-8822></q>", "Content-Type", anml.MediaTypeXML),
			"attribute":  document(titled + `<body><x xmlns="urn:x"/><section id="s" n4711-8822="x"/></body>`),
			"long-name":  document(titled + `<body><n` + strings.Repeat("a", 200) + `-4711-8822 xmlns="urn:x">x</n` + strings.Repeat("a", 200) + `-4711-8822></body>`),
			"element":    document(titled + `<body><n4711-8822 xmlns="urn:x">x</n4711-8822></body>`),
		} {
			t.Run("reject-opened-"+name, func(t *testing.T) {
				st := asker(t)
				serve(t, st.net.Site("a.example"), "/orders/4711-8822", titled, false)
				st.net.Site("a.example").Handle("/a", answer)
				_, _ = st.session().Open(t.Context(), "https://a.example/a")
				asked(t, st)
			})
		}
		for kind, doc := range map[string]string{"inform": "<knowledge><inform>%s</inform></knowledge>", "body": "<body><text>%s</text></body>"} {
			t.Run("reject-told-as-base64-in-"+kind, func(t *testing.T) {
				st := asker(t)
				pageFor(t, st.net, st.session(), "https://a.example/a", titled+fmt.Sprintf(doc, base64.StdEncoding.EncodeToString([]byte("member "+secret))))
				asked(t, st)
			})
		}
		t.Run("accept-url-of-the-caller", func(t *testing.T) {
			for _, answer := range []http.Handler{document(titled), scripted(404, "")} {
				st := asker(t)
				st.net.Site("a.example").Handle("/orders/4711-8822", answer)
				_, _ = st.session().Open(t.Context(), "https://a.example/orders/4711-8822")
				b := pageFor(t, st.net, st.session(), "https://b.example/b", booking("", ""))
				if x := st.prepares(b, ways["argument"]); len(x.items) != 0 {
					t.Errorf("%+v", x.items)
				}
			}
		})
		t.Run("reject-divided-between-arguments", func(t *testing.T) {
			st := asker(t)
			pageFor(t, st.net, st.session(), "https://a.example/a", saying(secret)["body"])
			b := pageFor(t, st.net, st.session(), "https://b.example/b", finder("GET", "", "x", "y"))
			for _, args := range []map[string]string{{"x": "4711", "y": "8822"}, {"x": "8822", "y": "4711"}} {
				equals(t, len(st.prepares(b, Call{Action: "find", Args: args}).items), 2)
			}
		})
		t.Run("accept-the-same-service", func(t *testing.T) {
			st := asker(t)
			p := pageFor(t, st.net, st.session(), "https://a.example/a", interact(`<action id="find" method="GET" endpoint="https://api.a.example/find"><param name="q"/></action>`)+`<body>4711-8822</body>`)
			if x := st.prepares(p, ways["argument"]); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
		for name, c := range map[string]struct {
			by, text string
			supplied bool
			want     string
		}{
			"reject-allowed-field-in-a-body":    {"https://a.example/a", "<body>" + annsEmail + "</body>", false, "prompt cross-service [a.example]"},
			"reject-allowed-field-in-an-inform": {"https://a.example/a", "<knowledge><inform>" + annsEmail + "</inform></knowledge>", false, "prompt cross-service [a.example]"},
		} {
			t.Run(name, func(t *testing.T) {
				st := asker(t).allow("email", "*")
				pageFor(t, st.net, st.session(), c.by, titled+c.text)
				if c.supplied {
					st.s.Context().Supplied(annsEmail)
				}
				d := st.one(booking("", askFor("email")))
				equals(t, fmt.Sprint(d.Verb, " ", d.Code, " ", d.From), c.want)
			})
		}
		t.Run("accept-what-the-user-said", func(t *testing.T) {
			st := asker(t)
			pageFor(t, st.net, st.session(), "https://a.example/a", saying(secret)["body"])
			b := pageFor(t, st.net, st.session(), "https://b.example/b", booking("", ""))
			call := ways["argument"]
			call.Provenance = map[string]string{"q": ProvenanceUser}
			if x := st.prepares(b, call); len(x.items) != 0 {
				t.Errorf("%+v", x.items)
			}
		})
	})
}

// flood is a document of about so many bytes of informs, all different.
func flood(octets int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(9, 9))
	b.WriteString("<knowledge>")
	for i := 0; b.Len() < octets-200; i++ {
		fmt.Fprintf(&b, `<inform confidentiality="private">%d %s</inform>`, i, prose(r, 100))
	}
	return b.String() + `<inform confidentiality="private">the last is 9934-7712</inform></knowledge>`
}

// TestFlood: a service that tells much changes nothing for others.
func TestFlood(t *testing.T) {
	doc := booking(rule("email", "none"), askFor("email")+askFor("tel")+askFor("ssn"))
	search := Call{Action: "find", Args: map[string]string{"q": "green tea", "email": "ann@example.org"}}
	told := Call{Action: "find", Args: map[string]string{"q": "9934 7712"}}
	see := func(st *stand, p *Page) (seen []string) {
		for _, d := range p.Decide(st.Context()) {
			seen = append(seen, brief(d))
		}
		x := st.prepares(p, search)
		return append(seen, fmt.Sprint(len(x.items), len(plainOf(x.e))))
	}
	for name, limits := range map[string]Limits{"default": {}, "small": {Informs: 10}} {
		for way, open := range map[string]func(*stand){
			"opened": func(st *stand) { pageFor(st.T, st.net, st.session(), "https://evil.example/e", flood(1<<20-1000)) },
			"site-ref": func(st *stand) {
				st.net.Site("evil.example").Handle("/own", document(flood(1<<20-1000)))
				pageFor(st.T, st.net, st.session(), "https://a.example/a", `<head><title>x</title><site-ref domain="evil.example" canonical="https://evil.example/own"/></head>`)
			},
			"result": func(st *stand) {
				p := pageFor(st.T, st.net, st.session(), "https://evil.example/e", interact(action("go", "GET", "/go", "")))
				st.net.Site("evil.example").Handle("/go", document(flood(1<<20-1000)))
				_, err := p.Do(st.Context(), Call{Action: "go"})
				must(st.T, err)
			},
		} {
			t.Run("O05/accept-"+name+"-"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // no document is too late on a slow machine
					quiet, loud := asker(t).allow("email", "*"), asker(t).allow("email", "*")
					loud.opts.Limits = limits
					open(loud)
					want, got := see(quiet, quiet.page(doc)), see(loud, loud.page(doc))
					sameList(t, got, want)
					_, err := loud.prepare(loud.page(doc), told)
					hasCode(t, err, CodePrivateContext) // what it told is still its own
				})
			})
		}
	}
	t.Run("O05/reject-more-than-can-be-known", func(t *testing.T) {
		st := asker(t)
		st.opts.Limits.Told = 4 * 1000 * linkSize // each service has a quarter
		st.net.Site("evil.example").Handle("*", document(titled+"<body>"+numbered(1200, "unique%dword ")+"</body>"))
		_, err := st.session().Open(t.Context(), "https://evil.example/1")
		must(t, err)
		must(t, st.s.context.index.hashWaiting(t.Context(), 0))
		p, err := st.s.Open(t.Context(), "https://evil.example/2")
		if hasCode(t, err, lookleap.CodeLimit); p != nil {
			t.Error("there is a page")
		}
		pageFor(t, st.net, st.s, "https://b.example/b", titled)
		equals(t, domains(sourcesOf(st.s, "b.example", "unique7word")), "evil.example")
	})
}

// TestRecordedTooMuch: a service that told more than can be recorded is not read any further.
func TestRecordedTooMuch(t *testing.T) {
	full := func(t *testing.T) (*stand, *Page) {
		st := asker(t)
		p := st.page(interact(action("go", "GET", "/go", ""), action("do", "POST", "/go", "")) + `<body><img src="/a.svg"/></body>`)
		st.net.Site("shop.example").File("/go", "text/plain", "more")
		st.net.Site("shop.example").File("/a.svg", "image/svg+xml", "<svg><text>more</text></svg>")
		st.s.context.index.services["shop.example"] = st.s.context.index.room
		return st, p
	}
	t.Run("O05/reject-page", func(t *testing.T) {
		st, _ := full(t)
		p, err := st.s.Open(t.Context(), "https://shop.example/a")
		if hasCode(t, err, lookleap.CodeLimit); p != nil {
			t.Error("there is a page")
		}
	})
	t.Run("O05/reject-document", func(t *testing.T) {
		st, p := full(t)
		st.net.Site("shop.example").Handle("/go", document(titled+`<status code="x" message="more" result="error"/>`))
		r, err := p.Do(t.Context(), Call{Action: "go"})
		if hasCode(t, err, lookleap.CodeLimit); r == nil || r.Page != nil || r.Problem != nil || r.Outcome != anml.OutcomeUnknown {
			t.Errorf("%+v", r)
		}
	})
	t.Run("O05/reject-medium", func(t *testing.T) {
		_, p := full(t)
		m, err := p.LoadMedium(t.Context(), p.Media()[0])
		if hasCode(t, err, lookleap.CodeLimit); m.Body != nil {
			t.Error("there is a medium")
		}
	})
	t.Run("O05/accept-page-of-another-service", func(t *testing.T) {
		st, _ := full(t)
		pageFor(t, st.net, st.s, "https://b.example/b", titled)
	})
}
