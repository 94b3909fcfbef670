package anmltrust

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Rules are the choices of a host about decisions. The zero value follows the
// procedure.
type Rules struct {
	SelfSubdomains        SelfSubdomains `json:"selfSubdomains,omitzero"`
	RequireDNSSECForQuery bool           `json:"requireDnssecForQuery,omitzero"`
	MinTier               Tier           `json:"minTier,omitzero"`               // servers of a lower tier are refused
	AcceptAnyManifestType bool           `json:"acceptAnyManifestType,omitzero"` // for static hosts that know no media types
	MaxManifestLifetime   time.Duration  `json:"maxManifestLifetime,omitzero"`   // nanoseconds; 0: longer ones are a finding
}

// SelfSubdomains says what a host below a registrable domain is to that domain.
type SelfSubdomains uint8

const (
	// Narrow lets the site's own manifest lower the tier of its hosts; otherwise
	// they are the site itself.
	Narrow SelfSubdomains = iota
	// TrustSubdomains takes every host below the site for the site itself.
	TrustSubdomains
	// VerifySubdomains verifies them as third parties.
	VerifySubdomains
)

// Evidence is everything that a decision rests on, in the order it was gathered.
// It marshals to JSON, and [Decide] makes the same decision from it again.
type Evidence struct {
	Policy    Rules         `json:"policy,omitzero"`
	Fresh     bool          `json:"fresh,omitzero"` // gathered for an action with consequences, without remembered grants
	DNS       *DNSEvidence  `json:"dns,omitempty"`
	Exchanges []Exchange    `json:"exchanges,omitempty"`
	Stopped   lookleap.Code `json:"stopped,omitzero"` // why gathering ended early: timeout, budget, or a backoff's own code
	Row       string        `json:"row,omitzero"`     // the row that stopped it
}

// DNSOutcome is how the lookup of the record ended.
type DNSOutcome string

// The outcomes of a lookup.
const (
	DNSAnswer DNSOutcome = "answer" // there are TXT records
	DNSAbsent DNSOutcome = "absent" // NXDOMAIN or NODATA
	DNSBogus  DNSOutcome = "bogus"  // validation failed
	DNSError  DNSOutcome = "error"  // could not find out
)

// DNSEvidence is what the DNS said at _anml.<site>.
type DNSEvidence struct {
	Name    string          `json:"name"`
	Outcome DNSOutcome      `json:"outcome"`
	Texts   []string        `json:"texts,omitempty"` // one for each record, its strings joined
	TTL     time.Duration   `json:"ttl,omitzero"`    // nanoseconds, as received
	DNSSEC  lookleap.DNSSEC `json:"dnssec,omitzero"`
	At      time.Time       `json:"at"`
	Cause   string          `json:"cause,omitzero"` // of a failure, untrusted

	Held bool `json:"held,omitzero"` // not asked: an earlier failure still stands

	remembered bool // what it withdraws was withdrawn when it was read
	err        error
}

// Bounds of how long answers of the DNS are kept.
const (
	minTTL     = time.Minute
	maxTTL     = 24 * time.Hour
	maxNegTTL  = 3 * time.Hour
	defNegTTL  = 5 * time.Minute
	dnsBackoff = time.Minute
)

// ttl is how long what the record leads to is kept.
func (d *DNSEvidence) ttl() time.Duration {
	switch {
	case d.Outcome == DNSAbsent && d.TTL <= 0:
		return defNegTTL
	case d.Outcome == DNSAbsent:
		return min(max(d.TTL, minTTL), maxNegTTL)
	}
	return min(max(d.TTL, minTTL), maxTTL)
}

// Mechanism is one of the two ways in which a site authorizes.
type Mechanism string

// The mechanisms.
const (
	Query          Mechanism = "query"
	ManifestSource Mechanism = "manifest"
)

// Failure is how an exchange ended without a usable response.
type Failure string

// The kinds of failure. Only transient ones open the other mechanism.
const (
	FailedNot       Failure = ""
	FailedTransient Failure = "transient" // timeout, reset, refused, truncated, no address
	FailedTLS       Failure = "tls"       // certificate or handshake, or a certificate that is not the site's
	FailedRedirect  Failure = "redirect"  // led where a manifest may not
	FailedAnswer    Failure = "answer"    // too large, wrong encoding, no HTTP
	FailedOther     Failure = "other"     // refused by a guard, or unknown: final
)

// Exchange is one request to a source, its redirects included, and how it ended.
type Exchange struct {
	Mechanism  Mechanism     `json:"mechanism"`
	URL        string        `json:"url"`              // as advertised
	Final      string        `json:"final,omitempty"`  // that answered, after redirects
	At         time.Time     `json:"at"`               // when the response was complete
	Status     int           `json:"status,omitempty"` // of the answer
	MediaType  string        `json:"mediaType,omitempty"`
	Body       []byte        `json:"body,omitempty"`   // of a 200; of a manifest: what it says about the server and nothing else
	Digest     string        `json:"digest,omitempty"` // of the whole body
	Failure    Failure       `json:"failure,omitempty"`
	Cause      string        `json:"cause,omitempty"`     // of a failure, untrusted
	RetryAfter time.Duration `json:"retryAfter,omitzero"` // nanoseconds; 0: none to rely on
	Fresh      time.Time     `json:"fresh,omitzero"`      // until when HTTP lets the answer be kept; zero: it says nothing
	NoStore    bool          `json:"noStore,omitzero"`    // it may serve this interaction only
	Local      bool          `json:"local,omitzero"`      // it is not for other processes
	Validated  bool          `json:"validated,omitzero"`  // 304 to a validator of ours: Body is what it validated
	Held       lookleap.Code `json:"held,omitempty"`      // not asked: the reason of an earlier failure still stands
	Transient  bool          `json:"transient,omitzero"`  // of Held
	Newest     time.Time     `json:"newest,omitzero"`     // issued of the newest manifest accepted before in its place (row M18)

	remembered bool // read from memory, so there is nothing new to remember
	manifest   *Manifest
	err        error
	validator  fetch.Validator
	began      uint64 // of a remembered manifest: the count of withdrawals before it was asked for
}

