package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/lookleap/lookleap"
)

// Page returns docs/web.md: the share of each kind that is of use today, and the reasons
// for the rest.
func Page(entries []Entry) []byte {
	var b bytes.Buffer
	b.WriteString(`# The web as it is

This page is generated from the list in [internal/corpus](../internal/corpus), which names real published files by
repository, path, commit and SHA-256. ` + "`go run ./internal/corpus/check DIR`" + ` compares the files in a directory with the
list, and ` + "`-page docs/web.md`" + ` writes this page.

A file is of use if it is taken, or if it has another format and its site stays open under the preset
` + "`agentstxt.Web`" + `. A SKILL.md that only the lenient profile reads is counted apart.

| kind | files | of use | lenient only | partly | refused |
|---|---|---|---|---|---|
`)
	for _, kind := range Kinds() {
		n := map[Outcome]int{}
		total := 0
		for _, e := range entries {
			if e.Kind == kind {
				n[e.Result.Outcome]++
				total++
			}
		}
		if total == 0 {
			continue
		}
		use := n[Taken] + n[Foreign]
		fmt.Fprintf(&b, "| %s | %d | %d (%.0f %%) | %d | %d | %d |\n", kind, total, use, 100*float64(use)/float64(total),
			n[Lenient], n[Partly], n[Refused])
	}
	for _, kind := range Kinds() {
		reasons(&b, kind, entries)
	}
	return b.Bytes()
}

// reasons writes the outcomes of a kind with their reasons, the most frequent first.
func reasons(b *bytes.Buffer, kind Kind, entries []Entry) {
	count := map[Result]int{}
	example := map[Result]Entry{}
	for _, e := range entries {
		if e.Kind == kind && e.Result.Why != "" {
			count[e.Result]++
			if count[e.Result] == 1 {
				example[e.Result] = e
			}
		}
	}
	if len(count) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| outcome | reason | files | for instance |\n|---|---|---|---|\n", kind)
	for _, r := range slices.SortedFunc(maps.Keys(count), func(x, y Result) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(x.Outcome, y.Outcome), cmp.Compare(x.Why, y.Why))
	}) {
		e := example[r]
		fmt.Fprintf(b, "| %s | %s | %d | `%s` in %s |\n", r.Outcome, describe(r.Why), count[r], e.Path, e.Repo)
	}
}

// describe returns a reason with the title of its code.
func describe(why string) string {
	if code := lookleap.Code(why); code.Known() {
		return fmt.Sprintf("`%s`: %s", why, code.Title())
	}
	return why
}
