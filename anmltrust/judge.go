package anmltrust

import (
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
)

// judgement is what one source comes to.
type judgement uint8

const (
	refused judgement = iota
	passing           // failed in a way that may pass: the other mechanism may be asked
	granted
)

// judged is the judgement of one exchange.
type judged struct {
	state    judgement
	row      string
	code     lookleap.Code
	tier     Tier
	scope    Scope // before the ceiling
	until    time.Time
	listing  Listing
	hold     hold
	findings []lookleap.Finding
	security bool // somebody should look
	held     bool // not asked: an earlier failure stands
	final    bool // of held: the source itself was refused
}

// holdKind says what a hold keeps anyone from asking.
type holdKind uint8

const (
	holdNothing holdKind = iota
	holdPair
	holdEndpoint
	holdManifest
)

// hold is a backoff: until it ends, the question is answered with the same
// reason, and nothing is sent. It never grants.
type hold struct {
	kind      holdKind
	code      lookleap.Code
	transient bool
	length    time.Duration
}

// Lengths of backoffs.
const (
	shortHold     = time.Minute
	longHold      = 5 * time.Minute
	maxRetryAfter = 7 * 24 * time.Hour
	maxGrant      = 90 * 24 * time.Hour
)

func (x *Exchange) retryAfter() time.Duration {
	if x.RetryAfter <= 0 {
		return shortHold
	}
	return min(x.RetryAfter, maxRetryAfter)
}

func refusal(row string, code lookleap.Code, kind holdKind, length time.Duration) judged {
	return judged{row: row, code: code, hold: hold{kind: kind, code: code, length: length}}
}

// pass is a failure that may pass by itself.
func pass(row string, code lookleap.Code, x *Exchange) judged {
	return judged{state: passing, row: row, code: code, hold: hold{kind: holdEndpoint, code: code, transient: true, length: x.retryAfter()}}
}

// held is a question that was not asked: an earlier failure stands.
func (x *Exchange) judgeHeld(row string) judged {
	j := judged{row: row, code: x.Held, held: true}
	if x.Transient {
		j.state = passing
	}
	j.final = !x.Transient && x.Held != CodeQuery429 && x.Held != CodeManifest429
	return j
}

// judgeQuery is part Q of the procedure.
func (x *Exchange) judgeQuery(now time.Time, ttl time.Duration) judged {
	switch {
	case x.Held != "":
		return x.judgeHeld("Q0")
	case x.Failure == FailedTransient:
		return pass("Q14", CodeQueryUnavailable, x)
	case x.Failure == FailedTLS:
		j := refusal("Q16", CodeQueryTLS, holdPair, shortHold)
		j.security = true
		return j
	case x.Failure == FailedOther:
		return refusal("Q15", CodeQueryUnavailable, holdPair, shortHold)
	case x.Failure != FailedNot:
		return refusal("Q5", CodeQueryMalformed, holdPair, longHold)
	}
	switch status := x.Status; {
	case status == http.StatusOK:
		return x.judgeAnswer(now, ttl)
	case status < 300:
		return refusal("Q5", CodeQueryMalformed, holdPair, longHold)
	case status < 400:
		return refusal("Q11", CodeQueryRedirect, holdPair, longHold)
	case status == http.StatusNotFound:
		return judged{row: "Q7", code: CodeQuery404, until: x.At.Add(ttl)}
	case status == http.StatusBadRequest:
		return refusal("Q8", CodeQuery400, holdPair, longHold)
	case status == http.StatusTooManyRequests:
		return refusal("Q9", CodeQuery429, holdEndpoint, x.retryAfter())
	case status < 500:
		return refusal("Q10", CodeQueryStatus, holdPair, longHold)
	}
	return pass("Q12", CodeQueryUnavailable, x)
}

func (x *Exchange) judgeAnswer(now time.Time, ttl time.Duration) judged {
	if !isJSONType(x.MediaType) {
		return refusal("Q5", CodeQueryMalformed, holdPair, longHold)
	}
	a, err := ParseQueryResponse(x.Body)
	switch code := lookleap.CodeOf(err); {
	case code == CodeQueryAuthorizedFalse:
		return judged{row: "Q2", code: code, until: x.At.Add(ttl), findings: []lookleap.Finding{findingOf(err, "Q2")}}
	case err != nil:
		j := refusal("Q3", CodeQueryMalformed, holdPair, longHold)
		j.findings = []lookleap.Finding{findingOf(err, "Q3")}
		return j
	case !now.Before(a.Expires):
		return refusal("Q4", CodeQueryExpired, holdPair, shortHold)
	}
	j := judged{state: granted, row: "Q1", code: CodeQueryAuthorized, tier: a.Tier, scope: a.Scope}
	if a.Scope == 0 {
		j.row = "Q6"
	}
	j.until = a.Expires
	if most := x.At.Add(maxGrant); j.until.After(most) {
		j.until = most
	}
	return j
}

