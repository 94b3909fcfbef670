package dvs

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// RootSource says who declared a trust root. The zero value is Undeclared.
type RootSource uint8

const (
	// Undeclared: there is no root.
	Undeclared RootSource = iota
	// ByHost: the host program registered the root.
	ByHost
	// ByUser: the user confirmed the root.
	ByUser
	// DefaultOrigin: the origin of a host that is not a platform, by default.
	DefaultOrigin
	// Derived: the owner's path on a platform, not confirmed.
	Derived
	// SkillOnly: the user agreed to one skill but not to the owner's path above
	// it. The root is the directory of the skill.
	SkillOnly
)

var rootSourceNames = [...]string{"undeclared", "registered by the host program", "confirmed by the user",
	"default origin", "derived and unconfirmed", "confirmed by the user for this skill only"}

// String returns the source in words.
func (s RootSource) String() string { return nameOf(rootSourceNames[:], s) }

// MarshalText returns the source in words.
func (s RootSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (s *RootSource) UnmarshalText(text []byte) error {
	return unmarshalName(s, rootSourceNames[:], text, "the source of a root")
}

// Registered reports whether the root was declared before its use.
func (s RootSource) Registered() bool { return s == ByHost || s == ByUser }

// Roots is the registry of trust: registered, blocked and revoked roots. The longest root that
// covers a skill decides; a block overrides a registration of the same root, and a revocation
// overrides everything below it. A registration applies to its exact spelling. A block or
// revocation applies to every spelling: letter case, escapes, revisions, and all hosts and mirrors
// of a platform. The zero Roots is ready to use, with the built-in platforms. It is safe for
// concurrent use.
//
// What the program declares is shared by all loaders of a registry. The registry of a loader, see
// [Loader.Roots], adds what its user declared.
type Roots struct {
	program *Roots // registry of the program; r then has only what one user declared. nil: r is that

	mu      sync.Mutex
	rules   Rules
	entries map[entry]TrustRoot
	index   atomic.Pointer[rootIndex] // of the entries; nil: they have changed since
}

// entry is one declaration about a root or host.
type entry struct {
	name string // of the root or host
	says says
}

// says is what was declared.
type says uint8

const (
	rootOfHost says = iota // the host program trusts a root
	rootOfUser
	rootBlocked
	rootRevoked
	hostRevoked
	hostsBelowRevoked // with its subdomains
)

// NewRoots returns an empty registry with these rules.
func NewRoots(rules Rules) *Roots { return &Roots{rules: rules} }

// forUser returns a registry that adds to r what one user declares.
func (r *Roots) forUser() *Roots { return &Roots{program: r} }

// shared returns the registry that has what the program declares.
func (r *Roots) shared() *Roots {
	if r != nil && r.program != nil {
		return r.program
	}
	return r
}

// rootIndex finds the declarations about a place. It is immutable.
type rootIndex struct {
	program *rootIndex // whose entries it has too
	rules   Rules
	entries map[entry]TrustRoot
	byHost  map[string][]Declared // registered roots, longest path first
	denied  map[string][]denial   // blocked and revoked roots, by namespace of the party
	domains []revokedDomain
}

type denial struct {
	root    TrustRoot
	party   party
	revoked bool
}

type revokedDomain struct {
	host       string
	subdomains bool
}

// noRoots is the index of a registry without entries.
var noRoots = new(rootIndex)

// load returns the index of the entries by now.
func (r *Roots) load() *rootIndex {
	if r == nil {
		return noRoots
	}
	program := r.program.load()
	if x := r.index.Load(); x != nil && x.program == program {
		return x
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program != nil && len(r.entries) == 0 {
		return program
	}
	x := &rootIndex{program: program, rules: r.rules, entries: maps.Clone(r.entries), byHost: make(map[string][]Declared), denied: make(map[string][]denial)}
	if r.program != nil {
		x.rules = program.rules
		maps.Copy(x.entries, program.entries)
	}
	for e, root := range x.entries {
		x.add(e, root)
	}
	for _, list := range x.byHost { // of two sources, that of the program counts
		slices.SortFunc(list, func(a, b Declared) int {
			return cmp.Or(cmp.Compare(len(b.Root.String()), len(a.Root.String())), cmp.Compare(a.Source, b.Source))
		})
	}
	for _, list := range x.denied {
		slices.SortFunc(list, func(a, b denial) int { return cmp.Compare(a.root.String(), b.root.String()) })
	}
	r.index.Store(x)
	return x
}

// add enters a declaration. What it means depends on the table of platforms.
func (x *rootIndex) add(e entry, root TrustRoot) {
	switch e.says {
	case rootOfHost, rootOfUser:
		if again, refused := ParseTrustRoot(e.name, x.rules); refused == nil { // else the table has changed
			d := Declared{Root: again, Source: ByHost}
			if e.says == rootOfUser {
				d.Source = ByUser
			}
			x.byHost[again.HostingDomain()] = append(x.byHost[again.HostingDomain()], d)
		}
	case rootBlocked, rootRevoked:
		d := denial{root, x.rules.platforms().party(root.url), e.says == rootRevoked}
		x.denied[d.party.namespace] = append(x.denied[d.party.namespace], d)
	default:
		x.domains = append(x.domains, revokedDomain{e.name, e.says == hostsBelowRevoked})
	}
}

// change edits the entries, unless edit returns an error.
func (r *Roots) change(edit func() error) error {
	if r == nil {
		return usageError("there is no registry of roots", "make one with NewRoots")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = make(map[entry]TrustRoot)
	}
	if err := edit(); err != nil {
		return err
	}
	r.index.Store(nil)
	return nil
}

// declare adds what is said about a root, and returns the root in canonical form.
func (r *Roots) declare(raw string, is says) (root TrustRoot, err error) {
	err = r.change(func() (err error) {
		if root, err = ParseTrustRoot(raw, r.ownRules()); err == nil {
			r.entries[entry{root.String(), is}] = root
		}
		return err
	})
	return root, err
}

// withdraw removes what was said about a root.
func (r *Roots) withdraw(root TrustRoot, what ...says) {
	_ = r.change(func() error {
		for _, is := range what {
			delete(r.entries, entry{root.String(), is})
		}
		return nil
	})
}

func (r *Roots) ownRules() Rules {
	if r.program != nil {
		return r.program.Rules()
	}
	return r.rules
}

// Rules returns the rules in force, with the platforms added so far.
func (r *Roots) Rules() Rules { return r.load().rules }

// Register declares a root, by the host program or by its user, and returns it in canonical form.
// [TrustRoot.Lint] reports problems of its spelling.
func (r *Roots) Register(raw string, by RootSource) (TrustRoot, error) {
	switch by {
	case ByHost:
		return r.shared().declare(raw, rootOfHost)
	case ByUser:
		return r.declare(raw, rootOfUser)
	}
	return TrustRoot{}, refuse(lookleap.CodeUsage, raw, fmt.Sprintf("a root cannot be registered as %s", by), "use ByHost or ByUser")
}

// forget removes what the user of a registry declared about a root, in this registry alone.
func (r *Roots) forget(root TrustRoot) { r.withdraw(root, rootOfUser) }

// Block refuses everything under a root, in every spelling, except what lies under a longer
// registered root.
func (r *Roots) Block(raw string) (TrustRoot, error) { return r.shared().declare(raw, rootBlocked) }

// Unregister removes the registrations, by the program and the user, and a block of exactly this
// root. A revocation stays. For what the user undoes, see [Loader.ForgetRoot].
func (r *Roots) Unregister(root TrustRoot) {
	if r != nil && r.program != nil {
		r.forget(root)
	}
	r.shared().withdraw(root, rootOfHost, rootOfUser, rootBlocked)
}

// AddPlatform adds a platform to the table, as [Platforms.With] does. It unregisters and returns
// the roots that the new table refuses. Call it before NewLoader: a loader reads its policies and
// feeds by the table of that time, and their entries for the new platform in one spelling only.
func (r *Roots) AddPlatform(p Platform) (dropped []TrustRoot, err error) {
	r = r.shared()
	err = r.change(func() error {
		table, err := r.rules.platforms().With(p)
		if err != nil {
			return err
		}
		r.rules.Platforms = table
		for e, root := range r.entries {
			if _, refused := ParseTrustRoot(e.name, r.rules); refused != nil && (e.says == rootOfHost || e.says == rootOfUser) {
				dropped = append(dropped, root)
				delete(r.entries, e)
			}
		}
		return nil
	})
	return dropped, err
}

// Revoke ends trust in a root and everything below it, in every spelling and including longer
// registered roots (section 7). It cannot be undone.
func (r *Roots) Revoke(root TrustRoot) { r.shared().revoke(root) }

// revoke is [Roots.Revoke] for the user of a registry.
func (r *Roots) revoke(root TrustRoot) {
	if !root.IsZero() {
		_ = r.change(func() error { r.entries[entry{root.String(), rootRevoked}] = root; return nil })
	}
}

// RevokeDomain ends trust in a host on all ports and under all its names in the table, and in its
// subdomains if includeSubdomains is set.
func (r *Roots) RevokeDomain(host string, includeSubdomains bool) error {
	return r.shared().revokeDomain(host, includeSubdomains)
}

// revokeDomain is [Roots.RevokeDomain] for the user of a registry.
func (r *Roots) revokeDomain(host string, includeSubdomains bool) error {
	is := hostRevoked
	if includeSubdomains {
		is = hostsBelowRevoked
	}
	return r.change(func() error {
		canonical, err := r.ownRules().urls().ParseHost(host)
		if err != nil {
			return badURL(host, err)
		}
		r.entries[entry{canonical, is}] = TrustRoot{}
		return nil
	})
}

// deny revokes what an administrator or a feed names: a root, or a host without a scheme with its
// subdomains. Unlike a root to trust, it may be a whole platform: that is the host.
func (r *Roots) deny(entry string, rules Rules) error {
	if !strings.Contains(entry, "://") {
		return r.RevokeDomain(entry, true)
	}
	root, err := ParseTrustRoot(entry, rules)
	if code := lookleap.CodeOf(err); code == CodeUGCBareRoot || code == codeUGCRootTooShort || code == codePublicSuffix {
		return refuse(code, entry, "a whole platform is denied by its host", "write the host alone, without https://")
	}
	if err == nil {
		r.Revoke(root)
	}
	return err
}

// Declared is what the registry knows about one skill.
type Declared struct {
	Root    TrustRoot
	Source  RootSource
	Blocked bool
	Revoked bool
}

// Find returns the root of a skill: the longest declared root that covers it, or its default by
// [DefaultRoot]. The source is [Undeclared] if there is no root.
func (r *Roots) Find(u SkillURL) Declared {
	s := r.load()
	var d Declared
	registered := 0 // length of the party of the registered root
	var blocked *denial
	for _, declared := range s.byHost[u.Host()] {
		if declared.Root.Covers(u) {
			d = declared
			break
		}
	}
	if d.Source.Registered() && len(s.denied) > 0 {
		registered = len(s.rules.platforms().party(d.Root.url).path)
	}
	d.Revoked, blocked = s.denial(u.place)
	if blocked != nil && len(blocked.party.path) >= registered {
		d.Root, d.Source, d.Blocked = blocked.root, ByUser, true
		return d
	}
	if !d.Source.Registered() {
		d.Root, d.Source, _ = DefaultRoot(u, s.rules) // without a root the source is Undeclared
	}
	return d
}

// at is Find for any URL.
func (r *Roots) at(u domain.URL) Declared {
	return r.Find(SkillURL{place: r.Rules().placeOf(u)})
}

func (d Declared) refusal(input string) error {
	switch {
	case d.Revoked:
		return refuse(CodeRevoked, input, "trust in this root or domain was revoked", "")
	case d.Blocked:
		return refuse(CodeBlockedRoot, input, "the trust root is blocked", "")
	}
	return nil
}

// denial reports whether a place is revoked, and returns the longest block that covers it.
func (s *rootIndex) denial(p place) (revoked bool, blocked *denial) {
	if len(s.domains)+len(s.denied) == 0 || p.page.IsZero() {
		return false, nil
	}
	table := s.rules.platforms()
	at := table.party(p.page)
	for _, d := range s.domains {
		revoked = revoked || d.covers(table, p.page.Host()) || d.covers(table, p.served.Host()) || d.coversTenant(table, &at)
	}
	for i := range s.denied[at.namespace] {
		switch d := &s.denied[at.namespace][i]; {
		case !d.party.covers(&at):
		case d.revoked:
			revoked = true
		case blocked == nil || len(d.party.path) > len(blocked.party.path):
			blocked = d
		}
	}
	return revoked, blocked
}

// covers reports whether a host is the revoked host, another host with the content of the same
// platform, or a subdomain.
func (d revokedDomain) covers(table *Platforms, host string) bool {
	rest, below := strings.CutSuffix(host, d.host)
	if below && (rest == "" || d.subdomains && strings.HasSuffix(rest, ".")) {
		return true
	}
	platform, known := table.find(d.host)
	if !known {
		return false
	}
	if other, listed := table.find(host); listed {
		return other.platform == platform.platform || slices.Contains(platform.platform.Hosts, other.platform.Of)
	}
	e, _, tenant := table.tenant(host)
	return tenant && d.subdomains && e == platform.platform
}

// coversTenant reports whether the revoked host belongs to one publisher of a platform, and a
// party is the same publisher on another host.
func (d revokedDomain) coversTenant(table *Platforms, at *party) bool {
	e, owner, _ := table.tenant(d.host)
	if owner == "" {
		return false
	}
	revoked := e.tenantParty(owner, nil)
	return revoked.covers(at)
}

// All yields the registered and blocked roots in no particular order.
func (r *Roots) All() iter.Seq[Declared] {
	return func(yield func(Declared) bool) {
		s := r.load()
		for _, list := range s.byHost {
			for _, d := range list {
				if !yield(d) {
					return
				}
			}
		}
		for _, list := range s.denied {
			for _, d := range list {
				if !d.revoked && !yield(Declared{Root: d.root, Source: ByUser, Blocked: true}) {
					return
				}
			}
		}
	}
}
