package anml

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// A service chooses the patterns that its parameters are checked with, so it must
// not choose what checking costs.
func TestPatternsCost(t *testing.T) {
	param := func(pattern string) Param {
		d, err := ParseXML([]byte(`<anml xmlns="`+Namespace+`" role="service"><interact><action id="a" method="POST" endpoint="/a"><param name="p" pattern="`+pattern+`"/></action></interact></anml>`), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return first(first(d.Interact().Actions()).Params())
	}
	t.Run("O01", func(t *testing.T) {
		for _, c := range []struct{ pattern, fits, not string }{
			{`[0-9]{3}-[0-9]{4}`, "555-1234", "555-12345"},
			{`(?:\+\d{1,3}-)?\d{3}-\d{4}-\d{4}`, "+44-555-1234-5678", "44"},
			{`(?i)[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,63}`, "Ada@Example.com", "Ada"},
			{`[\p{L}\p{M}' -]{1,100}`, "Zoë d'Arc", "4"},
			{`(?i)stra(ß|ss)e`, "STRASSE", "street"},
			{`.{1,1000}`, strings.Repeat("x", 1000), strings.Repeat("x", 1001)},
			{`[a-z]{1,1000}`, "a", strings.Repeat("x", maxValue)}, // beyond what is tried
			{`(?:[A-Za-z0-9+/]{4}){0,200}`, strings.Repeat("abcd", 200), strings.Repeat("abcd", 201)},
			{`[a-z]*`, strings.Repeat("x", maxValue), "X"},
			{`(?:[a-z]{1,900})*`, "x", strings.Repeat("x", maxValue)}, // matches, at too high a cost
			{strings.Repeat("a", maxPattern), strings.Repeat("a", maxPattern), "a"},
		} {
			t.Run("accept-"+c.pattern, func(t *testing.T) {
				if err := param(c.pattern).Check(c.fits); err != nil {
					t.Error(err)
				}
			})
			t.Run("reject-"+c.pattern, func(t *testing.T) {
				if err := param(c.pattern).Check(c.not); !errors.Is(err, ErrParamInvalid) {
					t.Error(err)
				}
			})
		}
		for _, pattern := range []string{
			strings.Repeat("a", maxPattern+1), strings.Repeat("a{1000}", 140), strings.Repeat(`\pL`, 300), "[" + strings.Repeat(`\PL`, 300) + "]",
			strings.Repeat(`(?i)[\x{80}-\x{10ffff}]`, 3), strings.Repeat("(?i:[é-ﷺ])", 40), strings.Repeat("(a?){1000}", 90),
		} {
			t.Run("accept-anything-for-"+pattern[:6], func(t *testing.T) {
				if p := param(pattern); p.Check("?") != nil || p.n.flags()&unchecked == 0 || len(p.d.Findings()) == 0 {
					t.Error("it is checked", p.Check("?"), p.d.Findings())
				}
			})
		}
		for pattern, checked := range map[string]bool{ // only the flag i makes a range cost more
			`(?P<i>[é-ü])(?P<ii>[é-ü])(?P<iii>[é-ü])`: true, `(?s)[é-ü][é-ü][é-ü]`: true, `(?:[é-ü])(i)[é-ü][é-ü]`: true, `(?i)[a-c][a-c][a-c]`: true,
			`(?i)[é-ü][é-ü][é-ü]`: false, `(?si)[é-ü][é-ü][é-ü]`: false, `(?i:[é-ü])[é-ü][é-ü]`: false, `(?:x)(?i)[\x{e9}-\x{fc}][b-c][d-e]`: false,
		} {
			t.Run("cost-of-"+pattern, func(t *testing.T) {
				if p := param(strings.ReplaceAll(pattern, "<", "&lt;")); (p.n.flags()&unchecked == 0) != checked || (p.Check("?") != nil) != checked {
					t.Errorf("checked: %t, %v", !checked, p.Check("?"))
				}
			})
		}
		t.Run("accept-anything-beyond-a-documents-share", func(t *testing.T) {
			var b strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&b, `<param name="p%d" pattern="((a{10}){10}){9}%d"/>`, i, i)
			}
			d, err := ParseXML([]byte(`<anml xmlns="`+Namespace+`" role="service"><interact><action id="a" method="POST" endpoint="/a">`+b.String()+`</action></interact></anml>`), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checked, weight := 0, 0
			for p := range first(d.Interact().Actions()).Params() {
				if p.n.flags()&unchecked == 0 {
					checked++
					weight += parseCost(p.Pattern()) + 900*costInstr
				}
			}
			if budget := patternBase + patternByte*len(d.tree.src); checked == 0 || checked == 2000 || weight > budget {
				t.Errorf("%d checked, which weigh %d of %d", checked, weight, budget)
			}
		})
	})
}

