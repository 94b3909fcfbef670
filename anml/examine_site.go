package anml

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
)

// sites checks the sites of a multi-site document against one another.
func (e *examination) sites(root node) {
	byDomain := map[string][]node{}
	for c := root.first(); c.ok(); c = c.next() {
		if c.kind() != kSite {
			continue
		}
		if !hasKnownChild(c) {
			c.mark(ignored | malformed)
			e.add(c, lookleap.SeverityError, CodeEmptySite, "ANML-8.2-11", "the site is empty, so it is not processed", "")
		}
		if domain := normalDomain(c.value("domain")); domain != "" {
			byDomain[domain] = append(byDomain[domain], c)
		}
	}
	for c := root.first(); c.ok(); c = c.next() {
		if c.kind() != kSite {
			continue
		}
		domain := normalDomain(c.value("domain"))
		if len(byDomain[domain]) > 1 {
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, CodeDuplicateSite, "ANML-8.2-12", "several sites are of the domain "+quoted(domain)+", so none is processed", "keep one of them")
		}
		e.container(c)
	}
	if len(e.o.Self) > 0 && !slices.ContainsFunc(e.o.Self, func(self string) bool { return len(byDomain[normalDomain(self)]) > 0 }) {
		e.add(root, lookleap.SeverityError, CodeNoServingSite, "ANML-8.1-19", "none of the sites is the one that serves the document", "")
	}
}

func hasKnownChild(n node) bool {
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() > kText {
			return true
		}
	}
	return false
}

// container checks what belongs together in one site, or in the root.
func (e *examination) container(n node) {
	if e.response {
		e.responseSections(n)
	}
	e.order(n)
	e.claims(n)
	site := Site{Node{n, e.doc}}
	actions := e.actionIDs(site.Interact())
	e.knowledge(site, actions)
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == kState && c.usable() {
			e.flow(actions, c)
		}
	}
}

// responseSections ignores what an agent response must not hold (section 11.1).
func (e *examination) responseSections(n node) {
	for c := n.first(); c.ok(); c = c.next() {
		switch c.kind() {
		case kInteract, kPersona, kAesthetic, kConstraints, kState:
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, CodeRoleContent, "ANML-11.1-10", "an agent response holds "+schema[c.kind()].name+", which is ignored", "remove it")
		}
	}
	if n.kind() == kSite {
		e.add(n, lookleap.SeverityError, CodeRoleContent, "ANML-11.1-09", "an agent response holds a site", "remove it")
	}
}

// order notes framing sections that follow the body.
func (e *examination) order(n node) {
	body := false
	for c := n.first(); c.ok(); c = c.next() {
		switch c.kind() {
		case kBody:
			body = true
		case kConstraints, kState, kInteract, kKnowledge, kPersona:
			if body {
				e.add(c, lookleap.SeverityInfo, CodeSectionSeq, "ANML-8.1-25", schema[c.kind()].name+" follows the body", "put the body behind the framing sections")
			}
		}
	}
}

// claims checks trust in the head: one claim, and only in a single-site document.
func (e *examination) claims(n node) {
	head := n.child(kHead)
	if !head.ok() {
		return
	}
	var first node
	for c := head.first(); c.ok(); c = c.next() {
		if c.kind() != kTrust {
			continue
		}
		if n.kind() == kSite {
			c.mark(ignored)
			e.add(c, lookleap.SeverityWarning, CodeClaim, "ANML-12.5-01", "trust in a site claims nothing: the domain of the site counts", "remove it")
			continue
		}
		if !c.usable() {
			continue
		}
		if !first.ok() {
			first = c
		} else if normalDomain(c.value("domain")) != normalDomain(first.value("domain")) {
			e.add(c, lookleap.SeverityError, CodeClaim, "ANML-12.5-06", "the document claims to speak for two sites", "use a site element for each")
		}
	}
}

// actions are those of a site by their ids.
type actions map[string]Action

// once reports whether a reference means exactly one of them.
func (a actions) once(id string) bool { return a[id].Exists() && a[id].n.flags()&ambiguous == 0 }

// actionIDs lists the actions of a site, and marks those that a reference could
// confuse (section 8.6.1).
func (e *examination) actionIDs(i Interact) actions {
	seen := actions{}
	for a := range i.Actions() {
		if other, twice := seen[a.ID()]; twice {
			other.n.mark(ambiguous)
			a.n.mark(ambiguous)
			e.add(a.n, lookleap.SeverityError, CodeDuplicateID, "ANML-8-04", "several actions have the id "+quoted(a.ID())+", so none of them is executed", "rename one of them")
		}
		seen[a.ID()] = a
	}
	return seen
}

// knowledge checks what asks and rules say about one another.
func (e *examination) knowledge(site Site, known actions) {
	k := site.Knowledge()
	asked := map[string]bool{}
	for a := range k.Asks() {
		asked[a.Field()] = true
		if e.response {
			continue // the action is one of the document being answered
		}
		if known.once(a.Action()) {
			continue
		}
		if a.n.mark(dangling); !e.full() {
			e.add(a.n, lookleap.SeverityError, CodeNoAction, "ANML-8.7.2-03", "the ask names the action "+quoted(a.Action())+", which is not there once", "")
		}
	}
	ruled := map[string]bool{}
	for d := range site.Constraints().Disclosures() {
		ruled[d.Field()] = true
		if !asked[d.Field()] {
			e.add(d.n, lookleap.SeverityWarning, CodeDangling, "ANML-8.4.1-02", "the rule names the field "+quoted(d.Field())+", which no ask asks for", "")
		}
	}
	if e.response {
		return
	}
	for c := range k.Answers() {
		e.add(c.n, lookleap.SeverityInfo, CodeRoleContent, "ANML-8.7-01", "a service document holds an answer", "")
		break
	}
	for c := range k.Refuses() {
		e.add(c.n, lookleap.SeverityInfo, CodeRoleContent, "ANML-8.7-01", "a service document holds a refuse", "")
		if f := c.Constraint(); f != "" && !ruled[f] {
			e.add(c.n, lookleap.SeverityWarning, CodeDangling, "ANML-8.7.4-03", "the refuse names a rule for "+quoted(f)+", which is not there", "")
		}
	}
}