// judgeManifest is part M, and part L for a manifest that is valid. In narrow
// mode only entries about the host itself count (rows B3 to B5).
func (x *Exchange) judgeManifest(p Rules, s subject, now time.Time, ttl time.Duration, narrow bool) judged {
	switch {
	case x.Held != "":
		return x.judgeHeld("M0")
	case x.Failure == FailedTransient:
		return pass("M9", CodeManifestUnavailable, x)
	case x.Failure == FailedTLS:
		j := refusal("M5", CodeManifestTLS, holdManifest, shortHold)
		j.security = true
		return j
	case x.Failure == FailedRedirect:
		return refusal("M6", CodeManifestRedirect, holdManifest, longHold)
	case x.Failure == FailedOther:
		return refusal("M10", CodeManifestUnavailable, holdManifest, shortHold)
	case x.Failure != FailedNot:
		return refusal("M12", CodeManifestMalformed, holdManifest, min(ttl, longHold))
	}
	switch status := x.Status; {
	case status == http.StatusOK, status == http.StatusNotModified && x.Validated:
		return x.judgeContent(p, s, now, ttl, narrow)
	case status < 300, status == http.StatusNotModified:
		return refusal("M12", CodeManifestMalformed, holdManifest, min(ttl, longHold))
	case status < 400:
		return refusal("M6", CodeManifestRedirect, holdManifest, longHold)
	case status == http.StatusTooManyRequests:
		return refusal("M8", CodeManifest429, holdEndpoint, x.retryAfter())
	case status < 500:
		return refusal("M7", CodeManifestMissing, holdManifest, min(ttl, longHold))
	}
	return pass("M9", CodeManifestUnavailable, x)
}

func (x *Exchange) judgeContent(p Rules, s subject, now time.Time, ttl time.Duration, narrow bool) judged {
	var findings []lookleap.Finding
	if x.MediaType != ManifestMediaType {
		if x.MediaType != "application/json" && !p.AcceptAnyManifestType {
			return refusal("M11", CodeManifestType, holdManifest, min(ttl, longHold))
		}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestType, Requirement: "ANML-12.3-02",
			Message: "the manifest's media type is " + quote(x.MediaType), Fix: "serve it as " + ManifestMediaType})
	}
	m, err := x.parsed(p)
	if err != nil {
		j := refusal("M12", lookleap.CodeOf(err), holdManifest, min(ttl, longHold))
		if j.code == CodeManifestVersion {
			j.row, j.hold.length = "M13", ttl
		}
		j.findings = []lookleap.Finding{findingOf(err, j.row)}
		return j
	}
	findings = append(findings, m.Findings...)
	if row, code := m.Check(s.site, now); code != "" {
		j := refusal(row, code, holdManifest, min(ttl, longHold))
		if j.security = row == "M14"; j.security {
			j.hold.length = ttl
		}
		return j
	}
	if m.Issued.Before(x.Newest) {
		j := refusal("M18", CodeManifestRollback, holdManifest, longHold)
		j.security = true
		return j
	}
	if life := m.Expires.Sub(m.Issued); life > LongLifetime {
		if p.MaxManifestLifetime > 0 && life > p.MaxManifestLifetime {
			return refusal("M12", CodeManifestMalformed, holdManifest, min(ttl, longHold))
		}
		findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeManifestLongLived, Requirement: "M17",
			Message: longLived, Fix: "issue it anew more often"})
	}
	j := m.list(s.server, narrow)
	j.until, j.findings = x.freshUntil(m, ttl), append(findings, j.findings...)
	return j
}

// list is part L.
func (m *Manifest) list(s Server, narrow bool) judged {
	l := m.lookupHost(s.Host)
	if l.Rank == NotListed && !narrow {
		l = m.Lookup(s)
	}
	switch {
	case l.Rank == NotListed && m.Len() == 0:
		return judged{row: "L1", code: CodeNotListed}
	case l.Rank == NotListed:
		return judged{row: "L2", code: CodeNotListed}
	case l.Malformed:
		return judged{row: "L5", code: CodeManifestEntryMalformed, listing: l}
	}
	return judged{state: granted, row: "L3", code: CodeListed, tier: l.Tier, scope: l.Scope, listing: l}
}

// parsed is the manifest in the body, read once.
func (x *Exchange) parsed(p Rules) (*Manifest, error) {
	if x.manifest == nil && x.err == nil {
		x.manifest, x.err = ParseManifest(x.Body, p.manifestLimits())
	}
	return x.manifest, x.err
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
