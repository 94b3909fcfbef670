package anml

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// usageByDefinition is Usage as section 8.12.1 says it: it looks at everything that
// covers one element, for each element again.
func usageByDefinition(d *Document, n node) Usage {
	usages := []Usage{}
	for m := n; m.ok(); m = m.parent() {
		if at := m.lookup("usage"); at.ok() && m.kind() != kRights {
			usages = append(usages, parseUsage(at.value))
			break
		}
	}
	site := siteOf(n)
	names := func(m node, scope string) bool {
		return scope != "" && m.value("id") == scope && m.usable() && siteOf(m) == site
	}
	d.root().walk(func(r node) bool {
		if r.kind() != kRights || !r.usable() || siteOf(r) != site {
			return true
		}
		scope, anything, covers := r.value("scope"), false, false
		d.root().walk(func(m node) bool {
			anything = anything || names(m, scope)
			return true
		})
		for m := n; m.ok(); m = m.parent() {
			covers = covers || names(m, scope)
		}
		if covers || !anything {
			usages = append(usages, Rights{Node{r, d}}.Usage())
		}
		return true
	})
	if len(usages) == 0 {
		return UsageCache
	}
	lowest := usages[0]
	for _, u := range usages {
		lowest = min(lowest, u)
	}
	return lowest
}

