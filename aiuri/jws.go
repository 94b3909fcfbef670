package aiuri

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/strictjson"
)

// jws is a compact JWS (RFC 7515 section 7.1), taken apart and not yet verified.
type jws struct {
	protected string // encoded, as it was signed
	payload   string // encoded, "" in the detached form
	signature []byte
	header    header
}

// header is what a protected header says. Keys in it are never used.
type header struct {
	algorithm string
	keyID     string
	hasKeyID  bool
	plain     bool     // b64=false (RFC 7797): the payload is signed as it is
	nested    bool     // the payload is a signature again (RFC 7519 section 5.2)
	foreign   []string // jku and x5u, which point to keys elsewhere
	members   strictjson.Value
}

const maxHeader = 16 << 10 // octets of an encoded protected header

// parseJWS reads exactly one signature in the compact form. The alphabet is
// base64url without padding, without line breaks, and without spare bits.
func parseJWS(text string) (*jws, *Error) {
	switch {
	case text == "":
		return nil, fail(CodeRejectedUnsigned, "the result carries no signature", "")
	case text[0] == '{':
		return nil, fail(CodeRejectedSignature, "the signature is not in the compact form", "")
	}
	protected, rest, ok := strings.Cut(text, ".")
	payload, signature, ok2 := strings.Cut(rest, ".")
	if !ok || !ok2 || strings.IndexByte(signature, '.') >= 0 {
		return nil, fail(CodeRejectedSignature, "a compact signature has three parts", "")
	}
	if len(protected) > maxHeader {
		return nil, fail(CodeRejectedSignature, "the protected header is larger than its limit", "")
	}
	j := &jws{protected: protected, payload: payload}
	decoded, err := decode(protected)
	if err != nil {
		return nil, err
	}
	if err := j.header.parse(decoded); err != nil {
		return nil, err
	}
	if j.signature, err = decode(signature); err != nil {
		return nil, err
	}
	return j, nil
}

var base64url = base64.RawURLEncoding.Strict()

// decode decodes piece by piece, since a part may be large and the decoder wants
// a copy of what it reads.
func decode(part string) ([]byte, *Error) {
	out := make([]byte, 0, base64url.DecodedLen(len(part)))
	var piece [1024]byte // whole groups of four, but for the last
	for rest := part; rest != ""; {
		n := copy(piece[:], rest)
		rest = rest[n:]
		var err error
		if out, err = base64url.AppendDecode(out, piece[:n]); err != nil || bytes.ContainsAny(piece[:n], "\r\n") { // which the decoder skips
			return nil, fail(CodeRejectedSignature, "a part is not base64url without padding", "")
		}
	}
	return out, nil
}

func (h *header) parse(data []byte) *Error {
	v, err := strictjson.Parse(data, strictjson.Limits{Size: maxHeader, Depth: 8})
	if err == nil {
		err = v.Expect(strictjson.Object)
	}
	if err != nil {
		return fail(CodeRejectedSignature, "the protected header is no strict JSON object", "")
	}
	h.members = v
	for name, member := range v.Members() {
		text, notText := member.Text()
		switch name {
		case "alg":
			if h.algorithm = text; notText != nil || text == "" {
				return fail(CodeRejectedAlgorithm, "alg is no text", "")
			}
		case "kid":
			if h.keyID, h.hasKeyID = text, true; notText != nil {
				return fail(CodeRejectedKey, "kid is no text", "")
			}
		case "cty":
			h.nested = strings.EqualFold(text, "JWT")
		case "jku", "x5u":
			h.foreign = append(h.foreign, name+" "+text)
		}
	}
	if h.algorithm == "" {
		return fail(CodeRejectedAlgorithm, "the protected header has no alg", "")
	}
	return h.critical()
}

// critical knows the one extension that this package implements: b64.
func (h *header) critical() *Error {
	refuse := func(reason string) *Error { return fail(CodeRejectedCritical, reason, "") }
	var names []string
	if crit, ok := h.members.Member("crit"); ok {
		if crit.Kind() != strictjson.Array || crit.Len() == 0 {
			return refuse("crit is no list of names")
		}
		for e := range crit.Elements() {
			name, err := e.Text()
			if err != nil || name != "b64" || slices.Contains(names, name) {
				return refuse("crit names what nobody here knows, or a name twice")
			}
			names = append(names, name)
		}
	}
	b64, ok := h.members.Member("b64")
	switch {
	case ok != slices.Contains(names, "b64"):
		return refuse("b64 and crit do not agree")
	case ok:
		encoded, err := b64.Bool()
		if err != nil {
			return refuse("b64 is neither true nor false")
		}
		h.plain = !encoded
	}
	return nil
}
