package dvs

import (
	"slices"
	"strings"
)

// skillParty is a skill as everything negative compares it: what a feed withdrew, what the user
// refused, what a policy pins, and what changed since it was approved. Two skills may be the same
// skill if a host may serve the same file at both URLs; see [party]. What is positive, such as an
// approval, a pin and an entry of a lockfile, holds for one spelling: [SkillURL.String].
type skillParty struct {
	party party
	query string
}

func (r Rules) skillParty(p place) skillParty {
	return skillParty{r.platforms().party(p.page), p.page.RawQuery()}
}

// key is equal for all parties that may be the same skill. It leaves out the revision, since HEAD can
// be any of them.
func (s *skillParty) key() string {
	path := s.party.path
	if at := s.party.revision; at > 0 {
		path = slices.Delete(slices.Clone(path), at, at+1)
	}
	return s.party.namespace + "\x00" + strings.Join(path, "\x00")
}

func (s *skillParty) same(other *skillParty) bool {
	return s.party.same(&other.party) && (s.query == other.query || s.query == "" || other.query == "")
}

// skillTable finds what was noted about a skill in any spelling.
type skillTable[T any] struct {
	rules Rules
	notes map[string][]skillNote[T]
}

type skillNote[T any] struct {
	page  string
	party skillParty
	value T
}

func newSkillTable[T any](rules Rules) *skillTable[T] {
	return &skillTable[T]{rules, make(map[string][]skillNote[T])}
}

func (t *skillTable[T]) add(p place, value T) {
	party := t.rules.skillParty(p)
	t.notes[party.key()] = append(t.notes[party.key()], skillNote[T]{p.page.String(), party, value})
}

// find returns the value that was noted for a skill in this spelling, or else the first one for a skill
// that may be this one.
func (t *skillTable[T]) find(p place) (value T, ok bool) {
	if len(t.notes) == 0 || p.page.IsZero() {
		return value, false
	}
	party := t.rules.skillParty(p)
	for _, note := range t.notes[party.key()] {
		switch {
		case !note.party.same(&party):
		case note.page == p.page.String():
			return note.value, true
		case !ok:
			value, ok = note.value, true
		}
	}
	return value, ok
}
