package anml

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// Rules about a list of names hold for each name of the list.

func TestRowsOfEachInJSON(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	doc := func(members string) string { return `{"anml":"1.0","role":"service"` + members + `}` }
	title := func(d *Document) any { return d.Head().Title() }
	ttl := func(d *Document) any { v, has := d.TTL(); return fmt.Sprint(v, " ", has) }

	t.Run("ANML-7.1-01/accept-type-in-any-case", func(t *testing.T) {
		for _, name := range []string{"application/anml+json", "Application/ANML+JSON", "APPLICATION/ANML+JSON; Version=1.0"} {
			if d, err := Parse(name, []byte(doc("")), none); err != nil || d.Format() != JSON || len(d.Findings()) != 1 { // no title
				t.Error(name, err)
			}
		}
	})
	t.Run("ANML-7.1-01/accept-another-version", func(t *testing.T) {
		d, err := Parse("application/anml+json; version=2.0", []byte(doc("")), none)
		if err != nil || !d.hasFinding(codeVersionType) || d.Version() != "1.0" {
			t.Error(err)
		}
	})
	r.reads("ANML-7.2.1-02/accept-before-the-alias", JSON, `{"anml":"1.0","version":"2.0"}`, none, "1.0 true", func(d *Document) any {
		return fmt.Sprint(d.Version(), " ", d.hasFinding(codeVersionKey))
	})
	for name, c := range map[string]struct{ xml, json string }{
		"supported-versions": {`<anml xmlns="` + Namespace + `" version="1.0" role="service" supported-versions="1.0"/>`, doc(`,"supported-versions":"1.0"`)},
		"trust-verified":     {service(`<site domain="example.com" trust-verified="2026-03-01T12:00:00Z"><body/></site>`), doc(`,"site":[{"domain":"example.com","trust-verified":"2026-03-01T12:00:00Z","body":{}}]`)},
		"valid-for":          {service(`<constraints><disclosure field="email" requires="none" valid-for="60"/></constraints>`), doc(`,"constraints":{"disclosure":[{"field":"email","requires":"none","valid-for":"60"}]}`)},
		"consent-granted":    {service(`<knowledge><answer field="f" value="v" consent-granted="2026-03-01T12:00:00Z"/></knowledge>`), doc(`,"knowledge":{"answer":[{"field":"f","value":"v","consent-granted":"2026-03-01T12:00:00Z"}]}`)},
		"retry-after":        {service(`<status code="1" result="error" retry-after="5"/>`), doc(`,"status":{"code":"1","result":"error","retry-after":"5"}`)},
		"site-ref":           {service(`<head><site-ref domain="a.example" canonical="https://a.example/"/></head>`), doc(`,"head":{"site-ref":[{"domain":"a.example","canonical":"https://a.example/"}]}`)},
		"display-name":       {service(`<aesthetic><display-name>N</display-name></aesthetic>`), doc(`,"aesthetic":{"display-name":"N"}`)},
	} {
		r.same("ANML-7.2.2-01/accept-"+name, c.xml, c.json)
		t.Run("ANML-7.2.2-01/accept-written-"+name, func(t *testing.T) {
			d, err := ParseXML([]byte(c.xml), none)
			if err != nil {
				t.Fatal(err)
			}
			if j, err := MarshalJSON(d, WriteOptions{Verbatim: true}); err != nil || !strings.Contains(string(j), `"`+name+`":`) {
				t.Errorf("%s %v", j, err)
			}
		})
	}
	r.writes("ANML-7.2.2-02/accept-each", `<state><flow><step id="s" required="true"/></flow></state><interact><action id="a" method="GET" endpoint="/" idempotent="true" confirm="false"><param name="p" required="true"/></action></interact>`+
		`<knowledge><ask field="f" action="a" required="false"/></knowledge><footer><attribution required="true"/></footer>`,
		`"state":{"flow":{"step":[{"id":"s","required":true}]}},"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","idempotent":true,"confirm":false,"param":[{"name":"p","required":true}]}]},`+
			`"knowledge":{"ask":[{"field":"f","action":"a","required":false}]},"footer":{"attribution":[{"required":true}]}`)
	t.Run("ANML-7.2.2-03/accept-ttl-of-the-document", func(t *testing.T) {
		d, _ := ParseXML([]byte(`<anml xmlns="`+Namespace+`" ttl="5"/>`), none)
		if j, err := MarshalJSON(d, WriteOptions{Verbatim: true}); err != nil || string(j) != `{"anml":"1.0","ttl":5}`+"\n" {
			t.Errorf("%s %v", j, err)
		}
	})
	param := func(attrs string) string {
		return `<interact><action id="a" method="GET" endpoint="/"><param name="p" type="number" ` + attrs + `/></action></interact>`
	}
	params := func(members string) string {
		return `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/","param":[{"name":"p","type":"number",` + members + `}]}]}`
	}
	r.writes("ANML-7.2.2-03/accept-bounds", param(`min="-1" max="9.5"`), params(`"min":-1,"max":9.5`))
	r.writes("ANML-7.2.2-03/accept-other-spellings-as-text", param(`min="1.50" max="1e3"`), params(`"min":"1.50","max":"1e3"`))
	r.writes("ANML-7.2.2-03/accept-others-as-text", `<constraints><disclosure field="email" requires="none" valid-for="60"/></constraints><body><audio src="/a" duration="1.5"/><nav total="9"/></body><status code="200" result="success" retry-after="5"/>`,
		`"constraints":{"disclosure":[{"field":"email","requires":"none","valid-for":"60"}]},"body":{"audio":[{"src":"/a","duration":"1.5"}],"nav":{"total":"9"}},"status":{"code":"200","result":"success","retry-after":"5"}`)
	r.reads("ANML-7.2.2-04/reject-object-of-an-upper-bound", JSON, doc(`,"ttl":{}`), none, "0s true", ttl)
	r.reads("ANML-7.2.2-04/reject-array-of-an-upper-bound", JSON, doc(`,"ttl":[60]`), none, "0s true", ttl)
	r.reads("ANML-7.2.2-04/accept-null-as-no-upper-bound", JSON, doc(`,"ttl":null`), none, "0s false", ttl)

	for name, c := range map[string]struct{ sections, json string }{
		"title":        {`<head><title>x</title></head>`, `"head":{"title":"x"}`},
		"display-name": {`<aesthetic><display-name>x</display-name></aesthetic>`, `"aesthetic":{"display-name":"x"}`},
		"instructions": {`<persona><instructions>x</instructions></persona>`, `"persona":{"instructions":"x"}`},
		"description":  {`<body><img src="/i"><description>x</description></img></body>`, `"body":{"img":[{"src":"/i","description":"x"}]}`},
		"transcript":   {`<body><audio src="/a"><transcript>x</transcript></audio></body>`, `"body":{"audio":[{"src":"/a","transcript":"x"}]}`},
		"prefer":       {`<persona><vocabulary><prefer>x</prefer></vocabulary></persona>`, `"persona":{"vocabulary":{"prefer":["x"]}}`},
		"avoid":        {`<persona><vocabulary><avoid>x</avoid></vocabulary></persona>`, `"persona":{"vocabulary":{"avoid":["x"]}}`},
		"step":         {`<state><context><step>x</step></context></state>`, `"state":{"context":{"step":"x"}}`},
	} {
		r.writes("ANML-7.2.3-02/accept-"+name, c.sections, c.json)
		r.same("ANML-7.2.3-02/accept-both-ways-"+name, service(c.sections), doc(","+c.json))
	}
	r.finds1("ANML-7.2.3-02/reject-string-for-elements", JSON, doc(`,"head":"x"`), none, codeWrongShape)
	r.writes("ANML-7.2.5-01/accept-without-attributes", `<persona><tone/></persona><body><link/><nav/></body>`, `"persona":{"tone":{}},"body":{"link":[{}],"nav":{}}`)
	r.same("ANML-7.2.6-02/accept-names-without-a-namespace", service(`<body zzz="1">b</body><x xmlns="" a="1"/>`), doc(`,"body":{"@{}zzz":"1","content":"b"},"{}x":[{"@{}a":"1"}]`))
	r.same("ANML-7.4-04/accept-same-values", service(`<head><title>T</title><meta name="a" value="true"/></head><body usage="store" lang="fr">x</body>`),
		doc(`,"head":{"title":"T","meta":[{"name":"a","value":"true"}]},"body":{"usage":"store","lang":"fr","content":"x"}`))
	t.Run("ANML-7.4-04/accept-written-the-same", func(t *testing.T) {
		d, err := ParseXML([]byte(service(`<head><title>T</title></head><body usage="store" lang="fr">x</body>`)), none)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{XML, JSON} {
			b, err := Marshal(d, f, WriteOptions{})
			if again, err2 := Parse(f.MediaType(), b, none); err != nil || err2 != nil || !Equal(d, again) || again.Body().Usage() != UsageStore {
				t.Errorf("%s %v %v", b, err, err2)
			}
		}
	})

	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `,"a%d":1`, i)
	}
	r.returns1("ANML-7.5-05/accept-many-keys", JSON, doc(many.String()))
	for _, id := range []string{"ANML-7.5-05", "ANML-7.5-06"} {
		r.refuses(id+"/reject-among-many", JSON, doc(many.String()+`,"a7":2`), none, ErrNotWellFormed)
		r.refuses(id+"/reject-in-a-value-of-no-use", JSON, doc(`,"lang":{"b":1,"b":2}`), none, ErrNotWellFormed)
	}
	for name, text := range map[string]string{"nul": `\u0000`, "control": `\u001f`, "noncharacter": `\ufffe`, "literal": "\uFFFF"} {
		for place, members := range map[string]string{
			"text": `,"head":{"title":"` + text + `"}`, "content": `,"body":{"content":"` + text + `"}`, "attribute": `,"lang":"` + text + `"`,
			"unknown-text": `,"x":"` + text + `"`, "nested-key": `,"x":{"` + text + `":1}`, "element-name": `,"{urn:` + text + `}a":{}`, "attribute-name": `,"@{urn:` + text + `}a":"1"`,
		} {
			r.refuses("ANML-7.5-10/reject-"+name+"-in-"+place, JSON, doc(members), none, ErrNotWellFormed)
		}
	}
	r.reads("ANML-7.5-10/accept-white-space", JSON, doc(`,"head":{"title":"\t\n\r \ufffd"}`), none, "\t\n\r \uFFFD", title)
	r.finds1("ANML-8-01/reject-key-of-a-misplaced-element", JSON, doc(`,"body":{"title":"x"}`), none, codeMisplaced)
	r.refuses("ANML-8.1-26/reject-json-syntax-before-root", JSON, `{"head":{}} x`, none, ErrNotWellFormed)
	r.refuses("ANML-8.1-26/reject-json-limit-before-encoding", JSON, "\xff"+strings.Repeat(" ", 1<<20), none, ErrLimit)
	r.refuses("ANML-8.1-26/reject-json-encoding-before-syntax", JSON, "{\"a\" \xff", none, ErrEncoding)
	r.refuses("ANML-8.1-26/reject-json-role-before-model", JSON, `{"anml":"1.0","role":"agent-response","head":{},"site":[{"domain":"example.com","body":{}}]}`, ReadOptions{Role: RoleService}, ErrRoleConflict)
}

