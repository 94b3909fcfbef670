package dvs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// standing is what the trust store says about a candidate.
type standing uint8

const (
	unknownSkill  standing = iota // there was no version of it, or no store
	approvedSkill                 // the user approved this version
	changedSkill                  // the user approved another version
	expiredSkill                  // the user approved this version, longer ago than a policy allows
)

// consultTrust returns what the store says about a fetched candidate, and refuses what the user
// refused. It notes the change for the prompt. A pinned skill is judged by its pin, so its change is
// not a question.
func (l *Loader) consultTrust(ctx context.Context, c *candidate) (standing, error) {
	if err := l.refusedByFeed(c.skill, c.Evidence.Digest); err != nil {
		return unknownSkill, l.refuseTrust(ctx, c.verdict, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		if err := l.checkLocked(c.skill.String(), name, DigestOf(c.members[name])); err != nil {
			return unknownSkill, l.refuseTrust(ctx, c.verdict, err)
		}
	}
	if l.trust == nil {
		return unknownSkill, nil
	}
	r, err := l.trust.record(ctx, c.skill.String())
	if err != nil {
		return unknownSkill, l.refuseTrust(ctx, c.verdict, err)
	}
	others, err := l.trust.others(ctx, c.skill.String())
	if err != nil {
		return unknownSkill, l.refuseTrust(ctx, c.verdict, err)
	}
	if all := r.negatives(others); all.refused(c.Evidence.Digest) {
		return unknownSkill, l.refuseTrust(ctx, c.verdict, refusedBefore(c.skill.String(), all))
	}
	is, known := r.standing(c.Evidence.Digest, c.parsed.Header, c.Level, l.host.Time(), l.policies.maxTrust)
	if is == unknownSkill {
		if known = changedFrom(others, c.Evidence.Digest, c.parsed.Header, c.Level); known != nil {
			is = changedSkill
		}
	}
	switch {
	case is != approvedSkill && !c.Claim.Pin.isZero():
		return unknownSkill, nil
	case is == approvedSkill:
		c.SkillOnly = known.SkillOnly && !l.options.Strict
	case is == changedSkill:
		change := compareVersions(known.comparable(), c.version(known))
		c.change = &change
	}
	return is, nil
}

// approvedListed reports whether the user approved, in any session, the version whose digest an index
// states. [Loader.consultTrust] judges it again when the file is there.
func (l *Loader) approvedListed(ctx context.Context, c *candidate) (bool, error) {
	if l.trust == nil || c.Claim.Listed.IsZero() {
		return false, nil
	}
	r, err := l.trust.record(ctx, c.skill.String())
	if err != nil {
		return false, l.refuseTrust(ctx, l.claimVerdict(c), err)
	}
	is, _ := r.standing(c.Claim.Listed, Digest{}, activated, l.host.Time(), l.policies.maxTrust)
	return is == approvedSkill, nil
}

// standing returns what a record says about a version that the user did not refuse, and the version
// that says so: the same one, or the last one before.
func (r *TrustRecord) standing(file, header Digest, to level, now time.Time, most time.Duration) (standing, *TrustedVersion) {
	known, last := r.version(file), r.last()
	if to == registered && known == nil { // nothing but the header is used
		if i := slices.IndexFunc(r.Versions, func(v TrustedVersion) bool { return v.Header == header }); i >= 0 {
			known = &r.Versions[i]
		}
	}
	switch {
	case known != nil && known.expired(now, most):
		return expiredSkill, known
	case known != nil:
		return approvedSkill, known
	case last != nil:
		return changedSkill, last
	}
	return unknownSkill, nil
}

// asks reports whether the user has to be asked about a skill with such a standing. An approval
// does not replace the confirmation of a derived root, unless it was for the skill alone.
func (s standing) asks(source RootSource, to level, skillOnly bool) bool {
	switch s {
	case approvedSkill:
		return source == Derived && !skillOnly
	case changedSkill, expiredSkill:
		return true
	}
	return source == Derived || to == activated && !source.Registered()
}

// version returns what is known of a candidate, to compare it with the version before. Of an
// archive that is all; otherwise the other files are compared when they are loaded.
func (c *candidate) version(last *TrustedVersion) skillVersion {
	if c.members != nil {
		return versionOf(c.members)
	}
	return skillVersion{text: c.entry, capabilities: capabilitiesOfSkill(c.parsed)}.sameFiles(last)
}

// checkNever refuses a skill of which the user refused every version, before a request is sent.
func (l *Loader) checkNever(ctx context.Context, c *candidate) error {
	r, err := l.trust.record(ctx, c.skill.String())
	var others []*TrustRecord
	if err == nil {
		others, err = l.trust.others(ctx, c.skill.String())
	}
	if err == nil && !r.negatives(others).Never.IsZero() {
		err = refusedBefore(c.skill.String(), r.negatives(others))
	}
	if err != nil {
		return l.refuseTrust(ctx, l.claimVerdict(c), err)
	}
	return nil
}

// sameFiles returns a version of which only the SKILL.md is known, with what is known of the other
// files: they are compared when they are loaded.
func (s skillVersion) sameFiles(last *TrustedVersion) skillVersion {
	for _, known := range last.Capabilities {
		if known.File != EntryFile {
			s.capabilities = append(s.capabilities, known)
		}
	}
	return s
}

// isZero reports whether nothing is pinned.
func (p Pin) isZero() bool { return p == Pin{} }

func refusedBefore(skill string, r *TrustRecord) error {
	what := "this version of the skill"
	if !r.Never.IsZero() {
		what = "every version of the skill"
	}
	return refuse(CodeRefusedBefore, skill, "the user refused "+what, "if the user wants it now, take the refusal back with Loader.Forget")
}

// mayAsk refuses a question that the user has answered, or was asked too often, and counts it.
// If it cannot be counted, it is asked: then only the limits of the Host hold.
func (l *Loader) mayAsk(ctx context.Context, c *candidate) error {
	id, now := c.skill.String(), l.host.Time()
	var refused error
	others, err := l.trust.others(ctx, id)
	if err != nil {
		return l.refuseTrust(ctx, c.verdict, err)
	}
	err = l.trust.update(ctx, id, func(r *TrustRecord) error {
		refused = nil
		all := r.negatives(others)
		switch until := all.askedTooOften(now); {
		case all.refused(c.Evidence.Digest):
			refused = refusedBefore(id, all)
		case !until.IsZero():
			refused = refuse(CodeAskedRecently, id,
				fmt.Sprintf("the user was asked about this skill recently; it is asked again after %s",
					until.UTC().Format(time.DateTime+" UTC")), "")
		default:
			r.Asked = lastOf(append(r.Asked, now), maxAskedTimes)
		}
		return refused
	})
	if refused != nil {
		return l.refuseTrust(ctx, c.verdict, refused)
	}
	if err != nil {
		l.notKept(ctx, c.skill.String(), c.verdict, err)
	}
	return nil
}

// notKept reports a decision that could not be stored: it holds for this session.
func (l *Loader) notKept(ctx context.Context, skill string, v *lookleap.Verdict, err error) {
	f := lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeTrustNotKept,
		Message: CodeTrustNotKept.Title() + ": " + sentence(err),
		Fix:     "make the trust store writable", Position: lookleap.Position{Path: domain.Redact(skill)}}
	if v != nil {
		v.Findings = append(v.Findings, f)
	}
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: CodeTrustNotKept, Subject: domain.Redact(skill),
		Err: err, Finding: &f})
}

