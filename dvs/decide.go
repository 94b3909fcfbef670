package dvs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Claim is a skill's URL with the trust root and the options by which it is judged. It is plain
// data, so a verdict can be judged again.
type Claim struct {
	URL    string     `json:"url"`            // as it was given
	Root   string     `json:"root,omitempty"` // trust root; "": there is none
	Source RootSource `json:"source"`         // who declared it

	Blocked bool `json:"blocked,omitempty"`
	Revoked bool `json:"revoked,omitempty"`

	Profile       Profile `json:"profile"`
	Strict        bool    `json:"strict,omitempty"`        // only registered roots and text/markdown
	RequireSecure bool    `json:"requireSecure,omitempty"` // every contacted name has to be signed
	Pin           Pin     `json:"pin,omitzero"`
	// Tip is set for a skill of a [Repository]. It shows that the commit of the URL is the owner's.
	Tip Tip `json:"tip,omitzero"`
	// Listed is the digest that an index states for the file. The file has to have it. It is the word
	// of the publisher and not a Pin: it replaces no question.
	Listed Digest `json:"listed,omitzero"`

	// Artifact is set if the URL does not tell what it denotes; see [ParseArtifactURL].
	Artifact Artifact `json:"artifact,omitzero"`
}

// Pin is what the caller, a policy or a lockfile already knows about the content. A pinned skill is
// judged by its pin: its change is refused, and the user is not asked about it. A URL with a commit
// is accepted only with a Pin (DVS-3.1-42 to DVS-3.1-44).
type Pin struct {
	Commit string `json:"commit,omitempty"` // whole commit id of the URL's revision
	Digest Digest `json:"digest,omitzero"`  // of SKILL.md, or of the archive
}

// Tip is a branch or tag and its commit, by the list of references of the repository itself. A URL
// with this commit is not one of a stranger's fork (DVS-3.1-42 to DVS-3.1-44). It pins nothing: the
// user is asked about a skill that changed.
type Tip struct {
	Ref    string `json:"ref"`    // refs/heads/main
	Commit string `json:"commit"` // whole
}

// Evidence is what was found out about a claim: the HTTP exchange, the DNS and the file. The zero
// Evidence means that no request was sent.
type Evidence struct {
	Failure  lookleap.Code `json:"failure,omitempty"` // why there is no response; "" if there is one
	Detail   string        `json:"detail,omitempty"`  // the failure in one sentence; may quote remote text
	Hops     []string      `json:"hops,omitempty"`    // redirects followed, each target
	Status   int           `json:"status,omitempty"`
	Type     string        `json:"type,omitempty"` // media type in lower case; "" if there is none
	Charset  string        `json:"charset,omitempty"`
	Address  string        `json:"address,omitempty"` // IP address and port of the connection
	TLS      string        `json:"tls,omitempty"`
	Route    string        `json:"route,omitempty"`   // as in [lookleap.Evidence]
	Names    []NameState   `json:"names,omitempty"`   // every host contacted
	Archive  string        `json:"archive,omitempty"` // URL of the archive of the repository that the file was in
	Received time.Time     `json:"received,omitzero"`
	Fresh    time.Time     `json:"fresh,omitzero"` // until when the copy may be used

	Digest       Digest             `json:"digest,omitzero"`
	Content      lookleap.Code      `json:"content,omitempty"`      // what ParseSkill says; "": it was not read
	ContentError string             `json:"contentError,omitempty"` // its sentence
	Position     *lookleap.Position `json:"position,omitempty"`     // its place
	SelfDeclared string             `json:"selfDeclared,omitempty"` // a trust root that the file names
}

// NameState is what the DNS said of one host.
type NameState struct {
	Name   string          `json:"name"`
	DNSSEC lookleap.DNSSEC `json:"dnssec"`
	Bogus  bool            `json:"bogus,omitempty"`
	TTL    time.Duration   `json:"ttl,omitempty"`
}

// Decide judges a claim by evidence at a point in time. It does no I/O and returns the same
// verdict for the same input, so [Rejudge] can judge a stored verdict again. The checks have the
// order of the procedure; those after the first failed check are skipped.
//
// The codes needs-root and root-not-registered mean that the root was not confirmed: such a skill
// is unverified rather than rejected.
func Decide(c Claim, e Evidence, now time.Time, rules Rules) *lookleap.Verdict {
	j := &judge{rules: rules, claim: c, evidence: e, now: now}
	return j.decide(false)
}

