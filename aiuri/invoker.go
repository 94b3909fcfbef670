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
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// ProvenanceHeader carries the signature of a result through a gateway. The
// draft names no header; this one is ours.
const ProvenanceHeader = "AIIP-Provenance"

// joseType is the media type of a body that is itself a compact JWS.
const joseType = "application/jose"

// Call is one invocation of an endpoint, completely prepared.
type Call struct {
	URI       URI // without fragment
	Method    string
	Body      []byte
	MediaType string   // of the body
	Scopes    []string // asked for, and no more
	Token     string   // bearer token for these scopes; "": none
	MTLS      bool     // a client certificate has to be shown
	Targets   []Target // where a native connection is made (see OrderTargets); nil: at the URI's authority

	// Nonce is new for each call and is part of its RequestDigest, so that the result
	// of an earlier call does not pass for this one's. A native transport carries it to
	// the endpoint; "": there is none.
	Nonce string
	// User is a mark of the user for this endpoint, and no identity: only the host can
	// tell who is meant. It is part of the RequestDigest if there is a Nonce.
	User string
	To   Destination // where the call goes; zero in Authorize, before the endpoint is known
}

// Invoker performs a call and gives its result as it came. The draft defines no
// wire format for AIIP, so that native transports are plugged in here. An Invoker
// authenticates the endpoint before it sends anything; what it gives is verified
// by whoever called it. It is called from several goroutines at once.
type Invoker interface {
	Invoke(ctx context.Context, call *Call) (SignedResult, error)
}

// gatewayInvoker calls through an HTTPS gateway (section 3.2).
type gatewayInvoker struct {
	host    *lookleap.Host
	mapping Mapping
}

// NewGatewayInvoker calls endpoints through the gateway at a base. The connection is
// TLS 1.3 to a server that was authenticated, redirects are not followed, and
// nothing is sent otherwise.
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
		return SignedResult{}, fail(lookleap.CodeUsage, "there is no call to make", "")
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
	c.putBinding(header)
	if c.Token != "" {
		header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := fetch.Do(ctx, g.host, &fetch.Request{
		Method: c.Method, URL: url, Header: header, Body: c.Body, Limits: fetch.Limits{Body: MaxResult},
		TrustEvidence: true, MinTLS: tls.VersionTLS13, ClientCertificate: c.MTLS,
		ReadBody: func(status int) bool { return status/100 == 2 || status >= 400 }, // problem details too
	})
	if err != nil {
		if fetch.Cancelled(err) {
			return SignedResult{}, err
		}
		return SignedResult{}, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: c.URI.Redacted(), Message: "the gateway could not be used", Err: hideURL(err)}
	}
	if !resp.OK() {
		return SignedResult{}, &lookleap.Error{Code: CodeEndpointFailed, Subject: c.URI.Redacted(), Message: gatewayReason(resp)}
	}
	return resultOf(resp), nil
}

// gatewayReason tells how a gateway refused: its status and, where its problem
// details name one, the title of a code of ours. None of its own words.
func gatewayReason(resp *fetch.Response) string {
	reason := "the gateway answered " + strconv.Itoa(resp.Status)
	if resp.MediaType != "application/problem+json" {
		return reason
	}
	problem, err := strictjson.Parse(resp.Body, strictjson.Limits{Size: 4 << 10})
	if err != nil {
		return reason
	}
	if member, ok := problem.Member("code"); ok {
		if name, _ := text(member); lookleap.Code(name).Known() {
			reason += ": " + lookleap.Code(name).Title()
		}
	}
	return reason
}

// hideURL keeps what errors.Is finds of an exchange and drops its URL, which
// holds the path of the ai: URI (section 6).
func hideURL(err error) error { return hidden{err} }

type hidden struct{ err error }

func (h hidden) Error() string             { return lookleap.CodeOf(h.err).Title() }
func (h hidden) Is(target error) bool      { return errors.Is(h.err, target) }
func (h hidden) ReasonCode() lookleap.Code { return lookleap.CodeOf(h.err) }

// resultOf finds the signature: in its header, or as the body. Several headers
// are none.
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

// Headers that carry [Call.Nonce] and [Call.User] to a gateway and back, so that all
// sides compute the same [RequestDigest]. The draft has none; these are ours.
const (
	NonceHeader = "AIIP-Request-Nonce"
	UserHeader  = "AIIP-Request-User"
)

// DefaultMaxAge is how long ago a result may have been issued if [Expectation.MaxAge]
// is zero.
const DefaultMaxAge = 10 * time.Minute

// RequestDigest returns the digest of a call for the claim req, in the form of
// [lookleap.Digest]. Without a nonce it covers method, space, normalized URI, line feed
// and body. With a nonce it covers the lines "aiip-request-2", nonce, user, method and
// URI, and media type, each with a line feed, and then the body. Endpoints that do not
// know of nonces compute the first form. The digest of nil is empty.
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

// bind fills in what an expectation holds a result of the call to.
func (x Expectation) bind(c *Call, d *Discovery) Expectation {
	plain := *c
	plain.Nonce = ""
	x.Endpoint, x.Scopes, x.Request, x.PlainRequest = d.Document.Endpoint, d.Document.Scopes, RequestDigest(c), RequestDigest(&plain)
	return x
}

// userMark returns a mark of a user that says nothing about the user to those who do
// not have the key. Each use has another mark, so that two endpoints cannot compare.
func userMark(key []byte, user, use string) string {
	if user == "" || len(key) == 0 {
		return ""
	}
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, "lookleap/aiuri/user/1\x00"+use+"\x00"+user)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// minUserKey is the number of bytes that a key for marks of users has at least.
const minUserKey = 32

func checkUserKey(key []byte) error {
	if len(key) > 0 && len(key) < minUserKey {
		return fail(CodeBadConfiguration, "UserKey is too short", "use 32 random bytes")
	}
	return nil
}

// takeBinding reads nonce and user from the headers of a request at a gateway.
func (c *Call) takeBinding(h http.Header) error {
	for name, to := range map[string]*string{NonceHeader: &c.Nonce, UserHeader: &c.User} {
		values := h.Values(name)
		if len(values) == 0 {
			continue
		}
		if len(values) > 1 || !isMark(values[0]) {
			return fail(lookleap.CodeUsage, "the request has a malformed nonce or user mark", "send 16 to 128 letters, digits, hyphens and underscores")
		}
		*to = values[0]
	}
	return nil
}

// putBinding writes nonce and user into headers.
func (c *Call) putBinding(h http.Header) {
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
