package wellknown

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// Registry is a dated table of names. It never changes: [Registry.With] returns a new
// one.
type Registry struct {
	date    time.Time
	entries map[string]Entry
}

// NewRegistry returns a registry with the state of a day. See [Registry.With] for its
// errors.
func NewRegistry(date time.Time, entries ...Entry) (*Registry, error) {
	return (&Registry{date: date}).With(entries...)
}

// With returns a registry that also has these entries. An entry of the same name is
// replaced. With returns a [*lookleap.Error] for an entry with a bad name, without a
// reference, or for a scheme that has no well-known URIs.
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

// Date returns the day whose state the registry has.
func (r *Registry) Date() time.Time { return zero.Or(r).date }

// Names returns all names in alphabetical order.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(zero.Or(r).entries)) }

// Lookup returns the entry of a name. For a name that is not in the registry it
// returns an unregistered entry with defaults. Names are case-sensitive.
func (r *Registry) Lookup(name string) Entry {
	if e, ok := zero.Or(r).entries[name]; ok {
		return e
	}
	return Entry{Name: name}
}

// Entry is a name with the five fields of its registration (section 3.1) and with the
// use that its specification defines.
type Entry struct {
	Name       string // the URI suffix
	Controller string // who may change the registration
	Reference  string // the specification; for an unregistered name the draft that uses it
	Status     Status
	Related    string // related information

	Schemes    []string // schemes it is defined for; empty: http and https
	Ports      []uint16 // ports it is defined for, in addition to the default ports
	MediaTypes []string // media types of the document; empty: any
	HasPath    bool     // whether paths below the name are defined
	Sensitive  bool     // whether the document holds secrets and must not be compressed
}

func (e Entry) schemes() []string {
	if len(e.Schemes) == 0 {
		return []string{"http", "https"}
	}
	return e.Schemes
}

// Export returns the five fields of a registration request (section 3.1), one a line.
func (e Entry) Export() string {
	return fmt.Sprintf("URI suffix: %s\nChange controller: %s\nSpecification document(s): %s\nStatus: %s\nRelated information: %s\n",
		e.Name, e.Controller, e.Reference, e.Status, e.Related)
}

// check returns an error for an entry that no registry may have.
func (e Entry) check() error {
	if err := CheckName(e.Name); err != nil {
		return err
	}
	if strings.TrimSpace(e.Reference) == "" {
		return newError(codeBadEntry, e.Name, "the entry has no specification", "set Reference")
	}
	for _, scheme := range e.Schemes {
		if _, ok := SchemeSupported(scheme); !ok {
			return newError(CodeSchemeUnsupported, scheme, "well-known URIs are not defined for this scheme", "")
		}
	}
	return nil
}

// Status is the registration status of a name (section 3.1). The zero value is
// Unregistered.
type Status uint8

const (
	// Unregistered means that the name is not in the registry.
	Unregistered Status = iota
	// Provisional means that the registration may change or be removed.
	Provisional
	// Permanent means that the registration stays.
	Permanent
)

var statusNames = [...]string{"unregistered", "provisional", "permanent"}

// String returns the registry's word for the status.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return statusNames[Unregistered]
}

// MarshalText returns the registry's word for the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseStatus reads "permanent" or "provisional" and ignores letter case.
func ParseStatus(text string) (Status, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "provisional":
		return Provisional, nil
	case "permanent":
		return Permanent, nil
	}
	return Unregistered, newError(lookleap.CodeBadStatus, text, "the status is neither permanent nor provisional", "")
}

// Limits of a registry file. IANA's has about 100 kB and 150 rows.
const (
	maxRegistryBytes = 4 << 20
	maxRegistryRows  = 20_000
)

// registryColumns are the columns of IANA's file in their order (section 5.1).
var registryColumns = []string{"URI Suffix", "Change Controller", "Reference", "Status", "Related Information",
	"Date Registered", "Date Modified"}