// procedure lists the checks in their order: first those of the claim, then those of the evidence.
var procedure = [...]struct {
	requirement string
	check       func(*judge) lookleap.Check
}{
	{"DVS-2-05", (*judge).url},
	{rootCheck, (*judge).declared},
	{"DVS-7-03", (*judge).allowed},
	{"DVS-3.1-05", (*judge).contained},
	{"DVS-3.1-44", (*judge).revision},
	{"DVS-5.3-02", (*judge).dns},
	{"DVS-3.1-50", (*judge).exchange},
	{"DVS-3.1-54", (*judge).status},
	{"DVS-4.2-04", (*judge).media},
	{digestCheck, (*judge).digest},
	{"DVS-4.3-01", (*judge).content},
	{narrowCheck, (*judge).narrowed},
	{"DVS-3.1-56", (*judge).fresh},
}

// claimSteps is how many steps of the procedure need no evidence.
const claimSteps = 5

// run runs the steps before one that were not run yet. It ends with the first check that fails, and
// returns it.
func (j *judge) run(before int) (failed *lookleap.Check) {
	if j.checks == nil {
		j.checks = make([]lookleap.Check, 0, len(procedure))
	}
	for n := len(j.checks); ; n++ {
		if n > 0 && j.checks[n-1].Status == lookleap.Failed {
			return &j.checks[n-1]
		}
		if n >= before {
			return nil
		}
		j.checks = append(j.checks, about(procedure[n].requirement, procedure[n].check(j)))
	}
}

// decide returns the verdict. With claimOnly, it judges what needs no evidence, and the code is
// not-activated if no check failed.
func (j *judge) decide(claimOnly bool) *lookleap.Verdict {
	steps, left := len(procedure), "not reached"
	if claimOnly {
		steps = claimSteps
	}
	failed := j.run(steps)
	v := &lookleap.Verdict{Document: Draft, Subject: domain.Redact(j.claim.URL), CheckedAt: j.now, Checks: j.checks}
	if !j.skill.IsZero() {
		v.Subject = domain.Redact(j.skill.String())
	}
	switch {
	case failed != nil:
		v.Code, v.Summary = failed.Code, failed.Message
	case claimOnly:
		v.Code, v.Summary = CodeNotActivated, "the file was not asked for yet, and is judged on activation"
		left = "not before activation"
	default:
		v.OK, v.Code = true, lookleap.CodeOK
		v.Summary = fmt.Sprintf("the skill is verified under %s, %s", j.effective, j.claim.Source)
		v.Expires = j.evidence.Fresh
	}
	for _, step := range procedure[len(j.checks):] {
		v.Checks = append(v.Checks, about(step.requirement, unneeded(left)))
	}
	v.Record, _ = json.Marshal(newRecord(j.claim, j.evidence, j.rules.AllowQuery)) // both are plain data
	return v
}

// The requirements of the checks whose evidence is the trust root, a narrower one, and the digest.
const (
	rootCheck   = "DVS-3.1-28"
	narrowCheck = "DVS-3.1-30"
	digestCheck = "DVS-3-01"
)

// verifiedAs returns the trust root and the digest of the SKILL.md of a verdict, each "" if the
// verdict does not have it.
func verifiedAs(v *lookleap.Verdict) (root, digest string) {
	for _, check := range v.Checks {
		for _, e := range check.Evidence {
			switch {
			case check.Requirement == rootCheck, check.Requirement == narrowCheck && e.URL != "":
				root = e.URL
			case check.Requirement == digestCheck && digest == "":
				digest = e.Digest
			}
		}
	}
	return root, digest
}

// record is what a verdict keeps of its input.
type record struct {
	Claim    Claim    `json:"claim"`
	Evidence Evidence `json:"evidence"`
}

