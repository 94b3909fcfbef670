package anml

// Usage gives what may be done with an element: the lowest of everything that
// covers it (sections 8.12.1 and 16.5):
//
//   - the nearest usage attribute of the element or of one around it,
//   - each rights statement whose scope names the element or one around it,
//   - each rights statement of the same site without a scope, or whose scope
//     names nothing.
//
// Where nothing is declared at all, caching within the document's lifetime is
// what is left, and never storing or training.
func (v Node) Usage() Usage {
	if !v.n.ok() {
		return UsageNone
	}
	lowest, declared := UsageTrain, false
	lower := func(u Usage) {
		declared = true
		lowest = min(lowest, u)
	}
	for n := v.n; n.ok(); n = n.parent() {
		if at := n.lookup("usage"); at.ok() && n.kind() != kRights {
			lower(ParseUsage(at.value))
			break
		}
	}
	site := container(v.n)
	for footer := site.first(); footer.ok(); footer = footer.next() {
		if footer.kind() != kFooter { // a surplus footer restricts all the same
			continue
		}
		for r := range (Footer{Node{footer, v.d}}).Rights() {
			if r.Scope() == "" || v.d.covers(site, r.Scope(), v.n) {
				lower(r.Usage())
			}
		}
	}
	if !declared {
		return UsageCache
	}
	return lowest
}

// covers reports whether a scope reaches a node: it names the node or one
// around it, or nothing at all, which a typing error must not turn into freedom.
func (d *Document) covers(site node, scope string, n node) bool {
	targets := d.named(site, scope)
	if len(targets) == 0 {
		return true
	}
	for ; n.ok(); n = n.parent() {
		for _, t := range targets {
			if t == n {
				return true
			}
		}
	}
	return false
}

// named lists the usable elements of a site that have an id.
func (d *Document) named(site node, id string) (found []node) {
	d.indexed.Do(d.index)
	for _, n := range d.ids[id] {
		if container(n) == site && n.usable() {
			found = append(found, n)
		}
	}
	return found
}

// index collects the ids of steps, actions, sections, data and items, once and
// only for documents in which somebody asks.
func (d *Document) index() {
	d.ids = make(map[string][]node)
	d.root().walk(func(n node) bool {
		if id := n.value("id"); id != "" && n.usable() {
			d.ids[id] = append(d.ids[id], n)
		}
		return n.usable() && n.kind() != kPersona && n.kind() != kAesthetic
	})
}

// container gives the site that holds a node, or the root.
func container(n node) node {
	for n.parent().ok() && n.kind() != kSite {
		n = n.parent()
	}
	return n
}

// Scoped lists the elements that a scope names in the same site; none means that
// the scope reaches nothing, and so the whole site.
func (v Node) Scoped(scope string) []Node {
	if !v.n.ok() || scope == "" {
		return nil
	}
	var out []Node
	for _, n := range v.d.named(container(v.n), scope) {
		out = append(out, Node{n, v.d})
	}
	return out
}

// LowestUsage is the lowest usage of any part of the document: below
// UsageCache, the document does not belong into a lasting cache.
func (d *Document) LowestUsage() Usage {
	lowest := UsageTrain
	d.root().walk(func(n node) bool {
		if !n.usable() {
			return false
		}
		if at := n.lookup("usage"); at.ok() {
			lowest = min(lowest, ParseUsage(at.value))
		} else if n.kind() == kRights {
			lowest = UsageNone
		}
		return true
	})
	return lowest
}
