package dvs

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// The model check explores every schedule of a small world: two skills of one publisher, of
// which one is pinned by the policy, three versions, a user who agrees, refuses once or refuses
// for good, a feed, a second policy and a clock. It runs the deciding functions of the loader:
// the record of the trust store, the governor of the policies, and the withdrawals of the
// feeds.

// modelWorld is one state. It is copied for each branch.
type modelWorld struct {
	records   [2]*TrustRecord // as JSON would keep them: every step makes a new one
	withdrawn []Withdrawal
	policies  []*Policy
	served    [2]int // which version the publisher serves
	registers bool   // the root is registered
	now       time.Time
	steps     []string

	// What the invariants look at; the deciding functions do not.
	agreed  [2][3]bool
	refused [2][3]bool
	never   [2]bool
	first   [2]int // the version that was used first under a registered root, from 1
	asked   [2][]time.Time
}

var modelSkills = sync.OnceValue(func() [2]SkillURL {
	return [2]SkillURL{mustSkill("https://shop.example/s/a/SKILL.md"), mustSkill("https://shop.example/s/b/SKILL.md")}
})

func mustSkill(raw string) SkillURL {
	u, err := ParseSkillURL(raw, Rules{})
	if err != nil {
		panic(err)
	}
	return u
}

func modelDigest(skill, version int) Digest {
	return DigestOf(fmt.Appendf(nil, "%d %d", skill, version))
}

// pinnedVersion is the version of the second skill that the policy pins.
const pinnedVersion = 1

func newModelWorld(registers bool) modelWorld {
	w := modelWorld{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), registers: registers}
	w.policies = []*Policy{{Name: "company", MaxTrust: 48 * time.Hour,
		Pins: []PolicyPin{{Skill: modelSkills()[1].String(), Pin: Pin{Digest: modelDigest(1, pinnedVersion)}}}}}
	for i := range w.records {
		w.records[i] = &TrustRecord{Type: TrustMediaType, Skill: modelSkills()[i].String()}
	}
	return w
}

// edit changes the record of a skill as the loader does: a copy that replaces it.
func (w *modelWorld) edit(skill int, change func(*TrustRecord)) {
	r := *w.records[skill]
	r.Versions, r.Refused, r.Asked = append([]TrustedVersion{}, r.Versions...), append([]RefusedVersion{}, r.Refused...), append([]time.Time{}, r.Asked...)
	change(&r)
	w.records[skill] = &r
}

type modelAnswer uint8

const (
	yes modelAnswer = iota
	no
	noForGood
)

type modelOutcome struct{ loaded, asked, refused bool }

// governors and feeds of the few combinations that occur, so that each is built once.
type modelCache struct {
	governors map[string]*governor
	feeds     map[string]*withdrawals
}

func (m *modelCache) governor(policies []*Policy) *governor {
	key := fmt.Sprint(len(policies))
	if m.governors[key] == nil {
		m.governors[key] = newGovernor(Options{Policies: policies}, Rules{})
	}
	return m.governors[key]
}

func (m *modelCache) withdrawals(entries []Withdrawal) *withdrawals {
	key := ""
	for _, e := range entries {
		key += e.Value + " "
	}
	if m.feeds[key] == nil {
		m.feeds[key] = newWithdrawals([]*feed{{state: feedState{Entries: entries}}}, Rules{})
	}
	return m.feeds[key]
}

// load decides about the version that is served, in the order of the loader: feeds and
// policies, then the pin, then the record, then the user.
func (w *modelWorld) load(m *modelCache, skill int, answer modelAnswer) (o modelOutcome) {
	g, feeds := m.governor(w.policies), m.withdrawals(w.withdrawn)
	u, digest := modelSkills()[skill], modelDigest(skill, w.served[skill])
	c := &wish{Claim: Claim{URL: u.String()}}
	refused := slices.ContainsFunc(g.compiled, func(p *compiledPolicy) bool { return p.pin(c, u, Rules{}) != nil })
	if g.at(u.place, "") != nil || refused || feeds.at(u.place, "") != nil || feeds.digest(digest, "") != nil {
		return modelOutcome{refused: true}
	}
	source := DefaultOrigin
	if w.registers || c.Under != "" {
		source = ByHost
	}
	if pin := c.Claim.Pin.Digest; !pin.IsZero() && pin != digest || w.records[skill].refused(digest) {
		return modelOutcome{refused: true}
	}
	is := unknownSkill
	if c.Claim.Pin.isZero() {
		is, _ = w.records[skill].standing(digest, Digest{}, activated, w.now, g.maxTrust)
	}
	approve := func() {
		w.edit(skill, func(r *TrustRecord) {
			r.approve(TrustedVersion{File: digest, Approved: w.now})
		})
	}
	if !is.asks(source, activated) {
		if c.Claim.Pin.isZero() && w.records[skill].last() == nil {
			approve()
			w.first[skill] = w.served[skill] + 1
		}
		return modelOutcome{loaded: true}
	}
	if !w.records[skill].askedTooOften(w.now).IsZero() {
		return modelOutcome{refused: true}
	}
	w.edit(skill, func(r *TrustRecord) { r.Asked = lastOf(append(r.Asked, w.now), maxAskedTimes) })
	w.asked[skill] = append(w.asked[skill][:len(w.asked[skill]):len(w.asked[skill])], w.now)
	if answer != yes {
		w.edit(skill, func(r *TrustRecord) { r.refuse(digest, answer == noForGood, w.now) })
		w.refused[skill][w.served[skill]] = true
		w.never[skill] = w.never[skill] || answer == noForGood
		w.agreed[skill][w.served[skill]] = false
		return modelOutcome{asked: true, refused: true}
	}
	approve()
	w.agreed[skill][w.served[skill]] = true
	return modelOutcome{asked: true, loaded: true}
}

