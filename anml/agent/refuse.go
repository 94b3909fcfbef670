package agent

import (
	"context"
	"maps"
	"strings"

	"github.com/lookleap/lookleap/internal/zero"
)

// RefuseDomain refuses every ask from a domain and the names below it, as the
// user directs, whatever a document, a rule or an earlier consent says (section
// 14.1). It holds at once, also for calls that are prepared and not yet sent, and
// in later sessions with the same [Store], until [Session.AllowDomain]. The error
// is one of the domain's form or of the store; it holds for this session even if
// the store fails.
func (s *Session) RefuseDomain(ctx context.Context, domain string) error {
	if err := s.ready(); err != nil {
		return err
	}
	name, err := policyHost(domain)
	if err != nil {
		return err
	}
	if err := s.user.Policy.RefuseDomain(name); err != nil {
		return err
	}
	now, err := s.now().UTC().MarshalText()
	if err == nil {
		err = s.store().Put(ctx, keyRefused+name, now)
	}
	if err != nil {
		return contextFailed(err)
	}
	return s.context.knowRefused(name)
}

// AllowDomain takes back the refusal of exactly this domain. Only the user may
// want that. With an error the domain stays refused.
func (s *Session) AllowDomain(ctx context.Context, domain string) error {
	if err := s.ready(); err != nil {
		return err
	}
	name, err := policyHost(domain)
	if err != nil {
		return err
	}
	if err := s.store().Delete(ctx, keyRefused+name); err != nil {
		return contextFailed(err)
	}
	s.context.knowAllowed(name)
	return s.user.Policy.AcceptDomain(name)
}

// RefusedDomains lists the domains that the user refuses, in alphabetical order.
func (s *Session) RefusedDomains() []string { return zero.Or(s).user.Policy.RefusedDomains() }

// refusals are the domains that the store says are refused, each with the turn at
// which the session got to know it.
type refusals struct {
	known map[string]int
	turn  int
}

func (r *refusals) know(name string) {
	r.turn++
	r.known[name] = r.turn
}

// knowRefused takes note of a refusal that is in the store now. The policy is told
// again, since somebody may have taken back an earlier refusal meanwhile.
func (c *Context) knowRefused(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused.know(name)
	return c.session.user.Policy.RefuseDomain(name)
}

func (c *Context) knowAllowed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.refused.known, name)
}

// refreshRefused takes up what the store says about refused domains, and what
// other sessions have taken back. A refusal that comes while the store is read is
// not one that was taken back.
func (c *Context) refreshRefused(ctx context.Context) error {
	c.mu.RLock()
	before := maps.Clone(c.refused.known)
	c.mu.RUnlock()
	keys, err := c.session.store().Keys(ctx, keyRefused)
	if err != nil {
		return contextFailed(err)
	}
	policy := c.session.user.Policy
	stored := make(map[string]bool, len(keys))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		name := strings.TrimPrefix(key, keyRefused)
		stored[name] = true
		if c.refused.known[name] == 0 {
			c.refused.know(name)
		}
		if err := policy.RefuseDomain(name); err != nil {
			return contextFailed(err)
		}
	}
	for name, turn := range before {
		if !c.session.keeps() || stored[name] || c.refused.known[name] != turn {
			continue
		}
		delete(c.refused.known, name)
		if err := policy.AcceptDomain(name); err != nil {
			return contextFailed(err)
		}
	}
	return nil
}
