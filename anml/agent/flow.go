package agent

import (
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/zero"
)

// Flow is a site's workflow as an agent understands it (section 9.2): what steps
// there are, where the interaction is, and what can be reached from there. It is
// advice on what to do next; nothing is executed because of it.
type Flow struct {
	Steps   []FlowStep // in the order of the document, which makes no edges
	Current string     // id of the current step; "" where the position is unknown: it is never inferred (section 11.4)
	Err     error      // why there is a flow but none to use: its steps form a circle
}

// FlowStep is one step of a [Flow].
type FlowStep struct {
	ID        string
	Label     string // untrusted
	Condition string // untrusted, for people: nothing evaluates it
	Status    anml.StepStatus
	Required  bool
	Next      string // id of the step that follows, "" for none
	Action    string // id of the action to call, "" where the step names none that can be executed
	Reachable bool   // it is the current step, or follows it along next
}

// Flow reads the workflow of a site of the document, "" for a single-site one. It
// is empty where there is none. The flow of a site that was not verified is the
// serving domain's word, and names none of that site's actions.
func (p *Page) Flow(site string) Flow {
	p = zero.Or(p)
	for container := range p.doc.Containers() {
		if container.Domain() == site {
			_, whose := p.owner(container, anmltrust.Interact, p.session.now())
			return flowOf(container, whose != anmltrust.Dropped)
		}
	}
	return Flow{}
}

// flowOf reads a flow; callable says that the actions of its site are.
func flowOf(site anml.Site, callable bool) Flow {
	state := site.State()
	f := Flow{Err: state.FlowError()}
	current := state.CurrentStep()
	f.Current = current.ID()
	reachable := map[string]bool{}
	if current.Exists() {
		for step := range state.Flow().Path(current) {
			reachable[step.ID()] = true
		}
	}
	for step := range state.Flow().Steps() {
		s := FlowStep{
			ID: step.ID(), Label: step.Label(), Condition: step.Condition(), Status: step.Status(),
			Required: step.Required(), Next: step.Next(), Reachable: reachable[step.ID()],
		}
		if act, err := site.Interact().Action(step.Action()); callable && err == nil && act.Executable() == nil {
			s.Action = act.ID()
		}
		f.Steps = append(f.Steps, s)
	}
	return f
}
