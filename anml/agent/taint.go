package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
)

// source is a service that a value came from.
type source struct {
	Domain          string               // serving domain that told it
	Confidentiality anml.Confidentiality // the strictest under which it was told
	Deleted         bool                 // the user had the context deleted: the value goes to no service
}

// taint returns the services, other than the serving domain to, that told a value. Deleted context
// counts, even if the service to told it itself (sections 14.1 and 14.2).
//
// A service told a value if one of its informs is equal to it, or contains one of its tokens of six
// characters or more. Tokens are words, text between white space, rows of words with digits, and
// the whole value. All other text of a service counts too, except what is in every document: a word
// without a digit must be the whole value and the whole text, and a value of fewer than six
// characters needs four characters and a digit, and must not be a year. Spelling and encoding do
// not matter: see [folded] and [readings]. A value that the user also supplied is the user's.
func (c *Context) taint(to, value string) (sources []source) {
	add := func(s source) {
		at := slices.IndexFunc(sources, func(known source) bool { return known.Domain == s.Domain && known.Deleted == s.Deleted })
		if at < 0 {
			sources = append(sources, s)
			return
		}
		sources[at].Confidentiality = min(sources[at].Confidentiality, s.Confidentiality)
	}
	c.mu.RLock()
	informed := len(c.index.origins) > 0
	c.mu.RUnlock()
	if !informed && !c.heard.others(to) {
		return nil // most sessions are with one service
	}
	own := to
	if key, err := domainKey(to); err == nil {
		own = key
	}
	for i, reading := range readingsSent(value) {
		f := fold(reading)
		c.mu.RLock()
		supplied := c.index.isSupplied(&f, reading)
		if supplied || len(f.runes) == 0 {
			c.mu.RUnlock()
			if supplied && i == 0 {
				return nil
			}
			continue
		}
		tokens := c.index.tokenRows(&f)
		for id := range c.index.find(&f, tokens) {
			if o := c.index.origins[id]; o.serving != own || o.deleted {
				add(source{o.serving, o.confidentiality, o.deleted})
			}
		}
		c.mu.RUnlock()
		for _, s := range c.heard.find(own, &f, tokens) {
			add(source{Domain: s.serving, Confidentiality: s.confidentiality})
		}
	}
	slices.SortFunc(sources, func(a, b source) int { return cmp.Compare(a.Domain, b.Domain) })
	return sources
}

// hearPage records everything in a page except its informs as told by the domain that delivered it.
func (c *Context) hearPage(ctx context.Context, p *Page) error {
	doc := p.doc
	return c.heard.hear(ctx, speaker{tellerOf(p.url), anml.Public}, p.opened.size, func(yield func(string) bool) {
		indexed := make(map[anml.Node]bool)
		for site := range doc.Containers() {
			for inform := range site.Knowledge().Informs() {
				indexed[inform.Node] = true
			}
		}
		for n, text := range doc.Texts() {
			if !indexed[n] && !yield(text) {
				return
			}
		}
		for _, f := range doc.Findings() { // names of unknown elements and attributes are only there
			if !yield(f.Path) || !yield(quotedIn(f.Message)) {
				return
			}
		}
	})
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

// tellerOf returns the domain that tells what a URL delivers.
func tellerOf(u domain.URL) string {
	server, _ := anmltrust.ServerOf(u.String())
	return cmp.Or(server.Domain, u.Host())
}

// hearBody records a response body that is not a document, or a medium, and its media type. Images,
// audio, video and fonts contain no text to compare values with.
func (c *Context) hearBody(ctx context.Context, u domain.URL, mediaType string, body []byte) error {
	texts := []string{mediaType}
	if !isWordless(mediaType, body) {
		text := strings.ToValidUTF8(string(body), " ")
		texts = append(texts, text)
		if strings.Contains(mediaType, "html") || strings.Contains(mediaType, "xml") {
			texts = append(texts, withoutTags(text)) // a tag may divide a word
		}
	}
	return c.heard.hear(ctx, speaker{tellerOf(u), anml.Public}, len(body), slices.Values(texts))
}

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

// hearRemark records text of a server outside any content.
func (c *Context) hearRemark(u domain.URL, text string) {
	_ = c.heard.queue(context.Background(), speaker{tellerOf(u), anml.Public}, heardText{slices.Values([]string{text}), len(text)})
}

// hearError records what the error of an exchange quotes of the server. The URL of the request is
// the caller's.
func (c *Context) hearError(u domain.URL, err error) {
	if err != nil {
		c.hearRemark(u, strings.ReplaceAll(err.Error(), u.WithoutQuery(), " "))
	}
}

// hearPlace records where a server has the caller go instead of the requested URL.
func (c *Context) hearPlace(from domain.URL, requested string, to domain.URL) {
	if place := to.String(); place != requested {
		c.hearRemark(from, strings.TrimPrefix(place, from.Origin()))
	}
}

// wordless are the kinds of media types without text.
var wordless = [...]string{"image", "audio", "video", "font"}

// Supplied records a value that the user entered, in a chat or a form. From then on it is the
// user's in this session, even if services know it. Values that are sent with [ProvenanceUser] need
// not be supplied again.
func (c *Context) Supplied(value string) {
	if c.unmade() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index.supply(value)
}

// forgotten reports whether a value that claims to come from a host belongs to deleted context of
// its domain, and the domain has not told it again.
func (c *Context) forgotten(from, value string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !slices.ContainsFunc(c.deleted, func(d deletion) bool { return under(d.Domain, from) }) {
		return false
	}
	f := fold(value)
	for id := range c.index.find(&f, c.index.tokenRows(&f)) {
		if o := c.index.origins[id]; !o.deleted && (o.tells(from) || under(o.serving, from)) {
			return false
		}
	}
	return true
}
