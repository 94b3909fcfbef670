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
func (s RootSource) String() string {
	if int(s) < len(rootSourceNames) {
		return rootSourceNames[s]
	}
	return rootSourceNames[Undeclared]
}

// MarshalText returns the source in words.
func (s RootSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (s *RootSource) UnmarshalText(text []byte) error {
	i := slices.Index(rootSourceNames[:], string(text))
	if i < 0 {
		return refuse(lookleap.CodeUsage, shorten(string(text)), "the source of a root is unknown", "")
	}
	*s = RootSource(i)
	return nil
}

// Registered reports whether the root was declared before its use.
func (s RootSource) Registered() bool { return s == ByHost || s == ByUser }

// Roots is the registry of trust: registered, blocked and revoked roots. The longest root that
// covers a skill decides; a block overrides a registration of the same root, and a revocation
// overrides everything below it. A registration applies to its exact spelling. A block or
// revocation applies to every spelling: letter case, escapes, revisions, and all hosts and mirrors
// of a platform. The zero Roots is ready to use, with the built-in platforms. It is safe for
// concurrent use, and reads take no lock.
//
// What the program declares is shared by all loaders of a registry. The registry of a loader, see
// [Loader.Roots], adds what its user declared.
type Roots struct {
	mu      sync.Mutex // held by writers
	state   atomic.Pointer[rootState]
	program *Roots // registry of the program; r then has only what one user declared. nil: r is that
	view    atomic.Pointer[rootView]
}

// rootView is a state of the program and one of the user as one.
type rootView struct{ own, program, merged *rootState }

// noRoots is the state of a registry without entries.
var noRoots = new(rootState)

// forUser returns a registry that adds to r what one user declares.
func (r *Roots) forUser() *Roots { return &Roots{program: r} }

// shared returns the registry that has what the program declares.
func (r *Roots) shared() *Roots {
	if r != nil && r.program != nil {
		return r.program
	}
	return r
}

type rootState struct {
	rules   Rules
	byHost  map[string][]declaredRoot // registered roots, longest path first
	denied  map[string][]denial       // blocked and revoked roots, by namespace of the party
	domains []revokedDomain
}

type declaredRoot struct {
	TrustRoot
	source RootSource
}

// denial is a root that is blocked or revoked.
type denial struct {
	root    TrustRoot
	party   party
	revoked bool
}

type revokedDomain struct {
	host       string
	subdomains bool
}

// NewRoots returns an empty registry with these rules.
func NewRoots(rules Rules) *Roots {
	r := new(Roots)
	r.state.Store(&rootState{rules: rules})
	return r
}

func (r *Roots) load() *rootState {
	own := r.own()
	if r == nil || r.program == nil {
		return own
	}
	program := r.program.load()
	if len(own.byHost)+len(own.denied)+len(own.domains) == 0 {
		return program
	}
	if v := r.view.Load(); v != nil && v.own == own && v.program == program {
		return v.merged
	}
	merged := program.clone()
	for _, d := range own.allRoots() {
		if root, refused := ParseTrustRoot(d.String(), merged.rules); refused == nil { // else the table has changed
			merged.register(declaredRoot{root, d.source})
		}
	}
	for _, list := range own.denied {
		for _, d := range list {
			merged.deny(d)
		}
	}
	merged.domains = append(merged.domains, own.domains...)
	r.view.Store(&rootView{own, program, merged})
	return merged
}

// own returns the state without that of the program below it.
func (r *Roots) own() *rootState {
	if r == nil {
		return noRoots
	}
	if s := r.state.Load(); s != nil {
		return s
	}
	return noRoots
}

func (s *rootState) clone() *rootState {
	next := &rootState{rules: s.rules, byHost: maps.Clone(s.byHost), denied: maps.Clone(s.denied), domains: slices.Clone(s.domains)}
	if next.byHost == nil {
		next.byHost = make(map[string][]declaredRoot)
	}
	if next.denied == nil {
		next.denied = make(map[string][]denial)
	}
	return next
}

func (s *rootState) allRoots() []declaredRoot {
	return slices.Concat(slices.Collect(maps.Values(s.byHost))...)
}

// change replaces the state by a changed copy, unless edit returns an error.
// Whatever an edit depends on it reads from the state that it is given.
func (r *Roots) change(edit func(*rootState) error) error {
	if r == nil {
		return usageError("there is no registry of roots", "make one with NewRoots")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.own().clone()
	if r.program != nil {
		next.rules = r.program.Rules()
	}
	if err := edit(next); err != nil {
		return err
	}
	r.state.Store(next)
	return nil
}

// Rules returns the rules in force, with the platforms added so far.
func (r *Roots) Rules() Rules { return r.load().rules }

// Register declares a root, by the host program or by its user, and returns it in canonical form.
// [TrustRoot.Lint] reports problems of its spelling.
func (r *Roots) Register(raw string, by RootSource) (TrustRoot, error) {
	if !by.Registered() {
		return TrustRoot{}, refuse(lookleap.CodeUsage, raw, fmt.Sprintf("a root cannot be registered as %s", by), "use ByHost or ByUser")
	}
	var root TrustRoot
	if by == ByHost {
		r = r.shared()
	}
	err := r.change(func(s *rootState) error {
		parsed, refused := ParseTrustRoot(raw, s.rules)
		if refused != nil {
			return refused
		}
		root = parsed
		s.register(declaredRoot{root, by})
		return nil
	})
	return root, err
}

// register adds a root: one entry for each source. Of two sources, that of the program counts.
func (s *rootState) register(d declaredRoot) {
	host := d.HostingDomain()
	list := slices.DeleteFunc(slices.Clone(s.byHost[host]), func(other declaredRoot) bool {
		return other.String() == d.String() && other.source == d.source
	})
	list = append(list, d)
	slices.SortStableFunc(list, func(a, b declaredRoot) int {
		return cmp.Or(cmp.Compare(len(b.String()), len(a.String())), cmp.Compare(a.source, b.source))
	})
	s.byHost[host] = list
}

// unregister removes the registrations of a root by one source.
func (s *rootState) unregister(root TrustRoot, by RootSource) {
	host := root.HostingDomain()
	s.byHost[host] = slices.DeleteFunc(slices.Clone(s.byHost[host]), func(d declaredRoot) bool {
		return d.source == by && d.String() == root.String()
	})
}

// forget removes what the user of a registry declared about a root, in this registry alone.
func (r *Roots) forget(root TrustRoot) {
	_ = r.change(func(s *rootState) error { s.unregister(root, ByUser); return nil })
}

// revoke is [Roots.Revoke] for the user of a registry.
func (r *Roots) revoke(root TrustRoot) {
	if !root.IsZero() {
		_ = r.change(func(s *rootState) error { s.deny(denial{root: root, revoked: true}); return nil })
	}
}

// Block refuses everything under a root, in every spelling, except what lies under a longer
// registered root.
func (r *Roots) Block(raw string) (TrustRoot, error) {
	var root TrustRoot
	err := r.shared().change(func(s *rootState) error {
		parsed, refused := ParseTrustRoot(raw, s.rules)
		if refused != nil {
			return refused
		}
		root = parsed
		s.deny(denial{root: root})
		return nil
	})
	return root, err
}

// deny adds a block or revocation, once.
func (s *rootState) deny(d denial) {
	d.party = s.rules.platforms().party(d.root.url)
	list := s.denied[d.party.namespace]
	if slices.ContainsFunc(list, func(other denial) bool { return other.root.String() == d.root.String() && other.revoked == d.revoked }) {
		return
	}
	s.denied[d.party.namespace] = append(slices.Clip(list), d)
}

// Unregister removes the registrations, by the program and the user, and a block of exactly this
// root. A revocation stays. For what the user undoes, see [Loader.ForgetRoot].
func (r *Roots) Unregister(root TrustRoot) {
	if r != nil && r.program != nil {
		r.forget(root)
	}
	_ = r.shared().change(func(s *rootState) error {
		s.unregister(root, ByHost)
		s.unregister(root, ByUser)
		for namespace, list := range s.denied {
			s.denied[namespace] = slices.DeleteFunc(slices.Clone(list),
				func(d denial) bool { return !d.revoked && d.root.String() == root.String() })
		}
		return nil
	})
}

// AddPlatform adds a platform to the table, as [Platforms.With] does. It unregisters and returns
// the roots that the new table refuses. Call it before NewLoader: a loader reads its policies and
// feeds by the table of that time, and their entries for the new platform in one spelling only.
func (r *Roots) AddPlatform(p Platform) (dropped []TrustRoot, err error) {
	err = r.shared().change(func(s *rootState) error {
		table, err := s.rules.platforms().With(p)
		if err != nil {
			return err
		}
		// What the roots mean may have changed: they are read again by the new table.
		before := *s
		s.rules.Platforms = table
		s.byHost, s.denied = make(map[string][]declaredRoot), make(map[string][]denial)
		for _, list := range before.byHost {
			for _, d := range list {
				root, refused := ParseTrustRoot(d.String(), s.rules)
				if refused != nil {
					dropped = append(dropped, d.TrustRoot)
					continue
				}
				s.register(declaredRoot{root, d.source})
			}
		}
		for _, list := range before.denied {
			for _, d := range list {
				s.deny(d)
			}
		}
		return nil
	})
	return dropped, err
}

// Revoke ends trust in a root and everything below it, in every spelling and including longer
// registered roots (section 7). It cannot be undone.
func (r *Roots) Revoke(root TrustRoot) {
	r.shared().revoke(root)
}

// RevokeDomain ends trust in a host on all ports and under all its names in the table, and in its
// subdomains if includeSubdomains is set.
func (r *Roots) RevokeDomain(host string, includeSubdomains bool) error {
	return r.shared().revokeDomain(host, includeSubdomains)
}

// revokeDomain is [Roots.RevokeDomain] for the user of a registry.
func (r *Roots) revokeDomain(host string, includeSubdomains bool) error {
	return r.change(func(s *rootState) error {
		if slices.Contains(s.domains, revokedDomain{host, includeSubdomains}) {
			return nil
		}
		return s.revokeDomain(host, includeSubdomains)
	})
}

func (s *rootState) revokeDomain(host string, includeSubdomains bool) error {
	canonical, err := s.rules.urls().ParseHost(host)
	if err != nil {
		return badURL(host, err)
	}
	s.domains = append(s.domains, revokedDomain{canonical, includeSubdomains})
	return nil
}

// revocations collects the revocations of a policy or feed. [Roots.Revoke] copies the whole
// registry for its readers, which would take quadratic time for a long list.
type revocations struct {
	state *rootState // not shared yet
}

func newRevocations(rules Rules) *revocations {
	return &revocations{state: &rootState{rules: rules, denied: map[string][]denial{}}}
}

// domain revokes a host with its subdomains.
func (v *revocations) domain(host string) error { return v.state.revokeDomain(host, true) }

// root revokes a root.
func (v *revocations) root(root TrustRoot) {
	party := v.state.rules.platforms().party(root.url)
	v.state.denied[party.namespace] = append(v.state.denied[party.namespace], denial{root: root, party: party, revoked: true})
}

// roots returns the registry. Nothing may be added afterwards.
func (v *revocations) roots() *Roots {
	r := new(Roots)
	r.state.Store(v.state)
	return r
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
		if declared.Covers(u) {
			d.Root, d.Source = declared.TrustRoot, declared.source
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

// refusal returns an error if a block or a revocation applies, or nil.
func (d Declared) refusal(input string) error {
	switch {
	case d.Revoked:
		return refuse(CodeRevoked, input, "trust in this root or domain was revoked", "")
	case d.Blocked:
		return refuse(CodeBlockedRoot, input, "the trust root is blocked", "")
	}
	return nil
}

// Revoked reports whether trust in a skill was revoked.
func (r *Roots) Revoked(u SkillURL) bool {
	revoked, _ := r.load().denial(u.place)
	return revoked
}

// denial reports whether a place is revoked, and returns the longest block that covers it.
func (s *rootState) denial(p place) (revoked bool, blocked *denial) {
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
				if !yield(Declared{Root: d.TrustRoot, Source: d.source}) {
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
