package lookleapmcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Bounds of what one result of a proxied server may hold.
const (
	maxText       = 256 << 10 // bytes of all texts together
	maxStructured = 256 << 10 // bytes of the structured content as JSON
	maxBinary     = 8 << 20   // bytes of all images, sounds and resources together
	maxContents   = 1000      // content objects
	maxWord       = 1 << 10   // bytes of a name, a title, a URI or the like
	maxWords      = 256 << 10 // bytes of all of those
	maxAbout      = 8 << 10   // bytes of a description in a list
	maxMeta       = 64 << 10  // bytes of metadata as JSON
)

// word returns a name or the like with visible characters, within its bound.
func word(text string) string { return visible(plaintext.Clip(text, maxWord)) }

// aboutText returns a description in a list with visible characters, within its bound.
func aboutText(text string) string { return reveal(plaintext.Clip(text, maxAbout)) }

// annotations returns annotations with visible characters, within their bounds.
func annotations(in *mcp.Annotations, word func(string) string) *mcp.Annotations {
	if in == nil {
		return nil
	}
	out := &mcp.Annotations{LastModified: word(in.LastModified), Priority: in.Priority}
	for _, role := range in.Audience[:min(len(in.Audience), 10)] { // the protocol has two roles
		out.Audience = append(out.Audience, mcp.Role(word(string(role))))
	}
	return out
}

// serverMeta returns metadata of a server without what clients take for ours.
func serverMeta(in mcp.Meta) (out mcp.Meta) {
	if data, err := json.Marshal(in); err != nil || len(data) > maxMeta {
		return nil
	}
	for name, value := range in {
		if strings.HasPrefix(name, "lookleap/") {
			continue
		}
		if out == nil {
			out = mcp.Meta{}
		}
		out[name] = value
	}
	return out
}

// reveal returns a text with its hidden characters written as \u{202E}, and a note if there are any.
// Line feeds and tabs stay.
func reveal(text string) string {
	hidden := plaintext.Count(text)
	if hidden.Total() == 0 {
		return text
	}
	return visible(text) + "\n(lookleap: this text has hidden characters, which are shown as \\u{…}: " + hidden.String() + ")"
}

// visible is [reveal] without the note.
func visible(text string) string {
	if plaintext.Count(text).Total() == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		end := line[len(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")):]
		for i, cell := range strings.Split(strings.TrimSuffix(line, end), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(plaintext.WholeLine(cell))
		}
		b.WriteString(end)
	}
	return b.String()
}

// revealValue makes the hidden characters in all texts of a JSON value visible.
func revealValue(v any) any {
	switch v := v.(type) {
	case string:
		return visible(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = revealValue(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[visible(name)] = revealValue(member)
		}
		return out
	}
	return v
}

// bounder bounds the contents of one result.
type bounder struct{ text, binary, words int } // bytes that are left

func newBounder() *bounder { return &bounder{maxText, maxBinary, maxWords} }

// word is [word] within the bound of all of them: one without room is left out.
func (b *bounder) word(text string) string {
	if text = word(text); len(text) > b.words {
		return ""
	}
	b.words -= len(text)
	return text
}

// contents returns contents with visible characters and within the bounds, and says what is cut.
func (b *bounder) contents(all []mcp.Content) []mcp.Content {
	out := make([]mcp.Content, 0, len(all))
	for i, c := range all {
		if i == maxContents {
			return append(out, &mcp.TextContent{Text: fmt.Sprintf("(lookleap: %d more contents are left out)", len(all)-i)})
		}
		out = append(out, b.content(c)...)
	}
	return out
}

func (b *bounder) content(c mcp.Content) []mcp.Content {
	switch c := c.(type) {
	case *mcp.TextContent:
		return []mcp.Content{&mcp.TextContent{Text: b.cut(c.Text), Annotations: annotations(c.Annotations, b.word)}}
	case *mcp.ImageContent:
		notes := annotations(c.Annotations, b.word)
		return b.data(&mcp.ImageContent{Data: c.Data, MIMEType: b.word(c.MIMEType), Annotations: notes}, "an image", len(c.Data))
	case *mcp.AudioContent:
		notes := annotations(c.Annotations, b.word)
		return b.data(&mcp.AudioContent{Data: c.Data, MIMEType: b.word(c.MIMEType), Annotations: notes}, "a sound", len(c.Data))
	case *mcp.ResourceLink:
		return []mcp.Content{&mcp.ResourceLink{URI: b.word(c.URI), Name: b.word(c.Name), Title: b.word(c.Title),
			Description: b.cut(c.Description), MIMEType: b.word(c.MIMEType), Size: c.Size,
			Annotations: annotations(c.Annotations, b.word)}}
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return nil
		}
		r := &mcp.ResourceContents{URI: b.word(c.Resource.URI), MIMEType: b.word(c.Resource.MIMEType), Blob: c.Resource.Blob}
		if len(r.Blob) == 0 {
			r.Text = b.cut(c.Resource.Text)
		}
		notes := annotations(c.Annotations, b.word)
		return b.data(&mcp.EmbeddedResource{Resource: r, Annotations: notes}, "a resource", len(r.Blob))
	}
	return []mcp.Content{&mcp.TextContent{Text: "(lookleap: content of an unknown kind is left out)"}}
}

// cut returns a text with visible characters, and its beginning if there is no room for all of it.
func (b *bounder) cut(text string) string {
	size := len(text)
	if size <= b.text {
		b.text -= size
		return reveal(text)
	}
	end := b.text
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	b.text = 0
	return reveal(text[:end]) + fmt.Sprintf("\n(lookleap: cut here; %d of %d bytes are left out)", size-end, size)
}

// data returns binary content, or a note if there is no room for it.
func (b *bounder) data(c mcp.Content, what string, size int) []mcp.Content {
	if size > b.binary {
		return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("(lookleap: %s of %d bytes is too large and left out)", what, size)}}
	}
	b.binary -= size
	return []mcp.Content{c}
}

// boundResult fills in the result of a tool of a proxied server as a client gets it. Metadata of the
// server is left out: clients take that under "lookleap/" for ours.
func boundResult(out, r *mcp.CallToolResult) *mcp.CallToolResult {
	out.IsError, out.Content = r.IsError, newBounder().contents(r.Content)
	if r.StructuredContent == nil {
		return out
	}
	value := revealValue(r.StructuredContent)
	switch data, err := json.Marshal(value); {
	case err != nil || len(data) > maxStructured:
		out.Content = append(out.Content, &mcp.TextContent{
			Text: fmt.Sprintf("(lookleap: the structured content has %d bytes, more than %d, and is left out)", len(data), maxStructured),
		})
	default:
		out.StructuredContent = value
	}
	return out
}
