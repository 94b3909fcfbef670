package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
)

func skillCommand(flags *flag.FlagSet) action {
	report := reportFlags(flags)
	in := &installer{report: report}
	in.declare(flags)
	flags.Var(&in.policies, "policy", "obey the policy in this `FILE`; may be repeated")
	return func(ctx context.Context, s *session, args []string) error {
		if len(args) > 0 && slices.Contains(installWords, args[0]) {
			return in.run(ctx, s, args[0], args[1:])
		}
		if len(in.policies) > 0 {
			report.against = in.policies[0]
		}
		if len(in.policies) > 0 || report.asked() {
			s.report = report
		}
		return judgeSkills(ctx, s, args, &in.skillFlags)
	}
}

// skillFlags say who is trusted for skills.
type skillFlags struct {
	roots, policies repeated
	profile         dvs.Profile
}

func (f *skillFlags) declare(flags *flag.FlagSet) {
	flags.Var(&f.roots, "root", "trust this `ROOT`; may be repeated")
	flags.TextVar(&f.profile, "profile", dvs.DVS, "read by this `PROFILE`: dvs, agentskills or lenient")
}

// loader returns a loader that trusts the roots and obeys the policies, which it returns too.
func (f *skillFlags) loader(s *session, o dvs.Options) (*dvs.Loader, []*dvs.Policy, error) {
	if len(f.policies) > 0 {
		rules, err := policy.Load(f.policies...)
		if err != nil {
			return nil, nil, usagef("--policy: %v", err)
		}
		o = rules.Skills(o)
	}
	loader := dvs.NewLoader(s.host, o)
	for _, raw := range f.roots {
		if _, err := loader.Roots().Register(raw, dvs.ByUser); err != nil {
			return nil, nil, usagef("--root: %v", err)
		}
	}
	return loader, o.Policies, nil
}

type skillValue struct {
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	Profile      dvs.Profile      `json:"profile"`
	Digest       dvs.Digest       `json:"digest"`
	Hidden       int              `json:"hidden,omitempty"`
	Extra        []string         `json:"extra"`
	Capabilities dvs.Capabilities `json:"capabilities"`
	ID           string           `json:"id,omitempty"`
	Root         string           `json:"root,omitempty"`
	RootSource   string           `json:"rootSource,omitempty"`
}

func judgeSkills(ctx context.Context, s *session, args []string, f *skillFlags) error {
	loader, _, err := f.loader(s, dvs.Options{Profile: f.profile})
	if err != nil {
		return err
	}
	return s.each(ctx, args, func(ctx context.Context, arg string) result {
		if strings.Contains(arg, "://") {
			return registerSkill(ctx, loader, arg, f.profile)
		}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			return lintSkill(arg, f.profile)
		}
		return s.content(func(content []byte) result { return parseSkill(content, f.profile) })(ctx, arg)
	})
}

func registerSkill(ctx context.Context, loader *dvs.Loader, url string, profile dvs.Profile) result {
	reg, err := loader.Register(ctx, url)
	if err != nil {
		return refuse(err)
	}
	var bundle dvs.Bundle
	skill, err := loadForLock(ctx, loader, url)
	if err == nil {
		bundle, err = skill.Bundle(ctx)
	}
	if err != nil {
		return refuse(err)
	}
	value := skillOf(&reg.Metadata, profile, reg.Digest)
	value.ID, value.Root, value.RootSource = reg.ID.String(), reg.Root.String(), reg.Source.String()
	value.Capabilities = dvs.CapabilitiesOf(bundle.Files)
	r := accept(value, skillRows(value)...)
	r.Verdict = reg.Verdict
	return r.with(reg.Verdict.Findings...)
}

func parseSkill(content []byte, profile dvs.Profile) result {
	skill, findings, err := dvs.ParseSkill(content, profile, dvs.Limits{})
	if err != nil {
		r := refuse(err)
		if len(findings) > 0 { // the error is one of them
			r.Findings = findings
		}
		return r
	}
	value := skillOf(&skill.Metadata, profile, skill.Digest)
	value.Hidden, value.Capabilities = skill.Hidden, dvs.CapabilitiesOf(map[string][]byte{dvs.EntryFile: content})
	return accept(value, skillRows(value)...).with(findings...)
}

