package anml

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestRowsConstraints(t *testing.T) {
	r := rows{t}
	rule := func(field string) func(*Document) any {
		return func(d *Document) any { return d.Constraints().Rule(field, nil).Requires }
	}
	with := func(disclosures string) string { return "<constraints>" + disclosures + "</constraints>" }
	r.returns("ANML-8.4-01/accept-empty", with(""), "0 explicit-consent", func(d *Document) any {
		return fmt.Sprint(count(d.Constraints().Disclosures()), " ", d.Constraints().Rule("email", nil).Requires)
	})
	r.returns("ANML-8.4.1-01/accept-all", with(`<disclosure field="email" requires="authentication" valid-for="60"/>`), "email authentication 1m0s true", func(d *Document) any {
		x := first(d.Constraints().Disclosures())
		v, ok := x.ValidFor()
		return fmt.Sprint(x.Field(), " ", x.Requires(), " ", v, " ", ok)
	})
	r.finds("ANML-8.4.1-02/reject-missing", with(`<disclosure requires="none"/>`), lookleap.SeverityError, CodeMalformed)
	for name, attrs := range map[string]string{"02/reject-empty": `field="" requires="none"`, "03/reject-empty": `field="email" requires=""`} {
		r.returns("ANML-8.4.1-"+name, with(`<disclosure `+attrs+`/>`), "0 explicit-consent", func(d *Document) any {
			return fmt.Sprint(count(d.Constraints().Disclosures()), " ", rule("email")(d))
		})
	}
	r.returns("ANML-8.4.1-02/reject-dropped-never-loosens", with(`<disclosure field="email" requires="none"/><disclosure requires="none"/>`), ExplicitConsent, rule("email"))
	r.finds("ANML-8.4.1-02/accept-unasked", with(`<disclosure field="email" requires="none"/>`), lookleap.SeverityWarning, CodeDangling)
	for _, word := range []string{"None", "implicit", "nothing", " none"} {
		r.returns("ANML-8.4.1-03/reject-"+strings.TrimSpace(word), with(`<disclosure field="email" requires="`+word+`"/>`), ExplicitConsent, rule("email"))
		r.finds("ANML-8.4.1-03/reject-reported-"+strings.TrimSpace(word), with(`<disclosure field="email" requires="`+word+`"/>`), lookleap.SeverityError, codeBadValue)
	}
	r.returns("ANML-8.4.1-03/reject-missing", with(`<disclosure field="email"/><disclosure field="email" requires="none"/>`), ExplicitConsent, rule("email"))
	r.returns("ANML-8.4.1-03/accept-none", with(`<disclosure field="email" requires="none"/>`), RequiresNothing, rule("email"))
	for text, want := range map[string]string{"3600": "1h0m0s", "-1": "0s", "x": "0s"} {
		r.returns("ANML-8.4.1-04/accept-"+text, with(`<disclosure field="email" requires="none" valid-for="`+text+`"/>`), want+" true", func(d *Document) any {
			x := d.Constraints().Rule("email", nil)
			return fmt.Sprint(x.ValidFor, " ", x.Limited)
		})
	}
	r.returns("ANML-8.4.1-04/accept-absent", with(`<disclosure field="email" requires="none"/>`), false, func(d *Document) any { return d.Constraints().Rule("email", nil).Limited })

	order := []string{"none", "implicit-consent", "explicit-consent", "authentication"}
	for i, a := range order {
		for j, b := range order {
			r.returns("K08/accept-"+a+"-and-"+b, with(`<disclosure field="email" requires="`+a+`" valid-for="`+itoa(10+i)+`"/><disclosure field="email" requires="`+b+`" valid-for="`+itoa(10+j)+`"/>`),
				order[max(i, j)]+" "+(time.Duration(10+min(i, j))*time.Second).String(), func(d *Document) any {
					x := d.Constraints().Rule("email", nil)
					return fmt.Sprint(x.Requires, " ", x.ValidFor)
				})
		}
	}
	r.returns("K07/reject-unrecognised-field", with(`<disclosure field="ssn" requires="none"/>`), ExplicitConsent, rule("ssn"))
	r.returns("K07/accept-registered-field", with(`<disclosure field="ssn" requires="none"/>`), RequiresNothing, func(d *Document) any {
		return d.Constraints().Rule("ssn", func(f string) bool { return f == "ssn" }).Requires
	})
	r.returns("K07/reject-no-rule", "", ExplicitConsent, rule("email"))
	r.returns("ANML-11.4-02/reject-unknown-constraint", with(`<disclosure field="email" requires="none"/><rate-limit per="day"/>`), "explicit-consent unknown-constraint", func(d *Document) any {
		x := d.Constraints().Rule("email", nil)
		return fmt.Sprint(x.Requires, " ", x.Raised)
	})
	t.Run("ANML-11.4-02/reject-unreadable-json-constraint", func(t *testing.T) {
		for _, c := range []string{`{"disclosure":5}`, `{"disclosure":[null]}`, `"none"`, `7`, `[false]`, `{"disclosure":[{"field":"email","requires":"none"},"x"]}`, `{"zzz":1}`} {
			d, err := ParseJSON([]byte(`{"anml":"1.0","constraints":[`+strings.Trim(c, "[]")+`,{"disclosure":[{"field":"email","requires":"none"}]}]}`), ReadOptions{})
			if err != nil {
				t.Fatal(c, err)
			}
			if got := d.Constraints().Rule("email", nil).Requires; got != ExplicitConsent && c != `{"disclosure":[{"field":"email","requires":"none"},"x"]}`+"" {
				t.Errorf("%s: %s", c, got)
			}
		}
	})
}

