package anmltrust

import (
	"encoding/json"
	"fmt"
	"strings"
)

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

// Sections are the eight that can be delegated, in the draft's order.
func Sections() []Section {
	return []Section{Head, Persona, Aesthetic, Knowledge, Interact, Constraints, Body, Footer}
}

// Scope is a set of sections that can be delegated. The zero value is empty.
type Scope uint8

// AllSections is the scope of all eight.
const AllSections Scope = 1<<8 - 1

// displayCeiling is what Tier 1 can reach: the closed list of section 12.1.
var displayCeiling = ScopeOf(Aesthetic, Knowledge, Body)

// bit is the scope of one section; none for a name outside the eight, compared
// exactly.
func bit(s Section) Scope {
	switch s {
	case Head:
		return 1 << 0
	case Persona:
		return 1 << 1
	case Aesthetic:
		return 1 << 2
	case Knowledge:
		return 1 << 3
	case Interact:
		return 1 << 4
	case Constraints:
		return 1 << 5
	case Body:
		return 1 << 6
	case Footer:
		return 1 << 7
	}
	return 0
}

// ScopeOf is the scope of these sections; names outside the eight add nothing.
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
	list := make([]Section, 0, 8)
	for _, section := range Sections() {
		if s.Has(section) {
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
