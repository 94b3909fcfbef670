package anml

import (
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// sites checks the sites of a multi-site document against one another.
func (e *examination) sites(root node) {
	byDomain := map[string]int{}
	for c := range root.all() {
		if c.kind() != kSite {
			continue
		}
		if !hasElements(c) {
			c.mark(ignored | malformed)
			e.add(c, lookleap.SeverityError, codeEmptySite, "ANML-8.2-11", "the site is empty, so it is not processed", "")
		}
		if domain := normalDomain(c.value("domain")); domain != "" {
			byDomain[domain]++
		}
	}
	for c := range root.all() {
		if c.kind() != kSite {
			continue
		}
		if domain := normalDomain(c.value("domain")); byDomain[domain] > 1 {
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, codeDuplicateSite, "ANML-8.2-12",
				"several sites have the domain "+plaintext.Quote(domain, maxQuoted)+", so none of them is processed", "keep one of them")
		}
		e.container(c)
	}
	self := e.options.Self
	if len(self) > 0 && !slices.ContainsFunc(self, func(d string) bool { return byDomain[normalDomain(d)] > 0 }) {
		e.add(root, lookleap.SeverityError, codeNoServingSite, "ANML-8.1-19", "the document has no site for the domain that serves it", "")
	}
}

// hasElements reports whether an element has children that the draft defines.
func hasElements(n node) bool {
	for c := range n.all() {
		if c.kind() != kUnknown {
			return true
		}
	}
	return false
}

// container checks the sections of one site, or of the root, against one another.
func (e *examination) container(n node) {
	e.sections(n)
	e.claims(n)
	actions := e.actionIDs(n.child(kInteract))
	e.knowledge(n, actions)
	for state := range n.children(kState) {
		e.flow(actions, state)
	}
}

// sections ignores what an agent response must not contain (section 11.1), and reports sections
// after the body that should precede it (section 8.1).
func (e *examination) sections(n node) {
	if e.response && n.kind() == kSite {
		e.add(n, lookleap.SeverityError, codeRoleContent, "ANML-11.1-09", "an agent response contains a site", "remove it")
	}
	afterBody := false
	for c := range n.all() {
		k := c.kind()
		switch k {
		case kInteract, kPersona, kAesthetic, kConstraints, kState:
			if e.response {
				c.mark(ignored)
				e.add(c, lookleap.SeverityError, codeRoleContent, "ANML-11.1-10",
					"an agent response contains "+schema[k].name+", which is ignored", "remove it")
			}
		}
		switch k {
		case kBody:
			afterBody = true
		case kConstraints, kState, kInteract, kKnowledge, kPersona:
			if afterBody {
				e.add(c, lookleap.SeverityInfo, codeSectionSeq, "ANML-8.1-25", schema[k].name+" follows the body", "move the body after it")
			}
		}
	}
}

// claims checks trust in the head: only one claim, and only in a single-site document.
func (e *examination) claims(n node) {
	var claimed node
	for c := range n.child(kHead).all() {
		switch {
		case c.kind() != kTrust:
		case n.kind() == kSite:
			c.mark(ignored)
			e.add(c, lookleap.SeverityWarning, codeClaim, "ANML-12.5-01",
				"trust in a site is not a claim; the domain of the site is", "remove it")
		case !c.usable():
		case !claimed.ok():
			claimed = c
		case normalDomain(c.value("domain")) != normalDomain(claimed.value("domain")):
			e.add(c, lookleap.SeverityError, codeClaim, "ANML-12.5-06", "the document claims to speak for two sites",
				"use a site element for each")
		}
	}
}

// actions are the usable actions of a site by id.
type actions map[string]node

// unique reports whether exactly one action has the id.
func (a actions) unique(id string) bool { return a[id].ok() && a[id].flags()&ambiguous == 0 }

// actionIDs collects the actions of a site, and marks those with the same id (section 8.6.1).
func (e *examination) actionIDs(interact node) actions {
	seen := actions{}
	for a := range interact.children(kAction) {
		id := a.value("id")
		if other, twice := seen[id]; twice {
			other.mark(ambiguous)
			a.mark(ambiguous)
			e.add(a, lookleap.SeverityError, codeDuplicateID, "ANML-8-04",
				"several actions have the id "+plaintext.Quote(id, maxQuoted)+", so none of them is executed", "rename one of them")
		}
		seen[id] = a
	}
	return seen
}

// knowledge checks the references between asks, rules, actions and refusals.
func (e *examination) knowledge(site node, actions actions) {
	knowledge := site.child(kKnowledge)
	asked := map[string]bool{}
	for a := range knowledge.children(kAsk) {
		asked[a.value("field")] = true
		if e.response || actions.unique(a.value("action")) {
			continue // an agent response asks for an action of the document that it answers
		}
		a.mark(dangling)
		if !e.full() {
			e.add(a, lookleap.SeverityError, codeNoAction, "ANML-8.7.2-03",
				"the ask names the action "+plaintext.Quote(a.value("action"), maxQuoted)+", which does not exist or is not unique", "")
		}
	}
	ruled := map[string]bool{}
	for constraints := range site.children(kConstraints) {
		for d := range constraints.children(kDisclosure) {
			field := d.value("field")
			ruled[field] = true
			if !asked[field] {
				e.add(d, lookleap.SeverityWarning, CodeDangling, "ANML-8.4.1-02",
					"the rule names the field "+plaintext.Quote(field, maxQuoted)+", which no ask asks for", "")
			}
		}
	}
	if e.response {
		return
	}
	if a := knowledge.child(kAnswer); a.ok() {
		e.add(a, lookleap.SeverityInfo, codeRoleContent, "ANML-8.7-01", "a service document contains an answer", "")
	}
	for r := range knowledge.children(kRefuse) {
		e.add(r, lookleap.SeverityInfo, codeRoleContent, "ANML-8.7-01", "a service document contains a refuse", "")
		if f := r.value("constraint"); f != "" && !ruled[f] {
			e.add(r, lookleap.SeverityWarning, CodeDangling, "ANML-8.7.4-03",
				"the refuse names a rule for "+plaintext.Quote(f, maxQuoted)+", which does not exist", "")
		}
	}
}

