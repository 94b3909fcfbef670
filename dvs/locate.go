package dvs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// wish is what a loader is asked for: a skill by its URL, how far to load it, and what those who name
// it say about it. It is plain data, since a suspended plan has it.
type wish struct {
	Level level    `json:"level"`
	Claim Claim    `json:"claim"`           // URL, artifact and pins, and what the first loader demands
	Under string   `json:"under,omitempty"` // root that the caller, a policy or the lockfile names; "": the registry's
	Hint  *hint    `json:"hint,omitempty"`  // what an index says
	Files []string `json:"files,omitempty"` // that an index of v0.1 lists
	Chain []string `json:"chain,omitempty"` // skills that led here

	parent *Loaded      // that refers to the skill; nil: none does, or the question was suspended
	packed *packedSkill // nil: the skill is fetched
	latest bool         // ask the server, whatever other processes have shared
}

// level is how far a skill is loaded.
type level int

const (
	registered level = 1
	activated  level = 2
)

// located is a wish as registry, policies, lockfile and feeds see it at one time: its claim has the
// root and the pins.
type located struct {
	wish
	rules     Rules
	skill     SkillURL  // zero: the URL is invalid
	root      TrustRoot // zero: there is none
	forbidden error     // by a policy, the lockfile or a feed
	kept      kept
	now       time.Time
}

// locate finds a wish. It does no I/O, and the verdict of its judge says what is wrong with it. The
// document is nil before the file was asked for.
func (l *Loader) locate(w wish, doc *document, ok agreement) located {
	at := located{wish: w, rules: l.roots.Rules(), now: l.host.Time()}
	claim := &at.Claim
	claim.Profile = l.options.Profile
	claim.Strict = claim.Strict || l.options.Strict
	claim.RequireSecure = claim.RequireSecure || l.options.RequireSecure
	var err error
	if at.skill, err = ParseArtifactURL(claim.URL, claim.Artifact, at.rules); err != nil {
		return at
	}
	at.forbidden = l.govern(&at, doc.digest())
	d := l.declared(at.skill, at.Under, at.rules)
	if ok.only && d.Source == Derived {
		if directory, inside := at.rules.directoryRoot(at.skill, doc.hops()); inside {
			d.Root, d.Source = directory, SkillOnly
		}
	}
	for _, hop := range doc.hops() { // perhaps followed before the registry changed
		if to, err := at.rules.urls().Parse(hop); err == nil {
			p, there := at.rules.placeOf(to), l.roots.at(to)
			at.forbidden = cmp.Or(at.forbidden, l.policies.at(p, hop), l.withdrawn.Load().at(p, hop))
			d.Blocked, d.Revoked = d.Blocked || there.Blocked, d.Revoked || there.Revoked
		}
	}
	at.root = d.Root
	claim.Root, claim.Source, claim.Blocked, claim.Revoked = d.Root.String(), d.Source, d.Blocked, d.Revoked
	return at
}

// declared returns what the registry says of a skill as far as the policies let it count, or the root
// that was named for it.
func (l *Loader) declared(u SkillURL, under string, rules Rules) Declared {
	d := l.roots.Find(u)
	if l.policies.registrar != RegisterUser {
		d = l.policies.declared(d, u, rules)
	}
	if under != "" {
		d.Source = ByHost
		d.Root, _ = ParseTrustRoot(under, rules) // a zero root is refused
	}
	return d
}

// govern applies the policies and the lockfile. What pins the skill also declares its root.
func (l *Loader) govern(at *located, file Digest) error {
	err := cmp.Or(l.policies.at(at.skill.place, at.skill.String()), l.refusedByFeed(at.skill, file))
	if err == nil {
		err = l.policies.each(func(p *compiledPolicy) error { return p.pin(&at.wish, at.skill, at.rules) })
	}
	if err == nil && l.options.Lock != nil {
		err = l.options.Lock.pin(&at.wish, at.skill)
	}
	if err == nil {
		err = l.policies.each(func(p *compiledPolicy) error { return p.under(at.skill, at.Under) })
	}
	return err
}

