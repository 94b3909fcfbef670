package lookleap

import (
	"iter"
	"maps"
	"slices"
)

// Code is a reason code: a short kebab-case word that says why a check ended as
// it did. Codes are stable within a draft revision and shared by all packages,
// so that a host can branch, count and translate them. [Codes] lists the table.
type Code string

// Title is the one sentence of the table, in our own words and without a final
// stop. An unknown code titles as itself.
func (c Code) Title() string {
	if title, ok := titles[c]; ok {
		return title
	}
	return string(c)
}

// Known reports whether the code is in the shared table.
func (c Code) Known() bool {
	_, ok := titles[c]
	return ok
}

// Codes yields the shared table in alphabetical order: code and title.
func Codes() iter.Seq2[Code, string] {
	return func(yield func(Code, string) bool) {
		for _, c := range slices.Sorted(maps.Keys(titles)) {
			if !yield(c, titles[c]) {
				return
			}
		}
	}
}

// titles joins the tables of the code files, one file per document. Two tables
// may not hold the same code: a code that two documents use is shared.
var titles = merge(sharedCodes, agentstxtCodes, wellknownCodes, dvsCodes, anmlCodes, trustCodes, aiuriCodes)

func merge(tables ...map[Code]string) map[Code]string {
	all := make(map[Code]string)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}
