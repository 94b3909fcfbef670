package anml

import (
	"fmt"
	"iter"
	"strings"
)

// State is the workflow of a site and the position in it (section 8.5).
type State struct{ Node }

// Flow returns the workflow. It is absent if its steps form a cycle; see [State.FlowError].
func (s State) Flow() Flow { return child[Flow](s.Node, kFlow) }

// FlowError returns [ErrFlowCycle] if the document has a flow that cannot be used.
func (s State) FlowError() error {
	for c := range s.n.all() {
		if c.flags()&malformed != 0 { // only a flow can be
			return ErrFlowCycle
		}
	}
	return nil
}

// CurrentStep returns the step that the context names. If the context names no existing step,
// the position is unknown and the step absent (section 11.4). Without a context it returns the
// step with status current, if there is exactly one.
func (s State) CurrentStep() Step {
	if context := s.n.child(kContext); context.ok() {
		return s.Flow().Step(trimSpace(context.child(kContextStep).content()))
	}
	var current Step
	for step := range s.Flow().Steps() {
		if step.Status() == StepCurrent {
			if current.Exists() {
				return Step{}
			}
			current = step
		}
	}
	return current
}

// Flow is a workflow (section 8.5.2). The order of its steps is for display only; the next
// attributes say which step follows which.
type Flow struct{ Node }

// Steps yields the steps in document order.
func (f Flow) Steps() iter.Seq[Step] { return each[Step](f.Node, kStep) }

// Step returns the step with that id, or an absent Step.
func (f Flow) Step(id string) Step {
	for s := range f.Steps() {
		if s.ID() == id {
			return s
		}
	}
	return Step{}
}

// Path yields the steps from one step on, following next. It ends before a step that it has
// already yielded.
func (f Flow) Path(from Step) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		ahead := map[string]Step{} // steps not yielded yet, by id
		for s := range f.Steps() {
			ahead[s.ID()] = s
		}
		for s := from; s.Exists() && yield(s); s = ahead[s.Next()] {
			delete(ahead, s.ID())
		}
	}
}

// Step is one step of a flow (section 8.5.3).
type Step struct{ Node }

// ID returns the id.
func (s Step) ID() string { return s.n.value("id") }

// Label returns the text to show.
func (s Step) Label() string { return s.n.value("label") }

// Status returns the state of the step, StepUnstated for an unknown word.
func (s Step) Status() StepStatus { return parse[StepStatus](stepStatusWords[:], s.n.value("status")) }

// Required reports whether the step cannot be skipped.
func (s Step) Required() bool { return s.boolean("required", false, false) }

// Next returns the id of the step that follows, "" at the end.
func (s Step) Next() string { return s.n.value("next") }

// Action returns the id of the action that the step is done with, "" if it has no action.
func (s Step) Action() string { return s.n.value("action") }

// Condition returns the condition of the next step, as text for people. This package does not
// evaluate it.
func (s Step) Condition() string { return s.n.value("condition") }

// Mermaid returns the workflow as a Mermaid flowchart. Labels and conditions of the document
// are escaped, so that they are shown and never interpreted. Edges come from the next
// attributes only.
func (f Flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	number := map[string]int{}
	for s := range f.Steps() {
		number[s.ID()] = len(number)
	}
	for s := range f.Steps() {
		label := s.Label()
		if label == "" {
			label = s.ID()
		}
		if s.Required() {
			label += " *"
		}
		fmt.Fprintf(&b, "    s%d[\"%s\"]\n", number[s.ID()], mermaidText(label))
	}
	for s := range f.Steps() {
		next, ok := number[s.Next()]
		if !ok {
			continue
		}
		if c := s.Condition(); c != "" {
			fmt.Fprintf(&b, "    s%d -->|\"%s\"| s%d\n", number[s.ID()], mermaidText(c), next)
		} else {
			fmt.Fprintf(&b, "    s%d --> s%d\n", number[s.ID()], next)
		}
	}
	for s := range f.Steps() {
		if status := s.Status(); status != StepUnstated {
			fmt.Fprintf(&b, "    class s%d %s\n", number[s.ID()], status)
		}
	}
	b.WriteString("    classDef current stroke-width:3px\n    classDef completed opacity:0.5\n    classDef skipped opacity:0.5,stroke-dasharray:4\n    classDef pending stroke-width:1px\n")
	return b.String()
}

// mermaidText keeps letters, digits and harmless punctuation, and writes every other character
// as its number, which Mermaid shows and does not interpret.
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
