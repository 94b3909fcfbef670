package dvs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// admitted is the result of an admission: one of the two is set.
type admitted struct {
	registration *Registration
	loaded       *Loaded
}

// admit asks for the consent that a candidate needs, and returns the usable skill.
func (l *Loader) admit(ctx context.Context, c *candidate) (admitted, error) {
	standing, err := l.consultTrust(ctx, c)
	if err != nil {
		return admitted{}, err
	}
	if standing.asks(c.Claim.Source, c.Level, c.SkillOnly) && (standing == approvedSkill || !l.agreedBefore(c)) {
		return l.askAdmission(ctx, c)
	}
	return l.finishAdmission(ctx, c)
}

// key returns what the consent to use a skill under a root is bound to.
func (c *candidate) key(root TrustRoot) consentKey {
	digest := c.Evidence.Digest
	if c.notFetched() {
		digest = c.Claim.Listed
	}
	return consentKey{effectAdmit, c.skill.String(), root.String() + "\n" + digest.String()}
}

// agreedBefore reports whether the user agreed to use a candidate in this session, and notes
// whether that excluded its derived root.
func (l *Loader) agreedBefore(c *candidate) bool {
	if c.Claim.Source != Derived {
		return l.remembered(c.key(c.root))
	}
	directory, ok := l.roots.Rules().directoryRoot(c.skill, c.Evidence.Hops)
	c.SkillOnly = ok && l.remembered(c.key(directory)) // a strict loader asks for the root as well
	return c.SkillOnly
}

// askAdmission asks for the consent, and does what the user agreed to.
func (l *Loader) askAdmission(ctx context.Context, c *candidate) (admitted, error) {
	if c.notFetched() {
		c.verdict = l.claimVerdict(c)
	}
	if l.trust != nil {
		if err := l.mayAsk(ctx, c); err != nil {
			return admitted{}, err
		}
	}
	req := l.admissionRequest(c)
	c.parsed, c.members = nil, nil // the plan has the file, and it is read again when the user has agreed
	plan, err := l.plan(req, &plannedEffect{Type: effectAdmit, Candidate: c})
	if err != nil {
		return admitted{}, err
	}
	approval, err := l.askUser(ctx, plan, c.skill.String(), c.Evidence.Digest)
	if err != nil {
		return admitted{}, l.refuseConsent(ctx, c.verdict, err)
	}
	return l.commitAdmission(ctx, approval, c, false)
}

// commitAdmission does what the user agreed to. It remembers the consent for the session; for a
// plan that was suspended, only until the time that the user chose.
func (l *Loader) commitAdmission(ctx context.Context, approval *lookleap.Approval, c *candidate, resumed bool) (got admitted, err error) {
	agreed := func() {
		until := approval.Until()
		if !resumed {
			until = l.host.Time().Add(l.limits.Kept)
		}
		l.rememberUntil(c.key(c.root), until)
	}
	_, err = l.host.CommitApproved(ctx, approval, lookleap.Effect{Send: func(ctx context.Context, a *lookleap.Approval) ([]byte, error) {
		if d := l.roots.Find(c.skill); d.Revoked || d.Blocked {
			l.applyRegistry(c)
			return nil, l.refuse(ctx, Decide(c.Claim.confirmed(), c.Evidence, l.host.Time(), l.roots.Rules()), nil)
		}
		switch {
		case c.Claim.Source != Derived:
		case a.Has(itemRoot) && l.policies.registrar == RegisterUser:
			if _, err := l.roots.Register(c.Claim.Root, ByUser); err != nil {
				return nil, err
			}
			if l.trust != nil {
				if l.keepTrustedRoot(ctx, TrustedRoot{Root: c.Claim.Root}) {
					if err := l.noteTrustedRoot(ctx, c.Claim.Root); err != nil {
						return nil, err
					}
				}
			}
		default:
			c.SkillOnly = true
			l.applyRegistry(c)
		}
		agreed()
		if c.notFetched() {
			if err := l.verify(ctx, c); err != nil {
				return nil, err
			}
			switch standing, err := l.consultTrust(ctx, c); {
			case err != nil:
				return nil, err
			case standing == changedSkill: // the user has not seen the difference yet
				got, err = l.askAdmission(ctx, c)
				return nil, err
			}
			agreed() // to these bytes, too
		}
		c.consented = true
		got, err = l.finishAdmission(ctx, c)
		return nil, err
	}})
	return got, err
}

