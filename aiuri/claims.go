package aiuri

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Claims are the claims of a signed result (RFC 7519). They are in the protected header or
// are members of a JSON payload. A claim that is in both must be equal. The draft requires
// no claim.
type Claims struct {
	Issuer   string    // iss: the endpoint, an ai: URI
	Audience []string  // aud: the caller
	Expires  time.Time // exp; zero if absent
	Issued   time.Time // iat; zero if absent
	Begins   time.Time // nbf; zero if absent
	Request  string    // req: RequestDigest of the call
	Scopes   []string  // scope: the scopes of the call

	present []string
}

// Has reports whether a claim is present, by its name: iss, aud, exp, iat, nbf, req or scope.
func (c *Claims) Has(name string) bool { return c != nil && slices.Contains(c.present, name) }

var claimNames = [...]string{"iss", "aud", "exp", "iat", "nbf", "req", "scope"}

const (
	maxClockSkew = 5 * time.Minute // how far in the future iat and nbf may be
	maxClaim     = 64 << 10        // bytes of one claim
)

func rejectPolicy(message string) *lookleap.Error { return fail(CodeRejectedPolicy, message, "") }

// readClaims reads the claims of the header and of the payload.
func readClaims(j *jws, payload []byte) (*Claims, *lookleap.Error) {
	c := &Claims{}
	for _, name := range claimNames {
		if v, ok := j.header.Member(name); ok {
			if err := c.set(name, v); err != nil {
				return nil, err
			}
		}
	}
	if err := c.readPayload(payload); err != nil {
		return nil, err
	}
	return c, nil
}

// readPayload adds the claims of a payload that is a JSON object. Other payloads have no claims. A
// payload that begins like an object and is not strict JSON is refused, because less strict readers
// could see claims in it. Members that are not claims may repeat names: no claim depends on them.
func (c *Claims) readPayload(payload []byte) *lookleap.Error {
	object := bytes.TrimLeft(bytes.TrimPrefix(payload, []byte("\ufeff")), " \t\r\n")
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	malformed := rejectPolicy("the payload begins like a JSON object but is not strict JSON")
	d := jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return malformed
	}
	var seen []string
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadToken()
		if err != nil {
			return malformed
		}
		claim := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return malformed
		}
		if !slices.Contains(claimNames[:], claim) {
			continue
		}
		v, err := strictjson.Parse(value, strictjson.Limits{Size: maxClaim})
		if err != nil || slices.Contains(seen, claim) {
			return malformed
		}
		seen = append(seen, claim)
		if err := c.set(claim, v); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil { // the end of the object
		return malformed
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed
	}
	return nil
}

// set reads a claim. A claim that was read before must have the same value.
func (c *Claims) set(name string, v strictjson.Value) *lookleap.Error {
	var ok bool
	before := *c
	switch name {
	case "iss":
		c.Issuer, ok = text(v)
	case "req":
		c.Request, ok = text(v)
	case "exp":
		c.Expires, ok = numericDate(v)
	case "iat":
		c.Issued, ok = numericDate(v)
	case "nbf":
		c.Begins, ok = numericDate(v)
	case "aud":
		c.Audience, ok = texts(v)
	case "scope":
		c.Scopes, ok = texts(v)
		if s, isText := text(v); isText {
			c.Scopes = strings.Fields(s)
		}
	}
	switch {
	case !ok:
		return rejectPolicy("the claim " + name + " has the wrong type")
	case !c.Has(name):
		c.present = append(c.present, name)
	case !reflect.DeepEqual(*c, before):
		return rejectPolicy("a claim differs between header and payload")
	}
	return nil
}

func text(v strictjson.Value) (string, bool) {
	s, err := v.Text()
	return strings.Clone(s), err == nil
}

