package aiuri

import (
	"bytes"
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

const maxClockSkew = 5 * time.Minute // how far in the future iat and nbf may be

func rejectPolicy(message string) *lookleap.Error { return fail(CodeRejectedPolicy, message, "") }

// readClaims reads the claims of the header and of the payload.
func readClaims(h *header, payload []byte) (*Claims, *lookleap.Error) {
	c := &Claims{}
	for _, name := range claimNames {
		if v, ok := h.members.Member(name); ok {
			if err := c.set(name, v); err != nil {
				return nil, err
			}
		}
	}
	if h.nested {
		return nil, rejectPolicy("the payload is another signed result, whose claims are not checked")
	}
	if err := c.readPayload(payload); err != nil {
		return nil, err
	}
	return c, nil
}

const (
	maxClaim = 64 << 10 // bytes of one claim

	byteOrderMark = "\xef\xbb\xbf"
)

// readPayload adds the claims of a payload that is a JSON object. Other payloads have no claims. If
// less strict readers could see claims in a payload that is not strict JSON, that is an error.
func (c *Claims) readPayload(payload []byte) (err *lookleap.Error) {
	object := bytes.TrimLeft(bytes.TrimPrefix(payload, []byte(byteOrderMark)), " \t\r\n")
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	both := *c
	var own []string
	strict := claimMembers(payload, func(name string, value []byte) bool {
		v, bad := strictjson.Parse(value, strictjson.Limits{Size: maxClaim})
		if bad != nil || slices.Contains(own, name) {
			return false
		}
		own = append(own, name)
		err = both.set(name, v)
		return err == nil
	})
	switch {
	case err != nil:
		return err
	case strict:
		*c = both
	case seemsToClaim(payload):
		return rejectPolicy("the payload seems to have claims but is not strict JSON")
	}
	return nil
}

// claimMembers calls claim with the members of a JSON object that have the name of a claim.
// It reports whether the payload is one strict JSON object and claim accepted each member.
// Members that are not claims may repeat names, because no claim depends on them.
func claimMembers(payload []byte, claim func(name string, value []byte) bool) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
		return false
	}
	for d.PeekKind() == jsontext.KindString {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil || slices.Contains(claimNames[:], name) && !claim(name, value) {
			return false
		}
	}
	if _, err := d.ReadToken(); err != nil { // the end of the object
		return false
	}
	_, err := d.ReadToken()
	return errors.Is(err, io.EOF)
}

// seemsToClaim reports whether less strict readers could see claims in a text that is not
// strict JSON, even readers that need no quotation marks.
func seemsToClaim(payload []byte) bool {
	if bytes.Contains(payload, []byte(`\u00`)) {
		return true // a name may be escaped
	}
	for _, name := range claimNames {
		for rest, found := payload, true; found; {
			if _, rest, found = bytes.Cut(rest, []byte(name)); found {
				after := bytes.TrimLeft(rest, " \t\r\n")
				if len(after) > 0 && strings.IndexByte(`"':/#`, after[0]) >= 0 { // the name's end, its colon, or a comment before that
					return true
				}
			}
		}
	}
	return false
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

func texts(v strictjson.Value) ([]string, bool) {
	if s, ok := text(v); ok {
		return []string{s}, true
	}
	if v.Kind() != strictjson.Array {
		return nil, false
	}
	all := make([]string, 0, v.Len())
	for e := range v.Elements() {
		s, ok := text(e)
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
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

// check compares the claims with what is expected.
func (c *Claims) check(x *Expectation, now time.Time) *lookleap.Error {
	for _, name := range x.Require {
		if !c.Has(name) {
			return rejectPolicy("the claim " + plainName(name) + " is required but missing")
		}
	}
	if c.Has("exp") && !now.Before(c.Expires) {
		return rejectPolicy("the result has expired")
	}
	if c.Has("iat") && c.Issued.After(now.Add(maxClockSkew)) {
		return rejectPolicy("the result was issued in the future")
	}
	if c.Has("nbf") && c.Begins.After(now.Add(maxClockSkew)) {
		return rejectPolicy("the result is not valid yet")
	}
	switch {
	case c.Has("iss") && x.Endpoint.IsZero():
		return rejectPolicy("the result names its issuer, but no endpoint is expected")
	case c.Has("iss") && !c.issuedBy(x.Endpoint):
		return rejectPolicy("the issuer is another endpoint")
	case c.Has("aud") && x.Audience == "":
		return rejectPolicy("the result names its audience, but no caller is expected")
	case c.Has("aud") && !slices.Contains(c.Audience, x.Audience):
		return rejectPolicy("the result is for another caller")
	case c.Has("req") && x.Request == "" && x.PlainRequest == "":
		return rejectPolicy("the result names its request, but none is expected")
	case c.Has("req") && (c.Request == "" || c.Request != x.Request && c.Request != x.PlainRequest):
		return rejectPolicy("the result answers another request")
	}
	for _, scope := range c.Scopes {
		if !slices.Contains(x.Scopes, scope) {
			return rejectPolicy("the result names a scope that the document does not have")
		}
	}
	return nil
}

func (c *Claims) issuedBy(endpoint URI) bool {
	issuer, err := Parse(c.Issuer)
	return err == nil && issuer.Equal(endpoint)
}

func plainName(name string) string {
	if slices.Contains(claimNames[:], name) {
		return name
	}
	return "that is expected"
}

// bindings returns a check for each claim that binds a result to its request. A missing
// claim does not pass its check. If the expectation requires the binding, the first claim
// that is missing is the error.
func (c *Claims) bindings(x *Expectation, now time.Time) (checks []lookleap.Check, err *lookleap.Error) {
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
	switch { // claims.check has refused claims that contradict the expectation
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
		add(row, lookleap.Noted, "the result answers such a request, but it may be from an earlier call or for another user")
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
		add(row, lookleap.Noted, "the result does not name its caller, so it may be for another one")
	}
	maxAge := x.MaxAge
	if maxAge <= 0 {
		maxAge = DefaultMaxAge
	}
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

// unboundNote returns what the summary of a verdict says if a binding is missing.
func unboundNote(checks []lookleap.Check) string {
	if slices.ContainsFunc(checks, func(c lookleap.Check) bool { return c.Code == CodeUnbound }) {
		return ", but they do not prove that it answers this request"
	}
	return ""
}
