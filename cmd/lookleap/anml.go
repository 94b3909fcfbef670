package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func anmlCommand(flags *flag.FlagSet) action {
	var o anmlOptions
	flags.StringVar(&o.mediaType, "type", "", "the media `TYPE` of the documents")
	flags.StringVar(&o.role, "role", "", "the `ROLE` that the exchange implies: service or agent-response")
	flags.StringVar(&o.to, "to", "", "also give the document in this `FORM`: xml, json, text, tools or mermaid")
	flags.BoolVar(&o.lint, "lint", false, "refuse documents with errors among their findings")
	return func(ctx context.Context, s *session, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return s.files(ctx, args, func(content []byte) result { return judgeANML(content, o) })
	}
}

type anmlOptions struct {
	mediaType, role, to string
	lint                bool
}

func (o *anmlOptions) check() error {
	if _, ok := anmlRoles[o.role]; !ok {
		return usagef("--role %q is neither service nor agent-response", o.role)
	}
	if _, ok := anmlForms[o.to]; !ok {
		return usagef("--to %q is none of xml, json, text, tools and mermaid", o.to)
	}
	return nil
}

var anmlRoles = map[string]anml.Role{
	"": anml.RoleUnspecified, "service": anml.RoleService, "agent-response": anml.RoleAgentResponse,
}

// anmlForms are what --to can ask for; each returns a JSON value.
var anmlForms = map[string]func(*anml.Document) (any, error){
	"":     func(*anml.Document) (any, error) { return nil, nil },
	"xml":  func(d *anml.Document) (any, error) { return written(anml.MarshalXML, d) },
	"json": func(d *anml.Document) (any, error) { return written(anml.MarshalJSON, d) },
	"text": func(d *anml.Document) (any, error) { return d.Text(anml.TextOptions{}), nil },
	"tools": func(d *anml.Document) (any, error) {
		tools := []anmlTool{}
		for tool := range d.Tools(anml.JSONSchema) {
			tools = append(tools, anmlTool{tool.Name, tool.Description, tool.InputSchema})
		}
		return tools, nil
	},
	"mermaid": func(d *anml.Document) (any, error) {
		var charts []string
		for site := range d.Containers() {
			if chart := site.State().Flow().Mermaid(); chart != "" {
				charts = append(charts, chart)
			}
		}
		return strings.Join(charts, "\n"), nil
	},
}

func written(marshal func(*anml.Document, anml.WriteOptions) ([]byte, error), d *anml.Document) (string, error) {
	text, err := marshal(d, anml.WriteOptions{Indent: "  ", Verbatim: true})
	return string(text), err
}

type anmlTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

type anmlValue struct {
	Format  string         `json:"format"`
	Version string         `json:"version"`
	Role    string         `json:"role"`
	Sites   []anmlSite     `json:"sites"`
	Counts  map[string]int `json:"counts"`
	Output  any            `json:"output"`
}

type anmlSite struct {
	Domain  string `json:"domain"`
	Title   string `json:"title"`
	Actions int    `json:"actions"`
	Asks    int    `json:"asks"`
	Informs int    `json:"informs"`
}

// judgeANML accepts a document that may be processed.
func judgeANML(content []byte, o anmlOptions) result {
	doc, err := parseANML(content, o)
	if err != nil {
		return refuse(err)
	}
	value := anmlValue{Format: doc.Format().String(), Version: doc.Version(), Role: doc.Role().String(), Counts: map[string]int{}}
	r := accept(nil, row{"format", value.Format}, row{"version", value.Version}, row{"role", value.Role})
	for site := range doc.Containers() {
		s := anmlSite{site.Domain(), site.Head().Title(), length(site.Interact().Actions()), length(site.Knowledge().Asks()),
			length(site.Knowledge().Informs())}
		value.Sites = append(value.Sites, s)
		r.row("site", fmt.Sprintf("%s %s, %s, %s", plaintext.Quote(s.Title, 60), plaintext.Plural(s.Actions, "action", "actions"),
			plaintext.Plural(s.Asks, "ask", "asks"), plaintext.Plural(s.Informs, "inform", "informs")))
	}
	r.Findings = doc.Findings()
	if o.lint {
		r.Findings = anml.Lint(doc)
	}
	for _, f := range r.Findings {
		value.Counts[f.Severity.String()]++
	}
	if value.Output, err = anmlForms[o.to](doc); err != nil {
		return refuse(err)
	}
	switch output := value.Output.(type) {
	case string:
		r.rows = append(r.rows, linesOf(output)...)
	case []anmlTool:
		for _, tool := range output {
			r.row("tool", tool.Name)
			r.row("", tool.Description)
			r.row("", string(tool.InputSchema))
		}
	}
	if n := value.Counts["error"]; o.lint && n > 0 {
		r.OK, r.Code, r.Message = false, lookleap.Code(anml.CodeLint), plaintext.Plural(n, "finding is an error", "findings are errors")
	}
	r.Value = value
	return r
}

func length[T any](all iter.Seq[T]) (n int) {
	for range all {
		n++
	}
	return n
}

// parseANML reads by the media type or, without one, by the first character.
func parseANML(content []byte, o anmlOptions) (*anml.Document, error) {
	read := anml.ReadOptions{Role: anmlRoles[o.role]}
	switch {
	case o.mediaType != "":
		return anml.Parse(o.mediaType, content, read)
	case strings.HasPrefix(strings.TrimLeft(string(content[:min(len(content), 1024)]), " \t\r\n\ufeff"), "{"):
		return anml.ParseJSON(content, read)
	}
	return anml.ParseXML(content, read)
}
