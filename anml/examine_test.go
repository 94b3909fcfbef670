package anml

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// examined returns the findings of a document in order: severity, requirement, path and message.
// JSON has some of its own, which other tests show.
func examined(d *Document) (found []string) {
	for _, f := range d.Findings() {
		if f.Requirement != "ANML-7.2.4-04" {
			found = append(found, fmt.Sprintf("%s %s %s: %s", f.Severity, f.Requirement, f.Position.Path, f.Message))
		}
	}
	slices.Sort(found)
	return found
}

// sameFindings reports whether the findings are those that are wanted. Each wanted one is severity,
// requirement and path, and may go on with ": " and a part of the message.
func sameFindings(got, want []string) bool {
	return slices.EqualFunc(got, want, func(got, want string) bool {
		where, what, _ := strings.Cut(want, ": ")
		message, ok := strings.CutPrefix(got, where+": ")
		return ok && strings.Contains(message, what)
	})
}

// examinedCase is sections of a document, or a whole one, and all of its findings.
type examinedCase struct {
	name, doc string
	want      []string
}

// runExamined compares all findings of each document, so that one too many is noticed, too.
func runExamined(t *testing.T, cases []examinedCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := c.doc
			if !strings.HasPrefix(doc, "<?xml") {
				doc = service("<head><title>T</title></head>" + doc)
			}
			in(t, doc, func(t *testing.T, d *Document) {
				if got := examined(d); !sameFindings(got, slices.Sorted(slices.Values(c.want))) {
					t.Errorf("%s: got\n%s\nwant\n%s", d.Format(), strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			})
		})
	}
}

// TestExaminedRequired has an element of each kind without its required attributes.
func TestExaminedRequired(t *testing.T) {
	without := func(requirement, path string, names ...string) (found []string) {
		for _, name := range names {
			found = append(found, "error "+requirement+" "+path+": "+path[strings.LastIndexByte(path, '/')+1:]+" has no "+name)
		}
		return found
	}
	const required, wanted = "ANML-11.4-01", "ANML-11.4-02"
	runExamined(t, []examinedCase{
		{"ANML-11.4-03/reject-meta", service("<head><title>T</title><meta/></head>"), without(wanted, "/anml/head/meta", "name")},
		{"ANML-11.4-03/reject-trust", service("<head><title>T</title><trust/></head>"), without(required, "/anml/head/trust", "domain")},
		{"ANML-11.4-03/reject-site-ref", service("<head><title>T</title><site-ref/></head>"), without(required, "/anml/head/site-ref", "domain", "canonical")},
		{"ANML-11.4-03/reject-disclosure", "<constraints><disclosure/></constraints>", without(required, "/anml/constraints/disclosure", "field", "requires")},
		{"ANML-11.4-03/reject-step", "<state><flow><step/></flow></state>", without(required, "/anml/state/flow/step", "id")},
		{"ANML-11.4-03/reject-ask", "<knowledge><ask purpose=\"p\"/></knowledge>", without(required, "/anml/knowledge/ask", "field", "action")},
		{"ANML-11.4-03/reject-img", "<body><img><description>d</description></img></body>", without(required, "/anml/body/img", "src")},
		{"ANML-11.4-03/reject-audio", "<body><audio/></body>", without(required, "/anml/body/audio", "src")},
		{"ANML-11.4-03/reject-video", "<body><video/></body>", without(required, "/anml/body/video", "src")},
		{"ANML-11.4-03/reject-link", "<body><link/></body>", without(required, "/anml/body/link", "href")},
		{"ANML-11.4-03/reject-status", "<status/>", without(required, "/anml/status", "code", "result")},
	})
}

