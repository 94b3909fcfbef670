package dvs

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lookleap/lookleap"
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
	// Indexes are the directories of an origin whose index.json [Loader.Discover] requests, in the
	// order in which their entries are yielded; nil: that of discovery v0.2, [AgentSkillsPrefix],
	// and then [SkillsPrefix]. Both are requested at once. An empty list leaves only the sitemap.
	Indexes []string
	// Runner runs scripts. Without one, ApprovedScript.Run returns an error, and the host program
	// runs the command itself.
	Runner Runner
	// Trust keeps what the user decided, also for other processes and later sessions. The first use
	// of a skill asks unless its root is registered; a change of it asks again with the difference;
	// a refusal is remembered. Nil: decisions last as long as the loader.
	Trust lookleap.Store
	// Policies are those of the organisation. Each has to permit what is done. [Loader] reads them
	// when it is made: a policy that is invalid, or nil, allows nothing.
	Policies []*Policy
	// Feeds are revocation feeds. What they withdraw is refused from then on, also what is loaded
	// already: before each script, resource and activation.
	Feeds []FeedOptions
	// FeedStore shares what feeds withdrew between processes: each follows the others within half a
	// minute. Nil: Trust; without both, each loader fetches for itself.
	FeedStore lookleap.Store
	// Lock freezes the loader: it loads only the skills and files of this lockfile, each with exactly
	// the locked bytes, under the locked root, and never asks about them. Nil: no lockfile.
	Lock *Lockfile
	// Credentials returns the user's name and secret for a code host, if [Loader.Repository] was denied
	// access: "" if there is none. They are sent to that host alone. Nil: only public repositories.
	Credentials func(ctx context.Context, host string) (user, secret string, err error)
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
		consents: make(map[Digest]consent), loaded: make(map[string]bool), scripts: make(map[Digest]Digest),
		storedRoots: make(map[string]bool)}
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
		l.roots = NewRoots(Rules{})
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
	l.files = flight.NewSizedMemo(maxCopies, l.limits.Memory,
		func(url string, d *document) int { return 2<<10 + 2*len(url) + len(d.Body.Bytes) }, host.Time)
	l.clock = flight.NewTolerantClock(flight.CorrectionTolerance, host.Time, func(time.Duration) { l.forgetConsents() })
	l.seen, _ = lru.New[Digest, seenSkill](maxSeen) // only a size below 1 is an error
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

// Load verifies a skill and activates it. A refusal is a [*lookleap.VerifyError] with all checks. A
// [*lookleap.PendingError] means that the user has not decided yet; continue with [Loader.Resume].
//
// A skill under a registered root loads without a prompt. For any other skill, Load asks the user
// (section 5.2). On a platform, the prompt also asks whether to trust the publisher's whole path
// from now on. If the user agrees only to the skill, its source is [SkillOnly], and no root is
// registered. That consent applies to the same bytes in this session.
func (l *Loader) Load(ctx context.Context, url string) (*Loaded, error) {
	got, err := l.load(ctx, wish{Level: activated, Claim: Claim{URL: url}})
	return got.loaded, err
}

// LoadPinned is [Loader.Load] for known content: the pin is the whole commit that the URL names,
// or the digest of the SKILL.md.
func (l *Loader) LoadPinned(ctx context.Context, url string, pin Pin) (*Loaded, error) {
	got, err := l.load(ctx, wish{Level: activated, Claim: Claim{URL: url, Pin: pin}})
	return got.loaded, err
}

// LoadUnder is [Loader.Load] with a root that the host program declares for this call, independent
// of the registry. If the skill lies outside the root, it is refused with outside-trust-root
// before a request is sent.
func (l *Loader) LoadUnder(ctx context.Context, url string, root TrustRoot) (*Loaded, error) {
	if err := l.ready(); err != nil {
		return nil, err
	}
	w := wish{Level: activated, Claim: Claim{URL: url}, Under: root.String()}
	if root.IsZero() {
		nowhere := located{wish: w, rules: l.roots.Rules(), now: l.host.Time()}
		return nil, l.refuse(ctx, l.judgeOf(&nowhere, agreement{}).decide(true), nil)
	}
	got, err := l.load(ctx, w)
	return got.loaded, err
}

// loading is the result of a load: one of the two is set.
type loading struct {
	registration *Registration
	loaded       *Loaded
}

// load loads a skill; see [Loader.proceed].
func (l *Loader) load(ctx context.Context, w wish) (loading, error) {
	if err := l.ready(); err != nil {
		return loading{}, err
	}
	return l.proceed(ctx, w, nil, agreement{}, l.refreshTrust(ctx))
}

// proceed takes a skill through all steps, each of which can refuse it: locate it, get its file, read
// and judge it, ask the user if it needs that, and put it to use. After each step that takes time, it
// starts again from what it has by then, since the registry may have changed meanwhile. A suspended
// question continues here, with the file and what the user answered. unread is why the trust store or
// a feed could not be read.
func (l *Loader) proceed(ctx context.Context, w wish, doc *document, ok agreement, unread error) (loading, error) {
	for {
		var kept kept
		if !ok.covers(doc) {
			kept = l.keptAbout(ctx, w.Claim)
		}
		at := l.locate(w, doc, ok)
		at.forbidden, at.kept = cmp.Or(at.forbidden, unread), kept
		if doc == nil {
			if err := l.permit(ctx, &at, ok); err != nil {
				return loading{}, err
			}
			answer, err := l.consentToAsk(ctx, &at, ok)
			if err != nil {
				return loading{}, err
			}
			if answer != ok {
				ok = answer
				continue
			}
			if doc, err = l.get(ctx, &at); err != nil {
				return loading{}, err
			}
			continue
		}
		file := readDocument(&at, doc, l.limits)
		verdict, err := l.judge(ctx, &at, doc, &file, ok)
		if err != nil {
			return loading{}, err
		}
		answer, err := l.consentToUse(ctx, &at, doc, &file, verdict, ok)
		if err != nil {
			return loading{}, err
		}
		if answer == ok {
			return l.activate(ctx, &at, &file, verdict, ok)
		}
		ok = answer
	}
}

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

// Revoke ends trust in a root and everything below it, and forgets all copies and consents of this
// loader. Skills in use return errors from then on (section 7). With [Options].Trust, the
// revocation is kept: other loaders of the user follow it within half a minute.
func (l *Loader) Revoke(root TrustRoot) {
	if l.ready() != nil {
		return
	}
	l.roots.revoke(root)
	if l.trust != nil && !root.IsZero() {
		l.keepTrustedRoot(context.Background(), declaredByUser{Root: root.String(), Revoked: true})
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
		l.keepTrustedRoot(context.Background(), declaredByUser{Root: canonical, Subdomains: includeSubdomains, Revoked: true})
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
