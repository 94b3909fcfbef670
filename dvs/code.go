package dvs

import (
	"errors"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Codes of trust roots and skill URLs.
const (
	CodeOutsideTrustRoot lookleap.Code = "outside-trust-root"
	CodeQueryInSkillURL  lookleap.Code = "query-in-skill-url"
	CodeFragmentDropped  lookleap.Code = "fragment-dropped"
	CodeNotSkillURL      lookleap.Code = "not-skill-url"
	CodeInvalidRoot      lookleap.Code = "invalid-trust-root"
	CodeRootNoSlash      lookleap.Code = "trust-root-no-slash"
	CodeRootMapped       lookleap.Code = "trust-root-mapped"
	CodeUGCBareRoot      lookleap.Code = "ugc-bare-root"
	CodeUGCRootTooShort  lookleap.Code = "ugc-root-too-short"
	CodeReservedSegment  lookleap.Code = "reserved-segment"
	CodePublicSuffix     lookleap.Code = "public-suffix-host"
	CodeNeverTrusted     lookleap.Code = "never-trusted-host"
	CodeNotContentRoute  lookleap.Code = "not-content-route"
	CodeUntrustedRef     lookleap.Code = "untrusted-ref"
	CodeCommitRef        lookleap.Code = "commit-ref"
	CodeNeedsRoot        lookleap.Code = "needs-root"
	CodeNotRegistered    lookleap.Code = "root-not-registered"
	CodeSelfDeclared     lookleap.Code = "self-declared-root"
	CodeBlockedRoot      lookleap.Code = "blocked-root"
	CodeRevoked          lookleap.Code = "revoked"
	CodePlatformRelaxed  lookleap.Code = "platform-relaxed"
	CodeBadPlatform      lookleap.Code = "bad-platform"
)

// Codes of loading: what became of a skill on its way.
const (
	CodeRedirectOutside  lookleap.Code = "redirect-outside-root"
	CodeSkillNotFound    lookleap.Code = "skill-not-found"
	CodeSkillForbidden   lookleap.Code = "skill-forbidden"
	CodeBlockedByPolicy  lookleap.Code = "blocked-by-policy"
	CodeDNSSECInsecure   lookleap.Code = "dnssec-insecure"
	CodeDigestMismatch   lookleap.Code = "digest-mismatch"
	CodeChanged          lookleap.Code = "changed-since-registration"
	CodeNotActivated     lookleap.Code = "not-activated"
	CodeConsentStale     lookleap.Code = "consent-stale"
	CodeScriptOutside    lookleap.Code = "script-outside-skill"
	CodeDataOutside      lookleap.Code = "data-outside-skill"
	CodeBadScheme        lookleap.Code = "bad-scheme"
	CodeNotBundled       lookleap.Code = "not-bundled"
	CodeNoRunner         lookleap.Code = "no-runner"
	CodeCompositionCycle lookleap.Code = "composition-cycle"
	CodeCompositionDepth lookleap.Code = "composition-depth"
	CodeCompositionTotal lookleap.Code = "composition-total"
	CodeCrossing         lookleap.Code = "trust-root-crossing"
)

// Codes of discovery.
const (
	CodeNoOriginDiscovery lookleap.Code = "no-origin-discovery"
	CodeBadIndex          lookleap.Code = "bad-index"
	CodeBadIndexEntry     lookleap.Code = "bad-index-entry"
	CodeIndexTruncated    lookleap.Code = "index-truncated"
	CodeIndexMismatch     lookleap.Code = "index-mismatch"
	CodeConflictingPath   lookleap.Code = "conflicting-path"
	CodeEntryOutside      lookleap.Code = "entry-outside-root"
	CodeDuplicateEntry    lookleap.Code = "duplicate-entry"
	CodeUnknownSchema     lookleap.Code = "unknown-schema"
	CodeUnknownType       lookleap.Code = "unknown-type"
	CodeBadSitemap        lookleap.Code = "bad-sitemap"
	CodeSitemapLimit      lookleap.Code = "sitemap-limit"
	CodeSitemapNested     lookleap.Code = "sitemap-nested"
)

// Codes of the file SKILL.md and of its directory.
const (
	CodeNoFrontmatter  lookleap.Code = "no-frontmatter"
	CodeUnterminated   lookleap.Code = "unterminated-frontmatter"
	CodeBadFrontmatter lookleap.Code = "bad-frontmatter"
	CodeNameTooLong    lookleap.Code = "name-too-long"
	CodeNameHyphen     lookleap.Code = "name-hyphen"
	CodeNameDirectory  lookleap.Code = "name-directory"
	CodeBadDescription lookleap.Code = "bad-description"
	CodeDescTooLong    lookleap.Code = "description-too-long"
	CodeBadField       lookleap.Code = "bad-field"
	CodeUnknownField   lookleap.Code = "unknown-field"
	CodeEmptyBody      lookleap.Code = "empty-body"
	CodeUnsafeChars    lookleap.Code = "unsafe-characters"
	CodeHiddenText     lookleap.Code = "hidden-text"
	CodeMissingSkillMD lookleap.Code = "missing-skill-md"
	CodeResourceRoot   lookleap.Code = "resource-outside-root"
	CodeNotWellKnownAt lookleap.Code = "not-well-known-path"
	CodeUnsafeName     lookleap.Code = "unsafe-file-name"
	CodeNameClash      lookleap.Code = "name-clash"
	CodeLink           lookleap.Code = "link"
	CodeNotLocked      lookleap.Code = "not-locked"
	CodeLockMissing    lookleap.Code = "lock-missing-file"
	CodeBadLock        lookleap.Code = "bad-lockfile"
	CodeBadArchive     lookleap.Code = "bad-archive"
	CodeNotPublished   lookleap.Code = "not-published"
)

// Codes of trust that is kept.
const (
	CodeTrustStore    lookleap.Code = "trust-store"
	CodeTrustNotKept  lookleap.Code = "trust-not-kept"
	CodeRefusedBefore lookleap.Code = "refused-before"
	CodeAskedRecently lookleap.Code = "asked-recently"

	CodePolicyDenied     lookleap.Code = "policy-denied"
	CodePolicyUnreadable lookleap.Code = "policy-unreadable"

	CodeWithdrawn     lookleap.Code = "withdrawn"
	CodeBadFeed       lookleap.Code = "bad-feed"
	CodeFeedUnusable  lookleap.Code = "feed-unusable"
	CodeFeedBackwards lookleap.Code = "feed-backwards"
	CodeFeedStale     lookleap.Code = "feed-stale"
)

// refuse returns an error about an input, without the secrets that a URL can have.
func refuse(code lookleap.Code, input, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: domain.Redact(input), Message: message, Fix: fix}
}

