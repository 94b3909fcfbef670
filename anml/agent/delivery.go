package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"html"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
)

// delivery is what one service sent in one response.
type delivery struct {
	service string
	size    int              // bytes, about
	texts   iter.Seq[string] // public ones
	informs []*Inform
	sources []source // of the informs
	remark  bool     // a short text, which no limit refuses
}

// all yields the texts with their sources.
func (d delivery) all() iter.Seq2[source, string] {
	return func(yield func(source, string) bool) {
		for i, inform := range d.informs {
			if !yield(d.sources[i], inform.Text) {
				return
			}
		}
		for text := range d.texts {
			if !yield(source{serving: d.service, confidentiality: anml.Public}, text) {
				return
			}
		}
	}
}

// deliver records what a service sent: everything that the host or a model can read passes here. It
// returns an error if more cannot be recorded, or if ctx ended. The caller must not use what the
// service sent then.
func (c *Context) deliver(ctx context.Context, d delivery) error {
	if err := c.index.full(d.service); err != nil && !d.remark {
		return err
	}
	c.mu.RLock() // a deletion finds the informs in the index, or they are marked here
	for _, i := range d.informs {
		from := i.source()
		from.serving = cmp.Or(from.serving, d.service) // a page over http has no serving domain
		from.deleted = c.outdated(i)
		d.sources = append(d.sources, from)
	}
	c.index.add(d)
	c.mu.RUnlock()
	return c.index.hashWaiting(ctx, maxWaiting)
}

// recordPage records a page with its informs.
func (c *Context) recordPage(ctx context.Context, p *Page, informs map[anml.Node]*Inform) error {
	texts := func(yield func(string) bool) {
		for n, text := range p.doc.Texts() {
			if informs[n] == nil && !yield(text) {
				return
			}
		}
		for _, f := range p.doc.Findings() { // names of unknown elements and attributes are only there
			if !yield(f.Path) || !yield(quotedIn(f.Message)) {
				return
			}
		}
	}
	return c.deliver(ctx, delivery{service: registrable(p.url.Host()), size: p.opened.size, texts: texts, informs: slices.Collect(maps.Values(informs))})
}

// recordBody records a response body that is not a document, or a medium, and its media type.
func (c *Context) recordBody(ctx context.Context, u domain.URL, mediaType string, body []byte) error {
	return c.deliver(ctx, delivery{service: registrable(u.Host()), size: len(body), texts: slices.Values(bodyTexts(mediaType, body))})
}

// recordText records text of a server outside any content.
func (c *Context) recordText(u domain.URL, text string) {
	_ = c.deliver(context.Background(), delivery{service: registrable(u.Host()), size: len(text), texts: slices.Values([]string{text}), remark: true})
}

// recordError records what the error of an exchange quotes of the server. The URL of the request is
// the caller's.
func (c *Context) recordError(u domain.URL, err error) {
	if err != nil {
		c.recordText(u, strings.ReplaceAll(err.Error(), u.WithoutQuery(), " "))
	}
}

// recordLocation records where a server has the caller go instead of the requested URL.
func (c *Context) recordLocation(from domain.URL, requested string, to domain.URL) {
	if location := to.String(); location != requested {
		c.recordText(from, strings.TrimPrefix(location, from.Origin()))
	}
}

// recordInforms records informs that were received before.
func (c *Context) recordInforms(list []*Inform) {
	for _, i := range list {
		_ = c.deliver(context.Background(), delivery{service: i.Serving, size: i.size(), texts: slices.Values[[]string](nil), informs: []*Inform{i}, remark: true})
	}
}

// quotedIn returns what stands in quotation marks in a text.
func quotedIn(text string) string {
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return strings.Join(parts, " ")
}

// tag is a tag of HTML or XML, or the begin of one that does not end.
var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("<[^>]*>|<") })

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
		texts = append(texts, html.UnescapeString(tag().ReplaceAllString(text, "")))
	case strings.Contains(mediaType, "json"):
		d := json.NewDecoder(strings.NewReader(text))
		for t, err := d.Token(); err == nil; t, err = d.Token() {
			if s, ok := t.(string); ok {
				texts = append(texts, s)
			}
		}
	}
	return texts
}

// isWordless reports whether a body is an image, sound, video or font. A text that only claims to
// be one is not.
func isWordless(mediaType string, body []byte) bool {
	kind, _, _ := strings.Cut(mediaType, "/")
	return slices.Contains([]string{"image", "audio", "video", "font"}, kind) && mediaType != "image/svg+xml" && !utf8.Valid(body)
}
