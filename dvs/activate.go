package dvs

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Registration is a skill at level 1: its metadata and digests, without its body (section 4.6). Do
// not change it; it may be shared.
type Registration struct {
	Metadata
	ID      SkillURL
	Root    TrustRoot  // who published the skill: show this, not the name that the skill claims
	Source  RootSource // who declared the root
	Digest  Digest     // of the SKILL.md or archive at registration; zero: the metadata came from an index without a digest
	Verdict *lookleap.Verdict

	loader *Loader
	wish   wish
}

// Register verifies a skill and keeps its metadata and digests but not its body (level 1).
func (l *Loader) Register(ctx context.Context, url string) (*Registration, error) {
	got, err := l.load(ctx, wish{Level: registered, Claim: Claim{URL: url}})
	return got.registration, err
}

// RegisterListing registers a skill by its entry in an index and does not fetch the file. It
// checks the URL and the root now, and everything else on activation. The verdict is therefore not
// OK until the file was read. If the entry lacks a name or description, as in a sitemap, or is at
// another origin, the file is fetched and judged as in [Loader.Register] and [Loader.LoadListing].
func (l *Loader) RegisterListing(ctx context.Context, entry Listing) (*Registration, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	w := entry.wish(registered)
	meta, ok := entry.metadata(l.options.Profile, l.limits)
	if ok && !w.Hint.foreign() { // another origin does not say what the publisher's skill is for
		unread := l.refreshTrust(ctx)
		at := l.locate(w, nil, agreement{})
		at.forbidden = cmp.Or(at.forbidden, unread)
		if err := l.permit(ctx, &at, agreement{}); err != nil {
			return nil, err
		}
		if at.Claim.Source != Derived { // the prompt for a root shows the file
			return l.registration(&at, meta, entry.Digest, l.judgeOf(&at, agreement{}).decide(true)), nil
		}
	}
	got, err := l.load(ctx, w)
	return got.registration, err
}

func (l *Loader) registration(at *located, meta *Metadata, digest Digest, v *lookleap.Verdict) *Registration {
	return &Registration{Metadata: *meta, ID: at.skill, Root: at.root, Source: at.Claim.Source, Digest: digest, Verdict: v,
		loader: l, wish: at.wish}
}

// ContextText returns the name and description for the model's list of skills, in
// one line and without invisible characters. It is the publisher's claim.
func (r *Registration) ContextText() string {
	if r == nil {
		return ""
	}
	return oneLine(r.Name) + ": " + r.Display()
}

// Activate verifies the skill again and loads its instructions (level 2). If the file changed since
// registration, the verdict has the finding changed-since-registration, the metadata is that of the
// new file, and earlier consents for this skill end. A digest from an index has to match; a name or
// description that differs from the index is a finding. Activate returns an error if the root was
// unregistered, blocked or revoked in the meantime.
func (r *Registration) Activate(ctx context.Context) (*Loaded, error) {
	if r == nil {
		return nil, usageError("there is no registration", "register the skill through a Loader")
	}
	if err := r.loader.ready(); err != nil {
		return nil, err
	}
	if err := r.loader.checkTerms(ctx, loadTerms{Skill: r.ID.String(), Artifact: r.ID.artifact, Root: r.Root.String(),
		Source: r.Source, Under: r.wish.Under, Profile: r.loader.options.Profile, RequireSecure: r.loader.options.RequireSecure}); err != nil {
		return nil, err
	}
	w := r.wish
	w.Level, w.latest = activated, true
	got, err := r.loader.load(ctx, w)
	return got.loaded, err
}

// activate puts a skill to use. If the file changed, earlier consents for what it does end.
func (l *Loader) activate(ctx context.Context, at *located, file *reading, verdict *lookleap.Verdict, ok agreement) (loading, error) {
	digest := file.evidence.Digest
	if l.trust != nil {
		if err := l.keepApproval(ctx, at, file, verdict, ok); err != nil {
			return loading{}, err
		}
	}
	id := at.skill.String()
	identity, is := DigestOf([]byte(id)), seenSkill{file.skill.Header, digest}
	if was, known := l.seen.Get(identity); known && was != is && (was.header != is.header || at.Level == activated) {
		l.forgetSkill(id)
		verdict.Findings = append(verdict.Findings,
			lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeChanged, Requirement: "DVS-4.6-03",
				Message: CodeChanged.Title(), Position: lookleap.Position{Path: domain.Redact(id)}})
	}
	l.seen.Add(identity, is)
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: verdict.Code, Subject: verdict.Subject, Verdict: verdict})
	if at.Level == registered {
		return loading{registration: l.registration(at, &file.skill.Metadata, digest, verdict)}, nil
	}
	base, err := at.base(file.evidence.Hops)
	if err != nil {
		return loading{}, err
	}
	if len(at.Chain) > 0 {
		if err := l.countComposed(id); err != nil {
			return loading{}, err
		}
	}
	loaded := &Loaded{
		Metadata: file.skill.Metadata, ID: at.skill, Root: at.root, Source: at.Claim.Source, Digest: digest,
		Verdict: verdict, Chain: slices.Clone(at.Chain), loader: l, base: base, claim: at.Claim, under: at.Under,
		skill: file.skill, file: file.entry, packed: file.members != nil, served: file.servingHost(at.skill), members: file.members, executable: file.executable, listed: at.Files,
	}
	if err := loaded.checkSigned(ctx); err != nil {
		return loading{}, err
	}
	return loading{loaded: loaded}, nil
}

// base returns the URL against which the references of a skill resolve: the page of what answered.
func (at *located) base(hops []string) (domain.URL, error) {
	base := at.skill.page
	if n := len(hops); n > 0 {
		answered, err := at.rules.urls().Parse(hops[n-1])
		if err != nil {
			return base, badURL(hops[n-1], err)
		}
		p, refused := at.rules.locate(answered)
		if refused != nil {
			return base, refused
		}
		base = p.page
	}
	if at.skill.artifact == SkillArchive { // references resolve as if the archive were a directory
		return atPath(base, base.Host(), strings.TrimSuffix(base.Path(), "/")+"/"+EntryFile)
	}
	return base, nil
}