func TestRowsState(t *testing.T) {
	r := rows{t}
	state := func(inner string) string { return "<state>" + inner + "</state>" }
	current := func(d *Document) any { return d.State().CurrentStep().ID() }
	flow := `<flow><step id="a" status="current"/><step id="b"/></flow>`
	r.returns("ANML-8.5-01/accept-both", state("<context><step>b</step></context>"+flow), "b", current)
	r.returns("ANML-8.5-01/accept-context-alone", state("<context><step>b</step></context>"), "", current)
	r.finds("ANML-8.5-01/reject-context-without-flow", state("<context><step>b</step></context>"), lookleap.SeverityError, CodeDangling, "ANML-11.4-05")
	r.returns("ANML-8.5-01/accept-flow-alone", state(flow), "a", current)
	r.same("ANML-8.5.1-01/accept-json", service(state("<context><step>b</step></context>"+flow)), `{"anml":"1.0","role":"service","state":{"context":{"step":[{"content":"b"}]},"flow":{"step":[{"id":"a","status":"current"},{"id":"b"}]}}}`)
	r.finds("ANML-8.5.1-01/reject-without-step", state("<context/>"+flow), lookleap.SeverityError, CodeMalformed, "ANML-8.5.1-01")
	for _, id := range []string{"ANML-8.5.1-02", "ANML-11.4-05"} {
		r.returns(id+"/accept-trimmed", state("<context><step> b\n</step></context>"+flow), "b", current)
		r.returns(id+"/reject-unknown", state("<context><step>z</step></context>"+flow), "", current)
		r.finds(id+"/reject-reported", state("<context><step>z</step></context>"+flow), lookleap.SeverityError, CodeDangling, "ANML-11.4-05")
	}
	r.returns("ANML-8.5.1-02/reject-position-inferred", state(`<context><step>z</step></context><flow><step id="a" status="current"/></flow>`), "", current)
	r.returns("ANML-8.5.2-01/accept-order", state(`<flow><step id="b"/><step id="a"/></flow>`), "b a ", func(d *Document) any {
		return joined(d.State().Flow().Steps(), func(s Step) any { return s.ID() + " " })
	})
	r.returns("ANML-8.5.3-01/accept-all", state(`<flow><step id="a" label="L" status="skipped" required="true" next="b" condition="x" action="c"/></flow>`), "a L skipped true b x c", func(d *Document) any {
		s := first(d.State().Flow().Steps())
		return fmt.Sprint(s.ID(), " ", s.Label(), " ", s.Status(), " ", s.Required(), " ", s.Next(), " ", s.Condition(), " ", s.Action())
	})
	r.finds("ANML-8.5.3-01/reject-status", state(`<flow><step id="a" status="done"/></flow>`), lookleap.SeverityWarning, codeBadValue)
	r.finds("ANML-8.5.3-01/reject-next", state(`<flow><step id="a" next="z"/></flow>`), lookleap.SeverityWarning, CodeDangling)
	r.finds("ANML-8.5.3-01/reject-action", state(`<flow><step id="a" action="z"/></flow>`), lookleap.SeverityWarning, CodeDangling)
	r.returns("ANML-8.5.3-01/reject-two-current", state(`<flow><step id="a" status="current"/><step id="b" status="current"/></flow>`), "", current)
	r.finds("ANML-8.5.3-02/reject-missing", state(`<flow><step label="x"/></flow>`), lookleap.SeverityError, CodeMalformed)
	r.returns("ANML-8.5.3-02/reject-missing-or-empty", state(`<flow><step label="x"/><step id="" label="y"/></flow>`), 0, func(d *Document) any { return count(d.State().Flow().Steps()) })
	r.finds("ANML-8.5.3-02/reject-duplicate", state(`<flow><step id="a" label="1"/><step id="a" label="2"/></flow>`), lookleap.SeverityError, codeDuplicateID)
	r.returns("ANML-8.5.3-02/accept-first", state(`<flow><step id="a" label="1"/><step id="a" label="2"/></flow>`), "1 1", func(d *Document) any {
		return fmt.Sprint(count(d.State().Flow().Steps()), " ", d.State().Flow().Step("a").Label())
	})
	chain := func(n int, end string) string {
		var b strings.Builder
		b.WriteString("<flow>")
		for i := range n {
			next := "s" + itoa(i+1)
			if i == n-1 {
				next = end
			}
			fmt.Fprintf(&b, `<step id="s%d" next="%s"/>`, i, next)
		}
		return b.String() + "</flow>"
	}
	for _, id := range []string{"ANML-11.4-11", "ANML-13.7-09", "K13"} {
		for name, f := range map[string]string{"self": `<flow><step id="a" next="a"/></flow>`, "two": `<flow><step id="a" next="b"/><step id="b" next="a"/></flow>`, "long": chain(200, "s0"), "tail": chain(200, "s150")} {
			r.returns(id+"/reject-"+name, "<head><title>T</title></head>"+state("<context><step>a</step></context>"+f), "false true  T", func(d *Document) any {
				return fmt.Sprint(d.State().Flow().Exists(), " ", errors.Is(d.State().FlowError(), ErrFlowCycle), " ", d.State().CurrentStep().ID(), " ", d.Head().Title())
			})
			r.finds(id+"/reject-reported-"+name, state(f), lookleap.SeverityError, codeFlowCycle)
		}
		r.returns(id+"/accept-chain", state(chain(256, "")), "256 true", func(d *Document) any {
			f := d.State().Flow()
			return fmt.Sprint(count(f.Path(f.Step("s0"))), " ", d.State().FlowError() == nil)
		})
		r.returns(id+"/accept-exit", state(`<flow><step id="a" next="b"/><step id="b" next="a" condition="enough"/></flow>`), "2 true", func(d *Document) any {
			f := d.State().Flow()
			return fmt.Sprint(count(f.Path(f.Step("a"))), " ", f.Exists())
		})
	}
	r.refuses("ANML-13.7-08/reject-steps", XML, service(state(chain(257, ""))), ReadOptions{}, ErrLimit)
}

