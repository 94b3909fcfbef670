package dvs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/flight"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Options configure [NewLoader]. The zero value is the safe one.
type Options struct {
	// Roots is the program's registry of trust roots, which loaders of several users may share: what a
	// user confirms holds for that user's loaders. Nil: an empty one.
	Roots   *Roots
	Profile Profile
	Limits  Limits

	// Strict requires a registered trust root and the media type text/markdown.
	Strict bool
	// RequireSecure refuses hosts whose DNS is not signed.
	RequireSecure bool
	// Guard sends the requests instead of the host, for example an agents.txt guard.
	Guard lookleap.Fetcher
	// Indexes are the directories of an origin whose index.json [Loader.Discover]
	// requests, in the order in which their entries are yielded; nil: that of
	// discovery v0.2, [AgentSkillsPrefix], and then [SkillsPrefix]. Both are
	// requested at once. An empty list leaves only the sitemap.
	Indexes []string
	// Runner runs scripts. Without one, ApprovedScript.Run returns an error, and the host program
	// runs the command itself.
	Runner Runner
	// Trust keeps what the user decided, also for other processes and later sessions. The first use
	// of a skill asks unless its root is registered; a change of it asks again with the difference;
	// a refusal is remembered. Nil: decisions last as long as the loader.
	Trust TrustStore
	// Policies are those of the organisation. Each has to permit what is done. [Loader] reads them
	// when it is made: a policy that is invalid, or nil, allows nothing.
	Policies []*Policy
	// Feeds are revocation feeds. What they withdraw is refused from then on, also what is loaded
	// already: before each script, resource and activation.
	Feeds []FeedOptions
	// FeedStore shares what feeds withdrew between processes: each follows the others within half a
	// minute. Nil: Trust; without both, each loader fetches for itself.
	FeedStore TrustStore
	// Lock freezes the loader: it loads only the skills and files of this lockfile, each with exactly
	// the locked bytes, under the locked root, and never asks about them. Nil: no lockfile.
	Lock *Lockfile
	// Notify is called before a skill under another root is first used by a skill. The loader waits
	// at most 2 seconds for it.
	Notify func(context.Context, Crossing)
	// User is the host's id of the user. Plans contain a mark of it, so that [Loader.Resume]
	// refuses the plan of another user. Without it, any loader without a user resumes them.
	User string
}

// Loader loads skills for one user's session: it remembers the user's consents and the skills that
// were loaded. It is safe for concurrent use.
//
// The three levels of section 4.6 are [Loader.Register] for the metadata, [Registration.Activate]
// for the instructions, and [Loaded.Resource] for all other files. [Loader.Load] does the first
// two at once.
//
// With a [lookleap.Host.Cache], processes share fetched SKILL.md files while these are fresh: the
// bytes and the evidence, never a decision or a consent. Responses for one user are not shared. Do
// not combine a shared cache with a Fetcher that adds credentials. Seal the cache: anyone who can
// write to it can write instructions.
type Loader struct {
	host    *lookleap.Host
	options Options
	limits  Limits
	fetcher lookleap.Fetcher // the guard, or the host
	roots   *Roots
	clock   *flight.Clock
	files   *flight.Memo[string, *document]
	seen    *lru.Cache[Digest, seenSkill] // by digest of the identity

	notices   *plugin.Bound // of Options.Notify
	runs      *plugin.Bound // of Options.Runner
	policies  *governor
	feeds     *feedReader                 // nil: there are none
	feedStore *trustKeeper                // nil: feeds are not shared
	withdrawn atomic.Pointer[withdrawals] // by all feeds

	trust       *trustKeeper           // nil: nothing is kept
	syncing     flight.Turns[struct{}] // to read the roots of the store
	synced      time.Time              // when that was done last
	storedRoots map[string]bool

	mu       sync.Mutex
	consents map[Digest]consent // by digest of the key
	loaded   map[string]bool    // skills that others in this session referred to
	scripts  map[Digest]Digest  // by digest of skill and name: what the user agreed to last
}

// seenSkill has the digests of a skill at its last load.
type seenSkill struct{ header, file Digest }

