package wellknown

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// State is what asking for a document came to. The zero value is Unavailable.
type State uint8

const (
	// Unavailable: the server gave no usable answer, now.
	Unavailable State = iota
	// Forbidden: the server does not show the document to this client (401, 403).
	Forbidden
	// Absent: the document does not exist. Nothing promised that it would.
	Absent
	// Present: the document was read completely.
	Present
)

var stateNames = [...]string{"unavailable", "forbidden", "absent", "present"}

// String gives the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Unavailable]
}

// MarshalText gives the state in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Resource is what one origin says at one well-known URI. It is shared between
// callers: do not change it.
type Resource struct {
	State     State              `json:"state"`
	Code      lookleap.Code      `json:"code"`               // why
	Origin    string             `json:"origin"`             // the origin that was asked, and the only one it speaks for
	URL       string             `json:"url"`                // the well-known URI
	FinalURL  string             `json:"finalUrl,omitempty"` // what answered, after redirects
	Status    int                `json:"status,omitempty"`   // HTTP status, 0 when there was no answer
	MediaType string             `json:"mediaType,omitempty"`
	Header    http.Header        `json:"-"`
	Body      []byte             `json:"-"` // of a present document
	Findings  []lookleap.Finding `json:"findings,omitempty"`
	Verdict   *lookleap.Verdict  `json:"-"`

	CrossOrigin bool          `json:"crossOrigin,omitempty"` // a redirect left the origin, as the options allow
	RetryAfter  time.Duration `json:"-"`                     // for an unavailable document: when to ask again; 0: not said
	Fetched     time.Time     `json:"fetched"`
	Expires     time.Time     `json:"expires"` // until when it is served from memory

	staleUntil time.Time // until when it stands in for a document that is unavailable
}

// standIn returns a copy of a present document that is used in the place of an
// answer that the server could not give, until the server is asked again.
func (r *Resource) standIn(failed *Resource) *Resource {
	again := *r
	again.Expires = failed.Expires
	again.Findings = slices.Clone(r.Findings)
	again.finding(lookleap.SeverityWarning, lookleap.CodeStale, "WK-4-01", "the server is unavailable, so the document read earlier is used", "")
	verdict := *r.Verdict
	verdict.Findings, verdict.Expires = again.Findings, again.Expires
	again.Verdict = &verdict
	return &again
}

// sizeOf estimates the memory that a result takes: its document and header, and a
// kilobyte for all else.
func sizeOf(url string, r *Resource) int {
	size := 1<<10 + 2*len(url) + len(r.Body)
	for name, values := range r.Header {
		size += len(name)
		for _, value := range values {
			size += len(value)
		}
	}
	return size
}

// MarshalJSON writes the members that have a name there, and retryAfter, where the
// server said one, in seconds as HTTP has it.
func (r *Resource) MarshalJSON() ([]byte, error) {
	r = zero.Or(r)
	type plain Resource // without this method
	return json.Marshal(struct {
		*plain
		RetryAfter int64 `json:"retryAfter,omitempty"`
	}{(*plain)(r), int64(math.Ceil(r.RetryAfter.Seconds()))})
}

// AppliesTo reports whether the result speaks for an origin: the one that was
// asked, and no parent, subdomain, other port or other scheme (section 4.3). A
// URL with a path is no origin: where several parties share one, its documents
// speak for the operator and not for a party below some path (section 4.1).
func (r *Resource) AppliesTo(origin string) bool {
	u, err := parseURL(origin)
	return err == nil && u.Path() == "/" && !u.HasQuery() && u.Origin() == zero.Or(r).Origin
}

// finding appends a finding about the URI.
func (r *Resource) finding(severity lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
	r.Findings = append(r.Findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
		Position: lookleap.Position{Path: r.URL}})
}

func (r *Resource) summary() string {
	switch r.Code {
	case lookleap.CodeOK, CodeAbsent:
		return fmt.Sprintf("the document is %s", r.State)
	}
	return fmt.Sprintf("the document is %s: %s", r.State, r.Code.Title())
}

// conclude states the result as a verdict.
func (r *Resource) conclude(evidence ...lookleap.Evidence) *Resource {
	check := lookleap.Check{Requirement: "WK-3-18", Code: r.Code, Status: lookleap.Failed, Message: r.Code.Title(), Evidence: evidence, Until: r.Expires}
	switch r.State {
	case Present:
		check.Status = lookleap.Passed
		check.Message = "the origin answered with the document"
		if r.CrossOrigin {
			check.Status, check.Code = lookleap.Noted, lookleap.CodeRedirectCrossOrigin
			check.Message = "another origin answered, to which this one redirects and which the options allow"
		}
	case Absent:
		check.Status = lookleap.Noted
	}
	r.Verdict = &lookleap.Verdict{
		Document:  Spec,
		Subject:   r.URL,
		OK:        r.State == Present,
		Code:      r.Code,
		Summary:   r.summary(),
		Checks:    []lookleap.Check{check},
		CheckedAt: r.Fetched,
		Expires:   r.Expires,
		Findings:  r.Findings,
	}
	return r
}