func TestRowsOfEachElement(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	root := func(attrs, inner string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><anml xmlns="` + Namespace + `" ` + attrs + `>` + inner + `</anml>`
	}
	site := func(domain, inner string) string { return `<site domain="` + domain + `">` + inner + `</site>` }

	r.reads("ANML-6.5.1-13/accept-response", XML, response(""), ReadOptions{WellKnown: true}, false, func(d *Document) any { return d.hasFinding(codeNoTitle) })
	for parent, children := range map[kind]string{
		kHead: "title trust", kState: "context flow", kContext: "step", kAction: "response", kPersona: "model language tone voice instructions vocabulary",
		kAesthetic: "display-name colors typography", kImg: "description", kAudio: "transcript description", kVideo: "transcript description",
	} {
		for name := range strings.FieldsSeq(children) {
			doc, _ := nest(parent, schema[parent].child(name))
			one := "<" + name + "></" + name + ">"
			r.finds("ANML-8-03/reject-second-"+name+"-of-"+schema[parent].name, strings.Replace(doc, one, one+one, 1), lookleap.SeverityError, codeSurplus)
		}
	}
	all := strings.Fields("head constraints state interact knowledge persona aesthetic body footer status")
	for _, name := range all {
		k := schema[kAnml].child(name)
		usable := func(n node) string {
			out := ""
			for c := range n.all() {
				if c.kind() == k && c.kind() != kUnknown && c.usable() {
					out += c.value("lang") + " "
				}
			}
			return out
		}
		attrs := map[string]string{"status": ` code="1" result="success"`}[name]
		first, second := "<"+name+attrs+` lang="en"/>`, "<"+name+attrs+` lang="fr"/>`
		want := "en "
		if name == "constraints" {
			want = "en fr " // no restriction is lost
		}
		r.returns("ANML-8.1-14/accept-first-"+name, first+second, want, func(d *Document) any { return usable(d.root()) })
		r.finds("ANML-8.1-14/reject-second-"+name, first+second, lookleap.SeverityError, codeSurplus)
		r.returns("ANML-8.2-01/accept-"+name, site("example.com", first), "en ", func(d *Document) any { return usable(d.root().child(kSite)) })
		r.finds("ANML-8.2-01/reject-second-"+name, site("example.com", first+second), lookleap.SeverityError, codeSurplus)
	}
	for _, name := range []string{"constraints", "state", "interact", "knowledge", "persona"} {
		r.finds("ANML-8.1-25/reject-"+name+"-after-body", "<body/><"+name+"/>", lookleap.SeverityInfo, codeSectionSeq)
	}
	r.returns("ANML-8.1-25/accept-in-order", "<head><title>T</title></head><constraints/><state/><interact/><knowledge/><persona/><aesthetic/><body/><footer/>", false,
		func(d *Document) any { return d.hasFinding(codeSectionSeq) })

	r.returns("ANML-8.1-01/accept-another-version", root(`version="1.7"`, ""), "1.7 true", func(d *Document) any { return fmt.Sprint(d.Version(), " ", d.hasVersion()) })
	for role, want := range map[string]Role{"service": RoleService, "agent-response": RoleAgentResponse} {
		r.returns("ANML-8.1-04/accept-"+role, root(`role="`+role+`"`, ""), fmt.Sprint(uint8(want), " false"), func(d *Document) any {
			return fmt.Sprint(uint8(d.Role()), " ", d.hasFinding(codeBadRole))
		})
	}
	for _, role := range []string{"Service", "agent", " service", ""} {
		r.returns(fmt.Sprintf("ANML-8.1-04/reject-%q", role), root(`role="`+role+`"`, ""), fmt.Sprint(uint8(RoleUnspecified), " true"), func(d *Document) any {
			return fmt.Sprint(uint8(d.Role()), " ", d.hasFinding(codeBadRole))
		})
	}
	r.finds("ANML-8.1-05/accept-without-role-reported", root("", ""), lookleap.SeverityInfo, codeNoRole)
	t.Run("ANML-8.1-05/accept-its-own", func(t *testing.T) {
		d, _ := ParseXML([]byte(response("")), none)
		for _, f := range []Format{XML, JSON} {
			b, err := Marshal(d, f, WriteOptions{Role: RoleService})
			if again, err2 := Parse(f.MediaType(), b, none); err != nil || err2 != nil || again.Role() != RoleAgentResponse {
				t.Error(err, err2)
			}
		}
	})
	inferred := ReadOptions{Role: RoleAgentResponse}
	for _, name := range []string{"interact", "persona", "aesthetic", "constraints", "state"} {
		r.finds1("ANML-8.1-09/reject-inferred-"+name, XML, root("", "<"+name+"/>"), inferred, codeRoleContent)
	}
	for _, o := range []ReadOptions{none, inferred} {
		r.finds1(fmt.Sprintf("ANML-8.1-09/reject-site-%d", o.Role), XML, strings.Replace(service(site("example.com", "<body/>")), `role="service"`, map[bool]string{true: `role="agent-response"`}[o.Role == 0], 1), o, codeRoleContent)
	}
	two := site("example.net", "<head/>") + site("example.com", "<head/>")
	r.clean("ANML-8.1-16/accept-without-a-title", XML, service(two))
	r.reads("ANML-8.1-19/accept-unknown-server", XML, service(two), none, false, func(d *Document) any { return d.hasFinding(codeNoServingSite) })
	for _, v := range []string{"0.9", "1.1", "2.0", "x"} {
		r.returns("ANML-8.1-20/accept-what-is-known-of-"+v, root(`version="`+v+`"`, `<head new="1"><title>T</title><new/></head><newer/>`), "T true", func(d *Document) any {
			return fmt.Sprint(d.Head().Title(), " ", d.hasFinding(CodeNewVersion))
		})
	}
	r.finds("ANML-8.2-05/reject-reported", `<site domain="example.com" trust-verified="soon"><body/></site>`, lookleap.SeverityWarning, codeBadValue)
	section, rights := `<body><section id="s"/></body>`, `<footer><rights scope="s" usage="none"/></footer>`
	r.returns("ANML-8.2-13/accept-ids-of-one-site", site("example.net", section+rights)+site("example.com", "<body/>"), false, func(d *Document) any { return d.hasFinding(CodeDangling) })
	r.finds("ANML-8.2-13/reject-ids-across-sites", site("example.net", section)+site("example.com", rights), lookleap.SeverityWarning, CodeDangling, "ANML-8.12.1-03")
	r.finds("ANML-8.2-13/reject-steps-across-sites", site("example.net", `<state><flow><step id="a"/></flow></state>`)+site("example.com", `<state><context><step>a</step></context><flow><step id="b"/></flow></state>`), lookleap.SeverityError, CodeDangling, "ANML-11.4-05")

	for _, requires := range []Requires{ExplicitConsent, Authentication, ImplicitConsent, RequiresNothing} {
		r.returns("ANML-8.4.1-03/accept-"+requires.String(), `<constraints><disclosure field="email" requires="`+requires.String()+`"/></constraints>`, fmt.Sprint(uint8(requires), " false"), func(d *Document) any {
			return fmt.Sprint(uint8(d.Constraints().Rule("email", nil).Requires), " ", slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool { return f.Severity == lookleap.SeverityError }))
		})
	}
	t.Run("ANML-8.4.1-03/accept-words-of-the-draft", func(t *testing.T) {
		for word, want := range map[string]Requires{"explicit-consent": ExplicitConsent, "implicit-consent": ImplicitConsent, "authentication": Authentication, "none": RequiresNothing} {
			if got := parseRequires(word); got != want {
				t.Errorf("%s is %s", word, got)
			}
		}
	})
	r.returns("ANML-8.4.1-02/accept-asked", `<constraints><disclosure field="email" requires="none"/></constraints><interact><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="email" action="a" purpose="p"/></knowledge>`, false,
		func(d *Document) any { return d.hasFinding(CodeDangling) })
	r.returns("ANML-8.5.1-01/reject-no-position", `<state><context/><flow><step id="a" status="current"/></flow></state>`, "", func(d *Document) any { return d.State().CurrentStep().ID() })
	for status, want := range map[string]StepStatus{"completed": StepCompleted, "current": StepCurrent, "pending": StepPending, "skipped": StepSkipped} {
		r.returns("ANML-8.5.3-01/accept-"+status, `<state><flow><step id="a" status="`+status+`"/></flow></state>`, fmt.Sprint(uint8(want), " false"), func(d *Document) any {
			return fmt.Sprint(uint8(first(d.State().Flow().Steps()).Status()), " ", d.hasFinding(codeBadValue))
		})
	}
	r.returns("ANML-8.5.3-01/accept-defaults", `<state><flow><step id="a"/><step id="b" required="yes"/></flow></state>`, "0 false  false", func(d *Document) any {
		a, b := d.State().Flow().Step("a"), d.State().Flow().Step("b")
		return fmt.Sprint(uint8(a.Status()), " ", a.Required(), " ", d.State().CurrentStep().ID(), " ", b.Required())
	})
	r.clean("ANML-8.5.3-01/accept-references", XML, service(`<head><title>T</title></head><state><flow><step id="a" next="b" action="c"/><step id="b"/></flow></state><interact><action id="c" method="GET" endpoint="/"/></interact>`))
}
