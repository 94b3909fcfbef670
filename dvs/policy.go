package dvs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Policy is what an administrator decides about skills. A [Loader] obeys those in
// [Options].Policies; of several, each must permit what is done, so the strictest one decides.
// Nothing that the user, the host program's other options, a skill or a plan says can loosen
// it. The zero Policy permits everything. Package policy reads it from a file.
type Policy struct {
	Name string // for messages: the file, or who wrote it

	// Allow lists the trust roots below which skills and their files may be loaded; nil: any. An
	// empty list allows none.
	Allow []string
	// Deny lists what is refused, in every spelling and with everything below it, even if Allow
	// lists it: trust roots, or hosts without a scheme, which include their subdomains.
	Deny []string
	// Pins lists skills that load only with these bytes. The user is never asked about them.
	Pins []PolicyPin
	// Signers demands signatures below trust roots. If several roots cover a skill, one of the signers
	// is enough.
	Signers []PolicySigner
	// PinnedOnly refuses every skill that is not in Pins.
	PinnedOnly bool
	// Register says whose declarations of trust roots count.
	Register Registrar
	// Profile is the least strict profile by which skills are read; nil: any.
	Profile *Profile
	// NoScripts refuses scripts and shell commands, whatever the user agrees to.
	NoScripts bool
	// NoDiscovery refuses to read the lists of an origin.
	NoDiscovery bool
	// RequireSecure refuses hosts whose DNS is not signed.
	RequireSecure bool
	// MaxTrust is how long an approval counts; 0: for ever.
	MaxTrust time.Duration

	unreadable error // why the policy allows nothing
}

// PolicyPin is a skill with the bytes that it must have.
type PolicyPin struct {
	Skill string // canonical URL
	Pin   Pin
	Root  string // its trust root; "": the default one
}

// Registrar says whose declarations of trust roots count.
type Registrar uint8

const (
	// RegisterUser: those of the user and of the host program.
	RegisterUser Registrar = iota
	// RegisterProgram: those of the host program.
	RegisterProgram
	// RegisterPolicy: only the list Allow of the policy, whose roots then count as declared.
	RegisterPolicy
)

var registrarNames = [...]string{"user", "program", "policy"}

// String returns user, program or policy.
func (r Registrar) String() string { return registrarNames[min(int(r), len(registrarNames)-1)] }

// MarshalText returns user, program or policy.
func (r Registrar) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (r *Registrar) UnmarshalText(text []byte) error {
	return unmarshalName(r, registrarNames[:], text, "who may register roots")
}

// UnreadablePolicy returns a policy that allows nothing, because the policy that should apply could
// not be read. Every refusal says why.
func UnreadablePolicy(name string, err error) *Policy {
	if err == nil {
		err = usageError("the policy was not read", "read it")
	}
	return &Policy{Name: name, unreadable: err}
}

// Check returns an error if the policy refuses a skill: by its URL alone, before it is loaded. It
// does no I/O.
func (p *Policy) Check(skill SkillURL, rules Rules) error {
	if p == nil {
		p = UnreadablePolicy("", nil)
	}
	compiled, err := compilePolicy(p, rules)
	if err != nil {
		return err
	}
	if err := compiled.at(skill.place, skill.String()); err != nil {
		return err
	}
	if _, ok := compiled.pins[skill.String()]; ok {
		return nil
	}
	return compiled.notPinned(skill)
}

// compiledPolicy is a policy that was read by the rules of a loader.
type compiledPolicy struct {
	*Policy
	allow  []TrustRoot
	denied *Roots
	pins   map[string]PolicyPin // by URL of the skill

	demanded []demandedSigner
	pinned   *skillTable[string] // the same URLs, to find them in another spelling
}

func compilePolicy(p *Policy, rules Rules) (*compiledPolicy, error) {
	c := &compiledPolicy{Policy: p, pins: make(map[string]PolicyPin), pinned: newSkillTable[string](rules)}
	if p.unreadable != nil {
		return nil, &lookleap.Error{Code: CodePolicyUnreadable, Subject: p.Name,
			Message: "the policy could not be read, so nothing is allowed", Err: p.unreadable}
	}
	bad := func(entry string, err error) error {
		return &lookleap.Error{Code: CodePolicyUnreadable, Subject: p.Name,
			Message: "the policy names " + plaintext.Quote(entry, 300) + ", which is invalid, so nothing is allowed", Err: err}
	}
	for _, entry := range p.Allow {
		root, err := ParseTrustRoot(entry, rules)
		if err != nil {
			return nil, bad(entry, err)
		}
		c.allow = append(c.allow, root)
	}
	c.denied = NewRoots(rules)
	for _, entry := range p.Deny {
		if err := c.denied.deny(entry, rules); err != nil {
			return nil, bad(entry, err)
		}
	}
	for _, s := range p.Signers {
		d, err := compileSigner(s, rules)
		if err != nil {
			return nil, bad(s.Root+" with its signer", err)
		}
		c.demanded = append(c.demanded, d)
	}
	for _, pin := range p.Pins {
		u, err := ParseSkillURL(pin.Skill, rules)
		if pin.Pin.isZero() {
			err = usageError("the pin has neither digest nor commit", "add the digest of the SKILL.md")
		}
		if err != nil {
			return nil, bad(pin.Skill, err)
		}
		if pin.Root != "" {
			if root, _ := ParseTrustRoot(pin.Root, rules); !root.Covers(u) {
				return nil, bad(pin.Root, refuse(CodeOutsideTrustRoot, pin.Skill, "the skill does not lie under this trust root", ""))
			}
		}
		c.pins[u.String()] = pin
		c.pinned.add(u.place, u.String())
	}
	return c, nil
}