func TestExaminedAttributes(t *testing.T) {
	act := func(attrs string) string { return `<interact><action id="a" ` + attrs + `/></interact>` }
	get := func(attrs string) string { return act(`method="GET" endpoint="/" ` + attrs) }
	body := func(inner string) string { return "<body>" + inner + "</body>" }
	runExamined(t, []examinedCase{
		{"ANML-11.4-01/reject-several-missing", act(""),
			[]string{`error ANML-11.4-01 /anml/interact/action: action has no endpoint, so it is not processed`, `error ANML-11.4-01 /anml/interact/action: action has no method, so it is not processed`}},
		{"ANML-11.4-02/reject-nameless", `<interact><action id="a" method="GET" endpoint="/"><param/><param/></action></interact>`,
			[]string{`error ANML-11.4-02 /anml/interact/action/param[1]: param has no name, so it is not processed`, `error ANML-11.4-02 /anml/interact/action/param[2]: param has no name, so it is not processed`}},
		{"ANML-11.4-01/reject-empty", act(`method="" endpoint=""`),
			[]string{`error ANML-11.4-01 /anml/interact/action: action has no endpoint, so it is not processed`, `error ANML-11.4-01 /anml/interact/action: action has no method, so it is not processed`}},
		{"ANML-12.6-03/reject-empty", service(`<site domain="a.example"><site-ref domain="" canonical=""/></site>`),
			[]string{`error ANML-11.4-01 /anml/site/site-ref: site-ref has no canonical, so it is not processed`, `error ANML-11.4-01 /anml/site/site-ref: site-ref has no domain, so it is not processed`}},
		{"ANML-12.6-03/reject-http", service(`<site domain="a.example"><site-ref domain="b.example" canonical="http://b.example/"/></site>`),
			[]string{`error ANML-12.6-03 /anml/site/site-ref: canonical="http://b.example/" is not an absolute https URL with a host name`}},
		{"ANML-12.6-03/accept-https", service(`<site domain="a.example"><site-ref domain="b.example" canonical="https://b.example/"/></site>`), nil},
		{"ANML-8.11-09/reject-space", body(`<link href="/a b"/>`),
			[]string{`warning ANML-8.11-09 /anml/body/link: href="/a b" is not a URI reference`}},
		{"ANML-8.11-09/accept-empty", body(`<nav next=""/>`), nil},
		{"ANML-8.10.7-02/reject-javascript", body(`<link href="javascript:x"/>`),
			[]string{`warning ANML-8.10.7-02 /anml/body/link: href="javascript:x" is never followed`}},
		{"ANML-8.2-05/reject-no-time", response(`<answer field="f" value="v" consent-granted="soon"/>`),
			[]string{`warning ANML-8.2-05 /anml/knowledge/answer: consent-granted="soon" is not a time with a zone`}},
		{"ANML-8.11-07/reject-offset", response(`<answer field="f" value="v" consent-granted="2026-03-01T14:00:00+02:00"/>`),
			[]string{`info ANML-8.11-07 /anml/knowledge/answer: consent-granted="2026-03-01T14:00:00+02:00" is not in the form YYYY-MM-DDTHH:MM:SSZ`}},
		{"ANML-8.11-07/accept-utc", response(`<answer field="f" value="v" consent-granted="2026-03-01T14:00:00Z"/>`), nil},
		{"ANML-8.11-05/reject-word", get(`idempotent="yes" confirm="false"`),
			[]string{`error ANML-8.11-05 /anml/interact/action: idempotent="yes" is neither true nor false`}},
		{"ANML-8.1-11/reject-fraction", body(`<img src="/x" width="1.5" height="7"><description>d</description></img>`),
			[]string{`error ANML-8.1-11 /anml/body/img: width="1.5" is not a non-negative integer`}},
		{"ANML-8.1-13/reject-lang", `<body lang="not a tag"/>`,
			[]string{`warning ANML-8.1-13 /anml/body: lang="not a tag" is not a language tag`}},
		{"ANML-8.6.1-03/accept-lower-case", act(`method="get" endpoint="/"`),
			[]string{`info ANML-8.6.1-03 /anml/interact/action: method="get" is read as GET`}},
		{"ANML-8.6.1-03/reject-trace", act(`method="TRACE" endpoint="/"`),
			[]string{`error ANML-8.6.1-03 /anml/interact/action: method="TRACE" is not a usable method, so the action is not executed`}},
		{"ANML-16.5-01/reject-usage", `<body usage="all"/>`,
			[]string{`warning ANML-16.5-01 /anml/body: usage="all" is unknown and read as none`}},
		{"ANML-8.7.1-01/reject-confidentiality", `<knowledge><inform confidentiality="secret" priority="urgent">x</inform></knowledge>`,
			[]string{`warning ANML-8.7.1-01 /anml/knowledge/inform: confidentiality="secret" is unknown and read as private`, `warning ANML-8.7.1-01 /anml/knowledge/inform: priority="urgent" is unknown and read as normal`}},
		{"ANML-8.11-01/reject-type", body(`<data><item><field name="n" type="int">1</field></item></data>`),
			[]string{`warning ANML-8.11-01 /anml/body/data/item/field: type="int" is unknown and read as string`}},
		{"ANML-8.6.1-06/reject-auth", get(`auth="maybe"`),
			[]string{`warning ANML-8.6.1-06 /anml/interact/action: auth="maybe" is unknown and read as required`}},
		{"ANML-8.13-03/reject-result", `<status code="1" result="fine"/>`,
			[]string{`error ANML-8.13-03 /anml/status: result="fine" is unknown and read as error`}},
		{"ANML-8.7.4-02/reject-reason", response(`<refuse field="f" reason="because"/>`),
			[]string{`warning ANML-8.7.4-02 /anml/knowledge/refuse: reason="because" is unknown and read as a refusal`}},
		{"ANML-8.5.3-01/reject-status", `<state><flow><step id="s" status="done"/></flow></state>`,
			[]string{`warning ANML-8.5.3-01 /anml/state/flow/step: status="done" is unknown and read as absent`}},
		{"ANML-8.10.2-01/reject-inference", body(`<img src="/x" inference="all"><description>d</description></img>`),
			[]string{`warning ANML-8.10.2-01 /anml/body/img: inference="all" is unknown and read as none`}},
		{"ANML-8.4.1-03/reject-requires", `<constraints><disclosure field="email" requires="no"/></constraints>`,
			[]string{`error ANML-8.4.1-03 /anml/constraints/disclosure: requires="no" is unknown and read as explicit-consent`, `warning ANML-8.4.1-02 /anml/constraints/disclosure: the rule names the field "email", which no ask asks for`}},
		{"ANML-8.4.1-03/reject-empty", `<constraints><disclosure field="email" requires=""/></constraints>`,
			[]string{`error ANML-11.4-01 /anml/constraints/disclosure: disclosure has no requires, so it is not processed`}},
		{"ANML-1.2.2-05/reject-consent", response(`<answer field="f" value="v" consent="yes"/>`),
			[]string{`warning ANML-1.2.2-05 /anml/knowledge/answer: consent="yes" is unknown and read as absent`}},
		{"ANML-12.7-03/reject-two-domains", service(`<head><title>T</title><trust domain="a.example b.example"/></head>`),
			[]string{`error ANML-12.7-03 /anml/head/trust: domain="a.example b.example" is not exactly one domain name`}},
	})
}

