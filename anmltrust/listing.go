package anmltrust

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Listing is what a manifest says about one server.
type Listing struct {
	Rank      string // of the entry: host, wildcard, domain, or "" if there is none
	Pattern   string // the entry's domain, normalised
	Tier      Tier   // the lowest one of the entries of this name
	Scope     Scope  // what all of them grant, before the tier's ceiling
	Malformed bool   // one of them is malformed, so the server is denied
}

// grant is what the entries of one name say together.
type grant struct {
	tier      Tier
	scope     Scope
	malformed bool
}

// merge combines entries of one name: array order never matters.
func (g grant) merge(other grant) grant {
	return grant{min(g.tier, other.tier), g.scope & other.scope, g.malformed || other.malformed}
}

// maxFindings bounds the findings about one manifest's entries.
const maxFindings = 32

// index reads the entries.
func (m *Manifest) index(list strictjson.Value) {
	m.entries = list.Len()
	m.grants = make(map[string]grant, m.entries)
	faults := 0
	for entry := range list.Elements() {
		name, g, problem := readEntry(entry)
		fix := ""
		if name != "" {
			pattern, err := normalizePattern(name)
			if err != nil {
				problem = fmt.Sprintf("the entry %s matches nothing: %s", plaintext.Quote(name, maxQuoted), sentence(err))
				fix = `name a host, or "*." and a domain that is registered`
			} else if before, twice := m.grants[pattern]; twice {
				m.grants[pattern] = g.merge(before)
			} else {
				m.grants[strings.Clone(pattern)] = g
				m.text += len(pattern)
			}
		}
		if problem == "" {
			continue
		}
		if faults++; faults <= maxFindings {
			f := warn(CodeManifestEntryMalformed, "L6", problem, fix)
			f.Position = lookleap.Position(entry.Place())
			m.Findings = append(m.Findings, f)
		}
	}
	if faults > maxFindings {
		m.Findings = append(m.Findings, warn(CodeManifestEntryMalformed, "L6",
			fmt.Sprintf("%d more entries are malformed", faults-maxFindings), ""))
	}
}

// Estimates of what a manifest takes besides its texts.
const (
	manifestBytes      = 2 << 10
	manifestEntryBytes = 80
)

func (m *Manifest) bytes() int { return manifestBytes + m.entries*manifestEntryBytes + m.text }

// readEntry reads one entry. A name comes back wherever there is one, since a
// malformed entry denies the server that it names.
func readEntry(entry strictjson.Value) (name string, g grant, problem string) {
	g.malformed = true
	if entry.Kind() != strictjson.Object {
		return "", g, "the entry is not an object"
	}
	var tierOK, scopeOK bool
	var domainKind strictjson.Kind
	for member, v := range entry.Members() {
		switch member {
		case "domain":
			domainKind = v.Kind()
			name, _ = v.Text()
		case "tier":
			g.tier, tierOK = readTier(v)
		case "scope":
			var dropped bool
			g.scope, dropped, scopeOK = readScope(v)
			if dropped && problem == "" {
				problem = "the entry's scope has names that cannot be delegated"
			}
		}
	}
	switch {
	case domainKind != strictjson.String || name == "":
		return "", g, "the entry has no domain"
	case !tierOK:
		return name, g, "the entry's tier is not the integer 1 or 2"
	case !scopeOK:
		return name, g, "the entry's scope is not an array of names"
	}
	g.malformed = false
	return name, g, problem
}

// readTier reads the integer 1 or 2, written as such: never clamped, never
// converted.
func readTier(v strictjson.Value) (Tier, bool) {
	switch v.Source() {
	case "1":
		return Display, true
	case "2":
		return Full, true
	}
	return Unlisted, false
}

// readScope reads an array of strings; names outside the eight are dropped.
func readScope(v strictjson.Value) (s Scope, dropped, ok bool) {
	if v.Kind() != strictjson.Array {
		return s, dropped, false
	}
	for name := range v.Elements() {
		text, err := name.Text()
		if err != nil {
			return s, dropped, false
		}
		b := bit(Section(text))
		dropped = dropped || b == 0
		s |= b
	}
	return s, dropped, true
}

// normalizePattern returns an entry's name in canonical form.
func normalizePattern(name string) (string, error) {
	rest, wildcard := strings.CutPrefix(name, "*.")
	rest, err := NormalizeSite(rest)
	if err != nil {
		return "", err
	}
	if suffix, _ := domain.PublicSuffix(rest); suffix == rest {
		return "", errPublicSuffix
	}
	if wildcard {
		rest = "*." + rest
	}
	return rest, nil
}

// Lookup returns what the manifest says about a server, by the best rank that has
// an entry: its host, then the wildcard that covers it, then its domain. A
// wildcard stands for exactly one label.
func (m *Manifest) Lookup(s Server) Listing { return m.lookup(s, false) }

// lookup looks only for entries about this very host if hostOnly is set.
func (m *Manifest) lookup(s Server, hostOnly bool) Listing {
	if m == nil {
		return Listing{}
	}
	for i, name := range patterns(s) {
		if g, ok := m.grants[name]; ok && !(hostOnly && i == 2) {
			return Listing{[]string{"host", "wildcard", "domain"}[i], name, g.tier, g.scope, g.malformed}
		}
	}
	return Listing{}
}

// patterns returns the names of entries about a server, the best one first.
func patterns(s Server) []string {
	_, parent, _ := strings.Cut(s.Host, ".")
	return []string{s.Host, "*." + parent, s.Domain}
}

// manifestJSON is a manifest as it is written.
type manifestJSON struct {
	Version string      `json:"version"`
	Site    string      `json:"site"`
	Issued  string      `json:"issued"`
	Expires string      `json:"expires"`
	Entries []entryJSON `json:"authorized-domains"`
}

type entryJSON struct {
	Domain string `json:"domain"`
	Tier   *Tier  `json:"tier,omitempty"`
	Scope  *Scope `json:"scope,omitempty"`
	Note   string `json:"note,omitempty"`
}

// extract returns a manifest with what this one says about a server and nothing
// else: what a stored verdict keeps, so that it can be judged again.
func (m *Manifest) extract(s Server) []byte {
	out := manifestJSON{manifestVersion, m.Site, m.Issued.Format(timeForm), m.Expires.Format(timeForm), []entryJSON{}}
	add := func(name string) {
		g, ok := m.grants[name]
		if !ok || slices.ContainsFunc(out.Entries, func(e entryJSON) bool { return e.Domain == name }) {
			return
		}
		e := entryJSON{Domain: name}
		if !g.malformed {
			e.Tier, e.Scope = &g.tier, &g.scope
		}
		out.Entries = append(out.Entries, e)
	}
	for _, name := range patterns(s) {
		add(name)
	}
	if len(out.Entries) == 0 && len(m.grants) > 0 { // an entry about another server, since rows L1 and L2 differ
		add(slices.Min(slices.Collect(maps.Keys(m.grants))))
	}
	data, _ := json.Marshal(out) // these types cannot fail
	return data
}

const timeForm = "2006-01-02T15:04:05.999999999Z07:00"
