package spec

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// modulePath is cut from the import paths on the pages.
const modulePath = "github.com/lookleap/lookleap"

// Status says whether tests show a requirement or an attack case.
type Status string

// The states of a row.
const (
	Passed   Status = "passed"   // leaf tests passed, those of each clause among them, and no test of the id failed
	Excluded Status = "excluded" // no test can show it, for the reason given
	Missing  Status = "missing"
)

// status returns the state of a row, and the tests or the reason for it.
func (s *Spec) status(row *Requirement, e *Evidence) (Status, string) {
	switch {
	case e.holds():
		if unshown := row.unshown(e.Passed); len(unshown) > 0 {
			return Missing, strings.Join(unshown, "; ")
		}
		return Passed, list(e.Passed, row.ID)
	case e != nil && len(e.Failed) > 0:
		return Missing, "fails: " + list(e.Failed, row.ID)
	case s.Excluded[row.ID] != "":
		return Excluded, s.Excluded[row.ID]
	}
	return Missing, ""
}

const intro = `# Conformance

Each requirement of the documents that this module implements is a row with an id, and so is each attack case. The pages
below show every row in our words, and the tests that show it.

* **passed**: the row lists what it expects, clause by clause, with the tests that show it. They ran and passed, and no
  other test of the id failed. The command below the row runs them alone.
* **excluded**: nothing that this module does can show it, for the reason given.
* **missing**: no test shows it yet.

The level is the key word of the document (BCP 14), or DEF where the document states something without a key word.

These pages are generated from the results of the tests (see [CONTRIBUTING.md](../CONTRIBUTING.md)). Do not edit them.

`

// Pages returns docs/conformance.md and the pages below docs/conformance, by
// their names below docs. Equal outcomes give equal pages, in whatever order the
// tests ran. The directories of nested modules are relative to the module's root.
func (s *Spec) Pages(r *Results, nested []string) map[string][]byte {
	pages := make(map[string][]byte)
	summary := bytes.NewBufferString(intro)
	summary.WriteString("| document | passed | excluded | missing |\n|---|--:|--:|--:|\n")
	total := make(map[Status]int)
	for _, page := range s.pages(r, nested) {
		name := "conformance/" + page.name + ".md"
		pages[name] = page.text.Bytes()
		for status, n := range page.count {
			total[status] += n
		}
		fmt.Fprintf(summary, "| [%s](%s) | %d | %d | %d |\n", page.title, name, page.count[Passed],
			page.count[Excluded], page.count[Missing])
	}
	fmt.Fprintf(summary, "| all | %d | %d | %d |\n", total[Passed], total[Excluded], total[Missing])
	pages["conformance.md"] = summary.Bytes()
	return pages
}

// Summary returns one line for each page.
func (s *Spec) Summary(r *Results) string {
	var b strings.Builder
	for _, page := range s.pages(r, nil) {
		fmt.Fprintf(&b, "%s: %s\n", page.title, page.counts())
	}
	return b.String()
}

// page has the rows of one register.
type page struct {
	name, title string
	text        bytes.Buffer
	count       map[Status]int
}

func (p *page) counts() string {
	return fmt.Sprintf("%d passed, %d excluded, %d missing", p.count[Passed], p.count[Excluded], p.count[Missing])
}

// entry is a row as a page shows it.
type entry struct {
	group, facts, text string
	row                Requirement // of an attack case only its id and clauses
}

// pages returns one page for each register, and one for the attack cases.
func (s *Spec) pages(r *Results, nested []string) []*page {
	evidence := r.evidence()
	var pages []*page
	for _, register := range s.Registers {
		var entries []entry
		for _, row := range register.Requirements {
			entries = append(entries, entry{heading(row.Section), row.Level + " · " + row.Party, row.Text, row})
		}
		pages = append(pages, s.page(register.Name, register.Document, entries, evidence, nested))
	}
	var entries []entry
	for _, attack := range s.Attacks {
		entries = append(entries, entry{attack.Group, "attack", attack.Title, attack.row()})
	}
	return append(pages, s.page("attacks", "Attack cases", entries, evidence, nested))
}

