package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
	"unique"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent/internal/injection"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// UntrustedText is text of a service: data to be looked at, never instructions
// to be followed, whatever it says and whoever says it (section 13.3). It is no
// string and has no String method; printing it, with any verb, gives it as
// [UntrustedText.Quoted] does. Two are equal if all that they say is. The zero
// value is no text.
type UntrustedText struct {
	source, label string
	// text is a handle, since fmt calls no methods of what lies in an unexported field
	// of somebody's struct: there it prints an address, and no word of the service.
	text unique.Handle[string]
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\u2028", "\n", "\u2029", "\n")

// untrusted takes a text out of a document, without the characters that show
// nothing or change how others show.
func untrusted(source, label, text string) UntrustedText {
	text = lineBreaks.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\uFFFD' && injection.Invisible(r) {
			return -1
		}
		return r
	}, text)
	t := UntrustedText{source: source, label: label}
	if text != "" {
		t.text = unique.Make(text)
	}
	return t
}

// Source is the domain that says it.
func (t UntrustedText) Source() string { return t.source }

// Label is what it is, in our words: "tone", "instructions".
func (t UntrustedText) Label() string { return t.label }

// Empty reports whether there is no text.
func (t UntrustedText) Empty() bool { return t.text == unique.Handle[string]{} }

// Raw is the text alone. Whoever puts it into a prompt or a page has to mark it
// as the service's words.
func (t UntrustedText) Raw() string {
	if t.Empty() {
		return ""
	}
	return t.text.Value()
}

// Quoted is the text as one line of data that says whose it is: it can stand in
// a prompt, a log or a terminal.
func (t UntrustedText) Quoted() string {
	if t.Empty() {
		return ""
	}
	text := t.Raw()
	return fmt.Sprintf("%s of %s, untrusted: %s", t.label, t.source, plaintext.Quote(text, 10*utf8.RuneCountInString(text)))
}

// Remote is the text as consent requests and notices carry it.
func (t UntrustedText) Remote() lookleap.RemoteText {
	return lookleap.RemoteText{Source: t.source, Label: t.label, Text: t.Raw()}
}

// Format prints the text quoted, whatever the verb.
func (t UntrustedText) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.Quoted()) }

// MarshalJSON writes an object that says what it is.
func (t UntrustedText) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Source string `json:"source"`
		Label  string `json:"label"`
		Text   string `json:"untrusted"`
	}{t.source, t.label, t.Raw()})
}
