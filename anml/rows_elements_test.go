package anml

import (
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// elementRow is an element of section 8 with everything that it may have.
type elementRow struct {
	rows  string // ids without "ANML-"
	whole string // all attributes and children; a child that may repeat appears twice
	json  string // of whole
	stray string // text where the element has none
	wrong string // a value of another type in each typed attribute
	types string // the names of these attributes, with ! if the finding is an error and no warning
}

var elementRows = []elementRow{
	{rows: "8.6-01", whole: `<interact><action id="a" method="GET" endpoint="/a"/><action id="b" method="GET" endpoint="/b"/></interact>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a"},{"id":"b","method":"GET","endpoint":"/b"}]}`,
		stray: `<interact>x</interact>`},
	{rows: "8.6.1-01", whole: `<interact><action id="a" method="POST" endpoint="/a" enctype="text/plain" auth="none" idempotent="true" confirm="false" description="D"><param name="p"/><param name="q"/><response/></action></interact>`,
		json:  `"interact":{"action":[{"id":"a","method":"POST","endpoint":"/a","enctype":"text/plain","auth":"none","idempotent":true,"confirm":false,"description":"D","param":[{"name":"p"},{"name":"q"}],"response":{}}]}`,
		stray: `<interact><action id="a" method="GET" endpoint="/a">x</action></interact>`,
		wrong: `<interact><action id="a" method="FOO" endpoint="ftp://a.example/" auth="x" idempotent="x" confirm="x"/></interact>`, types: "method! endpoint! auth idempotent! confirm!"},
	{rows: "8.6.2-01", whole: `<interact><action id="a" method="GET" endpoint="/a"><param name="p" type="number" required="true" default="2" description="D" pattern="[0-9]" min="1" max="5"/><param name="e" type="enum"><option value="a"/><option value="b"/></param></action></interact>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a","param":[{"name":"p","type":"number","required":true,"default":"2","description":"D","pattern":"[0-9]","min":1,"max":5},{"name":"e","type":"enum","option":[{"value":"a"},{"value":"b"}]}]}]}`,
		stray: `<interact><action id="a" method="GET" endpoint="/a"><param name="p">x</param></action></interact>`,
		wrong: `<interact><action id="a" method="GET" endpoint="/a"><param name="p" type="int" required="x" min="x" max="x"/></action></interact>`, types: "type required! min max"},
	{rows: "8.6.3-01 8.6.3-02", whole: `<interact><action id="a" method="GET" endpoint="/a"><param name="e" type="enum"><option value="a" label="A"/><option value="" label="B"/></param></action></interact>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a","param":[{"name":"e","type":"enum","option":[{"value":"a","label":"A"},{"value":"","label":"B"}]}]}]}`,
		stray: `<interact><action id="a" method="GET" endpoint="/a"><param name="e" type="enum"><option value="a">x</option></param></action></interact>`},
	{rows: "8.6.4-01", whole: `<interact><action id="a" method="GET" endpoint="/a"><response type="text/plain" description="D"/></action></interact>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a","response":{"type":"text/plain","description":"D"}}]}`,
		stray: `<interact><action id="a" method="GET" endpoint="/a"><response>x</response></action></interact>`},
	{rows: "8.7-01", whole: `<interact><action id="a" method="GET" endpoint="/a"/></interact><knowledge><inform>1</inform><inform>2</inform><ask field="f" action="a" purpose="p"/><ask field="g" action="a" purpose="p"/></knowledge>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a"}]},"knowledge":{"inform":[{"content":"1"},{"content":"2"}],"ask":[{"field":"f","action":"a","purpose":"p"},{"field":"g","action":"a","purpose":"p"}]}`,
		stray: `<knowledge>x</knowledge>`},
	{rows: "8.7-02 11.1-05", whole: `<knowledge><inform>1</inform><inform>2</inform><ask field="j" action="a" purpose="p"/><ask field="k" action="a" purpose="p"/><answer field="f" value="v"/><answer field="g" value="v"/><refuse field="h" reason="user-denied"/><refuse field="i" reason="user-denied"/></knowledge>`,
		json: `"knowledge":{"inform":[{"content":"1"},{"content":"2"}],"ask":[{"field":"j","action":"a","purpose":"p"},{"field":"k","action":"a","purpose":"p"}],"answer":[{"field":"f","value":"v"},{"field":"g","value":"v"}],"refuse":[{"field":"h","reason":"user-denied"},{"field":"i","reason":"user-denied"}]}`},
	{rows: "8.7.1-01", whole: `<knowledge><inform ttl="60" scope="s" priority="high" confidentiality="restricted" usage="store"> x
 </inform></knowledge><body><section id="s"/></body>`,
		json:  `"knowledge":{"inform":[{"ttl":60,"scope":"s","priority":"high","confidentiality":"restricted","usage":"store","content":" x\n "}]},"body":{"section":[{"id":"s"}]}`,
		wrong: `<knowledge><inform ttl="x" priority="x" confidentiality="x" usage="x">x</inform></knowledge>`, types: "ttl! priority confidentiality usage"},
	{rows: "8.7.2-01", whole: `<interact><action id="a" method="GET" endpoint="/a"/></interact><knowledge><ask field="f" action="a" required="true" purpose="p" type="date"/></knowledge>`,
		json:  `"interact":{"action":[{"id":"a","method":"GET","endpoint":"/a"}]},"knowledge":{"ask":[{"field":"f","action":"a","required":true,"purpose":"p","type":"date"}]}`,
		stray: `<knowledge><ask field="f" action="a" purpose="p">x</ask></knowledge>`,
		wrong: `<knowledge><ask field="f" action="a" purpose="p" required="x" type="int"/></knowledge>`, types: "required! type"},
	{rows: "8.7.3-01", whole: `<knowledge><answer field="f" value="v" consent="explicit" consent-granted="2026-03-01T12:00:00Z"/><answer field="g" value="v" consent="implicit"/><answer field="h" value="v" consent="delegated"/></knowledge>`,
		json:  `"knowledge":{"answer":[{"field":"f","value":"v","consent":"explicit","consent-granted":"2026-03-01T12:00:00Z"},{"field":"g","value":"v","consent":"implicit"},{"field":"h","value":"v","consent":"delegated"}]}`,
		stray: `<knowledge><answer field="f" value="v">x</answer></knowledge>`,
		wrong: `<knowledge><answer field="f" value="v" consent="x" consent-granted="x"/></knowledge>`, types: "consent consent-granted"},
	{rows: "8.7.4-03 8.7.4-04", whole: `<knowledge><refuse field="f" reason="user-denied" constraint="c" message="m"/><refuse field="g" reason="user-denied"/></knowledge>`,
		json:  `"knowledge":{"refuse":[{"field":"f","reason":"user-denied","constraint":"c","message":"m"},{"field":"g","reason":"user-denied"}]}`,
		stray: `<knowledge><refuse field="f" reason="user-denied">x</refuse></knowledge>`,
		wrong: `<knowledge><refuse field="f" reason="x"/></knowledge>`, types: "reason"},
	{rows: "8.8-01", whole: `<persona><model/><language/><tone/><voice/><instructions>i</instructions><vocabulary/></persona>`,
		json:  `"persona":{"model":{},"language":{},"tone":{},"voice":{},"instructions":"i","vocabulary":{}}`,
		stray: `<persona>x</persona>`},
	{rows: "8.8.1-02 8.8.1-04", whole: `<persona><model name="n" provider="p" capability="c"/></persona>`,
		json:  `"persona":{"model":{"name":"n","provider":"p","capability":"c"}}`,
		stray: `<persona><model>x</model></persona>`},
	{rows: "8.8.2-01", whole: `<persona><language value="fr" policy="fixed"/></persona>`,
		json:  `"persona":{"language":{"value":"fr","policy":"fixed"}}`,
		stray: `<persona><language>x</language></persona>`,
		wrong: `<persona><language value="a b" policy="x"/></persona>`, types: "value policy"},
	{rows: "8.8.3-01", whole: `<persona><tone value="t"/></persona>`, json: `"persona":{"tone":{"value":"t"}}`, stray: `<persona><tone>x</tone></persona>`},
	{rows: "8.8.4-01", whole: `<persona><voice perspective="third" name="n"/></persona>`, json: `"persona":{"voice":{"perspective":"third","name":"n"}}`,
		stray: `<persona><voice>x</voice></persona>`, wrong: `<persona><voice perspective="x"/></persona>`, types: "perspective"},
	{rows: "8.8.5-01", whole: `<persona><instructions> a&#10; b</instructions></persona>`, json: `"persona":{"instructions":" a\n b"}`},
	{rows: "8.8.6-01 8.8.7-01 8.8.8-02", whole: `<persona><vocabulary><prefer> a </prefer><prefer>b</prefer><avoid> c </avoid><avoid>d</avoid></vocabulary></persona>`,
		json: `"persona":{"vocabulary":{"prefer":[" a ","b"],"avoid":[" c ","d"]}}`, stray: `<persona><vocabulary>x</vocabulary></persona>`},
	{rows: "8.9-01", whole: `<aesthetic><display-name>N</display-name><logo src="/a"/><logo src="/b"/><colors/><typography/></aesthetic>`,
		json:  `"aesthetic":{"display-name":"N","logo":[{"src":"/a"},{"src":"/b"}],"colors":{},"typography":{}}`,
		stray: `<aesthetic>x</aesthetic>`},
	{rows: "8.9.1-01", whole: `<aesthetic><display-name> N </display-name></aesthetic>`, json: `"aesthetic":{"display-name":" N "}`},
	{rows: "8.9.2-01", whole: `<aesthetic><logo src="/l" alt="a" type="image/png" variant="v"/></aesthetic>`,
		json:  `"aesthetic":{"logo":[{"src":"/l","alt":"a","type":"image/png","variant":"v"}]}`,
		stray: `<aesthetic><logo src="/l">x</logo></aesthetic>`, wrong: `<aesthetic><logo src="/a b"/></aesthetic>`, types: "src"},
	{rows: "8.9.3-01", whole: `<aesthetic><colors><color role="a"/><color role="b"/></colors></aesthetic>`,
		json: `"aesthetic":{"colors":{"color":[{"role":"a"},{"role":"b"}]}}`, stray: `<aesthetic><colors>x</colors></aesthetic>`},
	{rows: "8.9.4-01", whole: `<aesthetic><colors><color role="r" value="#fff"/></colors></aesthetic>`,
		json: `"aesthetic":{"colors":{"color":[{"role":"r","value":"#fff"}]}}`, stray: `<aesthetic><colors><color role="r">x</color></colors></aesthetic>`},
	{rows: "8.9.5-01", whole: `<aesthetic><typography><font role="a"/><font role="b"/></typography></aesthetic>`,
		json: `"aesthetic":{"typography":{"font":[{"role":"a"},{"role":"b"}]}}`, stray: `<aesthetic><typography>x</typography></aesthetic>`},
	{rows: "8.9.6-01", whole: `<aesthetic><typography><font role="r" family="f" fallback="g"/></typography></aesthetic>`,
		json:  `"aesthetic":{"typography":{"font":[{"role":"r","family":"f","fallback":"g"}]}}`,
		stray: `<aesthetic><typography><font role="r">x</font></typography></aesthetic>`},
	{rows: "8.10-01", whole: `<body usage="store"> a <section/><section/><data/><data/><img src="/i"><description>d</description></img><img src="/i"><description>d</description></img><audio src="/a"/><audio src="/a"/><video src="/v"/><video src="/v"/><link href="/l"/><link href="/l"/><nav/><nav/></body>`,
		json:  `"body":{"usage":"store","content":" a ","section":[{},{}],"data":[{},{}],"img":[{"src":"/i","description":"d"},{"src":"/i","description":"d"}],"audio":[{"src":"/a"},{"src":"/a"}],"video":[{"src":"/v"},{"src":"/v"}],"link":[{"href":"/l"},{"href":"/l"}],"nav":[{},{}]}`,
		wrong: `<body usage="x"/>`, types: "usage"},
	{rows: "8.10.1-01", whole: `<body><section id="s" label="L" usage="store"> a <section/><section/><data/><data/><img src="/i"><description>d</description></img><img src="/i"><description>d</description></img><audio src="/a"/><audio src="/a"/><video src="/v"/><video src="/v"/><link href="/l"/><link href="/l"/><nav/><nav/></section></body>`,
		json:  `"body":{"section":[{"id":"s","label":"L","usage":"store","content":" a ","section":[{},{}],"data":[{},{}],"img":[{"src":"/i","description":"d"},{"src":"/i","description":"d"}],"audio":[{"src":"/a"},{"src":"/a"}],"video":[{"src":"/v"},{"src":"/v"}],"link":[{"href":"/l"},{"href":"/l"}],"nav":[{},{}]}]}`,
		wrong: `<body><section usage="x"/></body>`, types: "usage"},
	{rows: "8.10.2-01", whole: `<body><img src="/x" inference="none" type="a/b" width="2" height="3" usage="store"><description>d</description></img></body>`,
		json:  `"body":{"img":[{"src":"/x","inference":"none","type":"a/b","width":"2","height":"3","usage":"store","description":"d"}]}`,
		stray: `<body><img src="/x">x</img></body>`, wrong: `<body><img src="/a b" inference="x" width="x" height="x" usage="x"/></body>`, types: "src inference width! height! usage"},
	{rows: "8.10.3-01", whole: `<body><audio src="/x" inference="none" type="a/b" duration="1.5" usage="store" lang="fr"><transcript>t</transcript><description>d</description></audio></body>`,
		json:  `"body":{"audio":[{"src":"/x","inference":"none","type":"a/b","duration":"1.5","usage":"store","lang":"fr","transcript":"t","description":"d"}]}`,
		stray: `<body><audio src="/x">x</audio></body>`, wrong: `<body><audio src="/a b" inference="x" usage="x"/></body>`, types: "src inference usage"},
	{rows: "8.10.4-01", whole: `<body><video src="/x" inference="none" type="a/b" duration="1.5" width="2" height="3" usage="store" lang="fr"><transcript>t</transcript><description>d</description></video></body>`,
		json:  `"body":{"video":[{"src":"/x","inference":"none","type":"a/b","duration":"1.5","width":"2","height":"3","usage":"store","lang":"fr","transcript":"t","description":"d"}]}`,
		stray: `<body><video src="/x">x</video></body>`, wrong: `<body><video src="/a b" inference="x" width="x" height="x" usage="x"/></body>`, types: "src inference width! height! usage"},
	{rows: "8.10.5-02", whole: `<body><img src="/i"><description> a </description></img><audio src="/a"><description>b</description></audio><video src="/v"><description>c</description></video></body>`,
		json: `"body":{"img":[{"src":"/i","description":" a "}],"audio":[{"src":"/a","description":"b"}],"video":[{"src":"/v","description":"c"}]}`},
	{rows: "8.10.6-02", whole: `<body><audio src="/a"><transcript> b </transcript></audio><video src="/v"><transcript>c</transcript></video></body>`,
		json: `"body":{"audio":[{"src":"/a","transcript":" b "}],"video":[{"src":"/v","transcript":"c"}]}`},
	{rows: "8.10.7-01", whole: `<body><link href="/l" rel="next alternate" type="a/b" label="L"/></body>`,
		json:  `"body":{"link":[{"href":"/l","rel":"next alternate","type":"a/b","label":"L"}]}`,
		stray: `<body><link href="/l">x</link></body>`, wrong: `<body><link href="/a b"/></body>`, types: "href"},
	{rows: "8.10.8-01", whole: `<body><data id="d" label="L" usage="store"><item/><item/></data></body>`,
		json:  `"body":{"data":[{"id":"d","label":"L","usage":"store","item":[{},{}]}]}`,
		stray: `<body><data>x</data></body>`, wrong: `<body><data usage="x"/></body>`, types: "usage"},
	{rows: "8.10.9-01", whole: `<body><data><item id="i"><field name="a">1</field><field name="a">2</field></item></data></body>`,
		json:  `"body":{"data":[{"item":[{"id":"i","field":[{"name":"a","content":"1"},{"name":"a","content":"2"}]}]}]}`,
		stray: `<body><data><item>x</item></data></body>`},
	{rows: "8.10.10-01", whole: `<body><data><item><field name="n" type="number">1</field></item></data></body>`,
		json:  `"body":{"data":[{"item":[{"field":[{"name":"n","type":"number","content":"1"}]}]}]}`,
		wrong: `<body><data><item><field type="int">1</field></item></data></body>`, types: "type"},
	{rows: "8.10.11-01", whole: `<body><nav next="/2" prev="/0" cursor="c" total="9"/></body>`,
		json:  `"body":{"nav":{"next":"/2","prev":"/0","cursor":"c","total":"9"}}`,
		stray: `<body><nav>x</nav></body>`, wrong: `<body><nav next="/a b" prev="/a b" total="x"/></body>`, types: "next prev total!"},
	{rows: "8.12-01", whole: `<footer> a <rights/><rights/><attribution/><attribution/></footer>`,
		json: `"footer":{"content":" a ","rights":[{},{}],"attribution":[{},{}]}`},
	{rows: "8.12.1-01", whole: `<body><section id="s"/></body><footer><rights holder="H" year="2026" license="L" usage="train" scope="s"> t </rights></footer>`,
		json:  `"body":{"section":[{"id":"s"}]},"footer":{"rights":{"holder":"H","year":"2026","license":"L","usage":"train","scope":"s","content":" t "}}`,
		wrong: `<footer><rights usage="x"/></footer>`, types: "usage"},
	{rows: "8.12.2-01", whole: `<body><section id="s"/></body><footer><attribution required="true" scope="s"> t </attribution></footer>`,
		json:  `"body":{"section":[{"id":"s"}]},"footer":{"attribution":[{"required":true,"scope":"s","content":" t "}]}`,
		wrong: `<footer><attribution required="x"/></footer>`, types: "required!"},
	{rows: "8.13-01", whole: `<status code="c" result="success" message="m" retry-after="30"/>`,
		json:  `"status":{"code":"c","result":"success","message":"m","retry-after":"30"}`,
		stray: `<status code="c" result="success">x</status>`, wrong: `<status code="c" result="x" retry-after="x"/>`, types: "result! retry-after!"},
}

// attributeRules has the requirement of the finding about a wrong type, by attribute.
var attributeRules = map[string]string{"method": "8.6.1-03", "endpoint": "8.6.1-04", "auth": "8.6.1-06", "idempotent": "8.11-05", "confirm": "8.11-05",
	"required": "8.11-05", "type": "8.11-01", "min": "8.6.2-04", "max": "8.6.2-04", "ttl": "8.1-11", "width": "8.1-11", "height": "8.1-11", "total": "8.1-11",
	"retry-after": "8.1-11", "priority": "8.7.1-01", "confidentiality": "8.7.1-01", "usage": "16.5-01", "consent": "1.2.2-05", "policy": "1.2.2-05",
	"perspective": "1.2.2-05", "consent-granted": "8.2-05", "reason": "8.7.4-02", "value": "8.1-13", "inference": "8.10.2-01", "src": "8.11-09",
	"href": "8.11-09", "next": "8.11-09", "prev": "8.11-09", "result": "8.13-03"}

// TestRowsElements reads and writes each element with everything that it may have, in both
// serializations, and looks for the findings about what it may not have.
func TestRowsElements(t *testing.T) {
	found := func(d *Document, is func(lookleap.Finding) bool) bool { return slices.ContainsFunc(d.Findings(), is) }
	for _, c := range elementRows {
		wrap := func(sections string) string { return service("<head><title>T</title></head>" + sections) }
		written := `{"anml":"1.0","role":"service","head":{"title":"T"},` + c.json + "}\n"
		if strings.Contains(c.whole, "<answer") || strings.Contains(c.whole, "<refuse") {
			wrap = func(sections string) string {
				return strings.Replace(service(sections), `"service"`, `"agent-response"`, 1)
			}
			written = `{"anml":"1.0","role":"agent-response",` + c.json + "}\n"
		}
		of, _, _ := strings.Cut(c.rows, " ")
		for _, id := range strings.Fields(c.rows + " 0-01 7-01 7.4-04") {
			general := !strings.Contains(c.rows, id) // a row about every element
			t.Run("ANML-"+id+"/accept-whole"+map[bool]string{true: "-of-" + of}[general], func(t *testing.T) {
				in(t, wrap(c.whole), func(t *testing.T, d *Document) {
					for _, f := range d.Findings() {
						if f.Severity < lookleap.SeverityInfo {
							t.Errorf("%s: %v", d.Format(), f)
						}
					}
					if j, err := MarshalJSON(d, WriteOptions{}); err != nil || string(j) != written {
						t.Errorf("%s: got  %s, %v\nwant %s", d.Format(), j, err, written)
					}
				})
				checkRoundTrip(t, wrap(c.whole))
			})
			if general {
				continue
			}
			if c.stray != "" {
				t.Run("ANML-"+id+"/reject-stray-text", func(t *testing.T) {
					for _, d := range strayed(t, wrap(c.stray)) {
						if !found(d, func(f lookleap.Finding) bool {
							return f.Code == codeStrayText && f.Requirement == "ANML-8-02" && f.Severity == lookleap.SeverityWarning && strings.HasSuffix(f.Path, "/"+holder(c.stray))
						}) {
							t.Errorf("%s: %v", d.Format(), d.Findings())
						}
						if j, err := MarshalJSON(d, WriteOptions{Verbatim: true}); err != nil || strings.Contains(string(j), `"content"`) {
							t.Errorf("%s: the text is kept: %s %v", d.Format(), j, err)
						}
					}
				})
			}
			if c.wrong == "" {
				continue
			}
			t.Run("ANML-"+id+"/reject-wrong-types", func(t *testing.T) {
				in(t, wrap(c.wrong), func(t *testing.T, d *Document) {
					for _, name := range strings.Fields(c.types) {
						name, isError := strings.CutSuffix(name, "!")
						severity := map[bool]lookleap.Severity{true: lookleap.SeverityError, false: lookleap.SeverityWarning}[isError]
						if !found(d, func(f lookleap.Finding) bool {
							return f.Code == codeBadValue && f.Severity == severity && f.Requirement == "ANML-"+attributeRules[name] && strings.HasPrefix(f.Message, name+`="`)
						}) {
							t.Errorf("%s: no finding about %s among %v", d.Format(), name, d.Findings())
						}
					}
				})
			})
		}
	}
}

// holder returns the element whose text is x.
func holder(sections string) string {
	_, after, _ := strings.Cut(sections, ">x</")
	name, _, _ := strings.Cut(after, ">")
	return name
}

// strayed reads a document with the text x in an element that has no text, in both serializations.
// An attribute holds the place of the text in JSON, since a writer does not write such a text.
func strayed(t *testing.T, doc string) []*Document {
	t.Helper()
	j, err := MarshalJSON(parsed(t, strings.Replace(doc, ">x</", ` zzz="x"></`, 1), ReadOptions{}), WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatal(err)
	}
	twin, err := ParseJSON([]byte(strings.Replace(string(j), `"@{}zzz":`, `"content":`, 1)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return []*Document{parsed(t, doc, ReadOptions{}), twin}
}
