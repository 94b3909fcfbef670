package dvs

import "github.com/lookleap/lookleap/internal/planowner"

// ownerMark returns the mark of the loader's user for a plan.
func (l *Loader) ownerMark() string { return planowner.Mark(l.options.User) }

// owns returns an error unless a plan with this mark belongs to the loader's user.
func (l *Loader) owns(mark string) error {
	return planowner.Check(mark, l.options.User, "resume it with a loader that has the user's id in Options.User")
}
