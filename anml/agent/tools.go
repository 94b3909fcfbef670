package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Tool describes an action for a tool-calling runtime (sections 9.3 and 11.1).
type Tool struct {
	Name        string          // 1 to 64 of A-Z a-z 0-9 _ -
	Description string          // our words, with the service's in quotes
	InputSchema json.RawMessage // a JSON Schema
	Site        string          // for a [Call] of the action by other means: the domain of its site
	Action      string          // and its id
	strict      json.RawMessage // the schema for strict function calling
	page        *Page
	site        anml.Site
	action      anml.Action
}

// Call runs the tool through [Page.Do] with the arguments of a model. Render the result
// with [CallResult.Text] or [CallResult.Data], and the error with [ErrorText] or [Advise],
// before a model reads them.
func (t Tool) Call(ctx context.Context, args json.RawMessage) (*CallResult, error) {
	if t.page == nil {
		return nil, missing("the tool belongs to no page", "take it from Page.Tools")
	}
	c := Call{Site: t.site.Domain(), Action: t.action.ID()}
	if !emptyArgs(args) {
		c.ArgsJSON = args
	}
	return t.page.Do(ctx, c)
}

// noArguments is the schema of a tool whose action answers asks: the values come from
// the user's profile, never from a model.
const noArguments = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"required":[],"additionalProperties":false}`

// emptyArgs reports whether a model passed no arguments: nothing, null or {}.
func emptyArgs(args json.RawMessage) bool {
	var text bytes.Buffer
	if json.Compact(&text, args) != nil {
		return len(bytes.TrimSpace(args)) == 0
	}
	return text.String() == "{}" || text.String() == "null"
}

// Bounds of the tools of one page. APIs of models refuse larger ones.
const (
	maxToolBytes  = 64 << 10  // of the name, description and schema of one tool
	maxToolsBytes = 512 << 10 // of all of them
)

// toolName returns the name of an action's tool. It has the site, so that the actions of two sites
// have different names on all pages of a session.
func (p *Page) toolName(site anml.Site, action anml.Action) string {
	return anml.ToolName(cmp.Or(site.Domain(), p.server.Domain), action.ID())
}

// offers returns the actions that could be tools, and what is left out. They do not change, unlike who
// may offer them.
func (p *Page) offers() (tools []Tool, left []lookleap.Finding) {
	leave := func(t *Tool, message, fix string) {
		left = append(left, lookleap.Finding{Code: lookleap.CodeTooLarge, Severity: lookleap.SeverityWarning,
			Message: "the action " + quote(t.Action) + " is no tool: " + message, Fix: fix})
	}
	names, total := make(map[string]bool), 0
	asksOf := make(map[anml.Site]map[string][]anml.Ask)
	for tool := range p.doc.Tools(anml.JSONSchema) {
		call := Call{Site: tool.Site.Domain(), Action: tool.Action.ID()}
		t := Tool{Name: p.toolName(tool.Site, tool.Action), Description: tool.Description, InputSchema: tool.InputSchema,
			Site: call.Site, Action: call.Action, page: p, site: tool.Site, action: tool.Action}
		if asksOf[tool.Site] == nil {
			asksOf[tool.Site] = asksByAction(tool.Site)
		}
		answered, err := answers(tool.Action, asksOf[tool.Site][call.Action], call)
		switch {
		case err != nil:
			continue
		case answered:
			t.InputSchema = json.RawMessage(noArguments)
		case len(t.InputSchema) <= maxToolBytes:
			t.strict = tool.Action.InputSchema(anml.StrictSchema)
		}
		size := len(t.Name) + len(t.Description) + len(t.InputSchema)
		switch name := strings.ToLower(t.Name); {
		case size > maxToolBytes:
			leave(&t, fmt.Sprintf("its description has %d bytes", size), "describe the action in fewer words")
			continue
		case total+size > maxToolsBytes:
			leave(&t, fmt.Sprintf("the tools of the document have more than %d bytes", maxToolsBytes), "offer fewer actions in one document")
			continue
		case names[name]:
			leave(&t, "another action has its name in another letter case", "rename one of them")
			continue
		default:
			names[name] = true
			total += size
		}
		tools = append(tools, t)
	}
	return tools, left
}

// ToolFindings returns what [Page.Tools] leaves out although it could be called, and why: schemas
// that are too large for the APIs of models, and names that differ only in letter case.
func (p *Page) ToolFindings() []lookleap.Finding {
	if p.executable() != nil {
		return nil
	}
	_, left := p.offered()
	return slices.Clone(left)
}

// Tools returns the actions of the document as tools for any tool-calling runtime.
// Offering a tool permits nothing: Call goes through [Page.Do].
//
// It leaves out actions whose calls could never be sent: of a document with an
// unsupported version, of a site that the server may not act for, with a forbidden
// endpoint, or with asks that cannot be answered. Page.Do returns the reason. It also
// leaves out what [Page.ToolFindings] reports.
func (p *Page) Tools() []Tool {
	if p.executable() != nil {
		return nil
	}
	var out []Tool
	now := p.session.now()
	tools, _ := p.offered()
	for _, t := range tools {
		owner, whose := p.owner(t.site, anmltrust.Interact, now)
		if whose == anmltrust.Dropped {
			continue
		}
		if _, err := p.endpoint(t.action, owner); err != nil {
			continue
		}
		t.InputSchema = slices.Clone(t.InputSchema)
		out = append(out, t)
	}
	return out
}