func TestRowsInteract(t *testing.T) {
	r := rows{t}
	action := func(attrs string) string {
		return "<interact><action " + attrs + "/></interact>"
	}
	ok := `id="a" method="GET" endpoint="/x"`
	executable := func(d *Document) any {
		a, err := d.Interact().Action("a")
		return fmt.Sprint(a.ID(), " ", a.Executable() == nil && err == nil)
	}
	r.returns("ANML-8.6-01/accept-empty", "<interact/>", 0, func(d *Document) any { return count(d.Interact().Actions()) })
	r.returns("ANML-8.6.1-01/accept-all", `<interact><action id="a" method="PUT" endpoint="/x" enctype="Application/JSON; x=y" auth="optional" idempotent="true" confirm="false" description="D"><param name="q"/><param name="p"/><response type="text/plain" description="R"/></action></interact>`,
		"a PUT /x application/json optional true false true D q p text/plain R", func(d *Document) any {
			a, _ := d.Interact().Action("a")
			confirm, stated := a.Confirm()
			out := fmt.Sprint(a.ID(), " ", a.Method(), " ", a.Endpoint(), " ", a.EncType(), " ", a.Auth(), " ", a.Idempotent(), " ", confirm, " ", stated, " ", a.Description())
			for p := range a.Params() {
				out += " " + p.Name()
			}
			return out + " " + a.Response().Type() + " " + a.Response().Description()
		})
	for name, attrs := range map[string]string{"absent": `method="GET" endpoint="/"`, "empty": `id="" method="GET" endpoint="/"`} {
		for _, id := range []string{"ANML-8.6.1-02", "ANML-11.4-01", "ANML-11.4-02", "ANML-11.4-03"} {
			r.finds(id+"/reject-"+name, action(attrs), lookleap.SeverityError, CodeMalformed)
			r.returns(id+"/reject-invisible-"+name, action(attrs), 0, func(d *Document) any { return count(d.Interact().Actions()) })
		}
	}
	r.returns("ANML-8.6.1-02/accept-id", action(ok), "a true", executable)
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "post"} {
		r.returns("ANML-8.6.1-03/accept-"+m, action(`id="a" method="`+m+`" endpoint="/"`), strings.ToUpper(m)+" true", func(d *Document) any {
			a, _ := d.Interact().Action("a")
			return fmt.Sprint(a.Method(), " ", a.Executable() == nil)
		})
	}
	r.finds("ANML-8.6.1-03/accept-lower-case-reported", action(`id="a" method="post" endpoint="/"`), lookleap.SeverityInfo, codeBadValue)
	for _, m := range []string{"CONNECT", "TRACE", "FOO", "GET "} {
		r.returns("ANML-8.6.1-03/reject-"+strings.TrimSpace(m)+itoa(len(m)), action(`id="a" method="`+m+`" endpoint="/"`), "a false", executable)
		r.finds("ANML-8.6.1-03/reject-reported-"+strings.TrimSpace(m)+itoa(len(m)), action(`id="a" method="`+m+`" endpoint="/"`), lookleap.SeverityError, codeBadValue)
	}
	r.finds("ANML-8.6.1-03/reject-missing", action(`id="a" endpoint="/"`), lookleap.SeverityError, CodeMalformed)
	for name, attrs := range map[string]string{"03/reject-unread-missing": `endpoint="/"`, "03/reject-unread-empty": `method="" endpoint="/"`, "04/reject-unread-missing": `method="GET"`, "04/reject-unread-empty": `method="GET" endpoint=""`} {
		r.returns("ANML-8.6.1-"+name, action(`id="a" `+attrs), 0, func(d *Document) any { return count(d.Interact().Actions()) })
	}
	for _, e := range []string{"/airline", "x?y=1&amp;z=2", "?a=b", "https://example.com/x", "//example.com/x", "http://example.com/", "https://example.com/a@b", "//example.com?mail=a@b", "/at/12:30", "?at=12:30", "/a#b", "HTTPS://example.com/x"} {
		r.returns("ANML-8.6.1-04/accept-"+e, action(`id="a" method="GET" endpoint="`+e+`"`), "a true", executable)
	}
	for _, e := range []string{"https://u@example.com/", "//u:p@example.com/", "javascript:alert(1)", "/\\evil.example", "/a b", "/a&#10;b", "http:/x", "https:x", "ftp://example.com/", "data:,x", "/%zz", "é", "://x", "1a:b", "//", "///x", "https:///x", "https://?x"} {
		r.returns("ANML-8.6.1-04/reject-"+e, action(`id="a" method="GET" endpoint="`+e+`"`), "a false", executable)
		r.finds("ANML-8.6.1-04/reject-reported-"+e, action(`id="a" method="GET" endpoint="`+e+`"`), lookleap.SeverityError, codeBadValue)
	}
	r.finds("ANML-8.6.1-04/reject-missing", action(`id="a" method="GET"`), lookleap.SeverityError, CodeMalformed)
	r.returns("ANML-8.6.1-05/accept-default", action(ok), "application/x-www-form-urlencoded", func(d *Document) any { return first(d.Interact().Actions()).EncType() })
	for text, want := range map[string]Auth{"none": AuthNone, "required": AuthRequired, "optional": AuthOptional} {
		r.returns("ANML-8.6.1-06/accept-"+text, action(ok+` auth="`+text+`"`), want, func(d *Document) any { return first(d.Interact().Actions()).Auth() })
	}
	for _, text := range []string{"maybe", "None", "REQUIRED", "none "} {
		r.returns("ANML-8.6.1-06/reject-"+text, action(ok+` auth="`+text+`"`), AuthRequired, func(d *Document) any { return first(d.Interact().Actions()).Auth() })
		r.finds("ANML-8.6.1-06/reject-reported-"+text, action(ok+` auth="`+text+`"`), lookleap.SeverityWarning, codeBadValue)
	}
	for _, text := range []string{"none", "required", "optional"} {
		r.clean("ANML-8.6.1-06/accept-unreported-"+text, XML, service("<head><title>T</title></head>"+action(ok+` auth="`+text+`"`)))
	}
	r.returns("ANML-8.6.1-06/accept-absent", action(ok), AuthNone, func(d *Document) any { return first(d.Interact().Actions()).Auth() })
	for text, want := range map[string]bool{"true": true, "false": false, "TRUE": false, "1": false, "": false} {
		r.returns("ANML-8.6.1-07/accept-"+fmt.Sprintf("%q", text), action(ok+` idempotent="`+text+`"`), want, func(d *Document) any { return first(d.Interact().Actions()).Idempotent() })
	}
	r.returns("ANML-8.6.1-07/accept-absent", action(ok), false, func(d *Document) any { return first(d.Interact().Actions()).Idempotent() })
	r.returns("ANML-8.6.1-09/accept-text", action(ok+` description="Buy &lt;now&gt;"`), "Buy <now>", func(d *Document) any { return first(d.Interact().Actions()).Description() })
	for text, want := range map[string]string{` confirm="true"`: "true true", ` confirm="false"`: "false true", ` confirm="TRUE"`: "true true", ` confirm="1"`: "true true", ` confirm=""`: "true true", ``: "false false"} {
		r.returns("J11/accept-confirm"+fmt.Sprintf("%q", text), action(ok+text), want, func(d *Document) any {
			c, stated := first(d.Interact().Actions()).Confirm()
			return fmt.Sprint(c, " ", stated)
		})
	}
	r.finds("ANML-13.4-14/accept-note", action(`id="a" method="POST" endpoint="/"`), lookleap.SeverityInfo, CodeLint)
	r.returns("ANML-8-04/reject-ambiguous", `<interact><action id="a" method="GET" endpoint="/1"/><action id="a" method="GET" endpoint="/2"/></interact>`, true, func(d *Document) any {
		_, err := d.Interact().Action("a")
		return errors.Is(err, ErrAmbiguousAction) && first(d.Interact().Actions()).Executable() != nil
	})
	r.returns("ANML-9.3-01/reject-other-id", action(ok), "true true", func(d *Document) any {
		a, err := d.Interact().Action("b")
		return fmt.Sprint(errors.Is(err, ErrNoAction), " ", errors.Is(a.Executable(), ErrNoAction))
	})
	r.returns("ANML-9.3-01/reject-elsewhere", `<body><action id="a" method="GET" endpoint="/"/></body>`, true, func(d *Document) any {
		_, err := d.Interact().Action("a")
		return errors.Is(err, ErrNoAction)
	})
	r.returns("ANML-9.3-01/accept-inside", action(ok), "a true", executable)

	param := func(attrs, inner string) string {
		return `<interact><action id="a" method="GET" endpoint="/"><param ` + attrs + `>` + inner + `</param></action></interact>`
	}
	p := func(d *Document) Param { return first(first(d.Interact().Actions()).Params()) }
	r.returns("ANML-8.6.2-01/accept-all", param(`name="n" type="number" required="true" default="2" description="D" pattern="x" min="1" max="5"`, ""), "n number true 2 D x 1 5", func(d *Document) any {
		x := p(d)
		def, _ := x.Default()
		lo, _ := x.Min()
		hi, _ := x.Max()
		return fmt.Sprint(x.Name(), " ", x.Type(), " ", x.Required(), " ", def, " ", x.Description(), " ", x.Pattern(), " ", lo, " ", hi)
	})
	r.finds("ANML-8.6.2-01/reject-nameless", param(`type="number"`, ""), lookleap.SeverityError, CodeMalformed, "ANML-11.4-02")
	r.returns("ANML-8.6.2-01/reject-lost-required", param(`required="true"`, ""), "a false", executable)
	r.returns("ANML-8.6.2-01/accept-lost-optional", param(``, ""), "a true", executable)
	twice := `<interact><action id="a" method="GET" endpoint="/"><param name="p" type="date"/><param name="p" type="number"/></action></interact>`
	r.returns("ANML-8.6.2-01/accept-first", twice, "1 date", func(d *Document) any {
		return fmt.Sprint(count(first(d.Interact().Actions()).Params()), " ", p(d).Type())
	})
	r.returns("ANML-8.6.2-01/accept-first-of-required", `<interact><action id="a" method="GET" endpoint="/"><param name="p" required="true"/><param name="p" required="true"/></action></interact>`, "a true", executable)
	r.finds("ANML-8.6.2-01/reject-duplicate", twice, lookleap.SeverityError, codeDuplicateID)
	for text, want := range map[string]Type{"": TypeString, ` type="enum"`: TypeEnum, ` type="uri"`: TypeURI, ` type="int"`: TypeString, ` type="Number"`: TypeString} {
		r.returns("ANML-8.6.2-02/accept-"+fmt.Sprintf("%q", text), param(`name="n"`+text, ""), want, func(d *Document) any { return p(d).Type() })
	}
	r.finds("ANML-8.6.2-04/reject-pattern", param(`name="n" pattern="(?=x)"`, ""), lookleap.SeverityWarning, codePattern)
	r.finds("ANML-8.6.2-04/reject-bound", param(`name="n" type="boolean" min="1"`, ""), lookleap.SeverityWarning, codeBadValue)
	for _, id := range []string{"ANML-8.6.3-01", "ANML-8.6.3-02"} {
		r.returns(id+"/accept-order", param(`name="n" type="enum"`, `<option value="b" label="B"/><option value="c"/><option value=""/>`), "b B,c c,,", func(d *Document) any {
			return joined(p(d).Options(), func(o Option) any { return strings.TrimSpace(o.Value()+" "+o.Label()) + "," })
		})
		r.finds(id+"/reject-missing", param(`name="n" type="enum"`, `<option label="B"/>`), lookleap.SeverityError, CodeMalformed)
		r.finds(id+"/reject-other-type", param(`name="n"`, `<option value="B"/>`), lookleap.SeverityWarning, codeBadValue, "ANML-8.6.3-01")
		r.finds(id+"/reject-enum-without", param(`name="n" type="enum"`, ``), lookleap.SeverityWarning, codeBadValue, "ANML-8.6.3-01")
	}
	r.returns("ANML-8.6.4-01/accept-default", `<interact><action id="a" method="GET" endpoint="/"><response/></action></interact>`, MediaTypeXML, func(d *Document) any { return first(d.Interact().Actions()).Response().Type() })
}

