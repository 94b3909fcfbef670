package anmltrust

import (
	"time"

	"github.com/lookleap/lookleap"
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
