package dvs

import (
	"cmp"
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

// standing is what the trust store says about a skill.
type standing uint8

const (
	unknownSkill  standing = iota // there was no version of it, or no store
	approvedSkill                 // the user approved this version
	changedSkill                  // the user approved another version
	expiredSkill                  // the user approved this version, longer ago than a policy allows
)

// kept is what the trust store has about a skill: a record for this spelling of its URL, and those of
// the others. Without a store there is none.
type kept struct {
	record *TrustRecord
	others []*TrustRecord
	err    error // why it could not be read
}

// keptAbout reads what the trust store has about the skill of a claim.
func (l *Loader) keptAbout(ctx context.Context, c Claim) (k kept) {
	if l.trust == nil {
		return kept{}
	}
	u, err := ParseArtifactURL(c.URL, c.Artifact, l.roots.Rules())
	if err != nil { // the verdict says so
		return kept{}
	}
	if k.record, k.err = l.trust.record(ctx, u.String()); k.err == nil {
		k.others, k.err = l.trust.others(ctx, u.String())
	}
	return k
}

// refusedForEver refuses a skill of which the user refused every version.
func (k kept) refusedForEver(id string) error {
	if k.record == nil || k.err != nil {
		return k.err
	}
	if all := k.record.negatives(k.others); !all.Never.IsZero() {
		return refusedBefore(id, all)
	}
	return nil
}

// consultTrust returns what the store says about a file, with the version that says so, and refuses
// what the user refused. A pinned skill is judged by its pin, so its change is not a question.
func (l *Loader) consultTrust(at *located, file *reading) (standing, *TrustedVersion, error) {
	id, digest := at.skill.String(), file.evidence.Digest
	for _, name := range slices.Sorted(maps.Keys(file.members)) {
		if err := l.checkLocked(id, name, DigestOf(file.members[name])); err != nil {
			return unknownSkill, nil, err
		}
	}
	r, others := at.kept.record, at.kept.others
	if r == nil || at.kept.err != nil {
		return unknownSkill, nil, at.kept.err
	}
	if all := r.negatives(others); all.refused(digest) {
		return unknownSkill, nil, refusedBefore(id, all)
	}
	is, known := r.standing(digest, file.skill.Header, at.Level, at.now, l.policies.maxTrust)
	if is == unknownSkill {
		if known = changedFrom(others, digest, file.skill.Header, at.Level); known != nil {
			is = changedSkill
		}
	}
	if is != approvedSkill && !at.Claim.Pin.isZero() {
		return unknownSkill, nil, nil
	}
	return is, known, nil
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
// does not replace the confirmation of a derived root.
func (s standing) asks(source RootSource, to level) bool {
	switch s {
	case approvedSkill:
		return source == Derived
	case changedSkill, expiredSkill:
		return true
	}
	return source == Derived || to == activated && !source.Registered()
}

// version returns what is known of a file, to compare it with the version before. Of an archive that
// is all; otherwise the other files are compared when they are loaded.
func (r *reading) version(last *TrustedVersion) skillVersion {
	if r.members != nil {
		return versionOf(r.members)
	}
	v := skillVersion{text: r.entry, capabilities: capabilitiesOfSkill(r.skill)}
	for _, known := range last.Capabilities {
		if known.File != EntryFile {
			v.capabilities = append(v.capabilities, known)
		}
	}
	return v
}

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
func (l *Loader) mayAsk(ctx context.Context, id string, others []*TrustRecord, shown Digest, verdict *lookleap.Verdict) error {
	now := l.host.Time()
	var refused error
	err := l.trust.update(ctx, id, func(r *TrustRecord) error {
		refused = nil
		all := r.negatives(others)
		switch until := all.askedTooOften(now); {
		case all.refused(shown):
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
		return l.refuseTrust(ctx, verdict, refused)
	}
	if err != nil {
		l.notKept(ctx, id, verdict, err)
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

// keep changes what is kept about a skill. What cannot be stored holds for this session; it returns an
// error only if the record would be too large.
func (l *Loader) keep(ctx context.Context, skill string, v *lookleap.Verdict, edit func(*TrustRecord) error) error {
	err := l.trust.update(ctx, skill, edit)
	if errors.Is(err, errRecordTooLarge) {
		return err
	}
	if err != nil && !errors.Is(err, errTrustUnchanged) {
		l.notKept(ctx, skill, v, err)
	}
	return nil
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
	approval, err := l.host.Decide(planowner.Context(ctx, l.options.User), plan, decision)
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
func (l *Loader) keepApproval(ctx context.Context, at *located, file *reading, verdict *lookleap.Verdict, ok agreement) error {
	if !ok.given && (!at.Claim.Pin.isZero() || at.Level == registered) {
		return nil
	}
	id, now := at.skill.String(), l.host.Time()
	var refused error
	err := l.keep(ctx, id, verdict, func(r *TrustRecord) error {
		refused = nil
		switch {
		case !ok.given && r.refused(file.evidence.Digest):
			refused = refusedBefore(id, r)
			return errTrustUnchanged
		case !ok.given && r.last() != nil:
			return errTrustUnchanged
		}
		if ok.given {
			r.Never = time.Time{}
		}
		v := TrustedVersion{File: file.evidence.Digest, Header: file.skill.Header, Approved: now, Root: at.root.String(),
			SkillOnly: ok.only, Capabilities: capabilitiesOfSkill(file.skill), Text: file.entry}
		if file.members != nil {
			all := versionOf(file.members)
			v.Files = lockedFiles(all.files)
			v.Bundle = bundleDigest(all.files)
			v.Capabilities = all.capabilities
		}
		r.approve(v)
		return nil
	})
	if err = cmp.Or(refused, err); err != nil {
		return l.refuseTrust(ctx, verdict, err)
	}
	return nil
}

// errTrustUnchanged ends an update that has nothing to store.
var errTrustUnchanged = errors.New("nothing to store")

// keepTrustedRoot stores a root that the user declared, or a revocation, and reports whether it is
// stored.
func (l *Loader) keepTrustedRoot(ctx context.Context, root declaredByUser) bool {
	root.By, root.At = ByUser, l.host.Time()
	err := l.trust.keepRoot(ctx, root)
	if err != nil {
		l.notKept(ctx, root.Root, nil, err)
	}
	return err == nil
}

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
