package anml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// TestValueForms shows the border of each form: what is accepted differs from what is rejected in
// one character.
func TestValueForms(t *testing.T) {
	type form struct {
		id           string
		is           func(string) bool
		accept, drop []string
	}
	typed := func(typ Type) func(string) bool {
		return func(s string) bool { return CheckValue(typ, s) == nil }
	}
	for name, f := range map[string]form{
		"number": {"ANML-8.11-03", typed(TypeNumber),
			[]string{"0", "9", "10", "-0", "-9", "0.0", "1e0", "1E+1", "1e-1", "999999999999999", "1234567890123456", "1.5e300"},
			[]string{"", "-", "00", "01", "-01", "1e", "1e+", "1E-", "1.e1", "1e1.", "a", "1a", ":", "/", "-:", "1e999", "-1e999", "0123456789012345", "e5", "E5", "-e5", "e"}},
		"boolean": {"ANML-8.11-05", typed(TypeBoolean), []string{"true", "false"}, []string{"True", "falsey", "t"}},
		"date": {"ANML-8.11-06", typed(TypeDate),
			[]string{"0000-01-01", "2026-01-31", "2026-02-28", "2024-02-29", "2000-02-29", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30", "2026-12-31", "9999-12-31"},
			[]string{"2026-00-10", "2026-13-10", "2026-01-00", "2026-01-32", "2026-02-29", "1900-02-29", "2100-02-29", "2024-02-30", "2024-01-32", "2024-04-31", "2024-12-32", "2026-04-31", "2026-06-31", "2026-09-31", "2026-11-31", "2026/01-01", "2026-01/01", "2026-0:-10", "2026-10-0:", "202:-10-10", "x026-10-10", "20x6-10-10", "20261010", "2026-10-1", "2026-10-100"}},
		"datetime": {"ANML-8.11-07", typed(TypeDateTime),
			[]string{"2026-07-14T00:00:00Z", "2026-07-14T23:59:59Z", "2026-12-31T23:59:60Z"},
			[]string{"2026-07-14T0::00:00Z", "2026-07-14T00:0::00Z", "2026-07-14T00:00:0:Z", "2026-07-14T24:00:00Z", "2026-07-14T00:60:00Z", "2026-07-14T00:00:60Z", "2026-07-32T00:00:00Z"}},
		"uri": {"ANML-8.11-09", typed(TypeURI),
			[]string{"a:b", "A1+-.:b", "h9:b", "h0:b", "z:b", "https://a/%20%aF", "a:b#c", "a:-._~:/?[]@!$&'()*+,;="},
			[]string{":b", "a:", "ab", "1a:b", "+a:b", "a_b:c", "a!b:c", "a/b:c", "a{:b", "@:b", "a:%", "a:%2", "a:%2g", "a:%g2", "a:b#c#d", "a:\"", "a:<", "a:é", "a:\x7f"}},
		"reference": {"ANML-8.11-09", isURIReference,
			[]string{"", "a", "/a", "%20", "?a#b", "a:%09%AF%af"}, []string{"<a", " a", "éa", "%2", "%zz", "%/0", "%:0", "%@0", "%G0", "%`0", "%g0", "%0/", "%0:", "%0@", "%0G", "%0`", "%0g", "a\x7f"}},
		"seconds": {"ANML-8.1-11", func(s string) bool { _, ok := seconds(s); return ok },
			[]string{"0", "9", "10", "99999999999999999999"}, []string{"", "00", "01", "-1", "+1", "1.0", "1:", "/1", " 1"}},
		"language": {"ANML-8.1-13", isLang,
			[]string{"a", "zh", "de", "en-001", "de-AT-1996", "abcdefgh", "x-12345678"}, []string{"", "-", "de-", "-de", "abcdefghi", "de-123456789", "1a", "d1", "en-U$", "de_AT", "d@", "d[", "d{", "de-:"}},
		"name": {"ANML-7.2.6-01", strictxml.IsNCName,
			[]string{"a", "A", "Z", "_", "a1", "a-", "a.", "a\u00B7", "\u00C0", "\u00D6", "\u00D8", "\u00F6", "\u00F8", "\u02FF", "\u0370", "\u037D", "\u037F", "\u1FFF", "\u200C", "\u200D", "\u2070", "\u218F", "\u2C00", "\u2FEF", "\u3001", "\uD7FF", "\uF900", "\uFDCF", "\uFDF0", "\uFFFD", "\U00010000", "\U000EFFFF", "a\u0300", "a\u036F", "a\u203F", "a\u2040", "a9"},
			[]string{"", "1", "-", ".", "a:b", "a b", "@", "[", "`", "{", "\u00B7", "\u00BF", "\u00D7", "\u00F7", "\u0300", "\u036F", "\u037E", "\u2000", "\u200B", "\u200E", "\u206F", "\u2190", "\u2BFF", "\u2FF0", "\u3000", "\uE000", "\uF8FF", "\uFDD0", "\uFDEF", "\uFFFE", "\U000F0000", "a\u203E", "a\u2041", "a/", "a\xff"}},
		"text": {"ANML-7.5-06", strictxml.IsText,
			[]string{"", "\t\n\r ", "\uFFFD", "\U0010FFFF"}, []string{"\x00", "\x1f", "\x0b", "\uFFFE", "\uFFFF", "a\xff"}},
	} {
		for _, s := range f.accept {
			t.Run(f.id+"/accept-"+name+fmt.Sprintf("-%+q", s), func(t *testing.T) {
				if !f.is(s) {
					t.Error("rejected")
				}
			})
		}
		for _, s := range f.drop {
			t.Run(f.id+"/reject-"+name+fmt.Sprintf("-%+q", s), func(t *testing.T) {
				if f.is(s) {
					t.Error("accepted")
				}
			})
		}
	}
}

// acceptIf begins the name of a test by its side.
func acceptIf(yes bool) string {
	if yes {
		return "accept"
	}
	return "reject"
}

func TestFormatValue(t *testing.T) {
	at := time.Date(2026, 7, 14, 1, 2, 3, 0, time.FixedZone("x", 2*60*60))
	for _, c := range []struct {
		typ  Type
		v    any
		want string // "" if there is none
	}{
		{TypeString, "x", "x"}, {TypeBoolean, true, "true"}, {TypeNumber, 7, "7"}, {TypeNumber, int64(-7), "-7"}, {TypeNumber, 0.5, "0.5"},
		{TypeDate, at, "2026-07-14"}, {TypeDateTime, at, "2026-07-13T23:02:03Z"},
		{TypeDate, "soon", ""}, {TypeNumber, true, ""}, {TypeString, nil, ""}, {TypeString, []byte("x"), ""},
	} {
		t.Run(fmt.Sprintf("ANML-8.11-01/%s-%s-%T", acceptIf(c.want != ""), c.typ, c.v), func(t *testing.T) {
			got, err := formatValue(c.typ, c.v)
			if c.want == "" != errors.Is(err, ErrType) || err == nil && got != c.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1 true", "-2.50": "-2.5 true", "0": "0 true", "0.000": "0 true", "1e3": "1000 true", "0.001": "0.001 true", "1e-3": "0.001 true", "10": "10 true", "-5e-1": "-0.5 true", "-0.5E+0": "-0.5 true", "0e5": "0 true", "-0": "-0 true", "5e-324": "5e-324 true", "4e-324": "5e-324 false",
		"9007199254740993": "9.007199254740992e+15 false", "0.1000000000000000055": "0.1 false", "1e-999": "0 false",
		"1e999": "invalid", "-1e999": "invalid", "x": "invalid", "": "invalid", "0x1": "invalid", "Inf": "invalid", "1_0": "invalid",
	} {
		t.Run("ANML-8.11-03/"+acceptIf(want != "invalid")+"-"+text, func(t *testing.T) {
			n, err := ParseNumber(text)
			if want == "invalid" {
				if !errors.Is(err, ErrType) || n != (Number{}) {
					t.Errorf("got %v, %v", n, err)
				}
			} else if got := fmt.Sprint(n.Float, " ", n.Exact); err != nil || got != want || n.Text != text {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

// TestTimes shows which forms of a time the attributes have (section 8.2).
func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T12:00:00Z": "2026-03-01T12:00:00Z true", "2026-03-01T12:00Z": "2026-03-01T12:00:00Z false",
		"2026-03-01T14:00:00+02:00": "2026-03-01T12:00:00Z false", "2026-03-01T12:00:00.5Z": "2026-03-01T12:00:00Z false",
		"2026-03-01T12:00:00,5Z": "", "2026-03-01T5:00:00Z": "", "2026-03-01T5:00Z": "", "2026-03-01T12:0Z": "", "2016-12-31T23:59:60Z": "", "2026-03-01T12:00:00": "", "2026-03-01": "", "": "", "2026-03-01T12:00": "",
	} {
		t.Run("ANML-8.2-05/"+acceptIf(want != "")+"-"+text, func(t *testing.T) {
			at, strict, ok := parseTime(text)
			if got := fmt.Sprint(FormatDateTime(at), " ", strict); ok != (want != "") || ok && got != want {
				t.Errorf("got %s, %t, want %s", got, ok, want)
			}
		})
	}
}

// TestRecognisedFields shows that a host that knows more fields knows no others.
func TestRecognisedFields(t *testing.T) {
	d, err := ParseXML([]byte(service(`<constraints><disclosure field="ssn" requires="none"/><disclosure field="shoe" requires="none"/></constraints>`)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rules := d.Constraints().Rules(func(field string) bool { return field == "ssn" })
	for field, want := range map[string]string{"ssn": "none true ", "shoe": "explicit-consent true unrecognised-field", "email": "explicit-consent false ", "size": "explicit-consent false unrecognised-field"} {
		t.Run("K07/"+acceptIf(strings.HasPrefix(want, "none"))+"-"+field, func(t *testing.T) {
			r := rules.Rule(field)
			if got := fmt.Sprint(r.Requires, " ", r.Declared, " ", r.Raised); got != want || r.Field != field {
				t.Errorf("got %s for %s, want %s", got, r.Field, want)
			}
		})
	}
}

// TestTexts shows what is searched for a value of the user: every text and attribute, also of
// unknown elements, and the words of the draft are not.
func TestTexts(t *testing.T) {
	xml := service(`<x:u xmlns:x="urn:x" x:a="foreign">unknown</x:u><head><title>T</title></head><interact><action id="i" method="POST" endpoint="/e" confirm="true" idempotent="false" auth="none"/></interact><body>be<section id="s" lang="de">in</section>fore</body>`)
	d, err := ParseXML([]byte(xml), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n, text := range d.Texts() {
		got = append(got, n.Element()+" "+text)
	}
	want := []string{"anml 1.0", "u unknown", "u foreign", "title T", "action i", "action /e", "body before", "body be", "section s", "section de", "section in", "body fore"}
	yielded := len(got)
	if i := slices.Index(got, "title T"); slices.Contains(got[i+1:], "title T") {
		t.Errorf("a text is yielded twice: %q", got)
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for stop := range yielded { // a caller may stop at each of them
		n := 0
		for range d.Texts() {
			if n++; n > stop {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("stopped after %d, want %d", n, stop+1)
		}
	}
	j, err := ParseJSON([]byte(`{"anml":"1.0","head":{"title":"T","secret":["one",{"two":3}],"more":"four"}}`), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, text := range j.Texts() {
		got = append(got, text)
	}
	if joined := strings.Join(got, "|"); !strings.Contains(joined, "secret") || !strings.Contains(joined, `"two":3`) || !strings.Contains(joined, `more|"four"`) {
		t.Errorf("unknown keys are not searched: %q", got)
	}
}

// TestConstraintsOfASiteAlone shows that only the site's constraints make its rules.
func TestConstraintsOfASiteAlone(t *testing.T) {
	r := rows{t}
	const none = `<constraints><disclosure field="email" requires="none"/></constraints>`
	rule := func(d *Document) any {
		x := d.Constraints().Rule("email", nil)
		return fmt.Sprint(x.Requires, " ", x.Declared, " ", x.Raised, " ", count(d.Constraints().Disclosures()))
	}
	r.returns("ANML-8.4-01/accept-unknown-elsewhere", `<head xmlns:x="urn:x"><title>T</title><x:y/></head>`+none, "none true  1", rule)
	r.returns("ANML-8.4-01/reject-elsewhere", `<knowledge><disclosure field="email" requires="none"/></knowledge>`, "explicit-consent false  0", rule)
	r.returns("ANML-11.1-10/reject-in-response", strings.Replace(service(none), `"service"`, `"agent-response"`, 1), "explicit-consent false  0", rule)
	r.returns("ANML-8.4-01/accept-unknown-before", `<zzz/>`+none, "none true  1", rule)
	r.returns("ANML-11.4-02/reject-unknown-in-the-second-section", `<head><title>T</title></head><constraints><disclosure field="email" requires="none"/><zzz/></constraints>`, "explicit-consent true unknown-constraint 1", rule)
	r.returns("ANML-11.4-02/accept-as-strict-as-unknown", `<constraints><disclosure field="email" requires="explicit-consent"/><zzz/></constraints>`, "explicit-consent true  1", rule)
	r.returns("ANML-11.4-02/accept-stricter-than-unknown", `<constraints><disclosure field="email" requires="authentication"/><zzz/></constraints>`, "authentication true  1", rule)
	r.returns("ANML-8.4-01/accept-two", none+`<constraints><disclosure field="email" requires="authentication"/></constraints>`, "authentication true  2", rule)
}

// TestNodes shows where an element is and which one it is.
func TestNodes(t *testing.T) {
	d, err := ParseXML([]byte("<anml xmlns=\""+Namespace+"\">\n <head/><body/></anml>"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := d.Body().Position(); p.Path != "/anml/body" || p.Line != 2 || p.Column != 9 || p.Offset != 55 {
		t.Errorf("%+v", p)
	}
	if p := d.Footer().Position(); p != (lookleap.Position{}) {
		t.Errorf("an absent element is at %+v", p)
	}
	if body := d.Body().Node; !body.Same(d.Body().Node) || body.Same(d.Head().Node) || body.Same(Node{}) {
		t.Error("another element is the same")
	}
}

// TestOneVocabulary: the type of an ask, a field and a param has the same names and the same check.
func TestOneVocabulary(t *testing.T) {
	doc := func(t *testing.T, sections string) *Document {
		d, err := ParseXML([]byte(service(sections)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	check := map[string]func(t *testing.T, typ, value string) (Type, error){
		"ask": func(t *testing.T, typ, value string) (Type, error) {
			site := doc(t, `<interact><action id="a" endpoint="/"/></interact><knowledge><ask field="f" type="`+typ+`" action="a" purpose="p"/></knowledge>`).Site
			_, err := ReadAgentResponse(site, "a", MediaTypeXML, []byte(response(`<answer field="f" value="`+value+`"/>`)), time.Now())
			if err != nil && lookleap.CodeOf(err) != CodeResponseValue {
				t.Error(err)
			}
			return first(site.Knowledge().Asks()).Type(), err
		},
		"field": func(t *testing.T, typ, value string) (Type, error) {
			f := first(first(first(doc(t, `<body><data><item><field name="f" type="`+typ+`">`+value+`</field></item></data></body>`).Body().Data()).Items()).Fields())
			return f.Type(), f.Check()
		},
		"param": func(t *testing.T, typ, value string) (Type, error) {
			p := first(first(doc(t, `<interact><action id="a" method="POST" endpoint="/"><param name="p" type="`+typ+`"/></action></interact>`).Interact().Actions()).Params())
			return p.Type(), p.Check(value)
		},
	}
	for name, c := range map[string]struct {
		typ       Type
		good, bad string
	}{
		"string": {TypeString, " x ", ""}, "number": {TypeNumber, "-1.5e3", "1,5"}, "boolean": {TypeBoolean, "false", "FALSE"}, "date": {TypeDate, "2024-02-29", "2026-02-29"},
		"datetime": {TypeDateTime, "2026-07-14T09:00:00Z", "2026-07-14T09:00:00+00:00"}, "uri": {TypeURI, "urn:x:y", "/x"},
	} {
		for place, f := range check {
			t.Run("ANML-8.11-01/accept-"+name+"-of-"+place, func(t *testing.T) {
				if typ, err := f(t, name, c.good); typ != c.typ || typ.String() != name || err != nil {
					t.Errorf("%s: %v", typ, err)
				}
			})
			if c.bad == "" {
				continue
			}
			t.Run("ANML-8.11-01/reject-"+name+"-of-"+place, func(t *testing.T) {
				if typ, err := f(t, name, c.bad); typ != c.typ || err == nil {
					t.Errorf("%s has the value %q", typ, c.bad)
				}
			})
		}
	}
}
