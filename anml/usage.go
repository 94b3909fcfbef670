package anml

import "github.com/beevik/etree"

// Usage returns what may be done with the element: the lowest of everything that covers it
// (sections 8.12.1 and 16.5):
//
//   - the nearest usage attribute, of the element or of an ancestor,
//   - each rights statement whose scope names the element or an ancestor,
//   - each rights statement of the same site without a scope, or whose scope does not exist.
//
// If nothing covers the element, it returns UsageCache: the content may be cached for the
// document's lifetime, and neither stored nor used for training.
func (v Node) Usage() Usage {
	if !v.n.ok() {
		return UsageNone
	}
	v.d.usagesComputed.Do(func() {
		v.d.usages = make(map[*etree.Element]Usage, len(v.d.tree.notes))
		v.d.computeUsages(v.d.root(), undeclared, undeclared, v.d.grantedUsages())
	})
	if u := v.d.usages[v.n.e]; u != undeclared {
		return u
	}
	return UsageCache
}

// undeclared is above every usage: nothing covers the element.
const undeclared = UsageTrain + 1

// computeUsages computes the usage of an element and its descendants from what covers its parent.
// Computing one element at a time would take time in proportion to the rights statements times
// the elements that they name, for each element.
func (d *Document) computeUsages(n node, stated, granted Usage, grants map[*etree.Element]Usage) {
	if u, ok := grants[n.e]; ok {
		granted = min(granted, u)
	}
	if at := n.lookup("usage"); at.ok() && n.kind() != kRights {
		stated = parseUsage(at.value)
	}
	d.usages[n.e] = min(stated, granted)
	for c := range n.all() {
		if c.data == nil {
			d.computeUsages(c, stated, granted, grants)
		}
	}
}

// grantedUsages returns the lowest usage of the rights statements that name an element, or that
// cover the whole site if the element is a site. A statement whose scope does not exist covers the
// site: a typing error must not lift a restriction. A surplus footer restricts like the first one.
func (d *Document) grantedUsages() map[*etree.Element]Usage {
	lowest := make(map[scope]Usage) // so that each scope is resolved once
	lower := func(at scope, u Usage) {
		if known, ok := lowest[at]; !ok || u < known {
			lowest[at] = u
		}
	}
	d.root().walk(func(n node) bool {
		if r := (Rights{Node{n, d}}); n.kind() == kRights && r.Exists() {
			lower(scope{n.parent().parent().e, r.Scope()}, r.Usage())
		}
		return true
	})
	granted := make(map[*etree.Element]Usage)
	for at, usage := range lowest {
		targets := d.scoped(at)
		if len(targets) == 0 {
			targets = []node{{e: at.parent}}
		}
		for _, t := range targets {
			if known, ok := granted[t.e]; !ok || usage < known {
				granted[t.e] = usage
			}
		}
	}
	return granted
}

// scope is an id in one site, or in one section of it.
type scope struct {
	parent *etree.Element // the site or section
	id     string
}

// scoped returns the usable elements that a scope names.
func (d *Document) scoped(at scope) []node {
	d.idsIndexed.Do(d.indexIDs)
	return d.ids[at]
}

// indexIDs collects the ids of all usable elements that a scope can name, by site. It must run
// after everything that is not processed is marked.
func (d *Document) indexIDs() {
	d.ids = make(map[scope][]node)
	site := d.root()
	site.walk(func(n node) bool {
		if n.kind() == kSite {
			site = n
		}
		if id := n.value("id"); id != "" && n.usable() {
			at := scope{site.e, id}
			d.ids[at] = append(d.ids[at], n)
		}
		return n.usable() || n.kind() == kSite
	})
}

// Scoped returns the elements of the same site that a scope names. An empty result means that the
// scope does not exist, so that it covers the whole site.
func (v Node) Scoped(id string) []Node {
	if !v.n.ok() {
		return nil
	}
	var out []Node
	for _, n := range v.d.scoped(scope{siteOf(v.n).e, id}) {
		out = append(out, Node{n, v.d})
	}
	return out
}

// siteOf returns the site that contains a node, or the root.
func siteOf(n node) node {
	for n.parent().ok() && n.kind() != kSite {
		n = n.parent()
	}
	return n
}

// LowestUsage returns the lowest usage of all parts of the document. A document below UsageCache
// must not be stored in a persistent cache.
func (d *Document) LowestUsage() Usage {
	lowest := UsageTrain
	d.root().walk(func(n node) bool {
		if !n.usable() {
			return false
		}
		if at := n.lookup("usage"); at.ok() {
			lowest = min(lowest, parseUsage(at.value))
		} else if n.kind() == kRights {
			lowest = UsageNone
		}
		return true
	})
	return lowest
}
