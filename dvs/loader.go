package dvs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Options are the choices of [NewLoader]. The zero value is the safe one.
type Options struct {
	Roots   *Roots // who is trusted; nil: an empty registry
	Profile Profile
	Limits  Limits

	// Strict demands a registered trust root and the media type text/markdown.
	Strict bool
	// RequireSecure refuses hosts whose DNS is not signed.
	RequireSecure bool
	// Guard sends the requests in place of the host, an agents.txt guard for one.
	Guard lookleap.Fetcher
	// Indexes are the directories of an origin whose index.json [Loader.Discover]
	// asks for, in the order in which their entries are yielded; nil: that of
	// discovery v0.2, [AgentSkillsPrefix], and then [SkillsPrefix]. Both are
	// requested at once. An empty list leaves only the sitemap.
	Indexes []string
	// Runner runs scripts; nil: nothing does, and approved bytes are the host's.
	Runner Runner
	// Notify is told before a skill of another domain or root is first used.
	Notify func(context.Context, Crossing)
}

// Loader loads skills for one user's session: it remembers what the user agreed
// to, and what was loaded. It is safe for concurrent use.
//
// The three levels of section 4.6 are [Loader.Register] for the metadata,
// [Registration.Activate] for the instructions, and [Loaded.Resource] for
// everything else; [Loader.Load] does the first two at once.
//
// With a [lookleap.Host.Cache] that is plugged in, processes share the SKILL.md
// files that they fetched, while these are fresh: the bytes and how they came,
// never a decision or a consent. What a server marks as meant for one user is
// not shared; a Fetcher that adds credentials does not go with a shared cache.
// Whoever can write to the cache can write instructions: seal it.
type Loader struct {
	host    *lookleap.Host
	options Options
	limits  Limits
	fetcher lookleap.Fetcher // the guard, or the host
	roots   *Roots
	clock   *flight.Clock
	files   *flight.Memo[string, *document]
	seen    *lru.Cache[Digest, seenSkill] // by digest of the identity

	mu       sync.Mutex
	consents map[Digest]consent // by digest of the key
	loaded   map[string]bool    // skills that others in this session referred to
	scripts  map[Digest]Digest  // by digest of skill and name: what the user agreed to last
}

// seenSkill is what a skill was like before.
type seenSkill struct{ header, file Digest }

// NewLoader builds a loader on a host.
func NewLoader(host *lookleap.Host, options Options) *Loader {
	l := &Loader{host: host, options: options, limits: options.Limits.withDefaults(), roots: options.Roots, fetcher: host,
		consents: make(map[Digest]consent), loaded: make(map[string]bool), scripts: make(map[Digest]Digest)}
	if options.Guard != nil {
		l.fetcher = guardedFetcher{options.Guard, host}
	}
	if l.roots == nil {
		l.roots = NewRoots(Rules{MaxURL: l.limits.URL})
	}
	l.files = flight.NewSizedMemo(l.limits.Entries, l.limits.Memory, func(url string, d *document) int { return 2<<10 + 2*len(url) + len(d.body) }, host.Time)
	l.clock = flight.NewTolerantClock(flight.CorrectionTolerance, host.Time, func(time.Duration) { l.forgetConsents() })
	l.seen, _ = lru.New[Digest, seenSkill](max(l.limits.Entries, 4096)) // only a size below 1 is an error
	return l
}

// ready returns an error for a loader that NewLoader did not make, or that has no host.
func (l *Loader) ready() error {
	if l == nil || l.host == nil || l.files == nil {
		return usageError("the loader has no host", "make it with NewLoader")
	}
	return nil
}

// Roots returns the registry in use.
func (l *Loader) Roots() *Roots {
	if l == nil {
		return nil
	}
	return l.roots
}

// guardedFetcher is a guard that uses the host's clock.
type guardedFetcher struct {
	lookleap.Fetcher
	host *lookleap.Host
}

