package fetch

import (
	"io"
	"net/http"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Request is one read. The zero value of everything but URL is the safe choice.
// A Request is not changed by [Do] and may be used again.
type Request struct {
	Method string      // "" is GET
	URL    domain.URL  // https, unless Plain; what was compared is what is fetched
	Header http.Header // what only the first origin may see; dropped when a redirect leaves it
	Body   []byte      // nil: none. It is sent to the first origin only
	Accept []string    // media types a 2xx answer may have, "type/subtype"; empty: any, a missing one too

	// ReadBody says which answers' bodies are read; nil reads those of 2xx.
	ReadBody func(status int) bool

	// Stream is given a body as it arrives, decoded, in place of Response.Body, and
	// what the answer said before it. The limits hold all the same. An error of its
	// ends the exchange; it may stop reading early, and keeps no part of its reader.
	Stream func(answer *Response, body io.Reader) error

	// Redirect is asked before a redirect is followed; an error of its ends the
	// exchange before the next request is sent, as [lookleap.CodeOf] says or as
	// redirect-forbidden. Nil: a redirect is returned as the answer.
	Redirect func(Hop) error
	Rules    domain.Rules // what a redirect's target must be as a URL; the scheme is https whatever they say, unless Plain

	// Plain lets a read begin over http and go on there, on a connection that proves
	// nothing. From https it never goes back. The default Fetcher refuses http all the
	// same.
	Plain bool

	Limits Limits
	Budget *Budget // shared by the exchanges of one document; nil: none

	// TrustEvidence makes an answer unusable unless the Fetcher reported the
	// connection it came over and that connection passed every check, its
	// certificate included. Requests that do more than read (a Body, or a method
	// other than GET and HEAD) are always held to it.
	TrustEvidence     bool
	Verified          bool   // no trust evidence, but a connection that is reported must have passed the check of its certificate
	MinTLS            uint16 // least version, a tls.VersionTLS constant; 0: TLS 1.2
	ClientCertificate bool   // the connection must have presented a client certificate
}

// Limits bound one [Do], its redirects included. A zero field takes its default.
type Limits struct {
	Body   int           // bytes of the body, after decompression
	Header int           // bytes of the answer's header
	Time   time.Duration // for the whole
	Rate   int           // least bytes of the body per second, as sent, measured over RateWindow
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

// Response is a complete answer.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte            // decoded; nil when ReadBody said no
	MediaType string            // lower case; "" when missing or malformed
	Params    map[string]string // of the media type
	URL       domain.URL        // that gave the answer: the last one after redirects
	Hops      []Hop             // redirects followed, in order
	Conn      Conn              // what the Fetcher reported; the zero value: nothing
	Freshness Freshness         // RFC 9111, by the Fetcher's clock; the strictest of the answer and its Hops
	Received  time.Time         // when the answer was complete, by the Fetcher's clock

	// RetryAfter is the Retry-After header by [ParseRetryAfter] with the default
	// bounds; 0: there was none, or none to rely on.
	RetryAfter time.Duration
}

// OK reports whether the status is 200.
func (r *Response) OK() bool { return r.Status == http.StatusOK }

// Evidence is the answer as evidence of a check.
func (r *Response) Evidence() lookleap.Evidence {
	return lookleap.Evidence{
		URL:       r.URL.String(),
		Status:    r.Status,
		MediaType: r.MediaType,
		Address:   r.Conn.address(),
		TLS:       r.Conn.version(),
	}
}
