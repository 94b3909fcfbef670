package domain

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Label is one label of a host as people may see it.
type Label struct {
	ASCII   string   // the label itself: an A-label or an ASCII label
	Unicode string   // the U-label; ASCII if the label is not an A-label
	Scripts []string // Unicode scripts of its characters, sorted, without those shared by all (Common, Inherited)
	Mixed   bool     // Scripts are not written together in one language: the label may be made to look like another
}

// Labels returns the labels of a canonical host.
func Labels(host string) []Label {
	var labels []Label
	for ascii := range strings.SplitSeq(host, ".") {
		label := Label{ASCII: ascii, Unicode: ascii}
		if strings.HasPrefix(ascii, "xn--") {
			if u, err := lookup.ToUnicode(ascii); err == nil {
				label.Unicode = u
			}
		}
		label.Scripts = scripts(label.Unicode)
		label.Mixed = mixed(label.Scripts)
		labels = append(labels, label)
	}
	return labels
}

// Unicode returns a canonical host with its A-labels as U-labels. It is not ok if there are
// none, and if a label is of mixed scripts or has other characters than letters, marks, digits
// and hyphens (UTS 46 lets U+2044 FRACTION SLASH pass): such a host is shown as A-labels only.
func Unicode(host string) (display string, ok bool) {
	var parts []string
	for _, label := range Labels(host) {
		if label.Mixed || strings.ContainsFunc(label.Unicode, isSymbol) {
			return "", false
		}
		parts = append(parts, label.Unicode)
	}
	display = strings.Join(parts, ".")
	return display, display != host
}

func isSymbol(c rune) bool { return c != '-' && !unicode.In(c, unicode.L, unicode.M, unicode.Nd) }

// scripts returns the names of the scripts in s.
func scripts(s string) []string {
	found := map[string]bool{}
	for _, c := range s {
		found[script(c)] = true
	}
	delete(found, "Common")
	delete(found, "Inherited")
	return slices.Sorted(maps.Keys(found))
}

const unknownScript = "Unknown" // no script of this version of Unicode

func script(c rune) string {
	if c <= unicode.MaxASCII { // most characters of most hosts
		if unicode.IsLetter(c) {
			return "Latin"
		}
		return "Common"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, c) {
			return name
		}
	}
	return unknownScript
}

// mixed reports whether no language writes these scripts together (UTS 39, section 5.1: the
// augmented script sets of Japanese, Korean and Chinese). Unlike there, Latin next to Han
// counts as mixed: what is shown in doubt is the A-label.
func mixed(scripts []string) bool {
	if len(scripts) <= 1 {
		return slices.Contains(scripts, unknownScript)
	}
	for _, together := range [][]string{{"Han", "Hiragana", "Katakana"}, {"Han", "Hangul"}, {"Bopomofo", "Han"}} {
		if !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(together, s) }) {
			return false
		}
	}
	return true
}
