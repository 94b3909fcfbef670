package anml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

func TestRowsPresentation(t *testing.T) {
	r := rows{t}
	persona := func(inner string) string { return "<persona>" + inner + "</persona>" }
	r.returns("ANML-8.8-01/accept-all", persona(`<model name="m" provider="p" capability="c"/><language value="fr" policy="fixed"/><tone value="t"/><voice perspective="third" name="v"/><instructions> i </instructions><vocabulary><avoid>x</avoid><prefer>y</prefer></vocabulary>`),
		"m p c fr fixed t third v  i  y x", func(d *Document) any {
			p := d.Persona()
			return fmt.Sprint(p.Model().Name(), " ", p.Model().Provider(), " ", p.Model().Capability(), " ", p.Language().Value(), " ", p.Language().Policy(), " ", p.Tone(), " ", p.Voice().Perspective(), " ", p.Voice().Name(), " ", p.Instructions(), " ", first(p.Prefer()), " ", first(p.Avoid()))
		})
	r.finds("ANML-8.8-01/reject-second", persona(`<tone value="a"/><tone value="b"/>`), lookleap.SeverityError, codeSurplus)
	r.finds("ANML-8.8-01/reject-second-persona", persona("")+persona(`<tone value="c"/>`), lookleap.SeverityError, codeSurplus)
	r.returns("ANML-8.8-01/reject-second-read", persona(`<tone value="a"/><tone value="b"/>`)+persona(`<tone value="c"/>`), "a", func(d *Document) any { return d.Persona().Tone() })
	r.writes("ANML-8.8.1-02/accept-empty", persona("<model/>"), `"persona":{"model":{}}`)
	model := func(d *Document) any {
		m := d.Persona().Model()
		return fmt.Sprintf("%q %q %q", m.Name(), m.Provider(), m.Capability())
	}
	for attrs, want := range map[string]string{"": `"" "" ""`, ` name="n"`: `"n" "" ""`, ` provider="p"`: `"" "p" ""`, ` capability="c"`: `"" "" "c"`, ` capability="c" name="n" provider="p"`: `"n" "p" "c"`} {
		r.returns("ANML-8.8.1-02/accept-optional"+strings.ReplaceAll(attrs, " ", "-"), persona("<model"+attrs+"/>"), want, model)
		r.clean("ANML-8.8.1-02/accept-unreported"+strings.ReplaceAll(attrs, " ", "-"), XML, service("<head><title>T</title></head>"+persona("<model"+attrs+"/>")))
	}
	r.finds1("ANML-8.8.1-02/reject-content", XML, service(persona("<model>text</model>")), ReadOptions{}, codeStrayText)
	r.finds1("ANML-8.8.1-02/reject-text-of-json", JSON, `{"anml":"1.0","role":"service","persona":{"model":{"content":"text"}}}`, ReadOptions{}, codeStrayText)
	r.writes("ANML-8.8.1-04/accept-object", persona(`<model name="m"/>`), `"persona":{"model":{"name":"m"}}`)
	r.returns("ANML-8.8.2-01/reject-fixed-without-value", persona(`<language policy="fixed"/>`), LanguageUnstated, func(d *Document) any { return d.Persona().Language().Policy() })
	r.finds("ANML-8.8.2-01/reject-reported", persona(`<language policy="fixed"/>`), lookleap.SeverityWarning, codeBadValue)
	r.finds("ANML-8.8.2-01/reject-policy", persona(`<language policy="any"/>`), lookleap.SeverityWarning, codeBadValue, "ANML-1.2.2-05")
	r.returns("ANML-8.8.3-01/accept-opaque", persona(`<tone value="xyzzy"/>`), "xyzzy", func(d *Document) any { return d.Persona().Tone() })
	r.finds("ANML-8.8.4-01/reject-perspective", persona(`<voice perspective="second"/>`), lookleap.SeverityWarning, codeBadValue, "ANML-1.2.2-05")
	r.returns("ANML-8.8.4-01/reject-perspective-read", persona(`<voice perspective="second"/>`), PerspectiveUnstated, func(d *Document) any { return d.Persona().Voice().Perspective() })
	r.returns("ANML-8.8.4-01/accept-first", persona(`<voice perspective="first" name="n"/>`), "first n", func(d *Document) any {
		return d.Persona().Voice().Perspective().String() + " " + d.Persona().Voice().Name()
	})
	r.returns("ANML-8.8.5-01/accept-verbatim", persona("<instructions> a\n b</instructions>"), " a\n b", func(d *Document) any { return d.Persona().Instructions() })
	for _, id := range []string{"ANML-8.8.6-01", "ANML-8.8.7-01", "ANML-8.8.8-02"} {
		r.writes(id+"/accept-arrays", persona(`<vocabulary><prefer>a</prefer><prefer>b</prefer><avoid>c</avoid></vocabulary>`), `"persona":{"vocabulary":{"prefer":["a","b"],"avoid":["c"]}}`)
		r.same(id+"/accept-objects", service(persona(`<vocabulary><prefer>a</prefer><avoid>b</avoid></vocabulary>`)), `{"anml":"1.0","role":"service","persona":{"vocabulary":{"prefer":[{"content":"a"}],"avoid":["b"]}}}`)
	}
	aesthetic := func(inner string) string { return "<aesthetic>" + inner + "</aesthetic>" }
	for _, id := range []string{"ANML-8.9-01", "ANML-8.9.2-01", "ANML-8.9.4-01", "ANML-8.9.6-01"} {
		r.returns(id+"/accept-all", aesthetic(`<display-name>N</display-name><logo src="/l" alt="a" type="image/png" variant="v"/><colors><color role="r" value="#fff"/></colors><typography><font role="h" family="f" fallback="b"/></typography>`),
			"N /l a image/png v r #fff h f b", func(d *Document) any {
				a := d.Aesthetic()
				l, c, f := first(a.Logos()), first(a.Colors()), first(a.Fonts())
				return fmt.Sprint(a.DisplayName(), " ", l.Src(), " ", l.Alt(), " ", l.Type(), " ", l.Variant(), " ", c.Role(), " ", c.Value(), " ", f.Role(), " ", f.Family(), " ", f.Fallback())
			})
	}
	r.writes("ANML-8.9.1-01/accept-compact", aesthetic("<display-name>N</display-name>"), `"aesthetic":{"display-name":"N"}`)
	r.finds("ANML-8.9.2-01/reject-missing", aesthetic("<logo/>"), lookleap.SeverityWarning, codeMissingKey)
	r.finds("ANML-8.9.2-01/reject-data", aesthetic(`<logo src="data:image/png,x"/>`), lookleap.SeverityWarning, codeBadValue, "ANML-8.10.7-02")
	r.writes("ANML-8.9.3-01/accept-array", aesthetic(`<colors><color role="r"/></colors>`), `"aesthetic":{"colors":{"color":[{"role":"r"}]}}`)
	for _, bad := range []string{"red;x", "{", "URL(x)"} {
		r.finds("ANML-8.9.4-01/reject-"+bad, aesthetic(`<colors><color value="`+bad+`"/></colors>`), lookleap.SeverityWarning, codeBadValue)
	}
	r.writes("ANML-8.9.5-01/accept-array", aesthetic(`<typography><font family="f"/></typography>`), `"aesthetic":{"typography":{"font":[{"family":"f"}]}}`)
	r.writes("ANML-8.9.6-01/accept-strings", aesthetic(`<typography><font role="a" family="f" fallback="g"/></typography>`), `"aesthetic":{"typography":{"font":[{"role":"a","family":"f","fallback":"g"}]}}`)
}

