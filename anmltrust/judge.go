package anmltrust

import (
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// ruling is what a row of the procedure says.
type ruling struct {
	row   string
	code  lookleap.Code
	tier  Tier
	scope Scope // before the ceiling
	until time.Time
}

// state is what one source comes to.
type state uint8

const (
	refused           state = iota
	failedTemporarily       // the other mechanism may be asked
	granted
)

// judgement is what follows from one exchange.
type judgement struct {
	ruling
	state    state
	lastRow  string // of a temporary failure: the row if no other mechanism can be asked
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

// judge judges an exchange with a source of either kind. Where the site narrows itself
// only entries about the host itself count (rows B3 to B5).
func (x *Exchange) judge(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	switch {
	case x.Held != "":
		j := judgement{ruling: ruling{row: "M0", code: x.Held}, lastRow: "M10", held: true}
		if x.Mechanism == Query {
			j.row, j.lastRow = "Q0", "Q0"
		}
		if x.Transient {
			j.state = failedTemporarily
		}
		j.final = !x.Transient && x.Held != CodeQuery429 && x.Held != CodeManifest429
		return j
	case x.Mechanism == Query:
		return x.judgeQuery(now, ttl)
	}
	return x.judgeManifest(p, s, now, ttl, narrowing)
}

// refuse returns a Tier 0, with a backoff of the pair or of the manifest.
func (x *Exchange) refuse(row string, code lookleap.Code, length time.Duration) judgement {
	scope := backoffManifest
	if x.Mechanism == Query {
		scope = backoffPair
	}
	return judgement{ruling: ruling{row: row, code: code}, backoff: backoff{scope: scope, code: code, length: length}}
}

// wait returns a Tier 0, with a backoff of the endpoint for as long as it asks.
func (x *Exchange) wait(row string, code lookleap.Code) judgement {
	length := shortBackoff
	if x.RetryAfter > 0 {
		length = min(x.RetryAfter, maxRetryAfter)
	}
	return judgement{ruling: ruling{row: row, code: code}, backoff: backoff{scope: backoffEndpoint, code: code, length: length}}
}

// mayPass returns a temporary failure.
func (x *Exchange) mayPass(row, lastRow string, code lookleap.Code) judgement {
	j := x.wait(row, code)
	j.state, j.lastRow, j.backoff.temporary = failedTemporarily, lastRow, true
	return j
}

// warning makes a judgement one that is reported to the host.
func (j judgement) warning() judgement {
	j.security = true
	return j
}

// because adds a finding.
func (j judgement) because(err error) judgement {
	j.findings = append(j.findings, findingOf(err, j.row))
	return j
}

// judgeQuery is part Q of the procedure.
func (x *Exchange) judgeQuery(now time.Time, ttl time.Duration) judgement {
	malformed := x.refuse("Q5", CodeQueryMalformed, longBackoff)
	switch x.Failure {
	case FailedNot:
	case FailedTransient:
		return x.mayPass("Q14", "Q15", CodeQueryUnavailable)
	case FailedTLS:
		return x.refuse("Q16", CodeQueryTLS, shortBackoff).warning()
	case FailedOther:
		return x.refuse("Q15", CodeQueryUnavailable, shortBackoff)
	default:
		return malformed
	}
	switch status := x.Status; {
	case status == http.StatusOK && isJSONType(x.MediaType):
		return x.judgeResponse(now, ttl)
	case status < 300:
		return malformed
	case status < 400:
		return x.refuse("Q11", CodeQueryRedirect, longBackoff)
	case status == http.StatusNotFound:
		return judgement{ruling: ruling{row: "Q7", code: CodeQuery404, until: x.At.Add(ttl)}}
	case status == http.StatusBadRequest:
		return x.refuse("Q8", CodeQuery400, longBackoff)
	case status == http.StatusTooManyRequests:
		return x.wait("Q9", CodeQuery429)
	case status < 500:
		return x.refuse("Q10", CodeQueryStatus, longBackoff)
	}
	return x.mayPass("Q12", "Q13", CodeQueryUnavailable)
}

func (x *Exchange) judgeResponse(now time.Time, ttl time.Duration) judgement {
	a, err := ParseQueryResponse(x.Body)
	switch code := lookleap.CodeOf(err); {
	case code == CodeQueryAuthorizedFalse:
		return judgement{ruling: ruling{row: "Q2", code: code, until: x.At.Add(ttl)}}.because(err)
	case err != nil:
		return x.refuse("Q3", CodeQueryMalformed, longBackoff).because(err)
	case !now.Before(a.Expires):
		return x.refuse("Q4", CodeQueryExpired, shortBackoff)
	}
	row := "Q1"
	if a.Scope == 0 {
		row = "Q6"
	}
	return judgement{state: granted, ruling: ruling{row, CodeQueryAuthorized, a.Tier, a.Scope, fetch.Earlier(a.Expires, x.At.Add(maxGrant))}}
}

// judgeManifest is part M, and part L for a manifest that is valid.
func (x *Exchange) judgeManifest(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	short := min(ttl, longBackoff)
	switch x.Failure {
	case FailedNot:
	case FailedTransient:
		return x.mayPass("M9", "M10", CodeManifestUnavailable)
	case FailedTLS:
		return x.refuse("M5", CodeManifestTLS, shortBackoff).warning()
	case FailedRedirect:
		return x.refuse("M6", CodeManifestRedirect, longBackoff)
	case FailedOther:
		return x.refuse("M10", CodeManifestUnavailable, shortBackoff)
	default:
		return x.refuse("M12", CodeManifestMalformed, short)
	}
	switch status := x.Status; {
	case status == http.StatusOK, status == http.StatusNotModified && x.Validated:
		return x.judgeContent(p, s, now, ttl, narrowing)
	case status < 300, status == http.StatusNotModified:
		return x.refuse("M12", CodeManifestMalformed, short)
	case status < 400:
		return x.refuse("M6", CodeManifestRedirect, longBackoff)
	case status == http.StatusTooManyRequests:
		return x.wait("M8", CodeManifest429)
	case status < 500:
		return x.refuse("M7", CodeManifestMissing, short)
	}
	return x.mayPass("M9", "M10", CodeManifestUnavailable)
}

func (x *Exchange) judgeContent(p Rules, s subject, now time.Time, ttl time.Duration, narrowing bool) judgement {
	short := min(ttl, longBackoff)
	var findings []lookleap.Finding
	if x.MediaType != ManifestMediaType {
		if x.MediaType != "application/json" && !p.AcceptAnyManifestType {
			return x.refuse("M11", CodeManifestType, short)
		}
		findings = append(findings, warn(CodeManifestType, "ANML-12.3-02",
			"the manifest's media type is "+plaintext.Quote(x.MediaType, maxQuoted), "serve it as "+ManifestMediaType))
	}
	if x.manifest == nil && x.err == nil { // the body is read once
		x.manifest, x.err = ParseManifest(x.Body)
	}
	m, err := x.manifest, x.err
	if code := lookleap.CodeOf(err); code == CodeManifestVersion {
		return x.refuse("M13", code, ttl).because(err)
	} else if err != nil {
		return x.refuse("M12", code, short).because(err)
	}
	life := m.Expires.Sub(m.Issued)
	switch row, code := m.Check(s.site, now); {
	case code == CodeManifestSiteMismatch:
		return x.refuse(row, code, ttl).warning()
	case code != "":
		return x.refuse(row, code, short)
	case m.Issued.Before(x.Newest):
		return x.refuse("M18", CodeManifestRollback, longBackoff).warning()
	case p.MaxManifestLifetime > 0 && life > p.MaxManifestLifetime:
		return x.refuse("M12", CodeManifestMalformed, short)
	}
	findings = append(findings, m.Findings...)
	if life > LongLifetime {
		findings = append(findings, warn(CodeManifestLongLived, "M17", longLived, "issue a new one more often"))
	}
	j := m.list(s.server, narrowing)
	j.validManifest, j.until, j.findings = true, x.freshUntil(m, ttl), findings
	return j
}

// list is part L.
func (m *Manifest) list(s Server, narrowing bool) judgement {
	l := m.lookup(s, narrowing)
	switch {
	case m.Len() == 0:
		return judgement{ruling: ruling{row: "L1", code: CodeNotListed}}
	case l.Rank == "":
		return judgement{ruling: ruling{row: "L2", code: CodeNotListed}}
	case l.Malformed:
		return judgement{ruling: ruling{row: "L5", code: CodeManifestEntryMalformed}, entryMalformed: true}
	}
	return judgement{ruling: ruling{row: "L3", code: CodeListed, tier: l.Tier, scope: l.Scope}, state: granted}
}

// freshUntil is until when the manifest may be used without asking again.
func (x *Exchange) freshUntil(m *Manifest, ttl time.Duration) time.Time {
	until := fetch.Earlier(x.At.Add(ttl), m.Expires)
	if !x.Fresh.IsZero() && !x.NoStore {
		until = fetch.Earlier(until, x.Fresh)
	}
	return until
}
