package agentstxt

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
)

// Response is what a server answered for /agents.txt, redirects followed and
// content coding undone.
type Response struct {
	Status      int
	ContentType string // the header field; "" for none, several joined by ", "
	Body        []byte // of a 200 answer
	Insecure    bool   // it came over plain http
}

// Judge gives the policy that an answer means. It does no I/O and always gives
// one: Valid for a whole file, Absent where the server says that there is none,
// and Restricted for everything else.
func Judge(a Response, o Options) *Policy {
	if a.Insecure && o.RefuseHTTP {
		return restricted(unavailable(lookleap.CodeInsecureTransport, "a policy of plain http is not accepted", nil))
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
	refused := func(code lookleap.Code) *Policy {
		status := &StatusError{a.Status}
		return restricted(unavailable(code, status.Error(), status))
	}
	switch {
	case a.Status == http.StatusOK:
		return o.judgeFile(a)
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return absent(CodeNoPolicy)
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusProxyAuthRequired, a.Status == http.StatusUnavailableForLegalReasons:
		return refused(CodeAccessDenied)
	case a.Status == http.StatusTooManyRequests:
		return refused(lookleap.CodeRateLimited)
	case a.Status >= 400 && a.Status < 500 && o.Strict:
		return refused(CodeAccessDenied)
	case a.Status == http.StatusForbidden:
		return absent(lookleap.CodeForbidden, note(lookleap.CodeForbidden, "AGT-2-10", "the server answered 403, which many give for files that do not exist", "answer 404 where there is no policy"))
	case a.Status >= 400 && a.Status < 500:
		return absent(CodeStatus, note(CodeStatus, "AGT-2-10", fmt.Sprintf("the server answered %d, which counts as no policy", a.Status), "answer 404 where there is no policy"))
	}
	return refused(lookleap.CodeUnreachable)
}

func note(code lookleap.Code, requirement, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message, Fix: fix}
}

// judgeFile reads a 200 answer.
func (o Options) judgeFile(a Response) *Policy {
	mediaType, params, err := mime.ParseMediaType(a.ContentType)
	if isPage(mediaType, a.Body) && isForeign(a.Body) {
		if o.Strict {
			return restricted(malformed(CodeHashMissing, lookleap.Position{}, "a page stands in the place of the policy", "answer 404 where there is no policy"))
		}
		return absent(lookleap.CodeSoft404, note(lookleap.CodeSoft404, "AGT-2-07", "a page stands in the place of the policy, which counts as none", "answer 404 where there is no policy"))
	}
	charset, named := params["charset"]
	if named && !strings.EqualFold(charset, "utf-8") || err != nil && strings.Contains(strings.ToLower(a.ContentType), "charset") {
		return restricted(malformed(lookleap.CodeCharset, lookleap.Position{}, "the server declares another character set than UTF-8", `serve the file as "text/plain; charset=utf-8"`))
	}
	p, err := Parse(a.Body, o)
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

func mediaTypeError(contentType string) *lookleap.Error {
	message := "the server declares no media type"
	if contentType != "" {
		message = fmt.Sprintf("the server declares the media type %s", quote(contentType))
	}
	return malformed(lookleap.CodeMediaType, lookleap.Position{}, message, `serve the file as "text/plain; charset=utf-8"`)
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
	return p.State() == Restricted && errors.Is(p.Err(), ErrMalformed)
}

// Other formats use the name agents.txt too: prose, Markdown, key-value lists,
// robots.txt. A file is of the draft's format if at least one line looks like a
// hash line or a directive, however badly written, because a client that takes a
// damaged policy for a foreign file opens a site that wants to be closed.

// isForeign reports whether no line of the file looks like this draft's. It
// breaks lines wherever some editor does, so that a file with wrong line ends is
// not one long comment.
func isForeign(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false // probably UTF-16, which may hide anything
	}
	for line := range bytes.FieldsFuncSeq(data, isLineBreak) {
		line = bytes.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
		if isHashLike(line) || isDirectiveLike(line) {
			return false
		}
	}
	return true
}

func isLineBreak(r rune) bool {
	return '\n' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// foreignFile is the error for a file of another format.
func foreignFile(at lookleap.Position) *lookleap.Error {
	return malformed(CodeForeignFormat, at, "the file has neither hash line nor directive, so it is of another format with the same name",
		"a client that should ignore such files sets Options.ForeignAbsent")
}

// isHashLike reports whether a line begins with "*" and at least 16 hex digits.
func isHashLike(line []byte) bool {
	const least = 16
	if len(line) <= least || line[0] != '*' {
		return false
	}
	for _, c := range line[1 : 1+least] {
		if unhex(c) < 0 {
			return false
		}
	}
	return true
}

// isDirectiveLike reports whether a line is a path and a word that could be an
// action: 3 to 12 capitals, or almost ALLOW or DISALLOW in any letter case.
func isDirectiveLike(line []byte) bool {
	if len(line) == 0 || line[0] != '/' {
		return false
	}
	fields := bytes.Fields(line[:min(len(line), 64<<10)])
	if len(fields) < 2 {
		return false
	}
	word := string(fields[1])
	capitals := len(word) >= 3 && len(word) <= 12
	for i := range len(word) {
		capitals = capitals && 'A' <= word[i] && word[i] <= 'Z'
	}
	if capitals {
		return true
	}
	word = strings.ToLower(word)
	return len(word) <= 12 && (edits(word, "allow") <= 2 || edits(word, "disallow") <= 2)
}

// edits returns how many bytes must be inserted, removed or replaced to make one
// word of another. Both are short.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
