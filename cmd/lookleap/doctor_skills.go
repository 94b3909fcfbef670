package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// maxExamined is how many listed skills are loaded.
const maxExamined = 50

// skills lists the index and the sitemaps, as agents do, and loads each skill of this site.
func (p *patient) skills(ctx context.Context) diagnosis {
	loader := dvs.NewLoader(p.host, dvs.Options{})
	if _, err := loader.Roots().Register(p.url.Origin()+"/", dvs.ByUser); err != nil {
		return ill(err, "")
	}
	var findings []lookleap.Finding
	count, broken := 0, 0
	for entry, err := range loader.Discover(ctx, p.url.Origin()+"/") {
		var skipped *dvs.Skipped
		switch {
		case errors.As(err, &skipped):
			findings = append(findings, skipped.Finding)
			continue
		case err != nil:
			return ill(err, fixServer)
		}
		count++
		p.publishes(entry.Source)
		if entry.Foreign() || count > maxExamined {
			continue
		}
		problems := p.skill(ctx, loader, entry)
		if slices.ContainsFunc(problems, isError) {
			broken++
		}
		findings = append(findings, problems...)
	}
	message := plaintext.Plural(count, "skill is listed", "skills are listed")
	switch {
	case count == 0 && len(findings) == 0:
		return notThere("no skills are listed")
	case count == 0: // what spoils every listing is more than a warning
		findings[0].Severity = lookleap.SeverityError
		findings[0].Fix = cmp.Or(findings[0].Fix, "publish an index as lookleap publish writes it")
	case count > maxExamined:
		message += fmt.Sprintf(", and the first %d were loaded", maxExamined)
	case broken == 0:
		message += ", and those of this site load"
	}
	return ok(message, findings...)
}

// skill loads one listed skill with the files that it refers to.
func (p *patient) skill(ctx context.Context, loader *dvs.Loader, entry dvs.Listing) []lookleap.Finding {
	name := "the skill " + plaintext.Quote(entry.Name, 64) + ": "
	broken := func(err error) []lookleap.Finding {
		r := refuse(err)
		fix := ""
		for _, f := range r.Findings {
			fix = cmp.Or(fix, f.Fix)
		}
		if at, err := p.read(ctx, entry.Skill.ServedFrom(), "text/markdown, application/octet-stream"); err != nil {
			if fault := (*lookleap.Error)(nil); errors.As(err, &fault) { // the cause, in the publisher's words
				fix = cmp.Or(fault.Fix, fix)
			}
		} else if at == nil {
			fix = "publish the file " + entry.Skill.ServedFrom() + ", or take the skill out of the index"
		}
		return []lookleap.Finding{{Code: r.Code, Message: name + r.Message,
			Fix: cmp.Or(fix, "correct the skill, and run lookleap skill on its directory")}}
	}
	loaded, err := loader.LoadListing(ctx, entry)
	if err != nil {
		return broken(err)
	}
	p.publishes(entry.Skill.ServedFrom())
	bundle, err := loaded.Bundle(ctx, entry.Files...)
	if err != nil {
		return broken(err)
	}
	var findings []lookleap.Finding
	for _, f := range bundle.Findings {
		f.Message = name + f.Message
		if f.Code == dvs.CodeSkillNotFound {
			f.Severity, f.Fix = lookleap.SeverityError, cmp.Or(f.Fix, "publish the file, or take it out of the skill")
		}
		findings = append(findings, f)
	}
	return findings
}
