package main

import (
	"context"
	"errors"
	"flag"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func skillsCommand() command {
	return command{
		name:    "skills",
		sites:   true,
		args:    "ORIGIN… [--index NAME]",
		summary: "the skills that an origin lists",
		about: `Reads the index of an origin's skills and its sitemaps. An entry that is wrong is
a finding and does not spoil the rest; an origin that lists nothing is accepted.
Listed is not verified: lookleap skill judges each.

value: {
  "skills": [{"skill": canonical URL, "name", "description", "source",
              "artifact": directory, archive or skill-md,
              "digest":   that the index promises, "" for none,
              "foreign":  whether it is at another origin}]
}`,
		examples: []string{
			"lookleap skills https://example.com/",
			"lookleap --json skills https://example.com/ --index agent-skills",
		},
		build: func(flags *flag.FlagSet) action {
			var o dvs.Options
			flags.Func("index", "ask for one index alone: agent-skills or skills", func(name string) error {
				prefix, ok := map[string]string{"agent-skills": dvs.AgentSkillsPrefix, "skills": dvs.SkillsPrefix}[name]
				if !ok {
					return errors.New("the index is agent-skills or skills")
				}
				o.Indexes = []string{prefix}
				return nil
			})
			return func(ctx context.Context, s *session, args []string) error {
				host, err := s.Host()
				if err != nil {
					return err
				}
				loader := dvs.NewLoader(host, o)
				return s.each(ctx, args, func(ctx context.Context, origin string) result { return listSkills(ctx, loader, origin) })
			}
		},
	}
}

type skillsValue struct {
	Skills []listedSkill `json:"skills"`
}

type listedSkill struct {
	Skill       string `json:"skill"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`
	Artifact    string `json:"artifact"`
	Digest      string `json:"digest"`
	Foreign     bool   `json:"foreign"`
}

func listedSkillOf(l *dvs.Listing) listedSkill {
	listed := listedSkill{Skill: l.Skill.String(), Name: l.Name, Description: l.Description, Source: l.Source,
		Artifact: l.Skill.Artifact().String(), Foreign: l.Foreign()}
	if !l.Digest.IsZero() {
		listed.Digest = l.Digest.String()
	}
	return listed
}

func listSkills(ctx context.Context, loader *dvs.Loader, origin string) result {
	value := skillsValue{Skills: []listedSkill{}}
	r := accept(nil)
	for entry, err := range loader.Discover(ctx, origin) {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			r = r.with(skipped.Finding)
		case err != nil:
			return refuseSkill(err)
		default:
			value.Skills = append(value.Skills, listedSkillOf(&entry))
			at := plaintext.Line(entry.Skill.String())
			if entry.Foreign() {
				at += " (at another origin)"
			}
			r.rows = append(r.rows, row{plaintext.Quote(entry.Name, 40), at})
		}
	}
	r.Value = value
	for _, f := range r.Findings {
		if (f.Severity != lookleap.SeverityInfo || f.Code == dvs.CodeNoOriginDiscovery) && r.OK && len(value.Skills) == 0 { // it is unknown what is listed there
			r.OK, r.Code, r.Message = false, f.Code, f.Message
		}
	}
	if r.OK {
		r.Message = plaintext.Plural(len(value.Skills), "skill is listed", "skills are listed")
	}
	return r
}
