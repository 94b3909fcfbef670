package dvs

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Codes of trust roots and skill URLs. Of these and the others below, those on which no program
// decides are not exported: they are for findings, prompts and logs.
const (
	CodeOutsideTrustRoot lookleap.Code = "outside-trust-root"
	codeQueryInSkillURL  lookleap.Code = "query-in-skill-url"
	codeFragmentDropped  lookleap.Code = "fragment-dropped"
	CodeNotSkillURL      lookleap.Code = "not-skill-url"
	codeInvalidRoot      lookleap.Code = "invalid-trust-root"
	codeRootNoSlash      lookleap.Code = "trust-root-no-slash"
	codeRootMapped       lookleap.Code = "trust-root-mapped"
	CodeUGCBareRoot      lookleap.Code = "ugc-bare-root"
	codeUGCRootTooShort  lookleap.Code = "ugc-root-too-short"
	codeReservedSegment  lookleap.Code = "reserved-segment"
	codePublicSuffix     lookleap.Code = "public-suffix-host"
	codeNeverTrusted     lookleap.Code = "never-trusted-host"
	CodeNotContentRoute  lookleap.Code = "not-content-route"
	codeUntrustedRef     lookleap.Code = "untrusted-ref"
	CodeCommitRef        lookleap.Code = "commit-ref"
	CodeNeedsRoot        lookleap.Code = "needs-root"
	CodeNotRegistered    lookleap.Code = "root-not-registered"
	codeSelfDeclared     lookleap.Code = "self-declared-root"
	CodeBlockedRoot      lookleap.Code = "blocked-root"
	CodeRevoked          lookleap.Code = "revoked"
	codePlatformRelaxed  lookleap.Code = "platform-relaxed"
	codeBadPlatform      lookleap.Code = "bad-platform"
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
	codeDataOutside      lookleap.Code = "data-outside-skill"
	codeBadScheme        lookleap.Code = "bad-scheme"
	CodeNotBundled       lookleap.Code = "not-bundled"
	CodeNoRunner         lookleap.Code = "no-runner"
	codeCompositionCycle lookleap.Code = "composition-cycle"
	codeCompositionDepth lookleap.Code = "composition-depth"
	codeCompositionTotal lookleap.Code = "composition-total"
	CodeCrossing         lookleap.Code = "trust-root-crossing"
)

// Codes of discovery.
const (
	CodeNoOriginDiscovery lookleap.Code = "no-origin-discovery"
	CodeBadIndex          lookleap.Code = "bad-index"
	codeBadIndexEntry     lookleap.Code = "bad-index-entry"
	codeIndexTruncated    lookleap.Code = "index-truncated"
	CodeIndexMismatch     lookleap.Code = "index-mismatch"
	codeConflictingPath   lookleap.Code = "conflicting-path"
	codeEntryOutside      lookleap.Code = "entry-outside-root"
	CodeDuplicateEntry    lookleap.Code = "duplicate-entry"
	CodeUnknownSchema     lookleap.Code = "unknown-schema"
	codeUnknownType       lookleap.Code = "unknown-type"
	codeBadSitemap        lookleap.Code = "bad-sitemap"
	codeSitemapLimit      lookleap.Code = "sitemap-limit"
	codeSitemapNested     lookleap.Code = "sitemap-nested"
)