// flow checks the steps of a workflow and its context (sections 8.5 and 11.4).
func (e *examination) flow(actions actions, state node) {
	flow := state.child(kFlow)
	steps := map[string]node{}
	for c := range flow.children(kStep) {
		id := c.value("id")
		if steps[id].ok() {
			c.mark(ignored)
			e.add(c, lookleap.SeverityError, codeDuplicateID, "ANML-8.5.3-02",
				"the step "+plaintext.Quote(id, maxQuoted)+" appears twice; the first one counts", "rename one of them")
			continue
		}
		steps[id] = c
	}
	for c := range flow.children(kStep) {
		if next := c.value("next"); next != "" && !steps[next].ok() {
			e.add(c, lookleap.SeverityWarning, CodeDangling, "ANML-8.5.3-01",
				"the step names the step "+plaintext.Quote(next, maxQuoted)+", which does not exist", "")
		}
		if action := c.value("action"); action != "" && !actions.unique(action) {
			e.add(c, lookleap.SeverityWarning, CodeDangling, "ANML-8.5.3-01",
				"the step names the action "+plaintext.Quote(action, maxQuoted)+", which does not exist or is not unique", "")
		}
	}
	context := state.child(kContext)
	if e.cycle(flow, steps) {
		flow.mark(ignored | malformed)
	} else if context.ok() {
		e.context(context, steps)
	}
}

// cycle follows next from every step, each once. It reports whether there is a cycle without a
// condition.
func (e *examination) cycle(flow node, steps map[string]node) bool {
	const fresh, onPath, done = 0, 1, 2
	state := make(map[node]int, len(steps))
	endless := false
	for s := range flow.children(kStep) {
		var path []node
		for s.ok() && state[s] == fresh {
			state[s] = onPath
			path = append(path, s)
			s = steps[s.value("next")]
		}
		if state[s] == onPath {
			cycle := path[slices.Index(path, s):]
			if slices.ContainsFunc(cycle, func(n node) bool { return n.value("condition") != "" }) {
				e.add(s, lookleap.SeverityWarning, codeFlowCycle, "ANML-11.4-11",
					"the flow returns to the step "+plaintext.Quote(s.value("id"), maxQuoted)+" unless a condition ends it", "")
			} else {
				endless = true
				e.add(s, lookleap.SeverityError, codeFlowCycle, "ANML-11.4-11", "the flow returns to the step "+
					plaintext.Quote(s.value("id"), maxQuoted)+" without an exit, so it is not used",
					"change next of one of the steps, or add a condition")
			}
		}
		for _, n := range path {
			state[n] = done
		}
	}
	return endless
}

// context checks the position in the flow (section 8.5.1).
func (e *examination) context(context node, steps map[string]node) {
	step := context.child(kContextStep)
	if !step.ok() {
		e.add(context, lookleap.SeverityError, CodeMalformed, "ANML-8.5.1-01", "the context names no step", "write <step>")
		return
	}
	text := step.content()
	id := trimSpace(text)
	if id != text {
		e.add(step, lookleap.SeverityInfo, CodeLint, "ANML-8.5.1-02", "the step of the context has white space around it", "")
	}
	if !steps[id].ok() {
		e.add(context, lookleap.SeverityError, CodeDangling, "ANML-11.4-05",
			"the context names the step "+plaintext.Quote(id, maxQuoted)+", which is not in the flow, so the position is unknown", "")
	}
}

// scopes checks the scopes of inform, rights and attribution, and the ids that they can name.
func (e *examination) scopes(root node) {
	ids, site := map[scope]bool{}, root.e
	root.walk(func(n node) bool {
		if !n.usable() && n.kind() != kSite {
			return false
		}
		switch n.kind() {
		case kSite:
			site = n.e
		case kInform, kRights, kAttribution:
			if id := n.value("scope"); id != "" && len(e.doc.scoped(scope{site, id})) == 0 && !e.full() {
				e.add(n, lookleap.SeverityWarning, CodeDangling, scopeRequirement[n.kind()],
					"the scope "+plaintext.Quote(id, maxQuoted)+" does not exist, so it covers the whole site", "")
			}
		case kSection, kData:
			if at := (scope{site, n.value("id")}); ids[at] && !e.full() {
				e.add(n, lookleap.SeverityWarning, codeDuplicateID, "ANML-8.10.1-01",
					"several elements have the id "+plaintext.Quote(at.id, maxQuoted)+", so a reference means all of them", "")
			} else if at.id != "" {
				ids[at] = true
			}
		}
		return n.kind() != kData // items have nothing of this, and there are many
	})
}

// scopeRequirement has the requirement of each scope.
var scopeRequirement = map[kind]string{kInform: "ANML-8.7.1-03", kRights: "ANML-8.12.1-03", kAttribution: "ANML-8.12.2-01"}

// trimSpace removes XML white space around a text.
func trimSpace(s string) string { return strings.Trim(s, " \t\r\n") }