// check returns which invariant an outcome breaks, or "".
func (w *modelWorld) check(m *modelCache, before *modelWorld, skill int, o modelOutcome) string {
	version := w.served[skill]
	digest := modelDigest(skill, version).String()
	denied := len(w.policies) > 1 // the second policy denies the publisher
	for _, e := range w.withdrawn {
		denied = denied || e.Value == digest || e.Value == modelSkills()[skill].String()
	}
	switch {
	case o.loaded && denied:
		return "loads what a policy denies or a feed withdrew"
	case o.asked && denied:
		return "asks about what is denied"
	case o.asked && skill == 1:
		return "asks about a pinned skill"
	case o.loaded && skill == 1 && version != pinnedVersion:
		return "loads another version than the pinned one"
	case o.loaded && !o.asked && (before.refused[skill][version] || before.never[skill]):
		return "loads what the user refused"
	case o.asked && (before.refused[skill][version] || before.never[skill]):
		return "asks about what the user refused"
	case o.loaded && !o.asked && skill == 0 && !before.agreed[0][version] && w.first[0] != version+1:
		return "loads a version that the user never saw"
	}
	recent := 0
	for _, at := range w.asked[skill] {
		if w.now.Sub(at).Abs() < askedInterval {
			recent++
		}
	}
	if recent > askedMost {
		return "asks too often"
	}
	return ""
}

// modelSteps are what can happen.
var modelSteps = []struct {
	name string
	do   func(*modelWorld)
	load int // from 1: then this skill is loaded
	say  modelAnswer
}{
	{name: "load-a-yes", load: 1, say: yes},
	{name: "load-a-no", load: 1, say: no},
	{name: "load-a-never", load: 1, say: noForGood},
	{name: "load-b-yes", load: 2, say: yes},
	{name: "load-b-no", load: 2, say: no},
	{name: "publish-a", do: func(w *modelWorld) { w.served[0] = (w.served[0] + 1) % 3 }},
	{name: "publish-b", do: func(w *modelWorld) { w.served[1] = (w.served[1] + 1) % 3 }},
	{name: "hour", do: func(w *modelWorld) { w.now = w.now.Add(time.Hour) }},
	{name: "three-days", do: func(w *modelWorld) { w.now = w.now.Add(72 * time.Hour) }},
	{name: "clock-back", do: func(w *modelWorld) { w.now = w.now.Add(-240 * time.Hour) }},
	{name: "withdraw-a-1", do: func(w *modelWorld) { w.withdraw(WithdrawnDigest, modelDigest(0, 1).String()) }},
	{name: "withdraw-b", do: func(w *modelWorld) { w.withdraw(WithdrawnSkill, modelSkills()[1].String()) }},
	{name: "deny", do: func(w *modelWorld) {
		if len(w.policies) == 1 {
			w.policies = append(w.policies[:1:1], &Policy{Name: "team", Deny: []string{"shop.example"}})
		}
	}},
	{name: "forget-a", do: func(w *modelWorld) {
		w.records[0] = &TrustRecord{Type: TrustMediaType, Skill: modelSkills()[0].String()}
		w.refused[0], w.never[0], w.asked[0], w.agreed[0], w.first[0] = [3]bool{}, false, nil, [3]bool{}, 0
	}},
}

func (w *modelWorld) withdraw(kind WithdrawalKind, value string) {
	for _, e := range w.withdrawn {
		if e.Value == value {
			return
		}
	}
	w.withdrawn = append(w.withdrawn[:len(w.withdrawn):len(w.withdrawn)], Withdrawal{Kind: kind, Value: value})
}

// TestTrustModel explores all schedules up to a length, from a world with and one without a
// registered root: more than a million.
func TestTrustModel(t *testing.T) {
	depth := 5
	if testing.Short() {
		depth = 3
	}
	m := &modelCache{governors: map[string]*governor{}, feeds: map[string]*withdrawals{}}
	schedules := 0
	var explore func(w modelWorld, left int)
	explore = func(w modelWorld, left int) {
		if left == 0 {
			schedules++
			return
		}
		for i := range modelSteps {
			step, next := &modelSteps[i], w
			next.steps = append(w.steps[:len(w.steps):len(w.steps)], step.name)
			if step.load == 0 {
				step.do(&next)
			} else {
				o := next.load(m, step.load-1, step.say)
				if broken := next.check(m, &w, step.load-1, o); broken != "" {
					t.Fatalf("%v (registered: %v): %s", next.steps, w.registers, broken)
				}
			}
			explore(next, left-1)
		}
	}
	for _, registers := range []bool{false, true} {
		explore(newModelWorld(registers), depth)
	}
	t.Logf("%d schedules", schedules)
	if !testing.Short() && schedules < 1_000_000 {
		t.Errorf("only %d schedules", schedules)
	}
}