// record is a claim with its evidence, as a Verdict keeps it.
type record struct {
	Claim    Claim     `json:"claim"`
	Evidence *Evidence `json:"evidence"`
}

func encodeRecord(c Claim, ev *Evidence, s Server) []byte {
	if _, err := c.Verified.MarshalText(); err != nil { // JSON has no years after 9999; the hint decides nothing
		c.Verified = time.Time{}
	}
	slim := *ev
	slim.Exchanges = make([]Exchange, len(ev.Exchanges))
	for i, x := range ev.Exchanges {
		if x.manifest != nil {
			x.Body = x.manifest.extract(s)
		} else if len(x.Body) > maxKeptBody {
			x.Body = x.Body[:maxKeptBody] // a malformed one stays so
		}
		slim.Exchanges[i] = x
	}
	data, _ := json.Marshal(record{c, &slim}) // only a clock after the year 9999 is an error
	return data
}

// maxKeptBody is how much of a refused manifest a verdict keeps.
const maxKeptBody = 64 << 10

// Replay judges a stored verdict again, from the claim and evidence in its
// Record, at the time at which it was decided or at any other.
func Replay(v *lookleap.Verdict, now time.Time) (*Authorization, error) {
	if v == nil {
		return nil, usageError("there is no verdict", "pass one that this package returned")
	}
	claim, ev, err := decodeRecord(v.Record)
	if err != nil {
		return nil, err
	}
	return Decide(claim, *ev, now)
}

var errNoRecord = errors.New("the verdict has no record to judge again")

func decodeRecord(data []byte) (Claim, *Evidence, error) {
	var r record
	if err := strictjson.Decode(data, &r); err != nil {
		return Claim{}, nil, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	if r.Evidence == nil {
		return Claim{}, nil, errNoRecord
	}
	return r.Claim, r.Evidence, nil
}

// skippedParts are the parts that a verdict mentions if they were not reached.
var skippedParts = [...]struct{ letter, message string }{
	{"A", "the claim itself"},
	{"B", "whether the server is the site"},
	{"C", "the site's record"},
	{"D", "what the record advertises"},
	{"F", "which source is asked first"},
	{"Q", "the query endpoint"},
	{"M", "the manifest"},
}

// reached reports whether a check is about a part, by the letter of its row.
func (o *outcome) reached(letter string) bool {
	return slices.ContainsFunc(o.checks, func(c lookleap.Check) bool {
		at := c.Requirement[:1]
		return at == letter || at == "L" && letter == "M"
	})
}

// conclude states the outcome as a verdict.
func (o *outcome) conclude(claim Claim, ev *Evidence, now time.Time) *result {
	if o.tier > Unlisted && o.tier < ev.Policy.MinTier {
		o.code, o.tier = CodeTierTooLow, Unlisted
	}
	v := &lookleap.Verdict{
		Document: Draft, Subject: o.about(claim),
		OK: o.tier > Unlisted, Code: o.code, CheckedAt: now, Expires: o.until, Checks: o.checks, Findings: o.findings,
		Record: encodeRecord(claim, ev, o.server),
	}
	for _, skipped := range skippedParts {
		if !o.reached(skipped.letter) {
			v.Checks = append(v.Checks, lookleap.Check{Requirement: skipped.letter, Code: lookleap.CodeSkipped,
				Status: lookleap.Skipped, Message: skipped.message + ": not needed"})
		}
	}
	last := lookleap.Check{Requirement: o.row, Code: o.code, Until: o.until}
	if o.tier == Unlisted {
		v.Expires = time.Time{}
		v.Summary = "Tier 0: " + o.code.Title()
		last.Status, last.Message = lookleap.Failed, v.Summary
		v.Checks = append(v.Checks, last)
		return &result{err: &lookleap.VerifyError{Verdict: v, Err: o.cause}}
	}
	a := &Authorization{
		Server: o.server, Site: o.site, Tier: o.tier, Scope: o.scope & o.tier.ceiling(), Truncated: o.scope &^ o.tier.ceiling(),
		Reason: o.code, Sources: o.sources, DNSSEC: o.dnssec, CheckedAt: now, Expires: o.until, Verdict: v,
	}
	if !o.until.IsZero() {
		a.RefreshAfter = o.until.Add(-min(o.until.Sub(now)/10, time.Hour))
	}
	words := cmp.Or(a.Scope.String(), "no section")
	if a.Tier == Self {
		words = "every section"
	}
	v.Summary = fmt.Sprintf("Tier %d (%s): %s; it may speak for %s", a.Tier, a.Tier, o.code.Title(), words)
	last.Status, last.Message = lookleap.Passed, v.Summary
	v.Checks = append(v.Checks, last)
	return &result{auth: a}
}

// about names the server and the site of a claim.
func (s subject) about(c Claim) string {
	return fmt.Sprintf("%s for %s", cmp.Or(s.server.Host, plaintext.Quote(c.URL, maxQuoted)), cmp.Or(s.site, c.Site))
}

// Row returns the row of the decision table that decided a verdict of this package,
// and "" for any other verdict.
func Row(v *lookleap.Verdict) string {
	if v == nil || v.Document != Draft || len(v.Checks) == 0 {
		return ""
	}
	return v.Checks[len(v.Checks)-1].Requirement
}
