package anml

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
	v.d.usagesComputed.Do(v.d.computeUsages)
	if u := v.d.usages[v.n.i]; u != undeclared {
		return u
	}
	return UsageCache
}

// undeclared is above every usage: nothing covers the element.
const undeclared = UsageTrain + 1

// computeUsages computes the usage of every element in one pass from the root down; a row always
// follows the row of its parent. Computing one element at a time would take time in proportion to
// the rights statements times the elements that they name, for each element.
func (d *Document) computeUsages() {
	rows := d.tree.rows
	granted := d.grantedUsages()
	d.usages = make([]Usage, len(rows))
	stated := make([]Usage, len(rows)) // by the nearest usage attribute
	stated[0] = undeclared
	for i := root; i < len(rows); i++ {
		above := rows[i].parent
		granted[i] = min(granted[i], granted[above])
		stated[i] = stated[above]
		if n := (node{&d.tree, int32(i)}); n.kind() != kRights {
			if at := n.lookup("usage"); at.ok() {
				stated[i] = ParseUsage(at.value)
			}
		}
		d.usages[i] = min(stated[i], granted[i])
	}
}

// grantedUsages returns, by row, the lowest usage of the rights statements that name the element,
// or that cover the whole site if the element is a site. A statement whose scope does not exist
// covers the site: a typing error must not lift a restriction. A surplus footer restricts like
// the first one.
func (d *Document) grantedUsages() []Usage {
	rows := d.tree.rows
	granted := make([]Usage, len(rows))
	for i := range granted {
		granted[i] = undeclared
	}
	lowest := make(map[scope]Usage) // so that each scope is resolved once
	for i := range rows {
		r := Rights{Node{node{&d.tree, int32(i)}, d}}
		if rows[i].kind != kRights || !r.Exists() {
			continue
		}
		at := scope{rows[rows[i].parent].parent, r.Scope()}
		if known, ok := lowest[at]; !ok || r.Usage() < known {
			lowest[at] = r.Usage()
		}
	}
	for at, usage := range lowest {
		targets := d.scoped(at)
		if len(targets) == 0 {
			targets = []int32{at.parent}
		}
		for _, t := range targets {
			granted[t] = min(granted[t], usage)
		}
	}
	return granted
}

// scope is an id in one site, or in one section of it.
type scope struct {
	parent int32 // row of the site or section
	id     string
}

// scoped returns the rows of the usable elements that a scope names.
func (d *Document) scoped(at scope) []int32 {
	d.idsIndexed.Do(d.indexIDs)
	return d.ids[at]
}

// indexIDs collects the ids of all usable elements that a scope can name, by site. It must run
// after everything that is not processed is marked.
func (d *Document) indexIDs() {
	d.ids = make(map[scope][]int32)
	site := int32(root)
	d.root().walk(func(n node) bool {
		if n.kind() == kSite {
			site = n.i
		}
		if id := n.value("id"); id != "" && n.usable() {
			d.ids[scope{site, id}] = append(d.ids[scope{site, id}], n.i)
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
	for _, i := range v.d.scoped(scope{siteOf(v.n).i, id}) {
		out = append(out, Node{node{&v.d.tree, i}, v.d})
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
			lowest = min(lowest, ParseUsage(at.value))
		} else if n.kind() == kRights {
			lowest = UsageNone
		}
		return true
	})
	return lowest
}
