package lookleap

// Codes of Domain-Verified Skills: trust roots and skill URLs.
const (
	CodeQueryInSkillURL Code = "query-in-skill-url"
	CodeFragmentDropped Code = "fragment-dropped"
	CodeNotSkillURL     Code = "not-skill-url"
	CodeInvalidRoot     Code = "invalid-trust-root"
	CodeRootNoSlash     Code = "trust-root-no-slash"
	CodeRootMapped      Code = "trust-root-mapped"
	CodeUGCBareRoot     Code = "ugc-bare-root"
	CodeUGCRootTooShort Code = "ugc-root-too-short"
	CodeReservedSegment Code = "reserved-segment"
	CodePublicSuffix    Code = "public-suffix-host"
	CodeNeverTrusted    Code = "never-trusted-host"
	CodeNotContentRoute Code = "not-content-route"
	CodeUntrustedRef    Code = "untrusted-ref"
	CodeCommitRef       Code = "commit-ref"
	CodeNeedsRoot       Code = "needs-root"
	CodeNotRegistered   Code = "root-not-registered"
	CodeSelfDeclared    Code = "self-declared-root"
	CodeBlockedRoot     Code = "blocked-root"
	CodeRevoked         Code = "revoked"
	CodePlatformRelaxed Code = "platform-relaxed"
	CodeBadPlatform     Code = "bad-platform"
)

// Codes of loading: what became of a skill on its way.
const (
	CodeRedirectOutside  Code = "redirect-outside-root"
	CodeSkillNotFound    Code = "skill-not-found"
	CodeSkillForbidden   Code = "skill-forbidden"
	CodeBlockedByPolicy  Code = "blocked-by-policy"
	CodeDNSSECInsecure   Code = "dnssec-insecure"
	CodeDigestMismatch   Code = "digest-mismatch"
	CodeChanged          Code = "changed-since-registration"
	CodeNotActivated     Code = "not-activated"
	CodeNeedsConsent     Code = "needs-consent"
	CodeConsentStale     Code = "consent-stale"
	CodeScriptOutside    Code = "script-outside-skill"
	CodeDataOutside      Code = "data-outside-skill"
	CodeBadScheme        Code = "bad-scheme"
	CodeNotBundled       Code = "not-bundled"
	CodeNoRunner         Code = "no-runner"
	CodeCompositionCycle Code = "composition-cycle"
	CodeCompositionDepth Code = "composition-depth"
	CodeCompositionTotal Code = "composition-total"
	CodeCrossing         Code = "trust-root-crossing"
)

// Codes of discovery.
const (
	CodeNoOriginDiscovery Code = "no-origin-discovery"
	CodeBadIndex          Code = "bad-index"
	CodeBadIndexEntry     Code = "bad-index-entry"
	CodeIndexTruncated    Code = "index-truncated"
	CodeIndexMismatch     Code = "index-mismatch"
	CodeConflictingPath   Code = "conflicting-path"
	CodeEntryOutside      Code = "entry-outside-root"
	CodeDuplicateEntry    Code = "duplicate-entry"
	CodeUnknownSchema     Code = "unknown-schema"
	CodeUnknownType       Code = "unknown-type"
	CodeBadSitemap        Code = "bad-sitemap"
	CodeSitemapLimit      Code = "sitemap-limit"
	CodeSitemapNested     Code = "sitemap-nested"
)

// Codes of the file SKILL.md and of its directory.
const (
	CodeNoFrontmatter  Code = "no-frontmatter"
	CodeUnterminated   Code = "unterminated-frontmatter"
	CodeBadFrontmatter Code = "bad-frontmatter"
	CodeNameTooLong    Code = "name-too-long"
	CodeNameHyphen     Code = "name-hyphen"
	CodeNameDirectory  Code = "name-directory"
	CodeBadDescription Code = "bad-description"
	CodeDescTooLong    Code = "description-too-long"
	CodeBadField       Code = "bad-field"
	CodeUnknownField   Code = "unknown-field"
	CodeEmptyBody      Code = "empty-body"
	CodeUnsafeChars    Code = "unsafe-characters"
	CodeHiddenText     Code = "hidden-text"
	CodeMissingSkillMD Code = "missing-skill-md"
	CodeResourceRoot   Code = "resource-outside-root"
	CodeNotWellKnownAt Code = "not-well-known-path"
	CodeUnsafeName     Code = "unsafe-file-name"
	CodeNameClash      Code = "name-clash"
	CodeLink           Code = "link"
	CodeNotLocked      Code = "not-locked"
	CodeLockMissing    Code = "lock-missing-file"
	CodeBadLock        Code = "bad-lockfile"
)