// TestPatternBudget shows what the pattern of a parameter costs, and what becomes of one that
// costs more than what is left.
func TestPatternBudget(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 240, `\pL\PL`: 140480, "(?i)[é-ü]": 4000880, "(?mi)[a-\u0080]": 4000880, "(?i)[a-b]": 720, "(?i)[\x7e-\x7f]": 720,
		`(?i)[\x41-b]`: 4000960, "(?s)[é-ü]": 880, "(?i)é-ü-": 8000800,
	} {
		if got := parseCost(text); got != want {
			t.Errorf("parsing %q costs %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"abc": 3, "a{2,5}": 10, "a{3}": 8, "a{3,}": 8, "(a|bc)": 5, "": 1, "[a-z]*": 2} {
		re, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := sizeOf(re); got != want {
			t.Errorf("%q has the size %d, want %d", text, got, want)
		}
	}
	huge := &syntax.Regexp{Op: syntax.OpRepeat, Max: 1 << 25, Sub: []*syntax.Regexp{{Op: syntax.OpAnyChar}}}
	if got := sizeOf(huge); got != 1<<24 {
		t.Errorf("a huge expression has the size %d", got)
	}
	for _, c := range []struct {
		pattern, def string
		budget, left int64
		found        string // in the finding, "" for none
		checked      bool
	}{
		{"abc", "", 2040, 0, "", true},
		{"abc", "", 2039, 1799, "costs too much", false},
		{"abc", "", 240, 0, "costs too much", false},
		{"abc", "", 239, 239, "is not checked here", false},
		{"abc", "xy", 2076, 0, "", true},
		{"abc", "xy", 2075, 1835, "costs too much", false},
		{"(", "", 1000, 920, "is not checked here", false},
		{strings.Repeat("a", 1000), "", 1 << 20, 1<<20 - 80_000 - 1003*300, "", true},
		{strings.Repeat("a", 1001), "", 1 << 20, 1 << 20, "is not checked here", false},
		{"", "", 7, 7, "", true},
		{"(?m)^a$", "", 1 << 20, 1<<20 - 560 - 6*300, "JSON Schema", true},
	} {
		d, err := ParseXML([]byte(service(`<interact><action id="a" method="GET" endpoint="/"><param name="p" pattern="`+c.pattern+`" default="`+c.def+`"/></action></interact>`)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p := first(first(d.Interact().Actions()).Params())
		p.n.t.notes[p.n.e] = note{kind: kParam}
		e := examination{reader: newReader(XML, ReadOptions{}), patterns: c.budget}
		e.checkPattern(p)
		message := ""
		for _, f := range e.list {
			message += f.message
		}
		if e.patterns != c.left || (message == "") != (c.found == "") || !strings.Contains(message, c.found) || (p.n.flags()&unchecked == 0) != c.checked ||
			strings.Contains(message, "costs") != strings.Contains(c.found, "costs") {
			t.Errorf("%.9q with %d: %d left, want %d, found %q", c.pattern, c.budget, e.patterns, c.left, message)
		}
	}
	// All patterns together may cost 10,000,000 and 50 for each byte of the document. This one has
	// 125 bytes and 34,017 instructions, so that it costs 1 more than a multiple of 50.
	pattern := strings.Repeat("x{999}", 17) + strings.Repeat("[ab]", 3) + strings.Repeat("y", 11)
	const cost = 125*80 + 34_017*303
	text := service(`<interact><action id="a" method="GET" endpoint="/"><param name="p" pattern="` + pattern + `" default="x"/></action></interact>`)
	for size, checked := range map[int]bool{(cost - 1 - 10_000_000) / 50: false, (cost-1-10_000_000)/50 + 1: true} {
		d, err := ParseXML([]byte(text+strings.Repeat(" ", size-len(text))), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if p := first(first(d.Interact().Actions()).Params()); (p.n.flags()&unchecked == 0) != checked {
			t.Errorf("%d bytes for a cost of %d: checked %t", size, cost, !checked)
		}
	}
}

// TestSchemaPatterns holds the patterns of schemas to those of the document.
func TestSchemaPatterns(t *testing.T) {
	values := []string{
		"", "a", "A", "k", "\u212a", "é", "É", "ß", "1", "-", "a-b", "a\nb", "a\rb", "\u2028", "\u00a0", "\U0001f600", "[", "]", "^", "$", "\\", "/", "ab", "aa", "AB", "word word", "z\n",
	}
	for _, c := range []struct{ pattern, want string }{
		{`[0-9]{3}`, `^(?:[0-9]{3})$`},
		{`[0-9]{2,5}b{1,}`, `^(?:[0-9]{2,5}b{1,})$`},
		{`a\.b|c`, `^(?:a\.b|c)$`},
		{`[\w\-\]\^]+`, `^(?:[\w\-\]\^]+)$`},
		{`^a$`, `^(?:^a$)$`},
		{`a+?|b*?`, `^(?:a+?|b*?)$`},
		{`.`, `^(?:[^\n])$`},
		{`[^a]`, `^(?:[^a])$`},
		{`\/\$`, `^(?:\/\$)$`},
		{`(x)(?:ab|cd)y`, `^(?:(x)(?:ab|cd)y)$`},
		{`\bword\b`, `^(?:\bword\b)$`},
		{`a\Bb`, `^(?:a\Bb)$`},
		{`a|`, `^(?:a|)$`},
		{`é+[à-ÿ]`, `^(?:é+[à-ÿ])$`},
		{`\s`, `^(?:[\t\n\f\r ])$`},
		{`[\s-]`, `^(?:[\t\n\f\r -])$`},
		{`[-+]?\d+`, `^(?:[-+]?\d+)$`},
		{`[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}`, `^(?:[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,})$`},
		{`(?i)k`, "-"},
		{`a\-b`, "-"},
		{`[[:alpha:]]`, "-"},
		{`[]a]`, "-"},
		{`[\S]`, "-"},
		{`\x{41}`, "-"},
		{`\Aa\z`, "-"},
		{`\Qa.b\E`, "-"},
		{`(?P<name>a)`, "-"},
		{`(?s).`, "-"},
		{`(?m)^a$`, "-"},
		{`a]`, "-"},
		{`a{,2}`, "-"},
		{`^*a`, "-"},
		{`\b?a`, "-"},
		{`\pL`, "-"},
		{"a\x01", "-"},
	} {
		translated, ok := schemaPattern(c.pattern)
		switch c.want {
		case "-":
			t.Run("O07/reject-"+c.pattern, func(t *testing.T) {
				if ok {
					t.Errorf("translated to %s", translated)
				}
			})
			continue
		default:
			t.Run("O07/accept-form-"+c.pattern, func(t *testing.T) {
				if translated != c.want || !ok {
					t.Errorf("got %s, want %s", translated, c.want)
				}
			})
		}
		t.Run("O07/accept-same-"+c.pattern, func(t *testing.T) {
			back, err := regexp.Compile(translated)
			if err != nil || !ok {
				t.Fatal(translated, err)
			}
			original := regexp.MustCompile(anchored(c.pattern))
			for _, value := range values {
				if back.MatchString(value) != original.MatchString(value) {
					t.Errorf("%s and %s differ for %q", c.pattern, translated, value)
				}
			}
		})
	}
}

// TestSchemasOfBadParameters reads documents whose authors made mistakes.
func TestSchemasOfBadParameters(t *testing.T) {
	parse := func(t *testing.T, params string) *Document {
		t.Helper()
		d, err := ParseXML([]byte(service(`<interact><action id="a" method="POST" endpoint="/a">`+params+`</action></interact>`)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	t.Run("O07/reject-required-enum-without-options", func(t *testing.T) {
		d := parse(t, `<param name="p" type="enum" required="true"/>`)
		for range d.Tools(JSONSchema) {
			t.Error("an action that cannot be called is offered")
		}
	})
	for dialect, name := range map[Dialect]string{JSONSchema: "schema", StrictSchema: "strict"} {
		t.Run("O07/accept-optional-enum-without-options-"+name, func(t *testing.T) {
			tool := first(parse(t, `<param name="p" type="enum"/><param name="q"/>`).Tools(dialect))
			if schema := string(tool.InputSchema); !json.Valid(tool.InputSchema) || strings.Contains(schema, `"p"`) || !strings.Contains(schema, `"q"`) || strings.Contains(schema, `"enum"`) {
				t.Error(schema)
			}
			if _, err := tool.Action.ArgsJSON([]byte(`{"p":"x"}`)); !errors.Is(err, ErrParamInvalid) {
				t.Error(err)
			}
			if _, err := tool.Action.ArgsJSON([]byte(`{"q":"x"}`)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("O07/accept-option-once", func(t *testing.T) {
		tool := first(parse(t, `<param name="p" type="enum"><option value="x"/><option value="x"/><option value="y"/></param>`).Tools(JSONSchema))
		if schema := string(tool.InputSchema); !strings.Contains(schema, `"enum":["x","y"]`) {
			t.Error(schema)
		}
	})
	for _, param := range []string{
		`<param name="p" type="number" default="many"/>`, `<param name="p" type="number" min="1" default="0"/>`, `<param name="p" type="enum" default="z"><option value="x"/></param>`,
		`<param name="p" pattern="[0-9]" default="x"/>`, `<param name="p" type="boolean" default="yes"/>`,
	} {
		t.Run("O07/reject-default-"+param, func(t *testing.T) {
			if schema := string(first(parse(t, param).Tools(JSONSchema)).InputSchema); strings.Contains(schema, "default") {
				t.Error(schema)
			}
		})
	}
	t.Run("O07/accept-finding", func(t *testing.T) {
		if d := parse(t, `<param name="p" pattern="(?m)^a$"/>`); !d.hasFinding(codePattern) {
			t.Error(d.Findings())
		}
	})
	t.Run("O07/accept-without-finding", func(t *testing.T) {
		if d := parse(t, `<param name="p" pattern="[a-z]+\.\d{2}"/>`); d.hasFinding(codePattern) {
			t.Error(d.Findings())
		}
	})
}

func (d *Document) hasFinding(code lookleap.Code) bool {
	for _, f := range d.Findings() {
		if f.Code == code {
			return true
		}
	}
	return false
}