func TestRowsKnowledge(t *testing.T) {
	r := rows{t}
	know := func(inner string) string {
		return `<interact><action id="a" method="POST" endpoint="/"/></interact><knowledge>` + inner + `</knowledge>`
	}
	r.returns("ANML-8.7-01/accept-any-order", know(`<inform>1</inform><ask field="f" action="a" purpose="p"/><inform>2</inform>`), "2 1", func(d *Document) any {
		return fmt.Sprint(count(d.Knowledge().Informs()), " ", count(d.Knowledge().Asks()))
	})
	r.finds("ANML-8.7-01/accept-answer-reported", know(`<answer field="f" value="v"/>`), lookleap.SeverityInfo, codeRoleContent)
	r.returns("ANML-8.7-02/accept-all", response(`<answer field="f" value="v"/><refuse field="g" reason="user-denied"/><ask field="h" action="a" purpose="p"/><inform>i</inform>`), "1 1 1 1", func(d *Document) any {
		k := d.Knowledge()
		return fmt.Sprint(count(k.Answers()), " ", count(k.Refuses()), " ", count(k.Asks()), " ", count(k.Informs()))
	})
	inform := func(attrs string) func(want string) {
		return func(want string) {
			r.returns("ANML-8.7.1-01/accept-"+fmt.Sprintf("%q", attrs), know("<inform "+attrs+">x</inform>"), want, func(d *Document) any {
				i := first(d.Knowledge().Informs())
				ttl, has := i.TTL()
				return fmt.Sprint(i.Priority(), " ", i.Confidentiality(), " ", i.Usage(), " ", ttl, " ", has)
			})
		}
	}
	inform("")("normal public cache 0s false")
	inform(`ttl="60" priority="high" confidentiality="restricted" usage="store"`)("high restricted store 1m0s true")
	inform(`ttl="x" priority="urgent" confidentiality="Public" usage="all"`)("normal private none 0s true")
	r.returns("ANML-8.7.1-03/accept-scope", `<body><section id="s"/></body>`+know(`<inform scope="s">x</inform>`), "1 section", func(d *Document) any {
		i := first(d.Knowledge().Informs())
		return fmt.Sprint(len(i.Scoped(i.Scope())), " ", i.Scoped(i.Scope())[0].Element())
	})
	r.finds("ANML-8.7.1-03/reject-dangling", know(`<inform scope="s">x</inform>`), lookleap.SeverityWarning, CodeDangling)
	r.returns("ANML-8.7.2-01/accept-all", know(`<ask field="f" action="a" required="true" purpose="p" type="date"/><ask field="g" action="a" required="yes" type="Date"/><ask field="h" action="a"/>`), "f a true p date;g a false  string;h a false  string;", func(d *Document) any {
		return joined(d.Knowledge().Asks(), func(a Ask) any {
			return fmt.Sprint(a.Field(), " ", a.Action(), " ", a.Required(), " ", a.Purpose(), " ", a.Type(), ";")
		})
	})
	r.returns("ANML-8.7.2-01/accept-enum-as-string", know(`<ask field="f" action="a" type="enum"/>`), TypeString, func(d *Document) any { return first(d.Knowledge().Asks()).Type() })
	r.finds("ANML-8.7.2-01/reject-type", know(`<ask field="f" action="a" type="enum"/>`), lookleap.SeverityWarning, codeBadValue, "ANML-8.11-01")
	for name, bad := range map[string]string{"ANML-8.7.2-02/reject-absent": `<ask action="a"/>`, "ANML-8.7.2-02/reject-empty": `<ask field="" action="a"/>`, "ANML-8.7.2-03/reject-absent": `<ask field="f"/>`, "ANML-8.7.2-03/reject-empty": `<ask field="f" action=""/>`,
		"ANML-8.7.3-02/reject-empty": `<answer field="" value="v"/>`, "ANML-8.7.4-01/reject-empty": `<refuse field="" reason="user-denied"/>`, "ANML-8.7.4-02/reject-empty": `<refuse field="f" reason=""/>`,
		"ANML-8.7.3-02/reject-absent": `<answer value="v"/>`, "ANML-8.7.3-03/reject-absent": `<answer field="f"/>`, "ANML-8.7.4-01/reject-absent": `<refuse reason="user-denied"/>`, "ANML-8.7.4-02/reject-absent": `<refuse field="f"/>`} {
		r.finds(name, know(bad), lookleap.SeverityError, CodeMalformed)
		r.returns(name+"-invisible", know(bad), "0 0 0", func(d *Document) any {
			k := d.Knowledge()
			return fmt.Sprint(count(k.Asks()), " ", count(k.Answers()), " ", count(k.Refuses()))
		})
	}
	r.returns("ANML-8.7.2-02/accept-field", know(`<ask field="F f" action="a"/>`), "F f", func(d *Document) any { return first(d.Knowledge().Asks()).Field() })
	r.returns("ANML-8.7.2-03/reject-dangling-visible", know(`<ask field="f" action="z"/>`), true, func(d *Document) any { return first(d.Knowledge().Asks()).Dangling() })
	r.finds("ANML-8.7.2-03/reject-dangling", know(`<ask field="f" action="z"/>`), lookleap.SeverityError, codeNoAction)
	for name, purpose := range map[string]string{"absent": "", "blank": ` purpose=" "`} {
		r.finds("ANML-14.3-02/reject-"+name, know(`<ask field="f" action="a"`+purpose+`/>`), lookleap.SeverityError, CodeNoPurpose)
		r.returns("ANML-14.3-02/accept-processed-"+name, know(`<ask field="f" action="a"`+purpose+`/>`), 1, func(d *Document) any { return count(d.Knowledge().Asks()) })
	}
	answer := func(attrs string) string { return response(`<answer ` + attrs + `/>`) }
	r.returns("ANML-8.7.3-01/accept-all", answer(`field="f" value="a&#9;b&#10;" consent="delegated" consent-granted="2026-03-01T12:00:00Z"`), "f \"a\\tb\\n\" delegated 2026-03-01T12:00:00Z", func(d *Document) any {
		a := first(d.Knowledge().Answers())
		at, _ := a.ConsentGranted()
		return fmt.Sprintf("%s %q %s %s", a.Field(), a.Value(), a.Consent(), FormatDateTime(at))
	})
	r.returns("ANML-8.7.3-01/reject-consent", answer(`field="f" value="v" consent="yes"`), ConsentUnstated, func(d *Document) any { return first(d.Knowledge().Answers()).Consent() })
	r.returns("ANML-8.7.3-03/accept-empty", response(`<answer field="f" value=""/><answer field="g" value=" v "/>`), "; v ;", func(d *Document) any {
		return joined(d.Knowledge().Answers(), func(a Answer) any { return a.Value() + ";" })
	})
	for text, want := range map[string]bool{"2026-03-01T12:00:00Z": true, "2026-03-01T14:00:00+02:00": true, "2026-03-01T12:00Z": true, "2026-03-01T12:00:00": false, "2026-03-01T12:00:00,5Z": false, "yesterday": false} {
		r.returns("ANML-8.7.3-04/accept-"+text, answer(`field="f" value="v" consent-granted="`+text+`"`), want, func(d *Document) any { _, ok := first(d.Knowledge().Answers()).ConsentGranted(); return ok })
	}
	granted := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, id := range []string{"ANML-8.7.3-06", "ANML-8.7.3-07"} {
		fresh := func(name, attrs string, validFor, age time.Duration, limited, want bool) {
			r.returns(id+"/"+name, answer(`field="f" value="v" `+attrs), want, func(d *Document) any {
				return ConsentFresh(first(d.Knowledge().Answers()), Rule{ValidFor: validFor, Limited: limited}, granted.Add(age))
			})
		}
		at := `consent-granted="2026-03-01T12:00:00Z"`
		fresh("accept-equal", at, time.Minute, time.Minute, true, true)
		fresh("reject-older", at, time.Minute, time.Minute+time.Second, true, false)
		fresh("reject-absent", "", time.Minute, 0, true, false)
		fresh("reject-absent-for-ever", "", math.MaxInt64, 0, true, false)
		fresh("reject-future", at, time.Minute, -61*time.Second, true, false)
		fresh("accept-skew", at, time.Minute, -60*time.Second, true, true)
		fresh("reject-zero", at, 0, 0, true, false)
		fresh("accept-unlimited", "", 0, time.Hour, false, true)
	}
	for _, reason := range []Reason{ConstraintViolation, UserDenied, PolicyViolation, UnsupportedField, TrustInsufficient, "because"} {
		r.returns("ANML-8.7.4-02/accept-"+string(reason), response(`<refuse field="f" reason="`+string(reason)+`"/>`), fmt.Sprint(reason, " ", reason != "because"), func(d *Document) any {
			x := first(d.Knowledge().Refuses()).Reason()
			return fmt.Sprint(x, " ", x.Known())
		})
	}
	r.finds("ANML-8.7.4-03/reject-constraint", know(`<refuse field="f" reason="user-denied" constraint="z"/>`), lookleap.SeverityWarning, CodeDangling)
	r.returns("ANML-8.7.4-03/accept-all", response(`<refuse field="f" reason="user-denied" constraint="c" message="m"/>`), "c m", func(d *Document) any {
		x := first(d.Knowledge().Refuses())
		return x.Constraint() + " " + x.Message()
	})
	r.writes("ANML-8.7.4-04/accept-array", `<knowledge><refuse field="f" reason="user-denied"/><refuse field="g" reason="user-denied"/></knowledge>`, `"knowledge":{"refuse":[{"field":"f","reason":"user-denied"},{"field":"g","reason":"user-denied"}]}`)
}