// notFetched reports whether the file was not asked for yet.
func (c *candidate) notFetched() bool { return c.Evidence.Status == 0 }

// judgeFile reads the file and judges the candidate, each unless that was done.
func (l *Loader) judgeFile(ctx context.Context, c *candidate, now time.Time) error {
	rules := l.roots.Rules()
	for _, hop := range c.Evidence.Hops { // perhaps followed before the registry changed
		if to, err := rules.urls().Parse(hop); err == nil {
			if refused := l.policies.at(rules.placeOf(to), hop); refused != nil {
				return l.refuseTrust(ctx, cmp.Or(c.verdict, l.claimVerdict(c)), refused)
			}
			d := l.roots.at(to)
			c.Claim.Blocked, c.Claim.Revoked = c.Claim.Blocked || d.Blocked, c.Claim.Revoked || d.Revoked
		}
	}
	readNow := c.parsed == nil && c.Evidence.Status == 200
	if readNow {
		c.readArtifact(l.limits)
	}
	skill, claim := c.skill, c.Claim.confirmed()
	if c.platforms != rules.Platforms { // one was added since, perhaps while the user decided
		skill = SkillURL{}
	}
	verified := c.verdict != nil && c.judged == claim && c.verdict.Expires.Equal(c.Evidence.Fresh)
	if !verified || skill.IsZero() {
		j := &judge{rules: rules, claim: claim, evidence: c.Evidence, now: now, skill: skill, root: c.root}
		c.verdict, c.judged = j.decide(false), claim
		c.verdict.Findings = c.findings
		if c.parsed != nil && c.Hint != nil {
			c.verdict.Findings = append(c.verdict.Findings, c.Hint.mismatch(&c.parsed.Metadata)...)
		}
	}
	if !c.verdict.OK {
		return l.refuse(ctx, c.verdict, c.cause)
	}
	c.root, _ = rules.narrowedRoot(c.root, c.Evidence.SelfDeclared, c.skill)
	return nil
}

// readArtifact reads the skill from what the server sent, whose digest the evidence has, and records
// what that resulted in. An archive with another digest than the expected one is not unpacked.
func (c *candidate) readArtifact(limits Limits) {
	e, digest := &c.Evidence, c.Evidence.Digest
	e.Content, e.ContentError, e.Position = "", "", nil
	var err error
	c.entry = c.File.Bytes
	if c.skill.artifact == SkillArchive {
		if _, ok := c.Claim.expects(digest); !ok {
			return
		}
		if c.members, err = unpackArchive(c.File.Bytes, limits); err == nil {
			c.entry = c.members[EntryFile]
			digest = DigestOf(c.entry)
		}
	}
	if err == nil {
		directory := c.skill.directoryName()
		c.parsed, c.findings, err = parseSkill(directory, c.entry, digest, c.Claim.Profile, limits)
		if lookleap.CodeOf(err) == CodeNoFrontmatter && c.Claim.Profile == Lenient && c.Claim.Listed == e.Digest && c.Hint.complete() {
			c.parsed, c.findings, err = parseUnder(c.Hint, directory, c.entry, digest, limits)
		}
		if err != nil {
			err = tryLenient(directory, c.entry, c.Claim.Profile, limits, c.findings, err)
		}
	}
	var broken *lookleap.Error
	switch {
	case errors.As(err, &broken):
		e.Content, e.ContentError = broken.Code, broken.Message
		if broken.Position != (lookleap.Position{}) {
			e.Position = &broken.Position
		} else if broken.Subject != "" { // a member of an archive
			e.ContentError = plaintext.Quote(broken.Subject, 200) + ": " + broken.Message
		}
	case c.parsed != nil:
		e.Content = lookleap.CodeOK
		if v, ok := c.parsed.Value("trust-root"); ok {
			e.SelfDeclared = v.Text
		}
	}
}

