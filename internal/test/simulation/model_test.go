package simulation

import (
	"fmt"
	"testing"
)

// The model of a plan's life: two plans, three workers, and crashes, lost responses and
// leases that end at any moment. It is written from the documentation of
// lookleap.PlanState, and shares no code with it. TestModel visits each state that can be
// reached; trace_test.go checks that the real code does nothing that the model does not do.

// phase is how far a plan is before a worker commits it.
type phase uint8

const (
	proposed phase = iota
	asked
	approved
	refusedByUser
)

// mark is what the ledger says about a plan.
type mark uint8

const (
	absent mark = iota
	claimed
	sent
	done
	failed
	unknown
	refused
)

// noOwner is the owner of a claim whose worker has crashed or given up.
const noOwner = 0xff

type modelPlan struct {
	phase   phase
	mark    mark
	owner   uint8 // a worker, or noOwner
	late    bool  // the lease of the claim is over
	effects uint8
}

// step is what a worker does at the moment.
type step uint8

const (
	idle      step = iota
	preparing      // it believes that it has the claim
	sending        // it has recorded that it sends
	finishing      // the effect has happened
	doubtful       // the effect may have happened in part
)

type modelWorker struct {
	step step
	plan uint8
}

type model struct {
	plans   [2]modelPlan
	workers [3]modelWorker
}

// flaw is a rule that a ledger or a worker breaks, for the test of the model itself.
type flaw string

const (
	noFlaw        flaw = ""
	noFence       flaw = "outcomes of another owner are accepted"
	sentClaimable flaw = "a plan that is sent can be claimed"
	failsLate     flaw = "a failure is recorded after the effect"
	asksLater     flaw = "a plan can be claimed before its decision"
	neverLate     flaw = "a claim is kept although its worker is gone"
)

// next calls yield with each state that can follow, and the name of the transition.
func (m model) next(f flaw, yield func(name string, to model)) {
	for p := range m.plans {
		m.nextOfPlan(f, p, yield)
	}
	for w := range m.workers {
		if m.workers[w].step == idle {
			for p := range m.plans {
				m.nextOfIdle(f, w, p, yield)
			}
			continue
		}
		m.nextOfBusy(f, w, yield)
		yield(fmt.Sprintf("worker %d crashes", w), m.stopped(w))
	}
}

func (m model) nextOfPlan(f flaw, p int, yield func(string, model)) {
	to := m
	switch plan := &to.plans[p]; {
	case plan.phase == proposed:
		plan.phase = asked
		yield(fmt.Sprintf("plan %d is shown", p), to)
	case plan.phase == asked:
		plan.phase = approved
		yield(fmt.Sprintf("plan %d is approved", p), to)
		plan.phase = refusedByUser
		yield(fmt.Sprintf("plan %d is refused", p), to)
	case plan.mark == claimed && !plan.late && f != neverLate:
		plan.late = true
		yield(fmt.Sprintf("the lease of plan %d ends", p), to)
	}
}

// nextOfIdle lets a worker commit a plan whose decision it has.
func (m model) nextOfIdle(f flaw, w, p int, yield func(string, model)) {
	plan := m.plans[p]
	free := plan.mark == absent || plan.mark == failed || plan.mark == claimed && plan.late
	if !free && !(f == sentClaimable && plan.mark == sent) || plan.phase != approved && f != asksLater {
		return
	}
	to := m
	to.plans[p].mark, to.plans[p].owner, to.plans[p].late = claimed, uint8(w), false
	to.workers[w] = modelWorker{preparing, uint8(p)}
	yield(fmt.Sprintf("worker %d claims plan %d", w, p), to)
	yield(fmt.Sprintf("worker %d claims plan %d, and the response is lost", w, p), to.stopped(w))
	to.plans[p].mark = sent // nothing has to be prepared
	to.workers[w].step = sending
	yield(fmt.Sprintf("worker %d claims plan %d as sent", w, p), to)
	yield(fmt.Sprintf("worker %d claims plan %d as sent, and the response is lost", w, p), to.stopped(w))
	to.plans[p].mark = failed
	yield(fmt.Sprintf("worker %d claims plan %d as sent, the response is lost, and it gives up", w, p), to.stopped(w))
}

