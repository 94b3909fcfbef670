package anml

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Dialect is a flavour of JSON Schema that a tool-calling runtime accepts.
type Dialect uint8

const (
	// JSONSchema is JSON Schema 2020-12 with every rule of the parameters.
	JSONSchema Dialect = iota
	// StrictSchema is the subset of strict function calling: every property is
	// required, an optional one may be null, and rules that the subset lacks
	// stand in the descriptions. Arguments are checked by ArgsJSON all the same.
	StrictSchema
)

// Tool is an executable action (section 8.6.1) as a tool-calling runtime wants it.
type Tool struct {
	Name        string // 1 to 64 of A-Z a-z 0-9 _ -
	Description string // our words, with the service's in quotes
	InputSchema []byte // a JSON object
	Action      Action
	Site        Site // whose action it is
}

// Tools yields a tool for each executable action of the document. Offering one is
// no permission to run it: trust, consent and confirmation are the agent's.
func (d *Document) Tools(dialect Dialect) iter.Seq[Tool] {
	return func(yield func(Tool) bool) {
		for site := range d.Containers() {
			for a := range site.Interact().Actions() {
				if a.Executable() != nil {
					continue
				}
				if !yield(Tool{ToolName(site.Domain(), a.ID()), toolDescription(site, a), a.InputSchema(dialect), a, site}) {
					return
				}
			}
		}
	}
}

// Tool finds the action that a tool name stands for in this document.
func (d *Document) Tool(name string) (Action, error) {
	for site := range d.Containers() {
		for a := range site.Interact().Actions() {
			if ToolName(site.Domain(), a.ID()) == name {
				return site.Interact().Action(a.ID())
			}
		}
	}
	return Action{}, ErrNoAction
}

func toolDescription(site Site, a Action) string {
	s := a.Method() + " request to the service"
	if site.Domain() != "" {
		s += " " + site.Domain()
	}
	if text := a.Description(); text != "" {
		s += ". The service describes it as " + plaintext.Quote(text, 300)
	}
	return s
}

const (
	longestToolName = 64
	hashMark        = "_h" // no escape starts so: h is no hexadecimal digit
	hashDigits      = 16
)

// ToolName makes the name of a tool from the domain of its site, "" in a
// single-site document, and the id of its action. It is stable, and ParseToolName
// reads it back, except that a long one ends with a hash.
func ToolName(domain, id string) string {
	key := id
	if domain != "" {
		key = domain + "\x00" + id // a character that no id holds
	}
	var b strings.Builder
	for i := range len(key) {
		c := key[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	name := b.String()
	if len(name) <= longestToolName && name != "" {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	name = name[:min(len(name), longestToolName-len(hashMark)-hashDigits)]
	if i := strings.LastIndexByte(name, '_'); i > len(name)-3 && i >= 0 {
		name = name[:i] // not half an escape
	}
	return name + hashMark + hex.EncodeToString(sum[:])[:hashDigits]
}

// ParseToolName gives back what ToolName was made from; false for a name that is
// not one or ends with a hash.
func ParseToolName(name string) (domain, id string, ok bool) {
	var key []byte
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' {
			if c|0x20 < 'a' || c|0x20 > 'z' {
				if (c < '0' || c > '9') && c != '-' {
					return "", "", false
				}
			}
			key = append(key, c)
			continue
		}
		if i+3 > len(name) {
			return "", "", false
		}
		octet, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", "", false
		}
		key = append(key, octet...)
		i += 2
	}
	domain, id, found := strings.Cut(string(key), "\x00")
	if !found {
		domain, id = "", string(key)
	}
	return domain, id, ToolName(domain, id) == name
}

// InputSchema describes the arguments of the action as a JSON Schema.
func (a Action) InputSchema(dialect Dialect) []byte {
	w := &jsonWriter{strict: dialect == StrictSchema}
	w.open('{')
	if dialect == JSONSchema {
		w.member("$schema", "https://json-schema.org/draft/2020-12/schema")
	}
	w.member("type", "object")
	w.key("properties")
	w.open('{')
	for p := range a.Params() {
		if p.unfillable() {
			continue // a schema cannot say "no value", and leaving it out does
		}
		w.key(p.Name())
		if dialect == StrictSchema {
			p.strictSchema(w)
		} else {
			p.schema(w)
		}
	}
	w.close('}')
	w.key("required")
	w.open('[')
	for p := range a.Params() {
		_, hasDefault := p.Default()
		if !p.unfillable() && (dialect == StrictSchema || p.Required() && !hasDefault) {
			w.next()
			w.string(p.Name())
		}
	}
	w.close(']')
	w.key("additionalProperties")
	w.out = append(w.out, "false"...)
	w.close('}')
	return w.out
}