// texts reads an array of strings. A string alone counts as one.
func texts(v strictjson.Value) ([]string, bool) {
	if s, ok := text(v); ok {
		return []string{s}, true
	}
	all := []string{}
	for e := range v.Elements() {
		s, ok := text(e)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, v.Kind() == strictjson.Array
}

// numericDate reads a number of seconds since 1970, which may have a fraction. The year is
// at most 9999.
func numericDate(v strictjson.Value) (time.Time, bool) {
	f, err := v.Float()
	if err != nil || f < 0 || f > 253402300799 {
		return time.Time{}, false
	}
	whole, fraction := math.Modf(f)
	return time.Unix(int64(whole), int64(fraction*1e9)).UTC(), true
}

// check compares the claims with what is expected. A claim that contradicts it is the error. The
// checks say of each claim that binds a result to its call what it proves. If the expectation
// requires the binding, the first one that is missing is the error.
func (c *Claims) check(x *Expectation, now time.Time) (checks []lookleap.Check, err *lookleap.Error) {
	for _, name := range x.Require {
		if !c.Has(name) {
			if !slices.Contains(claimNames[:], name) {
				name = "that is expected" // whose text is the caller's
			}
			return nil, rejectPolicy("the claim " + name + " is required but missing")
		}
	}
	switch {
	case c.Has("exp") && !now.Before(c.Expires):
		return nil, rejectPolicy("the result has expired")
	case c.Has("iat") && c.Issued.After(now.Add(maxClockSkew)):
		return nil, rejectPolicy("the result was issued in the future")
	case c.Has("nbf") && c.Begins.After(now.Add(maxClockSkew)):
		return nil, rejectPolicy("the result is not valid yet")
	}
	add := func(requirement string, status lookleap.Status, message string) {
		code := lookleap.CodeOK
		switch status {
		case lookleap.Skipped:
			code = lookleap.CodeSkipped
		case lookleap.Noted:
			if code = codeUnbound; x.RequireBinding && err == nil {
				err = rejectPolicy(message)
			}
		}
		checks = append(checks, lookleap.Check{Requirement: requirement, Code: code, Status: status, Message: message})
	}
	const row = "AIU-3.4-09"
	issuer, _ := Parse(c.Issuer)
	for _, b := range []struct {
		claim, of         string // the claim, and what it names
		expected, matches bool
		other, same, none string // what it says if it names another one, the expected one, or none
	}{
		{"iss", "endpoint", !x.Endpoint.IsZero(), issuer.Equal(x.Endpoint),
			"the issuer is another endpoint", "the result names the endpoint as its issuer",
			"the result does not name its issuer, so another endpoint with the same keys may have signed it"},
		{"req", "request", x.Request != "" || x.PlainRequest != "",
			c.Request != "" && (c.Request == x.Request || c.Request == x.PlainRequest),
			"the result answers another request", "the result answers this request",
			"the result does not name its request, so it may answer another one"},
		{"aud", "caller", x.Audience != "", slices.Contains(c.Audience, x.Audience),
			"the result is for another caller", "the result names this caller",
			"the result does not name its caller, so it may be for another one"},
	} {
		switch has := c.Has(b.claim); {
		case has && !b.expected:
			return nil, rejectPolicy("the result has the claim " + b.claim + ", but no " + b.of + " is expected")
		case has && !b.matches:
			return nil, rejectPolicy(b.other)
		case has && b.claim == "req" && c.Request != x.Request:
			add(row, lookleap.Noted, "the result answers such a request, but it may be from an earlier call or for another user")
		case has:
			add(row, lookleap.Passed, b.same)
		case b.expected:
			add(row, lookleap.Noted, b.none)
		case x.RequireBinding && b.claim != "aud": // a caller may have no name
			add(row, lookleap.Noted, "no "+b.of+" is expected, so the result is not bound to one")
		default:
			add(row, lookleap.Skipped, "no "+b.of+" is expected")
		}
	}
	for _, scope := range c.Scopes {
		if !slices.Contains(x.Scopes, scope) {
			return nil, rejectPolicy("the result names a scope that the document does not have")
		}
	}
	maxAge := cmp.Or(max(x.MaxAge, 0), DefaultMaxAge)
	switch {
	case c.Has("iat") && now.Sub(c.Issued) > maxAge:
		add(row, lookleap.Noted, "the result was issued longer ago than allowed")
	case !c.Has("iat") && c.Has("exp") && c.Expires.Sub(now) > maxAge:
		add(row, lookleap.Noted, "the result does not say when it was issued, and expires later than the maximum age from now")
	case c.Has("exp"):
		add(row, lookleap.Passed, "the result has not expired")
	case c.Has("iat"):
		add(row, lookleap.Passed, "the result was issued recently")
	default:
		add(row, lookleap.Noted, "the result has neither iat nor exp, so it may be an old one")
	}
	if c.Has("scope") {
		add("AIU-3.4-03", lookleap.Passed, "the scopes of the result are among those of the document")
	} else {
		add("AIU-3.4-03", lookleap.Skipped, "the result names no scopes")
	}
	return checks, err
}