// Codes of the file SKILL.md and of its directory.
const (
	codeNoFrontmatter  lookleap.Code = "no-frontmatter"
	codeUnterminated   lookleap.Code = "unterminated-frontmatter"
	CodeBadFrontmatter lookleap.Code = "bad-frontmatter"
	codeNameTooLong    lookleap.Code = "name-too-long"
	codeNameHyphen     lookleap.Code = "name-hyphen"
	CodeNameDirectory  lookleap.Code = "name-directory"
	CodeBadDescription lookleap.Code = "bad-description"
	codeDescTooLong    lookleap.Code = "description-too-long"
	codeBadField       lookleap.Code = "bad-field"
	codeUnknownField   lookleap.Code = "unknown-field"
	codeEmptyBody      lookleap.Code = "empty-body"
	codeUnsafeChars    lookleap.Code = "unsafe-characters"
	codeHiddenText     lookleap.Code = "hidden-text"
	CodeMissingSkillMD lookleap.Code = "missing-skill-md"
	codeResourceRoot   lookleap.Code = "resource-outside-root"
	codeNotWellKnownAt lookleap.Code = "not-well-known-path"
	CodeUnsafeName     lookleap.Code = "unsafe-file-name"
	CodeNameClash      lookleap.Code = "name-clash"
	CodeLink           lookleap.Code = "link"
	CodeNotLocked      lookleap.Code = "not-locked"
	CodeLockMissing    lookleap.Code = "lock-missing-file"
	CodeBadLock        lookleap.Code = "bad-lockfile"
	CodeBadArchive     lookleap.Code = "bad-archive"
	codeNotPublished   lookleap.Code = "not-published"
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
	codeBadFeed       lookleap.Code = "bad-feed"
	codeFeedUnusable  lookleap.Code = "feed-unusable"
	codeFeedBackwards lookleap.Code = "feed-backwards"
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

func badURL(input string, err error) *lookleap.Error {
	e := fetch.URLError(input, "", err)
	if e.Code == domain.CodeQuery {
		e.Code = codeQueryInSkillURL
	}
	return e
}

func badJSON(code lookleap.Code, subject string, err error) *lookleap.Error {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Err: err}
	}
	return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Message: e.Message, Fix: e.Fix,
		Position: lookleap.Position(e.Place())}
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

// nameOf returns the name of a constant, and the first name for a number without one.
func nameOf[T ~uint8](names []string, value T) string {
	if int(value) < len(names) {
		return names[value]
	}
	return names[0]
}

// unmarshalName sets a constant by its name; any other text is an error.
func unmarshalName[T ~uint8](into *T, names []string, text []byte, what string) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return refuse(lookleap.CodeUsage, shorten(string(text)), what+" is unknown", "use one of "+strings.Join(names, ", "))
	}
	*into = T(i)
	return nil
}

// refuse reports a verdict and returns it as an error.
func (l *Loader) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: cause}
}

// refuseConsent returns an error with a verdict that has the missing consent as its last check.
func (l *Loader) refuseConsent(ctx context.Context, v *lookleap.Verdict, err error) error {
	if errors.Is(err, lookleap.ErrConsentPending) {
		return err
	}
	return l.refuseBecause(ctx, v, err, lookleap.CodeOf(err).Title())
}

// refuseTrust returns an error with a verdict that has what the trust store, a policy or a feed
// said as its last check.
func (l *Loader) refuseTrust(ctx context.Context, v *lookleap.Verdict, err error) error {
	return l.refuseBecause(ctx, v, err, sentence(err))
}

// refuseBecause returns an error with a copy of a verdict that has a failed check at its end.
func (l *Loader) refuseBecause(ctx context.Context, v *lookleap.Verdict, err error, summary string) error {
	refused := *v
	refused.OK = false
	refused.Expires = time.Time{}
	refused.Code = lookleap.CodeOf(err)
	refused.Summary = summary
	refused.Checks = append(slices.Clone(v.Checks),
		lookleap.Check{Requirement: "DVS-5.2-08", Code: refused.Code, Status: lookleap.Failed, Message: summary})
	return l.refuse(ctx, &refused, err)
}

// refuseTarget returns an error about a file or another thing that a skill refers to.
func (l *Loader) refuseTarget(ctx context.Context, subject string, err error) error {
	v := l.targetVerdict(subject)
	v.Code, v.Summary = lookleap.CodeOf(err), sentence(err)
	v.Checks = append(v.Checks, lookleap.Check{Requirement: "DVS-5.1-01", Code: v.Code, Status: lookleap.Failed, Message: v.Summary})
	return l.refuse(ctx, v, err)
}

func (l *Loader) targetVerdict(subject string) *lookleap.Verdict {
	return &lookleap.Verdict{Document: Draft, Subject: domain.Redact(subject), Code: lookleap.CodeOK, CheckedAt: l.host.Time()}
}

// wordSet is the set of the words of a list. The set is made when it is used for the first time, so
// that a program which only imports the package does not pay for it.
type wordSet struct {
	list string
	made sync.Once
	set  map[string]bool
}

func (s *wordSet) has(word string) bool {
	s.made.Do(func() {
		s.set = map[string]bool{}
		for w := range strings.FieldsSeq(s.list) {
			s.set[w] = true
		}
	})
	return s.set[word]
}

// pattern returns a regular expression, which is compiled when it is used for the first time.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
