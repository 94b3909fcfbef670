package anmltrust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// Authorization is a positive verdict: what a server may say for a site, and
// until when. It does not change and may be shared. A nil Authorization, which
// is what comes with every error, permits nothing.
type Authorization struct {
	Server       Server            `json:"server"`
	Site         string            `json:"site"` // normalised
	Tier         Tier              `json:"tier"`
	Scope        Scope             `json:"scope"`     // what may be used: granted, and within the tier's ceiling
	Truncated    Scope             `json:"truncated"` // granted beyond the ceiling, and silently cut
	Reason       lookleap.Code     `json:"reason"`
	Sources      []string          `json:"sources,omitempty"` // the advertised URIs that granted it
	DNSSEC       lookleap.DNSSEC   `json:"dnssec"`            // of the site's record
	CheckedAt    time.Time         `json:"checkedAt"`
	Expires      time.Time         `json:"expires,omitzero"`      // zero: it needs no renewal (the site itself)
	RefreshAfter time.Time         `json:"refreshAfter,omitzero"` // when to call [Verifier.Refresh]
	Cached       bool              `json:"cached,omitzero"`       // from an earlier verification
	Verdict      *lookleap.Verdict `json:"-"`
}

// Holds reports whether the authorization is in force at a time. There is no
// grace: authority is looked at when it is used.
func (a *Authorization) Holds(now time.Time) bool {
	return a != nil && a.Tier > Unlisted && (a.Expires.IsZero() || now.Before(a.Expires))
}

// Permits reports whether a section is the site's own assertion at a time (rows
// X1 to X3 and X9): the one place where tier and scope are compared.
func (a *Authorization) Permits(section Section, now time.Time) bool {
	switch {
	case !a.Holds(now):
		return false
	case a.Tier == Self:
		return true
	}
	return a.Scope&a.Tier.Ceiling()&bit(section) != 0
}

// PermitsInform reports whether an inform of a permitted knowledge section is the
// site's assertion. At Tier 1 only public ones are, which is what an absent
// confidentiality means; no ask is (section 12.1).
func (a *Authorization) PermitsInform(confidentiality string, now time.Time) bool {
	if !a.Permits(Knowledge, now) {
		return false
	}
	return a.Tier > Display || confidentiality == "" || confidentiality == "public"
}

// PermitsAsk reports whether an ask of a knowledge section is the site's.
func (a *Authorization) PermitsAsk(now time.Time) bool {
	return a.Permits(Knowledge, now) && a.Tier > Display
}

// Attribution says whose a section is.
type Attribution uint8

const (
	// Dropped: the section is not used at all.
	Dropped Attribution = iota
	// OfServer: the serving party's own content, labelled with its domain.
	OfServer
	// OfSite: an assertion of the site.
	OfSite
)

// Attribute says whose a section is, in a document that claims a site in this
// form, under this authorization or nil (rows X1 to X5). Constraints and rights
// that are nobody's still restrict (row X6): losing scope removes grants, never
// restrictions.
func Attribute(a *Authorization, form Form, section Section, now time.Time) Attribution {
	if a.Permits(section, now) {
		return OfSite
	}
	switch section {
	case Persona, Aesthetic:
		return Dropped // written to portray the site, in either form
	case Knowledge, Interact, Constraints:
		if form == SiteElement {
			return Dropped
		}
	}
	return OfServer
}

// Tier is how far a server may speak for a site (section 12.1). The zero value
// is Tier 0: nothing.
type Tier uint8

const (
	// Unlisted (Tier 0) may assert nothing about the site.
	Unlisted Tier = iota
	// Display (Tier 1) may show the site's aesthetic, body and public informs.
	Display
	// Full (Tier 2) may assert exactly the sections in its scope.
	Full
	// Self (Tier 3) is the site speaking for itself. It is never delegated.
	Self
)

var tierNames = [...]string{"unlisted", "display", "full", "self"}

// String gives unlisted, display, full or self.
func (t Tier) String() string {
	if int(t) < len(tierNames) {
		return tierNames[t]
	}
	return tierNames[Unlisted]
}

// Section names a section of an ANML document.
type Section string