// NewLoader returns a loader that uses a host.
func NewLoader(host *lookleap.Host, options Options) *Loader {
	l := &Loader{host: host, options: options, limits: options.Limits.withDefaults(), roots: options.Roots, fetcher: host,
		notices: boundedPart("the host was not notified of another trust root", 2*time.Second), runs: boundedPart("the runner failed", 0),
		consents: make(map[Digest]consent), loaded: make(map[string]bool), scripts: make(map[Digest]Digest)}
	if options.Guard != nil {
		l.fetcher = guardedFetcher{options.Guard, host}
	}
	if options.Trust != nil {
		l.trust = newTrustKeeper(options.Trust)
	}
	if len(options.Feeds) > 0 {
		l.feeds = newFeedReader(options.Feeds)
	}
	if l.feedStore = l.trust; options.FeedStore != nil {
		l.feedStore = newTrustKeeper(options.FeedStore)
	}
	if l.roots == nil {
		l.roots = NewRoots(Rules{MaxURL: l.limits.URL})
	}
	l.roots = l.roots.forUser()
	if l.trust != nil {
		l.trust.rules = l.roots.Rules
	}
	l.policies = newGovernor(options, l.roots.Rules())
	l.options.Profile, l.options.RequireSecure = l.policies.profile, l.policies.secure
	if most := l.policies.maxTrust; most > 0 {
		l.limits.Kept = min(l.limits.Kept, most)
	}
	l.files = flight.NewSizedMemo(l.limits.Entries, l.limits.Memory,
		func(url string, d *document) int { return 2<<10 + 2*len(url) + len(d.body) }, host.Time)
	l.clock = flight.NewTolerantClock(flight.CorrectionTolerance, host.Time, func(time.Duration) { l.forgetConsents() })
	l.seen, _ = lru.New[Digest, seenSkill](max(l.limits.Entries, 4096)) // only a size below 1 is an error
	return l
}

// ready returns an error for a loader that NewLoader did not make, or that has no host.
func (l *Loader) ready() error {
	if l == nil || l.host == nil {
		return usageError("the loader has no host", "make it with NewLoader")
	}
	return nil
}

// Roots returns the registry of the loader: that of [Options].Roots, with what the user of this loader
// declared. What is registered there [ByUser] holds for this loader; anything else changes
// Options.Roots.
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

// Load verifies a skill and activates it. A refusal is a [*lookleap.VerifyError] with all checks.
// A [*lookleap.PendingError] means that the user has not decided yet; continue with
// [Loader.Resume].
//
// A skill under a registered root loads without a prompt. For any other skill, Load asks the user
// (section 5.2). On a platform, the prompt also asks whether to trust the publisher's whole path
// from now on. If the user agrees only to the skill, its source is [SkillOnly], and no root is
// registered. That consent applies to the same bytes in this session.
func (l *Loader) Load(ctx context.Context, url string) (*Loaded, error) {
	got, err := l.load(ctx, &candidate{Level: activated, Claim: Claim{URL: url}})
	return got.loaded, err
}

// LoadPinned is [Loader.Load] for known content: the pin is the whole commit that the URL names,
// or the digest of the SKILL.md.
func (l *Loader) LoadPinned(ctx context.Context, url string, pin Pin) (*Loaded, error) {
	got, err := l.load(ctx, &candidate{Level: activated, Claim: Claim{URL: url, Pin: pin}})
	return got.loaded, err
}

// LoadUnder is [Loader.Load] with a root that the host program declares for this call, independent
// of the registry. If the skill lies outside the root, it is refused with outside-trust-root
// before a request is sent.
func (l *Loader) LoadUnder(ctx context.Context, url string, root TrustRoot) (*Loaded, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	if root.IsZero() {
		return nil, l.refuse(ctx, l.claimVerdict(&candidate{Claim: Claim{URL: url}}), nil)
	}
	got, err := l.load(ctx, &candidate{Level: activated, Claim: Claim{URL: url}, Under: root.String()})
	return got.loaded, err
}

// load takes a candidate through all steps, each of which can refuse it:
//
//   - if another origin lists the skill, [Loader.askAdmission] asks before the first request;
//   - [Loader.verify] judges the URL by registry, policies and feeds, fetches the file, and judges
//     it as [Decide] does;
//   - [Loader.admit] asks the user if the skill needs it, and judges the file again by what the
//     user registered.
func (l *Loader) load(ctx context.Context, c *candidate) (admitted, error) {
	if err := l.ready(); err != nil {
		return admitted{}, err
	}
	if c.Hint.foreign() {
		if err := l.checkClaim(ctx, c); err != nil {
			return admitted{}, err
		}
		if !c.Claim.Source.Registered() && !l.agreedBefore(c) {
			switch approved, err := l.approvedListed(ctx, c); {
			case err != nil:
				return admitted{}, err
			case !approved:
				return l.askAdmission(ctx, c)
			}
		}
	}
	if err := l.verify(ctx, c); err != nil {
		return admitted{}, err
	}
	if c.Level == registered {
		defer l.files.Invalidate(c.skill.served.String()) // it keeps no body
	}
	return l.admit(ctx, c)
}