// LoadRegistry reads the registry in the CSV form that IANA publishes, with the state
// of the day date. Registered names of the built-in table that the file lacks become
// unknown, since provisional ones can be removed. The file does not say how a name is
// used (media types, ports, paths): that comes from the built-in table, whose
// unregistered names are kept too.
//
// LoadRegistry returns an error with the line for other columns, another status, a
// bad or repeated name, and a row without a reference.
func LoadRegistry(file io.Reader, date time.Time) (*Registry, error) {
	limited := &io.LimitedReader{R: file, N: maxRegistryBytes + 1}
	rows := csv.NewReader(limited)
	rows.FieldsPerRecord = len(registryColumns)
	rows.ReuseRecord = true
	fail := func(code lookleap.Code, message, fix string) error {
		line, column := rows.FieldPos(0)
		return &lookleap.Error{Code: code, Subject: "registry", Position: lookleap.Position{Line: line, Column: column},
			Message: message, Fix: fix}
	}
	unreadable := func(err error) error {
		out := &lookleap.Error{Code: codeBadRegistry, Subject: "registry", Message: "the file cannot be read", Err: err}
		if bad := new(csv.ParseError); errors.As(err, &bad) {
			out.Position = lookleap.Position{Line: bad.Line, Column: bad.Column}
			out.Message = bad.Err.Error()
			out.Err = nil
		}
		return out
	}
	header, err := rows.Read()
	if err != nil {
		return nil, unreadable(err)
	}
	for i, name := range registryColumns {
		if got := strings.TrimPrefix(header[i], "\uFEFF"); got != name {
			return nil, fail(codeBadRegistry, fmt.Sprintf("column %d is %s, not %q", i+1, plaintext.Quote(got, 100), name), "")
		}
	}
	known := Builtin()
	entries := make(map[string]Entry)
	for {
		row, err := rows.Read()
		if limited.N == 0 {
			return nil, newError(lookleap.CodeTooLarge, "registry", "the file is larger than its limit", "")
		}
		if err == io.EOF { // an error that wraps it is a file that was cut
			break
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if len(entries) == maxRegistryRows {
			return nil, newError(lookleap.CodeTooLarge, "registry", "the file has more rows than its limit", "")
		}
		name := strings.Clone(row[0])
		e := known.Lookup(name)
		e.Controller = strings.Clone(row[1])
		e.Reference = strings.Clone(row[2])
		e.Related = strings.Clone(row[4])
		if e.Status, err = ParseStatus(row[3]); err == nil {
			err = e.check()
		}
		if bad := new(lookleap.Error); errors.As(err, &bad) {
			return nil, fail(bad.Code, strconv.QuoteToASCII(name)+": "+bad.Message, bad.Fix)
		}
		if _, twice := entries[name]; twice {
			return nil, fail(codeBadRegistry, strconv.QuoteToASCII(name)+" is listed twice", "")
		}
		entries[name] = e
	}
	for _, e := range builtinEntries {
		if _, listed := entries[e.Name]; !listed && e.Status == Unregistered {
			entries[e.Name] = e
		}
	}
	return NewRegistry(date, slices.Collect(maps.Values(entries))...)
}

// builtinDate is the day of the registry from which the table was made.
var builtinDate = time.Date(2025, time.December, 1, 0, 0, 0, 0, time.UTC)

// Builtin returns the table that comes with the package: the registered names that
// agents meet most and, as unregistered, the names of the drafts that this module
// implements. [LoadRegistry] reads the whole registry.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry {
	r, err := NewRegistry(builtinDate, builtinEntries...)
	if err != nil {
		panic(err) // TestBuiltin
	}
	return r
})

var (
	jsonType = []string{"application/json"}
	textType = []string{"text/plain"}
)

