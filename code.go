package lookleap

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
)

// Code is a reason code: a short kebab-case word that says why a check ended as
// it did. Codes are stable within a draft revision and shared by all packages,
// so that a host can branch, count and translate them. [Codes] lists the table,
// and [Code.Title] says what one of them means.
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
var titles = merge(sharedCodes, syntaxCodes, agentstxtCodes, wellknownCodes, dvsCodes, anmlCodes, trustCodes, agentCodes, actionCodes, aiuriCodes)

func merge(tables ...map[Code]string) map[Code]string {
	all := make(map[Code]string)
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// CodeOf finds the reason code of an error: that of the first error in its tree
// which knows one, that of a sentinel of this package, [CodeOK] for nil, and
// [CodeInternal] for any other error.
func CodeOf(err error) (code Code) {
	if err == nil {
		return CodeOK
	}
	defer func() {
		if recover() != nil { // a method of the error
			code = CodeInternal
		}
	}()
	var coded interface{ ReasonCode() Code }
	if errors.As(err, &coded) {
		return cmp.Or(coded.ReasonCode(), CodeInternal)
	}
	var word interface{ ReasonCode() string } // of a package below this one
	if errors.As(err, &word) && Code(word.ReasonCode()).Known() {
		return Code(word.ReasonCode())
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.code
		}
	}
	return CodeInternal
}

// sentinels are the errors that say all by being themselves.
var sentinels = []struct {
	err  error
	code Code
}{
	{ErrBogus, CodeDNSSECBogus},
	{ErrDenied, CodeDenied},
	{ErrConsentPending, CodeConsentPending},
	{ErrConsentRefused, CodeConsentRefused},
	{ErrPlanInvalid, CodePlanInvalid},
	{ErrAlreadyDone, CodePlanDone},
	{ErrSealBroken, CodeSealBroken},
	{ErrCacheForged, CodeCacheForged},
	{ErrClosed, CodeClosed},
	{context.DeadlineExceeded, CodeTimeout},
	{context.Canceled, CodeCancelled},
}
