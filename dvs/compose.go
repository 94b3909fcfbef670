package dvs

import (
	"context"
	"fmt"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Crossing is told before a skill that another one refers to is first used, if
// it lies under another root: trust is extended to another party (section 6).
type Crossing struct {
	From, To         string // identities of the skills
	FromRoot, ToRoot string
	NewDomain        bool     // the hosting domains differ
	Chain            []string // identities that led here, From included
}

// LoadRef loads a skill that this one refers to, by a full https URL or by a
// relative path to another SKILL.md (section 6). The child has the root,
// consents and limits that it would have if it were loaded directly: under a
// registered root it loads at once, under any other the user is asked first:
// outside of the parent's root before anything is sent, since an address can
// carry what the parent knows. Nothing of the parent's covers it. [Options.Notify] hears of another root
// before the first byte is used.
func (s *Loaded) LoadRef(ctx context.Context, ref string) (*Loaded, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	l := s.loader
	if err := s.use(); err != nil {
		return nil, l.refuseTarget(ctx, ref, err)
	}
	if scheme, ok := schemeOf(ref); ok && scheme == "http" {
		return nil, l.refuseTarget(ctx, ref, refuse(lookleap.CodeNotHTTPS, ref, "skills are not loaded over plain http", "use https"))
	}
	u, err := l.rules().urls().Resolve(s.base, ref)
	if err != nil {
		return nil, l.refuseTarget(ctx, ref, badURL(ref, err))
	}
	child, err := ParseSkillURL(u.String(), l.rules())
	if err != nil {
		return nil, l.refuseTarget(ctx, ref, err)
	}
	chain := append(slices.Clone(s.Chain), s.ID.String())
	if err := l.checkChain(chain, child); err != nil {
		return nil, l.refuseTarget(ctx, ref, err)
	}
	c := &candidate{Level: activated, Claim: Claim{URL: u.String()}, Chain: chain}
	if err := l.mayAsk(ctx, c); err != nil {
		return nil, err
	}
	foreign := c.skill.mapped && u.Host() == c.skill.ServingHost() && u.Host() != c.skill.Host()
	if (foreign || !s.Root.Covers(c.skill) && !c.Claim.Source.Registered()) && !l.agreedBefore(c) {
		c.verdict = l.unread(c) // refused if the user declines
		s.cross(ctx, c)
		got, err := l.askAdmission(ctx, c)
		return got.loaded, err
	}
	if err := l.verify(ctx, c); err != nil {
		return nil, err
	}
	if foreign {
		c.Claim.Source = byDocument(c.Claim.Source)
	}
	s.cross(ctx, c)
	got, err := l.admit(ctx, c, activated)
	return got.loaded, err
}

// byDocument is the standing of a URL of the bytes' host that a document wrote:
// the root that covers the page was not meant for it, so the user is asked
// (DVS-3.1-45 to DVS-3.1-48).
func byDocument(source RootSource) RootSource {
	if source.Registered() {
		return DefaultOrigin
	}
	return source
}

// checkChain bounds composition (DVS-6-02 to DVS-6-06).
func (l *Loader) checkChain(chain []string, child SkillURL) *lookleap.Error {
	id := child.String()
	switch {
	case slices.Contains(chain, id):
		return refuse(CodeCompositionCycle, id, "the skill is already loading this one", "remove the circular reference")
	case len(chain) >= l.limits.ChainDepth:
		return refuse(CodeCompositionDepth, id, fmt.Sprintf("a chain has at most %d skills", l.limits.ChainDepth), "refer to the skill from a shorter chain")
	}
	return nil
}

// cross tells about a child under another root.
func (s *Loaded) cross(ctx context.Context, c *candidate) {
	if c.root.String() == s.Root.String() {
		return
	}
	x := Crossing{From: s.ID.String(), To: c.skill.String(), FromRoot: s.Root.String(), ToRoot: c.root.String(),
		NewDomain: c.root.HostingDomain() != s.Root.HostingDomain(), Chain: slices.Clone(c.Chain)}
	message := fmt.Sprintf("the skill %s uses the skill %s under another trust root", domain.Redact(x.From), domain.Redact(x.To))
	s.loader.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: CodeCrossing, Subject: domain.Redact(x.To),
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeCrossing, Requirement: "DVS-6-05", Message: message}})
	if s.loader.options.Notify != nil {
		s.loader.options.Notify(ctx, x)
	}
}

// count bounds how many skills one session composes.
func (l *Loader) count(c *candidate) error {
	if len(c.Chain) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	id := c.skill.String()
	if !l.loaded[id] && len(l.loaded) >= l.limits.ChainTotal {
		return refuse(CodeCompositionTotal, id, fmt.Sprintf("a session composes at most %d skills", l.limits.ChainTotal), "start another session")
	}
	l.loaded[id] = true
	return nil
}