// TestBooleanAttributes reads attributes whose safe values differ, and counts the findings.
func TestBooleanAttributes(t *testing.T) {
	r := rows{t}
	action := func(text string) string {
		return `<interact><action id="a" method="GET" endpoint="/" idempotent="` + text + `" confirm="` + text + `"/></interact>`
	}
	for _, text := range []string{"1", "0", "yes", "TRUE", " true ", ""} {
		name := "ANML-8.11-05/reject-" + fmt.Sprintf("%q", text)
		r.returns(name, action(text), "false, confirmed true, 2 errors", func(d *Document) any {
			a := first(d.Interact().Actions())
			confirmed, _ := a.Confirm()
			bad := 0
			for _, f := range d.Findings() {
				if f.Requirement == "ANML-8.11-05" && f.Severity == lookleap.SeverityError {
					bad++
				}
			}
			return fmt.Sprintf("%t, confirmed %t, %d errors", a.Idempotent(), confirmed, bad)
		})
	}
	for _, text := range []string{"true", "false"} {
		r.returns("ANML-8.11-05/accept-"+fmt.Sprintf("%q", text), action(text), text+" "+text, func(d *Document) any {
			a := first(d.Interact().Actions())
			confirmed, _ := a.Confirm()
			return fmt.Sprint(a.Idempotent(), " ", confirmed)
		})
	}
}