// finishAdmission judges the candidate again by the current registry, and returns the result. If
// the file changed, earlier consents end.
func (l *Loader) finishAdmission(ctx context.Context, c *candidate) (admitted, error) {
	rules := l.roots.Rules()
	if err := l.govern(c); err != nil {
		return admitted{}, l.refuseTrust(ctx, cmp.Or(c.verdict, l.claimVerdict(c)), err)
	}
	l.applyRegistry(c)
	now := l.host.Time()
	if c.Evidence.Fresh.Before(now) {
		c.Evidence.Fresh = now // the user took longer than the copy is fresh
	}
	if c.Claim.Source == Derived {
		return admitted{}, l.refuse(ctx, Decide(c.Claim, c.Evidence, now, l.roots.Rules()), nil)
	}
	if err := l.judgeFile(ctx, c, now); err != nil {
		return admitted{}, err
	}
	if l.trust != nil {
		if err := l.keepApproval(ctx, c); err != nil {
			return admitted{}, err
		}
	}
	id := c.skill.String()
	identity := DigestOf([]byte(id))
	is := seenSkill{c.parsed.Header, c.Evidence.Digest}
	if was, ok := l.seen.Get(identity); ok && was != is && (was.header != is.header || c.Level == activated) {
		l.forgetSkill(id)
		c.verdict.Findings = append(c.verdict.Findings,
			lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeChanged, Requirement: "DVS-4.6-03",
				Message: CodeChanged.Title(), Position: lookleap.Position{Path: domain.Redact(id)}})
	}
	l.seen.Add(identity, is)
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: c.verdict.Code, Subject: c.verdict.Subject, Verdict: c.verdict})
	if c.Level == registered {
		return admitted{registration: &Registration{Metadata: c.parsed.Metadata, ID: c.skill, Root: c.root,
			Source: c.Claim.Source, Digest: c.Evidence.Digest,
			Verdict: c.verdict, loader: l, pin: c.Claim.Pin, promised: c.Claim.Listed, under: c.Under, hint: c.Hint, listed: c.Listed}}, nil
	}
	base := c.skill.page
	if c.Final != c.skill.ServedFrom() { // after redirects
		final, err := rules.urls().Parse(c.Final)
		if err != nil {
			return admitted{}, badURL(c.Final, err)
		}
		at, err := rules.locate(final)
		if err != nil {
			return admitted{}, err
		}
		base = at.page
	}
	if c.skill.artifact == SkillArchive {
		var err error
		if base, err = entryIn(base); err != nil {
			return admitted{}, err
		}
	}
	if len(c.Chain) > 0 {
		if err := l.countComposed(id); err != nil {
			return admitted{}, err
		}
	}
	return admitted{loaded: &Loaded{
		Metadata: c.parsed.Metadata, ID: c.skill, Root: c.root, Source: c.Claim.Source, Digest: c.Evidence.Digest,
		Verdict: c.verdict, Chain: slices.Clone(c.Chain), loader: l, base: base, claim: c.Claim, under: c.Under,
		skill: c.parsed, file: c.entry, members: c.members, listed: c.Listed,
	}}, nil
}

// Registration is a skill at level 1: its metadata and digests, without its body (section 4.6). Do
// not change it; it may be shared.
type Registration struct {
	Metadata
	ID      SkillURL
	Root    TrustRoot  // who published the skill: show this, not the name that the skill claims
	Source  RootSource // who declared the root
	Digest  Digest     // of the SKILL.md or archive at registration; zero: the metadata came from an index without a digest
	Verdict *lookleap.Verdict

	loader   *Loader
	pin      Pin
	promised Digest   // by an index
	under    string   // root that a lockfile or the pin of a policy names
	hint     *hint    // what an index said
	listed   []string // files that an index of v0.1 names
}

// Register verifies a skill and keeps its metadata and digests but not its body (level 1).
func (l *Loader) Register(ctx context.Context, url string) (*Registration, error) {
	got, err := l.load(ctx, &candidate{Level: registered, Claim: Claim{URL: url}})
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
	c := entry.candidate(registered)
	meta, ok := entry.metadata(l.options.Profile, l.limits)
	whole := !ok || c.Hint.foreign() // another origin does not say what the publisher's skill is for
	if !whole {
		if err := l.checkClaim(ctx, c); err != nil {
			return nil, err
		}
		whole = c.Claim.Source == Derived // the prompt for a root shows the file
	}
	if whole {
		got, err := l.load(ctx, c)
		return got.registration, err
	}
	return &Registration{Metadata: *meta, ID: c.skill, Root: c.root, Source: c.Claim.Source, Digest: entry.Digest,
		Verdict: l.claimVerdict(c), loader: l, pin: c.Claim.Pin, promised: c.Claim.Listed, under: c.Under, hint: c.Hint, listed: c.Listed}, nil
}

