package anmltrust

import (
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// state is what one source comes to.
type state uint8

const (
	refused           state = iota
	failedTemporarily       // the other mechanism may be asked
	granted
)

// judgement is what follows from one exchange.
type judgement struct {
	state    state
	row      string
	lastRow  string // of a temporary failure: the row if no other mechanism can be asked
	code     lookleap.Code
	tier     Tier
	scope    Scope // before the ceiling
	until    time.Time
	backoff  backoff
	findings []lookleap.Finding
	security bool // reported to the host as a warning

	validManifest  bool // the manifest speaks for the site, whatever it says about the server
	entryMalformed bool // the server is denied because its entry is malformed
	held           bool // not asked: an earlier failure stands
	final          bool // of held: the source itself was refused
}

// backoffScope says what is not asked while a backoff is in force.
type backoffScope uint8

const (
	noBackoff backoffScope = iota
	backoffPair
	backoffEndpoint
	backoffManifest
	holdHint       // not a backoff: when a document last caused a question (row E4)
	holdSharedRead // not a backoff: when the shared cache was last read
)

// backoff is a time in which a question is answered with the same reason and
// nothing is sent. It never grants.
type backoff struct {
	scope     backoffScope
	code      lookleap.Code
	temporary bool
	length    time.Duration
	uri       string // of the source
}

// Lengths of backoffs and grants.
const (
	shortBackoff  = time.Minute
	longBackoff   = 5 * time.Minute
	maxRetryAfter = 7 * 24 * time.Hour
	maxGrant      = 90 * 24 * time.Hour
)

func (x *Exchange) retryAfter() time.Duration {
	if x.RetryAfter <= 0 {
		return shortBackoff
	}
	return min(x.RetryAfter, maxRetryAfter)
}

func refusal(row string, code lookleap.Code, scope backoffScope, length time.Duration) judgement {
	return judgement{row: row, code: code, backoff: backoff{scope: scope, code: code, length: length}}
}

func (x *Exchange) temporaryFailure(row, lastRow string, code lookleap.Code) judgement {
	return judgement{state: failedTemporarily, row: row, lastRow: lastRow, code: code,
		backoff: backoff{scope: backoffEndpoint, code: code, temporary: true, length: x.retryAfter()}}
}

// judgeHeld judges a question that was not asked since an earlier failure stands.
func (x *Exchange) judgeHeld(row, lastRow string) judgement {
	j := judgement{row: row, lastRow: lastRow, code: x.Held, held: true}
	if x.Transient {
		j.state = failedTemporarily
	}
	j.final = !x.Transient && x.Held != CodeQuery429 && x.Held != CodeManifest429
	return j
}

// judge judges an exchange with a source of either kind.
func (x *Exchange) judge(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	if x.Mechanism == Query {
		return x.judgeQuery(now, ttl)
	}
	return x.judgeManifest(p, s, now, ttl, narrowing)
}

// judgeQuery is part Q of the procedure.
func (x *Exchange) judgeQuery(now time.Time, ttl time.Duration) judgement {
	switch {
	case x.Held != "":
		return x.judgeHeld("Q0", "Q0")
	case x.Failure == FailedTransient:
		return x.temporaryFailure("Q14", "Q15", CodeQueryUnavailable)
	case x.Failure == FailedTLS:
		j := refusal("Q16", CodeQueryTLS, backoffPair, shortBackoff)
		j.security = true
		return j
	case x.Failure == FailedOther:
		return refusal("Q15", CodeQueryUnavailable, backoffPair, shortBackoff)
	case x.Failure != FailedNot:
		return refusal("Q5", CodeQueryMalformed, backoffPair, longBackoff)
	}
	switch status := x.Status; {
	case status == http.StatusOK:
		return x.judgeResponse(now, ttl)
	case status < 300:
		return refusal("Q5", CodeQueryMalformed, backoffPair, longBackoff)
	case status < 400:
		return refusal("Q11", CodeQueryRedirect, backoffPair, longBackoff)
	case status == http.StatusNotFound:
		return judgement{row: "Q7", code: CodeQuery404, until: x.At.Add(ttl)}
	case status == http.StatusBadRequest:
		return refusal("Q8", CodeQuery400, backoffPair, longBackoff)
	case status == http.StatusTooManyRequests:
		return refusal("Q9", CodeQuery429, backoffEndpoint, x.retryAfter())
	case status < 500:
		return refusal("Q10", CodeQueryStatus, backoffPair, longBackoff)
	}
	return x.temporaryFailure("Q12", "Q13", CodeQueryUnavailable)
}

func (x *Exchange) judgeResponse(now time.Time, ttl time.Duration) judgement {
	if !isJSONType(x.MediaType) {
		return refusal("Q5", CodeQueryMalformed, backoffPair, longBackoff)
	}
	a, err := ParseQueryResponse(x.Body)
	switch code := lookleap.CodeOf(err); {
	case code == CodeQueryAuthorizedFalse:
		return judgement{row: "Q2", code: code, until: x.At.Add(ttl), findings: []lookleap.Finding{findingOf(err, "Q2")}}
	case err != nil:
		j := refusal("Q3", CodeQueryMalformed, backoffPair, longBackoff)
		j.findings = []lookleap.Finding{findingOf(err, "Q3")}
		return j
	case !now.Before(a.Expires):
		return refusal("Q4", CodeQueryExpired, backoffPair, shortBackoff)
	}
	j := judgement{state: granted, row: "Q1", code: CodeQueryAuthorized, tier: a.Tier, scope: a.Scope}
	if a.Scope == 0 {
		j.row = "Q6"
	}
	j.until = a.Expires
	if most := x.At.Add(maxGrant); j.until.After(most) {
		j.until = most
	}
	return j
}

// judgeManifest is part M, and part L for a manifest that is valid. Where the
// site narrows itself only entries about the host itself count (rows B3 to B5).
func (x *Exchange) judgeManifest(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	switch {
	case x.Held != "":
		return x.judgeHeld("M0", "M10")
	case x.Failure == FailedTransient:
		return x.temporaryFailure("M9", "M10", CodeManifestUnavailable)
	case x.Failure == FailedTLS:
		j := refusal("M5", CodeManifestTLS, backoffManifest, shortBackoff)
		j.security = true
		return j
	case x.Failure == FailedRedirect:
		return refusal("M6", CodeManifestRedirect, backoffManifest, longBackoff)
	case x.Failure == FailedOther:
		return refusal("M10", CodeManifestUnavailable, backoffManifest, shortBackoff)
	case x.Failure != FailedNot:
		return refusal("M12", CodeManifestMalformed, backoffManifest, min(ttl, longBackoff))
	}
	switch status := x.Status; {
	case status == http.StatusOK, status == http.StatusNotModified && x.Validated:
		return x.judgeContent(p, s, now, ttl, narrowing)
	case status < 300, status == http.StatusNotModified:
		return refusal("M12", CodeManifestMalformed, backoffManifest, min(ttl, longBackoff))
	case status < 400:
		return refusal("M6", CodeManifestRedirect, backoffManifest, longBackoff)
	case status == http.StatusTooManyRequests:
		return refusal("M8", CodeManifest429, backoffEndpoint, x.retryAfter())
	case status < 500:
		return refusal("M7", CodeManifestMissing, backoffManifest, min(ttl, longBackoff))
	}
	return x.temporaryFailure("M9", "M10", CodeManifestUnavailable)
}

func (x *Exchange) judgeContent(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	var findings []lookleap.Finding
	if x.MediaType != ManifestMediaType {
		if x.MediaType != "application/json" && !p.AcceptAnyManifestType {
			return refusal("M11", CodeManifestType, backoffManifest, min(ttl, longBackoff))
		}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestType,
			Requirement: "ANML-12.3-02",
			Message:     "the manifest's media type is " + plaintext.Quote(x.MediaType, maxQuoted),
			Fix:         "serve it as " + ManifestMediaType})
	}
	if x.manifest == nil && x.err == nil { // the body is read once
		x.manifest, x.err = ParseManifest(x.Body)
	}
	m, err := x.manifest, x.err
	if err != nil {
		j := refusal("M12", lookleap.CodeOf(err), backoffManifest, min(ttl, longBackoff))
		if j.code == CodeManifestVersion {
			j.row, j.backoff.length = "M13", ttl
		}
		j.findings = []lookleap.Finding{findingOf(err, j.row)}
		return j
	}
	findings = append(findings, m.Findings...)
	if row, code := m.Check(s.site, now); code != "" {
		j := refusal(row, code, backoffManifest, min(ttl, longBackoff))
		j.security = row == "M14"
		if j.security {
			j.backoff.length = ttl
		}
		return j
	}
	if m.Issued.Before(x.Newest) {
		j := refusal("M18", CodeManifestRollback, backoffManifest, longBackoff)
		j.security = true
		return j
	}
	life := m.Expires.Sub(m.Issued)
	if p.MaxManifestLifetime > 0 && life > p.MaxManifestLifetime {
		return refusal("M12", CodeManifestMalformed, backoffManifest, min(ttl, longBackoff))
	}
	if life > LongLifetime {
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestLongLived, Requirement: "M17",
			Message: longLived, Fix: "issue a new one more often"})
	}
	j := m.list(s.server, narrowing)
	j.until, j.findings = x.freshUntil(m, ttl), findings
	return j
}

// list is part L.
func (m *Manifest) list(s Server, narrowing bool) judgement {
	l := m.lookup(s, narrowing)
	j := judgement{row: "L3", state: granted, code: CodeListed, tier: l.Tier, scope: l.Scope}
	switch {
	case m.Len() == 0:
		j = judgement{row: "L1", code: CodeNotListed}
	case l.Rank == NotListed:
		j = judgement{row: "L2", code: CodeNotListed}
	case l.Malformed:
		j = judgement{row: "L5", code: CodeManifestEntryMalformed, entryMalformed: true}
	}
	j.validManifest = true
	return j
}

// freshUntil is until when the manifest may be used without asking again.
func (x *Exchange) freshUntil(m *Manifest, ttl time.Duration) time.Time {
	until := x.At.Add(ttl)
	if m.Expires.Before(until) {
		until = m.Expires
	}
	if !x.Fresh.IsZero() && x.Fresh.Before(until) && !x.NoStore {
		until = x.Fresh
	}
	return until
}
