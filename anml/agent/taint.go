package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
)

// source is a service that a value came from, as far as the session remembers.
type source struct {
	Domain          string               // serving domain that told it
	Confidentiality anml.Confidentiality // the strictest under which it was told
	Deleted         bool                 // the user had the context deleted: the value goes to nobody
}

// taint lists the services that told a value, other than the serving domain to;
// a value of deleted context is listed whoever told it (sections 14.1 and 14.2).
//
// A service told a value if one of its informs says the same, or holds a token of six
// characters or more of it: a word, what stands between white space, a row of words
// with digits, or all of it. Everything else that it delivered counts likewise, but
// for what is in every document: a word without a digit has to be the whole value and
// all of a text, and a value of fewer than six characters needs four and a digit too,
// and is no year. How either is spelled or encoded makes no difference: see [folded]
// and [readings]. A value that the user supplied as well is the user's.
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
		if len(f.runes) == 0 {
			continue
		}
		c.mu.RLock()
		tokens, supplied := c.index.tokenRows(&f), c.index.isOwn(&f, f.whole())
		if supplied {
			c.mu.RUnlock()
			if i == 0 {
				return nil
			}
			continue
		}
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

// hearPage remembers everything that a page holds beside its informs as told by
// whoever delivered it.
func (c *Context) hearPage(ctx context.Context, p *Page) error {
	doc := p.doc
	return c.heard.hear(ctx, speaker{tellerOf(p.url), anml.Public}, p.opened.octets, func(yield func(string) bool) {
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
	})
}

// tellerOf is the domain that what a URL delivers is told by.
func tellerOf(u domain.URL) string {
	if server, err := anmltrust.ServerOf(u.String()); err == nil && server.Domain != "" {
		return server.Domain
	}
	return u.Host()
}

// hearBody remembers an answer that is no document, or a medium. Pictures, sounds and
// films hold no text that a value could be compared with.
func (c *Context) hearBody(ctx context.Context, u domain.URL, mediaType string, body []byte) error {
	kind, _, _ := strings.Cut(mediaType, "/")
	if len(body) == 0 || slices.Contains(wordless[:], kind) && mediaType != "image/svg+xml" {
		return nil
	}
	return c.heard.hear(ctx, speaker{tellerOf(u), anml.Public}, len(body), slices.Values([]string{strings.ToValidUTF8(string(body), " ")}))
}

// hearRemark remembers a word of a server's outside of any content.
func (c *Context) hearRemark(u domain.URL, text string) {
	_ = c.heard.hear(context.Background(), speaker{tellerOf(u), anml.Public}, len(text), slices.Values([]string{text})) // what is too much was told before it
}

// wordless are the kinds of media types that hold no text.
var wordless = [...]string{"image", "audio", "video", "font"}

// Supplied remembers a value that the user gave, in a chat or a form: it is the
// user's from then on, in this session, whoever else knows it. Values that are
// told with [ProvenanceUser] need not be supplied again.
func (c *Context) Supplied(value string) {
	if c.unmade() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index.supply(value)
}

// forgotten reports whether a value that is said to come from a domain belongs to
// context of it that the user had deleted: it has not told the value again.
func (c *Context) forgotten(from, value string) bool {
	from, err := hostKey(from)
	if err != nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !slices.ContainsFunc(c.deleted, func(d deletion) bool { return under(d.Domain, from) }) {
		return false
	}
	f := fold(value)
	if len(f.runes) == 0 {
		return true // it says nothing that anybody told
	}
	for id := range c.index.find(&f, c.index.tokenRows(&f)) {
		if o := c.index.origins[id]; !o.deleted && (o.tells(from) || under(o.serving, from)) {
			return false
		}
	}
	return true
}

// tells reports whether what an origin told counts as told by a domain: by its
// serving domain, its host or the site that it claims to speak for.
func (o origin) tells(domain string) bool { return under(domain, o.serving, o.host, o.site) }
