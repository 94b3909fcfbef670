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

// TestRowsRequired takes each required attribute away from an element that is otherwise whole, and
// empties it: the element is reported and not processed (section 11.4).
func TestRowsRequired(t *testing.T) {
	const act = `<action id="a" method="GET" endpoint="/a"`
	for _, c := range []struct{ element, before, attrs, after string }{
		{"meta", "<head><title>T</title>", `name="n"`, "</head>"},
		{"trust", "<head><title>T</title>", `domain="a.example"`, "</head>"},
		{"site-ref", "<head><title>T</title>", `domain="a.example" canonical="https://a.example/"`, "</head>"},
		{"disclosure", "<constraints>", `field="email" requires="none"`, "</constraints>"},
		{"step", "<state><flow>", `id="s"`, "</flow></state>"},
		{"action", "<interact>", `id="a" method="GET" endpoint="/a"`, "</interact>"},
		{"param", "<interact>" + act + ">", `name="p"`, "</action></interact>"},
		{"option", "<interact>" + act + `><param name="p" type="enum">`, `value="v"`, "</param></action></interact>"},
		{"ask", "<interact>" + act + "/></interact><knowledge>", `field="f" action="a"`, "</knowledge>"},
		{"answer", "<knowledge>", `field="f" value="v"`, "</knowledge>"},
		{"refuse", "<knowledge>", `field="f" reason="user-denied"`, "</knowledge>"},
		{"img", "<body>", `src="/x"`, "</body>"},
		{"audio", "<body>", `src="/x"`, "</body>"},
		{"video", "<body>", `src="/x"`, "</body>"},
		{"link", "<body>", `href="/x"`, "</body>"},
		{"status", "", `code="c" result="success"`, ""},
	} {
		usable := func(d *Document) (yes bool) {
			d.root().walk(func(n node) bool {
				yes = yes || n.name().Local == c.element && n.usable()
				return true
			})
			return yes
		}
		doc := func(attrs string) string { return service(c.before + "<" + c.element + " " + attrs + "/>" + c.after) }
		t.Run("ANML-11.4-02/accept-"+c.element, func(t *testing.T) {
			in(t, doc(c.attrs), func(t *testing.T, d *Document) {
				if !usable(d) || d.hasFinding(CodeMalformed) {
					t.Error(d.Findings())
				}
			})
		})
		for _, whole := range strings.Fields(c.attrs) {
			name, _, _ := strings.Cut(whole, "=")
			for how, part := range map[string]string{"without": "", "empty": name + `=""`} {
				if how == "empty" && name == "value" {
					continue // an empty value is one
				}
				sections := doc(strings.Replace(c.attrs, whole, part, 1))
				for _, id := range []string{"ANML-11.4-01", "ANML-11.4-03"} {
					t.Run(id+"/reject-"+c.element+"-"+how+"-"+name, func(t *testing.T) {
						in(t, sections, func(t *testing.T, d *Document) {
							if !slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool {
								return f.Code == CodeMalformed && f.Severity == lookleap.SeverityError && f.Line > 0 &&
									strings.HasSuffix(f.Path, "/"+c.element) && strings.HasPrefix(f.Message, c.element+" has no "+name)
							}) {
								t.Errorf("%s: %v", d.Format(), d.Findings())
							}
						})
					})
				}
				t.Run("ANML-11.4-02/reject-"+c.element+"-"+how+"-"+name, func(t *testing.T) {
					in(t, sections, func(t *testing.T, d *Document) {
						if usable(d) {
							t.Errorf("%s: it is processed", d.Format())
						}
					})
				})
			}
		}
	}
}