// newRecord removes secrets from the input: user information, fragments, and queries unless they
// are part of a skill's identity. The decision about the result is the same.
func newRecord(c Claim, e Evidence, allowQuery bool) record {
	if allowQuery {
		_, err := ParseArtifactURL(c.URL, c.Artifact, Rules{AllowQuery: true})
		allowQuery = err == nil
	}
	if !allowQuery {
		c.URL = domain.Redact(c.URL)
	}
	c.Root = domain.Redact(c.Root)
	e.Hops = slices.Clone(e.Hops)
	for i, hop := range e.Hops {
		e.Hops[i] = domain.Redact(hop)
	}
	return record{c, e}
}

// Rejudge judges the record of an earlier verdict of [Decide] again, at another time or by other
// rules.
func Rejudge(v *lookleap.Verdict, now time.Time, rules Rules) (*lookleap.Verdict, error) {
	var in record
	if v == nil || v.Document != Draft {
		return nil, usageError("the verdict is not one of "+Draft, "give a verdict that this package returned")
	}
	if err := strictjson.Decode(v.Record, &in); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the record of the verdict cannot be read",
			Fix: "give a verdict that this package returned", Err: err}
	}
	return Decide(in.Claim, in.Evidence, now, rules), nil
}

type judge struct {
	rules     Rules
	claim     Claim
	evidence  Evidence
	now       time.Time
	skill     SkillURL  // of the claim; zero until the claim's URL is parsed
	root      TrustRoot // of the claim; zero until it is parsed
	effective TrustRoot
	checks    []lookleap.Check // of the steps that were run
}

// about returns a check of a requirement, without the secrets that its URLs can have.
func about(requirement string, check lookleap.Check) lookleap.Check {
	for i := range check.Evidence {
		check.Evidence[i].URL = domain.Redact(check.Evidence[i].URL)
	}
	check.Requirement = requirement
	return check
}

func passed(message string, evidence ...lookleap.Evidence) lookleap.Check {
	return lookleap.Check{Status: lookleap.Passed, Code: lookleap.CodeOK, Message: message, Evidence: evidence}
}

// unneeded returns the result of a check that had nothing to check.
func unneeded(message string, evidence ...lookleap.Evidence) lookleap.Check {
	return lookleap.Check{Status: lookleap.Skipped, Code: lookleap.CodeSkipped, Message: message, Evidence: evidence}
}

func noted(code lookleap.Code, message string, evidence ...lookleap.Evidence) lookleap.Check {
	return lookleap.Check{Status: lookleap.Noted, Code: code, Message: message, Evidence: evidence}
}

func failed(code lookleap.Code, message string, evidence ...lookleap.Evidence) lookleap.Check {
	return lookleap.Check{Status: lookleap.Failed, Code: code, Message: message, Evidence: evidence}
}

func (j *judge) url() lookleap.Check {
	if j.skill.IsZero() {
		u, err := ParseArtifactURL(j.claim.URL, j.claim.Artifact, j.rules)
		if err != nil {
			return failed(lookleap.CodeOf(err), sentence(err))
		}
		j.skill = u
	}
	shown := lookleap.Evidence{URL: j.skill.String()}
	if j.skill.fragment {
		return noted(codeFragmentDropped, codeFragmentDropped.Title(), shown)
	}
	return passed("the skill URL is canonical", shown)
}

func (j *judge) declared() lookleap.Check {
	if j.claim.Root == "" {
		return failed(CodeNeedsRoot, "no trust root was declared for this host; register the publisher's path")
	}
	if j.root.IsZero() {
		root, err := ParseTrustRoot(j.claim.Root, j.rules)
		if err != nil {
			return failed(lookleap.CodeOf(err), sentence(err))
		}
		j.root = root
	}
	j.effective = j.root
	shown := lookleap.Evidence{URL: j.root.String()}
	switch source := j.claim.Source; {
	case source.Registered():
		return passed("the trust root was "+source.String(), shown)
	case source == SkillOnly && !j.claim.Strict:
		return noted(CodeNotRegistered, "the user agreed to this skill only, so its trust root is its own directory", shown)
	case source == SkillOnly:
		return failed(CodeNeedsRoot, "only registered trust roots are accepted here, and the user agreed to this skill only", shown)
	case source == DefaultOrigin && !j.claim.Strict:
		return noted(CodeNotRegistered, "the trust root is the default for this host and was not registered", shown)
	case source == DefaultOrigin:
		return failed(CodeNeedsRoot, "only registered trust roots are accepted here, and this one is the default for its host", shown)
	}
	return failed(CodeNeedsRoot, "the trust root was derived from the URL and not confirmed", shown)
}

