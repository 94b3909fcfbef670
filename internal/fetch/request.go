package fetch

import (
	"io"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Request is what [Do] sends and how it judges the response. All fields but URL may be zero,
// which is the safe choice. Do does not change a Request, so it may be used again.
type Request struct {
	Method string      // "" is GET
	URL    domain.URL  // https, unless Plain
	Header http.Header // for the first origin only: dropped when a redirect leads to another one
	Body   []byte      // nil: none; it is sent to the first origin only
	Accept []string    // media types that a 2xx response may have, "type/subtype"; empty: any, or none

	// ReadBody reports whether to read the body of a response with this status; nil: if it is 2xx.
	ReadBody func(status int) bool

	// Stream reads the decoded body as it arrives; then Response.Body is nil. It gets the
	// response without the body. The limits apply. An error ends the exchange. It may stop
	// early, and must not use the reader after it returned.
	Stream func(resp *Response, body io.Reader) error

	// Redirect decides about each redirect before Do follows it. An error ends the exchange,
	// with the code of the error or redirect-forbidden. Nil: a redirect is returned as the
	// response.
	Redirect func(Hop) error
	Rules    domain.Rules // for the URLs of redirects; the scheme must be https, unless Plain

	// Plain allows http for a request that only reads. Nothing is known about the server of such
	// a connection. A redirect from https to http is refused. The default Fetcher refuses http
	// anyway.
	Plain bool

	Limits Limits
	Budget *Budget // shared by the exchanges of one document; nil: no limit

	// TrustEvidence refuses a response unless the Fetcher reported its connection, and the
	// connection passed every check, including that of its certificate. Requests that do more
	// than read (with a Body, or a method other than GET and HEAD) always need this.
	TrustEvidence     bool
	Verified          bool   // weaker than TrustEvidence: if a connection is reported, its certificate must be valid
	MinTLS            uint16 // minimum version, a tls.VersionTLS constant; 0: TLS 1.2
	ClientCertificate bool   // the connection must have presented a client certificate
}

// Limits bound one [Do], including its redirects. A zero field takes its default.
type Limits struct {
	Body   int           // bytes of the body, after decompression
	Header int           // bytes of the header of the response
	Time   time.Duration // for the whole exchange
	Rate   int           // minimum bytes of the body per second, before decompression
	Hops   int           // redirects followed; negative: none
}

// The default limits.
const (
	DefaultBody   = 1 << 20
	DefaultHeader = 32 << 10
	DefaultTime   = 10 * time.Second
	DefaultRate   = 256
	DefaultHops   = 5

	RateWindow = roundtrip.Window
)

func (l Limits) withDefaults() Limits {
	if l.Body <= 0 {
		l.Body = DefaultBody
	}
	if l.Header <= 0 {
		l.Header = DefaultHeader
	}
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	if l.Rate <= 0 {
		l.Rate = DefaultRate
	}
	switch {
	case l.Hops == 0:
		l.Hops = DefaultHops
	case l.Hops < 0:
		l.Hops = 0
	}
	return l
}

// Response is a complete response.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte            // decoded; nil if it was not read
	MediaType string            // in lower case; "" if it is missing or malformed
	Params    map[string]string // of the media type
	URL       domain.URL        // that responded, after redirects
	Hops      []Hop             // redirects followed, in order
	Conn      Conn              // zero if the Fetcher reported nothing
	Freshness Freshness         // RFC 9111, by the Fetcher's clock; the strictest of the response and its Hops
	Received  time.Time         // when the response was complete, by the Fetcher's clock

	// RetryAfter is the Retry-After header by [ParseRetryAfter] with the default bounds; 0: none,
	// or an invalid one.
	RetryAfter time.Duration
}

// OK reports whether the status is 200.
func (r *Response) OK() bool { return r.Status == http.StatusOK }

// Evidence returns the response as evidence of a check.
func (r *Response) Evidence() lookleap.Evidence {
	e := r.Conn.Evidence()
	e.URL, e.Status, e.MediaType = r.URL.String(), r.Status, r.MediaType
	return e
}
