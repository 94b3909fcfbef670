package anml

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// toolOf reads a document with one action that has these parameters.
func toolOf(t *testing.T, params string) (*Document, Tool) {
	t.Helper()
	d, err := ParseXML([]byte(service(`<interact><action id="a" method="POST" endpoint="/a" confirm="false">`+params+`</action></interact>`)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d, first(d.Tools(JSONSchema))
}

// found returns how many findings with a severity at least that of a warning a document has.
func found(d *Document, text string) (n int) {
	for _, f := range d.Findings() {
		if f.Severity != lookleap.SeverityInfo && strings.Contains(f.Message, text) {
			n++
		}
	}
	return n
}

// TestToolRows has the cases of what a service can write that ends a framework or costs too much.
func TestToolRows(t *testing.T) {
	t.Run("P19", func(t *testing.T) {
		t.Run("reject-work-on-rejected-patterns", func(t *testing.T) {
			allocs := func(pattern string) float64 {
				var b strings.Builder
				for i := range 600 {
					fmt.Fprintf(&b, `<param name="p%d" pattern="%s"/>`, i, pattern)
				}
				d, tool := toolOf(t, b.String())
				rejected := 0
				for p := range tool.Action.Params() {
					if p.n.flags()&unchecked != 0 {
						rejected++
					}
				}
				if pattern != "" && rejected < 590 {
					t.Fatalf("%d patterns are rejected, %d findings", rejected, len(d.Findings()))
				}
				return testing.AllocsPerRun(1, func() { tool.Action.InputSchema(JSONSchema) })
			}
			// A rejected pattern costs as little as none.
			if none, some := allocs(""), allocs(`(?i)[\x{80}-\x{ffff}]`); some > none+600 {
				t.Errorf("%v allocations, %v without patterns", some, none)
			}
		})
	})

	t.Run("P30", func(t *testing.T) {
		for name, pattern := range map[string]string{
			"space": `\s`, "tab": `\t`, "no-tab": `[^\t]`, "control": `[\x00-\x1f]+`, "no-break-space": `\xa0`, "line-separator": "\u2028",
			"beyond-the-first-plane": "[\U0001f600-\U0001f64f]", "slash": `a/b`, "class": `[\w.-]+@[\w.-]+`, "last": "[a-\U0010ffff]",
		} {
			t.Run("accept-pattern-"+name, func(t *testing.T) {
				text := strings.ReplaceAll(pattern, "&", "&amp;")
				_, tool := toolOf(t, `<param name="p" pattern="`+text+`"/>`)
				var schema struct {
					Properties map[string]struct{ Pattern string }
				}
				if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
					t.Fatal(err)
				}
				got := schema.Properties["p"].Pattern
				again, err := regexp.Compile(got)
				if err != nil || got == "" {
					t.Fatalf("%q: %v", got, err)
				}
				want := regexp.MustCompile(anchored(pattern))
				for _, value := range []string{"", " ", "\t", "a", "\n", "\u00a0", "\u2028", "\U0001f600", "a/b", "a.b@c-d", "\x01", "α", "~"} {
					if again.MatchString(value) != want.MatchString(value) {
						t.Errorf("%q and %q differ about %q", got, pattern, value)
					}
				}
			})
		}
		for name, pattern := range map[string]string{"pattern-number": `\x{a0}`, "pattern-letters": `\p{Greek}`, "half-of-a-pair": `[\x{d800}-\x{d900}]`} {
			t.Run("accept-"+name, func(t *testing.T) {
				d, tool := toolOf(t, `<param name="p" pattern="`+pattern+`"/>`)
				if schema := string(tool.Action.InputSchema(JSONSchema)); strings.Contains(schema, `"pattern"`) || !d.hasFinding(codePattern) {
					t.Errorf("%s, with %v", schema, d.Findings())
				}
			})
		}
		keys := map[string]string{
			"filter[id]": "filter_5bid_5d", "from city": "from_20city", "größe": "gr_c3_b6_c3_9fe", "plain_name.x-1": "plain_name.x-1", "filter_5bid_5d": "filter_5bid_5d",
			strings.Repeat("a", 65): ToolName("", strings.Repeat("a", 65)),
		}
		for name, want := range keys {
			t.Run("accept-key-"+name[:min(len(name), 20)], func(t *testing.T) {
				_, tool := toolOf(t, `<param name="`+name+`" required="true"/>`)
				for _, dialect := range []Dialect{JSONSchema, StrictSchema} {
					var schema struct {
						Properties map[string]struct{ Description string }
						Required   []string
					}
					if err := json.Unmarshal(tool.Action.InputSchema(dialect), &schema); err != nil {
						t.Fatal(err)
					}
					p, ok := schema.Properties[want]
					if !ok || len(schema.Required) != 1 || schema.Required[0] != want || (name != want) != strings.Contains(p.Description, "The service calls it") {
						t.Errorf("%+v", schema)
					}
				}
				for _, key := range []string{want, name} {
					text, _ := json.Marshal(map[string]string{key: "v"})
					if args, err := tool.Action.ArgsJSON(text); err != nil || len(args) != 1 || args[0].Name != name {
						t.Errorf("%+v, %v", args, err)
					}
				}
			})
		}
		t.Run("accept-key-that-another-name-has", func(t *testing.T) {
			_, tool := toolOf(t, `<param name="a b"/><param name="a_20b"/><param name="a b "/>`)
			var schema struct{ Properties map[string]any }
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || len(schema.Properties) != 3 {
				t.Fatalf("%s, %v", tool.InputSchema, err)
			}
			values := map[string]string{}
			for key := range schema.Properties {
				values[key] = key
			}
			text, _ := json.Marshal(values)
			args, err := tool.Action.ArgsJSON(text)
			if err != nil || len(args) != 3 || args[1].Name != "a_20b" || args[1].Value != "a_20b" {
				t.Errorf("%+v, %v", args, err)
			}
		})
		t.Run("reject-name-and-key", func(t *testing.T) {
			_, tool := toolOf(t, `<param name="a b"/>`)
			if args, err := tool.Action.ArgsJSON([]byte(`{"a b":"1","a_20b":"2"}`)); lookleap.CodeOf(err) != CodeParamInvalid {
				t.Errorf("%+v, %v", args, err)
			}
		})
	})

	t.Run("P31", func(t *testing.T) {
		for name, param := range map[string]string{
			"date":    `name="p" type="date" default="today"`,
			"number":  `name="p" type="number" default="many"`,
			"bounds":  `name="p" type="number" min="3" max="1" default="2"`,
			"pattern": `name="p" pattern="[0-9]+" default="none"`,
			"length":  `name="p" min="3" default="ab"`,
		} {
			t.Run("reject-default-"+name, func(t *testing.T) {
				d, tool := toolOf(t, `<param `+param+`/>`)
				if found(d, "is not used") != 1 {
					t.Errorf("findings: %+v", d.Findings())
				}
				if args, err := tool.Action.ArgsJSON([]byte(`{}`)); err != nil || len(args) != 0 {
					t.Errorf("%+v, %v", args, err)
				}
				for _, dialect := range []Dialect{JSONSchema, StrictSchema} {
					if schema := string(tool.Action.InputSchema(dialect)); strings.Contains(schema, "default") {
						t.Error(schema)
					}
				}
				_, tool = toolOf(t, `<param required="true" `+param+`/>`)
				if _, err := tool.Action.ArgsJSON([]byte(`{}`)); lookleap.CodeOf(err) != CodeParamMissing || !strings.Contains(string(tool.InputSchema), `"required":["p"]`) {
					t.Errorf("%v, %s", err, tool.InputSchema)
				}
			})
		}
		t.Run("accept-default", func(t *testing.T) {
			d, tool := toolOf(t, `<param name="p" type="date" default="2026-05-01" required="true"/>`)
			args, err := tool.Action.ArgsJSON([]byte(`{}`))
			if err != nil || len(args) != 1 || args[0].Value != "2026-05-01" || found(d, "default") != 0 {
				t.Errorf("%+v, %v, %+v", args, err, d.Findings())
			}
		})
		for name, bounds := range map[string]string{"number": `type="number" min="3" max="1"`, "date": `type="date" min="2026-02-01" max="2026-01-01"`, "length": `min="3" max="1"`} {
			t.Run("reject-bounds-"+name, func(t *testing.T) {
				if d, _ := toolOf(t, `<param name="p" `+bounds+`/>`); found(d, "no value is at least") != 1 {
					t.Errorf("findings: %+v", d.Findings())
				}
			})
		}
		for name, bounds := range map[string]string{"equal": `type="number" min="3" max="3"`, "one": `type="number" min="3"`, "of-text": `min="3" max="10"`} {
			t.Run("accept-bounds-"+name, func(t *testing.T) {
				if d, _ := toolOf(t, `<param name="p" `+bounds+`/>`); found(d, "no value is at least") != 0 {
					t.Errorf("findings: %+v", d.Findings())
				}
			})
		}
	})
}