func (j *judge) allowed() lookleap.Check {
	switch {
	case j.claim.Revoked:
		return failed(CodeRevoked, "trust in this root or domain was revoked")
	case j.claim.Blocked:
		return failed(CodeBlockedRoot, "the trust root is blocked")
	}
	return passed("the trust root is neither blocked nor revoked")
}

func (j *judge) contained() lookleap.Check {
	skill, root := lookleap.Evidence{URL: j.skill.String()}, lookleap.Evidence{URL: j.root.String()}
	switch served := j.skill.ServedFrom(); {
	case !j.root.Covers(j.skill):
		return failed(CodeOutsideTrustRoot, "the skill URL does not lie under the trust root", skill, root)
	case served != skill.URL:
		return passed("the skill URL lies under the trust root, and the platform serves its bytes elsewhere",
			skill, root, lookleap.Evidence{URL: served})
	}
	return passed("the skill URL lies under the trust root", skill, root)
}

func (j *judge) revision() lookleap.Check {
	commit := j.skill.commit
	switch {
	case commit == "":
		return unneeded("the URL names no commit")
	case isFullCommit(commit) && strings.EqualFold(commit, j.claim.Pin.Commit):
		return passed("the URL names the commit that the caller knows")
	case isFullCommit(commit) && strings.EqualFold(commit, j.claim.Tip.Commit):
		return passed("the URL names the commit that " + plaintext.Quote(j.claim.Tip.Ref, 200) + " of the repository had")
	case !j.claim.Pin.Digest.IsZero():
		return passed("the caller knows the digest of the file")
	}
	return failed(CodeCommitRef, fmt.Sprintf("the revision %s reads as a commit, which may come from a stranger's fork; "+
		"write refs/heads/NAME or refs/tags/NAME, or pin the whole commit or the digest", plaintext.Quote(commit, 80)))
}

func (j *judge) dns() lookleap.Check {
	worst, signed := lookleap.Secure, len(j.evidence.Names) > 0
	var shown []lookleap.Evidence
	for _, n := range j.evidence.Names {
		shown = append(shown, lookleap.Evidence{DNSName: n.Name, DNSSEC: &n.DNSSEC, TTL: n.TTL})
		if n.Bogus {
			return failed(lookleap.CodeDNSSECBogus, "the DNS answer for a contacted host failed validation",
				lookleap.Evidence{DNSName: n.Name})
		}
		worst = min(worst, n.DNSSEC)
	}
	switch {
	case signed && worst == lookleap.Secure:
		return passed("every contacted name is signed", shown...)
	case j.claim.RequireSecure:
		return failed(CodeDNSSECInsecure, "a contacted name is not signed, and signed names are required", shown...)
	}
	return noted(CodeDNSSECInsecure, "not every contacted name is signed", shown...)
}

func (j *judge) exchange() lookleap.Check {
	e := j.evidence
	shown := lookleap.Evidence{URL: cmp.Or(e.Archive, j.skill.ServedFrom()), Status: e.Status, MediaType: e.Type,
		Address: e.Address, TLS: e.TLS, Route: e.Route}
	if e.Failure != "" {
		message := e.Failure.Title()
		shown.Text = e.Detail
		if e.Failure == CodeBlockedByPolicy && e.Detail != "" {
			message += ": " + plaintext.Line(e.Detail) // a policy that says no, or one that cannot be read
		}
		return failed(e.Failure, message, shown)
	}
	if e.Status == 0 {
		return failed(lookleap.CodeUnreachable, "no request was sent", shown)
	}
	for _, hop := range e.Hops {
		if err := j.rules.checkHop(j.root, j.claim, hop); err != nil {
			return failed(lookleap.CodeOf(err), sentence(err), lookleap.Evidence{URL: hop})
		}
	}
	if e.Archive != "" && !j.rules.isArchiveOf(e.Archive, j.skill) {
		return failed(CodeRedirectOutside, "the file was in an archive that is not the repository's", shown)
	}
	if e.Route == lookleap.RouteDevelopment {
		return noted(lookleap.CodeDevelopment, "the server is one of the development mode, so nothing of the connection was checked", shown)
	}
	if e.TLS == "" || e.Address == "" {
		return noted(lookleap.CodeNoConnection, "the server answered, and the evidence has no verified connection", shown)
	}
	if e.Archive != "" {
		return passed("the file was in the archive of the repository at this commit, which came over verified TLS", shown)
	}
	return passed("the server answered over verified TLS after "+plaintext.Plural(len(e.Hops), "redirect", "redirects")+", all under the trust root", shown)
}

