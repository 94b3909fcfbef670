package agent

import (
	"cmp"
	"slices"

	"github.com/lookleap/lookleap/anml"
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
// A service told a value if one of its informs says the same, or holds a token of
// six characters or more of it: a word, what stands between white space, a row of
// words with digits, or all of it. How either is spelled makes no difference: see
// [folded]. A value that the user supplied as well is the user's.
func (c *Context) taint(to, value string) []source {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var sources []source
	own := ""
	for id := range c.index.find(value) {
		if own == "" { // most values came from nobody
			own = to
			if key, err := domainKey(to); err == nil {
				own = key
			}
		}
		o := c.index.origins[id]
		if o.serving == own && !o.deleted {
			continue
		}
		s := source{o.serving, o.confidentiality, o.deleted}
		at := slices.IndexFunc(sources, func(known source) bool { return known.Domain == s.Domain && known.Deleted == s.Deleted })
		if at < 0 {
			sources = append(sources, s)
			continue
		}
		sources[at].Confidentiality = min(sources[at].Confidentiality, s.Confidentiality)
	}
	slices.SortFunc(sources, func(a, b source) int { return cmp.Compare(a.Domain, b.Domain) })
	return sources
}

// Supplied remembers a value that the user gave, in a chat or a form: it is the
// user's from then on, in this session, whoever else knows it. Values that are
// told with [ProvenanceUser] need not be supplied again.
func (c *Context) Supplied(value string) {
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
	for id := range c.index.find(value) {
		if o := c.index.origins[id]; !o.deleted && !o.blind && (o.tells(from) || under(o.serving, from)) {
			return false
		}
	}
	return true
}

// tells reports whether what an origin told counts as told by a domain: by its
// serving domain, its host or the site that it claims to speak for.
func (o origin) tells(domain string) bool { return under(domain, o.serving, o.host, o.site) }
