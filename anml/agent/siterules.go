package agent

import "github.com/lookleap/lookleap/anml"

// siteRules are what the constraints of a site demand.
type siteRules struct {
	written anml.Rules
	spelled spelledRules
	exact   map[string]anml.Rule // what rule gives for the fields that they name
}

// rule is what they demand for a field.
func (r *siteRules) rule(field string) anml.Rule {
	if rule, ok := r.exact[field]; ok {
		return rule
	}
	return r.spelled.tighten(r.written.Rule(field))
}

// rules gives those of a site of the page, which are worked out once.
func (p *Page) rules(site anml.Site) *siteRules {
	if known, ok := p.bySite.Load(site); ok {
		return known.(*siteRules)
	}
	c := site.Constraints()
	r := &siteRules{c.Rules(p.session.agent.recognised), spelledRulesOf(c), make(map[string]anml.Rule)}
	for d := range c.Disclosures() {
		r.exact[d.Field()] = r.spelled.tighten(r.written.Rule(d.Field()))
	}
	p.bySite.Store(site, r)
	return r
}

// spelledRules are the strictest of the rules that a site writes for any spelling
// of a field, by its key.
type spelledRules map[string]anml.Rule

func spelledRulesOf(c anml.Constraints) spelledRules {
	var all spelledRules
	for d := range c.Disclosures() {
		if all == nil {
			all = make(spelledRules)
		}
		key := fieldKey(d.Field())
		r, ok := all[key]
		if !ok {
			r.Requires = anml.RequiresNothing
		}
		r.Requires = r.Requires.Stricter(d.Requires())
		if v, limited := d.ValidFor(); limited && (!r.Limited || v < r.ValidFor) {
			r.ValidFor, r.Limited = v, true
		}
		all[key] = r
	}
	return all
}

// tighten makes a rule as strict as those for other spellings of its field. They
// never stand in for a rule of its own.
func (all spelledRules) tighten(r anml.Rule) anml.Rule {
	other, ok := all[fieldKey(r.Field)]
	if !ok {
		return r
	}
	if other.Requires.Rank() > anml.RequiresNothing.Rank() && !r.Declared && r.Raised == "" {
		r.Raised = "other-spelling"
	}
	r.Requires = r.Requires.Stricter(other.Requires)
	if other.Limited && (!r.Limited || other.ValidFor < r.ValidFor) {
		r.ValidFor, r.Limited = other.ValidFor, true
	}
	return r
}
