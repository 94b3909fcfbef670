package aiuri

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// Call is one invocation of an endpoint, ready to be sent.
type Call struct {
	URI       URI // without fragment
	Method    string
	Body      []byte
	MediaType string   // of the body
	Scopes    []string // requested scopes
	Token     string   // bearer token for these scopes; may be empty
	MTLS      bool     // the endpoint requires a client certificate
	Targets   []Target // servers for a native connection in the order in which to try them; nil: the URI's authority

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

// readBinding reads nonce and user mark from the headers of a request to a gateway.
func (c *Call) readBinding(h http.Header) error {
	for name, to := range map[string]*string{NonceHeader: &c.Nonce, UserHeader: &c.User} {
		values := h.Values(name)
		if len(values) == 0 {
			continue
		}
		if len(values) > 1 || !markForm().MatchString(values[0]) {
			return fail(lookleap.CodeUsage, "the request has a malformed nonce or user mark",
				"send 16 to 128 letters, digits, hyphens and underscores")
		}
		*to = values[0]
	}
	if keys := h.Values(lookleap.IdempotencyHeader); len(keys) == 1 && keyForm().MatchString(keys[0]) {
		c.IdempotencyKey = keys[0]
	}
	return nil
}

var (
	markForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`) })
	// keyForm is a short string of RFC 9651 without escapes.
	keyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"[ !#-\[\]-~]{1,128}"$`) })
)

// writeBinding writes nonce and user mark into headers.
func (c *Call) writeBinding(h http.Header) {
	for name, value := range map[string]string{NonceHeader: c.Nonce, UserHeader: c.User} {
		if value != "" {
			h.Set(name, value)
		}
	}
}