func (m model) nextOfBusy(f flaw, w int, yield func(string, model)) {
	p := m.workers[w].plan
	owns := m.plans[p].owner == uint8(w) || f == noFence
	record := func(name string, from, mark mark, then step) {
		before := m.plans[p].mark
		if !owns || before != from && !(mark == failed && (before == claimed || before == sent)) {
			yield(name+", and has lost the claim", m.stopped(w))
			return
		}
		to := m
		to.plans[p].mark, to.plans[p].late = mark, false
		yield(name+", and the response is lost", to.stopped(w))
		yield(name+", and the request is lost", m.stopped(w))
		if mark == sent { // then it records that nothing was sent
			to.plans[p].mark = failed
			yield(name+", the response is lost, and it gives up", to.stopped(w))
			to.plans[p].mark = sent
		}
		to.workers[w].step = then
		if then == idle {
			to = to.stopped(w)
		}
		yield(name, to)
	}
	name := func(what string) string { return fmt.Sprintf("worker %d %s plan %d", w, what, p) }
	switch m.workers[w].step {
	case preparing:
		record(name("gives up"), claimed, failed, idle)
		record(name("records that it sends"), claimed, sent, sending)
	case sending:
		record(name("finds that nothing can be sent for"), sent, failed, idle)
		to := m
		to.plans[p].effects = min(to.plans[p].effects+1, 2)
		to.workers[w].step = finishing
		yield(name("has the effect of"), to)
		to.workers[w].step = doubtful
		yield(name("has the effect and no answer of"), to)
		to = m
		to.workers[w].step = doubtful
		yield(name("gets no answer for"), to)
	case finishing:
		record(name("records the receipt of"), sent, done, idle)
		if f == failsLate {
			record(name("records the failure of"), sent, failed, idle)
		}
	case doubtful:
		record(name("records the doubt about"), sent, unknown, idle)
	}
}

// stopped is the state after a worker crashed or ended its commit: no one has its claim.
func (m model) stopped(w int) model {
	m.workers[w] = modelWorker{}
	for p := range m.plans {
		if m.plans[p].owner == uint8(w) {
			m.plans[p].owner = noOwner
		}
	}
	return m
}

// violates returns the invariant that does not hold in a state.
func (m model) violates() string {
	for p, plan := range m.plans {
		switch {
		case plan.effects > 1:
			return fmt.Sprintf("plan %d had its effect twice", p)
		case plan.effects > 0 && plan.phase != approved:
			return fmt.Sprintf("plan %d had its effect without a decision", p)
		case plan.effects > 0 && (plan.mark == absent || plan.mark == claimed || plan.mark == failed):
			return fmt.Sprintf("plan %d had its effect, and may be committed again", p)
		case plan.mark == done && plan.effects != 1:
			return fmt.Sprintf("plan %d is done, and had no effect", p)
		}
	}
	return ""
}

// open reports whether a plan must still be able to have its effect: it is approved, and the
// ledger excludes that it happened.
func (m model) open(p int) bool {
	mark := m.plans[p].mark
	return m.plans[p].phase == approved && (mark == absent || mark == claimed || mark == failed)
}

// explore visits all states that can be reached, and returns for each those that can precede
// it. It stops at the first state that breaks an invariant.
func explore(f flaw) (before map[model][]model, broken string) {
	start := model{}
	for p := range start.plans {
		start.plans[p].owner = noOwner
	}
	before = map[model][]model{start: nil}
	for queue := []model{start}; len(queue) > 0 && broken == ""; queue = queue[1:] {
		from := queue[0]
		from.next(f, func(name string, to model) {
			if _, known := before[to]; !known {
				if why := to.violates(); why != "" {
					broken = fmt.Sprintf("%s: %s\nfrom %+v\nto   %+v", name, why, from, to)
				}
				queue = append(queue, to)
			}
			before[to] = append(before[to], from)
		})
	}
	return before, broken
}

// stuck returns a state from which an open plan can never come to its end.
func stuck(before map[model][]model, p int) (at model, found bool) {
	ends := map[model]bool{}
	var queue []model
	for state := range before {
		if state.plans[p].mark == done {
			ends[state] = true
			queue = append(queue, state)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, from := range before[queue[0]] {
			if !ends[from] {
				ends[from] = true
				queue = append(queue, from)
			}
		}
	}
	for state := range before {
		if state.open(p) && !ends[state] {
			return state, true
		}
	}
	return model{}, false
}

func TestModel(t *testing.T) {
	before, broken := explore(noFlaw)
	if broken != "" {
		t.Fatal(broken)
	}
	transitions := 0
	for _, from := range before {
		transitions += len(from)
	}
	t.Logf("%d states, %d transitions", len(before), transitions)
	if len(before) < 5000 {
		t.Errorf("only %d states were reached", len(before))
	}
	for p := range 2 {
		if at, found := stuck(before, p); found {
			t.Errorf("plan %d can never be done from %+v", p, at)
		}
	}
}

// TestModelFindsFlaws shows that the invariants of the model can fail.
func TestModelFindsFlaws(t *testing.T) {
	for _, f := range []flaw{noFence, sentClaimable, failsLate, asksLater, neverLate} {
		before, broken := explore(f)
		_, hangs := stuck(before, 0)
		if broken == "" && !hangs {
			t.Errorf("not found: %s", f)
		}
	}
}
