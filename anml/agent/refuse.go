package agent

import (
	"context"
	"strings"
)

// RefuseDomain refuses every ask from a domain and the names below it, as the
// user directs, whatever a document, a rule or an earlier consent says (section
// 14.1). It holds at once, also for calls that are prepared and not yet sent, and
// in later sessions with the same [Store], until [Session.AllowDomain]. The error
// is one of the domain's form or of the store; it holds for this session even if
// the store fails.
func (s *Session) RefuseDomain(ctx context.Context, domain string) error {
	name, err := hostKey(domain)
	if err != nil {
		return err
	}
	if err := s.user.Policy.RefuseDomain(name); err != nil {
		return err
	}
	now, err := s.agent.host.Time().UTC().MarshalText()
	if err == nil {
		err = s.store().Put(ctx, keyRefused+name, now)
	}
	if err != nil {
		return contextFailed(err)
	}
	s.context.knowRefused(name, true)
	return nil
}

// AllowDomain takes back the refusal of exactly this domain. Only the user may
// want that. With an error the domain stays refused.
func (s *Session) AllowDomain(ctx context.Context, domain string) error {
	name, err := hostKey(domain)
	if err != nil {
		return err
	}
	if err := s.store().Delete(ctx, keyRefused+name); err != nil {
		return contextFailed(err)
	}
	s.context.knowRefused(name, false)
	return s.user.Policy.AcceptDomain(name)
}

// RefusedDomains lists the domains that the user refuses, in alphabetical order.
func (s *Session) RefusedDomains() []string { return s.user.Policy.RefusedDomains() }

func (c *Context) knowRefused(name string, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if yes {
		c.refused[name] = true
	} else {
		delete(c.refused, name)
	}
}

// refreshRefused takes up what the store says about refused domains, and what
// other sessions have taken back.
func (c *Context) refreshRefused(ctx context.Context) error {
	keys, err := c.session.store().Keys(ctx, keyRefused)
	if err != nil {
		return contextFailed(err)
	}
	policy := c.session.user.Policy
	stored := make(map[string]bool, len(keys))
	for _, key := range keys {
		name := strings.TrimPrefix(key, keyRefused)
		stored[name] = true
		if err := policy.RefuseDomain(name); err != nil {
			return contextFailed(err)
		}
	}
	c.mu.Lock()
	known := c.refused
	c.refused = stored
	c.mu.Unlock()
	for name := range known {
		if c.session.keeps() && !stored[name] {
			if err := policy.AcceptDomain(name); err != nil {
				return contextFailed(err)
			}
		}
	}
	return nil
}
