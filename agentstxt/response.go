package agentstxt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// policyFile says how /agents.txt is read.
var policyFile = fileKind[*Policy]{
	source:    source{path: policyPath, retry: "agentstxt retry ", wait: http.StatusTooManyRequests},
	prefix:    "agentstxt/4/",
	judge:     judgePolicy,
	stale:     (*Policy).with,
	malformed: malformedPolicy,
	restrict:  func(err *lookleap.Error) *Policy { return restricted(err) },
	findings:  (*Policy).Findings,
	memory:    (*Policy).memory,
}

// malformedPolicy returns why a policy's file is malformed, or nil. An earlier copy may not replace
// such a file (section 5).
func malformedPolicy(p *Policy) *lookleap.Error {
	var bad *lookleap.Error
	if !errors.Is(p.Err(), ErrMalformed) || !errors.As(p.Err(), &bad) {
		return nil
	}
	return bad
}

// judgePolicy returns what an attempt to read /agents.txt means.
func judgePolicy(c *Client, r *readResult) judgement[*Policy] {
	j := judgement[*Policy]{}
	switch {
	case r.err == nil:
		j.value = Judge(r.response, c.options)
	case lookleap.CodeOf(r.err) == lookleap.CodeTooLarge:
		j.value = restricted(malformed(lookleap.CodeTooLarge, lookleap.Position{}, "the file is larger than its limit", "merge directives or drop comments"))
	default:
		j.value = restricted(unavailable(lookleap.CodeUnreachable, "the policy could not be read", r.err))
	}
	stale := func(why string) *lookleap.Finding {
		f := note(lookleap.CodeStale, "AGT-2-12", why+", so the copy read earlier stays in force", "")
		return &f
	}
	switch p := j.value; {
	case p.state == Valid:
		j.whole = true
	case malformedPolicy(p) != nil:
	case p.state == Absent:
		if p.reason != CodeNoPolicy && p.reason != CodeForeignFormat {
			j.keep = &p.findings[0] // challenge pages look like that (AGT-2-04 to AGT-2-11)
		}
	case p.reason == lookleap.CodeRateLimited:
		j.wait, j.keep = cmp.Or(r.retryAfter, rateLimitedFor), stale("the server answered 429")
	case p.reason == CodeAccessDenied:
		j.wait = deniedFor
	default:
		j.failed = true
		if r.isTemporary() {
			j.keep = stale("the policy could not be read again")
		}
	}
	return j
}

// Response is a server's response to a request for /agents.txt, after redirects and
// content decoding.
type Response struct {
	Status      int
	ContentType string // the header field; several are joined by ", "
	Body        []byte // of a response with status 200
	Insecure    bool   // whether it came over plain http
}

// Judge returns the policy that a response means, without I/O: a valid policy for a
// valid file; an absent one for status 404 or 410 and, unless options.Strict is set, for
// most other 4xx statuses and for web pages; and a restricted one otherwise.
func Judge(response Response, options Options) *Policy {
	if response.Insecure && options.RefuseHTTP {
		return restricted(unavailable(lookleap.CodeInsecureTransport, "policies over plain http are not accepted", nil))
	}
	refused := func(code lookleap.Code) *Policy {
		status := &lookleap.ResponseError{Status: response.Status}
		return restricted(unavailable(code, fmt.Sprintf("the server answered %d", response.Status), coded.Attach(status, ErrUnavailable)))
	}
	var p *Policy
	switch status := response.Status; {
	case status == http.StatusOK:
		p = judgeFile(response, options)
	case status == http.StatusNotFound, status == http.StatusGone:
		p = absent(CodeNoPolicy)
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired, status == http.StatusUnavailableForLegalReasons:
		p = refused(CodeAccessDenied)
	case status == http.StatusTooManyRequests:
		p = refused(lookleap.CodeRateLimited)
	case status >= 400 && status < 500 && options.Strict:
		p = refused(CodeAccessDenied)
	case status == http.StatusForbidden:
		p = absent(lookleap.CodeForbidden, note(lookleap.CodeForbidden, "AGT-2-10",
			"the server answered 403, as many do for files that do not exist", fixAbsent))
	case status >= 400 && status < 500:
		p = absent(CodeStatus, note(CodeStatus, "AGT-2-10",
			fmt.Sprintf("the server answered %d, which counts as no policy", status), fixAbsent))
	default:
		p = refused(lookleap.CodeUnreachable)
	}
	if response.Insecure && p.state != Restricted {
		p = p.with(note(lookleap.CodeInsecureTransport, "AGT-1-04",
			"the policy came over plain http, so that the network could change it", "use https"))
	}
	return p
}

// Fixes for publishers.
const (
	fixAbsent    = "answer 404 if there is no policy"
	fixMediaType = `serve the file as "text/plain; charset=utf-8"`
)

func note(code lookleap.Code, requirement, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message, Fix: fix}
}

// judgeFile judges a response with status 200.
func judgeFile(a Response, o Options) *Policy {
	mediaType, params, badType := mime.ParseMediaType(a.ContentType)
	p, err := Parse(a.Body, o)
	foreign := err != nil && isForeign(a.Body)
	switch {
	case foreign && isPage(mediaType, a.Body) && o.Strict:
		return restricted(malformed(CodeHashMissing, lookleap.Position{}, "the server answered with a page instead of a policy", fixAbsent))
	case foreign && isPage(mediaType, a.Body):
		return absent(lookleap.CodeSoft404, note(lookleap.CodeSoft404, "AGT-2-07",
			"the server answered with a page instead of a policy, which counts as no policy", fixAbsent))
	case foreign && o.Foreign == ForeignIgnore:
		return ignoreForeign(a.Body, o)
	}
	charset, named := params["charset"]
	if named && !strings.EqualFold(charset, "utf-8") || badType != nil && strings.Contains(strings.ToLower(a.ContentType), "charset") {
		return restricted(malformed(lookleap.CodeCharset, lookleap.Position{},
			"the server declares another character set than UTF-8", fixMediaType))
	}
	switch {
	case foreign && lookleap.CodeOf(err) == CodeHashMissing && len(bytes.TrimSpace(bytes.TrimPrefix(a.Body, byteOrderMark))) > 0:
		return restricted(foreignFile(lookleap.Position{})) // only comments
	case err != nil:
		return restricted(err)
	case mediaType == "text/plain":
		return p
	case o.Strict:
		return restricted(mediaTypeError(a.ContentType))
	}
	bad := mediaTypeError(a.ContentType)
	return p.with(note(lookleap.CodeMediaType, "AGT-2-05", bad.Message, bad.Fix))
}

func mediaTypeError(contentType string) *lookleap.Error {
	message := "the server declares no media type"
	if contentType != "" {
		message = fmt.Sprintf("the server declares the media type %s", plaintext.Quote(contentType, maxQuoted))
	}
	return malformed(lookleap.CodeMediaType, lookleap.Position{}, message, fixMediaType)
}

// isPage reports whether a body is what sites serve for unknown paths: a web page or an
// error in JSON.
func isPage(mediaType string, body []byte) bool {
	switch {
	case mediaType == "text/html", mediaType == "application/xhtml+xml",
		mediaType == "application/json", strings.HasSuffix(mediaType, "+json"):
		return true
	}
	return startsWithTag(body)
}

func startsWithTag(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	return bytes.HasPrefix(body, []byte("<"))
}
