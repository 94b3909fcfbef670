package wellknown

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// State is the result of a request for a document. The zero value is Unavailable.
type State uint8

const (
	// Unavailable means that there was no usable response.
	Unavailable State = iota
	// Forbidden means that the server refused this client (401, 403).
	Forbidden
	// Absent means that the document does not exist. No name has to exist.
	Absent
	// Present means that the document was read completely.
	Present
)

var stateNames = [...]string{"unavailable", "forbidden", "absent", "present"}

// String returns the state in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return stateNames[Unavailable]
}

// MarshalText returns the state in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Resource is the document, or its absence, at one well-known URI of one origin. It
// is shared between callers: do not change it.
type Resource struct {
	State     State              `json:"state"`
	Code      lookleap.Code      `json:"code"`               // why
	Origin    string             `json:"origin"`             // the origin that was asked; the document speaks for no other
	URL       string             `json:"url"`                // the well-known URI
	FinalURL  string             `json:"finalUrl,omitempty"` // the URL of the response, after redirects
	Status    int                `json:"status,omitempty"`   // HTTP status; 0 if there was no response
	MediaType string             `json:"mediaType,omitempty"`
	Header    http.Header        `json:"-"`
	Body      []byte             `json:"-"` // only of a present document
	Findings  []lookleap.Finding `json:"findings,omitempty"`
	Verdict   *lookleap.Verdict  `json:"-"`

	CrossOrigin bool          `json:"crossOrigin,omitempty"` // a redirect that the options allow left the origin
	RetryAfter  time.Duration `json:"-"`                     // when to ask for an unavailable document again; 0: not stated
	Fetched     time.Time     `json:"fetched"`
	Expires     time.Time     `json:"expires"` // until when the client caches it

	control    fetch.CacheControl // the strictest of the response and the redirects that led to it
	staleUntil time.Time          // until when it may replace an unavailable document
}

// StaleUse returns for how long after it expired a present document may be used while its
// server fails: stale-if-error or, if that is not stated, otherwise, and at most most. It is 0
// where the response, or a redirect that led to it, forbids stale use.
func (r *Resource) StaleUse(otherwise, most time.Duration) time.Duration {
	r = zero.Or(r)
	if r.State != Present {
		return 0
	}
	return r.control.StaleUse(otherwise, most)
}

// insteadOf returns a copy of a present document that replaces the result of a
// failed request until that expires.
func (r *Resource) insteadOf(failed *Resource) *Resource {
	again := *r
	again.Expires = failed.Expires
	again.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f lookleap.Finding) bool { return f.Code == lookleap.CodeStale })
	again.finding(lookleap.SeverityWarning, lookleap.CodeStale, "WK-4-01",
		"the server is unavailable, so the document read earlier is used", "")
	verdict := *r.Verdict
	verdict.Findings, verdict.Expires = again.Findings, again.Expires
	again.Verdict = &verdict
	return &again
}

// sizeOf estimates the memory of a cached result: its document, its header, and a
// kilobyte for everything else.
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

// MarshalJSON returns the fields that have a JSON name, and retryAfter in seconds if
// the server stated it.
func (r *Resource) MarshalJSON() ([]byte, error) {
	r = zero.Or(r)
	type plain Resource // without this method
	return json.Marshal(struct {
		*plain
		RetryAfter int64 `json:"retryAfter,omitempty"`
	}{(*plain)(r), int64(math.Ceil(r.RetryAfter.Seconds()))})
}

// AppliesTo reports whether the document speaks for an origin. It speaks only for the
// one that was asked: not for a parent, a subdomain, another port or another scheme
// (section 4.3). It never applies to a URL with a path, because the document speaks
// for the operator of the origin and not for a party below some path (section 4.1).
func (r *Resource) AppliesTo(origin string) bool {
	u, err := parseURL(origin)
	return err == nil && u.Path() == "/" && !u.HasQuery() && u.Origin() == zero.Or(r).Origin
}

// finding adds a finding about the URI.
func (r *Resource) finding(severity lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
	r.Findings = append(r.Findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement, Message: message, Fix: fix,
		Position: lookleap.Position{Path: r.URL}})
}

// conclude fills in the verdict.
func (r *Resource) conclude(evidence ...lookleap.Evidence) *Resource {
	check := lookleap.Check{Requirement: "WK-3-18", Code: r.Code, Status: lookleap.Failed, Message: r.Code.Title(),
		Evidence: evidence, Until: r.Expires}
	switch r.State {
	case Present:
		check.Status = lookleap.Passed
		check.Message = "the origin answered with the document"
		if r.CrossOrigin {
			check.Status, check.Code = lookleap.Noted, lookleap.CodeRedirectCrossOrigin
			check.Message = "the origin redirects to another one, which the options allow"
		}
	case Absent:
		check.Status = lookleap.Noted
	}
	summary := fmt.Sprintf("the document is %s", r.State)
	if r.Code != lookleap.CodeOK && r.Code != CodeAbsent {
		summary += ": " + r.Code.Title()
	}
	r.Verdict = &lookleap.Verdict{
		Document:  Spec,
		Subject:   r.URL,
		OK:        r.State == Present,
		Code:      r.Code,
		Summary:   summary,
		Checks:    []lookleap.Check{check},
		CheckedAt: r.Fetched,
		Expires:   r.Expires,
		Findings:  r.Findings,
	}
	return r
}