// refused returns an error in the words of all refusals of a policy.
func (c *compiledPolicy) refused(subject, message string) error {
	return refuse(CodePolicyDenied, subject, message+" (policy "+plaintext.Quote(c.Name, 200)+")",
		"ask the administrator who maintains the policy")
}

// at refuses a place that is denied, or not allowed.
func (c *compiledPolicy) at(p place, subject string) error {
	if revoked, _ := c.denied.load().denial(p); revoked {
		return c.refused(subject, "the policy denies this place")
	}
	if c.Allow != nil && !slices.ContainsFunc(c.allow, func(root TrustRoot) bool { return root.Covers(SkillURL{place: p}) }) {
		return c.refused(subject, "the place is under no trust root that the policy allows")
	}
	return nil
}

// notPinned refuses a skill without a pin, if the policy requires one, or if it pins another spelling
// of the skill.
func (c *compiledPolicy) notPinned(skill SkillURL) error {
	if c.PinnedOnly {
		return c.refused(skill.String(), "the policy has no pin for this skill, and allows only pinned skills")
	}
	if pinned, ok := c.pinned.find(skill.place); ok {
		return refuse(CodePolicyDenied, skill.String(), "the policy "+plaintext.Quote(c.Name, 200)+" pins this skill under another URL",
			"load it as "+pinned)
	}
	return nil
}

// governor applies all policies of a loader: each has to permit what is done.
type governor struct {
	compiled []*compiledPolicy
	broken   error // a policy cannot be used, so nothing is allowed

	// The strictest of what the options and the policies say.
	profile   Profile
	secure    bool          // signed DNS is required
	maxTrust  time.Duration // for which an approval counts; 0: for ever
	registrar Registrar     // who may declare roots
}

func newGovernor(options Options, rules Rules) *governor {
	g := &governor{profile: options.Profile, secure: options.RequireSecure}
	for _, p := range options.Policies {
		if p == nil {
			p = UnreadablePolicy("", nil)
		}
		copied := *p
		c, err := compilePolicy(&copied, rules)
		if err != nil {
			g.broken = err
			return g
		}
		g.compiled = append(g.compiled, c)
		if c.Profile != nil && c.Profile.strictness() > g.profile.strictness() {
			g.profile = *c.Profile
		}
		if c.MaxTrust > 0 && (g.maxTrust == 0 || c.MaxTrust < g.maxTrust) {
			g.maxTrust = c.MaxTrust
		}
		g.secure = g.secure || c.RequireSecure
		g.registrar = max(g.registrar, c.Register)
	}
	return g
}

// at refuses a place, of a skill or of a file.
func (g *governor) at(p place, subject string) error {
	return g.each(func(c *compiledPolicy) error { return c.at(p, subject) })
}

// each returns the first refusal of a policy.
func (g *governor) each(check func(*compiledPolicy) error) error {
	if g.broken != nil {
		return g.broken
	}
	for _, c := range g.compiled {
		if err := check(c); err != nil {
			return err
		}
	}
	return nil
}

func (g *governor) scripts(subject string) error {
	return g.first(func(c *compiledPolicy) bool { return c.NoScripts }, subject, "the policy allows no scripts and commands")
}

func (g *governor) discovery(subject string) error {
	return g.first(func(c *compiledPolicy) bool { return c.NoDiscovery }, subject, "the policy allows no discovery")
}

func (g *governor) first(forbids func(*compiledPolicy) bool, subject, message string) error {
	return g.each(func(c *compiledPolicy) error {
		if forbids(c) {
			return c.refused(subject, message)
		}
		return nil
	})
}

// declared returns what the registry says about a skill as far as the policies let it count. The
// roots of a list Allow count as declared where only the policy may declare roots.
func (g *governor) declared(d Declared, u SkillURL, rules Rules) Declared {
	if d.Blocked || d.Revoked {
		return d
	}
	if d.Source == ByUser || g.registrar == RegisterPolicy {
		d.Root, d.Source, _ = DefaultRoot(u, rules)
	}
	for _, c := range g.compiled {
		for _, root := range c.allow {
			if c.Register == RegisterPolicy && root.Covers(u) && (!d.Source.Registered() || len(root.String()) > len(d.Root.String())) {
				d.Root, d.Source = root, ByHost
			}
		}
	}
	return d
}

