package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
)

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
