package agent

import (
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// ErrUsage is a use of content that its usage does not permit (section 16.5).
var ErrUsage = coded.New("denied", "anml/agent: the usage of the content does not permit that")

// Allowed reports whether what was told may be put to a use at a time: nil or an
// [ErrUsage]. UsageDisplay means showing it later in the session, UsageCache
// keeping it until it expires, UsageStore keeping it for good, UsageTrain training
// a model with it, which takes the user's consent too. Reading and showing it at
// once is always allowed. There is no switch that turns this off.
func (s *Session) Allowed(i Inform, use anml.Usage, now time.Time) error {
	if err := s.ready(); err != nil {
		return err
	}
	if !s.permits(i.Usage, use) || i.over(now) && use > anml.UsageNone {
		return ErrUsage
	}
	if use == anml.UsageCache && i.Expires.IsZero() && i.Usage < anml.UsageStore {
		return ErrUsage // kept for no time at all
	}
	return nil
}

// Allowed reports whether an element of the document's content may be put to a
// use: nil or an [ErrUsage]. See [Session.Allowed] for the uses; element belongs
// to a section of the site.
func (p *Page) Allowed(site anml.Site, section anmltrust.Section, element anml.Node, use anml.Usage) error {
	if err := p.ready(); err != nil {
		return err
	}
	now := p.session.now()
	i := Inform{Usage: p.EffectiveUsage(site, section, element)}
	if p.opened.limited && p.opened.lifetime > 0 {
		i.Expires = p.opened.base.Add(p.opened.lifetime)
	}
	return p.session.Allowed(i, use, now)
}

// EffectiveUsage is what may be done with an element of a section of a site: the
// lowest usage of everything that covers it, whoever declared it; nothing above
// display where its owner is not verified; nothing but showing it at once where
// the answer must not be stored (sections 8.1.1, 14.4 and 16.5).
func (p *Page) EffectiveUsage(site anml.Site, section anmltrust.Section, element anml.Node) anml.Usage {
	p = zero.Or(p)
	if p.opened.noStore {
		return anml.UsageNone
	}
	return p.usage(site, section, element, p.session.now())
}

// permits reports whether a usage, and the user where models are trained, allow
// a use.
func (s *Session) permits(usage, use anml.Usage) bool {
	return usage.Allows(use) && (use != anml.UsageTrain || s.user.Policy.TrainingConsent())
}

// usageOfInform is [Page.EffectiveUsage] for an inform: at Tier 1 only public ones
// are the site's.
func (p *Page) usageOfInform(site anml.Site, n anml.Inform, now time.Time) anml.Usage {
	if p.opened.noStore {
		return anml.UsageNone
	}
	u := p.usage(site, anmltrust.Knowledge, n.Node, now)
	if _, a := p.ownerOfInform(site, n, now); a == anmltrust.Dropped {
		u = min(u, anml.UsageDisplay)
	}
	return u
}

// lifetimeOf is how long an inform may be used, counted from its document's time:
// the smallest of its own lifetime, the document's and that of HTTP, of those
// that are given (section 8.7.1).
func (p *Page) lifetimeOf(n anml.Inform) (life time.Duration, limited bool) {
	life, limited = n.TTL()
	if p.opened.limited && (!limited || p.opened.lifetime < life) {
		return p.opened.lifetime, true
	}
	return life, limited
}
