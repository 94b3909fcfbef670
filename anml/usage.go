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
	v.d.covered.Do(v.d.cover)
	if u := v.d.usages[v.n.i]; u != undeclared {
		return u
	}
	return UsageCache
}

// undeclared is above every usage: nothing that covers the element says anything.
const undeclared = UsageTrain + 1

// cover computes the usage of every element in one pass from the root down. A row
// comes after the row of the element around it. It is done once, when the first
// usage is asked for: one element at a time would cost the number of rights
// statements times the number of elements that they name, for each element.
func (d *Document) cover() {
	rows := d.tree.rows
	granted := d.granted()
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

// granted lists, by row, the lowest usage of the rights statements that name the
// element, or that cover the whole site where the element is one. A statement
// whose scope names nothing covers the site: a typing error must not turn into
// freedom. A surplus footer restricts like the first.
func (d *Document) granted() []Usage {
	rows := d.tree.rows
	granted := make([]Usage, len(rows))
	for i := range granted {
		granted[i] = undeclared
	}
	lowest := make(map[scope]Usage) // each scope is resolved once, however many statements share it
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
		targets := d.named(at)
		if len(targets) == 0 {
			targets = []int32{at.site}
		}
		for _, t := range targets {
			granted[t] = min(granted[t], usage)
		}
	}
	return granted
}

// scope is an id in one site, or in one section of it, whose row is given.
type scope struct {
	site int32
	id   string
}

// named lists the rows of the usable elements that a scope means.
func (d *Document) named(at scope) []int32 {
	d.indexed.Do(d.index)
	return d.ids[at]
}

// index collects the ids of steps, actions, sections, data and items by site, once
// and only for documents in which a scope is resolved. It runs after everything
// that must not be processed is marked.
func (d *Document) index() {
	d.ids = make(map[scope][]int32)
	site := int32(root)
	d.root().walk(func(n node) bool {
		if n.kind() == kSite {
			site = n.i
		}
		if id := n.value("id"); id != "" && n.usable() {
			d.ids[scope{site, id}] = append(d.ids[scope{site, id}], n.i)
		}
		return (n.usable() || n.kind() == kSite) && n.kind() != kPersona && n.kind() != kAesthetic
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
func (v Node) Scoped(id string) []Node {
	if !v.n.ok() || id == "" {
		return nil
	}
	var out []Node
	for _, i := range v.d.named(scope{container(v.n).i, id}) {
		out = append(out, Node{node{&v.d.tree, i}, v.d})
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