// The sections of a document. The first eight can be delegated (section 12.3);
// state and status stay the serving party's own.
const (
	Head        Section = "head"
	Persona     Section = "persona"
	Aesthetic   Section = "aesthetic"
	Knowledge   Section = "knowledge"
	Interact    Section = "interact"
	Constraints Section = "constraints"
	Body        Section = "body"
	Footer      Section = "footer"
	State       Section = "state"
	Status      Section = "status"
)

// delegable are the sections that can be delegated, in the draft's order.
var delegable = [...]Section{Head, Persona, Aesthetic, Knowledge, Interact, Constraints, Body, Footer}

// Sections returns the eight sections that can be delegated, in the draft's order.
func Sections() []Section { return slices.Clone(delegable[:]) }

// Scope is a set of sections that can be delegated. The zero value is empty.
type Scope uint8

// AllSections is the scope of all eight.
const AllSections Scope = 1<<len(delegable) - 1

// bit returns the scope of one section, or 0 for a name outside the eight.
func bit(s Section) Scope {
	if i := slices.Index(delegable[:], s); i >= 0 {
		return 1 << i
	}
	return 0
}

// ScopeOf returns the scope of these sections. Names outside the eight add nothing.
func ScopeOf(sections ...Section) Scope {
	var s Scope
	for _, section := range sections {
		s |= bit(section)
	}
	return s
}

// Has reports whether the section is in the scope.
func (s Scope) Has(section Section) bool { return s&bit(section) != 0 }

// Sections lists the scope in the draft's order.
func (s Scope) Sections() []Section {
	list := make([]Section, 0, len(delegable))
	for i, section := range delegable {
		if s&(1<<i) != 0 {
			list = append(list, section)
		}
	}
	return list
}

// String lists the scope, commas between; "" is the empty scope.
func (s Scope) String() string {
	names := make([]string, 0, 8)
	for _, section := range s.Sections() {
		names = append(names, string(section))
	}
	return strings.Join(names, ",")
}

// MarshalJSON gives an array of names.
func (s Scope) MarshalJSON() ([]byte, error) { return json.Marshal(s.Sections()) }

// UnmarshalJSON reads an array of names; a name outside the eight is an error.
func (s *Scope) UnmarshalJSON(data []byte) error {
	var names []Section
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	*s = 0
	for _, name := range names {
		b := bit(name)
		if b == 0 {
			return fmt.Errorf("section %q cannot be delegated", name)
		}
		*s |= b
	}
	return nil
}

// displayCeiling is the closed list of section 12.1.
var displayCeiling = ScopeOf(Aesthetic, Knowledge, Body)

// Ceiling is what a tier can reach at most, whatever its scope says: the tier
// decides over the scope (section 12.1).
func (t Tier) Ceiling() Scope {
	switch t {
	case Display:
		return displayCeiling
	case Full, Self:
		return AllSections
	}
	return 0
}

// What a fresh verification may take away from an action (row X10).
var (
	// ErrTrustRevoked is an authorization that was withdrawn, or that no longer
	// covers what the action needs.
	ErrTrustRevoked = coded.New("trust-revoked", "the authorization was withdrawn")
	// ErrTrustUnverified is an authorization that could not be verified anew. It
	// may still exist, and the action is refused all the same.
	ErrTrustUnverified = coded.New("trust-unverified", "the authorization could not be verified anew")
)

// Confirm turns the answer of [Verifier.VerifyFresh] into leave for one action
// that needs a section at Tier 2: nil, or an error that is [ErrTrustRevoked] or
// [ErrTrustUnverified] and wraps the cause.
func Confirm(a *Authorization, err error, needs Section, now time.Time) error {
	switch {
	case err != nil && isTemporary(lookleap.CodeOf(err)):
		return fmt.Errorf("%w: %w", ErrTrustUnverified, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrTrustRevoked, err)
	case a == nil || a.Tier < Full || !a.Permits(needs, now):
		return fmt.Errorf("%w: %w", ErrTrustRevoked, refuse(CodeTrustRevoked, lookleap.Position{}, "", "the section %s is not granted", needs))
	}
	return nil
}
