package anmltrust

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Authorization is a positive verdict: what a server may say for a site, and
// until when. It does not change and may be shared. A nil Authorization, which is
// returned with every error, permits nothing.
type Authorization struct {
	Server       Server            `json:"server"`
	Site         string            `json:"site"` // normalised
	Tier         Tier              `json:"tier"`
	Scope        Scope             `json:"scope"`     // what may be used: granted, and within the tier's ceiling
	Truncated    Scope             `json:"truncated"` // granted beyond the ceiling, and left out of Scope
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
// grace: call it when the authorization is used, not before.
func (a *Authorization) Holds(now time.Time) bool {
	return a != nil && a.Tier > Unlisted && (a.Expires.IsZero() || now.Before(a.Expires))
}

// Permits reports whether a section is the site's own assertion at a time (rows
// X1 to X3 and X9): the one place where tier and scope are compared.
func (a *Authorization) Permits(section Section, now time.Time) bool {
	return a.Holds(now) && (a.Tier == Self || a.Scope&a.Tier.ceiling()&bit(section) != 0)
}

// PermitsInform reports whether an inform of a knowledge section is the site's own
// assertion. At Tier 1 only public informs are (section 12.1); an empty
// confidentiality means public.
func (a *Authorization) PermitsInform(confidentiality string, now time.Time) bool {
	return a.Permits(Knowledge, now) && (a.Tier > Display || confidentiality == "" || confidentiality == "public")
}

// PermitsAsk reports whether an ask of a knowledge section is the site's own. It is
// at Tier 2 and 3 only.
func (a *Authorization) PermitsAsk(now time.Time) bool {
	return a.Permits(Knowledge, now) && a.Tier > Display
}

// Attribution says to which party a section belongs.
type Attribution uint8

const (
	// Dropped: the section is not used at all.
	Dropped Attribution = iota
	// OfServer: the section is the serving party's own, labelled with its domain.
	OfServer
	// OfSite: the section is an assertion of the site.
	OfSite
)

// Attribute returns to which party a section belongs, in a document that claims a
// site in this form (rows X1 to X5). The authorization may be nil. Constraints and
// rights that are dropped still restrict (row X6): a lost scope removes grants,
// never restrictions.
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
// is Tier 0.
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

// String returns unlisted, display, full or self.
func (t Tier) String() string {
	if t > Self {
		t = Unlisted
	}
	return tierNames[t]
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

// String lists the scope, separated by commas; "" is the empty scope.
func (s Scope) String() string {
	var names []string
	for _, section := range s.Sections() {
		names = append(names, string(section))
	}
	return strings.Join(names, ",")
}

// MarshalJSON returns an array of names.
func (s Scope) MarshalJSON() ([]byte, error) { return json.Marshal(s.Sections()) }

// UnmarshalJSON reads an array of names; a name outside the eight is an error.
func (s *Scope) UnmarshalJSON(data []byte) error {
	var names []Section
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	*s = ScopeOf(names...)
	if i := slices.IndexFunc(names, func(name Section) bool { return bit(name) == 0 }); i >= 0 {
		return fmt.Errorf("section %s cannot be delegated", plaintext.Quote(string(names[i]), maxQuoted))
	}
	return nil
}

// displayCeiling is the closed list of section 12.1.
var displayCeiling = ScopeOf(Aesthetic, Knowledge, Body)

// ceiling returns the most that a tier can permit, whatever its scope says
// (section 12.1).
func (t Tier) ceiling() Scope {
	switch t {
	case Display:
		return displayCeiling
	case Full, Self:
		return AllSections
	}
	return 0
}

// Why [Confirm] refuses an action (row X10).
var (
	// ErrTrustRevoked reports an authorization that was withdrawn, or that no longer
	// covers what the action needs.
	ErrTrustRevoked = coded.New("trust-revoked", "the authorization was withdrawn")
	// ErrTrustUnverified reports an authorization that could not be verified again.
	// It may still be in force, but the action is refused.
	ErrTrustUnverified = coded.New("trust-unverified", "the authorization could not be verified again")
)

// Confirm decides, by what [Verifier.VerifyFresh] returned, whether one action that
// needs a section at Tier 2 may take place. It returns nil, or an error that is
// [ErrTrustRevoked] or [ErrTrustUnverified] and wraps the cause.
func Confirm(a *Authorization, err error, needs Section, now time.Time) error {
	switch {
	case isTemporary(lookleap.CodeOf(err)):
		return fmt.Errorf("%w: %w", ErrTrustUnverified, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrTrustRevoked, err)
	case a == nil || a.Tier < Full || !a.Permits(needs, now):
		return fmt.Errorf("%w: %w", ErrTrustRevoked,
			refuse(CodeTrustRevoked, lookleap.Position{}, "", "the section %s is not granted", needs))
	}
	return nil
}
