package agentstxt

import (
	"fmt"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// robotsFile says how robots.txt is read.
var robotsFile = fileKind[*RobotsFile]{
	source:    source{path: robotsPathName, retry: "agentstxt retry robots ", cut: true, wait: http.StatusServiceUnavailable},
	prefix:    "agentstxt/robots/2/",
	judge:     judgeRobots,
	stale:     func(f *RobotsFile, _ lookleap.Finding) *RobotsFile { return f },
	malformed: func(*RobotsFile) *lookleap.Error { return nil },
	restrict:  func(err *lookleap.Error) *RobotsFile { return &RobotsFile{err: err} },
	findings:  func(*RobotsFile) []lookleap.Finding { return nil },
	memory:    (*RobotsFile).memory,
}

// judgeRobots returns what an attempt to read robots.txt means (RFC 9309, section 2.3.1). Without
// a usable answer, the file that was read before stays in force for a day, and otherwise every
// path is denied (section 2.3.1.4).
func judgeRobots(c *Client, r *readResult) judgement[*RobotsFile] {
	err, status := r.err, r.response.Status
	switch {
	case lookleap.CodeOf(err) == lookleap.CodeTooManyRedirects: // section 2.3.1.2: as if there were no file
		return judgement[*RobotsFile]{value: &RobotsFile{reason: lookleap.CodeTooManyRedirects}, whole: true, wait: defaultFresh}
	case err == nil && status == http.StatusOK:
		f := parseRobots(r.response.Body, robotsOptions{tokens: c.options.Robots.Tokens, size: c.limits.Size})
		return judgement[*RobotsFile]{value: f, whole: true}
	case err == nil && (status == http.StatusNoContent || status >= 400 && status < 500): // section 2.3.1.3
		return judgement[*RobotsFile]{value: &RobotsFile{reason: CodeNoPolicy}, whole: true}
	case err == nil:
		code := lookleap.CodeBadStatus
		if status >= 500 {
			code = lookleap.CodeUnavailable
		}
		err = &lookleap.Error{Code: code, Message: fmt.Sprintf("the server answered %d", status),
			Err: coded.Attach(&lookleap.ResponseError{Status: status, RetryAfter: r.retryAfter}, nil)}
	}
	f := &RobotsFile{err: &lookleap.Error{
		Code: lookleap.CodeOf(err), Subject: "robots.txt", Message: "the file could not be read, so every path counts as disallowed",
		Fix: "try again later; Options.Robots without a token does not read it", Err: coded.Classify(ErrUnavailable, err),
	}}
	return judgement[*RobotsFile]{value: f, failed: true, keep: new(lookleap.Finding)}
}
