package anml

import (
	"fmt"
	"strings"
)

// Mermaid draws the workflow as a Mermaid flowchart. The identifiers are ours;
// labels and conditions of the document are escaped, so that they can only be
// read and never drawn with. Steps without a next stand alone: the order of a
// document makes no edges.
func (f Flow) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	place := map[string]int{}
	for s := range f.Steps() {
		place[s.ID()] = len(place)
	}
	for s := range f.Steps() {
		label := s.Label()
		if label == "" {
			label = s.ID()
		}
		if s.Required() {
			label += " *"
		}
		fmt.Fprintf(&b, "    s%d[\"%s\"]\n", place[s.ID()], mermaidText(label))
	}
	for s := range f.Steps() {
		next, ok := place[s.Next()]
		if !ok {
			continue
		}
		if c := s.Condition(); c != "" {
			fmt.Fprintf(&b, "    s%d -->|\"%s\"| s%d\n", place[s.ID()], mermaidText(c), next)
		} else {
			fmt.Fprintf(&b, "    s%d --> s%d\n", place[s.ID()], next)
		}
	}
	for s := range f.Steps() {
		if status := s.Status(); status != StepUnstated {
			fmt.Fprintf(&b, "    class s%d %s\n", place[s.ID()], status)
		}
	}
	b.WriteString("    classDef current stroke-width:3px\n    classDef completed opacity:0.5\n    classDef skipped opacity:0.5,stroke-dasharray:4\n    classDef pending stroke-width:1px\n")
	return b.String()
}

// mermaidText keeps letters, digits and harmless punctuation, and writes every
// other character as its number, which Mermaid shows and does not obey.
func mermaidText(s string) string {
	const longest = 80
	var b strings.Builder
	for i, r := range []rune(s) {
		if i == longest {
			b.WriteString("…")
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" .,-_*!?:()/'", r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
