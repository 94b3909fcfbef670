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

// Rank says which kind of entry speaks about a server (section 12.3): a better
// one hides the others. The zero value is [NotListed].
type Rank uint8

// The ranks, the best one last.
const (
	NotListed   Rank = iota
	ByDomain         // the entry is the serving domain and covers all its hosts
	ByWildcard       // "*." and everything after the host's first label
	ByExactHost      // the entry is the serving host
)

var rankNames = [...]string{"none", "domain", "wildcard", "host"}

// String returns none, domain, wildcard or host.
func (r Rank) String() string {
	if int(r) < len(rankNames) {
		return rankNames[r]
	}
	return rankNames[NotListed]
}

// Listing is what a manifest says about one server.
type Listing struct {
	Rank      Rank
	Pattern   string // the entry's domain, normalised
	Tier      Tier   // the lowest one of the entries of this rank
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

// index finds entries by name. The names are parts of one string, so that the
// manifest's text is not kept.
type index struct {
	entries int
	text    int // bytes of all names
	exact   map[string]grant
	wild    map[string]grant // by what follows "*."
}

// maxFindings bounds the findings about one manifest's entries.
const maxFindings = 32

// row is one entry while the index is built: its name's place in the text of
// all names.
type row struct {
	start, end int
	wildcard   bool
	grant      grant
}

func (x *index) build(list strictjson.Value, count int, findings *[]lookleap.Finding) {
	x.entries = count
	rows := make([]row, 0, count)
	var names strings.Builder
	names.Grow(min(count, 1<<20) * 24)
	faults := 0
	note := func(v strictjson.Value, message, fix string) {
		faults++
		if faults > maxFindings {
			return
		}
		*findings = append(*findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestEntryMalformed,
			Requirement: "L6",
			Message:     message, Fix: fix, Position: positionOf(v.Place())})
	}
	wild := 0
	for entry := range list.Elements() {
		name, g, problem := readEntry(entry)
		if problem != "" {
			note(entry, problem, "")
		}
		if name == "" {
			continue
		}
		pattern, wildcard, err := normalizePattern(name)
		if err != nil {
			note(entry, fmt.Sprintf("the entry %s matches nothing: %s", plaintext.Quote(name, maxQuoted), sentence(err)),
				`name a host, or "*." and a domain that is registered`)
			continue
		}
		start := names.Len()
		names.WriteString(pattern)
		rows = append(rows, row{start, names.Len(), wildcard, g})
		if wildcard {
			wild++
		}
	}
	if faults > maxFindings {
		*findings = append(*findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestEntryMalformed,
			Requirement: "L6",
			Message:     fmt.Sprintf("%d more entries are malformed", faults-maxFindings)})
	}
	text := strings.Clone(names.String())
	x.text = len(text)
	x.exact, x.wild = make(map[string]grant, len(rows)-wild), make(map[string]grant, wild)
	for _, r := range rows {
		m := x.exact
		if r.wildcard {
			m = x.wild
		}
		name := text[r.start:r.end]
		if before, twice := m[name]; twice {
			r.grant = r.grant.merge(before)
		}
		m[name] = r.grant
	}
}

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

// normalizePattern returns an entry's name in canonical form, without "*.".
func normalizePattern(name string) (pattern string, wildcard bool, err error) {
	rest, wildcard := strings.CutPrefix(name, "*.")
	if !plainHost(rest) {
		if rest, err = NormalizeSite(rest); err != nil {
			return "", wildcard, err
		}
	}
	if suffix, _ := domain.PublicSuffix(rest); suffix == rest {
		return "", wildcard, errPublicSuffix
	}
	return rest, wildcard, nil
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
	_, parent, _ := strings.Cut(s.Host, ".")
	for _, at := range []struct {
		names   map[string]grant
		name    string
		rank    Rank
		pattern string
	}{
		{m.index.exact, s.Host, ByExactHost, s.Host},
		{m.index.wild, parent, ByWildcard, "*." + parent},
		{m.index.exact, s.Domain, ByDomain, s.Domain},
	} {
		if g, ok := at.names[at.name]; ok && !(hostOnly && at.rank == ByDomain) {
			return Listing{at.rank, at.pattern, g.tier, g.scope, g.malformed}
		}
	}
	return Listing{}
}

// extract returns a manifest with what this one says about a server and nothing
// else: what a stored verdict keeps, so that it can be judged again.
func (m *Manifest) extract(s Server) []byte {
	type entry struct {
		Domain string `json:"domain"`
		Tier   *Tier  `json:"tier,omitempty"`
		Scope  *Scope `json:"scope,omitempty"`
	}
	out := struct {
		Version string  `json:"version"`
		Site    string  `json:"site"`
		Issued  string  `json:"issued"`
		Expires string  `json:"expires"`
		Entries []entry `json:"authorized-domains"`
	}{ManifestVersion, m.Site, m.Issued.Format(timeForm), m.Expires.Format(timeForm), []entry{}}
	add := func(index map[string]grant, prefix, name string) {
		g, ok := index[name]
		if !ok || slices.ContainsFunc(out.Entries, func(e entry) bool { return e.Domain == prefix+name }) {
			return
		}
		e := entry{Domain: prefix + name}
		if !g.malformed {
			e.Tier, e.Scope = &g.tier, &g.scope
		}
		out.Entries = append(out.Entries, e)
	}
	add(m.index.exact, "", s.Host)
	if _, parent, ok := strings.Cut(s.Host, "."); ok {
		add(m.index.wild, "*.", parent)
	}
	add(m.index.exact, "", s.Domain)
	if len(out.Entries) == 0 { // an entry about another server, since rows L1 and L2 differ
		if names := slices.Collect(maps.Keys(m.index.exact)); len(names) > 0 {
			add(m.index.exact, "", slices.Min(names))
		} else if names := slices.Collect(maps.Keys(m.index.wild)); len(names) > 0 {
			add(m.index.wild, "*.", slices.Min(names))
		}
	}
	data, _ := json.Marshal(out) // these types cannot fail
	return data
}

const timeForm = "2006-01-02T15:04:05.999999999Z07:00"
