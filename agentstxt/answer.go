package agentstxt

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Response is what a server answered for /agents.txt, redirects followed and
// content coding undone.
type Response struct {
	Status      int
	ContentType string // the header field; "" for none, several joined by ", "
	Body        []byte // of a 200 answer
	Insecure    bool   // it came over plain http
}

// UnavailableError says why a policy could not be read. The origin is restricted
// until it can be.
type UnavailableError struct {
	Code    lookleap.Code
	Status  int    // of the answer; 0: there was none
	Message string // one sentence
	Err     error  // of the fetch, if there was no answer
}

func (e *UnavailableError) Error() string {
	e = zero.Or(e)
	if e.Err != nil {
		return fmt.Sprintf("agents.txt: %s (%s): %v", e.Message, e.Code, e.Err)
	}
	return fmt.Sprintf("agents.txt: %s (%s)", e.Message, e.Code)
}

// Unwrap gives the error of the fetch.
func (e *UnavailableError) Unwrap() error { return zero.Or(e).Err }

// ReasonCode gives the code.
func (e *UnavailableError) ReasonCode() lookleap.Code { return zero.Or(e).Code }

// Judge gives the policy that an answer means. It does no I/O and always gives
// one: Valid for a whole file, Absent where the server says that there is none,
// and Restricted for everything else.
func Judge(a Response) *Policy { return Options{}.Judge(a) }

// Judge is [Judge] with options.
func (o Options) Judge(a Response) *Policy {
	if a.Insecure && o.RefuseHTTP {
		return restricted(&UnavailableError{Code: lookleap.CodeInsecureTransport, Message: "a policy of plain http is not accepted"})
	}
	p := o.judge(a)
	if a.Insecure && p.state != Restricted {
		p = p.with(lookleap.Finding{
			Severity: lookleap.SeverityWarning, Code: lookleap.CodeInsecureTransport, Requirement: "AGT-1-04",
			Message: "the policy came over plain http, so anybody on the way could change it", Fix: "use https",
		})
	}
	return p
}

func (o Options) judge(a Response) *Policy {
	unavailable := func(code lookleap.Code, message string) *Policy {
		return restricted(&UnavailableError{Code: code, Status: a.Status, Message: message})
	}
	switch {
	case a.Status == http.StatusOK:
		return o.judgeFile(a)
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return absent(CodeNoPolicy)
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusProxyAuthRequired, a.Status == http.StatusUnavailableForLegalReasons:
		return unavailable(CodeAccessDenied, fmt.Sprintf("the server answered %d", a.Status))
	case a.Status == http.StatusTooManyRequests:
		return unavailable(lookleap.CodeRateLimited, "the server answered 429")
	case a.Status >= 400 && a.Status < 500 && o.Strict:
		return unavailable(CodeAccessDenied, fmt.Sprintf("the server answered %d", a.Status))
	case a.Status == http.StatusForbidden:
		return absent(lookleap.CodeForbidden, note(lookleap.CodeForbidden, "AGT-2-10", "the server answered 403, which many give for files that do not exist", "answer 404 where there is no policy"))
	case a.Status >= 400 && a.Status < 500:
		return absent(CodeStatus, note(CodeStatus, "AGT-2-10", fmt.Sprintf("the server answered %d, which counts as no policy", a.Status), "answer 404 where there is no policy"))
	}
	return unavailable(lookleap.CodeUnreachable, fmt.Sprintf("the server answered %d, which is no policy", a.Status))
}

func note(code lookleap.Code, requirement, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message, Fix: fix}
}

// judgeFile reads a 200 answer.
func (o Options) judgeFile(a Response) *Policy {
	mediaType, params, err := mime.ParseMediaType(a.ContentType)
	if isPage(mediaType, a.Body) && isForeign(a.Body) {
		if o.Strict {
			return restricted(&MalformedError{
				Code: CodeHashMissing, Message: "a page stands in the place of the policy", Fix: "answer 404 where there is no policy",
			})
		}
		return absent(lookleap.CodeSoft404, note(lookleap.CodeSoft404, "AGT-2-07", "a page stands in the place of the policy, which counts as none", "answer 404 where there is no policy"))
	}
	charset, named := params["charset"]
	if named && !strings.EqualFold(charset, "utf-8") || err != nil && strings.Contains(strings.ToLower(a.ContentType), "charset") {
		return restricted(&MalformedError{
			Code: lookleap.CodeCharset, Message: "the server declares another character set than UTF-8", Fix: `serve the file as "text/plain; charset=utf-8"`,
		})
	}
	p, err := o.Parse(a.Body)
	switch {
	case err != nil && o.ForeignAbsent && saysNothing(err, a.Body):
		return absent(CodeForeignFormat, note(CodeForeignFormat, "AGT-3-12", "the file is of another format with the same name, which counts as no policy", ""))
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

// saysNothing reports whether a file that is no policy is one of another format,
// or has comments alone.
func saysNothing(err error, file []byte) bool {
	switch lookleap.CodeOf(err) {
	case CodeForeignFormat:
		return true
	case CodeHashMissing:
		return len(bytes.TrimSpace(file)) > 0 && isForeign(file)
	}
	return false
}

func mediaTypeError(contentType string) *MalformedError {
	message := "the server declares no media type"
	if contentType != "" {
		message = fmt.Sprintf("the server declares the media type %s", quote(contentType))
	}
	return &MalformedError{Code: lookleap.CodeMediaType, Message: message, Fix: `serve the file as "text/plain; charset=utf-8"`}
}

// isPage reports whether an answer is what sites show for paths that they do not
// know: a web page or an error in JSON.
func isPage(mediaType string, body []byte) bool {
	switch {
	case mediaType == "text/html", mediaType == "application/xhtml+xml",
		mediaType == "application/json", strings.HasSuffix(mediaType, "+json"):
		return true
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	return bytes.HasPrefix(body, []byte("<"))
}

// isMalformed reports whether a policy is restricted because of what its file
// says: then nothing older may stand in for it (section 5).
func isMalformed(p *Policy) bool {
	var bad *MalformedError
	return p.State() == Restricted && errors.As(p.Err(), &bad)
}
