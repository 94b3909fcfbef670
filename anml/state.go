package anml

import (
	"fmt"
	"iter"
	"strings"

	"github.com/lookleap/lookleap/internal/coded"
)

// ErrFlowCycle is why a flow cannot be used: its steps form a circle that no
// condition opens (section 11.4).
var ErrFlowCycle = coded.New("flow-cycle", "anml: the flow is a cycle without an exit")

// State is section 8.5.
type State struct{ Node }

// Flow is the workflow. It is absent when its steps form a cycle; see FlowError.
func (s State) Flow() Flow { return child[Flow](s.Node, kFlow) }

// FlowError says why there is a flow but none to use, or nil.
func (s State) FlowError() error {
	if !s.n.ok() {
		return nil
	}
	for c := s.n.first(); c.ok(); c = c.next() {
		if c.kind() == kFlow && c.flags()&malformed != 0 {
			return ErrFlowCycle
		}
	}
	return nil
}

// CurrentStep is the step that the context names. Where it names none that
// exists, the position is unknown: it is never inferred (section 11.4), except
// from the one step with status current when there is no context at all.
func (s State) CurrentStep() Step {
	context := s.sub(kContext)
	if !context.Exists() {
		if s.n.ok() && s.n.has(kContext) {
			return Step{}
		}
		return s.Flow().current()
	}
	return s.Flow().Step(trimSpace(context.sub(kContextStep).text()))
}

// Flow is a workflow (section 8.5.2). Its order is for display; the only edges
// are the next attributes.
type Flow struct{ Node }

func (f Flow) Steps() iter.Seq[Step] { return each[Step](f.Node, kStep) }

// Step finds a step by its id.
func (f Flow) Step(id string) Step {
	for s := range f.Steps() {
		if s.ID() == id {
			return s
		}
	}
	return Step{}
}

// current is the only step that says it is the current one.
func (f Flow) current() Step {
	var found Step
	for s := range f.Steps() {
		if s.Status() == StepCurrent {
			if found.Exists() {
				return Step{}
			}
			found = s
		}
	}
	return found
}

// Path yields the steps from one on, along next, and ends before it would come
// to a step for the second time.
func (f Flow) Path(from Step) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		ahead := map[string]Step{} // what was not come to yet, by id
		for s := range f.Steps() {
			if !ahead[s.ID()].Exists() {
				ahead[s.ID()] = s
			}
		}
		for s := from; s.Exists() && yield(s); s = ahead[s.Next()] {
			delete(ahead, s.ID())
		}
	}
}

// Step is one step of a flow (section 8.5.3).
type Step struct{ Node }

func (s Step) ID() string         { return s.n.value("id") }
func (s Step) Label() string      { return s.n.value("label") }
func (s Step) Status() StepStatus { return parse[StepStatus](stepStatusWords[:], s.n.value("status")) }
func (s Step) Required() bool     { return s.boolean("required", false, false) }
func (s Step) Next() string       { return s.n.value("next") }
func (s Step) Action() string     { return s.n.value("action") }

// Condition is information for people. Nothing evaluates it.
func (s Step) Condition() string { return s.n.value("condition") }

// Mermaid draws the workflow as a Mermaid flowchart. The identifiers are ours;
// labels and conditions of the document are escaped, so that they can only be
// read and never drawn with. Steps without a next stand alone: the order of a
// document makes no edges.
func (f Flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	place := map[string]int{}
	for s := range f.Steps() {
		place[s.ID()] = len(place)
	}
	for s := range f.Steps() {
		label := s.Label()
		if label == "" {
			label = s.ID()
		}
		if s.Required() {
			label += " *"
		}
		fmt.Fprintf(&b, "    s%d[\"%s\"]\n", place[s.ID()], mermaidText(label))
	}
	for s := range f.Steps() {
		next, ok := place[s.Next()]
		if !ok {
			continue
		}
		if c := s.Condition(); c != "" {
			fmt.Fprintf(&b, "    s%d -->|\"%s\"| s%d\n", place[s.ID()], mermaidText(c), next)
		} else {
			fmt.Fprintf(&b, "    s%d --> s%d\n", place[s.ID()], next)
		}
	}
	for s := range f.Steps() {
		if status := s.Status(); status != StepUnstated {
			fmt.Fprintf(&b, "    class s%d %s\n", place[s.ID()], status)
		}
	}
	b.WriteString("    classDef current stroke-width:3px\n    classDef completed opacity:0.5\n    classDef skipped opacity:0.5,stroke-dasharray:4\n    classDef pending stroke-width:1px\n")
	return b.String()
}

// mermaidText keeps letters, digits and harmless punctuation, and writes every
// other character as its number, which Mermaid shows and does not obey.
func mermaidText(s string) string {
	const longest = 80
	var b strings.Builder
	for i, r := range []rune(s) {
		if i == longest {
			b.WriteString("…")
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" .,-_*!?:()/'", r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
