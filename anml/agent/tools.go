package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Vendor is a model vendor, whose API limits the names and schemas of tools.
type Vendor uint8

const (
	// AnyVendor accepts names that every known vendor accepts, and whole schemas. It is the
	// zero value.
	AnyVendor Vendor = iota
	// OpenAI has strict function calling in which every property is required.
	OpenAI
	// Anthropic has strict tool use with at most 24 optional properties.
	Anthropic
	// Gemini has a subset of OpenAPI schemas, without additionalProperties.
	Gemini
)

// The limits of vendors.
const (
	maxVendorName         = 64 // characters A-Z a-z 0-9 _ -
	maxAnthropicOptionals = 24
	maxOpenAIProperties   = 100
)

// Definition is a tool in the form that the API of a vendor accepts. The vendor's SDK
// takes its fields as they are.
type Definition struct {
	Name        string         // see [Tool.NameFor]
	Description string         // our words, with the service's in quotes
	Parameters  map[string]any // JSON Schema; nil if Gemini takes no arguments
	Strict      bool           // the vendor can guarantee that arguments fit the schema
}

// Definition returns the tool for a vendor. The arguments that a model passes for it go to
// [Tool.Call], which checks them by the rules that the schema cannot express.
func (t Tool) Definition(v Vendor) Definition {
	d := Definition{Name: t.NameFor(v), Description: t.Description, Parameters: t.Schema()}
	switch v {
	case OpenAI:
		strict := object(cmp.Or(string(t.strict), noArguments))
		d.Strict = len(members(strict)) <= maxOpenAIProperties
		if d.Strict {
			d.Parameters = strict
		}
	case Anthropic:
		strict := optionalInsteadOfNull(object(cmp.Or(string(t.strict), noArguments)))
		required, _ := strict["required"].([]any)
		d.Strict = len(members(strict))-len(required) <= maxAnthropicOptionals
		if d.Strict {
			d.Parameters = strict
		}
	case Gemini:
		d.Parameters = optionalInsteadOfNull(object(cmp.Or(string(t.strict), noArguments)))
		delete(d.Parameters, "additionalProperties")
		if len(members(d.Parameters)) == 0 {
			d.Parameters = nil // Gemini refuses an object without properties
		}
	}
	if v != AnyVendor {
		delete(d.Parameters, "$schema")
	}
	return d
}

// Schema returns InputSchema decoded. Every call returns a new map.
func (t Tool) Schema() map[string]any { return object(string(t.InputSchema)) }

// NameFor returns a name for the tool that a vendor accepts. It is stable, and different
// tools have different names. For OpenAI and Anthropic it is Name. The others require a
// letter or underscore at the beginning.
func (t Tool) NameFor(v Vendor) string {
	const prefix = "t_x" // no other name has it: an underscore is followed by hexadecimal digits or h
	if v == OpenAI || v == Anthropic || t.Name == "" || isLetter(t.Name[0]) || t.Name[0] == '_' && v == Gemini {
		return t.Name
	}
	name := prefix + t.Name
	if len(name) <= maxVendorName {
		return name
	}
	sum := sha256.Sum256([]byte(t.Name))
	return name[:maxVendorName-18] + "_h" + hex.EncodeToString(sum[:8])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func object(text string) map[string]any {
	var out map[string]any
	_ = json.Unmarshal([]byte(text), &out) // of a zero Tool: nil
	return out
}

func members(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	return properties
}

// optionalInsteadOfNull rewrites a strict schema: properties that may be null become
// properties that may be missing.
func optionalInsteadOfNull(schema map[string]any) map[string]any {
	required, _ := schema["required"].([]any)
	for name, property := range members(schema) {
		p, _ := property.(map[string]any)
		types, ok := p["type"].([]any)
		if !ok {
			continue
		}
		p["type"] = types[0]
		if values, ok := p["enum"].([]any); ok {
			p["enum"] = slices.DeleteFunc(values, func(value any) bool { return value == nil })
		}
		required = slices.DeleteFunc(required, func(r any) bool { return r == name })
	}
	schema["required"] = required
	return schema
}

// String returns the name of the vendor.
func (v Vendor) String() string {
	names := []string{"any vendor", "OpenAI", "Anthropic", "Gemini"}
	return names[min(int(v), len(names)-1)]
}
