package lookleap

import (
	"errors"
	"io"

	"github.com/lookleap/lookleap/internal/domain"
)

// PublicSuffixDate is the day of the built-in Public Suffix List. A test fails when it is more than
// a year old.
const PublicSuffixDate = domain.SuffixDate

// PublicSuffixList knows below which domains different parties have names, such as co.uk and
// github.io. It has the methods of the interface of the same name in net/http/cookiejar. It has to
// be safe for concurrent use.
//
// A list that also has a method ICANN(suffix string) bool tells which suffixes a domain registry
// runs; without it, all of them count as names that a company lends.
type PublicSuffixList interface {
	// PublicSuffix returns the public suffix that a domain ends with, or "" if the list does not
	// have one. The domain is in lower case, with A-labels.
	PublicSuffix(domain string) string
	// String describes the list, for example by its version.
	String() string
}

// UsePublicSuffixList adds a list to the built-in one, for the whole process. A program
// that outlives its version of this module can add newer names this way. The list replaces that of
// an earlier call; nil removes it.
//
// Every decision about registrable domains uses it: trust roots and platforms of dvs, manifests of
// anmltrust, parties of anml/agent, and the part of a host that prompts mark. If both lists have a
// suffix for a host, the longer one counts, so a list can separate parties but never join them. A
// list that panics is ignored.
//
// Call it before anything else: what was decided before stays as it was decided.
func UsePublicSuffixList(list PublicSuffixList) {
	domain.UseSuffixes(list)
}

// PublicSuffixVersion describes the lists in use: the date of the built-in one, and what a list
// from [UsePublicSuffixList] says about itself.
func PublicSuffixVersion() string { return domain.SuffixVersion() }

// ReadPublicSuffixList reads a list in the format of publicsuffix.org, such as the file
// public_suffix_list.dat. It returns an [*Error] with [CodeBadSuffixList] for another file, and
// for a list that is incomplete. The file may be up to 8 MiB long.
func ReadPublicSuffixList(r io.Reader) (PublicSuffixList, error) {
	if r == nil {
		return nil, usageError("there is no Public Suffix List")
	}
	list, err := domain.ParseSuffixList(r)
	switch {
	case errors.Is(err, domain.ErrSuffixList):
		return nil, &Error{Code: CodeBadSuffixList, Message: "the Public Suffix List cannot be used",
			Fix: "use the file public_suffix_list.dat as it is published", Err: err}
	case err != nil:
		return nil, &Error{Code: CodeIO, Message: "the Public Suffix List could not be read", Err: err}
	}
	return list, nil
}
