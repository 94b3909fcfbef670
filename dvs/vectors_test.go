package dvs_test

import (
	"slices"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/test/vectors"
)

// vectorCase is what the cases of every file have.
type vectorCase struct {
	Name, Requirement string
	Reason            lookleap.Code
}

// run runs a case under its requirement; check returns why it is refused.
func (c vectorCase) run(t *testing.T, check func(t *testing.T) error) {
	side := "/accept-vector-"
	if c.Reason != lookleap.CodeOK {
		side = "/reject-vector-"
	}
	t.Run(c.Requirement+side+c.Name, func(t *testing.T) {
		if err := check(t); lookleap.CodeOf(err) != c.Reason {
			t.Errorf("got %v, want %s", err, c.Reason)
		}
	})
}

func TestVectorRoots(t *testing.T) {
	for _, c := range vectors.Read[struct {
		vectorCase
		Root, Canonical string
	}](t, "roots.json", dvs.Draft) {
		c.run(t, func(t *testing.T) error {
			root, err := dvs.ParseTrustRoot(c.Root, dvs.Rules{})
			if got := root.String(); got != c.Canonical {
				t.Errorf("got %q, want %q", got, c.Canonical)
			}
			return err
		})
	}
}

func TestVectorURLs(t *testing.T) {
	for _, c := range vectors.Read[struct {
		vectorCase
		URL, ID, ServedFrom string
	}](t, "urls.json", dvs.Draft) {
		c.run(t, func(t *testing.T) error {
			u, err := dvs.ParseSkillURL(c.URL, dvs.Rules{})
			if c.ID != "" && u.String() != c.ID || c.ServedFrom != "" && u.ServedFrom() != c.ServedFrom {
				t.Errorf("got %s from %s", u, u.ServedFrom())
			}
			return err
		})
	}
}

func TestVectorDecisions(t *testing.T) {
	for _, c := range vectors.Read[struct {
		vectorCase
		Root, URL string
	}](t, "decisions.json", dvs.Draft) {
		c.run(t, func(t *testing.T) error {
			v := dvs.Decide(dvs.Claim{URL: c.URL, Root: c.Root, Source: dvs.ByUser}, dvs.Evidence{}, noon, dvs.Rules{})
			if i := slices.IndexFunc(v.Checks, func(k lookleap.Check) bool { return k.Requirement == "DVS-3.1-05" }); v.Checks[i].Status == lookleap.Passed {
				return nil
			}
			return &lookleap.VerifyError{Verdict: v}
		})
	}
}

func TestVectorSkills(t *testing.T) {
	for _, c := range vectors.Read[struct {
		vectorCase
		Profile                  dvs.Profile
		File, Skill, Description string
		Base64                   []byte
		Line                     int
	}](t, "skills.json", dvs.Draft) {
		c.run(t, func(t *testing.T) error {
			data := []byte(c.File)
			if c.Base64 != nil {
				data = c.Base64
			}
			skill, _, err := dvs.ParseSkill(data, c.Profile, dvs.Limits{})
			if refused, ok := err.(*lookleap.Error); ok && refused.Position.Line != c.Line {
				t.Errorf("at line %d, want %d", refused.Position.Line, c.Line)
			}
			if err == nil && (skill.Name != c.Skill || skill.Description != c.Description) {
				t.Errorf("got %q, %q", skill.Name, skill.Description)
			}
			return err
		})
	}
}

func TestVectorIndexes(t *testing.T) {
	for _, c := range vectors.Read[struct {
		vectorCase
		Index    string
		Skills   []string
		Findings []lookleap.Code
	}](t, "indexes.json", dvs.Draft) {
		c.run(t, func(t *testing.T) error {
			list, err := dvs.ParseIndex([]byte(c.Index), indexAt, dvs.Rules{}, dvs.Limits{})
			if err != nil {
				return err
			}
			var skills []string
			var findings []lookleap.Code
			for _, s := range list.Skills {
				skills = append(skills, s.Skill.String())
			}
			for _, f := range list.Findings {
				findings = append(findings, f.Code)
			}
			if !slices.Equal(skills, c.Skills) || !slices.Equal(findings, c.Findings) {
				t.Errorf("got %q and %q", skills, findings)
			}
			return nil
		})
	}
}