func TestExaminedElements(t *testing.T) {
	param := func(attrs, inner string) string {
		return `<interact><action id="a" method="GET" endpoint="/"><param name="n" ` + attrs + `>` + inner + `</param></action></interact>`
	}
	ask := func(field string) string {
		return `<interact><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="` + field + `" action="a" purpose="p"/></knowledge>`
	}
	field := func(attrs, text string) string {
		return `<body><data><item><field ` + attrs + `>` + text + `</field></item></data></body>`
	}
	long := strings.Repeat("x", 4<<10)
	runExamined(t, []examinedCase{
		{"ANML-8.1-23/reject-version", strings.Replace(service("<head><title>T</title></head>"), "<anml", `<anml supported-versions="2.0, 3.0"`, 1),
			[]string{`warning ANML-8.1-23 /anml: the document offers the versions "2.0, 3.0" and not 1.0, so its actions are not executed`}},
		{"ANML-8.1-23/accept-version", strings.Replace(service("<head><title>T</title></head>"), "<anml", `<anml supported-versions="2.0, 1.0"`, 1), nil},
		{"ANML-8-03/accept-unknown-twice", service(`<head><x:a xmlns:x="urn:x"/><x:a xmlns:x="urn:x"/><title>T</title></head>`),
			[]string{`info ANML-5.2.7-01 /anml/head/a[1]: the element "a" is from another vocabulary, so it is ignored`, `info ANML-5.2.7-01 /anml/head/a[2]: the element "a" is from another vocabulary, so it is ignored`}},
		{"ANML-8-03/reject-after-unknown", service(`<head><x:a xmlns:x="urn:x"/><title>T</title><title>U</title></head>`),
			[]string{`error ANML-8-03 /anml/head/title[2]: title appears more than once in head`, `info ANML-5.2.7-01 /anml/head/a: the element "a" is from another vocabulary, so it is ignored`}},
		{"ANML-8-03/reject-second-body", `<body><section id="a"/></body><body><section id="b"/><section id="b"/></body><footer><rights scope="b">r</rights></footer>`,
			[]string{`error ANML-8-03 /anml/body[2]: body appears more than once in anml`, `warning ANML-8.12.1-03 /anml/footer/rights: the scope "b" does not exist, so it covers the whole site`}},
		{"ANML-8.6.2-01/reject-twice-after-response", `<interact><action id="a" method="GET" endpoint="/"><response/><param name="n"/><param name="n"/></action></interact>`,
			[]string{`error ANML-8.6.2-01 /anml/interact/action/param[2]: the parameter "n" appears twice; the first one counts`}},
		{"ANML-13.4-14/reject-post", `<interact><action id="a" method="POST" endpoint="/"/></interact>`,
			[]string{`info ANML-13.4-14 /anml/interact/action: the action changes something and does not say whether it needs confirmation`}},
		{"ANML-13.4-14/accept-stated", `<interact><action id="a" method="POST" endpoint="/" confirm="false"/></interact>`, nil},
		{"ANML-13.4-14/accept-get", `<interact><action id="a" method="OPTIONS" endpoint="/"/></interact>`, nil},
		{"ANML-8.6.3-01/reject-no-options", param(`type="enum"`, ""),
			[]string{`warning ANML-8.6.3-01 /anml/interact/action/param: an enum without options accepts no value`}},
		{"ANML-8.6.3-01/reject-options-of-text", param(``, `<option value="v"/>`),
			[]string{`warning ANML-8.6.3-01 /anml/interact/action/param: the options are ignored, since the parameter is not an enum`}},
		{"ANML-8.6.3-01/accept-options", param(`type="enum"`, `<option value="v"/>`), nil},
		{"ANML-8.6.2-04/reject-bounds", param(`type="date" min="soon" max="9"`, ""),
			[]string{`warning ANML-8.6.2-04 /anml/interact/action/param: max="9" has no meaning for the type date`, `warning ANML-8.6.2-04 /anml/interact/action/param: min="soon" has no meaning for the type date`}},
		{"ANML-8.6.2-04/accept-bounds", param(`type="date" min="2026-01-01" max="2026-02-01"`, ""), nil},
		{"ANML-8.6.2-04/reject-bound-of-enum", param(`type="enum" min="1"`, `<option value="v"/>`),
			[]string{`warning ANML-8.6.2-04 /anml/interact/action/param: min="1" has no meaning for the type enum`}},
		{"ANML-8.7.2-04/reject-other-name", ask("E-Mail"),
			[]string{`info ANML-8.7.2-04 /anml/knowledge/ask: the field "E-Mail" has another registered name`}},
		{"ANML-16.3-02/reject-upper-case", ask("Email"),
			[]string{`info ANML-16.3-02 /anml/knowledge/ask: the field "Email" is not in lower case`}},
		{"ANML-16.3-02/accept-unregistered", ask("Shoe-Size"), nil},
		{"ANML-16.3-02/accept-registered", ask("email"), nil},
		{"ANML-8.10.10-01/reject-value", field(`name="n" type="date"`, "soon"),
			[]string{`warning ANML-8.10.10-01 /anml/body/data/item/field: the value "soon" is not a date`}},
		{"ANML-8.10.10-01/accept-value", field(`name="n" type="number"`, "1"), nil},
		{"ANML-8.11-04/reject-price", field(`name="price" type="number"`, "1"),
			[]string{`info ANML-8.11-04 /anml/body/data/item/field: an amount of money is a number, which can lose digits`}},
		{"ANML-8.11-04/accept-text", field(`name="total"`, "1.10"), nil},
		{"ANML-8.10.2-03/reject-image", `<body><img src="/x"/></body>`,
			[]string{`warning ANML-8.10.2-03 /anml/body/img: the image has no description`}},
		{"ANML-8.9.4-01/reject-color", `<aesthetic><colors><color value="URL(x)"/><color value="red;x"/><color value="red"/></colors></aesthetic>`,
			[]string{`warning ANML-8.9.4-01 /anml/aesthetic/colors/color[1]: the colour "URL(x)" is more than a colour`, `warning ANML-8.9.4-01 /anml/aesthetic/colors/color[2]: the colour "red;x" is more than a colour`}},
		{"ANML-8.8.2-01/reject-language", `<persona><language policy="fixed"/></persona>`,
			[]string{`warning ANML-8.8.2-01 /anml/persona/language: a fixed language without a value has no effect`}},
		{"ANML-8.8.2-01/accept-language", `<persona><language/></persona>`, nil},
		{"ANML-8.9.2-01/reject-logo", `<aesthetic><logo alt="a"/></aesthetic>`,
			[]string{`warning ANML-8.9.2-01 /anml/aesthetic/logo: the logo has no src`}},
		{"ANML-4-04/accept-4096", `<body>` + long + `</body>`, nil},
		{"ANML-4-04/reject-4097", `<body>` + long + `x</body>`,
			[]string{`info ANML-4-04 /anml/body: the body is one long text without structure`}},
		{"ANML-4-04/accept-section", `<body><section>` + long + `x</section></body>`, nil},
		{"ANML-4-04/accept-text-and-link", `<body>` + long + `x<link href="/"/></body>`, nil},
		{"ANML-4-04/accept-empty", `<body/>`, nil},
	})
}