var builtinEntries = []Entry{
	{Name: "acme-challenge", Controller: "IETF", Reference: "RFC8555", Status: Permanent, HasPath: true},
	{Name: "assetlinks.json", Controller: "Google", Reference: "https://developers.google.com/digital-asset-links", Status: Provisional, MediaTypes: jsonType},
	{Name: "brski", Controller: "IETF", Reference: "RFC8995", Status: Permanent, HasPath: true},
	{Name: "caldav", Controller: "IETF", Reference: "RFC6764", Status: Permanent},
	{Name: "carddav", Controller: "IETF", Reference: "RFC6764", Status: Permanent},
	{Name: "change-password", Controller: "W3C", Reference: "https://www.w3.org/TR/change-password-url/", Status: Provisional},
	{Name: "core", Controller: "IETF", Reference: "RFC6690", Status: Permanent, Schemes: []string{"coap", "coaps",
		"coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws", "http", "https"}, MediaTypes: []string{"application/link-format"}},
	{Name: "est", Controller: "IETF", Reference: "RFC7030", Status: Permanent, HasPath: true},
	{Name: "genid", Controller: "W3C", Reference: "https://www.w3.org/TR/rdf11-concepts/", Status: Permanent, HasPath: true},
	{Name: "gpc.json", Controller: "W3C", Reference: "https://www.w3.org/TR/gpc/", Status: Provisional, MediaTypes: jsonType},
	{Name: "host-meta", Controller: "IETF", Reference: "RFC6415", Status: Permanent, MediaTypes: []string{"application/xrd+xml"}},
	{Name: "host-meta.json", Controller: "IETF", Reference: "RFC6415", Status: Permanent, MediaTypes: jsonType},
	{Name: "jmap", Controller: "IETF", Reference: "RFC8620", Status: Permanent, MediaTypes: jsonType},
	{Name: "mta-sts.txt", Controller: "IETF", Reference: "RFC8461", Status: Permanent, MediaTypes: textType},
	{Name: "ni", Controller: "IETF", Reference: "RFC6920", Status: Permanent, HasPath: true},
	{Name: "nodeinfo", Controller: "Jonne Haß", Reference: "https://nodeinfo.diaspora.software/", Status: Provisional, MediaTypes: jsonType},
	{Name: "oauth-authorization-server", Controller: "IETF", Reference: "RFC8414", Status: Permanent, MediaTypes: jsonType, HasPath: true},
	{Name: "oauth-protected-resource", Controller: "IETF", Reference: "RFC9728", Status: Permanent, MediaTypes: jsonType, HasPath: true},
	{Name: "openid-configuration", Controller: "OpenID Foundation", Reference: "https://openid.net/specs/openid-connect-discovery-1_0.html", Status: Permanent, MediaTypes: jsonType},
	{Name: "openpgpkey", Controller: "GnuPG e.V.", Reference: "draft-koch-openpgp-webkey-service", Status: Provisional, HasPath: true},
	{Name: "security.txt", Controller: "IETF", Reference: "RFC9116", Status: Permanent, MediaTypes: textType},
	{Name: "timezone", Controller: "IETF", Reference: "RFC7808", Status: Permanent, HasPath: true},
	{Name: "webfinger", Controller: "IETF", Reference: "RFC7033", Status: Permanent, MediaTypes: []string{"application/jrd+json"}},

	// Names of the drafts that this module implements. None was in the registry
	// on the day of the table.
	{Name: "agent-skills", Reference: "Agent Skills discovery v0.2", HasPath: true},
	{Name: "aiip", Reference: "draft-sogomonian-ai-uri-scheme-01", MediaTypes: jsonType},
	{Name: "anml", Reference: "draft-jeskey-anml-01", MediaTypes: []string{"application/anml+xml", "application/anml+json"}},
	{Name: "anml-trust", Reference: "draft-jeskey-anml-01", MediaTypes: jsonType},
	{Name: "skills", Reference: "draft-zzn-dvs-00", HasPath: true},
}
