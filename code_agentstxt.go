package lookleap

// Codes of AGENTS.TXT. A page in the place of the file is [CodeSoft404], a
// server that does not show it [CodeForbidden], two directives that contradict
// each other are a [CodeConflict].
const (
	CodeHashMissing   Code = "hash-missing"
	CodeHashMismatch  Code = "hash-mismatch"
	CodeBadDirective  Code = "bad-directive"
	CodeForeignFormat Code = "foreign-format"
	CodeAccessDenied  Code = "access-denied"
	CodeNoPolicy      Code = "no-policy"

	CodeRestricted Code = "restricted"
	CodeAllowed    Code = "allowed"
	CodeDisallowed Code = "disallowed"
	CodeUnlisted   Code = "unlisted"
	CodePolicyFile Code = "policy-file"
	CodeBadLimit   Code = "bad-limit"

	CodeUnknownParam    Code = "unknown-param"
	CodeUnknownVersion  Code = "unknown-version"
	CodeDuplicate       Code = "duplicate"
	CodeStatus          Code = "status"
	CodeWildcardLiteral Code = "wildcard-literal"
)

var agentstxtCodes = map[Code]string{
	CodeHashMissing:   "the first significant line is no hash line",
	CodeHashMismatch:  "the hash line does not belong to these directives",
	CodeBadDirective:  "a line is neither comment, blank nor directive",
	CodeForeignFormat: "the file is of another format with the same name",
	CodeAccessDenied:  "the server shows the policy to nobody without credentials",
	CodeNoPolicy:      "the origin publishes no policy",

	CodeRestricted: "the whole origin is restricted, since its policy cannot be trusted",
	CodeAllowed:    "a directive allows the path",
	CodeDisallowed: "a directive disallows the path",
	CodeUnlisted:   "no directive speaks of the path",
	CodePolicyFile: "the policy itself may always be read",
	CodeBadLimit:   "the directive's limit cannot be honoured as it is written",

	CodeUnknownParam:    "the directive has a parameter of unknown meaning",
	CodeUnknownVersion:  "the file names a version of the format that is not known",
	CodeDuplicate:       "two directives say the same about one path, and the stricter one counts",
	CodeStatus:          "the server's status counts as no policy",
	CodeWildcardLiteral: "a wildcard in the path of an ALLOW line is read literally",
}
