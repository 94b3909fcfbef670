package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"html"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
)

// hear records what a service sent: everything that the host or a model can read passes here. It
// returns an error if more cannot be recorded, or if ctx ended. The caller must not use what the
// service sent then.
func (c *Context) hear(ctx context.Context, r delivery) error {
	if err := c.index.add(r); err != nil {
		return err
	}
	return c.index.relieve(ctx)
}

// hearPage records a page. Its informs have sources of their own.
func (c *Context) hearPage(ctx context.Context, p *Page, informs map[anml.Node]*Inform) error {
	page := source{serving: serviceOf(p.url), confidentiality: anml.Public}
	sources := make(map[anml.Node]source, len(informs))
	c.mu.RLock() // so that a deletion finds what is received meanwhile in the index, or marks it here
	for n, i := range informs {
		s := i.source()
		s.deleted = c.outdated(i)
		sources[n] = s
	}
	err := c.index.add(delivery{page.serving, p.opened.size, func(yield func(source, string) bool) {
		for n, from := range sources {
			if !yield(from, informs[n].Text) {
				return
			}
		}
		for n, text := range p.doc.Texts() {
			if _, ok := sources[n]; !ok && !yield(page, text) {
				return
			}
		}
		for _, f := range p.doc.Findings() { // names of unknown elements and attributes are only there
			if !yield(page, f.Path) || !yield(page, quotedIn(f.Message)) {
				return
			}
		}
	}})
	c.mu.RUnlock()
	if err != nil {
		return err
	}
	return c.index.relieve(ctx)
}

// hearBody records a response body that is not a document, or a medium, and its media type.
func (c *Context) hearBody(ctx context.Context, u domain.URL, mediaType string, body []byte) error {
	return c.hear(ctx, plainly(u, len(body), bodyTexts(mediaType, body)...))
}

// hearRemark records text of a server outside any content. It is short, so no limit refuses it.
func (c *Context) hearRemark(u domain.URL, text string) {
	c.index.addAlways(plainly(u, len(text), text))
}

// hearError records what the error of an exchange quotes of the server. The URL of the request is
// the caller's.
func (c *Context) hearError(u domain.URL, err error) {
	if err != nil {
		c.hearRemark(u, strings.ReplaceAll(err.Error(), u.WithoutQuery(), " "))
	}
}

// hearLocation records where a server has the caller go instead of the requested URL.
func (c *Context) hearLocation(from domain.URL, requested string, to domain.URL) {
	if location := to.String(); location != requested {
		c.hearRemark(from, strings.TrimPrefix(location, from.Origin()))
	}
}

// hearInforms records informs that were received before.
func (c *Context) hearInforms(list []*Inform) {
	for _, i := range list {
		c.index.addAlways(delivery{i.Serving, i.size(), func(yield func(source, string) bool) { yield(i.source(), i.Text) }})
	}
}

// plainly returns public texts that a server sent.
func plainly(u domain.URL, size int, texts ...string) delivery {
	from := source{serving: serviceOf(u), confidentiality: anml.Public}
	return delivery{from.serving, size, func(yield func(source, string) bool) {
		for _, text := range texts {
			if !yield(from, text) {
				return
			}
		}
	}}
}

// serviceOf returns the domain of the service that sends what a URL delivers.
func serviceOf(u domain.URL) string {
	server, _ := anmltrust.ServerOf(u.String())
	return cmp.Or(server.Domain, u.Host())
}

// quotedIn returns what stands in quotation marks in a text.
func quotedIn(text string) string {
	var quoted []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			quoted = append(quoted, part)
		}
	}
	return strings.Join(quoted, " ")
}

// bodyTexts returns the media type and the texts of a body: the body itself, and for HTML, XML and
// JSON also what it says without tags and escapes. Images, audio, video and fonts have no text.
func bodyTexts(mediaType string, body []byte) []string {
	texts := []string{mediaType}
	if isWordless(mediaType, body) {
		return texts
	}
	text := strings.ToValidUTF8(string(body), " ")
	texts = append(texts, text)
	switch {
	case strings.Contains(mediaType, "html"), strings.Contains(mediaType, "xml"):
		texts = append(texts, html.UnescapeString(withoutTags(text)))
	case strings.Contains(mediaType, "json"):
		texts = slices.AppendSeq(texts, jsonTexts(text))
	}
	return texts
}

// jsonTexts yields the names and strings of a JSON text, up to its first error.
func jsonTexts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := json.NewDecoder(strings.NewReader(text))
		for t, err := d.Token(); err == nil; t, err = d.Token() {
			if s, ok := t.(string); ok && !yield(s) {
				return
			}
		}
	}
}

// wordless are the kinds of media types without text.
var wordless = [...]string{"image", "audio", "video", "font"}

// isWordless reports whether a body is an image, sound, video or font. A text that only claims to
// be one is not.
func isWordless(mediaType string, body []byte) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	return slices.Contains(wordless[:], kind) && mediaType != "image/svg+xml" && !utf8.Valid(body)
}

// withoutTags returns a text without what stands in angle brackets.
func withoutTags(text string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(text, "<")
		b.WriteString(before)
		var ok bool
		if _, text, ok = strings.Cut(rest, ">"); !ok {
			b.WriteString(rest)
			return b.String()
		}
	}
}