// candidate is a skill on its way: fetched and judged, but not admitted yet. It is plain data,
// since a plan contains it.
type candidate struct {
	Level    level    `json:"level"`
	Claim    Claim    `json:"claim"`
	Evidence Evidence `json:"evidence"`
	File     content  `json:"file"`
	Final    string   `json:"final"` // URL that answered
	Chain    []string `json:"chain,omitempty"`
	Under    string   `json:"under,omitempty"`  // root that the caller named; "": the registry's
	Hint     *hint    `json:"hint,omitempty"`   // what an index said
	Listed   []string `json:"listed,omitempty"` // files that an index of v0.1 names

	// SkillOnly is whether the user agreed to the skill and not to its derived root.
	SkillOnly bool `json:"only,omitempty"`

	change     *Change // since the version that the user approved last
	consented  bool    // the user agreed to this candidate
	revalidate bool    // ask the server, whatever other processes have shared
	skill      SkillURL
	platforms  *Platforms // by which the URL of the skill was parsed
	root       TrustRoot
	parsed     *Skill
	entry      []byte            // the SKILL.md
	members    map[string][]byte // of an archive, by path
	findings   []lookleap.Finding
	verdict    *lookleap.Verdict // nil until the file was judged, or the user is asked without it
	judged     Claim             // by the verdict
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
	if l.trust != nil {
		if err := l.checkNever(ctx, c); err != nil {
			return err
		}
	}
	limit := l.limits.Skill
	if c.skill.artifact == SkillArchive {
		limit = l.limits.Archive
	}
	doc, err := l.fetchOnce(ctx, fileRequest{url: c.skill.served, limit: limit, revalidate: c.revalidate,
		redirect: func(to domain.URL) error {
			return l.checkHop(c.root, c.Claim, to)
		}})
	if err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: domain.Redact(c.skill.String()),
			Message: "the skill was not loaded", Err: err}
	}
	now := l.host.Time()
	c.Evidence = doc.evidence
	c.File = content{doc.body, len(doc.body)}
	c.Final = doc.final.String()
	c.cause = doc.cause
	if c.Evidence.Fresh.Before(now) {
		c.Evidence.Fresh = now // a copy that must not be kept may be used by those who asked for it
	}
	c.parsed, c.findings = nil, nil
	return l.judgeFile(ctx, c, now)
}

// checkClaim refuses what can be refused without a request.
func (l *Loader) checkClaim(ctx context.Context, c *candidate) (err error) {
	unread := l.refreshTrust(ctx) // reported if nothing else refuses the claim
	rules := l.roots.Rules()
	c.Claim.Profile = l.options.Profile
	c.Claim.Strict = l.options.Strict
	c.Claim.RequireSecure = l.options.RequireSecure
	var forbidden error // by a policy
	c.platforms = rules.Platforms
	if c.skill, err = ParseArtifactURL(c.Claim.URL, c.Claim.Artifact, rules); err == nil {
		forbidden = l.govern(c)
		l.applyRegistry(c)
	}
	c.verdict = nil
	j := l.claimJudge(c)
	switch failed := j.run(claimSteps); {
	case forbidden != nil && (failed == nil || failed.Code == CodeNeedsRoot):
		// A root would not help, so the policy is the reason to show.
		return l.refuseTrust(ctx, j.decide(true), forbidden)
	case failed != nil:
		return l.refuse(ctx, j.decide(true), nil)
	case unread != nil:
		return l.refuseTrust(ctx, j.decide(true), unread)
	}
	return nil
}

// claimJudge returns a judge of a candidate's claim. If the user can be asked, a derived root counts
// as confirmed.
func (l *Loader) claimJudge(c *candidate) *judge {
	claim := c.Claim
	if l.host.Prompter != nil && !c.skill.IsZero() {
		claim = claim.confirmed()
	}
	return &judge{rules: l.roots.Rules(), claim: claim, now: l.host.Time(), skill: c.skill, root: c.root}
}

// claimVerdict returns the verdict about what needs no evidence.
func (l *Loader) claimVerdict(c *candidate) *lookleap.Verdict { return l.claimJudge(c).decide(true) }

// refreshTrust reads what the trust store and the feeds say, each if it was not read lately.
func (l *Loader) refreshTrust(ctx context.Context) error {
	var ofStore, ofFeeds error
	if l.trust != nil {
		ofStore = l.syncTrust(ctx)
	}
	if l.feeds != nil {
		ofFeeds = l.checkFeeds(ctx)
	}
	return cmp.Or(ofStore, ofFeeds)
}

