package aiuri

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ProvenanceHeader is the header of a gateway's response with the signature of the result.
// The draft names no header; this one is lookleap's.
const ProvenanceHeader = "AIIP-Provenance"

// joseType is the media type of a body that is a compact JWS.
const joseType = "application/jose"

// Call is one invocation of an endpoint, ready to be sent.
type Call struct {
	URI       URI // without fragment
	Method    string
	Body      []byte
	MediaType string   // of the body
	Scopes    []string // requested scopes
	Token     string   // bearer token for these scopes; may be empty
	MTLS      bool     // the endpoint requires a client certificate
	Targets   []Target // servers for a native connection (see OrderTargets); nil: the URI's authority

	// Nonce is random for each call and part of its RequestDigest, so that the result of an
	// earlier call is not accepted for this one. A native transport sends it to the
	// endpoint. It may be empty.
	Nonce string
	// User is a mark of the user for this endpoint. Only the host can tell which user it
	// stands for. It is part of the RequestDigest if there is a Nonce.
	User string
	// IdempotencyKey is the value of the Idempotency-Key header of a call that commits a plan,
	// see [lookleap.Plan.IdempotencyKey]. A native transport sends it to the endpoint. It is
	// empty for calls of safe methods and calls that need no plan.
	IdempotencyKey string
	To             Destination // where the call goes; zero in Authorize, before the endpoint is known
}

// Invoker calls endpoints. The draft defines no wire format for AIIP, so a native transport
// is an Invoker of the host. Invoke authenticates the endpoint before it sends anything, and
// returns the result without verifying it: [Client] and [Gateway] do that. Invoke must be
// safe for concurrent use.
type Invoker interface {
	Invoke(ctx context.Context, call *Call) (SignedResult, error)
}

// gatewayInvoker calls endpoints through an HTTPS gateway (section 3.2).
type gatewayInvoker struct {
	host    *lookleap.Host
	mapping Mapping
}

// NewGatewayInvoker returns an [Invoker] that calls endpoints through the gateway at base. It
// sends only over authenticated TLS 1.3 and follows no redirects.
func NewGatewayInvoker(host *lookleap.Host, base string) (Invoker, error) {
	if host == nil {
		return nil, errNoHost("an invoker")
	}
	m, err := NewMapping(base)
	if err != nil {
		return nil, err
	}
	return &gatewayInvoker{host, m}, nil
}

func (g *gatewayInvoker) Invoke(ctx context.Context, c *Call) (SignedResult, error) {
	if c == nil {
		return SignedResult{}, fail(lookleap.CodeUsage, "the call is nil", "")
	}
	text, err := g.mapping.URL(c.URI)
	if err != nil {
		return SignedResult{}, err
	}
	url, err := domain.Parse(text)
	if err != nil {
		return SignedResult{}, urlError(CodeAmbiguous, c.URI.Redacted(), "the URI has no canonical https URL at the gateway", err)
	}
	header := http.Header{"Accept": {"application/jose, */*;q=0.5"}}
	if c.Body != nil && c.MediaType != "" {
		header.Set("Content-Type", c.MediaType)
	}
	c.writeBinding(header)
	if c.IdempotencyKey != "" {
		header.Set(lookleap.IdempotencyHeader, c.IdempotencyKey)
	}
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := fetch.Do(ctx, g.host, &fetch.Request{
		Method: c.Method, URL: url, Header: header, Body: c.Body, Limits: fetch.Limits{Body: MaxResult},
		TrustEvidence: true, MinTLS: tls.VersionTLS13, ClientCertificate: c.MTLS,
		ReadBody: func(status int) bool { return status/100 == 2 || status >= 400 }, // problem details too
	})
	if err != nil {
		unsent := !fetch.MayHaveArrived(err)
		if !fetch.Cancelled(err) {
			err = &lookleap.Error{Code: lookleap.CodeOf(err), Subject: c.URI.Redacted(),
				Message: "the call through the gateway failed", Err: hideURL(err)}
		}
		if unsent {
			err = lookleap.NothingSent(err)
		}
		return SignedResult{}, err
	}
	if !resp.OK() {
		return SignedResult{}, &lookleap.Error{Code: CodeEndpointFailed, Subject: c.URI.Redacted(), Message: refusalOf(resp)}
	}
	return resultOf(resp), nil
}

// refusalOf describes the refusal of a gateway: its status and, if its problem details name a
// code of this module, the title of that code. It contains no text of the gateway.
func refusalOf(resp *fetch.Response) string {
	message := "the gateway returned HTTP status " + strconv.Itoa(resp.Status)
	if resp.MediaType != "application/problem+json" {
		return message
	}
	problem, err := strictjson.Parse(resp.Body, strictjson.Limits{Size: 4 << 10})
	if err != nil {
		return message
	}
	member, _ := problem.Member("code")
	if name, _ := text(member); lookleap.Code(name).Known() {
		message += ": " + lookleap.Code(name).Title()
	}
	return message
}

