package aiuri

import (
	"errors"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Mapping converts ai: URIs to URLs of one gateway and back (section 3.2). The first segment
// below the base is the authority, followed by path and query:
//
//	ai://bank/service/payments?amount=10
//	https://ai.example/gateway/bank/service/payments?amount=10
//
// The mapping is one to one for everything that it accepts. A Mapping is immutable. Its zero
// value returns an error for every URI and URL.
type Mapping struct {
	base domain.URL
	path string // of the base, without final slash
}

// NewMapping returns the mapping of a gateway by its base: an https URL without user
// information, query and fragment. A final slash makes no difference.
func NewMapping(base string) (Mapping, error) {
	u, err := domain.Rules{RefuseQuery: true, RefuseFragment: true}.Parse(base)
	if err != nil {
		return Mapping{}, urlError(CodeBadGateway, "", "the gateway's base URL is invalid", err)
	}
	return Mapping{base: u, path: strings.TrimSuffix(u.Path(), "/")}, nil
}

// Base returns the canonical base without a final slash.
func (m Mapping) Base() string { return m.base.Origin() + m.path }

// URL returns the gateway's URL for the normal form of a URI, without its fragment (see
// [URI.Fragment]). It returns an error for a URI without authority, because its first segment
// would be read back as one.
func (m Mapping) URL(u URI) (string, error) {
	n := u.sent()
	switch at, reason := ambiguous(n.path); {
	case m.base.IsZero():
		return "", fail(CodeBadGateway, "the mapping is zero", "make it with NewMapping")
	case u.kind != Authority:
		return "", failOn(CodeNoAuthority, u.Redacted(), "a URI without authority cannot be mapped", "write ai://authority/path", nil)
	case reason != "":
		return "", &lookleap.Error{Code: CodeAmbiguous, Subject: n.Redacted(), Message: reason,
			Position: positionOf(strings.Index(n.text, n.path) + at)}
	}
	url := m.Base() + "/" + n.Authority() + n.path
	if n.hasQuery {
		url += "?" + n.query
	}
	return url, nil
}

// URI returns the URI for a gateway's URL, by its escaped path as received and its query,
// which may be present and empty. It returns an error for paths that servers read in different
// ways: with dot segments, empty segments, escapes of slashes, backslashes, control characters
// or percent signs, and escapes that are not UTF-8.
func (m Mapping) URI(escapedPath, query string, hasQuery bool) (URI, error) {
	rest, ok := strings.CutPrefix(escapedPath, m.path+"/")
	if !ok || m.base.IsZero() {
		return URI{}, fail(CodeNotGateway, "the path is not below the gateway's base", "")
	}
	if at, reason := ambiguous("/" + rest); reason != "" {
		return URI{}, failAt(CodeAmbiguous, len(m.path)+at, reason, "")
	}
	text := "ai://" + rest
	if hasQuery {
		text += "?" + query
	}
	u, err := Parse(text)
	if err != nil {
		return URI{}, err
	}
	n := u.Normalize()
	if n.hasFragment || strings.HasSuffix(rest[:len(rest)-len(u.path)], ":") {
		return URI{}, failAt(CodeAmbiguous, len(m.path)+1, "the authority is not in its normal form", "")
	}
	return n, nil
}

// Split returns the URI for a gateway's URL, as a client writes it.
func (m Mapping) Split(url string) (URI, error) {
	origin := m.base.Origin()
	if n := min(len(url), len(origin)); !strings.EqualFold(url[:n], origin) {
		return URI{}, fail(CodeNotGateway, "the URL is not at the gateway's origin", "")
	}
	path, query, hasQuery := strings.Cut(url[len(origin):], "?")
	return m.URI(path, query, hasQuery)
}

// ambiguous returns where and why servers read an escaped path, which begins with a slash, in
// different ways: what package domain refuses, and each escape of a percent sign.
func ambiguous(path string) (at int, reason string) {
	if i := strings.IndexAny(path, "\\?#"); i >= 0 {
		return i, "the path ends here, or some readers take a backslash for a slash"
	}
	if i := strings.Index(path, "%25"); i >= 0 {
		return i, "the path has an escaped percent sign, which some readers decode twice"
	}
	var bad *domain.Error
	if err := domain.CheckPath(path); errors.As(err, &bad) && bad.Code != domain.CodeBadURL { // which the parser refuses
		return bad.Offset, bad.Message
	}
	return 0, ""
}
