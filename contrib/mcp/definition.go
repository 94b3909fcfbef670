package lookleapmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// toolSchema is what a server says about a tool besides its name and description.
type toolSchema struct {
	Title       string               `json:"title,omitempty"`
	Input       any                  `json:"inputSchema,omitempty"`
	Output      any                  `json:"outputSchema,omitempty"`
	Annotations *mcp.ToolAnnotations `json:"annotations,omitempty"`
}

func schemaOf(t *mcp.Tool) toolSchema {
	return toolSchema{t.Title, t.InputSchema, t.OutputSchema, t.Annotations}
}

// definition is what a person approves of a tool of a server. Icons and metadata of a tool are no part
// of it, and a proxy does not pass them on.
type definition struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Schema      toolSchema `json:"schema"`

	digest string
}

// Limits of definitions. A person cannot judge more, and a model reads all of them.
const (
	maxDefinition = 64 << 10 // bytes
	maxTools      = 1000     // of one server
	maxToolName   = 200      // bytes
)

// define returns the definition of a tool, or an error if its name, size or depth makes it unusable.
func define(t *mcp.Tool) (*definition, error) {
	no := func(code lookleap.Code, message string) error {
		return &lookleap.Error{Code: code, Subject: "tool " + plaintext.Quote(t.Name, maxToolName), Message: message,
			Fix: "report it to the author of the server"}
	}
	if t.Name == "" || len(t.Name) > maxToolName || plaintext.Count(t.Name).Total() > 0 {
		return nil, no(dvs.CodeUnsafeName, "its name is empty, too long or has hidden characters")
	}
	d := &definition{Name: t.Name, Description: t.Description, Schema: schemaOf(t)}
	data, err := json.Marshal(d)
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxDefinition:
		return nil, no(lookleap.CodeTooLarge, fmt.Sprintf("its definition has %d bytes, more than %d", len(data), maxDefinition))
	}
	d.digest = lookleap.Digest(data) // package json sorts the names of maps
	record, err := json.Marshal(pin{Tool: *d})
	if err == nil {
		var found *definition
		if found, err = readPin(record, d.Name); err == nil && found.digest != d.digest {
			err = errors.New("it reads as another one")
		}
	}
	if err != nil { // it could be pinned, and then no more be compared
		return nil, no(lookleap.CodeOf(err), "its definition cannot be stored: "+err.Error())
	}
	return d, nil
}

// tool returns the definition as a client sees it, with its hidden characters made visible.
func (d *definition) tool() *mcp.Tool {
	t := &mcp.Tool{Name: d.Name, Title: reveal(d.Schema.Title), Description: reveal(d.Description)}
	t.InputSchema, t.OutputSchema = revealValue(d.Schema.Input), revealValue(d.Schema.Output)
	if a := d.Schema.Annotations; a != nil {
		shown := *a
		shown.Title = reveal(shown.Title)
		t.Annotations = &shown
	}
	return t
}

// part is one part of a definition, as a person reads it.
type part struct{ label, text string }

func (d *definition) parts() []part {
	indented := func(v any) string {
		if v == nil || reflect.ValueOf(v).IsZero() {
			return ""
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(v) // define has encoded it before
		return strings.TrimSuffix(b.String(), "\n")
	}
	return []part{
		{"title", d.Schema.Title},
		{"description", d.Description},
		{"input schema", indented(d.Schema.Input)},
		{"output schema", indented(d.Schema.Output)},
		{"annotations", indented(d.Schema.Annotations)},
	}
}

// notes returns the definition for a person who has not seen it before.
func (d *definition) notes(source string) (notes []lookleap.ConsentValue) {
	for _, p := range d.parts() {
		if p.text != "" { // the gate shows a long description only in part
			notes = append(notes, lookleap.ConsentValue{Label: p.label + " of the tool, which you have not approved before", Text: p.text, Source: source})
		}
	}
	return notes
}

// changed returns which parts differ from a definition that was approved before, and the lines for a
// person.
func (d *definition) changed(before *definition, source string) (labels []string, notes []lookleap.ConsentValue) {
	old := before.parts()
	for i, p := range d.parts() {
		if p.text == old[i].text {
			continue
		}
		labels = append(labels, p.label)
		var b strings.Builder
		lines := textdiff.Lines(old[i].text, p.text)
		for _, l := range lines {
			sign, other := "-", ""
			if l.Added {
				sign = "+"
			}
			if l.Pair >= 0 {
				other = lines[l.Pair].Text
			}
			fmt.Fprintf(&b, "%s%d: %s\n", sign, l.Number, differing(l.Text, other))
		}
		notes = append(notes, lookleap.ConsentValue{
			Label: p.label + " of the tool, which the server CHANGED since it was approved (- before, + now)", Text: b.String(), Source: source,
		})
	}
	return labels, notes
}

// differing returns a line, if it is long without what it has in common with another one at its beginning
// and end. All the rest is shown, because all of it is approved.
func differing(line, other string) string {
	const long = 2000
	if len(line) <= long {
		return line
	}
	if short := textdiff.Shorten(line, other, len(line)-1); len(short) < len(line) {
		return short
	}
	return line
}

// pins are the definitions that were approved, or that a rule let pass first.
type pins struct {
	store  lookleap.Store
	server string
}

// pin is one record of pins.
type pin struct {
	Tool definition `json:"tool"`
	At   time.Time  `json:"at"`
}

func (p pins) key(tool string) string {
	return "mcp-tool/" + dvs.DigestOf([]byte(p.server+"\x00"+tool)).String()
}

// get returns the pinned definition of a tool, or nil if there is none.
func (p pins) get(ctx context.Context, tool string) (*definition, error) {
	record, err := p.store.Get(ctx, p.key(tool))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var found *definition
	if err == nil {
		found, err = readPin(record, tool)
	}
	if err != nil {
		return nil, &lookleap.Error{Code: dvs.CodeTrustStore, Subject: "tool " + plaintext.Quote(tool, maxToolName),
			Message: "its approved definition cannot be read", Fix: "remove the record, then the user is asked as at the first use", Err: err}
	}
	return found, nil
}

// readPin reads the record of a tool.
func readPin(record []byte, tool string) (*definition, error) {
	var found pin
	if err := strictjson.Decode(record, &found); err != nil {
		return nil, err
	}
	if found.Tool.Name != tool {
		return nil, errors.New("the record is about another tool")
	}
	data, err := json.Marshal(&found.Tool)
	if err != nil {
		return nil, err
	}
	found.Tool.digest = lookleap.Digest(data)
	return &found.Tool, nil
}

// put pins a definition, and reports whether it was another one before.
func (p pins) put(ctx context.Context, d *definition, now time.Time) (replaced bool, err error) {
	before, err := p.get(ctx, d.Name)
	if err != nil || before != nil && before.digest == d.digest {
		return false, err
	}
	value, err := json.Marshal(pin{*d, now.UTC()})
	if err == nil {
		err = lookleap.UpdateRecord(ctx, p.store, p.key(d.Name), time.Time{}, func([]byte) ([]byte, error) { return value, nil })
	}
	if err != nil {
		return false, &lookleap.Error{Code: dvs.CodeTrustNotKept, Subject: "tool " + plaintext.Quote(d.Name, maxToolName),
			Message: "its definition could not be stored", Err: err}
	}
	return before != nil, nil
}
