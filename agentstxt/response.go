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
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

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
		p = absent(lookleap.CodeForbidden, note(lookleap.CodeForbidden, "AGT-2-10", "the server answered 403, as many do for files that do not exist", fixAbsent))
	case status >= 400 && status < 500:
		p = absent(CodeStatus, note(CodeStatus, "AGT-2-10", fmt.Sprintf("the server answered %d, which counts as no policy", status), fixAbsent))
	default:
		p = refused(lookleap.CodeUnreachable)
	}
	if response.Insecure && p.state != Restricted {
		p = p.with(note(lookleap.CodeInsecureTransport, "AGT-1-04", "the policy came over plain http, so that the network could change it", "use https"))
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
	mediaType, params, err := mime.ParseMediaType(a.ContentType)
	if isPage(mediaType, a.Body) && isForeign(a.Body) {
		if o.Strict {
			return restricted(malformed(CodeHashMissing, lookleap.Position{}, "the server answered with a page instead of a policy", fixAbsent))
		}
		return absent(lookleap.CodeSoft404, note(lookleap.CodeSoft404, "AGT-2-07", "the server answered with a page instead of a policy, which counts as no policy", fixAbsent))
	}
	charset, named := params["charset"]
	if named && !strings.EqualFold(charset, "utf-8") || err != nil && strings.Contains(strings.ToLower(a.ContentType), "charset") {
		return restricted(malformed(lookleap.CodeCharset, lookleap.Position{}, "the server declares another character set than UTF-8", fixMediaType))
	}
	p, err := Parse(a.Body, o)
	switch {
	case err != nil && o.ForeignAbsent && isForeignError(err, a.Body):
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

// isForeignError reports whether the error of a file means that it is of another format
// or has only comments.
func isForeignError(err error, file []byte) bool {
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
	body = bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	return bytes.HasPrefix(body, []byte("<"))
}

// isMalformed reports whether a policy is restricted because its file is malformed. An
// earlier copy may not replace it (section 5).
func isMalformed(p *Policy) bool {
	return p.State() == Restricted && errors.Is(p.Err(), ErrMalformed)
}

// isForeign reports whether a file is of another format with the name agents.txt, such
// as prose, Markdown or robots.txt. A file in which one line resembles a hash line or a
// directive is not foreign: a client that took a damaged policy for a foreign file would
// open a site that wants to be closed. isForeign accepts all line ends that editors use,
// so that a file with wrong line ends is not one long comment.
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

// foreignFile returns the error for a file of another format.
func foreignFile(at lookleap.Position) *lookleap.Error {
	return malformed(CodeForeignFormat, at, "the file has neither hash line nor directive, so it has another format",
		"set Options.ForeignAbsent in clients that should ignore such files")
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