// usageError returns an error for a call that cannot work, such as one on a nil value.
func usageError(message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}

// badURL returns an error for a URL that package domain refuses.
func badURL(input string, err error) *lookleap.Error {
	e := fetch.URLError(input, "", err)
	if e.Code == domain.CodeQuery {
		e.Code = CodeQueryInSkillURL
	}
	return e
}

// badJSON returns an error for JSON that package strictjson refuses.
func badJSON(code lookleap.Code, subject string, err error) *lookleap.Error {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Err: err}
	}
	at := e.Place()
	return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Message: e.Message, Fix: e.Fix,
		Position: lookleap.Position{Line: at.Line, Column: at.Column, Offset: e.Offset, Path: at.Pointer}}
}

// jsonFault says what is wrong in a text that [strictjson.Decode] reads, and where: by names of
// members and numbers of elements.
type jsonFault struct {
	message, fix string
	at           []any
}

// in returns the fault with its place. A member that is missing has the place of its object.
func (f *jsonFault) in(data []byte, code lookleap.Code) error {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: len(data), Values: len(data)})
	if err != nil {
		return err
	}
	for _, step := range f.at {
		switch step := step.(type) {
		case string:
			if member, ok := v.Member(step); ok {
				v = member
			}
		case int:
			v = slices.Collect(v.Elements())[step]
		}
	}
	return v.Refuse(string(code), f.message, f.fix)
}

// ioError returns an error of the file system a reason code. Other errors stay as they are.
func ioError(err error) error {
	var e *lookleap.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &lookleap.Error{Code: lookleap.CodeIO, Message: "the files could not be read", Err: err}
}

// sentence returns what an error says without its subject and code, for a finding or a check that
// shows these itself.
func sentence(err error) string {
	var e *lookleap.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	if cause := coded.Cause(e.Err); cause != nil {
		text += ": " + sentence(cause)
	}
	if at := e.Position.String(); at != "" {
		text = at + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// shorten cuts untrusted input for an error message.
func shorten(text string) string { return text[:min(len(text), 100)] }

// unmarshalName sets a constant by its name; any other text is an error.
func unmarshalName[T ~uint8](into *T, names []string, text []byte, what string) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return refuse(lookleap.CodeUsage, shorten(string(text)), what+" is unknown", "use one of "+strings.Join(names, ", "))
	}
	*into = T(i)
	return nil
}