func TestRowsValues(t *testing.T) {
	check := func(id string, typ Type, good, bad []string) {
		for _, text := range good {
			t.Run(id+"/accept-"+fmt.Sprintf("%q", text), func(t *testing.T) {
				if err := CheckValue(typ, text); err != nil {
					t.Error(err)
				}
			})
		}
		for _, text := range bad {
			t.Run(id+"/reject-"+fmt.Sprintf("%q", text), func(t *testing.T) {
				if err := CheckValue(typ, text); !errors.Is(err, ErrType) {
					t.Error(err)
				}
			})
		}
	}
	check("ANML-8.11-01", TypeString, []string{"", " x ", "1"}, nil)
	check("ANML-8.11-01", TypeNumber, []string{"1"}, []string{"x", " 1"})
	check("ANML-8.11-03", TypeNumber, []string{"1e3", "-0.5", "0", "9007199254740993"}, []string{"1,5", "0x1", "NaN", "+1", "", "1e400", ".5", "1.", "01", "Infinity", " 1", "1_000"})
	check("ANML-8.11-05", TypeBoolean, []string{"true", "false"}, []string{"1", "0", "yes", "TRUE", " true ", "", "on", "False"})
	check("ANML-8.11-06", TypeDate, []string{"2026-07-14", "2024-02-29"}, []string{"2026-7-14", "2026-02-30", "20260714", "2026-07-14Z", "", "2026-07-14 ", "2026/07-14", "2026-07/14"})
	check("ANML-8.11-07", TypeDateTime, []string{"2026-07-14T09:00:00Z", "2026-12-31T23:59:60Z"}, []string{"2026-07-14T09:00Z", "2026-07-14t09:00:00z", "2026-07-14 09:00:00Z", "2026-07-14T09:00:00.5Z", "2026-02-30T09:00:00Z", "2026-07-14T24:00:00Z", "2026-07-14T9:00:00Z", "2026-07-14T09:00:00,5Z",
		"2026-07-14_09:00:00Z", "2026-07-14T09-00:00Z", "2026-07-14T09:00-00Z", "2026-07-14T09:60:00Z", "2026-07-14T09:00:60Z", "2026-07-14T22:59:60Z", "2026-07-14T23:58:60Z", "2026-07-14T23:59:61Z",
		"2026-07-14Tx9:00:00Z", "2026-07-14T09:x0:00Z", "2026-07-14T09:00:x0Z", "2026-07-14T0x:00:00Z"})
	check("ANML-8.11-07", TypeDateTime, []string{"2026-07-14T00:00:00Z", "2026-07-14T23:00:00Z", "2026-07-14T00:59:00Z", "2026-07-14T00:00:59Z"}, nil)
	// The last ones are as long as the form with Z, so that only the letter tells them apart.
	check("ANML-8.11-08", TypeDateTime, []string{"2026-07-14T09:00:00Z"}, []string{"2026-07-14T09:00:00+00:00", "2026-07-14T09:00:00-00:00", "2026-07-14T09:00:00+02:00",
		"2026-07-14T09:00:00z", "2026-07-14T09:00:00+", "2026-07-14T09:00:00A", "2026-07-14T09:00+02"})
	check("ANML-8.11-09", TypeURI, []string{"https://a/b", "urn:x:y", "mailto:a@b"}, []string{"a b", "/rel", "", "https://a/%zz", "1a:b", "x:"})
	t.Run("ANML-8.11-03/accept-precision", func(t *testing.T) {
		for text, exact := range map[string]bool{"9007199254740993": false, "9007199254740992": true, "0.1": true, "1e2": true, "100": true, "0": true, "0.30000000000000004": true, "0.1000000000000000055": false} {
			if n, err := ParseNumber(text); err != nil || n.Exact != exact || n.Text != text {
				t.Error(n, err)
			}
		}
	})
	t.Run("ANML-8.11-08/accept-formatter", func(t *testing.T) {
		zone := time.FixedZone("x", 2*60*60)
		if got := FormatDateTime(time.Date(2026, 7, 14, 1, 0, 0, 5, zone)); got != "2026-07-13T23:00:00Z" {
			t.Error(got)
		}
	})
}