// askUser is [lookleap.Host.Ask] for a question about a skill. It stores a refusal, if there is a
// store.
func (l *Loader) askUser(ctx context.Context, plan *lookleap.Plan, skill string, shown Digest) (*lookleap.Approval, error) {
	decision, err := l.host.PromptConsent(planowner.Context(ctx, l.options.User), plan.Request())
	if errors.Is(err, lookleap.ErrConsentPending) {
		state, err := plan.State()
		if err != nil {
			return nil, err
		}
		return nil, &lookleap.PendingError{Request: plan.Request(), State: state}
	}
	if err != nil {
		return nil, err
	}
	approval, err := plan.Approve(decision, l.host.Time())
	l.keepRefusal(ctx, decision, err, skill, shown)
	return approval, err
}

// keepRefusal stores that the user refused a version of a skill, or every one. Other errors, such
// as a decision about another plan, are not a refusal.
func (l *Loader) keepRefusal(ctx context.Context, d lookleap.ConsentDecision, err error, skill string, shown Digest) {
	if l.trust == nil || lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
		return
	}
	now := l.host.Time()
	kept := l.trust.update(ctx, skill, func(r *TrustRecord) error {
		r.refuse(shown, d.AllVersions, now)
		return nil
	})
	if kept != nil {
		l.notKept(ctx, skill, nil, kept)
	}
}