// TestRowsWords reads each word of an enumeration, without a finding about it.
func TestRowsWords(t *testing.T) {
	r := rows{t}
	each := func(id, sections, words, other, rule string, read func(*Document) any) {
		for word := range strings.FieldsSeq(words) { // as the draft has them, not as the code has them
			doc := service(fmt.Sprintf("<head><title>T</title></head>"+sections, word))
			if strings.Contains(sections, "<answer") || strings.Contains(sections, "<refuse") {
				doc = strings.Replace(doc, `"service"`, `"agent-response"`, 1)
			}
			r.returns(id+"/accept-word-"+word, doc, word, read)
			r.clean(id+"/accept-unreported-"+word, XML, doc)
			for _, spelling := range []string{strings.ToUpper(word), " " + word} {
				name, severity := "/reject-spelling-"+strings.Replace(spelling, " ", "space-", 1), lookleap.SeverityWarning
				if other == "error" {
					severity = lookleap.SeverityError
				}
				bad := strings.Replace(doc, `"`+word+`"`, `"`+spelling+`"`, 1)
				r.returns(id+name, bad, strings.Replace(other, "as-written", spelling, 1), read)
				r.finds(id+name+"-reported", bad, severity, codeBadValue, "ANML-"+rule)
			}
		}
	}
	inform := func(d *Document) Inform { return first(d.Knowledge().Informs()) }
	const act = `<interact><action id="a" method="GET" endpoint="/a"/></interact>`
	param := func(d *Document) Param { return first(first(d.Interact().Actions()).Params()) }
	each("ANML-8.6.2-02", `<interact><action id="a" method="GET" endpoint="/a"><param name="p" type="%s"/></action></interact>`, "string number boolean date datetime uri", "string", "8.11-01", func(d *Document) any { return param(d).Type() })
	each("ANML-8.6.2-02", `<interact><action id="a" method="GET" endpoint="/a"><param name="p" type="%s"><option value="v"/></param></action></interact>`, "enum", "string", "8.11-01", func(d *Document) any { return param(d).Type() })
	each("ANML-8.7.1-01", `<knowledge><inform priority="%s">x</inform></knowledge>`, "normal low high", "normal", "8.7.1-01", func(d *Document) any { return inform(d).Priority() })
	each("ANML-8.7.1-01", `<knowledge><inform confidentiality="%s">x</inform></knowledge>`, "private restricted public", "private", "8.7.1-01", func(d *Document) any { return inform(d).Confidentiality() })
	each("ANML-8.7.1-01", `<knowledge><inform usage="%s">x</inform></knowledge>`, "display cache store train", "none", "16.5-01", func(d *Document) any { return inform(d).Usage() })
	each("ANML-8.7.2-01", act+`<knowledge><ask field="f" action="a" purpose="p" type="%s"/></knowledge>`, "string number boolean date datetime uri", "string", "8.11-01", func(d *Document) any { return first(d.Knowledge().Asks()).Type() })
	each("ANML-8.7.3-01", `<knowledge><answer field="f" value="v" consent="%s"/></knowledge>`, "explicit implicit delegated", "", "1.2.2-05", func(d *Document) any { return first(d.Knowledge().Answers()).Consent() })
	each("ANML-8.7.4-02", `<knowledge><refuse field="f" reason="%s"/></knowledge>`, "constraint-violation user-denied policy-violation unsupported-field trust-insufficient", "as-written", "8.7.4-02", func(d *Document) any { return first(d.Knowledge().Refuses()).Reason() })
	each("ANML-8.8.2-01", `<persona><language value="fr" policy="%s"/></persona>`, "native match fixed", "", "1.2.2-05", func(d *Document) any { return d.Persona().Language().Policy() })
	each("ANML-8.8.4-01", `<persona><voice perspective="%s"/></persona>`, "first third", "", "1.2.2-05", func(d *Document) any { return d.Persona().Voice().Perspective() })
	each("ANML-8.10.10-01", `<body><data><item><field name="n" type="%s"/></item></data></body>`, "string", "string", "8.11-01", func(d *Document) any {
		return first(first(first(d.Body().Data()).Items()).Fields()).Type()
	})
	each("ANML-8.12.1-01", `<footer><rights usage="%s"/></footer>`, "none display cache store train", "none", "16.5-01", func(d *Document) any { return first(d.Footer().Rights()).Usage() })
	each("ANML-8.13-03", `<status code="c" result="%s"/>`, "error partial success", "error", "8.13-03", func(d *Document) any { return d.Status().Result() })
	each("ANML-8.10.2-01", `<body><img src="/x" inference="%s"><description>d</description></img></body>`, "none optional required", "", "8.10.2-01", func(d *Document) any {
		return Media(first(d.Body().Content())).Inference()
	})
	for _, word := range []string{"all", "Train", " none", ""} {
		r.returns("ANML-8.12.1-01/reject-word-"+strings.TrimSpace(word), `<footer><rights usage="`+word+`"/></footer>`, UsageNone, func(d *Document) any { return first(d.Footer().Rights()).Usage() })
	}
	for _, word := range []string{"any", "Native", " match"} {
		r.returns("ANML-8.8.2-01/reject-word-"+strings.TrimSpace(word), `<persona><language value="fr" policy="`+word+`"/></persona>`, LanguageUnstated, func(d *Document) any { return d.Persona().Language().Policy() })
	}
}