func (g guardedFetcher) Time() time.Time { return g.host.Time() }

// Load verifies a skill and activates it. Every refusal is a
// [*lookleap.VerifyError] with the whole story; a [*lookleap.PendingError] waits
// for its user and goes on with [Loader.Resume]; the end of the caller's context
// is the error that it is.
//
// A skill under a registered root loads without a prompt. Any other asks first
// (section 5.2). Where the root is only the default of its host, the user is
// asked for the skill. On a platform the user is asked for the skill, and
// whether to trust the publisher's whole path from now on. A user who agrees to
// the skill only gets a skill of the source [SkillOnly], and nothing is
// registered. That consent holds for the same bytes, in this session.
func (l *Loader) Load(ctx context.Context, url string) (*Loaded, error) {
	return l.load(ctx, &candidate{Claim: Claim{URL: url}})
}

// LoadPinned is [Loader.Load] of content that the caller knows already: the
// whole commit that the URL names, or the digest of the SKILL.md.
func (l *Loader) LoadPinned(ctx context.Context, url string, pin Pin) (*Loaded, error) {
	return l.load(ctx, &candidate{Claim: Claim{URL: url, Pin: pin}})
}

// LoadUnder is [Loader.Load] of a skill that is said to lie under this very
// root, whatever the registry has: it counts as declared by the host program. A
// skill outside is refused with outside-trust-root before anything is sent.
func (l *Loader) LoadUnder(ctx context.Context, url string, root TrustRoot) (*Loaded, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if root.IsZero() {
		return nil, l.refuse(ctx, decideClaim(Claim{URL: url}, l.host.Time(), l.roots.Rules()), nil)
	}
	return l.load(ctx, &candidate{Claim: Claim{URL: url}, Under: root.String()})
}

func (l *Loader) load(ctx context.Context, c *candidate) (*Loaded, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if err := l.verify(ctx, c); err != nil {
		return nil, err
	}
	got, err := l.admit(ctx, c, activated)
	return got.loaded, err
}

// candidate is a skill that was fetched and judged, and not yet admitted. It is
// plain data, since a plan holds it.
type candidate struct {
	Level    level    `json:"level"`
	Claim    Claim    `json:"claim"`
	Evidence Evidence `json:"evidence"`
	File     content  `json:"file"`
	Final    string   `json:"final"` // URL that answered
	Chain    []string `json:"chain,omitempty"`
	Under    string   `json:"under,omitempty"` // root that the caller named; "": the registry's
	Hint     *hint    `json:"hint,omitempty"`  // what an index said

	// SkillOnly is whether the user agreed to the skill and not to its derived root.
	SkillOnly bool `json:"only,omitempty"`

	revalidate bool // ask the server, whatever other processes have shared
	skill      SkillURL
	root       TrustRoot
	parsed     *Skill
	findings   []lookleap.Finding
	verdict    *lookleap.Verdict
	cause      error
}

// level is how far a skill is loaded.
type level int

const (
	registered level = 1
	activated  level = 2
)

// verify fetches a candidate and judges it.
func (l *Loader) verify(ctx context.Context, c *candidate) error {
	if err := l.checkClaim(ctx, c); err != nil {
		return err
	}
	doc, err := l.fetchOnce(ctx, fileRequest{url: c.skill.served, limit: l.limits.Skill, revalidate: c.revalidate, redirect: func(to domain.URL) error {
		return l.checkHop(c.root, c.Claim, to)
	}})
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: domain.Redact(c.skill.String()), Message: "the skill was not loaded", Err: err}
	}
	now := l.host.Time()
	c.Evidence, c.File, c.Final, c.cause = doc.evidence, content{doc.body, len(doc.body)}, doc.final.String(), doc.cause
	if c.Evidence.Fresh.Before(now) {
		c.Evidence.Fresh = now // a copy that must not be kept may be used by those who asked for it
	}
	c.parsed, c.findings = nil, nil
	return l.judgeFile(ctx, c, now)
}

