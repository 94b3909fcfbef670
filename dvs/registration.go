package dvs

import (
	"context"
	"strings"

	"github.com/lookleap/lookleap"
)

// Registration is a skill at level 1: its metadata and digests, without its
// body (section 4.6). It is not changed and may be shared.
type Registration struct {
	Metadata
	ID      SkillURL
	Root    TrustRoot  // whose skill it is: show this, and not the name that the skill gives itself
	Source  RootSource // who declared the root
	Digest  Digest     // of the SKILL.md at registration; zero: an index gave the metadata, and promised none
	Verdict *lookleap.Verdict

	loader *Loader
	pin    Pin
	hint   *hint // what an index said
}

// Register verifies a skill and keeps its metadata and digests; the body is
// dropped (level 1).
func (l *Loader) Register(ctx context.Context, url string) (*Registration, error) {
	return l.register(ctx, &candidate{Claim: Claim{URL: url}})
}

func (l *Loader) register(ctx context.Context, c *candidate) (*Registration, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if err := l.verify(ctx, c); err != nil {
		return nil, err
	}
	defer l.files.Invalidate(c.skill.served.String())
	got, err := l.admit(ctx, c, registered)
	return got.registration, err
}

// RegisterListing registers a skill by what an index says of it, without asking
// for its file: where the skill lies is judged now, everything else on
// activation, when what the index promised has to hold. So the verdict is OK only
// if the file was read. Where the index says too little, as a sitemap does, the
// file is fetched and judged at once, as by [Loader.Register].
func (l *Loader) RegisterListing(ctx context.Context, entry Listing) (*Registration, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	c := &candidate{Claim: Claim{URL: entry.Skill.String(), Pin: Pin{Digest: entry.Digest}}, Hint: &hint{entry.Name, entry.Description}}
	meta, ok := entry.metadata(l.options.Profile, l.limits)
	if !ok {
		return l.register(ctx, c)
	}
	if err := l.mayAsk(ctx, c); err != nil {
		return nil, err
	}
	if c.Claim.Source == Derived { // whom to trust is asked with the file at hand
		return l.register(ctx, c)
	}
	return &Registration{Metadata: *meta, ID: c.skill, Root: c.root, Source: c.Claim.Source, Digest: entry.Digest, Verdict: l.unread(c), loader: l, pin: c.Claim.Pin, hint: c.Hint}, nil
}

// unread is the verdict of a skill whose file nobody asked for.
func (l *Loader) unread(c *candidate) *lookleap.Verdict {
	v := Decide(c.provisional(), Evidence{}, l.host.Time(), l.rules())
	v.Code, v.Summary = CodeNotActivated, "the file was not asked for yet, and is judged on activation"
	for i := range v.Checks[beforeRequests:] {
		check := &v.Checks[beforeRequests+i]
		check.Code, check.Status, check.Message, check.Evidence = lookleap.CodeSkipped, lookleap.Skipped, "not before activation", nil
	}
	return v
}

// metadata reads what an index says by the rules for the file itself.
func (e *Listing) metadata(profile Profile, limits Limits) (*Metadata, bool) {
	if e.Name == "" || e.Description == "" {
		return nil, false
	}
	header := "---\nname: " + quoteYAML(e.Name) + "\ndescription: " + quoteYAML(strings.Join(strings.Fields(e.Description), " ")) + "\n---\n"
	meta, _, err := ParseMetadata([]byte(header), profile, limits)
	if err != nil {
		return nil, false
	}
	meta.Header = Digest{} // there is no such file
	return meta, true
}

// ContextText gives the name and description for the model's list of skills, in
// one line and without characters that nobody sees. It is the publisher's word.
func (r *Registration) ContextText() string {
	if r == nil {
		return ""
	}
	return oneLine(r.Name) + ": " + r.Display()
}

// Activate verifies the skill anew and loads its instructions (level 2). If the
// file changed since it was registered, the verdict has a finding
// changed-since-registration, the metadata are the new ones, and what the user
// agreed to for this skill counts no longer. A digest that an index promised has
// to match; a name or description that differs from the index's is a finding. If
// the root was unregistered, blocked or revoked meanwhile, Activate refuses.
func (r *Registration) Activate(ctx context.Context) (*Loaded, error) {
	if r == nil {
		return nil, usageError("there is no registration", "register the skill through a Loader")
	}
	if err := r.loader.ready(); err != nil {
		return nil, err
	}
	if err := r.loader.checkStanding(ctx, standing{Skill: r.ID.String(), Root: r.Root.String(), Source: r.Source, Profile: r.loader.options.Profile, RequireSecure: r.loader.options.RequireSecure}); err != nil {
		return nil, err
	}
	return r.loader.load(ctx, &candidate{Claim: Claim{URL: r.ID.String(), Pin: r.pin}, Hint: r.hint, anew: true})
}