func (j *judge) status() lookleap.Check {
	shown := lookleap.Evidence{Status: j.evidence.Status}
	switch status := j.evidence.Status; status {
	case 200:
		return passed("the response has the status 200", shown)
	case 404, 410:
		return failed(CodeSkillNotFound, "the server has no SKILL.md at the URL", shown)
	case 401, 403:
		return failed(CodeSkillForbidden, "the server denied access to the skill", shown)
	default:
		return failed(lookleap.CodeBadStatus, fmt.Sprintf("the HTTP status is %d, and only 200 is accepted", status), shown)
	}
}

func (j *judge) media() lookleap.Check {
	answered := j.skill.ServedFrom()
	if n := len(j.evidence.Hops); n > 0 {
		answered = j.evidence.Hops[n-1]
	}
	if j.skill.artifact == SkillArchive {
		return judgeArchiveMedia(j.evidence, j.claim)
	}
	return judgeMedia(answered, j.evidence, j.claim)
}

func (j *judge) digest() lookleap.Check {
	shown := lookleap.Evidence{Digest: j.evidence.Digest.String()}
	if wrong, ok := j.claim.expects(j.evidence.Digest); !ok {
		return failed(CodeDigestMismatch, "the file has another digest than the one expected", shown,
			lookleap.Evidence{Digest: wrong.String()})
	}
	if j.claim.Pin.Digest.IsZero() && j.claim.Listed.IsZero() {
		return unneeded("no digest was expected, and this one is recorded", shown)
	}
	return passed("the digest is the one that was expected", shown)
}

// expects reports whether a file with this digest is the one that the pin and the index name. If not,
// it returns the digest that was expected.
func (c *Claim) expects(found Digest) (expected Digest, ok bool) {
	for _, expected := range []Digest{c.Pin.Digest, c.Listed} {
		if !expected.IsZero() && expected != found {
			return expected, false
		}
	}
	return Digest{}, true
}

func (j *judge) content() lookleap.Check {
	switch e := j.evidence; e.Content {
	case lookleap.CodeOK:
		return passed(fmt.Sprintf("the SKILL.md is accepted under the profile %s", j.claim.Profile))
	case "":
		return failed(lookleap.CodeInternal, "the SKILL.md was not read")
	default:
		place := ""
		if e.Position != nil {
			place = e.Position.String() + ": "
		}
		return failed(e.Content, place+e.ContentError)
	}
}

// narrowed applies a root that the skill declares for itself if it is narrower (DVS-3.1-28 to
// DVS-3.1-31). The file cannot widen or create a root.
func (j *judge) narrowed() lookleap.Check {
	declared := j.evidence.SelfDeclared
	if declared == "" {
		return unneeded("the skill declares no trust root of its own")
	}
	if narrow, ok := j.rules.narrowedRoot(j.root, declared, j.skill); ok {
		j.effective = narrow
		return noted(codeSelfDeclared, "the skill narrows its trust root", lookleap.Evidence{URL: narrow.String()})
	}
	return noted(codeSelfDeclared, "the skill declares a trust root that is not narrower than its own, which is ignored",
		lookleap.Evidence{Text: domain.Redact(declared)})
}

// narrowedRoot returns the self-declared root if it lies under root and covers the skill.
func (r Rules) narrowedRoot(root TrustRoot, declared string, u SkillURL) (TrustRoot, bool) {
	own, err := ParseTrustRoot(declared, r)
	if err != nil || !own.url.Under(root.url) || own.String() == root.String() || !own.Covers(u) {
		return root, false
	}
	return own, true
}

func (j *judge) fresh() lookleap.Check {
	if j.evidence.Fresh.Before(j.now) {
		return failed(lookleap.CodeStale, "the copy is older than it may be")
	}
	check := passed("the copy is fresh")
	check.Until = j.evidence.Fresh
	return check
}