func TestRowsLimits(t *testing.T) {
	r := rows{t}
	none := ReadOptions{}
	many := func(n int, f string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, f, i)
		}
		return b.String()
	}
	actions := func(n int) string {
		return "<interact>" + many(n, `<action id="a%d" method="GET" endpoint="/"/>`) + "</interact>"
	}
	asks := func(n int) string {
		return "<knowledge>" + many(n, `<ask field="f%d" action="a" purpose="p"/>`) + "</knowledge>"
	}
	site := func(domain, inner string) string { return `<site domain="` + domain + `">` + inner + `</site>` }
	r.returns1("ANML-13.7-04/accept-64", XML, service(actions(64)))
	r.refuses("ANML-13.7-04/reject-65", XML, service(actions(65)), none, ErrLimit)
	r.refuses("ANML-13.7-04/reject-65-over-sites", XML, service(site("a.example", actions(33))+site("b.example", actions(32))), none, ErrLimit)
	r.returns1("ANML-13.7-05/accept-32", XML, service(asks(32)))
	r.refuses("ANML-13.7-05/reject-33", XML, service(asks(33)), none, ErrLimit)
	r.refuses("ANML-13.7-05/reject-33-over-sites", XML, service(site("a.example", asks(17))+site("b.example", asks(16))), none, ErrLimit)
	one := ReadOptions{Limits: Limits{Steps: 1}}
	r.refuses("ANML-13.7-08/reject-configured-steps", XML, service(`<state><flow><step id="a"/><step id="b"/></flow></state>`), one, ErrLimit)
	r.finds1("ANML-13.7-08/accept-other-elements", XML, service(`<state><flow><x:a xmlns:x="urn:x"/><step id="a"/><x:a xmlns:x="urn:x"/></flow></state>`), one, codeUnknownElement)
	r.returns1("ANML-13.7-08/accept-elements", XML, service(strings.Repeat("<zzz/>", 49_999)))
	r.refuses("ANML-13.7-08/reject-elements", XML, service(strings.Repeat("<zzz/>", 50_000)), none, ErrLimit)
	attrs := func(n int) string { return "<zzz" + many(n, ` a%d=""`) + "/>" }
	r.returns1("ANML-13.7-08/accept-attributes", XML, service(attrs(64)))
	r.refuses("ANML-13.7-08/reject-attributes", XML, service(attrs(65)), none, ErrLimit)
	r.refuses("ANML-13.7-08/reject-json-attributes", JSON, `{"anml":"1.0"`+many(65, `,"@{urn:x}a%d":""`)+`}`, none, ErrLimit)
	r.returns1("ANML-13.7-08/accept-json-attributes", JSON, `{"anml":"1.0"`+many(63, `,"@{urn:x}a%d":""`)+`}`)
	r.returns1("ANML-13.7-08/accept-elements-with-end-tags", XML, service(strings.Repeat("<zzz></zzz>", 49_999)))
	for name, doc := range map[string]string{
		"plain": service("<head/><body/>"), "with-prefix": service(`<x:a xmlns:x="urn:x"/><x:b xmlns:x="urn:x"/>`),
		"json": `{"anml":"1.0","head":{},"body":{}}`,
	} {
		format := map[bool]Format{true: JSON, false: XML}[name == "json"]
		t.Run("ANML-13.7-08/accept-as-many-elements-"+name, func(t *testing.T) {
			if _, err := parseAs(format, doc, ReadOptions{Limits: Limits{Elements: 3}}); err != nil {
				t.Error(err)
			}
		})
		r.refuses("ANML-13.7-08/reject-one-element-more-"+name, format, doc, ReadOptions{Limits: Limits{Elements: 2}}, ErrLimit)
	}
	for _, limit := range []int{10, 100} {
		attrs := func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, ` a%d=""`, i)
			}
			return service("<body" + b.String() + "/>")
		}
		o := ReadOptions{Limits: Limits{Attrs: limit}}
		t.Run(fmt.Sprintf("ANML-13.7-08/accept-%d-attributes", limit), func(t *testing.T) {
			if _, err := ParseXML([]byte(attrs(limit)), o); err != nil {
				t.Error(err)
			}
		})
		r.refuses(fmt.Sprintf("ANML-13.7-08/reject-%d-attributes", limit+1), XML, attrs(limit+1), o, ErrLimit)
	}
	r.refuses("ANML-13.7-08/reject-configured-attributes", XML, service(`<head/><zzz a="" b=""/>`), ReadOptions{Limits: Limits{Attrs: 1}}, ErrLimit)
	r.refuses("ANML-13.7-08/reject-value", XML, service(`<zzz a="`+strings.Repeat("x", 65537)+`"/>`), none, ErrLimit)
	r.returns1("ANML-13.7-08/accept-sites", XML, service(many(64, `<site domain="s%d.example"><body/></site>`)))
	r.returns1("ANML-13.7-08/accept-site-refs", XML, service("<head>"+many(64, `<site-ref domain="s%d.example" canonical="https://s.example/"/>`)+"</head>"))
	r.refuses("ANML-13.7-04/reject-configured-2", XML, service(actions(2)), ReadOptions{Limits: Limits{Actions: 1}}, ErrLimit)
	r.refuses("ANML-13.7-08/reject-sites", XML, service(many(65, `<site domain="s%d.example"><body/></site>`)), none, ErrLimit)
	r.refuses("ANML-13.7-08/reject-site-refs", XML, service("<head>"+many(65, `<site-ref domain="s%d.example" canonical="https://s.example/"/>`)+"</head>"), none, ErrLimit)
	r.refuses("ANML-13.7-01/reject-configured", XML, service("<body><section/></body>"), ReadOptions{Limits: Limits{Depth: 2}}, ErrLimit)
	r.returns1("ANML-13.7-01/accept-zero-is-default", XML, service("<body><section/></body>"))
	r.refuses("ANML-13.7-01/reject-negative-is-default", XML, service(asks(33)), ReadOptions{Limits: Limits{Asks: -1}}, ErrLimit)
	r.refuses("ANML-13.10-01/reject-flood", XML, service(strings.Repeat("<zzz/>", 60_000)), none, ErrLimit)
	r.refuses("ANML-13.7-03/reject-json", JSON, `{"anml":"1.0","body":`+strings.Repeat(`{"section":[`, 31)+"{}"+strings.Repeat("]}", 31)+"}", none, ErrLimit)
	t.Run("ANML-13.5-05/accept-no-other-parser", func(t *testing.T) {
		if _, err := ParseXML([]byte(`<!DOCTYPE anml SYSTEM "file:///dev/zero"><anml xmlns="`+Namespace+`"/>`), none); err != nil {
			t.Error(err)
		}
	})
}