// TestRowsSecond repeats each child that an element has once: the first one counts, and the second
// has a finding.
func TestRowsSecond(t *testing.T) {
	r := rows{t}
	second := func(id, name, sections, want string, read func(*Document) any) {
		r.finds(id+"/reject-second-"+name, sections, lookleap.SeverityError, codeSurplus)
		r.returns(id+"/accept-first-"+name, sections, want, read)
	}
	persona := func(inner string) string { return "<persona>" + inner + "</persona>" }
	second("ANML-8.8-01", "model", persona(`<model name="a"/><model name="b"/>`), "a", func(d *Document) any { return d.Persona().Model().Name() })
	second("ANML-8.8-01", "language", persona(`<language value="de"/><language value="fr"/>`), "de", func(d *Document) any { return d.Persona().Language().Value() })
	second("ANML-8.8-01", "tone", persona(`<tone value="a"/><tone value="b"/>`), "a", func(d *Document) any { return d.Persona().Tone() })
	second("ANML-8.8-01", "voice", persona(`<voice name="a"/><voice name="b"/>`), "a", func(d *Document) any { return d.Persona().Voice().Name() })
	second("ANML-8.8-01", "instructions", persona(`<instructions>a</instructions><instructions>b</instructions>`), "a", func(d *Document) any { return d.Persona().Instructions() })
	second("ANML-8.8-01", "vocabulary", persona(`<vocabulary><avoid>a</avoid></vocabulary><vocabulary><avoid>b</avoid></vocabulary>`), "a", func(d *Document) any { return first(d.Persona().Avoid()) })
	second("ANML-8.6.1-01", "response", `<interact><action id="a" method="GET" endpoint="/"><response type="a/b"/><response type="c/d"/></action></interact>`, "a/b", func(d *Document) any { return first(d.Interact().Actions()).Response().Type() })
	second("ANML-8.9-01", "colors", `<aesthetic><colors><color value="a"/></colors><colors><color value="b"/></colors></aesthetic>`, "a", func(d *Document) any { return first(d.Aesthetic().Colors()).Value() })
	second("ANML-8.9-01", "typography", `<aesthetic><typography><font family="a"/></typography><typography><font family="b"/></typography></aesthetic>`, "a", func(d *Document) any { return first(d.Aesthetic().Fonts()).Family() })
	second("ANML-8.9-01", "display-name", `<aesthetic><display-name>a</display-name><display-name>b</display-name></aesthetic>`, "a", func(d *Document) any { return d.Aesthetic().DisplayName() })
	for _, kind := range []string{"img", "audio", "video"} {
		medium := func(d *Document) Media { return Media(first(d.Body().Content())) }
		second("ANML-8.10.5-02", "description-of-"+kind, `<body><`+kind+` src="/x"><description>a</description><description>b</description></`+kind+`></body>`, "a", func(d *Document) any { return medium(d).Description() })
		if kind != "img" {
			second("ANML-8.10.6-02", "transcript-of-"+kind, `<body><`+kind+` src="/x"><transcript>a</transcript><transcript>b</transcript></`+kind+`></body>`, "a", func(d *Document) any { return medium(d).Transcript() })
		}
	}
}

