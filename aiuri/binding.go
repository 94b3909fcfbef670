package aiuri

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

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

// leastUserKey is the number of bytes that a key for marks of users has at least.
const leastUserKey = 32

func checkUserKey(key []byte) error {
	if len(key) > 0 && len(key) < leastUserKey {
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

// bindings says for each claim that binds a result to its request whether it was made
// and what it proves. A claim that is missing passes no check. If the expectation
// requires the binding, the first one that is missing is the error.
func (c *Claims) bindings(x *Expectation, now time.Time) (checks []lookleap.Check, err *Error) {
	add := func(requirement string, status lookleap.Status, message string) {
		k := lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK, Status: status, Message: message}
		switch status {
		case lookleap.Skipped:
			k.Code = lookleap.CodeSkipped
		case lookleap.Noted:
			k.Code = CodeUnbound
		}
		checks = append(checks, k)
		if x.RequireBinding && status == lookleap.Noted && err == nil {
			err = rejectPolicy(message)
		}
	}
	const row = "AIU-3.4-09"
	unexpected := func(what string) {
		if x.RequireBinding {
			add(row, lookleap.Noted, "no "+what+" is expected, so the result is not bound to one")
			return
		}
		add(row, lookleap.Skipped, "no "+what+" is expected")
	}
	switch { // what contradicts the expectation was refused before
	case c.Has("iss"):
		add(row, lookleap.Passed, "the result names the endpoint as its issuer")
	case x.Endpoint.IsZero():
		unexpected("endpoint")
	default:
		add(row, lookleap.Noted, "the result does not name its issuer, so another endpoint with the same keys may have signed it")
	}
	switch {
	case c.Has("req") && c.Request == x.Request:
		add(row, lookleap.Passed, "the result answers this request")
	case c.Has("req"):
		add(row, lookleap.Noted, "the result answers such a request, and may be that of an earlier call or of another user")
	case x.Request == "" && x.PlainRequest == "":
		unexpected("request")
	default:
		add(row, lookleap.Noted, "the result does not name its request, so it may answer another one")
	}
	switch {
	case c.Has("aud"):
		add(row, lookleap.Passed, "the result names this caller")
	case x.Audience == "":
		add(row, lookleap.Skipped, "no caller is expected")
	default:
		add(row, lookleap.Noted, "the result does not name its caller, so it may be another one's")
	}
	maxAge := x.MaxAge
	if maxAge <= 0 {
		maxAge = DefaultMaxAge
	}
	switch {
	case c.Has("iat") && now.Sub(c.Issued) > maxAge:
		add(row, lookleap.Noted, "the result was issued longer ago than it may be")
	case c.Has("exp"):
		add(row, lookleap.Passed, "the result has not expired")
	case c.Has("iat"):
		add(row, lookleap.Passed, "the result was issued just now")
	default:
		add(row, lookleap.Noted, "the result does not say when it was issued nor when it expires, so it may be an old one")
	}
	if c.Has("scope") {
		add("AIU-3.4-03", lookleap.Passed, "the scopes of the result are among those of the document")
	} else {
		add("AIU-3.4-03", lookleap.Skipped, "the result names no scopes")
	}
	return checks, err
}

// unboundNote is what the summary of a verdict says if a binding is missing.
func unboundNote(checks []lookleap.Check) string {
	if slices.ContainsFunc(checks, func(c lookleap.Check) bool { return c.Code == CodeUnbound }) {
		return ", but does not prove that it answers this very request"
	}
	return ""
}