// The lowest usage of a document is that of any part: a statement of rights that permits nothing
// by itself counts too.
func TestLowestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		sections string
		want     Usage
	}{
		"accept-nothing-said":        {"<body/>", UsageTrain},
		"accept-each":                {`<body usage="train"/><footer><rights usage="store">x</rights></footer>`, UsageStore},
		"accept-parts":               {`<body usage="train"><section usage="display"/></body>`, UsageDisplay},
		"reject-rights-without-word": {`<body usage="train"/><footer><rights holder="x">all</rights></footer>`, UsageNone},
		"accept-not-processed":       {`<body usage="train"><img usage="none"/></body>`, UsageTrain},
		"accept-site-not-processed":  {`<site domain="a.example"><body usage="train"/></site><site><body usage="none"/></site>`, UsageTrain},
		"reject-unknown-word":        {`<body usage="anything"/>`, UsageNone},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := ParseXML([]byte(service(c.sections)), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := d.LowestUsage(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// An id is looked for only in an element of a document.
func TestScoped(t *testing.T) {
	d, err := ParseXML([]byte(service(`<body><section id="a"/><section/></body><persona><tone value="x"/></persona>`)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Body().Scoped("a"); len(got) != 1 || got[0].n.value("id") != "a" {
		t.Error(got)
	}
	if (Node{}).Scoped("a") != nil || d.Body().Scoped("") != nil || d.Body().Scoped("b") != nil {
		t.Error("found")
	}
}

// randomSite writes sections, data and rights statements that share a few ids.
func randomSite(r *rand.Rand, b *strings.Builder) {
	id := func(name string) string {
		if r.IntN(3) == 0 {
			return ""
		}
		return fmt.Sprintf(` %s="%c"`, name, 'a'+r.IntN(4))
	}
	usage := func() string {
		if r.IntN(2) == 0 {
			return ""
		}
		return ` usage="` + []string{"none", "display", "cache", "store", "train", "odd"}[r.IntN(6)] + `"`
	}
	var flow func(depth int)
	flow = func(depth int) {
		for range r.IntN(4) {
			switch {
			case depth > 3 || r.IntN(3) == 0:
				b.WriteString("<data" + id("id") + usage() + "><item" + id("id") + `><field name="f">1</field></item></data>`)
			default:
				b.WriteString("<section" + id("id") + usage() + ">text")
				flow(depth + 1)
				b.WriteString("</section>")
			}
		}
	}
	b.WriteString("<knowledge><inform" + usage() + id("scope") + ">x</inform></knowledge><body" + usage() + ">")
	flow(0)
	b.WriteString("</body>")
	for range r.IntN(3) {
		b.WriteString("<footer>")
		for range r.IntN(3) {
			b.WriteString("<rights" + id("scope") + usage() + "/>")
		}
		b.WriteString("</footer>")
	}
}

func TestUsageOfEverything(t *testing.T) {
	t.Run("O01", func(t *testing.T) {
		t.Run("accept-as-defined", func(t *testing.T) {
			seen := map[Usage]int{}
			for seed := range uint64(400) {
				r := rand.New(rand.NewPCG(seed, 1))
				var b strings.Builder
				b.WriteString(`<anml xmlns="` + Namespace + `" role="service">`)
				if seed%2 == 0 {
					randomSite(r, &b)
				} else {
					for i := range 1 + r.IntN(3) {
						fmt.Fprintf(&b, `<site domain="%c.example">`, 'a'+i)
						randomSite(r, &b)
						b.WriteString("</site>")
					}
				}
				d, err := ParseXML([]byte(b.String()+"</anml>"), ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				d.root().walk(func(n node) bool {
					got, want := (Node{n, d}).Usage(), usageByDefinition(d, n)
					if seen[got]++; got != want {
						t.Fatalf("%s: %s, want %s\n%s", d.positions.path(n), got, want, b.String())
					}
					return true
				})
			}
			if len(seen) != 5 {
				t.Errorf("usages that came up: %v", seen)
			}
		})
		// At these sizes, work for each pair of an element and a rights statement, let
		// alone for each of its targets too, does not end while the test may run.
		for name, c := range map[string]struct{ section, rights, inform string }{
			"one-id":       {`<section id="a"/>`, `<rights scope="a" usage="store"/>`, `<inform>x</inform>`},
			"many-ids":     {`<section id="a%d"/>`, `<rights scope="a%d" usage="store"/>`, `<inform>x</inform>`},
			"no-such-id":   {`<section id="a%d"/>`, `<rights scope="b%d" usage="store"/>`, `<inform scope="c%d">x</inform>`},
			"whole-site":   {`<section/>`, `<rights usage="store"/>`, `<inform>x</inform>`},
			"long-prefix":  {`<section id="` + strings.Repeat("p", 30) + `%d"/>`, `<rights scope="` + strings.Repeat("p", 30) + `%d" usage="store"/>`, `<inform>x</inform>`},
			"unknown-name": {`<section id="a"/><x/>`, `<rights scope="a" usage="store"/><y/>`, `<inform>x</inform><z/>`},
		} {
			const n = 15_000
			doc := func(n int) string {
				var b strings.Builder
				each := func(format string) {
					for i := range n {
						b.WriteString(strings.ReplaceAll(format, "%d", itoa(i)))
					}
				}
				b.WriteString(`<anml xmlns="` + Namespace + `" role="service"><knowledge>`)
				each(c.inform)
				b.WriteString("</knowledge><body>")
				each(c.section)
				b.WriteString("</body><footer>")
				each(c.rights)
				return b.String() + "</footer></anml>"
			}
			t.Run("accept-"+name, func(t *testing.T) {
				limits := Limits{Bytes: 8 << 20, Elements: 10 * n}
				d, err := ParseXML([]byte(doc(n)), ReadOptions{Limits: limits})
				if err != nil {
					t.Fatal(err)
				}
				data, err := MarshalJSON(d, WriteOptions{Verbatim: true})
				if err != nil {
					t.Fatal(err)
				}
				fromJSON, err := ParseJSON(data, ReadOptions{Limits: limits})
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range []*Document{d, fromJSON} {
					for i := range d.Knowledge().Informs() {
						if u := i.Usage(); name == "no-such-id" && u != UsageStore {
							t.Fatal(u)
						}
						_ = i.Position()
					}
					for s := range d.Body().Sections() {
						if u := s.Usage(); u != UsageStore {
							t.Fatal(u)
						}
						_ = s.Position()
					}
				}
				// What is kept for an element is kept once for a document.
				use := func(n int) float64 {
					data := []byte(doc(n))
					return testing.AllocsPerRun(1, func() {
						d, err := ParseXML(data, ReadOptions{Limits: limits})
						if err != nil {
							t.Fatal(err)
						}
						for s := range d.Body().Sections() {
							_, _ = s.Usage(), s.Position()
						}
					})
				}
				if small, large := use(n/8), use(n); large > 10*small+100 {
					t.Errorf("%v allocations for an eighth, %v for the whole", small, large)
				}
			})
		}
	})
}