func lintSkill(dir string, profile dvs.Profile) result {
	name, err := filepath.Abs(dir)
	if err != nil {
		return refuse(ioError{err})
	}
	files := os.DirFS(dir)
	r := accept(nil)
	for _, f := range dvs.Lint(files, dvs.LintOptions{Profile: profile, Directory: filepath.Base(name)}) {
		if f.Severity == lookleap.SeverityError && r.OK {
			r.OK, r.Code, r.Message = false, f.Code, f.Message
		}
		r = r.with(f)
	}
	content, err := readFile(filepath.Join(dir, dvs.EntryFile))
	if err != nil {
		return r
	}
	if skill, _, err := dvs.ParseSkillIn(filepath.Base(name), content, profile, dvs.Limits{}); err == nil {
		value := skillOf(&skill.Metadata, profile, skill.Digest)
		value.Hidden = skill.Hidden
		if all, err := dvs.ReadSkillDir(files, dvs.Limits{}); err == nil { // otherwise Lint says why not
			value.Capabilities = dvs.CapabilitiesOf(all)
		}
		r.Value, r.rows = value, skillRows(value)
	}
	return r
}

func skillOf(m *dvs.Metadata, profile dvs.Profile, digest dvs.Digest) skillValue {
	value := skillValue{Name: m.Name, Description: m.Description, Profile: profile, Digest: digest, Extra: []string{},
		Capabilities: dvs.Capabilities{}}
	for _, field := range m.Extra {
		value.Extra = append(value.Extra, field.Key)
	}
	return value
}

func skillRows(value skillValue) []row {
	rows := []row{{"name", plaintext.Quote(value.Name, 64)}, {"description", plaintext.Quote(value.Description, 200)},
		{"digest", value.Digest.String()}}
	if value.ID != "" {
		rows = append(rows, row{"skill", value.ID}, row{"trust root", fmt.Sprintf("%s (%s)", value.Root, value.RootSource)})
	}
	rows = append(rows, mayRows(value.Capabilities)...)
	if len(value.Capabilities) > 0 {
		rows = append(rows, row{"", "the list of what it may do " + dvs.CapabilityNote})
	}
	return rows
}

func mayRows(c dvs.Capabilities) (rows []row) {
	for _, sentence := range c.Sentences() {
		rows = append(rows, row{"may", sentence})
	}
	return rows
}

func skillsCommand(flags *flag.FlagSet) action {
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
		loader := dvs.NewLoader(s.host, o)
		return s.words(ctx, args, func(ctx context.Context, origin string) result { return listSkills(ctx, loader, origin) })
	}
}

type listedSkill struct {
	Skill       string       `json:"skill"`
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Source      string       `json:"source"`
	Artifact    dvs.Artifact `json:"artifact"`
	Digest      dvs.Digest   `json:"digest"`
	Foreign     bool         `json:"foreign"`
}

func listedSkillOf(l *dvs.Listing) listedSkill {
	return listedSkill{l.Skill.String(), l.Name, l.Description, l.Source, l.Skill.Artifact(), l.Digest, l.Foreign()}
}

func listSkills(ctx context.Context, loader *dvs.Loader, origin string) result {
	skills := []listedSkill{}
	r := accept(nil)
	for entry, err := range loader.Discover(ctx, origin) {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			r = r.with(skipped.Finding)
		case err != nil:
			return refuse(err)
		default:
			skills = append(skills, listedSkillOf(&entry))
			at := entry.Skill.String()
			if entry.Foreign() {
				at += " (at another origin)"
			}
			r.row(plaintext.Quote(entry.Name, 40), at)
		}
	}
	r.Value = map[string]any{"skills": skills}
	r.Message = plaintext.Plural(len(skills), "skill is listed", "skills are listed")
	for _, f := range r.Findings {
		if (f.Severity != lookleap.SeverityInfo || f.Code == dvs.CodeNoOriginDiscovery) && r.OK &&
			len(skills) == 0 { // it is unknown what is listed there
			r.OK, r.Code, r.Message = false, f.Code, f.Message
		}
	}
	return r
}
