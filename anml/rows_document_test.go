package anml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestRowsDocument(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	root := func(attrs, inner string) string {
		return `<?xml version="1.0" encoding="UTF-8"?><anml xmlns="` + Namespace + `" ` + attrs + `>` + inner + `</anml>`
	}
	title := func(d *Document) any { return d.Head().Title() }

	t.Run("ANML-1.1-01/accept-version", func(t *testing.T) {
		if Version != "1.0" || Draft != "draft-jeskey-anml-01" {
			t.Error(Version, Draft)
		}
	})
	r.returns("ANML-3-04/accept-service", service(`<knowledge><answer field="f" value="v"/></knowledge>`), "v", func(d *Document) any { return first(d.Knowledge().Answers()).Value() })
	r.returns("ANML-3-04/accept-agent", response(`<answer field="f" value="v"/>`), "v", func(d *Document) any { return first(d.Knowledge().Answers()).Value() })
	r.returns("ANML-3-05/accept-inform", `<knowledge><inform>x</inform></knowledge>`, "x", func(d *Document) any { return first(d.Knowledge().Informs()).Text() })
	r.returns("ANML-4-09/accept-ignored", `<zzz/><head zzz="1"><title>T</title></head>`, "T", title)
	r.returns("ANML-4-09/reject-widening", `<constraints><zzz/></constraints><knowledge><ask field="email" action="a"/></knowledge>`, ExplicitConsent, func(d *Document) any { return d.Constraints().Rule("email", nil).Requires })
	r.finds("ANML-4-02/accept-lint", `<interact><action id="a" method="POST" endpoint="/"/></interact>`, lookleap.SeverityInfo, CodeLint, "ANML-13.4-14")

	words := []Usage{UsageNone, UsageDisplay, UsageCache, UsageStore, UsageTrain}
	for _, id := range []string{"ANML-3-10", "ANML-16.5-01"} {
		t.Run(id+"/accept-order", func(t *testing.T) {
			for i, grant := range words {
				for j, use := range words {
					if grant.Allows(use) != (j <= i) {
						t.Errorf("%s allows %s: %t", grant, use, grant.Allows(use))
					}
				}
				if parseUsage(grant.String()) != grant {
					t.Error(grant)
				}
			}
		})
		t.Run(id+"/reject-unknown", func(t *testing.T) {
			for _, s := range []string{"", "None", "train ", "all", "TRAIN"} {
				if parseUsage(s) != UsageNone {
					t.Error(s)
				}
			}
		})
	}
	t.Run("ANML-16.6-01/accept-order", func(t *testing.T) {
		order := []Requires{RequiresNothing, ImplicitConsent, ExplicitConsent, Authentication}
		for i, a := range order {
			for j, b := range order {
				if got := a.Stricter(b); got != order[max(i, j)] {
					t.Errorf("%s and %s give %s", a, b, got)
				}
			}
			if parseRequires(a.String()) != a {
				t.Error(a)
			}
		}
	})
	t.Run("ANML-16.6-01/reject-unknown", func(t *testing.T) {
		for _, s := range []string{"", "None", "implicit", "NONE"} {
			if parseRequires(s) != ExplicitConsent {
				t.Error(s)
			}
		}
	})
	for _, id := range []string{"ANML-16.3-01", "ANML-16.3-02"} {
		t.Run(id+"/accept-standard", func(t *testing.T) {
			if len(StandardFields()) != 12 || !IsStandardField("email") {
				t.Error(StandardFields())
			}
		})
		t.Run(id+"/reject-other-spelling", func(t *testing.T) {
			for _, s := range []string{"Email", "x-email", "e-mail", "", "name"} {
				if IsStandardField(s) {
					t.Error(s)
				}
			}
		})
	}
	ask := func(field string) string {
		return `<interact><action id="a" method="GET" endpoint="/"/></interact><knowledge><ask field="` + field + `" action="a" purpose="p"/></knowledge>`
	}
	r.finds("ANML-8.7.2-04/accept-suggestion", ask("e-mail"), lookleap.SeverityInfo, codeFieldName)
	t.Run("ANML-8.7.2-04/accept-suggestions", func(t *testing.T) {
		for better, names := range map[string]string{
			"email": "e-mail mail email-address", "tel": "phone telephone mobile", "bday": "birthday birthdate date-of-birth",
			"fn": "name full-name fullname", "adr": "address", "tz": "timezone time-zone", "lang": "language",
			"org": "organization organisation company", "gender": "sex", "url": "website homepage",
		} {
			for _, name := range strings.Fields(names) {
				d, err := ParseXML([]byte(root("", ask(name))), none)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool { return f.Code == codeFieldName && f.Fix == "write "+better }) {
					t.Errorf("%s is not suggested for %s", better, name)
				}
			}
		}
	})
	r.finds("ANML-16.3-02/accept-note", ask("Birthday"), lookleap.SeverityInfo, codeFieldName, "ANML-8.7.2-04")

	// 5.4 and 11.6: documents of the shape of the draft's examples.
	booking := root(`ttl="3600"`, `<head><title>Tours</title><meta name="type" value="service"/></head>
  <constraints><disclosure field="airline" requires="explicit-consent"/></constraints>
  <state><context><step>one</step></context><flow><step id="one" status="current"/><step id="two" status="pending"/><step id="three" required="true"/><step id="four"/></flow></state>
  <interact><action id="send" method="POST" endpoint="/airline" confirm="true"/></interact>
  <knowledge><inform ttl="3600"> Two hundred places. </inform><ask field="airline" action="send" required="false" purpose="taste"/></knowledge>
  <body> Book here. </body><footer><rights holder="Example" year="2026" usage="cache"> All of it </rights></footer>`)
	r.returns("ANML-5.4-01/accept-complete", booking, "false 1h0m0s 4 one send", func(d *Document) any {
		ttl, _ := d.TTL()
		a, err := d.Interact().Action(first(d.Knowledge().Asks()).Action())
		return fmt.Sprint(d.hasVersion() && d.Format() == XML, " ", ttl, " ", count(d.State().Flow().Steps()), " ", d.State().CurrentStep().ID(), " ", a.ID(), map[bool]string{false: "!"}[err == nil])
	})
	t.Run("ANML-5.4-01/accept-no-error", func(t *testing.T) {
		in(t, booking, func(t *testing.T, d *Document) {
			for _, f := range d.Findings() {
				if f.Severity == lookleap.SeverityError {
					t.Error(f)
				}
			}
		})
	})
	r.same("ANML-7.3-01/accept-twin", booking, `{"anml":"1.0","ttl":3600,"head":{"title":"Tours","meta":[{"name":"type","value":"service"}]},"constraints":{"disclosure":[{"field":"airline","requires":"explicit-consent"}]},
"state":{"context":{"step":"one"},"flow":{"step":[{"id":"one","status":"current"},{"id":"two","status":"pending"},{"id":"three","required":true},{"id":"four"}]}},
"interact":{"action":[{"id":"send","method":"POST","endpoint":"/airline","confirm":true}]},"knowledge":{"inform":{"ttl":3600,"content":" Two hundred places. "},"ask":{"field":"airline","action":"send","required":false,"purpose":"taste"}},
"body":{"content":" Book here. "},"footer":{"rights":{"holder":"Example","year":"2026","usage":"cache","content":" All of it "}}}`)
	reply := response(`<answer field="destination" value="LAX" consent="explicit"/><refuse field="airline" reason="user-denied"/><ask field="dates" action="submit-booking" purpose="p"/><inform>Mornings.</inform>`)
	r.returns("ANML-11.6-01/accept-response", reply, "1 1 1 1 false", func(d *Document) any {
		k := d.Knowledge()
		return fmt.Sprint(count(k.Answers()), count(k.Refuses()), count(k.Asks()), count(k.Informs()), " ", first(k.Asks()).Dangling())
	})
	r.clean("ANML-11.6-01/accept-no-error", XML, reply)
	page := service(`<status code="200" result="success" message="m"/><body><data id="d"><item id="f1"><field name="departure" type="datetime">2026-05-01T08:00Z</field></item><item id="f2"/></data><nav next="/p?page=2" total="47" cursor="c"/></body><state><context><step>select</step></context></state>`)
	r.returns("ANML-11.6-02/accept-page", page, "success 2 /p?page=2 47 c 2026-05-01T08:00Z", func(d *Document) any {
		n := d.Body().Nav()
		total, _ := n.Total()
		data := first(d.Body().Data())
		return fmt.Sprint(d.Status().Result(), " ", count(data.Items()), " ", n.Next(), " ", total, " ", n.Cursor(), " ", first(first(data.Items()).Fields()).Text())
	})
	r.finds("ANML-11.6-02/reject-context-without-flow", page, lookleap.SeverityError, CodeDangling, "ANML-11.4-05")
	r.finds("ANML-11.6-02/reject-departure", page, lookleap.SeverityWarning, codeBadValue, "ANML-8.10.10-01")
	r.returns("ANML-11.6-02/reject-typed-value", page, true, func(d *Document) any {
		_, err := first(first(first(d.Body().Data()).Items()).Fields()).Time()
		return errors.Is(err, ErrType)
	})
	r.clean("ANML-11.2-01/accept-minimum", XML, response(`<refuse field="airline" reason="user-denied"/>`))
	r.finds("ANML-11.2-01/accept-without-role", root("", `<knowledge><refuse field="airline" reason="user-denied"/></knowledge>`), lookleap.SeverityInfo, codeNoRole, "ANML-8.1-05")

	// 8: the tree.
	for name, bad := range map[string]string{"ask-in-body": `<body><ask field="f" action="a"/></body>`, "title-in-body": `<body><title>x</title></body>`, "disclosure-in-root": `<disclosure field="f" requires="none"/>`} {
		r.finds("ANML-8-01/reject-"+name, bad, lookleap.SeverityWarning, codeMisplaced)
		r.returns("ANML-8-01/reject-unread-"+name, bad, "0 explicit-consent ", func(d *Document) any {
			return fmt.Sprint(count(d.Knowledge().Asks()), " ", d.Constraints().Rule("f", nil).Requires, " ", d.Body().Text())
		})
	}
	r.returns("ANML-8-01/reject-promotion", `<body><title>x</title></body>`, "", title)
	r.finds1("ANML-8-02/reject-text-in-knowledge", XML, service("<knowledge>abc</knowledge>"), none, codeStrayText)
	r.finds1("ANML-8-02/reject-text-in-empty", XML, service(`<persona><tone value="x">abc</tone></persona>`), none, codeStrayText)
	r.finds1("ANML-8-02/reject-json-content", JSON, `{"anml":"1.0","knowledge":{"content":"abc"}}`, none, codeStrayText)
	r.clean("ANML-8-02/accept-white-space", XML, service("<head>\n <title>T</title>\n</head>"))
	r.finds("ANML-8-03/reject-second", `<head><title>A</title></head><head><title>B</title></head>`, lookleap.SeverityError, codeSurplus)
	r.returns("ANML-8-03/reject-second-of-each", `<head/><body>x</body><persona><tone value="a"/></persona><head><title>B</title></head><body>y</body><persona><tone value="b"/></persona>`, "x a", func(d *Document) any {
		return fmt.Sprint(d.Head().Title(), d.Body().Text(), " ", d.Persona().Tone())
	})
	r.returns("ANML-8-03/accept-first", `<head><title>A</title></head><head><title>B</title></head>`, "A", title)
	r.returns("ANML-8-03/accept-constraints-together", `<constraints><disclosure field="email" requires="none"/></constraints><constraints><disclosure field="email" requires="authentication"/></constraints>`, Authentication,
		func(d *Document) any { return d.Constraints().Rule("email", nil).Requires })
	r.clean("ANML-8-04/accept-separate-spaces", XML, service(`<head><title>T</title></head><state><flow><step id="a" action="a"/></flow></state><interact><action id="a" method="GET" endpoint="/"/></interact>`))
	r.finds("ANML-8-04/reject-actions", `<interact><action id="a" method="GET" endpoint="/1"/><action id="a" method="GET" endpoint="/2"/></interact>`, lookleap.SeverityError, codeDuplicateID)

	// 8.1: the root.
	r.returns("ANML-8.1-01/accept-all", root(`version="1.0" role="service" supported-versions="1.0, 1.1" ttl="60" lang="en"`, ""), "1.0 service [1.0 1.1] 1m0s en", func(d *Document) any {
		v, _ := d.SupportedVersions()
		ttl, _ := d.TTL()
		return fmt.Sprint(d.Version(), " ", d.Role(), " ", v, " ", ttl, " ", d.Lang())
	})
	r.refuses("ANML-8.1-02/reject-without", XML, `<anml version="1.0"/>`, none, ErrNotANML)
	r.returns("ANML-8.1-02/accept-declared", root("", ""), "1.0", func(d *Document) any { return d.Version() })
	t.Run("ANML-8.1-03/accept-absent", func(t *testing.T) {
		if d, err := ParseXML([]byte(root("", "")), none); err != nil || d.Version() != "1.0" || d.hasVersion() {
			t.Error(err)
		}
	})
	r.returns("ANML-8.1-04/accept-absent", root("", ""), RoleUnspecified, func(d *Document) any { return d.Role() })
	r.finds("ANML-8.1-04/reject-unknown", root(`role="boss"`, ""), lookleap.SeverityError, codeBadRole)
	t.Run("ANML-8.1-05/reject-unset", func(t *testing.T) {
		d, _ := ParseXML([]byte(root("", "")), none)
		if _, err := MarshalXML(d, WriteOptions{}); !errors.Is(err, ErrRoleUnset) {
			t.Error(err)
		}
		if _, err := MarshalJSON(d, WriteOptions{}); !errors.Is(err, ErrRoleUnset) {
			t.Error(err)
		}
	})
	t.Run("ANML-8.1-05/accept-passed", func(t *testing.T) {
		d, _ := ParseXML([]byte(root("", "")), none)
		for _, f := range []Format{XML, JSON} {
			b, err := Marshal(d, f, WriteOptions{Role: RoleService})
			if again, err2 := Parse(f.MediaType(), b, none); err != nil || err2 != nil || again.Role() != RoleService {
				t.Error(err, err2)
			}
		}
	})
	r.refuses("ANML-8.1-26/reject-role-conflict", XML, response(""), ReadOptions{Role: RoleService}, ErrRoleConflict)
	r.refuses("ANML-8.1-08/reject-in-a-request", XML, root(`role="service"`, ""), ReadOptions{Role: RoleAgentResponse}, ErrRoleConflict)
	r.refuses("ANML-8.1-26/reject-unknown-role", XML, root(`role="boss"`, ""), ReadOptions{Role: RoleService}, ErrRoleConflict)
	for _, section := range []string{"interact", "persona", "aesthetic", "constraints", "state"} {
		bad := strings.Replace(response(""), "<knowledge>", "<"+section+"/><knowledge>", 1)
		for _, id := range []string{"ANML-8.1-09", "ANML-11.1-09", "ANML-11.1-10"} {
			r.finds(id+"/reject-"+section, bad, lookleap.SeverityError, codeRoleContent, "ANML-11.1-10")
		}
		t.Run("ANML-11.1-09/reject-writing-"+section, func(t *testing.T) {
			d, _ := ParseXML([]byte(bad), none)
			if _, err := MarshalXML(d, WriteOptions{}); !errors.Is(err, ErrRoleContent) {
				t.Error(err)
			}
			e, _ := ParseXML([]byte(root("", "<"+section+"/>")), none)
			if _, err := MarshalJSON(e, WriteOptions{Role: RoleAgentResponse}); !errors.Is(err, ErrRoleContent) {
				t.Error(err)
			}
		})
		r.returns("ANML-11.1-10/accept-ignored-"+section, bad, false, func(d *Document) any {
			return d.Interact().Exists() || d.Persona().Exists() || d.Aesthetic().Exists() || d.Constraints().Exists() || d.State().Exists()
		})
	}
	r.clean("ANML-8.1-09/accept-answer-only-service", XML, service(`<head><title>T</title></head><knowledge><answer field="f" value="v"/></knowledge>`))
	for text, want := range map[string]string{"1.0, 1.1": "[1.0 1.1] true", " 1.0 ,, ": "[1.0] true", "": "[] false", ",": "[] false", "2.0,3.0": "[2.0 3.0] false", "1.0, 9": "[1.0 9] true"} {
		r.returns("ANML-8.1-10/accept-"+fmt.Sprintf("%q", text), root(`supported-versions="`+text+`"`, ""), want, func(d *Document) any {
			v, _ := d.SupportedVersions()
			return fmt.Sprint(v, " ", d.Executable())
		})
	}
	for text, want := range map[string]string{"0": "0s", "3600": "1h0m0s", "99999999999999": (1 << 31 * time.Second).String()} {
		r.returns("ANML-8.1-11/accept-"+text, root(`ttl="`+text+`"`, ""), want+" true", func(d *Document) any { ttl, has := d.TTL(); return fmt.Sprint(ttl, " ", has) })
	}
	for _, text := range []string{"-1", "1.5", "abc", "", " 1", "1e3", "01"} {
		r.returns("ANML-8.1-11/reject-"+fmt.Sprintf("%q", text), root(`ttl="`+text+`"`, ""), "0s true", func(d *Document) any { ttl, has := d.TTL(); return fmt.Sprint(ttl, " ", has) })
	}
	r.returns("ANML-8.1-13/accept-tag", root(`lang="en-GB"`, ""), "en-GB", func(d *Document) any { return d.Lang() })
	r.finds("ANML-8.1-13/reject-tag", root(`lang="english_"`, ""), lookleap.SeverityWarning, codeBadValue)
	r.returns("ANML-8.1-14/accept-any-order", `<body>x</body><head><title>T</title></head>`, "T", title)
	r.finds("ANML-8.1-14/reject-second", `<body>x</body><body>y</body>`, lookleap.SeverityError, codeSurplus)
	r.returns("ANML-8.1-14/reject-second-read", `<body>x</body><body>y</body>`, "x", func(d *Document) any { return d.Body().Text() })
	r.finds("ANML-8.1-15/accept-empty", root("", ""), lookleap.SeverityWarning, codeNoTitle, "ANML-6.5.1-13")
	site := func(domain, inner string) string { return `<site domain="` + domain + `">` + inner + `</site>` }
	two := site("example.net", "<head><title>N</title></head>") + site("example.com", "<head><title>C</title></head>")
	domains := func(d *Document) any {
		out := ""
		for s := range d.Sites() {
			out += s.Domain() + " " + s.Head().Title() + ";"
		}
		return out
	}
	r.returns("ANML-8.1-16/accept-sites", two, "example.net N;example.com C;", domains)
	r.returns("ANML-8.1-16/accept-no-single", two, "true ", func(d *Document) any { return fmt.Sprint(d.Multi(), " ", d.Head().Title()) })
	for _, id := range []string{"ANML-8.1-17", "ANML-8.1-18", "ANML-12.7-02"} {
		for _, c := range sections {
			name := schema[c.kind].name
			r.refuses(id+"/reject-"+name, XML, service("<"+name+"/>"+site("example.com", "<body/>")), none, ErrMixedModel)
			r.refuses(id+"/reject-json-"+name, JSON, `{"anml":"1.0","`+name+`":{},"site":[{"domain":"example.com","body":{}}]}`, none, ErrMixedModel)
		}
		r.returns1(id+"/accept-foreign-beside", XML, service(`<x:y xmlns:x="urn:x"/><zzz/>`+site("example.com", "<body/>")))
	}
	r.returns("ANML-12.7-01/accept-several", two, "example.net N;example.com C;", domains)
	content := func(name string) string {
		return `<knowledge><inform>` + name + `-inform</inform></knowledge><interact><action id="` + name + `-action" method="GET" endpoint="/"/></interact><body>` + name + `-body</body>`
	}
	r.returns("ANML-12.7-01/accept-own-views", site("example.net", content("n"))+site("example.com", content("c")), "n-inform n-action n-body;c-inform c-action c-body;", func(d *Document) any {
		out := ""
		for s := range d.Sites() {
			for i := range s.Knowledge().Informs() {
				out += i.Text() + " "
			}
			for a := range s.Interact().Actions() {
				out += a.ID() + " "
			}
			out += s.Body().Text() + ";"
		}
		return out
	})
	r.finds1("ANML-8.1-19/reject-without-own", XML, service(two), ReadOptions{Self: []string{"example.org"}}, codeNoServingSite)
	t.Run("ANML-8.1-19/accept-with-own", func(t *testing.T) {
		d, _ := ParseXML([]byte(service(two)), ReadOptions{Self: []string{"www.example.net", "example.net"}})
		for _, f := range d.Findings() {
			if f.Code == codeNoServingSite {
				t.Error(f)
			}
		}
	})
	for _, v := range []string{"1.7", "2.0"} {
		r.finds("ANML-8.1-20/accept-"+v, root(`version="`+v+`"`, ""), lookleap.SeverityWarning, CodeNewVersion)
	}
	r.finds("ANML-8.1-25/accept-lint", `<body/><constraints/>`, lookleap.SeverityInfo, codeSectionSeq)
	r.refuses("ANML-8.1-26/reject-limit-before-encoding", XML, "\xff"+strings.Repeat(" ", 1<<20), none, ErrLimit)
	r.refuses("ANML-8.1-26/reject-encoding-before-syntax", XML, "<a><b></a>\xff", none, ErrEncoding)
	r.refuses("ANML-8.1-26/reject-syntax-before-root", XML, "<a>", none, ErrNotWellFormed)
	r.refuses("ANML-8.1-26/reject-role-before-model", XML, root(`role="agent-response"`, "<head/>"+site("example.com", "<body/>")), ReadOptions{Role: RoleService}, ErrRoleConflict)

	// 8.2 and 12.7: sites.
	r.returns("ANML-8.2-01/accept-container", site("Example.COM.", `<head><title>T</title></head><site-ref domain="example.org" canonical="https://example.org/a"/>`), "example.com T example.org",
		func(d *Document) any {
			s := first(d.Sites())
			return fmt.Sprint(s.Domain(), " ", s.Head().Title(), " ", first(s.SiteRefs()).Domain())
		})
	for name, domain := range map[string]string{"empty": "", "address": "192.0.2.1", "port": "example.com:8443", "scheme": "https://example.com", "list": "a.example b.example", "comma": "a.example,b.example", "wildcard": "*.example.com"} {
		for _, id := range []string{"ANML-8.2-02", "ANML-12.7-03"} {
			r.returns(id+"/reject-"+name, site(domain, "<head/>"), "", domains)
		}
	}
	r.returns("ANML-8.2-02/accept-domain", two, "example.net N;example.com C;", domains)
	r.finds("ANML-8.2-02/reject-missing", `<site><body/></site>`, lookleap.SeverityError, CodeMalformed)
	for text, want := range map[string]bool{"2026-03-01T12:00:00Z": true, "2026-03-01T12:00:00+02:00": true, "2026-03-01T12:00:00": false, "soon": false} {
		r.returns("ANML-8.2-05/"+map[bool]string{true: "accept-", false: "reject-"}[want]+text, `<site domain="example.com" trust-verified="`+text+`"><body/></site>`, want, func(d *Document) any {
			_, ok := first(d.Sites()).TrustVerified()
			return ok
		})
	}
	for name, inner := range map[string]string{"empty": "", "unknown": "<zzz/>"} {
		r.finds("ANML-8.2-11/reject-"+name, site("example.com", inner), lookleap.SeverityError, codeEmptySite)
		r.returns("ANML-8.2-11/reject-dropped-"+name, site("example.com", inner), "", domains)
	}
	for name, twin := range map[string]string{"equal": "example.com", "case": "EXAMPLE.com", "dot": "example.com."} {
		r.returns("ANML-8.2-12/reject-"+name, two+site(twin, "<body/>"), "example.net N;", domains)
		r.finds("ANML-8.2-12/reject-reported-"+name, two+site(twin, "<body/>"), lookleap.SeverityError, codeDuplicateSite)
	}
	scoped := site("example.net", `<constraints><disclosure field="email" requires="none"/></constraints><interact><action id="a" method="GET" endpoint="/"/></interact>`) +
		site("example.com", `<interact><action id="b" method="GET" endpoint="/"/></interact><knowledge><ask field="email" action="a" purpose="p"/></knowledge>`)
	r.returns("ANML-8.2-13/reject-across-sites", scoped, "explicit-consent true", func(d *Document) any {
		for s := range d.Sites() {
			for other, id := range map[string]string{"example.com": "a", "example.net": "b"} {
				if act, err := s.Interact().Action(id); s.Domain() == other && !errors.Is(err, ErrNoAction) {
					return act.ID() + " is an action of " + other
				}
			}
		}
		for s := range d.Sites() {
			for a := range s.Knowledge().Asks() {
				return fmt.Sprint(s.Constraints().Rule(a.Field(), nil).Requires, " ", a.Dangling())
			}
		}
		return nil
	})
	r.returns("ANML-12.7-16/reject-nested", site("example.com", "<head><title>T</title></head>"+site("example.org", "<head/>")), "example.com T;", domains)
	r.finds("ANML-12.7-16/reject-nested-reported", site("example.com", "<head><title>T</title></head>"+site("example.org", "<head/>")), lookleap.SeverityWarning, codeMisplaced)
	r.returns("ANML-12.7-15/accept-ignored", `<site domain="example.com" trust-manifest="https://evil.example/"><head><title>T</title></head></site>`, "example.com T;", domains)

	// 8.3 and 12: head.
	r.returns("ANML-8.3-01/accept-all", `<head><title>T</title><meta name="a" value="b"/><trust domain="example.com"/><site-ref domain="example.org" canonical="https://example.org/"/></head>`, "T b example.com example.org",
		func(d *Document) any {
			v, _ := d.Head().Meta("a")
			return fmt.Sprint(d.Head().Title(), " ", v, " ", d.Head().Trust(), " ", first(d.SiteRefs()).Domain())
		})
	trust := func(d *Document) any { return fmt.Sprint(d.Claims()) }
	r.returns("ANML-8.3-02/accept-domain", `<head><trust domain="Example.com"/></head>`, "[{example.com trust }]", trust)
	r.returns("ANML-12.5-01/accept-both-forms", two, "[{example.net site } {example.com site }]", trust)
	r.returns("ANML-12.5-01/accept-trust-in-the-head", `<head><title>T</title><trust domain="example.com"/></head>`, "[{example.com trust }]", trust)
	r.returns("ANML-12.5-01/reject-next-to-the-head", `<head><title>T</title></head><trust domain="example.com"/>`, "[]", trust)
	for _, parent := range []string{"body", "knowledge", "footer", "state"} {
		r.returns("ANML-12.5-01/reject-in-the-"+parent, "<head><title>T</title></head><"+parent+`><trust domain="example.com"/></`+parent+">", "[]", trust)
	}
	r.returns("ANML-12.5-01/reject-elsewhere", site("example.com", `<head><trust domain="example.org"/></head>`), "[{example.com site }]", trust)
	r.returns("ANML-12.5-03/accept-only-domain", `<head><trust domain="example.com" tier="2" manifest="https://evil.example/"/></head>`, "[{example.com trust }]", trust)
	r.returns("ANML-12.5-04/reject-missing", `<head><trust/></head>`, "[]", trust)
	r.finds("ANML-12.5-04/reject-empty", `<head><trust domain=""/></head>`, lookleap.SeverityError, CodeMalformed)
	r.returns("ANML-12.5-05/accept-domain", `<head><trust domain="a.example.com"/></head>`, "[{a.example.com trust }]", trust)
	r.returns("ANML-12.5-05/accept-alias", `<head><trust site="a.example.com"/></head>`, "[{a.example.com trust }]", trust)
	r.finds1("ANML-12.5-05/accept-alias-reported", XML, service(`<head><trust site="a.example.com"/></head>`), none, codeAlias)
	r.returns("ANML-12.5-05/reject-different", `<head><trust site="a.example.com" domain="b.example.com"/></head>`, "[{b.example.com trust claim-invalid}]", trust)
	r.returns("ANML-12.5-06/accept-equal", `<head><trust domain="example.com"/><trust domain="EXAMPLE.com"/></head>`, "[{example.com trust }]", trust)
	r.returns("ANML-12.5-06/reject-different", `<head><trust domain="example.com"/><trust domain="example.org"/></head>`, "[{example.com trust claim-invalid} {example.org trust claim-invalid}]", trust)
	refs := func(d *Document) any {
		out := ""
		for s := range d.Containers() {
			for ref := range s.SiteRefs() {
				out += ref.Domain() + " " + ref.Canonical() + " " + string(ref.Relationship()) + fmt.Sprint(" ", ref.Relationship().Known()) + ";"
			}
		}
		return out
	}
	ref := func(attrs string) string { return `<head><site-ref ` + attrs + `/></head>` }
	r.returns("ANML-12.6-01/accept-both-places", site("example.com", ref(`domain="a.example" canonical="https://a.example/"`)+`<site-ref domain="b.example" canonical="https://b.example/"/>`), "a.example https://a.example/  false;b.example https://b.example/  false;", refs)
	for _, id := range []string{"ANML-8.3-03", "ANML-12.6-02", "ANML-12.6-03"} {
		r.returns(id+"/accept-both", ref(`domain="a.example" canonical="https://a.example/x"`), "a.example https://a.example/x  false;", refs)
		for name, attrs := range map[string]string{"no-domain": `canonical="https://a.example/"`, "bad-domain": `domain="a b" canonical="https://a.example/"`, "no-canonical": `domain="a.example"`,
			"relative": `domain="a.example" canonical="/x"`, "http": `domain="a.example" canonical="http://a.example/"`, "userinfo": `domain="a.example" canonical="https://u@a.example/"`, "address": `domain="a.example" canonical="https://192.0.2.1/"`} {
			r.returns(id+"/reject-"+name, ref(attrs), "", refs)
			code, rule := codeBadValue, "ANML-12.6-03"
			if strings.HasPrefix(name, "no-") {
				code, rule = CodeMalformed, "ANML-11.4-01"
			} else if name == "bad-domain" {
				rule = "ANML-12.7-03"
			}
			r.finds(id+"/reject-reported-"+name, ref(attrs), lookleap.SeverityError, code, rule)
		}
	}
	r.returns("ANML-8.3-03/accept-in-the-site", site("example.com", `<site-ref domain="b.example" canonical="https://b.example/" relationship="affiliate"/>`), "b.example https://b.example/ affiliate true;", refs)
	for _, known := range []string{"carries-products", "licensed-distributor", "authorized-service", "official-partner", "affiliate", "content-aggregator"} {
		r.returns("ANML-17.1-01/accept-"+known, ref(`domain="a.example" canonical="https://a.example/" relationship="`+known+`"`), "a.example https://a.example/ "+known+" true;", refs)
	}
	for _, id := range []string{"ANML-12.6-11", "ANML-17.1-02"} {
		r.returns(id+"/accept-unknown-kept", ref(`domain="a.example" canonical="https://a.example/" relationship="x-sponsor"`), "a.example https://a.example/ x-sponsor false;", refs)
	}
	r.returns("ANML-12.7-14/accept-alias", ref(`site="a.example" canonical="https://a.example/"`), "a.example https://a.example/  false;", refs)
	r.finds1("ANML-12.7-14/accept-alias-reported", XML, service(ref(`site="a.example" canonical="https://a.example/"`)), none, codeAlias)
	r.finds("ANML-12.7-14/reject-different-reported", ref(`site="a.example" domain="b.example" canonical="https://a.example/"`), lookleap.SeverityError, codeClaim, "ANML-12.5-05")
	r.returns("ANML-12.7-14/reject-different", ref(`site="a.example" domain="b.example" canonical="https://a.example/"`), "", refs)
	r.writes("ANML-12.7-14/accept-written-as-domain", ref(`site="a.example" canonical="https://a.example/"`), `"head":{"site-ref":[{"domain":"a.example","canonical":"https://a.example/"}]}`)
	r.returns("ANML-8.3.1-01/accept-text", "<head><title> a <zzz>b</zzz>c</title></head>", " a c", title)
	r.returns("ANML-8.3.2-01/accept-first", `<head><meta name="a" value="1"/><meta name="a" value="2"/><meta name="b"/></head>`, "1 3", func(d *Document) any {
		v, _ := d.Head().Meta("a")
		return fmt.Sprint(v, " ", count(d.Head().Metas()))
	})
	r.finds("ANML-8.3.2-01/reject-nameless", `<head><meta value="1"/></head>`, lookleap.SeverityError, CodeMalformed, "ANML-11.4-02")
	r.returns("ANML-8.3.2-01/reject-nameless-or-empty", `<head><meta value="1"/><meta name="" value="2"/><meta name="a" value="3"/></head>`, "1 3", func(d *Document) any {
		v, _ := d.Head().Meta("a")
		return fmt.Sprint(count(d.Head().Metas()), " ", v)
	})
	r.finds("ANML-17-01/accept-own-validator", `<knowledge><ask field="f"/></knowledge>`, lookleap.SeverityError, CodeMalformed)
}
