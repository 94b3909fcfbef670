package dvs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/textdiff"
)

// Change is the difference between two versions of a skill, for a person to judge. [Compare] makes
// it. The zero Change is not a difference.
type Change struct {
	Lines []ChangedLine `json:"lines,omitempty"` // of SKILL.md, at most ten: those that say most, in order
	More  int           `json:"more,omitempty"`  // changed lines that are not in Lines

	Added   []string `json:"added,omitempty"` // files, by their paths below the skill's directory, sorted
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"` // SKILL.md among them

	Gained Capabilities `json:"gained,omitempty"` // what the skill may newly do, as far as its text says
	Lost   Capabilities `json:"lost,omitempty"`
}

// ChangedLine is a line that only one version has.
type ChangedLine struct {
	Added bool   `json:"added"` // the new version has it; otherwise the old one
	Line  int    `json:"line"`  // in its version, from 1
	Text  string `json:"text"`  // untrusted; of a long line the part that changed
}

// What a person is shown of a change.
const (
	maxChangedLines = 10
	maxChangedText  = 240 // bytes of one line
	maxChangedFiles = 10
)

// Compare returns the difference between two versions of a skill, which are its files by their
// paths below its directory. It does no I/O, and takes O(n log n) time for n bytes.
func Compare(old, updated map[string][]byte) Change {
	return compareVersions(versionOf(old), versionOf(updated))
}

// skillVersion is what is kept of one version of a skill, to compare the next one with it.
type skillVersion struct {
	text         []byte            // SKILL.md
	files        map[string]Digest // nil: not known
	capabilities Capabilities
}

func versionOf(files map[string][]byte) skillVersion {
	v := skillVersion{text: files[EntryFile], files: make(map[string]Digest, len(files)), capabilities: CapabilitiesOf(files)}
	for name, content := range files {
		v.files[name] = DigestOf(content)
	}
	return v
}

// compareVersions compares the files only if those of both versions are known.
func compareVersions(old, updated skillVersion) (c Change) {
	if old.files != nil && updated.files != nil {
		c.Added, c.Removed, c.Changed = diffFiles(old.files, updated.files)
	} else if string(old.text) != string(updated.text) {
		c.Changed = []string{EntryFile}
	}
	c.Gained, c.Lost = updated.capabilities.Diff(old.capabilities)
	c.setLines(textdiff.Lines(string(old.text), string(updated.text)))
	return c
}

func diffFiles(old, updated map[string]Digest) (added, removed, changed []string) {
	for _, name := range slices.Sorted(maps.Keys(updated)) {
		switch before, known := old[name]; {
		case !known:
			added = append(added, name)
		case before != updated[name]:
			changed = append(changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, still := updated[name]; !still {
			removed = append(removed, name)
		}
	}
	return added, removed, changed
}

// setLines keeps the lines that say most: those with a gained capability or with hidden characters
// come before the others, so that harmless changes cannot push them out of sight.
func (c *Change) setLines(all []textdiff.Line) {
	telling := c.tellingLines(all)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(telling[b], telling[a]) })
	chosen := order[:min(len(order), maxChangedLines)]
	slices.Sort(chosen)
	for _, i := range chosen {
		l, other := all[i], ""
		if l.Pair >= 0 {
			other = all[l.Pair].Text
		}
		c.Lines = append(c.Lines, ChangedLine{l.Added, l.Number, textdiff.Shorten(l.Text, other, maxChangedText)})
	}
	c.More = len(all) - len(chosen)
}

// tellingLines returns 2 for lines with a gained capability, 1 for those with hidden
// characters, and 0 for the others. It looks for the capabilities that the sentences name.
func (c *Change) tellingLines(all []textdiff.Line) []int {
	rank := make([]int, len(all))
	var added strings.Builder
	var starts, lines []int
	for i, l := range all {
		if l.Added {
			starts, lines = append(starts, added.Len()), append(lines, i)
			added.WriteString(l.Text + "\n")
			if plaintext.Count(l.Text).Total() > 0 {
				rank[i] = 1
			}
		}
	}
	perKind := make(map[string]int)
	for _, gained := range c.Gained {
		perKind[gained.Kind]++
		if perKind[gained.Kind] > maxListed {
			continue
		}
		if at := strings.Index(added.String(), gained.Value); at >= 0 {
			n, exact := slices.BinarySearch(starts, at)
			if !exact {
				n--
			}
			rank[lines[n]] = 2
		}
	}
	return rank
}

