package dvs

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// plannedEffect is the effect of a plan: exactly one of its members is set.
type plannedEffect struct {
	Type      string         `json:"type"`
	Candidate *candidate     `json:"candidate,omitempty"`
	Fetch     *plannedFetch  `json:"fetch,omitempty"`
	Script    *plannedScript `json:"script,omitempty"`
	Action    *plannedAction `json:"action,omitempty"`
}

const (
	effectAdmit  = "dvs/admit"
	effectFetch  = "dvs/fetch"
	effectScript = "dvs/script"
	effectAction = "dvs/action"
)

// contents lists the files, in the order in which they stand.
func (e *plannedEffect) contents() []*content {
	switch {
	case e.Candidate != nil:
		return []*content{&e.Candidate.File}
	case e.Script != nil:
		all := []*content{&e.Script.Script.content}
		for i := range e.Script.Files {
			all = append(all, &e.Script.Files[i].content)
		}
		return all
	}
	return nil
}

func (e *plannedEffect) encode() ([]byte, error) {
	data, err := encodeContents(e)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeInternal, Message: "the plan could not be written", Err: err}
	}
	return data, nil
}

func decodeEffect(data []byte) (*plannedEffect, error) {
	e := new(plannedEffect)
	if err := decodeContents(data, e); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan cannot be read", Err: coded.Classify(lookleap.ErrPlanInvalid, err)}
	}
	return e, nil
}