// TestRowsMedia shows sizes and playing times of each medium that has them.
func TestRowsMedia(t *testing.T) {
	r := rows{t}
	medium := func(d *Document) Media { return Media(first(d.Body().Content())) }
	for id, kind := range map[string]string{"ANML-8.10.2-01": "img", "ANML-8.10.4-01": "video"} {
		size := func(d *Document) any {
			w, hasWidth := medium(d).Width()
			h, hasHeight := medium(d).Height()
			return fmt.Sprint(w, hasWidth, h, hasHeight)
		}
		r.returns(id+"/accept-sizes", `<body><`+kind+` src="/x" width="2" height="3"/></body>`, "2 true 3 true", size)
		for _, text := range []string{"-1", "1.5", "x"} {
			r.returns(id+"/reject-sizes-"+text, `<body><`+kind+` src="/x" width="`+text+`" height="`+text+`"/></body>`, "0 false 0 false", size)
		}
	}
	for id, kind := range map[string]string{"ANML-8.10.3-01": "audio", "ANML-8.10.4-01": "video"} {
		for text, want := range map[string]string{"0": "0s true", "90": "1m30s true", "1.5": "1.5s true", "-1": "0s false", "x": "0s false", "": "0s false", "1e10": "0s false", "1000000000": "277777h46m40s true", "1000000001": "0s false"} {
			name := "accept"
			if strings.HasSuffix(want, "false") {
				name = "reject"
			}
			r.returns(id+"/"+name+"-duration-"+text, `<body><`+kind+` src="/x" duration="`+text+`"/></body>`, want, func(d *Document) any {
				x, ok := medium(d).Duration()
				return fmt.Sprint(x, " ", ok)
			})
		}
	}
	for _, uri := range []string{"vbscript:x", "blob:https://a.example/1", "file:///etc/passwd", "DATA:,x", "\tdata:,x"} {
		r.returns("ANML-8.10.7-02/reject-"+strings.TrimSpace(uri), `<body><link href="`+uri+`"/></body>`, false, func(d *Document) any { return first(d.Body().Links()).Followable() })
	}
	for _, color := range []string{"}", "url(x)", ";", "a{"} {
		r.finds("ANML-8.9.4-01/reject-"+color, `<aesthetic><colors><color value="`+color+`"/></colors></aesthetic>`, lookleap.SeverityWarning, codeBadValue)
	}
	field := func(typ, text string) string {
		return `<body><data><item><field name="n" type="` + typ + `">` + text + `</field></item></data></body>`
	}
	for typ, text := range map[string]string{"date": "2026-02-28", "datetime": "2026-02-28T10:00:00Z"} {
		r.returns("ANML-8.10.10-01/accept-time-of-"+typ, field(typ, text), "2026-02-28 true", func(d *Document) any {
			f := first(first(first(d.Body().Data()).Items()).Fields())
			at, err := f.Time()
			_, noNumber := f.Number()
			return fmt.Sprint(at.Format(DateLayout), " ", err == nil && errors.Is(noNumber, ErrType))
		})
	}
}