// hideURL removes the URL from an error of an exchange, because it contains the path of the
// ai: URI (section 6). errors.Is still finds what is below.
func hideURL(err error) error { return hidden{err} }

type hidden struct{ err error }

func (h hidden) Error() string             { return lookleap.CodeOf(h.err).Title() }
func (h hidden) Is(target error) bool      { return errors.Is(h.err, target) }
func (h hidden) ReasonCode() lookleap.Code { return lookleap.CodeOf(h.err) }

// resultOf returns the result with its signature, from the header or the body. Several
// headers count as no signature.
func resultOf(resp *fetch.Response) SignedResult {
	switch signatures := resp.Header.Values(ProvenanceHeader); {
	case len(signatures) == 1:
		return SignedResult{JWS: signatures[0], Body: nonNil(resp.Body), MediaType: resp.MediaType}
	case len(signatures) == 0 && resp.MediaType == joseType:
		return SignedResult{JWS: string(resp.Body)}
	}
	return SignedResult{Body: nonNil(resp.Body), MediaType: resp.MediaType}
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Headers that carry [Call.Nonce] and [Call.User] to a gateway and back, so that all sides
// compute the same [RequestDigest]. The draft names no headers; these are lookleap's.
const (
	NonceHeader = "AIIP-Request-Nonce"
	UserHeader  = "AIIP-Request-User"
)

// DefaultMaxAge is the default of [Expectation.MaxAge].
const DefaultMaxAge = 10 * time.Minute

// RequestDigest returns the digest of a call for the claim req, in the form of
// [lookleap.Digest]. Without a nonce it covers method, space, normalized URI, line feed and
// body. With a nonce it covers five lines and then the body: "aiip-request-2", nonce, user,
// method and URI, media type. Endpoints that do not know nonces compute the first form. The
// digest of a nil call is empty.
func RequestDigest(c *Call) string {
	if c == nil {
		return ""
	}
	h := sha256.New()
	line := c.Method + " " + c.URI.Normalize().String() + "\n"
	if c.Nonce != "" {
		line = "aiip-request-2\n" + c.Nonce + "\n" + c.User + "\n" + line + c.MediaType + "\n"
	}
	_, _ = io.WriteString(h, line)
	_, _ = h.Write(c.Body)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// bind returns the expectation for a result of the call.
func (x Expectation) bind(c *Call, d *Discovery) Expectation {
	plain := *c
	plain.Nonce = ""
	x.Endpoint = d.Document.Endpoint
	x.Scopes = d.Document.Scopes
	x.Request = RequestDigest(c)
	x.PlainRequest = RequestDigest(&plain)
	return x
}

// userMark returns a keyed hash of a user for one use. It says nothing about the user without
// the key. Each endpoint is another use, so that two endpoints cannot compare marks.
func userMark(key []byte, user, use string) string {
	if user == "" || len(key) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, "lookleap/aiuri/user/1\x00"+use+"\x00"+user)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// minUserKey is the number of bytes that a key for user marks must have.
const minUserKey = 32

func checkUserKey(key []byte) error {
	if len(key) > 0 && len(key) < minUserKey {
		return fail(CodeBadConfiguration, "UserKey is too short", "use 32 random bytes")
	}
	return nil
}

// readBinding reads nonce and user mark from the headers of a request to a gateway.
func (c *Call) readBinding(h http.Header) error {
	for name, to := range map[string]*string{NonceHeader: &c.Nonce, UserHeader: &c.User} {
		values := h.Values(name)
		if len(values) == 0 {
			continue
		}
		if len(values) > 1 || !isMark(values[0]) {
			return fail(lookleap.CodeUsage, "the request has a malformed nonce or user mark",
				"send 16 to 128 letters, digits, hyphens and underscores")
		}
		*to = values[0]
	}
	if keys := h.Values(lookleap.IdempotencyHeader); len(keys) == 1 && isKey(keys[0]) {
		c.IdempotencyKey = keys[0]
	}
	return nil
}

// isKey reports whether a value is a short string of RFC 9651 without escapes.
func isKey(value string) bool {
	if len(value) < 3 || len(value) > 130 || value[0] != '"' || value[len(value)-1] != '"' {
		return false
	}
	return !strings.ContainsFunc(value[1:len(value)-1], func(r rune) bool { return r < 0x20 || r > 0x7e || r == '"' || r == '\\' })
}

// writeBinding writes nonce and user mark into headers.
func (c *Call) writeBinding(h http.Header) {
	for name, value := range map[string]string{NonceHeader: c.Nonce, UserHeader: c.User} {
		if value != "" {
			h.Set(name, value)
		}
	}
}

func isMark(s string) bool {
	for i := range len(s) {
		if c := s[i]; class[c]&unreserved == 0 || c == '.' || c == '~' {
			return false
		}
	}
	return len(s) >= 16 && len(s) <= 128
}