// header returns what an index says of a skill as the header of a SKILL.md.
func (h *hint) header() string {
	return "---\nname: " + quoteYAML(h.Name) + "\ndescription: " +
		quoteYAML(strings.Join(strings.Fields(h.Description), " ")) + "\n---\n"
}

// complete reports whether an index says what a header has to say.
func (h *hint) complete() bool {
	return h != nil && h.Name != "" && strings.TrimSpace(h.Description) != ""
}

// parseUnder reads a SKILL.md without a header, whose digest an index states, with the name and
// description of that index.
func parseUnder(h *hint, directory string, entry []byte, digest Digest, limits Limits) (*Skill, []lookleap.Finding, error) {
	header := h.header()
	skill, findings, err := parseSkill(directory, append([]byte(header), entry...), digest, Lenient, limits)
	for i := range findings {
		if at := &findings[i].Position; at.Offset >= len(header) {
			at.Offset, at.Line = at.Offset-len(header), at.Line-strings.Count(header, "\n")
		}
	}
	return skill, append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeNoFrontmatter, Requirement: "DVS-4.3-01",
		Message: "the file has no metadata, so its name and description are those of the index", Fix: "add a header with name and description",
		Position: lookleap.Position{Path: EntryFile}}), err
}

// metadata reads what an index says by the rules for the file itself.
func (e *Listing) metadata(profile Profile, limits Limits) (*Metadata, bool) {
	h := hint{Name: e.Name, Description: e.Description}
	meta, _, err := ParseMetadata([]byte(h.header()), profile, limits)
	if err != nil {
		return nil, false
	}
	meta.Header = Digest{} // there is no such file
	return meta, true
}

// ContextText returns the name and description for the model's list of skills, in
// one line and without invisible characters. It is the publisher's claim.
func (r *Registration) ContextText() string {
	if r == nil {
		return ""
	}
	return oneLine(r.Name) + ": " + r.Display()
}

// Activate verifies the skill again and loads its instructions (level 2). If the
// file changed since registration, the verdict has the finding
// changed-since-registration, the metadata is that of the new file, and earlier
// consents for this skill end. A digest from an index has to match; a name or
// description that differs from the index is a finding. Activate returns an error
// if the root was unregistered, blocked or revoked in the meantime.
func (r *Registration) Activate(ctx context.Context) (*Loaded, error) {
	if r == nil {
		return nil, usageError("there is no registration", "register the skill through a Loader")
	}
	if err := r.loader.ready(); err != nil {
		return nil, err
	}
	if err := r.loader.checkTerms(ctx, loadTerms{Skill: r.ID.String(), Artifact: r.ID.artifact, Root: r.Root.String(),
		Source: r.Source, Under: r.under, Profile: r.loader.options.Profile, RequireSecure: r.loader.options.RequireSecure}); err != nil {
		return nil, err
	}
	got, err := r.loader.load(ctx, &candidate{Level: activated, Claim: Claim{URL: r.ID.String(), Pin: r.pin, Listed: r.promised, Artifact: r.ID.artifact},
		Hint: r.hint, Listed: r.listed, revalidate: true})
	return got.loaded, err
}

// hint is what an index says about a skill.
type hint struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Origin      string `json:"origin,omitempty"` // of the index, if the skill is at another one
}

// foreign reports whether the skill was named by another origin than its own.
func (h *hint) foreign() bool { return h != nil && h.Origin != "" }

// mismatch returns a finding for each field in which the index differs from the file.
func (h *hint) mismatch(m *Metadata) []lookleap.Finding {
	var findings []lookleap.Finding
	for _, c := range []struct{ what, index, file string }{{"name", h.Name, m.Name}, {"description", h.Description, m.Description}} {
		if c.index != "" && strings.TrimSpace(c.index) != c.file {
			findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeIndexMismatch,
				Requirement: "DVS-3.2-21",
				Message: fmt.Sprintf("the index has another %s than the file: %s", c.what,
					plaintext.Quote(c.index, 200)), Fix: "generate the index from the files"})
		}
	}
	return findings
}
