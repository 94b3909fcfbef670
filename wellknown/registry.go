package wellknown

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Status is what the registry says of a name (section 3.1). The zero value is
// Unregistered.
type Status uint8

const (
	// Unregistered: the name is not in the registry.
	Unregistered Status = iota
	// Provisional: registered, and may change or vanish.
	Provisional
	// Permanent: registered for good.
	Permanent
)

var statusNames = [...]string{"unregistered", "provisional", "permanent"}

// String gives the registry's word.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return statusNames[Unregistered]
}

// MarshalText gives the registry's word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseStatus reads permanent or provisional, in any letter case.
func ParseStatus(text string) (Status, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "provisional":
		return Provisional, nil
	case "permanent":
		return Permanent, nil
	}
	return Unregistered, &Error{Code: lookleap.CodeBadStatus, Input: text, Reason: "a registration is permanent or provisional"}
}

// Entry is what is known about a name: the five fields of a registration
// (section 3.1) and, as its specification says, how it is used.
type Entry struct {
	Name       string // the URI suffix
	Controller string // who may change the registration
	Reference  string // the specification; for an unregistered name the draft that uses it
	Status     Status
	Related    string // related information

	Schemes    []string // schemes it is defined for; none: http and https
	Ports      []uint16 // ports it is defined for beside the schemes' own
	MediaTypes []string // media types of the document; none: any
	HasPath    bool     // whether further path below the name is defined
	Sensitive  bool     // whether the document holds secrets, and so is not compressed
}

func (e Entry) schemes() []string {
	if len(e.Schemes) == 0 {
		return []string{"http", "https"}
	}
	return e.Schemes
}

// Export prints the five fields of a registration request (section 3.1).
func (e Entry) Export() string {
	return fmt.Sprintf("URI suffix: %s\nChange controller: %s\nSpecification document(s): %s\nStatus: %s\nRelated information: %s\n",
		e.Name, e.Controller, e.Reference, e.Status, e.Related)
}

// check gives an [*Error] for an entry that no table may have.
func (e Entry) check() error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	if strings.TrimSpace(e.Reference) == "" {
		return &Error{Code: CodeBadEntry, Input: e.Name, Reason: "the entry names no specification", Fix: "set Reference"}
	}
	for _, scheme := range e.Schemes {
		if _, ok := SchemeSupported(scheme); !ok {
			return &Error{Code: CodeSchemeUnsupported, Input: scheme, Reason: "well-known URIs are not defined for this scheme"}
		}
	}
	return nil
}

// Registry is a dated table of names. It never changes; [Registry.With] gives
// another one.
type Registry struct {
	date    time.Time
	entries map[string]Entry
}

// NewRegistry makes a table of the state of a day.
func NewRegistry(date time.Time, entries ...Entry) (*Registry, error) {
	return (&Registry{date: date}).With(entries...)
}

// With gives a registry that has these entries too; an entry of the same name is
// replaced. An entry without a reference, with a bad name, or for a scheme
// without support is an [*Error].
func (r *Registry) With(entries ...Entry) (*Registry, error) {
	r = zero.Or(r)
	next := &Registry{date: r.date, entries: maps.Clone(r.entries)}
	if next.entries == nil {
		next.entries = make(map[string]Entry, len(entries))
	}
	for _, e := range entries {
		if err := e.check(); err != nil {
			return nil, err
		}
		next.entries[e.Name] = e
	}
	return next, nil
}

// Date is the day whose state the table has.
func (r *Registry) Date() time.Time { return zero.Or(r).date }

// Names lists the names in alphabetical order.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(zero.Or(r).entries)) }

// Lookup gives the entry of a name, compared letter by letter. A name that is
// not in the table has an entry too: unregistered, with defaults.
func (r *Registry) Lookup(name string) Entry {
	if e, ok := zero.Or(r).entries[name]; ok {
		return e
	}
	return Entry{Name: name}
}
