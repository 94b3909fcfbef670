package main

import (
	"context"
	"fmt"
	"io/fs"

	einoskill "github.com/cloudwego/eino/adk/middlewares/skill"

	"github.com/lookleap/lookleap/dvs"
)

// einoSkills is a backend of Eino's skill middleware on a file system with one
// directory for each skill, a [dvs.VerifiedFS] for one.
//
// Eino lets a header choose the agent, the model and how much of the
// conversation a skill gets. Those are decisions of the agent's operator, so
// what a remote skill says of them is left out.
type einoSkills struct{ skills fs.FS }

// List returns the metadata of all skills. One that cannot be read is an error.
func (e einoSkills) List(context.Context) ([]einoskill.FrontMatter, error) {
	entries, err := dvs.Catalogue(e.skills, dvs.AgentSkills, dvs.Limits{})
	if err != nil {
		return nil, err
	}
	var list []einoskill.FrontMatter
	for _, entry := range entries {
		if entry.Err != nil {
			return nil, fmt.Errorf("skill %s: %w", entry.Directory, entry.Err)
		}
		list = append(list, frontMatter(entry.Metadata))
	}
	return list, nil
}

// Get returns one skill.
func (e einoSkills) Get(_ context.Context, name string) (einoskill.Skill, error) {
	if !fs.ValidPath(name) {
		return einoskill.Skill{}, fmt.Errorf("there is no skill %q", name)
	}
	content, err := fs.ReadFile(e.skills, name+"/"+dvs.EntryFile)
	if err != nil {
		return einoskill.Skill{}, err
	}
	skill, _, err := dvs.ParseSkill(content, dvs.AgentSkills, dvs.Limits{})
	if err != nil {
		return einoskill.Skill{}, err
	}
	return einoskill.Skill{FrontMatter: frontMatter(&skill.Metadata), Content: skill.Body, BaseDirectory: "/" + name}, nil
}

func frontMatter(m *dvs.Metadata) einoskill.FrontMatter {
	return einoskill.FrontMatter{Name: m.Name, Description: m.Display()}
}