func (w *jsonWriter) member(key, value string) {
	w.key(key)
	w.string(value)
}

// jsonType gives the type and format of a value in JSON Schema.
func (t Type) jsonType() (name, format string) {
	switch t {
	case TypeNumber:
		return "number", ""
	case TypeBoolean:
		return "boolean", ""
	case TypeDate:
		return "string", "date"
	case TypeDateTime:
		return "string", "date-time"
	case TypeURI:
		return "string", "uri"
	}
	return "string", ""
}

func (p Param) schema(w *jsonWriter) {
	name, format := p.Type().jsonType()
	w.open('{')
	w.member("type", name)
	if format != "" {
		w.member("format", format)
	}
	if p.Type() == TypeDateTime {
		w.member("pattern", `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
	}
	p.options(w)
	if text := p.Pattern(); text != "" && p.Type() != TypeDateTime && p.Type() != TypeEnum && name == "string" {
		if pattern, ok := ecmaPattern(text); ok && p.n.flags()&unchecked == 0 {
			w.member("pattern", pattern)
		}
	}
	for _, bound := range [2][3]string{{"min", "minimum", "minLength"}, {"max", "maximum", "maxLength"}} {
		text, ok := p.Attr(bound[0])
		if !ok || !boundFits(p.Type(), text) {
			continue
		}
		switch p.Type() {
		case TypeNumber:
			w.key(bound[1])
			w.out = append(w.out, text...)
		case TypeString:
			w.key(bound[2])
			w.out = append(w.out, text...)
		}
	}
	if def, ok := p.Default(); ok && p.Check(def) == nil {
		w.key("default")
		if name == "string" {
			w.string(def)
		} else {
			w.out = append(w.out, def...)
		}
	}
	p.describe(w, false)
	w.close('}')
}

func (p Param) strictSchema(w *jsonWriter) {
	name, _ := p.Type().jsonType()
	w.open('{')
	if p.Required() {
		w.member("type", name)
	} else {
		w.key("type")
		w.open('[')
		w.next()
		w.string(name)
		w.next()
		w.string("null")
		w.close(']')
	}
	p.options(w)
	p.describe(w, true)
	w.close('}')
}

func (p Param) options(w *jsonWriter) {
	if p.Type() != TypeEnum {
		return
	}
	w.key("enum")
	w.open('[')
	written := map[string]bool{} // a schema names each value once
	for o := range p.Options() {
		if !written[o.Value()] {
			written[o.Value()] = true
			w.next()
			w.string(o.Value())
		}
	}
	if !p.Required() && w.strict {
		w.next()
		w.out = append(w.out, "null"...)
	}
	w.close(']')
}

// describe says what the schema itself does not.
func (p Param) describe(w *jsonWriter, rules bool) {
	var parts []string
	if text := p.Description(); text != "" {
		parts = append(parts, "The service describes it as "+plaintext.Quote(text, 200)+".")
	}
	if rules {
		if t := p.Type(); t != TypeString && t != TypeEnum {
			parts = append(parts, "A "+t.String()+".")
		}
		for _, rule := range []string{"pattern", "default"} {
			if text, ok := p.Attr(rule); ok && text != "" {
				parts = append(parts, "Its "+rule+" is "+plaintext.Quote(text, 100)+".")
			}
		}
	}
	for _, rule := range [2][2]string{{"min", "At least "}, {"max", "At most "}} {
		text, ok := p.Attr(rule[0])
		if ok && boundFits(p.Type(), text) && (rules || p.Type() == TypeDate || p.Type() == TypeDateTime) {
			unit := "."
			if p.Type() == TypeString {
				unit = " characters."
			}
			parts = append(parts, rule[1]+text+unit)
		}
	}
	if len(parts) > 0 {
		w.member("description", strings.Join(parts, " "))
	}
}
