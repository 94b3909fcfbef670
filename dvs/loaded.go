package dvs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Loaded is a verified skill in use. Do not change its fields; its methods are safe for concurrent
// use.
type Loaded struct {
	Metadata
	ID      SkillURL
	Root    TrustRoot
	Source  RootSource // who declared the root
	Digest  Digest     // of the SKILL.md, or of the archive that it came in
	Verdict *lookleap.Verdict
	Chain   []string // identities of the skills that led here, the first one first

	loader *Loader
	base   domain.URL // what relative references resolve against
	claim  Claim
	under  string   // root that the caller of LoadUnder named
	listed []string // files that an index of v0.1 names
	packed bool     // all its files came with it
	served string   // host that the bytes came from

	mu      sync.Mutex
	skill   *Skill // nil after Deactivate
	file    []byte
	members map[string][]byte // of an archive or repository, by path

	executable nameSet // of the members
}

// ready returns an error for a skill that no loader loaded.
func (s *Loaded) ready() error {
	if s == nil {
		return usageError("there is no skill", "load it through a Loader")
	}
	return s.loader.ready()
}

// ServingHost returns the host that the bytes came from. It differs from the
// root's host where a platform serves pages and bytes separately; show both.
func (s *Loaded) ServingHost() string {
	if s == nil {
		return ""
	}
	return cmp.Or(s.served, s.ID.ServingHost())
}

// Skill returns the file as it was read, while the skill is active and trusted.
func (s *Loaded) Skill() (*Skill, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	skill := s.skill
	s.mu.Unlock()
	if refused := s.loader.stillAllowed(s.loadTerms()); refused != nil {
		return nil, refused
	}
	if skill == nil {
		return nil, refuse(CodeNotActivated, s.ID.String(), "the skill was deactivated", "load it again")
	}
	return skill, nil
}

