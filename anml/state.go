package anml

import (
	"iter"

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
