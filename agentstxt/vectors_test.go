package agentstxt

import (
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/vectors"
)

// side names a subtest for the register.
func side(requirement string, accept bool, name string) string {
	if accept {
		return requirement + "/accept-vector-" + name
	}
	return requirement + "/reject-vector-" + name
}

func TestVectorFiles(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, File, Hint string
		Base64                        []byte
		State                         State
		Reason                        lookleap.Code
		Line                          int
	}](t, "files.json", Draft) {
		t.Run(side(c.Requirement, c.State == Valid, c.Name), func(t *testing.T) {
			data := []byte(c.File)
			if c.Base64 != nil {
				data = c.Base64
			}
			p, err := Parse(data, Options{})
			if c.State == Valid {
				if err != nil || p.State() != Valid {
					t.Error(err)
				}
				return
			}
			var bad *lookleap.Error
			hash := new(HashMismatch)
			errors.As(err, &hash)
			if !errors.As(err, &bad) || !errors.Is(err, ErrMalformed) || bad.Code != c.Reason || bad.Position.Line != c.Line || hash.Hint != c.Hint || p.State() != Restricted {
				t.Errorf("%v: %+v", p.State(), bad)
			}
		})
	}
}

func TestVectorDecisions(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, File string
		Decisions               []struct {
			Path        string
			Allowed     bool
			Reason      lookleap.Code
			Line, Limit int
		}
	}](t, "decisions.json", Draft) {
		p, err := Parse([]byte(c.File), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, want := range c.Decisions {
			name := c.Name + "-" + string(rune('a'+i))
			t.Run(side(c.Requirement, want.Allowed, name), func(t *testing.T) {
				d := p.Decide(want.Path)
				if d.Allowed != want.Allowed || d.Code != want.Reason || d.Line != want.Line || d.Limit != want.Limit {
					t.Errorf("%q: %v", want.Path, d)
				}
			})
		}
	}
}

func TestVectorAnswers(t *testing.T) {
	for _, c := range vectors.Read[struct {
		Name, Requirement, ContentType, File string
		Status                               int
		State                                State
		Reason                               lookleap.Code
		StrictState                          *State
		StrictReason                         lookleap.Code
	}](t, "answers.json", Draft) {
		answer := Response{Status: c.Status, ContentType: c.ContentType, Body: []byte(c.File)}
		t.Run(side(c.Requirement, c.State != Restricted, c.Name), func(t *testing.T) {
			if p := Judge(answer, Options{}); p.State() != c.State || p.Reason() != c.Reason {
				t.Errorf("%v, %v: %v", p.State(), p.Reason(), p.Err())
			}
		})
		strict, reason := c.State, c.Reason
		if c.StrictState != nil {
			strict, reason = *c.StrictState, c.StrictReason
		}
		t.Run(side(c.Requirement, strict != Restricted, c.Name+"-strict"), func(t *testing.T) {
			if p := Judge(answer, Options{Strict: true}); p.State() != strict || p.Reason() != reason {
				t.Errorf("%v, %v: %v", p.State(), p.Reason(), p.Err())
			}
		})
	}
}