// checkClaim refuses what can be refused without a request. The verdict of the candidate is then
// that it was not activated yet.
func (l *Loader) checkClaim(ctx context.Context, c *candidate) (err error) {
	rules := l.roots.Rules()
	c.Claim.Profile, c.Claim.Strict, c.Claim.RequireSecure = l.options.Profile, l.options.Strict, l.options.RequireSecure
	claim := c.Claim
	if c.skill, err = ParseSkillURL(claim.URL, rules); err == nil {
		l.applyRegistry(c)
		if claim = c.Claim; l.host.Prompter != nil {
			claim = claim.confirmed()
		}
	}
	c.verdict = decideClaim(claim, l.host.Time(), rules)
	if c.verdict.Code != CodeNotActivated {
		return l.refuse(ctx, c.verdict, nil)
	}
	return nil
}

// applyRegistry sets what the registry says of a candidate.
func (l *Loader) applyRegistry(c *candidate) {
	d := l.roots.Find(c.skill)
	if c.Under != "" {
		d.Source = ByHost
		if d.Root, _ = ParseTrustRoot(c.Under, l.roots.Rules()); d.Root.IsZero() {
			d.Source = Undeclared
		}
	}
	if c.SkillOnly && d.Source == Derived {
		if directory, ok := l.roots.Rules().directoryRoot(c.skill, c.Evidence.Hops); ok {
			d.Root, d.Source = directory, SkillOnly
		}
	}
	c.root = d.Root
	c.Claim.Root, c.Claim.Source, c.Claim.Blocked, c.Claim.Revoked = d.Root.String(), d.Source, d.Blocked, d.Revoked
}

// confirmed returns the claim as it is once the user has confirmed a derived root.
func (c Claim) confirmed() Claim {
	if c.Source == Derived {
		c.Source = ByUser
	}
	return c
}

// judgeFile reads the file, unless that was done, and judges the candidate.
func (l *Loader) judgeFile(ctx context.Context, c *candidate, now time.Time) error {
	rules := l.roots.Rules()
	for _, hop := range c.Evidence.Hops { // perhaps followed before the registry changed
		if to, err := rules.urls().Parse(hop); err == nil {
			d := l.roots.at(to)
			c.Claim.Blocked, c.Claim.Revoked = c.Claim.Blocked || d.Blocked, c.Claim.Revoked || d.Revoked
		}
	}
	if c.parsed == nil && c.Evidence.Status == 200 && c.Evidence.Failure == "" {
		var err error
		c.parsed, c.findings, err = ParseSkill(c.File.Bytes, c.Claim.Profile, l.limits)
		c.Evidence.Digest, c.Evidence.Content = DigestOf(c.File.Bytes), lookleap.CodeOf(err)
		var broken *lookleap.Error
		if errors.As(err, &broken) {
			c.Evidence.ContentError, c.Evidence.Position = broken.Message, &broken.Position
		}
		if c.parsed != nil {
			if v, ok := c.parsed.Value("trust-root"); ok {
				c.Evidence.SelfDeclared = v.Text
			}
		}
	}
	c.verdict = Decide(c.Claim.confirmed(), c.Evidence, now, rules)
	c.verdict.Findings = c.findings
	if c.parsed != nil {
		if c.Hint != nil {
			c.verdict.Findings = append(c.verdict.Findings, c.Hint.mismatch(&c.parsed.Metadata)...)
		}
	}
	if !c.verdict.OK {
		return l.refuse(ctx, c.verdict, c.cause)
	}
	if narrow, ok := rules.narrow(c.root, c.Evidence.SelfDeclared, c.skill); ok {
		c.root = narrow
	}
	return nil
}

// refuse reports a verdict and makes it an error.
func (l *Loader) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: cause}
}