// keepApproval stores that a skill was admitted: because the user agreed, or because it is the
// first version under a registered root. It returns an error only if another process stored a
// refusal.
func (l *Loader) keepApproval(ctx context.Context, c *candidate) error {
	if !c.consented && (!c.Claim.Pin.isZero() || c.Level == registered) {
		return nil
	}
	id, now := c.skill.String(), l.host.Time()
	var refused error
	err := l.trust.update(ctx, id, func(r *TrustRecord) error {
		refused = nil
		switch {
		case !c.consented && r.refused(c.Evidence.Digest):
			refused = refusedBefore(id, r)
			return refused
		case !c.consented && r.last() != nil:
			return errTrustUnchanged
		}
		if c.consented {
			r.Never = time.Time{}
		}
		v := TrustedVersion{File: c.Evidence.Digest, Header: c.parsed.Header, Approved: now, Root: c.root.String(),
			SkillOnly: c.SkillOnly, Capabilities: capabilitiesOfSkill(c.parsed), Text: c.entry}
		if c.members != nil {
			all := versionOf(c.members)
			v.Files = lockedFiles(all.files)
			v.Bundle = bundleDigest(all.files)
			v.Capabilities = all.capabilities
		}
		r.approve(v)
		return nil
	})
	switch {
	case refused != nil:
		return l.refuseTrust(ctx, c.verdict, refused)
	case errors.Is(err, errRecordTooLarge):
		return l.refuseTrust(ctx, c.verdict, err)
	case err != nil && !errors.Is(err, errTrustUnchanged):
		l.notKept(ctx, id, c.verdict, err)
	}
	return nil
}

// errTrustUnchanged ends an update that has nothing to store.
var errTrustUnchanged = errors.New("nothing to store")

// keepTrustedRoot stores a root that the user declared, or a revocation, and reports whether it is
// stored.
func (l *Loader) keepTrustedRoot(ctx context.Context, root TrustedRoot) bool {
	root.By, root.At = ByUser, l.host.Time()
	err := l.trust.keepRoot(ctx, root)
	if err != nil {
		l.notKept(ctx, root.Root, nil, err)
	}
	return err == nil
}

// keepScript stores which bytes of a script the user approved.
func (l *Loader) keepScript(ctx context.Context, skill string, script plannedFile) {
	if l.trust == nil {
		return
	}
	kept := TrustedScript{Name: script.Name, Digest: script.Digest, Approved: l.host.Time()}
	if len(script.Bytes) <= maxScriptText {
		kept.Text = script.Bytes
	}
	err := l.trust.update(ctx, skill, func(r *TrustRecord) error {
		r.approveScript(kept)
		return nil
	})
	if err != nil {
		l.notKept(ctx, skill, nil, err)
	}
}

// previousScript returns what the user approved last under the name of a script, if that differs.
func (l *Loader) previousScript(ctx context.Context, skill string, script plannedFile) (*TrustedScript, error) {
	if l.trust == nil {
		return nil, nil
	}
	r, err := l.trust.record(ctx, skill)
	if err != nil {
		return nil, err
	}
	if before := r.script(script.Name); before != nil && before.Digest != script.Digest {
		return before, nil
	}
	return nil, nil
}

// scriptChange returns how a script differs from the one that the user approved.
func scriptChange(before *TrustedScript, script plannedFile) (c Change) {
	c.Gained, c.Lost = CapabilitiesOf(map[string][]byte{script.Name: script.Bytes}).Diff(CapabilitiesOf(map[string][]byte{script.Name: before.Text}))
	c.setLines(textdiff.Lines(string(before.Text), string(script.Bytes)))
	return c
}
