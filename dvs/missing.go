package dvs

import "github.com/lookleap/lookleap"

// missing refuses a use of what was not made by its constructor.
func missing(what, fix string) *Error {
	return refuse(lookleap.CodeUsage, "", what, fix)
}

// ready refuses a loader that NewLoader did not make, or that has no host.
func (l *Loader) ready() *Error {
	if l == nil || l.host == nil || l.files == nil {
		return missing("the loader has no host", "make it with NewLoader")
	}
	return nil
}

// ready refuses a skill that no loader loaded.
func (s *Loaded) ready() *Error {
	if s == nil {
		return missing("there is no skill", "load it through a Loader")
	}
	return s.loader.ready()
}
