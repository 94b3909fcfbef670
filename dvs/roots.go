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

// RootSource says who declared a trust root. The zero value is nobody.
type RootSource uint8

const (
	// Undeclared: there is no root.
	Undeclared RootSource = iota
	// ByHost: the host program registered the root.
	ByHost
	// ByUser: the user confirmed the root.
	ByUser
	// DefaultOrigin: the origin of a host that is no platform, by default.
	DefaultOrigin
	// Derived: the owner's path on a platform, not confirmed by anybody.
	Derived
)

var rootSourceNames = [...]string{"undeclared", "registered by the host program", "confirmed by the user", "default origin", "derived and unconfirmed"}

// String gives the source in words.
func (s RootSource) String() string {
	if int(s) < len(rootSourceNames) {
		return rootSourceNames[s]
	}
	return rootSourceNames[Undeclared]
}

// MarshalText gives the source in words.
func (s RootSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (s *RootSource) UnmarshalText(text []byte) error {
	i := slices.Index(rootSourceNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("dvs: unknown source of a root %q", text)
	}
	*s = RootSource(i)
	return nil
}

// Registered reports whether somebody declared the root ahead of its use.
func (s RootSource) Registered() bool { return s == ByHost || s == ByUser }

// Roots is who may be trusted, by whose word: registered roots, blocked ones and
// revoked ones. The most specific root that covers a skill decides, a block
// beats a registration of the same root, and a revocation beats everything
// below it. The zero Roots is ready and has the built-in platforms. It is safe
// for concurrent use; reading takes no lock.
type Roots struct {
	mu    sync.Mutex // held by writers
	state atomic.Pointer[rootState]
}

type rootState struct {
	rules   Rules
	byHost  map[string][]declaredRoot // longest path first, blocks before registrations
	revoked []revocation
}

type declaredRoot struct {
	TrustRoot
	source  RootSource
	blocked bool
}

type revocation struct {
	root       TrustRoot
	domain     string
	subdomains bool
}

// NewRoots gives an empty registry with these rules.
func NewRoots(rules Rules) *Roots {
	r := new(Roots)
	r.state.Store(&rootState{rules: rules})
	return r
}

func (r *Roots) load() *rootState {
	if s := r.state.Load(); s != nil {
		return s
	}
	return &rootState{}
}

// change replaces the state by a changed copy.
func (r *Roots) change(edit func(*rootState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.load()
	next := &rootState{rules: old.rules, byHost: maps.Clone(old.byHost), revoked: slices.Clone(old.revoked)}
	if next.byHost == nil {
		next.byHost = make(map[string][]declaredRoot)
	}
	edit(next)
	r.state.Store(next)
}

// Rules gives the rules in force, with the platforms added so far.
func (r *Roots) Rules() Rules { return r.load().rules }

// Register declares a root, by the host program or by its user, and gives it in
// canonical form; [TrustRoot.Lint] tells about its spelling.
func (r *Roots) Register(raw string, by RootSource) (TrustRoot, error) {
	if !by.Registered() {
		return TrustRoot{}, refuse(lookleap.CodeUsage, raw, fmt.Sprintf("a root cannot be registered as %s", by), "use ByHost or ByUser")
	}
	return r.declare(raw, by, false)
}

// Block refuses everything under a root, except what lies under a longer
// registered one.
func (r *Roots) Block(raw string) (TrustRoot, error) { return r.declare(raw, ByUser, true) }

func (r *Roots) declare(raw string, by RootSource, blocked bool) (TrustRoot, error) {
	root, err := r.Rules().ParseTrustRoot(raw)
	if err != nil {
		return TrustRoot{}, err
	}
	r.change(func(s *rootState) {
		host := root.HostingDomain()
		list := slices.DeleteFunc(slices.Clone(s.byHost[host]), func(d declaredRoot) bool {
			return d.String() == root.String() && d.blocked == blocked
		})
		list = append(list, declaredRoot{root, by, blocked})
		slices.SortStableFunc(list, func(a, b declaredRoot) int {
			if c := cmp.Compare(len(b.String()), len(a.String())); c != 0 || a.blocked == b.blocked {
				return c
			}
			if a.blocked {
				return -1
			}
			return 1
		})
		s.byHost[host] = list
	})
	return root, nil
}

// Unregister takes back a registration or a block of exactly this root.
func (r *Roots) Unregister(root TrustRoot) {
	r.change(func(s *rootState) {
		host := root.HostingDomain()
		s.byHost[host] = slices.DeleteFunc(slices.Clone(s.byHost[host]), func(d declaredRoot) bool { return d.String() == root.String() })
	})
}

// AddPlatform tightens the table from now on ([Platforms.With]). Registered
// roots that the new table refuses are given back and hold no longer.
func (r *Roots) AddPlatform(p Platform) (dropped []TrustRoot, err error) {
	table, err := r.Rules().platforms().With(p)
	if err != nil {
		return nil, err
	}
	r.change(func(s *rootState) {
		s.rules.Platforms = table
		for host, list := range s.byHost {
			s.byHost[host] = slices.DeleteFunc(slices.Clone(list), func(d declaredRoot) bool {
				if _, err := s.rules.parseTrustRoot(d.String()); err == nil || d.blocked {
					return false
				}
				dropped = append(dropped, d.TrustRoot)
				return true
			})
		}
	})
	return dropped, nil
}

// Revoke ends trust in a root and in everything below it at once, longer
// registered roots included (section 7). It cannot be taken back.
func (r *Roots) Revoke(root TrustRoot) {
	if !root.IsZero() {
		r.change(func(s *rootState) { s.revoked = append(s.revoked, revocation{root: root}) })
	}
}

// RevokeDomain ends trust in a host, on all its ports, and in its subdomains if
// they are included.
func (r *Roots) RevokeDomain(host string, includeSubdomains bool) error {
	canonical, err := r.Rules().urls().ParseHost(host)
	if err != nil {
		return badURL(host, err)
	}
	r.change(func(s *rootState) {
		s.revoked = append(s.revoked, revocation{domain: canonical, subdomains: includeSubdomains})
	})
	return nil
}

// Declared is what the registry says of one skill.
type Declared struct {
	Root    TrustRoot
	Source  RootSource
	Blocked bool
	Revoked bool
}

// Find gives the root of a skill: the longest declared one that covers it, else
// its default by [Rules.DefaultRoot]. It is Undeclared where there is none.
func (r *Roots) Find(u SkillURL) Declared {
	s := r.load()
	d := Declared{Revoked: s.isRevoked(u.place)}
	for _, declared := range s.byHost[u.Host()] {
		if declared.Covers(u) {
			d.Root, d.Source, d.Blocked = declared.TrustRoot, declared.source, declared.blocked
			return d
		}
	}
	d.Root, d.Source, _ = s.rules.DefaultRoot(u) // without a root, Undeclared says it
	return d
}

// Revoked reports whether trust in a skill was revoked.
func (r *Roots) Revoked(u SkillURL) bool { return r.load().isRevoked(u.place) }

func (s *rootState) isRevoked(p place) bool {
	for _, v := range s.revoked {
		if v.covers(p) {
			return true
		}
	}
	return false
}

func (v revocation) covers(p place) bool {
	if v.domain == "" {
		return p.page.Under(v.root.url) || p.served.Under(v.root.served)
	}
	return v.coversHost(p.page) || v.coversHost(p.served)
}

func (v revocation) coversHost(u domain.URL) bool {
	rest, below := strings.CutSuffix(u.Host(), v.domain)
	return below && (rest == "" || v.subdomains && strings.HasSuffix(rest, "."))
}

// All yields the declared roots, in no particular order, blocked ones too.
func (r *Roots) All() iter.Seq[Declared] {
	return func(yield func(Declared) bool) {
		s := r.load()
		for _, list := range s.byHost {
			for _, d := range list {
				if !yield(Declared{Root: d.TrustRoot, Source: d.source, Blocked: d.blocked}) {
					return
				}
			}
		}
	}
}