func TestRowsBody(t *testing.T) {
	r := rows{t}
	body := func(inner string) string { return "<body>" + inner + "</body>" }
	r.returns("ANML-8.10-01/accept-order", body(`a<link/><zzz>no</zzz><link href="/l"/>b<section>s</section><data/>c<img src="/i"/><audio src="/a"/><video src="/v"/>d<nav/>`), "a link b section data c img audio video d nav ", func(d *Document) any {
		out := ""
		for c := range d.Body().Content() {
			if c.IsText() {
				out += c.Text() + " "
			} else {
				out += c.Element() + " "
			}
		}
		return out
	})
	r.same("ANML-8.10-01/accept-bare-string", service(body("x")), `{"anml":"1.0","role":"service","body":"x"}`)
	r.returns("ANML-8.10-01/reject-usage", `<body usage="all"/>`, UsageNone, func(d *Document) any { return d.Body().Usage() })
	r.returns("ANML-8.10.1-01/accept-all", body(`<section id="s" label="L" usage="store">t<link href="/l"/></section>`), "s L store t 1", func(d *Document) any {
		s := first(d.Body().Sections())
		return fmt.Sprint(s.ID(), " ", s.Label(), " ", s.Usage(), " ", s.Text(), " ", count(s.Links()))
	})
	r.finds("ANML-8.10.1-01/reject-duplicate-id", body(`<section id="s"/><section id="s"/>`), lookleap.SeverityWarning, codeDuplicateID)
	nested := func(n int) string {
		return service(body(strings.Repeat("<section>", n-2) + strings.Repeat("</section>", n-2)))
	}
	for _, id := range []string{"ANML-8.10.1-02", "ANML-13.7-03"} {
		r.returns1(id+"/accept-at-the-limit", XML, nested(32))
		r.refuses(id+"/reject-one-more", XML, nested(33), ReadOptions{}, ErrLimit)
		in := func(n int) string {
			return `{"anml":"1.0","body":` + strings.Repeat(`{"section":[`, n-2) + "{}" + strings.Repeat("]}", n-2) + "}"
		}
		r.returns1(id+"/accept-at-the-limit-in-json", JSON, in(32))
		r.refuses(id+"/reject-one-more-in-json", JSON, in(33), ReadOptions{}, ErrLimit)
		r.refuses(id+"/reject-unknown-too", XML, service(strings.Repeat("<zzz>", 32)+strings.Repeat("</zzz>", 32)), ReadOptions{}, ErrLimit)
	}
	for name, tag := range map[string]string{"8.10.2": "img", "8.10.3": "audio", "8.10.4": "video"} {
		r.finds("ANML-"+name+"-02/reject-missing", body("<"+tag+"/>"), lookleap.SeverityError, CodeMalformed)
		r.finds("ANML-"+name+"-02/reject-empty", body("<"+tag+` src=""/>`), lookleap.SeverityError, CodeMalformed)
		r.returns("ANML-"+name+"-02/reject-invisible", body("<"+tag+"/>"), 0, func(d *Document) any { return count(d.Body().Content()) })
		r.writes("ANML-"+name+"-01/accept-array", body("<"+tag+` src="/x"/>`), `"body":{"`+tag+`":[{"src":"/x"}]}`)
		r.returns("ANML-"+name+"-01/accept-attributes", body("<"+tag+` src="/x" inference="required" type="a/b" width="2" height="x" duration="1.5" lang="fr"/>`), "/x required a/b false fr", func(d *Document) any {
			m := Media(first(d.Body().Content()))
			_, bad := m.Height()
			return fmt.Sprint(m.Src(), " ", m.Inference(), " ", m.Type(), " ", bad, " ", m.Lang())
		})
	}
	r.returns("ANML-8.10.2-01/accept-width", body(`<img src="/x" width="2"/>`), "2 true", func(d *Document) any {
		w, ok := Media(first(d.Body().Content())).Width()
		return fmt.Sprint(w, " ", ok)
	})
	r.returns("ANML-8.10.2-01/reject-inference", body(`<img src="/x" inference="maybe"><description>d</description></img>`), InferenceUnspecified, func(d *Document) any { return Media(first(d.Body().Content())).Inference() })
	r.returns("ANML-8.10.2-01/accept-height-and-usage", body(`<img src="/x" height="3" usage="store"/>`), "0 false 3 true store", func(d *Document) any {
		m := Media(first(d.Body().Content()))
		w, hasWidth := m.Width()
		h, hasHeight := m.Height()
		return fmt.Sprint(w, " ", hasWidth, " ", h, " ", hasHeight, " ", m.Usage())
	})
	for _, number := range []string{"-1", "1.5", "01", "+1", ""} {
		r.returns("ANML-8.10.2-01/reject-size-"+number, body(`<img src="/x" width="`+number+`" height="`+number+`"/>`), "false false", func(d *Document) any {
			_, width := Media(first(d.Body().Content())).Width()
			_, height := Media(first(d.Body().Content())).Height()
			return fmt.Sprint(width, " ", height)
		})
	}
	r.writes("ANML-8.10.2-01/accept-sizes-as-strings", body(`<img src="/x" width="2" height="3"/>`), `"body":{"img":[{"src":"/x","width":"2","height":"3"}]}`)
	r.finds("ANML-8.10.2-01/reject-second-description", body(`<img src="/x"><description>a</description><description>b</description></img>`), lookleap.SeverityError, codeSurplus)
	for word, inference := range map[string]Inference{"none": InferenceNone, "optional": InferenceOptional, "required": InferenceRequired} {
		r.returns("ANML-8.10.2-01/accept-"+word, body(`<img src="/x" inference="`+word+`"/>`), inference, func(d *Document) any { return Media(first(d.Body().Content())).Inference() })
	}
	r.finds("ANML-8.10.2-03/reject-missing", body(`<img src="/x"/>`), lookleap.SeverityWarning, CodeLint)
	r.clean("ANML-8.10.2-03/accept-description", XML, service("<head><title>T</title></head>"+body(`<img src="/x"><description>d</description></img>`)))
	r.returns("ANML-8.10.3-01/accept-duration", body(`<audio src="/x" duration="1.5"/>`), "1.5s", func(d *Document) any { x, _ := Media(first(d.Body().Content())).Duration(); return x })
	r.writes("ANML-8.10.5-02/accept-compact", body(`<img src="/x"><description> d </description></img>`), `"body":{"img":[{"src":"/x","description":" d "}]}`)
	r.finds("ANML-8.10.5-02/reject-second", body(`<img src="/x"><description>a</description><description>b</description></img>`), lookleap.SeverityError, codeSurplus)
	r.returns("ANML-8.10.5-02/accept-first", body(`<img src="/x"><description>a</description><description>b</description></img>`), "a", func(d *Document) any { return Media(first(d.Body().Content())).TextFor() })
	r.returns("ANML-8.10.6-02/accept-first-choice", body(`<audio src="/x"><description>d</description><transcript>t</transcript></audio>`), "t", func(d *Document) any { return Media(first(d.Body().Content())).TextFor() })
	r.finds("ANML-8.10.6-02/reject-under-img", body(`<img src="/x"><transcript>t</transcript></img>`), lookleap.SeverityWarning, codeMisplaced)
	r.returns("ANML-8.10.6-02/reject-under-img-read", body(`<img src="/x"><transcript>t</transcript></img>`), "", func(d *Document) any { return Media(first(d.Body().Content())).TextFor() })
	r.returns("ANML-8.10.7-01/accept-all", body(`<link href="/l" rel="next  alternate" type="a/b" label="L"/>`), "/l [next alternate] a/b L true", func(d *Document) any {
		l := first(d.Body().Links())
		return fmt.Sprint(l.Href(), " ", l.Rel(), " ", l.Type(), " ", l.Label(), " ", l.Followable())
	})
	r.finds("ANML-8.10.7-02/reject-missing", body("<link/>"), lookleap.SeverityError, CodeMalformed)
	r.returns("ANML-8.10.7-02/reject-missing-or-empty", body(`<link/><link href=""/><link href="/l"/>`), 1, func(d *Document) any { return count(d.Body().Links()) })
	for _, uri := range []string{"javascript:x", "JavaScript:x", " data:,x", "java&#10;script:x"} {
		r.returns("ANML-8.10.7-02/reject-"+uri, body(`<link href="`+uri+`"/>`), false, func(d *Document) any { return first(d.Body().Links()).Followable() })
	}
	r.finds1("ANML-8.10.8-01/reject-text", XML, service(body("<data>x</data>")), ReadOptions{}, codeStrayText)
	r.returns("ANML-8.10.8-01/accept-items", body(`<data id="d" label="L"><item/><item/></data>`), "d L 2", func(d *Document) any {
		x := first(d.Body().Data())
		return fmt.Sprint(x.ID(), " ", x.Label(), " ", count(x.Items()))
	})
	r.returns("ANML-8.10.9-01/accept-duplicates-in-order", body(`<data><item id="i"><field name="a">1</field><field name="a">2</field></item></data>`), "i 2 1", func(d *Document) any {
		i := first(first(d.Body().Data()).Items())
		return fmt.Sprint(i.ID(), " ", count(i.Fields()), " ", i.Field("a").Text())
	})
	field := func(attrs, text string) string {
		return body(`<data><item><field name="x" ` + attrs + `>` + text + `</field></item></data>`)
	}
	f := func(d *Document) Field { return first(first(first(d.Body().Data()).Items()).Fields()) }
	r.returns("ANML-8.10.10-01/accept-types", field(`type="number"`, "1.50"), "x number 1.50 1.5", func(d *Document) any {
		n, _ := f(d).Number()
		return fmt.Sprint(f(d).Name(), " ", f(d).Type(), " ", n.Text, " ", n.Float)
	})
	for name, attrs := range map[string]string{"enum": `type="enum"`, "int": `type="int"`, "capital": `type="Number"`, "absent": ""} {
		r.returns("ANML-8.10.10-01/accept-"+name+"-as-string", field(attrs, "1"), "string true true", func(d *Document) any {
			_, err := f(d).Number()
			return fmt.Sprint(f(d).Type(), " ", f(d).Check() == nil, " ", errors.Is(err, ErrType))
		})
	}
	r.returns("ANML-8.10.10-01/reject-time-of-a-string", field("", "2026-02-28"), true, func(d *Document) any { _, err := f(d).Time(); return errors.Is(err, ErrType) })
	r.returns("ANML-8.10.10-01/reject-mismatch", field(`type="number"`, " 1 "), "true  1 ", func(d *Document) any { return fmt.Sprint(errors.Is(f(d).Check(), ErrType), " ", f(d).Text()) })
	for name, c := range map[string]struct{ value, other string }{
		"string": {"any text", ""}, "number": {"-1.5e3", "1,5"}, "boolean": {"false", "yes"}, "date": {"2026-02-28", "2026-02-30"},
		"datetime": {"2026-02-28T10:00:00Z", "2026-02-28"}, "uri": {"https://example.com/", "example.com"},
	} {
		typed := fmt.Sprintf(`type="%s"`, name)
		check := func(d *Document) any { return fmt.Sprint(f(d).Type(), " ", errors.Is(f(d).Check(), ErrType)) }
		r.returns("ANML-8.10.10-01/accept-"+name, field(typed, c.value), name+" false", check)
		if c.other != "" {
			r.returns("ANML-8.10.10-01/reject-"+name, field(typed, c.other), name+" true", check)
			r.finds("ANML-8.10.10-01/reject-reported-"+name, field(typed, c.other), lookleap.SeverityWarning, codeBadValue)
		}
	}
	for _, name := range []string{"price", "amount", "total"} {
		r.finds("ANML-8.11-04/reject-"+name, strings.Replace(field(`type="number"`, "349"), `"x"`, `"`+name+`"`, 1), lookleap.SeverityInfo, CodeLint)
		r.returns("ANML-8.11-04/accept-string-"+name, strings.Replace(field(`type="string"`, "349"), `"x"`, `"`+name+`"`, 1), 0, lints)
		r.returns("ANML-8.11-04/accept-untyped-"+name, strings.Replace(field("", "349"), `"x"`, `"`+name+`"`, 1), 0, lints)
	}
	for _, name := range []string{"x", "weight", "prices", ""} {
		r.returns("ANML-8.11-04/accept-other-"+name, strings.Replace(field(`type="number"`, "349"), `"x"`, `"`+name+`"`, 1), 0, lints)
	}
	r.returns("ANML-8.11-04/accept-date", strings.Replace(field(`type="date"`, "2026-07-14"), `"x"`, `"price"`, 1), 0, lints)
	r.returns("ANML-8.10.11-01/accept-all", body(`<nav next="/2" prev="/0" cursor="c" total="9"/><nav next="/no"/>`), "/2 /0 c 9", func(d *Document) any {
		n := d.Body().Nav()
		total, _ := n.Total()
		return fmt.Sprint(n.Next(), " ", n.Prev(), " ", n.Cursor(), " ", total)
	})
	r.returns("ANML-8.10.11-01/accept-of-a-section", body(`<nav next="/no"/><section><nav next="/2"/><nav next="/no"/></section>`), "/2", func(d *Document) any { return first(d.Body().Sections()).Nav().Next() })
	r.writes("ANML-8.10.11-01/accept-one-object", body("<nav/>"), `"body":{"nav":{}}`)
	r.writes("ANML-8.10.11-01/accept-two-array", body("<nav/><nav/>"), `"body":{"nav":[{},{}]}`)
	for _, total := range []string{"-1", "1.5", "many"} {
		for _, id := range []string{"ANML-8.10.11-01", "ANML-11.5-06"} {
			r.returns(id+"/reject-"+total, body(`<nav total="`+total+`"/>`), false, func(d *Document) any { _, ok := d.Body().Nav().Total(); return ok })
			r.finds(id+"/reject-reported-"+total, body(`<nav total="`+total+`"/>`), lookleap.SeverityError, codeBadValue, "ANML-8.1-11")
		}
	}
	r.returns("ANML-11.5-06/accept-total", body(`<nav total="47"/>`), 47, func(d *Document) any { n, _ := d.Body().Nav().Total(); return n })

	// 8.12 and 16.5: rights and usage.
	r.returns("ANML-8.12-01/accept-any-order", `<footer>a<attribution>b</attribution>c<rights/>d</footer>`, "acd 1 1", func(d *Document) any {
		return fmt.Sprint(d.Footer().Text(), " ", count(d.Footer().Rights()), " ", count(d.Footer().Attributions()))
	})
	r.returns("ANML-8.12.1-01/accept-all", `<footer><rights holder="H" year="2026" license="L" usage="train" scope="s">t</rights></footer>`, "H 2026 L train s t", func(d *Document) any {
		x := first(d.Footer().Rights())
		return fmt.Sprint(x.Holder(), " ", x.Year(), " ", x.License(), " ", x.Usage(), " ", x.Scope(), " ", x.Text())
	})
	r.returns("ANML-8.12.1-01/accept-default-none", `<footer><rights/></footer>`, UsageNone, func(d *Document) any { return first(d.Footer().Rights()).Usage() })
	r.writes("ANML-8.12.1-01/accept-one-object", `<footer><rights/></footer>`, `"footer":{"rights":{}}`)
	r.writes("ANML-8.12.1-01/accept-two-array", `<footer><rights/><rights/></footer>`, `"footer":{"rights":[{},{}]}`)
	parts := func(d *Document) any {
		out := fmt.Sprint(d.Body().Usage())
		for c := range d.Body().Content() {
			out += fmt.Sprint(" ", c.Usage())
		}
		return out
	}
	usage := func(id, doc, want string) { r.returns("ANML-8.12.1-03/accept-"+id, doc, want, parts) }
	usage("nothing-declared", `<body><section/></body>`, "cache cache")
	usage("nearest", `<body usage="store"><section usage="train"/><section/></body>`, "store train store")
	usage("unscoped", `<body usage="train"><section/></body><footer><rights usage="display"/></footer>`, "display display")
	usage("scoped", `<body usage="train"><section id="s"><section/></section><section/></body><footer><rights usage="none" scope="s"/></footer>`, "train none train")
	usage("lowest", `<body usage="train"><section id="s" usage="cache"/></body><footer><rights usage="store" scope="s"/><rights usage="display" scope="s"/></footer>`, "train display")
	usage("lowest-first", `<body usage="train"><section id="s" usage="cache"/></body><footer><rights usage="display" scope="s"/><rights usage="store" scope="s"/></footer>`, "train display")
	usage("shared-id", `<body usage="train"><section id="s"/><section id="s"/></body><footer><rights scope="s"/></footer>`, "train none none")
	for name, sections := range map[string]string{ // what is not processed lends its id to no restriction
		"ignored":   `<interact><action id="x" method="GET"/></interact>`,
		"persona":   `<persona><tone id="x">kind</tone></persona>`,
		"aesthetic": `<aesthetic><logo id="x" src="/x"/></aesthetic>`,
	} {
		r.returns("ANML-8.12.1-03/reject-id-of-"+name, sections+`<body usage="train"/><footer><rights usage="display" scope="x"/></footer>`, "display", parts)
	}
	r.returns("ANML-8.12.1-03/reject-dangling", `<body usage="train"/><footer><rights usage="display" scope="typo"/></footer>`, "display", parts)
	r.finds("ANML-8.12.1-03/reject-reported", `<footer><rights scope="typo"/></footer>`, lookleap.SeverityWarning, CodeDangling)
	r.returns("ANML-8.12.1-03/accept-scope-in-ignored-site", `<site><body><section id="s"/></body><footer><rights scope="s"/></footer></site>`, false, func(d *Document) any { return d.hasFinding(CodeDangling) })
	r.returns("K22/reject-escalation", `<knowledge><inform usage="train">x</inform></knowledge><footer><rights usage="none"/></footer>`, UsageNone, func(d *Document) any { return first(d.Knowledge().Informs()).Usage() })
	r.returns("K22/reject-surplus-footer", `<body usage="train"/><footer/><footer><rights usage="none"/></footer>`, "none", parts)
	r.returns("ANML-8.12.2-01/accept-all", `<footer><attribution required="true" scope="s">t</attribution><attribution/><attribution required="yes"/></footer>`, "true s t;false  ;true  ;", func(d *Document) any {
		out := ""
		for x := range d.Footer().Attributions() {
			out += fmt.Sprint(x.Required(), " ", x.Scope(), " ", x.Text(), ";")
		}
		return out
	})

	r.finds("ANML-8.12.2-01/reject-scope", `<footer><attribution scope="z">t</attribution></footer>`, lookleap.SeverityWarning, CodeDangling)

	// 8.13: status.
	status := func(attrs string) string { return "<status " + attrs + "/>" }
	r.returns("ANML-8.13-01/accept-all", status(`code="200" result="partial" message="m" retry-after="30"`), "200 partial m 30s true", func(d *Document) any {
		s := d.Status()
		after, ok := s.RetryAfter()
		return fmt.Sprint(s.Code(), " ", s.Result(), " ", s.Message(), " ", after, " ", ok)
	})
	r.returns("ANML-8.13-01/reject-retry-after", status(`code="1" result="error" retry-after="-5"`), false, func(d *Document) any { _, ok := d.Status().RetryAfter(); return ok })
	for name, attrs := range map[string]string{"ANML-8.13-02/reject-absent": `result="success"`, "ANML-8.13-02/reject-empty": `code="" result="success"`, "ANML-8.13-03/reject-absent": `code="1"`, "ANML-8.13-03/reject-empty": `code="1" result=""`} {
		r.finds(name, status(attrs), lookleap.SeverityError, CodeMalformed)
		r.returns(name+"-no-success", status(attrs), "false error", func(d *Document) any { return fmt.Sprint(d.Status().Exists(), " ", d.Status().Result()) })
	}
	r.returns("ANML-8.13-02/accept-code", status(`code="x" result="success"`), "x success", func(d *Document) any { return fmt.Sprint(d.Status().Code(), " ", d.Status().Result()) })
	r.returns("ANML-8.13-03/reject-unknown", status(`code="1" result="ok"`), ResultError, func(d *Document) any { return d.Status().Result() })
	r.finds("ANML-8.13-03/reject-reported", status(`code="1" result="ok"`), lookleap.SeverityError, codeBadValue)
}

// lints counts the findings that advise the author about the document's style.
func lints(d *Document) any {
	n := 0
	for _, f := range d.Findings() {
		if f.Code == CodeLint {
			n++
		}
	}
	return n
}
