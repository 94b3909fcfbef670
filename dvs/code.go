package dvs

import "github.com/lookleap/lookleap"

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
)

// Codes of trust that is kept.
const (
	CodeTrustStore    lookleap.Code = "trust-store"
	CodeTrustConflict lookleap.Code = "trust-conflict"
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
