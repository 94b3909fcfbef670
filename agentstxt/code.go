package agentstxt

import "github.com/lookleap/lookleap"

// Codes of AGENTS.TXT. A page in the place of the file is [CodeSoft404], a
// server that does not show it [CodeForbidden], two directives that contradict
// each other are a [CodeConflict].
const (
	CodeHashMissing   lookleap.Code = "hash-missing"
	CodeHashMismatch  lookleap.Code = "hash-mismatch"
	CodeBadDirective  lookleap.Code = "bad-directive"
	CodeForeignFormat lookleap.Code = "foreign-format"
	CodeAccessDenied  lookleap.Code = "access-denied"
	CodeNoPolicy      lookleap.Code = "no-policy"

	CodeRestricted lookleap.Code = "restricted"
	CodeAllowed    lookleap.Code = "allowed"
	CodeDisallowed lookleap.Code = "disallowed"
	CodeUnlisted   lookleap.Code = "unlisted"
	CodePolicyFile lookleap.Code = "policy-file"
	CodeBadLimit   lookleap.Code = "bad-limit"

	CodeUnknownParam    lookleap.Code = "unknown-param"
	CodeUnknownVersion  lookleap.Code = "unknown-version"
	CodeDuplicate       lookleap.Code = "duplicate"
	CodeStatus          lookleap.Code = "status"
	CodeWildcardLiteral lookleap.Code = "wildcard-literal"
)