// TestRowsBounds checks values against bounds of each type that has them, and against patterns.
func TestRowsBounds(t *testing.T) {
	check := func(name, attrs, value string, fits bool) {
		t.Run("ANML-8.6.2-04/"+acceptIf(fits)+"-"+name, func(t *testing.T) {
			in(t, service(`<interact><action id="a" method="GET" endpoint="/"><param name="p" `+attrs+`><option value="b"/></param></action></interact>`), func(t *testing.T, d *Document) {
				err := first(first(d.Interact().Actions()).Params()).Check(value)
				if fits != (err == nil) || err != nil && !errors.Is(err, ErrParamInvalid) {
					t.Errorf("%s: %v", d.Format(), err)
				}
			})
		})
	}
	for typ, v := range map[string][4]string{ // below, least, greatest, above
		"number": {"8.9", "9", "10", "10.1"}, "date": {"2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01"},
		"datetime": {"2026-01-01T08:59:59Z", "2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z"},
	} {
		for i, value := range v {
			check(fmt.Sprint(typ, i), `type="`+typ+`" min="`+v[1]+`" max="`+v[2]+`"`, value, i == 1 || i == 2)
		}
	}
	for value, fits := range map[string]bool{"é": false, "éé": true, "ééé": true, "éééé": false} { // characters, not bytes
		check("string-"+value, `min="2" max="3"`, value, fits)
	}
	check("boolean-with-bounds", `type="boolean" min="5" max="1"`, "true", true)
	check("uri-with-bounds", `type="uri" min="100" max="1"`, "a:b", true)
	check("enum-with-bounds", `type="enum" min="100" max="0"`, "b", true)
	for value, fits := range map[string]bool{"a": true, "b": true, "ab": false, "xa": false, "bx": false, "": false, "a\nx": false} {
		check("pattern-"+value, `pattern="a|b"`, value, fits)
	}
	check("pattern-unchecked", `pattern="(?=x)"`, "y", true)
	for _, typ := range []string{"boolean", "uri"} {
		for _, bound := range []string{"min", "max"} {
			rows{t}.finds("ANML-8.6.2-04/reject-bound-of-"+typ+"-"+bound, `<interact><action id="a" method="GET" endpoint="/"><param name="p" type="`+typ+`" `+bound+`="1"/></action></interact>`, lookleap.SeverityWarning, codeBadValue)
		}
	}
	param := func(t *testing.T, inner string) Action {
		d, err := ParseXML([]byte(service(`<interact><action id="a" method="GET" endpoint="/"><param name="p" type="enum" `+inner+`</param></action></interact>`)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return first(d.Interact().Actions())
	}
	for value, fits := range map[string]bool{"b": true, "": true, "B": false, "label": false, "c": false} {
		t.Run("ANML-8.6.3-01/"+acceptIf(fits)+"-value-"+value, func(t *testing.T) {
			a := param(t, `><option value="b" label="label"/><option value=""/><option label="c"/>`)
			if err := first(a.Params()).Check(value); fits != (err == nil) {
				t.Error(err)
			}
		})
	}
	for name, required := range map[string]string{"reject-required": "true", "accept-optional": "false"} {
		t.Run("ANML-8.6.3-01/"+name+"-without-options", func(t *testing.T) {
			a := param(t, `required="`+required+`">`)
			if first(a.Params()).Check("") == nil || (a.Executable() == nil) != (required == "false") {
				t.Error(a.Executable())
			}
		})
	}
}

// TestRowsShown: what is written for a person or a model has the service's words in quotation
// marks.
func TestRowsShown(t *testing.T) {
	r := rows{t}
	shows := func(text string) func(*Document) any {
		return func(d *Document) any { return strings.Contains(d.Text(TextOptions{}), text) }
	}
	r.returns("ANML-8.6.1-09/accept-shown", `<interact><action id="a" method="GET" endpoint="/" description="Buy now"/></interact>`, true, shows(`described as "Buy now"`))
	credits := `<footer><attribution required="true">one</attribution><attribution required="yes">two</attribution><attribution required="false">three</attribution><attribution>four</attribution></footer>`
	for name, want := range map[string]bool{"one": true, "two": true, "three": false, "four": false} {
		r.returns("ANML-8.12.2-01/"+acceptIf(want)+"-duty-"+name, credits, want, shows(`credit to show "`+name+`"`))
	}
	answer := func(text string) string {
		return response(`<answer field="f" value="v" consent-granted="` + text + `"/>`)
	}
	for text, want := range map[string]string{"2026-03-01T12:00:00Z": "2026-03-01T12:00:00Z", "2026-03-01T14:00:00+02:00": "2026-03-01T12:00:00Z", "2026-03-01T07:30:00-04:30": "2026-03-01T12:00:00Z"} {
		r.returns("ANML-8.7.3-04/accept-in-utc-"+text, answer(text), want, func(d *Document) any {
			at, _ := first(d.Knowledge().Answers()).ConsentGranted()
			return at.Format(time.RFC3339)
		})
	}
	for _, text := range []string{"2026-03-01T12:00:00", "yesterday", ""} {
		r.finds("ANML-8.7.3-04/reject-reported-"+text, answer(text), lookleap.SeverityWarning, codeBadValue, "ANML-8.2-05")
	}
	t.Run("ANML-11.1-09/reject-writing-site", func(t *testing.T) {
		d, err := ParseXML([]byte(strings.Replace(service(`<site domain="a.example"><body/></site>`), ` role="service"`, "", 1)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := MarshalXML(d, WriteOptions{Role: RoleAgentResponse}); !errors.Is(err, ErrRoleContent) {
			t.Error(err)
		}
	})
}

// TestRowsOfActions: parameters, options, responses and references that are not as they should be.
func TestRowsOfActions(t *testing.T) {
	r := rows{t}
	action := func(attrs, inner string) string {
		return `<interact><action id="a" method="POST" endpoint="/" ` + attrs + `>` + inner + `</action></interact>`
	}
	only := func(d *Document) Action { return first(d.Interact().Actions()) }
	for name, enctype := range map[string]string{"capitals": "Application/JSON", "space": " application/json", "parameter": "application/json ; x=y"} {
		r.returns("ANML-8.6.1-05/accept-json-in-"+name, action(`enctype="`+enctype+`"`, ""), "application/json", func(d *Document) any { return only(d).EncType() })
	}
	r.returns("ANML-8.6.2-01/accept-only-true-as-required", action("", `<param name="p" required="yes"/><param name="q"/><param name="r" required="false"/>`), "false false false ", func(d *Document) any {
		return joined(only(d).Params(), func(p Param) any { return fmt.Sprint(p.Required(), " ") })
	})
	r.returns("ANML-8.6.2-01/reject-lost-unclear", action("", `<param required="yes"/>`), true, func(d *Document) any { return only(d).Executable() != nil })
	r.finds("ANML-8.6.2-01/reject-empty-name", action("", `<param name=""/>`), lookleap.SeverityError, CodeMalformed, "ANML-11.4-02")
	for _, id := range []string{"ANML-8.6.3-01", "ANML-8.6.3-02"} {
		r.returns(id+"/reject-option-without-value", action("", `<param name="p" type="enum"><option label="L"/><option value="v"/></param>`), "1 true", func(d *Document) any {
			p := first(only(d).Params())
			return fmt.Sprint(count(p.Options()), " ", errors.Is(p.Check(""), ErrParamInvalid))
		})
	}
	for name, attrs := range map[string]string{"stated": `type="text/plain" description="D"`, "empty": `type="" description="D"`} {
		want := map[string]string{"stated": "text/plain D", "empty": "application/anml+xml D"}[name]
		r.returns("ANML-8.6.4-01/accept-"+name, action("", "<response "+attrs+"/>"), want, func(d *Document) any { return only(d).Response().Type() + " " + only(d).Response().Description() })
	}
	ask := `<knowledge><ask field="f" action="a" purpose="p"/></knowledge>`
	dangles := func(d *Document) any {
		return fmt.Sprint(first(d.Knowledge().Asks()).Dangling(), " ", d.hasFinding(codeNoAction))
	}
	twice := `<interact><action id="a" method="GET" endpoint="/1"/><action id="a" method="GET" endpoint="/2"/></interact>`
	r.returns("ANML-8.7.2-03/reject-ambiguous", twice+ask, "true true", dangles)
	r.returns("ANML-8.7.2-03/accept-one", action("", "")+ask, "false false", dangles)
	r.returns("ANML-8.7.2-03/accept-in-a-response", response(`<ask field="f" action="a" purpose="p"/>`), "false false", dangles)
	scoped := func(d *Document) any {
		out := ""
		for site := range d.Containers() {
			for i := range site.Knowledge().Informs() {
				for _, n := range i.Scoped(i.Scope()) {
					out += n.Element() + " "
				}
			}
		}
		return out
	}
	inform := `<knowledge><inform scope="x">t</inform></knowledge>`
	for name, holder := range map[string]string{"action": `<interact><action id="x" method="GET" endpoint="/"/></interact>`, "step": `<state><flow><step id="x"/></flow></state>`,
		"data": `<body><data id="x"/></body>`, "item": `<body><data><item id="x"/></data></body>`} {
		r.returns("ANML-8.7.1-03/accept-scope-of-"+name, holder+inform, name+" ", scoped)
	}
	apart := `<site domain="a.example">` + inform + `</site><site domain="b.example"><body><section id="x"/></body></site>`
	r.returns("ANML-8.7.1-03/reject-scope-of-another-site", apart, "", scoped)
	r.returns("ANML-8.7.1-03/accept-scope-of-its-site", strings.Replace(apart, "</site>", `<body><data id="x"/></body></site>`, 1), "data ", scoped)
	r.finds("ANML-8.7.1-03/reject-reported-of-another-site", apart, lookleap.SeverityWarning, CodeDangling)
	for _, text := range []string{"2026-03-01T14:00:00+02:00", "2026-03-01T12:00Z"} {
		r.finds("ANML-8.7.3-04/accept-reported-"+text, response(`<answer field="f" value="v" consent-granted="`+text+`"/>`), lookleap.SeverityInfo, codeBadValue, "ANML-8.11-07")
	}
}