func TestExaminedSites(t *testing.T) {
	site := func(domain, inner string) string { return `<site domain="` + domain + `">` + inner + `</site>` }
	runExamined(t, []examinedCase{
		{"ANML-8.2-11/reject-empty", service(site("a.example", "") + site("c.example", `<x:y xmlns:x="urn:x"/>`) + site("d.example", "<body/>")),
			[]string{`error ANML-8.2-11 /anml/site[1]: the site is empty, so it is not processed`, `error ANML-8.2-11 /anml/site[2]: the site is empty, so it is not processed`, `info ANML-5.2.7-01 /anml/site[2]/y: the element "y" is from another vocabulary, so it is ignored`}},
		{"ANML-8.2-11/accept-others", service(`<x:y xmlns:x="urn:x"/>` + site("a.example", "<body/>") + `<x:y xmlns:x="urn:x"/>`),
			[]string{`info ANML-5.2.7-01 /anml/y[1]: the element "y" is from another vocabulary, so it is ignored`, `info ANML-5.2.7-01 /anml/y[2]: the element "y" is from another vocabulary, so it is ignored`}},
		{"ANML-8.2-12/reject-same", service(`<x:y xmlns:x="urn:x"/>` + site("a.example", "<body/>") + site("A.example.", `<footer><rights scope="z">r</rights></footer>`) + site("b.example", "<body/>")),
			[]string{`error ANML-8.2-12 /anml/site[1]: several sites have the domain "a.example", so none of them is processed`, `error ANML-8.2-12 /anml/site[2]: several sites have the domain "a.example", so none of them is processed`, `info ANML-5.2.7-01 /anml/y: the element "y" is from another vocabulary, so it is ignored`, `warning ANML-8.12.1-03 /anml/site[2]/footer/rights: the scope "z" does not exist, so it covers the whole site`}},
		{"ANML-8.2-12/accept-invalid", service(site("a b", "<body/>") + site("c d", "<body/>")),
			[]string{`error ANML-12.7-03 /anml/site[1]: domain="a b" is not exactly one domain name`, `error ANML-12.7-03 /anml/site[2]: domain="c d" is not exactly one domain name`}},
		{"ANML-11.1-09/reject-site", strings.Replace(service(site("a.example", "<knowledge/>")), `"service"`, `"agent-response"`, 1),
			[]string{`error ANML-11.1-09 /anml/site: an agent response contains a site`}},
		{"ANML-11.1-10/reject-sections", strings.Replace(service("<constraints/><state/><interact/><knowledge/><persona/><aesthetic/>"), `"service"`, `"agent-response"`, 1),
			[]string{`error ANML-11.1-10 /anml/aesthetic: an agent response contains aesthetic, which is ignored`, `error ANML-11.1-10 /anml/constraints: an agent response contains constraints, which is ignored`, `error ANML-11.1-10 /anml/interact: an agent response contains interact, which is ignored`, `error ANML-11.1-10 /anml/persona: an agent response contains persona, which is ignored`, `error ANML-11.1-10 /anml/state: an agent response contains state, which is ignored`}},
		{"ANML-8.1-25/reject-after-body", "<body/><knowledge/><footer/>",
			[]string{`info ANML-8.1-25 /anml/knowledge: knowledge follows the body`}},
		{"ANML-12.5-01/reject-trust-in-site", service(site("a.example", `<head><trust domain="b.example"/></head>`)),
			[]string{`warning ANML-12.5-01 /anml/site/head/trust: trust in a site is not a claim; the domain of the site is`}},
		{"ANML-12.5-06/reject-two", service(`<head><title>T</title><trust domain="a.example"/><trust domain="b.example"/></head>`),
			[]string{`error ANML-12.5-06 /anml/head/trust[2]: the document claims to speak for two sites`, `error ANML-8-03 /anml/head/trust[2]: trust appears more than once in head`}},
		{"ANML-12.5-06/accept-one-malformed", service(`<head><title>T</title><trust domain="a b"/><trust domain="b.example"/></head>`),
			[]string{`error ANML-12.7-03 /anml/head/trust[1]: domain="a b" is not exactly one domain name`, `error ANML-8-03 /anml/head/trust[2]: trust appears more than once in head`}},
		{"ANML-8-04/reject-same-id", `<interact><action id="a" method="GET" endpoint="/"/><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="email" action="a" purpose="p"/></knowledge>`,
			[]string{`error ANML-8-04 /anml/interact/action[2]: several actions have the id "a", so none of them is executed`, `error ANML-8.7.2-03 /anml/knowledge/ask: the ask names the action "a", which does not exist or is not unique`}},
		{"ANML-8.4.1-02/reject-unasked", `<constraints><disclosure field="email" requires="none"/></constraints>`,
			[]string{`warning ANML-8.4.1-02 /anml/constraints/disclosure: the rule names the field "email", which no ask asks for`}},
		{"ANML-8.7-01/reject-answer", `<knowledge><answer field="f" value="v"/><refuse field="f" reason="user-denied"/></knowledge>`,
			[]string{`info ANML-8.7-01 /anml/knowledge/answer: a service document contains an answer`, `info ANML-8.7-01 /anml/knowledge/refuse: a service document contains a refuse`}},
		{"ANML-8.7.4-03/reject-unknown-rule", `<knowledge><refuse field="f" reason="user-denied" constraint="c"/></knowledge>`,
			[]string{`info ANML-8.7-01 /anml/knowledge/refuse: a service document contains a refuse`, `warning ANML-8.7.4-03 /anml/knowledge/refuse: the refuse names a rule for "c", which does not exist`}},
		{"ANML-8.7.4-03/accept-rule", `<constraints><disclosure field="c" requires="none"/></constraints><knowledge><refuse field="f" reason="user-denied" constraint="c"/></knowledge>`,
			[]string{`info ANML-8.7-01 /anml/knowledge/refuse: a service document contains a refuse`, `warning ANML-8.4.1-02 /anml/constraints/disclosure: the rule names the field "c", which no ask asks for`}},
		{"ANML-11.1-09/accept-response", response(`<ask field="f" action="elsewhere" purpose="p"/><refuse field="f" reason="user-denied" constraint="c"/><answer field="g" value="v"/>`), nil},
		{"ANML-8.5.3-02/reject-twice", `<state><flow><step id="a"/><step id="a" next="z"/><step id="b" next="c"/><step id="c" next="z"/></flow></state>`,
			[]string{`error ANML-8.5.3-02 /anml/state/flow/step[2]: the step "a" appears twice; the first one counts`, `warning ANML-8.5.3-01 /anml/state/flow/step[4]: the step names the step "z", which does not exist`}},
		{"ANML-11.4-11/reject-cycle", `<state><flow><step id="a" next="b"/><step id="b" next="a"/><step id="c" next="a"/></flow></state>`,
			[]string{`error ANML-11.4-11 /anml/state/flow/step[1]: the flow returns to the step "a" without an exit, so it is not used`}},
		{"ANML-11.4-11/accept-condition", `<state><flow><step id="a" next="b"/><step id="b" next="a" condition="c"/></flow></state>`,
			[]string{`warning ANML-11.4-11 /anml/state/flow/step[1]: the flow returns to the step "a" unless a condition ends it`}},
		{"ANML-11.4-11/accept-joined", `<state><flow><step id="a" next="c"/><step id="b" next="c"/><step id="c"/></flow></state>`, nil},
		{"ANML-8.5.1-02/reject-space", `<state><context><step> a </step></context><flow><step id="a"/></flow></state>`,
			[]string{`info ANML-8.5.1-02 /anml/state/context/step: the step of the context has white space around it`}},
		{"ANML-8.5.1-01/reject-no-step", `<state><context/><flow><step id="a"/></flow></state>`,
			[]string{`error ANML-8.5.1-01 /anml/state/context: the context names no step`}},
		{"ANML-8.12.1-03/reject-scope", `<body><section id="s"/></body><footer><rights scope="t">r</rights><attribution scope="s">c</attribution></footer>`,
			[]string{`warning ANML-8.12.1-03 /anml/footer/rights: the scope "t" does not exist, so it covers the whole site`}},
		{"ANML-8.7.1-03/reject-scope", `<knowledge><inform scope="t">i</inform></knowledge>`,
			[]string{`warning ANML-8.7.1-03 /anml/knowledge/inform: the scope "t" does not exist, so it covers the whole site`}},
		{"ANML-8.12.2-01/reject-scope-of-a-credit", `<footer><attribution scope="t">c</attribution></footer>`,
			[]string{`warning ANML-8.12.2-01 /anml/footer/attribution: the scope "t" does not exist, so it covers the whole site`}},
		{"ANML-8.10.1-01/reject-same-id", `<body><section id="s"><data id="s"/></section><section/><section/><section id="t"/></body>`,
			[]string{`warning ANML-8.10.1-01 /anml/body/section[1]/data: several elements have the id "s", so a reference means all of them`}},
		{"ANML-8.10.1-01/accept-other-site", service(site("a.example", `<body><section id="s"/></body>`) + site("b.example", `<body><section id="s"/></body>`)), nil},
	})
}