// pin makes the lockfile decide about a skill: its root counts as declared by the host program, and
// its SKILL.md is pinned, so the user is never asked about it.
func (l *Lockfile) pin(w *wish, skill SkillURL) error {
	id := skill.String()
	locked := l.Find(id)
	if locked == nil {
		return refuse(CodeNotLocked, id, "the lockfile does not have this skill", "add it to the lockfile after looking at it")
	}
	if locked.Development {
		return locked.refuseDevelopment()
	}
	for _, f := range locked.Files {
		if f.Path != EntryFile || skill.artifact == SkillArchive { // of an archive, each member is checked
			continue
		}
		if !w.Claim.Pin.Digest.IsZero() && w.Claim.Pin.Digest != f.Digest {
			return refuse(CodeDigestMismatch, id, "the caller pinned another SKILL.md than the lockfile has", "lock the skill again")
		}
		w.Claim.Pin.Digest = f.Digest
	}
	w.Under = cmp.Or(w.Under, locked.Root)
	return nil
}

// judgeOf returns a judge of a skill, which judges a derived root as confirmed while the user can
// still be asked about it.
func (l *Loader) judgeOf(at *located, ok agreement) *judge {
	j := &judge{rules: at.rules, claim: at.Claim, now: at.now, skill: at.skill, root: at.root}
	if ok == (agreement{}) && l.host.Prompter != nil && j.claim.Source == Derived {
		j.claim.Source = ByUser
	}
	return j
}

// permit refuses what can be refused without a request.
func (l *Loader) permit(ctx context.Context, at *located, ok agreement) error {
	j := l.judgeOf(at, ok)
	switch failed := j.run(claimSteps); {
	case at.forbidden != nil && (failed == nil || failed.Code == CodeNeedsRoot):
		// A root would not help, so the policy is the reason to show.
		return l.refuseTrust(ctx, j.decide(true), at.forbidden)
	case failed != nil:
		return l.refuse(ctx, j.decide(true), nil)
	}
	if err := l.checkChain(at); err != nil {
		return l.refuseTarget(ctx, at.Claim.URL, err)
	}
	if err := at.kept.refusedForEver(at.skill.String()); err != nil {
		return l.refuseTrust(ctx, j.decide(true), err)
	}
	return nil
}

// judge returns the verdict about the file, if that is OK, and narrows the root.
func (l *Loader) judge(ctx context.Context, at *located, doc *document, file *reading, ok agreement) (*lookleap.Verdict, error) {
	j := l.judgeOf(at, ok)
	j.evidence = file.evidence
	v := j.decide(false)
	v.Findings = file.findings
	if file.skill != nil && at.Hint != nil {
		v.Findings = append(v.Findings, at.Hint.mismatch(&file.skill.Metadata)...)
	}
	switch {
	case at.forbidden != nil && (v.OK || v.Code == CodeNeedsRoot):
		return nil, l.refuseTrust(ctx, v, at.forbidden)
	case !v.OK:
		return nil, l.refuse(ctx, v, doc.cause)
	}
	at.root, _ = at.rules.narrowedRoot(at.root, file.evidence.SelfDeclared, at.skill)
	return v, nil
}

// What composition may chain.
const (
	maxChain    = 4  // skills in one chain
	maxComposed = 32 // skills in one session
)

// checkChain bounds composition (DVS-6-02 to DVS-6-06).
func (l *Loader) checkChain(at *located) error {
	id := at.skill.String()
	switch {
	case slices.Contains(at.Chain, id):
		return refuse(codeCompositionCycle, id, "the skill is already loading this one", "remove the circular reference")
	case len(at.Chain) >= maxChain:
		return refuse(codeCompositionDepth, id, fmt.Sprintf("a chain has at most %d skills", maxChain),
			"refer to the skill from a shorter chain")
	}
	return nil
}