var dvsCodes = map[Code]string{
	CodeQueryInSkillURL: "the skill URL has a query",
	CodeFragmentDropped: "the fragment is no part of the skill's identity and was dropped",
	CodeNotSkillURL:     "the URL names a file that is no SKILL.md",
	CodeInvalidRoot:     "the trust root has a part that no trust root may have",
	CodeRootNoSlash:     "the trust root does not end with a slash",
	CodeRootMapped:      "the trust root is kept in the form of the platform's pages",
	CodeUGCBareRoot:     "a platform with many publishers cannot be a trust root",
	CodeUGCRootTooShort: "the trust root does not reach down to one publisher",
	CodeReservedSegment: "the path begins with a word of the platform and not with a publisher",
	CodePublicSuffix:    "the host is a public suffix below which others publish",
	CodeNeverTrusted:    "no path on this host proves who published",
	CodeNotContentRoute: "the path is not a route to the repository's own content",
	CodeUntrustedRef:    "the revision is one that strangers can create",
	CodeCommitRef:       "the revision reads as a commit, which may come from a stranger's fork",
	CodeNeedsRoot:       "nobody has confirmed a trust root for this host",
	CodeNotRegistered:   "the trust root is the default and was not registered",
	CodeSelfDeclared:    "the skill names a trust root of its own",
	CodeBlockedRoot:     "the trust root is blocked",
	CodeRevoked:         "trust in this root or domain was revoked",
	CodePlatformRelaxed: "a built-in platform cannot be relaxed",
	CodeBadPlatform:     "the platform's entry is incomplete or contradicts itself",

	CodeRedirectOutside:  "the redirect leaves the trust root",
	CodeSkillNotFound:    "there is no SKILL.md at the URL",
	CodeSkillForbidden:   "the server does not show the skill",
	CodeBlockedByPolicy:  "the site's policy for automated clients forbids the request",
	CodeDNSSECInsecure:   "the host's DNS is not signed, and signatures are demanded",
	CodeDigestMismatch:   "the bytes have another digest than the one promised",
	CodeChanged:          "the file changed since it was registered",
	CodeNotActivated:     "the skill was not activated, or no longer is",
	CodeNeedsConsent:     "the access needs the user's consent",
	CodeConsentStale:     "the consent was for other bytes",
	CodeScriptOutside:    "the script lies outside the skill's directory",
	CodeDataOutside:      "the data file lies outside the skill's directory",
	CodeBadScheme:        "the reference has a scheme that nothing is loaded from",
	CodeNotBundled:       "the reference names no file of the skill",
	CodeNoRunner:         "there is nothing that could run the script",
	CodeCompositionCycle: "the skill refers back to one that is already loading it",
	CodeCompositionDepth: "skills refer to skills more deeply than allowed",
	CodeCompositionTotal: "more skills were loaded in this session than allowed",
	CodeCrossing:         "a skill uses another one under another trust root",

	CodeNoOriginDiscovery: "the origin's files speak for the platform and not for this trust root",
	CodeBadIndex:          "the index is not of a form that is read here",
	CodeBadIndexEntry:     "the index entry is incomplete or of the wrong type",
	CodeIndexTruncated:    "the index has more entries than allowed",
	CodeIndexMismatch:     "the index and the skill say different things",
	CodeConflictingPath:   "the entry names two locations",
	CodeEntryOutside:      "the entry lies outside the origin or the trust root",
	CodeDuplicateEntry:    "the location stands twice",
	CodeUnknownSchema:     "the index names a schema that is not known here",
	CodeUnknownType:       "the entry is of a kind that is not read here",
	CodeBadSitemap:        "the sitemap is not well-formed",
	CodeSitemapLimit:      "the sitemap is larger than a sitemap may be",
	CodeSitemapNested:     "the sitemap index is deeper or leads elsewhere than allowed",

	CodeNoFrontmatter:  "the file does not begin with a metadata block between --- lines",
	CodeUnterminated:   "the metadata block has no closing --- line",
	CodeBadFrontmatter: "the metadata block is not the plain YAML that all readers read alike",
	CodeNameTooLong:    "the name has more characters than a name may have",
	CodeNameHyphen:     "a hyphen of the name stands where other readers forbid it",
	CodeNameDirectory:  "the skill's name and its directory differ",
	CodeBadDescription: "the description is missing, empty or no plain text",
	CodeDescTooLong:    "the description has more characters than a description may have",
	CodeBadField:       "a field of the metadata has a value that it may not have",
	CodeUnknownField:   "the metadata has a field that the format does not define",
	CodeEmptyBody:      "the file has no instructions after the metadata",
	CodeUnsafeChars:    "the text has characters that a reader cannot see",
	CodeHiddenText:     "the text has a part that a reader of the page cannot see",
	CodeMissingSkillMD: "the directory has no file named SKILL.md",
	CodeResourceRoot:   "a file that the skill refers to lies outside the trust root",
	CodeNotWellKnownAt: "the skill is published outside /.well-known/skills/",
	CodeUnsafeName:     "the file's name is not safe on every system",
	CodeNameClash:      "two names would be one file on some systems",
	CodeLink:           "the file is a link, and links are not followed",
	CodeNotLocked:      "the lockfile does not have the skill or file",
	CodeLockMissing:    "the lockfile names a file that is not there",
	CodeBadLock:        "the lockfile is not of the form that is read here",
}
