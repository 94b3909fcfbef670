package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// source is where a text that the session read comes from, with everything that rules depend on.
// The zero source is the user.
type source struct {
	serving         string               // domain of the service that sent it
	host, site      string               // of an inform: the host that served it, and who it speaks for
	confidentiality anml.Confidentiality // of an inform; everything else is public
	inform          bool                 // it can be deleted
	deleted         bool                 // the user had it deleted: it goes to no service
	unsure          bool                 // the session has read the service, which may have told the value
}

// tells reports whether a source's texts count as told by a domain: by its serving domain, its host
// or the site that it speaks for.
func (s source) tells(domain string) bool { return under(domain, s.serving, s.host, s.site) }

// merged adds sources to a list, one for each service. The strictest confidentiality counts.
func merged(list, more []source) []source {
	for _, s := range more {
		s = source{serving: s.serving, confidentiality: s.confidentiality, deleted: s.deleted, unsure: s.unsure}
		at := slices.IndexFunc(list, func(known source) bool { return known.serving == s.serving && known.deleted == s.deleted })
		if at < 0 {
			list = append(list, s)
			continue
		}
		list[at].confidentiality = min(list[at].confidentiality, s.confidentiality)
		list[at].unsure = list[at].unsure && s.unsure
	}
	slices.SortStableFunc(list, func(a, b source) int { return cmp.Compare(a.serving, b.serving) })
	return list
}

// sources returns the services that a value comes from, other than its recipient, by its
// provenance:
//   - a value of the user's has none, and neither has one that the user supplied before;
//   - a value of a service has that service;
//   - all others, of a profile, a model or the host, have each service that told them. With
//     [CrossServiceStrict] they have each service that the session has read.
//
// If a service told the value too, that counts in the second case as well.
func (s *Session) sources(to string, v Value) []source {
	if v.Provenance == ProvenanceUser {
		return nil
	}
	found, supplied := s.context.index.match(to, v.Text)
	if v.Provenance == "" {
		if !supplied && s.user.Policy.CrossService == CrossServiceStrict {
			for _, name := range s.context.index.others(to) {
				found = merged(found, []source{{serving: name, confidentiality: anml.Public, unsure: true}})
			}
		}
		return found
	}
	server, err := serverOf(v.Provenance)
	switch {
	case err != nil: // it is unknown who told it, so it goes to no service
		return append(found, source{serving: v.Provenance, confidentiality: anml.Private})
	case s.context.forgotten(server.Host, v.Text):
		return append(found, source{serving: server.Domain, deleted: true})
	case server.Domain != to && !slices.ContainsFunc(found, func(s source) bool { return s.serving == server.Domain }):
		found = append(found, source{serving: server.Domain, confidentiality: anml.Public})
	}
	return found
}

// from returns the domains of sources in alphabetical order, without those of deleted context.
func from(sources []source) []string {
	var names []string
	for _, s := range sources {
		if !s.deleted {
			names = append(names, s.serving)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Supplied records a value that the user entered, in a chat or a form. From then on it is the
// user's in this session, and so are its words and numbers of six characters and more, even if
// services know them. Values that are sent with [ProvenanceUser] need not be supplied again.
func (c *Context) Supplied(value string) {
	if !c.unmade() {
		c.index.supply(value)
	}
}

// forgotten reports whether a value that claims to come from a host belongs to deleted context of
// its domain, and the domain has not told it again.
func (c *Context) forgotten(from, value string) bool {
	c.mu.RLock()
	deleted := slices.ContainsFunc(c.deleted, func(d deletion) bool { return under(d.Domain, from) })
	c.mu.RUnlock()
	if !deleted {
		return false
	}
	_ = c.index.hashWaiting(context.Background(), 0)
	again := false
	c.index.find("", fold(value).text, func(_ span, sent []source) {
		again = again || slices.ContainsFunc(sent, func(s source) bool { return !s.deleted && s.inform && (s.tells(from) || under(s.serving, from)) })
	})
	return !again
}

// flow is whether a value may go to a service.
type flow struct {
	verb   Verb
	code   lookleap.Code
	reason anml.Reason // of a refusal
}

// flowFrom decides whether a value with these sources may go to another service (section 14.2).
// Deleted and private content goes to no service. Restricted content needs an authorization of its
// own, and public content the user's consent to this disclosure.
func flowFrom(sources []source) flow {
	f := flow{verb: VerbAllow}
	for _, s := range sources {
		next := flow{VerbPrompt, CodeCrossService, ""}
		switch {
		case s.deleted:
			next = flow{VerbRefuse, CodeDeletedContext, anml.UserDenied}
		case s.confidentiality == anml.Private:
			next = flow{VerbRefuse, CodePrivateContext, anml.PolicyViolation}
		case s.confidentiality == anml.Restricted:
			next = flow{VerbDefer, CodeRestrictedContext, ""}
		}
		if next.verb < f.verb {
			f = next
		}
	}
	return f
}