// applyRegistry sets what the registry says of a candidate.
func (l *Loader) applyRegistry(c *candidate) {
	d := l.roots.Find(c.skill)
	if l.policies.registrar != RegisterUser {
		d = l.policies.declared(d, c.skill, l.roots.Rules())
	}
	if c.Under != "" {
		d.Source = ByHost
		d.Root, _ = ParseTrustRoot(c.Under, l.roots.Rules()) // a zero root is refused
	}
	if c.SkillOnly && d.Source == Derived {
		if directory, ok := l.roots.Rules().directoryRoot(c.skill, c.Evidence.Hops); ok {
			d.Root, d.Source = directory, SkillOnly
		}
	}
	c.root = d.Root
	c.Claim.Root = d.Root.String()
	c.Claim.Source = d.Source
	c.Claim.Blocked = d.Blocked
	c.Claim.Revoked = d.Revoked
}

// confirmed returns the claim as it is once the user has confirmed a derived root.
func (c Claim) confirmed() Claim {
	if c.Source == Derived {
		c.Source = ByUser
	}
	return c
}

// refuse reports a verdict and returns it as an error.
func (l *Loader) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: cause}
}

// refuseConsent returns an error with a verdict that has the missing consent as its last check.
func (l *Loader) refuseConsent(ctx context.Context, v *lookleap.Verdict, err error) error {
	if errors.Is(err, lookleap.ErrConsentPending) {
		return err
	}
	return l.refuseBecause(ctx, v, err, lookleap.CodeOf(err).Title())
}

// refuseTrust returns an error with a verdict that has what the trust store, a policy or a feed
// said as its last check.
func (l *Loader) refuseTrust(ctx context.Context, v *lookleap.Verdict, err error) error {
	return l.refuseBecause(ctx, v, err, sentence(err))
}

// refuseBecause returns an error with a copy of a verdict that has a failed check at its end.
func (l *Loader) refuseBecause(ctx context.Context, v *lookleap.Verdict, err error, summary string) error {
	refused := *v
	refused.OK = false
	refused.Expires = time.Time{}
	refused.Code = lookleap.CodeOf(err)
	refused.Summary = summary
	refused.Checks = append(slices.Clone(v.Checks),
		lookleap.Check{Requirement: "DVS-5.2-08", Code: refused.Code, Status: lookleap.Failed, Message: summary})
	return l.refuse(ctx, &refused, err)
}

// Revoke ends trust in a root and everything below it, and forgets all copies and consents of this
// loader. Skills in use return errors from then on (section 7). With [Options].Trust, the
// revocation is kept: other loaders of the user follow it within half a minute.
func (l *Loader) Revoke(root TrustRoot) {
	if l.ready() != nil {
		return
	}
	l.roots.revoke(root)
	if l.trust != nil && !root.IsZero() {
		l.keepTrustedRoot(context.Background(), TrustedRoot{Root: root.String(), Revoked: true})
	}
	l.forgetAll(root.String())
}

// RevokeDomain is [Loader.Revoke] for a host and, if requested, its subdomains.
func (l *Loader) RevokeDomain(host string, includeSubdomains bool) error {
	if err := l.ready(); err != nil {
		return err
	}
	canonical, err := l.roots.Rules().urls().ParseHost(host)
	if err != nil {
		return badURL(host, err)
	}
	if err := l.roots.revokeDomain(canonical, includeSubdomains); err != nil {
		return err
	}
	if l.trust != nil {
		l.keepTrustedRoot(context.Background(), TrustedRoot{Root: canonical, Subdomains: includeSubdomains, Revoked: true})
	}
	l.forgetAll(host)
	return nil
}

// forgetAll drops all copies and consents, and reports the revocation.
func (l *Loader) forgetAll(revoked string) {
	l.host.Report(context.Background(), lookleap.Event{Kind: lookleap.EventFinding, Code: CodeRevoked, Subject: revoked,
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeRevoked, Requirement: "DVS-7-03",
			Message: "trust in " + plaintext.Quote(revoked, 400) + " was revoked"}})
	l.files.Purge()
	l.forgetConsents()
}

// Limits bound the work and memory for skills. A field of zero means the default that its comment
// states.
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

	// What a VerifiedFS, a lockfile, an archive or a directory of skills may hold.
	Files int // files of one skill; 1,000
	Total int // bytes of all files of one skill; 64 MiB

	Archive int // bytes of an archive as it is served; 32 MiB

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
		{&l.Files, 1000}, {&l.Total, 64 << 20}, {&l.Archive, 32 << 20},
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