func TestTrustInSiteIsNoClaim(t *testing.T) {
	rows{t}.returns("ANML-12.5-01/reject-trust-in-site", service(`<site domain="a.example"><head><trust domain="b.example"/></head></site>`), `[{a.example site }] ""`, func(d *Document) any {
		return fmt.Sprintf("%v %q", d.Claims(), first(d.Sites()).Head().Trust())
	})
}

// TestExaminedWithOptions shows the findings that depend on how a document was received.
func TestExaminedWithOptions(t *testing.T) {
	check := func(name, doc string, o ReadOptions, want ...string) {
		t.Run(name, func(t *testing.T) {
			d, err := ParseXML([]byte(doc), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := examined(d); !sameFindings(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	titled := service("<head><title>T</title></head>")
	check("ANML-6.1-02/reject-other-version", titled, ReadOptions{Version: "2.0"}, `warning ANML-6.1-02 /anml: "2.0"`)
	check("ANML-6.1-02/accept-version", titled, ReadOptions{Version: "1.0"})
	check("ANML-6.5.1-13/reject-untitled", service(""), ReadOptions{}, `warning ANML-6.5.1-13 /anml: no title`)
	check("ANML-6.5.1-13/reject-untitled-well-known", service(""), ReadOptions{WellKnown: true}, `error ANML-6.5.1-13 /anml: no title`)
	check("ANML-8.2-11/reject-text", service(`<site domain="a.example">text</site>`), ReadOptions{},
		`error ANML-8.2-11 /anml/site: empty`, `warning ANML-8-02 /anml/site: text`)
	check("ANML-8-03/accept-text-twice", service(`<head>a<title>T</title>b</head>`), ReadOptions{}, `warning ANML-8-02 /anml/head: text`, `warning ANML-8-02 /anml/head: text`)
	check("ANML-8-03/accept-text-in-pieces", service(`<head><title>T</title></head><body>a<section>b<nav/>c</section>d</body>`), ReadOptions{})
	check("ANML-8.1-19/reject-other-domain", service(`<site domain="a.example"><body/></site>`), ReadOptions{Self: []string{"b.example"}}, `error ANML-8.1-19 /anml: no site for the domain`)
	check("ANML-8.1-19/accept-own-domain", service(`<site domain="A.Example"><body/></site>`), ReadOptions{Self: []string{"b.example", "a.example"}})
	// Each fault above the limit is counted once.
	for name, c := range map[string]struct {
		doc    string
		faults int
	}{
		"missing":  {`<body><audio/></body><interact><action id="a"/></interact>`, 4}, // one for the order
		"words":    {`<persona><voice perspective="x"/><language policy="y"/></persona>`, 2},
		"consents": {`<constraints><disclosure field="f" requires=""/><disclosure field="g" requires="x"/></constraints>`, 3},
		"values":   {`<body lang="a b"><link href="/a b"/><img src="/x"/></body>`, 3},
		"ids":      {`<body><section id="s"/><section id="s"/><section usage="store"/></body><footer><rights scope="t">r</rights></footer>`, 2},
		"fields":   {`<body><data><item><field name="price" type="number">x</field></item></data></body>`, 2},
		"surplus":  {`<body/><body/>`, 1},
		"asks":     {`<knowledge><ask field="f" action="z" purpose="p"/></knowledge>`, 1},
	} {
		t.Run("ANML-13.7-01/accept-counted-"+name, func(t *testing.T) {
			d, err := ParseXML([]byte(service(`<x:y xmlns:x="urn:x"/><head><title>T</title></head>`+c.doc)), ReadOptions{Limits: Limits{Findings: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Findings()) != 1 || d.Unlisted() != c.faults {
				t.Errorf("%d listed, %d more, want 1 and %d", len(d.Findings()), d.Unlisted(), c.faults)
			}
		})
	}
}