// heading returns the heading of a section. The registers count the abstract as section 0.
func heading(section string) string {
	switch {
	case section == "0":
		return "Abstract"
	case strings.Trim(section, "0123456789.") != "":
		return "Appendix " + section
	}
	return "Section " + section
}

// page writes the entries in their groups, which keep the order of their first entries.
func (s *Spec) page(name, title string, entries []entry, evidence map[string]*Evidence, nested []string) *page {
	p := &page{name: name, title: title, count: make(map[Status]int)}
	var body bytes.Buffer
	var groups []string
	for _, e := range entries {
		if !slices.Contains(groups, e.group) {
			groups = append(groups, e.group)
		}
	}
	for _, group := range groups {
		fmt.Fprintf(&body, "\n## %s\n", group)
		for _, e := range entries {
			if e.group != group {
				continue
			}
			id, shown := e.row.ID, evidence[e.row.ID]
			status, behind := s.status(&e.row, shown)
			p.count[status]++
			fmt.Fprintf(&body, "\n### %s\n\n%s · %s\n\n%s\n", id, e.facts, status, escape(e.text))
			if len(e.row.Clauses) > 0 {
				body.WriteByte('\n')
			}
			for _, c := range e.row.Clauses {
				fmt.Fprintf(&body, "* %s. %s (%s)\n", c.Name, escape(c.Text), code(strings.Join(c.Leaves, " ")))
			}
			if status == Passed {
				body.WriteByte('\n')
				for _, c := range commands(id, shown.Passed) {
					fmt.Fprintf(&body, "    %s\n", c.shell(nested))
				}
			}
			if behind != "" {
				fmt.Fprintf(&body, "\n%s\n", behind)
			}
		}
	}
	fmt.Fprintf(&p.text, "# %s\n\n%s. [How to read this page](../conformance.md).\n", title, p.counts())
	_, _ = body.WriteTo(&p.text)
	return p
}

// escape keeps Markdown from reading a text as markup.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "&", `\&`).Replace(text)
}

// How many tests of a row a page names before it only counts the rest.
const (
	maxFunctions = 3
	maxLeaves    = 4
)

// list names tests by package and function, and the leaves below the id. The
// tests are sorted, so that those of one function follow one another.
func list(tests []Test, id string) string {
	var functions []string
	for len(tests) > 0 {
		function := functionOf(tests[0])
		var leaves []string
		for len(tests) > 0 && functionOf(tests[0]) == function {
			leaves = append(leaves, below(tests[0].Name, id))
			tests = tests[1:]
		}
		leaves = slices.DeleteFunc(leaves, func(leaf string) bool { return leaf == "" })
		slices.Sort(leaves) // tests that iterate over a map run in another order each time
		if len(leaves) > 0 {
			function += ": " + short(leaves, maxLeaves, ", ")
		}
		functions = append(functions, function)
	}
	return short(functions, maxFunctions, "; ")
}

// short joins the first few items. It does not count the others: a page must not change with
// every test that is added.
func short(items []string, most int, separator string) string {
	if len(items) > most {
		items = append(items[:most:most], "more")
	}
	return strings.Join(items, separator)
}

// functionOf returns package and test function as the pages show them.
func functionOf(t Test) string {
	pkg, below := strings.CutPrefix(t.Package, modulePath+"/")
	if !below {
		pkg = path.Base(pkg)
	}
	name, _, _ := strings.Cut(t.Name, "/")
	return code(pkg + "." + name)
}

// below returns the part of a test's name after an id.
func below(name, id string) string {
	for i, step := range steps(name) {
		if step == id {
			rest := strings.SplitN(name, "/", i+2)
			if len(rest) == i+2 {
				return code(rest[i+1])
			}
			break
		}
	}
	return ""
}

// code marks a name as code.
func code(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
