package spec

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Requirement is one row of a register.
type Requirement struct {
	ID       string   // such as DVS-3.1-04
	Level    string   // MUST to MAY, or DEF where the document uses no key word
	Party    string   // who is bound by the requirement
	Section  string   // of the document
	Package  string   // that meets it, or NoPackage
	Text     string   // what is demanded, in our words
	Expected string   // what follows: clauses, or free text in an excluded row
	Ruling   string   // how an ambiguity was decided
	Clauses  []Clause // of Expected; nil in an excluded row
}

// NoPackage is the package of requirements that no code of ours can meet.
const NoPackage = "(none)"

// Register holds the requirements of one document, or of a part of it.
type Register struct {
	Name         string // of the file, without its extension
	Document     string
	Requirements []Requirement
}

// Attack is one attack case.
type Attack struct {
	ID      string // such as A01
	Group   string // what is attacked
	Title   string
	Clauses []Clause // what happens to the attack
}

// row returns what decides whether tests show the attack case.
func (a *Attack) row() Requirement { return Requirement{ID: a.ID, Clauses: a.Clauses} }

// Spec is all that the module promises, and what it says about the promises.
type Spec struct {
	Registers []Register
	Attacks   []Attack          // in the order of their groups
	Excluded  map[string]string // id of a requirement: why no test shows it
	Complete  []string          // packages that claim to meet all their requirements
}

var (
	levels   = []string{"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "DEF"}
	parties  = []string{"agent", "document", "gateway", "implementation", "service"}
	packages = []string{"agentstxt", "aiuri", "anml", "anml/agent", "anmltrust", "dvs", "wellknown", NoPackage}
)

// documents lists the registers in the order of the page.
var documents = []struct{ name, document string }{
	{"wellknown", "RFC 8615, Well-Known URIs"},
	{"agentstxt", "AGENTS.TXT, draft-srijal-agents-policy-00"},
	{"dvs", "Domain-Verified Skills, draft-zzn-dvs-00"},
	{"anml-1-11", "ANML 1.0, draft-jeskey-anml-01, sections 1 to 11"},
	{"anml-12-17", "ANML 1.0, draft-jeskey-anml-01, sections 12 to 17"},
	{"aiuri", "the ai: URI scheme, draft-sogomonian-ai-uri-scheme-01"},
}

//go:embed registers/*.tsv excluded.tsv complete.tsv
var tables embed.FS

// Load reads the registers that are part of the module. An error names the file
// and the line that break a rule of the tables.
func Load() (*Spec, error) { return load(tables) }

// load reads the tables of a file system, which has to have all of them.
func load(files fs.FS) (*Spec, error) {
	s := &Spec{Excluded: make(map[string]string)}
	seen := make(map[string]*Requirement)
	for _, d := range documents {
		register := Register{Name: d.name, Document: d.document}
		err := readTable(files, "registers/"+d.name+".tsv", "id level party section package requirement expected ruling",
			func(c []string) error {
				r := Requirement{ID: c[0], Level: c[1], Party: c[2], Section: c[3], Package: c[4], Text: c[5], Expected: c[6], Ruling: c[7]}
				var err error
				if r.Clauses, err = parseClauses(r.Expected); err != nil {
					return fmt.Errorf("%s: %w", r.ID, err)
				}
				register.Requirements = append(register.Requirements, r)
				if seen[r.ID] != nil {
					return fmt.Errorf("%s is there twice", r.ID)
				}
				seen[r.ID] = &r
				return r.validate()
			})
		if err != nil {
			return nil, err
		}
		s.Registers = append(s.Registers, register)
	}
	if err := s.loadAttacks(files); err != nil {
		return nil, err
	}
	if err := s.loadExcluded(files, seen); err != nil {
		return nil, err
	}
	for id, r := range seen {
		if split := r.Clauses != nil; split == (s.Excluded[id] != "") {
			return nil, fmt.Errorf("%s has clauses: %t; a row has them unless it is excluded", id, split)
		}
	}
	return s, s.loadComplete(files)
}

// ids returns the ids of all requirements and attack cases, in the order of the pages.
func (s *Spec) ids() []string {
	var ids []string
	for _, register := range s.Registers {
		for _, row := range register.Requirements {
			ids = append(ids, row.ID)
		}
	}
	for _, attack := range s.Attacks {
		ids = append(ids, attack.ID)
	}
	return ids
}

func (r *Requirement) validate() error {
	switch {
	case !registerID.MatchString(r.ID):
		return fmt.Errorf("%q is no id of a requirement", r.ID)
	case !slices.Contains(levels, r.Level):
		return fmt.Errorf("%s has the unknown level %q", r.ID, r.Level)
	case !slices.Contains(parties, r.Party):
		return fmt.Errorf("%s has the unknown party %q", r.ID, r.Party)
	case !slices.Contains(packages, r.Package):
		return fmt.Errorf("%s has the unknown package %q", r.ID, r.Package)
	case r.Text == "":
		return fmt.Errorf("%s demands nothing", r.ID)
	}
	return nil
}

func (s *Spec) loadAttacks(files fs.FS) error {
	return readTable(files, "registers/attacks.tsv", "id group title expected", func(c []string) error {
		clauses, err := parseClauses(c[3])
		a := Attack{ID: c[0], Group: c[1], Title: c[2], Clauses: clauses}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", a.ID, err)
		case clauses == nil:
			return fmt.Errorf("%s has no clauses", a.ID)
		case !attackID.MatchString(a.ID) || a.Group == "" || a.Title == "":
			return fmt.Errorf("%q is no attack case", a.ID)
		case slices.ContainsFunc(s.Attacks, func(b Attack) bool { return a.ID == b.ID }):
			return fmt.Errorf("%s is there twice", a.ID)
		}
		s.Attacks = append(s.Attacks, a)
		return nil
	})
}

func (s *Spec) loadExcluded(files fs.FS, requirements map[string]*Requirement) error {
	return readTable(files, "excluded.tsv", "id reason", func(c []string) error {
		id, reason := c[0], c[1]
		r := requirements[id]
		switch {
		case r == nil:
			return fmt.Errorf("%s is no requirement", id)
		case s.Excluded[id] != "":
			return fmt.Errorf("%s is there twice", id)
		case reason == "":
			return fmt.Errorf("%s has no reason", id)
		case r.Package != NoPackage && r.Party != "document" && r.Party != "service":
			return fmt.Errorf("%s binds the %s: package %s has to meet it", id, r.Party, r.Package)
		}
		s.Excluded[id] = reason
		return nil
	})
}

func (s *Spec) loadComplete(files fs.FS) error {
	return readTable(files, "complete.tsv", "package", func(c []string) error {
		switch {
		case c[0] == NoPackage || !slices.Contains(packages, c[0]):
			return fmt.Errorf("%q is no package with requirements", c[0])
		case slices.Contains(s.Complete, c[0]):
			return fmt.Errorf("%s is there twice", c[0])
		}
		s.Complete = append(s.Complete, c[0])
		return nil
	})
}

// readTable reads a file of tab-separated columns, the first line of which names
// them. Other than in CSV, quotes mean themselves.
func readTable(files fs.FS, name, columns string, row func(cells []string) error) error {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	want := strings.Fields(columns)
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		switch {
		case i == 0 && !slices.Equal(cells, want):
			return fmt.Errorf("%s: the columns are %q, want %q", name, cells, want)
		case i == 0:
			continue
		case len(cells) != len(want):
			return fmt.Errorf("%s:%d: there are %d columns, want %d", name, i+1, len(cells), len(want))
		}
		if err := row(cells); err != nil {
			return fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	return nil
}
