package anml

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Dialect is a dialect of JSON Schema that a tool-calling runtime accepts.
type Dialect uint8

const (
	// JSONSchema is JSON Schema 2020-12. It expresses every rule of the parameters.
	JSONSchema Dialect = iota
	// StrictSchema is the subset for strict function calling: every property is required, an
	// optional one may be null, and rules that the subset cannot express are in the
	// descriptions. [Action.ArgsJSON] checks the arguments in any case.
	StrictSchema
)

// Tool is an executable action (section 8.6.1) in the form of tool-calling runtimes.
type Tool struct {
	Name        string // 1 to 64 characters of A-Z a-z 0-9 _ -
	Description string // the service's words are in quotation marks
	InputSchema []byte // a JSON object
	Action      Action
	Site        Site // the site of the action
}

// Tools yields a tool for each executable action of the document. A tool is not a permission to
// execute the action: the agent checks trust, consent and confirmation.
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

// Tool returns the action of this document for a tool name, and [ErrNoAction] for any other name.
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
	hashMark        = "_h" // unlike an escape: h is not a hexadecimal digit
	hashDigits      = 16
)

// ToolName returns the name of a tool for the domain of its site, "" in a single-site document,
// and the id of its action. The name is stable. [ParseToolName] parses it, unless it is so long
// that it ends with a hash.
func ToolName(domain, id string) string {
	key := id
	if domain != "" {
		key = domain + "\x00" + id // XML does not allow NUL in an id
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
		name = name[:i] // do not cut an escape in half
	}
	return name + hashMark + hex.EncodeToString(sum[:])[:hashDigits]
}

// ParseToolName returns the domain and id of a name that [ToolName] returned. It returns false
// for other names and for names that end with a hash.
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
		b, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", "", false
		}
		key = append(key, b...)
		i += 2
	}
	domain, id, found := strings.Cut(string(key), "\x00")
	if !found {
		domain, id = "", string(key)
	}
	return domain, id, ToolName(domain, id) == name
}

// property is a parameter under the key that it has in schemas.
type property struct {
	Param
	key string
}

// properties returns the parameters of the action that accept a value. A key has 1 to 64 characters
// A-Z a-z 0-9 _ . -, because the APIs of models refuse others. It is the name of the parameter if
// that is such a key, and otherwise its [ToolName].
func (a Action) properties() []property {
	var all []property
	taken := make(map[string]bool)
	for p := range a.Params() {
		if isKey(p.Name()) {
			taken[p.Name()] = true
		}
	}
	for p := range a.Params() {
		key := p.Name()
		for spelled := key; !isKey(key) || key != p.Name() && taken[key]; spelled += " " {
			key = ToolName("", spelled)
		}
		taken[key] = true
		if !p.acceptsNothing() { // without a property, additionalProperties forbids it
			all = append(all, property{p, key})
		}
	}
	return all
}

func isKey(name string) bool {
	return name != "" && len(name) <= longestToolName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-'
	})
}

// InputSchema returns the JSON Schema of the arguments of the action. A parameter whose name the
// APIs of models do not accept has another key in it; [Action.ArgsJSON] knows both.
func (a Action) InputSchema(dialect Dialect) []byte {
	w := &jsonWriter{strict: dialect == StrictSchema}
	w.open('{')
	if dialect == JSONSchema {
		w.member("$schema", "https://json-schema.org/draft/2020-12/schema")
	}
	w.member("type", "object")
	w.key("properties")
	w.open('{')
	properties := a.properties()
	for _, p := range properties {
		w.key(p.key)
		if dialect == StrictSchema {
			p.strictSchema(w)
		} else {
			p.schema(w)
		}
	}
	w.close('}')
	w.key("required")
	w.open('[')
	for _, p := range properties {
		if dialect == StrictSchema || p.Required() && !p.hasDefault() {
			w.next()
			w.string(p.key)
		}
	}
	w.close(']')
	w.key("additionalProperties")
	w.out = append(w.out, "false"...)
	w.close('}')
	return w.out
}

// hasDefault reports whether the document's default can be used.
func (p Param) hasDefault() bool {
	_, ok := p.usableDefault()
	return ok
}

func (w *jsonWriter) member(key, value string) {
	w.key(key)
	w.string(value)
}

// jsonType returns the JSON Schema type and format of a value.
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

func (p property) schema(w *jsonWriter) {
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
		if p.n.flags()&unchecked == 0 { // a pattern that costs too much is not even parsed
			if pattern, ok := schemaPattern(text); ok {
				w.member("pattern", pattern)
			}
		}
	}
	for _, bound := range [2][3]string{{"min", "minimum", "minLength"}, {"max", "maximum", "maxLength"}} {
		text, ok := p.Attr(bound[0])
		if !ok || !isBound(p.Type(), text) {
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
	if def, ok := p.usableDefault(); ok {
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

func (p property) strictSchema(w *jsonWriter) {
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
	written := map[string]bool{} // JSON Schema forbids duplicates
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

// describe writes the description. With rules, it includes what a strict schema cannot express.
func (p property) describe(w *jsonWriter, rules bool) {
	var parts []string
	if p.key != p.Name() {
		parts = append(parts, "The service calls it "+plaintext.Quote(p.Name(), 100)+".")
	}
	if text := p.Description(); text != "" {
		parts = append(parts, "The service describes it as "+plaintext.Quote(text, 200)+".")
	}
	if rules {
		if t := p.Type(); t != TypeString && t != TypeEnum {
			parts = append(parts, "A "+t.String()+".")
		}
		for _, rule := range []string{"pattern", "default"} {
			if text, ok := p.Attr(rule); ok && text != "" && (rule != "default" || p.hasDefault()) {
				parts = append(parts, "Its "+rule+" is "+plaintext.Quote(text, 100)+".")
			}
		}
	}
	for _, rule := range [2][2]string{{"min", "At least "}, {"max", "At most "}} {
		text, ok := p.Attr(rule[0])
		if ok && isBound(p.Type(), text) && (rules || p.Type() == TypeDate || p.Type() == TypeDateTime) {
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
