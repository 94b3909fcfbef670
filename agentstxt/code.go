package agentstxt

import (
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// Codes of AGENTS.TXT. The package also uses [lookleap.CodeSoft404] for a web page
// instead of the file, [lookleap.CodeForbidden] for status 403, and
// [lookleap.CodeConflict] for directives that contradict each other.
const (
	CodeHashMissing   lookleap.Code = "hash-missing"
	CodeHashMismatch  lookleap.Code = "hash-mismatch"
	codeBadDirective  lookleap.Code = "bad-directive"
	CodeForeignFormat lookleap.Code = "foreign-format"
	CodeAccessDenied  lookleap.Code = "access-denied"
	CodeNoPolicy      lookleap.Code = "no-policy"

	CodeRestricted        lookleap.Code = "restricted"
	CodeAllowed           lookleap.Code = "allowed"
	CodeDisallowed        lookleap.Code = "disallowed"
	CodeUnlisted          lookleap.Code = "unlisted"
	codePolicyFile        lookleap.Code = "policy-file"
	CodeRobotsDisallowed  lookleap.Code = "robots-disallowed"
	CodeForeignDisallowed lookleap.Code = "foreign-disallowed"
	codeUsage             lookleap.Code = "content-usage"
	codeBadLimit          lookleap.Code = "bad-limit"

	codeUnknownParam    lookleap.Code = "unknown-param"
	codeUnknownVersion  lookleap.Code = "unknown-version"
	CodeDuplicate       lookleap.Code = "duplicate"
	CodeStatus          lookleap.Code = "status"
	codeWildcardLiteral lookleap.Code = "wildcard-literal"
)

// The classes of the errors that restrict an origin, for errors.Is. The errors are
// [*lookleap.Error] values with a code of their own.
var (
	// ErrMalformed is the class of errors about what a file says. No earlier copy
	// replaces a malformed file (section 5).
	ErrMalformed = coded.New(string(CodeRestricted), "the policy is malformed")
	// ErrUnavailable is the class of errors about a policy that could not be read.
	// errors.As finds a [*lookleap.ResponseError] below it if there was a response.
	ErrUnavailable = coded.New(string(CodeRestricted), "the policy is unavailable")
)

// Causes of a wrong hash line, as [HashMismatch] reports them.
const (
	HintTrailingNewline = "trailing-newline" // a line end after the last directive was hashed too
	HintCRLF            = "crlf"             // the lines were joined by CRLF
	HintBlankLines      = "blank-lines"      // blank lines were hashed too
	HintComments        = "comments"         // comments were hashed too
	HintEmpty           = "empty"            // nothing was hashed
)

// HashMismatch is the detail of an error with [CodeHashMismatch], for errors.As.
type HashMismatch struct {
	Hint     string // the probable cause, one of the Hint constants; "" if it is unknown
	Expected string // the digest in the hash line, 64 hex digits
	Computed string // the digest of the directives, 64 hex digits
}

// Error returns the digest that the file declares.
func (e *HashMismatch) Error() string { return "the file declares " + zero.Or(e).Expected }

// Unwrap returns [ErrMalformed].
func (e *HashMismatch) Unwrap() error { return ErrMalformed }

// malformed returns an error of class ErrMalformed. The position is zero if the
// error is about the whole file.
func malformed(code lookleap.Code, at lookleap.Position, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: "agents.txt", Position: at, Message: message, Fix: fix, Err: ErrMalformed}
}

// unavailable returns an error of class ErrUnavailable. The cause may be nil.
func unavailable(code lookleap.Code, message string, cause error) *lookleap.Error {
	if cause == nil || !errors.Is(cause, ErrUnavailable) {
		cause = coded.Classify(ErrUnavailable, cause)
	}
	return &lookleap.Error{Code: code, Subject: "agents.txt", Message: message, Err: cause}
}

// usageError returns an error for a call that cannot work.
func usageError(message, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}

// maxQuoted is how many characters of a remote text a message quotes.
const maxQuoted = 40