// pin makes the pin of a policy that of a wish. A pinned skill counts as declared by the
// administrator.
func (p *compiledPolicy) pin(w *wish, skill SkillURL, rules Rules) error {
	id := skill.String()
	pin, ok := p.pins[id]
	if at, known := p.pinned.find(skill.place); !ok && known && w.Claim.Tip != (Tip{}) && !p.pins[at].Pin.Digest.IsZero() {
		pin, ok = PolicyPin{Skill: id, Pin: Pin{Digest: p.pins[at].Pin.Digest}, Root: p.pins[at].Root}, true // a commit of the branch
	}
	if !ok {
		return p.notPinned(skill)
	}
	if !w.Claim.Pin.Digest.IsZero() && !pin.Pin.Digest.IsZero() && w.Claim.Pin.Digest != pin.Pin.Digest ||
		w.Claim.Pin.Commit != "" && pin.Pin.Commit != "" && !strings.EqualFold(w.Claim.Pin.Commit, pin.Pin.Commit) {
		return p.refused(id, "the policy pins another version of the skill")
	}
	if w.Claim.Pin.Digest.IsZero() {
		w.Claim.Pin.Digest = pin.Pin.Digest
	}
	if w.Claim.Pin.Commit == "" {
		w.Claim.Pin.Commit = pin.Pin.Commit
	}
	if w.Under == "" {
		w.Under = pin.Root
		if w.Under == "" {
			root, _, _ := DefaultRoot(skill, rules) // without one, the claim is refused
			w.Under = root.String()
		}
	}
	return nil
}

// refusedByFeed refuses what a feed withdrew of a skill: its place, its SKILL.md or archive.
func (l *Loader) refusedByFeed(u SkillURL, d Digest) error {
	w := l.withdrawn.Load() // nil if there is no feed
	if err := w.at(u.place, u.String()); err != nil {
		return err
	}
	return w.digest(d, u.String())
}

// under refuses a root that the caller or a lockfile names, if only the policy may declare roots.
func (p *compiledPolicy) under(u SkillURL, named string) error {
	if p.Register != RegisterPolicy || named == "" {
		return nil
	}
	if _, pinned := p.pins[u.String()]; pinned || slices.ContainsFunc(p.allow, func(root TrustRoot) bool { return root.Covers(u) }) {
		return nil
	}
	return p.refused(u.String(), "the policy alone declares trust roots, and it declares none for this skill")
}

// refusalAt returns an error if the registry, a policy or a feed refuses a URL.
func (l *Loader) refusalAt(u domain.URL, subject string) error {
	if err := l.roots.at(u).refusal(subject); err != nil {
		return err
	}
	p := l.roots.Rules().placeOf(u)
	return cmp.Or(l.policies.at(p, subject), l.withdrawn.Load().at(p, subject))
}

// Sentences explains the policy, one sentence for each decision.
func (p *Policy) Sentences() []string {
	if p == nil {
		return nil
	}
	if p.unreadable != nil {
		return []string{"Nothing is allowed, because the policy could not be read: " + sentence(p.unreadable) + "."}
	}
	var all []string
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(p.Allow == nil, "Skills may come from any place that is not denied.")
	add(p.Allow != nil && len(p.Allow) == 0, "No skill may be loaded.")
	add(len(p.Allow) > 0, "Skills and their files may come only from %s.", listNames(p.Allow))
	add(len(p.Deny) > 0, "Nothing may come from %s, in any spelling.", listNames(p.Deny))
	for _, pin := range p.Pins {
		what := pin.Pin.Commit
		if what == "" {
			what = pin.Pin.Digest.String()
		}
		add(true, "The skill %s loads only as %s, and the user is not asked about it.", plaintext.Quote(pin.Skill, 300),
			plaintext.Quote(what, 100))
	}
	for _, s := range p.Signers {
		add(true, "The skills under %s load only if %s has signed them.", plaintext.Quote(s.Root, 300), plaintext.Quote(s.Signer, 80))
	}
	add(p.PinnedOnly, "Every other skill is refused.")
	add(p.Register == RegisterUser, "The user and the program may declare trust roots.")
	add(p.Register == RegisterProgram, "Only the program may declare trust roots; a user can agree to single skills.")
	add(p.Register == RegisterPolicy, "Only this policy declares trust roots; a user can agree to single skills.")
	if p.Profile != nil {
		add(true, "Skills are read by the profile %s or a stricter one.", *p.Profile)
	}
	add(p.NoScripts, "Scripts and shell commands are refused, whatever the user agrees to.")
	add(!p.NoScripts, "Scripts run if the user agrees to each.")
	add(p.NoDiscovery, "The lists of an origin are not read.")
	add(p.RequireSecure, "Hosts without signed DNS are refused.")
	add(p.MaxTrust > 0, "The user is asked again %s after an approval.", p.MaxTrust)
	return all
}
