package agent

import (
	"slices"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/coded"
)

// informs are the informs that a session keeps, in order of arrival.
type informs struct {
	all   []*Inform
	known map[string]*Inform // by key
	sizes map[string]int     // by serving domain
	bytes int
}

func newInforms() *informs {
	return &informs{known: make(map[string]*Inform), sizes: make(map[string]int)}
}

// get returns the inform with the key of i, or nil.
func (s *informs) get(i *Inform) *Inform { return s.known[i.key()] }

// add appends an inform. The caller has removed any with the same key.
func (s *informs) add(i *Inform) {
	s.all, s.known[i.key()] = append(s.all, i), i
	s.sizes[i.Serving] += i.size()
	s.bytes += i.size()
}

// remove removes an inform.
func (s *informs) remove(k *Inform) {
	at := slices.Index(s.all, k)
	s.all = slices.Delete(s.all, at, at+1)
	delete(s.known, k.key())
	s.sizes[k.Serving] -= k.size()
	s.bytes -= k.size()
}

// oldest returns the oldest inform of the service that told most. So a service that tells a lot
// does not displace what others told.
func (s *informs) oldest() *Inform {
	most := s.all[0].Serving
	for domain, size := range s.sizes {
		if size > s.sizes[most] || size == s.sizes[most] && domain < most {
			most = domain
		}
	}
	return s.all[slices.IndexFunc(s.all, func(k *Inform) bool { return k.Serving == most })]
}

// ErrUsage is the error for a use of content that its usage does not permit (section 16.5).
var ErrUsage = coded.New("denied", "anml/agent: the usage of the content does not permit that")

// Allowed reports whether what was told may be used in some way at a time: nil or [ErrUsage].
// UsageDisplay means showing it later in the session, UsageCache keeping it until it expires,
// UsageStore keeping it without limit, and UsageTrain training a model with it, which needs the
// user's consent too. Reading and showing it at once is always allowed. This check cannot be turned
// off.
func (s *Session) Allowed(i Inform, use anml.Usage, now time.Time) error {
	if err := s.ready(); err != nil {
		return err
	}
	if !i.Usage.Allows(use) || use == anml.UsageTrain && !s.user.Policy.now().training || i.over(now) && use > anml.UsageNone {
		return ErrUsage
	}
	if use == anml.UsageCache && i.Expires.IsZero() && i.Usage < anml.UsageStore {
		return ErrUsage // kept for no time at all
	}
	return nil
}

// Allowed reports whether an element of the document may be used in some way: nil or [ErrUsage].
// See [Session.Allowed] for the uses. The element must belong to a section of the site.
func (p *Page) Allowed(site anml.Site, section anmltrust.Section, element anml.Node, use anml.Usage) error {
	if err := p.ready(); err != nil {
		return err
	}
	now := p.session.now()
	i := Inform{Usage: p.usage(site, section, element, now)}
	if p.opened.lifetime > 0 {
		i.Expires = p.opened.base.Add(p.opened.lifetime)
	}
	return p.session.Allowed(i, use, now)
}

// lifetimeOf returns how long an inform may be used, from its document's time on: the shortest of
// its own lifetime, the document's and that of HTTP (section 8.7.1).
func (p *Page) lifetimeOf(n anml.Inform) (life time.Duration, limited bool) {
	life, limited = n.TTL()
	if p.opened.limited && (!limited || p.opened.lifetime < life) {
		return p.opened.lifetime, true
	}
	return life, limited
}
