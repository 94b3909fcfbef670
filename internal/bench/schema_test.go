package bench

import (
	"encoding/json"
	"fmt"
	"html"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lookleap/lookleap/anml"
)

// anyPattern lets a validator take every pattern: what patterns mean is for Node
// to say, whose regular expressions are those of the standard.
type anyPattern string

func (p anyPattern) MatchString(string) bool { return true }
func (p anyPattern) String() string          { return string(p) }

// TestSchemas compiles the schemas of tools with a validator of JSON Schema
// 2020-12, and runs their patterns in Node.
func TestSchemas(t *testing.T) {
	patterns := []string{
		`k`, `straße`, `[\w\-]+`, `[a-zA-Z]{2,}`, `\x41+`, `^a$`, `a\.b`, `(a)+?`, `.`, `.*\n`, `[^a-z]`, `[\s]`, `[^\s]`, `\s*`, `\bab\b`, `a\/b`, `a/b`, "[\U0001f600-\U0001f64f]+",
		`\D`, `\W`, `[\d_-]`, `(a|b(c|d)*)+`, `(?:ab|a)c?`, `(|a)b`, `a|`, `(a*)*`, `[\]\[\^\\-]`, `[-a]`, `[a-]`, `[^-]`, `[$.*+?(){}|/]`, `\$|\^`, `é|É`, `[à-ÿ]`, `\bé`, `a\Bb`, `a{0,3}`, `b{2}?`,
		`[a-fA-F0-9]{2}`, `[\x00-\x1f]`, `\t|\r`, `\xe9`, `"?'?`,
		// Left out of schemas.
		`(?i)k`, `(?m)^a$`, `\pL`, `\S`, `[[:alpha:]]`, `\C`,
	}
	values := []string{
		"", "a", "A", "k", "K", "\u212a", "ab", "abc", "aBc", "a.b", "axb", "a/b", "a-b", "é", "É", "straße", "STRASSE", "STRAẞE", "1", "12", "\n", "a\n", "\r", "\u2028", "\u00a0", "\t", " ", "-", "]", "[", "^", `\`, "$",
		"\U0001f600", "😀😀", "α", "bcd", "\a", "\x7f", "bb", "aaa", "ff", "Ff",
	}
	var params strings.Builder
	for i, p := range patterns {
		fmt.Fprintf(&params, `<param name="p%d" pattern="%s"/>`, i, html.EscapeString(p))
	}
	params.WriteString(`<param name="n" type="number" min="1" max="5" default="2"/><param name="d" type="date"/><param name="dt" type="datetime"/><param name="u" type="uri"/>` +
		`<param name="b" type="boolean" default="true"/><param name="e" type="enum"><option value="x"/><option value="x"/></param><param name="none" type="enum"/><param name="s" min="1" max="3"/>`)
	doc, err := anml.ParseXML([]byte(`<anml xmlns="`+anml.Namespace+`" role="service"><interact><action id="a" method="POST" endpoint="/a">`+params.String()+`</action></interact></anml>`), anml.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for dialect, name := range map[anml.Dialect]string{anml.JSONSchema: "schema", anml.StrictSchema: "strict"} {
		t.Run("O07/accept-"+name, func(t *testing.T) {
			for tool := range doc.Tools(dialect) {
				schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.InputSchema)))
				if err != nil {
					t.Fatal(err)
				}
				c := jsonschema.NewCompiler()
				c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) { return anyPattern(s), nil })
				c.DefaultDraft(jsonschema.Draft2020)
				if err := c.AddResource("schema.json", schema); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Compile("schema.json"); err != nil {
					t.Errorf("%v\n%s", err, tool.InputSchema)
				}
			}
		})
	}
	t.Run("O07/accept-same-patterns-as-node", func(t *testing.T) {
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip("node is not installed")
		}
		var schema struct {
			Properties map[string]struct{ Pattern string }
		}
		var action anml.Action
		for tool := range doc.Tools(anml.JSONSchema) {
			action = tool.Action
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
		}
		input, err := json.Marshal(map[string]any{"values": values, "properties": schema.Properties})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", "-e", `
			const {values, properties} = JSON.parse(require('fs').readFileSync(0));
			const out = {};
			for (const [name, {Pattern}] of Object.entries(properties))
				if (Pattern) out[name] = values.map(v => new RegExp(Pattern, 'u').test(v));
			console.log(JSON.stringify(out));`)
		cmd.Stdin = strings.NewReader(string(input))
		output, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var matches map[string][]bool
		if err := json.Unmarshal(output, &matches); err != nil {
			t.Fatal(err)
		}
		for p := range action.Params() {
			for i, matched := range matches[p.Name()] {
				if (p.Check(values[i]) == nil) != matched {
					t.Errorf("%q, written %s: Node says %v of %q", p.Pattern(), schema.Properties[p.Name()].Pattern, matched, values[i])
				}
			}
		}
		if len(matches) < len(patterns)-6 {
			t.Errorf("only %d of %d patterns are in the schema", len(matches), len(patterns))
		}
	})
}
