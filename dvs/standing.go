package dvs

import (
	"context"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// standing is on what terms a skill was loaded. Each later step checks that the
// registry and the options of the loader still allow them, also in another
// process (section 7).
type standing struct {
	Skill  string     `json:"skill"`
	Root   string     `json:"root"`
	Source RootSource `json:"source"`
	Under  string     `json:"under,omitempty"` // root that the caller of LoadUnder named

	Profile       Profile `json:"profile"`
	RequireSecure bool    `json:"requireSecure,omitempty"`
}

// standing returns the terms of a loaded skill.
func (s *Loaded) standing() standing {
	return standing{Skill: s.ID.String(), Root: s.Root.String(), Source: s.Source, Under: s.under, Profile: s.claim.Profile, RequireSecure: s.claim.RequireSecure}
}

// stillAllowed returns why a skill may not be used any longer, or not by this
// loader; nil if it may.
func (l *Loader) stillAllowed(s standing) *lookleap.Error {
	rules := l.rules()
	u, refused := rules.parseSkillURL(s.Skill)
	if refused != nil {
		return refused
	}
	root, refused := rules.parseTrustRoot(s.Root)
	if refused != nil {
		return refused
	}
	d := l.roots.Find(u)
	if s.Under != "" {
		d.Source = ByHost // whatever the registry has, unless the table has changed
		if under, refused := rules.parseTrustRoot(s.Under); refused != nil || !under.Covers(u) {
			d.Source = Undeclared
		}
	}
	if refused := d.refusal(s.Skill); refused != nil {
		return refused
	}
	switch {
	case !root.Covers(u):
		return refuse(CodeOutsideTrustRoot, s.Skill, "the skill URL does not lie under its trust root any longer", "load the skill again")
	case d.Source.Registered():
	case s.Source.Registered():
		return refuse(CodeNeedsRoot, s.Skill, "the trust root of the skill was unregistered", "register the root and load the skill again")
	case l.options.Strict:
		return refuse(CodeNeedsRoot, s.Skill, "only registered trust roots count here", "register the root and load the skill again")
	case s.Source == SkillOnly:
	case d.Source != DefaultOrigin:
		return refuse(CodeNeedsRoot, s.Skill, "the trust root of this skill was not confirmed", "register the root and load the skill again")
	}
	switch {
	case l.options.RequireSecure && !s.RequireSecure:
		return refuse(CodeDNSSECInsecure, s.Skill, "the skill was loaded without a demand for signed DNS, which is made here", "load the skill again")
	case l.options.Profile.strictness() > s.Profile.strictness():
		return refuse(lookleap.CodePlanInvalid, s.Skill, "the skill was read by the profile "+s.Profile.String()+", and here a stricter one counts: "+l.options.Profile.String(), "load the skill again")
	}
	return nil
}

// strictness orders the profiles.
func (p Profile) strictness() int { return slices.Index([]Profile{Lenient, DVS, AgentSkills}, p) }

// checkStanding is stillAllowed as a verdict that is reported.
func (l *Loader) checkStanding(ctx context.Context, s standing) error {
	if refused := l.stillAllowed(s); refused != nil {
		return l.refuseTarget(ctx, s.Skill, refused)
	}
	return nil
}

// checkHop judges a redirect before it is followed, by the rules and the registry.
func (l *Loader) checkHop(root TrustRoot, claim Claim, to domain.URL) *lookleap.Error {
	if refused := l.rules().checkHop(root, claim, to.String()); refused != nil {
		return refused
	}
	return l.roots.at(to).refusal(to.String())
}
