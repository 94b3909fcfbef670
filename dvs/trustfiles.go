package dvs

import (
	"context"
	"fmt"
	"slices"

	"github.com/lookleap/lookleap"
)

// plannedFiles is the approval of files that are not those of the approved version.
type plannedFiles struct {
	loadTerms
	File         Digest       `json:"file"`   // of the SKILL.md
	Bundle       Digest       `json:"bundle"` // of all files, or of those that changed
	Files        []LockedFile `json:"files"`
	Complete     bool         `json:"complete"` // Files are all files of the skill
	Capabilities Capabilities `json:"capabilities,omitempty"`
}

// checkFiles compares files of the skill's directory with those of the version that the user
// approved, and asks if they changed. Files that were not loaded before are noted. If complete is
// set, they are all files that the skill refers to, so that one more or one less is a change too.
func (s *Loaded) checkFiles(ctx context.Context, files map[string][]byte, complete bool) error {
	l := s.loader
	digests := make(map[string]Digest, len(files))
	for name, content := range files {
		digests[name] = DigestOf(content)
		if err := l.checkLocked(s.ID.String(), name, digests[name]); err != nil {
			return l.refuseTarget(ctx, s.ID.String(), err)
		}
	}
	if l.trust == nil || isFullCommit(s.claim.Pin.Commit) {
		return nil
	}
	r, err := l.trust.record(ctx, s.ID.String())
	if err != nil {
		return l.refuseTrust(ctx, s.Verdict, err)
	}
	known := r.version(s.Digest)
	if known == nil {
		return nil // pinned, or not stored: the session's consent is all there is
	}
	p := &plannedFiles{loadTerms: s.loadTerms(), File: s.Digest, Bundle: bundleDigest(digests),
		Files: lockedFiles(digests), Complete: complete}
	if complete {
		p.Capabilities = CapabilitiesOf(files)
	}
	change := known.changedFiles(files, digests, p)
	switch {
	case change.IsZero():
		if err := l.keep(ctx, s.ID.String(), s.Verdict, p.keep); err != nil {
			return l.refuseTrust(ctx, s.Verdict, err)
		}
		return nil
	case !s.claim.Pin.isZero():
		return l.refuseTarget(ctx, s.ID.String(), refuse(CodeDigestMismatch, s.ID.String(),
			"files of the pinned skill changed: "+listNames(change.Changed), "look at what changed, and pin it again"))
	}
	return s.askFiles(ctx, p, &change)
}

// changedFiles compares loaded files with what is known of the approved version.
func (v *TrustedVersion) changedFiles(files map[string][]byte, digests map[string]Digest, p *plannedFiles) (c Change) {
	before := v.comparable().files
	wasComplete := !v.Bundle.IsZero()
	c.Added, c.Removed, c.Changed = diffFiles(before, digests)
	if !p.Complete || !wasComplete { // files that were or are not known are no difference
		c.Added, c.Removed = nil, nil
	}
	if len(c.Changed)+len(c.Added)+len(c.Removed) > 0 {
		c.Gained, c.Lost = CapabilitiesOf(files).Diff(v.Capabilities)
		if !p.Complete {
			c.Lost = nil // the other files may still say so
		}
	}
	return c
}

// keep notes the files in the record of their version.
func (p *plannedFiles) keep(r *TrustRecord) error {
	v := r.version(p.File)
	if v == nil {
		return errTrustUnchanged
	}
	files := make(map[string]Digest, len(v.Files)+len(p.Files))
	if !p.Complete {
		for _, f := range v.Files {
			files[f.Path] = f.Digest
		}
	}
	for _, f := range p.Files {
		files[f.Path] = f.Digest
	}
	v.Files = lockedFiles(files)
	if p.Complete {
		v.Bundle, v.Capabilities = p.Bundle, p.Capabilities
	}
	r.Refused = slices.DeleteFunc(r.Refused, func(o RefusedVersion) bool { return o.Digest == p.Bundle })
	return nil
}

// askFiles shows what changed of the files, and notes the answer.
func (s *Loaded) askFiles(ctx context.Context, p *plannedFiles, change *Change) error {
	l := s.loader
	others, err := l.trust.others(ctx, s.ID.String())
	if err != nil {
		return l.refuseTrust(ctx, s.Verdict, err)
	}
	if err := l.mayAsk(ctx, s.ID.String(), others, p.Bundle, s.Verdict); err != nil {
		return err
	}
	req := s.request(lookleap.ConsentSkill, fmt.Sprintf("use files of the skill %s that changed since they were approved",
		quoteName(s.ID.String())))
	item := lookleap.ConsentItem{ID: "files", Recipient: lookleap.RecipientAgent, Digest: p.Bundle.String(),
		Summary: "use the changed files", Values: change.values("", s.ServingHost())}
	if change.capable() {
		item.Summary += "; " + capabilitySentence
	}
	req.Items = []lookleap.ConsentItem{item}
	plan, err := l.plan(req, &plannedEffect{Type: effectFiles, Files: p})
	if err != nil {
		return err
	}
	approval, err := l.askUser(ctx, plan, s.ID.String(), p.Bundle)
	if err != nil {
		return l.refuseConsent(ctx, s.Verdict, err)
	}
	return l.commitFiles(ctx, approval, p)
}

func (l *Loader) commitFiles(ctx context.Context, approval *lookleap.Approval, p *plannedFiles) error {
	_, err := l.host.Commit(ctx, approval, func(ctx context.Context, _ []byte) ([]byte, error) {
		if err := l.checkTerms(ctx, p.loadTerms); err != nil || l.trust == nil {
			return nil, lookleap.NothingSent(err)
		}
		if err := l.keep(ctx, p.Skill, nil, p.keep); err != nil {
			return nil, lookleap.NothingSent(l.refuseTarget(ctx, p.Skill, err))
		}
		return nil, nil
	})
	return err
}

// checkLocked refuses a file that a feed withdrew, or that differs from the lockfile of the loader.
func (l *Loader) checkLocked(skill, name string, found Digest) error {
	if err := l.withdrawn.Load().digest(found, skill+" "+name); err != nil {
		return err
	}
	if l.options.Lock == nil {
		return nil
	}
	locked := l.options.Lock.Find(skill)
	if locked != nil {
		for _, f := range locked.Files {
			if f.Path == name && f.Digest == found {
				return nil
			}
			if f.Path == name {
				return refuse(CodeDigestMismatch, skill+" "+name,
					fmt.Sprintf("the file has the digest %s, the lockfile says %s", found,
						f.Digest), "restore it, or look at what changed and lock it again")
			}
		}
	}
	return refuse(CodeNotLocked, skill+" "+name, "the lockfile does not have this file", "remove it, or look at it and lock the skill again")
}