// flow checks steps, their references and the context (sections 8.5 and 11.4).
func (e *examination) flow(known actions, state node) {
	flow := state.child(kFlow)
	steps := map[string]node{}
	if flow.ok() {
		for c := flow.first(); c.ok(); c = c.next() {
			if c.kind() != kStep || !c.usable() {
				continue
			}
			id := c.value("id")
			if steps[id].ok() {
				c.mark(ignored)
				e.add(c, lookleap.SeverityError, CodeDuplicateID, "ANML-8.5.3-02", "the step "+quoted(id)+" stands twice; the first one counts", "rename one of them")
				continue
			}
			steps[id] = c
		}
		e.edges(known, flow, steps)
		if e.cycle(flow, steps) {
			flow.mark(ignored | malformed)
			if context := state.child(kContext); context.ok() {
				context.mark(ignored)
			}
			return
		}
	}
	e.context(state, steps)
}

func (e *examination) edges(known actions, flow node, steps map[string]node) {
	for c := flow.first(); c.ok(); c = c.next() {
		if c.kind() != kStep || !c.usable() {
			continue
		}
		if next := c.value("next"); next != "" && !steps[next].ok() {
			e.add(c, lookleap.SeverityWarning, CodeDangling, "ANML-8.5.3-01", "the step names the step "+quoted(next)+", which is not there", "")
		}
		if action := c.value("action"); action != "" && !known.once(action) {
			e.add(c, lookleap.SeverityWarning, CodeDangling, "ANML-8.5.3-01", "the step names the action "+quoted(action)+", which is not there once", "")
		}
	}
}

// cycle follows next from every step, each once, and reports whether some
// circle has no condition on it.
func (e *examination) cycle(flow node, steps map[string]node) bool {
	const fresh, onPath, done = 0, 1, 2
	state := make(map[node]int, len(steps))
	endless := false
	for c := flow.first(); c.ok(); c = c.next() {
		var walked []node
		s := c
		for s.ok() && s.kind() == kStep && s.usable() && state[s] == fresh {
			state[s] = onPath
			walked = append(walked, s)
			s = steps[s.value("next")]
		}
		if s.ok() && state[s] == onPath {
			open := false
			for i := len(walked) - 1; ; i-- {
				open = open || walked[i].value("condition") != ""
				if walked[i] == s {
					break
				}
			}
			if open {
				e.add(s, lookleap.SeverityWarning, CodeFlowCycle, "ANML-11.4-11", "the flow comes back to the step "+quoted(s.value("id"))+" unless a condition ends it", "")
			} else {
				endless = true
				e.add(s, lookleap.SeverityError, CodeFlowCycle, "ANML-11.4-11", "the flow comes back to the step "+quoted(s.value("id"))+" without an exit, so it is not used", "give one of the steps another next, or a condition")
			}
		}
		for _, w := range walked {
			state[w] = done
		}
	}
	return endless
}

func (e *examination) context(state node, steps map[string]node) {
	context := state.child(kContext)
	if !context.ok() {
		return
	}
	step := context.child(kContextStep)
	if !step.ok() {
		context.mark(ignored)
		e.add(context, lookleap.SeverityError, CodeMalformed, "ANML-8.5.1-01", "the context names no step", "write <step>")
		return
	}
	text := step.content()
	id := trimSpace(text)
	if id != text {
		e.add(step, lookleap.SeverityInfo, CodeLint, "ANML-8.5.1-02", "the step of the context stands between white space", "")
	}
	if !steps[id].ok() {
		context.mark(ignored)
		e.add(context, lookleap.SeverityError, CodeDangling, "ANML-11.4-05", "the context names the step "+quoted(id)+", which is not in the flow, so the position is unknown", "")
	}
}

// scopes checks what inform, rights and attribution say they are about, and the
// ids of what they could mean, in every site.
func (e *examination) scopes(root node) {
	ids, site := map[scope]bool{}, root.i
	root.walk(func(n node) bool {
		if !n.usable() && n.kind() != kSite {
			return false
		}
		switch n.kind() {
		case kSite:
			site = n.i
		case kInform, kRights, kAttribution:
			if id := n.value("scope"); id != "" && len(e.doc.named(scope{site, id})) == 0 && !e.full() {
				e.add(n, lookleap.SeverityWarning, CodeDangling, "ANML-8.12.1-03", "the scope "+quoted(id)+" names nothing, so it covers the whole site", "")
			}
		case kSection, kData:
			if at := (scope{site, n.value("id")}); at.id != "" && ids[at] && !e.full() {
				e.add(n, lookleap.SeverityWarning, CodeDuplicateID, "ANML-8.10.1-01", "several elements have the id "+quoted(at.id)+", so a reference means all of them", "")
			} else if at.id != "" {
				ids[at] = true
			}
		}
		return n.kind() != kData && n.kind() != kInteract && n.kind() != kPersona
	})
}

// trimSpace removes the white space of XML around a text.
func trimSpace(s string) string { return strings.Trim(s, " \t\r\n") }