// IsZero reports whether nothing changed.
func (c *Change) IsZero() bool {
	return c == nil || len(c.Lines)+c.More+len(c.Added)+len(c.Removed)+len(c.Changed)+len(c.Gained)+len(c.Lost) == 0
}

// capable reports whether the skill may newly do something, or no longer does something.
func (c *Change) capable() bool { return c != nil && len(c.Gained)+len(c.Lost) > 0 }

// diff returns the changed lines as a unified difference shows them, raw.
func (c *Change) diff() string {
	var b strings.Builder
	for _, l := range c.Lines {
		fmt.Fprintf(&b, "%s%d: %s\n", l.sign(), l.Line, l.Text)
	}
	if c.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", c.More)
	}
	return b.String()
}

func (l ChangedLine) sign() string {
	if l.Added {
		return "+"
	}
	return "-"
}

// Sentences returns what changed apart from the lines: files, and what the skill may newly do or no
// longer does. Names and values are quoted, so the sentences are safe to print.
func (c *Change) Sentences() []string {
	if c == nil {
		return nil
	}
	var all []string
	for _, f := range []struct {
		word  string
		names []string
	}{{"new files: ", c.Added}, {"removed files: ", c.Removed}, {"changed files: ", c.Changed}} {
		if len(f.names) > 0 {
			all = append(all, f.word+listNames(f.names))
		}
	}
	for _, s := range c.Gained.Sentences() {
		all = append(all, "may newly "+s)
	}
	for _, s := range c.Lost.Sentences() {
		all = append(all, "no longer seems to "+s)
	}
	if c.capable() {
		all = append(all, capabilitySentence)
	}
	return all
}

// listNames quotes names, at most ten, and counts the others.
func listNames(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), maxChangedFiles)] {
		shown = append(shown, plaintext.Quote(name, 120))
	}
	text := strings.Join(shown, ", ")
	if n := len(names) - len(shown); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// String returns the change for a terminal: the changed lines with "| " before them and hidden
// characters as \u{200B}, then the sentences.
func (c *Change) String() string {
	if c.IsZero() {
		return "nothing changed\n"
	}
	var b strings.Builder
	b.WriteString(plaintext.Block(c.diff(), 10*len(c.diff())+1))
	for _, s := range c.Sentences() {
		b.WriteString(s + "\n")
	}
	return b.String()
}

// values returns the change as parts of a consent item: the lines, then files and capabilities.
func (c *Change) values(label, source string) []lookleap.ConsentValue {
	var all []lookleap.ConsentValue
	if diff := c.diff(); diff != "" {
		all = append(all, lookleap.ConsentValue{Label: label + " (- before, + now)", Text: diff, Source: source})
	}
	all = append(all, listValue("new files", c.Added)...)
	all = append(all, listValue("removed files", c.Removed)...)
	all = append(all, listValue("changed files", c.Changed)...)
	all = append(all, c.Gained.values("may newly ")...)
	return append(all, c.Lost.values("no longer seems to ")...)
}

// listValue returns a list as a part of a consent item: at most ten entries, one a line.
func listValue(label string, list []string) []lookleap.ConsentValue {
	if len(list) == 0 {
		return nil
	}
	if n := len(list) - maxChangedFiles; n > 0 {
		list, label = list[:maxChangedFiles], fmt.Sprintf("%s (the first %d; and %d more)", label, maxChangedFiles, n)
	}
	return []lookleap.ConsentValue{{Label: label, Text: strings.Join(list, "\n")}}
}

// values returns capabilities as parts of a consent item, one for each kind.
func (c Capabilities) values(may string) (all []lookleap.ConsentValue) {
	for _, k := range capabilityKinds {
		all = append(all, listValue(may+k.may, c.of(k.kind))...)
	}
	return all
}
