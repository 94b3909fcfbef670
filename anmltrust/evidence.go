package anmltrust

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
)

// Rules is what a host may choose about decisions. The zero value is the
// procedure's own choice.
type Rules struct {
	SelfSubdomains        SelfSubdomains `json:"selfSubdomains,omitzero"`
	RequireDNSSECForQuery bool           `json:"requireDnssecForQuery,omitzero"`
	AcceptAnyManifestType bool           `json:"acceptAnyManifestType,omitzero"` // for static hosts that know no media types
	MaxManifestLifetime   time.Duration  `json:"maxManifestLifetime,omitzero"`   // nanoseconds; 0: longer ones are a finding
	MaxManifestSize       int            `json:"maxManifestSize,omitzero"`       // octets; 0: 1 MiB
	MaxManifestEntries    int            `json:"maxManifestEntries,omitzero"`    // 0: 10,000
}

func (p Rules) manifestLimits() ManifestLimits {
	return ManifestLimits{p.MaxManifestSize, p.MaxManifestEntries}
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
// It marshals to JSON, and [Decide] gives the same answer from it again.
type Evidence struct {
	Policy    Rules         `json:"policy,omitzero"`
	Fresh     bool          `json:"fresh,omitzero"` // gathered anew, for a consequential action
	DNS       *DNSEvidence  `json:"dns,omitempty"`
	Exchanges []Exchange    `json:"exchanges,omitempty"`
	Stopped   lookleap.Code `json:"stopped,omitzero"` // why gathering ended early: timeout, budget, or a backoff's own code
	Row       string        `json:"row,omitzero"`     // the row that stopped it
}

// DNSOutcome is how asking for the record ended: the four states never blur.
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

	err error
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

// Failure is how an exchange ended without a usable answer.
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

// Exchange is one question to a source, its redirects included, and how it ended.
type Exchange struct {
	Mechanism  Mechanism     `json:"mechanism"`
	URL        string        `json:"url"`              // as advertised
	Final      string        `json:"final,omitempty"`  // that answered, after redirects
	At         time.Time     `json:"at"`               // when the answer was complete
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
}

// record is a claim with its evidence, as a Verdict keeps it.
type record struct {
	Claim    Claim     `json:"claim"`
	Evidence *Evidence `json:"evidence"`
}

func encodeRecord(c Claim, ev *Evidence, s Server) []byte {
	slim := *ev
	slim.Exchanges = make([]Exchange, len(ev.Exchanges))
	for i, x := range ev.Exchanges {
		if x.manifest != nil {
			x.Body = x.manifest.extract(s)
		} else if x.Mechanism == Query && len(x.Body) > plainAnswer {
			x.Body = shortAnswer(x.Body)
		} else if x.Mechanism == ManifestSource && len(x.Body) > maxKeptBody {
			x.Body = x.Body[:maxKeptBody] // a malformed one stays so
		}
		slim.Exchanges[i] = x
	}
	data, _ := json.Marshal(record{c, &slim}) // these types cannot fail
	return data
}

// plainAnswer is how long an answer of a query without padding may be.
const plainAnswer = 512

// shortAnswer is an answer with what was read from it and nothing else.
func shortAnswer(body []byte) []byte {
	a, err := ParseQueryResponse(body)
	if err != nil {
		return body
	}
	short, _ := json.Marshal(map[string]any{"authorized": true, "tier": a.Tier, "scope": a.Scope, "expires": a.Expires.Format(timeForm)})
	return short
}

// maxKeptBody is how much of a refused manifest a verdict keeps.
const maxKeptBody = 64 << 10

// Replay judges a stored verdict again, from the claim and evidence in its
// Record, at the time at which it was decided or at any other.
func Replay(v *lookleap.Verdict, now time.Time) (*Authorization, error) {
	if v == nil {
		return nil, usageError("there is no verdict", "give one that this package returned")
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
	if err := json.Unmarshal(data, &r); err != nil {
		return Claim{}, nil, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	if r.Evidence == nil {
		return Claim{}, nil, errNoRecord
	}
	return r.Claim, r.Evidence, nil
}