// refuseConsent adds to a verdict that the user did not agree.
func (l *Loader) refuseConsent(ctx context.Context, v *lookleap.Verdict, err error) error {
	if errors.Is(err, lookleap.ErrConsentPending) {
		return err
	}
	refused := *v
	refused.OK, refused.Expires, refused.Code = false, time.Time{}, lookleap.CodeOf(err)
	refused.Summary = refused.Code.Title()
	refused.Checks = append(slices.Clone(v.Checks), lookleap.Check{Requirement: "DVS-5.2-08", Code: refused.Code, Status: lookleap.Failed, Message: refused.Summary})
	return l.refuse(ctx, &refused, err)
}

// Revoke ends trust in a root and all below it, and forgets every copy and
// consent that this loader has; skills in use refuse from then on (section 7).
func (l *Loader) Revoke(root TrustRoot) {
	if l.ready() != nil {
		return
	}
	l.roots.Revoke(root)
	l.forgetAll(root.String())
}

// RevokeDomain is [Loader.Revoke] of a host, and of its subdomains if they are
// included.
func (l *Loader) RevokeDomain(host string, includeSubdomains bool) error {
	if err := l.ready(); err != nil {
		return err
	}
	if err := l.roots.RevokeDomain(host, includeSubdomains); err != nil {
		return err
	}
	l.forgetAll(host)
	return nil
}

// forgetAll drops copies and consents, and announces what was revoked.
func (l *Loader) forgetAll(revoked string) {
	l.host.Report(context.Background(), lookleap.Event{Kind: lookleap.EventFinding, Code: CodeRevoked, Subject: revoked,
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeRevoked, Requirement: "DVS-7-03", Message: "trust in " + plaintext.Quote(revoked, 400) + " was revoked"}})
	l.files.Purge()
	l.forgetConsents()
}

// Limits bound what skills may make this package do. A zero field takes the
// default beside it.
type Limits struct {
	// What ParseSkill reads.
	Skill       int // bytes of SKILL.md; 1 MiB
	Frontmatter int // bytes between the fences; 16 KiB
	Depth       int // nesting of the frontmatter; 16

	// What a Loader fetches.
	URL       int           // bytes of a URL or reference; 8192
	Resource  int           // bytes of one bundled resource; 10 MiB
	Time      time.Duration // for one document, redirects included; 10 s
	Redirects int           // followed; 5
	Kept      time.Duration // longest use of a copy without asking again; 24 h
	Entries   int           // skills and resources kept in memory; 128
	Memory    int           // bytes of these; 64 MiB

	// What discovery reads.
	Index           int // bytes of an index; 1 MiB
	IndexEntries    int // of one index; 1000
	Sitemap         int // bytes of one sitemap, decompressed; 52,428,800
	SitemapURLs     int // locations in one sitemap; 50,000
	SitemapChildren int // sitemaps that a sitemap index may name; 10
	Candidates      int // skills found at one origin; 10,000

	// What a VerifiedFS, a lockfile or a directory of skills may hold.
	Files int // files of one skill; 1,000
	Total int // bytes of all files of one skill; 64 MiB

	// What composition may chain.
	ChainDepth int // skills in one chain; 4
	ChainTotal int // skills in one session; 32
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Skill, 1 << 20}, {&l.Frontmatter, 16 << 10}, {&l.Depth, 16},
		{&l.URL, 8192}, {&l.Resource, 10 << 20}, {&l.Redirects, 5}, {&l.Entries, 128}, {&l.Memory, 64 << 20},
		{&l.Index, 1 << 20}, {&l.IndexEntries, 1000},
		{&l.Sitemap, 52_428_800}, {&l.SitemapURLs, 50_000}, {&l.SitemapChildren, 10}, {&l.Candidates, 10_000},
		{&l.Files, 1000}, {&l.Total, 64 << 20},
		{&l.ChainDepth, 4}, {&l.ChainTotal, 32},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	if l.Kept <= 0 || l.Kept > 24*time.Hour {
		l.Kept = 24 * time.Hour
	}
	return l
}