// File returns the bytes of the SKILL.md. Do not change them. Unless the skill came in an archive,
// they have the digest of the field Digest.
func (s *Loaded) File() ([]byte, error) {
	if _, err := s.Skill(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, nil
}

// ContextText returns the instructions for the model. They are the publisher's text: commands in
// them run only through [Loaded.Approve] or [Loaded.Confirm].
func (s *Loaded) ContextText() (string, error) {
	skill, err := s.Skill()
	if err != nil {
		return "", err
	}
	return skill.Body, nil
}

// Deactivate releases the body and the loader's copies of the file; the metadata stays. Later uses
// return an error with the code not-activated.
func (s *Loaded) Deactivate() {
	if s.ready() != nil {
		return
	}
	s.mu.Lock()
	s.skill, s.file, s.members = nil, nil, nil
	s.mu.Unlock()
	s.loader.files.Invalidate(s.ID.served.String())
}

// loadTerms has the terms on which a skill was loaded. Each later step, also in another process,
// checks that the registry and the options of the loader still allow them (section 7).
type loadTerms struct {
	Skill    string     `json:"skill"`
	Artifact Artifact   `json:"artifact,omitzero"`
	Root     string     `json:"root"`
	Source   RootSource `json:"source"`
	Under    string     `json:"under,omitempty"` // root that the caller of LoadUnder named

	Digest        Digest  `json:"digest,omitzero"` // of the SKILL.md or archive
	Profile       Profile `json:"profile"`
	RequireSecure bool    `json:"requireSecure,omitempty"`
}

func (s *Loaded) loadTerms() loadTerms {
	return loadTerms{Skill: s.ID.String(), Artifact: s.ID.artifact, Root: s.Root.String(), Source: s.Source,
		Under: s.under, Digest: s.Digest, Profile: s.claim.Profile, RequireSecure: s.claim.RequireSecure}
}

// stillAllowed returns an error if a skill may no longer be used, or not by this loader.
func (l *Loader) stillAllowed(s loadTerms) error {
	rules := l.roots.Rules()
	u, refused := ParseArtifactURL(s.Skill, s.Artifact, rules)
	if refused != nil {
		return refused
	}
	root, refused := ParseTrustRoot(s.Root, rules)
	if refused != nil {
		return refused
	}
	d := l.declared(u, s.Under, rules)
	refused = cmp.Or(d.refusal(s.Skill), l.policies.at(u.place, s.Skill), l.refusedByFeed(u, s.Digest),
		l.policies.each(func(p *compiledPolicy) error { return p.under(u, s.Under) }))
	if refused != nil {
		return refused
	}
	if s.Artifact != SkillArchive && !s.Digest.IsZero() { // of an archive, each member is checked
		if refused := l.checkLocked(s.Skill, EntryFile, s.Digest); refused != nil {
			return refused
		}
	}
	switch {
	case !root.Covers(u):
		return refuse(CodeOutsideTrustRoot, s.Skill, "the skill URL does not lie under its trust root any longer", "load the skill again")
	case d.Source.Registered() && d.Root.Covers(u): // unless the table has changed
	case s.Source.Registered():
		return refuse(CodeNeedsRoot, s.Skill, "the trust root of the skill was unregistered", "register the root and load the skill again")
	case l.options.Strict:
		return refuse(CodeNeedsRoot, s.Skill, "only registered trust roots are accepted here", "register the root and load the skill again")
	case s.Source == SkillOnly:
	case d.Source != DefaultOrigin:
		return refuse(CodeNeedsRoot, s.Skill, "the trust root of this skill was not confirmed",
			"register the root and load the skill again")
	}
	switch {
	case l.options.RequireSecure && !s.RequireSecure:
		return refuse(CodeDNSSECInsecure, s.Skill,
			"the skill was loaded without requiring signed DNS, which this loader requires", "load the skill again")
	case l.options.Profile.strictness() > s.Profile.strictness():
		return refuse(lookleap.CodePlanInvalid, s.Skill, "the skill was read by the profile "+s.Profile.String()+
			", and this loader uses a stricter one: "+l.options.Profile.String(), "load the skill again")
	}
	return nil
}

func (p Profile) strictness() int { return slices.Index([]Profile{Lenient, DVS, AgentSkills}, p) }

// checkTerms is stillAllowed with a verdict that is reported.
func (l *Loader) checkTerms(ctx context.Context, s loadTerms) error {
	if err := l.refreshTrust(ctx); err != nil {
		return l.refuseTarget(ctx, s.Skill, err)
	}
	if refused := l.stillAllowed(s); refused != nil {
		return l.refuseTarget(ctx, s.Skill, refused)
	}
	return nil
}

// checkHop judges a redirect before it is followed, by the rules and the registry.
func (l *Loader) checkHop(root TrustRoot, claim Claim, to domain.URL) error {
	if refused := l.roots.Rules().checkHop(root, claim, to.String()); refused != nil {
		return refused
	}
	return l.refusalAt(to, to.String())
}

// Crossing describes the use of a skill by a skill under another trust root: trust is extended to
// another publisher (section 6). [Options.Notify] receives it before the first use.
type Crossing struct {
	From, To         string // identities of the skills
	FromRoot, ToRoot string
	NewDomain        bool     // the hosting domains differ
	Chain            []string // identities that led here, From included
}

// LoadRef loads a skill that this skill refers to, by an https URL or by a relative path to
// another SKILL.md (section 6). The child gets the root, consents and limits of a skill that is
// loaded directly, and nothing from its parent. Under a registered root it loads at once;
// otherwise the user is asked. If it is outside the parent's root, the user is asked before a
// request is sent, since a URL can disclose what the parent knows. [Options.Notify] is called
// before a skill under another root is used.
func (s *Loaded) LoadRef(ctx context.Context, ref string) (*Loaded, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	l := s.loader
	if _, err := s.Skill(); err != nil {
		return nil, l.refuseTarget(ctx, ref, err)
	}
	u, err := l.roots.Rules().urls().Resolve(s.base, ref)
	if err != nil {
		return nil, l.refuseTarget(ctx, ref, badURL(ref, err))
	}
	got, err := l.load(ctx, wish{Level: activated, Claim: Claim{URL: u.String()}, Chain: append(slices.Clone(s.Chain), s.ID.String()), parent: s})
	return got.loaded, err
}

// reportCrossing tells the host about a child under another root.
func (s *Loaded) reportCrossing(ctx context.Context, at *located) {
	if at.root.String() == s.Root.String() {
		return
	}
	x := Crossing{From: s.ID.String(), To: at.skill.String(), FromRoot: s.Root.String(), ToRoot: at.root.String(),
		NewDomain: at.root.HostingDomain() != s.Root.HostingDomain(), Chain: slices.Clone(at.Chain)}
	message := fmt.Sprintf("the skill %s uses the skill %s under another trust root", domain.Redact(x.From), domain.Redact(x.To))
	s.loader.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: CodeCrossing, Subject: domain.Redact(x.To),
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeCrossing, Requirement: "DVS-6-05", Message: message}})
	notify := s.loader.options.Notify
	if notify == nil {
		return
	}
	_, err := plugin.Await(context.WithoutCancel(ctx), s.loader.notices, func(ctx context.Context) (struct{}, error) {
		notify(ctx, x)
		return struct{}{}, nil
	})
	if err != nil {
		s.loader.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: domain.Redact(x.To), Err: err})
	}
}

// boundedPart bounds the calls of a part of the host. The message says what failed. Without a limit,
// a call is waited for until the caller's context ends.
func boundedPart(message string, limit time.Duration) *plugin.Bound {
	return &plugin.Bound{Limit: limit, Most: 64, Fail: func(reason string) error {
		return &lookleap.Error{Code: lookleap.CodeTimeout, Message: message + ": " + reason}
	}}
}

// countComposed refuses a skill beyond the number that one session may compose.
func (l *Loader) countComposed(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded[id] && len(l.loaded) >= maxComposed {
		return refuse(codeCompositionTotal, id, fmt.Sprintf("a session composes at most %d skills", maxComposed),
			"start another session")
	}
	l.loaded[id] = true
	return nil
}
