package anml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// The rows of the requirement register, one leaf subtest or more for each.

// rows runs cases named by requirement id.
type rows struct{ *testing.T }

// service wraps sections into a faultless service document.
func service(sections string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<anml xmlns="` + Namespace + `" version="1.0" role="service">` + sections + `</anml>`
}

// response wraps knowledge into an agent response.
func response(knowledge string) string {
	return strings.Replace(service("<knowledge>"+knowledge+"</knowledge>"), `"service"`, `"agent-response"`, 1)
}

// in reads a document and its JSON image, and hands both to a check: every row
// holds for both serializations (section 7.6).
func in(t *testing.T, doc string, check func(t *testing.T, d *Document)) {
	t.Helper()
	d, err := ParseXML([]byte(doc), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, d)
	j, err := MarshalJSON(d, WriteOptions{Verbatim: true})
	if err != nil {
		t.Fatal(err)
	}
	twin, err := ParseJSON(j, ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, j)
	}
	check(t, twin)
}

// returns checks what a document returns.
func (r rows) returns(id, sections string, want any, ask func(d *Document) any) {
	r.Helper()
	doc := sections
	if !strings.HasPrefix(doc, "<?xml") && !strings.HasPrefix(doc, "<anml") {
		doc = service(doc)
	}
	r.Run(id, func(t *testing.T) {
		in(t, doc, func(t *testing.T, d *Document) {
			if got := fmt.Sprint(ask(d)); got != fmt.Sprint(want) {
				t.Errorf("%s: got %s, want %v", d.Format(), got, want)
			}
		})
	})
}

// general has the requirements of checks that are the same for every element.
var general = map[lookleap.Code]string{CodeMalformed: "ANML-11.4-01", codeSurplus: "ANML-8-03", codeMisplaced: "ANML-8-01", codeFlowCycle: "ANML-11.4-11"}

// finds wants a finding with a code, its severity and its requirement: the one that is passed, or
// that of a general check, or else the row of the leaf.
func (r rows) finds(id, sections string, s lookleap.Severity, code lookleap.Code, requirement ...string) {
	r.Helper()
	doc := sections
	if !strings.HasPrefix(doc, "<?xml") && !strings.HasPrefix(doc, "<anml") {
		doc = service(doc)
	}
	rule, _, _ := strings.Cut(id, "/")
	if len(requirement) > 0 {
		rule = requirement[0]
	} else if of, ok := general[code]; ok {
		rule = of
	}
	r.Run(id, func(t *testing.T) {
		in(t, doc, func(t *testing.T, d *Document) {
			if !slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool {
				return f.Code == code && f.Severity == s && f.Requirement == rule && f.Message != "" && f.Line > 0
			}) {
				t.Errorf("%s: no %s finding %s under %s among %v", d.Format(), s, code, rule, d.Findings())
			}
		})
	})
}

// finds1 wants a finding in one serialization.
func (r rows) finds1(id string, f Format, doc string, o ReadOptions, code lookleap.Code) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		d, err := parseAs(f, doc, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool { return f.Code == code }) {
			t.Errorf("no finding %s among %v", code, d.Findings())
		}
	})
}

// clean wants no finding graver than info, for a document in XML in both serializations.
func (r rows) clean(id string, f Format, doc string) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		check := func(t *testing.T, d *Document) {
			for _, f := range d.Findings() {
				if f.Severity < lookleap.SeverityInfo {
					t.Errorf("%s: %v", d.Format(), f)
				}
			}
		}
		if f == XML {
			in(t, doc, check)
			return
		}
		d, err := parseAs(f, doc, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, d)
	})
}

// reads checks what a document in one serialization returns.
func (r rows) reads(id string, f Format, doc string, o ReadOptions, want any, ask func(d *Document) any) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		d, err := parseAs(f, doc, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ask(d)); got != fmt.Sprint(want) {
			t.Errorf("got %s, want %v", got, want)
		}
	})
}

func parseAs(f Format, doc string, o ReadOptions) (*Document, error) {
	if f == JSON {
		return ParseJSON([]byte(doc), o)
	}
	return ParseXML([]byte(doc), o)
}

// refuses wants no document and an error of a class.
func (r rows) refuses(id string, f Format, doc string, o ReadOptions, class error) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		d, err := parseAs(f, doc, o)
		if !errors.Is(err, class) || d != nil {
			t.Fatalf("got %v, %v, want %v", d, err, class)
		}
		var e *lookleap.Error
		if !errors.As(err, &e) || e.Code == "" || e.Message == "" {
			t.Errorf("no code or message: %v", err)
		}
	})
}

// same wants XML and JSON to be the same document, in both directions.
func (r rows) same(id, xml, json string) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		fromXML, err := ParseXML([]byte(xml), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fromJSON, err := ParseJSON([]byte(json), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !Equal(fromXML, fromJSON) {
			j, _ := MarshalJSON(fromXML, WriteOptions{Verbatim: true})
			t.Errorf("the two differ; from XML %s", j)
		}
		checkRoundTrip(t, xml)
	})
}

// writes wants the exact JSON of an XML document's sections.
func (r rows) writes(id, sections, json string) {
	r.Helper()
	r.Run(id, func(t *testing.T) {
		d, err := ParseXML([]byte(service(sections)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := MarshalJSON(d, WriteOptions{Verbatim: true})
		want := `{"anml":"1.0","role":"service",` + json + "}\n"
		if err != nil || string(j) != want {
			t.Errorf("got  %s, %v\nwant %s", j, err, want)
		}
	})
}

func first[V any](seq func(func(V) bool)) (v V) {
	for v = range seq {
		return v
	}
	return v
}

func count[V any](seq func(func(V) bool)) (n int) {
	for range seq {
		n++
	}
	return n
}

// joined returns what show says about each value.
func joined[V any](seq func(func(V) bool), show func(V) any) (all string) {
	for v := range seq {
		all += fmt.Sprint(show(v))
	}
	return all
}

// TestLexical shows what is said about a notation that ANML forbids.
func TestLexical(t *testing.T) {
	doc := []byte(service("<?pi x?>"))
	const message, fix = "processing instructions have no meaning in ANML", "remove it"
	var e *lookleap.Error
	if _, err := ParseXML(doc, ReadOptions{StrictLexical: true}); !errors.As(err, &e) || e.Code != codePI || e.Message != message || e.Fix != fix {
		t.Errorf("%+v", e)
	}
	d, err := ParseXML(doc, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Findings(), func(f lookleap.Finding) bool {
		return f.Code == codePI && f.Requirement == "ANML-5.2.6-04" && f.Message == message && f.Fix == fix
	}) {
		t.Error(d.Findings())
	}
}

// hasVersion reports whether the version attribute is present.
func (d *Document) hasVersion() bool { v, _ := d.Attr("version"); return v != "" }
